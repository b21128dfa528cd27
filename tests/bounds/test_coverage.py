"""Thresholds chosen by clean coverage, against their definition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import evaluation

from bounds.coverage import at_coverage, at_every_threshold, threshold_for_coverage
from bounds.errors import QuantityError, RecordError


def confident(clean, perturbed=None, dtype=np.float32, perturbed_dtype=None):
    """One class of correct records with these confidences and no acceptance."""
    perturbed = clean if perturbed is None else perturbed
    made = evaluation(([(0,)] * len(clean), [(0,)] * len(clean)), acceptance=False)
    return replace(
        made,
        clean=replace(made.clean, confidence=np.array(clean, dtype=dtype)),
        perturbed=replace(made.perturbed, confidence=np.array(perturbed, dtype=perturbed_dtype or dtype)),
    )


confidences = st.lists(st.floats(0, 1, width=32) | st.sampled_from([0.1, 0.3, 0.8, 1.0]), min_size=1, max_size=12)
shares = st.decimals("0.001", "1", places=3) | st.sampled_from(["1", "0.5", ".25", "1e-3"])


@given(confidences, shares, st.sampled_from([np.float32, np.float64]))
@example([0.1, 0.1, 0.1], "0.5", np.float32)
@example([0.0, -0.0], "1", np.float64)
def test_it_is_the_largest_clean_confidence_that_accepts_enough(clean, share, dtype):
    made = confident(clean, [0.0] * len(clean), dtype=dtype)
    values = [Fraction(float(value)) for value in made.clean.confidence]
    enough = [v for v in values if Fraction(sum(w >= v for w in values), len(values)) >= Fraction(str(share))]
    at = at_coverage(made, share)
    assert Fraction(at.threshold.clean) == max(enough)
    assert at.threshold.coverage.asked == str(share)
    assert at.threshold.coverage.achieved == Fraction(sum(w >= max(enough) for w in values), len(values))
    assert at.clean.accepted.tolist() == [w >= max(enough) for w in values]


@given(confidences, shares)
def test_the_decimal_leads_back_to_the_same_acceptance(clean, share):
    made = confident(clean, clean[::-1], perturbed_dtype=np.float64)
    at, again = at_coverage(made, share), made.at_threshold(threshold_for_coverage(made, share))
    assert np.float32(at.threshold.text) == at.threshold.clean, "nothing is lost in its dtype"
    assert len(at.threshold.text) <= len("0.") + 9 + 45, "the shortest decimal of a float32"
    for one, other in ((at.clean, again.clean), (at.perturbed, again.perturbed)):
        assert one.accepted.tolist() == other.accepted.tolist()


def test_the_decimal_is_compared_on_both_sides_each_in_its_own_type():
    made = confident([0.1, 0.9], [np.float32(0.1), 0.1], perturbed_dtype=np.float64)
    at = at_coverage(made, "1")
    assert at.threshold.text == "0.1"
    assert at.threshold.perturbed == 0.1 != at.threshold.clean
    assert at.perturbed.accepted.tolist() == [True, True], "float32(0.1) lies above the float64 0.1"


def test_every_threshold_is_each_distinct_confidence_once():
    swept = list(at_every_threshold(confident([0.5, 0.25, 0.5, 1.0]), 3))
    assert [(at.threshold.text, at.threshold.coverage.achieved) for at in swept] == [
        ("1", Fraction(1, 4)),
        ("0.5", Fraction(3, 4)),
        ("0.25", Fraction(1)),
    ]
    assert {at.threshold.coverage.asked for at in swept} == {None}
    with pytest.raises(QuantityError, match="coverage 'all': 3 distinct clean confidences, more than 2"):
        at_every_threshold(confident([0.5, 0.25, 0.5, 1.0]), 2)


@pytest.mark.parametrize(
    "text", ["0", "-0.1", "1.01", "80 %", "80", "nan", "inf", "", "four fifths", "1e400", "1e-9999999", "1e9999999"]
)
def test_what_is_no_share_is_refused(text):
    with pytest.raises(QuantityError, match=r"coverage '.*': (a share of the clean images lies in \(0, 1\]|not )"):
        at_coverage(confident([0.5]), text)


def test_records_that_cannot_tell_are_refused():
    by_column = evaluation(([(0, True)], [(0, True)]))
    with pytest.raises(QuantityError, match="already carry a column 'accepted'"):
        at_coverage(by_column, "0.5")
    with pytest.raises(RecordError, match="confidence: the clean records have no such column"):
        at_coverage(evaluation(([(0,)], [(0,)]), acceptance=False), "0.5")
    with pytest.raises(QuantityError, match="there is no image"):
        at_coverage(confident([]), "0.5")


def test_a_threshold_may_be_chosen_anew():
    first = at_coverage(confident([0.5, 0.25]), "0.5")
    assert at_coverage(first, "1").threshold.text == "0.25"
