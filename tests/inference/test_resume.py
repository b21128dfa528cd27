"""A run that is stopped ends as the same bytes as one that is not."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import little_runs
import polars as pl
import pytest
from command import Command

from bounds.errors import PairboundsError
from inference.conditions import parse
from inference.predictions import Kept
from inference.work import Done
from inference.writer import Parts

HANGS = 600
"""Seconds after which a wait is a hang."""


def test_killed_runs_end_as_the_same_bytes_and_lose_no_row(example: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.parquet", tmp_path / "killed.parquet"
    little_runs.run(example, whole, batch=1, workers=0)
    ended = little_runs.kill_until(example, out, 3, batch=1, seed=1)
    assert ended
    assert set(ended) == {whole.read_bytes()}
    rows = pl.read_parquet(whole)
    assert len(rows) == 2 * little_runs.IMAGES
    assert rows.select("condition", "image_id").is_unique().all()
    assert not (tmp_path / "killed.parquet.parts").exists()


def test_a_run_goes_on_with_the_units_that_are_missing(example: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.parquet", tmp_path / "stopped.parquet"
    little_runs.run(example, whole, batch=8, workers=0)

    def stop(done: int, total: int) -> None:
        if done >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        little_runs.run(example, out, batch=8, workers=0, progress=stop)
    assert not out.exists()
    parts = out.with_name("stopped.parquet.parts")
    assert len(list(parts.glob("*.parquet"))) == 2
    # The power went while a part was written: it counts as missing.
    next(parts.glob("*.parquet")).write_bytes(b"PAR1 half")
    report = little_runs.run(example, out, batch=None, workers=0)
    assert report.resumed == 1
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("changed", ["images", "captures"])
def test_a_run_is_not_gone_on_with_on_other_files(example: Path, tmp_path: Path, changed: str) -> None:
    """The names are the same, but not what lies under them."""
    captures = tmp_path / "captures"
    shutil.copytree(example / "images", captures)
    data = tmp_path / "data"
    shutil.copytree(example, data)
    conditions = parse(["clean", f"folder:{captures}=screen"], seed=0)

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    out = tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt):
        little_runs.run(data, out, batch=8, workers=0, conditions=conditions, progress=stop)
    path = (captures if changed == "captures" else data / "images") / "0" / "0000.png"
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(PairboundsError, match=f"with {changed}_sha256"):
        little_runs.run(data, out, batch=8, workers=0, conditions=conditions)


def test_a_killed_run_leaves_no_process_behind(example: Path, tmp_path: Path) -> None:
    """Its worker is stopped in the middle of an image; it goes when the run is gone."""
    context = multiprocessing.get_context("forkserver")
    stuck = tmp_path / "stuck"
    process = context.Process(
        target=little_runs.run, args=(example, tmp_path / "out.parquet", 8, 1, (little_runs.Stuck("clean", stuck),))
    )
    process.start()
    until(lambda: stuck.exists() and stuck.read_text() != "")
    worker = int(stuck.read_text())
    os.kill(worker, 0)
    process.kill()
    process.join()
    until(lambda: not Path(f"/proc/{worker}").exists())


def until(condition: Callable[[], bool]) -> None:
    """Wait until it holds, on a busy machine too."""
    end = time.monotonic() + HANGS
    while not condition():
        assert time.monotonic() < end, "it hangs"
        time.sleep(0.05)


def test_another_plan_is_refused_until_the_old_one_is_discarded(
    example: Path, tmp_path: Path, command: Command
) -> None:
    out = tmp_path / "records.parquet"
    with Parts.of(out) as parts:
        parts.plan({"batch": "8", "seed": "1"})
        parts.write(Done(0, Kept().schema.empty_table(), ()))
    refused = command(*little_runs.arguments(example, out, "--workers", 0, "--batch-size", 8))
    line = refused.refused()
    assert "an unfinished run lies there with" in line
    assert "--restart" in line
    assert command(*little_runs.arguments(example, out, "--workers", 0, "--restart")).code == 0
    assert not (tmp_path / "records.parquet.parts").exists()


def test_two_runs_on_one_output_refuse_each_other_and_a_dead_one_holds_nothing(
    example: Path, tmp_path: Path, command: Command
) -> None:
    out = tmp_path / "records.parquet"
    context = multiprocessing.get_context("forkserver")
    held = context.Event()
    process = context.Process(target=little_runs.hold, args=(out, held), daemon=True)
    process.start()
    assert held.wait(HANGS)
    line = command(*little_runs.arguments(example, out, "--workers", 0)).refused()
    assert "another run is writing it" in line
    process.kill()
    process.join()
    assert command(*little_runs.arguments(example, out, "--workers", 0)).code == 0
