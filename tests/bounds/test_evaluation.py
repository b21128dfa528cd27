"""Thresholds are compared in the dtype of the confidences; selections keep both sides aligned."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import evaluation

from bounds.errors import QuantityError, RecordError

BARE = evaluation(([(0,), (1,), (0,)], [(0,), (0,), (2,)]), acceptance=False)


def with_confidence(values, dtype=np.float32):
    column = np.array(values, dtype=dtype)
    return replace(
        BARE, clean=replace(BARE.clean, confidence=column), perturbed=replace(BARE.perturbed, confidence=column)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("text", ["0.7", "0.1", "0.9", "0.999999"])
def test_a_tie_accepts_in_every_spelling(dtype, text):
    records = with_confidence([text, np.nextafter(dtype(text), dtype(0)), 1], dtype)
    for threshold in (text, float(text), Decimal(text), np.float64(text)):
        assert records.at_threshold(threshold).clean.accepted.tolist() == [True, False, True]


def test_each_side_compares_in_its_own_dtype():
    single = with_confidence([0.7, 0.7, 0.7], np.float32)
    mixed = replace(single, perturbed=replace(single.perturbed, confidence=np.array([0.7] * 3)))
    found = mixed.at_threshold("0.7")
    assert found.clean.accepted.all()
    assert found.perturbed.accepted.all()
    assert found.threshold.clean == float(np.float32(0.7))
    assert found.threshold.perturbed == 0.7
    assert found.threshold.text == "0.7"


@given(st.decimals(0, 1, places=12), st.sampled_from([np.float32, np.float64]))
def test_the_threshold_is_the_nearest_float(decimal, dtype):
    used = with_confidence([0.5] * 3, dtype).at_threshold(decimal).threshold.clean
    assert dtype(used) == used
    step = np.spacing(dtype(used))
    for other in (used - float(step), used + float(step)):
        assert abs(Fraction(used) - Fraction(decimal)) <= abs(Fraction(other) - Fraction(decimal))


@pytest.mark.parametrize("bad", ["1.2", "-0.1", "nan", "inf", "high", "", "0,8", "０.8", "1e400", "1e-9999999"])
def test_bad_thresholds_are_one_clear_line(bad):
    with pytest.raises(QuantityError, match=r"give a decimal such as 0\.8"):
        with_confidence([0.5] * 3).at_threshold(bad)


def test_a_threshold_beside_an_accepted_column_is_refused():
    with pytest.raises(QuantityError, match="already carry a column 'accepted'"):
        evaluation(([(0, True)], [(0, True)])).at_threshold("0.5")


def test_a_second_threshold_replaces_the_first():
    once = with_confidence([0.2, 0.5, 0.9]).at_threshold("0.5")
    assert once.at_threshold("0.8").clean.accepted.tolist() == [False, False, True]


def test_records_without_confidences():
    with pytest.raises(RecordError, match="no such column"):
        BARE.at_threshold("0.5")


def test_select_keeps_rows_together():
    records = evaluation(([(0,), (1,)], [(1,), (1,)]), ([], []), ([(2,)], [(3,)]))
    chosen = records.select([2, 0])
    assert chosen.classes == ("class2", "class0")
    assert chosen.starts.tolist() == [0, 1, 3]
    assert chosen.clean.predicted.tolist() == [2, 0, 1]
    assert chosen.perturbed.predicted.tolist() == [3, 1, 1]
    assert records.select([1]).images == 0
    assert records.class_of_row.tolist() == [0, 0, 2]
