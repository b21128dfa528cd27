"""Image files as arrays, by one policy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["LONGEST", "POLICY", "SUFFIXES", "Pixels", "Unreadable", "read", "stem"]

Pixels = npt.NDArray[np.uint8]

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
"""Endings of image files, lower case."""

LONGEST = 200
"""How many times the shorter side the longer one may be: resizing a longer strip takes gigabytes."""

POLICY = (
    "8-bit RGB; first frame; EXIF orientation applied; gray repeated; transparency over white; CMYK by Pillow; "
    "16-bit divided by 257; other depths, truncated and damaged files refused"
)
"""As stored with the records."""


class Unreadable(Exception):
    """An image that cannot be used; its text is the reason."""


def read(path: str | Path) -> Pixels:
    """The image as uint8 of shape (H, W, 3), by `POLICY`.

    Raises:
        Unreadable: if it cannot be read whole, has samples of unknown range, or is a strip (`LONGEST`).
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with _whole(), Image.open(path) as image:
            return _rgb(image)
    except Unreadable:
        raise
    except UnidentifiedImageError as error:
        empty = Path(path).stat().st_size == 0
        raise Unreadable("an empty file (0 bytes)" if empty else "no image of a known format") from error
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    except Exception as error:
        # Decoders raise whatever a damaged file leads them to; there is no common class.
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def stem(name: str) -> str:
    """A path without the ending of an image file.

    >>> stem("cat/a.v2.JPEG"), stem("cat/a.v2")
    ('cat/a.v2', 'cat/a.v2')
    """
    path = Path(name)
    return str(path.with_suffix("")) if path.suffix.lower() in SUFFIXES else name


def _rgb(image: Image) -> Pixels:
    from PIL import Image as images
    from PIL import ImageOps

    shorter, longer = sorted(image.size)
    if longer > LONGEST * shorter:
        raise Unreadable(f"{image.width}x{image.height} pixels, one side more than {LONGEST} times the other")
    image = ImageOps.exif_transpose(image)
    if image.mode in ("I", "F"):
        raise Unreadable(f"samples of 32 bits (Pillow's mode {image.mode}), whose range is not known")
    if image.mode.startswith("I;16"):
        gray = np.rint(np.asarray(image, dtype=np.float32) / 257).astype(np.uint8)
        return np.repeat(gray[:, :, None], 3, axis=2)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = images.alpha_composite(images.new("RGBA", image.size, "white"), image)
    return np.asarray(image.convert("RGB"))


@contextmanager
def _whole() -> Iterator[None]:
    """Half a file is an error, whatever a library asked Pillow for; what Pillow warns of (metadata) is not shown."""
    from PIL import ImageFile

    before = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before
