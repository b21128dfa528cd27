"""Optimising cell weights over correspondences by the compact program, every answer checked exactly.

A quantity given by 20 weights on (state, accepted clean, accepted perturbed), or by 80 for two policies on one model,
needs no variable for every pair of groups (`bounds.compact_program`). The relaxations of all classes are solved at
once. A solver's floats are only hints: its multipliers are rounded and give an exact bound by weak duality, its point
is turned into a correspondence and valued from the records. Where a class is left open, branch and bound decides it.

Claim: compact_program (C10).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds import backends
from bounds.compact_program import LinearProgram, Structure, expand, structure_of
from bounds.correspondences import Optimum, check_answer, states
from bounds.errors import BackendError, QuantityError, RecordError, SolverError
from bounds.evaluation import Evaluation, Side
from bounds.knowledge import Knowledge, Level
from bounds.program import Backend, Exact, Floats, Ints, Status
from bounds.refinement import INTEGRAL, NO_SOLVER, Proof

__all__ = ["optimise_cells"]

GRIDS = (840, 1 << 20)
"""Multipliers are rounded to these parts of a unit, and the better bound is taken: vertices of these programs have
multipliers of small denominator; any others lose a little, which an integral objective forgives."""

CC, CW, WC, WS, WD = range(5)


def optimise_cells(
    evaluation: Evaluation,
    weights: npt.NDArray[Any],
    knowledge: Knowledge,
    *,
    maximise: bool,
    backend: str = "highs",
    node_limit: int | None = None,
    relaxed: bool = False,
    clean_pattern: Ints | None = None,
    perturbed_pattern: Ints | None = None,
) -> Optimum:
    """The largest or smallest sum of cell weights over the correspondences that the knowledge leaves.

    Args:
        evaluation: the records.
        weights: integers or Fractions of shape (5, P, P), or (C, 5, P, P) with a table a class: the weight of a pair by
            state, clean pattern and perturbed pattern.
        knowledge: every level but `paired`.
        maximise: the sense.
        backend: "highs" or "cvxpy".
        node_limit: branch-and-bound nodes that each integer step may take.
        relaxed: whether to stop at the linear relaxation; its bound is outer unless its vertex attains it.
        clean_pattern, perturbed_pattern: int64 of shape (N,), values in 0..P-1. By default whether a record is
            accepted (P = 2). With two policies on one model: 2 * accepted by the first + accepted by the second
            (P = 4).

    Returns:
        The `Optimum`; its proof is "dual" where exact multipliers, rounded down to a value that integers can have, meet
        an attained value, and "branch and bound" where an integer step says that nothing better exists.

    Raises:
        QuantityError: for paired knowledge, which leaves nothing to optimise.
        BackendError: for an unknown backend, or "enumerate", which needs the full program.
        RecordError: if the weights see acceptance and the records have none.
        SolverError: if an answer does not survive the exact check.

    Claim: compact_program (C10).
    """
    if knowledge.level is Level.PAIRED:
        raise QuantityError("knowledge", "paired", "leaves nothing to optimise", "evaluate the correspondence")
    if backend == "enumerate":
        raise BackendError("backend", backend, "looks at correspondences, not at counts", "choose highs or cvxpy")
    solver = backends.get(backend)
    patterns = weights.shape[-1]
    if clean_pattern is None and perturbed_pattern is None:
        seen = bool((weights != weights[..., :1, :1]).any())
        k, s = (
            None if counts is None else counts.tobytes()
            for counts in (knowledge.retained_correct, knowledge.persistent)
        )
        structure = _by_acceptance(evaluation, knowledge.level, knowledge.total, k, s, seen)
    else:
        assert clean_pattern is not None
        assert perturbed_pattern is not None
        structure = structure_of(evaluation, knowledge, patterns, clean_pattern, perturbed_pattern)
    asked = _Asked.of(structure, weights, 1 if maximise else -1)
    key = (backend, node_limit, relaxed, asked.objective.tobytes() if asked.objective.dtype != object else None)
    solved = structure.solved.get(key) if key[-1] is not None else None
    if solved is None:
        solved = _solve(structure, asked.objective, solver, node_limit, relaxed)
        if key[-1] is not None:
            structure.solved[key] = solved
    return _read(evaluation, knowledge, structure, asked, solved)


@lru_cache(maxsize=8)
def _by_acceptance(
    evaluation: Evaluation, level: Level, total: int | None, k: bytes | None, s: bytes | None, seen: bool
) -> Structure:
    """The structure whose patterns are acceptance; all alike where the weights do not see it and the records have none.

    The counts come as bytes, so that questions with equal knowledge share what was built and solved.
    """
    counts = (None if c is None else np.frombuffer(c, dtype=np.int64) for c in (k, s))
    knowledge = Knowledge(level, total, *counts)

    def pattern(side: Side) -> Ints:
        if seen and side.accepted is None:
            raise RecordError("accepted", None, "the records have no such column", "add it")
        return np.zeros(len(side), dtype=np.int64) if side.accepted is None else side.accepted.astype(np.int64)

    return structure_of(evaluation, knowledge, 2, pattern(evaluation.clean), pattern(evaluation.perturbed))


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """An objective in lowest terms: weights less row and column potentials, which margins make constant, in integers
    without a common divisor. Objectives that differ only so share their solutions (new, resolved and kept do).

    Attributes:
        objective: one integer a variable, for the maximum; int64 or Python's.
        step: what a unit of each block's objective is worth; negative for minima.
        constant: the sum of the potentials over the records.
        table: int64 of shape (C,), which of `tables` a class has.
        tables: the weights themselves, object arrays of shape (5, P, P).
    """

    objective: npt.NDArray[Any]
    step: list[Fraction]
    constant: Fraction
    table: Ints
    tables: list[Exact]

    @classmethod
    def of(cls, structure: Structure, weights: npt.NDArray[Any], sign: int) -> _Asked:
        classes, p = structure.clean.correct.shape
        tables, table = _distinct(weights, classes)
        constant, reduced = Fraction(0), []
        for number, own in enumerate(tables):
            columns = own[[CC, CW], 0, :]
            rows = own[[CC, WC], :, 0] - own[CC, 0, 0]
            reduced.append(own - rows[[0, 0, 1, 1, 1], :, None] - columns[[0, 1, 0, 1, 1], None, :])
            inside = table == number
            for potentials, side in ((rows, structure.clean), (columns, structure.perturbed)):
                margins = [group[inside].sum(axis=0).astype(object) for group in (side.correct, side.wrong)]
                constant += Fraction(sum(potentials[0] * margins[0]) + sum(potentials[1] * margins[1]))
        if structure.blocks < classes:
            steps = [_unit([entry for own in reduced for entry in own.ravel().tolist()])] * len(reduced)
        else:
            steps = [_unit(own.ravel().tolist()) for own in reduced]
        whole = np.empty((len(tables), 5 * p * p), dtype=object)
        for number, (own, step) in enumerate(zip(reduced, steps, strict=True)):
            whole[number] = [sign * int(entry / step) for entry in own.ravel().tolist()]
        if not whole.size or max(map(abs, whole.ravel().tolist())) < SMALL:
            whole = whole.astype(np.int64)
        cost = np.zeros(len(structure.cell), dtype=whole.dtype)
        priced = structure.cell >= 0
        owner, cell = np.divmod(structure.cell[priced], 5 * p * p)
        cost[priced] = whole[table[owner], cell]
        of_block = [steps[t] for t in table.tolist()][: structure.blocks]
        return cls(cost, [sign * step for step in of_block], constant, table, tables)


def _distinct(weights: npt.NDArray[Any], classes: int) -> tuple[list[Exact], Ints]:
    """The different tables among the weights, and which of them each class has."""
    if weights.ndim == 3:
        return [weights.astype(object)], np.zeros(classes, dtype=np.int64)
    whole = weights.astype(object)
    # Tables made of the same objects are equal, and that is quicker to see than that their Fractions are.
    same: dict[tuple[int, ...], int] = {}
    equal: dict[tuple[Any, ...], int] = {}
    table = np.empty(classes, dtype=np.int64)
    for c, entries in enumerate(whole.reshape(classes, -1).tolist()):
        key = tuple(map(id, entries))
        if key not in same:
            same[key] = equal.setdefault(tuple(entries), len(equal))
        table[c] = same[key]
    return [np.array(entries, dtype=object).reshape(whole.shape[1:]) for entries in equal], table


SMALL = 1 << 31
"""Objectives below this are held in 64 bits."""


def _unit(values: Sequence[Any]) -> Fraction:
    """The greatest number of which all are multiples; 1 if all are 0."""
    fractions = [Fraction(value) for value in set(values)]
    scale = math.lcm(*(value.denominator for value in fractions))
    return Fraction(math.gcd(*(int(value * scale) for value in fractions)) or scale, scale)


@dataclass(slots=True, eq=False)
class _Solved:
    """What is known of the maximum of each block, in units of its objective.

    Attributes:
        status: the worst.
        bound: one number a block, or None where nothing is proven.
        x: int64, a point; None where a block has none.
        value: what x is worth in each block.
        proofs: why `bound` holds, one a block.
        integer_steps: how many blocks went through branch and bound.
        nodes, solver: as in `Optimum`.
        match: the correspondence of `x`, once it was built.
    """

    status: Status
    bound: list[Fraction] | None
    x: Ints | None
    value: list[int]
    proofs: list[Proof | None]
    integer_steps: int
    nodes: int
    solver: str
    match: Ints | None = None


def _solve(
    structure: Structure, objective: npt.NDArray[Any], solver: Backend, node_limit: int | None, relaxed: bool
) -> _Solved:
    """The relaxation of all blocks at once; then an integer step for each block that it leaves open."""
    blocks, conditions = structure.blocks, structure.conditions
    if not len(objective):
        empty = np.zeros(0, dtype=np.int64)
        if conditions.violated(empty).any():
            return _Solved(Status.INFEASIBLE, None, None, [], [], 0, 0, NO_SOLVER)
        return _Solved(Status.OPTIMAL, [Fraction(0)] * blocks, empty, [0] * blocks, ["dual"] * blocks, 0, 0, NO_SOLVER)
    answer = solver.solve(LinearProgram(objective, structure.block, conditions.constraints, integral=False))
    if answer.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED):
        return _Solved(Status.INFEASIBLE, None, None, [], [], 0, 0, answer.solver)
    if answer.x is None or answer.duals is None:
        return _Solved(answer.status, None, None, [], [], 0, 0, answer.solver)
    bound = _bounds(structure, objective, answer.duals)
    x = np.rint(answer.x)
    broken = np.zeros(blocks, dtype=bool)
    broken[structure.block[(np.abs(answer.x - x) > INTEGRAL) | (x < 0)]] = True
    x = x.astype(np.int64)
    broken[structure.row_block[conditions.violated(x)]] = True
    value = _by_block(structure.block, objective * x, blocks)
    if relaxed:
        point = None if broken.any() else x
        return _Solved(Status.OPTIMAL, bound, point, value, ["dual"] * blocks, 0, 0, answer.solver)
    bound = [Fraction(math.floor(b)) for b in bound]
    still_open = [b for b in range(blocks) if broken[b] or value[b] < bound[b]]
    solved = _Solved(Status.OPTIMAL, bound, x, value, ["dual"] * blocks, len(still_open), 0, answer.solver)
    for b in still_open:
        if not _integer_step(structure, objective, solver, node_limit, b, solved, None if broken[b] else value[b]):
            break
    return solved


def _integer_step(
    structure: Structure,
    objective: npt.NDArray[Any],
    solver: Backend,
    node_limit: int | None,
    block: int,
    solved: _Solved,
    best: int | None,
) -> bool:
    """Branch and bound on one block, written into `solved`; False where it is infeasible.

    Raises:
        SolverError: if the solver's point breaks a condition.
    """
    inside = structure.block == block
    conditions = structure.conditions.part(structure.row_block == block, inside)
    own = objective[inside]
    answer = solver.solve(
        LinearProgram(own, np.zeros(len(own), dtype=np.int64), conditions.constraints, integral=True),
        node_limit=node_limit,
    )
    solved.nodes += answer.nodes
    assert solved.bound is not None
    if answer.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED):
        solved.status, solved.bound, solved.x = Status.INFEASIBLE, None, None
        return False
    if answer.x is not None:
        x = np.rint(answer.x).astype(np.int64)
        if np.abs(answer.x - x).max() > INTEGRAL or (x < 0).any() or conditions.violated(x).any():
            raise SolverError(
                "solution", None, f"the point of {answer.solver} breaks a condition", "report it, with the records"
            )
        found = int((own * x).sum())
        if best is None or found > best:
            best = solved.value[block] = found
            if solved.x is not None:
                solved.x[inside] = x
    if best is None:
        solved.x = None
    elif answer.status is Status.OPTIMAL and best < solved.bound[block] and _resolved(structure, own, block):
        solved.bound[block], solved.proofs[block] = Fraction(best), "branch and bound"
    if answer.status is not Status.OPTIMAL and (best is None or best < solved.bound[block]):
        solved.status = answer.status
    return True


def _resolved(structure: Structure, objective: npt.NDArray[Any], block: int) -> bool:
    """Whether the solver tells neighbouring integers apart with room to spare, so that its "optimal" may be believed:
    its tolerance is 1e-9 a pair of costs below 2**10.
    """
    return int(structure.images[block]) * max(map(abs, objective.tolist()), default=0) < 1 << 30


def _bounds(structure: Structure, objective: npt.NDArray[Any], duals: Floats) -> list[Fraction]:
    """For each block an exact upper bound from float multipliers y, which may be anything: by weak duality

    .. math:: c x \\le \\sum_r \\max(y_r \\ell_r, y_r u_r) + \\sum_v \\max(0, (c - y M)_v) U_v.
    """
    conditions, blocks = structure.conditions, structure.blocks
    exponents = LinearProgram(objective, structure.block, conditions.constraints, integral=False).exponents
    scales = np.append(exponents, np.zeros(blocks - len(exponents), dtype=np.int64))[structure.row_block]
    size = int(np.abs(conditions.lower).sum() + np.abs(conditions.upper).sum() + structure.upper.sum()) + 1
    best: list[Fraction] = []
    for grid in GRIDS:
        cost: npt.NDArray[Any] = objective * grid
        y: npt.NDArray[Any]
        if objective.dtype == object:
            y = np.empty(len(duals), dtype=object)
            y[:] = [
                round(Fraction(d) * Fraction(2) ** e * grid)
                for d, e in zip(duals.tolist(), scales.tolist(), strict=True)
            ]
        else:
            y = np.rint(np.ldexp(duals, scales) * grid).astype(np.int64)
            largest = 8 * int(np.abs(y).max(initial=0)) + int(np.abs(cost).max(initial=0))
            if largest * size >= 1 << 62:
                y, cost = y.astype(object), cost.astype(object)
        np.subtract.at(cost, conditions.variable, conditions.coefficient * y[conditions.row])
        sides = _by_block(structure.row_block, np.maximum(y * conditions.lower, y * conditions.upper), blocks)
        losses = _by_block(structure.block, np.maximum(cost, 0) * structure.upper, blocks)
        found = [Fraction(side + loss, grid) for side, loss in zip(sides, losses, strict=True)]
        best = list(map(min, best, found)) if best else found
    return best


def _by_block(block: Ints, values: npt.NDArray[Any], blocks: int) -> list[int]:
    sums = np.zeros(blocks, dtype=values.dtype)
    np.add.at(sums, block, values)
    return [int(total) for total in sums.tolist()]


def _read(
    evaluation: Evaluation,
    knowledge: Knowledge,
    structure: Structure,
    asked: _Asked,
    solved: _Solved,
) -> Optimum:
    """The answer in the units of the question, its point turned into a correspondence and valued from the records.

    Raises:
        SolverError: if the correspondence has not the value or the counts of the program's point.
    """
    bound = None if solved.bound is None else asked.constant + _total(asked.step, solved.bound)
    attained = None
    if solved.x is not None and solved.match is None:
        dense = np.zeros(structure.dense_size, dtype=np.int64)
        dense[structure.dense] = solved.x
        solved.match = expand(structure, dense)
    if solved.match is not None:
        attained = _value(evaluation, structure, asked, solved.match)
        expected = asked.constant + _total(asked.step, solved.value)
        check_answer(evaluation, knowledge, solved.match, attained, expected)
    return Optimum(solved.status, bound, tuple(solved.proofs), solved.nodes, solved.solver, attained, solved.match)


def _total(steps: Sequence[Fraction], amounts: Sequence[Fraction | int]) -> Fraction:
    """Sum of steps times amounts, equal steps taken together."""
    together: dict[Fraction, Fraction | int] = {}
    for step, amount in zip(steps, amounts, strict=True):
        together[step] = together.get(step, 0) + amount
    return sum((step * amount for step, amount in together.items()), Fraction(0))


def _value(evaluation: Evaluation, structure: Structure, asked: _Asked, match: Ints) -> Fraction:
    """The sum of the weights at a correspondence, from the records: it knows nothing of variables and potentials."""
    p = structure.patterns
    pattern = structure.clean.pattern * p + structure.perturbed.pattern[match]
    cell = (asked.table[evaluation.class_of_row] * 5 + states(evaluation, match)) * p * p + pattern
    counts = np.bincount(cell, minlength=len(asked.tables) * 5 * p * p).reshape(-1, 5, p, p)
    used = zip(counts[counts > 0].tolist(), np.stack(asked.tables)[counts > 0].tolist(), strict=True)
    return sum((count * Fraction(weight) for count, weight in used), Fraction(0))
