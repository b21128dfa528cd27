"""`pairbounds bands`, `region` and `persistence`, and `bounds` with coverages and averages, on six images."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from command import Command, small_records, write_small

from bounds.quantities import QUANTITIES
from bounds.records import COMMON_CORRUPTIONS


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_small(tmp_path / "records.parquet")


class TestCoverage:
    def test_the_threshold_is_chosen_from_the_clean_confidences(self, records: Path, command: Command) -> None:
        """Clean confidences 0.95, 0.9, 0.9, 0.85, 0.7, 0.6: three accept half of them, four two thirds."""
        base = ("bounds", records, "--perturbed", "fog/1", "--quantity", "lost-acceptance", "--json")
        objects = command(*base, "--knowledge", "marginals", "--coverage", "0.3,0.5", "--coverage", "0.6").json
        assert [(o["threshold"], o["coverage"]) for o in objects] == [
            ("0.9", {"asked": "0.3", "achieved": 0.5, "achieved_exact": "1/2"}),
            ("0.9", {"asked": "0.5", "achieved": 0.5, "achieved_exact": "1/2"}),
            ("0.85", {"asked": "0.6", "achieved": 4 / 6, "achieved_exact": "2/3"}),
        ]
        typed = command(*base, "--threshold", "0.85").json
        chosen = command(*base, "--coverage", "0.6").json
        assert [{key: value for key, value in o.items() if key != "coverage"} for o in chosen] == typed

    def test_tables_tell_the_coverage(self, records: Path, command: Command) -> None:
        base = ("bounds", records, "--perturbed", "fog/1", "--knowledge", "marginals", "--coverage", "0.3,0.5")
        headings = [line for line in command(*base).out.splitlines() if line.startswith("net: ")]
        assert headings == [
            f"net: clean → fog/1, threshold 0.9, clean coverage 0.5000 (asked {asked}), 6 images in 2 classes, micro"
            for asked in ("0.3", "0.5")
        ]
        rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
        assert [row["coverage_achieved_exact"] for row in rows] == ["1/2"] * 6

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (["--coverage", "0"], "coverage '0': a share of the clean images lies in (0, 1]"),
            (["--coverage", "80%"], "coverage '80%': not a finite decimal number"),
            (["--coverage", "0,8"], "--coverage '0,8': may be a decimal comma or two coverages"),
            (["--coverage", "0.8", "--threshold", "0.8"], "--coverage '0.8': chooses a threshold"),
        ],
    )
    def test_what_is_no_coverage_is_refused(self, more: list[str], told: str, records: Path, command: Command) -> None:
        assert told in command("bounds", records, "--perturbed", "fog/1", *more).refused()

    def test_a_coverage_beside_an_accepted_column_is_refused(self, tmp_path: Path, command: Command) -> None:
        path = write_small(tmp_path / "accepted.parquet", accepted=True)
        line = command("bounds", path, "--perturbed", "fog/1", "--coverage", "0.8").refused()
        assert "already carry a column 'accepted'" in line


class TestAverages:
    def test_the_ends_are_the_means_and_the_assumption_is_told(self, records: Path, command: Command) -> None:
        base = ("bounds", records, "--threshold", "0.8", "--json")
        single = command(*base, "--perturbed", "all").json
        both = command(*base, "--perturbed", "snow/2", "--average-conditions", "both=fog/1,snow/2").json
        assert both[: len(both) // 2] == single[len(single) // 2 :]
        half = len(single) // 2
        for mean, one, other in zip(both[half:], single[:half], single[half:], strict=True):
            for end in ("lower_exact", "upper_exact", "paired_exact"):
                assert Fraction(mean[end]) == (Fraction(one[end]) + Fraction(other[end])) / 2
            assert (mean["perturbed"], mean["assumption"]) == ("both", "independent across conditions")
            assert mean["conditions"] == ["fog/1", "snow/2"]
            assert (mean["quantity"], mean["knowledge"]) == (one["quantity"], one["knowledge"])

    def test_an_average_needs_no_perturbed_condition_beside_it(self, records: Path, command: Command) -> None:
        result = command("bounds", records, "--average-conditions", "both=all", "--quantity", "lost")
        assert (result.code, result.err) == (0, "")
        heading, *_ = result.out.splitlines()
        assert heading == "net: clean → both, mean over 2 conditions, 12 images in 2 classes, micro"
        assert "assumed: correspondences are independent across conditions" in result.out
        base = ("bounds", records, "--average-conditions", "both=all", "--quantity", "lost", "--format")
        for format_ in ("csv", "latex"):
            assert "independent across conditions" in command(*base, format_).out

    def test_per_class_averages_are_of_each_class(self, records: Path, command: Command) -> None:
        objects = command(
            "bounds", records, "--average-conditions", "both=all", "--quantity", "lost", "--per-class", "--json"
        ).json
        assert [(o["class"], o["knowledge"]) for o in objects[:2]] == [(0, "marginals"), (1, "marginals")]

    def test_the_common_corruptions_have_a_short_name(self, tmp_path: Path, command: Command) -> None:
        fog = small_records().filter(pl.col("condition") == "fog/1")
        clean = small_records().filter(pl.col("condition") == "clean")
        parts = [fog.with_columns(condition=pl.lit(f"{name}/4")) for name in COMMON_CORRUPTIONS]
        pl.concat([clean, *parts, fog]).write_parquet(tmp_path / "many.parquet")
        base = ("bounds", tmp_path / "many.parquet", "--quantity", "lost", "--json")
        mean = command(*base, "--average-conditions", "corruptions/4").json
        single = command(*base, "--perturbed", "fog/1").json
        assert [o["lower_exact"] for o in mean] == [o["lower_exact"] for o in single]
        assert sorted(mean[0]["conditions"]) == sorted(f"{name}/4" for name in COMMON_CORRUPTIONS)
        line = command(*base, "--average-conditions", "corruptions/3").refused()
        assert "'corruptions/3': the records have no gaussian_noise/3; the records hold corruptions/4" in line
        named = command(*base, "--average-conditions", "m=corruptions/4").json
        assert named == [o | {"perturbed": "m"} for o in mean]
        more = command(*base, "--average-conditions", "m=corruptions/4,fog/1").json
        assert sorted(more[0]["conditions"]) == sorted([*mean[0]["conditions"], "fog/1"])
        for value in ("corruptions/9", "m=corruptions/9", "m=fog/1,corruptions/9"):
            line = command(*base, "--average-conditions", value).refused()
            assert "'corruptions/9': unknown: a severity is 1 to 5; the records hold corruptions/4" in line
        line = command(*base, "--average-conditions", "m=corruptions/4,fog/4").refused()
        assert "'fog/4': comes twice in one average" in line

    def test_a_condition_without_a_denominator_is_left_out_and_named(self, tmp_path: Path, command: Command) -> None:
        wrong = pl.when(pl.col("condition") == "snow/2").then(2).otherwise(pl.col("predicted"))
        path = write_small(tmp_path / "records.parquet", predicted=wrong)
        result = command(
            "bounds", path, "--average-conditions", "both=all", "--threshold", "0.8", "--knowledge", "correct-correct"
        )
        assert "lost-acceptance is undefined under, and not averaged over: snow/2" in result.out
        assert "mean over 1 condition," in result.out

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (["mean"], "'mean': is neither NAME=COND,COND nor corruptions/1 to 5"),
            (["=fog/1"], "is neither NAME=COND,COND"),
            (["mean="], "is neither NAME=COND,COND"),
            (["corruptions/6"], "'corruptions/6': unknown: a severity is 1 to 5; name the conditions"),
            (["x=fog/1,fog/1"], "--average-conditions 'fog/1': comes twice in one average"),
            (["x=all,fog/1"], "--average-conditions 'all': cannot go with fog/1"),
            (["mean=fog/1,fog/9"], "--average-conditions 'fog/9': unknown; choose among fog/1"),
            (["mean=clean"], "--average-conditions 'clean': unknown"),
            (["snow/2=fog/1"], "--average-conditions 'snow/2': names a condition"),
            (["m=fog/1", "--average-conditions", "m=snow/2"], "--average-conditions 'm': is given twice"),
        ],
    )
    def test_what_is_no_average_is_refused(self, more: list[str], told: str, records: Path, command: Command) -> None:
        line = command("bounds", records, "--quantity", "lost", "--average-conditions", *more).refused()
        assert told in line

    def test_a_class_that_a_condition_lacks_is_refused(self, tmp_path: Path, command: Command) -> None:
        some = small_records().filter((pl.col("condition") != "fog/1") | (pl.col("label") == 1))
        some.write_parquet(tmp_path / "some.parquet")
        line = command(
            "bounds",
            tmp_path / "some.parquet",
            "--average-conditions",
            "both=all",
            "--per-class",
            "--quantity",
            "lost",
        ).refused()
        assert "average both, class 0: has no images under fog/1" in line


class TestBands:
    def test_the_bands_are_the_bounds_at_each_coverage(self, records: Path, command: Command) -> None:
        swept = command("bands", records, "--perturbed", "fog/1", "--coverages", "1,0.5", "--json")
        assert (swept.code, swept.err) == (0, "")
        base = ("bounds", records, "--perturbed", "fog/1", "--coverage", "0.5,1", "--json")
        lists = ("--quantity", "lost-acceptance,new-accepted-error", "--knowledge", "correct-correct,five-state")
        assert swept.json == command(*base, *lists).json

    def test_the_table_has_a_row_a_coverage(self, records: Path, command: Command) -> None:
        result = command("bands", records, "--perturbed", "fog/1", "--quantity", "lost-acceptance")
        lines = result.out.splitlines()
        assert lines[:3] == [
            "net: clean → fog/1, 6 images in 2 classes, micro",
            "lost-acceptance over retained-correct",
            "  asked    coverage    threshold    correct-correct        five-state    paired",
        ]
        assert len([line for line in lines if line.strip().startswith(("0.", "1 "))]) == 20

    def test_all_means_what_coverage_can_move(self, records: Path, command: Command) -> None:
        base = ("bands", records, "--perturbed", "fog/1", "--quantity", "all", "--knowledge", "marginals", "--json")
        found = command(*base, "--coverages", "all").json
        assert list(dict.fromkeys(o["quantity"] for o in found)) == [
            name for name, quantity in QUANTITIES.items() if quantity.needs_acceptance
        ]
        assert [o["threshold"] for o in found[::10]] == ["0.95", "0.9", "0.85", "0.7", "0.6"]
        over = command(*base, "--denominator", "retained-correct").json
        assert {o["quantity"] for o in over} == {"lost-acceptance", "gained-acceptance"}

    def test_csv_and_latex_are_written(self, records: Path, out: Path, command: Command) -> None:
        base = ("bands", records, "--perturbed", "fog/1", "--coverages", "0.5")
        rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
        assert {row["coverage_asked"] for row in rows} == {"0.5"}
        assert command(*base, "--format", "latex").out.startswith(r"\begin{tabular}")

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (["--quantity", "lost"], "quantity 'lost': does not depend on acceptance"),
            (["--quantity", "risk"], "--quantity 'risk': unknown"),
            (["--knowledge", "much"], "--knowledge 'much': unknown"),
            (["--coverages", "1.5"], "coverage '1.5'"),
            (["--coverages", "all,0.5"], "--coverages 'all': cannot go with 0.5"),
            (["--quantity", "all,lost"], "--quantity 'all': cannot go with lost"),
            (["--quantity", "all", "--denominator", "pages"], "--denominator 'pages': no quantity is offered over it"),
            (["--plot", "{out}/p.gif"], "ends in none of"),
            (["--perturbed", "rain"], "--perturbed 'rain': unknown"),
        ],
    )
    def test_what_cannot_be_swept_is_refused(
        self, more: list[str], told: str, records: Path, out: Path, command: Command
    ) -> None:
        more = [argument.format(out=out) for argument in more]
        assert told in command("bands", records, "--perturbed", "fog/1", *more).refused()
        assert list(out.iterdir()) == []

    def test_an_accepted_column_has_no_coverages(self, tmp_path: Path, command: Command) -> None:
        path = write_small(tmp_path / "accepted.parquet", accepted=True)
        assert "already carry a column 'accepted'" in command("bands", path, "--perturbed", "fog/1").refused()


class TestRegion:
    BASE = ("--perturbed", "fog/1", "--threshold", "0.8", "--first", "lost-acceptance")

    def test_the_vertices_are_those_worked_out_by_hand(self, records: Path, command: Command) -> None:
        """Class 0 keeps one of (a yes, b no) with one of (a no, c yes): (1, 0), (0, 0), (0, 1); class 1 loses d."""
        (region,) = command("region", records, *self.BASE, "--second", "gained-acceptance", "--json").json
        assert [(v["first_exact"], v["second_exact"]) for v in region["vertices"]] == [
            ("1/2", "0/1"),
            ("1/1", "0/1"),
            ("1/2", "1/2"),
        ]
        assert (region["paired"]["first_exact"], region["paired"]["second_exact"]) == ("1/1", "0/1")
        assert (region["knowledge"], region["class"], region["average"]) == ("correct-correct", None, "micro")

    def test_one_class_and_both_levels(self, records: Path, command: Command) -> None:
        lists = ("--second", "gained-acceptance", "--class", "0", "--knowledge", "all", "--json")
        both = command("region", records, *self.BASE, *lists).json
        assert [(r["class"], r["knowledge"]) for r in both] == [(0, "correct-correct"), (0, "five-state")]
        assert both[0]["vertices"] == both[1]["vertices"]
        assert len(both[0]["vertices"]) == 3

    def test_tables_and_files_have_a_row_a_vertex(self, records: Path, out: Path, command: Command) -> None:
        base = ("region", records, *self.BASE, "--second", "mean-probability-decrease")
        told = command(*base, "--json").json[0]["vertices"]
        rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
        assert [row["vertex_first_exact"] for row in rows] == [v["first_exact"] for v in told]
        text = command(*base).out
        assert text.startswith("net: clean → fog/1, given correct-correct, threshold 0.8, micro\n")
        assert "the true pair: 1.0000, 0.3750" in text
        assert "every vertex is attained, and nothing is claimed of the points inside" in text
        assert command(*base, "--format", "latex").out.count(r"\\") == len(told) + 1

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (["--second", "acceptance"], "quantity 'acceptance': unknown"),
            (["--second", "lost", "--knowledge", "marginals"], "--knowledge 'marginals': unknown"),
            (["--second", "gained-acceptance", "--class", "9"], "--class '9': not in the records; choose among 0, 1"),
            (
                ["--second", "lost-acceptance", "--denominator", "retained-correct-accepted"],
                "varies with the correspondence",
            ),
            ([], "Missing option '--second'"),
            (["--second", "lost", "--plot", "{out}/p.gif"], "ends in none of"),
        ],
    )
    def test_what_has_no_region_is_refused(
        self, more: list[str], told: str, records: Path, out: Path, command: Command
    ) -> None:
        more = [argument.format(out=out) for argument in more]
        assert told in command("region", records, *self.BASE, *more).refused()


class TestPersistence:
    def test_each_quantity_has_both_intervals_and_its_share(self, records: Path, command: Command) -> None:
        base = ("--perturbed", "fog/1", "--threshold", "0.8", "--json")
        gains = command("persistence", records, *base).json
        assert [gain["quantity"] for gain in gains] == list(QUANTITIES)
        bounds = command("bounds", records, *base, "--quantity", "all").json
        for gain, level in ((gain, level) for gain in gains for level in ("correct-correct", "five-state")):
            (one,) = [o for o in bounds if (o["quantity"], o["knowledge"]) == (gain["quantity"], level)]
            told = gain[level.replace("-", "_")]
            assert {key: one[key] for key in told} == told

    def test_without_acceptance_the_rest_is_told(self, records: Path, command: Command) -> None:
        result = command("persistence", records, "--perturbed", "all", "--json")
        assert "quantities left out, no --threshold" in result.err
        assert {gain["perturbed"] for gain in result.json} == {"fog/1", "snow/2"}

    def test_the_table_says_why_nothing_was_removed(self, records: Path, out: Path, command: Command) -> None:
        base = (
            "persistence",
            records,
            "--perturbed",
            "fog/1",
            "--coverage",
            "0.6",
            "--quantity",
            "lost-acceptance,lost",
        )
        lines = command(*base).out.splitlines()
        assert lines[0].startswith("net: clean → fog/1, threshold 0.85, clean coverage 0.6667 (asked 0.6), 6 images")
        assert lines[3].endswith("retained-correct pairs only: persistence removes nothing (C2)")
        assert lines[4].endswith("the retained-correct counts fix it")
        rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
        assert [row["removed_exact"] for row in rows] == ["0/1", ""]
        assert command(*base, "--format", "latex").out.startswith(r"\begin{tabular}")

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (["--quantity", "lost-acceptance"], "needs acceptance"),
            (["--quantity", "lost", "--denominator", "retained-correct"], "not offered for lost"),
            (["--quantity", "gain"], "--quantity 'gain': unknown"),
        ],
    )
    def test_what_cannot_be_asked_is_refused(self, more: list[str], told: str, records: Path, command: Command) -> None:
        assert told in command("persistence", records, "--perturbed", "fog/1", *more).refused()


@pytest.mark.parametrize(
    "arguments",
    [
        ("bands", "--knowledge", "marginals,correct-correct", "--quantity", "lost-acceptance"),
        ("region", "--threshold", "0.8", "--first", "lost-acceptance", "--second", "gained-acceptance"),
        ("bounds", "--coverage", "0.6", "--average-conditions", "both=all"),
    ],
)
def test_pictures_are_drawn_alike_each_time(
    arguments: tuple[str, ...],
    records: Path,
    out: Path,
    command: Command,
    require: Callable[[str, bool, str], None],
) -> None:
    require("matplotlib", find_spec("matplotlib") is not None, "pictures are drawn with it")
    verb, *more = arguments
    for name in ("a.svg", "b.svg"):
        result = command(verb, records, "--perturbed", "all", *more, "--plot", out / name)
        assert (result.code, result.err) == (0, "")
    assert (out / "a.svg").read_text().startswith("<?xml")
    assert (out / "a.svg").read_bytes() == (out / "b.svg").read_bytes()
