"""One paired evaluation in memory: the clean and the perturbed records of one model under one condition.

Rows are sorted by class, and both sides hold as many rows of each class, so a correspondence is an array `match`
with `match[i]` the perturbed row that clean row `i` is paired with; within every class it is a bijection. Where the
evaluation is `paired`, row `i` of both sides is the same image and the true correspondence is the identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bounds.errors import QuantityError, RecordError
from bounds.exact import exact_number, exact_text

__all__ = ["Coverage", "Evaluation", "Side", "Threshold"]

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coverage:
    """A share of the clean images that a threshold was chosen to accept.

    Attributes:
        asked: the decimal as the user gave it; None where the threshold was taken for its own sake.
        achieved: the share accepted, exactly; ties may make it larger than what was asked for.
    """

    asked: str | None
    achieved: Fraction

    def to_dict(self) -> dict[str, Any]:
        """As in JSON: plain strings and floats."""
        return {
            "asked": self.asked,
            "achieved": float(self.achieved),
            "achieved_exact": exact_text(self.achieved),
        }


@dataclass(frozen=True, slots=True)
class Threshold:
    """An acceptance threshold as typed, and the value compared with on each side.

    Attributes:
        text: the decimal string as the user gave it.
        clean: `text` rounded to nearest in the dtype of the clean confidences, as a float64.
        perturbed: the same for the perturbed confidences.
        coverage: the clean coverage that it was chosen by; None where it was given.
    """

    text: str
    clean: float
    perturbed: float
    coverage: Coverage | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The records of one side, sorted by class; every array has one entry a row.

    Attributes:
        image_id: String series.
        correct: bool, `predicted == label`.
        predicted: int64, codes into `Evaluation.labels`; -1 never occurs (rows without a prediction are unusable).
        accepted: bool, or None while no threshold was applied and no `accepted` column was given.
        confidence: float32 or float64 in [0, 1], or None where the file has none.
        true_probability: float32 or float64 in [0, 1], or None where the file has none.
    """

    image_id: pl.Series
    correct: Bools
    predicted: Ints
    accepted: Bools | None
    confidence: Floats | None
    true_probability: Floats | None

    def take(self, rows: Ints) -> Side:
        """The given rows, in the given order."""

        def pick(values: Any) -> Any:
            return None if values is None else values[rows]

        return Side(
            image_id=self.image_id.gather(rows),
            correct=self.correct[rows],
            predicted=self.predicted[rows],
            accepted=pick(self.accepted),
            confidence=pick(self.confidence),
            true_probability=pick(self.true_probability),
        )

    def __len__(self) -> int:
        return len(self.correct)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """A paired evaluation, checked; see the module docstring for the layout.

    Attributes:
        model, clean_condition, perturbed_condition: names from the records.
        classes: C class (stratum) names, strings or integers, in row order.
        starts: int64 of shape (C + 1,); the rows of class `c` are `starts[c]:starts[c + 1]` on both sides.
        labels: names behind the codes in `Side.predicted`.
        clean, perturbed: the two sides, N = starts[-1] rows each.
        paired: whether row `i` of both sides is the same image.
        threshold: the threshold behind `accepted`; None where `accepted` came from a column or is absent.
        unmatched: (clean, perturbed) images that are on one side only and were left out.
        unusable: images left out, without a usable record on a side (a null or NaN prediction or probability).
        notes: what the loader noticed, one sentence each.
    """

    model: str
    clean_condition: str
    perturbed_condition: str
    classes: tuple[str | int, ...]
    starts: Ints
    labels: tuple[str | int, ...]
    clean: Side
    perturbed: Side
    paired: bool
    threshold: Threshold | None = None
    unmatched: tuple[int, int] = (0, 0)
    unusable: int = 0
    notes: tuple[str, ...] = ()

    @property
    def images(self) -> int:
        """Images on each side."""
        return int(self.starts[-1])

    @property
    def class_of_row(self) -> Ints:
        """int64 of shape (N,): the class index of each row."""
        return np.repeat(np.arange(len(self.classes), dtype=np.int64), np.diff(self.starts))

    def at_threshold(self, threshold: str | float | Decimal) -> Evaluation:
        """The same records with `accepted = confidence >= threshold`; a tie accepts.

        The decimal is rounded to nearest in the dtype of each side's confidences and compared there.

        Raises:
            QuantityError: if the records carry an `accepted` column, or the threshold is not a decimal in [0, 1].
            RecordError: if the records have no confidences.
        """
        text = str(threshold).strip()
        way_out = "give a decimal such as 0.8"
        try:
            number = exact_number(threshold)
        except ValueError as error:
            raise QuantityError("threshold", text, str(error), way_out) from None
        if not 0 <= number <= 1:
            raise QuantityError("threshold", text, "a confidence lies in [0, 1]", way_out)
        if self.threshold is None and (self.clean.accepted is not None or self.perturbed.accepted is not None):
            raise QuantityError(
                "threshold", text, "the records already carry a column 'accepted'", "give one of the two, not both"
            )
        sides, values = [], []
        for name, side in (("clean", self.clean), ("perturbed", self.perturbed)):
            if side.confidence is None:
                raise RecordError(
                    "confidence", None, f"the {name} records have no such column", "add it, or a column 'accepted'"
                )
            value = _nearest(number, side.confidence.dtype)
            sides.append(replace(side, accepted=side.confidence >= value))
            values.append(float(value))
        return replace(self, clean=sides[0], perturbed=sides[1], threshold=Threshold(text, values[0], values[1]))

    def select(self, classes: Sequence[int]) -> Evaluation:
        """The evaluation of some classes only, by index, in the given order."""
        rows = np.concatenate(
            [np.arange(self.starts[c], self.starts[c + 1], dtype=np.int64) for c in classes]
            or [np.empty(0, dtype=np.int64)]
        )
        sizes = [int(self.starts[c + 1] - self.starts[c]) for c in classes]
        return replace(
            self,
            classes=tuple(self.classes[c] for c in classes),
            starts=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
            clean=self.clean.take(rows),
            perturbed=self.perturbed.take(rows),
        )


def _nearest(exact: Fraction, dtype: np.dtype[Any]) -> np.floating[Any]:
    """The value of `dtype` nearest to a number, ties to even, rounded once.

    Python's and NumPy's detour through float64 can round twice; the neighbours are compared exactly instead.
    """
    guess = dtype.type(float(exact))
    candidates = [np.nextafter(guess, dtype.type(-1)), guess, np.nextafter(guess, dtype.type(2))]

    def distance(value: np.floating[Any]) -> tuple[Fraction, int]:
        mantissa = int(np.asarray(value).view(f"u{dtype.itemsize}")) & 1
        return abs(Fraction(float(value)) - exact), mantissa

    return min(candidates, key=distance)
