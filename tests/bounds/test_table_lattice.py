"""Whole points of equations: none is lost, none is added, and parity is seen without a search."""

from __future__ import annotations

import pytest
from hypothesis import given
from small_tables import programs, tables

from bounds.table_lattice import Conflict, Lattice
from bounds.table_program import Row, TableProgram
from bounds.table_proofs import flaw, numbered


@given(programs())
def test_every_table_is_a_point(asked):
    program, images = asked
    every = tables(program, images)
    lattice = Lattice(program)
    conflict = None
    try:
        lattice.reduce()
    except Conflict as found:
        conflict = found
    if conflict is not None:
        assert not every
        assert flaw(program, numbered(len(program.rows), lattice.rounds, conflict.leaf)) is None
        return
    for x in every:
        z = {j: sum(a * x[i] for i, a in form.items()) for j, form in lattice.forms.items()}
        assert lattice.point(z) == x
        for form, (up, down) in lattice.sides.items():
            value = sum(c * z[j] for j, c in form)
            assert up is None or value <= up.level
            assert down is None or -value <= down.level


def test_equations_are_gone():
    rows = (Row("a", {0: 6, 1: 10, 2: 15}, 1, 1), Row("b", {0: 1, 1: 1, 2: 1, 3: 1}, 9, 9))
    lattice = Lattice(TableProgram(tuple("wxyz"), rows))
    lattice.reduce()
    assert len(lattice.forms) == 2
    for z in ((0, 0), (3, -1), (-2, 5)):
        x = lattice.point(dict(zip(lattice.forms, z, strict=True)))
        assert all(row.holds(x) for row in rows)


@pytest.mark.parametrize(
    "rows",
    [
        (Row("even", {0: 2, 1: -2}, 3, 3),),
        (Row("sum", {0: 1, 1: 1}, 9, 9), Row("gap", {0: 1, 1: -1}, 4, 4)),
        (Row("sum", {0: 1, 1: 1}, 9, 9), Row("gap", {0: 2, 1: -2}, 7, 9)),
        (Row("rounds to 5", {0: 3}, 14, 17), Row("sum", {0: 1, 1: 2}, 8, 8)),
    ],
)
def test_parity(rows):
    with pytest.raises(Conflict):
        Lattice(TableProgram(("a", "b"), rows)).reduce()


def test_sides_are_rounded_inward():
    lattice = Lattice(TableProgram(("a", "b"), (Row("r", {0: 2, 1: 4}, 3, 13),)))
    lattice.reduce()
    up, down = lattice.sides[(0, 1), (1, 2)]
    assert (up.level, -down.level) == (6, 2)
