"""`pairbounds compare-scores`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from command import Command
from photographs import photographs, write_photographs

ASKED = ("--model", "all", "--copies", "corruptions/1,natural", "--targets", "screen,print")
SCORES = ("--score", "mean_true_probability,clean_confidence", "--resamples", "100")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_photographs(tmp_path / "records.parquet", images=150)


def test_means_are_those_of_rank(records: Path, command: Command) -> None:
    """One object for each ranking, target and budget; its recall is the mean of the models' own."""
    single = command("rank", records, *ASKED, *SCORES[:2], "--budget", "0.2,0.5", "--json").json
    rows = command("compare-scores", records, *ASKED, *SCORES, "--budget", "0.2,0.5", "--json").json
    assert len(rows) == 3 * 2 * 2
    for row in rows:
        key = [row[name] for name in ("score", "copies", "target", "budget")]
        own = [one for one in single if [one[name] for name in ("score", "copies", "target", "budget")] == key]
        assert len(own) == row["models"] == 2
        for name, mean in (("recall", "recall"), ("ideal_recall", "ideal_recall"), ("random_recall", "random_recall")):
            assert row[mean] == pytest.approx(sum(one[name] for one in own) / 2, abs=1e-15)
        assert row["recall_interval"]["lower"] <= row["recall"] <= row["recall_interval"]["upper"]
    first = rows[0]
    assert (first["score"], first["copies"]) == ("mean_true_probability", "corruptions/1")
    for row in rows:
        if (row["score"], row["copies"]) == ("mean_true_probability", "corruptions/1"):
            assert (row["reference_score"], row["difference"], row["wins"]) == (None, None, None)
            base = row
        else:
            assert (row["reference_score"], row["reference_copies"]) == ("mean_true_probability", "corruptions/1")
            assert row["difference"] == pytest.approx(row["recall"] - base["recall"], abs=1e-15)
            assert row["wins"] + row["ties"] + row["losses"] == 2


@pytest.mark.parametrize(
    ("more", "partner"),
    [
        (("--reference", "clean_confidence"), ("clean_confidence", "clean")),
        (("--reference", "mean_true_probability@natural"), ("mean_true_probability", "natural")),
    ],
)
def test_the_reference_is_chosen(more: tuple[str, ...], partner: tuple[str, str], records: Path, command: Command):
    rows = command("compare-scores", records, *ASKED, *SCORES, *more, "--json").json
    assert {(row["reference_score"], row["reference_copies"]) for row in rows if row["wins"] is not None} == {partner}


def test_copies_are_compared_with_the_score_held_fixed_and_scores_with_the_copies(
    records: Path, command: Command
) -> None:
    scores = ("--score", "mean_true_probability,worst_copy", "--resamples", "100", "--json")
    held = command("compare-scores", records, *ASKED, *scores, "--hold", "score").json
    assert {(row["score"], row["copies"], row["reference_score"], row["reference_copies"]) for row in held} == {
        ("mean_true_probability", "corruptions/1", None, None),
        ("mean_true_probability", "natural", "mean_true_probability", "corruptions/1"),
        ("worst_copy", "corruptions/1", None, None),
        ("worst_copy", "natural", "worst_copy", "corruptions/1"),
    }
    held = command("compare-scores", records, *ASKED, *scores, "--hold", "copies").json
    assert {(row["score"], row["copies"], row["reference_score"], row["reference_copies"]) for row in held} == {
        ("mean_true_probability", "corruptions/1", None, None),
        ("mean_true_probability", "natural", None, None),
        ("worst_copy", "corruptions/1", "mean_true_probability", "corruptions/1"),
        ("worst_copy", "natural", "mean_true_probability", "natural"),
    }


def test_the_table_shows_targets_side_by_side(records: Path, command: Command) -> None:
    done = command("compare-scores", records, *ASKED, *SCORES)
    title, header, _, first, *_ = done.out.splitlines()
    assert title == "mean failure recall, budget 0.2"
    assert header.split() == ["score", "copies", "screen", "print"]
    rows = command("compare-scores", records, *ASKED, *SCORES, "--json").json
    for target in ("screen", "print"):
        (row,) = (r for r in rows if (r["score"], r["copies"], r["target"]) == (*first.split()[:2], target))
        ends = row["recall_interval"]
        assert f"{row['recall']:.4f} [{ends['lower']:.4f}, {ends['upper']:.4f}]" in first
    one = command("compare-scores", records, *ASKED[:-1], "print", *SCORES)
    assert one.out.startswith("print, budget 0.2, mean failure recall over 2 models (ideal ")


def test_a_long_list_of_conditions_takes_several_lines(records: Path, command: Command) -> None:
    names = "fog/1,fog/3,snow/1,speckle_noise/1,flip,shift"
    done = command("compare-scores", records, "--model", "a", "--copies", names, "--targets", "print", *SCORES)
    first, second = done.out.splitlines()[3:5]
    assert first.startswith("mean_true_probability  fog/1, fog/3, snow/1, speckle_noise/1,  ")
    assert second.strip() == "flip, shift"


def test_sets_of_another_size_are_told(records: Path, command: Command) -> None:
    assert "size" not in command("compare-scores", records, *ASKED, *SCORES).err
    asked = ("--model", "a", "--copies", "corruptions,natural", "--targets", "print")
    told = command("compare-scores", records, *asked, *SCORES).err
    assert "note: the sets of copies differ in size: corruptions 3, natural 2" in told


def test_csv_parquet_and_latex(records: Path, tmp_path: Path, command: Command) -> None:
    base = ("compare-scores", records, *ASKED, *SCORES)
    objects = command(*base, "--json").json
    rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
    assert [float(row["recall_interval_lower"]) for row in rows] == [o["recall_interval"]["lower"] for o in objects]
    assert command(*base, "--format", "parquet", "--out", tmp_path / "c.parquet").code == 0
    assert pl.read_parquet(tmp_path / "c.parquet")["wins"].to_list() == [row["wins"] for row in objects]
    assert command(*base, "--format", "latex").out.startswith("\\begin{tabular}")


def test_shuffled_rows_give_the_same_numbers(records: Path, tmp_path: Path, command: Command) -> None:
    photographs(images=150).sample(fraction=1, shuffle=True, seed=3).write_parquet(tmp_path / "shuffled.parquet")
    both = [
        command("compare-scores", path, *ASKED, *SCORES, "--json").out
        for path in (records, tmp_path / "shuffled.parquet")
    ]
    assert both[0] == both[1]
    assert command("compare-scores", records, *ASKED, *SCORES, "--seed", "1", "--json").out != both[0]


def test_without_a_failure_numbers_are_null_with_the_reason(tmp_path: Path, command: Command) -> None:
    right = pl.when(pl.col("condition") == "print").then("label").otherwise("predicted").alias("predicted")
    photographs().drop("probabilities", "true_probability").with_columns(right).write_parquet(tmp_path / "r.parquet")
    asked = ("--model", "all", "--copies", "natural", "--targets", "print", "--score", "cover", "--resamples", "100")
    (row,) = command("compare-scores", tmp_path / "r.parquet", *asked, "--json").json
    assert (row["recall"], row["models"], row["left_out"]) == (None, 0, ["a", "b"])
    assert row["recall_interval"] == {"lower": None, "upper": None}
    assert row["reason"] == "no model has a failure"
    shown = command("compare-scores", tmp_path / "r.parquet", *asked).out
    assert "no model has a failure" in shown
    assert "without a failure, and left out: a, b" in shown


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--reference", "margin"), "is not among the rankings"),
        (("--reference", "mean_true_probability@corruptions"), "is not among the rankings"),
        (("--level", "95"), "strictly between 0 and 1"),
        (("--level", "x"), "not a finite decimal number"),
        (("--resamples", "10"), "10"),
        (("--budget", "200"), "the pool has"),
        (("--hold", "both"), "both"),
    ],
)
def test_bad_input_is_one_line(more: tuple[str, ...], told: str, records: Path, command: Command) -> None:
    before = sorted(records.parent.rglob("*"))
    out = ("--format", "csv", "--out", records.parent / "out.csv")
    assert told in command("compare-scores", records, *ASKED, *SCORES[:2], *more, *out).refused()
    assert sorted(records.parent.rglob("*")) == before


HEADLINE = {
    ("corruptions/1", "screen_simulated"): (0.5993, -0.0687, -0.0266, (0, 2), (0, 2)),
    ("corruptions/3", "screen_simulated"): (0.4796, 0.0510, 0.0931, (2, 0), (2, 0)),
    ("corruptions/1", "print_simulated"): (0.4951, -0.1264, -0.0984, (0, 2), (0, 2)),
    ("corruptions/3", "print_simulated"): (0.4496, -0.0809, -0.0529, (0, 2), (0, 2)),
}
"""The method's mean recall at 20 %; clean confidence and natural average less the method, with wins and losses: of an
earlier and separate computation on the shared records."""


@pytest.mark.parametrize("copies", ["corruptions/1", "corruptions/3"])
def test_the_headline_on_real_records(copies: str, shared_records: Path, command: Command) -> None:
    asked = ("--model", "all", "--copies", f"{copies},natural", "--targets", "screen_simulated,print_simulated")
    rows = command("compare-scores", shared_records, *asked, *SCORES, "--json").json
    for target in ("screen_simulated", "print_simulated"):
        method, clean, natural, clean_wins, natural_wins = HEADLINE[copies, target]
        of = {(row["score"], row["copies"]): row for row in rows if row["target"] == target}
        assert of["mean_true_probability", copies]["recall"] == pytest.approx(method, abs=5e-5)
        for key, difference, signs in (
            (("clean_confidence", "clean"), clean, clean_wins),
            (("mean_true_probability", "natural"), natural, natural_wins),
        ):
            assert of[key]["difference"] == pytest.approx(difference, abs=6e-5)
            assert (of[key]["wins"], of[key]["losses"]) == signs
