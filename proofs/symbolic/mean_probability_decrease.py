"""C4 derived: sums of any k values lie between those of the k smallest and the k largest.

The formula stands in `bounds.curves` as differences of running sums of sorted values; it is stated here anew.
"""

from __future__ import annotations

from types import ModuleType

from proofs.evidence import Cell
from proofs.symbolic.derivation import SYMBOLS, Derivation, decide, integers

__all__ = ["check", "derive", "latex"]


def derive(forms: ModuleType | None, proof: Derivation) -> None:
    """Sorted values are p_i = p_0 + delta_1 + ... + delta_i with delta_i >= 0 for i > 0.

    If x_i says whether value i is chosen, the sum of the chosen ones is p_0 times their number plus the sum over j of
    delta_j times the number chosen at j or later (summation by parts), so only these numbers matter.
    """
    p0, risen, counted, weighted, x, delta = integers("p_0 D X Y x delta")
    # Up to N: D = sum of delta_j, X = sum of x_i, Y = sum of delta_j (x_1 + ... + x_{j-1}); the sum is p_0 X + D X - Y.
    before = p0 * counted + risen * counted - weighted
    after = p0 * (counted + x) + (risen + delta) * (counted + x) - (weighted + delta * counted)
    proof.equal("summation by parts, no value", before.xreplace({counted: 0, weighted: 0}), 0)
    proof.equal("summation by parts, one more value", after - before, x * (p0 + risen + delta))

    n, k, j, late = integers("N k j c")
    # c of the k chosen values are at place j or later; N - j + 1 places are, and j - 1 are before.
    held = [j - 1, n - j, late, k, n - k, k - late, n - j + 1 - late, j - 1 - (k - late)]
    most, least = SYMBOLS.minimum(k, n - j + 1), SYMBOLS.maximum(0, k - j + 1)
    proof.follows("no choice has more at j or later than the k largest", [most - late], held)
    proof.follows("no choice has fewer than the k smallest", [late - least], held)
    places = [j - 1, n - j, k, n - k]
    proof.equal("the k largest: places N - k + 1 to N", most, n - SYMBOLS.maximum(n - k + 1, j) + 1, places)
    proof.equal("the k smallest: places 1 to k", least, SYMBOLS.maximum(k, j - 1) - j + 1, places)


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; the claim uses none of the closed forms in `forms`."""
    return decide(
        derive,
        forms,
        "all sizes: summation by parts over sorted increments, whose coefficients are extreme for the k largest and "
        "the k smallest, for any choice; the formula is stated anew, clean and perturbed choice being independent",
    )


def latex(forms: ModuleType) -> str:
    """The closed form; p and p' are sorted, A and B their numbers."""
    return (
        r"\sum_{i=1}^{k} p_{(i)} - \sum_{i=B-k+1}^{B} p'_{(i)} \le \sum_{CC} \bigl(p - p'\bigr) \le "
        r"\sum_{i=A-k+1}^{A} p_{(i)} - \sum_{i=1}^{k} p'_{(i)}"
    )
