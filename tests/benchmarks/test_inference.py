"""Speed of a whole run against its network alone, and runs that are killed again and again.

Speed: images per second from files to records, in units of the same network on a tensor that is already in memory,
as many batches at a time as there are cores, one core each; best of several, in the same test. The run's own start
(processes that import PyTorch) is told apart: rates are those between the first and the last unit.
"""

from __future__ import annotations

import resource
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import little_runs
import numpy as np
import polars as pl
import pytest
import timm
import torch
from PIL import Image

from inference.conditions import parse
from inference.datasets import open_data
from inference.forward import Forward, cores
from inference.models import Model
from inference.preprocessing import Preprocessing
from inference.run import Settings, infer

KILLS = 20
IMAGES, SIDE, BATCH = 256, 320, 16
SHARE = 0.6
"""Of the network's own rate, on two cores: reading a JPEG of 320 x 256 and cropping it takes a fourth of a core."""


def test_killed_runs(benchmark, tmp_path):
    """No row is lost or duplicated over kills at random moments, some of them in a run with a worker process."""
    example = little_runs.write_example(tmp_path)
    whole, out = tmp_path / "whole.parquet", tmp_path / "killed.parquet"
    little_runs.run(example, whole, batch=1, workers=0)

    def kill() -> list[bytes]:
        ended = little_runs.kill_until(example, out, KILLS, batch=1, seed=2)
        return ended + little_runs.kill_until(example, out, 4, batch=1, seed=3, workers=1)

    ended = benchmark.pedantic(kill, rounds=1)
    rows = pl.read_parquet(whole)
    benchmark.extra_info.update(kills=KILLS + 4, runs_that_ended=len(ended))
    assert set(ended) == {whole.read_bytes()}
    assert len(rows.unique(["condition", "image_id"])) == len(rows) == 2 * little_runs.IMAGES


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Smooth noise as JPEG files, which take as long to read as photographs."""
    folder = tmp_path_factory.mktemp("photographs")
    random = np.random.default_rng(0)
    for number in range(IMAGES):
        coarse = random.integers(0, 256, (32, 40, 3), dtype=np.uint8)
        path = folder / f"{number % 10}" / f"{number:04d}.jpg"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(coarse).resize((SIDE, 256), Image.Resampling.BICUBIC).save(path, quality=90)
    return folder


def test_images_per_second(benchmark, photographs, tmp_path: Path):
    """From files to records against the network alone."""
    torch.manual_seed(0)
    module = timm.create_model("tf_efficientnet_lite0", num_classes=10)
    plan = Preprocessing.of(timm.data.resolve_model_data_config(module))
    model = Model("lite0", "lite0", module.eval(), plan, 10, "none")
    data, seen = open_data(photographs), []

    def run() -> None:
        seen.clear()
        settings = Settings(device="cpu", batch=BATCH, restart=True)
        progress = lambda done, total: seen.append((time.perf_counter(), done))  # noqa: E731
        infer(model, data, parse(["clean"], seed=0), tmp_path / "records.parquet", settings, progress=progress)

    rates, alone = [], []
    for _ in range(3):
        alone.append(rate_alone(module, plan))
        run()
        (first, before), (last, after) = seen[1], seen[-1]
        rates.append((after - before) / (last - first))
    benchmark.pedantic(run, rounds=1)
    ratio = max(rates) / max(alone)
    benchmark.extra_info.update(
        images_per_second=max(rates),
        alone=max(alone),
        ratio=ratio,
        memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )
    assert ratio > SHARE


def rate_alone(module: torch.nn.Module, plan: Preprocessing) -> float:
    """Images per second of the network on pixels in memory."""
    pixels = torch.randint(0, 256, (BATCH, plan.size, plan.size, 3), dtype=torch.uint8)
    forward, before = Forward(module, "cpu"), torch.get_num_threads()
    with ThreadPoolExecutor(cores(), initializer=torch.set_num_threads, initargs=(1,)) as pool:
        began = time.perf_counter()
        list(pool.map(lambda _: forward.pixels(pixels, plan), range(IMAGES // BATCH)))
        took = time.perf_counter() - began
    torch.set_num_threads(before)
    return IMAGES / took
