"""What the two sides say class by class: every count that a closed form reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.evaluation import Evaluation, Side

__all__ = ["ClassCounts", "WrongClasses", "counts_of", "segment_sum"]

Ints = npt.NDArray[np.int64]


def segment_sum(values: npt.NDArray[Any], starts: Ints) -> npt.NDArray[Any]:
    """Sums of consecutive segments, empty ones being 0; booleans are counted.

    >>> segment_sum(np.array([True, True, False]), np.array([0, 0, 2, 3])).tolist()
    [0, 2, 0]
    """
    if values.dtype == np.bool_:
        values = values.astype(np.int64)
    sums = np.zeros(len(values) + 1, dtype=values.dtype)
    np.cumsum(values, out=sums[1:])
    return np.diff(sums[starts])


@dataclass(frozen=True, slots=True, eq=False)
class WrongClasses:
    """Wrong records by predicted class: one entry for each (class, label that is wrong on either side).

    Attributes:
        starts: int64 of shape (C + 1,); the entries of class c are `starts[c]:starts[c + 1]`.
        label: int64 codes into `Evaluation.labels`.
        clean, perturbed: int64, w_l and w'_l.
        clean_accepted, perturbed_accepted: int64, the accepted errors e_l and e'_l; zeros where acceptance is unknown.
    """

    starts: Ints
    label: Ints
    clean: Ints
    perturbed: Ints
    clean_accepted: Ints
    perturbed_accepted: Ints

    def sum(self, values: Ints) -> Ints:
        """int64 of shape (C,): the sum of an entry-wise array over each class."""
        return segment_sum(values, self.starts)

    def minimum(self, values: Ints, otherwise: Ints) -> Ints:
        """int64 of shape (C,): the least entry of each class, `otherwise` where a class has none."""
        result = otherwise.copy()
        filled = np.flatnonzero(np.diff(self.starts))
        if len(filled):
            result[filled] = np.minimum.reduceat(values, self.starts[filled])
        return result


class ClassCounts:
    """The margins of an evaluation, computed once when first asked for; all int64 of shape (C,).

    `clean_correct` is A, `clean_correct_accepted` A1, `clean_correct_rejected` A0, and B, B1, B0 likewise.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.starts = evaluation.starts
        self.images: Ints = np.diff(evaluation.starts)

    def _correct(self, side: Side) -> Ints:
        return segment_sum(side.correct, self.starts)

    def _accepted(self, side: Side, correct: bool) -> Ints:
        if side.accepted is None:
            return np.zeros_like(self.images)
        chosen = side.accepted & side.correct if correct else side.accepted & ~side.correct
        return segment_sum(chosen, self.starts)

    @cached_property
    def clean_correct(self) -> Ints:
        return self._correct(self.evaluation.clean)

    @cached_property
    def perturbed_correct(self) -> Ints:
        return self._correct(self.evaluation.perturbed)

    @cached_property
    def clean_correct_accepted(self) -> Ints:
        return self._accepted(self.evaluation.clean, correct=True)

    @cached_property
    def perturbed_correct_accepted(self) -> Ints:
        return self._accepted(self.evaluation.perturbed, correct=True)

    @property
    def clean_correct_rejected(self) -> Ints:
        return self.clean_correct - self.clean_correct_accepted

    @property
    def perturbed_correct_rejected(self) -> Ints:
        return self.perturbed_correct - self.perturbed_correct_accepted

    @property
    def clean_wrong(self) -> Ints:
        return self.images - self.clean_correct

    @property
    def perturbed_wrong(self) -> Ints:
        return self.images - self.perturbed_correct

    @cached_property
    def clean_accepted_errors(self) -> Ints:
        return self._accepted(self.evaluation.clean, correct=False)

    @cached_property
    def perturbed_accepted_errors(self) -> Ints:
        return self._accepted(self.evaluation.perturbed, correct=False)

    @cached_property
    def true_cells(self) -> Ints:
        """int64 of shape (C, 5, 2, 2): pairs by class and cell (`bounds.quantities`) under the true pairing."""
        from bounds.witness import cell_counts

        return cell_counts(self.evaluation, np.arange(self.evaluation.images, dtype=np.int64))

    @cached_property
    def wrong_classes(self) -> WrongClasses:
        """Wrong records by predicted class."""
        evaluation = self.evaluation
        classes = evaluation.class_of_row
        labels = max(len(evaluation.labels), 1)
        keys = []
        for side in (evaluation.clean, evaluation.perturbed):
            wrong = ~side.correct
            accepted = np.zeros(len(side), dtype=bool) if side.accepted is None else side.accepted
            keys.append((classes[wrong] * labels + side.predicted[wrong], accepted[wrong]))
        entries, where = np.unique(np.concatenate([keys[0][0], keys[1][0]]), return_inverse=True)
        where = where.reshape(-1)
        clean, perturbed = where[: len(keys[0][0])], where[len(keys[0][0]) :]

        def tally(index: Ints) -> Ints:
            return np.bincount(index, minlength=len(entries)).astype(np.int64)

        return WrongClasses(
            starts=np.searchsorted(entries // labels, np.arange(len(evaluation.classes) + 1)).astype(np.int64),
            label=entries % labels,
            clean=tally(clean),
            perturbed=tally(perturbed),
            clean_accepted=tally(clean[keys[0][1]]),
            perturbed_accepted=tally(perturbed[keys[1][1]]),
        )


@lru_cache(maxsize=2)
def counts_of(evaluation: Evaluation) -> ClassCounts:
    """The margins of an evaluation; the last two are kept, so that its quantities and levels share them."""
    return ClassCounts(evaluation)
