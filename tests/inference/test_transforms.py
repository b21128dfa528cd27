"""Natural transformations: named, small, drawn for each image within their ranges."""

from __future__ import annotations

import numpy as np
import pytest
from pictures import image

from inference.conditions import parse
from inference.transforms import SERIES, natural

IMAGES = 60


def single(name: str, pixels: np.ndarray) -> list[np.ndarray]:
    """What the transformation makes of the same pixels for many image ids."""
    number = SERIES.index((name,))
    return [natural(pixels, number, image_id=str(one), seed=0) for one in range(IMAGES)]


@pytest.mark.parametrize("number", range(1, len(SERIES) + 1))
def test_natural_transformations_stay_near(number):
    (*_, condition) = parse([f"natural:{number}"], seed=0)
    assert condition.name == f"natural/{number - 1:02}"
    found = condition.apply(image(), "a.png")
    assert found.shape == image().shape
    assert found.dtype == np.uint8
    assert (found != image()).any()
    assert abs(float(found.mean()) - float(image().mean())) < 0.25 * float(image().mean())


def test_a_flip_is_a_mirror():
    flip = parse(["natural:1"], seed=0)[0]
    assert (flip.apply(image(), "a.png") == image()[:, ::-1]).all()


def test_every_kind_and_every_pair_has_a_number():
    assert len(SERIES) == 28 == len(set(SERIES))
    again = parse(["natural:29"], seed=0)[28]
    assert (again.apply(image(), "a") == image()[:, ::-1]).all()


def test_brightness_and_contrast_stay_in_their_range():
    gray = np.full((32, 32, 3), 100, np.uint8)
    factors = [found[0, 0, 0] / 100 for found in single("brightness", gray)]
    assert 0.79 < min(factors) < 0.85
    assert 1.15 < max(factors) < 1.21
    halves = np.repeat(np.repeat([[60], [140]], 16, axis=0), 32, axis=1)[:, :, None].repeat(3, axis=2).astype(np.uint8)
    factors = [(int(found[-1, 0, 0]) - int(found[0, 0, 0])) / 80 for found in single("contrast", halves)]
    assert 0.78 < min(factors) < 0.85
    assert 1.15 < max(factors) < 1.22


def spot(y: int, x: int, side: int = 101) -> np.ndarray:
    pixels = np.zeros((side, side, 3), np.uint8)
    pixels[y - 2 : y + 3, x - 2 : x + 3] = 255
    return pixels


def centre(pixels: np.ndarray) -> np.ndarray:
    """Of what is bright: (y, x)."""
    weights = pixels[:, :, 0].astype(float)
    return np.array([np.average(np.arange(101), weights=weights.sum(axis=axis)) for axis in (1, 0)])


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("rotation", 12, 15.3), ("shear", 8, 10.3), ("translation", 8, 10.2), ("zoom", 1.07, 1.11)],
)
def test_movements_stay_in_their_range_and_go_both_ways(name, least, most):
    """A spot 30 pixels above the centre: its angle about the centre, its slope, its way in percent, its distance."""
    moved = [centre(found) - 50 for found in single(name, spot(20, 50))]
    values = {
        "rotation": [np.rad2deg(np.arctan2(x, -y)) for y, x in moved],
        "shear": [np.rad2deg(np.arctan2(x, 30)) for _, x in moved],
        "translation": [way * 100 / 101 for y, x in moved for way in (y + 30, x)],
        "zoom": [-y / 30 for y, _ in moved],
    }[name]
    assert least < max(values) < most
    assert (1 / most < min(values) < 1 / least + 0.02) if name == "zoom" else (-most < min(values) < -least)


def test_what_is_left_empty_is_mirrored():
    bright = np.full((40, 40, 3), 200, np.uint8)
    for name in ("rotation", "shear", "translation", "zoom"):
        for found in single(name, bright)[:10]:
            assert (found == 200).all()
