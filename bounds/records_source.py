"""Files and tables of prediction records, each as one lazy frame in canonical columns and types.

Canonical: `model`, `condition`, `image_id`, `kind` are strings, never null by type alone (nulls are found later);
`label`, `predicted` and `strata` are Int64 or String; `confidence` and `true_probability` Float32 or Float64;
`accepted` Boolean; `probabilities` and `logits` lists of floats. Other columns are dropped. Nothing is read here but
headers, except for CSV, which is read whole.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from bounds.errors import MissingExtraError, RecordError

__all__ = ["ACCEPTED", "LISTS", "NUMBERS", "Source", "collected", "open_sources"]

ACCEPTED = "accepted"
"""The column that says what is accepted, unless another is named."""

REQUIRED = ("condition", "image_id", "label", "predicted")
NUMBERS = ("confidence", "true_probability")
LISTS = ("probabilities", "logits")
_CANONICAL_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
_INDEX = r"^\s*[+-]?[0-9]+(\.0*)?\s*$"


@dataclass(frozen=True, slots=True)
class Source:
    """One file or table.

    Attributes:
        name: for messages: the file's name, or the kind of table.
        frame: canonical columns, see the module docstring; `strata` holds the stratum column if one was asked for.
        columns: the columns of `frame` with their types.
        metadata: Parquet file or Arrow schema metadata.
    """

    name: str
    frame: pl.LazyFrame
    columns: Mapping[str, pl.DataType]
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Raw:
    name: str
    frame: pl.LazyFrame
    metadata: Mapping[str, str]
    text: bool = False


def open_sources(source: Any, strata: str | None, accepted: str = ACCEPTED) -> list[Source]:
    """Every file or table in `source`, with the columns and types checked; the column `accepted` under that name.

    Raises:
        RecordError: if a file is missing or of another format, a column is missing or of an unusable type, the files
            disagree on whether labels are integers or names, or one column holds names and the other their indices.
    """
    raws = [_open(part) for part in _parts(source)]
    if not raws:
        raise RecordError("records", None, "no file was given", "name at least one Parquet or CSV file")
    texts = [raw for raw in raws if raw.text]
    integers = {
        "label": all(_all_integers(raw.frame, ("label", "predicted")) for raw in texts),
        "strata": strata is not None and all(_all_integers(raw.frame, (strata,)) for raw in texts),
    }
    sources = [_canonical(raw, strata, accepted, integers) for raw in raws]
    for column in ("label", "strata"):
        _one_kind(sources, column, strata)
    for source in sources:
        _one_language(source)
    return sources


def _parts(source: Any) -> Iterable[Any]:
    if isinstance(source, (list, tuple)):
        for part in source:
            yield from _parts(part)
    else:
        yield source


def _open(part: Any) -> _Raw:
    if isinstance(part, (str, os.PathLike)):
        return _open_file(Path(part))
    if isinstance(part, pl.LazyFrame):
        return _Raw("polars LazyFrame", part, {})
    if isinstance(part, pl.DataFrame):
        return _Raw("polars DataFrame", part.lazy(), {})
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(part, pandas.DataFrame):
        return _Raw("pandas DataFrame", _from_pandas(part).lazy(), {})
    if hasattr(part, "__arrow_c_stream__"):
        schema = getattr(part, "schema", None)
        metadata = _decode(getattr(schema, "metadata", None) or {})
        return _Raw("Arrow table", pl.DataFrame(part).lazy(), metadata)
    raise RecordError(
        "records",
        type(part).__name__,
        "not a file or a table",
        "give a path to Parquet or CSV, or a polars, pandas or pyarrow table",
    )


def _from_pandas(table: Any) -> pl.DataFrame:
    named = [name for name in table.index.names if name is not None and name not in table.columns]
    if named:
        table = table.reset_index(level=named)
    try:
        return pl.from_pandas(table)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "pandas", None, f"not usable here: {error}", "pip install 'pairbounds[pandas]'"
        ) from error
    except (TypeError, ValueError) as error:
        raise RecordError(
            "pandas DataFrame",
            None,
            f"cannot be converted ({_first_line(error)})",
            "give every column one name and one type: labels all integers or all strings",
        ) from error


def _open_file(path: Path) -> _Raw:
    name = path.name
    if path.is_dir():
        raise RecordError("records", str(path), "a folder, not a file", "name the files in it")
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        raise RecordError("records", str(path), f"cannot be read: {error.strerror}", "check the path") from error
    if head == b"":
        raise RecordError("records", name, "an empty file (0 bytes)", "give a Parquet or CSV file with records")
    if head == b"PAR1":
        try:
            frame = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            frame.collect_schema()
            metadata = pl.read_parquet_metadata(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise RecordError(
                "records", name, f"a damaged Parquet file ({_first_line(error)})", "write it again"
            ) from error
        return _Raw(name, frame, {key: value for key, value in metadata.items() if key != "ARROW:schema"})
    if path.suffix.lower() in {".parquet", ".pq"}:
        raise RecordError("records", name, "not a Parquet file, whatever its name says", "write Parquet or rename it")
    return _open_csv(name, path.read_bytes())


def _open_csv(name: str, data: bytes) -> _Raw:
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise RecordError("records", name, f"a damaged gzip file ({error})", "compress it again") from error
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.startswith((b"PAR1", b"PK\x03\x04")):
        raise RecordError("records", name, "an archive around another format", "unpack it first")
    if b"\x00" in data[:4096]:
        raise RecordError("records", name, "neither Parquet nor UTF-8 text", "write Parquet, or CSV in UTF-8")
    if not data.strip():
        raise RecordError("records", name, "an empty file", "give a Parquet or CSV file with records")
    first = data.lstrip(b"\r\n").splitlines()[0]
    _check_utf8(name, first)
    separator, header = _header(first.decode("utf-8"))
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        raise RecordError("column", repeated[0], f"occurs twice in the header of {name}", "rename one of the two")
    try:
        frame = pl.read_csv(io.BytesIO(data), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        _check_utf8(name, data)
        raise RecordError(
            "records",
            name,
            f"not a table of {len(header)} columns separated by {separator!r} ({_first_line(error)})",
            "quote fields that hold the separator; with a decimal comma separate columns by ';'",
        ) from error
    frame = frame.with_columns(pl.when(pl.all() != "").then(pl.all())).filter(~pl.all_horizontal(pl.all().is_null()))
    return _Raw(name, frame.lazy(), {}, text=True)


def _check_utf8(name: str, data: bytes) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordError("records", name, f"not UTF-8 (line {line}: {error.reason})", "save it as UTF-8") from error


def _header(line: str) -> tuple[str, list[str]]:
    """The separator under which the header names the most of our columns, and the header."""
    best = (",", next(csv.reader([line])))
    for separator in (";", "\t"):
        header = next(csv.reader([line], delimiter=separator))
        if len(set(header) & set(REQUIRED)) > len(set(best[1]) & set(REQUIRED)):
            best = (separator, header)
    return best


def _all_integers(frame: pl.LazyFrame, columns: tuple[str, ...]) -> bool:
    present = [column for column in columns if column in frame.collect_schema()]
    checks = [pl.col(column).str.contains(_CANONICAL_INTEGER).all().alias(column) for column in present]
    return bool(checks) and all(frame.select(checks).collect().row(0))


def _canonical(raw: _Raw, strata: str | None, accepted: str, integers: Mapping[str, bool]) -> Source:
    schema = raw.frame.collect_schema()
    wanted = [*REQUIRED] if strata is None else [*REQUIRED, strata]
    if accepted != ACCEPTED:
        wanted.append(accepted)
    missing = [column for column in wanted if column not in schema]
    if missing:
        raise RecordError(
            "columns",
            ", ".join(missing),
            f"missing from {raw.name}",
            f"it has {', '.join(schema) or 'none'}; rename or add them",
        )
    expressions = {
        "model": _string(raw, "model", schema) if "model" in schema else pl.lit("model"),
        "condition": _string(raw, "condition", schema),
        "image_id": _string(raw, "image_id", schema),
        "label": _category(raw, "label", schema, integers["label"]),
        "predicted": _category(raw, "predicted", schema, integers["label"]),
    }
    if "kind" in schema:
        expressions["kind"] = _string(raw, "kind", schema)
    if strata is not None:
        expressions["strata"] = _category(raw, strata, schema, integers["strata"])
    for column in NUMBERS:
        if column in schema:
            expressions[column] = _number(raw, column, schema)
    if accepted in schema:
        expressions["accepted"] = _boolean(raw, accepted, schema)
    for column in LISTS:
        if column in schema and not raw.text:
            expressions[column] = _list(raw, column, schema)
    frame = raw.frame.select(expression.alias(column) for column, expression in expressions.items())
    if raw.text:
        frame = frame.collect().lazy()
    return Source(raw.name, frame, dict(frame.collect_schema()), raw.metadata)


def _wrong_type(raw: _Raw, column: str, dtype: Any, rule: str, way_out: str) -> RecordError:
    return RecordError("column", column, f"has type {dtype} in {raw.name}, but {rule}", way_out)


def _is_name(dtype: pl.DataType) -> bool:
    return dtype == pl.String or isinstance(dtype, (pl.Categorical, pl.Enum))


def _string(raw: _Raw, column: str, schema: pl.Schema) -> pl.Expr:
    dtype = schema[column]
    if dtype == pl.String:
        return pl.col(column)
    if _is_name(dtype) or dtype.is_integer():
        return pl.col(column).cast(pl.String)
    raise _wrong_type(raw, column, dtype, "a name is a string or an integer", "cast it to a string column")


def _category(raw: _Raw, column: str, schema: pl.Schema, integers: bool) -> pl.Expr:
    dtype = schema[column]
    if raw.text:
        return pl.col(column).cast(pl.Int64) if integers else pl.col(column)
    if dtype.is_integer():
        return pl.col(column).cast(pl.Int64)
    if _is_name(dtype):
        return pl.col(column).cast(pl.String)
    raise _wrong_type(
        raw,
        column,
        dtype,
        "a class is an integer index or a name",
        "cast it to a (nullable) integer or a string column",
    )


def _number(raw: _Raw, column: str, schema: pl.Schema) -> pl.Expr:
    dtype = schema[column]
    if raw.text:
        return _parsed_number(raw, column)
    if dtype in (pl.Float32, pl.Float64):
        return pl.col(column)
    if dtype.is_float():
        return pl.col(column).cast(pl.Float32)
    if dtype.is_integer() or dtype.is_decimal():
        return pl.col(column).cast(pl.Float64)
    raise _wrong_type(raw, column, dtype, "a probability is a number", "cast it to a float column")


def _parsed_number(raw: _Raw, column: str) -> pl.Expr:
    """The column as Float64; its values are checked here, once, since the text is in memory."""
    text = pl.col(column).str.strip_chars()
    frame = raw.frame.select("image_id", text.replace("", None).alias("text")).collect()
    comma = frame["text"].str.contains(",", literal=True)
    if comma.any():
        dotted = frame.filter(pl.col("text").str.contains(".", literal=True))
        both = dotted["text"].filter(dotted["text"].str.contains(",", literal=True))
        way_out = "write every number with one decimal mark and no thousands separator"
        if len(both):
            raise RecordError(column, both[0], f"has both a comma and a point ({raw.name})", way_out)
        if len(dotted):
            raise RecordError(
                column,
                frame.filter(comma)["text"][0],
                f"has a comma while {dotted['text'][0]!r} in the same column of {raw.name} has a point",
                way_out,
            )
        text = text.str.replace(",", ".", literal=True)
    number = text.replace("", None).cast(pl.Float64, strict=False)
    failed = raw.frame.filter(number.is_null() & (pl.col(column).str.strip_chars() != "")).collect()
    if len(failed):
        raise RecordError(
            column,
            failed[column][0],
            f"not a number (image_id {failed['image_id'][0]!r} in {raw.name})",
            "write a decimal such as 0.91, or leave the field empty",
        )
    return number


def _boolean(raw: _Raw, column: str, schema: pl.Schema) -> pl.Expr:
    dtype = schema[column]
    if dtype == pl.Boolean:
        return pl.col(column)
    if not raw.text:
        raise _wrong_type(raw, column, dtype, "acceptance is true or false", "cast it to a boolean column")
    text = pl.col(column).str.strip_chars().str.to_lowercase()
    words = {"true": True, "1": True, "false": False, "0": False}
    failed = raw.frame.filter(~text.is_in(list(words))).collect()
    if len(failed):
        raise RecordError(
            column,
            failed[column][0],
            f"neither true nor false (image_id {failed['image_id'][0]!r} in {raw.name})",
            "write true, false, 1 or 0",
        )
    return text.replace_strict(words, default=None, return_dtype=pl.Boolean)


def _list(raw: _Raw, column: str, schema: pl.Schema) -> pl.Expr:
    dtype = schema[column]
    inner = getattr(dtype, "inner", None)
    if inner is None or not inner.is_float():
        raise _wrong_type(
            raw, column, dtype, "it is a list of floats, one a class", "write such a list or drop the column"
        )
    return pl.col(column).cast(pl.List(inner))


def _one_kind(sources: list[Source], column: str, strata: str | None) -> None:
    seen: dict[str, str] = {}
    for source in sources:
        for part in ("label", "predicted") if column == "label" else ("strata",):
            if part in source.columns:
                kind = "integers" if source.columns[part] == pl.Int64 else "names"
                seen.setdefault(kind, f"{(strata if part == 'strata' else part)!r} in {source.name}")
    if len(seen) > 1:
        raise RecordError(
            "labels" if column == "label" else "strata",
            None,
            f"integers in {seen['integers']} but names in {seen['names']}, and 1 is not '1'",
            "write both as integers or both as names",
        )


def _one_language(source: Source) -> None:
    """Labels as names with predictions as indices, or the reverse, would agree in no row."""
    columns = ("label", "predicted")
    if any(source.columns[column] != pl.String for column in columns):
        return
    index = pl.col(*columns).str.contains(_INDEX)
    summary = {"all": index.all(), "any": index.any(), "least": pl.col(*columns).min()}
    frame = source.frame.select(test.name.suffix(f" {name}") for name, test in summary.items())
    found = collected(frame, source.name).row(0, named=True)
    for names, numbers in (columns, columns[::-1]):
        name, number = found[f"{names} least"], found[f"{numbers} least"]
        if None not in (name, number) and found[f"{numbers} all"] and not found[f"{names} any"]:
            raise RecordError(
                "labels",
                None,
                f"names such as {name!r} in {names!r} but indices such as {number!r} in {numbers!r} of {source.name}",
                "write both as names or both as indices",
            )


def collected(frame: pl.LazyFrame, name: str) -> pl.DataFrame:
    """The rows of a frame.

    Raises:
        RecordError: if the file `name` cannot be read.
    """
    try:
        return frame.collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RecordError("records", name, f"cannot be read: {_first_line(error)}", "write the file again") from error


def _decode(metadata: Mapping[Any, Any]) -> dict[str, str]:
    def text(value: Any) -> str:
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    return {text(key): text(value) for key, value in metadata.items() if text(key) != "ARROW:schema"}


def _first_line(error: BaseException) -> str:
    """The first line of an error's message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
