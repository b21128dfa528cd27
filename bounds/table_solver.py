"""Questions to a `TableProgram`, answered in exact arithmetic: is there a table, and what is the most of a quantity?

Every answer carries what shows it, and is checked before it is returned: a table obeys all rows, and a proof
(`bounds.table_proofs`) holds. What was not decided within a limit is `Undecided`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, Protocol

from bounds.errors import CountError, SolverError
from bounds.table_program import Number, Row, Table, TableProgram, Vector, whole
from bounds.table_proofs import Node, flaw, row_names
from bounds.table_search import Prepared, Stopped, Unbounded

__all__ = ["NODE_LIMIT", "End", "Infeasible", "Sense", "Undecided", "Undefined", "feasible", "optimum", "ratio_optimum"]

NODE_LIMIT = 2_000
"""Most nodes of a search, where none is given."""

SMALL = 40_000
"""Variables times rows up to which no solver is asked for hints."""

Sense = Literal["max", "min"]


@dataclass(frozen=True, slots=True)
class Infeasible:
    """The program has no table.

    Attributes:
        proof: why.
        names: of the rows that the proof uses, in the program's order: these alone have no table.
    """

    proof: Node
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undefined:
    """The program has no table with a denominator of at least 1, though it may have others.

    Attributes:
        proof: of the program with `rows` at its end.
        rows: denominator >= 1.
        names: as in `Infeasible`.
    """

    proof: Node
    rows: tuple[Row, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Undecided:
    """A limit was met.

    Attributes:
        reason: which, in words.
        table: the best table found, None if there was none.
        value: of the quantity there; None without a quantity or a table.
    """

    reason: str
    table: Table | None = None
    value: Fraction | None = None


@dataclass(frozen=True, slots=True)
class End:
    """The greatest (or least) value of a quantity over all tables.

    Attributes:
        value: exact.
        table: attains it.
        proof: that the program with `rows` at its end has no table.
        rows: the last asks for a value beyond; of a ratio, the first for a denominator of at least 1.
        names: of the program's rows that the proof uses: they alone keep the value from going beyond.
    """

    value: Fraction
    table: Table
    proof: Node
    rows: tuple[Row, ...]
    names: tuple[str, ...]


def feasible(program: TableProgram, *, node_limit: int | None = None) -> Table | Infeasible | Undecided:
    """A table, or the proof that there is none.

    Args:
        node_limit: most nodes of the search; `NODE_LIMIT` where None.

    >>> rows = (Row("images", {0: 1, 1: 1, 2: 1, 3: 1}, 100, 100), Row("clean", {0: 1, 1: 1}, 92, 92))
    >>> rows += (Row("perturbed", {0: 1, 2: 1}, 60, 60), Row("flips", {1: 1, 2: 1}, 41, 41))
    >>> feasible(TableProgram(("kept", "lost", "recovered", "wrong"), rows)).names
    ('images', 'clean', 'perturbed', 'flips')
    >>> feasible(TableProgram(("kept", "lost", "recovered", "wrong"), rows[:3]))
    (52, 40, 8, 0)
    """
    try:
        found = _prepared(program).table(_limit(node_limit))
    except Stopped as stopped:
        return Undecided(stopped.reason)
    return _table(program, found) if isinstance(found, tuple) else _infeasible(program, found)


def optimum(
    program: TableProgram, objective: Mapping[int, Number], sense: Sense, *, node_limit: int | None = None
) -> End | Infeasible | Undecided:
    """The greatest or least value of a sum over all tables.

    Args:
        objective: coefficients by the index of the variable.
        sense: "max" or "min".
        node_limit: as in `feasible`.

    Raises:
        CountError: if nothing limits the value.

    >>> rows = (Row("images", {0: 1, 1: 1, 2: 1, 3: 1}, 100, 100), Row("clean", {0: 1, 1: 1}, 92, 92))
    >>> program = TableProgram(("kept", "lost", "recovered", "wrong"), (*rows, Row("perturbed", {0: 1, 2: 1}, 60, 60)))
    >>> [optimum(program, {0: 1}, sense).value for sense in ("min", "max")]
    [Fraction(52, 1), Fraction(60, 1)]
    """
    vector, factor = whole(objective)
    if sense == "min":
        vector = {i: -a for i, a in vector.items()}
    found = _greatest(program, vector, node_limit)
    sign = 1 if sense == "max" else -1
    if isinstance(found, Infeasible):
        return found
    if isinstance(found, Stopped):
        table = None if found.table is None else _table(program, found.table)
        return Undecided(found.reason, table, None if table is None else sign * _at(vector, table) / factor)
    table, proof = found
    most = _at(vector, table)
    return _end(program, sign * most / factor, table, proof, (Row("beyond", vector, most + 1, None),))


def ratio_optimum(
    program: TableProgram,
    numerator: Mapping[int, Number],
    denominator: Mapping[int, Number],
    sense: Sense,
    *,
    node_limit: int | None = None,
) -> End | Undefined | Infeasible | Undecided:
    """The greatest or least ratio of two sums over all tables whose denominator is at least 1 (Dinkelbach, 1967).

    Args:
        numerator, denominator: coefficients by the index of the variable.
        sense: "max" or "min".
        node_limit: as in `feasible`, for each program on the way.

    Raises:
        CountError: if nothing limits the ratio.

    >>> program = TableProgram(("a", "b"), (Row("all", {0: 1, 1: 1}, 1, 4), Row("a", {0: 1}, 1, 2)))
    >>> ratio_optimum(program, {0: 1}, {0: 1, 1: 1}, "min").value
    Fraction(1, 4)
    """
    positive = Row("denominator", denominator, 1, None)
    narrowed = program.with_rows([positive])
    start = feasible(narrowed, node_limit=node_limit)
    if isinstance(start, Infeasible):
        whole_program = feasible(program, node_limit=node_limit)
        if isinstance(whole_program, Infeasible | Undecided):
            return whole_program
        return Undefined(start.proof, (positive,), row_names(program, start.proof))
    if isinstance(start, Undecided):
        return start
    sign = 1 if sense == "max" else -1
    table = start
    while True:
        value = sign * Fraction(_at(numerator, table)) / _at(denominator, table)
        gain: dict[int, Number] = {}
        for part, times in ((numerator, sign), (denominator, -value)):
            for i, a in part.items():
                gain[i] = gain.get(i, 0) + times * a
        vector, _ = whole(gain)
        found = _greatest(narrowed, vector, node_limit)
        if isinstance(found, Stopped):
            return Undecided(found.reason, table, sign * value)
        if isinstance(found, Infeasible):
            raise SolverError("program", "ratio", "a table was found and then none", "report it, with the program")
        better, proof = found
        if _at(vector, better) <= 0:
            return _end(program, sign * value, table, proof, (positive, Row("beyond", vector, 1, None)))
        table = better


def _at(vector: Mapping[int, Number], table: Table) -> Fraction:
    return Fraction(sum(a * table[i] for i, a in vector.items()))


def _limit(node_limit: int | None) -> int:
    return NODE_LIMIT if node_limit is None else node_limit


class _Engine(Protocol):
    def table(self, node_limit: int) -> Table | Node: ...

    def greatest(self, objective: Vector, node_limit: int) -> tuple[Table, Node] | Node: ...


@lru_cache(maxsize=16)
def _prepared(program: TableProgram) -> _Engine:
    """Programs are told apart by identity, and several questions go to one."""
    if len(program.variables) * len(program.rows) <= SMALL:
        return Prepared(program)
    from bounds.table_hinted import Hinted  # it loads NumPy and asks a solver

    return Hinted(program)


def _greatest(
    program: TableProgram, vector: Vector, node_limit: int | None
) -> tuple[Table, Node] | Infeasible | Stopped:
    try:
        found = _prepared(program).greatest(vector, _limit(node_limit))
    except Stopped as stopped:
        return stopped
    except Unbounded:
        raise CountError("quantity", None, "no row limits it", "add a row that does, such as the images") from None
    if not isinstance(found, tuple):
        return _infeasible(program, found)
    return _table(program, found[0]), found[1]


def _table(program: TableProgram, table: Table) -> Table:
    broken = program.violated(table)
    if broken is not None:
        raise SolverError("table", broken, "a table that was found breaks this row", "report it, with the program")
    return table


def _infeasible(program: TableProgram, proof: Node) -> Infeasible:
    _hold(program, proof)
    return Infeasible(proof, row_names(program, proof))


def _end(program: TableProgram, value: Fraction, table: Table, proof: Node, rows: tuple[Row, ...]) -> End:
    _hold(program.with_rows(rows), proof)
    return End(value, table, proof, rows, row_names(program, proof))


def _hold(program: TableProgram, proof: Node) -> None:
    wrong = flaw(program, proof)
    if wrong is not None:
        raise SolverError("proof", wrong, "a proof that was found does not hold", "report it, with the program")
