"""The best sum of an arbitrary pair cost over correspondences with any linear side conditions on counts of pairs.

The general door to `bounds.program`: groups of equal records, what a pair of groups costs, and rows that say how many
pairs of some kind there are. `bounds.correspondences` states the named quantities, this module whatever else a caller
can write down as matrices over (clean group, perturbed group).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bounds import backends
from bounds.correspondences import METHODS, Method
from bounds.errors import BackendError, CountError, SolverError
from bounds.program import Block, Exact, Program, Row
from bounds.refinement import Outcome, Settled, enumerated, integer, relaxed, summed

__all__ = ["Coupling", "PairBlock", "PairOptimum", "PairRow", "merged", "optimise_pairs", "pair_rows"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PairRow:
    """A side condition on one block: lower <= sum of coefficients * pairs <= upper.

    Attributes:
        name: in words, for messages.
        coefficients: int64 of shape (I, J), one a pair of groups.
        lower, upper: both included; equal for a known count.
    """

    name: str
    coefficients: Ints
    lower: int
    upper: int


@dataclass(frozen=True, slots=True, eq=False)
class Coupling:
    """A side condition that spans blocks; as `PairRow`, with one matrix of coefficients a block."""

    name: str
    coefficients: Sequence[Ints]
    lower: int
    upper: int


@dataclass(frozen=True, slots=True, eq=False)
class PairBlock:
    """The correspondences of one class.

    Attributes:
        clean_sizes, perturbed_sizes: records in each of the I clean and J perturbed groups; equal sums.
        cost: object array of integers or Fractions of shape (I, J), what a pair of two groups adds.
        rows: side conditions on this block alone.
    """

    clean_sizes: tuple[int, ...]
    perturbed_sizes: tuple[int, ...]
    cost: Exact
    rows: tuple[PairRow, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PairOptimum(Outcome):
    """An `Outcome`, INFEASIBLE where no correspondence meets the side conditions, with its pairs.

    Attributes:
        tables: for each block int64 of shape (I, J), the pairs of each two groups at a correspondence that meets the
            side conditions, whose value is `attained`; None where none was found.
    """

    tables: tuple[Ints, ...] | None


def optimise_pairs(
    blocks: Sequence[PairBlock],
    couplings: Sequence[Coupling] = (),
    *,
    maximise: bool,
    method: Method = "milp",
    backend: str = "highs",
    node_limit: int | None = None,
) -> PairOptimum:
    r"""The largest or smallest total cost of one correspondence a block.

    .. math::
        \max\ \sum_b \sum_{ij} c^b_{ij} x^b_{ij} \quad\text{s.t.}\quad
        \sum_j x^b_{ij} = a^b_i,\ \sum_i x^b_{ij} = b^b_j,\
        \ell_r \le \sum_{b,i,j} g^b_{rij} x^b_{ij} \le u_r,\ x \in \mathbb Z_{\ge 0}.

    Args:
        blocks: the classes. Without couplings each is solved by itself.
        couplings: side conditions that span blocks.
        maximise: the sense.
        method: "lp" bounds by the relaxation (attained where its vertex is integral), "milp" by the integer program,
            "enumerate" by looking at every correspondence of blocks of at most 8 images; a side condition that is not
            an equation is enumerated like a block.
        backend: "highs" or "cvxpy".
        node_limit: branch-and-bound nodes that a program may take.

    Raises:
        BackendError: for an unknown method or backend, or one that cannot do this.
        CountError: if group sizes and matrices do not fit together.
        SolverError: if an answer does not survive the exact check.

    >>> block = PairBlock((1, 1), (1, 1), np.array([[3, 0], [1, 1]], dtype=object))
    >>> optimise_pairs([block], maximise=True).bound
    Fraction(4, 1)
    >>> diagonal = PairRow("on the diagonal", np.eye(2, dtype=np.int64), 0, 1)
    >>> found = optimise_pairs([PairBlock((1, 1), (1, 1), block.cost, (diagonal,))], maximise=True)
    >>> found.bound, found.sharp, found.tables[0].tolist()
    (Fraction(1, 1), True, [[0, 1], [1, 0]])
    """
    if method not in METHODS:
        raise BackendError("method", method, "not a program", f"choose among {', '.join(METHODS)}")
    _check(blocks, couplings)
    solver = backends.get("enumerate" if method == "enumerate" else backend)
    parts = [list(blocks)] if couplings else [[block] for block in blocks]
    sign = 1 if maximise else -1
    settled: list[Settled] = []
    tables: list[Ints] = []
    for part in parts:
        program = _program(part, couplings, sign)
        if method == "enumerate":
            found = enumerated(program, solver, node_limit)
        elif method == "lp":
            found = relaxed(program, solver)
        else:
            found = integer(program, solver, node_limit)
        settled.append(found)
        if found.x is not None:
            tables += [block.part(found.x) for block in program.blocks[: len(part)]]
    complete = all(found.x is not None for found in settled)
    attained = None
    if complete:
        attained = sum((_value(block.cost, table) for block, table in zip(blocks, tables, strict=True)), Fraction(0))
        if broken := _broken(blocks, couplings, tables):
            raise SolverError("correspondence", broken, "does not hold at the program's answer", "report it")
    return PairOptimum(*summed(settled, sign), attained, tuple(tables) if complete else None)


def _check(blocks: Sequence[PairBlock], couplings: Sequence[Coupling]) -> None:
    shapes = [(len(block.clean_sizes), len(block.perturbed_sizes)) for block in blocks]
    for block, shape in zip(blocks, shapes, strict=True):
        if sum(block.clean_sizes) != sum(block.perturbed_sizes):
            raise CountError(
                "block",
                [sum(block.clean_sizes), sum(block.perturbed_sizes)],
                "holds unequal numbers of clean and perturbed records",
                "a correspondence needs as many of both",
            )
        for name, matrix in (("cost", block.cost), *((row.name, row.coefficients) for row in block.rows)):
            if matrix.shape != shape:
                raise CountError(name, list(matrix.shape), f"needs shape {shape}", "give one entry a pair of groups")
    for coupling in couplings:
        found = [matrix.shape for matrix in coupling.coefficients]
        if found != shapes:
            raise CountError(coupling.name, found, f"needs the shapes {shapes}", "give one matrix a block")


def _program(part: Sequence[PairBlock], couplings: Sequence[Coupling], sign: int) -> Program:
    """The integer program of some blocks; a minimum is stated as the maximum of the negated costs.

    A side condition whose ends differ becomes an equation with a slack t in 0..R, where R is their difference: a
    block of two by two groups of R records, whose first cell is t. The exact refinement needs equations.
    """
    scale = math.lcm(*(entry.denominator for block in part for entry in block.cost.ravel().tolist()))
    programmed: list[Block] = []
    costs: list[Exact] = [np.empty(0, dtype=object)]
    first = 0
    for block in part:
        programmed.append(Block(block.clean_sizes, block.perturbed_sizes, first))
        first += programmed[-1].variables
        cost = np.empty(block.cost.size, dtype=object)
        cost[:] = [int(entry * scale) * sign for entry in block.cost.ravel().tolist()]
        costs.append(cost)
    whole = list(programmed)
    rows: list[Row] = []
    conditions: list[tuple[PairRow | Coupling, Sequence[tuple[Block, Ints]]]] = [
        (row, [(at, row.coefficients)]) for block, at in zip(part, programmed, strict=True) for row in block.rows
    ]
    conditions += [(row, list(zip(programmed, row.coefficients, strict=True))) for row in couplings]
    for row, matrices in conditions:
        used = [(at.first + np.flatnonzero(g), g.ravel()[np.flatnonzero(g)]) for at, g in matrices]
        variables = np.concatenate([variables for variables, _ in used])
        coefficients = np.concatenate([entries for _, entries in used]).astype(np.int64)
        lower, upper = _clipped(row, matrices)
        if lower < upper:
            slack = upper - lower
            whole.append(Block((slack, slack), (slack, slack), first))
            costs.append(np.zeros(4, dtype=object))
            variables, coefficients = np.append(variables, first), np.append(coefficients, 1)
            first += 4
        rows.append(Row(row.name, variables, coefficients, upper, upper))
    return Program(tuple(whole), tuple(rows), np.concatenate(costs), scale, integral=True)


def _clipped(row: PairRow | Coupling, matrices: Sequence[tuple[Block, Ints]]) -> tuple[int, int]:
    """The ends of a condition, brought within what its coefficients allow anyway; crossed ends stay as they are."""
    least = most = 0
    for block, g in matrices:
        if g.size:
            sizes = np.array(block.clean_sizes, dtype=np.int64)
            least, most = least + int(sizes @ g.min(axis=1)), most + int(sizes @ g.max(axis=1))
    lower, upper = max(row.lower, least), min(row.upper, most)
    return (lower, upper) if lower <= upper else (row.lower, row.upper)


def _value(weights: npt.NDArray[np.object_] | Ints, table: Ints) -> Fraction:
    used = np.nonzero(table)
    return Fraction(sum(w * n for w, n in zip(weights[used].tolist(), table[used].tolist(), strict=True)))


def _broken(blocks: Sequence[PairBlock], couplings: Sequence[Coupling], tables: Sequence[Ints]) -> str | None:
    """The first side condition that the tables break."""
    for block, table in zip(blocks, tables, strict=True):
        for row in block.rows:
            if not row.lower <= _value(row.coefficients, table) <= row.upper:
                return row.name
    for coupling in couplings:
        total = sum(_value(g, table) for g, table in zip(coupling.coefficients, tables, strict=True))
        if not coupling.lower <= total <= coupling.upper:
            return coupling.name
    return None


def merged(block: PairBlock, seen: Sequence[Ints] = ()) -> tuple[PairBlock, Ints, Ints]:
    """The block with groups merged that nothing tells apart: neither the costs nor the rows nor the matrices in `seen`.

    Args:
        block: with one group a record or coarser.
        seen: int64 of shape (I, J) each, further matrices that must stay constant on merged groups (of couplings).

    Returns:
        The merged block; int64 of shape (I,) and (J,), the merged group of each group. A matrix of the merged block is
        one of `block` at the first group of each.
    """
    matrices = [block.cost, *(row.coefficients for row in block.rows), *seen]
    clean = _alike([list(map(tuple, matrix.tolist())) for matrix in matrices], len(block.clean_sizes))
    perturbed = _alike([list(map(tuple, matrix.T.tolist())) for matrix in matrices], len(block.perturbed_sizes))
    rows, columns = (np.unique(group, return_index=True)[1] for group in (clean, perturbed))
    picked = np.ix_(rows, columns)
    return (
        PairBlock(
            _added(block.clean_sizes, clean),
            _added(block.perturbed_sizes, perturbed),
            block.cost[picked],
            tuple(replace(row, coefficients=row.coefficients[picked]) for row in block.rows),
        ),
        clean,
        perturbed,
    )


def _alike(lines: Sequence[Sequence[tuple[object, ...]]], size: int) -> Ints:
    """int64 of shape (size,): equal numbers where all lines are equal, ascending by first appearance."""
    known: dict[object, int] = {}
    keys = zip(*lines, strict=True) if lines else ()
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64).reshape(size)


def _added(sizes: tuple[int, ...], group: Ints) -> tuple[int, ...]:
    sums: Ints = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sums, group, np.array(sizes, dtype=np.int64))
    return tuple(sums.tolist())


def pair_rows(table: Ints, clean: Sequence[Ints], perturbed: Sequence[Ints]) -> tuple[Ints, Ints]:
    """(clean rows, perturbed rows) paired as a table says, from the rows of each clean and of each perturbed group."""
    # Row by row the clean records in order; within a column the perturbed records in order.
    before = np.cumsum(table, axis=0) - table
    columns = [
        perturbed[j][before[i, j] : before[i, j] + table[i, j]]
        for i in range(len(clean))
        for j in np.flatnonzero(table[i]).tolist()
    ]
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *clean]), np.concatenate([none, *columns])
