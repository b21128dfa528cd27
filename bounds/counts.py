"""What the two sides say class by class: every count that a closed form reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.evaluation import Evaluation
from bounds.quantities import cells

__all__ = ["ClassCounts", "WrongClasses", "counts_of", "identity_cells", "segment_sum", "weighted"]

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


_STATE_OF = np.array([4, 3, 2, 2, 1, 1, 0, 0], dtype=np.int64)
"""State of a pair by 4 * clean correct + 2 * perturbed correct + same prediction."""


def identity_cells(evaluation: Evaluation, class_of_row: Ints) -> Ints:
    """int64 of shape (C, 5, 2, 2): pairs by class and cell when row i is paired with row i.

    Where acceptance is unknown every pair counts as rejected on both sides.
    """
    clean, perturbed = evaluation.clean, evaluation.perturbed
    same = clean.predicted == perturbed.predicted
    index = _STATE_OF[(clean.correct * np.int8(4)) + (perturbed.correct * np.int8(2)) + same]
    index += class_of_row * 5
    index *= 4
    if clean.accepted is not None and perturbed.accepted is not None:
        index += clean.accepted * np.int8(2)
        index += perturbed.accepted
    classes = len(evaluation.classes)
    return np.bincount(index, minlength=classes * 20).reshape(classes, 5, 2, 2)


_MARGINS = np.stack(
    [
        cells("CC CW"),
        cells("CC CW", 1),
        cells("WC WS WD", 1),
        cells("CC WC"),
        cells("CC WC", None, 1),
        cells("CW WS WD", None, 1),
    ],
    axis=-1,
).reshape(20, 6)
"""Clean correct, those accepted, clean accepted errors; then the same of the perturbed side: sums of cells."""


def weighted(cells: Ints, weights: Ints) -> Ints:
    """int64 of shape (C,): the sum of each class's cells (C, 5, 2, 2) with weights (5, 2, 2)."""
    total: Ints = cells.reshape(len(cells), 20) @ weights.reshape(20)
    return total


class ClassCounts:
    """The margins of an evaluation, each int64 of shape (C,).

    `clean_correct` is A, `clean_correct_accepted` A1, `clean_correct_rejected` A0, and B, B1, B0 likewise. All are
    sums of the cells of one correspondence; any would do, since margins do not depend on it. Where the evaluation is
    paired, `cells` are those of the true correspondence.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.images: Ints = np.diff(evaluation.starts)
        self.class_of_row = evaluation.class_of_row
        self.cells = identity_cells(evaluation, self.class_of_row)
        margins = self.cells.reshape(len(self.images), 20) @ _MARGINS
        self.clean_correct, self.clean_correct_accepted, self.clean_accepted_errors = margins[:, :3].T
        self.perturbed_correct, self.perturbed_correct_accepted, self.perturbed_accepted_errors = margins[:, 3:].T
        self.clean_correct_rejected: Ints = self.clean_correct - self.clean_correct_accepted
        self.perturbed_correct_rejected: Ints = self.perturbed_correct - self.perturbed_correct_accepted
        self.clean_wrong: Ints = self.images - self.clean_correct
        self.perturbed_wrong: Ints = self.images - self.perturbed_correct

    @cached_property
    def wrong_classes(self) -> WrongClasses:
        """Wrong records by predicted class."""
        evaluation = self.evaluation
        classes = self.class_of_row
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
