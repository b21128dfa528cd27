"""The example inside the package, and what `pairbounds demo` shows of it."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from importlib.resources import files
from itertools import groupby, pairwise
from pathlib import Path

import polars as pl
import pytest
from command import Command

from bounds import demo
from bounds.auditing import audit
from bounds.interval import Interval
from bounds.knowledge import Level
from bounds.records import load_records
from bounds.tables import outward

COLUMNS = ["model", "condition", "kind", "image_id", "label", "predicted", "confidence", "true_probability"]


@pytest.fixture(scope="module")
def records() -> pl.DataFrame:
    with demo.example(demo.RECORDS) as path:
        return pl.read_parquet(path)


@pytest.fixture(scope="module")
def intervals() -> list[Interval]:
    return demo.intervals()


def test_the_example_is_what_its_data_card_says(records: pl.DataFrame) -> None:
    card = files("bounds").joinpath("data", "README.md").read_text(encoding="utf-8")
    assert records.columns == COLUMNS
    assert records["model"].unique().to_list() == ["resnet20"]
    kinds = records.group_by("condition", "kind").agg(pl.len(), pl.col("image_id").n_unique().alias("images"))
    for condition, kind, rows, images in kinds.rows():
        assert (rows, images) == (2000, 2000)
        assert f"| `{condition}` | {kind} |" in card
    assert len(kinds) == card.count("\n| `") == 4
    clean = records.filter(pl.col("condition") == "clean")
    assert clean.group_by("label").len()["len"].to_list() == [200] * 10
    assert f"{(clean['label'] == clean['predicted']).mean():.4f}" in card
    assert len(files("bounds").joinpath("data", demo.RECORDS).read_bytes()) < 300_000


def test_the_example_is_cut_from_the_shared_records_unchanged(records: pl.DataFrame, shared_records: Path) -> None:
    conditions = records["condition"].unique()
    cut = (
        pl.scan_parquet(shared_records)
        .filter(pl.col("model") == "resnet20", pl.col("condition").is_in(conditions.implode()))
        .select(COLUMNS)
        .collect()
    )
    assert cut.equals(records)


def test_every_quantity_is_bounded_at_every_level(intervals: list[Interval]) -> None:
    told = {(i.perturbed, i.quantity, i.knowledge) for i in intervals}
    names = (*demo.RATES, *demo.COUNTS)
    assert told == {
        (c, q, str(k)) for c in ("fog/3", "gaussian_noise/1", "screen_simulated") for q in names for k in Level
    }
    assert len(intervals) == len(told)
    assert {i.threshold for i in intervals} == {"0.8"}


def test_more_knowledge_never_widens_and_the_truth_lies_inside(intervals: list[Interval]) -> None:
    """C12 on the example."""
    for _, group in groupby(intervals, lambda i: (i.perturbed, i.quantity)):
        ends = [(i.low.value, i.high.value) for i in group]
        for (low, high), (inner_low, inner_high) in pairwise(ends):
            assert isinstance(low, Fraction)
            assert low <= inner_low <= inner_high <= high
        assert ends[-1][0] == ends[-1][1]


def test_the_counts_of_fog_are_those_of_the_records(records: pl.DataFrame, intervals: list[Interval]) -> None:
    sides = [records.filter(pl.col("condition") == c).sort("image_id") for c in ("clean", "fog/3")]
    correct = [side["predicted"] == side["label"] for side in sides]
    states = {
        "retained-correct": (correct[0] & correct[1]).sum(),
        "lost": (correct[0] & ~correct[1]).sum(),
        "recovered": (~correct[0] & correct[1]).sum(),
        "flips": (correct[0] != correct[1]).sum(),
        "persistent-wrong": (~correct[0] & ~correct[1] & (sides[0]["predicted"] == sides[1]["predicted"])).sum(),
    }
    for interval in intervals:
        if interval.perturbed == "fog/3" and interval.knowledge == Level.PAIRED and interval.quantity in states:
            assert interval.low.value == states.pop(interval.quantity)
    assert states == {}


def test_the_text_shows_every_interval(intervals: list[Interval]) -> None:
    text = demo.intervals_text(intervals)
    assert "Data: resnet20 on 2000 CIFAR-10 test images in 10 classes" in text
    for interval in intervals:
        (row,) = [
            line
            for part in text.split("\n\n")
            if part.startswith(interval.perturbed)
            for line in part.splitlines()
            if line.split()[0] == interval.quantity
        ]
        low, high = interval.low.value, interval.high.value
        assert low is not None
        assert high is not None
        if interval.quantity in demo.COUNTS:
            shown = [str(low), str(high)]
        elif interval.knowledge == Level.PAIRED:
            shown = [f"{float(low):.4f}"]
        else:
            shown = [f"[{outward(low, up=False)}, {outward(high, up=True)}]"]
        for part in shown:
            assert part in row
    assert max(map(len, text.splitlines())) <= 120


def test_the_claims_give_every_verdict_once() -> None:
    with demo.example(demo.CLAIMS) as claims, demo.example(demo.RECORDS) as records:
        verdicts = audit(claims, load_records(records))
    assert {verdict.claim_id: str(verdict.verdict) for verdict in verdicts} == {
        "lost-given-classes": "sharp",
        "lost-given-marginals": "loose",
        "gained-given-classes": "invalid",
        "lost-given-600-retained": "infeasible",
        "resolved-at-threshold-1": "undefined",
        "lost-is-0.2461": "possible",
        "lost-is-0.35": "impossible",
        "decrease-to-16-digits": "undecided",
    }


def test_the_command_shows_both_and_exits_with_0(command: Command, intervals: list[Interval]) -> None:
    result = command("demo")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(demo.intervals_text(intervals))
    for claim in ("lost-given-classes", "decrease-to-16-digits"):
        assert f"\n{claim} " in result.out


def test_the_command_gives_strict_json(command: Command, intervals: list[Interval]) -> None:
    result = command("demo", "--json")
    assert (result.code, result.err) == (0, "")
    assert list(result.json) == ["intervals", "persistence", "verdicts"]
    assert result.json["intervals"] == [interval.to_dict() for interval in intervals]
    assert len(result.json["verdicts"]) == 8
    gains = result.json["persistence"]
    assert gains == [gain.to_dict() for gain in demo.gains()]
    # Every transition of the retained condition narrows but one; kept, changed errors lose half of their width.
    assert [gain["quantity"] for gain in gains if gain["removed_exact"] == "0/1"] == [
        "rejected-wrong-to-accepted-error"
    ]


def test_the_demo_needs_no_torch_and_no_extra(tmp_path: Path) -> None:
    out = tmp_path / "loaded"
    script = f"""
import atexit, sys
atexit.register(lambda: open({str(out)!r}, "w").write(" ".join(sys.modules)))
from bounds.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script, "demo"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    loaded = {name.partition(".")[0] for name in out.read_text().split()}
    assert "polars" in loaded
    assert loaded.isdisjoint({"cvxpy", "torch", "matplotlib", "pandas", "scipy"})
