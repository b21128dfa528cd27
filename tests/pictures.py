"""Pictures made up for tests, and what conditions make of them."""

from __future__ import annotations

import hashlib

import numpy as np

from inference.conditions import parse


def image(number: int = 0, side: int = 48) -> np.ndarray:
    """A picture with edges, gradients and noise, uint8 of shape (side, side, 3)."""
    draw = np.random.Generator(np.random.PCG64(number))
    y, x = np.mgrid[:side, :side]
    channels = [(x * 5) % 256, (y * 5) % 256, np.where((x - 20) ** 2 + (y - 24) ** 2 < 144, 220, 40)]
    noise = draw.integers(-20, 20, (side, side, 3))
    return np.clip(np.stack(channels, axis=2) + noise, 0, 255).astype(np.uint8)


def digest(texts: tuple[str, ...], ids: tuple[str, ...], seed: int = 0) -> dict[tuple[str, str], str]:
    """(condition, id) -> hash of the pixels."""
    return {
        (condition.name, id_): hashlib.sha256(condition.apply(image(), id_).tobytes()).hexdigest()
        for condition in parse(texts, seed=seed)
        for id_ in ids
    }
