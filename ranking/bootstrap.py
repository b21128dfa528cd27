"""Sampling error of recall: images drawn again with replacement, with all their copies and captures.

The images of all models are drawn once a resample, so that every ranking of every model sees the same ones and a
difference of two rankings is paired. In a resample an image counts as often as it was drawn; a share is of the
resampled pool, rounded up; images that a score does not tell apart share what the budget leaves them, in expectation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ranking.measures import Budget, Failures
from ranking.order import Order

__all__ = ["LEVEL", "Judged", "interval", "resampled_recalls"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LEVEL = Fraction(95, 100)
"""Of an interval, unless another is asked for."""

CELLS = 2_000_000
"""Image weights in memory at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One ranking of one model's pool, with the failures that it is to find.

    Attributes:
        model, score, copies, target: what was ranked how, and what is looked for.
        image: int64 of shape (n,): which of the resampled images each one is.
        order: the ranking.
        failures: of the same n images.
    """

    model: str
    score: str
    copies: str
    target: str
    image: Ints
    order: Order
    failures: Failures


def resampled_recalls(
    judged: Sequence[Judged], budgets: Sequence[Budget], images: int, resamples: int, seed: int
) -> Floats:
    """The recall of every ranking at every budget in every resample.

    Args:
        judged: rankings; their `image` are positions among `images` images, in an order that no shuffling of rows
            changes.
        budgets: counts beyond a resampled pool test all of it.
        images: that are drawn from.
        resamples: R.
        seed: of the draws.

    Returns:
        float64 of shape (R, rankings, budgets); NaN where a resample holds no failure of the ranking's pool.
    """
    found = np.empty((resamples, len(judged), len(budgets)))
    first = 0
    for weights in _draws(images, resamples, seed):
        last = first + len(weights)
        for number, one in enumerate(judged):
            found[first:last, number] = _recalls(one, budgets, weights)
        first = last
    return found


def _draws(images: int, resamples: int, seed: int) -> Iterator[Ints]:
    """How often each image was drawn: int64 of shape (some, images), R rows in all, the same whatever the chunks."""
    rng = np.random.default_rng(seed)
    chunk = max(1, CELLS // images)
    for first in range(0, resamples, chunk):
        rows = min(chunk, resamples - first)
        yield np.array([np.bincount(rng.integers(0, images, images), minlength=images) for _ in range(rows)])


def _recalls(one: Judged, budgets: Sequence[Budget], weights: Ints) -> Floats:
    """Recall of one ranking in some resamples: shape (resamples, budgets)."""
    rows = np.argsort(one.order.group, kind="stable")
    image, counts = one.image[rows], one.failures.counts[rows]
    starts = one.order.starts
    found = np.full((len(weights), len(budgets)), np.nan)
    for line, drawn in zip(found, weights, strict=True):
        mine = drawn[image]
        held = np.append(0, np.cumsum(mine * counts))
        if not held[-1]:
            continue
        sizes = mine if len(starts) == len(mine) + 1 else np.add.reduceat(mine, starts[:-1])
        pool = np.cumsum(sizes)
        k = np.array([_size(budget, int(pool[-1])) for budget in budgets])
        # The group that the budget cuts, or fills; it holds an image, since one more place is taken than before it.
        group = np.searchsorted(pool, k)
        first, last = held[starts[group]], held[starts[group + 1]]
        before, size = pool[group] - sizes[group], sizes[group]
        line[:] = (first + (last - first) * (k - before) / size) / held[-1]
    return found


def _size(budget: Budget, pool: int) -> int:
    """k in a pool of another size: the count, at most the pool, or the share rounded up."""
    return budget.images(pool) if budget.count is None else min(budget.count, pool)


def interval(values: Floats, level: Fraction) -> tuple[float, float] | None:
    """The central percentile interval of resampled values, with linear interpolation; None if any is NaN.

    >>> interval(np.arange(101.0), Fraction(9, 10))
    (5.0, 95.0)
    """
    if np.isnan(values).any():
        return None
    tail = (1 - level) / 2
    low, high = np.quantile(values, [float(tail), float(1 - tail)])
    return float(low), float(high)
