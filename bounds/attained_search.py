"""Searches for an attained value: over every correspondence of small classes, or by exchanging partners."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, permutations
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bounds.knowledge import Level
from bounds.quantities import DENOMINATORS, STATES
from bounds.question import Question
from bounds.witness import probabilities

if TYPE_CHECKING:
    from bounds.attained import Attained, Search

__all__ = ["approach", "enumerate_all"]

Ints = npt.NDArray[np.int64]

LARGEST_CLASS = 8
"""Classes up to this size are enumerated."""

MOST_SUMS = 200_000
"""Partial sums over classes that an enumeration looks at, at most."""

MOST_STEPS = 100_000
"""Exchanges tried from each known correspondence, unless there are so many images that ten for each is more."""

UPHILL = 0.02
"""How often an exchange that leads away is made."""

# --- small classes: every correspondence ------------------------------------------------------------------------------

_Sum = tuple[int, int, Fraction | int]
"""Over some classes: retained pairs (if their total is known), denominators or defined rates, numerators or rates."""


def enumerate_all(search: Search) -> Attained | None:
    """Every quantity, where no class has more than `LARGEST_CLASS` images."""
    question = search.question
    if max(question.counts.images.tolist(), default=0) > LARGEST_CLASS:
        return None
    pooled, total = search.pooled(), question.domain.total
    layers: list[dict[_Sum, tuple[_Sum, Ints]]] = []
    reached: set[_Sum] = {(0, 0, 0)}
    for c in range(search.classes):
        points = _class_points(question, c)
        if len(points) * len(reached) > MOST_SUMS:
            return None
        layer: dict[_Sum, tuple[_Sum, Ints]] = {}
        for (k, numerator, divisor), local in points.items():
            rate: Fraction | int = numerator
            if not pooled:
                rate = Fraction(numerator, divisor) if divisor else 0
            defined = divisor if pooled else int(divisor > 0)
            for before in reached:
                key = (before[0] + (k if total is not None else 0), before[1] + defined, before[2] + rate)
                layer.setdefault(key, (before, local))
        layers.append(layer)
        reached = set(layer)
    for key in reached:
        known, below, top = key
        below = 1 if question.denominator == "none" else below
        if not below or (total is not None and known != total):
            continue
        if search.low <= Fraction(top) / (below * _scale(question)) <= search.high:
            locals_: list[Ints] = []
            for layer in reversed(layers):
                key, local = layer[key]
                locals_.append(local)
            parts = [a + part for a, part in zip(question.evaluation.starts, locals_[::-1], strict=False)]
            return search.yes(np.concatenate(parts), "found among all correspondences")
    return search.no("every correspondence was looked at and none gives this value")


def _scale(question: Question) -> int:
    """The integer by which `_pair_weights` multiplies the numerator."""
    return 1 << probabilities(question.evaluation)[2] if question.quantity.probability else 1


def _class_points(question: Question, c: int) -> dict[tuple[int, int, int], Ints]:
    """(k, numerator, denominator) attained in class `c` -> a correspondence of the class, rows counted from 0."""
    numerators, divisors, states_of = _pair_weights(question, c)
    orders = _orders(len(states_of))
    rows = np.arange(len(states_of))
    k, s = ((states_of == STATES.index(state))[rows, orders].sum(axis=1) for state in ("CC", "WS"))
    known = question.knowledge
    kept = np.ones(len(orders), dtype=bool)
    if known.retained_correct is not None:
        kept &= k == known.retained_correct[c]
    if known.persistent is not None:
        kept &= s == known.persistent[c]
    orders = orders[kept]
    keys = zip(
        k[kept].tolist(),
        numerators[rows, orders].sum(axis=1).tolist(),
        divisors[rows, orders].sum(axis=1).tolist(),
        strict=True,
    )
    return dict(zip(keys, orders, strict=True))


def _pair_weights(question: Question, c: int) -> tuple[npt.NDArray[np.object_], Ints, Ints]:
    """(n, n) over the pairs of class `c`: the numerator times `_scale`, the denominator, the state."""
    rows = slice(int(question.evaluation.starts[c]), int(question.evaluation.starts[c + 1]))
    clean, perturbed = question.evaluation.clean, question.evaluation.perturbed
    x, y = clean.correct[rows][:, None], perturbed.correct[rows][None, :]
    same = clean.predicted[rows][:, None] == perturbed.predicted[rows][None, :]
    found = np.where(x, np.where(y, 0, 1), np.where(y, 2, np.where(same, 3, 4)))
    bits = [np.zeros(found.shape[0], dtype=np.int64)] * 2
    if clean.accepted is not None and perturbed.accepted is not None:
        bits = [side.accepted[rows].astype(np.int64) for side in (clean, perturbed) if side.accepted is not None]
    a, b = bits[0][:, None], bits[1][None, :]
    numerators = question.quantity.cells[found, a, b].astype(object)
    if question.quantity.probability:
        p, q, exponent = probabilities(question.evaluation)
        numerators = (numerators << exponent) + np.where(found == 0, p[rows][:, None] - q[rows][None, :], 0)
    divisors = DENOMINATORS[question.denominator][found, a, b] if question.denominator != "none" else 0 * found
    return numerators, divisors, found


@lru_cache(maxsize=LARGEST_CLASS + 1)
def _orders(size: int) -> Ints:
    """int64 of shape (size!, size): every permutation."""
    return np.array(list(permutations(range(size))), dtype=np.int64)


# --- otherwise: a search that approaches the value --------------------------------------------------------------------

MARGIN = 1e-9
"""Floats steer; this near to the set asked for, the value is read in exact arithmetic."""


def approach(search: Search) -> Attained | None:
    """Yes, if random exchanges of partners lead from a known correspondence to the set asked for.

    An exchange is made if the correspondence still agrees with the knowledge and the value comes no further from the
    middle of the set; now and then one that leads away is made too, so that the search does not settle in a corner.
    """
    question = search.question
    starts = list(search.ends or ())
    if question.evaluation.paired:
        starts.append(np.arange(question.evaluation.images, dtype=np.int64))
    random = Random(0)
    for start in starts:
        if len(start) and search.agrees(start):
            state = _State(search, start)
            for _ in range(max(MOST_STEPS, 10 * len(start))):
                if state.step(random):
                    return search.yes(np.array(state.match), "found by exchanging partners")
    return None


class _State:
    """A correspondence that agrees with the knowledge, and its value, kept up to date while partners are exchanged."""

    def __init__(self, search: Search, match: Ints) -> None:
        question, evaluation = search.question, search.question.evaluation
        self.low, self.high = search.low, search.high
        self.middle = float((search.low + search.high) / 2)
        self.reach = float((search.high - search.low) / 2) + MARGIN
        self.macro, self.known = not search.pooled(), question.knowledge
        self.cells: list[list[list[int]]] = (question.quantity.cells.astype(object) * _scale(question)).tolist()
        below = DENOMINATORS[question.denominator] if question.denominator != "none" else 0 * question.quantity.cells
        self.below: list[list[list[int]]] = below.tolist()
        self.constant = int(question.denominator == "none")
        self.scale = _scale(question)
        probability = [np.zeros(evaluation.images, dtype=object)] * 2
        if question.quantity.probability:
            probability = list(probabilities(evaluation)[:2])
        self.clean, self.perturbed = (
            list(
                zip(
                    side.correct.tolist(),
                    side.predicted.tolist(),
                    [0] * len(side) if side.accepted is None else side.accepted.astype(int).tolist(),
                    p.tolist(),
                    strict=True,
                )
            )
            for side, p in zip((evaluation.clean, evaluation.perturbed), probability, strict=True)
        )
        self.class_of: list[int] = evaluation.class_of_row.tolist()
        self.rows = [range(a, b) for a, b in pairwise(evaluation.starts.tolist())]
        self.match: list[int] = match.tolist()
        self.sums = [[0, 0] for _ in self.rows]
        for i, j in enumerate(self.match):
            _, top, divisor = self._pair(i, j)
            self.sums[self.class_of[i]][0] += top
            self.sums[self.class_of[i]][1] += divisor
        self.total = [sum(part[side] for part in self.sums) for side in (0, 1)]
        self.rates = [self._rate(*part) for part in self.sums]
        self.value = self._value(self.total, self.rates)

    def _pair(self, i: int, j: int) -> tuple[int, int, int]:
        """State, numerator and denominator of a pair."""
        correct, label, a, p = self.clean[i]
        also, other, b, q = self.perturbed[j]
        state = (0 if also else 1) if correct else (2 if also else 3 if label == other else 4)
        return state, self.cells[state][a][b] + (0 if state else p - q), self.below[state][a][b]

    def _rate(self, top: int, divisor: int) -> float | None:
        return top / (divisor * self.scale) if divisor else None

    def _value(self, total: list[int], rates: list[float | None]) -> float | None:
        if not self.macro:
            return self._rate(total[0], total[1] + self.constant)
        defined = [rate for rate in rates if rate is not None]
        return sum(defined) / len(defined) if defined else None

    def step(self, random: Random) -> bool:
        """Try one exchange; whether it was made and the value is now in the set asked for."""
        i = int(random.random() * len(self.match))
        c = self.class_of[i]
        j = self.rows[c][int(random.random() * len(self.rows[c]))]
        x, y = self.match[i], self.match[j]
        old, new = (self._pair(i, x), self._pair(j, y)), (self._pair(i, y), self._pair(j, x))
        states_old, states_new = (old[0][0], old[1][0]), (new[0][0], new[1][0])
        level = self.known.level
        if level is not Level.MARGINALS and states_old.count(0) != states_new.count(0):
            return False
        if level is Level.FIVE_STATE and states_old.count(3) != states_new.count(3):
            return False
        change = [new[0][side] + new[1][side] - old[0][side] - old[1][side] for side in (1, 2)]
        part = [s + d for s, d in zip(self.sums[c], change, strict=True)]
        total = [s + d for s, d in zip(self.total, change, strict=True)]
        rates = self.rates
        if self.macro:
            rates = [*rates[:c], self._rate(*part), *rates[c + 1 :]]
        value = self._value(total, rates)
        if value is None:
            return False
        nearer = self.value is None or abs(value - self.middle) <= abs(self.value - self.middle)
        if not nearer and random.random() > UPHILL:
            return False
        self.match[i], self.match[j] = y, x
        self.sums[c], self.total, self.rates, self.value = part, total, rates, value
        return abs(value - self.middle) <= self.reach and self._inside()

    def _inside(self) -> bool:
        """Whether the value is in the set asked for, in exact arithmetic."""
        parts = self.sums if self.macro else [[self.total[0], self.total[1] + self.constant]]
        rates = [Fraction(top, divisor * self.scale) for top, divisor in parts if divisor]
        return self.low * len(rates) <= sum(rates) <= self.high * len(rates)
