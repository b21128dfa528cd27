"""A contact sheet: the riskiest images at a glance, each with its rank, id and score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.errors import MissingExtraError, PairboundsError, printable
from bounds.files import check_output, replacing

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["SHOWN", "SUFFIXES", "check_sheet", "write_sheet"]

SUFFIXES = (".png", ".jpg", ".pdf")
SHOWN = 48
"""Images on a sheet at most."""
COLUMNS = 8
SIDE = 160
TEXT = 34
GAP = 8
LONGEST = 22
"""Characters of a line below an image."""


def check_sheet(path: Path) -> None:
    """Check, before long work, that a sheet can be written.

    Raises:
        PairboundsError: if it cannot.
        MissingExtraError: if Pillow is absent.
    """
    check_output("--contact-sheet", path, SUFFIXES)
    try:
        import PIL.Image  # noqa: F401  # whether it can be imported
    except ModuleNotFoundError as error:
        rule = f"needs the package {error.name}, which is absent"
        raise MissingExtraError("--contact-sheet", None, rule, "pip install 'pairbounds[plots]'") from error


def write_sheet(path: Path, rows: Sequence[dict[str, Any]], files: Sequence[Path], title: str) -> None:
    """Write the sheet, whole or not at all.

    Args:
        path: ends in one of `SUFFIXES`.
        rows: as `ranking.plan.plan_rows`, at most `SHOWN`.
        files: the image of each.
        title: the line above.

    Raises:
        PairboundsError: if an image cannot be read.
    """
    sheet = drawn(rows, files, title)
    with replacing(path) as part:
        sheet.save(part, format={".png": "PNG", ".jpg": "JPEG", ".pdf": "PDF"}[path.suffix.lower()])


def drawn(rows: Sequence[dict[str, Any]], files: Sequence[Path], title: str) -> Image.Image:
    """The sheet as an image: `COLUMNS` a row, riskiest first."""
    from PIL import Image, ImageDraw, ImageFont

    lines = -(-len(rows) // COLUMNS)
    across = min(COLUMNS, len(rows))
    width, height = GAP + across * (SIDE + GAP), TEXT + lines * (SIDE + TEXT + GAP)
    sheet = Image.new("RGB", (max(width, 4 * SIDE), height), "white")
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(12)
    pen.text((GAP, GAP), _ascii(title), fill="black", font=font)
    for number, (row, file) in enumerate(zip(rows, files, strict=True)):
        left = GAP + number % COLUMNS * (SIDE + GAP)
        top = TEXT + number // COLUMNS * (SIDE + TEXT + GAP)
        small = _thumbnail(file)
        sheet.paste(small, (left + (SIDE - small.width) // 2, top + (SIDE - small.height) // 2))
        told = (f"{row['rank']}: {row['score']:.4f}", str(row["image_id"])[-LONGEST:])
        for line, text in enumerate(told):
            pen.text((left, top + SIDE + 2 + 14 * line), _ascii(text), fill="black", font=font)
    return sheet


def _thumbnail(file: Path) -> Image.Image:
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(file) as image:
            small = ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise PairboundsError("image", str(file), f"cannot be read ({error})", "leave it out, or mend it") from error
    return ImageOps.contain(small, (SIDE, SIDE), Image.Resampling.BICUBIC)


def _ascii(text: str) -> str:
    """What the font that Pillow brings can show."""
    return printable(text).encode("latin-1", "replace").decode("latin-1")
