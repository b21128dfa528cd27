"""A certificate holds whatever the solver said, and is tight where the solver was nearly right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from programs import points, program, random_program

from bounds.duality import certify

seeds = st.integers(0, 2**32 - 1)


def value(case, x):
    return Fraction(sum(c * n for c, n in zip(case.objective, x, strict=True)), case.scale)


@given(seeds, st.sampled_from([1e-20, 1e-6, 1.0, 1e6]))
def test_any_multipliers_bound_every_point(seed, size):
    rng = np.random.default_rng(seed)
    case = random_program(rng)
    x = rng.uniform(0, 2, case.variables) * rng.integers(0, 2, case.variables)
    certificate = certify(case, x, size * rng.normal(size=len(case.constraints.lower)))
    assert all(loss <= 0 for loss in certificate.reduced)
    for point in points(case):
        left = Fraction(sum(c * n for c, n in zip(certificate.reduced, point, strict=True)), certificate.scale)
        assert value(case, point) <= certificate.bound
        assert certificate.bound + left >= value(case, point)
        if all(row.lower == row.upper for row in case.rows):
            assert certificate.bound + left == value(case, point)


def test_inexact_multipliers_become_exact():
    # Optimal: the identity with one retained pair; each multiplier is off by a little.
    third = 3**40
    case = program([([1, 1], [1, 1])], [third, 0, 0, third // 3], [([1, 0, 0, 0], 1, 1)], scale=third)
    x = np.array([1.0, 1e-12, 0.0, 1.0])
    certificate = certify(case, x, np.array([1e-9, -2e-9, 512.3, 170.1, 3e-9]))
    assert certificate.bound == 1 + Fraction(third // 3, third)


FAR = 10**15 + 1


def test_a_side_multiplier_comes_from_the_cycles():
    # Each pair more in the first cell is worth FAR, so the multiplier of their number is FAR and nothing else.
    case = program([([4, 4], [4, 4])], [FAR, 0, 0, 0], [([1, 0, 0, 0], 2, 2)])
    certificate = certify(case, np.full(4, 2.0), np.array([0, 0, 0, 0, case.costs[0] - 1e-9]))
    assert certificate.bound == 2 * FAR


def test_pairs_in_use_settle_a_side_multiplier_before_pairs_that_look_tight():
    case = program(
        [([4, 4], [4, 4]), ([1, 1], [1, 1])],
        [FAR, 0, 0, 0, 0, FAR - 1, 0, 0],
        [([1, 0, 0, 0, 0, 1, 0, 0], 2, 2)],
    )
    x = np.array([2.0, 2.0, 2.0, 2.0, 1.0, 0.0, 0.0, 1.0])
    duals = np.array([0.0] * 8 + [case.costs[0] - 1e-9])
    assert abs(case.costs[5] - duals[-1]) < 1e-8
    assert certify(case, x, duals).bound == 2 * FAR
