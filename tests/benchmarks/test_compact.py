"""The compact program beside the full one, in the same run."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from strategies import evaluation

from bounds import backends
from bounds.correspondences import Objective, plan
from bounds.knowledge import know
from bounds.quantities import QUANTITIES
from bounds.solve import bound

TRANSITIONS = [name for name in QUANTITIES if name.endswith("accepted-error")]


def classes(number, images, labels, correct):
    """Independent sides: correct with the given probabilities, else any of the labels; half of all accepted."""
    rng = np.random.default_rng(0)
    sides = [
        tuple(
            [
                (0 if rng.random() < right else int(rng.integers(1, labels + 1)), bool(rng.integers(2)))
                for _ in range(images)
            ]
            for right in correct
        )
        for _ in range(number)
    ]
    return replace(evaluation(*sides), labels=tuple(range(labels + 1)))


def ends(records, names, known, **options):
    found = [bound(records, name, known, denominator="none", **options) for name in names]
    assert all(interval.sharp for interval in found)
    return [(interval.lower, interval.upper) for interval in found]


def seconds(job, *arguments, **options):
    start = time.perf_counter()
    result = job(*arguments, **options)
    return time.perf_counter() - start, result


def relaxation(records, name, known, maximise):
    """The full program's relaxation by the solver alone, without any exact check: less than the whole answer takes."""
    weights = QUANTITIES[name].cells.astype(object)
    planned = plan(records, Objective(weights, [0]), known, [0], maximise=maximise).program
    answer = backends.get("highs").solve(replace(planned, integral=False))
    return (1 if maximise else -1) * float(planned.objective.astype(float) @ answer.x)


@pytest.mark.parametrize(("images", "labels", "most"), [(50, 20, 4), (200, 40, 1), (1_000, 60, 0.2)])
def test_one_class(benchmark, images, labels, most):
    """Both ends of kept-changed accepted errors, exact, against the relaxations of the full program."""
    records = classes(1, images, labels, (0.5, 0.3))
    known = know(records, "five-state")
    name = "kept-changed-accepted-error"
    full, outer = seconds(lambda: [relaxation(records, name, known, up) for up in (False, True)])

    def compact():
        # Equal records in new arrays: nothing that was solved before is found again.
        return ends(replace(records), [name], known, method="milp")[0]

    low, high = benchmark.pedantic(compact, rounds=5, warmup_rounds=1)
    assert outer[0] - 1e-6 <= low < high <= outer[1] + 1e-6
    ratio = benchmark.stats.stats.min / full
    benchmark.extra_info |= {"full_relaxations_s": round(full, 3), "ratio": round(ratio, 4)}
    assert ratio < most


def test_one_class_with_many_labels(benchmark):
    """A thousand images and 200 wrong classes, both ends; the full program takes minutes."""
    records = classes(1, 1_000, 200, (0.5, 0.3))
    known = know(records, "five-state")
    benchmark.pedantic(lambda: ends(replace(records), TRANSITIONS[:1], known), rounds=5, warmup_rounds=1)
    assert benchmark.stats.stats.min < 1


def test_a_thousand_classes(benchmark):
    """All transitions given (k, s), pooled, against fifty times what the full program takes on every fiftieth class."""
    records = classes(1_000, 50, 1_000, (0.8, 0.5))
    sample = records.select(range(0, 1_000, 50))
    full, expected = seconds(ends, sample, TRANSITIONS, know(sample, "five-state"), method="milp", program="full")
    assert ends(sample, TRANSITIONS, know(sample, "five-state"), method="milp") == expected

    found = benchmark.pedantic(
        lambda: ends(replace(records), TRANSITIONS, know(records, "five-state")), rounds=2, warmup_rounds=0
    )
    assert all(low < high for (low, high), name in zip(found, TRANSITIONS, strict=True) if "persistent" not in name)
    ratio = benchmark.stats.stats.min / (50 * full)
    benchmark.extra_info |= {"full_s_times_50": round(50 * full, 1), "ratio": round(ratio, 4)}
    assert ratio < 0.2
