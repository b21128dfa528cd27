"""C3 for classes of all sizes: acceptance lost and gained among retained-correct pairs, and the ratios over them."""

from __future__ import annotations

from types import ModuleType

from proofs.evidence import Cell
from proofs.smt.solving import decide
from proofs.smt.tables import block_table, fits
from proofs.smt.terms import TERMS, Question, Term, between, integers, least, non_negative

__all__ = ["check", "questions"]

MARGINS = integers("r1 r0 c1 c0")
"""Marked and other rows, marked and other columns."""


def _pairs_fit(pairs: Term) -> list[Term]:
    r1, r0, c1, c0 = MARGINS
    return [*non_negative([*MARGINS, pairs]), pairs <= r1 + r0, pairs <= c1 + c0]


def questions(forms: ModuleType, fast: bool = False) -> list[Question]:
    """Lost and gained acceptance given k; then what ratios need, for 0 <= t <= 1, where t = 0 and t = 1 decide."""
    n, a1, a0, b1, b0, k, v = integers("n A1 A0 B1 B0 k v")
    feasible = [
        *non_negative([a1, a0, b1, b0, k]),
        *(a1 + a0 + b1 + b0 - k <= n, k <= a1 + a0, k <= b1 + b0),
    ]
    asked = []
    for name, margins in (("lost", (a1, a0, b0, b1)), ("gained", (a0, a1, b1, b0))):
        low, high = forms.block(*margins, k, TERMS)
        table = {(i, j): x for (i, j), x in zip(_CELLS, integers("x11 x10 x01 x00"), strict=True)}
        held = fits(table, margins[:2], margins[2:], k)
        asked += [
            Question(f"{name} acceptance: the bound is valid", [*feasible, *held], between(low, table[0, 0], high)),
            Question(
                f"{name} acceptance: every value between is attained",
                [*feasible, *between(low, v, high)],
                fits(block_table(*margins, k, v), margins[:2], margins[2:], k),
            ),
        ]
    return asked + _marked_rows(forms) + _ratio_given_k(forms) + _ratio_over_k(forms)


_CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))


def _with_marked(pairs: Term, both: Term, marked: Term) -> list[Term]:
    """That the table with `both` marked-marked pairs and `marked` marked rows fits."""
    r1, r0, c1, c0 = MARGINS
    up = least(pairs - marked, c1 - both)
    table = {(0, 0): both, (0, 1): marked - both, (1, 0): up, (1, 1): pairs - marked - up}
    return fits(table, (r1, r0), (c1, c0), pairs)


def _marked_rows(forms: ModuleType) -> list[Question]:
    r1, r0, c1, _ = MARGINS
    k, x, y = integers("k x y")
    low, high = forms.marked_row_range(r1, r0, k, TERMS)
    return [
        Question("marked rows: the bound is valid", _any_table(k, x, y), between(low, y, high)),
        Question(
            "marked rows: every value between is attained",
            [*_pairs_fit(k), *between(low, y, high)],
            _with_marked(k, least(y, c1), y),
        ),
    ]


def _any_table(pairs: Term, both: Term, marked: Term) -> list[Term]:
    """Some table has `both` marked-marked pairs and `marked` marked rows."""
    r1, r0, c1, c0 = MARGINS
    (up,) = integers("up")
    table = {(0, 0): both, (0, 1): marked - both, (1, 0): up, (1, 1): pairs - marked - up}
    return [*non_negative(MARGINS), *fits(table, (r1, r0), (c1, c0), pairs)]


def _ratio_given_k(forms: ModuleType) -> list[Question]:
    k, x, y = integers("k x y")
    (least_x, least_y), (most_x, most_y) = forms.most_other_rows_ratio(*MARGINS, k, TERMS)
    return [
        Question(
            "marked-marked pairs over marked rows: no table has a lower or higher x - t y",
            _any_table(k, x, y),
            [
                *between(least_x, x, most_x),
                *between(least_x - least_y, x - y, most_x - most_y),
            ],
        ),
        Question(
            "marked-marked pairs over marked rows: both ends are attained",
            _pairs_fit(k),
            [*_with_marked(k, least_x, least_y), *_with_marked(k, most_x, most_y)],
        ),
    ]


def _ratio_over_k(forms: ModuleType) -> list[Question]:
    low, high, k = integers("low high k")
    asked = []
    for over_marked in (False, True):
        at = forms.ratio_pairs(low, high, *MARGINS, over_marked, TERMS)
        best = []
        for end, chosen in enumerate(at):
            (x, y), (x_there, y_there) = (_point(forms, k, over_marked, end) for k in (k, chosen))
            for better in (x_there - x, x_there - y_there - x + y):
                best.append(better <= 0 if end == 0 else better >= 0)
        given = [*_pairs_fit(high), *between(0, low, high), *between(low, k, high)]
        name = "marked rows" if over_marked else "all pairs"
        asked += [
            Question(
                f"ratio over {name}: the chosen k is feasible",
                given,
                [*between(low, at[0], high), *between(low, at[1], high)],
            ),
            Question(f"ratio over {name}: no other k has a lower or higher x - t y", given, best),
        ]
    return asked


def _point(forms: ModuleType, k: Term, over_marked: bool, end: int) -> tuple[Term, Term]:
    """(x, y) at the least (end 0) or greatest (end 1) ratio given k."""
    if over_marked:
        point: tuple[Term, Term] = forms.most_other_rows_ratio(*MARGINS, k, TERMS)[end]
        return point
    return forms.block(*MARGINS, k, TERMS)[end], k


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    return decide(
        questions(forms, fast),
        fast,
        "all class sizes; lost and gained acceptance with every value by an explicit table; ends of ratios for every "
        "0 <= t <= 1 of x - t y, both attained",
    )
