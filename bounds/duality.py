"""Exact bounds on a program's relaxation from a solver's float multipliers, by weak duality (theory, section 4).

With multipliers u of the clean margins a, v of the perturbed margins b and z of the side rows, a program obeys

.. math::
    \\sum c x \\le \\sum_i a_i u_i + \\sum_j b_j v_j + \\sum_r \\max(z_r \\ell_r, z_r u_r)
    \\quad\\text{if}\\quad u_i + v_j + \\sum_r z_r g_{rij} \\ge c_{ij}\\ \\text{for all } i, j.

Whatever u and z are, `v_j = max_i (c_ij - u_i - sum_r z_r g_rij)` makes the condition true, so the bound never depends
on the solver being right. That it is also tight needs exact multipliers: floats only tell which conditions are
equations, a spanning tree of these gives u and v exactly as functions of z, and the equations left over give z.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bounds.program import Block, Exact, Floats, Ints, Program, Row

__all__ = ["Certificate", "certify"]

TIGHT = 1e-6
"""A reduced cost below this, in units of `Program.costs`, counts as zero; a wrong guess costs tightness only."""

USED = 1e-7
"""A variable above this is positive, so its condition is an equation (complementary slackness)."""


HINT_DENOMINATOR = 1_000
"""The largest denominator of a side multiplier that no equation settles."""


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """An upper bound on a program, and what a point loses against it.

    Attributes:
        bound: exact; no feasible point has more, integral or not.
        reduced: object array of integers <= 0, one a variable. Where all side rows are equations, a feasible x has the
            value `bound + sum(reduced * x) / scale`.
        scale: positive integer.
    """

    bound: Fraction
    reduced: Exact
    scale: int


def certify(program: Program, x: Floats, duals: Floats) -> Certificate:
    """An exact bound from the floats of a solved relaxation; always valid, whatever they are.

    Args:
        program: the program; whether it is integral does not matter.
        x: float64 of shape (variables,), the relaxation's solution; a hint.
        duals: float64, as in `bounds.program.Answer.duals`; a hint.
    """
    slack = _slack(program, x, duals)
    trees = [_tree(block, program.rows, program.objective, slack) for block in program.blocks]
    hint = [_simple(Fraction(z) * Fraction(2) ** program.exponent) for z in _side(program, duals).tolist()]
    z = _side_multipliers(program, trees, slack, hint)
    scale = math.lcm(*(value.denominator for value in z))
    whole = [int(value * scale) for value in z]
    total = sum(m * (row.upper if m > 0 else row.lower) for m, row in zip(whole, program.rows, strict=True))
    reduced = scale * program.objective
    for m, row in zip(whole, program.rows, strict=True):
        reduced[row.variables] -= m * row.coefficients.astype(object)
    for block, tree in zip(program.blocks, trees, strict=True):
        if not block.variables:
            continue
        left = block.part(reduced)
        u = scale * tree.clean
        for m, gamma in zip(whole, tree.clean_rows, strict=True):
            u = u - m * gamma.astype(object)
        left -= u[:, None]
        v = left.max(axis=0)
        left -= v
        total += sum(map(int.__mul__, u.tolist(), block.clean_sizes))
        total += sum(map(int.__mul__, v.tolist(), block.perturbed_sizes))
    return Certificate(Fraction(total, scale * program.scale), reduced, scale * program.scale)


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """A block's potentials as functions of z: `u = clean - z @ clean_rows` and `v = perturbed - z @ perturbed_rows`.

    Attributes:
        clean, perturbed: integers in object arrays, an entry a group.
        clean_rows, perturbed_rows: int64 of shapes (side rows, groups).
        rows: int64 of shape (side rows, clean groups, perturbed groups), the side rows' coefficients in the block.
    """

    clean: Exact
    perturbed: Exact
    clean_rows: Ints
    perturbed_rows: Ints
    rows: Ints


def _side(program: Program, values: Floats) -> Floats:
    return values[len(values) - len(program.rows) :]


def _slack(program: Program, x: Floats, duals: Floats) -> Floats:
    """float64 of shape (variables,): how far each condition is from an equation, -1 where the variable is used."""
    reduced = program.costs
    clean, perturbed = 0, sum(len(block.clean_sizes) for block in program.blocks)
    for block in program.blocks:
        rows, columns = block.shape
        block.part(reduced)[:] -= duals[clean : clean + rows, None] + duals[perturbed : perturbed + columns]
        clean, perturbed = clean + rows, perturbed + columns
    for row, z in zip(program.rows, _side(program, duals).tolist(), strict=True):
        reduced[row.variables] -= z * row.coefficients
    return np.where(x > USED, -1.0, np.abs(reduced))


def _tree(block: Block, rows: Sequence[Row], costs: Exact, slack: Floats) -> _Tree:
    """The potentials along a spanning tree of least slack (Prim), the first clean group's being zero."""
    size = block.shape
    c, key = block.part(costs), block.part(slack)
    g = np.zeros((len(rows), *size), dtype=np.int64)
    for r, row in enumerate(rows):
        inside = (row.variables >= block.first) & (row.variables < block.first + block.variables)
        g[r].ravel()[row.variables[inside] - block.first] = row.coefficients[inside]
    potentials = [np.zeros(n, dtype=object) for n in size]
    gammas = [np.zeros((len(rows), n), dtype=np.int64) for n in size]
    if not block.variables:
        return _Tree(potentials[0], potentials[1], gammas[0], gammas[1], g)
    # By what slack each group outside the tree would hang on it, and on which group of the other side.
    reach = [np.full(n, np.inf) for n in size]
    parent = [np.zeros(n, dtype=np.int64) for n in size]
    outside = [np.ones(n, dtype=bool) for n in size]
    side, node = 0, 0
    for _ in range(sum(size) - 1):
        outside[side][node] = False
        other = 1 - side
        line = key[node] if side == 0 else key[:, node]
        closer = outside[other] & (line < reach[other])
        reach[other][closer] = line[closer]
        parent[other][closer] = node
        reach[side][node] = np.inf
        side = int(reach[0].min() > reach[1].min())
        node = int(reach[side].argmin())
        i, j = (node, parent[0][node]) if side == 0 else (parent[1][node], node)
        hung, on = (i, j) if side == 0 else (j, i)
        potentials[side][hung] = c[i, j] - potentials[1 - side][on]
        gammas[side][:, hung] = g[:, i, j] - gammas[1 - side][:, on]
    return _Tree(potentials[0], potentials[1], gammas[0], gammas[1], g)


def _side_multipliers(
    program: Program, trees: Sequence[_Tree], slack: Floats, hint: Sequence[Fraction]
) -> list[Fraction]:
    """z from the equations that the trees leave over, least slack first; the hint where these do not settle it."""
    found = _Equations(len(program.rows))
    left = []
    for block, tree in zip(program.blocks, trees, strict=True):
        coefficients = tree.rows - tree.clean_rows[:, :, None] - tree.perturbed_rows[:, None, :]
        useful = coefficients.any(axis=0) & (block.part(slack) < TIGHT)
        left += [
            (
                block.part(slack)[i, j],
                coefficients[:, i, j],
                block.part(program.objective)[i, j] - tree.clean[i] - tree.perturbed[j],
            )
            for i, j in np.argwhere(useful)
        ]
    for _, coefficient, constant in sorted(left, key=lambda item: item[0]):
        if found.full:
            break
        found.add(coefficient.tolist(), constant)
    for r, value in enumerate(hint):
        found.add([int(r == q) for q in range(len(hint))], value)
    return found.solution()


def _simple(hint: Fraction) -> Fraction:
    """A multiplier of few digits near a float's: any is valid, and those that are exact are ratios of small numbers."""
    return hint.limit_denominator(HINT_DENOMINATOR)


class _Equations:
    """Linear equations in exact arithmetic, in reduced form; one that adds nothing new is dropped."""

    def __init__(self, unknowns: int) -> None:
        self._unknowns = unknowns
        self._pivots: dict[int, list[Fraction]] = {}

    @property
    def full(self) -> bool:
        """Whether every unknown is settled."""
        return len(self._pivots) == self._unknowns

    def add(self, coefficients: Sequence[int], constant: Fraction | int) -> None:
        """One more equation."""
        line = [Fraction(value) for value in (*coefficients, constant)]
        for pivot, known in self._pivots.items():
            line = [a - line[pivot] * b for a, b in zip(line, known, strict=True)]
        pivot = next((r for r in range(self._unknowns) if line[r]), -1)
        if pivot < 0:
            return
        line = [value / line[pivot] for value in line]
        self._pivots = {
            p: [a - known[pivot] * b for a, b in zip(known, line, strict=True)] for p, known in self._pivots.items()
        }
        self._pivots[pivot] = line

    def solution(self) -> list[Fraction]:
        """The unknowns, once all are settled."""
        return [self._pivots[r][-1] for r in range(self._unknowns)]
