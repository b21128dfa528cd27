"""Probabilities as integers: exactly (a float is a dyadic rational), or rounded to a grid that fits 64 bits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Arithmetic", "common_scale", "exact_text", "grid_exponent", "integers", "on_grid", "sort_within"]

Floats = npt.NDArray[np.floating[Any]]
Arithmetic = Literal["exact", "float"]


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
