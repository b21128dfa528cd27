"""Contact sheets: which image stands where, and `rank --contact-sheet`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command import Command
from photographs import photographs, write_photographs

from ranking.contact_sheet import COLUMNS, GAP, SIDE, TEXT, drawn


@pytest.fixture(autouse=True)
def _pillow(require: Callable[[str, bool, str], None]) -> None:
    require("matplotlib", importlib.util.find_spec("matplotlib") is not None, "it brings Pillow")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_photographs(tmp_path / "records.parquet")


def colour_of(number: int) -> tuple[int, int, int]:
    return (40 + 6 * number, 250 - 7 * number, 30 * (number % 7))


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A file of one colour for each image, wide, high or square."""
    from PIL import Image

    for number, name in enumerate(sorted(photographs()["image_id"].unique())):
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        size = ((30, 60), (60, 30), (400, 400))[number % 3]
        Image.new("RGB", size, colour_of(number)).save(path)
    return tmp_path / "images"


def centre(number: int) -> tuple[int, int]:
    """Of the image at a place, as (x, y)."""
    across, down = number % COLUMNS, number // COLUMNS
    return GAP + across * (SIDE + GAP) + SIDE // 2, TEXT + down * (SIDE + TEXT + GAP) + SIDE // 2


def test_images_stand_in_the_order_of_the_ranking(
    records: Path, images: Path, tmp_path: Path, command: Command
) -> None:
    from PIL import Image

    asked = ("rank", records, "--model", "a", "--copies", "corruptions", "--budget", "10")
    ids = [row["image_id"] for row in command(*asked, "--json").json][:10]
    done = command(*asked, "--contact-sheet", tmp_path / "sheet.png", "--images", images)
    assert (done.code, done.out) == (0, command(*asked).out)
    names = sorted(photographs()["image_id"].unique())
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.size == (GAP + COLUMNS * (SIDE + GAP), TEXT + 2 * (SIDE + TEXT + GAP))
        for place, name in enumerate(ids):
            assert sheet.getpixel(centre(place)) == colour_of(names.index(name))
        assert sheet.getpixel(centre(10)) == (255, 255, 255)


def test_an_image_keeps_its_shape_and_its_line(images: Path) -> None:
    name = sorted(photographs()["image_id"].unique())[1]
    rows = [{"rank": 1, "score": 0.5, "image_id": "ein Ü \x1b[31m 名.png"}]
    sheet = np.asarray(drawn(rows, [images / name], "a title"))
    tile = (sheet == colour_of(1)).all(axis=2)
    assert (tile.any(axis=1).sum(), tile.any(axis=0).sum()) == (SIDE // 2, SIDE)
    below = sheet[TEXT + SIDE + 2 : TEXT + SIDE + TEXT]
    assert (below < 128).any()


def test_it_shows_what_the_plan_begins_with(records: Path, images: Path, tmp_path: Path, command: Command) -> None:
    asked = ("rank", records, "--model", "a", "--copies", "natural", "--budget", "1.0", "--images", images)
    for name, more in (("alone", ()), ("beside", ("--save-plan", tmp_path / "plan"))):
        assert command(*asked, "--contact-sheet", tmp_path / f"{name}.png", *more).code == 0
    assert (tmp_path / "alone.png").read_bytes() == (tmp_path / "beside.png").read_bytes()
    assert len((tmp_path / "plan" / "plan.csv").read_text().splitlines()) > 20


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".pdf"])
def test_formats(suffix: str, records: Path, images: Path, tmp_path: Path, command: Command) -> None:
    path = tmp_path / f"sheet{suffix}"
    asked = ("rank", records, "--model", "a", "--copies", "natural", "--contact-sheet", path, "--images", images)
    assert command(*asked).code == 0
    assert path.read_bytes()[:3] == {".png": b"\x89PN", ".jpg": b"\xff\xd8\xff", ".pdf": b"%PD"}[suffix]


def test_an_image_that_cannot_be_read_leaves_nothing(
    records: Path, images: Path, tmp_path: Path, command: Command
) -> None:
    asked = ("rank", records, "--model", "a", "--copies", "natural", "--budget", "10")
    both = ("--contact-sheet", tmp_path / "sheet.png", "--save-plan", tmp_path / "plan", "--images", images)
    first, *_, last = [row["image_id"] for row in command(*asked, "--json").json[:10]]
    (images / first).write_bytes(b"no image")
    told = command(*asked, *both).refused()
    assert first in told
    assert "cannot be read" in told
    (images / last).unlink()
    told = command(*asked, *both).refused()
    assert f"image_id {last!r}: there is no such file" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["images", "records.parquet"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--contact-sheet", "s.png"), "needs the images"),
        (("--contact-sheet", "s.gif", "--images", "images"), "ends in none of"),
        (("--contact-sheet", "s.png", "--images", "images", "--targets", "print"), "is of one ranking"),
        (("--contact-sheet", "s.png", "--images", "images", "--score", "margin,entropy"), "2 were asked for"),
        (("--contact-sheet", "s.png", "--images", "nowhere"), "is no folder"),
        (
            ("--contact-sheet", "s.png", "--images", "images", "--format", "csv", "--out", "./s.png"),
            "same file as --out",
        ),
    ],
)
def test_bad_input_is_one_line(
    more: tuple[str, ...],
    told: str,
    records: Path,
    images: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(records.parent)
    before = sorted(records.parent.rglob("*"))
    assert told in command("rank", records, "--model", "a", "--copies", "corruptions", *more).refused()
    assert sorted(records.parent.rglob("*")) == before
