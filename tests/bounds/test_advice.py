"""What further statistics leave open, against every correspondence of small evaluations."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

from bounds.advice import COUNTS, USUAL, Statistic, _Intervals, advise, printable_counts
from bounds.count_programs import by_block, by_label, true_counts
from bounds.errors import QuantityError
from bounds.quantities import DENOMINATORS, QUANTITIES
from bounds.table_intervals import Ends
from bounds.table_solver import optimum

NAMES = (
    "lost-acceptance",
    "gained-acceptance",
    "lost",
    "flips",
    "persistent-wrong",
    "kept-accepted-error",
    "new-accepted-error",
    "correct-to-accepted-error",
    "kept-persistent-accepted-error",
)


def counted(name, x, y):
    """Whether a pair is counted by a statistic."""
    if name == "retained-correct-accepted-perturbed":
        return oracles.state(x, y) == "CC" and y[2]
    if name == "retained-correct-accepted":
        return oracles.state(x, y) == "CC" and x[2]
    return oracles.NUMERATORS[name](x, y)


def correspondences(records):
    """Every correspondence, as the pairs of each class; the true one first."""
    classes = []
    for c in range(len(records.classes)):
        rows = slice(int(records.starts[c]), int(records.starts[c + 1]))
        clean, perturbed = oracles.records(records.clean)[rows], oracles.records(records.perturbed)[rows]
        classes.append([list(zip(clean, order, strict=True)) for order in permutations(perturbed)])
    return list(product(*classes))


def ends(every, name, below, statistics):
    """The least and the greatest value over the correspondences with the true counts; None where undefined."""

    def told(pairs):
        found = []
        for one in statistics:
            counts = [sum(bool(counted(one.name, x, y)) for x, y in of_class) for of_class in pairs]
            found.append(tuple(counts) if one.per_class else sum(counts))
        return found

    truth = told(every[0])
    values = []
    for pairs in every:
        if told(pairs) != truth:
            continue
        flat = [pair for of_class in pairs for pair in of_class]
        top = sum(oracles.NUMERATORS[name](x, y) for x, y in flat)
        bottom = 1 if below == "none" else sum(bool(oracles.DENOMINATORS[below](x, y)) for x, y in flat)
        if bottom:
            values.append(Fraction(top) / bottom)
    return (min(values), max(values)) if values else (None, None)


@settings(max_examples=60)
@given(evaluations(max_images=4, max_classes=2), st.data())
def test_every_set_of_statistics_is_sharp(records, data):
    name = data.draw(st.sampled_from(NAMES))
    below = data.draw(st.sampled_from(QUANTITIES[name].denominators))
    every = correspondences(records)
    intervals = _Intervals(records, QUANTITIES[name], below, None)
    offered = [Statistic(one, per_class) for one in (*USUAL, "kept-accepted-error") for per_class in (False, True)]
    for _ in range(4):
        chosen = data.draw(st.lists(st.sampled_from(offered), max_size=4, unique=True))
        found = intervals.given(chosen)
        assert (found.lower, found.upper) == ends(every, name, below, chosen)
        assert found.sharp


@settings(max_examples=20)
@given(evaluations(max_images=4, max_classes=2), st.sampled_from(NAMES))
def test_the_steps_are_the_best_ones(records, name):
    below = QUANTITIES[name].denominators[0]
    advice = advise(records, name)
    every = correspondences(records)

    def width(statistics):
        lower, upper = ends(every, name, below, statistics)
        return 0 if lower is None else upper - lower

    offered = [step.statistic for step in advice.alone]
    assert [width([one]) for one in offered] == sorted(width([one]) for one in offered)
    known, left = [], width([])
    for step in advice.steps:
        assert step.ends.width == min(width([*known, one]) for one in offered) < left
        known.append(step.statistic)
        left = step.ends.width
    assert all(width([*known, one]) >= left for one in offered)
    chosen, enough = advice.enough
    assert enough.width == width(chosen) == width(offered)
    if len(chosen) <= 3:
        smaller = [subset for size in range(len(chosen)) for subset in combinations(offered, size)]
        assert all(width(subset) > enough.width for subset in smaller)


@pytest.fixture
def two_classes():
    """Two classes; 3 of 4 images correct on both sides, and one accepted there on both."""
    return evaluation(
        ([(0, True), (0, False), (1, True)], [(0, False), (0, True), (1, True)]),
        ([(0, True), (2, False)], [(0, True), (1, True)]),
    )


def test_the_table_to_print(two_classes):
    rows = printable_counts(two_classes, [Statistic("retained-correct", True), Statistic("persistent-wrong")])
    assert rows == [
        {"class": "class0", "statistic": "retained-correct", "count": 2},
        {"class": "class1", "statistic": "retained-correct", "count": 1},
        {"class": None, "statistic": "persistent-wrong", "count": 1},
    ]
    assert true_counts(two_classes)[:, 0].tolist() == [[[0, 1], [1, 0]], [[0, 0], [0, 1]]]
    assert COUNTS["retained-correct-accepted-perturbed"].sum() == 2


def test_a_width_that_is_enough(two_classes):
    wide = advise(two_classes, "lost-acceptance", denominator="none", width=Fraction(100)).enough
    assert wide[0] == ()
    narrow = advise(two_classes, "lost-acceptance", denominator="none", width=Fraction(1)).enough
    assert 0 < narrow[1].width <= 1


def test_margins_of_both_programs(two_classes):
    for pairs in (by_block(two_classes), by_label(two_classes)):
        for name in ("clean-correct", "perturbed-accepted-errors"):
            form = pairs.form(DENOMINATORS[name])
            assert optimum(pairs.program, form, "min").value == optimum(pairs.program, form, "max").value


def test_records_without_acceptance():
    records = evaluation(([(0,), (1,), (2,)], [(1,), (0,), (2,)]), acceptance=False)
    advice = advise(records, "lost")
    assert [step.statistic.name for step in advice.alone] == ["retained-correct", "persistent-wrong"]
    assert not any(step.statistic.per_class for step in advice.alone)
    assert advice.steps[0].ends == Ends(Fraction(1, 3), Fraction(1, 3))
    with pytest.raises(QuantityError, match="depends on acceptance"):
        advise(records, "lost", statistics=["retained-correct-accepted"])


def test_what_cannot_be_asked(two_classes):
    with pytest.raises(QuantityError, match="no such count"):
        advise(two_classes, "lost", statistics=["accuracy"])
    with pytest.raises(QuantityError, match="cannot be put beside"):
        advise(two_classes, "mean-probability-decrease", statistics=["persistent-wrong"])
    with pytest.raises(QuantityError, match="come from the pairing"):
        advise(evaluation(([(0,)], [(0,)]), paired=False), "lost")


def test_probabilities_know_the_retained_correct_counts(two_classes):
    advice = advise(two_classes, "mean-probability-decrease")
    assert {step.statistic.name for step in advice.alone} == {"retained-correct"}


def test_a_limit_gives_the_interval_of_less(two_classes):
    intervals = _Intervals(two_classes, QUANTITIES["lost-acceptance"], "none", 0)
    chosen = (Statistic("retained-correct"), Statistic("retained-correct-accepted"))
    found = intervals.given(chosen)
    assert not found.sharp
    assert found.width >= _Intervals(two_classes, QUANTITIES["lost-acceptance"], "none", None).given(chosen).width


def test_nothing_to_take_it_over():
    advice = advise(evaluation(([(1, True)], [(0, True)])), "lost-acceptance")
    assert (advice.marginals.undefined is not None, advice.steps) == (True, ())
    assert all(step.ends == Ends(None, None) for step in advice.alone)
