"""The images as a sample of a population: confidence intervals around an identified interval.

Two kinds of not knowing are kept apart. *Identification*: which correspondence is the true one; more images would not
help, and `bounds.solve.bound` speaks of it. *Sampling*: which images were drawn; the intervals here speak of the
population from which they came, class by class, with the class sizes of the records.

The usual intervals (normal, percentile, Imbens-Manski, Stoye) take the ends to be asymptotically normal. An end is a
minimum of sums, and where several are near the least, in many classes, the sample's minimum lies below the population's
and these intervals can miss almost always. The `robust` one holds there too: for the upper end u, the least over v of
lines N_v - t D_v, the sample's least line v at t = u has

    0 <= population's N_v - u D_v,   so   -(sample's least) <= max over near v of (population's - sample's line).

The right side is resampled: the maximum, over all lines whose distance from the least is at most sqrt(2 ln n) standard
errors of that distance, of (sample's - resample's line). The end reaches to the farthest t that this does not refuse,
at half the error for each end. The cut grows, and more slowly than sqrt(n); moment inequalities are so left out in
Andrews and Soares, "Inference for Parameters Defined by Moment Inequalities Using Generalized Moment Selection",
Econometrica 78 (2010), and the same directional derivative is bootstrapped by Fang and Santos, "Inference on
Directionally Differentiable Functions", Review of Economic Studies 86 (2019). It is asymptotic, like the others: few
images are flagged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.confidence import Estimate, imbens_manski, normal, stoye
from bounds.errors import PairboundsError, QuantityError
from bounds.evaluation import Evaluation
from bounds.interval import Interval
from bounds.knowledge import Knowledge, Level, know
from bounds.quantities import Quantity, quantity
from bounds.resampling import Branch, Ends, ends_of
from bounds.solve import bound

__all__ = ["METHODS", "ConfidenceInterval", "Sampled", "sampled"]

Floats = npt.NDArray[np.float64]

METHODS = ("normal", "percentile", "imbens-manski", "stoye", "robust")

MOST_CELLS = 3_000_000
"""Resamples times classes at most; each takes about half a kilobyte."""

STEPS = 18
"""Halvings of the range in which the robust end is looked for."""

NOTICEABLE = 1.1
"""Near lines that widen the robust margin by more than this factor make an end irregular."""

FEW = 10
"""Fewer images than this that move an end make it irregular."""


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """One confidence interval for the population.

    Attributes:
        name: one of `METHODS`.
        covers: "interval" where the whole identified interval of the population is meant to be inside, with the given
            probability; "value" where each value in that interval is, one at a time.
        lower, upper: the ends.
    """

    name: str
    covers: str
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """An identified interval and confidence intervals around it.

    Attributes:
        identified: of the images at hand; exact.
        level: of confidence.
        resamples, seed: of the bootstrap.
        undefined_resamples: left out, for want of a denominator.
        irregular: for the lower and the upper end, why the usual intervals may fail there; empty if nothing was seen.
        intervals: in the order of `METHODS`.
        sides_apart: whether each side was drawn by itself, for want of common ids.
    """

    identified: Interval
    level: float
    resamples: int
    seed: int
    undefined_resamples: int
    irregular: tuple[tuple[str, ...], tuple[str, ...]]
    intervals: tuple[ConfidenceInterval, ...]
    sides_apart: bool

    def to_dict(self) -> dict[str, Any]:
        """The object that `pairbounds sampling --json` prints."""
        found = self.identified
        return {
            "quantity": found.quantity,
            "knowledge": found.knowledge,
            "model": found.model,
            "clean": found.clean,
            "perturbed": found.perturbed,
            "threshold": found.threshold,
            "denominator": found.denominator.name,
            "images": found.images,
            "classes": found.classes,
            "identified": {"lower": found.low.number, "upper": found.high.number},
            "confidence": [
                {"name": one.name, "covers": one.covers, "lower": one.lower, "upper": one.upper}
                for one in self.intervals
            ],
            "level": self.level,
            "irregular": {"lower": list(self.irregular[0]), "upper": list(self.irregular[1])},
            "drawn": "sides" if self.sides_apart else "images",
            "resamples": self.resamples,
            "undefined_resamples": self.undefined_resamples,
            "seed": self.seed,
        }


def sampled(
    evaluation: Evaluation,
    quantity_name: str | Quantity,
    knowledge: str | Level | Knowledge,
    *,
    threshold: str | float | Decimal | None = None,
    denominator: str | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Sampled:
    """Confidence intervals for the ends of a quantity in the population, and for the quantity itself.

    Args:
        evaluation: the images; drawn again within their classes, with both their records where they are paired, else
            each side by itself.
        quantity_name, denominator: a share of images, micro; `docs/sampling.md` lists what is offered.
        knowledge: read off the pairs, in the records and in each resample alike.
        threshold: as for `bounds.bound`.
        level: of confidence, between 0.5 and 1.
        resamples: at least 100; times the classes at most `MOST_CELLS`.
        seed: of the draws; not negative.

    Returns:
        The identified interval with all of `METHODS`, each cut to the values that the quantity can have.

    Raises:
        PairboundsError: one of its kinds, with one line, for what is not offered or cannot be used.
    """
    if not 0.5 <= level < 1:
        raise PairboundsError("level", level, "lies from 0.5 to below 1", "give such as 0.95")
    if resamples < 100:
        raise PairboundsError("resamples", resamples, "fewer than 100 tell nothing of a tail", "give 1000")
    if resamples * max(len(evaluation.classes), 1) > MOST_CELLS:
        rule = f"times {len(evaluation.classes)} classes is more than {MOST_CELLS}, which would not fit into memory"
        raise PairboundsError("resamples", resamples, rule, "give 1000")
    if seed < 0:
        raise PairboundsError("seed", seed, "is negative", "give a whole number such as 0")
    if threshold is not None:
        evaluation = evaluation.at_threshold(threshold)
    asked = quantity(quantity_name)
    name = asked.denominator(denominator)
    known = knowledge if isinstance(knowledge, Knowledge) else know(evaluation, knowledge)
    rng = np.random.default_rng(seed)
    ends = ends_of(evaluation, asked, name, known.level, resamples, rng)
    identified = bound(evaluation, asked, known, denominator=name)
    if identified.undefined is not None or identified.low.number is None or identified.high.number is None:
        raise QuantityError("quantity", asked.name, f"is undefined: {identified.undefined}", "choose other records")
    drawn = np.stack([one.resampled() for one in ends])
    kept = ~np.isnan(drawn).any(axis=0)
    drawn = drawn[:, kept]
    if drawn.shape[1] < 100:
        rule = f"only {drawn.shape[1]} of {resamples} resamples have {name} images"
        raise QuantityError("denominator", name, rule, "choose images")
    errors = drawn.std(axis=1, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = float(np.cov(drawn)[0, 1] / (errors[0] * errors[1])) if errors.all() else 0.0
    estimate = Estimate(
        identified.low.number,
        identified.high.number,
        float(errors[0]),
        float(errors[1]),
        correlation,
        evaluation.images,
    )
    tail = (1 - level) / 2
    least = -1.0 if asked.probability else 0.0
    robust = [
        _robust(end, sign * float(at), -least if sign < 0 else 1.0, evaluation.images, 1 - tail, asked.probability)
        for end, sign, at in zip(ends, (-1, 1), (estimate.lower, estimate.upper), strict=True)
    ]
    found = {
        "normal": ("interval", normal(estimate, level)),
        "percentile": ("interval", (float(np.quantile(drawn[0], tail)), float(np.quantile(drawn[1], 1 - tail)))),
        "imbens-manski": ("value", imbens_manski(estimate, level)),
        "stoye": ("value", stoye(estimate, level)),
        "robust": ("interval", (-robust[0][0], robust[1][0])),
    }
    intervals = tuple(
        ConfidenceInterval(key, covers, max(low, least) + 0.0, min(high, 1.0) + 0.0)
        for key, (covers, (low, high)) in found.items()
    )
    return Sampled(
        identified.without_matches(),
        level,
        resamples,
        seed,
        int((~kept).sum()),
        (robust[0][1], robust[1][1]),
        intervals,
        not evaluation.paired,
    )


def _robust(
    end: Ends, at: float, most: float, images: int, share: float, probability: bool
) -> tuple[float, tuple[str, ...]]:
    """The farthest value of sign * quantity that is not refused, from `at` up to `most`; and what is irregular."""
    if at >= most:
        return most, ()
    floor = 0.0 if probability else 1.0
    cut = math.sqrt(2 * math.log(max(images, 2)))

    def margin(t: float) -> tuple[float, float, float]:
        value, widest, single = _margin(end.branches(t), cut, floor)
        return value, float(np.quantile(widest, share, method="higher")), float(single.std())

    _, width, spread = margin(at)
    reasons = []
    if width > NOTICEABLE * NormalDist().inv_cdf(share) * spread:
        reasons.append("near ties")
    few = end.images(spread) < FEW
    if few:
        reasons.append("few images")
    # An event that none of n images shows may still have a chance of -ln(error) / n: the rule of three, at 95 %.
    least = -math.log(1 - share) if few and not probability else 0.0

    def refused(t: float) -> bool:
        value, width, _ = margin(t)
        return value + max(width, least) < 0

    low, high = at, most
    if not refused(high):
        return high, tuple(reasons)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if refused(middle) else (middle, high)
    return high, tuple(reasons)


def _margin(branches: Sequence[Branch], cut: float, floor: float) -> tuple[float, Floats, Floats]:
    """The least sum in the sample; how far the near lines fall in the resamples, at most; how far the least falls.

    Args:
        cut: standard errors of its distance from the least up to which a line is near.
        floor: variance, in images, that is added to every distance; so that a tie by a few images is near.
    """
    sums, falls, widest = [], [], []
    for branch in branches:
        best = branch.values.argmin(axis=1)[:, None]
        least = np.take_along_axis(branch.values, best, axis=1)
        fall = -np.take_along_axis(branch.deviations, best[None], axis=2)
        near = _near(branch.values - least, branch.deviations + fall, cut, floor)
        widest.append(np.where(near, -branch.deviations, -np.inf).max(axis=2).sum(axis=1))
        falls.append(fall.sum(axis=(1, 2)))
        sums.append(float(least.sum()))
    first = int(np.argmin(sums))
    totals, moved = np.array(sums), np.stack(falls, axis=1)
    near = _near(totals - totals[first], moved[:, first : first + 1] - moved, cut, floor)
    return sums[first], np.where(near, np.stack(widest, axis=1), -np.inf).max(axis=1), falls[first]


def _near(distance: Floats, difference: Floats, cut: float, floor: float) -> npt.NDArray[np.bool_]:
    """Which lines are near the least, from their distances and the resampled differences, (R, …)."""
    near: npt.NDArray[np.bool_] = distance <= cut * np.sqrt(difference.var(axis=0) + floor)
    return near
