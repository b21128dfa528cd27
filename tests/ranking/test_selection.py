"""Choosing copies: what is chosen never depends on what is measured."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import ceil

import numpy as np
import pytest

from bounds.errors import PairboundsError
from ranking import selection
from ranking.measures import Failures, parse_budget
from ranking.selection import Candidate, choose_copies

FIFTH = parse_budget("0.2")
NAMES = ("blur", "fog", "noise", "snow")


def candidate(model="a", images=60, seed=0, useful=(2.0, 0.5, 0.0, 1.0)):
    """A model whose copies tell failures, each as far as its number says; probabilities are distinct multiples."""
    rng = np.random.default_rng([seed, ord(model[0])])
    failures = (rng.random(images) < 0.4).astype(np.int64)
    noise = rng.normal(size=(len(NAMES), images))
    probability = 1 / (1 + np.exp(np.array(useful)[:, None] * (2 * failures - 1) + noise))
    return Candidate(model, [f"{i:03d}.png" for i in range(images)], NAMES, probability, Failures(failures))


def recall(one, rows, copies):
    """By sorting; there are no ties in these probabilities."""
    risk = [(-sum(one.true_probability[c, row] for c in copies), row) for row in rows]
    first = sorted(risk, reverse=True)[: ceil(Fraction(len(rows), 5))]
    failed = one.failures.counts
    return Fraction(int(sum(failed[row] for _, row in first)), int(sum(failed[row] for row in rows)))


def mean(values):
    return sum(values, Fraction(0)) / len(values)


def greedy(parts, most):
    """Copies in the order of their choice, on (candidate, rows) parts."""
    kept = []
    while len(kept) < most:
        gains = {c: mean([recall(one, rows, [*kept, c]) for one, rows in parts]) for c in range(4) if c not in kept}
        kept.append(max(gains, key=lambda c: (gains[c], -c)))
    return kept


def test_across_models_each_is_measured_with_what_the_others_chose() -> None:
    models = [candidate("a"), candidate("b", useful=(0.0, 2.0, 0.3, 1.0)), candidate("c", useful=(0.2, 0.0, 2.0, 0.5))]
    found = choose_copies(models, FIFTH, across="models", folds=3, draws=100)
    every = range(60)
    orders = {left: greedy([(one, every) for one in models if one is not left], 4) for left in models}
    # Folds come in an order of their own.
    assert sorted(found[3].names) == sorted(tuple(NAMES[c] for c in order) for order in orders.values())
    assert len(set(found[3].names)) > 1
    for size, row in enumerate(found, 1):
        assert row.copies == size
        assert row.held_out == float(mean([recall(left, every, order[:size]) for left, order in orders.items()]))
        others = [[(one, every) for one in models if one is not left] for left in models]
        chosen = [
            mean([recall(one, rows, order[:size]) for one, rows in parts])
            for parts, order in zip(others, orders.values(), strict=True)
        ]
        assert row.selected == float(mean(chosen))
        assert row.every == float(mean([recall(left, every, range(4)) for left in models]))
        sets = list(combinations(range(4), size))
        assert row.draws == len(sets)
        assert row.random == pytest.approx(float(mean([recall(left, every, s) for left in models for s in sets])))
    assert found[3].held_out == found[3].every == found[3].random


@pytest.fixture
def thirds(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Folds that depend on nothing but the place of an image: every third one is measured together."""
    monkeypatch.setattr(selection, "_folds", lambda names, *rest: {name: int(name[:3]) % 3 for name in names})
    return [np.arange(fold, 60, 3) for fold in range(3)]


def test_across_images_each_part_is_measured_with_what_the_rest_chose(thirds) -> None:
    models = [candidate("a", useful=(0.5,) * 4), candidate("b", useful=(0.5,) * 4)]
    found = choose_copies(models, FIFTH, folds=3, draws=100)
    rest = [np.setdiff1d(np.arange(60), rows) for rows in thirds]
    orders = [greedy([(one, rows) for one in models], 4) for rows in rest]
    assert found[3].names == tuple(tuple(NAMES[c] for c in order) for order in orders)
    assert len({tuple(order) for order in orders}) > 1
    for size, row in enumerate(found, 1):
        kept = [order[:size] for order in orders]
        held_out = [mean([recall(one, rows, c) for one in models]) for rows, c in zip(thirds, kept, strict=True)]
        selected = [mean([recall(one, rows, c) for one in models]) for rows, c in zip(rest, kept, strict=True)]
        assert (row.held_out, row.selected) == (float(mean(held_out)), float(mean(selected)))
        assert row.every == float(mean([recall(one, rows, range(4)) for one in models for rows in thirds]))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_chosen_does_not_depend_on_the_part_that_measures(thirds, seed: int) -> None:
    """Whatever is done to the labels and the copies of the images that a fold measures, it chooses the same."""
    one = candidate(seed=seed, useful=(0.5,) * 4)
    base = choose_copies([one], FIFTH, folds=3, draws=1)
    changed_elsewhere = 0
    for fold, rows in enumerate(thirds):
        rng = np.random.default_rng([seed, fold])
        counts, probability = one.failures.counts.copy(), one.true_probability.copy()
        counts[rows] = rng.permutation(counts[rows])
        probability[:, rows] = rng.permutation(probability[:, rows], axis=0)
        spoiled = replace(one, true_probability=probability, failures=Failures(counts))
        found = choose_copies([spoiled], FIFTH, folds=3, draws=1)
        assert [row.names[fold] for row in found] == [row.names[fold] for row in base]
        assert [row.held_out for row in found] != [row.held_out for row in base]
        changed_elsewhere += found[-1].names != base[-1].names
    # These images do have a say in what the other folds choose.
    assert changed_elsewhere


def test_recall_on_the_part_that_chose_flatters() -> None:
    """Copies of pure noise: no choice among them is better, and yet the chosen ones look so where they were chosen."""
    rng = np.random.default_rng(0)
    gaps = []
    for trial in range(12):
        one = replace(candidate(images=100, seed=trial), true_probability=rng.random((4, 100)))
        first = choose_copies([one], FIFTH, folds=4, draws=4, most=1)[0]
        gaps.append((first.selected - first.random, first.held_out - first.random))
    selected, held_out = np.mean(gaps, axis=0)
    assert selected > 0.02
    assert held_out < 0.01


def test_folds_hold_as_many_failures_and_depend_on_names_only() -> None:
    names = [f"{i}.png" for i in range(50)]
    strata = [int(i % 7 == 0) + int(i % 5 == 0) for i in range(50)]
    fold_of = selection._folds(names, strata, 4, 0, "images")
    for stratum in set(strata):
        sizes = [sum(fold_of[n] == f for n, s in zip(names, strata, strict=True) if s == stratum) for f in range(4)]
        assert max(sizes) - min(sizes) <= 1
    assert selection._folds(names[::-1], strata[::-1], 4, 0, "images") == fold_of
    assert selection._folds(names, strata, 4, 1, "images") != fold_of


def test_images_in_another_order_and_fewer_copies_change_nothing() -> None:
    models = [candidate("a"), candidate("b")]
    base = choose_copies(models, FIFTH, folds=3, draws=2, seed=5)
    moved = np.random.default_rng(1).permutation(60)
    shuffled = [
        replace(
            one,
            image_id=[one.image_id[row] for row in moved],
            true_probability=one.true_probability[:, moved],
            failures=Failures(one.failures.counts[moved]),
        )
        for one in models
    ]
    assert choose_copies(shuffled, FIFTH, folds=3, draws=2, seed=5) == base
    assert choose_copies(models, FIFTH, folds=3, draws=2, seed=5, most=2) == base[:2]


def test_copies_that_do_equally_well_are_taken_by_name() -> None:
    one = candidate()
    twin = replace(one, true_probability=np.repeat(one.true_probability[:1], 4, axis=0))
    assert choose_copies([twin], FIFTH, folds=2, draws=1)[-1].names == (NAMES, NAMES)


def test_parts_without_a_failure_are_left_out() -> None:
    one = candidate()
    none = replace(one, failures=Failures(np.zeros(60, dtype=np.int64)))
    assert choose_copies([one, replace(none, model="b")], FIFTH, folds=2, draws=1) == choose_copies(
        [one], FIFTH, folds=2, draws=1
    )
    first = choose_copies([none], FIFTH, folds=2, draws=1)[0]
    assert (first.held_out, first.selected, first.random, first.every) == (None,) * 4
    assert first.reason == "no image of any measuring part fails"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            {"budget": parse_budget("10")},
            "--budget '10': is a count, and each of 5 folds is measured by itself; give a share such as 0.2",
        ),
        ({"folds": 61}, "--folds 61: there are 60 images; give fewer folds, or split across the other"),
        (
            {"across": "models", "folds": 3},
            "--folds 3: there are 2 models; give fewer folds, or split across the other",
        ),
    ],
)
def test_what_cannot_be_split_is_refused(options, line) -> None:
    with pytest.raises(PairboundsError) as error:
        choose_copies([candidate("a"), candidate("b")], **{"budget": FIFTH, **options})
    assert error.value.line == line


def test_models_with_other_copies_are_refused() -> None:
    with pytest.raises(PairboundsError, match="b has other copies than a"):
        choose_copies([candidate("a"), replace(candidate("b"), names=("x", *NAMES[1:]))], FIFTH)
