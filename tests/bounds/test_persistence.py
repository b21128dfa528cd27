"""What persistence buys, against enumeration."""

from __future__ import annotations

from fractions import Fraction

import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

from bounds.errors import QuantityError
from bounds.knowledge import Level, know
from bounds.persistence import persistence_gain
from bounds.quantities import QUANTITIES

RETAINED = {"lost-acceptance", "gained-acceptance", "mean-probability-decrease", "retained-correct"}


@settings(max_examples=100)
@given(evaluations(max_images=4, max_classes=2, max_labels=3), st.sampled_from(list(QUANTITIES)))
def test_the_share_removed_is_that_of_every_correspondence(made, name):
    (gain,) = persistence_gain(made, [name])
    five = know(made, Level.FIVE_STATE)
    k, s = five.retained_correct.tolist(), five.persistent.tolist()
    widths = []
    for level, interval in (("correct-correct", gain.without), ("five-state", gain.given)):
        every = oracles.values(made, name, interval.denominator.name, "micro", level, k, s) - {None}
        assert interval.knowledge == level
        assert (interval.lower, interval.upper) == ((min(every), max(every)) if every else (None, None))
        widths.append(max(every) - min(every) if every else None)
    assert gain.removed == (1 - widths[1] / widths[0] if widths[0] else None)
    assert gain.retained_only == (name in RETAINED)
    if gain.retained_only:
        assert gain.removed in (0, None)
    assert (gain.reason is None) == (gain.removed is not None and not gain.retained_only)


def test_the_smallest_example_in_which_persistence_decides():
    """Theory, C6: given k alone the new accepted errors are 0 or 1, given s they are 0."""
    made = evaluation(([(0, False), (1, True)], [(1, False), (2, True)]))
    names = ["new-accepted-error", "lost", "lost-acceptance"]
    new, lost, acceptance = persistence_gain(made, names, average="micro")
    assert (new.without.lower, new.without.upper, new.given.lower, new.given.upper) == (0, Fraction(1, 2), 0, 0)
    assert (new.removed, new.reason) == (1, None)
    assert (lost.removed, lost.reason) == (None, "the retained-correct counts fix it")
    assert (acceptance.removed, acceptance.reason) == (None, "undefined: 0 retained-correct images")


def test_the_json_has_both_intervals_and_the_share():
    made = evaluation(([(0, True), (0, False)], [(0, False), (0, True)]))
    told = persistence_gain(made, ["lost-acceptance"])[0].to_dict()
    assert (told["quantity"], told["removed"], told["removed_exact"]) == ("lost-acceptance", 0.0, "0/1")
    assert told["reason"] == "retained-correct pairs only: persistence removes nothing (C2)"
    assert (told["correct_correct"]["upper_exact"], told["five_state"]["upper_exact"]) == ("1/2", "1/2")
    assert told["paired_exact"] == "1/2"


def test_records_without_a_true_pairing_are_refused():
    with pytest.raises(QuantityError, match="'correct-correct': needs the count"):
        persistence_gain(evaluation(([(0, True)], [(0, True)]), paired=False), ["lost-acceptance"])
