"""The exact optimum of a program from a solver that works in floats.

A relaxation's answer gives exact multipliers (`bounds.duality`). If they do not prove it optimal to the last digit,
the program is stated again in what each pair loses against the bound: the losses that matter are then all of one size,
and the solver's tolerances are relative to that. This is iterative refinement (Gleixner, Steffy and Wolter,
"Iterative refinement for linear programming", INFORMS Journal on Computing 28, 2016). Probabilities near 1 differ by
1e-16 and need it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from bounds.duality import USED, Certificate, certify
from bounds.errors import SolverError
from bounds.program import Answer, Backend, Exact, Ints, Program, Status

__all__ = ["NO_SOLVER", "Outcome", "Proof", "Settled", "enumerated", "integer", "relaxed", "summed"]

Proof = Literal["dual", "enumeration", "branch and bound"]

ROUNDS = 6
"""Refinements at most; each gains about 30 bits, and two are usual."""

INTEGRAL = 1e-6
"""A solver's number this close to an integer is read as that integer (and then checked exactly)."""

NO_SOLVER = "none needed"

_REPORT = "report it, with the records if they may be shared"


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """What is known of a program's maximum.

    Attributes:
        status: how the last run ended.
        bound: exact; no integer point has more (no point at all, from `relaxed`). None where nothing is proven.
        x: int64 of shape (variables,), a feasible point, or None.
        proof: why `bound` holds.
        nodes: branch-and-bound nodes, or correspondences enumerated.
        solver: name and version.
    """

    status: Status
    bound: Fraction | None
    x: Ints | None
    proof: Proof | None
    nodes: int
    solver: str


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The end of an interval of sums, as far as programs could settle it.

    Attributes:
        status: how the runs ended, the worst of them.
        bound: exact; no correspondence consistent with the knowledge goes beyond. None where nothing is proven.
        proofs: why nothing goes beyond `bound`, for each program that stands by itself (a class, unless a total couples
            them): "dual" (exact multipliers), "enumeration" or "branch and bound" (the solver's word).
        nodes: branch-and-bound nodes, or correspondences enumerated.
        solver: name and version.
        attained: the exact value of a correspondence that was found, or None.
    """

    status: Status
    bound: Fraction | None
    proofs: tuple[Proof | None, ...]
    nodes: int
    solver: str
    attained: Fraction | None

    @property
    def proof(self) -> Proof | None:
        """The weakest of `proofs`; None where nothing is proven."""
        return None if self.bound is None else max(self.proofs, key=_WEAKEST.index, default="dual")

    @property
    def sharp(self) -> bool:
        """Whether the bound is attained."""
        return self.bound is not None and self.bound == self.attained


_WORST = (Status.OPTIMAL, Status.LIMIT, Status.INFEASIBLE)
_WEAKEST: tuple[Proof | None, ...] = ("dual", "enumeration", "branch and bound")


def summed(settled: Sequence[Settled], sign: int) -> tuple[Status, Fraction | None, tuple[Proof | None, ...], int, str]:
    """The first five fields of the `Outcome` of programs whose maxima, times the sign, add up."""
    bounds = [sign * found.bound for found in settled if found.bound is not None]
    return (
        max((found.status for found in settled), key=_WORST.index, default=Status.OPTIMAL),
        sum(bounds, Fraction(0)) if len(bounds) == len(settled) else None,
        tuple(found.proof for found in settled),
        sum(found.nodes for found in settled),
        next((found.solver for found in settled if found.solver != NO_SOLVER), NO_SOLVER),
    )


def enumerated(program: Program, solver: Backend, node_limit: int | None) -> Settled:
    """By the backend that looks at every correspondence."""
    if program.variables == 0:
        return _empty(program, "enumeration")
    answer = solver.solve(program, node_limit=node_limit)
    x = _integers(program, answer)
    if answer.status is Status.OPTIMAL and x is not None:
        return Settled(answer.status, program.value(x), x, "enumeration", answer.nodes, answer.solver)
    return Settled(answer.status, None, x, None, answer.nodes, answer.solver)


def relaxed(program: Program, solver: Backend) -> Settled:
    """By the linear relaxation: `x` only where its vertex is integral."""
    if program.variables == 0:
        return _empty(program, "dual")
    return _relaxed(program, solver)[0]


def integer(program: Program, solver: Backend, node_limit: int | None) -> Settled:
    """By the relaxation and, unless that settles it, the integer program on what each pair loses against its bound."""
    if program.variables == 0:
        return _empty(program, "dual")
    outer, certificate = _relaxed(program, solver)
    if outer.bound is None or certificate is None:
        return outer
    bound = _to_lattice(program, outer.bound)
    if outer.x is not None and program.value(outer.x) == bound:
        return replace(outer, bound=bound)
    nodes, best, limit = 0, outer.x, None
    for _ in range(ROUNDS):
        refined = _restated(program, certificate, limit, integral=True)
        if not _resolved(refined) and _resolved(program):
            refined = program
        answer = solver.solve(refined, node_limit=node_limit)
        nodes += answer.nodes
        status = _bounded(answer.status)
        if status is Status.INFEASIBLE:
            return Settled(status, None, None, None, nodes, answer.solver)
        x = _integers(program, answer)
        if x is not None and (best is None or program.value(x) > program.value(best)):
            best = x
        if status is Status.LIMIT or best is None or program.value(best) == bound:
            break
        if _resolved(refined):
            return Settled(status, program.value(best), best, "branch and bound", nodes, answer.solver)
        # A better point loses less than this in all, so no pair of it loses more.
        limit = -sum(certificate.reduced[v] * int(best[v]) for v in np.flatnonzero(best))
    return Settled(status, bound, best, "dual", nodes, answer.solver)


def _empty(program: Program, proof: Proof) -> Settled:
    """A program without variables, which solvers do not take."""
    x = np.empty(0, dtype=np.int64)
    if program.violated(x) is not None:
        return Settled(Status.INFEASIBLE, None, None, None, 0, NO_SOLVER)
    return Settled(Status.OPTIMAL, Fraction(0), x, proof, 0, NO_SOLVER)


def _relaxed(program: Program, solver: Backend) -> tuple[Settled, Certificate | None]:
    current, losses, offset = replace(program, integral=False), program.objective, Fraction(0)
    for _ in range(ROUNDS):
        answer = solver.solve(current)
        status = _bounded(answer.status)
        if status is not Status.OPTIMAL:
            return Settled(status, None, None, None, 0, answer.solver), None
        if answer.x is None or answer.duals is None:
            raise SolverError("solution", None, f"{answer.solver} gave no point or no multipliers", _REPORT)
        certificate = certify(current, answer.x, answer.duals)
        cut = (certificate.scale // current.scale) * (losses - current.objective)
        certificate = replace(certificate, bound=offset + certificate.bound, reduced=certificate.reduced + cut)
        x = _integers(program, answer, fractional=True)
        used = np.flatnonzero(answer.x > USED)
        loss = -sum(certificate.reduced[v] * math.ceil(answer.x[v] - USED) for v in used)
        if loss == 0:
            break
        losses, offset = certificate.reduced, certificate.bound
        current = _restated(program, certificate, 4 * loss, integral=False)
    return Settled(status, certificate.bound, x, "dual", 0, answer.solver), certificate


def _restated(program: Program, certificate: Certificate, limit: int | None, *, integral: bool) -> Program:
    """The program in losses against the certificate's bound; losses beyond the limit are cut to just beyond it.

    Cutting a loss raises an objective, so a bound on this program is one on `program`, less the certificate's bound.
    """
    losses: Exact = certificate.reduced
    if limit is not None:
        losses = np.maximum(losses, -limit - 1)
    return replace(program, objective=losses, scale=certificate.scale, integral=integral)


def _bounded(status: Status) -> Status:
    """The status, given that margins bound every variable: such a program is never unbounded."""
    if status is Status.UNBOUNDED:
        raise SolverError("status", status.value, "transports are bounded", _REPORT)
    return Status.INFEASIBLE if status is Status.INFEASIBLE_OR_UNBOUNDED else status


def _integers(program: Program, answer: Answer, *, fractional: bool = False) -> Ints | None:
    """The answer's point in integers, checked exactly; None where there is none or, if allowed, not integral.

    Raises:
        SolverError: if it breaks a condition, or is not integral though it must be.
    """
    if answer.x is None:
        return None
    x = np.rint(answer.x)
    if np.abs(answer.x - x).max() > INTEGRAL:
        if fractional:
            return None
        raise SolverError("solution", None, f"{answer.solver} gave a point that is not integral", _REPORT)
    whole = x.astype(np.int64)
    if (broken := program.violated(whole)) is not None:
        raise SolverError("solution", None, f"the point of {answer.solver} breaks {broken}", _REPORT)
    return whole


def _step(program: Program) -> int:
    """What all costs are multiples of."""
    return math.gcd(*program.objective.tolist())


def _to_lattice(program: Program, bound: Fraction) -> Fraction:
    """The bound lowered to a value that an integer point can have at all."""
    step = Fraction(_step(program), program.scale)
    return bound if step == 0 else bound // step * step


def _resolved(program: Program) -> bool:
    """Whether the solver tells neighbouring values of an integer program apart with room to spare, so that its
    "optimal" may be believed: its tolerance is 1e-9 a pair of costs below 2**10.
    """
    images = sum(sum(block.clean_sizes) for block in program.blocks)
    largest = max(map(abs, program.objective.tolist()))
    return bool(images * largest < _step(program) << 30)
