"""One suite that every backend runs; answers are judged by mathematics, not by another solver."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from programs import best, points, program, random_program

from bounds import backends
from bounds.backends import cvxpy as cvxpy_backend
from bounds.backends import enumerate as enumerate_backend
from bounds.backends import highs
from bounds.errors import BackendError, MissingExtraError, SolverError
from bounds.program import Status

RELAXING = ("highs", "cvxpy")
EVERY = (*RELAXING, "enumerate")

# Found at random: feasible, but not at the root of the tree.
BRANCHING = program(
    [([5, 2, 2], [2, 2, 5])],
    [43, 10, 27, 16, 45, 3, 23, 44, 21],
    [([0, 5, 7, 3, 4, 7, 9, 6, 2], 61, 63)],
)
SMALL = program([([2, 1], [1, 2])], [3, 0, 0, 1])


@pytest.fixture
def solver(request, require):
    require("cvxpy", request.param != "cvxpy" or importlib.util.find_spec("cvxpy") is not None, "CVXPY")
    return backends.get(request.param)


def every(*names):
    return pytest.mark.parametrize("solver", names, indirect=True)


@every(*EVERY)
def test_200_random_integer_programs_against_every_integer_point(solver):
    infeasible = 0
    for seed in range(200):
        case = random_program(np.random.default_rng(seed))
        answer, expected = solver.solve(case), best(case)
        if expected is None:
            infeasible += 1
            assert answer.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED), seed
            assert answer.x is None, seed
            continue
        assert answer.status is Status.OPTIMAL, seed
        assert answer.duals is None, seed
        x = np.rint(answer.x).astype(np.int64)
        assert np.abs(answer.x - x).max() < 1e-6, seed
        assert tuple(x.tolist()) in points(case), seed
        assert sum(int(n) * c for n, c in zip(x, case.objective, strict=True)) == expected, seed
    assert 20 < infeasible < 120


@every(*RELAXING)
def test_200_relaxations_are_feasible_and_proven_by_their_multipliers(solver):
    ranged = fractional = 0
    for seed in range(200):
        case = random_program(np.random.default_rng(seed), integral=False)
        answer, integer = solver.solve(case), best(case)
        if answer.status is not Status.OPTIMAL:
            assert answer.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED), seed
            assert integer is None, seed
            continue
        conditions = case.constraints
        matrix = np.zeros((len(conditions.lower), case.variables))
        for r in range(len(conditions.lower)):
            span = slice(conditions.starts[r], conditions.starts[r + 1])
            matrix[r, conditions.variables[span]] = conditions.coefficients[span]
        x, y, unit = answer.x, answer.duals, 2.0**case.exponent
        activity = matrix @ x
        assert x.min() > -1e-7, seed
        assert (activity > conditions.lower - 1e-7).all(), seed
        assert (activity < conditions.upper + 1e-7).all(), seed
        reduced = case.costs - y @ matrix
        assert reduced.max() < 1e-6, seed
        assert np.abs(reduced * x).max() < 1e-6, seed
        assert (
            np.abs(np.where(y > 0, y * (conditions.upper - activity), y * (activity - conditions.lower))).max() < 1e-6
        )
        value = case.costs @ x
        assert value == pytest.approx(np.where(y > 0, y * conditions.upper, y * conditions.lower).sum(), abs=1e-6), seed
        assert integer is None or integer <= value * unit + 1e-6, seed
        ranged += bool((conditions.lower != conditions.upper).any())
        fractional += bool(np.abs(x - np.rint(x)).max() > 0.1)
    assert ranged > 20
    assert fractional > 1


@every(*EVERY)
def test_infeasible_has_no_point(solver):
    answer = solver.solve(program([([1, 1], [1, 1])], [0, 0, 0, 0], [([1, 0, 0, 1], 1, 1)]))
    assert answer.status in (Status.INFEASIBLE, Status.INFEASIBLE_OR_UNBOUNDED)
    assert answer.x is None


@every(*EVERY)
def test_a_row_without_variables(solver):
    assert solver.solve(program([([2], [2])], [1], [([0], 0, 0)])).status is Status.OPTIMAL
    assert solver.solve(program([([2], [2])], [1], [([0], 1, 1)])).x is None


@every(*EVERY)
def test_costs_all_zero(solver):
    answer = solver.solve(program([([2, 1], [1, 2])], [0, 0, 0, 0]))
    assert answer.status is Status.OPTIMAL
    assert tuple(np.rint(answer.x).astype(int).tolist()) in points(SMALL)


@every(*RELAXING)
def test_a_node_limit_without_a_point_is_a_limit_and_gives_no_numbers(solver):
    answer = solver.solve(BRANCHING, node_limit=0)
    assert (answer.status, answer.x, answer.duals) == (Status.LIMIT, None, None)
    free = solver.solve(BRANCHING)
    assert free.status is Status.OPTIMAL
    assert BRANCHING.value(np.rint(free.x).astype(np.int64)) == best(BRANCHING)


def test_a_node_limit_of_the_enumeration():
    solver = backends.get("enumerate")
    assert solver.solve(SMALL, node_limit=0).status is Status.LIMIT
    assert solver.solve(SMALL, node_limit=0).x is None
    stopped = solver.solve(SMALL, node_limit=1)
    assert stopped.status is Status.LIMIT
    assert tuple(stopped.x.astype(int).tolist()) in points(SMALL)
    assert solver.solve(SMALL, node_limit=2).status is Status.OPTIMAL


@every(*EVERY)
def test_the_solver_is_named(solver):
    assert {"highs": "HiGHS 1", "cvxpy": "CVXPY 1", "enumerate": "enumerate"}[solver.name] in solver.solve(SMALL).solver


@every(*RELAXING)
def test_the_same_answer_twice(solver):
    first, second = solver.solve(BRANCHING), solver.solve(BRANCHING)
    assert (first.x == second.x).all()
    assert first.nodes == second.nodes


def test_every_status_of_highs_is_named():
    outcomes = {name for name in dir(highs.library().HighsModelStatus) if name.startswith("k")}
    refused = {
        "kNotset",
        "kLoadError",
        "kModelError",
        "kModelEmpty",
        "kPresolveError",
        "kSolveError",
        "kPostsolveError",
        "kUnknown",
    }
    assert outcomes == set(highs.STATUSES) | refused
    assert not set(highs.STATUSES) & refused
    assert {name: highs.status_of(name) for name in highs.STATUSES} == dict(highs.STATUSES)
    for name in refused:
        with pytest.raises(SolverError, match=name):
            highs.status_of(name)


def test_every_status_of_cvxpy_is_named(require):
    require("cvxpy", importlib.util.find_spec("cvxpy") is not None, "CVXPY")
    from cvxpy import settings

    outcomes = {*settings.SOLUTION_PRESENT, *settings.INF_OR_UNB, *settings.ERROR}
    refused = {"optimal_inaccurate", "infeasible_inaccurate", "unbounded_inaccurate", "solver_error"}
    assert outcomes == set(cvxpy_backend.STATUSES) | refused
    assert not set(cvxpy_backend.STATUSES) & refused
    for name in refused:
        with pytest.raises(SolverError, match=name):
            cvxpy_backend.status_of(name)
    with pytest.raises(SolverError, match="status"):
        cvxpy_backend.status_of(None)


def test_an_unknown_backend_lists_the_known_ones():
    with pytest.raises(BackendError, match="'gurobi': unknown; choose among highs, cvxpy, enumerate"):
        backends.get("gurobi")


def test_an_absent_extra_is_named_with_its_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pairbounds\[cvxpy\]'"):
        backends.get("cvxpy")


def test_enumeration_refuses_what_is_too_large():
    solver = backends.get("enumerate")
    with pytest.raises(BackendError, match=r"images of a class 9: .* at most 8"):
        solver.solve(program([([1] * 9, [9])], [0] * 9))
    eights = program([([1] * 8, [1] * 8)] * 2, [0] * 128)
    assert enumerate_backend.CORRESPONDENCES < 40320**2
    with pytest.raises(BackendError, match=f"{40320**2}.*method 'milp'"):
        solver.solve(eights)
    with pytest.raises(BackendError, match="integer points only"):
        solver.solve(program([([1], [1])], [0], integral=False))


@pytest.mark.parametrize("name", RELAXING)
def test_nothing_reaches_standard_output(name, require):
    require("cvxpy", name != "cvxpy" or importlib.util.find_spec("cvxpy") is not None, "CVXPY")
    script = (
        "import os, sys; sys.path[:0] = sys.argv[2:]\n"
        "from bounds import backends; from programs import program\n"
        "print('before')\n"
        "for integral in (False, True):\n"
        "    backends.get(sys.argv[1]).solve(program([([2, 1], [1, 2])], [3, 0, 0, 1], integral=integral))\n"
        "os.write(1, b'after')\n"
    )
    run = subprocess.run([sys.executable, "-c", script, name, *sys.path], capture_output=True, check=True, timeout=600)
    assert run.stdout == b"before\nafter"
    assert run.stderr == b""
