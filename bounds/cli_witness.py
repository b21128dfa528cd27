"""The file that `--witness` writes: the correspondences that attain the ends, as pairs of image ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from bounds.evaluation import Evaluation
from bounds.files import replacing
from bounds.interval import Interval

__all__ = ["COLUMNS", "PairFile", "WitnessFile", "pair_file", "pair_frame"]

COLUMNS = (
    *("model", "perturbed", "threshold", "quantity", "knowledge", "denominator", "average", "end", "class"),
    *("clean_image_id", "perturbed_image_id"),
)
"""Columns of the file, all strings; one row a pair. `end` is lower or upper."""


class PairFile(Protocol):
    """Takes pairs of image ids, one correspondence at a time, so that memory does not grow with them."""

    def __call__(self, frame: pl.DataFrame) -> None: ...


@contextmanager
def pair_file(path: Path, columns: Sequence[str]) -> Iterator[PairFile]:
    """A new file at `path`, .csv or .parquet, of string columns; it appears there when the block has ended well."""
    empty = pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    with replacing(path) as part:
        if path.suffix.lower() == ".csv":
            with part.open("wb") as stream:
                empty.write_csv(stream)
                yield lambda frame: frame.write_csv(stream, include_header=False)
        else:
            from pyarrow.parquet import ParquetWriter

            with ParquetWriter(part, empty.to_arrow().schema, compression="zstd") as writer:
                yield lambda frame: writer.write_table(frame.to_arrow())


class WitnessFile:
    """The correspondences behind intervals."""

    def __init__(self, file: PairFile) -> None:
        self._file = file

    @classmethod
    @contextmanager
    def replacing(cls, path: Path) -> Iterator[WitnessFile]:
        """A new file at `path`, .csv or .parquet; it appears there when the block has ended well."""
        with pair_file(path, COLUMNS) as file:
            yield cls(file)

    def write(self, evaluation: Evaluation, interval: Interval) -> None:
        """Write the pairs of both ends."""
        if interval.class_name is not None:
            evaluation = evaluation.select([evaluation.classes.index(interval.class_name)])
        for name, end in (("lower", interval.low), ("upper", interval.high)):
            if end.match is not None:
                self._file(_pairs(evaluation, interval, name, end.match))


def _pairs(evaluation: Evaluation, interval: Interval, name: str, match: npt.NDArray[np.int64]) -> pl.DataFrame:
    told = {
        "model": interval.model,
        "perturbed": interval.perturbed,
        "threshold": interval.threshold,
        "quantity": interval.quantity,
        "knowledge": interval.knowledge,
        "denominator": interval.denominator.name,
        "average": interval.average,
        "end": name,
    }
    return pair_frame(evaluation, match, told)


def pair_frame(evaluation: Evaluation, match: npt.NDArray[np.int64], told: Mapping[str, str | None]) -> pl.DataFrame:
    """One row a pair: the columns told, the same in every row, then `class`, `clean_image_id`, `perturbed_image_id`."""
    classes = pl.Series([str(class_name) for class_name in evaluation.classes], dtype=pl.String)
    return pl.DataFrame(
        {
            "class": classes.gather(evaluation.class_of_row),
            "clean_image_id": evaluation.clean.image_id,
            "perturbed_image_id": evaluation.perturbed.image_id.gather(match),
        }
    ).select(
        *(pl.lit(value, dtype=pl.String).alias(key) for key, value in told.items()),
        pl.col("class", "clean_image_id", "perturbed_image_id").cast(pl.String),
    )
