"""`pairbounds rank`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from command import Command
from photographs import photographs, write_photographs

KEYS = {"model", "score", "copies", "target", "budget", "k", "recall", "precision", "lift", "trc", "failures", "pool"}


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_photographs(tmp_path / "records.parquet")


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A file for each image, that holds its name."""
    for name in photographs()["image_id"].unique():
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "images"


class TestPlanning:
    def test_the_ranking_falls_in_risk(self, records: Path, command: Command) -> None:
        rows = command("rank", records, "--model", "a", "--copies", "corruptions", "--json").json
        table = photographs().filter((pl.col("model") == "a") & (pl.col("condition") == "clean"))
        assert len(rows) == (table["label"] == table["predicted"]).sum()
        assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
        assert set(rows[0]) == {"model", "score_name", "copies", "image_id", "label", "score", "rank", "ties"}
        assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))

    def test_csv_and_parquet_hold_the_same(self, records: Path, tmp_path: Path, command: Command) -> None:
        base = ("rank", records, "--model", "all", "--copies", "natural", "--score", "worst_copy,margin")
        objects = command(*base, "--json").json
        rows = list(csv.DictReader(io.StringIO(command(*base, "--format", "csv").out)))
        assert [(row["image_id"], float(row["score"])) for row in rows] == [
            (row["image_id"], row["score"]) for row in objects
        ]
        assert command(*base, "--format", "parquet", "--out", tmp_path / "list.parquet").code == 0
        assert pl.read_parquet(tmp_path / "list.parquet")["rank"].to_list() == [row["rank"] for row in objects]
        assert command(*base, "--format", "latex").out.startswith("\\begin{tabular}")

    def test_no_copies_are_needed_for_clean_scores(self, records: Path, command: Command) -> None:
        assert command("rank", records, "--model", "a", "--score", "entropy", "--json").code == 0
        assert "looks at copies" in command("rank", records, "--model", "a").refused()

    def test_a_plan_lists_and_copies_the_first_images(
        self, records: Path, images: Path, tmp_path: Path, command: Command
    ) -> None:
        base = ("rank", records, "--model", "a", "--copies", "corruptions", "--budget", "5")
        ranked = command(*base, "--json").json
        done = command(*base, "--save-plan", tmp_path / "plan", "--images", images)
        assert (done.code, "5 images, riskiest first" in done.err) == (0, True)
        rows = list(csv.DictReader(io.StringIO((tmp_path / "plan" / "plan.csv").read_text())))
        assert [row["image_id"] for row in rows] == [row["image_id"] for row in ranked[:5]]
        files = sorted(path for path in (tmp_path / "plan").iterdir() if path.name != "plan.csv")
        assert [path.read_text() for path in files] == [row["image_id"] for row in rows]
        assert [path.name for path in files] == [row["file"] for row in rows]
        assert "exists" in command(*base, "--save-plan", tmp_path / "plan").refused()

    def test_tied_images_of_a_plan_come_in_a_seeded_order(self, tmp_path: Path, command: Command) -> None:
        table = photographs().with_columns(pl.lit(0.5, pl.Float32).alias("true_probability")).drop("probabilities")
        table = table.with_columns(
            pl.when(pl.col("label") == pl.col("predicted")).then(0.5).otherwise(0.5).alias("confidence")
        )
        orders = []
        for number, rows in enumerate((table, table.sample(fraction=1, shuffle=True, seed=1))):
            rows.write_parquet(tmp_path / f"{number}.parquet")
            for seed in (0, 1):
                folder = tmp_path / f"plan{number}{seed}"
                asked = ("--model", "a", "--copies", "corruptions", "--budget", "0.2", "--seed", seed)
                assert command("rank", tmp_path / f"{number}.parquet", *asked, "--save-plan", folder).code == 0
                orders.append((folder / "plan.csv").read_text())
        assert orders[0] == orders[2] != orders[1] == orders[3]
        assert "ties" in orders[0].splitlines()[0]

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (("--save-plan", "new"), "needs one --budget"),
            (("--save-plan", "new", "--budget", "5,6"), "needs one --budget"),
            (("--save-plan", "new", "--budget", "5", "--targets", "print"), "not there yet"),
            (("--save-plan", "new", "--budget", "5", "--score", "margin,entropy"), "2 were asked for"),
            (("--save-plan", "nowhere/new", "--budget", "5"), "no folder can be made"),
            (("--save-plan", "new", "--budget", "5", "--images", "nowhere"), "is no folder"),
            (("--save-plan", "new", "--budget", "500"), "the pool has"),
            (("--images", "."), "is for a plan or a contact sheet"),
        ],
    )
    def test_a_plan_that_cannot_be_made_is_refused(
        self, more: tuple[str, ...], told: str, records: Path, command: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(records.parent)
        before = sorted(records.parent.rglob("*"))
        assert told in command("rank", records, "--model", "a", "--copies", "corruptions", *more).refused()
        assert sorted(records.parent.rglob("*")) == before

    @pytest.mark.parametrize("name", ["../out.png", "/etc/hostname"])
    def test_ids_that_lead_out_of_the_folder_are_refused(
        self, name: str, images: Path, tmp_path: Path, command: Command
    ) -> None:
        """Though there is a file at the other end, and one for every other id."""
        (tmp_path / "out.png").write_text("secret")
        table = photographs().with_columns(pl.col("image_id").replace({"0/0000.png": name}))
        clean = (pl.col("condition") == "clean") & (pl.col("model") == "a")
        mine = table.filter(clean & (pl.col("image_id") == name))
        assert mine["label"].to_list() == mine["predicted"].to_list()
        table.write_parquet(tmp_path / "r.parquet")
        asked = ("--model", "a", "--copies", "natural", "--budget", "1.0", "--images", images)
        told = command("rank", tmp_path / "r.parquet", *asked, "--save-plan", tmp_path / "plan").refused()
        assert "leads out of" in told
        assert not (tmp_path / "plan").exists()


class TestEvaluation:
    def test_one_object_for_each_model_score_copies_target_and_budget(self, records: Path, command: Command) -> None:
        asked = ("--model", "all", "--copies", "corruptions/1,natural", "--targets", "screen,print")
        rows = command("rank", records, *asked, "--score", "worst_copy,margin", "--json").json
        assert {key for row in rows for key in row} >= KEYS
        found = {tuple(row[key] for key in ("model", "score", "copies", "target", "budget")) for row in rows}
        assert found == {
            (model, score, copies, target, budget)
            for model in ("a", "b")
            for score, copies in (
                *(("worst_copy", word) for word in ("corruptions/1", "natural")),
                ("margin", "clean"),
            )
            for target in ("screen", "print")
            for budget in ("0.01", "0.05", "0.1", "0.2", "0.3", "0.5")
        }
        assert len(rows) == len(found)
        assert {row["captures"] for row in rows if row["target"] == "screen"} == {2}

    def test_undefined_is_null_with_its_reason(self, tmp_path: Path, command: Command) -> None:
        """The captures are all correct: no failures; or all wrong: no AUROC."""
        table = photographs()
        for predicted in (pl.col("label"), (pl.col("label") + 1) % 3):
            capture = pl.col("condition") == "print"
            done = table.drop("probabilities", "true_probability").with_columns(
                pl.when(capture).then(predicted).otherwise("predicted").alias("predicted")
            )
            done.write_parquet(tmp_path / "r.parquet")
            asked = ("--model", "a", "--copies", "natural", "--targets", "print", "--score", "cover", "--budget", "0.2")
            (row,) = command("rank", tmp_path / "r.parquet", *asked, "--json").json
            if row["failures"] == 0:
                for key in ("recall", "lift", "trc", "rauc", "apfd", "atrc", "auroc", "ideal_recall", "random_recall"):
                    assert row[key] is None
                assert row["reason"] == row["auroc_reason"] == "no image of the pool fails"
                assert "undefined: no image of the pool fails" in command("rank", tmp_path / "r.parquet", *asked).out
            else:
                assert (row["failures"], row["apfd"], row["auroc"]) == (row["pool"], 0.5, None)
                assert row["auroc_reason"] == "every image of the pool fails"
                assert row["recall"] == row["ideal_recall"] == row["k"] / row["pool"]

    def test_all_scores_need_what_they_need(self, records: Path, tmp_path: Path, command: Command) -> None:
        photographs().drop("probabilities").write_parquet(tmp_path / "bare.parquet")
        asked = ("--model", "a", "--copies", "corruptions", "--targets", "print", "--score", "all", "--budget", "0.2")
        done = command("rank", tmp_path / "bare.parquet", *asked, "--json")
        assert [row["score"] for row in done.json] == [
            *("mean_true_probability", "natural_mean_true_probability", "clean_confidence", "variation_ratio"),
            *("cover", "worst_copy", "random"),
        ]
        assert "no column 'probabilities': a3_adaptation, deepgini, margin, entropy, mutual_information" in done.err
        whole = command("rank", records, *asked, "--json").json
        assert len(whole) == 12
        assert {row["copies"] for row in whole if row["score"] == "natural_mean_true_probability"} == {"natural"}

    def test_images_left_out_are_counted(self, records: Path, tmp_path: Path, command: Command) -> None:
        asked = ("--model", "a", "--copies", "natural", "--targets", "print", "--budget", "0.2")
        (whole,) = command("rank", records, *asked, "--json").json
        first = command("rank", records, "--model", "a", "--copies", "natural", "--json").json[0]["image_id"]
        gone = (pl.col("image_id") == first) & (pl.col("condition") == "flip")
        photographs().filter(~gone).write_parquet(tmp_path / "r.parquet")
        (part,) = command("rank", tmp_path / "r.parquet", *asked, "--json").json
        assert (whole["left_out"], part["left_out"]) == (0, 1)
        assert part["pool"] == whole["pool"] - 1
        assert "left out, without every copy or a capture: 1" in command("rank", tmp_path / "r.parquet", *asked).out

    def test_held_out_corruptions_are_told(self, records: Path, command: Command) -> None:
        told = command("rank", records, "--model", "a", "--copies", "corruptions", "--targets", "print").err
        assert "corruptions leaves out the held-out corruptions: speckle_noise/1" in told

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (("--copies", "corruptions,fog/1"), "mixes the group"),
            (("--copies", "fog/1,,fog/3"), "empty name"),
            (("--copies", "natural", "--budget", "2.5"), "at most 1"),
            (("--copies", "natural", "--score", "nope"), "unknown"),
            (("--copies", "natural", "--score", "math:nope"), "cannot be imported"),
            (("--copies", "natural", "--targets", "scren"), "no such condition"),
            (("--copies", "natural", "--failure", "some"), "some"),
            (("--copies", "natural", "--clean", "cleen"), "cleen"),
        ],
    )
    def test_bad_input_is_one_line(self, more: tuple[str, ...], told: str, records: Path, command: Command) -> None:
        target = () if "--targets" in more else ("--targets", "print")
        assert told in command("rank", records, "--model", "a", *target, *more).refused()

    def test_several_models_have_to_be_named(self, records: Path, command: Command) -> None:
        assert "choose among a, b, or all" in command("rank", records, "--copies", "natural").refused()


PUBLISHED = {
    ("resnet20", "screen_simulated"): (290, 1627, {"corruptions/1": 177, "corruptions/3": 136, "natural": 172}),
    ("resnet20", "print_simulated"): (553, 1627, {"corruptions/1": 270, "corruptions/3": 240, "natural": 219}),
    ("resnet56", "screen_simulated"): (306, 1663, {"corruptions/1": 180, "corruptions/3": 150, "natural": 169}),
    ("resnet56", "print_simulated"): (516, 1663, {"corruptions/1": 259, "corruptions/3": 240, "natural": 205}),
}
"""Failures, pool and failures found among the first 20 %, counted with plain polars on the shared records."""


def test_the_method_on_real_records(shared_records: Path, command: Command) -> None:
    asked = ("--model", "all", "--copies", "corruptions/1,corruptions/3,natural", "--targets", "all", "--budget", "0.2")
    rows = command("rank", shared_records, *asked, "--json").json
    found = {(row["model"], row["target"], row["copies"]): row for row in rows}
    table = pl.read_parquet(shared_records)
    for (model, target), (failures, pool, counts) in PUBLISHED.items():
        own = table.filter(pl.col("model") == model)
        clean = own.filter((pl.col("condition") == "clean") & (pl.col("label") == pl.col("predicted")))
        wrong = own.filter((pl.col("condition") == target) & (pl.col("label") != pl.col("predicted")))["image_id"]
        for copies, count in counts.items():
            name, _, severity = copies.partition("/")
            seen = own.filter(
                (pl.col("kind") == {"corruptions": "corruption"}.get(name, name))
                & pl.col("condition").str.ends_with(f"/{severity}" if severity else "")
                & pl.col("image_id").is_in(clean["image_id"].implode())
            )
            risk = (
                seen.group_by("image_id")
                .agg(pl.col("true_probability").cast(pl.Float64).mean())
                .sort("true_probability")
            )
            k = -(-pool // 5)
            assert risk["image_id"].head(k).is_in(wrong.implode()).sum() == count
            row = found[model, target, copies]
            assert (row["failures"], row["pool"], row["k"]) == (failures, pool, k)
            assert row["found"] == count
            assert row["recall"] == count / failures
