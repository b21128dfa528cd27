"""Rows and programs, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bounds.errors import CountError
from bounds.table_program import Row, TableProgram, whole


def test_sides_are_exact_and_closed():
    row = Row("third", {0: Fraction(1, 3)}, Fraction(1, 3), Fraction(2, 3))
    assert [row.holds((x,)) for x in range(4)] == [False, True, True, False]


def test_the_first_broken_row_is_named():
    program = TableProgram(("a", "b"), (Row("both", {0: 1, 1: 1}, 2, 2), Row("a", {0: 1}, None, 1)))
    assert program.violated((1, 1)) is None
    assert program.violated((2, 0)) == "a"
    assert program.violated((2, 1)) == "both"
    assert program.violated((-1, 3)) == "a >= 0"
    with pytest.raises(CountError, match="there are 2 variables"):
        program.violated((1,))


def test_a_row_of_a_variable_that_is_not_there():
    with pytest.raises(CountError, match="'far'"):
        TableProgram(("a",), (Row("far", {1: 1}, 0, 1),))


def test_rows_of_a_name_go_together():
    program = TableProgram(("a",), (Row("x", {0: 1}, 1, None), Row("y", {0: 1}, 2, None), Row("x", {0: 1}, None, 3)))
    assert [row.name for row in program.without({"x"}).rows] == ["y"]
    assert [row.name for row in program.with_rows([Row("z", {}, 0, 0)]).rows] == ["x", "y", "x", "z"]


def test_coefficients_as_coprime_integers():
    assert whole({0: Fraction(3, 2), 1: Fraction(9, 4), 2: 0}) == ({0: 2, 1: 3}, Fraction(4, 3))
    assert whole({}) == ({}, 1)
