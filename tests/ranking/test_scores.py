"""Scores against the formulas of the literature, written as loops, and the identities that must hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from photographs import CORRUPTIONS, NATURAL, photographs

from bounds.errors import PairboundsError, RecordError
from ranking.order import order_by
from ranking.pool import Pool, RankingRecords
from ranking.scores import SCORES, entropies, score_all, scored, scores_asked

WORD = "corruptions"
COPIES = ("fog/1", "fog/3", "snow/1")


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return photographs()


@pytest.fixture(scope="module")
def pool(table: pl.DataFrame) -> Pool:
    return RankingRecords(table).pool("a", [WORD, "natural"])


Row = dict[str, Any]


def rows(table: pl.DataFrame, condition: str) -> dict[str, Row]:
    """The records of model a under a condition, by image."""
    part = table.filter((pl.col("model") == "a") & (pl.col("condition") == condition))
    return {row["image_id"]: row for row in part.iter_rows(named=True)}


def entropy(p: list[float]) -> float:
    return -sum(x * math.log(x) for x in p if x > 0)


def a3(clean: Row, copies: list[Row]) -> float:
    """ranking.md, spelled out."""
    p, d = clean["probabilities"], clean["predicted"]
    supporters = [c for c in copies if c["probabilities"].index(max(c["probabilities"])) == d]
    distractors = [c for c in copies if c not in supporters]
    first = 1 - sum(c["probabilities"][d] for c in supporters) / len(copies)
    gains = [
        max(0, max(c["probabilities"]) - p[c["probabilities"].index(max(c["probabilities"]))]) for c in distractors
    ]
    return first + sum(gains) / len(copies)


FORMULAS: dict[str, Callable[[Row, list[Row]], float]] = {
    "mean_true_probability": lambda x, c: 1 - sum(y["probabilities"][x["label"]] for y in c) / len(c),
    "clean_confidence": lambda x, c: 1 - max(x["probabilities"]),
    "a3_adaptation": a3,
    "deepgini": lambda x, c: 1 - sum(p * p for p in x["probabilities"]),
    "margin": lambda x, c: 1 - (sorted(x["probabilities"])[-1] - sorted(x["probabilities"])[-2]),
    "entropy": lambda x, c: entropy(x["probabilities"]),
    "variation_ratio": lambda x, c: 1 - max(Counter(y["predicted"] for y in c).values()) / len(c),
    "mutual_information": lambda x, c: (
        entropy([sum(y["probabilities"][i] for y in c) / len(c) for i in range(len(x["probabilities"]))])
        - sum(entropy(y["probabilities"]) for y in c) / len(c)
    ),
    "cover": lambda x, c: 1 - (x["confidence"] + sum(y["confidence"] for y in c)) / (len(c) + 1),
    "worst_copy": lambda x, c: 1 - min(y["true_probability"] for y in c),
}


@pytest.mark.parametrize(("word", "names"), [(WORD, COPIES), ("natural", NATURAL)])
@pytest.mark.parametrize("score", FORMULAS)
def test_each_score_is_its_formula(
    score: str, word: str, names: tuple[str, ...], table: pl.DataFrame, pool: Pool
) -> None:
    clean, copies = rows(table, "clean"), [rows(table, name) for name in names]
    found = scored(SCORES[score], pool, pool.copies[word])
    ids = pool.image_id.to_list()
    assert len(ids) >= 15
    expected = [FORMULAS[score](clean[i], [copy[i] for copy in copies]) for i in ids]
    assert found.values.tolist() == pytest.approx(expected, abs=1e-12)
    assert found.copies == (word if SCORES[score].copies else "clean")


def test_the_formulas_cover_the_registry() -> None:
    assert set(FORMULAS) | {"natural_mean_true_probability", "random"} == set(SCORES)


def test_the_natural_mean_brings_its_copies(pool: Pool) -> None:
    (natural,) = score_all(pool, scores_asked(["natural_mean_true_probability"]), [WORD])
    same = scored(SCORES["mean_true_probability"], pool, pool.copies["natural"])
    assert natural.copies == "natural"
    assert natural.values.tolist() == same.values.tolist()


def test_the_adaptation_without_gate_and_gains_is_the_method(pool: Pool) -> None:
    """With every copy a supporter, A1 is the method's score and A2 is empty."""
    copies = pool.copies[WORD]
    ungated = replace(copies, predicted=np.broadcast_to(pool.label, copies.predicted.shape))
    found = scored(SCORES["a3_adaptation"], pool, ungated)
    method = scored(SCORES["mean_true_probability"], pool, copies)
    assert found.values.tolist() == pytest.approx(method.values.tolist(), abs=1e-15)


def test_a_class_that_falls_though_it_is_predicted_adds_nothing() -> None:
    """The copy predicts the second class with 0.36, which had 0.38 when clean: no gain, and no loss."""
    probabilities = {"clean": [0.40, 0.38, 0.22], "fog/1": [0.30, 0.36, 0.34]}
    table = pl.DataFrame(
        [
            {
                "condition": condition,
                "image_id": "x",
                "label": 0,
                "predicted": values.index(max(values)),
                "confidence": max(values),
                "true_probability": values[0],
                "probabilities": values,
            }
            for condition, values in probabilities.items()
        ]
    )
    pool = RankingRecords(table).pool("model", ["fog/1"])
    assert scored(SCORES["a3_adaptation"], pool, pool.copies["fog/1"]).values.tolist() == [1.0]


def test_ties_of_the_adaptation_go_by_clean_confidence(pool: Pool) -> None:
    copies = pool.copies[WORD]
    flat = replace(
        copies,
        predicted=np.broadcast_to(pool.label, copies.predicted.shape),
        true_probability=np.ones_like(copies.true_probability),
    )
    found = scored(SCORES["a3_adaptation"], pool, flat)
    assert pool.confidence is not None
    by_confidence = order_by(1 - pool.confidence.astype(np.float64))
    assert set(found.values.tolist()) == {0.0}
    assert found.order.rank.tolist() == by_confidence.rank.tolist()


EIGHTHS = st.lists(st.integers(1, 999_999), min_size=2, max_size=20)


@given(EIGHTHS)
def test_two_classes_give_one_order_in_exact_arithmetic(parts: list[int]) -> None:
    """deepgini and margin as exact fractions, clean confidence beside them: one order, the same ties."""
    pairs = [(Fraction(max(x, 10**6 - x), 10**6), Fraction(min(x, 10**6 - x), 10**6)) for x in parts]
    keys = [
        [1 - p for p, _ in pairs],
        [1 - p * p - q * q for p, q in pairs],
        [1 - (p - q) for p, q in pairs],
    ]
    ranks = [[sorted(set(key), reverse=True).index(value) for value in key] for key in keys]
    assert ranks[0] == ranks[1] == ranks[2]
    # Entropy is irrational; it falls as the larger probability rises above one half.
    ordered = sorted({float(p) for p, _ in pairs})
    found = entropies(np.array([[p, 1 - p] for p in ordered]))
    assert all(later <= earlier + 1e-15 for earlier, later in pairwise(found))


def test_entropy_in_float32_reverses_two_neighbours() -> None:
    """Not only coarser than the exact order: reversed. So scores are computed in float64."""
    lower, higher = np.float32(0.5000878), np.float32(0.50008786)
    assert lower < higher

    def single(p: np.float32) -> np.float32:
        values = np.array([p, np.float32(1) - p], dtype=np.float32)
        return -(values * np.log(values)).sum(dtype=np.float32)

    def double(p: np.float32) -> float:
        return float(entropies(np.array([float(p), 1 - float(p)])))

    assert single(higher) > single(lower)
    assert double(higher) < double(lower)


def test_deepgini_and_margin_in_float32_are_coarser_and_never_reversed() -> None:
    """Every float32 from 0.5 to 1 with its neighbour."""
    p = np.arange(np.float32(0.5).view(np.int32), np.float32(1).view(np.int32) + 1, dtype=np.int32).view(np.float32)
    q = np.float32(1) - p
    assert len(p) == 8_388_609
    assert (np.diff(1 - (p * p + q * q)) <= 0).all()
    assert (np.diff(1 - (p - q)) <= 0).all()


def test_zero_probabilities_have_no_entropy() -> None:
    assert entropies(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist() == [0.0, math.log(2)]


def test_random_is_seeded_by_image_and_not_by_row(table: pl.DataFrame) -> None:
    def ranked(records: pl.DataFrame, seed: int) -> dict[str, float]:
        pool = RankingRecords(records).pool("a")
        return dict(zip(pool.image_id.to_list(), scored(SCORES["random"], pool, None, seed).values, strict=True))

    assert ranked(table, 0) == ranked(table.sample(fraction=1, shuffle=True, seed=3), 0)
    assert ranked(table, 0) != ranked(table, 1)


@pytest.mark.parametrize("score", SCORES)
def test_shuffled_rows_give_the_same_scores(score: str, table: pl.DataFrame, pool: Pool) -> None:
    again = RankingRecords(table.sample(fraction=1, shuffle=True, seed=5)).pool("a", [WORD, "natural"])
    for one, other in zip(
        score_all(pool, [SCORES[score]], [WORD]), score_all(again, [SCORES[score]], [WORD]), strict=True
    ):
        assert pool.image_id.equals(again.image_id)
        assert one.values.tolist() == other.values.tolist()
        assert one.order.group.tolist() == other.order.group.tolist()


NAMED = pl.col("label", "predicted").replace_strict({0: "owl", 1: "asp", 2: "cat"}, return_dtype=pl.String)


@pytest.mark.parametrize("clean_classes", [3, 2])
def test_names_of_classes_find_their_place(clean_classes: int, table: pl.DataFrame) -> None:
    """Also that of a class that no image of the pool has: two classes only are in it then."""
    some = table.filter(pl.col("label") < clean_classes)

    def adapted(records: pl.DataFrame) -> dict[str, float]:
        pool = RankingRecords(records).pool("a", [WORD])
        values = scored(SCORES["a3_adaptation"], pool, pool.copies[WORD]).values
        return dict(zip(pool.image_id.to_list(), values.tolist(), strict=True))

    assert adapted(some.with_columns(NAMED)) == adapted(some)
    assert clean_classes == 3 or (some["predicted"] == 2).any()


def test_probabilities_in_another_order_of_classes_are_refused(table: pl.DataFrame) -> None:
    named = table.with_columns(NAMED)
    first = pl.col("image_id") == "0/0000.png"
    turned = named.with_columns(
        pl.when(first)
        .then(pl.col("probabilities").list.reverse())
        .otherwise(pl.col("probabilities"))
        .alias("probabilities")
    )
    pool = RankingRecords(turned).pool("a", [WORD])
    with pytest.raises(RecordError, match="largest"):
        scored(SCORES["a3_adaptation"], pool, pool.copies[WORD])


class TestOwnScores:
    def write(self, folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> str:
        name = f"own_{abs(hash((str(folder), body)))}"
        (folder / f"{name}.py").write_text(f"import numpy as np\ndef risk(pool, copies):\n    {body}\n")
        monkeypatch.syspath_prepend(folder)
        return f"{name}:risk"

    def test_a_function_sees_pool_and_copies(self, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
        name = self.write(tmp_path, "return 1 - copies.true_probability.mean(axis=0, dtype=np.float64)", monkeypatch)
        found = score_all(pool, scores_asked([name]), [WORD])[0]
        method = scored(SCORES["mean_true_probability"], pool, pool.copies[WORD])
        assert (found.score, found.copies) == (name, WORD)
        assert found.values.tolist() == pytest.approx(method.values.tolist(), abs=1e-15)

    @pytest.mark.parametrize(
        ("body", "told"),
        [
            ("return np.zeros(3)", "returned the shape"),
            ("return np.full(pool.images, np.nan)", "is nan"),
            ("return np.full(pool.images, np.inf)", "is inf"),
            ("raise KeyError('no')", "raised KeyError"),
            ("return ['a'] * pool.images", "raised ValueError"),
        ],
    )
    def test_what_is_no_score_is_refused(
        self, body: str, told: str, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (score,) = scores_asked([self.write(tmp_path, body, monkeypatch)])
        with pytest.raises(PairboundsError, match=told):
            scored(score, pool, pool.copies[WORD])


def test_a_score_without_its_copies_or_columns_is_refused(table: pl.DataFrame, pool: Pool) -> None:
    with pytest.raises(PairboundsError, match="looks at copies"):
        scored(SCORES["mean_true_probability"], pool, None)
    bare = RankingRecords(table.drop("true_probability", "probabilities")).pool("a", [WORD])
    with pytest.raises(PairboundsError, match="needs the column 'true_probability'"):
        scored(SCORES["worst_copy"], bare, bare.copies[WORD])
    with pytest.raises(PairboundsError, match="no file has this column"):
        scored(SCORES["deepgini"], bare, None)


def test_missing_probabilities_of_an_image_are_named(table: pl.DataFrame) -> None:
    hole = (pl.col("image_id") == "0/0000.png") & (pl.col("condition") == "fog/1")
    holed = table.with_columns(pl.when(~hole).then(pl.col("probabilities")).alias("probabilities"))
    pool = RankingRecords(holed).pool("a", [WORD])
    with pytest.raises(RecordError, match=r"0/0000\.png"):
        scored(SCORES["mutual_information"], pool, pool.copies[WORD])


def test_unknown_scores_are_refused() -> None:
    with pytest.raises(PairboundsError, match="margn"):
        scores_asked(["margn"])
    assert [score.name for score in scores_asked(["all"])] == list(SCORES)
    assert len(CORRUPTIONS) == 4
