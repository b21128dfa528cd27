"""CVXPY as a second modelling layer; it is asked for HiGHS by name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from bounds.backends import highs
from bounds.errors import MissingExtraError, SolverError
from bounds.program import Answer, Model, Status

__all__ = ["STATUSES", "Solver", "status_of"]

STATUSES: Mapping[str, Status] = MappingProxyType(
    {
        "optimal": Status.OPTIMAL,
        "infeasible": Status.INFEASIBLE,
        "unbounded": Status.UNBOUNDED,
        "infeasible_or_unbounded": Status.INFEASIBLE_OR_UNBOUNDED,
        "user_limit": Status.LIMIT,
    }
)
"""CVXPY's statuses. Those left out (the inaccurate ones, a solver error, none at all) are no answers."""


def status_of(name: str | None) -> Status:
    """The status behind CVXPY's name for it.

    Raises:
        SolverError: if it is no answer.
    """
    if name is None or name not in STATUSES:
        raise SolverError("CVXPY status", name, "not an answer", "use backend 'highs'")
    return STATUSES[name]


class Solver:
    """`cvxpy`: the program through CVXPY's canonicalisation, solved by HiGHS.

    Raises:
        MissingExtraError: on creation, if CVXPY is not installed.
    """

    name = "cvxpy"

    def __init__(self) -> None:
        try:
            import cvxpy
        except ImportError:
            raise MissingExtraError(
                "backend", self.name, "CVXPY is not installed", "pip install 'pairbounds[cvxpy]'"
            ) from None
        self._cvxpy = cvxpy

    def solve(self, program: Model, *, node_limit: int | None = None) -> Answer:
        """See `bounds.program.Backend.solve`."""
        import scipy.sparse  # type: ignore[import-untyped]

        cvxpy = self._cvxpy
        highspy = highs.library()
        starts, variables, coefficients, lower, upper = program.constraints
        matrix = scipy.sparse.csr_array((coefficients, variables, starts), shape=(len(lower), program.variables))
        x = cvxpy.Variable(program.variables, integer=program.integral)
        # A range is two conditions here; an equation stays one.
        equal = np.flatnonzero(lower == upper)
        ranged = np.flatnonzero(lower != upper)
        conditions = [matrix[equal] @ x == lower[equal], x >= 0]
        if len(ranged):
            conditions += [matrix[ranged] @ x <= upper[ranged], matrix[ranged] @ x >= lower[ranged]]
        problem = cvxpy.Problem(cvxpy.Maximize(program.costs @ x), conditions)
        options = dict(highs.OPTIONS) | ({} if node_limit is None else {"mip_max_nodes": node_limit})
        with warnings.catch_warnings():
            # CVXPY warns of a limit; here that is a status.
            warnings.simplefilter("ignore", UserWarning)
            try:
                problem.solve(solver=cvxpy.HIGHS, **options)
            except cvxpy.error.SolverError as error:
                raise SolverError("CVXPY", str(error), "the run failed", "use backend 'highs'") from None
        status = status_of(problem.status)
        info = problem.solver_stats.extra_stats
        # At a limit CVXPY hands on whatever HiGHS holds in x, feasible or not.
        feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        duals = None
        if status is Status.OPTIMAL and not program.integral:
            duals = np.zeros(len(lower))
            duals[equal] = conditions[0].dual_value
            if len(ranged):
                duals[ranged] = conditions[2].dual_value - conditions[3].dual_value
        return Answer(
            status=status,
            x=np.array(x.value, dtype=np.float64) if feasible else None,
            duals=duals,
            solver=f"CVXPY {cvxpy.__version__} with HiGHS {highspy.Highs().version()}",
            nodes=max(0, int(info.mip_node_count)),
        )
