"""Resampling of images, against rows that are really drawn again and put in every order of the ties."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import bootstrap
from ranking.bootstrap import Judged, interval, resampled_recalls
from ranking.measures import Failures, at_budget, parse_budget
from ranking.order import order_by

BUDGETS = [parse_budget(text) for text in ("0.2", "50%", "1.0", "2")]


def judged(scores, failures, image=None, unit=1):
    """One ranking; its images are the first ones unless told."""
    return Judged(
        "model",
        "score",
        "copies",
        "target",
        np.arange(len(scores)) if image is None else np.asarray(image),
        order_by(np.asarray(scores, dtype=np.float64)),
        Failures(np.asarray(failures, dtype=np.int64), unit),
    )


def k_of(text, images):
    """⌈share · n⌉, or the count but no more than there are."""
    share = {"0.2": Fraction(1, 5), "50%": Fraction(1, 2), "1.0": Fraction(1)}.get(text)
    return min(int(text), images) if share is None else ceil(share * images)


def mean_recall(rows, k):
    """Mean recall at k over the orders of (score, failure) rows that put no lower score first; None: no failure."""
    total = sum(failure for _, failure in rows)
    if not total:
        return None
    orders = [o for o in permutations(rows) if all(a[0] >= b[0] for a, b in pairwise(o))]
    return Fraction(sum(failure for order in orders for _, failure in order[:k]), len(orders) * total)


@st.composite
def pools(draw):
    """Images drawn from, those of the pool among them in any order, and their scores and failures of half a unit."""
    images = draw(st.integers(1, 6))
    member = draw(st.permutations(range(images)))[: draw(st.integers(1, images))]
    n = len(member)
    scores = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    failures = draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=n, max_size=n))
    return images, member, scores, failures


@given(pools(), st.integers(0, 9))
def test_a_resample_is_what_drawing_rows_again_gives(pool, seed) -> None:
    images, member, scores, failures = pool
    found = resampled_recalls([judged(scores, failures, member, unit=2)], BUDGETS, images, 3, seed)
    assert found.shape == (3, 1, len(BUDGETS))
    rng = np.random.default_rng(seed)
    for recalls in found[:, 0]:
        rows = []
        for drawn in rng.integers(0, images, images):
            rows += [(s, f) for i, s, f in zip(member, scores, failures, strict=True) if i == drawn]
        for budget, recall in zip(BUDGETS, recalls, strict=True):
            expected = mean_recall(rows, k_of(budget.text, len(rows)))
            assert np.isnan(recall) if expected is None else recall == pytest.approx(float(expected), abs=1e-12)


def test_a_resample_that_draws_every_image_once_is_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    one = judged(rng.integers(0, 9, 40), rng.integers(0, 4, 40), unit=3)
    monkeypatch.setattr(bootstrap, "_draws", lambda images, resamples, seed: [np.ones((1, images), dtype=np.int64)])
    found = resampled_recalls([one], BUDGETS, 40, 1, 0)[0, 0]
    assert found.tolist() == pytest.approx(
        [float(at_budget(one.order, one.failures, budget.images(40)).recall) for budget in BUDGETS], abs=1e-15
    )


def many(seed=1):
    """Three rankings of overlapping pools among 50 images."""
    rng = np.random.default_rng(seed)
    return [judged(rng.integers(0, 20, 40), rng.random(40) < 0.3, np.arange(first, first + 40)) for first in (0, 0, 10)]


def test_each_ranking_sees_the_same_resamples() -> None:
    """Also in whatever company it comes, and however the work is cut: a difference of two is paired."""
    rankings = many()
    together = resampled_recalls(rankings, BUDGETS, 50, 20, 7)
    for number, one in enumerate(rankings):
        alone = resampled_recalls([one], BUDGETS, 50, 20, 7)
        assert np.array_equal(alone[:, 0], together[:, number])
    twins = resampled_recalls([rankings[0]] * 2, BUDGETS, 50, 20, 7)
    assert np.array_equal(twins[:, 0], twins[:, 1])
    assert twins[:, 0, 0].std() > 0.01


def test_the_draws_do_not_depend_on_how_the_work_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = resampled_recalls(many(), BUDGETS, 50, 20, 7)
    monkeypatch.setattr(bootstrap, "CELLS", 150)
    assert np.array_equal(resampled_recalls(many(), BUDGETS, 50, 20, 7), whole)
    assert np.array_equal(resampled_recalls(many(), BUDGETS, 50, 8, 7), whole[:8])
    assert not np.array_equal(resampled_recalls(many(), BUDGETS, 50, 20, 8), whole)


def test_images_in_another_order_give_the_same_numbers() -> None:
    one = many()[2]
    moved = np.random.default_rng(3).permutation(40)
    other = Judged("m", "s", "c", "t", one.image[moved], one.order.take(moved), Failures(one.failures.counts[moved]))
    assert np.array_equal(resampled_recalls([one], BUDGETS, 50, 20, 0), resampled_recalls([other], BUDGETS, 50, 20, 0))


def test_the_spread_is_that_of_the_sampling_distribution() -> None:
    """Of 400 images 100 fail, independently of the score: c_k of m is close to hypergeometric, s = √(b(1−b)/m)."""
    rng = np.random.default_rng(5)
    one = judged(rng.random(400), np.arange(400) < 100)
    drawn = resampled_recalls([one], BUDGETS[:1], 400, 2000, 0)[:, 0, 0]
    assert drawn.std() == pytest.approx(np.sqrt(0.2 * 0.8 / 100), rel=0.12)


def test_an_interval_leaves_out_equal_shares_and_none_is_made_up() -> None:
    assert interval(np.arange(1001.0), Fraction(9, 10)) == (50.0, 950.0)
    assert interval(np.array([0.5, np.nan]), Fraction(9, 10)) is None
