"""Programs over correspondences, stated without a solver.

A `Program` is a set of transport blocks, one a class: group `i` of the clean records (of size `clean_sizes[i]`)
sends `x[first + i * J + j]` of its records to group `j` of the perturbed ones (of size `perturbed_sizes[j]`):

.. math::
    \\max\\ \\frac{1}{d} \\sum_v c_v x_v \\quad\\text{s.t.}\\quad
    \\sum_j x_{ij} = a_i,\\ \\sum_i x_{ij} = b_j,\\
    \\ell_r \\le \\sum_v g_{rv} x_v \\le u_r,\\ x \\ge 0\\ (x \\in \\mathbb Z).

A minimum is the maximum of the negated objective. All data are Python integers, so that an answer can be checked
exactly. An integer point is a correspondence up to
the order of equal records. Backends (`bounds.backends`) solve programs; they never see records.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Answer", "Backend", "Block", "Constraints", "Model", "Program", "Row", "Status"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Exact = npt.NDArray[np.object_]
"""Python integers in an object array."""

COST_BITS = 10
"""Solvers see costs of this many bits before the point. Their absolute tolerances are then well above a double's
rounding, without which they stall; what is lost, `bounds.refinement` brings back."""


class Status(StrEnum):
    """How a solver's run ended. Anything that maps to none of these raises `SolverError`."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    INFEASIBLE_OR_UNBOUNDED = "infeasible or unbounded"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Block:
    """The transport between the clean and the perturbed groups of one class.

    Attributes:
        clean_sizes, perturbed_sizes: tuples of group sizes, each summing to the images of the class.
        first: index of the block's first variable; (i, j) is variable `first + i * len(perturbed_sizes) + j`.
    """

    clean_sizes: tuple[int, ...]
    perturbed_sizes: tuple[int, ...]
    first: int

    @property
    def shape(self) -> tuple[int, int]:
        """(clean groups, perturbed groups)."""
        return len(self.clean_sizes), len(self.perturbed_sizes)

    @property
    def variables(self) -> int:
        """How many variables the block has."""
        return len(self.clean_sizes) * len(self.perturbed_sizes)

    def part(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The block's entries of an array over all variables, of shape `shape`."""
        return values[self.first : self.first + self.variables].reshape(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A side condition lower <= sum of coefficients * x <= upper; an equation has lower == upper."""

    name: str
    variables: Ints
    coefficients: Ints
    lower: int
    upper: int


class Constraints(NamedTuple):
    """All conditions but x >= 0, as lower <= M x <= upper with M in compressed rows: clean margins block by block,
    then perturbed margins block by block, then the side rows.
    """

    starts: Ints
    variables: Ints
    coefficients: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A linear or integer program over correspondences; see the module docstring.

    Attributes:
        blocks: the classes.
        rows: side conditions that may span blocks.
        objective: object array of Python integers, one a variable.
        scale: positive integer d; the objective's value is `sum(objective * x) / scale`.
        integral: whether x must be integers.
    """

    blocks: tuple[Block, ...]
    rows: tuple[Row, ...]
    objective: Exact
    scale: int
    integral: bool

    @property
    def variables(self) -> int:
        """How many variables there are."""
        return sum(block.variables for block in self.blocks)

    @property
    def exponent(self) -> int:
        """The power of two that `costs` are divided by, so that the largest has `COST_BITS` bits."""
        return max((abs(c) for c in self.objective.tolist()), default=0).bit_length() - COST_BITS

    @property
    def costs(self) -> Floats:
        """float64 of shape (variables,): `objective / 2**exponent`, each rounded once; what solvers see."""
        exponent = self.exponent
        shift = max(0, exponent - 500)
        kept = self.objective >> shift if shift else self.objective
        return np.ldexp(kept.astype(np.float64), shift - exponent)

    @property
    def constraints(self) -> Constraints:
        """The conditions as arrays for a solver."""
        variables: list[Ints] = []
        lengths: list[int] = []
        sides: list[int] = []
        for block in self.blocks:
            index = np.arange(block.variables, dtype=np.int64) + block.first
            variables.append(index)
            lengths += [block.shape[1]] * block.shape[0]
            sides += block.clean_sizes
        for block in self.blocks:
            index = np.arange(block.variables, dtype=np.int64) + block.first
            variables.append(index.reshape(block.shape).T.ravel())
            lengths += [block.shape[0]] * block.shape[1]
            sides += block.perturbed_sizes
        margins = np.ones(2 * self.variables)
        lengths += [len(row.variables) for row in self.rows]
        return Constraints(
            starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
            variables=np.concatenate([*variables, *(row.variables for row in self.rows), np.empty(0, np.int64)]),
            coefficients=np.concatenate([margins, *(row.coefficients for row in self.rows)]).astype(np.float64),
            lower=np.array(sides + [row.lower for row in self.rows], dtype=np.float64),
            upper=np.array(sides + [row.upper for row in self.rows], dtype=np.float64),
        )

    def violated(self, x: Ints) -> str | None:
        """The first condition that an integer point breaks, in words, or None; exact."""
        if (x < 0).any():
            return "a negative number of pairs"
        for number, block in enumerate(self.blocks):
            pairs = block.part(x)
            if tuple(pairs.sum(axis=1).tolist()) != block.clean_sizes:
                return f"the clean margins of block {number}"
            if tuple(pairs.sum(axis=0).tolist()) != block.perturbed_sizes:
                return f"the perturbed margins of block {number}"
        for row in self.rows:
            if not row.lower <= int(x[row.variables] @ row.coefficients) <= row.upper:
                return row.name
        return None

    def value(self, x: Ints) -> Fraction:
        """The objective at an integer point; exact."""
        used = np.flatnonzero(x)
        return Fraction(sum(int(x[v]) * self.objective[v] for v in used), self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a backend says; floats are hints until `bounds.correspondences` has checked them.

    Attributes:
        status: how the run ended.
        x: float64 of shape (variables,), or None where the run gave no feasible point.
        duals: float64 multipliers in the order of `Program.constraints` and in units of `Program.costs`, with the
            sign for which `costs - duals @ M` is the reduced cost; None for integer programs and where the solver
            gives none.
        solver: name and version.
        nodes: branch-and-bound nodes explored (correspondences, for `enumerate`).
    """

    status: Status
    x: Floats | None
    duals: Floats | None
    solver: str
    nodes: int = 0


class Model(Protocol):
    """What a solver sees of a program: max costs x, subject to the constraints, x >= 0 and, if asked, x integral."""

    @property
    def variables(self) -> int:
        """How many variables there are."""

    @property
    def costs(self) -> Floats:
        """float64 of shape (variables,)."""

    @property
    def constraints(self) -> Constraints:
        """All conditions but the signs."""

    @property
    def integral(self) -> bool:
        """Whether x must be integers."""


class Backend(Protocol):
    """Solves programs. Registered by name in `bounds.backends`; asking for one that is absent raises."""

    name: str

    def solve(self, program: Model, *, node_limit: int | None = None) -> Answer:
        """Solve to a gap of zero, or until `node_limit` nodes.

        Raises:
            SolverError: if the solver reports a status that is not in `Status`.
        """
        ...
