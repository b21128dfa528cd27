"""Speed of ranking: models × 50 000 images × 75 copies, and a thousand resamples, in units of one bare scan.

Unit: a polars scan of the columns that the ranking reads, reduced to sums, in the same run. Two models here; the files
of more are like these, and models are read one after the other.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import polars as pl
import pytest

from ranking.comparison import compare, judge
from ranking.measures import at_budget, parse_budget
from ranking.pool import RankingRecords
from ranking.scores import score_all, scores_asked

IMAGES, CLASSES = 50_000, 1_000
COPIES = [f"{name}/{s}" for s in range(1, 6) for name in (*"abcdefghijklmn", "o")]
TARGETS = ("screen", "print")
COLUMNS = ("model", "condition", "image_id", "label", "predicted", "confidence", "true_probability")
ROUNDS = 3


def write_model(folder, number):
    """The records of one model: clean, 75 copies and two recaptures."""
    rng = np.random.default_rng(number)
    label = np.repeat(np.arange(CLASSES), IMAGES // CLASSES)
    ids = pl.Series([f"n{c:08d}/{i:08d}.JPEG" for i, c in enumerate(label)])
    risk = rng.random(IMAGES)
    parts = []
    for condition in ("clean", *COPIES, *TARGETS):
        kind = "clean" if condition == "clean" else "recapture" if condition in TARGETS else "corruption"
        right = rng.random(IMAGES) > (0.4 if condition == "clean" else 0.8) * risk
        confidence = rng.random(IMAGES, dtype=np.float32)
        parts.append(
            pl.DataFrame(
                {
                    "model": pl.repeat(f"model{number:02d}", IMAGES, eager=True),
                    "condition": pl.repeat(condition, IMAGES, eager=True),
                    "kind": pl.repeat(kind, IMAGES, eager=True),
                    "image_id": ids,
                    "label": label,
                    "predicted": np.where(right, label, (label + 1) % CLASSES),
                    "confidence": confidence,
                    "true_probability": np.where(right, confidence, confidence * rng.random(IMAGES, dtype=np.float32)),
                }
            )
        )
    path = folder / f"model{number:02d}.parquet"
    pl.concat(parts).write_parquet(path)
    return path


def scan(paths):
    """The unit."""
    numbers = pl.col("label", "predicted", "confidence", "true_probability").sum()
    names = pl.col("model", "condition", "image_id").str.len_bytes().sum()
    return pl.scan_parquet(paths).select(COLUMNS).select(numbers, names).collect()


def rankings(paths):
    """The pool of each model, ranked by two scores."""
    records = RankingRecords(paths)
    for model in records.records.models:
        pool = records.pool(model, [",".join(COPIES)], TARGETS)
        yield pool, score_all(pool, scores_asked(["mean_true_probability,clean_confidence"]), [",".join(COPIES)])


def recalls(paths):
    """Recall at 20 % of every ranking of every model on every target."""
    judged, _ = judge(rankings(paths), "any")
    return [at_budget(one.order, one.failures, parse_budget("0.2").images(one.order.images)).recall for one in judged]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranking")
    return [write_model(folder, number) for number in range(2)]


def test_rank(benchmark, paths):
    units = []

    def unit():
        start = time.perf_counter()
        scan(paths)
        units.append(time.perf_counter() - start)

    found = benchmark.pedantic(lambda: recalls(paths), setup=unit, rounds=ROUNDS, iterations=1, warmup_rounds=1)
    assert len(found) == 2 * 2 * 2
    ratio = benchmark.stats.stats.min / min(units)
    benchmark.extra_info |= {"unit_s": round(min(units), 3), "ratio": round(ratio, 2)}


def test_resampling(benchmark, paths):
    judged, images = judge(rankings(paths), "any")
    budgets = [parse_budget("0.2")]
    reference = (judged[0].score, judged[0].copies)
    found = benchmark.pedantic(lambda: compare(judged, budgets, images, reference=reference, resamples=1000), rounds=1)
    assert images > 0.9 * IMAGES
    assert all(one.interval[0] < one.recall < one.interval[1] for one in found)


if __name__ == "__main__":
    # python tests/benchmarks/test_ranking.py FOLDER MODELS: files that stand there are taken as they are.
    from pathlib import Path
    from resource import RUSAGE_SELF, getrusage

    folder = Path(sys.argv[1])
    files = []
    for number in range(int(sys.argv[2])):
        path = folder / f"model{number:02d}.parquet"
        files.append(path if path.exists() else write_model(folder, number))
    for job in (scan, recalls):
        begun = time.perf_counter()
        job(files)
        peak = getrusage(RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{job.__name__}: {time.perf_counter() - begun:.1f} s, peak {peak:.2f} GB so far", flush=True)
