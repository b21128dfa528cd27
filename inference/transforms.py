"""Natural transformations, as test-generation tools draw them (SENSEI, FilterFuzz): small and plausible.

Number n of a series is one transformation or a pair of these; its strength is drawn for each image.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from inference.images import Pixels
from inference.seeds import generator

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["SERIES", "natural"]

Step = Callable[["Image", np.random.Generator], "Image"]


def _affine(image: Image, a: float, b: float, c: float, d: float, e: float, f: float) -> Image:
    """Each output pixel from (a x + b y + c, d x + e y + f), about the centre; what is empty is mirrored."""
    from PIL import Image as images

    width, height = image.size
    padded = images.fromarray(np.pad(np.asarray(image), ((height, height), (width, width), (0, 0)), mode="symmetric"))
    x, y = (width - 1) / 2, (height - 1) / 2
    shift = (x - a * x - b * y + c + width, y - d * x - e * y + f + height)
    return padded.transform(
        image.size, images.Transform.AFFINE, (a, b, shift[0], d, e, shift[1]), images.Resampling.BILINEAR
    )


def _flip(image: Image, draw: np.random.Generator) -> Image:
    from PIL import ImageOps

    return ImageOps.mirror(image)


def _rotation(image: Image, draw: np.random.Generator) -> Image:
    angle = np.deg2rad(draw.uniform(-15, 15))
    cosine, sine = float(np.cos(angle)), float(np.sin(angle))
    return _affine(image, cosine, sine, 0, -sine, cosine, 0)


def _translation(image: Image, draw: np.random.Generator) -> Image:
    x, y = (float(share) * side for share, side in zip(draw.uniform(-0.1, 0.1, 2), image.size, strict=True))
    return _affine(image, 1, 0, x, 0, 1, y)


def _shear(image: Image, draw: np.random.Generator) -> Image:
    return _affine(image, 1, float(np.tan(np.deg2rad(draw.uniform(-10, 10)))), 0, 0, 1, 0)


def _zoom(image: Image, draw: np.random.Generator) -> Image:
    factor = 1 / float(draw.uniform(0.9, 1.1))
    return _affine(image, factor, 0, 0, 0, factor, 0)


def _brightness(image: Image, draw: np.random.Generator) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Brightness(image).enhance(float(draw.uniform(0.8, 1.2)))


def _contrast(image: Image, draw: np.random.Generator) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(image).enhance(float(draw.uniform(0.8, 1.2)))


_STEPS: dict[str, Step] = {
    "flip": _flip,
    "rotation": _rotation,
    "translation": _translation,
    "shear": _shear,
    "zoom": _zoom,
    "brightness": _brightness,
    "contrast": _contrast,
}

SERIES: tuple[tuple[str, ...], ...] = (
    *((name,) for name in _STEPS),
    *itertools.combinations(_STEPS, 2),
)
"""The 28 kinds, single ones first: `natural/NN` is of kind NN, and after the last they begin anew."""


def natural(pixels: Pixels, number: int, *, image_id: str, seed: int) -> Pixels:
    """Number `number` (from 0) of the series, uint8 of the same shape, drawn for this image.

    Ranges: rotation 15 degrees, translation 10 % of a side, shear 10 degrees (each to either side), zoom 0.9 to 1.1,
    brightness and contrast 0.8 to 1.2. What a movement leaves empty is the image mirrored at its edge.
    """
    from PIL import Image as images

    draw = generator(seed, f"natural/{number:02}", image_id)
    image = images.fromarray(pixels)
    for name in SERIES[number % len(SERIES)]:
        image = _STEPS[name](image, draw)
    return np.asarray(image)
