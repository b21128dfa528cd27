"""Pictures of recall against budget: what they show, and `rank --plot`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from command import Command
from photographs import photographs, write_photographs

from ranking.bootstrap import LEVEL, Judged, interval, resampled_recalls
from ranking.measures import Failures, at_budget, parse_budget
from ranking.order import order_by
from ranking.plots import SHARES, curves, figure, plot_curves


@pytest.fixture(autouse=True)
def _matplotlib(require: Callable[[str, bool, str], None]) -> None:
    require("matplotlib", importlib.util.find_spec("matplotlib") is not None, "pictures are drawn with it")


def rankings(failing: float = 0.3, models: tuple[str, ...] = ("a", "b")) -> list[Judged]:
    rng = np.random.default_rng(0)
    found = []
    for model in models:
        failures = Failures((rng.random(80) < failing).astype(np.int64))
        for score, copies in (("mean_true_probability", "natural"), ("clean_confidence", "clean")):
            order = order_by(rng.integers(0, 20, 80) + 4.0 * failures.counts)
            found.append(Judged(model, score, copies, "print", np.arange(80), order, failures))
    return found


def test_a_curve_is_the_mean_over_models_with_its_band() -> None:
    judged = rankings()
    first, second = curves(judged, 80, resamples=100, seed=2)
    assert (first.score, second.score, first.models, first.resamples) == (
        *("mean_true_probability", "clean_confidence"),
        *(2, 100),
    )
    budgets = [parse_budget(str(share)) for share in SHARES]
    drawn = resampled_recalls(judged, budgets, 80, 100, 2)
    for number, one in ((0, first), (1, second)):
        own = [judged[number], judged[number + 2]]
        for place, budget in enumerate(budgets):
            at = [at_budget(ranking.order, ranking.failures, budget.images(80)) for ranking in own]
            assert one.recall[place] == pytest.approx(float(sum(found.recall for found in at) / 2))
            assert one.ideal[place] == pytest.approx(float(sum(found.ideal for found in at) / 2))
            assert one.random[place] == pytest.approx(float(at[0].random))
            band = interval(drawn[:, [number, number + 2], place].mean(axis=1), LEVEL)
            assert (one.lower[place], one.upper[place]) == band


def test_models_without_a_failure_have_no_part_and_a_band_that_is_none_is_not_drawn() -> None:
    judged = rankings()
    for one in rankings(failing=0.0, models=("c",)):
        judged.append(one)
    assert [one.models for one in curves(judged, 80, resamples=100)] == [2, 2]
    assert curves(rankings(failing=0.0), 80, resamples=100) == []
    lone = Judged(
        "a", "s", "clean", "print", np.arange(9), order_by(np.arange(9.0)), Failures(np.eye(1, 9, dtype=int)[0])
    )
    (found,) = curves([lone], 9, resamples=100)
    assert np.isnan(found.lower).all()
    assert not np.isnan(found.recall).any()
    figure([found])


def lines(axes: Any) -> dict[str, tuple[str, Any]]:
    return {line.get_label(): (line.get_color(), str(line._unscaled_dash_pattern)) for line in axes.get_lines()}


def test_panels_and_curves_are_named_and_told_apart_without_colour() -> None:
    made = curves(rankings(), 80, resamples=100)
    picture = figure(made)
    (panel,) = picture.axes
    assert panel.get_title() == "print, mean of 2 models"
    assert list(lines(panel)) == [
        *("ideal order", "random order"),
        *("mean_true_probability on natural", "clean_confidence"),
    ]
    assert len({style for _, style in lines(panel).values()}) == len({color for color, _ in lines(panel).values()}) == 4
    assert picture.legends[0].get_title().get_text() == "bands: 95 % of 100 resamples of the images"


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_equal_curves_give_equal_bytes(suffix: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        plot_curves(curves(rankings(), 80, resamples=100), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == paths


class TestOption:
    @pytest.fixture
    def records(self, tmp_path: Path) -> Path:
        return write_photographs(tmp_path / "records.parquet")

    def test_the_picture_comes_beside_the_table(self, records: Path, command: Command) -> None:
        asked = ("rank", records, "--model", "all", "--copies", "natural", "--targets", "screen,print")
        done = command(*asked, "--plot", records.parent / "curves.svg")
        assert done.out == command(*asked).out
        shown = (records.parent / "curves.svg").read_text()
        for text in ("screen, mean of 2 models", "print, mean of 2 models", "mean_true_probability on natural"):
            assert text in shown

    def test_it_needs_targets_and_a_known_ending(self, records: Path, command: Command) -> None:
        asked = ("rank", records, "--model", "a", "--copies", "natural")
        assert "needs recaptures" in command(*asked, "--plot", records.parent / "x.png").refused()
        assert "ends in none of" in command(*asked, "--targets", "print", "--plot", records.parent / "x.gif").refused()
        assert (
            "same file as RECORDS" in command(*asked, "--targets", "print", "--plot", self._linked(records)).refused()
        )
        assert sorted(path.name for path in records.parent.iterdir()) == ["linked.png", "records.parquet"]

    @staticmethod
    def _linked(records: Path) -> Path:
        link = records.with_name("linked.png")
        link.symlink_to(records)
        return link

    def test_without_any_failure_there_is_nothing_to_draw(self, tmp_path: Path, command: Command) -> None:
        right = pl.when(pl.col("condition") == "print").then("label").otherwise("predicted").alias("predicted")
        table = photographs().drop("probabilities", "true_probability", "confidence").with_columns(right)
        table.write_parquet(tmp_path / "r.parquet")
        asked = ("--model", "a", "--copies", "natural", "--score", "variation_ratio", "--targets", "print")
        told = command("rank", tmp_path / "r.parquet", *asked, "--plot", tmp_path / "x.png").refused()
        assert "no model has a failure" in told
        assert not (tmp_path / "x.png").exists()
