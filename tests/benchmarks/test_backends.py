"""What a program costs beside the closed form: one class of 50 images, random float32 probabilities, both ends."""

from __future__ import annotations

import time

import numpy as np
import pytest
from strategies import evaluation

from bounds.knowledge import Level
from bounds.solve import bound

IMAGES = 50
MOST = {("highs", "lp"): 400, ("highs", "milp"): 400, ("cvxpy", "lp"): 1200, ("cvxpy", "milp"): 1200}
"""Times of the closed form that each program may take, about four times what was measured."""


def one_class():
    rng = np.random.default_rng(0)
    sides = [
        [
            (0 if rng.random() < correct else int(rng.integers(1, 8)), bool(rng.integers(2)), rng.random())
            for _ in range(IMAGES)
        ]
        for correct in (0.8, 0.5)
    ]
    return evaluation(tuple(sides), dtype=np.float32)


@pytest.mark.parametrize("method", ["lp", "milp"])
@pytest.mark.parametrize("backend", ["highs", "cvxpy"])
def test_programs_beside_the_closed_form(benchmark, backend, method):
    records = one_class()

    def ends(method, **options):
        found = bound(records, "mean-probability-decrease", Level.CLASSWISE, method=method, **options)
        return found.lower, found.upper

    def seconds(run, times):
        run()
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
        return min(taken)

    closed = seconds(lambda: ends("auto"), 50)
    program = seconds(lambda: ends(method, backend=backend), 5)
    benchmark.extra_info["ratio to the closed form"] = program / closed
    assert benchmark(ends, method, backend=backend) == ends("auto")
    assert program / closed < MOST[backend, method]
