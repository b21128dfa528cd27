"""Whether a value is attained, against every correspondence of small evaluations."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import oracles
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

from bounds import attained_search, attained_sets
from bounds.attained import Search, agrees, find
from bounds.evaluation import Evaluation
from bounds.knowledge import Knowledge, Level, know
from bounds.quantities import QUANTITIES, quantity
from bounds.question import Question
from bounds.solve import bound

Asked = tuple[str, str, str]
"""Quantity, denominator, average."""


def attained_values(ev: Evaluation, asked: Asked, level: Level) -> set[Fraction]:
    """Every value over all correspondences; the counts known are those of the true pairing."""
    name, denominator, average = asked
    if level is Level.PAIRED:
        below = [oracles.DENOMINATORS.get(denominator), oracles.NUMERATORS[name]]
        pairs = list(zip(oracles.records(ev.clean), oracles.records(ev.perturbed), strict=True))
        sums = [
            tuple(sum((Fraction(f(x, y)) for x, y in pairs[a:b]), Fraction(0)) for f in below[::-1] if f)
            for a, b in pairwise(ev.starts.tolist())
        ]
        value = oracles._value([(*s, 0)[:2] for s in sums], denominator, average)
        return {value} - {None}
    known = know(ev, Level.FIVE_STATE)
    k, s = known.retained_correct.tolist(), known.persistent.tolist()
    return oracles.values(ev, name, denominator, average, level, k, s) - {None}


def targets(values: set[Fraction]) -> list[tuple[Fraction, Fraction, bool]]:
    """(low, high, attained): each value, each gap between neighbours, both outsides, and a set over a gap."""
    ordered = sorted(values)
    if not ordered:
        return []
    found = [(v, v, True) for v in ordered]
    for a, b in pairwise(ordered):
        third = (b - a) / 3
        found += [(a + third, b - third, False), (a + third, b, True)]
    return [*found, (ordered[0] - 1, ordered[0] - Fraction(1, 100), False), (ordered[-1] + 1, ordered[-1] + 2, False)]


SMALL = evaluations(max_images=3, max_classes=3, max_labels=2)


QUESTIONS = [
    (name, denominator, average)
    for name, q in QUANTITIES.items()
    for denominator in q.denominators
    for average in ("micro", "macro")
    if (denominator, average) != ("none", "macro")
]


def ask(ev: Evaluation, asked: Asked, known: Knowledge) -> Question:
    name, denominator, average = asked
    return Question.ask(ev, quantity(name), denominator, average, known)


@settings(max_examples=200)
@given(SMALL, st.sampled_from(QUESTIONS), st.sampled_from(list(Level)))
def test_every_value_is_settled_on_small_classes(ev: Evaluation, asked: Asked, level: Level) -> None:
    values = attained_values(ev, asked, level)
    known = know(ev, level)
    for low, high, attained in targets(values):
        found = find(ask(ev, asked, known), low, high)
        assert found.possible is attained, (low, high, found.reason)
        if attained:
            assert found.value in values
            assert low <= found.value <= high
            assert agrees(ev, known, found.match)


SETS = [asked for asked in QUESTIONS if not asked[0].startswith(("mean", "kept-p", "kept-c")) and asked[2] == "micro"]


@settings(max_examples=300)
@given(SMALL, st.sampled_from(SETS), st.sampled_from(list(Level)[:-1]))
def test_known_sets_settle_without_enumeration(ev: Evaluation, asked: Asked, level: Level) -> None:
    """Acceptance and counts are settled by their sets alone, so what holds here holds for large classes."""
    assume(level is not Level.FIVE_STATE or "error" not in asked[0])
    question = ask(ev, asked, know(ev, level))
    settle = attained_sets.acceptance if "acceptance" in asked[0] else attained_sets.count
    for low, high, attained in targets(attained_values(ev, asked, level)):
        found = settle(Search(question, low, high, None))
        assert found is not None
        assert found.possible is attained, (low, high, found.reason)


@settings(max_examples=300)
@given(SMALL, st.sampled_from(QUESTIONS), st.sampled_from(list(Level)[:-1]))
def test_without_enumeration_no_answer_is_wrong(ev: Evaluation, asked: Asked, level: Level) -> None:
    values = attained_values(ev, asked, level)
    question = ask(ev, asked, know(ev, level))
    for low, high, attained in targets(values):
        ends = tuple(find(question, end, end).match for end in (min(values), max(values)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(attained_search, "LARGEST_CLASS", -1)
            patch.setattr(attained_search, "MOST_STEPS", 50)
            assert find(question, low, high, ends).possible in (attained, None)


Class = tuple[int, int, int, int, int, int]
"""Marked and other rows, columns moved to and stayed in, least and greatest k."""


@st.composite
def margins(draw: st.DrawFn) -> Class:
    marked, others, moved, stayed = (draw(st.integers(0, 4)) for _ in range(4))
    most = draw(st.integers(0, min(marked + others, moved + stayed)))
    return marked, others, moved, stayed, draw(st.integers(0, most)), most


def class_points(of_class: Class) -> set[tuple[int, int, int]]:
    """(N, M, R) over all 2 x 2 tables of retained pairs with these margins."""
    marked, others, moved, stayed, least, most = of_class
    return {
        (n, m, r + t)
        for n, m, r, t in product(range(5), repeat=4)
        if n + m <= marked and r + t <= others and n + r <= moved and m + t <= stayed and least <= n + m + r + t <= most
    }


@settings(max_examples=200)
@given(st.lists(margins(), min_size=1, max_size=3))
def test_sums_of_acceptance_tables_are_all_points_between_their_ranges(classes: list[Class]) -> None:
    """What `attained_sets.acceptance` rests on, from tables counted one by one."""
    low, high = attained_sets._acceptance_ranges(*np.array(classes).T)
    pooled = {(0, 0, 0)}
    for of_class, of_low, of_high in zip(classes, low, high, strict=True):
        points = class_points(of_class)
        sums = np.array([attained_sets._sums(point) for point in points])
        assert sums.min(axis=0).tolist() == of_low.tolist()
        assert sums.max(axis=0).tolist() == of_high.tolist()
        pooled = {tuple(map(sum, zip(a, b, strict=True))) for a in pooled for b in points}
    low, high = low.sum(axis=0), high.sum(axis=0)
    boxed = product(*(range(int(low[i]), int(high[i]) + 1) for i in range(3)))
    between = {p for p in boxed if (low <= attained_sets._sums(p)).all() and (attained_sets._sums(p) <= high).all()}
    assert between == pooled


def test_kept_accepted_errors_have_a_hole() -> None:
    """Theory, section 5: k = 0, s = 1 gives kept 0 or 2, and 1 is impossible."""
    yes, no = True, False
    ev = evaluation(
        (
            [(1, yes, 0.1), (2, yes, 0.1), (0, no, 0.1), (0, no, 0.1)],
            [(2, yes, 0.1), (2, yes, 0.1), (1, no, 0.1), (1, no, 0.1)],
        )
    )
    known = know(ev, "five-state", retained_correct=[0], persistent=[1])
    question = Question.ask(ev, quantity("kept-accepted-error"), "none", "micro", known)
    assert [find(question, Fraction(v), Fraction(v)).possible for v in range(4)] == [True, False, True, False]


def test_persistent_wrong_has_a_hole_that_a_claim_cannot_fill() -> None:
    ev = evaluation(([(1, True, 0.1), (2, True, 0.1)], [(1, True, 0.1), (2, True, 0.1)]))
    question = Question.ask(ev, quantity("persistent-wrong"), "none", "micro", know(ev, "correct-correct"))
    found = find(question, Fraction(1), Fraction(1))
    assert (found.possible, found.reason) == (
        False,
        "no correspondence has such a count; the nearest attained are 0 and 2",
    )


def large(seed: int, sizes: list[int]) -> Evaluation:
    rng = np.random.default_rng(seed)

    def records(n: int) -> list[tuple[int, bool, float]]:
        labels = rng.choice([0, 0, 0, 1, 2, 3], n)
        return [(int(label), bool(rng.random() < 0.5), float(rng.random())) for label in labels]

    return evaluation(*((records(n), records(n)) for n in sizes))


@pytest.mark.parametrize("level", list(Level)[:-1])
@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("name", ["lost-acceptance", "gained-acceptance", "mean-probability-decrease"])
def test_values_inside_are_found_on_larger_classes(name: str, average: str, level: Level) -> None:
    ev = large(7, [40, 25, 31])
    known = know(ev, level)
    question = Question.ask(ev, quantity(name), None, average, known)
    interval = bound(ev, name, known, average=average, witness=True)
    ends = (interval.low.match, interval.high.match)
    lower, upper = interval.low.value, interval.high.value
    for part in range(1, 20):
        middle = lower + (upper - lower) * Fraction(part, 20)
        found = find(question, middle - Fraction(1, 40), middle + Fraction(1, 40), ends)
        assert found.possible is True
        assert agrees(ev, known, found.match)


@pytest.mark.parametrize("name", [n for n in QUANTITIES if "error" in n and not n.startswith(("kept-p", "kept-c"))])
def test_every_transition_count_inside_has_a_witness(name: str) -> None:
    ev = large(3, [40, 25, 31])
    for level in ("marginals", "total-correct-correct", "correct-correct"):
        known = know(ev, level)
        interval = bound(ev, name, known, denominator="none")
        question = Question.ask(ev, quantity(name), "none", "micro", known)
        lower, upper = int(interval.low.value), int(interval.high.value)
        for value in range(lower, upper + 1):
            assert find(question, Fraction(value), Fraction(value)).possible is True
        assert find(question, Fraction(upper + 1), Fraction(upper + 1)).possible is False


def test_a_window_between_two_counts_is_impossible() -> None:
    ev = large(1, [40])
    question = Question.ask(ev, quantity("mean-probability-decrease"), "none", "micro", know(ev, "correct-correct"))
    assert find(question, Fraction(0), Fraction(0)).possible is None
    counts = Question.ask(ev, quantity("kept-changed-accepted-error"), "images", "micro", know(ev, "marginals"))
    found = find(counts, Fraction(101, 4000), Fraction(102, 4000))
    assert (found.possible, found.reason) == (False, "no whole number over 40 gives this value")
