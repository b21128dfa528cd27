"""Joint regions: which pairs of values two quantities can have together, given the retained-correct counts.

The region of a class is the convex hull of the pairs that some correspondence attains. It is found by its support
function: from the maximisers in four directions on, every edge is either proven final by its outward normal or gives
a new vertex. Classes are independent, so the region of all of them is the Minkowski sum of theirs. Every vertex is
attained; of the other points inside nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds import witness
from bounds.by_program import Solver, shares_of
from bounds.errors import QuantityError, SolverError
from bounds.evaluation import Coverage, Evaluation
from bounds.exact import exact_text, integers
from bounds.knowledge import Knowledge, Level, know
from bounds.quantities import Quantity, quantity
from bounds.question import Question

__all__ = ["Region", "joint_region"]

Ints = npt.NDArray[np.int64]
Pair = tuple[Fraction, Fraction]

CLAIM = "convex hull of the attained pairs; every vertex is attained, and nothing is claimed of the points inside"


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The convex hull of the pairs of values that some correspondence attains.

    Attributes:
        quantities, denominators, units: of the first and of the second quantity.
        knowledge, average, model, clean, perturbed, threshold, coverage, class_name, images, classes, unmatched,
            unusable: as in `bounds.interval.Interval`.
        vertices: counterclockwise from the leftmost (the lower one of two); empty where undefined.
        undefined: the reason where one of the two has no denominator, else None.
        paired: the pair under the true correspondence; None if unknown or undefined.
        proof: why nothing lies outside, as in `bounds.interval.End`.
    """

    quantities: tuple[str, str]
    denominators: tuple[str, str]
    units: tuple[str, str]
    knowledge: str
    average: str | None
    model: str
    clean: str
    perturbed: str
    threshold: str | None
    coverage: Coverage | None
    class_name: str | int | None
    vertices: tuple[Pair, ...]
    undefined: str | None
    paired: Pair | None
    proof: str
    images: int
    classes: int
    unmatched: tuple[int, int]
    unusable: int
    _hulls: tuple[tuple[_Point, ...], ...] = field(repr=False)
    _choices: tuple[tuple[int, ...], ...] = field(repr=False)

    def match(self, vertex: int) -> Ints:
        """A correspondence that attains a vertex: int64 of shape (N,), as in `bounds.evaluation`."""
        parts, start = [np.empty(0, dtype=np.int64)], 0
        for hull, choice in zip(self._hulls, self._choices[vertex], strict=True):
            parts.append(hull[choice].match + start)
            start += len(hull[choice].match)
        return np.concatenate(parts)

    def to_dict(self) -> dict[str, Any]:
        """The object that `pairbounds region --json` prints."""

        def told(pair: Pair) -> dict[str, Any]:
            x, y = pair
            exact = {"first_exact": exact_text(x), "second_exact": exact_text(y)}
            return {"first": float(x), "second": float(y), **exact}

        names = zip(("first", "second"), self.quantities, self.denominators, self.units, strict=True)
        coverage = self.coverage
        return {
            **{name: {"quantity": q, "denominator": d, "unit": u} for name, q, d, u in names},
            "knowledge": self.knowledge,
            "model": self.model,
            "clean": self.clean,
            "perturbed": self.perturbed,
            "threshold": self.threshold,
            **({} if coverage is None else {"coverage": coverage.to_dict()}),
            "average": self.average,
            "class": self.class_name,
            "vertices": [told(vertex) for vertex in self.vertices],
            "undefined": self.undefined,
            "paired": None if self.paired is None else told(self.paired),
            "claim": CLAIM,
            "proof": self.proof,
            "images": self.images,
            "classes": self.classes,
            "unmatched": {"clean": self.unmatched[0], "perturbed": self.unmatched[1]},
            "unusable": self.unusable,
        }


def joint_region(
    evaluation: Evaluation,
    first: str | Quantity,
    second: str | Quantity,
    knowledge: str | Level | Knowledge = Level.CLASSWISE,
    *,
    denominators: tuple[str | None, str | None] = (None, None),
    average: str = "micro",
    class_name: str | int | None = None,
    node_limit: int | None = None,
) -> Region:
    """The joint region of two quantities given the retained-correct count of each class.

    Args:
        evaluation: the records, with acceptance where a quantity needs it.
        first, second: names or quantities.
        knowledge: `correct-correct` or `five-state`, or a `Knowledge` of them. For quantities on the retained-correct
            pairs both give one region (C2).
        denominators: of the two, as in `bounds.solve.bound`; each must not vary with the correspondence.
        average: "micro" or "macro".
        class_name: one class only.
        node_limit: branch-and-bound nodes of one program; only quantities beyond the retained-correct pairs need one.

    Returns:
        A `Region`.

    Raises:
        QuantityError: for another level, or a denominator that varies.
        SolverError: if a program was not settled within the limit.

    Claim: correct_correct_suffices (C2).
    """
    known = knowledge if isinstance(knowledge, Knowledge) else know(evaluation, knowledge)
    if known.level not in (Level.CLASSWISE, Level.FIVE_STATE):
        raise QuantityError(
            "knowledge",
            str(known.level),
            "a joint region is given the retained-correct count of each class",
            f"choose {Level.CLASSWISE} or {Level.FIVE_STATE}",
        )
    asked = [
        Question.ask(evaluation, quantity(name), denominator, average, known, class_name=class_name)
        for name, denominator in zip((first, second), denominators, strict=True)
    ]
    undefined = None
    for one in asked:
        fixed = one.fixed_denominators
        if fixed is None and one.denominator != "none":
            raise QuantityError(
                "denominator", one.denominator, "varies with the correspondence", "choose images, none or a fixed one"
            )
        if fixed is not None and not fixed.any():
            undefined = undefined or one.undefined()
    hulls: tuple[tuple[_Point, ...], ...] = ()
    vertices: list[tuple[Pair, tuple[int, ...]]] = []
    proofs = {CLOSED_FORM}
    if undefined is None:
        supports = [_support(asked, c, node_limit) for c in range(len(asked[0].evaluation.classes))]
        raw = [_hull(support) for support in supports]
        proofs |= {point.proof for hull in raw for point in hull}
        shares = [shares_of(one, one.fixed_denominators) for one in asked]
        hulls = tuple(tuple(_scaled(hull, x, y)) for hull, x, y in zip(raw, *shares, strict=True))
        vertices = list(_sum(hulls))
    question = asked[0]
    evaluation = question.evaluation
    return Region(
        quantities=(asked[0].quantity.name, asked[1].quantity.name),
        denominators=(asked[0].denominator, asked[1].denominator),
        units=(asked[0].quantity.unit(asked[0].denominator), asked[1].quantity.unit(asked[1].denominator)),
        knowledge=str(known.level),
        average=None if class_name is not None else average,
        model=evaluation.model,
        clean=evaluation.clean_condition,
        perturbed=evaluation.perturbed_condition,
        threshold=None if evaluation.threshold is None else evaluation.threshold.text,
        coverage=None if evaluation.threshold is None else evaluation.threshold.coverage,
        class_name=None if class_name is None else evaluation.classes[0],
        vertices=tuple(pair for pair, _ in vertices),
        undefined=undefined,
        paired=None if undefined else _paired(asked),
        proof=max(proofs, key=_WEAKEST.index),
        images=evaluation.images,
        classes=len(evaluation.classes),
        unmatched=evaluation.unmatched,
        unusable=evaluation.unusable,
        _hulls=hulls,
        _choices=tuple(choice for _, choice in vertices),
    )


CLOSED_FORM = "closed form"
_WEAKEST = (CLOSED_FORM, "dual", "enumeration", "branch and bound")


def _paired(asked: Sequence[Question]) -> Pair | None:
    evaluation = asked[0].evaluation
    if not evaluation.paired:
        return None
    x, y = (
        witness.value_as_paired(evaluation, one.counts.cells, one.quantity, one.denominator, one.average)
        for one in asked
    )
    return None if x is None or y is None else (x, y)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """A pair of numerators with a correspondence of the class that attains it."""

    at: Pair
    match: Ints
    proof: str


Support = Callable[[Fraction, Fraction], _Point]
"""The attained point that goes furthest in a direction (dx, dy), not (0, 0)."""


def _along(at: Pair, dx: Fraction, dy: Fraction) -> Fraction:
    return at[0] * dx + at[1] * dy


def _support(asked: Sequence[Question], c: int, node_limit: int | None) -> Support:
    """The support function of one class; each point is valued from its correspondence."""
    question = asked[0]
    alone, known = question.evaluation.select([c]), question.knowledge
    assert known.retained_correct is not None
    persistent = None if known.persistent is None else known.persistent[c : c + 1]
    given = Knowledge(known.level, None, known.retained_correct[c : c + 1], persistent)
    quantities = asked[0].quantity, asked[1].quantity

    def point(match: Ints, proof: str) -> _Point:
        x, y = (witness.class_numerators(alone, match, one)[0] for one in quantities)
        return _Point((x, y), match, proof)

    def objective(dx: Fraction, dy: Fraction) -> tuple[Any, Fraction]:
        cells = quantities[0].cells.astype(object) * dx + quantities[1].cells.astype(object) * dy
        return cells, dx * quantities[0].probability + dy * quantities[1].probability

    if not any(one.cells[1:].any() for one in quantities):
        retained = _Retained(alone, int(known.retained_correct[c]), probability=any(q.probability for q in quantities))

        def exactly(dx: Fraction, dy: Fraction) -> _Point:
            cells, weight = objective(dx, dy)
            best, rows, columns = retained.best(cells[0], weight)
            found = point(witness.complete(alone, rows, columns, persistent), CLOSED_FORM)
            if _along(found.at, dx, dy) != best:
                raise SolverError("region", None, "a vertex is not attained", "report this: the answer was not shown")
            return found

        return exactly
    solver = Solver("milp", "highs", node_limit, "compact")

    def by_program(dx: Fraction, dy: Fraction) -> _Point:
        cells, weight = objective(dx, dy)
        optimum = solver.optimise(alone, (cells[None], [weight]), given, upper=True)
        if not optimum.sharp or optimum.match is None:
            raise SolverError("region", None, "a program was not settled", "raise --node-limit")
        return point(optimum.match, optimum.proof or "dual")

    return by_program


class _Retained:
    """The retained-correct pairs of one class given their count k.

    Choose i accepted and k - i rejected clean-correct rows, j marked and k - j other perturbed-correct ones: any
    number of (accepted, marked) pairs between max(0, i + j - k) and min(i, j) can be made of them (C3), and the sum of
    p(x) - p'(y) is the same however they are paired. Perturbed rows are marked accepted or rejected such that more of
    these pairs are better; then min(i, j) are made, and the best i and j are found in O(k).
    """

    def __init__(self, evaluation: Evaluation, k: int, *, probability: bool) -> None:
        self._k = k
        self._scale = 1
        correct = [np.flatnonzero(side.correct) for side in (evaluation.clean, evaluation.perturbed)]
        values: list[npt.NDArray[Any]] = [np.zeros(len(rows), dtype=object) for rows in correct]
        if probability:
            p, q = evaluation.clean.true_probability, evaluation.perturbed.true_probability
            assert p is not None
            assert q is not None
            *values, exponent = integers(p[correct[0]], q[correct[1]], "exact", evaluation.images)
            self._scale = 1 << exponent
        self._sides = []
        for side, rows, value in zip((evaluation.clean, evaluation.perturbed), correct, values, strict=True):
            accepted = np.zeros(len(rows), dtype=bool) if side.accepted is None else side.accepted[rows]
            order = np.argsort(value, kind="stable")
            self._sides.append(
                [(rows[order[accepted[order] == bit]], value[order[accepted[order] == bit]].tolist()) for bit in (0, 1)]
            )

    def best(self, cells: npt.NDArray[np.object_], weight: Fraction) -> tuple[Fraction, Ints, Ints]:
        """The largest sum of `cells` (by acceptance, (2, 2)) and weight * (p - p') over the pairs, with such pairs."""
        scale = math.lcm(*(Fraction(entry).denominator for entry in cells.ravel()), weight.denominator)
        cells = np.array([int(entry * scale * self._scale) for entry in cells.ravel()], dtype=object).reshape(2, 2)
        w = int(weight * scale)
        marked = int(cells[1, 1] + cells[0, 0] >= cells[1, 0] + cells[0, 1])
        if not marked:
            cells = cells[:, ::-1]
        gain = int(cells[1, 1] + cells[0, 0] - cells[1, 0] - cells[0, 1])
        clean, perturbed = self._sides
        x = _Choice.of(clean[1], clean[0], self._k, w, int(cells[1, 0] - cells[0, 0]))
        y = _Choice.of(perturbed[marked], perturbed[1 - marked], self._k, -w, int(cells[0, 1] - cells[0, 0]))
        last = y.first + len(y.sums) - 1
        below = list(accumulate(((s + gain * j, j) for j, s in enumerate(y.sums, y.first)), max))
        above = list(accumulate(((s, j) for j, s in reversed(list(enumerate(y.sums, y.first)))), max))[::-1]
        candidates = []
        for i, total in enumerate(x.sums, x.first):
            if i >= y.first:
                more, j = below[min(i, last) - y.first]
                candidates.append((total + more, i, j))
            if i <= last:
                more, j = above[max(i, y.first) - y.first]
                candidates.append((total + more + gain * i, i, j))
        value, i, j = max(candidates)
        best = Fraction(value + int(cells[0, 0]) * self._k, scale * self._scale)
        return best, x.rows(i), y.rows(j)


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """Of k rows of one side, i marked ones: the best sum for each feasible i, and the rows."""

    first: int
    sums: list[int]
    marked: Ints
    other: Ints
    k: int

    @classmethod
    def of(
        cls, marked: tuple[Ints, list[int]], other: tuple[Ints, list[int]], k: int, weight: int, each: int
    ) -> _Choice:
        """Rows come by ascending value; `weight` times its value counts for a row, and `each` for a marked one."""
        step = -1 if weight > 0 else 1
        sums = [[0, *accumulate(weight * value for value in values[::step])] for _, values in (marked, other)]
        least, most = max(0, k - len(other[0])), min(k, len(marked[0]))
        return cls(
            least,
            [sums[0][i] + sums[1][k - i] + each * i for i in range(least, most + 1)],
            marked[0][::step],
            other[0][::step],
            k,
        )

    def rows(self, i: int) -> Ints:
        """The marked rows, then the others."""
        return np.concatenate([self.marked[:i], self.other[: self.k - i]])


def _hull(support: Support) -> list[_Point]:
    """The vertices of the convex hull, counterclockwise from the leftmost; every edge is checked by its normal."""
    one, none = Fraction(1), Fraction(0)
    corners = [support(*direction) for direction in ((one, none), (none, one), (-one, none), (none, -one))]
    found = []
    for start, end in pairwise([*corners, corners[0]]):
        found.append(start)
        left = [end]
        while left:
            dx, dy = left[-1].at[0] - start.at[0], left[-1].at[1] - start.at[1]
            middle = support(dy, -dx) if dx or dy else start
            if _along(middle.at, dy, -dx) > _along(start.at, dy, -dx):
                left.append(middle)
            else:
                start = left.pop()
                found.append(start)
    return _strict(found)


def _strict(points: Sequence[_Point]) -> list[_Point]:
    """The vertices of the convex hull of given points, counterclockwise from the leftmost (Andrew's chains)."""
    ordered = sorted({point.at: point for point in points}.values(), key=lambda point: point.at)
    if len(ordered) < 2:
        return ordered
    chains = []
    for direction in (ordered, ordered[::-1]):
        chain: list[_Point] = []
        for point in direction:
            while len(chain) > 1 and _turn(chain[-2].at, chain[-1].at, point.at) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turn(a: Pair, b: Pair, c: Pair) -> Fraction:
    """Positive where a, b, c turn left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _scaled(hull: Sequence[_Point], x: Fraction, y: Fraction) -> list[_Point]:
    return _strict([_Point((point.at[0] * x, point.at[1] * y), point.match, point.proof) for point in hull])


def _sum(hulls: Sequence[Sequence[_Point]]) -> Iterator[tuple[Pair, tuple[int, ...]]]:
    """The vertices of the Minkowski sum, each with the vertex of every hull that it is the sum of."""
    at = (
        sum((hull[0].at[0] for hull in hulls), Fraction(0)),
        sum((hull[0].at[1] for hull in hulls), Fraction(0)),
    )
    choice = [0] * len(hulls)
    edges: dict[tuple[int, int, Fraction], list[tuple[int, Pair]]] = {}
    for index, hull in enumerate(hulls):
        for start, end in pairwise([*hull, hull[0]]):
            edge = end.at[0] - start.at[0], end.at[1] - start.at[1]
            if any(edge):
                edges.setdefault(_angle(*edge), []).append((index, edge))
    yield at, tuple(choice)
    for angle in sorted(edges)[:-1]:
        for index, (dx, dy) in edges[angle]:
            at = at[0] + dx, at[1] + dy
            choice[index] = (choice[index] + 1) % len(hulls[index])
        yield at, tuple(choice)


def _angle(dx: Fraction, dy: Fraction) -> tuple[int, int, Fraction]:
    """Sorts directions counterclockwise from just after straight down."""
    leftward = dx < 0 or (dx == 0 and dy < 0)
    return (int(leftward), 0, dy / dx) if dx else (int(leftward), 1, Fraction(0))
