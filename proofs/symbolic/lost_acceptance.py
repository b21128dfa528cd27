"""C3 derived: marked-marked pairs among k pairs (the block lemma), by elimination; lost and gained acceptance."""

from __future__ import annotations

from functools import partial
from types import ModuleType

from proofs.evidence import Cell
from proofs.symbolic.derivation import SYMBOLS, Derivation, Expression, decide, expression, integers, ranges

__all__ = ["block_table", "check", "derive", "derive_block", "latex"]


def block_table(margins: tuple[Expression, ...], pairs: Expression) -> tuple[list[Expression], list[Expression]]:
    """The unknowns x11, x10, x01 of `pairs` pairs between marked and other rows and columns, and what is >= 0."""
    r1, r0, c1, c0 = margins
    x, right, down = unknowns = integers("x_{11} x_{10} x_{01}")
    rest = pairs - x - right - down
    cells = [x, right, down, rest, r1 - x - right, r0 - down - rest, c1 - x - down, c0 - right - rest]
    return list(unknowns), cells


def derive_block(
    forms: ModuleType,
    proof: Derivation,
    name: str,
    margins: tuple[Expression, ...],
    pairs: Expression,
    given: list[Expression],
) -> tuple[Expression, Expression]:
    """The closed form of a block is what elimination leaves of its table."""
    (x, *others), cells = block_table(margins, pairs)
    least, most = proof.projected(name, cells, given, x, others)
    low, high = forms.block(*margins, pairs, SYMBOLS)
    proof.equal(f"{name}, least", least, low, given)
    proof.equal(f"{name}, greatest", most, high, given)
    return low, high


def derive(forms: ModuleType, proof: Derivation, fast: bool = False) -> None:
    """Blocks, and their marked rows; then the ratio of the two."""
    n, k, a1, a0, b1, b0 = integers("n k A_1 A_0 B_1 B_0")
    given = [a1, a0, b1, b0, k, a1 + a0 - k, b1 + b0 - k, n - a1 - a0 - b1 - b0 + k]
    lost = derive_block(forms, proof, "lost acceptance", (a1, a0, b0, b1), k, given)
    gained = derive_block(forms, proof, "gained acceptance", (a0, a1, b1, b0), k, given)
    swap = {a1: a0, a0: a1, b1: b0, b0: b1}
    for end in (0, 1):
        proof.equal("gained is lost with roles swapped", expression(lost[end]).xreplace(swap), gained[end], given)
    margins = r1, r0, c1, c0 = integers("r_1 r_0 c_1 c_0")
    given = [*margins, k, r1 + r0 - k, c1 + c0 - k]
    (x, right, down), cells = block_table(margins, k)
    (y,) = integers("y")
    marked = [g.xreplace({right: y - x}) for g in cells]
    least, most = proof.projected("marked rows", marked, given, y, [down, x])
    low, high = forms.marked_row_range(r1, r0, k, SYMBOLS)
    proof.equal("marked rows, least", least, low, given)
    proof.equal("marked rows, greatest", most, high, given)
    if not fast:
        _ratio_given_k(forms, proof, margins, k)
        _ratio_over_k(forms, proof, margins)


def _ratio_given_k(forms: ModuleType, proof: Derivation, margins: tuple[Expression, ...], k: Expression) -> None:
    """x marked-marked pairs over y marked rows: x - t y is extreme at t = 0 and t = 1, hence between."""
    r1, r0, c1, c0 = margins
    given = [*margins, k, r1 + r0 - k, c1 + c0 - k]
    (x, right, down), cells = block_table(margins, k)
    (y,) = integers("y")
    (less, less_rows), (more, more_rows) = forms.most_other_rows_ratio(*margins, k, SYMBOLS)
    least, most = proof.projected("x", cells, given, x, [right, down])
    proof.equal("least ratio, t = 0", least, less, given)
    proof.equal("greatest ratio, t = 0", most, more, given)
    least, most = proof.projected("x - y", [g.xreplace({right: -y}) for g in cells], given, y, [down, x])
    proof.equal("least ratio, t = 1", least, less - less_rows, given)
    proof.equal("greatest ratio, t = 1", most, more - more_rows, given)
    for both, rows in ((less, less_rows), (more, more_rows)):
        at = {x: both, right: rows - both, down: SYMBOLS.minimum(k - rows, c1 - both)}
        proof.follows("one table attains both", [g.xreplace(at) for g in cells], given)


def _ratio_over_k(forms: ModuleType, proof: Derivation, margins: tuple[Expression, ...]) -> None:
    """No k of low..high beats the chosen one at t = 0 and at t = 1, hence between."""
    r1, r0, c1, c0 = margins
    low, high, k = integers("low high k")
    given = [*margins, low, k - low, high - k, r1 + r0 - high, c1 + c0 - high]

    def point(at: Expression, over_marked: bool, end: int) -> tuple[Expression, Expression]:
        if not over_marked:
            return forms.block(*margins, at, SYMBOLS)[end], at
        x, y = forms.most_other_rows_ratio(*margins, at, SYMBOLS)[end]
        return x, y

    for over_marked in (False, True):
        for end, chosen in enumerate(forms.ratio_pairs(low, high, *margins, over_marked, SYMBOLS)):
            proof.follows("the chosen k is feasible", [chosen - low, high - chosen], given)
            (x, y), (x_there, y_there) = (point(at, over_marked, end) for at in (k, chosen))
            sign = 1 if end == 0 else -1
            proof.follows("no other k", [sign * (x - x_there), sign * (x - y - x_there + y_there)], given)


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    ratios = "not the ratios" if fast else "ends and k of ratios, for every 0 <= t <= 1 of x - t y, each by one table"
    return decide(
        partial(derive, fast=fast),
        forms,
        "all class sizes: lost and gained acceptance and marked rows, with every integer between the ends, by "
        f"elimination from the table; {ratios}",
    )


def latex(forms: ModuleType) -> str:
    """The closed forms."""
    k, a1, a0, b1, b0 = integers("k A_1 A_0 B_1 B_0")
    return ranges(
        (r"\mathrm{lost}", forms.block(a1, a0, b0, b1, k, SYMBOLS)),
        (r"\mathrm{gained}", forms.block(a0, a1, b1, b0, k, SYMBOLS)),
    )
