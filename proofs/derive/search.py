"""The search for a closed form: expressions are added where the form so far is not attained, until it always is.

Weak duality makes every dual solution a bound that holds for all counts: an expression. The form so far is the greatest
of those found. Z3 is asked for counts that some table has, but none with the form's value; there the linear program's
dual gives a further expression, exactly. Where no such counts exist, the form is attained.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from bounds.errors import SolverError
from proofs.derive.forms import Expression, Form, simplest
from proofs.derive.model import Model

__all__ = ["Derived", "derive", "unimodular"]

MOST_EXPRESSIONS = 200

EXACT = "exact"
RELAXATION = "relaxation"
OPEN = "open"


@dataclass(frozen=True, slots=True)
class Derived:
    """One end.

    Attributes:
        upper: which end.
        form: what was found; None if the search met its limit.
        status: "exact": valid and attained by whole numbers, proved; "relaxation": valid, and attained by the linear
            relaxation, proved; "open": valid, and whether it is attained was not decided.
        how: what proved it, one sentence each.
        gap: counts at which no table of whole numbers attains the form, if that was found.
        seconds: spent.
    """

    upper: bool
    form: Form | None
    status: str
    how: tuple[str, ...]
    gap: Mapping[str, int] | None
    seconds: float


class _Unknown(Exception):
    """The limit was met."""


class _Solver:
    """Questions to Z3 about one end of one model; the greatest end is the least one of the negated weights."""

    def __init__(self, model: Model, upper: bool, limit: float) -> None:
        self.z3: Any = importlib.import_module("z3")
        self.model, self.upper = model, upper
        self.deadline = time.monotonic() + limit
        self.weights = {cell: -w if upper else w for cell, w in model.weights.items()}

    def _table(self, letter: str, whole: bool) -> dict[tuple[int, int], Any]:
        make = self.z3.Int if whole else self.z3.Real
        return {(i, j): make(f"{letter}{i}_{j}") for i, j in self.model.cells}

    def _counts(self, whole: bool) -> list[Any]:
        make = self.z3.Int if whole else self.z3.Real
        return [make(name) for name in self.model.symbols]

    def _fits(self, table: Mapping[tuple[int, int], Any], counts: Sequence[Any]) -> list[Any]:
        sums = [self.z3.Sum([table[c] for c in row] or [self.z3.IntVal(0)]) for row in self.model.rows]
        return [x >= 0 for x in table.values()] + [s == p for s, p in zip(sums, counts, strict=True)]

    def _value(self, table: Mapping[tuple[int, int], Any]) -> Any:
        return self.z3.Sum([self.weights[c] * table[c] for c in self.model.cells])

    def _greatest(self, expressions: Sequence[Sequence[Fraction]], counts: Sequence[Any], whole: bool) -> Any:
        found = None
        for multipliers in expressions:
            divisor = math.lcm(*(value.denominator for value in multipliers))
            total = self.z3.Sum([int(value * divisor) * p for value, p in zip(multipliers, counts, strict=True)])
            if divisor != 1:
                total = -((-total) / divisor) if whole else total / divisor
            found = total if found is None else self.z3.If(total > found, total, found)
        return found

    def _check(self, solver: Any) -> str:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise _Unknown
        solver.set("timeout", max(1, int(1000 * left)))
        verdict = str(solver.check())
        if verdict not in ("sat", "unsat"):
            raise _Unknown
        return verdict

    def missed(self, expressions: Sequence[Sequence[Fraction]], whole: bool) -> list[Fraction] | None:
        """Counts of some table at which no table has the form's value; None if there are none."""
        counts, some, every = self._counts(whole), self._table("y", whole), self._table("x", whole)
        attained = self.z3.BoolVal(False)
        if expressions:
            form = self._greatest(expressions, counts, whole)
            attained = self.z3.And([*self._fits(every, counts), self._value(every) == form])
        solver = self.z3.Tactic("qsat").solver()
        solver.add(*self._fits(some, counts), self.z3.ForAll(list(every.values()), self.z3.Not(attained)))
        if self._check(solver) == "unsat":
            return None
        found = solver.model()
        return [_fraction(found.eval(p, model_completion=True)) for p in counts]

    def dual(self, counts: Sequence[Fraction]) -> list[Fraction]:
        """An optimal solution of the dual program at some counts; exact."""
        solver = self.z3.Optimize()
        duals = [self.z3.Real(f"u{number}") for number in range(len(self.model.symbols))]
        for cell in self.model.cells:
            inside = [u for u, row in zip(duals, self.model.rows, strict=True) if cell in row]
            solver.add(self.z3.Sum(inside) <= self.weights[cell])
        # Both sides add up to the same number of images: one multiplier is free.
        solver.add(duals[len(self.model.clean) + len(self.model.perturbed) - 1] == 0)
        rational = [self.z3.RealVal(f"{p.numerator}/{p.denominator}") for p in counts]
        solver.maximize(self.z3.Sum([p * u for p, u in zip(rational, duals, strict=True)]))
        if self._check(solver) != "sat":
            raise _Unknown
        found = solver.model()
        return [_fraction(found.eval(u, model_completion=True)) for u in duals]

    def valid(self, multipliers: Sequence[Fraction]) -> bool:
        """Whether no table of whole numbers lies below an expression."""
        counts, table = self._counts(True), self._table("x", True)
        solver = self.z3.SolverFor("QF_LIA")
        solver.add(*self._fits(table, counts), self._value(table) < self._greatest([multipliers], counts, True))
        return self._check(solver) == "unsat"

    def constant(self, multipliers: Sequence[Fraction]) -> bool:
        """Whether every table of whole numbers has the value of an expression."""
        counts, table = self._counts(True), self._table("x", True)
        solver = self.z3.SolverFor("QF_LIA")
        solver.add(*self._fits(table, counts), self._value(table) != self._greatest([multipliers], counts, True))
        return self._check(solver) == "unsat"

    def superfluous(self, one: Sequence[Fraction], others: Sequence[Sequence[Fraction]]) -> bool:
        """Whether an expression is nowhere above all others, at counts of some table."""
        counts, table = self._counts(False), self._table("x", False)
        solver = self.z3.SolverFor("QF_LRA")
        own, rest = self._greatest([one], counts, False), self._greatest(others, counts, False)
        solver.add(*self._fits(table, counts), own > rest)
        return self._check(solver) == "unsat"


def _fraction(value: Any) -> Fraction:
    if hasattr(value, "numerator_as_long"):
        return Fraction(value.numerator_as_long(), value.denominator_as_long())
    return Fraction(value.as_long())


def unimodular(model: Model) -> bool:
    """Whether the matrix of counts over cells is totally unimodular (Ghouila-Houri, 1962).

    Every set of rows has signs with which each column sums to -1, 0 or 1: all sets are gone through. Then every vertex
    of the tables with whole counts is whole.
    """
    columns = [sum(1 << number for number, row in enumerate(model.rows) if cell in row) for cell in model.cells]
    return all(_signed(chosen, columns) for chosen in range(1, 1 << len(model.rows)))


def _signed(chosen: int, columns: Sequence[int]) -> bool:
    masks = {column & chosen for column in columns} - {0}
    rows = [1 << bit for bit in range(chosen.bit_length()) if chosen >> bit & 1]
    # The first row may be taken as positive.
    for signs in product((0, 1), repeat=len(rows) - 1):
        negative = sum(row for row, sign in zip(rows[1:], signs, strict=True) if sign)
        if all(abs(mask.bit_count() - 2 * (mask & negative).bit_count()) <= 1 for mask in masks):
            return True
    return False


def derive(model: Model, upper: bool, limit: float = 60.0) -> Derived:
    """One end of the quantity's interval as a closed form.

    Args:
        model: the question.
        upper: the greatest value, else the least.
        limit: seconds for this end.
    """
    start = time.monotonic()
    solver = _Solver(model, upper, limit)
    found: list[list[Fraction]] = []
    gap: list[Fraction] | None = None
    how: list[str] = []
    status, attained = OPEN, False
    try:
        while (counts := solver.missed(found, False)) is not None:
            found.append(solver.dual(counts))
            if len(found) > MOST_EXPRESSIONS:
                raise _Unknown
        attained = True
    except _Unknown:
        how.append("the search met its limit: further expressions may be missing")
    found = _pruned(solver, found) if attained else found
    if not found:
        return Derived(upper, None, OPEN, tuple(how), None, time.monotonic() - start)
    try:
        if not all(solver.valid(one) for one in found):
            raise SolverError("derive", model.quantity.name, "a dual solution is no bound", "report it")
        how.insert(0, "valid: no table of whole numbers lies beyond (Z3)")
    except _Unknown:
        how.insert(0, "valid: by weak duality, exact multipliers; Z3 met its limit")
    if attained:
        how.append("attained by the linear relaxation at all counts (Z3)")
        status, sentence, gap = _whole(solver, found)
        how.append(sentence)
    form = Form(upper, tuple(_signed_expression(model, one, upper) for one in found))
    shown = None if gap is None else {name: int(p) for name, p in zip(model.symbols, gap, strict=True)}
    return Derived(upper, form, status, tuple(how), shown, time.monotonic() - start)


def _whole(solver: _Solver, found: Sequence[list[Fraction]]) -> tuple[str, str, list[Fraction] | None]:
    """Whether whole numbers attain what the relaxation attains: status, sentence, and counts where they do not."""
    try:
        if len(found) == 1 and solver.constant(found[0]):
            return EXACT, "every table of whole numbers has this value (Z3)", None
        if unimodular(solver.model):
            told = "attained by whole numbers: the matrix is totally unimodular, all sets of rows gone through"
            return EXACT, told, None
        gap = solver.missed(found, True)
    except _Unknown:
        return RELAXATION, "whether whole numbers attain it was not decided within the limit", None
    if gap is None:
        return EXACT, "attained by whole numbers at all counts (Z3)", None
    return RELAXATION, "not attained by whole numbers at some counts (Z3)", gap


def _pruned(solver: _Solver, found: Sequence[list[Fraction]]) -> list[list[Fraction]]:
    kept = list(found)
    for one in found:
        others = [other for other in kept if other is not one]
        try:
            if others and solver.superfluous(one, others):
                kept = others
        except _Unknown:
            return kept
    return kept


def _signed_expression(model: Model, multipliers: Sequence[Fraction], upper: bool) -> Expression:
    return simplest(model, [-value for value in multipliers] if upper else multipliers)
