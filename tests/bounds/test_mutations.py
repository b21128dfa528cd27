"""Every closed form, altered in one place (`mutations`), is caught by comparison with all correspondences."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import oracles
import pytest
from mutations import alterations, altered, functions
from strategies import evaluation

from bounds import by_closed_form, curves, knowledge, question, witness
from bounds.counts import ClassCounts
from bounds.errors import PairboundsError
from bounds.quantities import QUANTITIES
from bounds.solve import bound

USERS = (by_closed_form, curves, knowledge, question, witness)
LEVELS = ("marginals", "total-correct-correct", "correct-correct")

UNREACHED = {
    "feasible_correct_correct": "checks its arguments and wraps correct_correct_range",
}
"""Functions whose alterations are left out, each with its reason."""


@cache
def samples():
    """Random small evaluations, mixed so that every bound binds somewhere."""
    draw = random.Random(7)
    found = []
    for _ in range(120):
        classes, labels, right = draw.choice((1, 1, 2)), draw.choice((1, 2, 3)), draw.choice((0.2, 0.5, 0.8))

        def side(n, right=right, labels=labels):
            return [
                (0 if draw.random() < right else draw.randint(1, labels), draw.random() < 0.5, draw.randint(0, 4) / 4)
                for _ in range(n)
            ]

        found.append(evaluation(*((side(n), side(n)) for n in (draw.randint(1, 4 if classes == 2 else 5),) * classes)))
    return found


@cache
def expected():
    """[(evaluation, quantity, denominator, average, level, what enumeration says)]; see `said`."""
    draw = random.Random(3)
    asked = list(BY_HAND)
    for records in samples():
        for name, quantity in QUANTITIES.items():
            offered = [d for d in quantity.denominators if "errors" not in d]
            every = [(denominator, level) for denominator in offered for level in LEVELS]
            for denominator, level in every if "acceptance" in name else [draw.choice(every)]:
                average = "micro" if denominator == "none" else draw.choice(("micro", "macro"))
                asked.append((records, name, denominator, average, level))
        asked.append((records, *KEPT_PERSISTENT))
    return [(*question, truth(*question)) for question in asked]


KEPT_PERSISTENT = ("kept-persistent-accepted-error", "none", "micro", "five-state")

# Ratios over marked rows given k, where a k other than the known one would change the sum over two classes.
BY_HAND = [
    (evaluation(first, second), "lost-acceptance", "retained-correct-accepted", "micro", "correct-correct")
    for first, second in (
        # The first class retains nothing, though its accepted records could; the second loses its only acceptance.
        (
            ([(0, True), (0, True), (1, False)], [(1, False), (1, False), (0, True)]),
            ([(0, True)], [(0, False)]),
        ),
        # The first class retains one pair of two possible ones; the second keeps its only acceptance.
        (
            (
                [(0, True), (0, True), (1, False), (1, False)],
                [(0, False), (1, False), (0, False), (1, False)],
            ),
            ([(0, True)], [(0, True)]),
        ),
    )
] + [
    (evaluation(only), *KEPT_PERSISTENT)
    for only in (
        # Label 3 is accepted on both sides; no other label can be persistent, whatever its rejected records spare.
        ([(0, True), (0, False), (0, False), (3, True)], [(2, False), (0, True), (1, True), (3, True)]),
        # Label 1 must be persistent and is never kept, which leaves fewer persistent pairs to be kept.
        ([(1, False), (1, True), (3, False), (2, True)], [(1, False), (3, False), (2, True), (1, False)]),
    )
]


def truth(records, name, denominator, average, level):
    """What enumeration says, in the order of `said`."""
    counts = ClassCounts(records).cells.sum(axis=(2, 3))
    k, s = counts[:, 0].tolist(), counts[:, 3].tolist()
    values = oracles.values(records, name, denominator, average, level, k, s)
    defined = values - {None}
    ends = (min(defined), max(defined)) if defined else (None, None)
    below = {sum(d for _, d in c) for c in oracles.choices(records, name, denominator, level, k, s)}
    return *ends, *((None, None) if denominator == "none" else (min(below), max(below))), None in values


@cache
def feasible():
    """[(evaluation, attained (k, s))] of single classes."""
    return [
        (records, {(int(k), int(s)) for k, s, _, _ in oracles.outcomes(records, 0, "lost", "none")})
        for records in samples()
        if len(records.classes) == 1
    ]


def said(found):
    """Ends, range of the denominator, and whether it may be zero, as the library has them."""
    below = found.denominator
    return found.lower, found.upper, below.lower, below.upper, found.may_be_undefined


def first_difference() -> str | None:
    """The first case in which the library differs from enumeration; a crash is a difference."""
    try:
        return _first_difference()
    except Exception as error:
        return repr(error)


def _first_difference() -> str | None:
    for records, name, denominator, average, level, by_enumeration in expected():
        found = said(bound(records, name, level, denominator=denominator, average=average))
        if found != by_enumeration:
            return f"{average} {name} over {denominator} at {level}: {found}, by enumeration {by_enumeration}"
    for records, pairs in feasible():
        counts = ClassCounts(records)
        for k in range(records.images + 1):
            try:
                seen = {(k, s) for s in knowledge.feasible_persistent(counts, 0, k)}
            except PairboundsError:
                seen = set()
            if seen != {pair for pair in pairs if pair[0] == k}:
                return f"feasible (k, s): {seen}, by enumeration {pairs}"
        for k, s in pairs:
            rows, columns = np.flatnonzero(records.clean.correct)[:k], np.flatnonzero(records.perturbed.correct)[:k]
            witness.complete(records, rows, columns, np.array([s]))
    return None


def test_the_library_as_it_is_agrees_with_enumeration():
    assert len(expected()) > 1000
    assert first_difference() is None


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, number in alterations() if name not in UNREACHED]
)
def test_an_altered_closed_form_is_caught(name, number, monkeypatch):
    module, what = altered(name, number)
    for user in USERS:
        for function in functions():
            if hasattr(user, function):
                monkeypatch.setattr(user, function, getattr(module, function))
    assert first_difference() is not None, f"{name}: {what}"
