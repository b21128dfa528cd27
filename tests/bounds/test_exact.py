"""Floats as integers, and sorting within groups."""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.exact import common_scale, exact_number, grid_exponent, on_grid, plain_array, sort_within, whole_number

INF = float("inf")

floats32 = st.floats(0, 1, width=32)
floats64 = st.floats(0, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.lists(floats32, max_size=8), st.lists(floats32, max_size=8))
def test_common_scale_is_exact(dtype, first, second):
    columns, exponent = common_scale(np.array(first, dtype=dtype), np.array(second, dtype=dtype))
    for values, integers in ((first, columns[0]), (second, columns[1])):
        assert [Fraction(int(i), 2**exponent) for i in integers] == [Fraction(v) for v in values]


@given(st.lists(floats64, min_size=1, max_size=8))
def test_common_scale_of_doubles(values):
    (column,), exponent = common_scale(np.array(values))
    assert [Fraction(int(i), 2**exponent) for i in column] == [Fraction(v) for v in values]


@given(st.lists(floats64, min_size=1, max_size=8), st.integers(1, 10**7))
def test_the_grid_is_off_by_half_a_step_at_most_and_never_overflows(values, images):
    exponent = grid_exponent(images)
    assert images * 2**exponent < 2**62
    for integer, value in zip(on_grid(np.array(values), exponent).tolist(), values, strict=True):
        assert abs(Fraction(integer, 2**exponent) - Fraction(value)) <= Fraction(1, 2 ** (exponent + 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.lists(st.tuples(st.integers(0, 3), floats32 | st.just(-0.0)), max_size=20))
def test_sort_within(dtype, pairs):
    pairs = sorted(pairs, key=lambda pair: pair[0])
    groups = np.array([g for g, _ in pairs], dtype=np.int64)
    found = sort_within(np.array([v for _, v in pairs], dtype=dtype), groups)
    assert found.dtype == dtype
    assert found.tolist() == [v for _, v in sorted(pairs)]


@given(st.floats(allow_nan=False, allow_infinity=False, max_value=1e299, min_value=-1e299))
def test_a_number_is_its_decimal_however_it_is_given(value):
    exact = Fraction(str(value))
    assert {
        exact_number(one) for one in (value, np.float64(value), str(value), f" {value} ", Decimal(str(value)), exact)
    } == {exact}


@pytest.mark.parametrize("value", [None, True, np.True_, "", "1/2", "x", "٣", INF, -INF, float("nan"), "sNaN", 1j, [1]])
def test_what_is_no_number(value):
    with pytest.raises(ValueError, match="not a finite decimal number"):
        exact_number(value)


@pytest.mark.parametrize(
    "value", ["1e300", "1e-401", "-1e9999999", Decimal("1e-9999999"), 10**300, "1" * 1001, 1.7e308]
)
def test_numbers_out_of_reach(value):
    with pytest.raises(ValueError, match="not 0 or between 1e-400 and 1e300 in size, of at most 1000 digits"):
        exact_number(value)


def test_numbers_at_the_edge_of_reach():
    assert exact_number("9.9e299") == Fraction(99 * 10**298)
    assert exact_number("1e-400") == Fraction(1, 10**400)
    assert exact_number(str(sys.float_info.min * sys.float_info.epsilon)) > 0
    assert exact_number("0e9999999") == 0


def test_counts_as_text():
    assert [whole_number(text) for text in ("0", "007", "9" * 18)] == [0, 7, 10**18 - 1]
    assert [whole_number(text) for text in ("", " 1", "+1", "1.0", "٣", "9" * 19)] == [None] * 6


def test_arrays_are_plain():
    assert plain_array(np.ma.masked_array([1, 2], mask=False)).tolist() == [1, 2]
    for values in (np.ma.masked_array([1, 2], mask=[0, 1]), [[1], [2, 3]]):
        with pytest.raises(ValueError, match=r"masked|different lengths"):
            plain_array(values)
