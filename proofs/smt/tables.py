"""Explicit contingency tables, written with minima and maxima only: witnesses that closed forms are attained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofs.smt.terms import TERMS, Question, Term, equal, integers, least, non_negative, term, total

__all__ = [
    "Table",
    "block_table",
    "columns_of",
    "fits",
    "northwest",
    "part",
    "room_off_diagonal",
    "rows_of",
    "transport",
    "transport_question",
]

Table = Mapping[tuple[int, int], Term]
"""Cells by (row, column)."""


def rows_of(table: Table, rows: int) -> list[Term]:
    """The row sums."""
    return [total([term(0), *(x for (i, _), x in table.items() if i == row)]) for row in range(rows)]


def columns_of(table: Table, columns: int) -> list[Term]:
    """The column sums."""
    return [total([term(0), *(x for (_, j), x in table.items() if j == column)]) for column in range(columns)]


def fits(table: Table, rows: Sequence[Term], columns: Sequence[Term], pairs: Term) -> list[Term]:
    """No cell is negative, no row or column exceeds its margin, and the cells sum to `pairs`."""
    return [
        *non_negative(table.values()),
        *(x <= margin for x, margin in zip(rows_of(table, len(rows)), rows, strict=True)),
        *(x <= margin for x, margin in zip(columns_of(table, len(columns)), columns, strict=True)),
        equal(total(table.values()), pairs),
    ]


def part(amounts: Sequence[Term], wanted: Term) -> list[Term]:
    """`wanted` units of the amounts, the first amounts first."""
    taken = []
    for amount in amounts[:-1]:
        taken.append(least(amount, wanted))
        wanted = wanted - taken[-1]
    return [*taken, wanted]


def northwest(rows: Sequence[Term], columns: Sequence[Term]) -> dict[tuple[int, int], Term]:
    """A table with exactly these margins, whose sums are equal: units are paired in order."""
    if len(rows) == len(columns) == 2:
        corner = least(rows[0], columns[0])
        up = columns[0] - corner
        return {(0, 0): corner, (0, 1): rows[0] - corner, (1, 0): up, (1, 1): rows[1] - up}
    cells = {}
    below = term(0)
    for i, row in enumerate(rows):
        left = term(0)
        for j, column in enumerate(columns):
            overlap = least(below + row, left + column) - TERMS.maximum(below, left)
            cells[i, j] = TERMS.maximum(0, overlap)
            left = left + column
        below = below + row
    return cells


def block_table(
    marked_rows: Term, other_rows: Term, marked_columns: Term, other_columns: Term, pairs: Term, value: Term
) -> dict[tuple[int, int], Term]:
    """`pairs` pairs with `value` marked-marked ones; index 0 is marked."""
    down = least(marked_rows - value, other_columns, pairs - value)
    rest = least(other_rows, other_columns - down, pairs - value - down)
    return {(0, 0): value, (0, 1): down, (1, 0): pairs - value - down - rest, (1, 1): rest}


def room_off_diagonal(rows: Sequence[Term], columns: Sequence[Term], pairs: Term) -> list[Term]:
    """`pairs` is at most the value of each cut of the transport whose diagonal is zero."""
    all_rows, all_columns = total(rows), total(columns)
    return [
        pairs <= all_rows,
        pairs <= all_columns,
        *(pairs <= all_rows - a + all_columns - b for a, b in zip(rows, columns, strict=True)),
    ]


def transport(rows: Sequence[Term], columns: Sequence[Term], pairs: Term) -> dict[tuple[int, int], Term]:
    """`pairs` pairs between two, three or four groups, none within a group.

    Rows are cut down to `pairs` units such that each group still finds partners, then columns to what these rows
    leave to each group.
    """
    all_columns = total(columns)
    a = part([least(row, all_columns - column) for row, column in zip(rows, columns, strict=True)], pairs)
    b = part([least(column, pairs - row) for row, column in zip(a, columns, strict=True)], pairs)
    return {2: _two, 3: _three, 4: _four}[len(rows)](a, b)


def _two(a: Sequence[Term], b: Sequence[Term]) -> dict[tuple[int, int], Term]:
    return {(0, 1): a[0], (1, 0): b[0]}


def _three(a: Sequence[Term], b: Sequence[Term]) -> dict[tuple[int, int], Term]:
    """The tables with these margins form a line; the first that has no negative cell."""
    first = TERMS.maximum(0, TERMS.maximum(b[1] - a[2], a[0] - b[2]))
    return {
        (0, 1): first,
        (0, 2): a[0] - first,
        (1, 0): b[0] - a[2] + b[1] - first,
        (1, 2): b[2] - a[0] + first,
        (2, 0): a[2] - b[1] + first,
        (2, 1): b[1] - first,
    }


def _four(a: Sequence[Term], b: Sequence[Term]) -> dict[tuple[int, int], Term]:
    """The last group takes from each other group at least what that group could not place among the other two."""
    left = total(a) - a[3] - b[3]
    needs = [TERMS.maximum(0, row + column - left) for row, column in zip(a[:3], b[:3], strict=True)]
    forced = [TERMS.maximum(0, need - column) for need, column in zip(needs, b[:3], strict=True)]
    useful = [least(row, need) - x for row, need, x in zip(a[:3], needs, forced, strict=True)]
    rest = b[3] - total(forced)
    helping = part(useful, least(rest, total(useful)))
    spare = part([row - least(row, need) for row, need in zip(a[:3], needs, strict=True)], rest - total(helping))
    up = [total(parts) for parts in zip(forced, helping, spare, strict=True)]
    short = [TERMS.maximum(0, need - x) for need, x in zip(needs, up, strict=True)]
    more = part([column - y for column, y in zip(b[:3], short, strict=True)], a[3] - total(short))
    down = [total(parts) for parts in zip(short, more, strict=True)]
    others = _three(
        [row - x for row, x in zip(a[:3], up, strict=True)], [column - y for column, y in zip(b[:3], down, strict=True)]
    )
    return {**others, **{(i, 3): x for i, x in enumerate(up)}, **{(3, j): y for j, y in enumerate(down)}}


def transport_question(groups: int) -> Question:
    """That `transport` is a table whenever no cut forbids one."""
    rows = integers(" ".join(f"a{i}" for i in range(1, groups + 1)))
    columns = integers(" ".join(f"b{i}" for i in range(1, groups + 1)))
    (pairs,) = integers("R")
    return Question(
        f"transport between {groups} groups off the diagonal: the smallest cut is attained",
        [*non_negative([*rows, *columns, pairs]), *room_off_diagonal(rows, columns, pairs)],
        fits(transport(rows, columns, pairs), rows, columns, pairs),
    )
