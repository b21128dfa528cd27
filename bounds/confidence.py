"""Critical values for confidence intervals about an interval whose two ends are estimated.

Pure functions of numbers: the estimated ends, their standard errors and correlation, and a level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np

__all__ = ["Estimate", "imbens_manski", "normal", "stoye"]

NORMAL = NormalDist()

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
"""Of integrals over parts of a normal variable's range."""

FAR = 8.0
"""Standard deviations beyond which a normal variable is not looked for."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated ends of an interval.

    Attributes:
        lower, upper: the ends, lower <= upper.
        lower_error, upper_error: their standard errors, >= 0.
        correlation: of the two estimates, in [-1, 1].
        images: n, the size of the sample.
    """

    lower: float
    upper: float
    lower_error: float
    upper_error: float
    correlation: float
    images: int

    def widened(self, below: float, above: float) -> tuple[float, float]:
        """The interval with its ends moved outward by so many of their standard errors."""
        return self.lower - below * self.lower_error, self.upper + above * self.upper_error


def normal(estimate: Estimate, level: float) -> tuple[float, float]:
    """Covers the whole interval where both ends are asymptotically normal: each end moved by z((1 + level) / 2)."""
    z = NORMAL.inv_cdf((1 + level) / 2)
    return estimate.widened(z, z)


def imbens_manski(estimate: Estimate, level: float) -> tuple[float, float]:
    """Covers each value inside the interval, one at a time, where both ends are asymptotically normal.

    Both ends move by c standard errors, with Phi(c + width / max error) - Phi(-c) = level.

    Source: Imbens and Manski, "Confidence Intervals for Partially Identified Parameters", Econometrica 72 (2004).

    >>> point, wide = Estimate(0, 0, 1, 1, 1, 100), Estimate(0, 1000, 1, 1, 0, 100)
    >>> round(imbens_manski(point, 0.95)[1], 4), round(imbens_manski(wide, 0.95)[1] - 1000, 4)
    (1.96, 1.6449)
    """
    error = max(estimate.lower_error, estimate.upper_error)
    shift = (estimate.upper - estimate.lower) / error if error else math.inf
    low, high = NORMAL.inv_cdf(level), NORMAL.inv_cdf((1 + level) / 2)
    for _ in range(60):
        middle = (low + high) / 2
        if NORMAL.cdf(middle + shift) - NORMAL.cdf(-middle) < level:
            low = middle
        else:
            high = middle
    return estimate.widened(high, high)


def stoye(estimate: Estimate, level: float) -> tuple[float, float]:
    """Covers each value inside the interval, one at a time, without the assumption that the width is superefficient.

    The ends move by the pair of critical values with the least total length for which both a value at the lower and
    one at the upper end are covered, given the correlation; a width of less than sqrt(ln n) of the larger standard
    error counts as zero there. The cut is ours: the theory asks that it shrinks more slowly than the errors.

    Source: Stoye, "More on Confidence Intervals for Partially Identified Parameters", Econometrica 77 (2009), the
    interval for estimators without superefficiency.

    >>> point, wide = Estimate(0, 0, 1, 1, 1, 100), Estimate(0, 1000, 1, 1, 0, 100)
    >>> round(stoye(point, 0.95)[1], 2), round(stoye(wide, 0.95)[1] - 1000, 2)
    (1.96, 1.64)
    """
    first, second = estimate.lower_error, estimate.upper_error
    if not first or not second:
        z = NORMAL.inv_cdf((1 + level) / 2)
        return estimate.widened(z, z)
    width = estimate.upper - estimate.lower
    if width <= math.sqrt(math.log(max(estimate.images, 2))) * max(first, second):
        width = 0.0
    elif width > FAR * max(first, second):
        z = NORMAL.inv_cdf(level)
        return estimate.widened(z, z)
    rho = min(1.0, max(-1.0, estimate.correlation))

    def least_above(below: float) -> float:
        """The least second critical value that covers values at both ends, given the first."""
        low, high = 0.0, FAR
        for _ in range(24):
            middle = (low + high) / 2
            at_lower = _both(below, middle + width / second, rho)
            at_upper = _both(middle, below + width / first, rho)
            low, high = (low, middle) if min(at_lower, at_upper) >= level else (middle, high)
        return high

    start, stop = NORMAL.inv_cdf(level), NORMAL.inv_cdf(1 - (1 - level) / 40)
    for _ in range(4):
        grid = np.linspace(start, stop, 7)
        lengths = [first * below + second * least_above(float(below)) for below in grid]
        best = int(np.argmin(lengths))
        start, stop = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 6)])
    return estimate.widened(float(grid[best]), least_above(float(grid[best])))


def _both(first: float, second: float, rho: float) -> float:
    """P(Z >= -first and Z' <= second) for standard normals with correlation `rho`."""
    rest = math.sqrt(max(0.0, 1 - rho * rho))
    if rest < 1e-6:
        if rho > 0:
            return max(0.0, NORMAL.cdf(second) - NORMAL.cdf(-first))
        return NORMAL.cdf(min(first, second))
    # The inner probability falls from one to zero about `turn`: there the nodes are close.
    turn, reach = (second / rho, FAR * rest / abs(rho)) if rho else (0.0, 2 * FAR)
    edges = np.clip([-first, turn - reach, turn + reach, FAR], max(-first, -FAR), FAR)
    total = 0.0
    for low, high in pairwise(edges.tolist()):
        half = (high - low) / 2
        points = low + half * (NODES + 1)
        density = np.exp(-points * points / 2) / math.sqrt(2 * math.pi)
        inner = [0.5 * math.erfc((rho * z - second) / (rest * math.sqrt(2))) for z in points.tolist()] if half else 0.0
        total += float(half * (WEIGHTS * density * inner).sum())
    return total
