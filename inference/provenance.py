"""Where records come from: what decided their values, as text that goes with them."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from inference.conditions import computed
from inference.corruptions import backend
from inference.forward import LAYOUT, device_name
from inference.images import POLICY

if TYPE_CHECKING:
    from inference.models import Model
    from inference.work import Job

__all__ = ["provenance", "versions"]

LIBRARIES = (
    *("imagecorruptions-imaug", "numba", "numpy", "open_clip_torch", "opencv-python", "opencv-python-headless"),
    *("pillow", "pyarrow", "scikit-image", "timm", "torch", "torchvision"),
)
"""Distributions whose version can change a value, where they are installed."""


def provenance(job: Job, model: Model, *, seed: int, device: str, precision: str) -> dict[str, str]:
    """What the records of a run depend on; equal for two runs whose records are to be equal.

    Nothing of time, place or user is in it.
    """
    allowed = None if job.allowed is None else np.flatnonzero(job.allowed).tolist()
    return {
        "tool": f"pairbounds {_version('pairbounds')}",
        "libraries": json.dumps(versions()),
        "model": model.source,
        "model_name": job.model,
        "weights_sha256": model.weights,
        **{f"model_{name}": value for name, value in model.configuration.items()},
        "preprocessing": json.dumps(job.preprocessing.to_dict()),
        "class_offset": str(job.offset),
        "restricted_classes": json.dumps(allowed),
        "conditions": json.dumps([condition.name for condition in job.conditions]),
        "corruption_backend": backend() if any(map(computed, job.conditions)) else "none",
        "seed": str(seed),
        "images": str(len(job.items)),
        "images_sha256": _hash([[item.image_id, item.label, _size(item.path)] for item in job.items]),
        "captures_sha256": _hash(
            [condition.name, path.relative_to(condition.source).as_posix(), _size(path)]
            for condition in job.conditions
            if condition.source is not None
            for path in condition.captures()
        ),
        "decoding": POLICY,
        "batch": str(job.batch),
        "device": device_name(device),
        "precision": precision,
        "layout": LAYOUT,
        "columns": json.dumps(job.kept.schema.names),
        "top": str(job.kept.top),
    }


def versions() -> dict[str, str]:
    """Python and those of `LIBRARIES` that are installed, with their versions.

    >>> sorted(versions())[:2] != []
    True
    """
    found = {name: _version(name) for name in LIBRARIES}
    return {"python": platform.python_version()} | {name: text for name, text in found.items() if text}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _hash(rows: Iterable[list[str | int | None]]) -> str:
    """SHA-256 of the rows, in order."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row).encode() + b"\n")
    return digest.hexdigest()


def _size(path: Path) -> int | None:
    """Bytes of a file; None if it cannot be asked."""
    try:
        return path.stat().st_size
    except OSError:
        return None
