"""Floats as integers, and sorting within groups."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.exact import common_scale, grid_exponent, on_grid, sort_within

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
