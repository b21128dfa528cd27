"""`pairbounds advise`, as typed."""

from __future__ import annotations

import polars as pl
import pytest
from command import Command, write_small


@pytest.fixture
def pairbounds(capsys):
    return Command(capsys)


@pytest.fixture
def records(tmp_path):
    return write_small(tmp_path / "records.parquet")


def asked(records, *more):
    return ("advise", records, "--perturbed", "fog/1", "--threshold", "0.8", "--quantity", "lost-acceptance", *more)


def test_json_csv_and_text_tell_the_same(pairbounds, records):
    (told,) = pairbounds(*asked(records, "--json")).json
    assert list(told)[:2] == ["quantity", "model"]
    assert told["marginals"]["width"] >= told["enough"]["width"]
    lines = pairbounds(*asked(records, "--format", "csv")).out.splitlines()
    assert len(lines) == 1 + 1 + len(told["alone"]) + len(told["steps"]) + 1
    text = pairbounds(*asked(records)).out
    assert "from the two sides alone" in text
    assert all(row["statistic"] in text for row in told["alone"])
    assert "enough: " in text


def test_the_table_to_print(pairbounds, records, tmp_path):
    for name in ("table.csv", "table.parquet", "table.tex"):
        assert pairbounds(*asked(records, "--table", tmp_path / name, "--statistic", "retained-correct")).code == 0
    rows = pl.read_csv(tmp_path / "table.csv")
    assert rows.columns == ["quantity", "model", "clean", "perturbed", "threshold", "class", "statistic", "count"]
    assert rows["count"].to_list() == pl.read_parquet(tmp_path / "table.parquet")["count"].to_list()
    assert "retained" in (tmp_path / "table.tex").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--width", "-1"), "a width is not negative"),
        (("--width", "narrow"), "not a finite decimal number"),
        (("--table", "table.txt"), "ends in none of"),
        (("--statistic", "accuracy"), "no such count"),
    ],
)
def test_refusals(pairbounds, records, options, words):
    assert words in pairbounds(*asked(records, *options)).refused()


def test_the_table_does_not_replace_the_records(pairbounds, records):
    before = records.read_bytes()
    assert "is the same file as RECORDS" in pairbounds(*asked(records, "--table", records)).refused()
    assert records.read_bytes() == before
