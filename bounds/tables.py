"""Tables of results: for people, and as CSV, Parquet and LaTeX.

CSV and Parquet carry every key of the JSON objects, nested ones joined by `_` (`denominator_name`), in the order of
the JSON. The tables for people and LaTeX carry the columns that one reads. Their interval ends are rounded outward,
the lower one down and the upper one up, so that a printed interval contains the exact one; a point is one number.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from bounds.errors import printable
from bounds.files import replacing
from bounds.interval import INDEPENDENT, Averaged, Interval

__all__ = [
    "INTERVAL_COLUMNS",
    "between",
    "csv_text",
    "end_text",
    "ends_text",
    "flatten",
    "heading",
    "interval_latex",
    "interval_text",
    "latex",
    "nearest",
    "outward",
    "over",
    "paired_text",
    "range_text",
    "readable",
    "scoped_latex",
    "text",
    "write_parquet",
    "write_text",
]

INTERVAL_COLUMNS: Mapping[str, type] = {
    **dict.fromkeys(("quantity", "knowledge", "model", "clean", "perturbed", "threshold", "average", "class"), str),
    "denominator_name": str,
    **dict.fromkeys(("denominator_lower", "denominator_upper"), int),
    "unit": str,
    **dict.fromkeys(("lower", "upper"), float),
    **dict.fromkeys(("lower_exact", "upper_exact"), str),
    **dict.fromkeys(("sharp", "may_be_undefined"), bool),
    "undefined": str,
    "paired": float,
    **dict.fromkeys(("paired_exact", "method", "backend", "proof_lower", "proof_upper"), str),
    "error_bound": float,
    **dict.fromkeys(("images", "classes", "unmatched_clean", "unmatched_perturbed", "unusable"), int),
}
"""Columns of a table of intervals with their types; a class that is an index becomes text."""

DIGITS = 4
"""Decimals of a rate in the tables for people."""

FOOTER = (
    f"Ends that are not counts have {DIGITS} digits, rounded outward, a point to the nearest; "
    "--json gives them exactly."
)

Row = Mapping[str, Any]


def flatten(row: Row) -> dict[str, Any]:
    """One level: nested keys joined by `_`, lists as JSON text.

    >>> flatten({"quantity": "lost", "denominator": {"name": "images", "lower": 3}, "witness": [1, 2]})
    {'quantity': 'lost', 'denominator_name': 'images', 'denominator_lower': 3, 'witness': '[1, 2]'}
    """
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}_{inner}": item for inner, item in flatten(value).items()})
        else:
            flat[key] = json.dumps(value, allow_nan=False) if isinstance(value, list | tuple) else value
    return flat


def _columns(rows: Iterable[Row]) -> list[str]:
    """Every key, in the order of first appearance."""
    return list(dict.fromkeys(key for row in rows for key in row))


def csv_text(rows: Sequence[Row], columns: Mapping[str, type] | None = None) -> str:
    r"""CSV with one header line; booleans as true and false, None as an empty field, numbers as in JSON.

    `columns` come first and are there whatever the rows.

    >>> csv_text([{"class": "NA", "sharp": True, "lower": 0.1, "upper": None}])
    'class,sharp,lower,upper\nNA,true,0.1,\n'
    """
    flat = [flatten(row) for row in rows]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _columns([columns or {}, *flat]), lineterminator="\n")
    writer.writeheader()
    for row in flat:
        writer.writerow({k: str(v).lower() if isinstance(v, bool) else v for k, v in row.items()})
    return stream.getvalue()


def write_parquet(rows: Sequence[Row], path: str | Path, columns: Mapping[str, type] | None = None) -> None:
    """The same columns as `csv_text` as a zstd-compressed Parquet file.

    Those of `columns` have the type told there; another one that is without values has type String.
    """
    import polars as pl

    types = columns or {}
    flat = [flatten(row) for row in rows]
    table = pl.DataFrame(flat, dict.fromkeys(_columns([types, *flat])), infer_schema_length=None)
    table = table.cast({name: pl.DataType.from_python(kind) for name, kind in types.items()})
    table = table.with_columns(pl.col(pl.Null).cast(pl.String))
    with replacing(path) as part:
        table.write_parquet(part, compression="zstd")


def text(rows: Sequence[Row], align: Sequence[str] | None = None) -> str:
    """A plain table; None is an empty cell, a list several lines. `align` holds "left" or "right" a column."""
    return _tabulate(rows, "simple", align)


def latex(rows: Sequence[Row], align: Sequence[str] | None = None) -> str:
    """A `tabular` with booktabs rules, every special character escaped."""
    return _tabulate(rows, "latex_booktabs", align)


def _tabulate(rows: Sequence[Row], style: str, align: Sequence[str] | None) -> str:
    from tabulate import tabulate

    columns = _columns(rows)
    cells = [["" if row.get(column) is None else _cell(row[column]) for column in columns] for row in rows]
    # Numbers stay as they were formatted: tabulate would read "007" and "1e5" as numbers.
    return str(tabulate(cells, columns, tablefmt=style, disable_numparse=True, colalign=align if cells else None))


def _cell(value: Any) -> str:
    """As it may be shown, so that no name breaks a row."""
    return "\n".join(printable(str(line)) for line in (value if isinstance(value, list) else [value]))


def outward(value: Fraction | float, *, up: bool, digits: int = DIGITS) -> str:
    """A decimal on the far side of `value`: not above it, or, with `up`, not below.

    >>> outward(Fraction(1, 3), up=False), outward(Fraction(1, 3), up=True), outward(Fraction(-1, 3), up=True)
    ('0.3333', '0.3334', '-0.3333')
    """
    scaled = Fraction(value) * 10**digits
    return _decimal(
        -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator, digits
    )


def ends_text(lower: Fraction, upper: Fraction, digits: int = DIGITS) -> tuple[str, str]:
    """Both ends rounded outward; equal ones are a point, to the nearest.

    >>> ends_text(Fraction(1, 3), Fraction(2, 3)), ends_text(Fraction(1, 3), Fraction(1, 3))
    (('0.3333', '0.6667'), ('0.3333', '0.3333'))
    """
    if lower == upper:
        return (nearest(lower, digits),) * 2
    return outward(lower, up=False, digits=digits), outward(upper, up=True, digits=digits)


def between(ends: tuple[str, str]) -> str:
    """Both ends for people, one where they read alike."""
    return ends[0] if ends[0] == ends[1] else f"[{ends[0]}, {ends[1]}]"


def nearest(value: Fraction, digits: int = DIGITS) -> str:
    """The nearest decimal."""
    return _decimal(round(value * 10**digits), digits)


def _decimal(units: int, digits: int) -> str:
    sign, units = "-" if units < 0 else "", abs(units)
    whole, rest = divmod(units, 10**digits)
    return f"{sign}{whole}.{rest:0{digits}d}" if digits else f"{sign}{whole}"


def end_text(interval: Interval, *, up: bool) -> str:
    """One end for people: an integer for a count, else outward or, of a point, to the nearest; a float end is first
    moved by its error bound.
    """
    end = interval.high if up else interval.low
    if end.value is not None:
        whole = interval.unit == "count" and end.value.denominator == 1
        if not whole and end.value == (interval.low if up else interval.high).value:
            return nearest(end.value)
        return str(end.value.numerator) if whole else outward(end.value, up=up)
    if end.number is None:
        return "undefined"
    error = Fraction(interval.error_bound)
    return outward(Fraction(end.number) + (error if up else -error), up=up)


def range_text(interval: Interval) -> str:
    """Both ends for people, one where they read alike."""
    return between((end_text(interval, up=False), end_text(interval, up=True)))


def paired_text(interval: Interval) -> str:
    """The paired value for people, to the nearest; empty where it is unknown."""
    if interval.paired is None:
        return ""
    value = Fraction(interval.paired)
    whole = interval.unit == "count" and value.denominator == 1
    return str(value.numerator) if whole else nearest(value)


def _ends(interval: Interval) -> str:
    if interval.undefined is not None:
        return "undefined"
    return ("sharp" if interval.sharp else "outer") + ("*" if interval.may_be_undefined else "")


def over(interval: Interval) -> str:
    """What a quantity is taken over, for people."""
    return "count" if interval.denominator.name == "none" and interval.unit == "count" else interval.denominator.name


def readable(interval: Interval) -> dict[str, str | None]:
    """The columns that one reads, one interval."""
    row: dict[str, str | None] = {} if interval.class_name is None else {"class": printable(str(interval.class_name))}
    row |= {
        "quantity": interval.quantity,
        "over": over(interval),
        "knowledge": interval.knowledge,
        "lower": end_text(interval, up=False),
        "upper": end_text(interval, up=True),
        "paired": paired_text(interval),
        "ends": _ends(interval),
    }
    return row


def _align(row: Row) -> list[str]:
    return ["right" if key in ("lower", "upper", "paired", "threshold") else "left" for key in row]


def _scope(interval: Interval) -> tuple[object, ...]:
    return (
        *(interval.model, interval.clean, interval.perturbed),
        *(interval.threshold, interval.coverage, interval.average),
    )


def heading(interval: Interval) -> str:
    """The line above a table of intervals that are alike in records, acceptance and average."""
    parts = [printable(f"{interval.model}: {interval.clean} → {interval.perturbed}")]
    if interval.threshold is not None:
        parts.append(f"threshold {interval.threshold}")
    if interval.coverage is not None:
        asked = interval.coverage.asked
        parts.append(f"clean coverage {nearest(interval.coverage.achieved)}" + (f" (asked {asked})" if asked else ""))
    if interval.averaged is not None:
        many = len(interval.averaged.conditions)
        parts.append(f"mean over {many} {'condition' if many == 1 else 'conditions'}")
    if interval.class_name is None:
        images = f"{interval.images} {'image' if interval.images == 1 else 'images'}"
        parts.append(f"{images} in {interval.classes} {'class' if interval.classes == 1 else 'classes'}")
        parts.append(str(interval.average))
    else:
        parts.append("each class")
    return ", ".join(parts)


def interval_text(intervals: Sequence[Interval], notes: Mapping[tuple[str, str], Sequence[str]] | None = None) -> str:
    """Intervals as tables for people, one for each (model, condition, threshold), with footnotes.

    Args:
        intervals: those of one table in sequence.
        notes: what the loader noticed, by (model, perturbed condition).
    """
    parts = []
    if not intervals:
        told = [f"note: {printable(note)}" for found in (notes or {}).values() for note in found]
        return "\n".join(["0 intervals: no class has a usable image on both sides", *told])
    for _, group in groupby(intervals, _scope):
        members = list(group)
        first = members[0]
        rows = [readable(interval) for interval in members]
        align = _align(rows[0])
        leading = [key for key in ("class", "quantity", "over") if key in rows[0]]
        for before, row in reversed(list(pairwise(rows))):
            for key in leading:
                if row[key] != before[key]:
                    break
                row[key] = None
        parts.append("\n".join([heading(first), text(rows, align), *_footnotes(members), ""]))
        parts.extend(f"note: {printable(note)}\n" for note in (notes or {}).get((first.model, first.perturbed), ()))
    return "\n".join([*parts, FOOTER])


def _footnotes(members: Sequence[Interval]) -> list[str]:
    lines = []
    if any(interval.may_be_undefined and interval.undefined is None for interval in members):
        lines.append("* some correspondences leave it without a denominator; the interval is of the others")
    if any(not interval.sharp and interval.undefined is None for interval in members):
        lines.append("outer: every attained value lies inside, but the ends may not be attained")
    lines.extend(dict.fromkeys(f"undefined: {i.undefined}" for i in members if i.undefined is not None))
    lines.extend(
        dict.fromkeys(line for i in members if i.averaged is not None for line in _conditions(i.quantity, i.averaged))
    )
    first = members[0]
    if any(first.unmatched):
        clean, perturbed = first.unmatched
        lines.append(f"unmatched images left out: {clean} only clean, {perturbed} only perturbed")
    if first.unusable:
        missing = "a null or NaN prediction, confidence or probability"
        lines.append(f"images left out, without a usable record on a side ({missing}): {first.unusable}")
    return lines


def _conditions(quantity: str, averaged: Averaged) -> list[str]:
    lines = [f"assumed: correspondences are {INDEPENDENT}"]
    if averaged.left_out:
        lines.append(f"{quantity} is undefined under, and not averaged over: {', '.join(averaged.left_out)}")
    return lines


def interval_latex(intervals: Sequence[Interval]) -> str:
    """Intervals as one LaTeX table, with the model, condition and threshold of each row."""
    rows = [readable(interval) for interval in intervals]
    if any(interval.averaged is not None for interval in intervals):
        for row, interval in zip(rows, intervals, strict=True):
            row["assumption"] = None if interval.averaged is None else INDEPENDENT
    return scoped_latex(intervals, rows)


def scoped_latex(intervals: Sequence[Interval], rows: Sequence[Row]) -> str:
    """Rows as one LaTeX table, each preceded by the model, condition and threshold of its interval."""
    scoped = [
        {"model": printable(i.model), "perturbed": printable(i.perturbed), "threshold": i.threshold} | dict(row)
        for i, row in zip(intervals, rows, strict=True)
    ]
    if all(row["threshold"] is None for row in scoped):
        scoped = [{key: value for key, value in row.items() if key != "threshold"} for row in scoped]
    return latex(scoped, _align(scoped[0]) if scoped else None)


def write_text(content: str, path: str | Path) -> None:
    """Write UTF-8 text to `path`, whole or not at all."""
    with replacing(path) as part:
        part.write_text(content, encoding="utf-8", newline="\n")
