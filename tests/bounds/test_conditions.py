"""Averages over conditions, against every tuple of correspondences, one chosen for each condition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_intervals import interval
from strategies import evaluation, evaluations

from bounds.conditions import GROUPS, average_over_conditions
from bounds.errors import QuantityError
from bounds.interval import Denominator
from bounds.knowledge import Level, know
from bounds.records import CORRUPTIONS
from bounds.solve import bound

ASKED = [
    ("lost-acceptance", "retained-correct"),
    ("lost-acceptance", "retained-correct-accepted"),
    ("gained-acceptance", "none"),
    ("mean-probability-decrease", "retained-correct"),
    ("lost", "clean-correct"),
    ("new-accepted-error", "perturbed-accepted-errors"),
]


def attained(parts, quantity, denominator, average, level):
    """Every mean over the conditions where the value is defined; None where it is in none."""
    choices = []
    for part in parts:
        counts = part.identity
        choices.append(oracles.values(part.evaluation, quantity, denominator, average, level, *counts))
    found = set()
    for choice in product(*choices):
        defined = [value for value in choice if value is not None]
        found.add(sum(defined) / len(defined) if defined else None)
    return found


class Part:
    """An evaluation under a condition of its own, with the counts of its true pairing."""

    def __init__(self, made, condition):
        self.evaluation = replace(made, perturbed_condition=condition)
        five = know(self.evaluation, Level.FIVE_STATE)
        self.identity = five.retained_correct.tolist(), five.persistent.tolist()


@settings(max_examples=150)
@given(
    st.lists(evaluations(max_images=3, max_classes=2, max_labels=2), min_size=1, max_size=3),
    st.sampled_from(ASKED),
    st.sampled_from([Level.MARGINALS, Level.CLASSWISE, Level.FIVE_STATE]),
    st.sampled_from(["micro", "macro"]),
)
def test_the_ends_are_those_of_every_tuple_of_correspondences(made, asked, level, average):
    quantity, denominator = asked
    average = "micro" if denominator == "none" else average
    parts = [Part(one, f"condition {number}") for number, one in enumerate(made)]
    intervals = [bound(part.evaluation, quantity, level, denominator=denominator, average=average) for part in parts]
    mean = average_over_conditions(intervals, "all of them")
    every = attained(parts, quantity, denominator, average, level)
    defined = every - {None}
    assert (mean.lower, mean.upper) == ((min(defined), max(defined)) if defined else (None, None))
    assert mean.may_be_undefined == (None in every)
    assert (mean.undefined is None) == bool(defined)
    assert mean.sharp
    assert (mean.perturbed, mean.images) == ("all of them", sum(part.evaluation.images for part in parts))
    values = [one.paired for one in intervals if one.paired is not None]
    assert mean.paired == (sum(values) / len(values) if values else None)
    if mean.paired is not None:
        assert mean.lower <= mean.paired <= mean.upper
    undefined = tuple(one.perturbed for one in intervals if one.undefined is not None)
    assert mean.averaged.left_out == undefined
    assert set(mean.averaged.conditions) | set(undefined) == {part.evaluation.perturbed_condition for part in parts}


def test_a_condition_that_may_be_undefined_is_left_out_where_that_helps():
    """Under b one correspondence retains the rejected record: rate 0, the other leaves none; under a the rate is 1."""
    certain = evaluation(([(0, True)], [(0, False)]))
    perhaps = evaluation(([(0, False), (1, True)], [(0, False), (1, True)]))
    parts = [Part(certain, "a"), Part(perhaps, "b")]
    intervals = [bound(part.evaluation, "lost-acceptance", "marginals") for part in parts]
    assert [(one.lower, one.upper, one.may_be_undefined) for one in intervals] == [(1, 1, False), (0, 0, True)]
    mean = average_over_conditions(intervals, "both")
    assert (mean.lower, mean.upper) == (Fraction(1, 2), 1)


def test_the_json_says_what_was_assumed_and_over_which_conditions():
    undefined = interval(None, None, perturbed="snow/3", undefined="0 retained-correct images", may_be_undefined=True)
    mean = average_over_conditions(
        [interval(perturbed="fog/3"), interval(Fraction(0), Fraction(0)), undefined][::2], "m"
    )
    told = mean.to_dict()
    assert told["assumption"] == "independent across conditions"
    assert (told["conditions"], told["left_out"], told["perturbed"]) == (["fog/3"], ["snow/3"], "m")
    assert (told["lower_exact"], told["upper_exact"]) == ("1/3", "2/3")
    assert told["denominator"] == {"name": "retained-correct", "lower": None, "upper": None}
    assert "assumption" not in interval().to_dict()


def test_what_is_outer_in_one_condition_is_outer_on_average():
    mean = average_over_conditions([interval(sharp=False), interval(perturbed="snow/3")], "m")
    assert not mean.sharp


def test_float_ends_keep_an_error_bound():
    made = Part(evaluation(([(0, True, 0.7), (0, True, 0.3)], [(0, True, 0.1), (1, True, 0.9)])), "a")
    other = Part(evaluation(([(0, True, 0.6)], [(0, True, 0.1)])), "b")
    quantity = "mean-probability-decrease"
    rough, exact = (
        average_over_conditions(
            [bound(part.evaluation, quantity, "marginals", arithmetic=arithmetic) for part in (made, other)], "m"
        )
        for arithmetic in ("float", "exact")
    )
    assert 0 < rough.error_bound < 1e-9
    assert rough.low.value is None
    for one, true in ((rough.lower, exact.lower), (rough.upper, exact.upper), (rough.paired, exact.paired)):
        assert isinstance(one, float)
        assert abs(Fraction(one) - true) <= Fraction(rough.error_bound)


def test_the_weakest_proof_and_every_method_are_told():
    one = interval()
    other = replace(one, perturbed="b", method="milp", backend="highs", low=replace(one.low, proof="branch and bound"))
    mean = average_over_conditions([one, other], "m")
    assert (mean.method, mean.backend) == ("closed-form, milp", "highs")
    assert (mean.low.proof, mean.high.proof) == ("branch and bound", "closed form")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"quantity": "lost"}, "average m, quantity"),
        ({"knowledge": "marginals"}, "average m, knowledge"),
        ({"threshold": "0.9"}, "average m, threshold '0.8 and 0.9': differ between conditions"),
        ({"model": "vit"}, "average m, model"),
        ({"denominator": Denominator("images", 9, 9)}, "denominators differ"),
        ({"perturbed": "fog/3"}, "a condition comes twice"),
    ],
)
def test_what_is_not_alike_in_all_else_is_refused(changes, told):
    with pytest.raises(QuantityError, match=told):
        average_over_conditions([interval(), interval(**{"perturbed": "snow/3"} | changes)], "m")


def test_an_average_over_nothing_is_refused():
    with pytest.raises(QuantityError, match="over no condition"):
        average_over_conditions([], "m")


def test_the_common_corruptions_are_fifteen_of_the_nineteen():
    common = GROUPS["corruptions/5"]
    assert len(set(common)) == 15
    assert {name.removesuffix("/5") for name in common} < CORRUPTIONS
    assert list(GROUPS) == [f"corruptions/{severity}" for severity in range(1, 6)]
