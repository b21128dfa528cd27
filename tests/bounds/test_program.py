"""A program states exactly what it means, without a solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from programs import program

TWO_BLOCKS = program(
    [([1, 2], [3]), ([1, 1], [1, 1])],
    [5, -6, 1, 2, 3, 4],
    [([0, 1, 0, -1, 0, 2], 1, 4)],
    scale=7,
)


def test_constraints_are_margins_then_rows():
    starts, variables, coefficients, lower, upper = TWO_BLOCKS.constraints
    dense = np.zeros((len(lower), TWO_BLOCKS.variables))
    for r in range(len(lower)):
        dense[r, variables[starts[r] : starts[r + 1]]] = coefficients[starts[r] : starts[r + 1]]
    assert dense.tolist() == [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 1],
        [1, 1, 0, 0, 0, 0],
        [0, 0, 1, 0, 1, 0],
        [0, 0, 0, 1, 0, 1],
        [0, 1, 0, -1, 0, 2],
    ]
    assert lower.tolist() == [1, 2, 1, 1, 3, 1, 1, 1]
    assert upper.tolist() == [1, 2, 1, 1, 3, 1, 1, 4]


def test_value_is_exact():
    assert TWO_BLOCKS.value(np.array([1, 2, 1, 0, 0, 1])) == Fraction(5 - 12 + 1 + 4, 7)


@pytest.mark.parametrize(
    ("x", "broken"),
    [
        ([1, 2, 1, 0, 0, 1], None),
        ([1, 2, 2, -1, -1, 2], "a negative number of pairs"),
        ([2, 1, 1, 0, 0, 1], "the clean margins of block 0"),
        ([1, 2, 1, 0, 1, 0], "the perturbed margins of block 1"),
        ([1, 2, 0, 1, 1, 0], None),
    ],
)
def test_the_first_violated_condition_is_named(x, broken):
    assert TWO_BLOCKS.violated(np.array(x)) == broken


def test_a_violated_row_is_named():
    tight = program([([1, 1], [1, 1])], [0] * 4, [([1, 0, 0, 0], 1, 1)])
    assert tight.violated(np.array([1, 0, 0, 1])) is None
    assert tight.violated(np.array([0, 1, 1, 0])) == "row 0"


@pytest.mark.parametrize("shift", [0, 3, 40, 400, 3000])
def test_costs_are_the_objective_over_a_power_of_two(shift):
    case = program([([1, 1], [1, 1])], [(2**30 + 1) << shift, -1 << shift, 0, 3 << shift])
    scaled = [Fraction(c) * Fraction(2) ** case.exponent for c in case.costs.tolist()]
    assert scaled == case.objective.tolist()
    assert 2**9 <= np.abs(case.costs).max() < 2**10


def test_a_cost_is_rounded_once():
    case = program([([1], [1])], [2**2000 + 2**1000])
    assert case.costs.tolist() == [512.0]
    assert program([([1], [1])], [0]).costs.tolist() == [0.0]
