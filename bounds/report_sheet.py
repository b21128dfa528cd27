"""A printed report as a certificate states it (CERTIFICATE.md), and the program over tables that it stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np

from bounds.errors import ClaimError
from bounds.printed import Printed, parse
from bounds.quantities import DENOMINATORS, QUANTITIES, STATES, Cells
from bounds.quantities import cells as chosen
from bounds.table_program import Row, TableProgram

__all__ = ["COUNTS", "Counted", "Reference", "Relation", "Said", "Sheet"]

Relation = Literal["is", "at least", "at most", "between"]

Reference = tuple[str | int, ...]
"""How a proof names a row, as in CERTIFICATE.md."""

COUNTS: Mapping[str, Cells] = {
    **DENOMINATORS,
    **{name: quantity.cells for name, quantity in QUANTITIES.items() if not quantity.probability},
    "perturbed-correct": chosen("CC WC"),
    "clean-wrong": chosen("WC WS WD"),
    "perturbed-wrong": chosen("CW WS WD"),
    "clean-accepted": chosen("CC CW WC WS WD", 1),
    "perturbed-accepted": chosen("CC CW WC WS WD", None, 1),
    "clean-accepted-correct": chosen("CC CW", 1),
    "perturbed-accepted-correct": chosen("CC WC", None, 1),
}
"""What may be counted, by name; besides any sum of cells, written as in "CC10 WS.1"."""

_CELLS = re.compile(r"(CC|CW|WC|WS|WD)([01.])([01.])")


@dataclass(frozen=True, slots=True)
class Counted:
    """numerator / denominator, or the numerator itself.

    Attributes:
        numerator, denominator: names in `COUNTS` or cells; None for a plain count.
        of_class: index of the class; None for all.
    """

    numerator: str
    denominator: str | None = None
    of_class: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in a certificate."""
        return {"numerator": self.numerator, "denominator": self.denominator, "class": self.of_class}


@dataclass(frozen=True, slots=True)
class Said:
    """A statement.

    Attributes:
        counted: of what.
        lower, upper: as printed; `upper` is "" but for "between".
        unit, rounding: as in `bounds.printed.parse`.
    """

    counted: Counted
    relation: Relation
    lower: str
    upper: str = ""
    unit: str = "fraction"
    rounding: str = ""

    @property
    def sides(self) -> tuple[Fraction | None, Fraction | None]:
        """What it may be; None where nothing is said.

        Raises:
            ClaimError: if a number cannot be read.
        """
        low = self._printed(self.lower)
        high = self._printed(self.upper) if self.relation == "between" else low
        return None if self.relation == "at most" else low.low, None if self.relation == "at least" else high.high

    def _printed(self, text: str) -> Printed:
        return parse(text, self.unit, self.rounding, whole=self.counted.denominator is None)

    def to_dict(self) -> dict[str, Any]:
        """As in a certificate."""
        printed = {"relation": self.relation, "lower": self.lower, "upper": self.upper}
        return self.counted.to_dict() | printed | {"unit": self.unit, "rounding": self.rounding}


@dataclass(frozen=True, eq=False)
class Sheet:
    """A report.

    Attributes:
        name: for the checker's lines.
        classes: (name, images) of each; one without a name (None) where classes are not told apart. Images are None
            where only statements speak of them.
        acceptance: whether cells tell what is accepted (20 a class), or not (5).
        statements: numbered from 0.
    """

    name: str
    classes: tuple[tuple[str | int | None, int | None], ...]
    acceptance: bool
    statements: tuple[Said, ...]

    @property
    def width(self) -> int:
        """Variables a class."""
        return 20 if self.acceptance else 5

    def form(self, text: str, of_class: int | None) -> dict[int, int]:
        """Coefficients of a count: variable `width * class + place`, places in the order of states, clean and perturbed
        acceptance.

        Raises:
            ClaimError: if the text names no count, or one of acceptance where there is none.
        """
        places = self._places(text)
        which = range(len(self.classes)) if of_class is None else (of_class,)
        return {self.width * c + place: 1 for c in which for place in places}

    def _places(self, text: str) -> list[int]:
        if text in COUNTS:
            weights = COUNTS[text] > 0
        else:
            weights = np.zeros((5, 2, 2), dtype=bool)
            for part in text.split(" "):
                match = _CELLS.fullmatch(part)
                if match is None:
                    raise ClaimError("count", text, "no name and no cells", f"choose among {', '.join(COUNTS)}")
                bits = [slice(None) if bit == "." else int(bit) for bit in match.groups()[1:]]
                weights[STATES.index(match[1]), bits[0], bits[1]] = True
        if self.acceptance:
            return np.flatnonzero(weights).tolist()
        if (weights != weights[:, :1, :1]).any():
            raise ClaimError("count", text, "depends on acceptance", "say something about acceptance, or leave it out")
        return np.flatnonzero(weights[:, 0, 0]).tolist()

    @cached_property
    def _rows(self) -> list[list[tuple[Reference, Row]]]:
        """The rows of each statement, for `program`."""
        found: list[list[tuple[Reference, Row]]] = []
        for number, said in enumerate(self.statements):
            top = self.form(said.counted.numerator, said.counted.of_class)
            below = said.counted.denominator
            rows = ratio_rows(top, None if below is None else self.form(below, said.counted.of_class), said.sides)
            found.append([(("statement", number, side), Row(str(number), *row)) for side, row in rows.items()])
        return found

    def program(self, given: Sequence[int]) -> tuple[TableProgram, list[Reference]]:
        """The program of some statements, whose rows bear their numbers as names, and what a proof calls each row."""
        references: list[Reference] = []
        rows: list[Row] = []
        for number, (_, images) in enumerate(self.classes):
            if images is not None:
                every = dict.fromkeys(range(self.width * number, self.width * (number + 1)), 1)
                references.append(("images", number))
                rows.append(Row("images", every, images, images))
        for number in given:
            for reference, row in self._rows[number]:
                references.append(reference)
                rows.append(row)
        return TableProgram(self.variables, tuple(rows)), references

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables."""
        bits = list(product("01", "01")) if self.acceptance else [("0", "0")]
        return tuple(
            f"{state}{a}{b}" + ("" if name is None else f" of {name}")
            for name, _ in self.classes
            for state in STATES
            for a, b in bits
        )

    def to_dict(self) -> dict[str, Any]:
        """As in a certificate, without answers."""
        return {
            "name": self.name,
            "classes": [{"name": name, "images": images} for name, images in self.classes],
            "acceptance": self.acceptance,
            "statements": [said.to_dict() for said in self.statements],
        }


def ratio_rows(
    top: Mapping[int, int], below: Mapping[int, int] | None, sides: tuple[Fraction | None, Fraction | None]
) -> dict[str, tuple[dict[int, Fraction | int], Fraction | int | None, Fraction | int | None]]:
    """The rows of a statement: (coefficients, lower, upper) by their name in proofs."""
    low, high = sides
    rows: dict[str, tuple[dict[int, Fraction | int], Fraction | int | None, Fraction | int | None]] = {}
    if below is None:
        if low is not None:
            rows["lower"] = dict(top), low, None
        if high is not None:
            rows["upper"] = dict(top), None, high
        return rows
    for name, side, limits in (("lower", low, (0, None)), ("upper", high, (None, 0))):
        if side is not None:
            sums = {i: top.get(i, 0) - side * below.get(i, 0) for i in {**below, **top}}
            rows[name] = sums, *limits
    rows["defined"] = dict(below), 1, None
    return rows
