"""Quantities and refinements of one's own, against every correspondence."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain, permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

import bounds
from bounds import by_pairs
from bounds.correspondences import Objective, optimise
from bounds.errors import BackendError, CountError, InfeasibleError, QuantityError, RecordError
from bounds.knowledge import know
from bounds.own import OwnQuantity, Refinement, known_pairs, label_swaps, pair_quantity, transition_matrix
from bounds.quantities import QUANTITIES

LEVELS = ("marginals", "total-correct-correct", "correct-correct", "five-state")


class Record:
    """One record, for the plain functions of the tests."""

    def __init__(self, records, side, row):
        part = getattr(records, side)
        self.row = row
        self.image_id = part.image_id[row]
        self.correct = bool(part.correct[row])
        self.predicted = records.labels[part.predicted[row]]
        self.accepted = bool(part.accepted[row])
        self.true_probability = float(part.true_probability[row])


def all_pairings(records):
    """Every correspondence as a list of (class, clean record, perturbed record); the true one first."""
    classes = []
    for c in range(len(records.classes)):
        rows = range(int(records.starts[c]), int(records.starts[c + 1]))
        clean = [Record(records, "clean", i) for i in rows]
        perturbed = [Record(records, "perturbed", i) for i in rows]
        classes.append([[(c, x, y) for x, y in zip(clean, order, strict=True)] for order in permutations(perturbed)])
    return [list(chain.from_iterable(parts)) for parts in product(*classes)]


def retained(pairs, c=None):
    return sum(x.correct and y.correct for d, x, y in pairs if c in (None, d))


def persistent(pairs, c):
    return sum(not x.correct and not y.correct and x.predicted == y.predicted for d, x, y in pairs if c == d)


def consistent(pairs, truth, classes, level):
    """Whether a correspondence has the counts of the true one, as far as the level tells them."""
    if level == "total-correct-correct":
        return retained(pairs) == retained(truth)
    return (level == "marginals" or all(retained(pairs, c) == retained(truth, c) for c in classes)) and (
        level != "five-state" or all(persistent(pairs, c) == persistent(truth, c) for c in classes)
    )


def value(pairs, top, below, average, only):
    """The value of a function of (clean, perturbed) at a correspondence, None where it is undefined."""
    chosen = [(c, x, y) for c, x, y in pairs if only in (None, c)]
    tops, belows = {}, {}
    for c, x, y in chosen:
        tops[c] = tops.get(c, Fraction(0)) + Fraction(top(x, y))
        belows[c] = belows.get(c, Fraction(0)) + Fraction(0 if below is None else below(x, y))
    if below is None:
        return sum(tops.values(), Fraction(0))
    if average == "macro":
        rates = [tops[c] / belows[c] for c in tops if belows[c]]
        return sum(rates, Fraction(0)) / len(rates) if rates else None
    return sum(tops.values()) / sum(belows.values()) if sum(belows.values(), 0) else None


def attained(records, top, below=None, average="micro", level="marginals", only=None, holds=lambda pairs: True):
    """Every value over the correspondences that are left."""
    every, classes = all_pairings(records), range(len(records.classes))
    return {
        value(pairs, top, below, average, only)
        for pairs in every
        if consistent(pairs, every[0], classes, level) and holds(pairs)
    }


def check(records, quantity, expected, level, **options):
    """The interval is exactly the range of the expected values, and its witnesses attain it."""
    found = bounds.bound(records, quantity, level, witness=True, **options)
    defined = expected - {None}
    assert found.may_be_undefined == (None in expected)
    if not defined:
        assert (found.lower, found.upper) == (None, None)
        assert found.undefined is not None
        return found
    assert (found.lower, found.upper) == (min(defined), max(defined))
    assert found.sharp
    assert found.low.match is not None
    assert found.high.match is not None
    return found


def by_table(entries):
    """A plain function from a table over the (clean, perturbed) rows."""
    return lambda x, y: entries[x.row % len(entries)][y.row % len(entries)]


def own(name, function, records, denominator=None):
    """The plain functions of two `Record`s as a quantity, called pair by pair."""
    rows = [
        {name: Record(records, side, i) for i, name in enumerate(getattr(records, side).image_id)}
        for side in ("clean", "perturbed")
    ]

    def seen(plain):
        return lambda x, y: plain(rows[0][x.image_id], rows[1][y.image_id])

    below = seen(denominator) if callable(denominator) else denominator
    return pair_quantity(name, seen(function), denominator=below, vectorised=False)


def cell_function(weights):
    """A plain function of the state and the acceptance bits."""

    def function(x, y):
        state = 0 if x.correct and y.correct else 1 if x.correct else 2 if y.correct else 3
        state += not x.correct and not y.correct and x.predicted != y.predicted
        return weights[4 * state + 2 * x.accepted + y.accepted]

    return function


def on_retained(function):
    return lambda x, y: function(x, y) if x.correct and y.correct else 0


values = st.integers(-3, 3) | st.fractions(-2, 2, max_denominator=4) | st.sampled_from([0.5, 0.75, -0.25])
tables = st.lists(st.lists(values, min_size=5, max_size=5), min_size=5, max_size=5)
coarse_tables = st.lists(
    st.lists(st.integers(-6, 6).map(lambda n: Fraction(n, 4)), min_size=5, max_size=5), min_size=5, max_size=5
)
small_tables = st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=5, max_size=5)
cell_weights = st.lists(values, min_size=20, max_size=20)

DENOMINATORS = {
    "images": lambda x, y: True,
    "clean-correct": lambda x, y: x.correct,
    "retained-correct": lambda x, y: x.correct and y.correct,
    "perturbed-accepted-errors": lambda x, y: y.accepted and not y.correct,
}
SHAPES = {"cells": cell_weights, "retained-correct": tables, "pairs": tables}


def function_of(shape, entries):
    if shape == "cells":
        return cell_function(entries)
    return on_retained(by_table(entries)) if shape == "retained-correct" else by_table(entries)


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("level", LEVELS)
@given(data=st.data(), records=evaluations(max_images=4, max_classes=2))
@settings(max_examples=12, deadline=None)
def test_sums_of_any_function(shape, level, data, records):
    function = function_of(shape, data.draw(SHAPES[shape]))
    check(records, own("own", function, records), attained(records, function, level=level), level)


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("level", LEVELS)
@given(data=st.data(), records=evaluations(max_images=3, max_classes=2))
@settings(max_examples=8, deadline=None)
def test_ratios_of_any_function(shape, level, data, records):
    function = function_of(shape, data.draw(SHAPES[shape]))
    average = data.draw(st.sampled_from(["micro", "macro"]))
    name = data.draw(st.sampled_from([*DENOMINATORS, "own", "own"]))
    below = DENOMINATORS.get(name) or by_table(data.draw(small_tables))
    quantity = own("own", function, records, below if name == "own" else name)
    expected = attained(records, function, below, average, level)
    check(records, quantity, expected, level, average=average)


def test_many_digits_and_a_gap_are_outer_and_say_so():
    """A solver cannot tell neighbouring values of 53 digits apart: where the relaxation has a gap the end is outer."""
    right = [(0,)] * 3
    records = evaluation((right, right), (right, right))
    top, below = [[0] * 5 for _ in range(5)], [[0] * 5 for _ in range(5)]
    top[0][2] = top[0][4] = 1
    top[2][2] = 0.1
    for i, j in ((0, 0), (1, 2), (2, 2), (3, 3), (4, 0)):
        below[i][j] = 1
    expected = attained(records, by_table(top), by_table(below), "micro", "five-state") - {None}
    found = bounds.bound(records, own("own", by_table(top), records, by_table(below)), "five-state")
    assert found.lower <= min(expected)
    assert max(expected) <= found.upper
    assert found.sharp == ((found.lower, found.upper) == (min(expected), max(expected)))


@given(data=st.data(), records=evaluations(max_images=3, max_classes=2, min_images=1), level=st.sampled_from(LEVELS))
@settings(max_examples=25, deadline=None)
def test_a_class_alone(data, records, level):
    shape = data.draw(st.sampled_from(list(SHAPES)))
    function = function_of(shape, data.draw(SHAPES[shape]))
    below = by_table(data.draw(small_tables))
    only = len(records.classes) - 1
    expected = attained(records, function, below, level=level, only=only)
    found = check(records, own("own", function, records, below), expected, level, class_name=records.classes[only])
    assert found.images == len(records.select([only]).clean)
    assert all(end.match is None or sorted(end.match) == list(range(found.images)) for end in (found.low, found.high))


@given(data=st.data(), records=evaluations(max_images=4))
@settings(max_examples=20, deadline=None)
def test_each_method_gives_what_recognition_gives(data, records):
    shape = data.draw(st.sampled_from(list(SHAPES)))
    function = function_of(shape, data.draw(SHAPES[shape]))
    quantity = own("own", function, records, data.draw(st.sampled_from([None, "retained-correct"])))
    level = data.draw(st.sampled_from(LEVELS))
    first = bounds.bound(records, quantity, level)
    for method in ("milp", "enumerate"):
        other = bounds.bound(records, quantity, level, method=method)
        assert (first.lower, first.upper, first.sharp) == (other.lower, other.upper, other.sharp)
    outer = bounds.bound(records, replace(quantity, denominator=None), level, method="lp")
    inner = bounds.bound(records, replace(quantity, denominator=None), level)
    assert outer.lower <= inner.lower
    assert inner.upper <= outer.upper


def rows(records):
    """(clean, perturbed) ids of the true pairing."""
    return list(zip(records.clean.image_id, records.perturbed.image_id, strict=True))


@pytest.mark.parametrize("level", LEVELS)
@given(data=st.data(), records=evaluations(max_images=4, max_classes=2, max_labels=2))
@settings(max_examples=10, deadline=None)
def test_refinements_by_enumeration(level, data, records):
    function = by_table(data.draw(coarse_tables))
    below = data.draw(st.sampled_from([None, DENOMINATORS["images"], DENOMINATORS["retained-correct"]]))
    truth = all_pairings(records)[0]
    known = data.draw(st.lists(st.sampled_from(rows(records)), unique=True)) if rows(records) else []
    swaps = sum(x.predicted != y.predicted for _, x, y in truth)

    def matrix(pairs):
        return sorted((c, x.predicted, y.predicted) for c, x, y in pairs)

    def pairing(pairs):
        return {(x.image_id, y.image_id) for _, x, y in pairs}

    label = by_table(data.draw(small_tables))
    labels = [label(x, y) for _, x, y in truth]
    choices = {
        "matrix": (transition_matrix(records), lambda pairs: matrix(pairs) == matrix(truth)),
        "swaps": (label_swaps(swaps), lambda pairs: sum(x.predicted != y.predicted for _, x, y in pairs) == swaps),
        "known": (known_pairs(records, known), lambda pairs: set(known) <= pairing(pairs)),
        "kinds": (
            Refinement("kinds", own("kinds", label, records).function, counts={1: labels.count(1)}, vectorised=False),
            lambda pairs: sum(label(x, y) == 1 for _, x, y in pairs) == labels.count(1),
        ),
        "weights": (
            Refinement("weights", own("kinds", label, records).function, total=(None, sum(labels)), vectorised=False),
            lambda pairs: sum(label(x, y) for _, x, y in pairs) <= sum(labels),
        ),
    }
    chosen = [
        choices[name]
        for name in data.draw(st.lists(st.sampled_from(list(choices)), min_size=1, max_size=2, unique=True))
    ]
    quantity = own("own", function, records, below)
    expected = attained(
        records, function, below, level=level, holds=lambda pairs: all(holds(pairs) for _, holds in chosen)
    )
    found = check(records, quantity, expected, level, refinements=[refinement for refinement, _ in chosen])
    plain = bounds.bound(records, quantity, level)
    if found.lower is not None:
        assert plain.lower <= found.lower
        assert found.upper <= plain.upper


# Theory, C7: with k alone and an arbitrary cost, half of each of two permutations costs nothing.
FREE = {(i, i) for i in range(4)} | {(0, 2), (1, 3), (2, 1), (3, 0)}
HALVES = evaluation(([(0,), (0,), (1,), (1,)], [(0,), (0,), (1,), (1,)]))


def test_integrality_matters_for_an_arbitrary_cost():
    quantity = own("cost", lambda x, y: (x.row, y.row) not in FREE, HALVES)
    known = know(HALVES, "correct-correct", retained_correct=[1])
    assert quantity.kind(HALVES) == "pairs"
    found = bounds.bound(HALVES, quantity, known)
    assert (found.lower, found.sharp, found.method) == (1, True, "milp")
    relaxed = bounds.bound(HALVES, quantity, known, method="lp")
    assert (relaxed.lower, relaxed.sharp) == (0, False)


def test_above_the_limit_the_answer_is_the_relaxations(monkeypatch):
    monkeypatch.setattr(by_pairs, "CELL_LIMIT", 15)
    quantity = own("cost", lambda x, y: (x.row, y.row) not in FREE, HALVES)
    found = bounds.bound(HALVES, quantity, know(HALVES, "correct-correct", retained_correct=[1]))
    assert (found.lower, found.sharp, found.method) == (0, False, "lp")


def test_an_outer_end_is_no_wider_than_with_less_known(monkeypatch):
    quantity = own("cost", lambda x, y: (x.row, y.row) not in FREE, HALVES)
    kept = Refinement("both wrong", lambda x, y: ~x.correct & ~y.correct, total=1)
    monkeypatch.setattr(by_pairs.PairEngine, "_program", outer_if_refined(by_pairs.PairEngine._program))
    known = know(HALVES, "correct-correct", retained_correct=[1])
    found = bounds.bound(HALVES, quantity, known, refinements=[kept])
    assert (found.lower, found.sharp) == (1, False)


def outer_if_refined(program):
    """The relaxation where a refinement is there, else the integer program."""
    return lambda self, blocks, couplings, upper, method: program(
        self, blocks, couplings, upper, "lp" if self.question.refined else method
    )


def test_values_too_fine_for_a_solver_are_bounded_to_a_grid_step(monkeypatch):
    tiny = Fraction(1, 3**40)
    quantity = own("cost", lambda x, y: ((x.row, y.row) not in FREE) + tiny * (x.row * y.row), HALVES)
    known = know(HALVES, "correct-correct", retained_correct=[1])
    exact = bounds.bound(HALVES, quantity, known).lower
    monkeypatch.setattr("bounds.backends.enumerate.IMAGES", 3)
    found = bounds.bound(HALVES, quantity, known)
    assert not found.sharp
    assert 1 - Fraction(4, 2**24) < found.lower < exact


def test_what_a_function_is_recognised_as():
    records = evaluation(([(0,), (0,), (1,), (1,), (2,)], [(0,), (0,), (1,), (1,), (2,)]))
    mixed = by_table([[1, 2, 3, 4, 1], [2, 3, 4, 5, 3], [3, 4, 5, 7, 2], [4, 5, 6, 9, 6], [1, 3, 1, 2, 4]])
    states = [cell_function([int(4 * state <= cell < 4 * state + 4) for cell in range(20)]) for state in range(5)]
    kinds = [own("own", lambda x, y, s=s: s(x, y) * mixed(x, y), records).kind(records) for s in states]
    assert kinds == ["retained-correct", "pairs", "pairs", "pairs", "pairs"]
    assert all(own("own", state, records).kind(records) == "cells" for state in states)
    for level in LEVELS:
        for state in states:
            function = lambda x, y, s=state: s(x, y) * mixed(x, y)  # noqa: E731 -- one a state
            check(records, own("own", function, records), attained(records, function, level=level), level)


def test_the_total_is_met_by_retained_correct_pairs_alone():
    classes = [([(0,), (0,), (1,)], [(0,), (1,), (0,)])] * 2
    records = evaluation(*classes)
    function = on_retained(lambda x, y: (1 + x.row) * (2 + y.row) + Fraction(x.row == y.row, 3))
    for total in (2, 3, 4):
        known = know(records, "total-correct-correct", total=total)
        found = bounds.bound(records, own("own", function, records), known)
        values = [
            value(pairs, function, None, "micro", None) for pairs in all_pairings(records) if retained(pairs) == total
        ]
        assert (found.lower, found.upper, found.method) == (min(values), max(values), "lp")


@given(records=evaluations(max_images=5, max_labels=2))
@settings(max_examples=30, deadline=None)
def test_records_are_told_apart_by_what_is_known_of_them(records):
    def function(x, y):
        return x.accepted and y.accepted

    for level in LEVELS:
        found = bounds.bound(records, own("own", function, records), level, method="milp")
        expected = attained(records, function, level=level)
        assert (found.lower, found.upper) == (min(expected), max(expected))


@pytest.fixture(scope="module")
def cats():
    """One class of the packaged example."""
    path = Path(bounds.__file__).parent / "data" / "cifar10_resnet20.parquet"
    records = bounds.load_records(path).evaluation(None, "fog/3")
    return records.select([3]).at_threshold("0.8")


NAMED = {
    "lost-acceptance": lambda x, y: x.correct & y.correct & x.accepted & ~y.accepted,
    "mean-probability-decrease": lambda x, y: (x.correct & y.correct) * (x.true_probability - y.true_probability),
    "new-accepted-error": lambda x, y: ~y.correct & y.accepted & ~(~x.correct & x.accepted),
}


@pytest.mark.parametrize(
    ("name", "kind", "levels"),
    [
        ("lost-acceptance", "cells", ("marginals", "five-state", "paired")),
        ("mean-probability-decrease", "retained-correct", ("five-state", "paired")),
        ("new-accepted-error", "cells", ("marginals", "five-state", "paired")),
    ],
)
def test_named_quantities_written_as_ones_own(cats, name, kind, levels):
    over = "none" if kind == "retained-correct" else QUANTITIES[name].denominators[0]
    mine = pair_quantity(f"my-{name}", NAMED[name], denominator=None if over == "none" else over)
    assert mine.kind(cats) == kind
    for level in levels:
        first, second = (bounds.bound(cats, quantity, level, denominator=over) for quantity in (mine, name))
        assert (first.lower, first.upper, first.paired) == (second.lower, second.upper, second.paired)
        assert (first.sharp, first.may_be_undefined) == (second.sharp, second.may_be_undefined)


def test_a_named_quantity_may_be_refined(cats):
    found = bounds.bound(cats, "new-accepted-error", "five-state", refinements=[transition_matrix(cats)])
    plain = bounds.bound(cats, "new-accepted-error", "five-state")
    assert plain.lower < found.lower <= found.paired <= found.upper <= plain.upper
    assert found.sharp


@given(records=evaluations(max_images=4))
@settings(max_examples=20, deadline=None)
def test_vectorised_and_pair_by_pair_are_the_same(records):
    def function(x, y):
        return (x.predicted != y.predicted) * (x.true_probability - y.true_probability)

    def below(x, y):
        return 1 * x.accepted + y.accepted

    first, second = (
        bounds.bound(records, pair_quantity("own", function, denominator=below, vectorised=vectorised), "marginals")
        for vectorised in (True, False)
    )
    assert (first.lower, first.upper, first.denominator) == (second.lower, second.upper, second.denominator)


TWO = evaluation(([(0, True), (1, False)], [(0, False), (1, True)]))


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1j, "1", Decimal("nan")])
@pytest.mark.parametrize("vectorised", [True, False])
def test_what_is_no_finite_number_is_refused_with_the_pair(bad, vectorised):
    def function(x, y):
        if not vectorised:
            return bad if (x.correct, y.correct) == (True, False) else 0
        return np.array([[0, bad], [0, 0]], dtype=object if not isinstance(bad, float) else None)

    with pytest.raises(QuantityError, match=r"own at the pair \('image0', 'image1'\).*not a finite real number"):
        bounds.bound(TWO, pair_quantity("own", function, vectorised=vectorised), "marginals")


@pytest.mark.parametrize("shape", [(2,), (2, 3), (1, 1, 1)])
def test_another_shape_is_refused(shape):
    with pytest.raises(QuantityError, match=r"returns an array of shape \(2, 2\)"):
        bounds.bound(TWO, pair_quantity("own", lambda x, y: np.zeros(shape)), "marginals")


def test_values_count_as_what_they_are():
    for one in (True, 1, np.int8(1), Fraction(1), Decimal(1), np.float32(1)):
        found = bounds.bound(TWO, pair_quantity("own", lambda x, y, one=one: one, vectorised=False), "marginals")
        assert (found.lower, found.upper) == (2, 2)
    found = bounds.bound(TWO, pair_quantity("own", lambda x, y: 0.1 * (x.correct & y.correct)), "marginals")
    assert found.upper == Fraction(0.1)


def test_mistakes_of_a_question_are_refused():
    half = pair_quantity("half", lambda x, y: x.correct)
    cases = [
        (lambda: pair_quantity("q", max, denominator="wrong"), QuantityError, "denominator 'wrong'"),
        (lambda: bounds.bound(TWO, half, "marginals", denominator="wrong"), QuantityError, "choose among none"),
        (lambda: bounds.bound(TWO, half, "marginals", average="macro"), QuantityError, "no mean of class rates"),
        (lambda: bounds.bound(TWO, half, "marginals", class_name="other"), QuantityError, "not in the records"),
        (lambda: bounds.bound(TWO, half, "marginals", method="closed-form"), BackendError, "choose auto or milp"),
        (lambda: bounds.bound(TWO, half, "marginals", arithmetic="float"), QuantityError, "are exact"),
        (
            lambda: bounds.bound(TWO, pair_quantity("q", lambda x, y: x.confidence), "marginals"),
            RecordError,
            "confidence: the records have no such column",
        ),
        (
            lambda: bounds.bound(TWO, pair_quantity("q", lambda x, y: 1, denominator=lambda x, y: -1), "marginals"),
            QuantityError,
            "is negative for a pair",
        ),
        (lambda: Refinement("r", max), CountError, "needs either counts or a total"),
        (
            lambda: bounds.bound(TWO, half, "marginals", refinements=[Refinement("r", lambda x, y: 0.5, total=1)]),
            QuantityError,
            "a value that is no integer",
        ),
        (
            lambda: bounds.bound(TWO, half, "marginals", refinements=[label_swaps((2, 1))]),
            CountError,
            "the least count is above the greatest",
        ),
        (
            lambda: bounds.bound(TWO, half, "marginals", refinements=[label_swaps({"other": 1})]),
            QuantityError,
            "'other'",
        ),
    ]
    for call, error, words in cases:
        with pytest.raises(error, match=words):
            call()


def test_what_is_no_quantity_or_refinement_is_refused():
    half = pair_quantity("half", lambda x, y: x.correct)

    def refined(refinements):
        return lambda: bounds.bound(TWO, half, "marginals", refinements=refinements)

    cases = [
        (lambda: pair_quantity("q", 3), QuantityError, "quantity 'q' 3: not a function"),
        (lambda: pair_quantity(" ", max), QuantityError, "quantity, name ' ': not a name"),
        (lambda: pair_quantity(None, max), QuantityError, "quantity, name: not a name"),
        (lambda: OwnQuantity("lost", max), QuantityError, "quantity 'lost': is the name of a built-in one"),
        (lambda: Refinement("r", "f", total=1), QuantityError, "refinement 'r' 'f': not a function"),
        (lambda: Refinement("", max, total=1), QuantityError, "refinement, name '': not a name"),
        (lambda: Refinement("r", max, counts=[1]), CountError, r"r \[1\]: counts go by value"),
        (lambda: Refinement("r", max, counts={"a": 1}), CountError, "r 'a': a value of the function is an integer"),
        (lambda: Refinement("r", max, counts={1: "many"}), CountError, "r 'many': not a count"),
        (lambda: label_swaps({"class0": 0.5}), CountError, "label swaps 0.5: not a count"),
        (refined([3]), QuantityError, "refinements: not a list of refinements"),
        (refined(3), QuantityError, "refinements: not a list of refinements"),
        (refined(label_swaps(0)), QuantityError, "refinements: not a list of refinements"),
        (lambda: known_pairs(TWO, ["ab", "ba"]), QuantityError, "known pair 'ab': not a pair of image ids"),
        (lambda: known_pairs(TWO, [("a", "b", "c")]), QuantityError, r"known pair \('a', 'b', 'c'\): not a pair"),
        (lambda: known_pairs(TWO, [(1, 2)]), QuantityError, r"known pair \(1, 2\): not a pair of image ids"),
        (lambda: known_pairs(TWO, 3), QuantityError, "known pairs 3: not a list"),
        (
            lambda: transition_matrix(TWO, [[1], [2, 3]]),
            CountError,
            r"transition matrix: needs counts of shape \(1, 8, 8\)",
        ),
        (
            lambda: transition_matrix(TWO, np.ma.masked_array(np.ones((1, 2, 2), dtype=int), mask=True)),
            CountError,
            "transition matrix: needs counts of shape",
        ),
    ]
    for call, error, words in cases:
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize("vectorised", [True, False])
def test_masked_values_are_refused(vectorised):
    def function(x, y):
        return np.ma.masked_array(x.correct & y.correct, mask=~x.correct & y.correct) if vectorised else np.ma.masked

    with pytest.raises(QuantityError, match=r"own.*(values are masked|not a finite real number)"):
        bounds.bound(TWO, pair_quantity("own", function, vectorised=vectorised), "marginals")
    whole = pair_quantity("own", lambda x, y: np.ma.masked_array(x.correct & y.correct))
    assert bounds.bound(TWO, whole, "marginals").upper == 1


@pytest.mark.parametrize("vectorised", [True, False])
def test_an_error_of_a_function_is_told_with_its_name(vectorised):
    def function(x, y):
        return x.colour

    quantity = pair_quantity("own", function, vectorised=vectorised)
    with pytest.raises(
        QuantityError, match="own: its function raised AttributeError: a record has no 'colour'"
    ) as told:
        bounds.bound(TWO, quantity, "marginals")
    assert isinstance(told.value.__cause__, AttributeError)
    refinement = Refinement("mine", lambda x, y: [[1], [2, 3]], total=1)
    with pytest.raises(QuantityError, match="refinement 'mine': its function returns rows of different lengths"):
        bounds.bound(TWO, "retained-correct", "marginals", refinements=[refinement])


@pytest.mark.parametrize("level", ["marginals", "paired"])
@pytest.mark.parametrize(
    ("top", "below"),
    [(1.7e308, None), (Fraction(10) ** 400, None), (1.7e308, lambda x, y: 1e-10), (1, lambda x, y: 1.7e308)],
)
def test_values_beyond_floats_are_told_in_one_line(top, below, level):
    quantity = pair_quantity("own", lambda x, y: top, denominator=below, vectorised=False)
    with pytest.raises(QuantityError, match="quantity 'own': its values lie beyond the largest float"):
        bounds.bound(TWO, quantity, level)


def test_values_near_the_largest_float_are_exact():
    quantity = pair_quantity("own", lambda x, y: 8e307, vectorised=False)
    assert bounds.bound(TWO, quantity, "marginals").upper == 2 * Fraction(8e307)
    huge = pair_quantity("own", lambda x, y: Decimal("1e999999999"), vectorised=False)
    with pytest.raises(QuantityError, match="not 0 or between 1e-400 and 1e300 in size"):
        bounds.bound(TWO, huge, "marginals")


def test_infeasible_refinements_are_named():
    half = pair_quantity("half", lambda x, y: x.correct)
    with pytest.raises(InfeasibleError, match=r"refinement 'label swaps' 3: every correspondence .* from 0 to 2"):
        bounds.bound(TWO, half, "marginals", refinements=[label_swaps(3)])
    # Each count of swaps from 0 to 2 satisfies the relaxation, and only 0 and 2 a correspondence.
    with pytest.raises(InfeasibleError, match=r"refinement 'label swaps': .* found feasible by the integer program"):
        bounds.bound(TWO, half, "marginals", refinements=[label_swaps(1)])
    known = known_pairs(TWO, [("image0", "image0")])
    with pytest.raises(InfeasibleError, match="'label swaps, known pairs'"):
        bounds.bound(TWO, half, "marginals", refinements=[label_swaps(2), known])
    with pytest.raises(InfeasibleError, match="the true pairing breaks it"):
        bounds.bound(TWO, half, "paired", refinements=[label_swaps(2)])
    table = np.zeros((1, 8, 8), dtype=int)
    table[0, 0, 0] = 2
    with pytest.raises(InfeasibleError, match="clean label 'label0' 2: 1 clean records predict it"):
        transition_matrix(TWO, table)
    for pairs in ([("image0", "other")], [("image0", "image0"), ("image0", "image1")]):
        with pytest.raises(InfeasibleError):
            known_pairs(TWO, pairs)


def test_a_refinement_over_classes_and_a_varying_macro_rate_is_refused():
    records = evaluation(([(0,), (1,)], [(0,), (1,)]), ([(0,), (1,)], [(0,), (1,)]))
    with pytest.raises(BackendError, match="ties classes"):
        bounds.bound(records, "lost-acceptance", "marginals", average="macro", refinements=[label_swaps(2)])


@st.composite
def four_blocks(draw):
    """20 weights with one of the four blocks additive, and records with their k."""
    weights = np.array(draw(st.lists(st.integers(-3, 3), min_size=20, max_size=20)), dtype=object).reshape(5, 2, 2)
    block = draw(st.integers(0, 3))
    a, b, c, d = (draw(st.integers(-3, 3)) for _ in range(4))
    weights[block] = [[a + c, a + d], [b + c, b + d]]
    if block == 3:
        weights[4] = weights[3]
    return weights


@given(weights=four_blocks(), records=evaluations(max_images=7, min_images=1))
@settings(max_examples=40, deadline=None)
def test_four_block_integrality(weights, records):
    known = know(records, "correct-correct")
    for maximise in (True, False):
        ends = [
            optimise(records, Objective(weights, [0]), known, maximise=maximise, method=method).bound
            for method in ("lp", "milp")
        ]
        assert ends[0] == ends[1]


# Found among 7 494 random instances with 20 weights from -9 to 9, of which 4 have a gap given k alone.
GAP_RECORDS = evaluation(
    (
        [(3, True), (1, False), (1, True), (3, False), (0, True), (0, False)],
        [(0, False), (1, False), (1, False), (2, True), (0, True), (3, True)],
    )
)
GAP_WEIGHTS = np.array([1, 9, 7, -5, 0, 4, -5, 9, 1, -7, -1, 5, 1, 8, -3, -4, 2, -8, -1, 8], dtype=object).reshape(
    5, 2, 2
)


def gap(weights):
    known = know(GAP_RECORDS, "correct-correct", retained_correct=[1])
    found = [
        optimise(GAP_RECORDS, Objective(weights, [0]), known, maximise=True, method=method).bound
        for method in ("lp", "milp")
    ]
    return found[0] - found[1]


def test_a_gap_given_k_needs_interaction_in_all_four_blocks():
    assert gap(GAP_WEIGHTS) == 1
    assert (GAP_WEIGHTS[:, 0, 0] + GAP_WEIGHTS[:, 1, 1] != GAP_WEIGHTS[:, 0, 1] + GAP_WEIGHTS[:, 1, 0]).all()
    for block in ([0], [1], [2], [3, 4]):
        weights = GAP_WEIGHTS.copy()
        weights[block] = 0
        assert gap(weights) == 0
