"""Attained sets that are known as a whole: acceptance among retained-correct pairs, and counts.

Each function answers for its quantities, pooled over classes, and returns None for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bounds.aggregate import Grid
from bounds.closed_forms import persistent_lower_share, wrong_pairs
from bounds.counts import ClassCounts
from bounds.curves import curve
from bounds.question import Question
from bounds.witness import acceptance_pairs, complete

if TYPE_CHECKING:
    from bounds.attained import Attained, Search

__all__ = ["acceptance", "count"]

Ints = npt.NDArray[np.int64]
Runs = list[tuple[int, int]]
"""Consecutive integers as (first, length)."""

MOST_SUMS = 500_000
"""Steps of the recurrence over classes at most, so that a claim is settled, or given up, in seconds."""

# --- lost and gained acceptance ---------------------------------------------------------------------------------------
#
# Marked rows are the clean-correct records that the quantity starts from (accepted for lost acceptance, rejected for
# gained). N retained pairs lead from there to the other side of acceptance, M stay, R start from the other side. With
# k in [lo, hi], a class attains exactly the integer points of
#     0 <= N <= columns moved to, 0 <= M <= columns stayed in, N + M <= marked rows, 0 <= R <= other rows,
#     lo <= N + M + R <= hi
# (the R pairs find perturbed partners since k <= B). The subsets bounded are nested, so this is a generalised
# polymatroid: its greatest and least sums over each of the 7 subsets describe it, those of a sum of such sets over
# classes are the sums, and every integer point of the sum is a sum of integer points.

_SUBSETS = ("N", "M", "R", "NM", "NR", "MR", "NMR")
_COMPLEMENTS = ((0, 5), (5, 0), (1, 4), (4, 1), (2, 3), (3, 2))
_VARIABLE = {"retained-correct": (6, 5), "retained-correct-accepted": (3, 1), "retained-correct-rejected": (3, 1)}
"""Denominators that vary: their subset, and what it holds besides N."""


def acceptance(search: Search) -> Attained | None:
    """Lost and gained acceptance at every level, over every denominator."""
    question = search.question
    if question.quantity.name not in ("lost-acceptance", "gained-acceptance") or not search.pooled():
        return None
    sides = _sides(question)
    low, high = _acceptance_ranges(*sides, question.domain.lo, question.domain.hi)
    rest_low, rest_high = low.sum(axis=0), high.sum(axis=0)
    target = _acceptance_target(search, rest_low, rest_high)
    if target is None:
        return search.no("no attained number of retained pairs gives this value over an attained denominator")
    lost = question.quantity.name == "lost-acceptance"
    tables = np.zeros((search.classes, 2, 2), dtype=np.int64)
    for c in range(search.classes):
        rest_low, rest_high = rest_low - low[c], rest_high - high[c]
        point = _point(np.maximum(low[c], target - rest_high), np.minimum(high[c], target - rest_low))
        assert point is not None
        target = target - _sums(point)
        moved, stayed, others = point
        to_stayed = min(others, int(sides[3][c]) - stayed)
        table = np.array([[others - to_stayed, to_stayed], [moved, stayed]])
        tables[c] = table if lost else table[::-1, ::-1]
    rows, columns = acceptance_pairs(question.evaluation, tables)
    match = complete(question.evaluation, rows, columns, question.knowledge.persistent)
    return search.yes(match, "retained pairs chosen by acceptance")


def _sides(question: Question) -> tuple[Ints, Ints, Ints, Ints]:
    """Marked and other rows, then the columns that marked rows move to and those where they stay; int64 (C,)."""
    counts = question.counts
    sides = (
        counts.clean_correct_accepted,
        counts.clean_correct_rejected,
        counts.perturbed_correct_rejected,
        counts.perturbed_correct_accepted,
    )
    if question.quantity.name == "lost-acceptance":
        return sides
    return sides[1], sides[0], sides[3], sides[2]


def _acceptance_ranges(
    marked: Ints, others: Ints, moved: Ints, stayed: Ints, least: Ints, most: Ints
) -> tuple[Ints, Ints]:
    """int64 of shape (C, 7): least and greatest sum over each of `_SUBSETS`, each attained."""
    zero = np.zeros_like(marked)
    most_moved, most_stayed = np.minimum(moved, marked), np.minimum(stayed, marked)
    least_marked = np.maximum(zero, least - others)
    low = (
        np.maximum(zero, least_marked - stayed),
        np.maximum(zero, least_marked - moved),
        np.maximum(zero, least - marked),
        least_marked,
        np.maximum(zero, least - most_stayed),
        np.maximum(zero, least - most_moved),
        least,
    )
    high = (most_moved, most_stayed, others, marked, most_moved + others, most_stayed + others, most)
    return np.stack(low, axis=1), np.stack([np.minimum(bound, most) for bound in high], axis=1)


def _acceptance_target(search: Search, low: Ints, high: Ints) -> Ints | None:
    """Sums over the classes, for each of `_SUBSETS`, at which the value is in the set asked for; None if at none."""
    question = search.question
    low, high = low.copy(), high.copy()
    moved, everything = _SUBSETS.index("N"), _SUBSETS.index("NMR")
    total = question.domain.total
    if total is not None:
        whole_low, whole_high = low.copy(), high.copy()
        for subset, rest in _COMPLEMENTS:
            low[subset] = max(whole_low[subset], total - whole_high[rest])
            high[subset] = min(whole_high[subset], total - whole_low[rest])
        low[everything] = high[everything] = total
    over = _VARIABLE.get(question.denominator)
    if over is None:
        fixed = search.pooled_denominator()
        assert fixed is not None
        divisors = range(fixed, fixed + 1)
    else:
        divisors = range(max(1, int(low[over[0]])), int(high[over[0]]) + 1)
    for divisor in divisors:
        least, most = int(low[moved]), int(high[moved])
        if over is not None:
            least, most = max(least, divisor - int(high[over[1]])), min(most, divisor - int(low[over[1]]))
        number = max(least, ceil(search.low * divisor))
        if number <= min(most, floor(search.high * divisor)):
            low[moved] = high[moved] = number
            if over is not None:
                low[over[0]] = high[over[0]] = divisor
            point = _point(low, high)
            assert point is not None
            return _sums(point)
    return None


def _point(low: Ints, high: Ints) -> tuple[int, int, int] | None:
    """Integers N, M, R whose sums over each of `_SUBSETS` lie between `low` and `high`; None if there are none."""
    low_n, low_m, low_r, low_nm, low_nr, low_mr, low_all = low.tolist()
    high_n, high_m, high_r, high_nm, high_nr, high_mr, high_all = high.tolist()
    for n in range(low_n, high_n + 1):
        least_m, most_m = max(low_m, low_nm - n), min(high_m, high_nm - n)
        least_r, most_r = max(low_r, low_nr - n), min(high_r, high_nr - n)
        least, most = max(low_mr, low_all - n), min(high_mr, high_all - n)
        m = max(least_m, least - most_r)
        r = max(least_r, least - m)
        if m <= most_m and r <= most_r and m + r <= most:
            return n, m, r
    return None


def _sums(point: tuple[int, int, int]) -> Ints:
    """int64 of shape (7,): the sums over each of `_SUBSETS`."""
    n, m, r = point
    return np.array([n, m, r, n + m, n + r, m + r, n + m + r], dtype=np.int64)


# --- counts -----------------------------------------------------------------------------------------------------------

_HOLES = ("persistent-wrong", "changed-wrong")
_NO_SET = ("kept-persistent-accepted-error", "kept-changed-accepted-error")
_WRONG_WRONG = (
    "new-accepted-error",
    "resolved-accepted-error",
    "kept-accepted-error",
    "rejected-wrong-to-accepted-error",
)
_LOST = ("correct-to-accepted-error", "accepted-correct-to-accepted-error")


def count(search: Search) -> Attained | None:
    """Plain counts and accepted-error transitions, summed over classes by a recurrence on sets of sums (bit sets)."""
    divisor = search.pooled_denominator()
    if divisor is None or not search.pooled():
        return None
    sets = _class_sets(search.question)
    layers = None if sets is None else _layers(sets, search.question.domain.total)
    if sets is None or layers is None:
        return None
    total = search.question.domain.total
    attained = layers[-1].get(total or 0, 0)
    least, most = max(0, ceil(search.low * divisor)), floor(search.high * divisor)
    wanted = (attained >> least) & ((1 << (most - least + 1)) - 1) if most >= least else 0
    if not wanted:
        below, above = attained & ((1 << least) - 1), attained >> least
        near = [str(below.bit_length() - 1)] if below else []
        near += [str(least + _lowest(above))] if above else []
        return search.no(f"no correspondence has such a count; the nearest attained are {' and '.join(near)}")
    goal, key = least + _lowest(wanted), total or 0
    chosen: list[tuple[int, int]] = []
    for of_class, layer in zip(sets[::-1], layers[-2::-1], strict=True):
        k, number = next(
            (k, number)
            for k, runs in of_class.items()
            for first, length in runs
            for number in range(first, min(first + length, goal + 1))
            if layer.get(key if total is None else key - k, 0) >> (goal - number) & 1
        )
        chosen.append((k, number))
        goal -= number
        key -= 0 if total is None else k
    return search.yes(_with_counts(search.question, chosen[::-1]), "counts chosen class by class")


def _lowest(bits: int) -> int:
    """The position of the lowest bit that is set."""
    return (bits & -bits).bit_length() - 1


def _layers(sets: list[dict[int, Runs]], total: int | None) -> list[dict[int, int]] | None:
    """After each class: retained pairs (0 where their total is not known) -> attained sums, bit v for the sum v."""
    layers = [{0: 1}]
    most_left = sum(max(of_class) for of_class in sets)
    steps = 0
    for of_class in sets:
        most_left -= max(of_class)
        layer: dict[int, int] = {}
        for k, runs in of_class.items():
            steps += len(runs) * len(layers[-1])
            if steps > MOST_SUMS:
                return None
            for before, sums in layers[-1].items():
                key = 0 if total is None else before + k
                if total is None or key <= total <= key + most_left:
                    for first, length in runs:
                        layer[key] = layer.get(key, 0) | _smear(sums, length) << first
        layers.append(layer)
    return layers


def _smear(bits: int, length: int) -> int:
    """The union of `bits << i` for 0 <= i < length.

    >>> bin(_smear(0b1001, 2))
    '0b11011'
    """
    done = 1
    while done < length:
        step = min(done, length - done)
        bits |= bits << step
        done += step
    return bits


def _class_sets(question: Question) -> list[dict[int, Runs]] | None:
    """For each class: feasible k -> the attained values of the numerator; None where no claim gives them all."""
    name = question.quantity.name
    found = curve(question.counts, question.quantity, question.knowledge, "exact")
    if found is None or name in _NO_SET or question.quantity.probability:
        return None
    grid = Grid.of(question.domain)
    sets: list[dict[int, Runs]] = [{} for _ in question.domain.lo]
    if name in _HOLES and question.knowledge.persistent is None:
        for c, k in zip(grid.c.tolist(), grid.k.tolist(), strict=True):
            sets[c][k] = _wrong_wrong_runs(question.counts, c, k, changed=name == "changed-wrong")
        return sets
    least, most = found.ends(grid.c, grid.k)
    for c, k, a, b in zip(grid.c.tolist(), grid.k.tolist(), least.tolist(), most.tolist(), strict=True):
        sets[c][k] = [(a, b - a + 1)]
    return sets


def _wrong_wrong_runs(counts: ClassCounts, c: int, k: int, changed: bool) -> Runs:
    """Every feasible number of persistent (or changed) wrong pairs of a class with k retained ones (C5)."""
    labels = counts.wrong_classes
    part = slice(int(labels.starts[c]), int(labels.starts[c + 1]))
    clean, perturbed = labels.clean[part], labels.perturbed[part]
    pairs = int(wrong_pairs(counts.images[c], counts.clean_correct[c], counts.perturbed_correct[c], k))
    s = np.arange(pairs + 1, dtype=np.int64)
    total = counts.clean_wrong[c] + counts.perturbed_wrong[c]
    least = persistent_lower_share(clean, perturbed, pairs, s[:, None], total)
    most = np.minimum(clean, perturbed)
    feasible = s[(least <= most).all(axis=1) & (least.sum(axis=1) <= s) & (s <= most.sum())]
    numbers = np.sort(pairs - feasible) if changed else feasible
    starts = np.flatnonzero(np.diff(numbers, prepend=-2) > 1)
    lengths = np.diff(starts, append=len(numbers))
    return list(zip(numbers[starts].tolist(), lengths.tolist(), strict=True))


def _with_counts(question: Question, chosen: Sequence[tuple[int, int]]) -> Ints:
    """A correspondence with the given (k, numerator) in each class."""
    name, evaluation, counts = question.quantity.name, question.evaluation, question.counts
    if name in _WRONG_WRONG + _LOST:
        return np.concatenate([_with_transitions(question, c, k, number) for c, (k, number) in enumerate(chosen)])
    k = np.array([k for k, _ in chosen], dtype=np.int64)
    classes = list(pairwise(evaluation.starts.tolist()))
    persistent = question.knowledge.persistent
    if name in _HOLES:
        persistent = np.array([number for _, number in chosen], dtype=np.int64)
        if name == "changed-wrong":
            persistent = wrong_pairs(counts.images, counts.clean_correct, counts.perturbed_correct, k) - persistent
    rows, columns = (
        np.concatenate(
            [a + np.flatnonzero(side.correct[a:b])[:n] for (a, b), (n, _) in zip(classes, chosen, strict=True)]
        )
        for side in (evaluation.clean, evaluation.perturbed)
    )
    return complete(evaluation, rows, columns, persistent)


def _with_transitions(question: Question, c: int, k: int, number: int) -> Ints:
    """A correspondence of class `c` with k retained pairs and that many transitions; perturbed rows, int64 (n,).

    Claim: transition_counts (C13, block lemma).
    """
    name, start = question.quantity.name, int(question.evaluation.starts[c])
    rows = slice(start, int(question.evaluation.starts[c + 1]))
    clean, perturbed = question.evaluation.clean, question.evaluation.perturbed
    assert clean.accepted is not None
    assert perturbed.accepted is not None
    x, y = clean.correct[rows], perturbed.correct[rows]
    marked_x, marked_y = clean.accepted[rows].copy(), perturbed.accepted[rows]
    if name in _LOST:
        chosen_x, pairs = x, int(x.sum()) - k
        if name == "correct-to-accepted-error":
            marked_x[:] = True
    else:
        chosen_x, pairs = ~x, len(x) - int(x.sum()) - int(y.sum()) + k
        if name == "rejected-wrong-to-accepted-error":
            marked_x = ~marked_x
        elif name != "kept-accepted-error":
            errors = ~y & marked_y if name == "new-accepted-error" else ~x & marked_x
            number = int(errors.sum()) - number
    r1, r0 = np.flatnonzero(chosen_x & marked_x), np.flatnonzero(chosen_x & ~marked_x)
    c1, c0 = np.flatnonzero(~y & marked_y), np.flatnonzero(~y & ~marked_y)
    down = min(len(r1) - number, len(c0), pairs - number)
    up = min(len(r0), len(c1) - number, pairs - number - down)
    rest = pairs - number - down - up
    match = np.full(len(x), -1, dtype=np.int64)
    match[r1[: number + down]] = np.concatenate([c1[:number], c0[:down]])
    match[r0[: up + rest]] = np.concatenate([c1[number : number + up], c0[down : down + rest]])
    free_x, free_y = np.flatnonzero((match < 0) & x), np.flatnonzero(y)
    match[free_x[:k]] = free_y[:k]
    left_x = np.flatnonzero(match < 0)
    left_y = np.setdiff1d(np.arange(len(x)), match)
    # Correct rows are left for wrong columns only, and the other way round.
    match[left_x[np.argsort(~x[left_x], kind="stable")]] = left_y[np.argsort(y[left_y], kind="stable")]
    return match + start
