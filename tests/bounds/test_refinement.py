"""The exact optimum of a program: what the claims say, and what becomes of a solver's mistakes."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from programs import best, points, program, random_program

from bounds import backends
from bounds.errors import SolverError
from bounds.program import Answer, Status
from bounds.refinement import NO_SOLVER, enumerated, integer, relaxed

HIGHS, ENUMERATE = backends.get("highs"), backends.get("enumerate")


def assignment(costs, k, kept):
    """One record a group; `kept` (clean, perturbed) records come first on their sides and are correct."""
    n = len(costs)
    retained = [int(i < kept[0] and j < kept[1]) for i in range(n) for j in range(n)]
    return program([([1] * n, [1] * n)], [c for line in costs for c in line], [(retained, k, k)])


def test_random_programs_against_every_point():
    proofs = set()
    for seed in range(150):
        case = random_program(np.random.default_rng(10_000 + seed))
        expected = best(case)
        found, outer = integer(case, HIGHS, None), relaxed(case, HIGHS)
        if expected is None:
            assert (found.status, found.bound, found.x) == (Status.INFEASIBLE, None, None), seed
            continue
        assert found.status is Status.OPTIMAL, seed
        assert found.bound == case.value(found.x) == expected, seed
        assert outer.bound >= expected, seed
        proofs.add(found.proof)
    assert proofs == {"dual", "branch and bound"}


FREE = {(i, i) for i in range(4)} | {(0, 2), (1, 3), (2, 1), (3, 0)}
GAP = assignment([[-int((i, j) not in FREE) for j in range(4)] for i in range(4)], 1, (2, 2))
"""C7, third example: bijections cost 1, the relaxation 0, half of each of two permutations."""


def test_integrality_matters_for_an_arbitrary_pair_cost():
    outer = relaxed(GAP, HIGHS)
    assert (outer.bound, outer.x) == (0, None)
    found = integer(GAP, HIGHS, None)
    assert (found.bound, GAP.value(found.x), found.proof) == (-1, -1, "branch and bound")
    assert enumerated(GAP, ENUMERATE, None).bound == -1


def test_a_fractional_bound_is_lowered_to_what_integers_attain():
    case = program([([1, 1], [1, 1])], [3, 0, 0, 0], [([2, 0, 0, 0], 0, 1)])
    assert relaxed(case, HIGHS).bound == Fraction(3, 2)
    found = integer(case, HIGHS, None)
    assert (found.bound, case.value(found.x), found.proof) == (0, 0, "dual")


@pytest.mark.parametrize("name", ["highs", "cvxpy"])
@pytest.mark.parametrize("sign", [1, -1])
def test_cc_programs_are_integral(sign, name, require):
    """C8 on random f of CC pairs, small enough for all bijections and with floats that no double adds exactly."""
    require("cvxpy", name != "cvxpy" or importlib.util.find_spec("cvxpy") is not None, "CVXPY")
    solver = backends.get(name)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, a, b = 6, int(rng.integers(2, 6)), int(rng.integers(2, 6))
        f = [[sign * int(rng.integers(0, 2**60)) if i < a and j < b else 0 for j in range(n)] for i in range(n)]
        for k in range(max(0, a + b - n), min(a, b) + 1):
            expected = max(
                sum(f[i][j] for i, j in enumerate(order))
                for order in permutations(range(n))
                if sum(i < a and j < b for i, j in enumerate(order)) == k
            )
            assert relaxed(assignment(f, k, (a, b)), solver).bound == expected, (seed, k)


def test_cc_programs_are_integral_for_larger_classes():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        f = [[int(rng.integers(-9, 10)) if i < 17 and j < 14 else 0 for j in range(25)] for i in range(25)]
        case = assignment(f, 10, (17, 14))
        found = integer(case, HIGHS, None)
        assert relaxed(case, HIGHS).bound == found.bound == case.value(found.x)
        assert found.proof == "dual"


@pytest.mark.parametrize("bits", [20, 53, 80, 1200])
def test_costs_that_differ_in_the_last_of_many_bits(bits):
    rng = np.random.default_rng(bits)
    near = [[2**bits - int(rng.integers(0, 40)) for _ in range(5)] for _ in range(5)]
    case = assignment(near, 3, (4, 4))
    found = integer(case, HIGHS, None)
    assert found.bound == case.value(found.x) == best_order(near, 3, 4)
    assert found.proof == "dual"


def best_order(costs, k, kept):
    return max(
        sum(costs[i][j] for i, j in enumerate(order))
        for order in permutations(range(len(costs)))
        if sum(i < kept and j < kept for i, j in enumerate(order)) == k
    )


def test_programs_without_variables_are_settled_without_a_solver():
    for settle in (
        lambda p: integer(p, HIGHS, None),
        lambda p: relaxed(p, HIGHS),
        lambda p: enumerated(p, HIGHS, None),
    ):
        nothing = settle(program([([], [])], [], [([], 0, 0)]))
        assert (nothing.status, nothing.bound, nothing.solver) == (Status.OPTIMAL, 0, NO_SOLVER)
        assert nothing.x.shape == (0,)
        assert settle(program([([], [])], [], [([], 1, 1)])).status is Status.INFEASIBLE


class Stub:
    """A solver that says what it is told to: one answer for relaxations and one for integer programs."""

    name = "stub"

    def __init__(self, relaxation, whole=None):
        self.answers = {False: relaxation, True: whole}

    def solve(self, program, *, node_limit=None):
        return self.answers[program.integral]


CASE = assignment([[3, 1], [1, 2]], 1, (1, 1))


def says(status, x=None, duals=None):
    array = None if x is None else np.array(x, dtype=float)
    return Answer(status, array, None if duals is None else np.array(duals, dtype=float), "stub 1", nodes=3)


HALF = says(Status.OPTIMAL, [0.5] * 4, [0] * 5)


def test_a_limit_without_a_point_keeps_the_proven_bound():
    found = integer(GAP, Stub(HIGHS.solve(replace(GAP, integral=False)), says(Status.LIMIT)), 5)
    assert (found.status, found.bound, found.x, found.proof, found.nodes) == (Status.LIMIT, 0, None, "dual", 3)


def test_a_limit_with_a_point_keeps_both():
    x = integer(GAP, HIGHS, None).x
    found = integer(GAP, Stub(HIGHS.solve(replace(GAP, integral=False)), says(Status.LIMIT, x)), 5)
    assert (found.status, found.bound, found.proof) == (Status.LIMIT, 0, "dual")
    assert GAP.value(found.x) == -1


class Coarse:
    """A solver that cannot tell points apart whose costs differ by less than one, and then takes the worst.

    Its relaxation first gives the answer that it is told, then HiGHS', made fractional where the costs are zero.
    """

    name = "coarse"

    def __init__(self, first=None):
        self.first, self.integer_programs = first, []

    def solve(self, program, *, node_limit=None):
        if not program.integral:
            if self.first is not None:
                told, self.first = self.first, None
                return told
            answer = HIGHS.solve(program)
            answer.x[-4:] = 0.5
            return answer
        self.integer_programs.append(program)
        tables = points(program)
        values = [sum(c * n for c, n in zip(program.costs, x, strict=True)) for x in tables]
        near = [(value, x) for value, x in zip(values, tables, strict=True) if value > max(values) - 1]
        return says(Status.OPTIMAL, min(near)[1])


def test_a_coarse_solver_is_led_to_the_last_digit():
    rng = np.random.default_rng(3)
    near = [2**53 - int(rng.integers(0, 40)) for _ in range(8)]
    case = program([([1] * 3, [1] * 3), ([1, 1], [1, 1])], [*near, 0] + [0] * 4)
    solver = Coarse()
    found = integer(case, solver, None)
    assert found.bound == case.value(found.x) == best(case)
    first, second, *_ = solver.integer_programs
    begun = case.value(np.rint(Coarse().solve(first).x).astype(np.int64))
    better = [x for x in map(np.array, points(case)) if case.value(x) > begun]
    assert better
    assert all(first.value(x) == second.value(x) for x in better)
    assert (first.objective < second.objective).any()


def test_the_integer_program_is_the_original_in_other_words():
    costs = [10, 10, 0, 10, 11, 0, 0, 0, 10]
    case = program([([1] * 3, [1] * 3), ([1, 1], [1, 1])], costs + [0] * 4)
    # The relaxation first stops one below the optimum, so that losses above four are cut on the way.
    tens = 10 / 2.0**case.exponent
    solver = Coarse(says(Status.OPTIMAL, [0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1], [0] * 5 + [tens] * 3 + [0] * 2))
    assert integer(case, solver, None).bound == best(case)
    restated = solver.integer_programs[0]
    shifts = {case.value(x) - restated.value(x) for x in map(np.array, points(case))}
    assert len(shifts) == 1


def test_a_limit_of_the_relaxation_proves_nothing():
    found = integer(CASE, Stub(says(Status.LIMIT)), None)
    assert (found.status, found.bound, found.x, found.proof) == (Status.LIMIT, None, None, None)


def test_wrong_multipliers_loosen_the_bound_and_never_break_it():
    found = relaxed(CASE, Stub(says(Status.OPTIMAL, [1, 0, 0, 1], [100, -7, 3, 1, -1e9])))
    assert found.bound >= Fraction(5)


def test_infeasible_or_unbounded_is_infeasible():
    assert relaxed(CASE, Stub(says(Status.INFEASIBLE_OR_UNBOUNDED))).status is Status.INFEASIBLE


@pytest.mark.parametrize(
    ("relaxation", "whole", "rule"),
    [
        (says(Status.UNBOUNDED), None, "transports are bounded"),
        (says(Status.OPTIMAL, [1, 0, 0, 1]), None, "no point or no multipliers"),
        (says(Status.OPTIMAL, [1, 0, 1, 0], [0] * 5), None, "breaks the perturbed margins of block 0"),
        (says(Status.OPTIMAL, [0, 1, 1, 0], [0] * 5), None, "breaks row 0"),
        (HALF, says(Status.OPTIMAL, [0.9, 0.1, 0.1, 0.9]), "not integral"),
        (HALF, says(Status.OPTIMAL, [2, -1, -1, 2]), "a negative number of pairs"),
    ],
)
def test_an_answer_that_does_not_survive_the_check_is_an_error(relaxation, whole, rule):
    with pytest.raises(SolverError, match=rule):
        integer(CASE, Stub(relaxation, whole), None)
