"""Ends by linear and integer programs or by enumeration: independent of the closed forms and of their choice rules.

A ratio of sums is a sequence of programs (Dinkelbach), each for numerator - ratio * denominator. A mean of class
rates needs the ends of each class, and, where only the total of the retained-correct counts is known, of each class
at each count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from bounds.aggregate import DP_LIMIT, Grid, best_mean, best_mean_given_total
from bounds.compact import optimise_cells
from bounds.correspondences import Method, Objective, Optimum, optimise
from bounds.curves import Domain
from bounds.errors import BackendError, SolverError
from bounds.evaluation import Evaluation
from bounds.knowledge import Knowledge, Level
from bounds.program import Status
from bounds.question import Found, Question, Weights

__all__ = ["Asked", "Engine", "Solver", "end", "shares_of"]

Ints = npt.NDArray[np.int64]


class Asked(Protocol):
    """A question whose value is a ratio of sums over classes, or a mean of class ratios; see `question.Question`."""

    @property
    def evaluation(self) -> Evaluation:
        """The records asked about."""

    @property
    def knowledge(self) -> Knowledge:
        """What is known of them."""

    @property
    def domain(self) -> Domain:
        """The retained-correct counts that the knowledge leaves."""

    @property
    def denominator(self) -> str:
        """Its name, "none" for a count or a sum."""

    @property
    def average(self) -> str:
        """ "micro" or "macro"."""

    @property
    def fixed_denominators(self) -> npt.NDArray[Any] | None:
        """Integers of shape (C,) where no correspondence changes them, else None."""

    def weights(self, numerator: list[Fraction], denominator: list[Fraction]) -> Any:
        """Numerators times one factor a class, plus denominators times another, as the engine takes it."""

    def sums(self, evaluation: Evaluation, match: Ints, classes: range) -> tuple[Fraction, int]:
        """Numerator and denominator of a correspondence, summed over some classes of `evaluation`."""


class Engine(Protocol):
    """Optimises what `Asked.weights` states over the correspondences of some or all of its classes."""

    @property
    def method(self) -> str:
        """Which program, for messages."""

    def optimise(self, evaluation: Evaluation, weights: Any, knowledge: Knowledge, upper: bool) -> Optimum:
        """The best value; some bound is always there."""


@dataclass(frozen=True, slots=True)
class Solver:
    """Which program, which backend, and how far it may search.

    `program` is "compact" or "full"; what reads more of a record than its cell, and enumeration, take the full one.
    """

    method: Method
    backend: str
    node_limit: int | None
    program: Literal["compact", "full"]

    def optimise(self, evaluation: Evaluation, weights: Weights, knowledge: Knowledge, upper: bool) -> Optimum:
        """The best value; some bound is always there.

        Raises:
            SolverError: if nothing was proven, or the solver contradicts a feasibility that was checked before.
        """
        if self.program == "compact" and self.method != "enumerate" and not any(weights[1]):
            optimum = optimise_cells(
                evaluation,
                weights[0],
                knowledge,
                maximise=upper,
                backend=self.backend,
                node_limit=self.node_limit,
                relaxed=self.method == "lp",
            )
            # Weights of more digits than a solver's floats have need the full program's refinement.
            if self.method == "lp" or optimum.sharp or optimum.status is not Status.OPTIMAL:
                return self._proven(optimum)
        return self._proven(
            optimise(
                evaluation,
                Objective(weights[0], weights[1]),
                knowledge,
                maximise=upper,
                method=self.method,
                backend=self.backend,
                node_limit=self.node_limit,
            )
        )

    def _proven(self, optimum: Optimum) -> Optimum:
        if optimum.status is Status.INFEASIBLE or optimum.bound is None:
            raise SolverError(
                "program", self.method, f"ended {optimum.status.value!r} with nothing proven", "raise --node-limit"
            )
        return optimum


def end(question: Asked, solver: Engine, upper: bool) -> Found:
    """The lower or upper end; the question is not undefined."""
    if isinstance(question, Question) and question.index is not None and question.whole_knowledge.level is Level.TOTAL:
        return _class_given_total(question, solver, upper)
    fixed = question.fixed_denominators
    if question.denominator == "none" or fixed is not None:
        shares = shares_of(question, fixed)
        weights = question.weights(shares, [Fraction(0)] * len(shares))
        return _read(solver.optimise(question.evaluation, weights, question.knowledge, upper))
    if question.average == "macro":
        return _macro(question, solver, upper)
    return _ratio(question, solver, question.evaluation, question.knowledge, upper, range(len(question.domain.lo)))


def _read(optimum: Optimum) -> Found:
    assert optimum.bound is not None
    return Found(optimum.bound, optimum.sharp, optimum.proof or "dual", match=optimum.match if optimum.sharp else None)


def shares_of(question: Asked, fixed: Ints | None) -> list[Fraction]:
    """What one unit of each class's numerator adds to the value."""
    classes = len(question.domain.lo)
    if fixed is None:
        return [Fraction(1)] * classes
    if question.average == "macro":
        counted = int((fixed > 0).sum())
        return [Fraction(1, int(d) * counted) if d else Fraction(0) for d in fixed]
    return [Fraction(1, int(fixed.sum()))] * classes


def _ratio(
    question: Asked, solver: Engine, evaluation: Evaluation, knowledge: Knowledge, upper: bool, classes: range
) -> Found:
    """The best ratio of sums over some classes, by Dinkelbach's iterations on programs."""
    inside = [Fraction(int(c in classes)) for c in range(len(evaluation.classes))]

    def weigh(numerator: int, denominator: Fraction | int) -> Any:
        return question.weights([i * numerator for i in inside], [i * denominator for i in inside])

    most = solver.optimise(evaluation, weigh(0, 1), knowledge, upper=True)
    if most.match is None or not most.attained:
        raise SolverError("denominator", None, "no correspondence with a denominator was found", "choose --method milp")
    top, below = question.sums(evaluation, most.match, classes)
    found = top / below, most.match
    while True:
        optimum = solver.optimise(evaluation, weigh(1, -found[0]), knowledge, upper)
        assert optimum.bound is not None
        if optimum.bound == 0:
            return Found(found[0], True, optimum.proof or "dual", match=found[1])
        if not optimum.sharp:
            # The least positive denominator is 1, so the ratio can exceed the attained one by the gap at most.
            return Found(found[0] + optimum.bound, False, optimum.proof or "dual")
        assert optimum.match is not None
        top, below = question.sums(evaluation, optimum.match, classes)
        found = top / below, optimum.match


def _class_given_total(question: Question, solver: Engine, upper: bool) -> Found:
    """One class where the total over all classes is known: the best over the counts that the total leaves it."""
    domain = question.domain
    candidates = []
    for k in range(int(domain.lo[0]), int(domain.hi[0]) + 1):
        alone = question.given(k)
        if question.denominator == "none" or _has_denominator(alone, solver, alone.evaluation, alone.knowledge):
            candidates.append(end(alone, solver, upper))
    best: Callable[..., Found] = max if upper else min
    return best(candidates, key=lambda found: (found.value, found.attained if upper else not found.attained))


def _macro(question: Asked, solver: Engine, upper: bool) -> Found:
    """The best mean of class rates; class by class, then the choice of the classes that count."""
    domain, sign = question.domain, 1 if upper else -1
    coupled = question.knowledge.level is Level.TOTAL and not domain.fixed
    grid = Grid.of(domain)
    if coupled and len(grid.c) * (int(domain.hi.sum() - domain.lo.sum()) + 1) > DP_LIMIT:
        raise BackendError(
            "method", solver.method, "too many allocations of the total for a macro average", "choose --method auto"
        )
    if not coupled:
        grid = Grid(domain, np.arange(len(domain.lo)), domain.lo, np.arange(len(domain.lo) + 1))
    rates: list[Found | None] = []
    without: list[Ints | None] = []
    for c, k in zip(grid.c.tolist(), grid.k.tolist(), strict=True):
        alone = question.evaluation.select([c])
        knowledge = _of_class(question.knowledge, c, k if coupled else None)
        rates.append(_class_rate(question, solver, alone, knowledge, upper))
        without.append(_without_denominator(question, solver, alone, knowledge))
    values = [None if r is None else sign * r.value for r in rates]
    droppable = np.array([w is not None for w in without], dtype=np.bool_)
    if coupled:
        choice = best_mean_given_total(grid, values, droppable)
        assert choice is not None
        at = grid.offsets[:-1] + choice.k - domain.lo
    else:
        choice = best_mean(values, droppable, domain.lo)
        at = np.arange(len(domain.lo))
    used = [rates[a] for a, counted in zip(at, choice.counted, strict=True) if counted]
    attained = all(r is not None and r.attained for r in used)
    proofs = {r.proof for r in used if r is not None}
    proof = next((p for p in ("branch and bound", "enumeration", "dual") if p in proofs), "dual")
    match = None
    if attained:
        match = np.concatenate(
            [
                (_match_of(rates[a]) if counted else without[a]) + start
                for a, counted, start in zip(at, choice.counted, question.evaluation.starts[:-1], strict=True)
            ]
        )
    return Found(sign * choice.mean, attained, proof, match=match)


def _match_of(found: Found | None) -> Any:
    assert found is not None
    return found.match


def _of_class(knowledge: Knowledge, c: int, k: int | None) -> Knowledge:
    """What is known of class `c`; with its retained-correct count set to `k` if given."""
    if k is not None:
        return Knowledge(Level.CLASSWISE, retained_correct=np.array([k], dtype=np.int64))
    return Knowledge(Level.MARGINALS) if knowledge.level is Level.TOTAL else knowledge.of_class(c)


def _class_rate(question: Asked, solver: Engine, alone: Evaluation, knowledge: Knowledge, upper: bool) -> Found | None:
    """The best rate of one class, None where it never has a denominator."""
    if not _has_denominator(question, solver, alone, knowledge):
        return None
    return _ratio(question, solver, alone, knowledge, upper, range(1))


def _has_denominator(question: Asked, solver: Engine, alone: Evaluation, knowledge: Knowledge) -> bool:
    """Whether some correspondence of one class gives it a denominator."""
    return bool(solver.optimise(alone, question.weights([Fraction(0)], [Fraction(1)]), knowledge, upper=True).bound)


def _without_denominator(question: Asked, solver: Engine, alone: Evaluation, knowledge: Knowledge) -> Ints | None:
    """A correspondence of one class that leaves it without a denominator, or None."""
    weights = question.weights([Fraction(0)], [Fraction(1)])
    least = solver.optimise(alone, weights, knowledge, upper=False)
    return least.match if least.attained == 0 else None
