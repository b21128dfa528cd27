"""Branch and bound on a program's lattice by the exact simplex method: tables, optima and proofs, without a solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from bounds.exact_simplex import Simplex
from bounds.table_lattice import Bound, Conflict, Form, Lattice
from bounds.table_program import Number, Table, TableProgram, Vector
from bounds.table_proofs import CASE, Leaf, Node, Round, Split, numbered

__all__ = ["DEEPEST", "MOST_LEVELS", "Prepared", "Stopped", "Unbounded", "limit_met"]

DEEPEST = 200
"""Most splits above a leaf; a checker takes no more."""


MOST_LEVELS = 4
"""Rows with more coefficients than that are no ratios of counts, and their levels are not branched on."""


class Stopped(Exception):
    """Nothing was decided.

    Attributes:
        reason: why, in words.
        table: the best table so far, None if there is none.
    """

    def __init__(self, reason: str, table: Table | None = None) -> None:
        self.reason, self.table = reason, table
        super().__init__(reason)


def limit_met(nodes: int) -> str:
    """The reason where a search ends early."""
    return f"not decided within {nodes} nodes of {DEEPEST} splits in depth"


class Unbounded(Exception):
    """The objective has no limit on the relaxation."""


class Prepared:
    """A program whose equations are taken out and whose relaxation is solved.

    Attributes:
        program: the program.
        lattice: its whole points; None where `proof` was found before.
        proof: that it has no table, where that was seen without a search.
    """

    def __init__(self, program: TableProgram) -> None:
        self.program = program
        self.proof: Node | None = None
        self.lattice = Lattice(program)
        try:
            self.lattice.reduce()
        except Conflict as conflict:
            self.proof = numbered(len(program.rows), self.lattice.rounds, conflict.leaf)
            return
        self.free = sorted(self.lattice.forms)
        self._index = {z: index for index, z in enumerate(self.free)}
        self.bounds: list[list[Bound | None]] = [[None, None] for _ in self.free]
        rows: list[list[int]] = []
        for form, sides in self.lattice.sides.items():
            if len(form) == 1:
                self.bounds[self._index[form[0][0]]] = sides
            else:
                rows.append(self._dense(form))
                self.bounds.append(sides)
        self.branchings: dict[int, Vector] = {}
        places = {tuple(row): len(self.free) + index for index, row in enumerate(rows)}
        for row in program.rows:
            for dense, vector in self._levels(row.coefficients):
                place = places.setdefault(tuple(dense), len(self.bounds))
                if place == len(self.bounds):
                    rows.append(dense)
                    self.bounds.append([None, None])
                self.branchings[place] = vector
        self.simplex = Simplex(len(self.free), rows)
        for variable, sides in enumerate(self.bounds):
            for side, values in ((0, self.simplex.upper), (1, self.simplex.lower)):
                bound = sides[side]
                values[variable] = None if bound is None else bound.level * (1 - 2 * side)
        reason = self.simplex.check()
        if reason is not None:
            leaf = self.lattice.leaf([(self.bound_of(v, side), times) for v, side, times in reason])
            self.proof = numbered(len(program.rows), self.lattice.rounds, leaf)

    def _levels(self, coefficients: Mapping[int, Number]) -> Iterator[tuple[list[int], Vector]]:
        """How many images share a coefficient, such as numerator and denominator of a printed ratio: what to branch on
        first, as rows of the simplex table and in x.
        """
        levels: dict[Number, Vector] = {}
        for i, a in coefficients.items():
            levels.setdefault(a, {})[i] = 1
        if len(levels) <= MOST_LEVELS:
            for level in levels.values():
                form = self.lattice.primitive(level)
                if len(form) > 1:
                    yield self._dense(form), self.lattice.in_x(form)

    @property
    def size(self) -> int:
        """Entries of the simplex table."""
        return len(self.free) * len(self.bounds)

    def bound_of(self, variable: int, side: int) -> Bound:
        """The bound behind a number of the simplex table."""
        bound = self.bounds[variable][side]
        assert bound is not None
        return bound

    def _dense(self, form: Form) -> list[int]:
        row = [0] * len(self.free)
        for z, a in form:
            row[self._index[z]] = a
        return row

    def table(self, node_limit: int) -> Table | Node:
        """A table, or the proof that there is none.

        Raises:
            Stopped: if the limit on nodes is met.
        """
        if self.proof is not None:
            return self.proof
        search = _Search(self, self.simplex.clone(), node_limit, self.branchings)
        root = search.node(0)
        if search.found is not None:
            return search.found
        return numbered(len(self.program.rows), self.lattice.rounds, root)

    def greatest(self, objective: Vector, node_limit: int) -> tuple[Table, Node] | Node:
        """A table with the most of an objective, and the proof that none has more: that the program has no table with
        one more row, objective >= that most + 1, at its end; or the proof that there is no table.

        Raises:
            Stopped: if the limit on nodes is met.
            Unbounded: if the relaxation is.
        """
        if self.proof is not None:
            return self.proof
        more = len(self.program.rows)
        simplex = self.simplex.clone()
        goal = Goal.of(self.lattice, objective, more)
        if goal.form is None:
            found = self.table(node_limit)
            if not isinstance(found, tuple):
                return found
            leaf = self.lattice.leaf([(goal.bound, 1)])
            return found, numbered(more + 1, self.lattice.rounds, leaf)
        goal.variable = simplex.add([goal.sign * a for a in self._dense(goal.form)])
        levels = {simplex.add(dense): vector for dense, vector in self._levels(objective)}
        search = _Search(self, simplex, node_limit, self.branchings | levels, goal)
        root = search.node(0)
        if search.found is None:
            # Without an incumbent nothing rests on the row that asks for more.
            return numbered(more, self.lattice.rounds, root)
        return search.found, numbered(more + 1, goal.rounds, root)


@dataclass
class Goal:
    """An objective in terms of z: step * (sign * form z) + constant.

    Attributes:
        form: None where it is constant.
        bound: why it cannot be smaller than asked for (its value is left open).
        rounds: those of the lattice, with one that rounds it.
        variable: its place in the simplex table.
    """

    form: Form | None
    sign: int
    bound: Bound
    rounds: Sequence[Round]
    variable: int = -1

    @classmethod
    def of(cls, lattice: Lattice, objective: Vector, more: int) -> Goal:
        """Prepare it; `more` is the index of the row objective >= something."""
        negated = {i: -a for i, a in objective.items()}
        before = len(lattice.rounds)
        found = lattice.divided(Bound(negated, 0, {more: -1}))
        rounds = lattice.rounds[:]
        del lattice.rounds[before:]
        if found is None:
            return cls(None, 1, Bound(negated, 0, {more: -1}), rounds)
        form, sign, bound = found
        return cls(form, -sign, bound, rounds)


@dataclass
class _Search:
    """Depth first; finds tables one better than the last, until none is left."""

    prepared: Prepared
    simplex: Simplex
    limit: int
    branchings: Mapping[int, Vector]
    goal: Goal | None = None
    found: Table | None = None
    nodes: int = 0
    path: dict[tuple[int, int], Bound] = field(default_factory=dict)

    def node(self, depth: int) -> Node:
        """The proof that within the bounds now there is no table (better than `found`, which may become better here).

        Without a goal the search ends with the first table, and what is returned then proves nothing.
        """
        self.nodes += 1
        if self.nodes > self.limit or depth > DEEPEST:
            raise Stopped(limit_met(self.limit), self.found)
        simplex, goal = self.simplex, self.goal
        while True:
            reason = simplex.check()
            if reason is not None:
                return self._leaf(reason)
            if goal is not None and simplex.maximise(goal.variable) is None:
                raise Unbounded
            branch = self._branching()
            if branch is None:
                self.found = self.prepared.lattice.point(
                    {z: int(simplex.value(variable)) for variable, z in enumerate(self.prepared.free)}
                )
                if goal is None:
                    return Leaf((), {})
                simplex.lower[goal.variable] = int(simplex.value(goal.variable)) + 1
                continue
            return self._split(*branch, depth)

    def _branching(self) -> tuple[int, Vector] | None:
        """The first of `branchings` that is not whole, else the z that is farthest from it; None if all are whole."""
        for variable, form in self.branchings.items():
            if self.simplex.value(variable).denominator != 1:
                return variable, form
        found, best = None, Fraction(0)
        for variable, z in enumerate(self.prepared.free):
            value = self.simplex.value(variable)
            if value.denominator != 1:
                part = value - value.numerator // value.denominator
                if (far := min(part, 1 - part)) > best:
                    found, best = (variable, self.prepared.lattice.forms[z]), far
        return found

    def _split(self, branch: int, form: Vector, depth: int) -> Node:
        value = self.simplex.value(branch)
        at = value.numerator // value.denominator
        cases: dict[int, Node] = {}
        first = 0 if value - at <= Fraction(1, 2) else 1
        for side in (first, 1 - first):
            values = (self.simplex.upper, self.simplex.lower)[side]
            kept, values[branch] = values[branch], at + side
            older = self.path.get((branch, side))
            sign = 1 - 2 * side
            self.path[branch, side] = Bound(
                {i: sign * a for i, a in form.items()}, sign * (at + side), {CASE + depth: sign}, 1
            )
            cases[side] = self.node(depth + 1)
            values[branch] = kept
            if older is None:
                del self.path[branch, side]
            else:
                self.path[branch, side] = older
            if self.goal is None and self.found is not None:
                return cases[side]
        return Split((), form, at, cases[0], cases[1])

    def _leaf(self, reason: Sequence[tuple[int, int, int]]) -> Leaf:
        parts: list[tuple[Bound, int]] = []
        for variable, side, times in reason:
            if self.goal is not None and variable == self.goal.variable:
                parts.append((self.goal.bound, times))
            else:
                parts.append((self.path.get((variable, side)) or self.prepared.bound_of(variable, side), times))
        return self.prepared.lattice.leaf(parts)
