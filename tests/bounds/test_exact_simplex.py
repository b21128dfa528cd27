"""The simplex method in integers against the corners of small polyhedra, found by solving every pair of sides."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.exact_simplex import Simplex

BOX = 5


def corners(rows, lower, upper):
    """All corners of {z in the box of side BOX: lower <= M z <= upper}, two unknowns."""
    sides = [((1, 0), -BOX), ((1, 0), BOX), ((0, 1), -BOX), ((0, 1), BOX)]
    sides += [(tuple(row), side) for row, low, up in zip(rows, lower, upper, strict=True) for side in (low, up)]
    found = []
    for ((a, b), s), ((c, d), t) in combinations(sides, 2):
        if a * d != b * c:
            x, y = Fraction(s * d - t * b, a * d - b * c), Fraction(a * t - c * s, a * d - b * c)
            if max(abs(x), abs(y)) <= BOX and all(
                low <= p * x + q * y <= up for (p, q), low, up in zip(rows, lower, upper, strict=True)
            ):
                found.append((x, y))
    return found


def placed(rows, lower, upper):
    simplex = Simplex(2, rows)
    simplex.lower[:] = [-BOX, -BOX, *lower]
    simplex.upper[:] = [BOX, BOX, *upper]
    return simplex


cases = st.lists(
    st.tuples(st.lists(st.integers(-4, 4), min_size=2, max_size=2), st.integers(-9, 9), st.integers(0, 6)),
    min_size=1,
    max_size=5,
).map(lambda rows: ([r for r, _, _ in rows], [low for _, low, _ in rows], [low + width for _, low, width in rows]))


@given(cases, st.lists(st.integers(-4, 4), min_size=2, max_size=2))
def test_points_contradictions_and_optima(case, objective):
    rows, lower, upper = case
    found = corners(rows, lower, upper)
    simplex = placed(rows, lower, upper)
    goal = simplex.add(objective)
    reason = simplex.check()
    assert (reason is None) == bool(found)
    if reason is not None:
        forms = [[1, 0], [0, 1], *rows]
        signed = [(times * (1 - 2 * side), v, times, side) for v, side, times in reason]
        assert min(times for _, _, times, _ in signed) > 0
        assert [sum(t * forms[v][j] for t, v, _, _ in signed) for j in (0, 1)] == [0, 0]
        assert sum(times * (-simplex.lower[v] if side else simplex.upper[v]) for _, v, times, side in signed) < 0
        return
    value = simplex.maximise(goal)
    assert value == max(objective[0] * x + objective[1] * y for x, y in found)
    x, y = simplex.value(0), simplex.value(1)
    assert objective[0] * x + objective[1] * y == value
    assert all(low <= p * x + q * y <= up for (p, q), low, up in zip(rows, lower, upper, strict=True))


@given(cases, cases)
def test_a_run_goes_on_from_the_last(first, second):
    rows, lower, upper = first
    simplex = placed(rows, lower, upper)
    simplex.check()
    copy = simplex.clone()
    for index, (low, up) in enumerate(zip(*second[1:], strict=True)):
        if index < len(rows):
            simplex.lower[2 + index], simplex.upper[2 + index] = low, up
    again = (simplex.lower[2:], simplex.upper[2:])
    assert (simplex.check() is None) == bool(corners(rows, *again))
    assert (copy.check() is None) == bool(corners(rows, lower, upper))


@pytest.mark.parametrize(("lower", "upper"), [(1, 4), (-4, -1)])
def test_a_side_is_met_to_the_unit(lower, upper):
    simplex = placed([[1, 1]], [lower], [upper])
    assert simplex.check() is None
    assert lower <= simplex.value(2) <= upper


def test_nothing_stops_it():
    simplex = Simplex(1, [[2]])
    simplex.lower[0] = 0
    assert simplex.check() is None
    assert simplex.maximise(1) is None
    simplex.upper[0] = 3
    assert simplex.maximise(1) == 6


def test_bounds_of_one_variable_that_cross():
    simplex = Simplex(1, [])
    simplex.lower[0], simplex.upper[0] = 2, 1
    assert simplex.check() == [(0, 0, 1), (0, 1, 1)]


@pytest.mark.parametrize("sign", [1, -1])
def test_many_ties_end(sign):
    # Beale's example cycles under the largest coefficient rule; scaled to integers.
    rows = [[25, -60 * 100, -4, 900], [25 * 2, -90 * 100, -2, 300], [0, 0, 1, 0]]
    simplex = Simplex(4, rows)
    simplex.lower[:4] = [0] * 4
    simplex.upper[4:] = [0, 0, 1]
    goal = simplex.add([sign * a for a in (75, -15000, 2, -600)])
    assert simplex.check() is None
    assert simplex.maximise(goal) == (5 if sign > 0 else None)
