"""Proofs that a program has no table, and their check in exact arithmetic.

A proof is a tree. On the way to a leaf, rows are added to those of the program:

- a *round*: multipliers y of rows known so far give q x <= b with q = sum y a and b the sum of y times the side that
  its sign picks; as x >= 0, f x <= b for every f <= q, and where f is integral f x <= floor(b) (Chvátal, Gomory);
- a *split*: f x <= t in one case, f x >= t + 1 in the other, f and t integral.

At a *leaf* multipliers give q >= 0 and b < 0, which no x >= 0 obeys (Farkas). Parity needs no rule of its own: half
of 2 k = 111 rounds to k <= 55 and to k >= 56. That nothing lies beyond an optimum is such a proof too, for the program
with one more row that asks for more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from bounds.table_program import Number, Row, TableProgram, Vector

__all__ = [
    "CASE",
    "Leaf",
    "Multipliers",
    "Node",
    "Round",
    "Split",
    "combined",
    "flaw",
    "kinds",
    "numbered",
    "round_row",
    "row_names",
]

Multipliers = Mapping[int, Fraction]
"""By the index of the row: those of the program, then rounds and cases in the order of the path. A positive one takes
the row's upper side, a negative one its lower side."""

CASE = 1 << 60
"""Labels from here on are cases of splits, while a proof is being made."""


@dataclass(frozen=True, slots=True)
class Round:
    """The row `form` x <= floor(b), b being what the multipliers give."""

    multipliers: Multipliers
    form: Vector


@dataclass(frozen=True, slots=True)
class Leaf:
    """Multipliers that no point survives."""

    rounds: tuple[Round, ...]
    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class Split:
    """The cases `form` x <= `at` (down) and `form` x >= `at` + 1 (up), after some rounds."""

    rounds: tuple[Round, ...]
    form: Vector
    at: int
    down: Node
    up: Node


Node = Leaf | Split


def combined(rows: Mapping[int, Row], multipliers: Multipliers) -> tuple[dict[int, Number], Number] | None:
    """(q, b) such that every point obeys q x <= b; None where a row or a side is needed that is not there."""
    scale = math.lcm(*(y.denominator for y in multipliers.values()))
    q: dict[int, Number] = {}
    b: Number = 0
    for index, y in multipliers.items():
        row = rows.get(index)
        side = None if row is None else row.upper if y > 0 else row.lower
        if row is None or side is None:
            return None
        times = y.numerator * (scale // y.denominator)
        b += times * side
        for i, a in row.coefficients.items():
            q[i] = q.get(i, 0) + times * a
    if scale == 1:
        return q, b
    return {i: Fraction(a, scale) for i, a in q.items() if a}, Fraction(b, scale)


def round_row(rows: Mapping[int, Row], step: Round) -> Row | None:
    """The row that a round makes of those known; None if it states more than its multipliers give."""
    found = combined(rows, step.multipliers)
    if found is None:
        return None
    q, b = found
    if any(a > q.get(i, 0) for i, a in step.form.items()) or any(a < 0 for i, a in q.items() if i not in step.form):
        return None
    return Row("round", step.form, None, math.floor(b))


def flaw(program: TableProgram, proof: Node) -> str | None:
    """What is wrong with a proof that the program has no table; None if it holds. Exact."""
    todo = [(proof, dict(enumerate(program.rows)))]
    while todo:
        node, rows = todo.pop()
        for number, step in enumerate(node.rounds):
            row = round_row(rows, step)
            if row is None:
                return f"round {number} states more than its multipliers give"
            rows[len(rows)] = row
        if isinstance(node, Split):
            todo.append((node.down, rows | {len(rows): Row("case", node.form, None, node.at)}))
            todo.append((node.up, rows | {len(rows): Row("case", node.form, node.at + 1, None)}))
            continue
        found = combined(rows, node.multipliers)
        if found is None:
            return "a leaf uses a side that its row does not have"
        if found[1] >= 0 or any(a < 0 for a in found[0].values()):
            return "a leaf's multipliers leave room"
    return None


def _nodes(proof: Node) -> Iterator[Node]:
    todo = [proof]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, Split):
            todo += [node.up, node.down]


def row_names(program: TableProgram, proof: Node) -> tuple[str, ...]:
    """The names of the program's rows that the proof uses, in the order of the program: a set that suffices."""
    used: set[int] = set()
    for node in _nodes(proof):
        for multipliers in (*(step.multipliers for step in node.rounds), *_own(node)):
            used |= multipliers.keys()
    return tuple(dict.fromkeys(row.name for index, row in enumerate(program.rows) if index in used))


def _own(node: Node) -> tuple[Multipliers, ...]:
    return (node.multipliers,) if isinstance(node, Leaf) else ()


def kinds(proof: Node) -> tuple[int, int, int]:
    """(rounds, splits, leaves) of a proof; (0, 0, 1) is Farkas' alone."""
    nodes = list(_nodes(proof))
    splits = sum(isinstance(node, Split) for node in nodes)
    return sum(len(node.rounds) for node in nodes), splits, len(nodes) - splits


def numbered(rows: int, rounds: Sequence[Round], root: Node) -> Node:
    """A proof from labels as the search gives them: a row of the program its index, a round -1 - its index, the case of
    a split `CASE` + its depth. Rounds that nothing rests on are left out.

    Args:
        rows: of the program.
        rounds: made at the root.
        root: without rounds.
    """
    used: set[int] = set()
    for node in _nodes(root):
        for multipliers in _own(node):
            used |= multipliers.keys()
    for index in range(len(rounds) - 1, -1, -1):
        if -1 - index in used:
            used |= rounds[index].multipliers.keys()
    number: dict[int, int] = {}
    kept = []
    for index, step in enumerate(rounds):
        if -1 - index in used:
            kept.append(Round(_renumbered(step.multipliers, number, 0), step.form))
            number[-1 - index] = rows + len(kept) - 1
    depth = rows + len(kept)

    def written(node: Node) -> Node:
        if isinstance(node, Leaf):
            return Leaf((), _renumbered(node.multipliers, number, depth))
        return Split((), node.form, node.at, written(node.down), written(node.up))

    return replace(written(root), rounds=tuple(kept))


def _renumbered(multipliers: Multipliers, rounds: Mapping[int, int], depth: int) -> dict[int, Fraction]:
    return {
        rounds[label] if label < 0 else label - CASE + depth if label >= CASE else label: y
        for label, y in multipliers.items()
    }
