"""Numbers from outside, exactly; probabilities as integers, exactly (as dyadic rationals) or on a grid of 64 bits."""

from __future__ import annotations

import re
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = [
    "Arithmetic",
    "common_scale",
    "exact_number",
    "exact_text",
    "grid_exponent",
    "integers",
    "on_grid",
    "plain_array",
    "sort_within",
    "whole_number",
]

Floats = npt.NDArray[np.floating[Any]]
Arithmetic = Literal["exact", "float"]


SMALLEST, LARGEST = -400, 300
"""Decimals are read if they are 0 or between 1e-400 and 1e300 in size: no exponent builds a huge integer then, sums
over all images are within the range of floats, and a float as printed is read."""

LONGEST = 1000
"""Digits of a decimal at most."""


def exact_number(value: Any) -> Fraction:
    """A number from outside, exactly: a decimal string as written, a float as its shortest decimal.

    Args:
        value: a string, a float, a Decimal, or an integer or Fraction (also NumPy's).

    Raises:
        ValueError: with the rule that it breaks.

    >>> exact_number("0.10"), exact_number(0.1), exact_number("2e-1")
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 5))
    >>> exact_number("1e400")
    Traceback (most recent call last):
    ValueError: not 0 or between 1e-400 and 1e300 in size, of at most 1000 digits
    """
    outside = f"not 0 or between 1e{SMALLEST} and 1e{LARGEST} in size, of at most {LONGEST} digits"
    if isinstance(value, Rational) and not isinstance(value, bool):
        if abs(value) >= 10**LARGEST:
            raise ValueError(outside)
        return Fraction(value)
    number = Decimal("nan")
    if isinstance(value, str | float | np.floating | Decimal) and (text := str(value).strip()).isascii():
        with suppress(InvalidOperation):
            number = Decimal(text)
    if not number.is_finite():
        raise ValueError("not a finite decimal number")
    if number and not (SMALLEST <= number.adjusted() < LARGEST and len(number.as_tuple().digits) <= LONGEST):
        raise ValueError(outside)
    return Fraction(number) if number else Fraction(0)


def whole_number(text: str) -> int | None:
    """A count as text: 1 to 18 digits; None for anything else.

    >>> whole_number("012"), whole_number("-1"), whole_number("1" * 19)
    (12, None, None)
    """
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def plain_array(values: Any) -> npt.NDArray[Any]:
    """As `numpy.asarray`, which reads a masked array as its data.

    Raises:
        ValueError: if anything is masked, or rows have different lengths; its text names such an array.
    """
    if np.ma.is_masked(values):
        raise ValueError("an array in which values are masked")
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError("rows of different lengths") from None


def exact_text(value: Fraction | float | None) -> str | None:
    """An exact value as "p/q", also "3/1"; None where only a float is known.

    >>> exact_text(Fraction(3)), exact_text(0.5)
    ('3/1', None)
    """
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else None


def common_scale(*columns: Floats) -> tuple[list[npt.NDArray[np.object_]], int]:
    """Float columns as Python integers over one power of two, exactly.

    Returns:
        (object arrays, e): column value = integer / 2 ** e.

    >>> columns, exponent = common_scale(np.array([0.5, 0.75], dtype=np.float32))
    >>> columns[0].tolist(), exponent
    ([2, 3], 2)
    """
    parts = []
    for column in columns:
        mantissa, exponent = np.frexp(column.astype(np.float64))
        digits = np.ldexp(mantissa, 53).astype(np.int64)
        lowest = digits & -digits
        trailing = np.where(digits == 0, 53, np.frexp(np.maximum(lowest, 1).astype(np.float64))[1] - 1)
        parts.append((digits >> trailing, np.where(digits == 0, 0, exponent.astype(np.int64) - 53 + trailing)))
    scale = max([0, *(-int(e.min()) for _, e in parts if len(e))])
    integers = []
    for digits, exponents in parts:
        shifts = (exponents + scale).tolist()
        values = np.empty(len(shifts), dtype=object)
        values[:] = [d << shift for d, shift in zip(digits.tolist(), shifts, strict=True)]
        integers.append(values)
    return integers, scale


def grid_exponent(images: int) -> int:
    """The finest e for which a sum of `images` probabilities on the grid 2 ** -e stays within 62 bits.

    >>> grid_exponent(50_000)
    45
    """
    return 61 - max(images, 1).bit_length()


def on_grid(column: Floats, exponent: int) -> npt.NDArray[np.int64]:
    """Probabilities rounded to the grid 2 ** -exponent, as integers; each is off by at most half a step."""
    return np.rint(np.ldexp(column.astype(np.float64), exponent)).astype(np.int64)


def sort_within(values: Floats, groups: npt.NDArray[np.int64]) -> Floats:
    """Values sorted ascending within each group; `groups` is ascending already.

    float32 values ride in the low half of one integer key, which sorts several times faster than two keys.

    >>> sort_within(np.array([0.5, 0.25, 0.1], dtype=np.float32), np.array([0, 0, 1])).tolist()
    [0.25, 0.5, 0.10000000149011612]
    """
    if values.dtype != np.float32:
        return values[np.lexsort((values, groups))]
    keys = (groups.astype(np.uint64) << np.uint64(32)) | (values + np.float32(0)).view(np.uint32)
    keys.sort()
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)


def integers(
    first: Floats, second: Floats, arithmetic: Arithmetic, images: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """Two columns as integers over one power of two: exact ones, or on the grid on which `images` of them can be added.

    Returns:
        (first, second, e): Python integers in object arrays where exact, int64 on the grid.
    """
    if arithmetic == "float":
        exponent = grid_exponent(images)
        return on_grid(first, exponent), on_grid(second, exponent), exponent
    columns, exponent = common_scale(first, second)
    return columns[0], columns[1], exponent
