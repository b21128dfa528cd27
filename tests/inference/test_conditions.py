"""Conditions by name, and what they do: equal pixels for equal image, condition and seed, whatever came before."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

import numpy as np
import pytest
from pictures import digest, image

from bounds.errors import PairboundsError
from inference.conditions import parse
from inference.corruptions import COMMON, EXTRA, NAMES
from inference.transforms import SERIES


def test_names_kinds_and_groups():
    found = parse(["clean", "identity", "corruptions:common/3", "fog/3", "fog/5", "natural:2"], seed=0)
    assert [c.name for c in found] == [
        *("clean", "identity"),
        *(f"{name}/3" for name in COMMON),
        *("fog/5", "natural/1", "natural/2"),
    ]
    assert [c.kind for c in found] == ["clean", "other", *["corruption"] * 16, "natural", "natural"]
    assert len(parse(["corruptions:all/1"], seed=0)) == 19 == len(COMMON) + len(EXTRA)


def test_clean_and_identity_change_nothing():
    for condition in parse(["clean", "identity"], seed=0):
        assert (condition.apply(image(), "a.png") == image()).all()


EVERY = tuple(f"{name}/{severity}" for name in NAMES for severity in (1, 5))


def test_every_corruption_is_the_same_in_two_processes_in_any_order():
    ids = ("a.png", "b/c.png")
    texts = (*EVERY, "natural:30")
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        one = pool.apply_async(digest, (texts, ids))
        other = pool.apply_async(digest, (texts[::-1], ids[::-1]))
        here, there = one.get(), other.get()
    assert here == there
    assert len(set(here.values())) > 0.8 * len(here)


def test_what_is_drawn_depends_on_the_image_and_on_the_seed():
    drawn = ("gaussian_noise/3", "impulse_noise/3", "glass_blur/3", "natural:9")
    one, other = digest(drawn, ("a.png",)), digest(drawn, ("b.png",))
    reseeded = digest(drawn, ("a.png",), seed=1)
    for (name, _), value in one.items():
        if name != "natural/1":  # a flip draws nothing
            assert value != other[name, "b.png"]
            assert value != reseeded[name, "a.png"]


def test_the_global_stream_is_left_as_it_was():
    np.random.seed(7)  # noqa: NPY002  # the stream that is at stake
    expected = np.random.random(3)  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    digest(("fog/3", "glass_blur/1"), ("a.png",))
    assert (np.random.random(3) == expected).all()  # noqa: NPY002


@pytest.mark.parametrize("name", NAMES)
def test_pixels_keep_their_shape_and_a_stronger_severity_changes_more(name):
    pixels = image(side=64)
    weak, strong = (c.apply(pixels, "a.png") for c in parse([f"{name}/1", f"{name}/5"], seed=0))
    assert weak.dtype == strong.dtype == np.uint8
    assert weak.shape == strong.shape == pixels.shape

    def far(other: np.ndarray) -> float:
        return float(np.abs(other.astype(int) - pixels).mean())

    assert min(far(weak), far(strong)) > 0
    # Fog draws another pattern and saturate turns the other way: there a severity is no distance.
    assert far(weak) < far(strong) or name in ("fog", "saturate")


def test_small_images_are_refused():
    (fog,) = parse(["fog/3"], seed=0)
    with pytest.raises(PairboundsError, match="'40x31': corruptions need at least 32 pixels a side"):
        fog.apply(np.zeros((31, 40, 3), np.uint8), "a.png")


@pytest.mark.parametrize("number", range(1, len(SERIES) + 1))
def test_natural_transformations_stay_near(number):
    (*_, condition) = parse([f"natural:{number}"], seed=0)
    found = condition.apply(image(), "a.png")
    assert found.shape == image().shape
    assert found.dtype == np.uint8
    assert (found != image()).any()
    assert abs(float(found.mean()) - float(image().mean())) < 0.25 * float(image().mean())


def test_a_flip_is_a_mirror():
    flip = parse(["natural:1"], seed=0)[0]
    assert (flip.apply(image(), "a.png") == image()[:, ::-1]).all()


def test_a_function_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "def darker(pixels, draw):\n    return (pixels * draw.uniform(0.4, 0.6)).astype(np.uint8)\n"
        "def floats(pixels, draw):\n    return pixels / 2\n"
        "number = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (condition,) = parse(["module:mine.darker"], seed=0)
    assert (condition.name, condition.kind) == ("mine.darker", "other")
    assert (condition.apply(image(), "a") == condition.apply(image(), "a")).all()
    (wrong,) = parse(["module:mine.floats"], seed=0)
    with pytest.raises(PairboundsError, match=r"returned float64 \(48, 48, 3\)"):
        wrong.apply(image(), "a")
    for path in ("mine.number", "mine.absent", "absent.f", "plain"):
        with pytest.raises(PairboundsError, match=r"write module:package\.function"):
            parse([f"module:{path}"], seed=0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Fog/3", "write fog/3"),
        ("fgo/3", "write fog/3"),
        ("fog", "a severity from 1 to 5"),
        ("fog/0", "a severity from 1 to 5"),
        ("fog/6", "a severity from 1 to 5"),
        ("fog/2.5", "a severity from 1 to 5"),
        ("fog/True", "a severity from 1 to 5"),
        ("corruptions:common", "a severity from 1 to 5"),
        ("corruptions:some/3", "choose among common, all"),
        ("natural:0", "a number from 1"),
        ("natural:x", "a number from 1"),
        ("folder:here", "a folder needs a name"),
        ("folder:/no/such/folder=screen", "is no folder"),
        ("rain", "choose among clean, identity"),
    ],
)
def test_other_texts_are_refused_in_one_line(text, told):
    with pytest.raises(PairboundsError, match=told) as caught:
        parse([text], seed=0)
    assert "\n" not in caught.value.line


def test_two_conditions_of_one_name_are_refused(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    texts = [f"folder:{tmp_path}/one=screen", f"folder:{tmp_path}/two=screen"]
    with pytest.raises(PairboundsError, match="two conditions have this name"):
        parse(texts, seed=0)
    assert [c.kind for c in parse(texts[:1] * 2, seed=0)] == ["recapture"]


def test_parsing_loads_no_corruptions():
    code = (
        "import sys; from inference.conditions import parse; parse(['fog/3'], seed=0); "
        "print('imagecorruptions' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
