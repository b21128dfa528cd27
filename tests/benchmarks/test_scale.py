"""Speed and memory on five million perturbed rows, in units of one bare group-by over the same file.

Unit: a polars lazy group-by (condition, label) that sums two columns, best of several in the same test. `ratio` in the
printed extra information is best time over unit.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from bounds.knowledge import Level, know
from bounds.records import load_records
from bounds.solve import bound

CLASSES, IMAGES_A_CLASS, CONDITIONS = 1_000, 50, 100
IMAGES = CLASSES * IMAGES_A_CLASS
ROWS = CONDITIONS * IMAGES
QUANTITIES = ("lost-acceptance", "gained-acceptance", "mean-probability-decrease")
ROUNDS = 5
MEMORY = 2_000_000_000


def write(path, seed=0):
    """The long-form file, one condition at a time: `clean`, then 20 corruptions at five severities."""
    random = np.random.default_rng(seed)
    label = np.repeat(np.arange(CLASSES), IMAGES_A_CLASS)
    numbers = random.permutation(IMAGES) + 1
    ids = [f"n{1440764 + 97 * c:08d}/ILSVRC2012_val_{j:08d}.JPEG" for c, j in zip(label, numbers, strict=True)]
    writer = None
    for condition in ["clean", *(f"corruption{i:02d}/{s}" for i in range(CONDITIONS // 5) for s in range(1, 6))]:
        right = random.random(IMAGES) < (0.8 if condition == "clean" else 0.5)
        confidence = random.random(IMAGES, dtype=np.float32)
        share = np.where(right, np.float32(1), random.random(IMAGES, dtype=np.float32))
        frame = pl.DataFrame(
            {
                "model": pl.repeat("resnet50", IMAGES, eager=True),
                "condition": pl.repeat(condition, IMAGES, eager=True),
                "image_id": ids,
                "label": label,
                "predicted": np.where(right, label, (label + random.integers(1, CLASSES, IMAGES)) % CLASSES),
                "confidence": confidence,
                "true_probability": confidence * share,
            }
        ).to_arrow()
        writer = writer or pq.ParquetWriter(path, frame.schema)
        writer.write_table(frame)
    writer.close()


@pytest.fixture(scope="module")
def ordered(tmp_path_factory):
    path = tmp_path_factory.mktemp("scale") / "ordered.parquet"
    write(path)
    return path


@pytest.fixture(scope="module")
def shuffled(ordered):
    path = ordered.with_name("shuffled.parquet")
    pl.read_parquet(ordered).sample(fraction=1, shuffle=True, seed=1).write_parquet(path)
    return path


def group_by(path):
    sums = pl.col("confidence").sum(), pl.col("true_probability").sum()
    return pl.scan_parquet(path).group_by("condition", "label").agg(*sums).collect()


def report(benchmark, path, job):
    """Best time of the job over the best of the unit, the two taken in turn."""
    units = []

    def unit():
        start = time.perf_counter()
        assert len(group_by(path)) == (CONDITIONS + 1) * CLASSES
        units.append(time.perf_counter() - start)

    result = benchmark.pedantic(job, setup=unit, rounds=ROUNDS, iterations=1, warmup_rounds=1)
    ratio = benchmark.stats.stats.min / min(units)
    benchmark.extra_info |= {"unit_s": round(min(units), 3), "ratio": round(ratio, 2)}
    return result, ratio


def read(path):
    return sum(evaluation.images for evaluation in load_records(path).evaluations())


def three(evaluation):
    accepted = evaluation.at_threshold("0.5")
    counts = know(accepted, Level.CLASSWISE)
    return [bound(accepted, quantity, counts, arithmetic="float") for quantity in QUANTITIES]


def end_to_end(path):
    return [interval for evaluation in load_records(path).evaluations() for interval in three(evaluation)]


def test_the_door(benchmark, ordered):
    images, _ = report(benchmark, ordered, lambda: read(ordered))
    assert images == ROWS


def test_the_door_shuffled(benchmark, shuffled):
    images, _ = report(benchmark, shuffled, lambda: read(shuffled))
    assert images == ROWS


def test_three_quantities_in_memory(benchmark, ordered):
    evaluations = list(load_records(ordered).evaluations())
    intervals, ratio = report(benchmark, ordered, lambda: [three(evaluation) for evaluation in evaluations])
    assert all(interval.low.number < interval.high.number for each in intervals for interval in each)
    assert ratio <= 4


def test_end_to_end(benchmark, ordered):
    intervals, ratio = report(benchmark, ordered, lambda: end_to_end(ordered))
    assert len(intervals) == CONDITIONS * len(QUANTITIES)
    assert ratio <= 12


PEAK = """
import importlib.util, re, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("scale", {file!r})
scale = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scale)
scale.end_to_end({path!r})
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("order", ["ordered", "shuffled"])
def test_peak_memory(benchmark, request, order):
    code = PEAK.format(file=__file__, path=str(request.getfixturevalue(order)))
    run = benchmark.pedantic(
        lambda: subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False), rounds=1
    )
    assert run.returncode == 0, run.stderr
    peak = int(re.fullmatch(r"(\d+)\n", run.stdout)[1]) * 1024
    benchmark.extra_info["peak_MB"] = peak // 1_000_000
    assert peak < MEMORY
