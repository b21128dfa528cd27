"""Populations of paired records, samples of them, and their identified intervals by linear programs.

Shares no formula with `bounds`: the ends of a population are optima over all couplings of its margins, by SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from scipy.optimize import linprog

from bounds.evaluation import Evaluation, Side

GROUPS = ((True, True), (True, False), (False, True), (False, False))
"""(correct, accepted) of a record."""

ROUNDING = 1e-9
"""Of linear programs."""


def counted(quantity, x, y):
    """Whether a pair of (correct, accepted) records counts; quantities that do not look at wrong classes."""
    both = x[0] and y[0]
    errors = not x[0] and x[1], not y[0] and y[1]
    return {
        "images": True,
        "clean-correct": x[0],
        "lost-acceptance": both and x[1] and not y[1],
        "gained-acceptance": both and not x[1] and y[1],
        "retained-correct": both,
        "lost": x[0] and not y[0],
        "recovered": y[0] and not x[0],
        "flips": x[0] != y[0],
        "new-accepted-error": errors[1] and not errors[0],
        "resolved-accepted-error": errors[0] and not errors[1],
        "kept-accepted-error": all(errors),
        "rejected-wrong-to-accepted-error": not x[0] and not x[1] and errors[1],
        "correct-to-accepted-error": x[0] and errors[1],
        "accepted-correct-to-accepted-error": x[0] and x[1] and errors[1],
    }[quantity]


def weights(quantity, classes):
    return np.array([counted(quantity, x, y) for x in GROUPS for y in GROUPS] * classes, dtype=float)


def lp_ends(tables, quantity, denominator, level):
    """Least and greatest N / D over all couplings with the margins of `tables`, (C, 4, 4), and what the level knows.

    Charnes and Cooper: the coupling is multiplied by a free factor that makes the denominator one.
    """
    classes = len(tables)
    rows, right = [], []
    for c, table in enumerate(tables):
        for axis in (0, 1):
            for g in range(4):
                row = np.zeros((classes, 4, 4))
                row[c].swapaxes(0, axis)[g] = 1
                rows.append(np.append(row.ravel(), -table.sum(axis=1 - axis)[g]))
                right.append(0)
        if level == "correct-correct":
            row = np.zeros((classes, 4, 4))
            row[c, :2, :2] = 1
            rows.append(np.append(row.ravel(), -table[:2, :2].sum()))
            right.append(0)
    if level == "total-correct-correct":
        row = np.zeros((classes, 4, 4))
        row[:, :2, :2] = 1
        rows.append(np.append(row.ravel(), -tables[:, :2, :2].sum()))
        right.append(0)
    rows.append(np.append(weights(denominator, classes), 0))
    right.append(1)
    top = np.append(weights(quantity, classes), 0)
    ends = []
    for sign in (1, -1):
        done = linprog(sign * top, A_eq=np.array(rows), b_eq=np.array(right), method="highs")
        assert done.status == 0, done.message
        ends.append(sign * done.fun)
    return tuple(ends)


@dataclass(frozen=True, eq=False)
class Population:
    """Classes with their shares of pairs.

    Attributes:
        shares: float of shape (C, 4, 4), each class adding up to 1: pairs by `GROUPS` of the clean and of the perturbed
            record.
        probability: exponents (clean, perturbed): correct records have a true-class probability U ** exponent, U
            uniform and independent of all else.
    """

    shares: np.ndarray
    probability: tuple[float, float] = (1.0, 1.0)

    def ends(self, quantity, denominator, level):
        return _ends(self, quantity, denominator, level)

    def draw(self, images, rng):
        """`images` pairs of each class."""
        cells = np.concatenate([np.sort(rng.choice(16, images, p=table.ravel())) for table in self.shares])
        number = len(cells)
        sides = []
        for groups, exponent in zip((cells // 4, cells % 4), self.probability, strict=True):
            correct, accepted = groups < 2, groups % 2 == 0
            sides.append(
                Side(
                    image_id=pl.Series([str(i) for i in range(number)]),
                    correct=correct,
                    predicted=np.where(correct, 0, 1),
                    accepted=accepted,
                    confidence=None,
                    true_probability=rng.random(number) ** exponent,
                )
            )
        classes = len(self.shares)
        return Evaluation(
            model="model",
            clean_condition="clean",
            perturbed_condition="perturbed",
            classes=tuple(range(classes)),
            starts=np.arange(classes + 1, dtype=np.int64) * images,
            labels=(0, 1),
            clean=sides[0],
            perturbed=sides[1],
            paired=True,
        )


@lru_cache
def _ends(population, quantity, denominator, level):
    return lp_ends(population.shares, quantity, denominator, level)


def independent(clean, perturbed):
    """Shares under which both sides are independent, from shares of `GROUPS`."""
    return np.outer(clean, perturbed)


REGULAR = Population(
    np.array(
        [
            independent((0.5, 0.3, 0.1, 0.1), (0.4, 0.2, 0.2, 0.2)),
            independent((0.6, 0.2, 0.1, 0.1), (0.25, 0.25, 0.3, 0.2)),
            independent((0.7, 0.15, 0.1, 0.05), (0.5, 0.1, 0.2, 0.2)),
        ]
    )
)
"""No two lines near one another."""


def near(slack, classes=10):
    """Classes whose shares accepted when clean and rejected when perturbed, both correct, are `slack` apart."""
    clean, perturbed = (0.3 + slack, 0.5 - slack, 0.1, 0.1), (0.5, 0.3, 0.1, 0.1)
    return Population(np.array([independent(clean, perturbed)] * classes))


TIED = near(0.0)
"""Ten classes with a tie in the greatest lost acceptance: over all images, and among those that stay correct."""

ONE_TIED = near(0.0, 1)

FLIPS_TIED = Population(
    np.array([independent((0.3, 0.2, 0.25, 0.25), (0.3, 0.2, 0.25, 0.25))] * 10 + list(REGULAR.shares[:2]))
)
"""Half of each side correct in ten of twelve classes: there both ends of the flips are tied at marginals."""


def cover(population, images, quantity, denominator, level, *, runs, resamples, seed, confidence=0.95):
    """How often each confidence interval covers: the whole interval, or each value, whichever it promises.

    A promise about each value is judged at the population's ends, where it is hardest to keep; the smaller count is
    taken.
    """
    from bounds.sampling import METHODS, sampled

    lower, upper = population.ends(quantity, denominator, level)
    rng = np.random.default_rng(seed)
    hits = {name: np.zeros(3, dtype=int) for name in METHODS}
    flagged = 0
    for _ in range(runs):
        found = sampled(
            population.draw(images, rng),
            quantity,
            level,
            denominator=denominator,
            level=confidence,
            resamples=resamples,
            seed=int(rng.integers(2**31)),
        )
        flagged += any(found.irregular)
        for one in found.intervals:
            low, high = (one.lower - ROUNDING <= end <= one.upper + ROUNDING for end in (lower, upper))
            hits[one.name] += low and high, low, high
    covered = {
        name: int(h[0] if name in ("normal", "percentile", "robust") else h[1:].min()) for name, h in hits.items()
    }
    return covered, flagged
