"""`pairbounds mcnemar`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from command import Command, write_small

from bounds.mcnemar import TESTS


def test_the_object_of_one_comparison(command: Command) -> None:
    found = command("mcnemar", 100, 92, 60, "--json").json
    assert found["images"] == 100
    assert found["discordant"] == {"lower": 32, "upper": 48, "step": 2}
    assert found["lost"] == {"lower": 32, "upper": 40}
    assert found["recovered"] == {"lower": 0, "upper": 8}
    assert [test["name"] for test in found["tests"]] == list(TESTS)
    assert set(found["tests"][0]) == {"name", "statistic", "p", "significant", "level"}
    assert {test["significant"] for test in found["tests"]} == {"always"}


@pytest.mark.parametrize(
    ("numbers", "discordant"),
    [
        ((100, "92%", "0.60"), (32, 48, 2)),
        ((200, "92%", "0.60"), (62, 98, None)),
        ((100, 92, 60, "--retained", 55), (42, 42, 2)),
        ((17, "0.88", 15), (0, 4, 2)),
    ],
)
def test_accuracies_as_printed(numbers: tuple[object, ...], discordant: tuple[int, ...], command: Command) -> None:
    found = command("mcnemar", *numbers, "--json").json["discordant"]
    assert (found["lower"], found["upper"], found["step"]) == discordant


def test_the_table_for_people(command: Command) -> None:
    out = command("mcnemar", 20, 16, 12).out
    assert out.startswith("20 images, discordant every other number from 4 to 12 (lost 4 to 8, recovered 0 to 4)\n")
    assert [line.split()[-1] for line in out.splitlines()[3:7]] == ["never", "never", "sometimes", "never"]


class TestSeveral:
    def file(self, folder: Path, *rows: str) -> Path:
        path = folder / "c.csv"
        path.write_text("comparison,images,first,second\n" + "\n".join(rows) + "\n")
        return path

    def test_holm_is_bounded_over_all_correspondences(self, tmp_path: Path, command: Command) -> None:
        path = self.file(tmp_path, "fog,100,92,60", "snow,100,92,80", "blur,100,92,88")
        found = command("mcnemar", "--comparisons", path, "--json").json
        assert [one["comparison"] for one in found] == ["fog", "snow", "blur"]
        for one in found:
            for test in one["tests"]:
                assert test["holm"]["lower"] >= test["p"]["lower"]
                assert test["holm"]["upper"] >= test["p"]["upper"]
        exact = {one["comparison"]: one["tests"][0] for one in found}
        assert exact["fog"]["holm"]["lower"] == 3 * exact["fog"]["p"]["lower"]
        assert [exact[name]["holm"]["significant"] for name in exact] == ["always", "sometimes", "never"]

    def test_a_printed_first_side_is_the_same_in_all(self, tmp_path: Path, command: Command) -> None:
        path = self.file(tmp_path, "fog,200,92%,60%", "snow,200,92%,80%")
        found = command("mcnemar", "--comparisons", path, "--json").json
        assert [(one["discordant"]["lower"], one["discordant"]["upper"]) for one in found] == [(62, 98), (22, 58)]

    def test_csv_parquet_and_latex(self, tmp_path: Path, command: Command) -> None:
        path = self.file(tmp_path, "fog,100,92,60", "snow,100,92,80")
        base = ("mcnemar", "--comparisons", path)
        rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
        assert [(row["comparison"], row["test"]) for row in rows] == [
            (name, test) for name in ("fog", "snow") for test in TESTS
        ]
        assert rows[0]["significant_holm"] == "always"
        assert command(*base, "--format", "parquet", "--out", tmp_path / "m.parquet").code == 0
        assert pl.read_parquet(tmp_path / "m.parquet").height == 8
        assert command(*base, "--format", "latex").out.startswith("\\begin{tabular}")

    @pytest.mark.parametrize(
        ("rows", "told"),
        [
            ([], "and a row"),
            (["fog,100,92,60", "snow,100,91,60"], "share their first side"),
            (["fog,100,92,60", "fog,100,92,61"], "occurs twice"),
            (["fog,100,92"], "has 3 fields"),
            (["fog,many,92,60"], "no number of images"),
            (["fog,100,101,60"], "there are 100 images"),
            (["fog,17,0.87,5"], "prints so"),
            (["fog,100,92,x"], "fog: second"),
        ],
    )
    def test_files_that_cannot_be_used(self, rows: list[str], told: str, tmp_path: Path, command: Command) -> None:
        assert told in command("mcnemar", "--comparisons", self.file(tmp_path, *rows)).refused()


def test_records_give_the_margins_of_classes_and_the_pairs(tmp_path: Path, command: Command) -> None:
    path = write_small(tmp_path / "r.parquet")
    table = pl.read_parquet(path)
    found = command("mcnemar", "--records", path, "--perturbed", "fog/1", "--json").json
    wide = table.filter(pl.col("condition") == "clean").join(
        table.filter(pl.col("condition") == "fog/1"), on="image_id", suffix="_fog"
    )
    first, second = wide["label"] == wide["predicted"], wide["label"] == wide["predicted_fog"]
    lost, recovered = int((first & ~second).sum()), int((~first & second).sum())
    (one,) = found
    assert one["discordant"]["lower"] <= lost + recovered <= one["discordant"]["upper"]
    least = sum(
        abs(int(first.filter(wide["label"] == name).sum()) - int(second.filter(wide["label"] == name).sum()))
        for name in wide["label"].unique()
    )
    assert one["discordant"]["lower"] == least
    assert all(test["p"]["lower"] <= test["paired_p"] <= test["p"]["upper"] for test in one["tests"])


def test_several_models_are_told_apart(tmp_path: Path, command: Command) -> None:
    table = pl.read_parquet(write_small(tmp_path / "one.parquet"))
    both = pl.concat([table.with_columns(model=pl.lit(name)) for name in ("a", "b")])
    both.write_parquet(tmp_path / "two.parquet")
    found = command(
        "mcnemar", "--records", tmp_path / "two.parquet", "--model", "all", "--perturbed", "fog/1", "--json"
    )
    assert [one["comparison"] for one in found.json] == ["a: fog/1", "b: fog/1"]
    assert "choose among a, b, or all" in command("mcnemar", "--records", tmp_path / "two.parquet").refused()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "three numbers"),
        ((100, 92), "three numbers"),
        ((100, 92, 60, 3), "three numbers"),
        ((0, 0, 0), "no number of images"),
        ((100, 101, 60), "there are 100 images"),
        ((17, "0.87", 3), "prints so"),
        ((100, 92, "60,5"), "comma"),
        ((100, 92, 60, "--retained", 51), "no correspondence"),
        ((100, 92, 60, "--level", "1"), "strictly between"),
        ((100, 92, 60, "--level", "x"), "finite decimal"),
        ((100, 92, 60, "--model", "m"), "is of --records"),
        ((100, 92, 60, "--comparisons", "c.csv"), "three numbers"),
        (("--comparisons", "none.csv"), "cannot be read"),
        (("--comparisons", "none.csv", "--retained", 3), "is of one comparison"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[object, ...], told: str, command: Command) -> None:
    assert told in command("mcnemar", *arguments).refused()
