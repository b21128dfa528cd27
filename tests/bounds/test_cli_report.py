"""`pairbounds audit-report`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from command import Command

from proofs.report_checker import check

REPORT = """
images = 100
[shared]
clean-accuracy = "92 %"
[[row]]
name = "fog"
perturbed-accuracy = "0.60"
claim."retained-correct" = "0.50 to 0.60"
[[row]]
name = "bad"
perturbed-accuracy = "0.60"
flips = 41
[assume.monotone]
recovered = 0
"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    (tmp_path / "r.toml").write_text(REPORT)
    return tmp_path / "r.toml"


def test_the_table_and_the_conflict_for_people(report: Path, command: Command) -> None:
    done = command("audit-report", report, "--ask", "lost/none,flips/none")
    assert done.code == 1
    lines = [line.split() for line in done.out.splitlines()]
    assert ["fog", "possible", "lost/none", "[32,", "40]", "32"] in lines
    assert ["bad", "impossible"] in lines
    conflict = done.out.partition("bad: these cannot hold together (no smaller set):\n")[2].splitlines()[:3]
    assert conflict == [
        "  shared: clean-accuracy = 92 %",
        "  row 'bad': perturbed-accuracy = 0.60",
        "  row 'bad': flips = 41",
    ]
    assert "retained-correct = 0.50 to 0.60: loose" in done.out


def test_json_holds_ranges_tables_and_verdicts(report: Path, command: Command) -> None:
    fog, bad = command("audit-report", report, "--ask", "lost", "--json").json
    plain, assumed = fog["ranges"]
    assert (plain["lower_exact"], plain["upper_exact"], plain["assuming"]) == ("8/25", "2/5", [])
    assert (assumed["lower_exact"], assumed["upper_exact"], assumed["assuming"]) == ("8/25", "8/25", ["monotone"])
    assert sum(plain["lower_table"].values()) == 100
    assert plain["lower_table"]["CW00"] == 32
    assert fog["claims"][0]["verdict"] == "loose"
    assert fog["claims"][0]["excess"] == {"lower": "3/200", "upper": "0/1"}
    assert (bad["verdict"], bad["conflict_smallest"], bad["ranges"]) == ("impossible", True, [])


def test_csv_parquet_and_latex(report: Path, tmp_path: Path, command: Command) -> None:
    base = ("audit-report", report, "--ask", "lost/none")
    rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
    assert [(row["row"], row["kind"], row["lower_exact"]) for row in rows] == [
        ("fog", "range", "32/1"),
        ("fog", "range", "32/1"),
        ("fog", "claim", "13/25"),
        ("bad", "conflict", ""),
    ]
    assert command(*base, "--format", "parquet", "--out", tmp_path / "r.parquet").code == 1
    assert pl.read_parquet(tmp_path / "r.parquet")["row"].to_list() == [row["row"] for row in rows]
    assert command(*base, "--format", "latex").out.startswith("\\begin{tabular}")


def test_a_certificate_of_every_answer(report: Path, tmp_path: Path, command: Command) -> None:
    assert command("audit-report", report, "--certificate", tmp_path / "c.json").code == 1
    result = check((tmp_path / "c.json").read_bytes())
    assert result.exit_code == 0
    said = [item.what for item in result.items]
    assert any("cannot hold together, but without any one of them can" in what for what in said)
    assert any("printed as 0.50 0.60 fraction: loose" in what for what in said)
    assert command("check", tmp_path / "c.json").code == 0
    spoiled = json.loads((tmp_path / "c.json").read_text())
    spoiled["reports"][1]["statements"][2]["lower"] = "40"
    assert check(json.dumps(spoiled).encode()).exit_code == 1


def test_acceptance_may_be_asked_for_where_nothing_is_said_of_it(report: Path, command: Command) -> None:
    fog, _ = command("audit-report", report, "--ask", "lost-acceptance/none", "--json").json
    assert (fog["ranges"][0]["lower_exact"], fog["ranges"][0]["upper_exact"]) == ("0/1", "60/1")


def test_further_counts_are_looked_at(report: Path, command: Command) -> None:
    """Of 92 and 60 correct, any of the four counts gives the lost ones, but for the persistent ones."""
    done = command("audit-report", report, "--advise", "lost/none", "--json")
    fog, bad = done.json
    assert bad["advice"] == []
    (told,) = fog["advice"]
    assert (told["start"]["lower_exact"], told["start"]["upper_exact"]) == ("32/1", "40/1")
    by_name = {one["count"]: one for one in told["prospects"]}
    assert set(by_name) == {f"{name} in all" for name in ("retained-correct", "recovered", "flips", "persistent-wrong")}
    assert [one["widest"]["width"] for one in told["prospects"]] == [0, 0, 0, 8]
    persistent = by_name["persistent-wrong in all"]
    assert (persistent["least"], persistent["greatest"], persistent["narrowest"]["value"]) == (0, 8, 8)
    assert (
        "fog: lost/none, from these statements [32, 40]; besides them"
        in command("audit-report", report, "--advise", "lost/none").out
    )


def test_counts_that_are_known_are_not_offered(tmp_path: Path, command: Command) -> None:
    (tmp_path / "r.toml").write_text("images = 9\n[[row]]\nclean-correct = 6\nperturbed-correct = 5\nrecovered = 1\n")
    (row,) = command("audit-report", tmp_path / "r.toml", "--advise", "changed-wrong/none", "--json").json
    assert [one["count"] for one in row["advice"][0]["prospects"]] == ["persistent-wrong in all"]


def test_classes_are_looked_at_one_by_one(tmp_path: Path, command: Command) -> None:
    text = "images = {a = 5, b = 5}\n[[row]]\nname = 'x'\nclean-correct = 6\nperturbed-correct = 5\n"
    (tmp_path / "r.toml").write_text(text)
    (row,) = command("audit-report", tmp_path / "r.toml", "--advise", "retained-correct/none", "--json").json
    names = {one["count"] for one in row["advice"][0]["prospects"]}
    assert {"lost in all", "lost of a", "lost of b"} <= names


def test_a_report_without_its_images_is_unlimited_in_one_line(tmp_path: Path, command: Command) -> None:
    (tmp_path / "r.toml").write_text("[[row]]\nclean-accuracy = '0.5'\n")
    assert "no row limits it" in command("audit-report", tmp_path / "r.toml").refused()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--ask", "lst"), "lst"),
        (("--assume", "calm"), "none-recovered"),
        (("--json", "--format", "csv"), "cannot go with --json"),
        (("--format", "csv", "--out", "r.toml"), "same file"),
        (("--certificate", "c.txt"), ".json"),
        (("--node-limit", "-1"), "node-limit"),
    ],
)
def test_bad_options_are_one_line(
    more: tuple[str, ...], told: str, report: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(report.parent)
    assert told in command("audit-report", "r.toml", *more).refused()
    assert [path.name for path in report.parent.iterdir()] == ["r.toml"]
