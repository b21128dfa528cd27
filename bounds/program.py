"""Programs over correspondences, stated without a solver.

A `Program` is a set of transport blocks, one a class: group `i` of the clean records (of size `clean_sizes[i]`)
sends `x[first + i * J + j]` of its records to group `j` of the perturbed ones (of size `perturbed_sizes[j]`):

.. math::
    \\text{opt}\\ \\frac{1}{d} \\sum_v c_v x_v \\quad\\text{s.t.}\\quad
    \\sum_j x_{ij} = a_i,\\ \\sum_i x_{ij} = b_j,\\
    \\ell_r \\le \\sum_v g_{rv} x_v \\le u_r,\\ x \\ge 0\\ (x \\in \\mathbb Z).

All data are Python integers, so that an answer can be checked exactly. An integer point is a correspondence up to
the order of equal records. Backends (`bounds.backends`) solve programs; they never see records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Answer", "Backend", "Block", "Program", "Row", "Status"]


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
    def variables(self) -> int:
        """How many variables the block has."""
        return len(self.clean_sizes) * len(self.perturbed_sizes)


@dataclass(frozen=True, slots=True)
class Row:
    """A side condition lower <= sum of coefficients * x <= upper; an equation has lower == upper."""

    name: str
    variables: npt.NDArray[np.int64]
    coefficients: npt.NDArray[np.int64]
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Program:
    """A linear or integer program over correspondences; see the module docstring.

    Attributes:
        blocks: the classes.
        rows: side conditions that may span blocks.
        objective: one Python integer a variable.
        scale: positive integer d; the objective's value is `sum(objective * x) / scale`.
        maximise: the sense.
        integral: whether x must be integers.
    """

    blocks: tuple[Block, ...]
    rows: tuple[Row, ...]
    objective: Sequence[int]
    scale: int
    maximise: bool
    integral: bool

    @property
    def variables(self) -> int:
        """How many variables there are."""
        return sum(block.variables for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a backend says; floats are hints until `bounds.correspondences` has checked them.

    Attributes:
        status: how the run ended.
        x: float64 of shape (variables,), or None where the status gives no solution.
        duals: float64 multipliers of all clean margins, block by block, then of all perturbed margins, then of the
            rows, with the sign for which `objective - sum(duals * coefficients)` is the reduced cost; None for
            integer programs and where the solver gives none.
        bound: the solver's own bound on the objective (in units of value, i.e. divided by `scale`), or None.
        solver: name and version.
        nodes: branch-and-bound nodes explored.
    """

    status: Status
    x: npt.NDArray[np.float64] | None
    duals: npt.NDArray[np.float64] | None
    bound: float | None
    solver: str
    nodes: int = 0


class Backend(Protocol):
    """Solves a `Program`. Registered by name in `bounds.backends`; asking for one that is absent raises."""

    name: str

    def solve(self, program: Program, *, node_limit: int | None = None) -> Answer:
        """Solve to a gap of zero, or until `node_limit` nodes.

        Raises:
            SolverError: if the solver reports a status that is not in `Status`.
        """
        ...
