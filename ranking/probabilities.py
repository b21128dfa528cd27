"""Whole probabilities of some images, read from the files when a score asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bounds.errors import PairboundsError, RecordError
from bounds.records_source import Source, collected

__all__ = ["Probabilities"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]

WHOLE = "whole probabilities are needed"
KEEP = "write records with them (infer --probabilities all), or choose another score"


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The column `probabilities` for n images of one model.

    Attributes:
        sources: the record files.
        model, clean: names.
        image_id: String series of length n.
        label: int64 of shape (n,): codes into `labels`; what is predicted when clean.
        labels: names of classes.
    """

    sources: Sequence[Source]
    model: str
    clean: str
    image_id: pl.Series
    label: Ints
    labels: tuple[str | int, ...]

    def take(self, rows: Ints) -> Probabilities:
        """Those of some of the images."""
        return replace(self, image_id=self.image_id.gather(rows), label=self.label[rows])

    def of(self, condition: str) -> Floats:
        """The probabilities under a condition.

        Returns:
            float32 or float64 of shape (n, C), rows in the order of `image_id`.

        Raises:
            PairboundsError: if the records do not hold them.
            RecordError: if an image has none, or another number of classes.
        """
        parts = []
        for source in self.sources:
            if "probabilities" not in source.columns:
                continue
            frame = source.frame.filter(pl.col("condition") == condition)
            if "model" in source.columns:
                frame = frame.filter(pl.col("model") == self.model)
            parts.append(collected(frame.select("image_id", "probabilities"), source.name))
        if not parts:
            raise PairboundsError("probabilities", None, f"{WHOLE}, and no file has this column", KEEP)
        table = self.image_id.to_frame("image_id").join(
            pl.concat(parts), on="image_id", how="left", maintain_order="left"
        )
        lists = table["probabilities"]
        lengths = lists.list.len()
        wrong = (lengths.is_null() | (lengths != lengths.max())).to_numpy()
        if wrong.any():
            row = int(wrong.argmax())
            found = "none" if lengths[row] is None else f"{int(lengths[row])} where another has more"
            raise RecordError("probabilities", self.image_id[row], f"{WHOLE}; {condition} has {found}", KEEP)
        values = lists.explode().to_numpy().reshape(len(lists), -1)
        if np.isnan(values).any():
            row = int(np.isnan(values).any(axis=1).argmax())
            raise RecordError("probabilities", self.image_id[row], f"{condition} holds NaN or null", "mend the records")
        return values

    def entries(self, predicted: Ints, condition: str) -> Ints:
        """Where in a row of probabilities the predictions under a condition stand.

        Labels that are indices are the places, as `bounds.load_records` has checked. A class that has a name stands
        where the probabilities of an image predicted as it are largest.

        Args:
            predicted: under `condition`: codes into `labels`, shape (n,).
            condition: where a class is looked up that no image here is predicted as when clean.

        Returns:
            Positions, int64 of shape (n,).

        Raises:
            RecordError: if images predicted as one class have their largest probability in different places.
        """
        places = self._places
        missing = places[predicted] < 0
        found = places[predicted]
        if missing.any():
            found[missing] = self.of(condition)[missing].argmax(axis=1)
        return found

    @cached_property
    def _places(self) -> Ints:
        """Where each class of `labels` stands; -1 where the clean predictions do not tell."""
        if all(isinstance(name, int) for name in self.labels):
            return np.array(self.labels, dtype=np.int64)
        values = self.of(self.clean)
        best = values.max(axis=1)
        sole = (values == best[:, None]).sum(axis=1) == 1
        places = np.full(len(self.labels), -1, dtype=np.int64)
        for rows in (~sole, sole):
            places[self.label[rows]] = values[rows].argmax(axis=1)
        wrong = values[np.arange(len(values)), places[self.label]] < best
        if wrong.any():
            row = int(wrong.argmax())
            raise RecordError(
                "probabilities",
                self.image_id[row],
                f"the largest is not where it is for other images predicted as {self.labels[self.label[row]]!r}",
                "give the probabilities of every image in one order of classes",
            )
        return places
