"""Programs over records against every bijection, and the claims that only programs or enumeration can test."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import oracles
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

from bounds.correspondences import METHODS, Objective, optimise
from bounds.errors import BackendError, QuantityError, RecordError
from bounds.knowledge import Knowledge, Level
from bounds.program import Status
from bounds.quantities import DENOMINATORS, QUANTITIES, STATES

YES, NO = True, False
CORRECT = 0
CC_QUANTITIES = ("lost-acceptance", "gained-acceptance", "mean-probability-decrease")


def of(name):
    quantity = QUANTITIES[name]
    return lambda classes: Objective(quantity.cells.astype(object), [int(quantity.probability)] * classes)


def knowledge(level, k, s):
    """A level with the counts that belong to it, from those of each class."""
    if level is Level.MARGINALS:
        return Knowledge(level)
    if level is Level.TOTAL:
        return Knowledge(level, total=int(sum(k)))
    retained, persistent = np.array(k, dtype=np.int64), np.array(s, dtype=np.int64)
    if level is Level.CLASSWISE:
        return Knowledge(level, retained_correct=retained)
    return Knowledge(level, retained_correct=retained, persistent=persistent)


def pairs(records, c, match):
    """The pairs of records of class `c` under a correspondence, in plain Python."""
    clean, perturbed = oracles.records(records.clean), oracles.records(records.perturbed)
    return [(clean[i], perturbed[match[i]]) for i in range(records.starts[c], records.starts[c + 1])]


def outcome(chosen, cells, weight):
    """(k, s, value) of some pairs, from the definitions."""
    states = [oracles.state(x, y) for x, y in chosen]
    total = Fraction(0)
    for (x, y), state in zip(chosen, states, strict=True):
        total += cells[STATES.index(state), int(x[2]), int(y[2])]
        total += weight * (x[3] - y[3]) if state == "CC" else 0
    return states.count("CC"), states.count("WS"), total


def ends(records, objective, level, k, s):
    """The least and the greatest value over every correspondence, or None where there is none."""
    per_class = []
    for c in range(len(records.classes)):
        start, stop = int(records.starts[c]), int(records.starts[c + 1])
        cells = objective.cells if objective.cells.ndim == 3 else objective.cells[c]
        match, found = np.arange(records.images), set()
        for order in permutations(range(start, stop)):
            match[start:stop] = order
            found.add(outcome(pairs(records, c, match), cells, objective.probability[c]))
        if level in (Level.CLASSWISE, Level.FIVE_STATE):
            found = {o for o in found if o[0] == k[c]}
        if level is Level.FIVE_STATE:
            found = {o for o in found if o[1] == s[c]}
        per_class.append({(o[0], o[2]) for o in found})
    values = [
        sum((v for _, v in choice), Fraction(0))
        for choice in product(*per_class)
        if level is not Level.TOTAL or sum(count for count, _ in choice) == sum(k)
    ]
    return (min(values), max(values)) if values else None


def assert_attained(optimum, records, objective, level, k, s):
    """The match is a bijection of every class with the known counts and the stated value."""
    totals = []
    for c in range(len(records.classes)):
        start, stop = int(records.starts[c]), int(records.starts[c + 1])
        assert sorted(optimum.match[start:stop].tolist()) == list(range(start, stop))
        cells = objective.cells if objective.cells.ndim == 3 else objective.cells[c]
        totals.append(outcome(pairs(records, c, optimum.match), cells, objective.probability[c]))
        if level in (Level.CLASSWISE, Level.FIVE_STATE):
            assert totals[-1][0] == k[c]
        if level is Level.FIVE_STATE:
            assert totals[-1][1] == s[c]
    if level is Level.TOTAL:
        assert sum(t[0] for t in totals) == sum(k)
    assert sum((t[2] for t in totals), Fraction(0)) == optimum.attained


LEVELS = [level for level in Level if level is not Level.PAIRED]
weights = st.integers(-3, 3) | st.fractions(-2, 2, max_denominator=7)


@st.composite
def objectives(draw, classes):
    shape = draw(st.sampled_from([(5, 2, 2), (classes, 5, 2, 2)]))
    size = int(np.prod(shape))
    cells = np.empty(size, dtype=object)
    cells[:] = draw(st.lists(weights, min_size=size, max_size=size))
    return Objective(cells.reshape(shape), draw(st.lists(weights, min_size=classes, max_size=classes)))


@settings(max_examples=120)
@given(st.data(), st.sampled_from(LEVELS), st.booleans())
def test_every_method_against_every_bijection(data, level, maximise):
    records = data.draw(evaluations(max_images=4, max_classes=2))
    classes = range(len(records.classes))
    objective = data.draw(objectives(len(classes)))
    # Counts of a random correspondence, so mostly feasible ones; sometimes off by one.
    order = np.concatenate(
        [data.draw(st.permutations(range(records.starts[c], records.starts[c + 1]))) for c in classes]
    ).astype(np.int64)
    counts = [outcome(pairs(records, c, order), np.zeros((5, 2, 2), dtype=object), 0) for c in classes]
    k, s = [o[0] for o in counts], [o[1] for o in counts]
    s[0] += data.draw(st.sampled_from([0, 0, 0, 1]))
    expected = ends(records, objective, level, k, s)
    for method in METHODS:
        optimum = optimise(records, objective, knowledge(level, k, s), maximise=maximise, method=method)
        if expected is None:
            assert optimum.status is Status.INFEASIBLE or method == "lp"
            continue
        best = expected[maximise]
        assert optimum.status is Status.OPTIMAL
        assert optimum.bound >= best if maximise else optimum.bound <= best
        if method != "lp":
            assert optimum.bound == optimum.attained == best
            assert optimum.sharp
        if optimum.match is not None:
            assert_attained(optimum, records, objective, level, k, s)


@pytest.mark.parametrize("name", QUANTITIES)
def test_named_quantities_of_six_images_against_every_bijection(name):
    rng = np.random.default_rng(list(QUANTITIES).index(name))
    side = lambda: [(int(rng.integers(3)), bool(rng.integers(2)), float(rng.random())) for _ in range(6)]  # noqa: E731
    records = evaluation((side(), side()), dtype=np.float64)
    found = oracles.outcomes(records, 0, name, "none")
    for k, s in {(o[0], o[1]) for o in found}:
        values = [o[2] for o in found if o[:2] == (k, s)]
        known = knowledge(Level.FIVE_STATE, [k], [s])
        for method in ("milp", "enumerate"):
            low, high = (optimise(records, of(name)(1), known, maximise=up, method=method) for up in (False, True))
            assert (low.bound, high.bound) == (low.attained, high.attained) == (min(values), max(values))


@pytest.mark.parametrize("side", ["clean", "perturbed"])
def test_an_objective_of_one_side_alone_is_a_constant(side):
    records = evaluation(([(1, YES), (1, NO), (2, YES)], [(1, YES), (2, NO), (2, NO)]))
    objective = Objective(DENOMINATORS[f"{side}-accepted-errors"].astype(object), [0])
    for maximise in (False, True):
        found = optimise(records, objective, Knowledge(Level.MARGINALS), maximise=maximise, method="milp")
        assert found.bound == found.attained == {"clean": 2, "perturbed": 1}[side]


def random_class(rng, images, labels, correct=0.5):
    return [
        (CORRECT if rng.random() < correct else int(rng.integers(1, labels + 1)), bool(rng.integers(2)), rng.random())
        for _ in range(images)
    ]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", ["lp", "milp"])
def test_merging_equal_records_changes_nothing(level, method):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        records = evaluation(*[(random_class(rng, 8, 2), random_class(rng, 8, 2)) for _ in range(2)])
        counts = [outcome(pairs(records, c, np.arange(16)), np.zeros((5, 2, 2), dtype=object), 0) for c in range(2)]
        known = knowledge(level, [o[0] for o in counts], [o[1] for o in counts])
        for name in ("new-accepted-error", "kept-changed-accepted-error", "lost-acceptance", "lost"):
            merged, apart = (
                optimise(records, of(name)(2), known, maximise=True, method=method, merge=merge)
                for merge in (True, False)
            )
            assert merged.bound == apart.bound
            assert method == "lp" or (merged.sharp and apart.sharp)


@pytest.mark.parametrize("level", LEVELS)
def test_highs_and_cvxpy_agree(level, require):
    require("cvxpy", importlib.util.find_spec("cvxpy") is not None, "CVXPY")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        records = evaluation(*[(random_class(rng, 12, 3), random_class(rng, 12, 3)) for _ in range(2)])
        counts = [outcome(pairs(records, c, np.arange(24)), np.zeros((5, 2, 2), dtype=object), 0) for c in range(2)]
        known = knowledge(level, [o[0] for o in counts], [o[1] for o in counts])
        for name in ("mean-probability-decrease", "kept-changed-accepted-error"):
            for method, maximise in product(("lp", "milp"), (False, True)):
                one, other = (
                    optimise(records, of(name)(2), known, maximise=maximise, method=method, backend=backend)
                    for backend in ("highs", "cvxpy")
                )
                assert one.bound == other.bound
                assert method == "lp" or (one.sharp and other.sharp)


@settings(max_examples=120)
@given(evaluations(max_images=6, max_labels=3))
@example(evaluation(([(1, NO), (2, NO)], [(1, NO), (2, NO)])))
def test_correct_correct_suffices_by_enumeration(records):
    """C2: the joint values of the CC quantities given k are those given (k, s), for every feasible s."""
    clean, perturbed = oracles.records(records.clean), oracles.records(records.perturbed)
    attained = {}
    for order in permutations(range(records.images)):
        chosen = [(clean[i], perturbed[j]) for i, j in enumerate(order)]
        states = [oracles.state(x, y) for x, y in chosen]
        value = tuple(sum(oracles.NUMERATORS[name](x, y) for x, y in chosen) for name in CC_QUANTITIES)
        attained.setdefault(states.count("CC"), {}).setdefault(states.count("WS"), set()).add(value)
    for refined in attained.values():
        assert all(values == set.union(*refined.values()) for values in refined.values())


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(10, 40), st.sampled_from(CC_QUANTITIES))
def test_correct_correct_suffices_by_integer_programs(seed, images, name):
    """C2 for larger classes: given k, the ends are those given (k, s), for the extreme and a random feasible s."""
    rng = np.random.default_rng(seed)
    records = evaluation((random_class(rng, images, 4, 0.4), random_class(rng, images, 4, 0.3)))
    k, some, _ = outcome(pairs(records, 0, rng.permutation(images)), np.zeros((5, 2, 2), dtype=object), 0)
    classwise = knowledge(Level.CLASSWISE, [k], [0])
    least, most = (
        int(optimise(records, of("persistent-wrong")(1), classwise, maximise=up, method="milp").attained)
        for up in (False, True)
    )
    coarse = [optimise(records, of(name)(1), classwise, maximise=up, method="milp") for up in (False, True)]
    assert all(end.sharp for end in coarse)
    for s in {least, some, most}:
        known = knowledge(Level.FIVE_STATE, [k], [s])
        fine = [optimise(records, of(name)(1), known, maximise=up, method="milp") for up in (False, True)]
        assert all(end.sharp for end in fine)
        assert [end.bound for end in fine] == [end.bound for end in coarse]


FIRST = evaluation(([(1, YES), (2, NO), (2, NO)], [(2, YES), (1, YES), (CORRECT, NO)]))
SECOND = evaluation(([(1, NO), (CORRECT, NO), (2, YES)], [(2, YES), (2, NO), (1, YES)]))


@pytest.mark.parametrize(
    ("records", "name", "bijections", "relaxation"),
    [
        (FIRST, "new-accepted-error", (2, 2), (1, 2)),
        (FIRST, "kept-accepted-error", (0, 0), (0, 1)),
        (SECOND, "kept-changed-accepted-error", (0, 0), (0, Fraction(1, 2))),
    ],
)
def test_integrality_matters(records, name, bijections, relaxation):
    """C7 with k = 0 and s = 1, by the integer program, the relaxation and all bijections."""
    known = knowledge(Level.FIVE_STATE, [0], [1])
    for method, expected in (("milp", bijections), ("enumerate", bijections), ("lp", relaxation)):
        found = [optimise(records, of(name)(1), known, maximise=up, method=method) for up in (False, True)]
        assert tuple(end.bound for end in found) == expected
        loose = [a != b for a, b in zip(expected, bijections, strict=True)]
        assert not any(end.sharp for end, outer in zip(found, loose, strict=True) if outer)
    assert ends(records, of(name)(1), Level.FIVE_STATE, [0], [1]) == bijections


def test_a_hole_of_the_persistent_counts_is_infeasible_for_integers_only():
    """C5: both sides {a, b}, two wrong-wrong pairs: s is 0 or 2, though half of each is in the relaxation."""
    records = evaluation(([(1, NO), (2, NO)], [(1, NO), (2, NO)]))
    for s, feasible in ((0, True), (1, False), (2, True)):
        known = knowledge(Level.FIVE_STATE, [0], [s])
        for method in ("milp", "enumerate"):
            status = optimise(records, of("lost")(1), known, maximise=True, method=method).status
            assert (status is Status.OPTIMAL) == feasible
        assert optimise(records, of("lost")(1), known, maximise=True, method="lp").status is Status.OPTIMAL


@pytest.mark.parametrize("spacing", [1, 50])
def test_probabilities_that_differ_by_rounding_errors_are_still_told_apart(spacing):
    """Saturated float64 softmax values, under five-state knowledge: the bound is attained to the last bit."""
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def side(rng=rng):
            return [
                (p, a, 1 - float(rng.integers(1, 50)) * spacing * 2.0**-53) for p, a, _ in random_class(rng, 24, 3, 0.4)
            ]

        records = evaluation((side(), side()), dtype=np.float64)
        k, s, _ = outcome(pairs(records, 0, rng.permutation(24)), np.zeros((5, 2, 2), dtype=object), 0)
        p = sorted(x[3] for x in oracles.records(records.clean) if x[0])
        q = sorted(y[3] for y in oracles.records(records.perturbed) if y[0])
        expected = sum(p[len(p) - k :]) - sum(q[:k])
        found = optimise(
            records,
            of("mean-probability-decrease")(1),
            knowledge(Level.FIVE_STATE, [k], [s]),
            maximise=True,
            method="milp",
        )
        assert found.bound == found.attained == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", LEVELS)
def test_empty_classes(level, method):
    known = knowledge(level, [0, 0, 0], [0, 0, 0])
    records = evaluation(([], []), ([(1, YES)], [(2, NO)]), ([], []))
    found = optimise(records, of("changed-wrong")(3), known, maximise=True, method=method)
    assert (found.status, found.bound, found.attained) == (Status.OPTIMAL, 1, 1)
    assert found.match.tolist() == [0]
    nothing = optimise(evaluation(([], []), ([], []), ([], [])), of("lost")(3), known, maximise=False, method=method)
    assert (nothing.status, nothing.bound, nothing.attained, nothing.solver) == (Status.OPTIMAL, 0, 0, "none needed")
    wrong = knowledge(level, [1, 0, 0], [0, 0, 0])
    if level is not Level.MARGINALS:
        assert optimise(records, of("lost")(3), wrong, maximise=True, method=method).status is Status.INFEASIBLE


def test_no_class_at_all():
    found = optimise(evaluation(), of("lost")(0), Knowledge(Level.MARGINALS), maximise=True, method="milp")
    assert (found.bound, found.attained, found.proof) == (0, 0, "dual")


def test_a_node_limit_of_zero_leaves_an_outer_bound():
    rng = np.random.default_rng(12)
    seen = set()
    for _ in range(60):
        records = evaluation((random_class(rng, 12, 3, 0.2), random_class(rng, 12, 3, 0.2)))
        k, s, _ = outcome(pairs(records, 0, rng.permutation(12)), np.zeros((5, 2, 2), dtype=object), 0)
        known = knowledge(Level.FIVE_STATE, [k], [s])
        objective = of("kept-changed-accepted-error")(1)
        free = optimise(records, objective, known, maximise=True, method="milp")
        stopped = optimise(records, objective, known, maximise=True, method="milp", node_limit=0)
        assert free.sharp
        assert stopped.bound >= free.bound
        assert stopped.status is Status.LIMIT or stopped.bound == free.bound
        seen.add((stopped.status, stopped.sharp))
    assert (Status.OPTIMAL, True) in seen
    assert (Status.LIMIT, False) in seen


def test_what_cannot_be_asked_for():
    records = evaluation(([(1, YES)], [(2, NO)]))
    bare = evaluation(([(CORRECT, YES)], [(CORRECT, NO)]), acceptance=False)
    lost = of("lost-acceptance")(1)
    with pytest.raises(QuantityError, match="paired"):
        optimise(records, lost, Knowledge(Level.PAIRED), maximise=True, method="milp")
    with pytest.raises(BackendError, match=r"'auto'.*choose among lp, milp, enumerate"):
        optimise(records, lost, Knowledge(Level.MARGINALS), maximise=True, method="auto")
    with pytest.raises(BackendError, match=r"'glpk'.*choose among highs, cvxpy, enumerate"):
        optimise(records, lost, Knowledge(Level.MARGINALS), maximise=True, method="lp", backend="glpk")
    with pytest.raises(RecordError, match="accepted"):
        optimise(bare, lost, Knowledge(Level.MARGINALS), maximise=True, method="milp")
    assert optimise(bare, of("lost")(1), Knowledge(Level.MARGINALS), maximise=True, method="milp").sharp
