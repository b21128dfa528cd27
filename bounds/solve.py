"""From a question to an interval: check, choose a method, find both ends, attach the evidence.

`auto` takes the closed form where a claim covers the question and the integer program elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bounds import by_closed_form, witness
from bounds.errors import BackendError, QuantityError, SolverError
from bounds.evaluation import Evaluation
from bounds.exact import Arithmetic
from bounds.interval import Denominator, End, Interval
from bounds.knowledge import Knowledge, Level, know
from bounds.own import OwnQuantity, Refinement, check_refinements
from bounds.quantities import Quantity, quantity
from bounds.question import Found, Question

if TYPE_CHECKING:
    from bounds.by_program import Solver

__all__ = ["METHODS", "bound", "per_class"]

Ints = npt.NDArray[np.int64]
Method = Literal["auto", "closed-form", "lp", "milp", "enumerate"]

ProgramName = Literal["compact", "full"]

METHODS: tuple[Method, ...] = ("auto", "closed-form", "lp", "milp", "enumerate")


def bound(
    source: Any,
    quantity_name: str | Quantity | OwnQuantity,
    knowledge: str | Level | Knowledge,
    *,
    refinements: Sequence[Refinement] = (),
    model: str | None = None,
    perturbed: str | None = None,
    clean: str = "clean",
    strata: str | None = None,
    threshold: str | float | Decimal | None = None,
    denominator: str | None = None,
    average: str = "micro",
    class_name: str | int | None = None,
    method: Method = "auto",
    backend: str = "highs",
    node_limit: int | None = None,
    program: ProgramName = "compact",
    arithmetic: Arithmetic = "exact",
    witness: bool = False,
) -> Interval:
    """The interval of one quantity over the correspondences that the knowledge leaves.

    Args:
        source: an `Evaluation`, or anything that `bounds.load_records` takes (then `model`, `perturbed`, `clean` and
            `strata` choose from it).
        quantity_name: a name in `bounds.quantities.QUANTITIES`, a `Quantity`, or one of your own
            (`bounds.pair_quantity`).
        knowledge: a level (its counts are then read off the true pairing) or a `Knowledge`.
        refinements: known counts of pairs beyond the level (`bounds.own.Refinement`).
        threshold: a decimal; accepted is confidence >= threshold. Leave it out where an `accepted` column exists.
        denominator: one that the quantity offers; its first by default; "none" for a count or a sum.
        average: "micro" (ratio of sums over classes) or "macro" (mean of class ratios).
        class_name: one class only; `End.match` then indexes the rows of `evaluation.select` of that class.
        method: "auto", "closed-form", "lp", "milp" or "enumerate".
        backend: "highs" or "cvxpy", for "lp" and "milp".
        node_limit: branch-and-bound nodes a program may take.
        program: for "lp" and "milp", "compact" (C10; full where the true-class probability counts) or "full".
        arithmetic: "exact" (ends are Fractions), or "float": probabilities are rounded to a 64-bit grid, ends are
            floats, and `Interval.error_bound` says how far off they may be.
        witness: whether to build, for each attained end, a correspondence that attains it.

    Returns:
        An `Interval`; both its ends are None where the quantity is undefined for every correspondence.

    Raises:
        PairboundsError: one of its kinds, with one line, for input that cannot be used.

    Source: theory, sections 1 and 2; claims C1 to C5, C11, C13.
    """
    evaluation = _evaluation(source, model, perturbed, clean, strata)
    if threshold is not None:
        evaluation = evaluation.at_threshold(threshold)
    return _bounds(
        evaluation,
        quantity_name,
        knowledge,
        [class_name],
        refinements=refinements,
        denominator=denominator,
        average=average,
        method=method,
        backend=backend,
        node_limit=node_limit,
        program=program,
        arithmetic=arithmetic,
        witness=witness,
    )[0]


def per_class(
    evaluation: Evaluation,
    quantity_name: str | Quantity | OwnQuantity,
    knowledge: str | Level | Knowledge,
    *,
    threshold: str | float | Decimal | None = None,
    **options: Any,
) -> list[Interval]:
    """The interval of each class by itself, in the order of `evaluation.classes`; options as for `bound`."""
    if threshold is not None:
        evaluation = evaluation.at_threshold(threshold)
    return _bounds(evaluation, quantity_name, knowledge, evaluation.classes, **options)


def _bounds(
    evaluation: Evaluation,
    quantity_name: str | Quantity | OwnQuantity,
    knowledge: str | Level | Knowledge,
    names: Sequence[str | int | None],
    *,
    refinements: Sequence[Refinement] = (),
    denominator: str | None = None,
    average: str = "micro",
    method: Method = "auto",
    backend: str = "highs",
    node_limit: int | None = None,
    program: ProgramName = "compact",
    arithmetic: Arithmetic = "exact",
    witness: bool = False,
) -> list[Interval]:
    """The interval of each class named, None for all of them together."""
    if not isinstance(knowledge, Knowledge):
        knowledge = know(evaluation, knowledge)
    check_refinements(refinements)
    if refinements or isinstance(quantity_name, OwnQuantity):
        from bounds.by_pairs import answer

        if arithmetic != "exact" or program != "compact":
            raise QuantityError(
                "arithmetic, program", None, "quantities and refinements of one's own are exact", "leave them out"
            )
        return [
            answer(
                evaluation,
                quantity_name if isinstance(quantity_name, OwnQuantity) else quantity(quantity_name),
                knowledge,
                refinements=refinements,
                denominator=denominator,
                average=average,
                class_name=name,
                method=method,
                backend=backend,
                node_limit=node_limit,
                witnesses=witness,
            )
            for name in names
        ]
    asked = [
        Question.ask(evaluation, quantity(quantity_name), denominator, average, knowledge, arithmetic, name)
        for name in names
    ]
    if method not in METHODS:
        raise BackendError("method", method, "unknown", f"choose among {', '.join(METHODS)}")
    if program not in ("compact", "full"):
        raise BackendError("program", program, "unknown", "choose compact or full")
    for name, value in (("program", program if program == "full" else None), ("node limit", node_limit)):
        if method == "closed-form" and value is not None:
            raise BackendError(name, value, "speaks of programs, and closed-form solves none", "leave one of them out")
    if witness and arithmetic == "float":
        raise QuantityError("arithmetic", arithmetic, "a witness attains an exact end", "leave it at exact")
    together: Sequence[tuple[Found, ...] | None] | None = None
    if len(asked) > 1 and method in ("auto", "milp") and knowledge.level is not Level.PAIRED:
        whole = Question.ask(evaluation, asked[0].quantity, denominator, average, knowledge)
        if method == "milp" or not by_closed_form.covers(whole):
            from bounds.by_program import Solver

            together = _ends_together(whole, Solver("milp", backend, node_limit, program))
    return [
        _answer(question, method, backend, node_limit, program, witness, found)
        for question, found in zip(asked, together or [None] * len(asked), strict=True)
    ]


def _evaluation(source: Any, model: str | None, perturbed: str | None, clean: str, strata: str | None) -> Evaluation:
    if isinstance(source, Evaluation):
        if model is not None or perturbed is not None or strata is not None:
            raise QuantityError(
                "model, perturbed, strata", None, "an Evaluation is already one model and condition", "leave them out"
            )
        return source
    from bounds.records import Records, load_records

    records = source if isinstance(source, Records) else load_records(source, strata=strata)
    return records.evaluation(model, perturbed, clean=clean)


def _ends_together(question: Question, solver: Solver) -> list[tuple[Found, ...]] | None:
    """Both ends of each class, in order, from one optimum over all classes: it is the optimum of each.

    None where the optimum is not attained, or where classes are not optimised by themselves.
    """
    fixed, classes = question.fixed_denominators, len(question.evaluation.classes)
    if question.knowledge.level is Level.TOTAL or (fixed is None and question.denominator != "none"):
        return None
    weights = question.weights([Fraction(1)] * classes, [Fraction(0)] * classes)
    starts = question.evaluation.starts[:-1]
    # A class without a denominator is undefined, and what is found here is not looked at.
    below = [1] * classes if fixed is None else np.maximum(fixed, 1).tolist()
    ends = []
    for upper in (False, True):
        optimum = solver.optimise(question.evaluation, weights, question.knowledge, upper)
        if optimum.match is None or not optimum.sharp:
            return None
        tops = witness.class_numerators(question.evaluation, optimum.match, question.quantity)
        parts = zip(tops, below, optimum.proofs, np.split(optimum.match, starts[1:]), starts, strict=True)
        ends.append([Found(n / d, True, proof or "dual", match=rows - start) for n, d, proof, rows, start in parts])
    return list(zip(*ends, strict=True))


def _answer(
    question: Question,
    method: Method,
    backend: str,
    node_limit: int | None,
    program: ProgramName,
    witnesses: bool,
    together: Sequence[Found] | None,
) -> Interval:
    covered = by_closed_form.covers(question)
    if question.knowledge.level is Level.PAIRED:
        if not question.evaluation.paired:
            raise QuantityError("knowledge", "paired", "the two sides have no common ids", "ask for marginals")
        return _paired(question, witnesses)
    if method == "closed-form" and not covered:
        raise BackendError(
            "method",
            method,
            f"no claim covers {question.quantity.name} at {question.knowledge.level}",
            "choose auto or milp",
        )
    if method == "auto":
        method = "closed-form" if covered else "milp"
    least, most = (None, None) if question.denominator == "none" else question.denominator_range()
    if most == 0:
        return _interval(question, End(None, None), End(None, None), method, None, least, most, sharp=False)
    ends = []
    for upper in (False, True):
        if method == "closed-form":
            found = by_closed_form.end(question, upper)
            match = _build(question, found, upper, backend) if witnesses and found.attained else None
        else:
            from bounds.by_program import Solver, end

            found = together[upper] if together else end(question, Solver(method, backend, node_limit, program), upper)
            found = found if found.attained else _tightened(question, found, upper)
            match = found.match
        if match is not None:
            _check(question, match, found.value)
        ends.append((found, match if witnesses else None))
    exact = method != "closed-form" or not by_closed_form.error_bound(question)
    low, high = (End(f.value if exact else None, float(f.value), f.proof if exact else None, m) for f, m in ends)
    solver = backend if method in ("lp", "milp") else None
    sharp = all(found.attained for found, _ in ends)
    return _interval(question, low, high, method, solver, least, most, sharp=sharp)


def _build(question: Question, found: Found, upper: bool, backend: str) -> Ints:
    """A correspondence that attains a closed form's end."""
    match = by_closed_form.correspondence(question, found, upper)
    if match is not None:
        return match
    from bounds.by_program import Solver, end

    assert found.k is not None
    knowledge = question.knowledge
    if knowledge.level is not Level.FIVE_STATE:
        knowledge = Knowledge(Level.CLASSWISE, retained_correct=found.k)
    given = replace(question, knowledge=knowledge, index=None)
    built = end(given, Solver("milp", backend, None, "compact"), upper).match
    if built is None:
        raise SolverError("witness", None, "no correspondence was found for an attained end", "report this")
    return built


def _check(question: Question, match: Ints, value: Fraction) -> None:
    """Every answer is checked against its witness, in exact arithmetic, before it is shown."""
    seen = witness.value(question.evaluation, match, question.quantity, question.denominator, question.average)
    if seen != value:
        raise SolverError(
            "witness", str(seen), f"does not attain the end {value}", "report this: the answer was not shown"
        )


def _tightened(question: Question, found: Found, upper: bool) -> Found:
    """An outer end, intersected with the coarser levels' ends (claim more_knowledge_never_widens, C12)."""
    coarser = replace(question, knowledge=replace(question.knowledge, level=Level.CLASSWISE, persistent=None))
    if question.knowledge.level is not Level.FIVE_STATE or not by_closed_form.covers(coarser):
        return found
    outside = by_closed_form.end(coarser, upper)
    better = outside.value < found.value if upper else outside.value > found.value
    return replace(found, value=outside.value, proof=outside.proof) if better else found


def _paired(question: Question, witnesses: bool) -> Interval:
    value = _true_value(question)
    exact = isinstance(value, Fraction)
    match = np.arange(question.evaluation.images, dtype=np.int64) if witnesses and value is not None else None
    end = End(
        value if isinstance(value, Fraction) else None,
        None if value is None else float(value),
        "paired" if exact else None,
        match,
    )
    below = None
    if question.denominator != "none":
        below = int((question.counts.cells * question.denominator_cells).sum())
    return _interval(question, end, end, "paired", None, below, below)


def _true_value(question: Question) -> Fraction | float | None:
    """The value under the true pairing; a float where the arithmetic is; None if unknown or undefined."""
    evaluation = question.evaluation
    if not evaluation.paired:
        return None
    asked = question.quantity, question.denominator, question.average, question.arithmetic
    found = witness.value_as_paired(evaluation, question.counts.cells, *asked)
    rough = question.quantity.probability and question.arithmetic == "float"
    return float(found) if rough and found is not None else found


def _interval(
    question: Question,
    low: End,
    high: End,
    method: str,
    backend: str | None,
    least: int | None,
    most: int | None,
    *,
    sharp: bool = True,
) -> Interval:
    evaluation = question.evaluation
    undefined = question.undefined() if most == 0 else None
    return Interval(
        quantity=question.quantity.name,
        knowledge=str(question.knowledge.level),
        denominator=Denominator(question.denominator, least, most),
        average=None if question.index is not None else question.average,
        model=evaluation.model,
        clean=evaluation.clean_condition,
        perturbed=evaluation.perturbed_condition,
        threshold=None if evaluation.threshold is None else evaluation.threshold.text,
        class_name=None if question.index is None else evaluation.classes[0],
        unit=question.quantity.unit(question.denominator),
        low=low,
        high=high,
        sharp=sharp,
        may_be_undefined=least == 0,
        undefined=undefined,
        paired=_true_value(question),
        method=method,
        backend=backend,
        error_bound=by_closed_form.error_bound(question) if low.value is None and undefined is None else 0.0,
        images=evaluation.images,
        classes=len(evaluation.classes),
        unmatched=evaluation.unmatched,
        unusable=evaluation.unusable,
        coverage=None if evaluation.threshold is None else evaluation.threshold.coverage,
    )
