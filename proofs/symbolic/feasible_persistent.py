"""C5 derived: the lower share of a label with its parity, the cuts of the transport, and the ends of the range.

Statements about one wrong class l, or two, against all others together hold for any number of wrong classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import ModuleType

from proofs.evidence import Cell
from proofs.symbolic.derivation import SYMBOLS, Derivation, Expression, decide, expression, integers, ranges

__all__ = ["check", "derive", "latex", "least_of", "transport"]


def derive(forms: ModuleType, proof: Derivation, fast: bool = False) -> None:
    """Necessary, sufficient, least, greatest."""
    _share(forms, proof)
    for labels in (2,) if fast else (2, 3):
        transport(proof, labels)
    _least(forms, proof)
    _greatest(forms, proof)


def _share(forms: ModuleType, proof: Derivation) -> None:
    """L_l(s) is the least integer that leaves the changed pairs room in the cut of label l."""
    w, v, all_w, all_v, m, s, d = integers("w w' W W' m s d")
    share = expression(forms.persistent_lower_share(w, v, m, s, all_w + all_v, SYMBOLS))
    same, right, down, persistent, changed = cells = integers("x_{ll} x_{lo} x_{ol} y z")
    table = [*cells, w - same - right, v - same - down]
    table += [all_w - w - down - persistent - changed, all_v - v - right - persistent - changed]
    in_table = {m: sum(cells), s: same + persistent}
    least = SYMBOLS.minimum(w, v)
    proof.follows("a table gives label l at least L_l", [same - share.xreplace(in_table)], table)
    proof.follows("and at most U_l", [least - same], table)
    sides = [w, v, all_w - w, all_v - v, m, all_w - m, all_v - m, s, m - s, s - d, least - d]
    room = (all_w - s) + (all_v - s) - (w - d) - (v - d) - (m - s)
    proof.follows("L_l leaves room in each cut", [room, all_w - s - (m - s), all_v - s - (m - s)], [*sides, d - share])


def transport(
    proof: Derivation, labels: int
) -> tuple[Sequence[Expression], Sequence[Expression], Sequence[Expression], Expression]:
    """Changed pairs between labels reach the smallest cut, and every number below it.

    Returns:
        Rows and columns of the labels, the cuts that leave a label out, and the greatest number of pairs.
    """
    a, b = (integers(" ".join(f"{side}_{i}" for i in range(labels))) for side in "ab")
    cells = {(i, j): integers(f"x_{{{i}{j}}}")[0] for i in range(labels) for j in range(labels) if i != j}
    pairs, first = integers("R")[0], cells[0, 1]
    cells[0, 1] = pairs - sum(x for cell, x in cells.items() if cell != (0, 1))
    table = list(cells.values())
    table += [a[i] - sum(x for (row, _), x in cells.items() if row == i) for i in range(labels)]
    table += [b[j] - sum(x for (_, column), x in cells.items() if column == j) for j in range(labels)]
    others = [x for cell, x in cells.items() if cell != (0, 1)]
    assert first not in others
    least, most = proof.projected(f"transport between {labels} labels", table, [*a, *b], pairs, others)
    cuts = [sum(a) - a[i] + sum(b) - b[i] for i in range(labels)]
    proof.equal("no pair", least, 0, [*a, *b])
    proof.equal("the smallest cut", most, least_of([sum(a), sum(b), *cuts]), [*a, *b])
    return a, b, cuts, most


def least_of(values: Sequence[Expression]) -> Expression:
    """The smallest of the values."""
    result = values[0]
    for value in values[1:]:
        result = SYMBOLS.minimum(result, value)
    return result


def _least(forms: ModuleType, proof: Derivation) -> None:
    """Label l has the tightest cut, j is any other; the shares at the least s sum to s."""
    w, v, w_j, v_j, all_w, all_v, m, s, common = integers("w w' w_j w'_j W W' m s C")
    share = partial(forms.persistent_lower_share, total=all_w + all_v, xp=SYMBOLS)
    tightest, other = all_w + all_v - w - v, all_w + all_v - w_j - v_j
    sides = [w, v, w_j, v_j, all_w - w - w_j, all_v - v - v_j, m, all_w - m, all_v - m, other - tightest]
    low, _ = forms.persistent_range(m, tightest, common, SYMBOLS)
    proof.follows("no s below the least", [s - low], [*sides, s, s - share(w, v, m, s)])
    proof.equal("the share of l is all of it", share(w, v, m, low), low, sides)
    proof.equal("the share of any other is 0", share(w_j, v_j, m, low), 0, sides)
    proof.follows("the least is at most U_l and m", [SYMBOLS.minimum(w, v) - low, m - low], sides)


def _greatest(forms: ModuleType, proof: Derivation) -> None:
    """Any split d of the greatest s with d_l <= U_l holds each share; if s is the sum of the U, it is d = U."""
    w, v, all_w, all_v, m, s, d, common = integers("w w' W W' m s d C")
    most = SYMBOLS.minimum(w, v)
    share = partial(forms.persistent_lower_share, total=all_w + all_v, xp=SYMBOLS)
    _, high = forms.persistent_range(m, all_w + all_v - w - v, common, SYMBOLS)
    sides = [w, v, all_w - w, all_v - v, m, all_w - m, all_v - m, common]
    proof.follows("no s above the greatest", [high - s], [*sides, m - s, common - s])
    proof.follows("the greatest is at most m and the sum of the U", [m - high, common - high], sides)
    others = [all_w - w - (high - d), all_v - v - (high - d)]
    held = [*sides, d, most - d, *others]
    proof.follows("all pairs persistent", [d - share(w, v, m, high)], [*held, common - m])
    full = [g.xreplace({d: most}) for g in (all_w - w - (common - d), all_v - v - (common - d))]
    proof.follows("all U taken", [most - share(w, v, m, high)], [*sides, m - common, *full])


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    labels = "two" if fast else "two and three"
    return decide(
        partial(derive, fast=fast),
        forms,
        "all class sizes: for any number of wrong classes the condition is necessary (parity included), leaves room in "
        "every cut, and is met by both ends of the range and by nothing outside; that room in the cuts suffices, for "
        f"{labels} wrong classes, by elimination",
    )


def latex(forms: ModuleType) -> str:
    """The lower share of a label, and the range."""
    w, v, m, s, total, tightest, common = integers("w_l w'_l m s T X C")
    share = forms.persistent_lower_share(w, v, m, s, total, SYMBOLS)
    return ranges((r"d_l", (share, SYMBOLS.minimum(w, v))), ("s", forms.persistent_range(m, tightest, common, SYMBOLS)))
