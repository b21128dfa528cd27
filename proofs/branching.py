"""Exact bounds on the integral points of a class's program: multipliers, and branching trees where they do not do.

A solver's floats only suggest multipliers and where to branch. What counts is evaluated in integers: a leaf is closed
when its rounded bound is at most the value claimed, or when its multipliers show that it has no point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds import backends
from bounds.compact_program import LinearProgram
from bounds.program import Constraints, Status
from proofs.class_program import ClassProgram, Ints, Multipliers

__all__ = ["GRIDS", "NODE_LIMIT", "Node", "Unproven", "as_json", "best_multipliers", "relaxations", "tree"]

Floats = npt.NDArray[np.float64]

GRIDS = (1, 2, 12, 840, 1 << 20)
"""Multipliers are rounded to these parts of a unit; the first that suffices is taken."""

NODE_LIMIT = 2_000
"""Most nodes of one tree."""

DEEPEST = 200
"""Most branchings above a leaf; a checker takes no more."""

INTEGRAL = 1e-6
"""A solver's number closer than this to an integer is taken for it, in the choice of a variable to branch on."""


class Unproven(Exception):
    """No proof was found; the message says why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a branching tree: either a case distinction or a leaf.

    Attributes:
        variable, at: the index of the variable and the integer; the cases are x <= at and x >= at + 1.
        cases: the two nodes below; empty for a leaf.
        multipliers: of the leaf.
        empty: whether they show that it has no point, rather than the bound.
    """

    variable: int = -1
    at: int = 0
    cases: tuple[Node, ...] = ()
    multipliers: Multipliers | None = None
    empty: bool = False

    def size(self) -> int:
        """How many nodes there are, this one and those below."""
        return 1 + sum(case.size() for case in self.cases)


def relaxations(programs: Sequence[ClassProgram], costs: Sequence[Ints]) -> list[Floats]:
    """Multipliers of each program's linear relaxation, all found by one run of a solver; zeros where it gave none.

    Args:
        programs: of different classes.
        costs: what each maximises.
    """
    offsets = np.cumsum([0, *(len(program.variables) for program in programs)])
    nothing = [np.zeros(len(program.rows)) for program in programs]
    if not offsets[-1]:
        return nothing
    parts = [program.constraints for program in programs]
    entries = np.cumsum([0, *(len(part.variables) for part in parts)])
    constraints = Constraints(
        np.concatenate([[0], *(part.starts[1:] + first for part, first in zip(parts, entries, strict=False))]),
        np.concatenate([part.variables + first for part, first in zip(parts, offsets, strict=False)]),
        *(np.concatenate([part[i] for part in parts]) for i in (2, 3, 4)),
    )
    block = np.repeat(np.arange(len(programs)), np.diff(offsets))
    duals = _solve(np.concatenate(costs), block, constraints)[1]
    if duals is None:
        return nothing
    return np.split(duals, np.cumsum([len(program.rows) for program in programs])[:-1])


def _solve(cost: Ints, block: Ints, constraints: Constraints) -> tuple[Floats | None, Floats | None]:
    """A solver's point and multipliers for the greatest cost; None for each that it does not give."""
    program = LinearProgram(cost, block, constraints, integral=False)
    answer = backends.get("highs").solve(program)
    if answer.status is not Status.OPTIMAL or answer.duals is None:
        return None, None
    # Multipliers come in units of the scaled costs, whose exponents are all alike for costs of one size.
    exponent = program.exponents
    rows = np.repeat(np.arange(len(constraints.lower)), np.diff(constraints.starts))
    owner = np.zeros(len(constraints.lower), dtype=np.int64)
    owner[rows] = block[constraints.variables]
    return answer.x, np.ldexp(answer.duals, exponent[owner])


def best_multipliers(
    program: ClassProgram, cost: Ints, y: Floats, low: Ints, high: Ints, target: int | None
) -> Multipliers:
    """The first rounding of `y` whose bound, rounded down, is at most `target`, else the one with the least bound."""
    best: Multipliers | None = None
    for grid in GRIDS:
        found = program.multipliers(cost, y, grid, low, high)
        if best is None or found.bound < best.bound:
            best = found
        if target is not None and math.floor(found.bound) <= target:
            return found
    assert best is not None
    return best


def tree(program: ClassProgram, cost: Ints, target: int) -> Node:
    """A branching tree which shows that no integral point has more than `target`.

    Args:
        program: its limits are the box that is divided.
        cost: int64; all 0 with target -1 asks for a proof that there is no point.

    Raises:
        Unproven: if a point has more, or the limits on nodes or depth are met.
    """
    return _Search(program, cost, target).node(np.zeros_like(program.limit), program.limit, 0)


@dataclass(slots=True)
class _Search:
    program: ClassProgram
    cost: Ints
    target: int
    nodes: int = 0

    def node(self, low: Ints, high: Ints, depth: int) -> Node:
        self.nodes += 1
        if self.nodes > NODE_LIMIT or depth > DEEPEST:
            raise Unproven(f"branching took more than {NODE_LIMIT} nodes or {DEEPEST} levels")
        program = self.program
        x, y = self._relaxed(low, high)
        if x is None or y is None:
            return self._without_points(low, high)
        found = best_multipliers(program, self.cost, y, low, high, self.target)
        if math.floor(found.bound) <= self.target:
            return Node(multipliers=found)
        away = np.abs(x - np.rint(x))
        variable = int(np.argmax(away))
        if away[variable] <= INTEGRAL:
            raise Unproven("a point of the program has more than the value, or its multipliers are too rough")
        at = min(max(math.floor(x[variable]), int(low[variable])), int(high[variable]) - 1)
        below, above = high.copy(), low.copy()
        below[variable], above[variable] = at, at + 1
        return Node(variable, at, (self.node(low, below, depth + 1), self.node(above, high, depth + 1)))

    def _relaxed(self, low: Ints, high: Ints) -> tuple[Floats | None, Floats | None]:
        """The relaxation's point and the multipliers of the program's rows; changed limits are further rows."""
        size = len(self.program.rows)
        x, y = _solve(self.cost, np.zeros(len(low), dtype=np.int64), self._boxed(low, high))
        return x, None if y is None else y[:size]

    def _boxed(self, low: Ints, high: Ints) -> Constraints:
        narrowed = np.flatnonzero((low > 0) | (high < self.program.limit))
        base, more = self.program.constraints, np.arange(1, len(narrowed) + 1)
        return Constraints(
            np.concatenate([base.starts, base.starts[-1] + more]),
            np.concatenate([base.variables, narrowed]),
            np.concatenate([base.coefficients, np.ones(len(narrowed))]),
            np.concatenate([base.lower, low[narrowed].astype(np.float64)]),
            np.concatenate([base.upper, high[narrowed].astype(np.float64)]),
        )

    def _without_points(self, low: Ints, high: Ints) -> Node:
        """A leaf that shows, by the multipliers of the least violation of all rows, that there is no point.

        Raises:
            Unproven: if it does not show that.
        """
        program, boxed = self.program, self._boxed(low, high)
        rows, size = len(boxed.lower), len(program.variables)
        slack = np.arange(rows)
        order = np.argsort(np.concatenate([np.repeat(slack, np.diff(boxed.starts)), slack, slack]), kind="stable")
        constraints = Constraints(
            boxed.starts + 2 * np.arange(rows + 1),
            np.concatenate([boxed.variables, size + slack, size + rows + slack])[order],
            np.concatenate([boxed.coefficients, np.ones(rows), -np.ones(rows)])[order],
            boxed.lower,
            boxed.upper,
        )
        cost = np.concatenate([np.zeros(size, dtype=np.int64), np.full(2 * rows, -1)])
        y = _solve(cost, np.zeros(len(cost), dtype=np.int64), constraints)[1]
        if y is not None:
            nothing = np.zeros_like(self.cost)
            for grid in GRIDS:
                found = program.multipliers(nothing, y[: len(program.rows)], grid, low, high)
                if found.bound < 0:
                    return Node(multipliers=found, empty=True)
        raise Unproven("the solver calls a case empty, and its multipliers do not show it")


def as_json(program: ClassProgram, node: Node, shift: Ints) -> dict[str, Any]:
    """The tree as in CERTIFICATE.md; `shift` is added to the multipliers of every leaf that shows a bound."""
    if node.cases:
        down, up = (as_json(program, case, shift) for case in node.cases)
        return {"variable": list(program.variables[node.variable]), "at": node.at, "down": down, "up": up}
    assert node.multipliers is not None
    if node.empty:
        return {"farkas": program.named(node.multipliers)}
    return {"rows": program.named(node.multipliers, shift)}
