"""Optimising over the correspondences of an evaluation by linear and integer programs, every answer checked exactly.

Records that are equal in everything which the objective and the knowledge see form one group, so a class is a
transport between its clean and its perturbed groups (`bounds.program`). A solver's floats are only hints: a point is
rounded to integers, turned into a correspondence and valued from the records, and multipliers are turned into a bound
by weak duality, both in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bounds import backends
from bounds.errors import BackendError, QuantityError, RecordError, SolverError
from bounds.evaluation import Evaluation
from bounds.knowledge import Knowledge, Level
from bounds.program import Block, Exact, Program, Row
from bounds.refinement import Outcome, enumerated, integer, relaxed, summed

__all__ = [
    "METHODS",
    "Method",
    "Objective",
    "Optimum",
    "Plan",
    "check_answer",
    "consistent",
    "optimise",
    "pair_state",
    "plan",
    "states",
    "value",
]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Method = Literal["lp", "milp", "enumerate"]
METHODS: tuple[Method, ...] = ("lp", "milp", "enumerate")

CC, CW, WC, WS, WD = range(5)


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """A sum over the pairs of a correspondence.

    Attributes:
        cells: object array of integers or Fractions of shape (C, 5, 2, 2), or (5, 2, 2) for all classes alike: the
            weight of a pair by state, clean acceptance and perturbed acceptance (index 1: accepted).
        probability: one integer or Fraction a class, the weight of p(x) - p'(y) over the retained-correct pairs;
            the probabilities count as the dyadic rationals that the floats are.
    """

    cells: Exact
    probability: Sequence[Fraction | int]

    def of_class(self, index: int) -> tuple[Exact, Fraction]:
        """The weights of one class."""
        cells = self.cells if self.cells.ndim == 3 else self.cells[index]
        return cells.astype(object), Fraction(self.probability[index])


@dataclass(frozen=True, slots=True, eq=False)
class Optimum(Outcome):
    """An `Outcome` with its correspondence.

    Attributes:
        match: int64 of shape (N,), a correspondence consistent with the knowledge, as in `bounds.evaluation`, whose
            value is `attained`; None where none is known.
    """

    match: Ints | None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A program with the way back to the records.

    Attributes:
        program: over the groups.
        members: for each block, the rows of each clean group and of each perturbed group.
    """

    program: Program
    members: tuple[tuple[tuple[Ints, ...], tuple[Ints, ...]], ...]

    def match(self, x: Ints) -> tuple[Ints, Ints]:
        """(clean rows, perturbed rows) paired by an integer point."""
        clean, perturbed = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for block, (rows, columns) in zip(self.program.blocks, self.members, strict=True):
            pairs = block.part(x)
            # Row by row the clean records in order; within a column the perturbed records in order.
            before = np.cumsum(pairs, axis=0) - pairs
            clean += rows
            perturbed += [
                columns[j][before[i, j] : before[i, j] + pairs[i, j]]
                for i in range(len(rows))
                for j in np.flatnonzero(pairs[i])
            ]
        return np.concatenate(clean), np.concatenate(perturbed)


def optimise(
    evaluation: Evaluation,
    objective: Objective,
    knowledge: Knowledge,
    *,
    maximise: bool,
    method: Method,
    backend: str = "highs",
    node_limit: int | None = None,
    merge: bool = True,
) -> Optimum:
    """The largest or smallest value of an objective over the correspondences that the knowledge leaves.

    Args:
        evaluation: the records.
        objective: what is summed over the pairs.
        knowledge: every level but `paired`. Classes are solved one by one unless only their total is known.
        maximise: the sense.
        method: "lp" bounds by the relaxation (attained where its vertex is integral), "milp" by the integer program,
            "enumerate" by looking at every correspondence of classes of at most 8 images.
        backend: "highs" or "cvxpy"; "enumerate" is a method too and has its own.
        node_limit: branch-and-bound nodes a program may take.
        merge: whether equal records are merged; False exists to check that merging changes nothing.

    Raises:
        BackendError: for an unknown method or backend, or one that cannot do this.
        QuantityError: for paired knowledge, which leaves nothing to optimise.
        SolverError: if an answer does not survive the exact check.
    """
    if method not in METHODS:
        raise BackendError("method", method, "not a program", f"choose among {', '.join(METHODS)}")
    if knowledge.level is Level.PAIRED:
        raise QuantityError("knowledge", "paired", "leaves nothing to optimise", "evaluate the correspondence")
    solver = backends.get("enumerate" if method == "enumerate" else backend)
    classes = range(len(evaluation.classes))
    parts: list[Sequence[int]] = [classes] if knowledge.level is Level.TOTAL else [[c] for c in classes]
    sign = 1 if maximise else -1
    settled, values, match = [], [], np.full(evaluation.images, -1, dtype=np.int64)
    for part in parts:
        planned = plan(evaluation, objective, knowledge, part, maximise=maximise, merge=merge)
        if method == "enumerate":
            found = enumerated(planned.program, solver, node_limit)
        elif method == "lp":
            found = relaxed(planned.program, solver)
        else:
            found = integer(planned.program, solver, node_limit)
        settled.append(found)
        if found.x is not None:
            clean, perturbed = planned.match(found.x)
            match[clean] = perturbed
            values.append(sign * planned.program.value(found.x))
    if len(values) < len(settled):
        return Optimum(*summed(settled, sign), None, None)
    attained = value(evaluation, objective, match)
    check_answer(evaluation, knowledge, match, attained, sum(values))
    return Optimum(*summed(settled, sign), attained, match)


def check_answer(
    evaluation: Evaluation, knowledge: Knowledge, match: Ints, attained: Fraction, expected: Fraction | int
) -> None:
    """Raise `SolverError` unless a program's correspondence has the counts known and the value of the program's point.

    Args:
        attained: its exact value, from the records.
        expected: what the program's point is worth.
    """
    if attained != expected or not consistent(evaluation, knowledge, match):
        raise SolverError(
            "correspondence",
            None,
            "its exact value or counts differ from the program's",
            "report it, with the records if they may be shared",
        )


def value(evaluation: Evaluation, objective: Objective, match: Ints) -> Fraction:
    """The objective at a correspondence, pair by pair from the records; exact.

    It knows nothing of groups and programs, so that it can check them.
    """
    found = states(evaluation, match)
    clean, perturbed = evaluation.clean, evaluation.perturbed
    total = Fraction(0)
    for c in range(len(evaluation.classes)):
        cells, weight = objective.of_class(c)
        for i in range(int(evaluation.starts[c]), int(evaluation.starts[c + 1])):
            j = match[i]
            total += cells[
                found[i],
                0 if clean.accepted is None else int(clean.accepted[i]),
                0 if perturbed.accepted is None else int(perturbed.accepted[j]),
            ]
            if weight and found[i] == CC:
                p = _column(clean.true_probability, "true_probability")
                q = _column(perturbed.true_probability, "true_probability")
                total += weight * (Fraction(float(p[i])) - Fraction(float(q[j])))
    return total


def states(evaluation: Evaluation, match: Ints) -> Ints:
    """int64 of shape (N,): the state of each clean row's pair."""
    same = evaluation.clean.predicted == evaluation.perturbed.predicted[match]
    return pair_state(evaluation.clean.correct, evaluation.perturbed.correct[match], same)


def pair_state(x: Bools, y: Bools, same: Bools) -> Ints:
    """int64: the state of pairs from whether each side is correct and whether both predict the same (theory, 1)."""
    return np.select([x & y, x & ~y, ~x & y, same], [CC, CW, WC, WS], WD).astype(np.int64)


def consistent(evaluation: Evaluation, knowledge: Knowledge, match: Ints) -> bool:
    """Whether a match is a bijection in each class and has the known counts."""
    classes = evaluation.class_of_row
    if not (np.sort(match) == np.arange(evaluation.images)).all() or not (classes[match] == classes).all():
        return False
    found = states(evaluation, match)
    kept = np.bincount(classes[found == CC], minlength=len(evaluation.classes))
    persistent = np.bincount(classes[found == WS], minlength=len(evaluation.classes))
    return (
        (knowledge.total is None or knowledge.total == kept.sum())
        and (knowledge.retained_correct is None or bool((knowledge.retained_correct == kept).all()))
        and (knowledge.persistent is None or bool((knowledge.persistent == persistent).all()))
    )


def plan(
    evaluation: Evaluation,
    objective: Objective,
    knowledge: Knowledge,
    classes: Sequence[int],
    *,
    maximise: bool,
    merge: bool = True,
) -> Plan:
    """The integer program of some classes, one block each, with one side condition a known count.

    A minimum is stated as the maximum of the negated objective.
    """
    sign = 1 if maximise else -1
    weights = [objective.of_class(c) for c in classes]
    sides = [
        _groups(evaluation, c, cells, weight, five_state=knowledge.level is Level.FIVE_STATE, merge=merge)
        for c, (cells, weight) in zip(classes, weights, strict=True)
    ]
    scale = math.lcm(
        *(entry.denominator for cells, _ in weights for entry in cells.ravel().tolist()),
        *(
            (weight * p).denominator
            for (_, weight), pair in zip(weights, sides, strict=True)
            for side in pair
            for p in side.probability
        ),
    )
    blocks, costs, retained = [], [np.empty(0, dtype=object)], [np.empty(0, dtype=np.int64)]
    rows: list[Row] = []
    first = 0
    for c, (cells, weight), (x, y) in zip(classes, weights, sides, strict=True):
        block = Block(tuple(map(len, x.members)), tuple(map(len, y.members)), first)
        first += block.variables
        state = pair_state(x.correct[:, None], y.correct, x.label[:, None] == y.label)
        cost = _times(cells, scale)[state, x.accepted[:, None], y.accepted]
        cost[state == CC] += (_times(weight * x.probability, scale)[:, None] - _times(weight * y.probability, scale))[
            state == CC
        ]
        blocks.append(block)
        costs.append(cost.ravel())
        retained.append(block.first + np.flatnonzero(state == CC))
        if knowledge.retained_correct is not None:
            rows.append(
                _equation(f"retained correct of block {len(rows)}", retained[-1], knowledge.retained_correct[c])
            )
        if knowledge.persistent is not None:
            persistent = block.first + np.flatnonzero(state == WS)
            rows.append(_equation("persistent wrong", persistent, knowledge.persistent[c]))
    if knowledge.total is not None:
        rows.append(_equation("retained correct of all classes", np.concatenate(retained), knowledge.total))
    program = Program(tuple(blocks), tuple(rows), sign * np.concatenate(costs), scale, integral=True)
    return Plan(program, tuple((x.members, y.members) for x, y in sides))


def _equation(name: str, variables: Ints, count: int) -> Row:
    return Row(name, variables, np.ones(len(variables), dtype=np.int64), int(count), int(count))


def _times(values: Exact, scale: int) -> Exact:
    """`values * scale` as integers, where the scale clears every denominator."""
    whole = np.empty(values.size, dtype=object)
    whole[:] = [int(entry * scale) for entry in values.ravel().tolist()]
    return whole.reshape(values.shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Records of one class and side that a program need not tell apart; an entry a group, zero where unseen.

    Attributes:
        correct, label, accepted: bool, int64 and int64.
        probability: object array of Fractions.
        members: the rows of each group, ascending.
    """

    correct: npt.NDArray[np.bool_]
    label: Ints
    accepted: Ints
    probability: Exact
    members: tuple[Ints, ...]


def _groups(
    evaluation: Evaluation, c: int, cells: Exact, weight: Fraction, *, five_state: bool, merge: bool
) -> tuple[_Groups, _Groups]:
    """The groups of both sides of a class: only what the objective or the knowledge sees keeps records apart."""
    rows = np.arange(evaluation.starts[c], evaluation.starts[c + 1], dtype=np.int64)
    labels_seen = five_state or bool((cells[WS] != cells[WD]).any())
    acceptance_seen = bool((cells != cells[:, :1, :]).any()), bool((cells != cells[:, :, :1]).any())
    sides = []
    for side, seen in zip((evaluation.clean, evaluation.perturbed), acceptance_seen, strict=True):
        correct = side.correct[rows]
        zero = np.zeros(len(rows), dtype=np.int64)
        label = np.where(correct, 0, side.predicted[rows]) if labels_seen else zero
        accepted = _column(side.accepted, "accepted")[rows].astype(np.int64) if seen else zero
        p = np.where(correct, _column(side.true_probability, "true_probability")[rows], 0) if weight else zero
        keys = np.column_stack([correct, label, accepted, p.astype(np.float64)])
        if merge:
            _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        else:
            first = group = np.arange(len(rows))
        order = np.argsort(group, kind="stable")
        members = np.split(rows[order], np.flatnonzero(np.diff(group[order])) + 1) if len(rows) else []
        probability = np.empty(len(first), dtype=object)
        probability[:] = [Fraction(value) for value in p[first].tolist()]
        sides.append(_Groups(correct[first], label[first], accepted[first], probability, tuple(members)))
    return sides[0], sides[1]


def _column(values: npt.NDArray[Any] | None, name: str) -> npt.NDArray[Any]:
    if values is None:
        raise RecordError(name, None, "the records have no such column", "add it")
    return values
