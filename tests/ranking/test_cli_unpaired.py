"""`pairbounds rank-bounds`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from command import Command
from photographs import photographs, write_photographs

ASKED = ("--model", "all", "--copies", "natural", "--targets", "screen,print")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_photographs(tmp_path / "records.parquet")


def test_failures_are_those_of_bounds_and_recall_that_of_rank(records: Path, command: Command) -> None:
    rows = command("rank-bounds", records, *ASKED, "--json").json
    conditions = ("print", "screen/desk", "screen/wall")
    levels = ("marginals", "total-correct-correct", "correct-correct")
    assert [(row["model"], row["condition"], row["knowledge"]) for row in rows] == [
        (model, condition, level) for model in ("a", "b") for condition in conditions for level in levels
    ]
    asked = ("--quantity", "lost", "--denominator", "none", "--knowledge", ",".join(levels), "--json")
    bounded = command("bounds", records, "--model", "all", "--perturbed", ",".join(conditions), *asked).json
    ranked = command("rank", records, *ASKED[:-1], ",".join(conditions), "--budget", "0.2", "--json").json
    recall = {(row["model"], row["target"]): row["recall"] for row in ranked}
    ends = {(row["model"], row["perturbed"], row["knowledge"]): row for row in bounded}
    for row in rows:
        own = ends[row["model"], row["condition"], row["knowledge"]]
        assert [row["failures_lower"], row["failures_upper"], row["failures"]] == [
            own["lower"],
            own["upper"],
            own["paired"],
        ]
        assert row["recall"] == recall[row["model"], row["condition"]]
        assert row["recall_lower"] <= row["recall"] <= row["recall_upper"]


def test_the_table_and_the_formats(records: Path, tmp_path: Path, command: Command) -> None:
    base = ("rank-bounds", records, *ASKED, "--budget", "0.2,0.5", "--score", "mean_true_probability,margin")
    objects = command(*base, "--json").json
    assert len(objects) == 2 * 3 * 2 * 2 * 3
    shown = command(*base).out.splitlines()
    assert [line.split()[0] for line in shown[2:5]] == ["a", "total-correct-correct", "correct-correct"]
    rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
    assert [float(row["recall_upper"]) for row in rows] == [row["recall_upper"] for row in objects]
    assert command(*base, "--format", "parquet", "--out", tmp_path / "u.parquet").code == 0
    assert pl.read_parquet(tmp_path / "u.parquet")["failures_upper"].to_list() == [
        row["failures_upper"] for row in objects
    ]
    assert command(*base, "--format", "latex").out.startswith("\\begin{tabular}")


def test_without_a_failure_recall_is_null_with_the_reason(tmp_path: Path, command: Command) -> None:
    right = pl.when(pl.col("condition") == "print").then("label").otherwise("predicted").alias("predicted")
    table = photographs().drop("probabilities", "true_probability", "confidence").with_columns(right)
    table.write_parquet(tmp_path / "r.parquet")
    asked = ("--model", "a", "--copies", "natural", "--targets", "print", "--score", "variation_ratio")
    rows = command("rank-bounds", tmp_path / "r.parquet", *asked, "--json").json
    for row in rows:
        assert (row["failures"], row["failures_upper"], row["recall"], row["recall_lower"]) == (0, 0, None, None)
        assert (row["reason"], row["may_be_undefined"]) == ("no image of the pool fails", True)
    assert "undefined: no image of the pool fails" in command("rank-bounds", tmp_path / "r.parquet", *asked).out


def test_an_image_that_is_not_ranked_is_refused(tmp_path: Path, command: Command) -> None:
    clean = pl.col("condition") == "clean"
    table = photographs()
    name = table.filter(clean & (pl.col("model") == "a") & (pl.col("label") == pl.col("predicted")))["image_id"][0]
    table.filter(~((pl.col("condition") == "flip") & (pl.col("image_id") == name))).write_parquet(
        tmp_path / "r.parquet"
    )
    told = command("rank-bounds", tmp_path / "r.parquet", *ASKED).refused()
    assert f"image_id {name!r}: is not ranked" in told


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--failure", "all"), "each is taken by itself"),
        (("--budget", "500"), "the pool has"),
        (("--targets", "scren"), "no such condition"),
        (("--score", "nope"), "unknown"),
    ],
)
def test_bad_input_is_one_line(more: tuple[str, ...], told: str, records: Path, command: Command) -> None:
    before = sorted(records.parent.rglob("*"))
    out = ("--format", "csv", "--out", records.parent / "out.csv")
    assert told in command("rank-bounds", records, *ASKED, *more, *out).refused()
    assert sorted(records.parent.rglob("*")) == before


EARLIER = {
    ("resnet20", "screen_simulated"): (202, 290, 564, 0.887),
    ("resnet20", "print_simulated"): (None, 553, None, 0.590),
    ("resnet56", "screen_simulated"): (None, 306, None, 0.951),
    ("resnet56", "print_simulated"): (None, 516, None, 0.628),
}
"""Failures (least, paired, greatest) and greatest recall given those of each class, of an earlier, separate computation
on the shared records; the least recall is 0."""


def test_real_records(shared_records: Path, command: Command) -> None:
    asked = ("--model", "all", "--copies", "corruptions/1", "--targets", "screen_simulated,print_simulated", "--json")
    rows = {
        (row["model"], row["condition"], row["knowledge"]): row
        for row in command("rank-bounds", shared_records, *asked).json
    }
    for key, (least, paired, greatest, recall) in EARLIER.items():
        free, known = rows[*key, "marginals"], rows[*key, "correct-correct"]
        assert (known["failures_lower"], known["failures"], known["failures_upper"]) == (paired, paired, paired)
        assert (known["recall_lower"], known["recall_upper"]) == (0, pytest.approx(recall, abs=1e-3))
        if least is not None:
            assert (free["failures_lower"], free["failures_upper"]) == (least, greatest)
