"""The compact program of one class with named rows and variables, as CERTIFICATE.md states it, and weak duality on it.

Claim: compact_program (C10).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.program import Constraints
from bounds.quantities import STATES

__all__ = ["ClassProgram", "Groups", "Multipliers", "Name", "rational"]

Ints = npt.NDArray[np.int64]
Name = tuple[str | int, ...]
"""A row or a variable: its letter, the label if it has one, and its acceptance bits."""

Groups = Mapping[tuple[str | int | None, int], int]
"""The records of one side of a class: how many for each (label, None if correct; accepted)."""

BITS = (0, 1)

STATE_OF = {"cc": "CC", "cw": "CW", "wc": "WC", "ch": "WD", "st": "WS"}


@dataclass(frozen=True, slots=True)
class Multipliers:
    """Multipliers of the rows, and the bound that they give.

    Attributes:
        numbers: int64 of shape (rows,); the multipliers are these over `grid`.
        bound: what no point of the program exceeds.
    """

    numbers: Ints
    grid: int
    bound: Fraction


@dataclass(frozen=True, eq=False)
class ClassProgram:
    """lower <= M x <= upper, 0 <= x <= limit.

    Attributes:
        variables, rows: their names; variables whose limit is 0 are left out.
        cell: int64, which of the 20 weights is a variable's cost, -1 for none.
        limit: int64.
        row, variable, coefficient: int64, the entries of M, rows ascending.
        lower, upper: int64.
    """

    variables: tuple[Name, ...]
    rows: tuple[Name, ...]
    cell: Ints
    limit: Ints
    row: Ints
    variable: Ints
    coefficient: Ints
    lower: Ints
    upper: Ints

    @classmethod
    def of(
        cls, clean: Groups, perturbed: Groups, retained_correct: tuple[int, int], persistent: int | None
    ) -> ClassProgram:
        """The program of a class.

        Args:
            clean, perturbed: its records.
            retained_correct: the least and the greatest k that is allowed.
            persistent: s, None where it is not known.
        """
        return _Builder(clean, perturbed).program(retained_correct, persistent)

    def costs(self, weights: npt.NDArray[np.int64]) -> Ints:
        """int64 of shape (variables,): the costs that weights (5, 2, 2) make."""
        return np.append(weights.ravel(), 0)[self.cell]

    def with_row(self, name: Name, coefficients: Ints, lower: int, upper: int) -> ClassProgram:
        """The program with one more row."""
        used = np.flatnonzero(coefficients)
        return replace(
            self,
            rows=(*self.rows, name),
            row=np.concatenate([self.row, np.full(len(used), len(self.rows), dtype=np.int64)]),
            variable=np.concatenate([self.variable, used]),
            coefficient=np.concatenate([self.coefficient, coefficients[used]]),
            lower=np.append(self.lower, lower),
            upper=np.append(self.upper, upper),
        )

    @cached_property
    def constraints(self) -> Constraints:
        """The rows for a solver."""
        starts = np.searchsorted(self.row, np.arange(len(self.rows) + 1)).astype(np.int64)
        numbers = (self.coefficient, self.lower, self.upper)
        return Constraints(starts, self.variable, *(values.astype(np.float64) for values in numbers))

    def multipliers(self, cost: Ints, y: npt.NDArray[np.float64], grid: int, low: Ints, high: Ints) -> Multipliers:
        """Float multipliers, rounded to parts of a unit, and the bound on `cost` over low <= x <= high that they give.

        .. math:: c x \\le \\sum_r \\max(y_r \\ell_r, y_r u_r) + \\sum_v \\max(q_v l_v, q_v h_v),\\quad q = c - y M
        """
        numbers = np.rint(y * grid).astype(np.int64)
        left = cost * grid
        np.subtract.at(left, self.variable, self.coefficient * numbers[self.row])
        total = np.maximum(numbers * self.lower, numbers * self.upper).sum()
        total += np.maximum(left * low, left * high).sum()
        return Multipliers(numbers, grid, Fraction(int(total), grid))

    def named(self, found: Multipliers, shift: Ints | None = None) -> list[list[Any]]:
        """[row, multiplier] of those that are not 0; `shift`, whole multipliers, is added to them."""
        numbers = found.numbers if shift is None else found.numbers + shift * found.grid
        return [
            [list(self.rows[r]), rational(Fraction(int(numbers[r]), found.grid))]
            for r in np.flatnonzero(numbers).tolist()
        ]


def rational(value: Fraction | int) -> str:
    """A number as certificates write it.

    >>> rational(3)
    '3/1'
    """
    return f"{value.numerator}/{value.denominator}"


class _Builder:
    """Collects the variables and rows of a class."""

    def __init__(self, clean: Groups, perturbed: Groups) -> None:
        self.correct, self.wrong, self.labels = zip(*map(_margins, (clean, perturbed)), strict=True)
        self.common = [label for label in self.labels[0] if label in self.labels[1]]
        self.other = [
            [wrong[bit] - sum(labels[label][bit] for label in self.common) for bit in BITS]
            for wrong, labels in zip(self.wrong, self.labels, strict=True)
        ]
        self.images = sum(clean.values())
        self.sides: dict[Name, tuple[int, int]] = {}
        self.entries: list[tuple[Name, Name, int]] = []
        self.limits: dict[Name, int] = {}

    def program(self, retained_correct: tuple[int, int], persistent: int | None) -> ClassProgram:
        """All of it; see CERTIFICATE.md, rule `dual`."""
        self._rows()
        self.sides["k",] = retained_correct
        if persistent is not None:
            self.sides["s",] = persistent, persistent
        for a, b in product(BITS, BITS):
            self._variables(a, b, persistent is not None)
        rows, variables = list(self.sides), list(self.limits)
        row_of, variable_of = ({name: i for i, name in enumerate(names)} for names in (rows, variables))
        entries = sorted((row_of[row], variable_of[variable], number) for row, variable, number in self.entries)
        row, variable, coefficient = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        lower, upper = np.array(list(self.sides.values()), dtype=np.int64).T
        return ClassProgram(
            variables=tuple(variables),
            rows=tuple(rows),
            cell=np.array([_cell(name) for name in variables], dtype=np.int64),
            limit=np.array(list(self.limits.values()), dtype=np.int64),
            row=row,
            variable=variable,
            coefficient=coefficient,
            lower=lower,
            upper=upper,
        )

    def _rows(self) -> None:
        for a in BITS:
            for side, (correct, wrong, label, other, others) in enumerate(
                (("A", "W", "w", "wo", "wO"), ("B", "V", "v", "vo", "vO"))
            ):
                self.sides[correct, a] = (self.correct[side][a],) * 2
                self.sides[wrong, a] = (self.wrong[side][a],) * 2
                self.sides[others, a] = 0, self.other[side][a]
                for b in BITS:
                    self.sides[(other, a, b) if side == 0 else (other, b, a)] = 0, self.other[side][a]
                for name in self.common:
                    self.sides[label, name, a] = 0, self.labels[side][name][a]
        for name, a, b in product(self.common, BITS, BITS):
            self.sides["z", name, a, b] = -self.images, 0

    def _variables(self, a: int, b: int, persistent_known: bool) -> None:
        (A, B), (W, V), (w, v) = self.correct, self.wrong, self.labels
        changed: list[tuple[Name, int]] = [(("wo", a, b), 1), (("wO", a), 1), (("vo", a, b), 1), (("vO", b), 1)]
        changed += [(("z", label, a, b), -1) for label in self.common]
        self._add(("cc", a, b), A[a], B[b], (("A", a), 1), (("B", b), 1), (("k",), 1))
        self._add(("cw", a, b), A[a], V[b], (("A", a), 1), (("V", b), 1))
        self._add(("wc", a, b), W[a], B[b], (("W", a), 1), (("B", b), 1))
        self._add(("ch", a, b), W[a], V[b], (("W", a), 1), (("V", b), 1), *changed)
        known: list[tuple[Name, int]] = [(("s",), 1)] if persistent_known else []
        for x in self.common:
            rows: list[tuple[Name, int]] = [(("W", a), 1), (("V", b), 1), (("w", x, a), 1), (("v", x, b), 1)]
            leaves = ((("w", x, a), 1), (("z", x, a, b), 1), (("wo", a, b), -1), (("wO", a), -1))
            enters = ((("v", x, b), 1), (("z", x, a, b), 1), (("vo", a, b), -1), (("vO", b), -1))
            self._add(("st", x, a, b), w[x][a], v[x][b], *rows, *known)
            self._add(("out", x, a, b), w[x][a], V[b], *leaves)
            self._add(("in", x, a, b), W[a], v[x][b], *enters)

    def _add(self, variable: Name, clean: int, perturbed: int, *entries: tuple[Name, int]) -> None:
        if min(clean, perturbed) > 0:
            self.limits[variable] = min(clean, perturbed)
            self.entries += [(row, variable, coefficient) for row, coefficient in entries]


def _margins(groups: Groups) -> tuple[list[int], list[int], dict[str | int, list[int]]]:
    """Correct and wrong records by acceptance, and the wrong ones by label too."""
    correct, wrong, labels = [0, 0], [0, 0], dict[str | int, list[int]]()
    for (label, accepted), count in groups.items():
        if label is None:
            correct[accepted] += count
        else:
            wrong[accepted] += count
            labels.setdefault(label, [0, 0])[accepted] += count
    return correct, wrong, labels


def _cell(variable: Name) -> int:
    state = STATE_OF.get(str(variable[0]))
    return -1 if state is None else STATES.index(state) * 4 + 2 * int(variable[-2]) + int(variable[-1])
