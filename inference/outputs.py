"""Whole outputs of a model, read back from its records: one (model, condition) in memory at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bounds.errors import RecordError
from bounds.records import load_records
from bounds.records_source import LISTS, collected, open_sources

__all__ = ["Outputs", "OutputsFile"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """What a model said of N images under one condition; None for what its records do not hold.

    Attributes:
        unusable: rows left out, without a prediction or a number.
        confidence: largest probabilities, of shape (N,).
        probabilities, logits: of shape (N, C).
        correct: whether the prediction is the label, of shape (N,).
        true_probability: of the label, of shape (N,).
        label: class indices, of shape (N,); None where labels are names.
    """

    model: str
    condition: str
    kind: str
    images: int
    unusable: int
    confidence: Floats | None
    probabilities: Floats | None
    logits: Floats | None
    correct: npt.NDArray[np.bool_] | None = None
    true_probability: Floats | None = None
    label: npt.NDArray[np.int64] | None = None

    @property
    def scores(self) -> Floats | None:
        """Logits, or logarithms of the probabilities, which are logits up to a constant a row; of shape (N, C)."""
        if self.logits is not None or self.probabilities is None:
            return self.logits
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities)


class OutputsFile:
    """Records of some models under some conditions, with the lists of numbers that other verbs do not read.

    Attributes:
        models: names, sorted.
    """

    def __init__(self, source: Any) -> None:
        """Open the files.

        Raises:
            RecordError: as `bounds.load_records`.
        """
        self._records = load_records(source)
        self._sources = open_sources(source, None)
        self.models = self._records.models

    def conditions(self, model: str) -> tuple[str, ...]:
        """The conditions of a model, clean ones first, the others sorted."""
        found = self._records.conditions(model)
        return tuple(sorted(found, key=lambda name: (self._records.kind(name) != "clean", name)))

    def labelled(self, model: str, condition: str) -> Outputs:
        """What the model said, with its labels; checked as every verb checks records.

        Raises:
            RecordError: if rows break a rule of the record format, or a label has no place in the lists.
        """
        checked = self._records.evaluation(model, condition, clean=condition)
        side = checked.clean
        ids = pl.DataFrame({"image_id": side.image_id})
        rows = ids.join(self._rows(model, condition), on="image_id", how="left", maintain_order="left")
        labels = np.repeat(np.array(checked.classes), np.diff(checked.starts))
        indices = labels if labels.dtype.kind == "i" else None
        for name in LISTS:
            found = _matrix(rows, name)
            if found is not None and indices is not None and len(indices):
                worst = int(indices.max() if indices.max() >= found.shape[1] else indices.min())
                if not 0 <= worst < found.shape[1]:
                    raise RecordError(
                        "label",
                        worst,
                        f"the {name} are of the classes 0 to {found.shape[1] - 1}",
                        "correct one of them",
                    )
        return Outputs(
            **self._common(model, condition, rows, checked.unusable),
            confidence=_confidence(rows, side.confidence),
            correct=side.correct,
            true_probability=None if side.true_probability is None else side.true_probability.astype(np.float64),
            label=indices,
        )

    def unlabelled(self, model: str, condition: str) -> Outputs:
        """What the model said, whatever the labels, which may be missing.

        Raises:
            RecordError: if an image stands twice, or a confidence is none.
        """
        rows = self._rows(model, condition)
        twice = rows.filter(rows["image_id"].is_duplicated())
        if len(twice):
            raise RecordError("image_id", twice["image_id"][0], f"stands twice in ({model}, {condition})", "keep one")
        sums = [pl.col(name).list.sum() for name in LISTS if name in rows.columns]
        numbers = [*sums, *(pl.col(name) for name in ("confidence",) if name in rows.columns)]
        usable = rows.filter(
            pl.col("predicted").is_not_null(), *(number.is_not_null() & number.is_not_nan() for number in numbers)
        )
        confidence = _confidence(usable, usable["confidence"].to_numpy() if "confidence" in usable.columns else None)
        if confidence is not None and len(confidence) and not (confidence.min() >= 0 and confidence.max() <= 1 + 1e-6):
            worst = confidence.min() if confidence.min() < 0 else confidence.max()
            raise RecordError("confidence", float(worst), f"outside [0, 1] in ({model}, {condition})", "give fractions")
        return Outputs(**self._common(model, condition, usable, len(rows) - len(usable)), confidence=confidence)

    def _rows(self, model: str, condition: str) -> pl.DataFrame:
        mine = (pl.col("model") == model) & (pl.col("condition") == condition)
        parts = []
        for source in self._sources:
            columns = [name for name in ("image_id", "predicted", "confidence", *LISTS) if name in source.columns]
            parts.append(collected(source.frame.filter(mine).select(columns), source.name))
        return pl.concat([part for part in parts if len(part)], how="diagonal")

    def _common(self, model: str, condition: str, rows: pl.DataFrame, unusable: int) -> dict[str, Any]:
        return {
            "model": model,
            "condition": condition,
            "kind": self._records.kind(condition),
            "images": len(rows),
            "unusable": unusable,
            **{name: _matrix(rows, name) for name in LISTS},
        }


def _confidence(rows: pl.DataFrame, column: npt.NDArray[Any] | None) -> Floats | None:
    """The column, or the largest of the whole probabilities."""
    if column is None and (found := _matrix(rows, "probabilities")) is not None:
        return np.asarray(found.max(axis=1, initial=0))
    return None if column is None else column.astype(np.float64)


def _matrix(rows: pl.DataFrame, column: str) -> Floats | None:
    """Lists of one length as an array of shape (N, C); None where a row has none.

    Raises:
        RecordError: if their lengths differ, or a usable row holds NaN.
    """
    if column not in rows.columns or rows[column].null_count():
        return None
    lengths = rows[column].list.len().unique().sort().to_list()
    if len(lengths) > 1:
        raise RecordError(column, lengths, "different lengths under one condition", "write one number a class")
    flat = rows[column].explode().cast(pl.Float64).to_numpy()
    if np.isnan(flat).any():
        raise RecordError(column, "NaN", "in a row with a prediction", "leave the prediction of such rows empty")
    return flat.reshape(len(rows), -1) if len(rows) else None
