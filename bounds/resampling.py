"""Images drawn again, class by class, and the upper end of a quantity as a least sum of sums.

Given the margins, the greatest value of a quantity is, by linear duality, the least of finitely many sums, each linear
in the counts of the classes; so it is the sum over classes of a minimum of such *lines* (with only the total of the
retained-correct images known, the least over a few multipliers of that). The least value is minus the greatest of
minus the quantity. A ratio N / D has the greatest value t at which the greatest N - t D is zero.

Estimates, resamples and populations share the lines: a line of the sample estimates the same line of the population
without bias, and only the choice of the least line is biased. `bounds.sampling` makes its robust interval of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bounds.closed_forms import block, correct_correct_range, ratio_pairs
from bounds.counts import counts_of
from bounds.errors import QuantityError, RecordError
from bounds.evaluation import Evaluation
from bounds.knowledge import Level
from bounds.quantities import DENOMINATORS, Quantity, cells

__all__ = ["Branch", "CellEnds", "Ends", "ProbabilityEnds", "ends_of", "options"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Line = tuple[Floats, float]
"""(a, b): a . cells + b k, with the 20 cells of a class and its retained-correct count k."""

CHUNK = 20_000_000
"""Image weights in memory at a time."""

NEIGHBOURS = 8
"""Thresholds on each side of the best one that a sum of the k largest probabilities is bounded by."""


def _flat(*arguments: Any) -> Floats:
    return cells(*arguments).reshape(20).astype(np.float64)


N = _flat("CC CW WC WS WD")
A1, A0, E = _flat("CC CW", 1), _flat("CC CW", 0), _flat("WC WS WD", 1)
B1, B0, F = _flat("CC WC", None, 1), _flat("CC WC", None, 0), _flat("CW WS WD", None, 1)
A, B, K = A1 + A0, B1 + B0, _flat("CC")
ZERO = np.zeros(20)

_BOTH_WRONG: Line = (N - A - B, 1.0)


def _block(r1: Floats, r0: Floats, c1: Floats, c0: Floats, pairs: Line) -> tuple[list[Line], list[Line]]:
    """The ends of `closed_forms.block` as lines: those of the greatest value, and of minus the least."""
    return [(r1, 0.0), (c1, 0.0), pairs], [(ZERO, 0.0), (r0 + c0 - pairs[0], -pairs[1])]


def _point(line: Line) -> tuple[list[Line], list[Line]]:
    return [line], [(-line[0], -line[1])]


def _rest(whole: Floats, part: tuple[list[Line], list[Line]]) -> tuple[list[Line], list[Line]]:
    """Lines of whole - part."""
    return [(whole + a, b) for a, b in part[1]], [(a - whole, b) for a, b in part[0]]


_KEPT = _block(E, N - A - E, F, N - B - F, _BOTH_WRONG)

LINES: Mapping[str, tuple[list[Line], list[Line]]] = {
    "lost-acceptance": _block(A1, A0, B0, B1, (ZERO, 1.0)),
    "gained-acceptance": _block(A0, A1, B1, B0, (ZERO, 1.0)),
    "retained-correct": _point((ZERO, 1.0)),
    "lost": _point((A, -1.0)),
    "recovered": _point((B, -1.0)),
    "flips": _point((A + B, -2.0)),
    "kept-accepted-error": _KEPT,
    "new-accepted-error": _rest(F, _KEPT),
    "resolved-accepted-error": _rest(E, _KEPT),
    "rejected-wrong-to-accepted-error": _block(N - A - E, E, F, N - B - F, _BOTH_WRONG),
    "correct-to-accepted-error": _block(A, ZERO, F, N - B - F, (A, -1.0)),
    "accepted-correct-to-accepted-error": _block(A1, A0, F, N - B - F, (A, -1.0)),
}
"""Quantity -> lines, given k, of its greatest value and of minus its least. Claims: C1, C3, C13."""

PLAIN = ("lost-acceptance", "gained-acceptance", "retained-correct", "lost", "recovered", "flips")
"""Quantities to which persistent-wrong counts add nothing (C2; and plain counts that k decides)."""


def options(lines: Sequence[Line]) -> Floats:
    """The greatest over feasible k of the least of some lines, as the least of lines without k.

    Args:
        lines: of one class.

    Returns:
        float64 of shape (J, 20): max over max(0, A + B - n) <= k <= min(A, B) of min a . cells + b k is the least of
        the J products with the cells.

    Linear duality in one variable: either one line at the bound that its slope asks for, or two lines of opposite
    slopes, mixed so that k drops out.
    """
    found = []
    for a, b in lines:
        if b >= 0:
            found += [a + b * A, a + b * B]
        if b <= 0:
            found += [a, a + b * (A + B - N)]
        found += [(a * -d + c * b) / (b - d) for c, d in lines if b > 0 > d]
    return np.array(found)


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """Groups of lines: the branch is the sum over groups of the least line.

    Attributes:
        values: float64 of shape (G, J), in the sample.
        deviations: float64 of shape (R, G, J): in the resamples, less `values`.
    """

    values: Floats
    deviations: Floats


class Ends(Protocol):
    """One end of a quantity: the greatest value of it, or of minus it."""

    def branches(self, t: float) -> list[Branch]:
        """The greatest N - t D, as the least of these."""
        ...

    def resampled(self) -> Floats:
        """float64 of shape (R,): the end in each resample, NaN where it is undefined."""
        ...

    def images(self, spread: float) -> float:
        """About how many images decide the end, when `spread` is the standard error of N - t D."""
        ...


def _draws(evaluation: Evaluation, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Cells of each class in the sample (C, 20), and in resamples of its images (R, C, 20).

    Paired images are drawn with both their records. Otherwise each side is drawn by itself, and of the cells only the
    margins mean anything.
    """
    counts = counts_of(evaluation)
    held = counts.cells.reshape(-1, 20)
    drawn = np.zeros((resamples, len(held), 20))
    for c, (images, row) in enumerate(zip(counts.images.tolist(), held, strict=True)):
        if images:
            shares = row / images if evaluation.paired else _independent(row, images)
            drawn[:, c] = rng.multinomial(images, shares, resamples)
    return held.astype(np.float64), drawn


_SIDES = np.array([A1, A0, E, N - A - E]), np.array([B1, B0, F, N - B - F])


def _independent(row: Ints, images: int) -> Floats:
    """Shares of cells under which the sides are independent and have the margins of `row`; wrong pairs count as WD."""
    clean, perturbed = _SIDES[0] @ row / images, _SIDES[1] @ row / images
    shares = np.zeros(20)
    for i, j in np.ndindex(4, 4):
        both = (_SIDES[0][i] * _SIDES[1][j]).nonzero()[0]
        shares[both[-1]] += clean[i] * perturbed[j]
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class CellEnds:
    """An end of a quantity that counts cells.

    Attributes:
        sign: +1 for the upper end, -1 for the lower one.
        level: of knowledge.
        lines: given k, of sign times the numerator.
        below: the denominator as a line.
        held, drawn: cells as `_draws` gives them.
        closed: the end of a ratio whose denominator varies, from cells (..., C, 20); None where it does not vary.
    """

    sign: int
    level: Level
    lines: Sequence[Line]
    below: Line
    held: Floats
    drawn: Floats
    closed: Callable[[Floats], Floats] | None

    def _options(self, t: float) -> list[Floats]:
        lines = [(a - t * self.below[0], b - t * self.below[1]) for a, b in self.lines]
        if self.level is Level.MARGINALS:
            return [options(lines)]
        if self.level is Level.TOTAL:
            slopes = sorted({b for _, b in lines})
            return [options([(a, b - slope) for a, b in lines]) + slope * K for slope in slopes]
        return [np.array([a + b * K for a, b in lines])]

    def branches(self, t: float) -> list[Branch]:
        """As in `Ends`."""
        found = []
        for table in self._options(t):
            values = self.held @ table.T
            found.append(Branch(values, self.drawn @ table.T - values))
        return found

    def resampled(self) -> Floats:
        """As in `Ends`."""
        return self.at(self.drawn)

    def images(self, spread: float) -> float:
        """As in `Ends`: the variance, since a line counts images."""
        return spread * spread

    def at(self, counts: Floats) -> Floats:
        """The end for cells of shape (R, C, 20); NaN without a denominator."""
        if self.closed is not None:
            return self.closed(counts)
        sums = [(counts @ table.T).min(axis=-1).sum(axis=-1) for table in self._options(0.0)]
        below = (counts @ self.below[0]).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio: Floats = self.sign * np.minimum.reduce(sums) / below
        return np.where(below > 0, ratio, np.nan)


def _closed(quantity: Quantity, sign: int) -> Callable[[Floats], Floats]:
    """An acceptance rate among retained-correct images when k is not known, by the ratio closed forms."""
    order = (A1, A0, B0, B1) if quantity.name == "lost-acceptance" else (A0, A1, B1, B0)
    side = 0 if sign < 0 else 1

    def end(counts: Floats) -> Floats:
        r1, r0, c1, c0 = (counts @ part for part in order)
        low, high = correct_correct_range(counts @ N, counts @ A, counts @ B)
        k = ratio_pairs(low, high, r1, r0, c1, c0, over_marked_rows=False)[side]
        top, below = block(r1, r0, c1, c0, k)[side].sum(axis=-1), k.sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(below > 0, top / below, 0.0 if sign > 0 else 1.0)
        return np.where(high.sum(axis=-1) > 0, ratio, np.nan)

    return end


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilityEnds:
    """An end of the mean true-class probability decrease, given the retained-correct counts.

    The sum of the k largest of some numbers is the least, over thresholds u, of k u + sum of (p - u) where positive;
    each threshold is a line. Two groups a class: its clean and its perturbed records.

    Attributes:
        sign: as in `CellEnds`.
        values, deviations: of the lines, (2 C, J) and (R, 2 C, J).
        retained, retained_deviations: k, (C,) and (R, C).
    """

    sign: int
    values: Floats
    deviations: Floats
    retained: Floats
    retained_deviations: Floats

    def branches(self, t: float) -> list[Branch]:
        """As in `Ends`."""
        half = np.append(self.retained, 0 * self.retained)[:, None]
        drawn = np.append(self.retained_deviations, 0 * self.retained_deviations, axis=1)[:, :, None]
        return [Branch(self.values - t * half, self.deviations - t * drawn)]

    def resampled(self) -> Floats:
        """As in `Ends`: the least over the thresholds kept, which is the end but for terms of second order."""
        sums = (self.values + self.deviations).min(axis=-1).sum(axis=-1)
        below = self.retained.sum() + self.retained_deviations.sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(below > 0, self.sign * sums / below, np.nan)

    def images(self, spread: float) -> float:
        """As in `Ends`: the retained-correct ones."""
        return float(self.retained.sum())


def _probability_ends(
    evaluation: Evaluation, level: Level, resamples: int, rng: np.random.Generator
) -> tuple[Ends, Ends]:
    sides = (evaluation.clean, 1), (evaluation.perturbed, -1)
    for side, sign in sides:
        if side.true_probability is None:
            name = "clean" if sign > 0 else "perturbed"
            raise RecordError("true_probability", None, f"the {name} records have no such column", "add it")
    classes = len(evaluation.classes)
    width = 1 if level is Level.PAIRED else 2 * NEIGHBOURS + 1
    values = np.zeros((2, 2 * classes, width))
    deviations = np.zeros((2, resamples, 2 * classes, width))
    retained, drawn = np.zeros(classes), np.zeros((resamples, classes))
    for c in range(classes):
        rows = slice(int(evaluation.starts[c]), int(evaluation.starts[c + 1]))
        if not (images := rows.stop - rows.start):
            continue
        both = (evaluation.clean.correct[rows] & evaluation.perturbed.correct[rows]).astype(np.float64)
        lines = []
        for end, (side, sign) in product((1, -1), sides):
            assert side.true_probability is not None
            signed = end * sign * side.true_probability[rows].astype(np.float64)
            lines += [signed * both] if level is Level.PAIRED else _thresholds(signed, side.correct[rows], both)
        table = np.stack([*lines, both])
        held = table.sum(axis=1)
        values[:, c::classes] = held[:-1].reshape(2, 2, width)
        retained[c] = held[-1]
        chunk = max(1, CHUNK // images)
        for first in range(0, resamples, chunk):
            part = min(chunk, resamples - first)
            weights = rng.multinomial(images, np.full(images, 1 / images), part).astype(np.float64)
            moved = weights @ table.T - held
            deviations[:, first : first + part, c::classes] = moved[:, :-1].reshape(part, 2, 2, width).swapaxes(0, 1)
            drawn[first : first + part, c] = moved[:, -1]
    upper, lower = (ProbabilityEnds(sign, values[i], deviations[i], retained, drawn) for i, sign in enumerate((1, -1)))
    return lower, upper


def _thresholds(signed: Floats, correct: npt.NDArray[np.bool_], both: Floats) -> list[Floats]:
    """Lines for the greatest sum of k values of correct records, k the number of `both`: what each image adds."""
    ordered = np.sort(signed[correct])[::-1]
    if not len(ordered):
        return [np.zeros(len(both))] * (2 * NEIGHBOURS + 1)
    reach = 2 * np.sqrt(len(both))
    steps = np.rint(np.linspace(-reach, reach, 2 * NEIGHBOURS + 1)).astype(np.int64)
    at = ordered[np.clip(int(both.sum()) - 1 + steps, 0, len(ordered) - 1)]
    return [u * both + np.where(correct, np.maximum(signed - u, 0), 0) for u in at]


def _check(evaluation: Evaluation, quantity: Quantity, denominator: str, level: Level) -> None:
    """Raise `QuantityError` for what has no lines here."""
    way_out = "see docs/sampling.md for what is offered"
    if denominator == "none":
        raise QuantityError("denominator", denominator, "a population has shares, no counts", "choose images")
    if not evaluation.paired and level is not Level.MARGINALS:
        rule = "is read off pairs, and the two sides have no common ids"
        raise QuantityError("knowledge", str(level), rule, "ask for marginals")
    if level is Level.PAIRED:
        return
    if denominator in ("retained-correct-accepted", "retained-correct-rejected"):
        rule = "has no sampling interval where its pairs are not known"
        raise QuantityError("denominator", denominator, rule, "choose retained-correct or images")
    if quantity.probability:
        if level in (Level.MARGINALS, Level.TOTAL):
            rule = "no sampling interval of the mean-probability-decrease: an end may be that of a single pair"
            raise QuantityError("knowledge", str(level), rule, "ask for correct-correct")
        return
    states = quantity.name in ("persistent-wrong", "changed-wrong")
    offered = level is Level.FIVE_STATE if states else quantity.name in LINES
    if level is Level.FIVE_STATE and not states:
        offered = quantity.name in PLAIN
    if not offered:
        raise QuantityError("quantity", quantity.name, f"has no sampling interval at {level}", way_out)


def ends_of(
    evaluation: Evaluation,
    quantity: Quantity,
    denominator: str,
    level: Level,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[Ends, Ends]:
    """The lower and the upper end of a quantity, with resamples that both share.

    Raises:
        QuantityError: for what has no lines here.
        RecordError: if the records lack the column that the quantity reads.
    """
    _check(evaluation, quantity, denominator, level)
    if quantity.probability:
        return _probability_ends(evaluation, level, resamples, rng)
    held, drawn = _draws(evaluation, resamples, rng)
    if level is Level.PAIRED or quantity.name not in LINES:
        pair = _point((quantity.cells.reshape(20).astype(np.float64), 0.0))
    else:
        pair = LINES[quantity.name]
    below: Line = DENOMINATORS[denominator].reshape(20).astype(np.float64), 0.0
    varies = level is Level.MARGINALS and denominator == "retained-correct"
    if varies:
        below = ZERO, 1.0
    upper, lower = (
        CellEnds(sign, level, lines, below, held, drawn, _closed(quantity, sign) if varies else None)
        for sign, lines in zip((1, -1), pair, strict=True)
    )
    return lower, upper
