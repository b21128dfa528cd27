"""Every bijection of small classes, one after the other: slow, obvious and exact."""

from __future__ import annotations

import itertools
import math

import numpy as np

from bounds.errors import BackendError
from bounds.program import Answer, Block, Floats, Program, Row, Status

__all__ = ["CORRESPONDENCES", "IMAGES", "Solver"]

IMAGES = 8
"""The largest class that is enumerated."""

CORRESPONDENCES = 2_000_000
"""The largest number of combinations of transports, over the classes of one program."""


class Solver:
    """`enumerate`: the oracle for classes of at most `IMAGES` images."""

    name = "enumerate"

    def solve(self, program: Program, *, node_limit: int | None = None) -> Answer:
        """See `bounds.program.Backend.solve`; `nodes` counts the correspondences that were looked at.

        Raises:
            BackendError: if the program is not an integer program, or too large.
        """
        if not program.integral:
            raise BackendError(
                "backend", self.name, "it knows integer points only", "use method 'enumerate', or backend 'highs'"
            )
        choices = [_transports(block) for block in program.blocks]
        combinations = math.prod(map(len, choices))
        if combinations > CORRESPONDENCES:
            raise BackendError(
                "correspondences",
                combinations,
                f"'enumerate' goes through at most {CORRESPONDENCES} of them",
                "use method 'milp'",
            )
        best: int | None = None
        best_x: list[int] | None = None
        seen = 0
        for parts in itertools.product(*choices):
            if node_limit is not None and seen == node_limit:
                return Answer(Status.LIMIT, _array(best_x), None, self.name, seen)
            seen += 1
            x = [count for part in parts for count in part]
            if not all(row.lower <= _activity(row, x) <= row.upper for row in program.rows):
                continue
            value = sum(cost * count for cost, count in zip(program.objective, x, strict=True))
            if best is None or value > best:
                best, best_x = value, x
        status = Status.INFEASIBLE if best_x is None else Status.OPTIMAL
        return Answer(status, _array(best_x), None, self.name, seen)


def _array(x: list[int] | None) -> Floats | None:
    return None if x is None else np.array(x, dtype=np.float64)


def _activity(row: Row, x: list[int]) -> int:
    return sum(c * x[v] for c, v in zip(row.coefficients.tolist(), row.variables.tolist(), strict=True))


def _transports(block: Block) -> list[tuple[int, ...]]:
    """The block's variables under every bijection of its records, each distinct vector once."""
    images = sum(block.clean_sizes)
    if images > IMAGES:
        raise BackendError(
            "images of a class", images, f"'enumerate' goes through classes of at most {IMAGES}", "use method 'milp'"
        )
    clean = [i for i, size in enumerate(block.clean_sizes) for _ in range(size)]
    perturbed = [j for j, size in enumerate(block.perturbed_sizes) for _ in range(size)]
    seen: dict[tuple[int, ...], None] = {}
    for order in itertools.permutations(perturbed):
        x = [0] * block.variables
        for i, j in zip(clean, order, strict=True):
            x[i * len(block.perturbed_sizes) + j] += 1
        seen[tuple(x)] = None
    return list(seen)
