"""Records for the tests of ranking: two models, copies with probabilities, recaptures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

CORRUPTIONS = ("fog/1", "fog/3", "snow/1", "speckle_noise/1")
NATURAL = ("flip", "shift")
RECAPTURES = ("screen/desk", "screen/wall", "print")
CLASSES = 3
FLOAT32 = np.float32


def softmax(values: np.ndarray) -> np.ndarray:
    """float32 probabilities of shape (n, C)."""
    found = np.exp(values - values.max(axis=1, keepdims=True))
    return (found / found.sum(axis=1, keepdims=True)).astype(FLOAT32)


def kind(condition: str) -> str:
    """The column `kind`."""
    if condition == "clean":
        return "clean"
    if condition in NATURAL:
        return "natural"
    return "recapture" if condition in RECAPTURES else "corruption"


def photographs(images: int = 30, seed: int = 0, models: tuple[str, ...] = ("a", "b")) -> pl.DataFrame:
    """Random records of every condition above, one row for each model, condition and image."""
    rng = np.random.default_rng(seed)
    label = np.arange(images) % CLASSES
    parts = []
    for model in models:
        logits = rng.normal(size=(images, CLASSES)) + 2.5 * np.eye(CLASSES)[label]
        for condition in ("clean", *CORRUPTIONS, *NATURAL, *RECAPTURES):
            noise = 0.0 if condition == "clean" else 1.0
            values = softmax(logits + noise * rng.normal(size=logits.shape))
            parts.append(
                pl.DataFrame(
                    {
                        "model": [model] * images,
                        "condition": [condition] * images,
                        "kind": [kind(condition)] * images,
                        "image_id": [f"{c}/{i:04d}.png" for i, c in enumerate(label)],
                        "label": label,
                        "predicted": values.argmax(axis=1),
                        "confidence": values.max(axis=1),
                        "true_probability": values[np.arange(images), label],
                        "probabilities": pl.Series(values.tolist(), dtype=pl.List(pl.Float32)),
                    }
                )
            )
    return pl.concat(parts)


def write_photographs(path: Path, **options: int) -> Path:
    """The records of `photographs` as a Parquet file."""
    photographs(**options).write_parquet(path)
    return path
