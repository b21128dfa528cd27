"""Choosing one retained-correct count a class: sums, ratios of sums (micro) and means of ratios (macro), exactly.

All functions maximise; callers negate for minima. Values are integers (int64, or Python integers in object arrays)
on the grid of all (class, k) with lo <= k <= hi.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.curves import Domain
from bounds.errors import SolverError

__all__ = [
    "DP_LIMIT",
    "Grid",
    "MeanChoice",
    "best_mean",
    "best_mean_given_total",
    "best_ratio",
    "best_sum",
    "mean_rate",
]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

DP_LIMIT = 5_000_000
"""Most (class, k, remaining total) cells that the dynamic program for macro averages walks through."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """All (class, k) of a domain, class by class with k ascending.

    Attributes:
        domain: the domain.
        c, k: int64, class index and count of each grid point.
        offsets: int64 of shape (C + 1,); the points of class c are `offsets[c]:offsets[c + 1]`.
    """

    domain: Domain
    c: Ints
    k: Ints
    offsets: Ints

    @classmethod
    def of(cls, domain: Domain) -> Grid:
        """The grid of a domain."""
        sizes = domain.hi - domain.lo + 1
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        c = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        return cls(domain, c, np.arange(offsets[-1], dtype=np.int64) - offsets[c] + domain.lo[c], offsets)


def best_sum(grid: Grid, values: npt.NDArray[Any]) -> Ints:
    """The k vector, int64 of shape (C,), with the greatest sum of values.

    With a total, values must be concave in k within each class; then taking the largest increments is exact.

    Raises:
        SolverError: if a total is given and the values are not concave (a fault of ours, never of the input).

    Claim: total_count_allocation (C11), four_block_integrality (C14).
    """
    domain = grid.domain
    if domain.fixed:
        return domain.lo
    if domain.total is None:
        best = np.maximum.reduceat(values, grid.offsets[:-1])
        winners = np.flatnonzero(values == best[grid.c])
        first = np.unique(grid.c[winners], return_index=True)[1]
        return grid.k[winners[first]]
    inside = np.flatnonzero(grid.c[1:] == grid.c[:-1])
    increments = values[inside + 1] - values[inside]
    owner = grid.c[inside]
    consecutive = np.flatnonzero(owner[1:] == owner[:-1])
    if (increments[consecutive + 1] > increments[consecutive]).any():
        raise SolverError("allocation", None, "values are not concave in k", "report this: the answer was not shown")
    taken = np.argsort(-increments, kind="stable")[: domain.total - int(domain.lo.sum())]
    return domain.lo + np.bincount(owner[taken], minlength=len(domain.lo)).astype(np.int64)


def best_ratio(
    grid: Grid, numerators: npt.NDArray[Any], denominators: Ints, start: int
) -> tuple[Ints | None, Fraction]:
    """The k vector with the greatest ratio of sums, and that ratio, by Dinkelbach's iterations.

    Args:
        numerators: on the grid, such that for every ratio t from `start` up to the optimum the points (numerator,
            denominator) maximise numerator - t * denominator given k.
        denominators: non-negative, on the grid; where all of a k vector's are 0, so are its numerators.
        start: an integer that no ratio is below.

    Returns:
        (k, ratio); where no k vector has a ratio above `start`: None, and `start`.

    Source: Dinkelbach (1967); every iterate is an attained ratio, so finitely many steps reach the optimum exactly.
    """
    wide, below = numerators.astype(object), denominators.astype(object)
    top, bottom = start, 1
    attained: Ints | None = None
    while True:
        k = best_sum(grid, wide * bottom - below * top)
        at = grid.offsets[:-1] + k - grid.domain.lo
        numerator, denominator = int(wide[at].sum()), int(below[at].sum())
        if numerator * bottom <= denominator * top:
            return attained, Fraction(top, bottom)
        attained, top, bottom = k, numerator, denominator


@dataclass(frozen=True, slots=True, eq=False)
class MeanChoice:
    """A mean of class rates.

    Attributes:
        mean: the value.
        k: int64 of shape (C,).
        counted: bool of shape (C,), the classes whose denominator is not zero.
    """

    mean: Fraction
    k: Ints
    counted: Bools


def mean_rate(numerators: npt.NDArray[Any], denominators: Ints) -> Fraction:
    """Mean of the ratios, exactly; at least one, every denominator positive."""
    total = Fraction(0)
    for denominator in np.unique(denominators):
        total += Fraction(int(numerators[denominators == denominator].sum()), int(denominator))
    return total / len(denominators)


def best_mean(rates: Sequence[Fraction | None], droppable: Bools, k: Ints) -> MeanChoice:
    """The greatest mean of class rates where some classes may be left out.

    Args:
        rates: the greatest rate of each class, None where it has none.
        droppable: whether the class may be left out.
        k: carried through to the result.

    Classes with a rate that cannot be left out always count; the others join in descending order while they raise
    the mean (if all may be left out, the largest alone counts). At least one class has a rate.
    """
    counted = np.array([rate is not None for rate in rates]) & ~droppable
    total = sum((rate for rate, count in zip(rates, counted, strict=True) if rate is not None and count), Fraction(0))
    size = int(counted.sum())
    optional = [(rate, c) for c, rate in enumerate(rates) if rate is not None and droppable[c]]
    for rate, c in sorted(optional, key=lambda item: (-item[0], item[1])):
        if size and rate * size <= total:
            break
        counted[c] = True
        total, size = total + rate, size + 1
    return MeanChoice(total / size, k, counted)


def best_mean_given_total(grid: Grid, rates: Sequence[Fraction | None], droppable: Bools) -> MeanChoice | None:
    """`best_mean` over all k vectors with the domain's total: a dynamic program over classes, inside Dinkelbach's.

    Args:
        rates: on the grid, the greatest rate of the class at that k, None where it has none there.
        droppable: on the grid, whether the class may be left out at that k; true wherever it has no rate.

    Returns:
        The choice, or None where the program would exceed `DP_LIMIT` cells.
    """
    domain = grid.domain
    assert domain.total is not None
    spare = domain.total - int(domain.lo.sum())
    if len(grid.c) * (spare + 1) > DP_LIMIT:
        return None
    common = math.lcm(*(rate.denominator for rate in rates if rate is not None))
    scaled = [None if rate is None else int(rate * common) for rate in rates]
    lowest = min(rate for rate in scaled if rate is not None)
    mean = Fraction(lowest) - 1
    choice: MeanChoice | None = None
    while True:
        at, counted = _best_allocation(grid, scaled, droppable, spare, mean)
        size = int(counted.sum())
        chosen = [scaled[a] or 0 for a in at[counted].tolist()]
        value = Fraction(sum(chosen), size) if size else mean
        if choice is not None and value <= mean:
            return choice
        assert size
        choice, mean = MeanChoice(value / common, grid.k[at], counted), value


def _best_allocation(
    grid: Grid, scaled: Sequence[int | None], droppable: Bools, spare: int, mean: Fraction
) -> tuple[Ints, Bools]:
    """Grid points and counted classes with the greatest sum of (rate - mean) over counted classes, sum(k) = total."""
    gains = [_gain(rate, bool(drop), mean) for rate, drop in zip(scaled, droppable, strict=True)]
    unreachable = -1 - 2 * sum(abs(gain) for gain in gains)
    classes = len(grid.domain.lo)
    best = np.full(spare + 1, unreachable, dtype=object)
    best[0] = 0
    picks = np.zeros((classes, spare + 1), dtype=np.int64)
    for c in range(classes):
        following = np.full(spare + 1, unreachable, dtype=object)
        first = int(grid.offsets[c])
        for point in range(first, min(int(grid.offsets[c + 1]), first + spare + 1)):
            candidate = best[: spare + 1 - (point - first)] + gains[point]
            better = candidate > following[point - first :]
            following[point - first :][better] = candidate[better]
            picks[c, point - first :][better] = point
        best = following
    at = np.zeros(classes, dtype=np.int64)
    left = spare
    for c in reversed(range(classes)):
        at[c] = picks[c, left]
        left -= int(at[c] - grid.offsets[c])
    counted = [scaled[a] is not None and not (droppable[a] and gains[a] == 0) for a in at.tolist()]
    return at, np.array(counted, dtype=np.bool_)


def _gain(rate: int | None, droppable: bool, mean: Fraction) -> int:
    """(rate - mean) times the mean's denominator if counted, 0 if dropped; the greater where both can be."""
    if rate is None:
        return 0
    gain = rate * mean.denominator - mean.numerator
    return max(gain, 0) if droppable else gain
