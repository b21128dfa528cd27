"""Statements that cannot hold together, none of them idle.

A set is *irreducible* if it has no table and each set with one statement less has one. One is found by leaving out
statement after statement; a smallest one as a least hitting set: every set without a table meets the statements missing
from each largest set with one (Ignatiev and others, 2015).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from bounds.errors import CountError
from bounds.table_program import TableProgram
from bounds.table_solver import Infeasible, Undecided, feasible

__all__ = ["MOST_FOR_SMALLEST", "irreducible"]

MOST_FOR_SMALLEST = 20
"""Most statements among which a smallest set is looked for."""


def irreducible(
    program: TableProgram, removable: Sequence[str], *, smallest: bool, node_limit: int | None = None
) -> tuple[str, ...] | Undecided:
    """Statements that cannot hold together, beside the rows that are not removable.

    Args:
        program: one that has no table.
        removable: names of rows that may be left out; all rows of a name go together.
        smallest: whether no smaller set may exist.
        node_limit: as in `bounds.table_solver.feasible`, for every set that is tried.

    Returns:
        Their names in the order of `removable`; none if the other rows cannot hold by themselves. `Undecided` if a set
        that matters was.

    Raises:
        CountError: if the program has a table; or a smallest set is asked for among more than `MOST_FOR_SMALLEST`.

    >>> from bounds.table_program import Row
    >>> rows = (Row("n", {0: 1, 1: 1}, 9, 9), Row("a", {0: 1}, 5, 5), Row("b", {1: 1}, 5, 5), Row("c", {1: 1}, 4, 8))
    >>> irreducible(TableProgram(("x", "y"), rows), ["a", "b", "c"], smallest=True)
    ('a', 'b')
    """
    names = list(dict.fromkeys(removable))
    if smallest and len(names) > MOST_FOR_SMALLEST:
        rule = f"a smallest set is looked for among {MOST_FOR_SMALLEST} at most"
        raise CountError("statements", len(names), rule, "ask for an irreducible one")
    search = _Sets(program, names, node_limit)
    first = search.core(names)
    if first is None:
        raise CountError("program", None, "it has a table", "ask of one that has none")
    found = first if isinstance(first, Undecided) else search.shrunk(first)
    if isinstance(found, Undecided) or not smallest:
        return found
    return search.least(found)


class _Sets:
    """Asks of sets of statements whether they have a table."""

    def __init__(self, program: TableProgram, names: Sequence[str], node_limit: int | None) -> None:
        self.program, self.names, self.node_limit = program, names, node_limit

    def core(self, kept: Collection[str]) -> tuple[str, ...] | Undecided | None:
        """Of these statements some that have no table; None if all of them together have one."""
        found = feasible(self.program.without(set(self.names) - set(kept)), node_limit=self.node_limit)
        if isinstance(found, Undecided):
            return found
        return self._ordered(found.names) if isinstance(found, Infeasible) else None

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        chosen = set(names)
        return tuple(name for name in self.names if name in chosen)

    def shrunk(self, core: tuple[str, ...]) -> tuple[str, ...] | Undecided:
        """An irreducible part of a set without a table."""
        needed: list[str] = []
        rest = list(core)
        while rest:
            name = rest.pop()
            smaller = self.core([*needed, *rest])
            if isinstance(smaller, Undecided):
                return smaller
            if smaller is None:
                needed.append(name)
            else:
                rest = [other for other in rest if other in smaller]
        return self._ordered(needed)

    def least(self, known: tuple[str, ...]) -> tuple[str, ...] | Undecided:
        """A smallest set without a table; `known` is an irreducible one."""
        missing: list[frozenset[str]] = []
        while True:
            candidate = self._hitting(missing, len(known))
            if candidate is None:
                return known
            found = self.core(candidate)
            if found is not None:
                return found
            grown = list(candidate)
            for name in self.names:
                if name not in candidate:
                    more = self.core([*grown, name])
                    if isinstance(more, Undecided):
                        return more
                    if more is None:
                        grown.append(name)
            missing.append(frozenset(self.names) - frozenset(grown))

    def _hitting(self, missing: Sequence[frozenset[str]], below: int) -> tuple[str, ...] | None:
        """A smallest set of fewer than `below` statements that meets each of `missing`; None if there is none."""
        useful = self._ordered(set().union(*missing))
        for size in range(below):
            for candidate in combinations(useful, size):
                if all(not part.isdisjoint(candidate) for part in missing):
                    return candidate
        return None
