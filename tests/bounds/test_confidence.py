"""Critical values, against SciPy's bivariate normal and the right values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from bounds.confidence import Estimate, _both, imbens_manski, normal, stoye


def estimate(width: float, errors: tuple[float, float] = (1.0, 1.0), correlation: float = 0.0) -> Estimate:
    return Estimate(0.0, width, *errors, correlation, 10_000)


def test_normal_moves_each_end() -> None:
    low, high = normal(estimate(5, (1.0, 2.0)), 0.95)
    assert (low, high) == pytest.approx((-norm.ppf(0.975), 5 + 2 * norm.ppf(0.975)), abs=1e-9)


@pytest.mark.parametrize(("width", "critical"), [(0.0, 1.9600), (1e6, 1.6449)])
def test_right_values(width: float, critical: float) -> None:
    for interval in (imbens_manski, stoye):
        low, high = interval(estimate(width, correlation=1.0 if width == 0 else 0.3), 0.95)
        assert (-low, high - width) == pytest.approx((critical, critical), abs=2e-3 if interval is stoye else 5e-5)


@pytest.mark.parametrize("width", [0.0, 0.3, 1.0, 2.5, 7.0])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_imbens_manski_solves_its_equation(width: float, level: float) -> None:
    c = -imbens_manski(estimate(width, (1.0, 0.5)), level)[0]
    assert norm.cdf(c + width) - norm.cdf(-c) == pytest.approx(level, abs=1e-12)


def test_imbens_manski_of_a_point_without_error() -> None:
    assert imbens_manski(estimate(0.0, (0.0, 0.0)), 0.95) == (0.0, 0.0)
    assert stoye(estimate(0.0, (0.0, 0.0)), 0.95) == (0.0, 0.0)


@pytest.mark.parametrize("rho", [-1.0, -0.9, 0.0, 0.5, 0.999, 1.0])
def test_the_bivariate_probability(rho: float) -> None:
    for first, second in [(1.0, 2.0), (-0.5, 0.2), (3.0, 1.6), (1.645, 6.0)]:
        # P(Z >= -a, Z' <= b) is P(-Z <= a, Z' <= b), and -Z has correlation -rho with Z'.
        joint = multivariate_normal([0, 0], [[1, -rho], [-rho, 1]], allow_singular=True)
        assert _both(first, second, rho) == pytest.approx(joint.cdf([first, second]), abs=2e-5)


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.7, 1.0])
@pytest.mark.parametrize("errors", [(1.0, 1.0), (1.0, 3.0)])
@pytest.mark.parametrize("width", [0.0, 12.0])
def test_stoye_covers_at_both_ends_with_the_least_length(rho: float, errors: tuple[float, float], width: float) -> None:
    low, high = stoye(estimate(width, errors, rho), 0.95)
    below, above = -low / errors[0], (high - width) / errors[1]
    joint = multivariate_normal([0, 0], [[1, -rho], [-rho, 1]], allow_singular=True)

    def least(a: float, b: float) -> float:
        return float(min(joint.cdf([a, b + width / errors[1]]), joint.cdf([b, a + width / errors[0]])))

    assert least(below, above) >= 0.95 - 1e-4
    length = errors[0] * below + errors[1] * above
    for a in np.linspace(1.65, 3, 12):
        b = (0.98 * length - errors[0] * a) / errors[1]
        assert b < 0 or least(float(a), b) < 0.95


def test_stoye_takes_a_narrow_width_for_zero() -> None:
    cut = math.sqrt(math.log(10_000))
    inside, outside = (stoye(estimate(f * cut, correlation=0.9), 0.95) for f in (0.99, 1.01))
    assert -inside[0] > 1.9
    assert -outside[0] < 1.7
