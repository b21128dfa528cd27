"""Ends by linear and integer programs or by enumeration: independent of the closed forms and of their choice rules.

A ratio of sums is a sequence of programs (Dinkelbach), each for numerator - ratio * denominator. A mean of class
rates needs the ends of each class, and, where only the total of the retained-correct counts is known, of each class
at each count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds import witness
from bounds.aggregate import DP_LIMIT, Grid, best_mean, best_mean_given_total
from bounds.correspondences import Method, Objective, Optimum, optimise
from bounds.counts import weighted
from bounds.errors import BackendError, SolverError
from bounds.evaluation import Evaluation
from bounds.knowledge import Knowledge, Level
from bounds.program import Status
from bounds.question import Found, Question

__all__ = ["Solver", "end"]

Ints = npt.NDArray[np.int64]
Weights = tuple[npt.NDArray[np.object_], list[Fraction]]
"""Cells (C, 5, 2, 2) and probability coefficients (C,) of a linear objective, as `correspondences.Objective` takes."""


@dataclass(frozen=True, slots=True)
class Solver:
    """Which program, which backend, and how far it may search."""

    method: Method
    backend: str
    node_limit: int | None

    def optimise(self, evaluation: Evaluation, weights: Weights, knowledge: Knowledge, upper: bool) -> Optimum:
        """The best value; some bound is always there.

        Raises:
            SolverError: if nothing was proven, or the solver contradicts a feasibility that was checked before.
        """
        optimum = optimise(
            evaluation,
            Objective(weights[0], weights[1]),
            knowledge,
            maximise=upper,
            method=self.method,
            backend=self.backend,
            node_limit=self.node_limit,
        )
        if optimum.status is Status.INFEASIBLE or optimum.bound is None:
            raise SolverError(
                "program", self.method, f"ended {optimum.status.value!r} with nothing proven", "raise --node-limit"
            )
        return optimum


def end(question: Question, solver: Solver, upper: bool) -> Found:
    """The lower or upper end; the question is not undefined."""
    if question.index is not None and question.whole_knowledge.level is Level.TOTAL:
        return _class_given_total(question, solver, upper)
    fixed = question.fixed_denominators
    if question.denominator == "none" or fixed is not None:
        shares = _shares(question, fixed)
        weights = _weights(question, shares, [Fraction(0)] * len(shares))
        return _read(solver.optimise(question.evaluation, weights, question.knowledge, upper))
    if question.average == "macro":
        return _macro(question, solver, upper)
    return _ratio(question, solver, question.evaluation, question.knowledge, upper, range(len(question.domain.lo)))


def _read(optimum: Optimum) -> Found:
    assert optimum.bound is not None
    return Found(optimum.bound, optimum.sharp, optimum.proof or "dual", match=optimum.match if optimum.sharp else None)


def _shares(question: Question, fixed: Ints | None) -> list[Fraction]:
    """What one unit of each class's numerator adds to the value."""
    classes = len(question.domain.lo)
    if fixed is None:
        return [Fraction(1)] * classes
    if question.average == "macro":
        counted = int((fixed > 0).sum())
        return [Fraction(1, int(d) * counted) if d else Fraction(0) for d in fixed]
    return [Fraction(1, int(fixed.sum()))] * classes


def _weights(question: Question, numerator: list[Fraction], denominator: list[Fraction]) -> Weights:
    """Numerator cells times one factor a class, plus denominator cells times another."""
    cells = np.empty((len(numerator), 5, 2, 2), dtype=object)
    top = question.quantity.cells.astype(object)
    below = question.denominator_cells.astype(object) if any(denominator) else 0
    for c, (n, d) in enumerate(zip(numerator, denominator, strict=True)):
        cells[c] = top * n + below * d
    return cells, [n * int(question.quantity.probability) for n in numerator]


def _ratio(
    question: Question, solver: Solver, evaluation: Evaluation, knowledge: Knowledge, upper: bool, classes: range
) -> Found:
    """The best ratio of sums over some classes, by Dinkelbach's iterations on programs."""
    inside = [Fraction(int(c in classes)) for c in range(len(evaluation.classes))]

    def weigh(numerator: int, denominator: Fraction | int) -> Weights:
        return _weights(question, [i * numerator for i in inside], [i * denominator for i in inside])

    most = solver.optimise(evaluation, weigh(0, 1), knowledge, upper=True)
    if most.match is None or not most.attained:
        raise SolverError("denominator", None, "no correspondence with a denominator was found", "choose --method milp")
    top, below = _sums(question, evaluation, most.match, classes)
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
        top, below = _sums(question, evaluation, optimum.match, classes)
        found = top / below, optimum.match


def _sums(question: Question, evaluation: Evaluation, match: Ints, classes: range) -> tuple[Fraction, int]:
    """Numerator and denominator of a correspondence, summed over some classes."""
    tops = witness.class_numerators(evaluation, match, question.quantity)
    below = weighted(witness.cell_counts(evaluation, match), question.denominator_cells)
    return sum((tops[c] for c in classes), Fraction(0)), int(sum(below[c] for c in classes))


def _class_given_total(question: Question, solver: Solver, upper: bool) -> Found:
    """One class where the total over all classes is known: the best over the counts that the total leaves it."""
    domain = question.domain
    candidates = []
    for k in range(int(domain.lo[0]), int(domain.hi[0]) + 1):
        alone = Question.ask(
            question.evaluation,
            question.quantity,
            question.denominator,
            "micro",
            Knowledge(Level.CLASSWISE, retained_correct=np.array([k], dtype=np.int64)),
        )
        if question.denominator == "none" or alone.denominator_range()[1]:
            candidates.append(end(alone, solver, upper))
    best: Callable[..., Found] = max if upper else min
    return best(candidates, key=lambda found: (found.value, found.attained if upper else not found.attained))


def _macro(question: Question, solver: Solver, upper: bool) -> Found:
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

    def part(values: Ints | None) -> Ints | None:
        return None if values is None else values[c : c + 1]

    if knowledge.level is Level.TOTAL:
        return Knowledge(Level.MARGINALS)
    return Knowledge(knowledge.level, None, part(knowledge.retained_correct), part(knowledge.persistent))


def _class_rate(
    question: Question, solver: Solver, alone: Evaluation, knowledge: Knowledge, upper: bool
) -> Found | None:
    """The best rate of one class, None where it never has a denominator."""
    cells = (question.denominator_cells.astype(object)[None], [Fraction(0)])
    if not solver.optimise(alone, cells, knowledge, upper=True).bound:
        return None
    return _ratio(question, solver, alone, knowledge, upper, range(1))


def _without_denominator(question: Question, solver: Solver, alone: Evaluation, knowledge: Knowledge) -> Ints | None:
    """A correspondence of one class that leaves it without a denominator, or None."""
    cells = (question.denominator_cells.astype(object)[None], [Fraction(0)])
    least = solver.optimise(alone, cells, knowledge, upper=False)
    return least.match if least.attained == 0 else None
