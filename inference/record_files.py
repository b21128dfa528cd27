"""Files of records: written in one way, merged, and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from bounds.errors import RecordError
from bounds.files import replacing
from bounds.records import load_records
from bounds.records_source import LISTS, NUMBERS, collected, open_sources

__all__ = ["ROW_GROUP", "Difference", "diff", "merge", "write_records"]

ROW_GROUP = 16_384
"""Rows of a row group, so that whole probabilities of 1000 classes stay below 100 MB."""

PLAIN = ("kind", "accepted")
"""Columns beside labels and numbers that are equal or not."""

FAR = 1e300

KEY = ("model", "condition", "image_id")
"""What a row is found by."""

SHOWN = 5
"""How many rows a message or a comparison lists."""


def write_records(tables: Iterable[pa.Table], path: Path, schema: pa.Schema, provenance: Mapping[str, str]) -> None:
    """Write tables as one Parquet file with row groups of `ROW_GROUP` rows; little more than one is in memory.

    Equal rows and provenance give equal bytes, however the rows are spread over the tables.
    """
    schema = schema.with_metadata({name.encode(): text.encode() for name, text in sorted(provenance.items())})
    waiting = schema.empty_table()
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in tables:
            waiting = pa.concat_tables([waiting, table.cast(schema)])
            while waiting.num_rows >= ROW_GROUP:
                writer.write_table(waiting.slice(0, ROW_GROUP).combine_chunks(), row_group_size=ROW_GROUP)
                waiting = waiting.slice(ROW_GROUP)
        if waiting.num_rows:
            writer.write_table(waiting.combine_chunks(), row_group_size=ROW_GROUP)


def merge(files: Sequence[Path], out: Path) -> int:
    """Put several Parquet files of records into one, rows in the order of the files, all columns kept.

    Args:
        files: checked as `bounds.load_records` does; a column that one of them lacks is null there.
        out: the file to write; where the files' provenance differs it keeps every value, with the file's name.

    Returns:
        The number of rows.

    Raises:
        RecordError: if a file is not Parquet, two rows have the same model, condition and image, or columns of the
            same name do not go together.
    """
    provenance = load_records(list(files)).provenance
    try:
        opened = [pq.ParquetFile(file) for file in files]
        schema = pa.unify_schemas(
            [file.schema_arrow.remove_metadata() for file in opened], promote_options="permissive"
        )
    except pa.ArrowTypeError as error:
        raise RecordError("records", None, f"columns do not go together ({error})", "write them alike") from error
    except pa.ArrowInvalid as error:
        raise RecordError("records", None, f"not all Parquet ({error})", "convert CSV files first") from error
    _check_unique(files)

    def tables() -> Iterator[pa.Table]:
        for file in opened:
            for group in range(file.num_row_groups):
                yield _completed(file.read_row_group(group), schema)

    with replacing(out) as part:
        write_records(tables(), part, schema, provenance)
    return sum(file.metadata.num_rows for file in opened)


@dataclass(frozen=True, slots=True)
class Difference:
    """How two files of records differ.

    Attributes:
        first_only, second_only: rows of one of them, by model, condition and image.
        common: rows of both.
        labels, predictions: common rows in which they differ; a missing prediction differs from any.
        confidence, true_probability: largest difference in a common row; None where one of them lacks the column.
        others: common rows in which another column differs, by its name; of lists, in length or in any number.
        not_compared: columns that only one of them has.
        examples: some rows that differ: model, condition, image_id and what.
        equal: whether nothing differs beyond the tolerance.
    """

    first_only: int
    second_only: int
    common: int
    labels: int
    predictions: int
    confidence: float | None
    true_probability: float | None
    others: dict[str, int]
    not_compared: list[str]
    examples: list[dict[str, str]]
    equal: bool


def diff(first: Path, second: Path, *, tolerance: float = 0.0) -> Difference:
    """Compare two files of records row by row.

    Args:
        first, second: Parquet or CSV.
        tolerance: the largest difference of a confidence, probability or logit that counts as none.

    Raises:
        RecordError: if a file cannot be read or names a row twice.
    """
    frames = []
    for path in (first, second):
        _check_unique([path])
        (source,) = open_sources([path], None)
        frames.append(collected(source.frame, source.name))
    if frames[0]["label"].dtype != frames[1]["label"].dtype:
        raise RecordError("labels", None, "integers in one file and names in the other", "write both alike")
    numbers = [name for name in NUMBERS if all(name in frame.columns for frame in frames)]
    others = [name for name in (*PLAIN, *LISTS) if all(name in frame.columns for frame in frames)]
    columns = ["label", "predicted", *numbers, *others]
    left, right = (
        frame.select(*KEY, pl.lit(True).alias("there"), *(pl.col(name) for name in columns)) for frame in frames
    )
    joined = left.join(right, on=KEY, how="full", coalesce=True, suffix=" 2", maintain_order="left_right")
    common = pl.col("there") & pl.col("there 2")
    changed = {
        "only in the first": pl.col("there 2").is_null(),
        "only in the second": pl.col("there").is_null(),
        **{name: common & pl.col(name).ne_missing(pl.col(f"{name} 2")) for name in ("label", "predicted")},
        **{name: common & _beyond(name, tolerance) for name in numbers},
        **{name: common & _apart(name, tolerance) for name in others},
    }
    flags = joined.select(*KEY, *(flag.fill_null(False).alias(f"? {name}") for name, flag in changed.items()))
    counts = {name: int(flags[f"? {name}"].sum()) for name in changed}
    distances = joined.select(
        (pl.col(name) - pl.col(f"{name} 2")).abs().fill_nan(None).max().alias(name) for name in numbers
    )
    what = pl.coalesce([pl.when(f"? {name}").then(pl.lit(name)) for name in changed]).alias("what")
    return Difference(
        first_only=counts["only in the first"],
        second_only=counts["only in the second"],
        common=len(joined) - counts["only in the first"] - counts["only in the second"],
        labels=counts["label"],
        predictions=counts["predicted"],
        confidence=distances["confidence"][0] if "confidence" in numbers else None,
        true_probability=distances["true_probability"][0] if "true_probability" in numbers else None,
        others={name: counts[name] for name in others},
        not_compared=sorted(set(frames[0].columns) ^ set(frames[1].columns)),
        examples=flags.select(*KEY, what).filter(pl.col("what").is_not_null()).head(SHOWN).to_dicts(),
        equal=not any(counts.values()),
    )


def _beyond(name: str, tolerance: float) -> pl.Expr:
    """Whether a number differs by more than the tolerance; missing and NaN are one value."""
    one, other = pl.col(name).fill_nan(None), pl.col(f"{name} 2").fill_nan(None)
    return (one.is_null() != other.is_null()) | ((one - other).abs() > tolerance)


def _apart(name: str, tolerance: float) -> pl.Expr:
    """Whether another column differs: lists beyond the tolerance in some number, the rest at all."""
    one, other = pl.col(name), pl.col(f"{name} 2")
    if name not in LISTS:
        return one.ne_missing(other)
    shorter = pl.min_horizontal(one.list.len(), other.list.len())
    distances = _finite(one).list.head(shorter) - _finite(other).list.head(shorter)
    beyond = distances.list.eval(pl.element().abs()).list.max() > tolerance
    return one.list.len().ne_missing(other.list.len()) | beyond.fill_null(False)


def _finite(lists: pl.Expr) -> pl.Expr:
    """Lists with numbers in place of infinities and NaN, so that each is equal to itself and far from others."""
    element = pl.element()
    finite = pl.when(element.is_nan()).then(2 * FAR).otherwise(element.clip(-FAR, FAR))
    return lists.cast(pl.List(pl.Float64)).list.eval(finite)


def _check_unique(files: Sequence[Path]) -> None:
    frames = [source.frame.select(KEY) for source in open_sources(list(files), None)]
    twice = collected(pl.concat(frames).group_by(KEY).len().filter(pl.col("len") > 1), files[0].name).sort(KEY)
    if len(twice):
        shown = ", ".join(
            f"({model}, {condition}, {image})" for model, condition, image, _ in twice.head(SHOWN).iter_rows()
        )
        raise RecordError(
            "records",
            None,
            f"{len(twice)} rows occur more than once: {shown}{' …' if len(twice) > SHOWN else ''}",
            "leave one file out, or give each model its name",
        )


def _completed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with every column of the schema, null where it has none."""
    columns = [
        table[field.name].cast(field.type) if field.name in table.schema.names else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
