"""The interval of a quantity over the tables of a program, a sum or a ratio of two."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bounds.exact import exact_text
from bounds.table_program import TableProgram, Vector
from bounds.table_solver import End, Infeasible, Sense, Undecided, Undefined, optimum, ratio_optimum

__all__ = ["Ends", "interval"]

SENSES: tuple[Sense, Sense] = ("min", "max")


@dataclass(frozen=True, slots=True)
class Ends:
    """An interval.

    Attributes:
        lower, upper: exact; None where nothing gives the quantity a denominator.
        sharp: whether both are attained; else nothing lies outside, and a limit was met.
    """

    lower: Fraction | None
    upper: Fraction | None
    sharp: bool = True

    @property
    def width(self) -> Fraction:
        """Upper less lower end; 0 where undefined."""
        return Fraction(0) if self.lower is None or self.upper is None else self.upper - self.lower

    def to_dict(self) -> dict[str, Any]:
        """As in `--json`."""
        return {
            "lower": None if self.lower is None else float(self.lower),
            "upper": None if self.upper is None else float(self.upper),
            "lower_exact": exact_text(self.lower),
            "upper_exact": exact_text(self.upper),
            "width": float(self.width),
            "sharp": self.sharp,
        }


def interval(
    program: TableProgram, numerator: Vector, denominator: Vector | None, *, node_limit: int | None = None
) -> Ends | Infeasible | Undecided:
    """Both ends over all tables; of a ratio, over those with a denominator of at least 1.

    Args:
        numerator, denominator: coefficients by the index of the variable; None for the sum itself.
        node_limit: as in `bounds.table_solver.optimum`.

    >>> from bounds.table_program import Row
    >>> program = TableProgram(("a", "b"), (Row("all", {0: 1, 1: 1}, 1, 4), Row("a", {0: 1}, 1, 2)))
    >>> found = interval(program, {0: 1}, {0: 1, 1: 1})
    >>> str(found.lower), str(found.upper)
    ('1/4', '1')
    """
    ends: list[Fraction] = []
    for sense in SENSES:
        found: End | Undefined | Infeasible | Undecided
        if denominator is None:
            found = optimum(program, numerator, sense, node_limit=node_limit)
        else:
            found = ratio_optimum(program, numerator, denominator, sense, node_limit=node_limit)
        if isinstance(found, Infeasible | Undecided):
            return found
        if isinstance(found, Undefined):
            return Ends(None, None)
        ends.append(found.value)
    return Ends(ends[0], ends[1])
