"""Conditions by name, and what they do: equal pixels for equal image, condition and seed, whatever came before."""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
from pathlib import Path

import little_runs
import numpy as np
import polars as pl
import pytest
from command import Command
from pictures import digest, image
from PIL import Image

from bounds.errors import PairboundsError
from bounds.records import load_records
from inference.conditions import paired, parse
from inference.corruptions import COMMON, EXTRA, NAMES
from inference.images import Unreadable


def test_names_kinds_and_groups():
    found = parse(["clean", "identity", "corruptions:common/3", "fog/3", "fog/5", "natural:2"], seed=0)
    assert [c.name for c in found] == [
        *("clean", "identity"),
        *(f"{name}/3" for name in COMMON),
        *("fog/5", "natural/00", "natural/01"),
    ]
    assert [c.kind for c in found] == ["clean", "other", *["corruption"] * 16, "natural", "natural"]
    assert len(parse(["corruptions:all/1"], seed=0)) == 19 == len(COMMON) + len(EXTRA)


def test_clean_and_identity_change_nothing():
    for condition in parse(["clean", "identity"], seed=0):
        assert (condition.apply(image(), "a.png") == image()).all()


EVERY = tuple(f"{name}/{severity}" for name in NAMES for severity in (1, 5))


@pytest.mark.usefixtures("corruptions")
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


@pytest.mark.usefixtures("corruptions")
def test_what_is_drawn_depends_on_the_image_and_on_the_seed():
    drawn = ("gaussian_noise/3", "impulse_noise/3", "glass_blur/3", "natural:9")
    one, other = digest(drawn, ("a.png",)), digest(drawn, ("b.png",))
    reseeded = digest(drawn, ("a.png",), seed=1)
    for (name, _), value in one.items():
        if name != "natural/00":  # a flip draws nothing
            assert value != other[name, "b.png"]
            assert value != reseeded[name, "a.png"]


@pytest.mark.usefixtures("corruptions")
def test_the_global_stream_is_left_as_it_was():
    np.random.seed(7)  # noqa: NPY002  # the stream that is at stake
    expected = np.random.random(3)  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    digest(("fog/3", "glass_blur/1"), ("a.png",))
    assert (np.random.random(3) == expected).all()  # noqa: NPY002


def test_a_function_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "def darker(pixels, draw):\n    return (pixels * draw.uniform(0.4, 0.6)).astype(np.uint8)\n"
        "def floats(pixels, draw):\n    return pixels / 2\n"
        "def faulty(pixels, draw):\n    return pixels[1000]\n"
        "number = 3\n"
    )
    (tmp_path / "broken.py").write_text("def (")
    monkeypatch.syspath_prepend(tmp_path)
    (condition,) = parse(["module:mine.darker"], seed=0)
    assert (condition.name, condition.kind) == ("mine.darker", "other")
    assert (condition.apply(image(), "a") == condition.apply(image(), "a")).all()
    (wrong,) = parse(["module:mine.floats"], seed=0)
    with pytest.raises(PairboundsError, match=r"returned float64 \(48, 48, 3\)"):
        wrong.apply(image(), "a")
    (wrong,) = parse(["module:mine.faulty"], seed=0)
    with pytest.raises(PairboundsError, match=r"'module:mine.faulty': raised IndexError: index 1000"):
        wrong.apply(image(), "a")
    for path in ("mine.number", "mine.absent", "absent.f", "plain", "broken.f"):
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
        ("natural:101", "a number from 1 to 100"),
        ("fog/3x", "a severity from 1 to 5"),
        ("fog/", "a severity from 1 to 5"),
        ("FOG", "write fog/3"),
        ("natural:x", "a number from 1"),
        ("folder:here", "a folder needs a name"),
        ("folder:/no/such/folder=screen", "is no folder"),
        ("folder:/=clean", "cannot name it"),
        ("folder:/=../up", "cannot name it"),
        ("folder:/=two words", "cannot name it"),
        ("imagenet-c:/no/such/folder", "is no folder"),
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


def picture(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image(side=8)).save(path, "PNG")


def test_a_counterpart_is_found_by_its_relative_stem(tmp_path):
    for name in ("cat/a.v2.jpg", "cat/a.txt", "cat/cafe\u0301.png", "dog/a.v2.png", "cat/two.png", "cat/two.jpg"):
        picture(tmp_path / name)
    (condition,) = parse([f"folder:{tmp_path}=screen"], seed=0)
    assert condition.counterpart("cat/a.v2.PNG") == tmp_path / "cat" / "a.v2.jpg"
    for name in ("cat/caf\u00e9.png", "cat/cafe\u0301.png"):
        assert condition.counterpart(name) == tmp_path / "cat" / "cafe\u0301.png"
    for image_id, count in (("cat/a.png", "no"), ("cat/two.png", "2"), ("bird/a.png", "no")):
        with pytest.raises(Unreadable, match=f"{count} images with its relative stem"):
            condition.counterpart(image_id)
    picture(tmp_path / "cat" / "late.png")
    assert parse([f"folder:{tmp_path}=screen"], seed=0)[0].counterpart("cat/late.jpg").is_file()


def test_captures_of_other_images_are_counted_and_a_folder_of_others_alone_is_refused(tmp_path):
    for name in ("cat/a.jpg", "cat/b.jpg", "dog/c.jpg"):
        picture(tmp_path / name)
    conditions = parse(["clean", f"folder:{tmp_path}=screen"], seed=0)
    assert paired(conditions, ["cat/a.png", "cat/b.png", "dog/c.png"]) == []
    assert paired(conditions, ["cat/a.png", "cat/z.png"]) == [
        "2 images under screen are of no image of the data, and left out"
    ]
    with pytest.raises(PairboundsError, match=r"none of the 3 images in .*, such as 'cat/a', is of an image"):
        paired(conditions, ["a.png"])


@pytest.mark.parametrize("above", ["", "weather"])
def test_imagenet_c(tmp_path, above):
    for name in ("fog/3", "fog/1", "near_focus/5"):
        picture(tmp_path / above / name / "n01" / "1" / "a.JPEG")
    found = parse([f"imagenet-c:{tmp_path}"], seed=0)
    assert [(one.name, one.kind) for one in found] == [
        ("fog/1", "corruption"),
        ("fog/3", "corruption"),
        ("near_focus/5", "corruption"),
    ]
    assert found[1].counterpart("n01/1/a.png") == tmp_path / above / "fog" / "3" / "n01" / "1" / "a.JPEG"
    with pytest.raises(PairboundsError, match="two conditions have this name"):
        parse([f"imagenet-c:{tmp_path}", "fog/3"], seed=0)


def test_imagenet_es_has_the_environments_that_are_there(tmp_path):
    for name in ("auto_exposure/l1/param_1", "param_control/l5/param_2", "param_control/desk_lamp/param_10"):
        picture(tmp_path / name / "n01" / "a.JPEG")
    picture(tmp_path / "sampled_tin_no_resize2" / "n01" / "a.JPEG")
    found = parse([f"imagenet-es:{tmp_path}"], seed=0)
    assert [(one.name, one.kind) for one in found] == [
        ("auto_exposure/l1/param_1", "recapture"),
        ("param_control/desk_lamp/param_10", "recapture"),
        ("param_control/l5/param_2", "recapture"),
    ]


@pytest.mark.parametrize("layout", ["imagenet-c", "imagenet-es"])
def test_a_folder_of_another_layout_is_refused(tmp_path, layout):
    picture(tmp_path / "fog" / "n01" / "a.JPEG")
    with pytest.raises(PairboundsError, match=r"holds no folder .*name the folder above these"):
        parse([f"{layout}:{tmp_path}"], seed=0)


def test_a_folder_named_as_a_corruption_holds_one(tmp_path):
    assert [one.kind for one in parse([f"folder:{tmp_path}=fog/3", f"folder:{tmp_path}=screen"], seed=0)] == [
        "corruption",
        "recapture",
    ]


@pytest.mark.usefixtures("corruptions")
def test_corruptions_that_were_saved_give_the_records_of_those_computed(example, tmp_path, command: Command):
    """The network's input is as large as the images here, so that saved ones are seen again as they were."""
    saved = tmp_path / "saved"
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    options = ("--workers", 0, "--logits")
    computed = little_runs.arguments(example, one, *options, "--conditions", "clean,fog/3", "--save-images", saved)
    assert command(*computed).code == 0
    shutil.rmtree(saved / "clean")
    first = saved / "fog" / "3" / "0" / "0000.png"
    shutil.copy(first, first.with_name("beside.png"))
    read = little_runs.arguments(example, other, *options, "--conditions", f"clean,imagenet-c:{saved}", "--json")
    result = command(*read)
    assert result.err == "pairbounds: note: 1 images under fog/3 are of no image of the data, and left out\n"
    assert pl.read_parquet(other).equals(pl.read_parquet(one))
    assert load_records(other).provenance["corruption_backend"] == "none"
    first.unlink()
    result = command(*read)
    assert (result.json["rows"], result.json["skipped"]) == (2 * little_runs.IMAGES - 1, 1)
    assert pl.read_csv(tmp_path / "other.skipped.csv").row(0)[:2] == ("0/0000.png", "fog/3")
    assert load_records(other).evaluation().unmatched == (1, 0)


def test_parsing_loads_no_corruptions():
    code = (
        "import sys; from inference.conditions import parse; parse(['fog/3'], seed=0); "
        "print('imagecorruptions' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
