"""Ends by the closed forms: no solver, exact, vectorised over classes; and the correspondences that attain them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds import witness
from bounds.aggregate import Grid, best_mean, best_mean_given_total, best_ratio, best_sum
from bounds.closed_forms import ratio_pairs
from bounds.curves import AcceptanceCurve, Curve, ProbabilityCurve, curve
from bounds.question import Found, Question

__all__ = ["class_rates", "correspondence", "covers", "curve_of", "end", "error_bound", "ratio_points"]

Ints = npt.NDArray[np.int64]

PROOF = "closed form"


def covers(question: Question) -> bool:
    """Whether a claim gives the ends of this question."""
    return curve_of(question) is not None


def end(question: Question, upper: bool) -> Found:
    """The lower or upper end; the question is covered and not undefined."""
    found = curve_of(question)
    assert found is not None
    fixed = question.fixed_denominators
    if question.denominator == "none" or fixed is not None:
        return _fixed(question, found, upper, fixed)
    if question.average == "macro":
        return _macro(question, found, upper)
    return _micro(question, found, upper)


def error_bound(question: Question) -> float:
    """No end of the float path is further than this from the exact one; 0.0 where the arithmetic is exact.

    Each probability is off by at most half a grid step, so a sum over k pairs by at most k steps and a mean by at
    most one; converting to float64 adds at most half a unit in the last place of a value within [-1, 1] (of the
    number of images, for a sum).
    """
    found = curve_of(question)
    if found is None or not found.step:
        return 0.0
    size = question.evaluation.images if question.denominator == "none" else 1
    return size * (found.step + 2.0**-53)


@lru_cache(maxsize=4)
def curve_of(question: Question) -> Curve | None:
    """The numerator's ends by count, or None where no claim covers the question."""
    return curve(question.counts, question.quantity, question.knowledge, question.arithmetic)


def _numerators(found: Curve, upper: bool, c: Ints, k: Ints) -> npt.NDArray[Any]:
    return found.ends(c, k)[int(upper)]


def _at(grid: Grid, k: Ints) -> Ints:
    """Grid positions of a k vector."""
    return grid.offsets[:-1] + k - grid.domain.lo


def _fixed(question: Question, found: Curve, upper: bool, denominators: Ints | None) -> Found:
    """Counts, sums, and rates whose denominators no correspondence changes."""
    grid = Grid.of(question.domain)
    numerators = _numerators(found, upper, grid.c, grid.k)
    values, total = numerators, 1
    if denominators is not None and question.average == "macro":
        counted = denominators > 0
        common = math.lcm(*denominators[counted].tolist())
        weights = np.array([common // d if d else 0 for d in denominators.tolist()], dtype=object)
        values, total = numerators * weights[grid.c], common * int(counted.sum())
    elif denominators is not None:
        total = int(denominators.sum())
    k = best_sum(grid, values if upper else -values)
    return _with_pairs(Fraction(int(values[_at(grid, k)].sum()), total * found.scale), found, upper, k)


def _micro(question: Question, found: Curve, upper: bool) -> Found:
    """A ratio of sums whose denominator varies."""
    domain, sign = question.domain, 1 if upper else -1
    if isinstance(found, AcceptanceCurve) and domain.total is None:
        return _micro_acceptance(question, found, upper)
    grid = Grid.of(domain)
    numerators, denominators = ratio_points(question, found, upper, grid.c, grid.k)
    # No mean of probability differences is below -2; no ratio of counts is below 0, or (negated) below -1.
    start = -2 * found.scale if isinstance(found, ProbabilityCurve) else (0 if upper else -1)
    k, ratio = best_ratio(grid, sign * numerators, denominators, start)
    if k is None:
        k = best_sum(grid, question.denominator_given(grid.c, grid.k)[1])
    return _with_pairs(sign * ratio / found.scale, found, upper, k, question)


def _micro_acceptance(question: Question, found: AcceptanceCurve, upper: bool) -> Found:
    """Theory, section 1: the k of each class does not depend on the ratio, so the optimum is explicit."""
    domain = question.domain
    classes = np.arange(len(domain.lo))
    k = ratio_pairs(
        domain.lo,
        domain.hi,
        found.marked_rows,
        found.other_rows,
        found.marked_columns,
        found.other_columns,
        over_marked_rows=question.denominator != "retained-correct",
    )[int(upper)]
    numerators, denominators = ratio_points(question, found, upper, classes, k)
    if denominators.any():
        value = Fraction(int(numerators.sum()), int(denominators.sum()))
    else:
        value, k = Fraction(0 if upper else 1), domain.hi
    return _with_pairs(value, found, upper, k, question)


def ratio_points(question: Question, found: Curve, upper: bool, c: Ints, k: Ints) -> tuple[npt.NDArray[Any], Ints]:
    """(numerators, denominators) that decide ratios, given k."""
    if isinstance(found, AcceptanceCurve) and question.denominator != "retained-correct":
        return found.points(c, k)[int(upper)]
    return _numerators(found, upper, c, k), k


def _macro(question: Question, found: Curve, upper: bool) -> Found:
    """A mean of class rates whose denominators vary; a class without a denominator is left out."""
    domain, sign = question.domain, 1 if upper else -1
    if domain.total is not None and not domain.fixed:
        grid = Grid.of(domain)
        rates, droppable = class_rates(question, found, upper, grid.c, grid.k)
        choice = best_mean_given_total(grid, [None if r is None else sign * r for r in rates], droppable)
        if choice is not None:
            return _with_pairs(sign * choice.mean, found, upper, choice.k, question, choice.counted)
        domain = domain.alone()
    classes = np.arange(len(domain.lo))
    k = np.minimum(domain.hi, np.maximum(domain.lo, 1))
    attained = question.domain.total is None or question.domain.fixed
    rates, _ = class_rates(question, found, upper, classes, k)
    droppable = question.denominator_given(classes, domain.lo)[0] == 0
    chosen = best_mean([None if r is None else sign * r for r in rates], droppable, k)
    k = np.where(chosen.counted, k, domain.lo)
    return _with_pairs(sign * chosen.mean, found, upper, k, question, chosen.counted, attained)


def class_rates(
    question: Question, found: Curve, upper: bool, c: Ints, k: Ints
) -> tuple[list[Fraction | None], npt.NDArray[np.bool_]]:
    """The best rate at each (class, k), None where it has none; and whether the class can be without a denominator."""
    numerators, denominators = ratio_points(question, found, upper, c, k)
    least, most = question.denominator_given(c, k)
    rates: list[Fraction | None] = [
        Fraction(int(n), int(d) * found.scale) if d else (Fraction(0 if upper else 1) if m else None)
        for n, d, m in zip(numerators, denominators, most, strict=True)
    ]
    return rates, least == 0


def _with_pairs(
    value: Fraction,
    found: Curve,
    upper: bool,
    k: Ints,
    question: Question | None = None,
    counted: npt.NDArray[np.bool_] | None = None,
    attained: bool = True,
) -> Found:
    """The end with the pair counts that attain it.

    Where marked rows are the denominator and the deciding point has none, a class that counts takes as many as it
    can (theory, section 1, the note on 0/0); a class that does not count takes none.
    """
    if not isinstance(found, AcceptanceCurve):
        return Found(value, attained, PROOF, k)
    classes = np.arange(len(k))
    x, y = found.points(classes, k)[int(upper)]
    if question is not None and question.denominator != "retained-correct":
        least, most = found.marked_range(classes, k)
        all_of_them = (y == 0) & counted if counted is not None else np.full(len(k), not y.any())
        x = np.where(all_of_them, np.minimum(most, found.marked_columns), x)
        x = np.where(all_of_them & upper, np.maximum(0, most - found.other_columns), x)
        y = np.where(all_of_them, most, y)
        if counted is not None:
            x, y = np.where(counted, x, 0), np.where(counted, y, least)
    return Found(value, attained, PROOF, k, np.stack([x, y], axis=1))


def correspondence(question: Question, end: Found, upper: bool) -> Ints | None:
    """A correspondence of `question.evaluation` that attains an end found here; None where programs must build it."""
    found = curve_of(question)
    assert found is not None
    assert end.k is not None
    evaluation, persistent = question.evaluation, question.knowledge.persistent
    if isinstance(found, AcceptanceCurve):
        assert end.marked is not None
        tables = _tables(found, end.k, end.marked, lost=question.quantity.name == "lost-acceptance")
        rows, columns = witness.acceptance_pairs(evaluation, tables)
    elif isinstance(found, ProbabilityCurve):
        rows = _first(evaluation.clean.correct, evaluation.clean.true_probability, evaluation.starts, end.k, upper)
        perturbed = evaluation.perturbed
        columns = _first(perturbed.correct, perturbed.true_probability, evaluation.starts, end.k, not upper)
    elif question.quantity.needs_acceptance:
        return None
    else:
        rows = _first(evaluation.clean.correct, None, evaluation.starts, end.k, largest=False)
        columns = _first(evaluation.perturbed.correct, None, evaluation.starts, end.k, largest=False)
        if found.persistent_sign and persistent is None:
            classes = np.arange(len(end.k))
            counts = question.counts
            wrong = counts.images - counts.clean_correct - counts.perturbed_correct + end.k
            numerators = _numerators(found, upper, classes, end.k)
            persistent = numerators if found.persistent_sign > 0 else wrong - numerators
    return witness.complete(evaluation, rows, columns, persistent)


def _tables(found: AcceptanceCurve, k: Ints, marked: Ints, lost: bool) -> Ints:
    """int64 of shape (C, 2, 2), as `witness.acceptance_pairs` reads them."""
    x, y = marked[:, 0], marked[:, 1]
    below = np.minimum(found.marked_columns - x, k - y)
    cells = np.stack([k - y - below, below, y - x, x], axis=1).reshape(-1, 2, 2)
    # Rows: (other, marked). Columns: (other, marked). Marked means accepted, then rejected, for lost acceptance.
    return cells[:, :, ::-1] if lost else cells[:, ::-1, :]


def _first(
    correct: npt.NDArray[np.bool_],
    values: npt.NDArray[np.floating[Any]] | None,
    starts: Ints,
    k: Ints,
    largest: bool,
) -> Ints:
    """The k correct rows of each class with the largest or smallest values, or just the first k."""
    chosen = [np.empty(0, dtype=np.int64)]
    for c, count in enumerate(k.tolist()):
        rows = starts[c] + np.flatnonzero(correct[starts[c] : starts[c + 1]])
        if values is not None:
            order = np.argsort(values[rows], kind="stable")
            rows = rows[order[::-1] if largest else order]
        chosen.append(rows[:count])
    return np.concatenate(chosen)
