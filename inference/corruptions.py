"""The nineteen corruptions of the benchmark of Hendrycks and Dietterich (2019), by the package `imagecorruptions`.

Its functions draw from NumPy's global stream, but for two that ignore it and take a seed. Here the seed is a hash of
the image, the corruption and the user's seed, and the stream is given back as it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np

from bounds.errors import MissingExtraError, PairboundsError
from inference.images import Pixels
from inference.seeds import seed_of

__all__ = ["GROUPS", "LEAST_SIDE", "NAMES", "backend", "corrupt"]

NOISE = ("gaussian_noise", "shot_noise", "impulse_noise")
BLUR = ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur")
WEATHER = ("snow", "frost", "fog", "brightness")
DIGITAL = ("contrast", "elastic_transform", "pixelate", "jpeg_compression")
EXTRA = ("speckle_noise", "gaussian_blur", "spatter", "saturate")
COMMON = NOISE + BLUR + WEATHER + DIGITAL
NAMES = COMMON + EXTRA
GROUPS = {
    "common": COMMON,
    "all": NAMES,
    "noise": NOISE,
    "blur": BLUR,
    "weather": WEATHER,
    "digital": DIGITAL,
    "extra": EXTRA,
}
"""Names for several corruptions at once; `common` are the fifteen that benchmarks average over."""

LEAST_SIDE = 32
"""Pixels; smaller images are refused by the package."""

_SEEDED = frozenset({"glass_blur", "impulse_noise"})
"""These ignore the global stream and take `seed`."""


def backend() -> str:
    """The distribution that corrupts, with its version.

    Raises:
        MissingExtraError: if it is absent.
        PairboundsError: if another one is installed under the same import name.
    """
    if "imagecorruptions" in {found.name for found in metadata.distributions(name="imagecorruptions")}:
        raise PairboundsError(
            "corruptions",
            "imagecorruptions",
            "is installed under the import name of imagecorruptions-imaug, and its pixels differ",
            "pip uninstall imagecorruptions, then pip install --force-reinstall imagecorruptions-imaug",
        )
    try:
        return f"imagecorruptions-imaug {metadata.version('imagecorruptions-imaug')}"
    except metadata.PackageNotFoundError:
        raise MissingExtraError(
            "corruptions",
            None,
            "need the package imagecorruptions-imaug, which is absent",
            "pip install 'pairbounds[inference]'",
        ) from None


@functools.cache
def _function() -> Callable[..., Any]:
    named = backend()
    try:
        from imagecorruptions import corrupt
    except ImportError as error:
        raise MissingExtraError(
            "corruptions",
            named,
            f"cannot be loaded ({str(error).splitlines()[0]})",
            "OpenCV needs libGL and libglib (Debian: apt install libgl1 libglib2.0-0)",
        ) from error

    return corrupt  # type: ignore[no-any-return]


def corrupt(pixels: Pixels, name: str, severity: int, *, image_id: str, seed: int) -> Pixels:
    """The corrupted image, uint8 of shape (H, W, 3), the same for the same arguments whatever was done before.

    Args:
        pixels: uint8 of shape (H, W, 3), both sides at least `LEAST_SIDE`.
        name: one of `NAMES`; severity: 1 to 5.
        image_id: of the image; with `seed` and the condition it decides what is drawn.

    Raises:
        PairboundsError: if the image is smaller.
    """
    if min(pixels.shape[:2]) < LEAST_SIDE:
        raise PairboundsError(
            "image",
            f"{pixels.shape[1]}x{pixels.shape[0]}",
            f"corruptions need at least {LEAST_SIDE} pixels a side",
            "choose a model with a larger input, or leave corruptions out",
        )
    drawn = seed_of(seed, f"{name}/{severity}", image_id)
    state = np.random.get_state()  # noqa: NPY002  # the stream that the package draws from
    np.random.seed(drawn)  # noqa: NPY002  # likewise
    try:
        found = _function()(pixels, severity, name, **({"seed": drawn} if name in _SEEDED else {}))
    finally:
        np.random.set_state(state)  # noqa: NPY002  # likewise
    return np.ascontiguousarray(found)
