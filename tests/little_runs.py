"""A little run of `pairbounds infer` that takes a second, and processes in which it is killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIZE = 32
IMAGES = 40
CONDITIONS = ("clean", "identity")
OPTIONS = ("--num-classes", 10, "--size", SIZE, "--crop", 1, "--mean", 0.5, "--std", 0.5, "--device", "cpu")


def write_example(folder: Path) -> Path:
    """`folder/images`, digits by class, and `folder/net.safetensors`, a network that has learnt nothing."""
    from inference import digits

    images, labels = digits.load()
    digits.write_images(images[:IMAGES], labels[:IMAGES], folder / "images")
    network(folder / "net.safetensors", 10)
    return folder


def network(path: Path, classes: int, bias: float = 0.0) -> Path:
    """Weights of a network that has learnt nothing; `bias` is that of its first class."""
    import timm
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    module = timm.create_model("test_resnet", num_classes=classes)
    module.fc.bias.data[0] = bias
    save_file(module.state_dict(), path)
    return path


def shell(block: str, folder: Path) -> str:
    """What a block of commands prints in a folder, with the programs of this environment; it has to succeed."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", block], cwd=folder, env={**os.environ, "PATH": programs}, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def arguments(folder: Path, out: Path, *more: object) -> list[object]:
    """The command's arguments on the example."""
    model = f"timm:test_resnet@{folder / 'net.safetensors'}"
    return ["infer", "--model", model, "--data", folder / "images", "--out", out, *OPTIONS, *more]


@dataclass(frozen=True)
class Deadly:
    """A condition that changes nothing, but kills the process that applies it once, where the marker lies."""

    name: str
    kind: str
    marker: Path
    source: None = None

    def apply(self, pixels: Any, image_id: str) -> Any:
        """The pixels."""
        if self.marker.exists():
            self.marker.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return pixels


@dataclass(frozen=True)
class Stuck:
    """A condition that never ends; it writes the id of the process that applies it to the marker."""

    name: str
    marker: Path
    kind: str = "clean"
    source: None = None

    def apply(self, pixels: Any, image_id: str) -> Any:
        """Nothing, ever."""
        self.marker.write_text(str(os.getpid()))
        time.sleep(600)


def run(
    folder: Path, out: Path, batch: int | None, workers: int, conditions: Sequence[Any] = (), **options: Any
) -> Any:
    """The same in this process, through Python, under two conditions; the report."""
    from inference.conditions import parse
    from inference.datasets import open_data
    from inference.models import Loading, load_model
    from inference.run import Settings, infer

    overrides = {"size": SIZE, "crop": 1.0, "mean": (0.5,) * 3, "std": (0.5,) * 3}
    model = load_model(f"timm:test_resnet@{folder / 'net.safetensors'}", Loading(num_classes=10, overrides=overrides))
    settings = Settings(device="cpu", batch=batch, workers=workers)
    return infer(
        model, open_data(folder / "images"), tuple(conditions) or parse(CONDITIONS, seed=0), out, settings, **options
    )


def kill_until(folder: Path, out: Path, kills: int, *, batch: int, seed: int, workers: int = 0) -> list[bytes]:
    """Run and kill at random moments until that many kills have hit a run that had not ended.

    A run that is killed is begun again on the same output; one that ends is begun anew.

    Returns:
        The bytes of the file whenever a run that had been killed ended, at least once.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["inference.run", "inference.models", "timm", "safetensors.torch"])
    draw = random.Random(seed)
    ended: list[bytes] = []
    done, lasted, before = 0, None, 0
    while done < kills or before:
        process = context.Process(target=run, args=(folder, out, batch, workers))
        process.start()
        began = time.monotonic()
        if lasted is not None and done < kills:
            process.join(draw.uniform(0, lasted))
            process.kill()
        process.join()
        if process.exitcode == 0:
            lasted = lasted or time.monotonic() - began
            if before:
                ended.append(out.read_bytes())
            out.unlink()
            before = 0
        else:
            assert process.exitcode == -9, process.exitcode
            done, before = done + 1, before + 1
    return ended


def hold(out: Path, held: object) -> None:
    """Hold the parts until killed."""
    from inference.writer import Parts

    with Parts.of(out):
        held.set()  # type: ignore[attr-defined]
        time.sleep(600)
