"""C13 for classes of all sizes: accepted-error transitions given the retained-correct count."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from proofs.evidence import Cell
from proofs.smt.solving import decide
from proofs.smt.tables import (
    Table,
    block_table,
    columns_of,
    fits,
    northwest,
    part,
    rows_of,
    transport,
)
from proofs.smt.terms import TERMS, Question, Term, between, equal, integers, least, non_negative, total

__all__ = ["check", "questions"]

# Groups of a side, in this order: correct accepted, correct rejected, accepted error, rejected wrong.
CLEAN = A1, A0, E, E0 = integers("A1 A0 E E0")
PERTURBED = B1, B0, F, F0 = integers("B1 B0 F F0")
A, B, W, V = A1 + A0, B1 + B0, E + E0, F + F0
K, VALUE = integers("k v")
FEASIBLE = [
    *non_negative([*CLEAN, *PERTURBED, K]),
    *(equal(A + W, B + V), K <= A, K <= B, A + B - K <= A + W),
]


def _ranges(forms: ModuleType) -> dict[str, tuple[Term, Term]]:
    """The ends of each transition as functions of k."""
    wrong = forms.wrong_pairs(A + W, A, B, K)
    kept = forms.block(E, E0, F, F0, wrong, TERMS)
    return {
        "kept": kept,
        "new": (F - kept[1], F - kept[0]),
        "resolved": (E - kept[1], E - kept[0]),
        "rejected wrong to accepted error": forms.block(E0, E, F, F0, wrong, TERMS),
        "correct to accepted error": forms.block(A, 0, F, F0, A - K, TERMS),
        "accepted correct to accepted error": forms.block(A1, A0, F, F0, A - K, TERMS),
    }


def _values(table: Table) -> dict[str, Term]:
    """The transitions read off a table of the four groups of each side."""
    return {
        "kept": table[2, 2],
        "new": table[0, 2] + table[1, 2] + table[3, 2],
        "resolved": table[2, 0] + table[2, 1] + table[2, 3],
        "rejected wrong to accepted error": table[3, 2],
        "correct to accepted error": table[0, 2] + table[1, 2],
        "accepted correct to accepted error": table[0, 2],
    }


def _whole(table: Table, k: Term) -> list[Term]:
    """That the table has the margins of the class, no negative cell, and k retained-correct pairs."""
    retained = total(table[i, j] for i in (0, 1) for j in (0, 1))
    margins = zip((*rows_of(table, 4), *columns_of(table, 4)), (*CLEAN, *PERTURBED), strict=True)
    return [*non_negative(table.values()), equal(retained, k), *(equal(x, margin) for x, margin in margins)]


def _completed(lost: Table, wrong: Table) -> dict[tuple[int, int], Term]:
    """The table of the class with these lost pairs and these pairs wrong on both sides (2 x 2 each)."""
    recovered_columns = part((B1, B0), B - K)
    recovered = northwest(_less((E, E0), rows_of(wrong, 2)), recovered_columns)
    retained = northwest(_less((A1, A0), rows_of(lost, 2)), _less((B1, B0), recovered_columns))
    blocks = (((0, 0), retained), ((0, 2), lost), ((2, 0), recovered), ((2, 2), wrong))
    return {(i + di, j + dj): x for (di, dj), block in blocks for (i, j), x in block.items()}


def _witness(name: str, value: Term) -> dict[tuple[int, int], Term]:
    """A table of the class in which the transition has this value."""
    pairs = A + W - A - B + K
    lost_rows = part((A1, A0), A - K)
    if name in ("kept", "new", "resolved", "rejected wrong to accepted error"):
        if name == "rejected wrong to accepted error":
            flipped = block_table(E0, E, F, F0, pairs, value)
            wrong = {(1 - i, j): x for (i, j), x in flipped.items()}
        else:
            kept = {"kept": value, "new": F - value, "resolved": E - value}[name]
            wrong = block_table(E, E0, F, F0, pairs, kept)
        return _completed(northwest(lost_rows, _less((F, F0), columns_of(wrong, 2))), wrong)
    if name == "correct to accepted error":
        lost = northwest(lost_rows, (value, A - K - value))
    else:
        lost = block_table(A1, A0, F, F0, A - K, value)
    return _completed(lost, northwest(part((E, E0), pairs), _less((F, F0), columns_of(lost, 2))))


def _transitions(forms: ModuleType) -> list[Question]:
    table = {(i, j): Term(f"x{i}{j}") for i in range(4) for j in range(4)}
    values, asked = _values(table), []
    for name, (low, high) in _ranges(forms).items():
        witness = _witness(name, VALUE)
        asked += [
            Question(f"{name}: the bound is valid", [*FEASIBLE, *_whole(table, K)], between(low, values[name], high)),
            Question(
                f"{name}: every value between is attained",
                [*FEASIBLE, *between(low, VALUE, high)],
                [*_whole(witness, K), equal(_values(witness)[name], VALUE)],
            ),
        ]
    return asked


# --- kept-persistent and kept-changed, for a fixed number of wrong classes -------------------------------------------
#
# Index 0 holds the wrong records that are no accepted errors; index l the accepted errors that predict l. Only the
# pairs wrong on both sides matter: m of them, at most W rows and W' columns (C1 completes the class).


def _by_label(forms: ModuleType, labels: int) -> list[Question]:
    rows, columns = (integers(" ".join(f"{side}{i}" for i in range(labels + 1))) for side in "ef")
    (m,) = integers("m")
    given = [*non_negative([*rows, *columns, m]), m <= total(rows), m <= total(columns)]
    common = total(_commons(rows, columns))
    persistent = forms.persistent_range(m, _tightest(rows, columns, rows, columns), common, TERMS)
    changed = forms.kept_changed_range(
        m,
        *(total(rows[1:]), total(columns[1:]), rows[0], columns[0]),
        *(_tightest(rows, columns, rows[1:], columns[1:]), common, TERMS),
    )
    table = {(i, j): Term(f"x{i}{j}") for i in range(labels + 1) for j in range(labels + 1)}
    asked = []
    for name, ends, same, witnesses in (
        ("persistent", persistent, True, (_least_persistent, _most_persistent)),
        ("changed", changed, False, (_least_changed, _most_changed)),
    ):
        name = f"kept {name}, {labels} wrong classes"
        held = [*given, *fits(table, rows, columns, m)]
        asked.append(Question(f"{name}: the bound is valid", held, between(ends[0], _kept(table, same), ends[1])))
        for end, value, witness in zip(("lower", "upper"), ends, witnesses, strict=True):
            cells = witness(rows, columns, m, value)
            attained = _kept(cells, same) <= value if end == "lower" else _kept(cells, same) >= value
            asked.append(
                Question(f"{name}: the {end} end is attained", given, [*fits(cells, rows, columns, m), attained])
            )
    return asked


def _commons(rows: Sequence[Term], columns: Sequence[Term]) -> list[Term]:
    return [least(e, f) for e, f in zip(rows[1:], columns[1:], strict=True)]


def _tightest(
    rows: Sequence[Term], columns: Sequence[Term], some_rows: Sequence[Term], some_columns: Sequence[Term]
) -> Term:
    """The least, over labels, of the sum of the margins given last without those of the label."""
    outside = total(some_rows) + total(some_columns)
    return least(*(outside - e - f for e, f in zip(rows[1:], columns[1:], strict=True)))


def _kept(table: Table, persistent: bool) -> Term:
    """Pairs of accepted errors that predict the same label, or different ones."""
    return total(x for (i, j), x in table.items() if i and j and (i == j) is persistent)


def _sum(*tables: Table) -> dict[tuple[int, int], Term]:
    cells = {cell for table in tables for cell in table}
    return {cell: total(table[cell] for table in tables if cell in table) for cell in sorted(cells)}


def _less(margins: Sequence[Term], used: Sequence[Term]) -> list[Term]:
    return [margin - x for margin, x in zip(margins, used, strict=True)]


def _diagonal(amounts: Sequence[Term]) -> dict[tuple[int, int], Term]:
    return {(label, label): amount for label, amount in enumerate(amounts, 1)}


def _filled(
    table: Table, rows: Sequence[Term], columns: Sequence[Term], pairs: Term, apart: bool = False
) -> dict[tuple[int, int], Term]:
    """The table and as many further pairs as make `pairs`, of units in order of the groups.

    With `apart`, rows without accepted errors meet the columns of accepted errors first, and columns without such rows
    of accepted errors.
    """
    groups = range(len(rows))
    wanted = pairs - total(table.values())
    a = part(_less(rows, rows_of(table, len(rows))), wanted)
    b = part(_less(columns, columns_of(table, len(columns))), wanted)
    order = [*groups[1:], 0] if apart else list(groups)
    return _sum(table, {(i, order[j]): x for (i, j), x in northwest(a, [b[j] for j in order]).items()})


def _least_persistent(rows: Sequence[Term], columns: Sequence[Term], m: Term, value: Term) -> Table:
    """A label that must be persistent has so many pairs; the rest avoids the diagonal but where nothing is accepted."""
    outside = total(rows) + total(columns)
    same = [TERMS.maximum(0, m - outside + e + f) for e, f in zip(rows[1:], columns[1:], strict=True)]
    rest = m - total(same)
    a = [rows[0], *_less(rows[1:], same)]
    b = [columns[0], *_less(columns[1:], same)]
    rejected = TERMS.maximum(0, rest - total(a[1:]) - total(b[1:]))
    moved = transport([a[0] - rejected, *a[1:]], [b[0] - rejected, *b[1:]], rest - rejected)
    return {**moved, **_diagonal(same), (0, 0): rejected}


def _most_persistent(rows: Sequence[Term], columns: Sequence[Term], m: Term, value: Term) -> Table:
    commons = _commons(rows, columns)
    same = _diagonal(part(commons, least(m, total(commons))))
    return _filled(same, rows, columns, m)


def _least_changed(rows: Sequence[Term], columns: Sequence[Term], m: Term, value: Term) -> Table:
    commons = _commons(rows, columns)
    same = _diagonal(part(commons, least(m, total(commons))))
    return _filled(same, rows, columns, m, apart=True)


def _most_changed(rows: Sequence[Term], columns: Sequence[Term], m: Term, value: Term) -> Table:
    moved = {(i + 1, j + 1): x for (i, j), x in transport(rows[1:], columns[1:], value).items()}
    return _filled(moved, rows, columns, m)


def questions(forms: ModuleType, fast: bool = False) -> list[Question]:
    """The six transitions that acceptance alone decides, then the two that labels decide."""
    return _transitions(forms) + _by_label(forms, 2) + ([] if fast else _by_label(forms, 3))


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    return decide(
        questions(forms, fast),
        fast,
        "all class sizes; kept, new, resolved, rejected-wrong, correct and accepted-correct to accepted error with "
        "every value by an explicit table of the class; kept-persistent and kept-changed: both ends, for "
        + ("two wrong classes" if fast else "two and three wrong classes"),
    )
