"""What a record file says at a glance: accuracy and mean true probability of each condition, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from inference.predictions import NEAR_TIE

__all__ = ["conditions_of", "warnings_of"]

SHOWN = 5
"""How many ids a warning lists."""

ENOUGH = 100
"""Images from which on a low accuracy is taken for a fault."""


def conditions_of(path: Path) -> list[dict[str, Any]]:
    """One object a condition, in order of appearance.

    Keys: `model`, `condition`, `kind`, `images`, `unusable` (rows without a prediction), `accuracy` and
    `mean_true_probability` (of the usable rows with a label; null if there is none).
    """
    usable = pl.col("predicted").is_not_null() & pl.col("label").is_not_null()
    rows = pl.scan_parquet(path, glob=False)
    known = "true_probability" in rows.collect_schema()
    true = pl.col("true_probability").filter(usable).mean() if known else pl.lit(None, pl.Float64)
    frame = rows.group_by("model", "condition", "kind", maintain_order=True).agg(
        images=pl.len(),
        unusable=pl.col("predicted").is_null().sum(),
        accuracy=(pl.col("predicted") == pl.col("label")).filter(usable).mean(),
        mean_true_probability=true,
    )
    return frame.collect().to_dicts()


def warnings_of(path: Path, conditions: Sequence[dict[str, Any]], classes: int | None) -> list[str]:
    """What a user should look at.

    Args:
        path: the record file.
        conditions: as `conditions_of` gives them.
        classes: among which the model chooses; None if that is not known.
    """
    told = []
    for row in conditions:
        chance = 2 / classes if classes else 0.0
        if (
            classes
            and row["kind"] == "clean"
            and row["images"] >= ENOUGH
            and row["accuracy"] is not None
            and row["accuracy"] <= chance
        ):
            told.append(
                f"accuracy {row['accuracy']:.4f} under {row['condition']} is no better than twice chance "
                f"({chance:.4f}): check the class order (labels against the network's outputs) and mean and std"
            )
        if row["unusable"]:
            told.append(
                f"{row['unusable']} of {row['images']} rows under {row['condition']} have outputs that are not finite, "
                "and so no prediction"
            )
    rows = pl.scan_parquet(path, glob=False)
    unlabelled = rows.filter(pl.col("label").is_null()).select(pl.col("image_id").n_unique()).collect().item()
    if unlabelled:
        told.append(f"{unlabelled} images have no label")
    if "margin" not in rows.collect_schema():
        return told
    near = rows.filter(pl.col("margin") < NEAR_TIE).select("image_id", "condition", "margin").collect()
    if len(near):
        shown = ", ".join(f"{image} ({condition})" for image, condition, _ in near.head(SHOWN).iter_rows())
        more = f" and {len(near) - SHOWN} more" if len(near) > SHOWN else ""
        tied = int((near["margin"] == 0).sum())
        told.append(
            f"{len(near)} rows have their two largest logits within {NEAR_TIE:g} of each other ({tied} equal, "
            f"where the lowest index counts); another batch size or device may choose the other: {shown}{more}"
        )
    return told
