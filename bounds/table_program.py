"""Programs over integer tables of counts: what printed statements leave open.

A `TableProgram` asks for whole numbers x >= 0 (how many images fall into each cell of a table) that obey every row,

.. math:: \\ell_r \\le \\sum_i a_{ri} x_i \\le u_r .

Coefficients and sides are integers or fractions, so that an answer can be checked exactly. Rows of one statement share
its name; `bounds.table_solver` answers, `bounds.table_proofs` says what a proof is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from bounds.errors import CountError

__all__ = ["Number", "Row", "Table", "TableProgram", "Vector", "whole"]

Number = int | Fraction

Vector = dict[int, int]
"""Integer coefficients by the index of the variable; those that are 0 are left out."""

Table = tuple[int, ...]
"""A whole number a variable."""


@dataclass(frozen=True, slots=True)
class Row:
    """lower <= sum of coefficients * x <= upper.

    Attributes:
        name: which statement it belongs to.
        coefficients: by the index of the variable; those left out are 0.
        lower, upper: None where there is no such side; equal for an equation.
    """

    name: str
    coefficients: Mapping[int, Number]
    lower: Number | None
    upper: Number | None

    def value(self, x: Sequence[Number]) -> Number:
        """The sum at a point; exact."""
        return sum((a * x[i] for i, a in self.coefficients.items()), 0)

    def holds(self, x: Sequence[Number]) -> bool:
        """Whether a point obeys it; exact."""
        value = self.value(x)
        return (self.lower is None or self.lower <= value) and (self.upper is None or value <= self.upper)


@dataclass(frozen=True, eq=False)
class TableProgram:
    """Whole numbers x >= 0 and rows that they obey.

    Attributes:
        variables: their names.
        rows: see `Row`.

    Raises:
        CountError: if a row speaks of a variable that is not there.

    >>> program = TableProgram(("kept", "lost"), (Row("images", {0: 1, 1: 1}, 10, 10), Row("lost", {1: 1}, 3, None)))
    >>> program.violated((7, 3)), program.violated((8, 2))
    (None, 'lost')
    """

    variables: tuple[str, ...]
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            for index in row.coefficients:
                if not 0 <= index < len(self.variables):
                    rule = f"there are {len(self.variables)} variables"
                    raise CountError("variable", index, rule, f"number them from 0 in the row {row.name!r}")

    @cached_property
    def whole_rows(self) -> tuple[tuple[Vector, Fraction], ...]:
        """Each row's coefficients as integers, and the positive factor that they were multiplied by."""
        return tuple(whole(row.coefficients) for row in self.rows)

    def violated(self, x: Sequence[int]) -> str | None:
        """The name of the first row that a table breaks, or None; exact.

        Raises:
            CountError: if there are not as many numbers as variables.
        """
        if len(x) != len(self.variables):
            raise CountError("table", len(x), f"there are {len(self.variables)} variables", "give one number each")
        negative = next((name for name, count in zip(self.variables, x, strict=True) if count < 0), None)
        if negative is not None:
            return f"{negative} >= 0"
        return next((row.name for row in self.rows if not row.holds(x)), None)

    def with_rows(self, rows: Iterable[Row]) -> TableProgram:
        """The program with further rows at the end."""
        return replace(self, rows=(*self.rows, *rows))

    def without(self, names: Collection[str]) -> TableProgram:
        """The program without the rows of these names."""
        return replace(self, rows=tuple(row for row in self.rows if row.name not in names))


def whole(coefficients: Mapping[int, Number]) -> tuple[Vector, Fraction]:
    """Coprime integer multiples of coefficients, and the positive factor.

    >>> whole({0: Fraction(1, 2), 3: Fraction(-3, 4), 5: 0})
    ({0: 2, 3: -3}, Fraction(4, 1))
    """
    present = {i: Fraction(a) for i, a in coefficients.items() if a}
    scale = math.lcm(*(a.denominator for a in present.values()))
    numbers = {i: int(a * scale) for i, a in present.items()}
    common = math.gcd(*numbers.values()) or 1
    return {i: a // common for i, a in numbers.items()}, Fraction(scale, common)
