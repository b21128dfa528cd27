"""`pairbounds bounds` on six images that can be worked out by hand (see `command.SMALL`), and on input it refuses."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable
from fractions import Fraction
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from command import Command, small_records, write_small

import bounds.solve
from bounds.cli_bounds import read_counts
from bounds.errors import CountError
from bounds.interval import Interval
from bounds.knowledge import Level
from bounds.quantities import QUANTITIES
from bounds.records import load_records

COUNTS = "class,retained_correct,persistent\n0,1,0\n1,1,1\n"


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_small(tmp_path / "records.parquet")


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return path


def ends(objects: list[dict[str, Any]]) -> dict[str, tuple[Fraction, Fraction]]:
    return {o["knowledge"]: (Fraction(o["lower_exact"]), Fraction(o["upper_exact"])) for o in objects}


def test_the_intervals_are_those_worked_out_by_hand(records: Path, command: Command) -> None:
    """Class 0: A = B = 2 of 3, k is 1 or 2, lost in [0, 1] given either. Class 1: A1 = 2, B0 = 1, lost = k, 0 or 1."""
    result = command(
        "bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", "--quantity", "lost-acceptance", "--json"
    )
    assert (result.code, result.err) == (0, "")
    half, one = Fraction(1, 2), Fraction(1)
    assert ends(result.json) == {
        "marginals": (0, one),
        "total-correct-correct": (0, one),
        "correct-correct": (half, one),
        "five-state": (half, one),
        "paired": (one, one),
    }


def test_json_has_the_keys_of_the_contract_with_plain_values(records: Path, command: Command) -> None:
    result = command(
        "bounds", records, "--perturbed", "fog/1", "--threshold", ".8", "--knowledge", "correct-correct", "--json"
    )
    objects = result.json
    assert [o["quantity"] for o in objects] == ["lost-acceptance", "gained-acceptance", "mean-probability-decrease"]
    expected = {
        "quantity": "lost-acceptance",
        "knowledge": "correct-correct",
        "model": "net",
        "clean": "clean",
        "perturbed": "fog/1",
        "threshold": ".8",
        "average": "micro",
        "class": None,
        "denominator": {"name": "retained-correct", "lower": 2, "upper": 2},
        "unit": "fraction",
        "lower": 0.5,
        "upper": 1.0,
        "lower_exact": "1/2",
        "upper_exact": "1/1",
        "sharp": True,
        "may_be_undefined": False,
        "undefined": None,
        "paired": 1.0,
        "method": "closed-form",
        "images": 6,
        "classes": 2,
        "unmatched": {"clean": 0, "perturbed": 0},
        "unusable": 0,
    }
    assert {key: objects[0][key] for key in expected} == expected


def test_lists_give_every_combination_once_in_order(records: Path, command: Command) -> None:
    arguments = ["bounds", records, "--perturbed", "all", "--threshold", "0.8,0.9", "--threshold", "0.8", "--json"]
    arguments += ["--quantity", "lost,flips", "--knowledge", "marginals", "--knowledge", "five-state,marginals"]
    objects = command(*arguments).json
    assert [(o["perturbed"], o["threshold"], o["quantity"], o["knowledge"]) for o in objects] == list(
        itertools.product(("fog/1", "snow/2"), ("0.8", "0.9"), ("lost", "flips"), ("marginals", "five-state"))
    )


def test_all_means_every_quantity_the_records_allow(tmp_path: Path, records: Path, command: Command) -> None:
    base = ("bounds", records, "--perturbed", "fog/1", "--quantity", "all", "--knowledge", "marginals", "--json")
    everything = command(*base, "--threshold", "0.8")
    assert everything.err == ""
    assert [o["quantity"] for o in everything.json] == list(QUANTITIES)

    without = command(*base)
    left = [name for name, quantity in QUANTITIES.items() if not quantity.needs_acceptance]
    assert [o["quantity"] for o in without.json] == left
    refused = ", ".join(name for name in QUANTITIES if name not in left)
    assert without.err == f"pairbounds: note: quantities left out, no --threshold and no column 'accepted': {refused}\n"

    twice = command(*base, "--perturbed", "snow/2")
    assert twice.err == without.err, "told once, not for every condition"
    assert len(twice.json) == 2 * len(left)

    small_records().drop("true_probability").write_parquet(records)
    assert "no column 'true_probability': mean-probability-decrease" in command(*base, "--threshold", "0.8").err

    over = command(*base, "--denominator", "clean-correct")
    assert [o["quantity"] for o in over.json] == ["retained-correct", "lost"]


def test_the_default_leaves_out_what_the_records_do_not_allow(records: Path, command: Command) -> None:
    base = ("bounds", records, "--perturbed", "fog/1", "--knowledge", "marginals", "--json")
    without = command(*base)
    assert [o["quantity"] for o in without.json] == ["mean-probability-decrease"]
    told = "no --threshold and no column 'accepted': lost-acceptance, gained-acceptance"
    assert without.err == f"pairbounds: note: quantities left out, {told}\n"
    small_records().drop("true_probability").write_parquet(records)
    given = command(*base, "--threshold", "0.8")
    assert [o["quantity"] for o in given.json] == ["lost-acceptance", "gained-acceptance"]
    told = "no column 'true_probability': mean-probability-decrease"
    assert given.err == f"pairbounds: note: quantities left out, {told}\n"
    line = command(*base).refused()
    assert "--quantity: none of the default ones is left: no --threshold and no column 'accepted' (lost-acc" in line
    assert "no column 'true_probability' (mean-probability-decrease); give --threshold" in line


def test_an_accepted_column_serves_in_place_of_a_threshold(tmp_path: Path, command: Command) -> None:
    by_column = write_small(tmp_path / "accepted.parquet", accepted=pl.col("confidence") >= 0.8)
    by_threshold = write_small(tmp_path / "records.parquet")
    one = command("bounds", by_column, "--perturbed", "fog/1", "--json").json
    other = command("bounds", by_threshold, "--perturbed", "fog/1", "--threshold", "0.8", "--json").json
    assert [o | {"threshold": None} for o in other] == one


def test_per_class_gives_one_row_a_class_instead(records: Path, command: Command) -> None:
    arguments = ("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", "--per-class", "--json")
    objects = command(*arguments, "--quantity", "lost-acceptance", "--knowledge", "marginals").json
    told = [(o["class"], o["average"], o["lower_exact"], o["upper_exact"], o["may_be_undefined"]) for o in objects]
    assert told == [(0, None, "0/1", "1/1", False), (1, None, "1/1", "1/1", True)]


def test_strata_name_the_classes(tmp_path: Path, command: Command) -> None:
    path = write_small(tmp_path / "records.parquet", pool=pl.lit("one pool"))
    objects = command(
        "bounds", path, "--perturbed", "fog/1", "--quantity", "lost", "--strata", "pool", "--per-class", "--json"
    ).json
    assert {o["class"] for o in objects} == {"one pool"}


@pytest.mark.parametrize("option", ["micro", "macro"])
def test_the_average_is_passed_on(option: str, records: Path, command: Command) -> None:
    objects = command(
        "bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", "--average", option, "--json"
    ).json
    assert {o["average"] for o in objects} == {option}


@pytest.mark.parametrize("denominator", ["retained-correct-accepted", "images", "none"])
def test_the_denominator_is_passed_on(denominator: str, records: Path, command: Command) -> None:
    arguments = ("--quantity", "lost-acceptance", "--threshold", "0.8", "--denominator", denominator, "--json")
    objects = command("bounds", records, "--perturbed", "fog/1", *arguments).json
    assert {o["denominator"]["name"] for o in objects} == {denominator}


@pytest.mark.parametrize("method", ["closed-form", "lp", "milp", "enumerate"])
def test_every_method_gives_the_same_ends(method: str, records: Path, command: Command) -> None:
    arguments = ("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", "--json")
    auto = command(*arguments).json
    chosen = command(*arguments, "--method", method).json
    assert {o["method"] for o in chosen} == {method, "paired"}
    assert [(o["lower_exact"], o["upper_exact"]) for o in chosen] == [
        (o["lower_exact"], o["upper_exact"]) for o in auto
    ]


def test_the_backend_is_passed_on(records: Path, command: Command, require: Callable[[str, bool, str], None]) -> None:
    require("cvxpy", find_spec("cvxpy") is not None, "it is the other backend")
    arguments = ("--quantity", "lost", "--knowledge", "marginals", "--method", "milp", "--json")
    for backend in ("highs", "cvxpy"):
        (interval,) = command("bounds", records, "--perturbed", "fog/1", *arguments, "--backend", backend).json
        assert interval["backend"] == backend


def test_the_node_limit_is_passed_on(records: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def bound(*arguments: Any, **options: Any) -> Interval:
        limits.append(options["node_limit"])
        return solve(*arguments, **options)

    solve = bounds.solve.bound
    monkeypatch.setattr(bounds.solve, "bound", bound)
    for limit in ((), ("--node-limit", "7")):
        assert command("bounds", records, "--perturbed", "fog/1", "--quantity", "lost", *limit).code == 0
    assert limits == [None] * 5 + [7] * 5


def test_float_arithmetic_says_how_far_off_it_may_be(records: Path, command: Command) -> None:
    arguments = ("bounds", records, "--perturbed", "fog/1", "--quantity", "mean-probability-decrease", "--json")
    for fast, exact in zip(command(*arguments, "--arithmetic", "float").json, command(*arguments).json, strict=True):
        assert fast["lower_exact"] is None
        assert abs(Fraction(fast["lower"]) - Fraction(exact["lower_exact"])) <= Fraction(fast["error_bound"])
        assert 0 < fast["error_bound"] < 1e-6


class TestUnpaired:
    @pytest.fixture
    def arguments(self, tmp_path: Path) -> tuple[object, ...]:
        shuffled = small_records(image_id=pl.col("condition") + "/" + pl.col("image_id"))
        shuffled.write_parquet(tmp_path / "unpaired.parquet")
        return (
            "bounds",
            tmp_path / "unpaired.parquet",
            "--perturbed",
            "fog/1",
            "--threshold",
            "0.8",
            "--unpaired",
            "--json",
        )

    def test_without_counts_only_the_marginals_are_known(self, arguments: tuple[object, ...], command: Command) -> None:
        result = command(*arguments)
        assert {o["knowledge"] for o in result.json} == {"marginals"}
        assert {o["paired"] for o in result.json} == {None}
        assert "left out" in result.err
        assert "five-state" in result.err

    def test_counts_give_the_intervals_of_the_true_pairing(
        self, arguments: tuple[object, ...], counts: Path, records: Path, command: Command
    ) -> None:
        unpaired = command(*arguments, "--counts", counts).json
        paired = command("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", "--json").json
        told = {(o["quantity"], o["knowledge"]): (o["lower_exact"], o["upper_exact"]) for o in unpaired}
        true = {(o["quantity"], o["knowledge"]): (o["lower_exact"], o["upper_exact"]) for o in paired}
        assert told == {key: ends for key, ends in true.items() if key[1] != Level.PAIRED}
        assert len(told) == 3 * 4

    def test_counts_without_persistent_leave_five_state_out(
        self, arguments: tuple[object, ...], counts: Path, command: Command
    ) -> None:
        counts.write_text("class,retained_correct\n1,1\n0,1\n")
        result = command(*arguments, "--counts", counts)
        assert {o["knowledge"] for o in result.json} == set(Level) - {Level.FIVE_STATE, Level.PAIRED}

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (["--knowledge", "paired"], "no common ids"),
            (["--knowledge", "correct-correct"], "--counts"),
            (["--knowledge", "five-state"], "--counts"),
        ],
    )
    def test_a_level_that_is_not_known_is_refused(
        self, more: list[str], told: str, arguments: tuple[object, ...], command: Command
    ) -> None:
        assert told in command(*arguments, *more).refused()

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("class,retained_correct\n0,1\n", "class '1': has no row in counts.csv"),
            ("class,retained_correct\n0,1\n1,1\n2,0\n", "class '2': not in the records (counts.csv, line 4)"),
            ("class,retained_correct\n0,1\n1,1\n0,1\n", "class '0': named twice (counts.csv, line 4)"),
            ("class,retained_correct\n0,1\n1,1.0\n", "retained_correct '1.0': not a whole number (counts.csv, line 3)"),
            ("class,retained_correct\n0,1\n1,-1\n", "retained_correct '-1': not a whole number"),
            ("class,retained_correct\n0,1\n1\n", "retained_correct '': not a whole number"),
            ("class,retained_correct,persistent\n0,1,\n1,1,1\n", "persistent '': not a whole number"),
            ("class,k\n0,1\n1,1\n", "counts.csv: has no column 'retained_correct'"),
            ("", "counts.csv: has no column 'class'"),
            ("class,retained_correct\n0,0\n1,1\n", "class 0, retained correct 0: max(0, 2 + 2 - 3) = 1"),
            ("class,retained_correct,persistent\n0,1,0\n1,1,0\n", "class 1, persistent wrong 0"),
        ],
    )
    def test_counts_that_cannot_be_used_are_told_in_one_line(
        self, text: str, told: str, arguments: tuple[object, ...], counts: Path, command: Command
    ) -> None:
        counts.write_text(text)
        assert told in command(*arguments, "--counts", counts).refused()

    def test_counts_speak_of_one_pair_of_sides(
        self, arguments: tuple[object, ...], counts: Path, command: Command
    ) -> None:
        line = command(*arguments, "--perturbed", "snow/2", "--counts", counts).refused()
        assert "speaks of one pair of sides, and 2 are asked for" in line


def test_counts_are_read_in_the_order_of_the_classes(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("\ufeffpersistent,class,retained_correct\n4,NA,2\n3,007,1\n", encoding="utf-8")
    found = read_counts(path, ["007", "NA"])
    assert {name: array.tolist() for name, array in found.items()} == {"retained_correct": [1, 2], "persistent": [3, 4]}
    assert {array.dtype for array in found.values()} == {np.dtype(np.int64)}
    with pytest.raises(CountError, match="class '007': not in the records"):
        read_counts(path, ["7", "NA"])


class TestTables:
    def test_the_table_for_people_names_model_condition_and_threshold(self, records: Path, command: Command) -> None:
        result = command("bounds", records, "--perturbed", "all", "--threshold", "0.8", "--knowledge", "marginals")
        assert (result.code, result.err) == (0, "")
        headings = [line for line in result.out.splitlines() if line.startswith("net: ")]
        assert headings == [
            f"net: clean → {c}, threshold 0.8, 6 images in 2 classes, micro" for c in ("fog/1", "snow/2")
        ]

    def test_csv_and_parquet_hold_what_json_holds(self, records: Path, out: Path, command: Command) -> None:
        base = ("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8")
        objects = command(*base, "--json").json
        printed = command(*base, "--format", "csv")
        assert printed.code == 0
        rows = list(csv.DictReader(io.StringIO(printed.out)))
        assert [row["lower_exact"] for row in rows] == [o["lower_exact"] for o in objects]
        written = command(*base, "--format", "csv", "--out", out / "table.csv")
        assert (written.code, written.out) == (0, "")
        assert (out / "table.csv").read_text() == printed.out
        assert command(*base, "--format", "parquet", "--out", out / "table.parquet").code == 0
        table = pl.read_parquet(out / "table.parquet")
        assert table.columns == list(rows[0])
        assert table["lower"].to_list() == [o["lower"] for o in objects]

    def test_latex_goes_to_stdout_or_to_a_file(self, records: Path, out: Path, command: Command) -> None:
        base = ("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", "--format", "latex")
        printed = command(*base).out
        assert printed.startswith(r"\begin{tabular}")
        command(*base, "--out", out / "table.tex")
        assert (out / "table.tex").read_text().strip() == printed.strip()

    def test_what_the_loader_noticed_is_told(self, tmp_path: Path, command: Command) -> None:
        some = small_records().filter((pl.col("condition") != "clean") | (pl.col("image_id") != "a"))
        some.write_parquet(tmp_path / "some.parquet")
        result = command("bounds", tmp_path / "some.parquet", "--perturbed", "fog/1", "--quantity", "lost")
        lines = result.out.splitlines()
        assert "unmatched images left out: 0 only clean, 1 only perturbed" in lines
        (note,) = load_records(tmp_path / "some.parquet").evaluation("net", "fog/1").notes
        assert f"note: {note}" in lines


def test_a_picture_is_drawn(
    records: Path, out: Path, command: Command, require: Callable[[str, bool, str], None]
) -> None:
    require("matplotlib", find_spec("matplotlib") is not None, "pictures are drawn with it")
    result = command("bounds", records, "--perturbed", "all", "--threshold", "0.8", "--plot", out / "picture.svg")
    assert (result.code, result.err) == (0, "")
    assert (out / "picture.svg").read_text().startswith("<?xml")


REFUSED: dict[str, tuple[list[str], str]] = {
    "no such model": (["--model", "vit"], "--model 'vit': unknown; choose among net"),
    "no such condition": (["--perturbed", "fog/2"], "--perturbed 'fog/2': unknown; choose among fog/1"),
    "the clean condition": (["--perturbed", "clean"], "--perturbed 'clean': unknown"),
    "no such clean condition": (["--clean", "raw"], "--clean 'raw': net has no such records"),
    "no such quantity": (["--quantity", "acceptance"], "--quantity 'acceptance': unknown; choose among"),
    "no such level": (["--knowledge", "everything"], "--knowledge 'everything': unknown; choose among"),
    "threshold above 1": (["--threshold", "1.2"], "threshold '1.2': a confidence lies in [0, 1]"),
    "threshold in words": (["--threshold", "high"], "threshold 'high': not a finite decimal number"),
    "not a threshold": (["--threshold", "nan"], "threshold 'nan'"),
    "decimal comma": (["--threshold", "0,8"], "--threshold '0,8': may be a decimal comma or two thresholds"),
    "other denominator": (
        ["--quantity", "lost-acceptance", "--threshold", "0.8", "--denominator", "clean-correct"],
        "denominator 'clean-correct': not offered for lost-acceptance",
    ),
    "macro of counts": (["--quantity", "lost", "--denominator", "none", "--average", "macro"], "average 'macro'"),
    "uncovered closed form": (
        ["--quantity", "kept-accepted-error", "--threshold", "0.8", "--method", "closed-form"],
        "method 'closed-form': no claim covers kept-accepted-error at five-state",
    ),
    "no such strata": (["--quantity", "lost", "--strata", "pool"], "pool"),
    "acceptance without threshold": (["--quantity", "lost-acceptance"], "needs acceptance"),
    "default over another denominator": (
        ["--threshold", "0.8", "--denominator", "clean-correct"],
        "--quantity: none of the default ones is left: not over clean-correct (lost-acceptance, gained-acceptance, ",
    ),
    "no such counts": (
        ["--unpaired", "--counts", "{out}/nofile"],
        "nofile': cannot be read: No such file or directory; check the path",
    ),
    "folder of counts": (["--unpaired", "--counts", "{out}"], "cannot be read: Is a directory"),
    "counts of paired records": (["--counts", "counts.csv"], "goes with --unpaired"),
    "witness of another kind": (["--witness", "{out}/w.json"], "w.json': ends in none of .csv, .parquet"),
    "picture of another kind": (["--plot", "{out}/p.gif"], "p.gif': ends in none of .png, .svg, .pdf"),
    "out in no folder": (["--format", "csv", "--out", "{out}/no/t.csv"], "there is no folder"),
    "out without format": (["--out", "{out}/t.csv"], "needs a format; add --format"),
    "parquet without out": (["--format", "parquet"], "add --out FILE"),
    "json and format": (["--json", "--format", "csv"], "cannot go with --json"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_input_that_cannot_be_used_is_one_line_and_leaves_no_file(
    kind: str, records: Path, out: Path, counts: Path, command: Command
) -> None:
    more, told = REFUSED[kind]
    more = [argument.format(out=out) for argument in more]
    base: list[object] = ["bounds", records]
    if "--perturbed" not in more:
        base += ["--perturbed", "fog/1"]
    if not {"--out", "--witness", "--json", "--format"} & set(more):
        base += ["--witness", out / "witness.csv", "--format", "csv", "--out", out / "table.csv"]
    assert told in command(*base, *more).refused()
    assert list(out.iterdir()) == []


OUTPUTS = {"--out": ("--format", "csv", "--out"), "--witness": ("--witness",), "--plot": ("--plot",)}


@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize("way", ["same", "dots", "symbolic link", "hard link"])
@pytest.mark.parametrize("which", ["RECORDS", "--counts"])
def test_an_output_that_is_an_input_is_refused(
    option: str, way: str, which: str, out: Path, counts: Path, command: Command
) -> None:
    suffix = {"--out": ".csv", "--witness": ".csv", "--plot": ".svg"}[option]
    path = out / f"records{suffix}"
    small_records(image_id=pl.col("condition") + pl.col("image_id")).write_csv(path)
    more: tuple[object, ...] = ()
    if which == "--counts":
        records, path = path.rename(out / "other"), out / f"counts{suffix}"
        path.write_text(COUNTS)
        more = ("--unpaired", "--counts", path)
    else:
        records = path
    before = {file: file.read_bytes() for file in out.iterdir()}
    target = {
        "same": path,
        "dots": out / ".." / "out" / path.name,
        "symbolic link": out.parent / f"link{suffix}",
        "hard link": out.parent / f"link{suffix}",
    }[way]
    if way == "symbolic link":
        target.symlink_to(path)
    if way == "hard link":
        target.hardlink_to(path)
    base = ("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", *more)
    line = command(*base, *OUTPUTS[option], target).refused()
    assert f"{option} '{target}': is the same file as {which} '{path}'; name another file" in line
    assert {file: file.read_bytes() for file in out.iterdir()} == before


@pytest.mark.parametrize("exists", [False, True])
def test_two_outputs_in_one_file_are_refused(exists: bool, records: Path, out: Path, command: Command) -> None:
    if exists:
        (out / "x.csv").write_text("before")
    base = ("bounds", records, "--perturbed", "fog/1", "--threshold", "0.8", "--format", "csv", "--out", out / "x.csv")
    line = command(*base, "--witness", out / ".." / "out" / "x.csv").refused()
    assert f"--out '{out}/x.csv': is the same file as --witness '{out}/../out/x.csv'; name another file" in line
    assert [path.read_text() for path in out.iterdir()] == ["before"] * exists


def test_counts_in_another_encoding_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_bytes("class,retained_correct\ncaf\xe9,1\n".encode("latin-1"))
    with pytest.raises(CountError, match=r"--counts '.*counts\.csv': not UTF-8; save it as UTF-8"):
        read_counts(path, ["café"])


def test_both_a_threshold_and_an_accepted_column_are_refused(tmp_path: Path, command: Command) -> None:
    path = write_small(tmp_path / "accepted.parquet", accepted=True)
    for quantity in ("lost-acceptance", "all"):
        line = command("bounds", path, "--perturbed", "fog/1", "--threshold", "0.8", "--quantity", quantity).refused()
        assert "already carry a column 'accepted'" in line


def test_a_quantity_whose_column_is_absent_is_refused(records: Path, command: Command) -> None:
    small_records().drop("true_probability").write_parquet(records)
    line = command("bounds", records, "--perturbed", "fog/1", "--quantity", "mean-probability-decrease").refused()
    assert "true_probability" in line


@pytest.mark.parametrize("name", ["absent.parquet", "text.parquet", "empty.csv", "."])
def test_a_file_that_cannot_be_read_is_one_line(name: str, tmp_path: Path, command: Command) -> None:
    (tmp_path / "text.parquet").write_text("not a table")
    (tmp_path / "empty.csv").write_text("")
    assert command("bounds", tmp_path / name, "--perturbed", "all").code == 2
    command("bounds", tmp_path / name, "--perturbed", "all").refused()


def test_several_models_have_to_be_chosen_from(tmp_path: Path, command: Command) -> None:
    both = pl.concat([small_records(), small_records(model=pl.lit("vit"))])
    both.write_parquet(tmp_path / "both.parquet")
    base = ("bounds", tmp_path / "both.parquet", "--perturbed", "fog/1", "--quantity", "lost", "--json")
    assert "--model: the records hold 2; choose among net, vit, or all" in command(*base).refused()
    assert {o["model"] for o in command(*base, "--model", "vit").json} == {"vit"}
    assert {o["model"] for o in command(*base, "--model", "all").json} == {"net", "vit"}


def test_clean_records_alone_are_refused(tmp_path: Path, command: Command) -> None:
    small_records().filter(pl.col("condition") == "clean").write_parquet(tmp_path / "clean.parquet")
    assert (
        "has records of 'clean' only" in command("bounds", tmp_path / "clean.parquet", "--perturbed", "all").refused()
    )


def test_several_files_are_one_set(tmp_path: Path, records: Path, command: Command) -> None:
    for part in ("clean", "fog/1"):
        small_records().filter(pl.col("condition") == part).write_csv(tmp_path / f"{part[:3]}.csv")
    split = command(
        "bounds", tmp_path / "cle.csv", tmp_path / "fog.csv", "--perturbed", "fog/1", "--quantity", "all", "--json"
    )
    whole = command("bounds", records, "--perturbed", "fog/1", "--quantity", "all", "--json")
    assert split.json == whole.json


def test_the_example_in_the_package_is_bounded_from_its_path(command: Command) -> None:
    path = files("bounds").joinpath("data", "cifar10_resnet20.parquet")
    objects = command("bounds", path, "--perturbed", "fog/3", "--threshold", "0.8", "--json").json
    for interval in objects:
        assert (
            Fraction(interval["lower_exact"]) <= Fraction(interval["paired_exact"]) <= Fraction(interval["upper_exact"])
        )
