"""Rankings compared over models, against rows that are drawn again one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from photographs import photographs

from bounds.errors import PairboundsError
from ranking.bootstrap import Judged
from ranking.comparison import compare, judge
from ranking.measures import Failures, at_budget, parse_budget
from ranking.order import order_by
from ranking.pool import RankingRecords
from ranking.scores import score_all, scores_asked

FIFTH = [parse_budget("0.2")]


def judged(model, score, copies, values, failures, image=None, target="print"):
    """One ranking of a model."""
    image = np.arange(len(values)) if image is None else image
    order = order_by(np.asarray(values, dtype=np.float64))
    return Judged(model, score, copies, target, image, order, Failures(np.asarray(failures, dtype=np.int64)))


def random_models(models=3, images=40, pool=30, seed=0):
    """Two rankings of the pool of each model, which overlap: [(image, failures, values by ranking)]."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(models):
        failures = rng.random(pool) < 0.4
        values = [rng.integers(0, 12, pool) + weight * failures for weight in (3, 1)]
        found.append((rng.permutation(images)[:pool], failures, values))
    return found


def rankings_of(made):
    return [
        judged(f"model{m}", f"score{s}", "copies", values[s], failures, image)
        for m, (image, failures, values) in enumerate(made)
        for s in (0, 1)
    ]


def by_score(found):
    return {(one.score, one.copies): one for one in found}


def test_means_differences_and_intervals_are_those_of_rows_drawn_again() -> None:
    made = random_models()
    both = compare(rankings_of(made), FIFTH, 40, reference=("score0", "copies"), resamples=150, seed=4)
    rng = np.random.default_rng(4)
    recalls = np.zeros((150, 3, 2))
    for resample in recalls:
        drawn = rng.integers(0, 40, 40)
        for m, (image, failures, values) in enumerate(made):
            row_of = {int(i): row for row, i in enumerate(image)}
            rows = [row_of[i] for i in drawn.tolist() if i in row_of]
            for s in (0, 1):
                order, held = order_by(values[s][rows].astype(np.float64)), Failures(failures[rows].astype(np.int64))
                resample[m, s] = float(at_budget(order, held, FIFTH[0].images(len(rows))).recall)
    first, second = both
    exact = [
        [at_budget(one.order, one.failures, 6).recall for one in rankings_of(made) if one.score == f"score{s}"]
        for s in (0, 1)
    ]
    assert (first.recall, second.recall) == tuple(sum(values) / 3 for values in exact)
    assert second.difference == sum(b - a for a, b in zip(*exact, strict=True)) / 3
    means = recalls.mean(axis=1)
    assert first.interval == pytest.approx(np.quantile(means[:, 0], [0.025, 0.975]), abs=1e-12)
    assert second.interval == pytest.approx(np.quantile(means[:, 1], [0.025, 0.975]), abs=1e-12)
    paired = np.quantile(means[:, 1] - means[:, 0], [0.025, 0.975])
    assert second.difference_interval == pytest.approx(paired, abs=1e-12)
    assert (first.reference, first.difference, first.wins) == (None, None, None)


def test_a_ranking_under_another_name_differs_in_no_resample() -> None:
    """It would, were the two measured on resamples of their own."""
    made = random_models()
    rankings = [
        judged(f"model{m}", score, "copies", values[0], failures, image)
        for m, (image, failures, values) in enumerate(made)
        for score in ("one", "twin")
    ]
    found = by_score(compare(rankings, FIFTH, 40, reference=("one", "copies"), resamples=100))
    twin = found["twin", "copies"]
    assert twin.interval == found["one", "copies"].interval
    assert twin.interval[0] < twin.interval[1]
    assert (twin.difference, twin.difference_interval) == (0, (0.0, 0.0))
    assert (twin.wins, twin.ties, twin.losses) == (0, 3, 0)


def test_wins_ties_and_losses_are_counted_exactly() -> None:
    """1/3 by a tie of three is 1/3 by a tie of six: in floats 0.1 + 0.2 is not 0.3, here equal is equal."""
    fails = [1, 1, 0, 0, 0, 0]
    cases = {
        "wins": ([9, 8, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5]),
        "loses": ([0, 1, 2, 3, 4, 5], [9, 8, 3, 2, 1, 0]),
        "ties": ([5, 5, 5, 5, 5, 5], [9, 4, 9, 4, 9, 4]),
        "also ties": ([5, 5, 5, 5, 5, 5], [5, 5, 5, 5, 5, 5]),
    }
    rankings = [
        judged(model, score, "clean", values, fails)
        for model, pair in cases.items()
        for score, values in zip(("mine", "theirs"), pair, strict=True)
    ]
    budget = [parse_budget("3")]
    found = by_score(compare(rankings, budget, 6, reference=("theirs", "clean"), resamples=100))
    mine = found["mine", "clean"]
    assert (mine.wins, mine.ties, mine.losses) == (1, 2, 1)
    assert mine.difference == 0
    assert mine.recall == (1 + 0 + Fraction(1, 2) + Fraction(1, 2)) / 4


def test_one_failure_of_a_thousand_wins() -> None:
    fails = [0] + [1] * 1000
    rankings = [
        judged("model", score, "clean", values, fails)
        for score, values in (("mine", range(1001)), ("theirs", range(1001, 0, -1)))
    ]
    found = by_score(compare(rankings, FIFTH, 1001, reference=("theirs", "clean"), resamples=100))
    mine = found["mine", "clean"]
    assert (mine.difference, mine.wins, mine.ties) == (Fraction(1, 1000), 1, 0)


@pytest.mark.parametrize(
    ("hold", "partners"),
    [
        ("nothing", [None, "m@x", "m@x", "m@x", "m@x"]),
        ("score", [None, "m@x", None, "w@x", "m@x"]),
        ("copies", [None, None, "m@x", "m@y", "m@x"]),
    ],
)
def test_what_each_ranking_is_compared_with(hold, partners) -> None:
    rankings = [
        judged("model", score, copies, [number, 1, 0], [1, 0, 1])
        for number, (score, copies) in enumerate([("m", "x"), ("m", "y"), ("w", "x"), ("w", "y"), ("margin", "clean")])
    ]
    found = compare(rankings, FIFTH, 3, reference=("m", "x"), hold=hold, resamples=100)
    assert [one.reference and "@".join(one.reference) for one in found] == partners


def test_a_model_without_a_failure_is_left_out_and_told() -> None:
    rankings = [
        judged(model, score, "clean", values, fails)
        for model, fails in (("some", [1, 1, 1, 0, 0, 0]), ("none", [0] * 6))
        for score, values in (("mine", [5, 4, 3, 2, 1, 0]), ("theirs", [0, 1, 2, 3, 4, 5]))
    ]
    mine, theirs = compare(rankings, [parse_budget("0.5")], 6, reference=("mine", "clean"), resamples=100)
    assert (mine.models, mine.left_out, mine.recall) == (1, ("none",), 1)
    assert (theirs.difference, theirs.losses) == (-1, 1)
    none = [one for one in rankings if one.model == "none"]
    (first, second) = compare(none, FIFTH, 6, reference=("mine", "clean"), resamples=100)
    assert (first.recall, first.interval, first.models, first.reason) == (None, None, 0, "no model has a failure")
    assert (second.difference, second.wins) == (None, None)
    assert second.to_dict()["recall_interval"] == {"lower": None, "upper": None}


def test_without_a_failure_in_some_resample_there_is_no_interval_and_it_is_told() -> None:
    (one,) = compare([judged("m", "s", "clean", range(5), [1, 0, 0, 0, 0])], FIFTH, 5, reference=("s", "clean"))
    rng = np.random.default_rng(0)
    empty = sum(0 not in rng.integers(0, 5, 5) for _ in range(1000))
    assert one.undefined == empty > 0
    assert one.interval is None
    assert one.reason == f"no interval: in {empty} resamples a model has no failure"


def test_a_reference_that_is_not_there_is_refused() -> None:
    with pytest.raises(PairboundsError) as error:
        compare([judged("m", "s", "x", [1, 0], [1, 0])], FIFTH, 2, reference=("s", "y"))
    assert error.value.line == "--reference 's@y': is not among the rankings; choose among s@x"


def rankings_from(table):
    records = RankingRecords(table)
    scores = scores_asked(["mean_true_probability,clean_confidence"])
    pools = [records.pool(model, ["corruptions", "natural"], ["screen", "print"]) for model in ("a", "b")]
    return judge([(pool, score_all(pool, scores, ["corruptions", "natural"])) for pool in pools], "any")


def test_images_are_numbered_by_id_alike_for_every_model() -> None:
    table = photographs()
    rankings, images = rankings_from(table)
    clean = table.filter((pl.col("condition") == "clean") & (pl.col("label") == pl.col("predicted")))
    names = clean["image_id"].unique().sort().to_list()
    assert images == len(names) > 0
    for one in rankings:
        own = clean.filter(pl.col("model") == one.model)["image_id"]
        assert sorted(names[number] for number in one.image) == own.sort().to_list()
        wrong = table.filter(
            (pl.col("model") == one.model)
            & pl.col("condition").str.starts_with(one.target)
            & (pl.col("label") != pl.col("predicted"))
        )["image_id"].to_list()
        assert one.failures.counts.tolist() == [int(names[number] in wrong) for number in one.image]


def test_rows_in_another_order_change_nothing() -> None:
    budgets = [parse_budget(text) for text in ("0.1", "0.5")]
    both = []
    for table in (photographs(), photographs().sample(fraction=1, shuffle=True, seed=1)):
        rankings, images = rankings_from(table)
        both.append(compare(rankings, budgets, images, reference=("mean_true_probability", "natural"), resamples=100))
    assert both[0] == both[1]
    assert len(both[0]) == 2 * 2 * 3


def test_images_without_a_capture_are_no_part_of_what_is_resampled() -> None:
    table = photographs()
    kept = table.filter(~((pl.col("condition") == "print") & pl.col("image_id").str.starts_with("0/")))
    rankings, _ = rankings_from(kept)
    sizes = {(one.model, one.target): one.order.images for one in rankings}
    clean = table.filter((pl.col("condition") == "clean") & (pl.col("label") == pl.col("predicted")))
    for model in ("a", "b"):
        own = clean.filter(pl.col("model") == model)
        assert sizes[model, "screen"] == len(own)
        assert sizes[model, "print"] == len(own.filter(~pl.col("image_id").str.starts_with("0/"))) < len(own)
    for one in rankings:
        assert len(one.image) == one.order.images == len(one.failures.counts)
