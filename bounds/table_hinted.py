"""Large programs: a solver's floats are hints, and tables and proofs are made of them in exact arithmetic.

Multipliers are rounded to parts of a unit; where a coefficient then falls below zero, a row that caps its variable (the
images of its class) makes it up. What that costs is below the step from one whole number to the next, mostly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bounds import backends
from bounds.compact_program import LinearProgram
from bounds.program import Constraints, Status
from bounds.table_lattice import Conflict, Lattice
from bounds.table_program import Number, Row, Table, TableProgram, Vector
from bounds.table_proofs import CASE, Leaf, Node, Split, combined, numbered, round_row
from bounds.table_search import DEEPEST, MOST_LEVELS, Stopped, Unbounded, limit_met

__all__ = ["GRIDS", "Hinted"]

Floats = npt.NDArray[np.float64]

GRIDS = (1, 2, 12, 840, 1 << 20, 1 << 45)
"""Multipliers are rounded to these parts of a unit; the first that suffices is taken."""

WHOLE = 1e-6
"""A solver's number closer than this to an integer is taken for it, in the choice of what to branch on."""

FEW, NEAR_NODES = 200, 1_000
"""A row of few counts has so many at most; nodes of a try near the relaxation's point."""

Labelled = tuple[int, Row]
"""A row and its label in proofs (`bounds.table_proofs.numbered`)."""


class Hinted:
    """A program of many classes.

    Attributes:
        program: the program.
        proof: that it has no table, where rounding alone shows that.
        rows: the program's, then those that rounding makes.
    """

    def __init__(self, program: TableProgram) -> None:
        self.program = program
        self.proof: Node | None = None
        self._lattice = Lattice(program)
        try:
            self._lattice.reduce()
        except Conflict as conflict:
            self.proof = numbered(len(program.rows), self._lattice.rounds, conflict.leaf)
            return
        self.rows: list[Labelled] = list(enumerate(program.rows))
        known = dict(self.rows)
        for index, step in enumerate(self._lattice.rounds):
            rounded = round_row(known, step)
            assert rounded is not None
            known[-1 - index] = rounded
            self.rows.append((-1 - index, rounded))
        self._caps: dict[int, tuple[int, Number]] = {}
        for label, row in self.rows:
            if row.upper is not None and min(row.coefficients.values(), default=-1) >= 0:
                for i, a in row.coefficients.items():
                    if a:
                        self._caps.setdefault(i, (label, a))

    def table(self, node_limit: int) -> Table | Node:
        """As `bounds.table_search.Prepared.table`."""
        if self.proof is not None:
            return self.proof
        answer = self.solve({}, self.rows, integral=True, node_limit=node_limit)
        table = None if answer.x is None else self._checked(answer.x)
        if table is not None:
            return table
        search = _Tree(self, None, node_limit)
        root = search.node({}, [], 0)
        return numbered(len(self.program.rows), self._lattice.rounds, root)

    def greatest(self, objective: Vector, node_limit: int) -> tuple[Table, Node] | Node:
        """As `bounds.table_search.Prepared.greatest`."""
        if self.proof is not None:
            return self.proof
        relaxed = self.solve(objective, self.rows)
        if relaxed.status in (Status.UNBOUNDED, Status.INFEASIBLE_OR_UNBOUNDED) and isinstance(
            found := self.table(node_limit), tuple
        ):
            raise Unbounded
        table = None if relaxed.x is None else self._near(objective, relaxed)
        if table is None:
            answer = self.solve(objective, self.rows, integral=True, node_limit=node_limit)
            table = None if answer.x is None else self._checked(answer.x)
        if table is None:
            found = self.table(node_limit)
            if not isinstance(found, tuple):
                return found
            table = found
        more = len(self.program.rows)
        beyond = Row("beyond", objective, _at(objective, table) + 1, None)
        try:
            root = _Tree(self, (more, beyond), node_limit).node(objective, [], 0)
        except Stopped as stopped:
            raise Stopped(stopped.reason, table) from None
        return table, numbered(more + 1, self._lattice.rounds, root)

    def _checked(self, x: Floats) -> Table | None:
        """The nearest table, if it obeys all rows."""
        table = tuple(np.rint(x).astype(np.int64).tolist())
        return table if self.program.violated(table) is None else None

    def _near(self, objective: Vector, relaxed: _Hint) -> Table | None:
        """A table near the relaxation's point with its objective, rounded down; None if none is found.

        Counts that are whole there stay, the others are solved for; then with all that share a row of few counts; then
        with one in 30 of such rows besides.
        """
        assert relaxed.x is not None
        nearest = np.rint(relaxed.x)
        free = set(np.flatnonzero(np.abs(relaxed.x - nearest) > WHOLE).tolist())
        few = [row.coefficients for _, row in self.rows if len(row.coefficients) <= FEW]
        for wider in (few, few[::30], few):
            x = nearest.astype(np.int64)
            if free:
                found = self._solve_for(objective, x.tolist(), sorted(free))
                if found is not None:
                    x[sorted(free)] = found
            table = self._checked(x.astype(np.float64))
            if table is not None and relaxed.value - _at(objective, table) < 1 - WHOLE:
                return table
            free |= {i for row in wider if wider is not few or not free.isdisjoint(row) for i in row}
        return None

    def _solve_for(self, objective: Vector, x: list[int], free: Sequence[int]) -> npt.NDArray[np.int64] | None:
        """The free counts with the most of the objective, the others staying as they are; None if none is found."""
        number = {i: place for place, i in enumerate(free)}
        rows: list[tuple[Mapping[int, Number], Number | None, Number | None]] = []
        for _, row in self.rows:
            part = {number[i]: a for i, a in row.coefficients.items() if i in number}
            if part:
                fixed = sum((a * x[i] for i, a in row.coefficients.items() if i not in number and x[i]), 0)
                lower = None if row.lower is None else row.lower - fixed
                rows.append((part, lower, None if row.upper is None else row.upper - fixed))
        cost = np.array([objective.get(i, 0) for i in free], dtype=np.int64)
        answer = _run(cost, rows, True, NEAR_NODES)
        return None if answer.x is None else np.rint(answer.x).astype(np.int64)

    def solve(
        self, objective: Vector, rows: Sequence[Labelled], *, integral: bool = False, node_limit: int | None = None
    ) -> _Hint:
        """What a solver says of these rows; nothing of it is believed."""
        size = len(self.program.variables)
        cost = np.zeros(size, dtype=np.int64 if all(abs(a) < 1 << 62 for a in objective.values()) else object)
        for i, a in objective.items():
            cost[i] = a
        return _run(cost, [(row.coefficients, row.lower, row.upper) for _, row in rows], integral, node_limit)

    def bounding(self, y: Floats, rows: Sequence[Labelled], beyond: Labelled | None) -> Leaf | None:
        """A leaf of multipliers near these, None if none is found; with `beyond`, its row is used once."""
        known = dict(rows)
        goal: dict[int, Fraction] = {}
        if beyond is not None:
            known[beyond[0]] = beyond[1]
            goal = {beyond[0]: Fraction(-1)}
        for grid in GRIDS:
            numbers = np.rint(y * grid)
            multipliers = dict(goal)
            for (label, row), number in zip(rows, numbers.tolist(), strict=True):
                if number and (row.upper if number > 0 else row.lower) is not None:
                    multipliers[label] = Fraction(int(number), grid)
            leaf = self._repaired(known, multipliers)
            if leaf is not None:
                return leaf
        return None

    def _repaired(self, known: Mapping[int, Row], multipliers: dict[int, Fraction]) -> Leaf | None:
        found = combined(known, multipliers)
        assert found is not None
        lacking: dict[int, Fraction] = {}
        for i, a in found[0].items():
            if a < 0:
                if i not in self._caps:
                    return None
                label, cap = self._caps[i]
                lacking[label] = max(lacking.get(label, Fraction(0)), Fraction(-a) / Fraction(cap))
        if lacking:
            for label, extra in lacking.items():
                multipliers[label] = multipliers.get(label, Fraction(0)) + extra
            multipliers = {label: y for label, y in multipliers.items() if y}
            found = combined(known, multipliers)
            assert found is not None
        return Leaf((), multipliers) if found[1] < 0 else None

    def levels(self) -> list[Vector]:
        """What to branch on first, as in `bounds.table_search`."""
        found: list[Vector] = []
        for row in self.program.rows:
            levels: dict[Number, Vector] = {}
            for i, a in row.coefficients.items():
                levels.setdefault(a, {})[i] = 1
            if len(levels) <= MOST_LEVELS:
                found += levels.values()
        return found


@dataclass(frozen=True, slots=True)
class _Hint:
    status: Status
    x: Floats | None
    y: Floats | None
    value: float


@dataclass
class _Tree:
    """Splits until every leaf shows that there is nothing (beyond)."""

    hinted: Hinted
    beyond: Labelled | None
    limit: int
    nodes: int = 0
    levels: list[Vector] = field(default_factory=list)

    def node(self, objective: Vector, cases: list[Labelled], depth: int) -> Node:
        """The proof for the rows with these cases; a solver run a node.

        Raises:
            Stopped: at the limits, and where the solver's multipliers show nothing though it finds no table.
        """
        self.nodes += 1
        if self.nodes > self.limit or depth > DEEPEST:
            raise Stopped(limit_met(self.limit))
        rows = [*self.hinted.rows, *cases]
        relaxed = self.hinted.solve(objective, rows)
        if relaxed.y is not None and self.beyond is not None:
            leaf = self.hinted.bounding(relaxed.y, rows, self.beyond)
            if leaf is not None:
                return leaf
        if relaxed.x is None:
            leaf = self._empty(rows)
            if leaf is not None:
                return leaf
            raise Stopped("the solver calls a case empty, and its multipliers do not show it")
        form, value = self._branching(relaxed.x)
        at = math.floor(value)
        down, up = Row("case", form, None, at), Row("case", form, at + 1, None)
        return Split(
            (),
            form,
            at,
            *(self.node(objective, [*cases, (CASE + depth, case)], depth + 1) for case in (down, up)),
        )

    def _empty(self, rows: Sequence[Labelled]) -> Leaf | None:
        """A leaf by the multipliers of the least violation of all rows."""
        size = len(self.hinted.program.variables)
        relaxed = [
            ({**row.coefficients, size + 2 * r: 1, size + 2 * r + 1: -1}, row.lower, row.upper)
            for r, (_, row) in enumerate(rows)
        ]
        cost = np.concatenate([np.zeros(size, dtype=np.int64), np.full(2 * len(rows), -1)])
        hint = _run(cost, relaxed, False, None)
        return None if hint.y is None else self.hinted.bounding(hint.y, rows, None)

    def _branching(self, x: Floats) -> tuple[Vector, float]:
        """A sum that is not whole at x: of `levels` before single counts."""
        if not self.levels:
            self.levels = self.hinted.levels()
        for form in self.levels:
            value = float(sum(x[i] for i in form))
            if abs(value - round(value)) > WHOLE:
                return form, value
        i = int(np.abs(x - np.rint(x)).argmax())
        if abs(x[i] - round(x[i])) <= WHOLE:
            raise Stopped("the solver's point is whole within its tolerance, and breaks a row")
        return {i: 1}, float(x[i])


def _run(
    cost: npt.NDArray[np.generic],
    rows: Sequence[tuple[Mapping[int, Number], Number | None, Number | None]],
    integral: bool,
    node_limit: int | None,
) -> _Hint:
    """A solver's answer; multipliers in units of the cost."""
    starts = np.cumsum([0, *(len(row[0]) for row in rows)]).astype(np.int64)
    constraints = Constraints(
        starts,
        np.array([i for row in rows for i in row[0]], dtype=np.int64),
        np.array([float(a) for row in rows for a in row[0].values()], dtype=np.float64),
        np.array([-np.inf if lower is None else float(lower) for _, lower, _ in rows]),
        np.array([np.inf if upper is None else float(upper) for _, _, upper in rows]),
    )
    program = LinearProgram(cost, np.zeros(len(cost), dtype=np.int64), constraints, integral)
    answer = backends.get("highs").solve(program, node_limit=node_limit)
    x = answer.x if answer.status in (Status.OPTIMAL, Status.LIMIT) else None
    exponent = int(program.exponents[0])
    value = math.nan if x is None else float(np.ldexp(program.costs @ x, exponent))
    return _Hint(answer.status, x, None if answer.duals is None else np.ldexp(answer.duals, exponent), value)


def _at(objective: Vector, table: Table) -> int:
    return sum(a * table[i] for i, a in objective.items())
