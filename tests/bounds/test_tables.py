"""Tables keep every exact string, round outward for people, and escape what LaTeX would read."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_intervals import SAMPLE, interval

from bounds import tables
from bounds.interval import Denominator, End

LONG = Fraction(10**40 + 1, 3**80)


def test_csv_has_every_key_of_the_json_in_its_order_and_keeps_exact_strings() -> None:
    objects = [interval(LONG, LONG + 1).to_dict(), interval(None, None, undefined="0 images").to_dict()]
    rows = list(csv.DictReader(io.StringIO(tables.csv_text(objects))))
    assert list(rows[0]) == list(tables.flatten(objects[0]))
    assert rows[0]["denominator_name"] == "retained-correct"
    assert rows[0]["lower_exact"] == f"{LONG.numerator}/{LONG.denominator}"
    assert float(rows[0]["lower"]) == float(LONG)
    assert rows[0]["sharp"] == "true"
    assert rows[1]["lower"] == ""
    assert rows[1]["undefined"] == "0 images"


def test_csv_quotes_what_it_must() -> None:
    text = tables.csv_text([{"class": 'a,"b"\nc', "n": 1}])
    assert next(csv.DictReader(io.StringIO(text))) == {"class": 'a,"b"\nc', "n": "1"}


def test_parquet_has_the_columns_of_the_csv_with_their_types(tmp_path: Path) -> None:
    objects = [interval(LONG, LONG + 1).to_dict(), interval(class_name="007", threshold=None).to_dict()]
    tables.write_parquet(objects, tmp_path / "table.parquet")
    table = pl.read_parquet(tmp_path / "table.parquet")
    assert table.columns == list(tables.flatten(objects[0]))
    assert table.schema["lower"] == pl.Float64
    assert table.schema["sharp"] == pl.Boolean
    assert table.schema["images"] == pl.Int64
    assert table.schema["backend"] == pl.String
    assert table["lower_exact"][0] == f"{LONG.numerator}/{LONG.denominator}"
    assert table["class"].to_list() == [None, "007"]
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


def test_rows_that_lack_a_key_get_an_empty_field() -> None:
    assert tables.csv_text([{"a": 1}, {"a": 2, "b": [3]}]) == "a,b\n1,\n2,[3]\n"


@given(st.fractions(), st.integers(0, 8))
def test_outward_is_the_nearest_decimal_beyond(value: Fraction, digits: int) -> None:
    low = Fraction(tables.outward(value, up=False, digits=digits))
    high = Fraction(tables.outward(value, up=True, digits=digits))
    assert low <= value <= high
    unit = Fraction(1, 10**digits)
    assert high - low == (0 if value % unit == 0 else unit)


@pytest.mark.parametrize(
    ("lower", "upper", "shown"),
    [
        (Fraction(1, 3), Fraction(2, 3), ("0.3333", "0.6667")),
        (Fraction(-1, 3), Fraction(-1, 300000), ("-0.3334", "0.0000")),
        (Fraction(0), Fraction(1), ("0.0000", "1.0000")),
        (None, None, ("undefined", "undefined")),
    ],
)
def test_ends_for_people(lower: Fraction | None, upper: Fraction | None, shown: tuple[str, str]) -> None:
    made = interval(lower, upper)
    assert (tables.end_text(made, up=False), tables.end_text(made, up=True)) == shown


def test_counts_are_integers_and_probability_sums_are_not() -> None:
    none = Denominator("none", None, None)
    count = interval(Fraction(3), Fraction(12), denominator=none, unit="count", paired=Fraction(7))
    total = interval(Fraction(3), Fraction(12), denominator=none, unit="probability sum", paired=Fraction(7))
    assert (tables.end_text(count, up=False), tables.paired_text(count)) == ("3", "7")
    assert (tables.end_text(total, up=False), tables.paired_text(total)) == ("3.0000", "7.0000")


def test_a_float_end_is_widened_by_its_error_bound() -> None:
    made = replace(SAMPLE, low=End(None, 0.5), high=End(None, 0.5), error_bound=math.ulp(0.5), paired=0.5)
    assert (tables.end_text(made, up=False), tables.end_text(made, up=True)) == ("0.4999", "0.5001")
    assert tables.paired_text(made) == "0.5000"


def test_the_table_for_people_names_what_it_shows() -> None:
    made = [
        interval(knowledge="marginals", may_be_undefined=True),
        interval(),
        interval(sharp=False, denominator=Denominator("images", 2000, 2000)),
        interval(None, None, perturbed="snow/1", undefined="0 retained-correct images", unmatched=(2, 1), unusable=4),
    ]
    notes = {("resnet20", "snow/1"): ["a row of class NA is in front"]}
    lines = tables.interval_text(made, notes).splitlines()
    assert lines[0] == "resnet20: clean → fog/3, threshold 0.8, 2000 images in 10 classes, micro"
    assert lines[3].split() == [
        "lost-acceptance",
        "retained-correct",
        "marginals",
        "0.3333",
        "0.6667",
        "0.5000",
        "sharp*",
    ]
    assert lines[4].split() == ["correct-correct", "0.3333", "0.6667", "0.5000", "sharp"]
    assert lines[5].split() == ["images", "correct-correct", "0.3333", "0.6667", "0.5000", "outer"]
    assert "* some correspondences leave it without a denominator; the interval is of the others" in lines
    assert "outer: every attained value lies inside, but the ends may not be attained" in lines
    second = lines[lines.index("resnet20: clean → snow/1, threshold 0.8, 2000 images in 10 classes, micro") :]
    assert "undefined: 0 retained-correct images" in second
    assert "unmatched images left out: 2 only clean, 1 only perturbed" in second
    assert (
        "images left out, without a usable record on a side (a null or NaN prediction, confidence or probability): 4"
        in second
    )
    assert "note: a row of class NA is in front" in second
    assert lines[-1] == tables.FOOTER
    assert "rounded outward" in tables.FOOTER


def test_a_point_is_one_number_to_the_nearest() -> None:
    third = interval(Fraction(2, 3), Fraction(2, 3))
    assert tables.range_text(third) == "0.6667"
    row = tables.readable(third)
    assert (row["lower"], row["upper"]) == ("0.6667", "0.6667")
    assert tables.range_text(interval(Fraction(1, 3), Fraction(2, 3))) == "[0.3333, 0.6667]"
    assert tables.between(tables.ends_text(Fraction(-2, 3), Fraction(-2, 3), 2)) == "-0.67"


def test_only_a_list_is_several_lines() -> None:
    shown = tables.text([{"name": "a\nb", "reason": ["one", "two\x1b"]}])
    assert [line.split() for line in shown.splitlines()[2:]] == [[r"a\nb", "one"], [r"two\x1b"]]


def test_a_table_of_classes_names_each_class_once() -> None:
    made = [interval(class_name=c, knowledge=k, average=None) for c in ("NA", 7) for k in ("marginals", "five-state")]
    lines = tables.interval_text(made).splitlines()
    assert lines[0] == "resnet20: clean → fog/3, threshold 0.8, each class"
    assert [line.split()[0] for line in lines[3:7]] == ["NA", "five-state", "7", "five-state"]


def test_latex_escapes_and_keeps_numbers_as_they_are() -> None:
    made = interval(model="net_1 & 50%", perturbed="a#b{c}", class_name="1e5", average=None)
    text = tables.interval_latex([made])
    assert r"net\_1 \& 50\%" in text
    assert r"a\#b\{c\}" in text
    assert " 1e5 " in text
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule") == 1
    header, row = (line for line in text.splitlines() if "&" in line)
    assert header.count("&") == row.replace(r"\&", "").count("&")


def test_no_interval_is_told() -> None:
    told = tables.interval_text([], {("net", "fog"): ["1 clean image is left out"]})
    assert told == "0 intervals: no class has a usable image on both sides\nnote: 1 clean image is left out"
    assert tables.interval_latex([]) == ""


def test_latex_leaves_the_threshold_out_where_there_is_none() -> None:
    assert "threshold" not in tables.interval_latex([interval(threshold=None)])
    assert "threshold" in tables.interval_latex([interval(threshold=None), interval()])


def test_control_characters_in_names_are_shown_escaped() -> None:
    made = interval(model="net\x1b[31m", perturbed="fog\t\n\u202e", class_name="a\r\nb\x07", average=None)
    for shown in (
        tables.interval_text([made], {(made.model, made.perturbed): ["odd \x1b"]}),
        tables.interval_latex([made]),
    ):
        assert all(character.isprintable() or character == "\n" for character in shown)
        plain = shown.replace(r"\textbackslash{}", "\\")
        assert r"a\r\nb\x07" in plain
        assert r"fog\t\n\u202e" in plain
    assert r"net\x1b[31m: clean" in tables.interval_text([made])


def test_columns_and_types_do_not_depend_on_the_rows(tmp_path: Path) -> None:
    """An undefined or unpaired interval, or a class that is an index, leaves the columns and types as they are."""
    some = interval(class_name="007").to_dict()
    bare = interval(None, None, class_name=7, threshold=None, average=None, undefined="0 images", paired=None)
    bare = replace(bare, denominator=Denominator("none", None, None)).to_dict()
    schemas = []
    for number, objects in enumerate(([some], [bare], [bare, some], [])):
        path = tmp_path / f"{number}.parquet"
        tables.write_parquet(objects, path, tables.INTERVAL_COLUMNS)
        schemas.append(pl.read_parquet_schema(path))
        header = tables.csv_text(objects, tables.INTERVAL_COLUMNS).splitlines()[0]
        assert header.split(",") == list(schemas[-1]) == list(tables.INTERVAL_COLUMNS)
    assert schemas == [schemas[0]] * 4


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_lists_in_a_table_are_strict_json(value: Any) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        tables.flatten({"witness": [value]})
