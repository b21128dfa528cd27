"""`pairbounds choose-copies`."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command
from photographs import write_photographs

from ranking.measures import parse_budget
from ranking.pool import RankingRecords
from ranking.selection import Candidate, choose_copies

ASKED = ("--model", "all", "--copies", "corruptions", "--targets", "screen,print", "--budget", "0.3", "--folds", "2")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_photographs(tmp_path / "records.parquet", images=60)


def test_each_number_is_that_of_the_function(records: Path, command: Command) -> None:
    rows = command("choose-copies", records, *ASKED, "--draws", "2", "--seed", "3", "--json").json
    source = RankingRecords(records)
    expected = []
    for target in ("screen", "print"):
        members = []
        for model in ("a", "b"):
            pool = source.pool(model, ["corruptions"], [target])
            copies, captures = pool.copies["corruptions"], pool.captures[target]
            ids, every = pool.image_id.to_list(), range(pool.images)
            probability = copies.true_probability.astype(float)
            members.append(Candidate(model, ids, copies.names, probability, captures.failures("any", list(every))))
        for one in choose_copies(members, parse_budget("0.3"), folds=2, draws=2, seed=3):
            expected.append({"target": target, "budget": "0.3", "across": "images", "folds": 2} | one.to_dict())
    assert rows == expected
    assert [row["copies"] for row in rows] == [1, 2, 3] * 2
    assert {name for row in rows for names in row["selected"] for name in names} == {"fog/1", "fog/3", "snow/1"}


def test_across_models(records: Path, command: Command) -> None:
    rows = command("choose-copies", records, *ASKED, "--across", "models", "--most", "2", "--json").json
    assert [(row["copies"], row["across"]) for row in rows] == [(1, "models"), (2, "models")] * 2
    told = command("choose-copies", records, *ASKED[:-1], "3", "--across", "models").refused()
    assert "--folds 3: there are 2 models" in told


def test_the_table_says_where_recall_was_measured(records: Path, command: Command) -> None:
    shown = command("choose-copies", records, *ASKED).out
    assert shown.startswith("screen, budget 0.3: failure recall, selected and measured on different images\n")
    assert "held out" in shown
    assert "on the selecting part recall is optimistic" in shown
    assert command("choose-copies", records, *ASKED, "--format", "latex").out.startswith("\\begin{tabular}")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--score", "worst_copy"), "copies are chosen for mean_true_probability"),
        (("--copies", "natural"), "one set is chosen from"),
        (("--budget", "5"), "is a count"),
        (("--folds", "1"), "1"),
        (("--folds", "1000"), "images; give fewer folds"),
    ],
)
def test_bad_input_is_one_line(more: tuple[str, ...], told: str, records: Path, command: Command) -> None:
    before = sorted(records.parent.rglob("*"))
    out = ("--format", "csv", "--out", records.parent / "out.csv")
    assert told in command("choose-copies", records, *ASKED, *more, *out).refused()
    assert sorted(records.parent.rglob("*")) == before


def test_one_set_has_to_be_named(records: Path, command: Command) -> None:
    assert "one set is chosen from" in command("choose-copies", records, "--model", "a", "--targets", "print").refused()
