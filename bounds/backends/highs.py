"""HiGHS through highspy, the default solver."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from bounds.backends import quiet_stdout
from bounds.errors import SolverError
from bounds.program import Answer, Model, Status

__all__ = ["OPTIONS", "STATUSES", "Solver", "library", "status_of"]

STATUSES: Mapping[str, Status] = MappingProxyType(
    {
        "kOptimal": Status.OPTIMAL,
        "kInfeasible": Status.INFEASIBLE,
        "kUnbounded": Status.UNBOUNDED,
        "kUnboundedOrInfeasible": Status.INFEASIBLE_OR_UNBOUNDED,
        "kObjectiveBound": Status.LIMIT,
        "kObjectiveTarget": Status.LIMIT,
        "kTimeLimit": Status.LIMIT,
        "kIterationLimit": Status.LIMIT,
        "kSolutionLimit": Status.LIMIT,
        "kMemoryLimit": Status.LIMIT,
        "kInterrupt": Status.LIMIT,
        "kHighsInterrupt": Status.LIMIT,
    }
)
"""HiGHS' model statuses. Those left out (not set, load, model, presolve, solve and postsolve errors, an empty model,
unknown) are no answers."""

OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "output_flag": False,
        "threads": 1,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "primal_feasibility_tolerance": 1e-9,
        "dual_feasibility_tolerance": 1e-9,
        "mip_feasibility_tolerance": 1e-9,
    }
)
"""Gaps of zero, tight tolerances, one thread: the answer does not depend on the machine's load."""


def status_of(name: str) -> Status:
    """The status behind HiGHS' name for it.

    Raises:
        SolverError: if it is no answer.
    """
    if name not in STATUSES:
        raise SolverError("HiGHS status", name, "not an answer", "report it, with the records if they may be shared")
    return STATUSES[name]


@functools.cache
def library() -> Any:
    """The module highspy; its banner, printed once a process with the first instance, goes to stderr."""
    with quiet_stdout():
        highspy: Any = importlib.import_module("highspy")
        highspy.Highs()
    return highspy


class Solver:
    """`highs`: simplex for linear programs, branch and cut for integer ones."""

    name = "highs"

    def solve(self, program: Model, *, node_limit: int | None = None) -> Answer:
        """See `bounds.program.Backend.solve`."""
        highspy = library()
        solver = highspy.Highs()
        for option, value in OPTIONS.items():
            _ok(solver.setOptionValue(option, value), option)
        if node_limit is not None:
            _ok(solver.setOptionValue("mip_max_nodes", node_limit), "mip_max_nodes")
        _ok(solver.passModel(_model(highspy, program)), "passModel")
        _ok(solver.run(), "run")
        status = status_of(solver.getModelStatus().name)
        info, solution = solver.getInfo(), solver.getSolution()
        feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        return Answer(
            status=status,
            x=np.array(solution.col_value) if feasible else None,
            duals=np.array(solution.row_dual) if status is Status.OPTIMAL and not program.integral else None,
            solver=f"HiGHS {solver.version()}",
            nodes=max(0, int(info.mip_node_count)),
        )


def _ok(status: Any, what: str) -> None:
    if status.name == "kError":
        raise SolverError("HiGHS", what, "the call failed", "report it, with the records if they may be shared")


def _model(highspy: Any, program: Model) -> Any:
    conditions = program.constraints
    model = highspy.HighsLp()
    model.num_col_ = program.variables
    model.num_row_ = len(conditions.lower)
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = program.costs
    model.col_lower_ = np.zeros(program.variables)
    model.col_upper_ = np.full(program.variables, highspy.kHighsInf)
    model.row_lower_ = conditions.lower
    model.row_upper_ = conditions.upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = conditions.starts.astype(np.int32)
    model.a_matrix_.index_ = conditions.variables.astype(np.int32)
    model.a_matrix_.value_ = conditions.coefficients
    if program.integral:
        model.integrality_ = [highspy.HighsVarType.kInteger] * program.variables
    return model
