"""How well a ranking finds failures: the expected value over random orders of the tied images, exactly.

c_r is the number of failures among the first r images, m the failures in all, n the images. Within a tie group of size
s with F failures that starts after C failures, the expectation of c at the group's j-th place is C + F j / s, and every
measure here but AUROC is linear in the c_r, so that this is all there is to it; AUROC counts a tie as one half. A
failure may be a share (of the captures of an image): an integer over a common denominator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bounds.errors import PairboundsError
from bounds.exact import exact_number
from ranking.order import Order

__all__ = ["NO_FAILURES", "Budget", "Failures", "Found", "Whole", "at_budget", "found_within", "parse_budget", "whole"]

Ints = npt.NDArray[np.int64]

NO_FAILURES = "no image of the pool fails"
ALL_FAIL = "every image of the pool fails"


@dataclass(frozen=True, slots=True, eq=False)
class Failures:
    """Which images fail.

    Attributes:
        counts: int64 of shape (n,): failures of each image, 0 to `unit`.
        unit: what one whole failure is: 1, or a common multiple of the numbers of captures where shares count.
    """

    counts: Ints
    unit: int = 1

    @property
    def total(self) -> Fraction:
        """m: failures in all."""
        return Fraction(int(self.counts.sum()), self.unit)

    def ideal(self, k: int) -> Fraction:
        """The most failures that k images can hold."""
        if k >= len(self.counts):
            return self.total
        return Fraction(int(np.partition(self.counts, len(self.counts) - k)[len(self.counts) - k :].sum()), self.unit)


@dataclass(frozen=True, slots=True)
class Budget:
    """How many images can be tested: a count, or a share of the pool.

    Attributes:
        text: as typed.
        count: images, or None.
        share: 0 < share <= 1, or None.
    """

    text: str
    count: int | None
    share: Fraction | None

    def images(self, pool: int) -> int:
        """k: the count, or the share of the pool rounded up, in exact arithmetic.

        Raises:
            PairboundsError: if the count exceeds the pool, or the pool is empty.

        >>> parse_budget("0.07").images(100), parse_budget("7%").images(101), parse_budget("7").images(101)
        (7, 8, 7)
        """
        if self.share is not None:
            k = -(-self.share.numerator * pool // self.share.denominator)
        else:
            assert self.count is not None
            k = self.count
        if not 0 < k <= pool:
            raise PairboundsError(
                "--budget", self.text, f"the pool has {pool} images", "give a smaller one, or a share"
            )
        return k


def parse_budget(text: str) -> Budget:
    """A budget as typed: digits alone are a count (`1` is one image), a decimal or a percentage is a share.

    Raises:
        PairboundsError: if it is neither, or a share outside (0, 1].

    >>> parse_budget("0.2").share, parse_budget("20%").share, parse_budget("20").count
    (Fraction(1, 5), Fraction(1, 5), 20)
    """
    asked = text.strip()
    if re.fullmatch("[0-9]{1,18}", asked):
        if int(asked) == 0:
            raise PairboundsError("--budget", text, "a count is at least 1", "give such as 100, or a share such as 0.2")
        return Budget(asked, int(asked), None)
    try:
        share = exact_number(asked.removesuffix("%").rstrip()) / (100 if asked.endswith("%") else 1)
    except ValueError as error:
        rule, way_out = f"no number of images and no share ({error})", "give a count, 0.2 or 20%"
        raise PairboundsError("--budget", text, rule, way_out) from None
    if not 0 < share <= 1:
        raise PairboundsError("--budget", text, "a share is above 0 and at most 1", "give such as 0.2, 20%, or a count")
    return Budget(asked, None, share)


@dataclass(frozen=True, slots=True)
class Found:
    """What the first k images of a ranking hold, in expectation over the order of tied images.

    Attributes:
        k: images tested.
        found: failures among them.
        recall: found / m.
        precision: found / k.
        lift: precision over that of a random order.
        trc: found over the most that k images can hold.
        rauc: the sum of c_r for r <= k, over that of the ideal order of the pool.
        ideal, random: the recall of the ideal and of a random order.
        tied: images in the tie group that the budget cuts; 0 if it cuts none.
        reason: why all but `k`, `found`, `precision` and `tied` are None, if they are.
    """

    k: int
    found: Fraction
    recall: Fraction | None
    precision: Fraction
    lift: Fraction | None
    trc: Fraction | None
    rauc: Fraction | None
    ideal: Fraction | None
    random: Fraction | None
    tied: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Whole:
    """Measures of a whole ranking, in expectation over the order of tied images.

    Attributes:
        apfd: 1 - sum of the failures' ranks / (n m) + 1 / (2n).
        rauc: the sum of c_r over all r, over that of the ideal order.
        atrc: the mean of found / ideal over k = 1 .. m (m rounded up, where shares count); float64.
        auroc: the chance that a failure is ranked above an image that does not fail, ties one half.
        reason: why all are None, if there is no failure.
        auroc_reason: why `auroc` is None.
    """

    apfd: Fraction | None
    rauc: Fraction | None
    atrc: float | None
    auroc: Fraction | None
    reason: str | None
    auroc_reason: str | None


def found_within(order: Order, failures: Failures, k: int) -> Fraction:
    """c_k: the failures among the first k images, in expectation over the order of tied images.

    >>> from ranking.order import order_by
    >>> found_within(order_by(np.array([0.9, 0.5, 0.5])), Failures(np.array([0, 1, 0])), 2)
    Fraction(1, 2)
    """
    totals = order.totals(failures.counts)
    last = int(np.searchsorted(order.starts, k, side="right")) - 1
    before = int(totals[:last].sum())
    inside = k - int(order.starts[last])
    if not inside:
        return Fraction(before, failures.unit)
    size = int(order.starts[last + 1] - order.starts[last])
    return Fraction(before * size + int(totals[last]) * inside, size * failures.unit)


def at_budget(order: Order, failures: Failures, k: int) -> Found:
    """What the first k images hold.

    Args:
        order: of n images.
        failures: of the same images.
        k: 1 .. n.
    """
    found = found_within(order, failures, k)
    last = int(np.searchsorted(order.starts, k, side="right")) - 1
    cut = k > int(order.starts[last])
    tied = int(order.starts[last + 1] - order.starts[last]) if cut else 0
    total = failures.total
    if not total:
        return Found(k, found, None, found / k, None, None, None, None, None, tied, NO_FAILURES)
    ideal, random = failures.ideal(k), total * k / order.images
    rauc = _area(order, failures, k) / _ideal_area(failures, k)
    recall = found / total
    return Found(
        k, found, recall, found / k, found / random, found / ideal, rauc, ideal / total, random / total, tied, None
    )


def _area(order: Order, failures: Failures, k: int) -> Fraction:
    """The sum of c_r over r = 1 .. k."""
    totals = order.totals(failures.counts)
    last = int(np.searchsorted(order.starts, k, side="right")) - 1
    sizes = np.diff(order.starts)[:last]
    before = np.cumsum(totals) - totals
    # Twice the sum over the whole groups: 2 C s + F (s + 1).
    twice = int((2 * before[:last] * sizes + totals[:last] * (sizes + 1)).sum())
    area = Fraction(twice, 2)
    inside = k - int(order.starts[last])
    if inside:
        size = int(order.starts[last + 1] - order.starts[last])
        area += int(before[last]) * inside + Fraction(int(totals[last]) * inside * (inside + 1), 2 * size)
    return area / failures.unit


def _ideal_area(failures: Failures, k: int) -> Fraction:
    best = np.sort(failures.counts)[::-1][:k]
    return Fraction(int(np.cumsum(best).sum()), failures.unit)


def whole(order: Order, failures: Failures) -> Whole:
    """The measures that look at every rank.

    >>> from ranking.order import order_by
    >>> measures = whole(order_by(np.array([0.9, 0.5, 0.1])), Failures(np.array([1, 0, 1])))
    >>> measures.apfd, measures.auroc
    (Fraction(1, 2), Fraction(1, 2))
    """
    images, total = order.images, failures.total
    if not total:
        return Whole(None, None, None, None, NO_FAILURES, NO_FAILURES)
    totals = order.totals(failures.counts)
    sizes = np.diff(order.starts)
    # Twice the mean rank of a group, 2 starts + s + 1, for each of its failures.
    twice = int((totals * (2 * order.starts[:-1] + sizes + 1)).sum())
    apfd = 1 - Fraction(twice, 2 * failures.unit) / (images * total) + Fraction(1, 2 * images)
    rauc = _area(order, failures, images) / _ideal_area(failures, images)
    passes = sizes * failures.unit - totals
    pairs = int(totals.sum()) * int(passes.sum())
    auroc = None
    if pairs:
        below = int(passes.sum()) - np.cumsum(passes)
        auroc = Fraction(int((totals * (2 * below + passes)).sum()), 2 * pairs)
    return Whole(apfd, rauc, _atrc(order, failures), auroc, None, None if pairs else ALL_FAIL)


def _atrc(order: Order, failures: Failures) -> float:
    last = -(-failures.total.numerator // failures.total.denominator)
    totals = order.totals(failures.counts).astype(np.float64)
    places = np.arange(1, last + 1)
    group = np.searchsorted(order.starts, places, side="left") - 1
    sizes = np.diff(order.starts)[group]
    found = (np.cumsum(totals) - totals)[group] + totals[group] * (places - order.starts[group]) / sizes
    ideal = np.cumsum(np.sort(failures.counts)[::-1][:last])
    return float(np.mean(found / ideal))
