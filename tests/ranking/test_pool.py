"""The pool: who is in it, and when an image with several captures fails."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from photographs import photographs

from bounds.errors import PairboundsError
from ranking.pool import Captures, RankingRecords


def drop(table: pl.DataFrame, condition: str, image: str) -> pl.DataFrame:
    """Without the record of an image under a condition."""
    return table.filter(~((pl.col("condition") == condition) & (pl.col("image_id") == image)))


def correct_ids(table: pl.DataFrame, model: str = "a") -> list[str]:
    rows = table.filter(
        (pl.col("model") == model) & (pl.col("condition") == "clean") & (pl.col("label") == pl.col("predicted"))
    )
    return sorted(rows["image_id"].to_list())


def test_the_pool_is_the_clean_correct_images() -> None:
    table = photographs()
    for model in ("a", "b"):
        pool = RankingRecords(table).pool(model, ["corruptions"], ["screen"])
        assert sorted(pool.image_id.to_list()) == correct_ids(table, model)
        assert pool.clean_correct == pool.images < 30


def test_an_image_without_one_copy_is_left_out_and_counted() -> None:
    table = photographs()
    gone = correct_ids(table)[4]
    pool = RankingRecords(drop(table, "fog/3", gone)).pool("a", ["corruptions"], ["screen"])
    assert sorted(pool.image_id.to_list()) == [name for name in correct_ids(table) if name != gone]
    assert pool.clean_correct == pool.images + 1
    whole = RankingRecords(table).pool("a", ["corruptions"], ["screen"])
    rows = [whole.image_id.to_list().index(name) for name in pool.image_id.to_list()]
    assert pool.copies["corruptions"].true_probability is not None
    assert whole.copies["corruptions"].true_probability is not None
    expected = whole.copies["corruptions"].true_probability[:, rows].tolist()
    assert pool.copies["corruptions"].true_probability.tolist() == expected
    assert pool.captures["screen"].wrong.tolist() == whole.captures["screen"].wrong[:, rows].tolist()
    assert pool.probabilities.of("fog/1").tolist() == whole.probabilities.of("fog/1")[rows].tolist()


def test_a_capture_that_is_missing_is_neither_right_nor_wrong() -> None:
    table = photographs().drop("true_probability", "probabilities")
    desk = pl.col("condition") == "screen/desk"
    wrong = pl.when(desk).then((pl.col("label") + 1) % 3).otherwise("predicted")
    table = table.with_columns(wrong.alias("predicted"))
    name = correct_ids(table)[2]
    pool = RankingRecords(drop(table, "screen/desk", name)).pool("a", [], ["screen"])
    assert pool.captures["screen"].wrong[0].sum() == pool.images - 1
    row = pool.image_id.to_list().index(name)
    captures = pool.captures["screen"]
    assert captures.conditions == ("screen/desk", "screen/wall")
    assert captures.present[:, row].tolist() == [False, True]
    assert captures.wrong[0, row] == np.False_
    assert captures.present.sum() == 2 * pool.images - 1
    assert captures.captured.all()


CASES = [
    # wrong, present -> any, majority, all, rate
    ((1, 0, 0), (1, 1, 1), (1, 0, 0, Fraction(1, 3))),
    ((1, 1, 0), (1, 1, 1), (1, 1, 0, Fraction(2, 3))),
    ((1, 1, 1), (1, 1, 1), (1, 1, 1, Fraction(1))),
    ((0, 0, 0), (1, 1, 1), (0, 0, 0, Fraction(0))),
    ((1, 0, 0), (1, 1, 0), (1, 0, 0, Fraction(1, 2))),
    ((1, 0, 0), (1, 0, 0), (1, 1, 1, Fraction(1))),
]


@pytest.mark.parametrize("rule", ["any", "majority", "all", "rate"])
def test_failure_rules(rule: str) -> None:
    wrong = np.array([case[0] for case in CASES], dtype=bool).T
    present = np.array([case[1] for case in CASES], dtype=bool).T
    failures = Captures("screen", ("x", "y", "z"), wrong, present).failures(rule, np.arange(len(CASES)))
    expected = [case[2][("any", "majority", "all", "rate").index(rule)] for case in CASES]
    assert [Fraction(int(count), failures.unit) for count in failures.counts] == expected
    assert failures.total == sum(expected)


def test_words_for_copies_and_targets() -> None:
    source = RankingRecords(photographs())
    pool = source.pool("a", ["corruptions", "corruptions/1", "natural", "speckle_noise/1,fog/3"], ["print"])
    assert {word: copies.names for word, copies in pool.copies.items()} == {
        "corruptions": ("fog/1", "fog/3", "snow/1"),
        "corruptions/1": ("fog/1", "snow/1"),
        "natural": ("flip", "shift"),
        "speckle_noise/1,fog/3": ("fog/3", "speckle_noise/1"),
    }
    assert pool.captures["print"].conditions == ("print",)


def test_a_target_is_not_what_merely_begins_with_its_name() -> None:
    table = photographs().with_columns(pl.col("condition").replace({"print": "screenshot"}))
    assert RankingRecords(table).pool("a", [], ["screen"]).captures["screen"].conditions == (
        "screen/desk",
        "screen/wall",
    )


@pytest.mark.parametrize(
    ("copies", "targets", "told"),
    [
        (["corruptions/2"], [], "has no such conditions"),
        (["fogg/1"], [], "no such condition"),
        (["corruptions"], ["scren"], "no such condition"),
        (["fog/1"], ["fog"], "is among the copies"),
        (["clean"], [], "holds the clean condition"),
        ([], ["clean"], "holds the clean condition"),
    ],
)
def test_sets_that_do_not_exist_or_overlap_are_refused(copies: list[str], targets: list[str], told: str) -> None:
    with pytest.raises(PairboundsError, match=told):
        RankingRecords(photographs()).pool("a", copies, targets)


def test_a_pool_without_an_image_is_refused() -> None:
    table = photographs().filter(~((pl.col("condition") == "fog/1") & (pl.col("label") == pl.col("predicted"))))
    wrong = table.filter((pl.col("condition") != "clean") | (pl.col("label") != pl.col("predicted")))
    with pytest.raises(PairboundsError, match="no clean-correct image of a"):
        RankingRecords(wrong).pool("a", ["fog/1"])
