"""C1 derived: the range of retained-correct counts, by elimination from the table of a class."""

from __future__ import annotations

from types import ModuleType

from proofs.evidence import Cell
from proofs.symbolic.derivation import SYMBOLS, Derivation, decide, integers, ranges

__all__ = ["check", "derive", "latex"]


def derive(forms: ModuleType, proof: Derivation) -> None:
    """Lost, recovered and wrong on both sides follow from the retained-correct count k; none is negative."""
    n, a, b, k = integers("n A B k")
    lost, recovered = integers("CW WC")
    wrong = forms.wrong_pairs(n, a, b, k)
    proof.equal("the four counts sum to n", k + (a - k) + (b - k) + wrong, n)
    low, high = forms.correct_correct_range(n, a, b, SYMBOLS)
    table = [k, lost, recovered, n - k - lost - recovered, a - k - lost, k + lost - a, b - k - recovered]
    table.append(k + recovered - b)
    sides = [a, b, n - a, n - b]
    least, most = proof.projected("retained correct", table, sides, k, [lost, recovered])
    proof.equal("the least count", least, low, sides)
    proof.equal("the greatest count", most, high, sides)


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    return decide(derive, forms, "all class sizes: the range, with every integer in it, by elimination from the table")


def latex(forms: ModuleType) -> str:
    """The closed form."""
    n, a, b = integers("n A B")
    return ranges(("k", forms.correct_correct_range(n, a, b, SYMBOLS)))
