"""The plan for the people at the camera: the first k images, listed and, where the files are at hand, copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from bounds.errors import PairboundsError
from bounds.tables import csv_text
from ranking.order import seeded_keys
from ranking.pool import Pool
from ranking.scores import Scored

__all__ = ["check_plan", "image_files", "plan_rows", "save_plan"]


def plan_rows(pool: Pool, ranked: Scored, k: int, seed: int) -> list[dict[str, Any]]:
    """The first k images in the order in which to take them; tied ones in an order drawn by seed and id.

    Returns:
        Objects with `position`, `image_id`, `label`, `score`, `rank`, `ties`.
    """
    ids = pool.image_id.to_list()
    order = ranked.order
    first = np.lexsort((seeded_keys(ids, seed), order.group))[:k]
    rank, ties = order.rank, order.ties
    return [
        {
            "position": position,
            "image_id": ids[row],
            "label": pool.labels[pool.label[row]],
            "score": float(ranked.values[row]),
            "rank": int(rank[row]),
            "ties": int(ties[row]),
        }
        for position, row in enumerate(first, 1)
    ]


def image_files(ids: Sequence[str], root: Path) -> list[Path]:
    """The file of each image: its id is the path relative to the root.

    Raises:
        PairboundsError: if the folder or a file does not exist, or an id leads out of the folder.
    """
    if not root.is_dir():
        raise PairboundsError("--images", str(root), "is no folder", "name the folder that the ids are relative to")
    found = []
    for name in ids:
        parts = PurePosixPath(name)
        path = root / parts
        if parts.is_absolute() or ".." in parts.parts:
            raise PairboundsError("image_id", name, f"leads out of {root}", "use ids that are paths below the root")
        if not path.is_file():
            rule = f"there is no such file below {root}"
            raise PairboundsError("image_id", name, rule, "name the folder that the ids are relative to")
        found.append(path)
    return found


def check_plan(folder: Path) -> None:
    """Check, before long work, that a new folder can be made there.

    Raises:
        PairboundsError: if something stands there, or there is no folder to make it in.
    """
    if folder.exists() or folder.is_symlink():
        raise PairboundsError("--save-plan", str(folder), "exists", "name a folder that does not")
    parent = folder.resolve().parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise PairboundsError("--save-plan", str(folder), f"no folder can be made in {parent}", "name another place")


def save_plan(folder: Path, rows: Sequence[dict[str, Any]], files: Sequence[Path] | None) -> None:
    """Write `plan.csv`, and the images beside it under names that sort as the plan, into a new folder, whole or not.

    Args:
        folder: must not exist.
        rows: as `plan_rows`.
        files: the image of each row, or None to list them only.
    """
    part = folder.resolve().with_name(f".{folder.name}.{os.getpid()}.part")
    digits = len(str(len(rows)))
    try:
        part.mkdir()
        listed = []
        for number, row in enumerate(rows):
            copied = None
            if files is not None:
                copied = f"{row['position']:0{digits}d}_{row['image_id'].replace('/', '_')}"
                shutil.copyfile(files[number], part / copied)
            listed.append(row | ({} if copied is None else {"file": copied}))
        (part / "plan.csv").write_text(csv_text(listed), encoding="utf-8", newline="\n")
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
