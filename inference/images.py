"""Image files as arrays, by one policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["Pixels", "Unreadable", "read"]

Pixels = npt.NDArray[np.uint8]


class Unreadable(Exception):
    """An image that cannot be used; its text is the reason."""


def read(path: str | Path) -> Pixels:
    """The image as uint8 of shape (H, W, 3).

    Raises:
        Unreadable: if it cannot be read.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        raise Unreadable(str(error)) from error
