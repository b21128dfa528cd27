"""What correspondence adds to planning: failures and recall when it is not known which recapture is of which image.

The images to rank are the clean-correct ones of a model, and an image fails when its recapture is misclassified: it is
*lost*. The two sides of a class say how many of its images are correct on each; the correspondence says which clean
image became which recapture. Without it the number of lost images is an interval (`bounds`, quantity `lost`), and any m
of the clean-correct images of a class may be the m that are lost. So the recall of a given ranking is an interval too:

    recall = (sum over classes of the places of its m_c lost images) / (sum of m_c)

where the place of an image is 1 if the budget tests it, 0 if not, and for images tied at the edge of the budget the
share of them that it still tests. Both ends are attained: within a class every choice of m_c clean-correct images is
the lost ones of some bijection, and classes are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import bounds
from bounds.errors import PairboundsError
from bounds.evaluation import Evaluation
from bounds.interval import Interval
from bounds.knowledge import Level
from ranking.measures import NO_FAILURES, Budget, Failures, found_within
from ranking.order import Order
from ranking.pool import Pool
from ranking.scores import Scored

__all__ = ["LEVELS", "RecallRange", "Unpaired", "recall_range", "unpaired"]

Ints = npt.NDArray[np.int64]

LEVELS = (Level.MARGINALS, Level.TOTAL, Level.CLASSWISE)
"""What may be known: the two sides of each class; with the failures in all; with the failures of each class. More than
that (the five states) says nothing of which images fail, short of the correspondence itself."""


@dataclass(frozen=True, slots=True)
class RecallRange:
    """The recall of one ranking at one budget over all correspondences that are left.

    Attributes:
        lower, upper: both attained; None where no correspondence has a failure.
        may_be_undefined: whether some correspondence has no failure, and so no recall; the ends are of the others.
    """

    lower: Fraction | None
    upper: Fraction | None
    may_be_undefined: bool


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Failures and recall under one recaptured condition, with so much known of the correspondence.

    Attributes:
        model, condition: whose records.
        images: on each side, in all classes.
        clean_correct: of these.
        score, copies, budget, k: the ranking, and how many images of it are tested.
        knowledge: one of `LEVELS`.
        failures: clean-correct images that are misclassified when recaptured, by the correspondence at hand.
        lower, upper: the least and the greatest number of them over the correspondences left; both attained.
        recall: of the ranking, by the correspondence at hand; None without a failure.
        recalls: over the correspondences left.
    """

    model: str
    condition: str
    images: int
    clean_correct: int
    score: str
    copies: str
    budget: str
    k: int
    knowledge: Level
    failures: int
    lower: int
    upper: int
    recall: Fraction | None
    recalls: RecallRange

    def to_dict(self) -> dict[str, Any]:
        """The object of the JSON output."""

        def number(value: Fraction | None) -> float | None:
            return None if value is None else float(value)

        return {
            "model": self.model,
            "condition": self.condition,
            "images": self.images,
            "clean_correct": self.clean_correct,
            "score": self.score,
            "copies": self.copies,
            "budget": self.budget,
            "k": self.k,
            "knowledge": str(self.knowledge),
            "failures": self.failures,
            "failures_lower": self.lower,
            "failures_upper": self.upper,
            "recall": number(self.recall),
            "recall_lower": number(self.recalls.lower),
            "recall_upper": number(self.recalls.upper),
            "may_be_undefined": self.recalls.may_be_undefined,
            "reason": NO_FAILURES if self.recall is None else None,
        }


def recall_range(
    tested: Ints, edge: Ints, rest: Ints, share: Fraction, least: Ints, most: Ints, total: int | None = None
) -> RecallRange:
    """Least and greatest recall over all choices of the images that fail.

    Args:
        tested, edge, rest: images of each class that the budget tests, that are tied at its edge, and that it leaves;
            int64 of shape (C,).
        share: of the images at the edge, those tested in expectation, in [0, 1].
        least, most: failures of each class, 0 <= least <= most <= the images of the class; every number in between is
            possible, in each class by itself.
        total: failures of all classes, where that is known.

    Returns:
        The interval. For the greatest recall the failures that each class must have are tested ones first; of those it
        may have, as many as the total asks for, or, without one, those that raise the ratio: one more failure adds its
        place above and 1 below, so that it raises the ratio exactly if its place is above it, and they come in falling
        order of their places. The least recall is 1 less the greatest with tested and left images exchanged.

    Source: theory, claims C1 and C11.

    >>> recall_range(*(np.array([x]) for x in (7, 0, 3)), Fraction(0), np.array([5]), np.array([5]))
    RecallRange(lower=Fraction(2, 5), upper=Fraction(1, 1), may_be_undefined=False)
    """
    upper = _greatest([(Fraction(1), tested), (share, edge), (Fraction(0), rest)], least, most, total)
    left = _greatest([(Fraction(1), rest), (1 - share, edge), (Fraction(0), tested)], least, most, total)
    return RecallRange(None if left is None else 1 - left, upper, not least.any() and not total)


def _greatest(places: Sequence[tuple[Fraction, Ints]], least: Ints, most: Ints, total: int | None) -> Fraction | None:
    """The greatest mean place of the failures; `places` fall, each with the images of every class that have it."""
    above, below = Fraction(0), 0
    optional: list[tuple[Fraction, int]] = []
    forced, further = least, most - least
    for place, counts in places:
        taken = np.minimum(counts, forced)
        above, below = above + place * int(taken.sum()), below + int(taken.sum())
        forced = forced - taken
        more = np.minimum(counts - taken, further)
        further = further - more
        optional.append((place, int(more.sum())))
    wanted = None if total is None else total - below
    for place, images in optional:
        if wanted is not None:
            images = min(images, wanted)
            wanted -= images
        elif below and place * below <= above:
            break
        above, below = above + place * images, below + images
    return above / below if below else None


def unpaired(
    evaluation: Evaluation, pool: Pool, rankings: Sequence[Scored], budgets: Sequence[Budget]
) -> list[Unpaired]:
    """One recaptured condition, without correspondence.

    Args:
        evaluation: clean against recaptured records, paired, of the model of `pool`.
        pool: the images that were ranked.
        rankings: of them.
        budgets: images tested.

    Returns:
        One object for each ranking, budget and level of `LEVELS`.

    Raises:
        PairboundsError: if a clean-correct image of the evaluation was not ranked, or a budget exceeds the images.
    """
    correct = np.flatnonzero(evaluation.clean.correct)
    place = {name: row for row, name in enumerate(pool.image_id.to_list())}
    names = evaluation.clean.image_id.gather(correct).to_list()
    if missing := [name for name in names if name not in place]:
        rule = f"is not ranked, as {len(missing)} of the {len(names)} clean-correct images with a capture"
        raise PairboundsError(
            "image_id",
            missing[0],
            rule,
            "give every image a usable record of every copy, or leave it out of the records",
        )
    rows: Ints = np.array([place[name] for name in names], dtype=np.int64)
    failed = ~evaluation.perturbed.correct[correct]
    failures = Failures(failed.astype(np.int64))
    classes = evaluation.class_of_row[correct]
    lost = {level: _lost(evaluation, level) for level in LEVELS}
    by_class = [_lost(evaluation, Level.MARGINALS, name) for name in evaluation.classes]
    ends = np.array([(one.lower, one.upper) for one in by_class], dtype=np.int64).reshape(-1, 2)
    each = np.bincount(classes[failed], minlength=len(evaluation.classes))
    found = []
    for ranked in rankings:
        order = ranked.order.take(rows)
        for budget in budgets:
            k = budget.images(len(rows))
            places = _places(order, k, classes, len(evaluation.classes))
            recalls = {
                Level.MARGINALS: recall_range(*places, ends[:, 0], ends[:, 1]),
                Level.TOTAL: recall_range(*places, ends[:, 0], ends[:, 1], int(failed.sum())),
                Level.CLASSWISE: recall_range(*places, each, each),
            }
            for level in LEVELS:
                interval = lost[level]
                assert interval.lower is not None
                assert interval.upper is not None
                found.append(
                    Unpaired(
                        model=evaluation.model,
                        condition=evaluation.perturbed_condition,
                        images=evaluation.images,
                        clean_correct=len(rows),
                        score=ranked.score,
                        copies=ranked.copies,
                        budget=budget.text,
                        k=k,
                        knowledge=level,
                        failures=int(failed.sum()),
                        lower=int(interval.lower),
                        upper=int(interval.upper),
                        recall=found_within(order, failures, k) / failures.total if failed.any() else None,
                        recalls=recalls[level],
                    )
                )
    return found


def _lost(evaluation: Evaluation, level: Level, name: str | int | None = None) -> Interval:
    return bounds.bound(evaluation, "lost", level, denominator="none", class_name=name)


def _places(order: Order, k: int, classes: Ints, many: int) -> tuple[Ints, Ints, Ints, Fraction]:
    """Images of each class that the first k places hold, that are tied at their edge, and that are left; the share."""
    last = int(np.searchsorted(order.starts, k, side="right")) - 1
    inside = k - int(order.starts[last])
    size = int(order.starts[last + 1] - order.starts[last]) if inside else 1

    def each(mask: npt.NDArray[np.bool_]) -> Ints:
        return np.bincount(classes[mask], minlength=many)

    return each(order.group < last), each(order.group == last), each(order.group > last), Fraction(inside, size)
