"""`pairbounds infer` from image files to records that `pairbounds bounds` reads."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import little_runs
import numpy as np
import polars as pl
import pytest
import torch
from command import Command, process
from PIL import Image

from bounds.records import load_records
from inference.images import read
from inference.models import Loading, load_model

HERE = ("--workers", 0)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "records.parquet"


def test_the_records_are_those_of_the_network_and_go_into_bounds(example: Path, out: Path, command: Command) -> None:
    result = command(
        *little_runs.arguments(example, out, *HERE, "--conditions", "clean,identity", "--logits", "--json")
    )
    assert (result.code, result.err) == (0, ""), result.err
    told = result.json
    assert (told["rows"], told["skipped"], told["resumed"], told["warnings"]) == (80, 0, 0, [])
    assert [row["condition"] for row in told["conditions"]] == ["clean", "identity"]
    rows = pl.read_parquet(out)
    assert rows["kind"].unique().sort().to_list() == ["clean", "other"]
    clean = rows.filter(pl.col("condition") == "clean")
    assert clean["image_id"].is_sorted()
    assert clean["label"].to_list() == [int(image[0]) for image in clean["image_id"]]
    overrides = {"size": 32, "crop": 1.0, "mean": (0.5,) * 3, "std": (0.5,) * 3}
    model = load_model(f"timm:test_resnet@{example / 'net.safetensors'}", Loading(num_classes=10, overrides=overrides))
    pixels = np.stack([read(example / "images" / image) for image in clean["image_id"]])
    with torch.inference_mode():
        expected = model.module(model.preprocessing.normalise(torch.from_numpy(pixels))).numpy()
    np.testing.assert_allclose(np.array(clean["logits"].to_list()), expected, atol=1e-4)
    assert clean["predicted"].to_list() == expected.argmax(axis=1).tolist()
    accuracy = (clean["predicted"] == clean["label"]).mean()
    assert told["conditions"][0]["accuracy"] == pytest.approx(accuracy)
    bounds = command(
        "bounds", out, "--perturbed", "identity", "--quantity", "lost,flips", "--denominator", "images", "--json"
    )
    assert bounds.code == 0
    assert {interval["paired"] for interval in bounds.json} == {0}


def test_identity_gives_the_clean_logits_bit_by_bit(example: Path, out: Path, command: Command) -> None:
    options = ("--conditions", "clean", "--conditions", "identity", "--logits", "--batch-size", 7)
    assert command(*little_runs.arguments(example, out, *HERE, *options)).code == 0
    rows = pl.read_parquet(out)
    one, other = (rows.filter(pl.col("condition") == name).drop("condition", "kind") for name in ("clean", "identity"))
    assert one.equals(other)


def test_worker_processes_change_no_byte(example: Path, out: Path, tmp_path: Path, command: Command) -> None:
    other = tmp_path / "workers.parquet"
    options = ("--conditions", "clean,identity", "--batch-size", 4)
    assert command(*little_runs.arguments(example, out, *HERE, *options)).code == 0
    result = process(*little_runs.arguments(example, other, "--workers", 3, *options))
    assert (result.code, result.err) == (0, "")
    assert out.read_bytes() == other.read_bytes()


def test_provenance_says_what_made_the_records_and_nothing_of_the_machine(
    example: Path, out: Path, command: Command
) -> None:
    assert command(*little_runs.arguments(example, out, *HERE, "--seed", 7)).code == 0
    told = load_records(out).provenance
    assert told["model"] == "timm:test_resnet@net.safetensors"
    assert re.fullmatch("[0-9a-f]{64}", told["weights_sha256"])
    assert json.loads(told["preprocessing"])["mean"] == [0.5, 0.5, 0.5]
    assert json.loads(told["libraries"])["torch"] == torch.__version__.partition("+")[0]
    assert (told["seed"], told["precision"], told["layout"]) == ("7", "float32", "channels-last")
    assert str(example) not in str(told)


def test_images_that_cannot_be_read_are_listed_and_the_run_goes_on(
    example: Path, out: Path, tmp_path: Path, command: Command
) -> None:
    images = tmp_path / "images"
    shutil.copytree(example / "images", images)
    (images / "3" / "empty.png").write_bytes(b"")
    whole = next((images / "4").glob("*.png"))
    (images / "4" / "half.png").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    arguments = little_runs.arguments(example, out, *HERE, "--conditions", "clean,identity", "--json", "--data", images)
    result = command(*arguments)
    assert (result.code, result.json["rows"], result.json["skipped"]) == (0, 80, 2)
    skipped = pl.read_csv(out.with_name("records.skipped.csv"))
    assert skipped["image_id"].to_list() == ["3/empty.png", "4/half.png"]
    assert skipped["path"].to_list() == [str(images / "3" / "empty.png"), str(images / "4" / "half.png")]
    assert not load_records(out).evaluation(perturbed="identity").unmatched[0]


def test_the_images_that_the_network_sees_are_saved_when_asked(
    example: Path, out: Path, tmp_path: Path, command: Command
) -> None:
    saved = tmp_path / "saved"
    options = ("--conditions", "clean,identity", "--save-images", saved)
    assert command(*little_runs.arguments(example, out, *HERE, *options)).code == 0
    for image in pl.read_parquet(out)["image_id"]:
        for condition in ("clean", "identity"):
            assert (read(saved / condition / image) == read(example / "images" / image)).all()
    twin = tmp_path / "twins" / "0"
    twin.mkdir(parents=True)
    for suffix in ("png", "jpg"):
        Image.new("RGB", (32, 32)).save(twin / f"a.{suffix}")
    shutil.copytree(example / "images" / "1", tmp_path / "twins" / "1")
    arguments = little_runs.arguments(example, out, *HERE, *options, "--data", twin.parent, "--num-classes", 2)
    network = little_runs.network(tmp_path / "two.safetensors", 2)
    arguments[2] = f"timm:test_resnet@{network}"
    assert "would replace that of" in command(*arguments).refused()


@pytest.mark.parametrize("saved", ["images", "images/0", "images/new", ".", "captures", "captures/0"])
def test_images_are_not_saved_over_those_that_are_read(
    saved: str, example: Path, out: Path, tmp_path: Path, command: Command
) -> None:
    """Not among those of the data either, where the next run would take them for more of it."""
    for name in ("images", "captures"):
        shutil.copytree(example / "images", tmp_path / name)
    arguments = little_runs.arguments(example, out, *HERE, "--data", tmp_path / "images", "--save-images")
    conditions = ("--conditions", f"clean,folder:{tmp_path / 'captures'}=screen")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.png")}
    assert "is not apart from" in command(*arguments, tmp_path / saved, *conditions).refused()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.png")} == before
    assert command(*arguments, tmp_path / "saved", *conditions).code == 0


def write_manifest(path: Path, images: Path, labels: dict[str, int]) -> Path:
    rows = "".join(f"{image},{label}\n" for image, label in labels.items())
    path.write_text("image_id,label\n" + rows)
    for image in labels:
        (path.parent / image).parent.mkdir(exist_ok=True)
        shutil.copy(images / image, path.parent / image)
    return path


@pytest.fixture
def labels(example: Path) -> dict[str, int]:
    images = example / "images"
    return {path.relative_to(images).as_posix(): int(path.parent.name) for path in sorted(images.rglob("*.png"))[:20]}


def test_classes_that_do_not_fit_are_refused_with_both_numbers(
    example: Path, out: Path, tmp_path: Path, labels: dict[str, int], command: Command
) -> None:
    def refused(classes: int, *more: object) -> str:
        arguments = little_runs.arguments(example, out, *HERE, *more)
        arguments[2] = f"timm:test_resnet@{little_runs.network(tmp_path / f'{classes}.safetensors', classes)}"
        arguments[arguments.index("--num-classes") + 1] = classes
        return command(*arguments).refused()

    assert "10 of the data, 12 of the model" in refused(12)
    manifest = write_manifest(tmp_path / "manifest.csv", example / "images", labels)
    assert "add --class-offset 1" in refused(1001, "--data", manifest)
    largest = max(labels.values())
    assert f"label {largest}: the model has the classes 0 to {largest - 1}" in refused(largest, "--data", manifest)


def test_an_offset_drops_the_background(
    example: Path, out: Path, tmp_path: Path, labels: dict[str, int], command: Command
) -> None:
    arguments = little_runs.arguments(example, out, *HERE, "--class-offset", 1, "--probabilities", "all")
    arguments[2] = f"timm:test_resnet@{little_runs.network(tmp_path / '11.safetensors', 11)}"
    arguments[arguments.index("--num-classes") + 1] = 11
    assert command(*arguments).code == 0
    rows = pl.read_parquet(out)
    assert rows["probabilities"].list.len().unique().to_list() == [10]
    assert rows["probabilities"].list.sum().to_list() == pytest.approx([1.0] * len(rows), abs=1e-5)


def test_the_model_chooses_among_the_classes_asked_for(
    example: Path, out: Path, tmp_path: Path, labels: dict[str, int], command: Command
) -> None:
    chosen = {image: label for image, label in labels.items() if label < 2}
    manifest = write_manifest(tmp_path / "manifest.csv", example / "images", chosen)
    options = (*HERE, "--data", manifest, "--probabilities", 3)
    assert command(*little_runs.arguments(example, out, *options, "--restrict-classes", "data")).code == 0
    rows = pl.read_parquet(out)
    assert set(rows["predicted"].unique()) <= {0, 1}
    assert load_records(out).provenance["restricted_classes"] == "[0, 1]"
    for text, rule in (("1,2", "is the label of"), ("0,1,10", "the classes 0 to 9"), ("cat", "is no class index")):
        refused = command(*little_runs.arguments(example, out, *options, "--restrict-classes", text)).refused()
        assert rule in refused


def test_chance_accuracy_points_at_the_class_order(example: Path, out: Path, tmp_path: Path, command: Command) -> None:
    images = tmp_path / "images"
    for label in range(10):
        source = sorted((example / "images" / str(label)).glob("*.png"))
        (images / str(label)).mkdir(parents=True)
        for number in range(10):
            shutil.copy(source[number % len(source)], images / str(label) / f"{number}.png")
    result = command(*little_runs.arguments(example, out, *HERE, "--data", images, "--json"))
    assert result.code == 0
    assert any("check the class order" in warning for warning in result.json["warnings"])
    assert "pairbounds: note: accuracy" in result.err


def test_logits_that_are_not_finite_are_told(example: Path, out: Path, tmp_path: Path, command: Command) -> None:
    path = little_runs.network(tmp_path / "nan.safetensors", 10, bias=float("nan"))
    arguments = little_runs.arguments(example, out, *HERE, "--conditions", "clean,identity", "--json")
    arguments[2] = f"timm:test_resnet@{path}"
    result = command(*arguments)
    assert result.code == 0
    assert any("40 of 40 rows under clean have outputs that are not finite" in text for text in result.json["warnings"])
    assert result.json["conditions"][0]["accuracy"] is None
    assert load_records(out).evaluation(perturbed="identity").unusable == 40


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--conditions", "nonsense"), "nonsense"),
        (("--batch-size", "many"), "neither auto nor a whole number"),
        (("--batch-size", 0), "neither auto nor a whole number"),
        (("--probabilities", "some"), "neither all, none nor a number"),
        (("--mean", "0.5,0.5"), "not one or three decimals"),
        (("--device", "nonsense"), "not usable here"),
        (("--device", "meta"), "not usable here"),
        (("--size", 100_000), "a side is 1 to 8192 pixels"),
        (("--data", "nowhere"), "--data 'nowhere': does not exist"),
        (("--class-map", "nowhere"), "--class-map 'nowhere': is no file"),
        (("--class-names", "nowhere"), "--class-names"),
        (("--class-names", __file__), "--class-names: is for open-clip models"),
        (("--template", "a {}"), "--template: is for open-clip models"),
        (("--out", "records.csv"), "ends in none of .parquet"),
    ],
)
def test_options_that_cannot_be_are_refused_before_the_work(
    options: tuple[Any, ...], rule: str, example: Path, out: Path, command: Command
) -> None:
    assert rule in command(*little_runs.arguments(example, out, *HERE, *options)).refused()
    assert not list(out.parent.iterdir())


def test_the_tutorial_runs_as_it_is_written(root: Path, tmp_path: Path) -> None:
    """The `sh` block under the tutorial's heading, line by line."""
    page = (root / "docs" / "inference.md").read_text(encoding="utf-8")
    block = re.search(r"## From scratch.*?```sh\n(.*?)```", page, re.DOTALL)
    assert block is not None
    told = little_runs.shell(block[1], tmp_path)
    accuracy = float(re.search(r"^clean +\d+ +\d+ +(\S+)", told, re.MULTILINE)[1])  # type: ignore[index]
    assert accuracy >= 0.95
    assert "test_resnet: clean → fog/3, threshold 0.9" in told
