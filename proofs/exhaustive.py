"""Evidence by enumeration: each claim compared with every bijection of small classes, in integers and fractions.

Where a claim has no closed form, its statement is checked on the attained values themselves, and the package's own
answer is compared with them. The claims about counts are in `proofs.exhaustive_counts`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import factorial
from types import ModuleType
from typing import Any

import numpy as np

from bounds import solve
from bounds.compact import optimise_cells
from bounds.knowledge import Knowledge, Level, know
from bounds.policies import evaluate_policies
from bounds.quantities import QUANTITIES
from proofs.attained import SEED, enumerated
from proofs.evidence import required
from proofs.examples import (
    INFORMED,
    LOOSE,
    MACRO,
    OWN_COST,
    POLICIES_EXAMPLE,
    TRANSITIONS,
    Value,
    cost_of,
    own_cost,
    policy,
    policy_cost,
    policy_ends,
    weights,
)
from proofs.exhaustive_counts import CHECKS, by_enumeration
from proofs.small_classes import LEVELS, PAIR_COUNTS, SmallClass, drawn, evaluation, persistent, retained

__all__ = ["CHECKS", "envelope", "integral_ends"]


def _orders(images: int) -> Iterator[tuple[int, ...]]:
    return permutations(range(images))


@by_enumeration("correct_correct_suffices")
def _c2(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    """Given k, every set of retained-correct pairs goes with every set of wrong-wrong pairs.

    That is the claim for the free commutative monoid on the pairs, hence for every f, several at once, and for every
    refinement of the wrong-wrong pairs. It depends on a class only through which records are correct.
    """
    seen = classes = sets = 0
    largest = 6 if fast else 7
    for n in range(largest + 1):
        for a, b in product(range(n + 1), repeat=2):
            classes += 1
            found: dict[int, set[tuple[int, int]]] = {}
            for order in _orders(n):
                seen += 1
                cc = sum(1 << x * n + y for x, y in enumerate(order) if x < a and y < b)
                ww = sum(1 << x * n + y for x, y in enumerate(order) if x >= a and y >= b)
                found.setdefault(cc.bit_count(), set()).add((cc, ww))
            for k, together in found.items():
                apart = len({cc for cc, _ in together}) * len({ww for _, ww in together})
                sets += apart
                told = f"{n} images, {a} clean and {b} perturbed correct, k = {k}: {len(together)} of {apart} combine"
                required(len(together) == apart, told)
    joint = ("lost-acceptance", "gained-acceptance", "retained-correct-accepted")
    counts = enumerated(fast)
    outcomes = [counts.of, *(counts.outcomes[name] for name in ("retained-correct", *joint, "persistent-wrong"))]
    given_k: dict[tuple[int, int], set[tuple[int, ...]]] = {}
    given_both: dict[tuple[int, int, int], set[tuple[int, ...]]] = {}
    for c, k, *values, s in np.stack(outcomes, axis=1).tolist():
        given_k.setdefault((c, k), set()).add(tuple(values))
        given_both.setdefault((c, k, s), set()).add(tuple(values))
    for (c, k, s), values_given in given_both.items():
        told = f"{', '.join(joint)} differ given k = {k} and given s = {s} too; {counts.classes[c]}"
        required(values_given == given_k[c, k], told)
    return {
        "bijections": seen + counts.bijections,
        "classes": classes + len(counts.classes),
        "images at most": largest,
        "pairs of sets combined": sets,
        "joint sets of acceptance counts": len(given_both),
    }


def _random_classes(seed: str, fast: bool, sizes: Iterable[int], count: int) -> list[SmallClass]:
    draw = random.Random(f"{SEED} {seed}")
    choices = list(sizes)
    return [drawn(draw, draw.choice(choices)) for _ in range(count if fast else 8 * count)]


def _looked_at(classes: Sequence[SmallClass], **more: int) -> dict[str, int]:
    return {
        "bijections": sum(factorial(one.images) for one in classes),
        "classes": len(classes),
        "images at most": max(one.images for one in classes),
        **{name.replace("_", " "): count for name, count in more.items()},
    }


def _points(one: SmallClass, *values: Value) -> set[tuple[int, ...]]:
    """(k, s, sums of the values) of every bijection."""
    tables = [
        [[int(value(x, y)) for y in one.perturbed] for x in one.clean] for value in (retained, persistent, *values)
    ]
    return {
        tuple(sum(row[j] for row, j in zip(table, order, strict=True)) for table in tables)
        for order in _orders(one.images)
    }


def _by_k(points: Iterable[tuple[int, ...]]) -> dict[int, tuple[int, int]]:
    """Least and greatest first value at each k."""
    found: dict[int, tuple[int, int]] = {}
    for k, _, value, *_ in points:
        low, high = found.get(k, (value, value))
        found[k] = min(low, value), max(high, value)
    return found


def _known(one: SmallClass, k: int, s: int | None = None) -> Knowledge:
    level = Level.CLASSWISE if s is None else Level.FIVE_STATE
    return know(evaluation(one), level, retained_correct=[k], persistent=None if s is None else [s])


@by_enumeration("mean_probability_decrease")
def _c4(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    classes = _random_classes("C4", fast, range(1, 6 if fast else 7), 150)
    ends = 0
    for one in classes:
        p = sorted(x.level for x in one.clean if x.label == 0)
        q = sorted(y.level for y in one.perturbed if y.label == 0)
        records = evaluation(one)
        for k, attained in _by_k(_points(one, lambda x, y: x.level - y.level if retained(x, y) else 0)).items():
            claimed = sum(p[:k]) - sum(q[len(q) - k :]), sum(p[len(p) - k :]) - sum(q[:k])
            required(attained == claimed, f"k = {k}: attained ends {attained}, claimed {claimed} eighths; {one}")
            mean = solve.bound(records, "mean-probability-decrease", _known(one, k))
            told = f"k = {k}: the package says [{mean.lower}, {mean.upper}], eighths attained {attained}; {one}"
            if k == 0:
                required(mean.undefined is not None, told)
            else:
                required((mean.lower, mean.upper) == tuple(Fraction(end, LEVELS * k) for end in attained), told)
            ends += 2
    return _looked_at(classes, ends=ends)


@by_enumeration("persistence_informs_errors")
def _c6(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    for one, k, s, told_apart in INFORMED:
        for name, given_k, given_both in told_apart:
            points = _points(one, PAIR_COUNTS[name])
            attained = {v for k_, _, v in points if k_ == k}, {v for k_, s_, v in points if (k_, s_) == (k, s)}
            required(attained == (given_k, given_both), f"{name}: attained {attained}; {one}")
            for knowledge, values in ((_known(one, k), given_k), (_known(one, k, s), given_both)):
                ends = solve.bound(evaluation(one), name, knowledge, denominator="none")
                required((ends.lower, ends.upper) == (min(values), max(values)), f"{name}: the package differs; {one}")
    classes = [one for one, *_ in INFORMED] + _random_classes("C6", fast, range(2, 5 if fast else 6), 15)
    inside = strictly = 0
    for one in classes:
        records = evaluation(one)
        k, s = sum(map(retained, *one)), sum(map(persistent, *one))
        points = _points(one, *(PAIR_COUNTS[name] for name in TRANSITIONS))
        for place, name in enumerate(TRANSITIONS):
            given_k = {p[2 + place] for p in points if p[0] == k}
            given_both = {p[2 + place] for p in points if p[:2] == (k, s)}
            said = solve.bound(records, name, "five-state", denominator="none")
            told = f"{name}: the package says [{said.lower}, {said.upper}], attained {sorted(given_both)}; {one}"
            required((said.lower, said.upper) == (min(given_both), max(given_both)), told)
            inside += 1
            strictly += (min(given_k), max(given_k)) != (min(given_both), max(given_both))
    required(strictly > 0, "no interval was strictly inside")
    return _looked_at(classes, intervals=inside, strictly_inside=strictly)


def envelope(points: Iterable[tuple[Any, ...]], at: tuple[int, ...], sign: int = 1) -> Fraction | None:
    """The greatest (least, for sign -1) last coordinate of a mixture of points whose other coordinates average `at`.

    Every point of a transport's linear relaxation is a mixture of bijections (Birkhoff), so this is the relaxation's
    value where `at` is known and the points are those of all bijections. At most len(at) + 1 points are needed
    (Caratheodory). None where no mixture averages `at`.

    >>> envelope([(0, 0), (2, 3)], (1,))
    Fraction(3, 2)
    """
    unique = sorted(set(points))
    best: Fraction | None = None
    for size in range(1, len(at) + 2):
        for chosen in combinations(unique, size):
            weights = _mixture([point[: len(at)] for point in chosen], at)
            if weights is not None:
                value = sum((t * point[-1] for t, point in zip(weights, chosen, strict=True)), Fraction(0))
                best = value if best is None or sign * value > sign * best else best
    return best


def _mixture(points: Sequence[tuple[int, ...]], at: tuple[int, ...]) -> list[Fraction] | None:
    """Weights >= 0 that average the points to `at`; None where there are none, or not exactly one choice."""
    rows = [[Fraction(p[i]) for p in points] + [Fraction(at[i])] for i in range(len(at))]
    rows.append([Fraction(1)] * (len(points) + 1))
    for column in range(len(points)):
        pivot = next((r for r in range(column, len(rows)) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for r in range(len(rows)):
            if r != column and rows[r][column]:
                rows[r] = [x - rows[r][column] * y for x, y in zip(rows[r], rows[column], strict=True)]
    if any(row[-1] for row in rows[len(points) :]):
        return None
    weights = [row[-1] for row in rows[: len(points)]]
    return weights if min(weights) >= 0 else None


@by_enumeration("integrality_matters")
def _c7(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    for one, k, s, name, attained, relaxed in LOOSE:
        points = _points(one, PAIR_COUNTS[name])
        seen = {v for *at, v in points if at == [k, s]}
        required(seen == attained, f"{name}: attained {seen}; {one}")
        ends = envelope(points, (k, s), -1), envelope(points, (k, s))
        required(ends == relaxed, f"{name}: the relaxation's ends are {ends}; {one}")
    one, k = OWN_COST
    points = {(kept, value) for kept, _, value in _points(one, own_cost)}
    least = min(value for kept, value in points if kept == k)
    mixed = envelope(points, (k,), -1)
    required(least == 1 and mixed == 0, f"an arbitrary pair cost: {least} over bijections, {mixed} in the relaxation")
    return _looked_at([one for one, *_ in LOOSE] + [one], examples=len(LOOSE) + 1)


def integral_ends(what: str, one: SmallClass, points: Iterable[tuple[int, ...]]) -> int:
    """Require the relaxation given k to have attained ends at every k; how many ends were compared."""
    ends = _by_k(points)
    for k, (low, high) in ends.items():
        for sign, end in ((-1, low), (1, high)):
            relaxed = envelope([(k_, pair[sign > 0]) for k_, pair in ends.items()], (k,), sign)
            told = f"{what}: {end} over bijections, {relaxed} in the relaxation, k = {k}; {one}"
            required(relaxed == end, told)
    return 2 * len(ends)


@by_enumeration("cc_programs_are_integral")
def _c8(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    draw = random.Random(f"{SEED} C8")
    classes = _random_classes("C8", fast, range(1, 6 if fast else 7), 100)
    ends = 0
    for one in classes:
        f = {pair: draw.randint(-9, 9) for pair in product(range(one.images), repeat=2)}
        told_apart = SmallClass(*(tuple(r._replace(level=i) for i, r in enumerate(side)) for side in one))
        value = {(x, y): f[x.level, y.level] for x, y in product(*told_apart) if retained(x, y)}
        ends += integral_ends("a random f", one, _points(told_apart, lambda x, y, value=value: value.get((x, y), 0)))  # type: ignore[misc]
    return _looked_at(classes, ends=ends)


@by_enumeration("four_block_integrality")
def _c14(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    draw = random.Random(f"{SEED} C14")
    classes = _random_classes("C14", fast, range(2, 6 if fast else 7), 100)
    ends = 0
    for number, one in enumerate(classes):
        value = cost_of(weights(draw, additive=number % 4))
        ends += integral_ends("qualifying weights", one, _points(one, value))
    named = enumerated(fast)
    groups = named.by_pairs
    for name in PAIR_COUNTS:
        low, high = groups.ends(name)
        inner = np.flatnonzero((groups.of[2:] == groups.of[:-2]) if len(groups.of) > 2 else [])
        for end, sign in ((low, -1), (high, 1)):
            bent = np.flatnonzero(sign * (end[inner] + end[inner + 2] - 2 * end[inner + 1]) > 0)
            told = f"{name} is not {'concave' if sign > 0 else 'convex'} in k"
            required(not bent.size, told if not bent.size else f"{told}; {named.classes[groups.of[inner[bent[0]]]]}")
        ends += 2 * len(low)
    random_ones = _looked_at(classes)
    return {
        "bijections": random_ones["bijections"] + named.bijections,
        "classes": len(classes) + len(named.classes),
        "images at most": named.counts["images at most"],
        "ends": ends,
    }


def _costs(one: SmallClass, k: int, first: int, second: int) -> list[set[int]]:
    """Attained costs of two policies, and of their difference, given k."""
    pairs = {(p, q) for k_, _, p, q in _points(one, policy_cost(first), policy_cost(second)) if k_ == k}
    return [{p for p, _ in pairs}, {q for _, q in pairs}, {p - q for p, q in pairs}]


@by_enumeration("shared_correspondence_orders_policies")
def _c9(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    one, k = POLICIES_EXAMPLE
    ends = [(min(costs), max(costs)) for costs in _costs(one, k, 1, 2)]
    required(ends == [(1, 3), (0, 2), (1, 1)], f"the example's costs and difference are {ends}")
    draw = random.Random(f"{SEED} C9")
    classes = [one, *_random_classes("C9", fast, range(2, 6), 12)]
    shared = 0
    for number, one in enumerate(classes):
        records = evaluation(one, acceptance=False)
        first, second = (1, 2) if number == 0 else sorted(draw.sample(range(LEVELS + 1), 2))
        k = 1 if number == 0 else sum(map(retained, *one))
        p, q, difference = ends = [(min(costs), max(costs)) for costs in _costs(one, k, first, second)]
        required(p[0] - q[1] <= difference[0] and difference[1] <= p[1] - q[0], f"outside the separate ends; {one}")
        said = policy_ends(evaluate_policies([policy("P", first), policy("Q", second)], records), one)
        required(said == ends, f"the package says {said}, attained are {ends}; {one}")
        apart = p[0] > q[1] or p[1] < q[0]
        shared += not apart and (difference[0] > 0 or difference[1] < 0)
    required(shared > 0, "no difference has one sign where the separate intervals overlap")
    return _looked_at(classes, ordered_by_the_shared_correspondence_alone=shared)


@by_enumeration("compact_program")
def _c10(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    draw = random.Random(f"{SEED} C10")
    classes = _random_classes("C10", fast, range(2, 6 if fast else 7), 20)
    programs = 0
    for one in classes:
        table, records = weights(draw), evaluation(one)
        points = _points(one, cost_of(table))
        k, s = sum(map(retained, *one)), sum(map(persistent, *one))
        for knowledge, values in (
            (Knowledge(Level.MARGINALS), {v for _, _, v in points}),
            (_known(one, k), {v for k_, _, v in points if k_ == k}),
            (_known(one, k, s), {v for *at, v in points if at == [k, s]}),
        ):
            for upper, end in ((False, min(values)), (True, max(values))):
                found = optimise_cells(records, table, knowledge, maximise=upper)
                told = f"compact program {found.bound}, over bijections {end} at {knowledge.level}; {one}"
                required(found.bound == end == found.attained, told)
                programs += 1
    return _looked_at(classes, programs=programs)


@cache
def _named_points(one: SmallClass) -> set[tuple[int, ...]]:
    """(k, s, every named count, in the order of `PAIR_COUNTS`) of every bijection."""
    return _points(one, *PAIR_COUNTS.values())


@by_enumeration("total_count_allocation")
def _c11(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    draw = random.Random(f"{SEED} C11")
    covered = [name for name in PAIR_COUNTS if name in QUANTITIES]
    seen: list[SmallClass] = []
    ends = 0
    for _ in range(15 if fast else 120):
        classes = [drawn(draw, draw.randint(1, 4)) for _ in range(draw.choice((2, 2, 3)))]
        seen += classes
        records = evaluation(*classes)
        total = sum(sum(map(retained, *one)) for one in classes)
        for name in covered:
            place = 2 + list(PAIR_COUNTS).index(name)
            curves = [_by_k((p[0], 0, p[place]) for p in _named_points(one)).items() for one in classes]
            at_total = [choice for choice in product(*curves) if sum(k for k, _ in choice) == total]
            attained = (
                min(sum(low for _, (low, _) in choice) for choice in at_total),
                max(sum(high for _, (_, high) in choice) for choice in at_total),
            )
            said = solve.bound(records, name, "total-correct-correct", denominator="none")
            told = f"{name}, K = {total}: the package says [{said.lower}, {said.upper}], attained {attained}"
            required((said.lower, said.upper) == attained, f"{told}; {'; '.join(map(str, classes))}")
            ends += 2
    place = 2 + list(PAIR_COUNTS).index("lost-acceptance")
    rates = [{(p[0], Fraction(p[place], p[0])) for p in _named_points(one) if p[0]} for one in MACRO]
    largest = max((x + y) / 2 for (j, x), (k, y) in product(*rates) if j + k == 5)
    said = solve.bound(
        evaluation(*MACRO),
        "lost-acceptance",
        know(evaluation(*MACRO), Level.TOTAL, total=5),
        denominator="retained-correct",
        average="macro",
    )
    required((largest, said.upper) == (Fraction(2, 3), largest), f"macro: attained {largest}, the package {said.upper}")
    return _looked_at([*seen, *MACRO], ends=ends)


LADDER = ("marginals", "total-correct-correct", "correct-correct", "five-state", "paired")


@by_enumeration("more_knowledge_never_widens")
def _c12(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    draw = random.Random(f"{SEED} C12")
    seen: list[SmallClass] = []
    chains = 0
    for _ in range(3 if fast else 30):
        classes = [drawn(draw, draw.randint(1, 4)) for _ in range(draw.choice((1, 2, 2)))]
        seen += classes
        records = evaluation(*classes)
        for name, asked in QUANTITIES.items():
            for denominator in asked.denominators:
                average = "micro" if denominator == "none" else draw.choice(("micro", "macro"))
                ends = [solve.bound(records, name, level, denominator=denominator, average=average) for level in LADDER]
                for coarse, fine in pairwise(ends):
                    if fine.lower is None or coarse.lower is None:
                        required(fine.lower is None, f"{name} is defined at {fine.knowledge} only")
                        continue
                    assert coarse.upper is not None
                    assert fine.upper is not None
                    told = (
                        f"{average} {name} over {denominator}: [{fine.lower}, {fine.upper}] at {fine.knowledge}, "
                        f"[{coarse.lower}, {coarse.upper}] at {coarse.knowledge}; {'; '.join(map(str, classes))}"
                    )
                    required(coarse.lower <= fine.lower <= fine.upper <= coarse.upper, told)
                chains += 1
    return {"chains": chains, "classes": len(seen), "images at most": max(one.images for one in seen)}
