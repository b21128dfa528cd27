"""Recall without the correspondence, against every bijection of small classes."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bounds.errors import PairboundsError
from ranking.measures import parse_budget
from ranking.pool import RankingRecords
from ranking.scores import score_all, scores_asked
from ranking.unpaired import LEVELS, RecallRange, recall_range, unpaired

SHARE = Fraction(1, 3)
PLACES = (Fraction(1), SHARE, Fraction(0))


def lost_in(places, wrong):
    """The places of the lost images of one class under every bijection: (failures, sum of their places).

    `places` holds one entry a clean record, None for one that is wrong when clean; `wrong` one flag a recapture.
    """
    found = set()
    for order in permutations(wrong):
        lost = [place for place, failed in zip(places, order, strict=True) if place is not None and failed]
        found.add((len(lost), sum(lost, Fraction(0))))
    return found


def marginals(classes):
    """What the two sides say of each class: places of its clean-correct images, and the failures possible (C1)."""
    tested, edge, rest = (np.array([sum(p == place for p in places) for places, _ in classes]) for place in PLACES)
    correct = tested + edge + rest
    images = np.array([len(places) for places, _ in classes])
    wrong = np.array([sum(flags) for _, flags in classes])
    return tested, edge, rest, np.maximum(0, correct + wrong - images), np.minimum(correct, wrong)


def recall_set(sets):
    """Every recall of one choice a class, and whether some choice has no failure."""
    sums = [[sum(column) for column in zip(*choice, strict=True)] for choice in product(*sets)]
    return {Fraction(top) / below for below, top in sums if below}, any(below == 0 for below, _ in sums)


one_class = st.integers(1, 4).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([*PLACES, None]), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
    )
)


def expected(recalls, undefined):
    return RecallRange(min(recalls, default=None), max(recalls, default=None), undefined)


@given(st.lists(one_class, min_size=1, max_size=3))
@example([([Fraction(1), None], [True, False])])
def test_knowing_the_two_sides_only(classes) -> None:
    sets = [lost_in(*one) for one in classes]
    *places, least, most = marginals(classes)
    assert recall_range(*places, SHARE, least, most) == expected(*recall_set(sets))


@given(st.lists(one_class, min_size=1, max_size=3), st.data())
def test_knowing_the_failures_of_each_class_or_of_all(classes, data) -> None:
    sets = [lost_in(*one) for one in classes]
    *places, least, most = marginals(classes)
    known = [data.draw(st.sampled_from(sorted({failures for failures, _ in found}))) for found in sets]
    within = [{point for point in found if point[0] == failures} for found, failures in zip(sets, known, strict=True)]
    exact = np.array(known)
    assert recall_range(*places, SHARE, exact, exact) == expected(*recall_set(within))

    total = sum(known)
    choices = [choice for choice in product(*sets) if sum(failures for failures, _ in choice) == total]
    recalls = {sum((top for _, top in choice), Fraction(0)) / total for choice in choices if total}
    assert recall_range(*places, SHARE, least, most, total) == expected(recalls, total == 0)


def test_more_knowledge_never_widens() -> None:
    stream = np.random.default_rng(0)
    for _ in range(200):
        tested, edge, rest = stream.integers(0, 6, (3, 4))
        images = tested + edge + rest
        least = stream.integers(0, images + 1)
        most = stream.integers(least, images + 1)
        known = stream.integers(least, most + 1)
        places = (tested, edge, rest, SHARE)
        nested = [
            recall_range(*places, least, most),
            recall_range(*places, least, most, int(known.sum())),
            recall_range(*places, known, known),
        ]
        for outer, inner in pairwise(nested):
            if inner.lower is not None:
                assert outer.lower <= inner.lower <= inner.upper <= outer.upper


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1)])
def test_an_edge_that_is_kept_or_left_whole_is_no_edge(share) -> None:
    counts = np.array([3]), np.array([4])
    edge = recall_range(*(np.array([x]) for x in (2, 5, 3)), share, *counts)
    whole = (7, 0, 3) if share else (2, 0, 8)
    assert edge == recall_range(*(np.array([x]) for x in whole), Fraction(0), *counts)


def table_of(images):
    """Records of (class, correct when clean, correct when printed, probability under a copy)."""
    rows = []
    for i, (label, clean, printed, probability) in enumerate(images):
        for condition, correct in (("clean", clean), ("fog/1", True), ("print", printed)):
            rows.append(
                {
                    "model": "m",
                    "condition": condition,
                    "image_id": f"{i}.png",
                    "label": label,
                    "predicted": label if correct else 9,
                    "true_probability": probability if condition == "fog/1" else 0.5,
                }
            )
    return pl.DataFrame(rows)


def asked(table, budgets=("0.4",)):
    records = RankingRecords(table)
    pool = records.pool("m", ["fog/1"], ["print"])
    rankings = score_all(pool, scores_asked(["mean_true_probability"]), ["fog/1"])
    evaluation = records.records.evaluation("m", "print")
    return unpaired(evaluation, pool, rankings, [parse_budget(text) for text in budgets])


image = st.tuples(st.integers(0, 1), st.booleans(), st.booleans(), st.sampled_from([0.1, 0.5, 0.9]))


@given(st.lists(image, min_size=1, max_size=6).filter(lambda images: any(clean for _, clean, _, _ in images)))
def test_every_level_is_the_range_over_all_bijections(images) -> None:
    """Expected recall over the orders of tied images, straight from the definition, under each correspondence."""
    ranked = [i for i, (_, clean, _, _) in enumerate(images) if clean]
    k = -(-len(ranked) * 2 // 5)
    place = {}
    for i in ranked:
        above = sum(images[j][3] < images[i][3] for j in ranked)
        tied = sum(images[j][3] == images[i][3] for j in ranked)
        place[i] = Fraction(min(max(k - above, 0), tied), tied)
    members = [[i for i, one in enumerate(images) if one[0] == label] for label in (0, 1)]
    worlds = []
    for both in product(*(permutations(rows) for rows in members)):
        partner = dict(zip([i for rows in members for i in rows], [j for rows in both for j in rows], strict=True))
        lost = [i for i in ranked if not images[partner[i]][2]]
        counts = tuple(sum(images[i][0] == label for i in lost) for label in (0, 1))
        worlds.append((counts, sum((place[i] for i in lost), Fraction(0))))
    truth = [i for i in ranked if not images[i][2]]
    known = tuple(sum(images[i][0] == label for i in truth) for label in (0, 1))
    found = {one.knowledge: one for one in asked(table_of(images))}
    assert list(found) == list(LEVELS)
    agree = (lambda counts: True, lambda counts: sum(counts) == len(truth), lambda counts: counts == known)
    for level, fits in zip(LEVELS, agree, strict=True):
        one = found[level]
        left = [(sum(counts), top) for counts, top in worlds if fits(counts)]
        assert (one.lower, one.upper) == (min(m for m, _ in left), max(m for m, _ in left))
        recalls = {top / m for m, top in left if m}
        assert one.recalls == expected(recalls, any(m == 0 for m, _ in left))
        assert one.failures == len(truth)
        assert one.k == k
        assert one.recall == (sum((place[i] for i in truth), Fraction(0)) / len(truth) if truth else None)


def test_the_knowledge_matters() -> None:
    """Class 0 has both its images at the top, and both fail; class 1 has a wrong capture that may be of any image."""
    images = [(0, True, i > 1, 0.1) for i in range(2)] + [(0, False, True, 0.5)] * 2
    images += [(1, True, True, 0.9)] * 3 + [(1, False, False, 0.9)]
    rows = {str(one.knowledge): (one.recalls.lower, one.recalls.upper) for one in asked(table_of(images))}
    assert rows == {"marginals": (0, 1), "total-correct-correct": (Fraction(1, 2), 1), "correct-correct": (1, 1)}


def test_an_image_that_is_not_ranked_is_told() -> None:
    table = table_of([(0, True, True, 0.1), (0, True, False, 0.2)])
    with pytest.raises(PairboundsError) as error:
        asked(table.filter(~((pl.col("condition") == "fog/1") & (pl.col("image_id") == "1.png"))))
    assert error.value.line.startswith("image_id '1.png': is not ranked, as 1 of the 2 clean-correct images")


def test_an_image_without_a_capture_is_no_part_of_it() -> None:
    table = table_of([(0, True, True, 0.1), (0, True, False, 0.2), (0, True, False, 0.3)])
    (first, *_) = asked(table.filter(~((pl.col("condition") == "print") & (pl.col("image_id") == "2.png"))), ("1",))
    assert (first.images, first.clean_correct, first.failures, first.recall) == (2, 2, 1, 0)
