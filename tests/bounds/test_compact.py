"""The compact program against every bijection, against the full program, and on the examples of the theory."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import evaluation

from bounds import compact
from bounds.by_program import Solver
from bounds.compact import optimise_cells
from bounds.correspondences import Objective, optimise
from bounds.errors import BackendError, QuantityError, RecordError
from bounds.knowledge import Knowledge, Level, know
from bounds.program import Status
from bounds.quantities import QUANTITIES, STATES
from bounds.solve import bound

YES, NO = True, False
OK = 0
LEVELS = [level for level in Level if level is not Level.PAIRED]
TRANSITIONS = [name for name in QUANTITIES if name.endswith("accepted-error")]


def sides(rng, images, labels, right=0.4):
    return tuple(
        [
            (OK if rng.random() < right else int(rng.integers(1, labels + 1)), bool(rng.integers(2)))
            for _ in range(images)
        ]
        for _ in range(2)
    )


def random_weights(rng, shape):
    """Small integers or fractions, most of them zero now and then."""
    size = int(np.prod(shape))
    numbers = [
        Fraction(int(n), int(d)) for n, d in zip(rng.integers(-4, 5, size), rng.integers(1, 4, size), strict=True)
    ]
    weights = np.array(numbers, dtype=object).reshape(shape)
    return weights * (rng.random(shape) < rng.choice([0.3, 1])).astype(int)


def extremes(records, patterns, weights, level):
    """The least and the greatest sum of weights over every correspondence, from the definitions."""
    clean, perturbed = oracles.records(records.clean), oracles.records(records.perturbed)
    true, possible = [], []
    for c in range(len(records.classes)):
        rows = range(int(records.starts[c]), int(records.starts[c + 1]))
        table = weights if weights.ndim == 3 else weights[c]
        state = {(i, j): oracles.state(clean[i], perturbed[j]) for i in rows for j in rows}
        worth = {(i, j): table[STATES.index(state[i, j]), patterns[0][i], patterns[1][j]] for i in rows for j in rows}
        found = set()
        for order in permutations(rows):
            pairs = list(zip(rows, order, strict=True))
            states = [state[pair] for pair in pairs]
            found.add((states.count("CC"), states.count("WS"), sum((worth[pair] for pair in pairs), Fraction(0))))
        truth = [state[i, i] for i in rows]
        true.append((truth.count("CC"), truth.count("WS")))
        if level in (Level.CLASSWISE, Level.FIVE_STATE):
            found = {o for o in found if o[0] == true[c][0]}
        if level is Level.FIVE_STATE:
            found = {o for o in found if o[1] == true[c][1]}
        possible.append({(k, value) for k, _, value in found})
    sums = [
        sum((value for _, value in choice), Fraction(0))
        for choice in product(*possible)
        if level is not Level.TOTAL or sum(k for k, _ in choice) == sum(k for k, _ in true)
    ]
    return min(sums), max(sums)


def both_ends(records, weights, known, **options):
    return [optimise_cells(records, weights, known, maximise=up, **options) for up in (False, True)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("patterns", [2, 4])
def test_random_weights_against_every_bijection(level, patterns):
    rng = np.random.default_rng([LEVELS.index(level), patterns])
    for trial in range(25):
        sizes = [int(rng.integers(0, 6))] if trial % 3 else [int(n) for n in rng.integers(0, 4, 2)]
        records = evaluation(*(sides(rng, n, 3) for n in sizes))
        known = know(records, level)
        weights = random_weights(rng, (5, patterns, patterns) if trial % 2 else (len(sizes), 5, patterns, patterns))
        own = [side.accepted.astype(np.int64) for side in (records.clean, records.perturbed)]
        options = {}
        if patterns == 4:
            own = [rng.integers(0, 4, records.images) for _ in range(2)]
            options = {"clean_pattern": own[0], "perturbed_pattern": own[1]}
        expected = extremes(records, own, weights, level)
        found = both_ends(records, weights, known, **options)
        assert [o.bound for o in found] == [o.attained for o in found] == list(expected)
        outer = both_ends(records, weights, known, relaxed=True, **options)
        assert outer[0].bound <= expected[0]
        assert expected[1] <= outer[1].bound
        for end, best in zip(outer, expected, strict=True):
            assert not end.sharp or end.bound == best


@pytest.mark.parametrize("name", TRANSITIONS)
def test_transitions_of_six_images_against_every_bijection(name):
    for seed in range(3):
        rng = np.random.default_rng([TRANSITIONS.index(name), seed])
        records = evaluation(sides(rng, 6, 2, right=0.2))
        found = oracles.outcomes(records, 0, name, "none")
        for k, s in {o[:2] for o in found}:
            values = [o[2] for o in found if o[:2] == (k, s)]
            known = Knowledge(Level.FIVE_STATE, None, np.array([int(k)]), np.array([int(s)]))
            ends = both_ends(records, QUANTITIES[name].cells, known)
            assert [o.bound for o in ends] == [o.attained for o in ends] == [min(values), max(values)]


@pytest.mark.parametrize("level", LEVELS)
def test_against_the_full_integer_program(level):
    rng = np.random.default_rng(LEVELS.index(level))
    for trial in range(12):
        records = evaluation(*(sides(rng, int(rng.integers(8, 31)), 4) for _ in range(1 + trial % 2)))
        known = know(records, level)
        classes = len(records.classes)
        weights = random_weights(rng, (classes, 5, 2, 2))
        for maximise in (False, True):
            found = optimise_cells(records, weights, known, maximise=maximise)
            full = optimise(records, Objective(weights, [0] * classes), known, maximise=maximise, method="milp")
            assert found.sharp
            assert found.bound == full.bound


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(LEVELS))
def test_any_multipliers_give_a_valid_bound(seed, level):
    rng = np.random.default_rng(seed)
    records = evaluation(*(sides(rng, int(rng.integers(1, 9)), 2) for _ in range(2)))
    known = know(records, level)
    weights = random_weights(rng, (5, 2, 2))
    k, s = (None if c is None else c.tobytes() for c in (known.retained_correct, known.persistent))
    structure = compact._by_acceptance(records, level, known.total, k, s, True)
    asked = compact._Asked.of(structure, weights, 1)
    best = optimise_cells(records, weights, known, maximise=True).bound
    scale = rng.choice([0, 0.3, 3, 1e3])
    guess = scale * rng.standard_normal(len(structure.row_block))
    for duals in (guess, np.rint(guess)):
        units = compact._bounds(structure, asked.objective, duals)
        assert asked.constant + compact._total(asked.step, units) >= best


NEW_IS_TWO = evaluation(([(1, YES), (2, NO), (2, NO)], [(2, YES), (1, YES), (OK, NO)]))
CHANGED_IS_NONE = evaluation(([(1, NO), (OK, NO), (2, YES)], [(2, YES), (2, NO), (1, YES)]))


@pytest.mark.parametrize(
    ("records", "name", "integer", "relaxed", "proofs"),
    [
        (NEW_IS_TWO, "new-accepted-error", (2, 2), (1, 2), ["branch and bound", "dual"]),
        (NEW_IS_TWO, "kept-accepted-error", (0, 0), (0, 1), ["dual", "branch and bound"]),
        # A half is rounded down to what integers can have, so multipliers prove this one.
        (CHANGED_IS_NONE, "kept-changed-accepted-error", (0, 0), (0, Fraction(1, 2)), ["dual", "dual"]),
    ],
)
def test_integrality_matters(records, name, integer, relaxed, proofs):
    known = Knowledge(Level.FIVE_STATE, None, np.array([0]), np.array([1]))
    exact = both_ends(records, QUANTITIES[name].cells, known)
    assert tuple(o.bound for o in exact) == integer
    assert all(o.sharp for o in exact)
    assert [o.proof for o in exact] == proofs
    outer = both_ends(records, QUANTITIES[name].cells, known, relaxed=True)
    assert tuple(o.bound for o in outer) == relaxed
    assert [o.sharp for o in outer] == [a == b for a, b in zip(integer, relaxed, strict=True)]
    found = bound(records, name, known, denominator="none", method="milp")
    assert (found.lower, found.upper, found.sharp) == (*integer, True)
    found = bound(records, name, known, denominator="none", method="lp")
    assert (found.lower, found.upper, found.sharp) == (*relaxed, False)


@pytest.mark.parametrize(
    ("records", "name", "given_k", "given_s"),
    [
        (([(OK, NO), (1, YES)], [(1, NO), (2, YES)]), "new-accepted-error", (0, 1), 0),
        (([(OK, NO), (1, YES)], [(1, NO), (2, YES)]), "kept-accepted-error", (0, 1), 1),
        (([(OK, NO), (1, NO)], [(1, NO), (2, YES)]), "rejected-wrong-to-accepted-error", (0, 1), 1),
    ],
)
def test_persistence_informs_errors(records, name, given_k, given_s):
    records = evaluation(records)
    for level, ends in (("correct-correct", given_k), ("five-state", (given_s, given_s))):
        counts = know(records, level, retained_correct=[0], persistent=[0])
        for options in ({}, {"method": "milp"}, {"method": "milp", "program": "full"}):
            found = bound(records, name, counts, denominator="none", **options)
            assert (found.lower, found.upper, found.sharp) == (*ends, True)


def test_persistent_kept_errors_takes_every_integer_between_its_ends():
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        records = evaluation(sides(rng, int(rng.integers(1, 7)), int(rng.integers(1, 4)), right=0.15))
        found = oracles.outcomes(records, 0, "kept-persistent-accepted-error", "none")
        for k, s in {o[:2] for o in found}:
            known = Knowledge(Level.FIVE_STATE, None, np.array([int(k)]), np.array([int(s)]))
            interval = bound(records, "kept-persistent-accepted-error", known, denominator="none", witness=True)
            assert interval.method == "closed-form"
            assert {o[2] for o in found if o[:2] == (k, s)} == set(range(int(interval.lower), int(interval.upper) + 1))
            assert interval.low.match is not None
            assert interval.high.match is not None
            compared += 1
    assert compared > 150


@pytest.mark.parametrize("name", TRANSITIONS)
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_compact_and_full_say_the_same_of_rates(name, average):
    rng = np.random.default_rng(TRANSITIONS.index(name))
    records = evaluation(*(sides(rng, 15, 3) for _ in range(3)))
    for denominator in QUANTITIES[name].denominators:
        if denominator == "none" and average == "macro":
            continue
        asked = {"denominator": denominator, "average": average, "method": "milp"}
        one, other = (bound(records, name, "five-state", program=p, **asked) for p in ("compact", "full"))
        assert (one.lower, one.upper, one.sharp) == (other.lower, other.upper, other.sharp)


def test_a_ratio_with_a_varying_denominator_is_solved_by_compact_programs_too():
    rng = np.random.default_rng(0)
    records = evaluation(*(sides(rng, 20, 2, right=0.7) for _ in range(2)))
    for level in ("marginals", "correct-correct", "total-correct-correct"):
        asked = (records, "lost-acceptance", level)
        formula, program = bound(*asked), bound(*asked, method="milp")
        assert (formula.lower, formula.upper) == (program.lower, program.upper)


def test_new_resolved_and_kept_share_their_programs(monkeypatch):
    rng = np.random.default_rng(1)
    records = evaluation(*(sides(rng, 30, 4) for _ in range(3)))
    solved = []
    original = compact._solve
    monkeypatch.setattr(compact, "_solve", lambda *args: solved.append(args) or original(*args))
    found = {
        name: bound(records, f"{name}-accepted-error", "five-state", denominator="none")
        for name in ("kept", "new", "resolved")
    }
    assert len(solved) == 2
    errors = [int((side.accepted & ~side.correct).sum()) for side in (records.clean, records.perturbed)]
    assert found["resolved"].lower + found["kept"].upper == errors[0]
    assert found["new"].lower + found["kept"].upper == errors[1]


def test_equal_weights_of_a_class_and_of_all_are_one():
    rng = np.random.default_rng(3)
    records = evaluation(*(sides(rng, 12, 3) for _ in range(3)))
    weights = random_weights(rng, (5, 2, 2))
    for level in LEVELS:
        known = know(records, level)
        one, other = (
            both_ends(records, w, known) for w in (weights, np.broadcast_to(weights, (3, 5, 2, 2)).astype(object))
        )
        assert [o.bound for o in one] == [o.bound for o in other]


def test_cvxpy_agrees(require):
    require("cvxpy", importlib.util.find_spec("cvxpy") is not None, "CVXPY")
    for seed in range(2):
        rng = np.random.default_rng(seed)
        records = evaluation(*(sides(rng, 15, 3) for _ in range(2)))
        weights = random_weights(rng, (5, 2, 2))
        for level in LEVELS:
            known = know(records, level)
            one, other = (both_ends(records, weights, known, backend=b) for b in ("highs", "cvxpy"))
            assert [(o.bound, o.sharp) for o in one] == [(o.bound, o.sharp) for o in other]


def test_counts_that_no_correspondence_has_are_infeasible():
    # Parity: one persistent pair would leave label 1 against itself; every linear relaxation allows it.
    hole = evaluation(([(1, YES), (2, NO)], [(1, NO), (2, YES)]))
    cells = QUANTITIES["kept-changed-accepted-error"].cells
    for k, s in ((0, 1), (1, 0), (0, 3)):
        known = Knowledge(Level.FIVE_STATE, None, np.array([k]), np.array([s]))
        found = optimise_cells(hole, cells, known, maximise=True)
        assert (found.status, found.bound, found.match) == (Status.INFEASIBLE, None, None)
    nothing = evaluation(([], []))
    known = Knowledge(Level.CLASSWISE, None, np.array([1]))
    assert optimise_cells(nothing, cells, known, maximise=True).status is Status.INFEASIBLE
    assert optimise_cells(nothing, cells, Knowledge(Level.MARGINALS), maximise=True).bound == 0


def test_a_node_limit_leaves_an_outer_bound():
    known = Knowledge(Level.FIVE_STATE, None, np.array([0]), np.array([1]))
    asked = (CHANGED_IS_NONE, QUANTITIES["kept-changed-accepted-error"].cells * 2, known)
    free = optimise_cells(*asked, maximise=True)
    stopped = optimise_cells(*asked, maximise=True, node_limit=0)
    assert (free.bound, free.sharp) == (0, True)
    assert stopped.bound >= free.bound


def test_weights_of_many_digits_are_settled_by_the_full_program():
    rng = np.random.default_rng(1)
    records = evaluation(sides(rng, 12, 3))
    known = know(records, "five-state")
    weights = np.array([Fraction(int(n), 2**62) for n in rng.integers(0, 2**62, 20)], dtype=object).reshape(5, 2, 2)
    alone = optimise_cells(records, weights, known, maximise=True)
    assert not alone.sharp
    settled = Solver("milp", "highs", None, "compact").optimise(records, (weights, [0]), known, upper=True)
    assert settled.sharp
    assert alone.attained <= settled.bound <= alone.bound < settled.bound + Fraction(1, 2**40)


def test_what_cannot_be_asked_for():
    records = evaluation(([(1, YES)], [(2, NO)]))
    bare = evaluation(([(1, YES)], [(2, NO)]), acceptance=False)
    new, lost = QUANTITIES["new-accepted-error"].cells, QUANTITIES["lost"].cells
    with pytest.raises(QuantityError, match="paired"):
        optimise_cells(records, new, Knowledge(Level.PAIRED), maximise=True)
    with pytest.raises(BackendError, match=r"'enumerate'.*choose highs or cvxpy"):
        optimise_cells(records, new, Knowledge(Level.MARGINALS), maximise=True, backend="enumerate")
    with pytest.raises(RecordError, match="accepted"):
        optimise_cells(bare, new, Knowledge(Level.MARGINALS), maximise=True)
    assert optimise_cells(bare, lost, Knowledge(Level.MARGINALS), maximise=True).sharp
    with pytest.raises(BackendError, match=r"program 'small'.*choose compact or full"):
        bound(records, "new-accepted-error", "marginals", program="small")
