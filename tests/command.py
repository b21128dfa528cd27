"""Running the command in tests, and six images of two classes whose intervals can be worked out by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bounds.cli import run

COMMAND = (sys.executable, "-W", "error", "-c", "from bounds.cli import main; main()")
"""The command in a process of its own; its arguments follow."""


@dataclass(frozen=True)
class Result:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The standard output, parsed strictly."""

        def refuse(constant: str) -> None:
            raise ValueError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)

    def refused(self) -> str:
        """The one line of an error: nothing on stdout, exit code 2."""
        assert (self.code, self.out) == (2, ""), self
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("pairbounds: error: "), self.err
        return self.err


class Command:
    """`pairbounds` in this process, with what it prints."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Result:
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Result(code, *self._capsys.readouterr())


def process(*arguments: object, **options: Any) -> Result:
    """`pairbounds` in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 600} | options
    done = subprocess.run([*COMMAND, *map(str, arguments)], check=False, **options)
    return Result(done.returncode, done.stdout or "", done.stderr or "")


SMALL = {
    # image: (label, clean predicted, clean confidence, perturbed predicted, perturbed confidence)
    "a": (0, 0, 0.90, 0, 0.60),
    "b": (0, 0, 0.70, 1, 0.90),
    "c": (0, 1, 0.60, 0, 0.85),
    "d": (1, 1, 0.95, 1, 0.50),
    "e": (1, 1, 0.85, 0, 0.70),
    "f": (1, 0, 0.90, 0, 0.80),
}


def small_records(**columns: Any) -> pl.DataFrame:
    """`SMALL` as records of the model `net`, clean and under fog/1 and snow/2 (the same rows); columns added."""
    rows = []
    for condition, side in (("clean", 0), ("fog/1", 1), ("snow/2", 1)):
        for image, (label, *rest) in SMALL.items():
            predicted, confidence = rest[2 * side : 2 * side + 2]
            rows.append(
                {
                    "model": "net",
                    "condition": condition,
                    "image_id": image,
                    "label": label,
                    "predicted": predicted,
                    "confidence": confidence,
                    "true_probability": confidence if predicted == label else 1 - confidence,
                }
            )
    return pl.DataFrame(rows).with_columns(**columns)


def write_small(path: Path, **columns: Any) -> Path:
    """`small_records` as a Parquet file."""
    small_records(**columns).write_parquet(path)
    return path
