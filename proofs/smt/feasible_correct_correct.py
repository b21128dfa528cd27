"""C1 for classes of all sizes: the range of retained-correct counts is attained in full, and nothing outside it is."""

from __future__ import annotations

from types import ModuleType

from proofs.evidence import Cell
from proofs.smt.solving import decide
from proofs.smt.terms import TERMS, Question, between, equal, integers, non_negative, total

__all__ = ["check", "questions"]


def questions(forms: ModuleType, fast: bool = False) -> list[Question]:
    """The table of a class: retained, lost, recovered and wrong on both sides."""
    n, a, b, v = integers("n A B v")
    cells = cc, cw, wc, ww = integers("CC CW WC WW")
    low, high = forms.correct_correct_range(n, a, b, TERMS)
    table = [*non_negative(cells), equal(cc + cw, a), equal(cc + wc, b), equal(total(cells), n)]
    sides = [*between(0, a, n), *between(0, b, n)]
    witness = v, a - v, b - v, forms.wrong_pairs(n, a, b, v)
    return [
        Question("the bound is valid", table, between(low, cc, high)),
        Question("n - A - B + k pairs are wrong on both sides", table, [equal(ww, forms.wrong_pairs(n, a, b, cc))]),
        Question("the range is not empty", sides, between(low, low, high)),
        Question(
            "every value between is attained",
            [*sides, *between(low, v, high)],
            [*non_negative(witness), equal(total(witness), n)],
        ),
    ]


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    return decide(questions(forms, fast), fast, "all class sizes; every value by an explicit table of states")
