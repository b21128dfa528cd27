"""Image files of every kind that is met in practice: read by one policy, or refused with a reason."""

from __future__ import annotations

import io
import shutil
import warnings
from pathlib import Path

import little_runs
import numpy as np
import polars as pl
import pytest
from command import Command
from pictures import image
from PIL import Image, ImageFile

from bounds.records import load_records
from inference.images import POLICY, Unreadable, read, stem

PIXELS = image(side=64)


def saved(path: Path, picture: Image.Image, **options: object) -> Path:
    picture.save(path, **options)
    return path


def near(found: np.ndarray, expected: np.ndarray, by: float = 1.0) -> bool:
    return found.shape == expected.shape and float(np.abs(found.astype(float) - expected).max()) <= by


def test_colours_stay_and_gray_is_repeated(tmp_path):
    assert (read(saved(tmp_path / "a.png", Image.fromarray(PIXELS))) == PIXELS).all()
    gray = Image.fromarray(PIXELS).convert("L")
    repeated = np.repeat(np.asarray(gray)[:, :, None], 3, axis=2)
    assert (read(saved(tmp_path / "gray.png", gray)) == repeated).all()
    assert (read(saved(tmp_path / "la.png", gray.convert("LA"))) == repeated).all()
    assert set(np.unique(read(saved(tmp_path / "bit.png", gray.convert("1"))))) == {0, 255}


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparency_is_laid_over_white(tmp_path, mode):
    solid = Image.fromarray(PIXELS)
    whole = solid.quantize(8) if mode == "P" else solid.convert(mode)
    opaque = np.asarray(whole.convert("RGB")).astype(float)
    if mode == "P":
        path = saved(tmp_path / "a.png", whole, transparency=bytes([128] * 8))
    else:
        whole.putalpha(128)
        path = saved(tmp_path / "a.png", whole)
    assert near(read(path), opaque * (128 / 255) + 127)


def test_cmyk_and_palette(tmp_path):
    found = read(saved(tmp_path / "a.jpg", Image.fromarray(PIXELS).convert("CMYK"), quality=100, subsampling=0))
    assert near(found, PIXELS, 40)
    assert float(np.abs(found.astype(float) - PIXELS).mean()) < 3
    palette = Image.fromarray(PIXELS).quantize(16)
    assert (read(saved(tmp_path / "p.png", palette)) == np.asarray(palette.convert("RGB"))).all()


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_sixteen_bits_are_scaled(tmp_path, ending):
    ramp = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    found = read(saved(tmp_path / f"a.{ending}", Image.fromarray(ramp)))
    assert (found[:, :, 0] == np.rint(ramp / 257)).all()
    assert len(np.unique(found)) == 256


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_samples_of_unknown_range_are_refused(tmp_path, dtype):
    path = saved(tmp_path / "a.tif", Image.fromarray(PIXELS[:, :, 0].astype(dtype)))
    with pytest.raises(Unreadable, match="whose range is not known"):
        read(path)


def test_exif_turns_the_image(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    path = saved(tmp_path / "a.jpg", Image.fromarray(PIXELS[:31, :40]), exif=exif, quality=100, subsampling=0)
    assert near(read(path), np.rot90(PIXELS[:31, :40], -1), 30)
    assert read(path).shape == (40, 31, 3)
    data = bytearray(path.read_bytes())
    place = data.index(b"Exif") + 14
    data[place : place + 6] = b"\xff" * 6
    path.write_bytes(data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert read(path).shape == (31, 40, 3)
    assert not caught


@pytest.mark.parametrize("size", [(31, 40), (32, 500), (1, 200)])
def test_any_shape(tmp_path, size):
    array = np.zeros((*size, 3), np.uint8)
    assert read(saved(tmp_path / "a.png", Image.fromarray(array))).shape == (*size, 3)


def test_the_first_frame_counts(tmp_path):
    first, second = Image.fromarray(PIXELS).convert("P"), Image.new("P", (64, 64))
    path = saved(tmp_path / "a.gif", first, save_all=True, append_images=[second])
    assert near(read(path), np.asarray(first.convert("RGB")))


def half(picture: Image.Image, form: str) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, form)
    return stream.getvalue()[: len(stream.getvalue()) // 2]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (half(Image.fromarray(PIXELS), "JPEG"), "truncated"),
        (half(Image.fromarray(PIXELS), "PNG"), "truncated"),
        (b"", r"an empty file \(0 bytes\)"),
        (b"hello", "no image of a known format"),
        (None, "No such file"),
    ],
    ids=["half a JPEG", "half a PNG", "empty", "text", "absent"],
)
def test_what_cannot_be_read_has_a_reason(tmp_path, monkeypatch, data, reason):
    # Libraries switch this on for their own purposes, and half an image would be read as one with a gray half.
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    path = tmp_path / "a.jpg"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(Unreadable, match=reason) as caught:
        read(path)
    assert str(tmp_path) not in str(caught.value)
    assert ImageFile.LOAD_TRUNCATED_IMAGES


def test_a_strip_is_refused(tmp_path):
    with pytest.raises(Unreadable, match="201x1 pixels"):
        read(saved(tmp_path / "a.png", Image.new("RGB", (201, 1))))


def test_a_damaged_file_never_raises_anything_else(tmp_path):
    """Bytes of images of several formats, changed at random."""
    draw = np.random.Generator(np.random.PCG64(0))
    outcomes = set()
    for form in ("JPEG", "PNG", "GIF", "TIFF", "BMP", "WEBP"):
        stream = io.BytesIO()
        Image.fromarray(PIXELS).save(stream, form)
        for _ in range(60):
            data = bytearray(stream.getvalue())
            for place in draw.integers(0, min(len(data), 200), 6):
                data[place] = draw.integers(256)
            (tmp_path / "a").write_bytes(data)
            try:
                outcomes.add(read(tmp_path / "a").dtype)
            except Unreadable as error:
                outcomes.add(type(error))
    assert outcomes == {np.dtype(np.uint8), Unreadable}


@pytest.mark.parametrize(("name", "expected"), [("a/b.JPEG", "a/b"), ("a.v2/b", "a.v2/b"), ("a.v2.png", "a.v2")])
def test_the_stem_drops_image_endings_only(name, expected):
    assert stem(name) == expected


def turned() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 8
    return exif


KINDS: dict[str, tuple[Image.Image, dict[str, object]]] = {
    "gray.png": (Image.fromarray(PIXELS).convert("L"), {}),
    "la.png": (Image.fromarray(PIXELS).convert("LA"), {}),
    "palette.png": (Image.fromarray(PIXELS).quantize(16), {"transparency": 3}),
    "rgba.png": (Image.fromarray(PIXELS).convert("RGBA"), {}),
    "cmyk.jpg": (Image.fromarray(PIXELS).convert("CMYK"), {}),
    "16-bit.png": (Image.fromarray(np.arange(65536, dtype=np.uint16).reshape(256, 256)), {}),
    "exif.jpg": (Image.fromarray(PIXELS), {"exif": turned()}),
    "31x40.png": (Image.fromarray(PIXELS[:40, :31]), {}),
    "32x500.png": (Image.new("RGB", (32, 500), "red"), {}),
    "one.png": (Image.new("RGB", (1, 1)), {}),
}
REFUSED = {
    "empty.png": (b"", "an empty file (0 bytes)"),
    "text.png": (b"hello", "no image of a known format"),
    "half.jpg": (half(Image.fromarray(PIXELS), "JPEG"), "image file is truncated"),
    "strip.png": (half(Image.new("RGB", (2, 1000)), "PNG"), "2x1000 pixels"),
}


@pytest.mark.usefixtures("corruptions")
def test_a_run_over_every_kind_of_image_adds_up(example: Path, tmp_path: Path, command: Command) -> None:
    """A row under each condition, or one line among the skipped; the run goes on, and the counts add up."""
    images = tmp_path / "images"
    shutil.copytree(example / "images", images)
    before = sum(path.is_file() for path in images.rglob("*"))
    for name, (picture, options) in KINDS.items():
        picture.save(images / "3" / name, **options)
    for name, (data, _) in REFUSED.items():
        (images / "3" / name).write_bytes(data)
    out = tmp_path / "out.parquet"
    more = ("--data", images, "--conditions", "clean,identity,fog/3,natural:2", "--workers", 0, "--json")
    result = command(*little_runs.arguments(example, out, *more))
    assert result.code == 0, result.err
    rows = pl.read_parquet(out)
    used = before + len(KINDS)
    assert (result.json["rows"], result.json["skipped"]) == (5 * used, len(REFUSED))
    for condition in rows["condition"].unique():
        ids = set(rows.filter(pl.col("condition") == condition)["image_id"])
        assert len(ids) == used
        assert {f"3/{name}" for name in KINDS} < ids
    skipped = pl.read_csv(tmp_path / "out.skipped.csv").fill_null("")
    assert skipped["condition"].unique().to_list() == [""]
    told = dict(zip(skipped["image_id"], skipped["reason"], strict=True))
    assert list(told) == sorted(f"3/{name}" for name in REFUSED)
    for name, (_, reason) in REFUSED.items():
        assert told[f"3/{name}"].startswith(reason)
    assert load_records(out).provenance["decoding"] == POLICY
    assert load_records(out).evaluation(perturbed="fog/3").unmatched == (0, 0)
