"""Records of what others already have: the numbers of the files, matched with the right images, or one line why not."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command import Command

from bounds.records import load_records

LABELS = [("cat/b.png", 0), ("ant/a.png", 2), ("dog/c.png", 1)]
LOGITS = np.array([[2.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 3.0, 0.5]], np.float32)


def softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits.astype(float) - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with labels in an order of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text("image_id,label\n" + "".join(f"{name},{label}\n" for name, label in LABELS))
    np.save("clean.npy", LOGITS)
    return tmp_path


def imported(command: Command, *sources: object, labels: object = "labels.csv", **options: object) -> pl.DataFrame:
    more = [part for name, value in options.items() for part in (f"--{name}", value)]
    result = command("records", "import", *sources, "--labels", labels, "--model", "net", "--out", "out.parquet", *more)
    assert result.code == 0, result.err
    return pl.read_parquet("out.parquet")


def refused(command: Command, *sources: object, labels: object = "labels.csv", **options: object) -> str:
    more = [part for name, value in options.items() for part in (f"--{name}", value)]
    result = command("records", "import", *sources, "--labels", labels, "--model", "net", "--out", "out.parquet", *more)
    assert not Path("out.parquet").exists()
    return result.refused()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_logits(folder, command, dtype):
    np.save("fog.npy", LOGITS[::-1].astype(dtype))
    rows = imported(command, "clean=clean.npy", "fog/3=fog.npy", values="logits", probabilities="all")
    assert rows["image_id"].to_list() == [name for name, _ in LABELS] * 2
    assert rows["label"].to_list() == [0, 2, 1] * 2
    assert rows["predicted"].to_list() == [0, 1, 1, 1, 1, 0]
    assert rows["kind"].to_list() == ["clean"] * 3 + ["corruption"] * 3
    shares = softmax(LOGITS)
    assert rows["true_probability"][:3].to_list() == pytest.approx(shares[[0, 1, 2], [0, 2, 1]])
    assert np.array(rows["probabilities"][:3].to_list()) == pytest.approx(shares, abs=1e-6)
    told = load_records("out.parquet")
    assert told.evaluation().images == 3
    assert json.loads(told.provenance["imported"])["fog/3"]["file"] == "fog.npy"
    assert str(folder) not in str(told.provenance)


def test_probabilities_stay_as_they_are(folder, command):
    """Sums off by rounding are kept, NaN is no prediction, a tie goes to the lowest class and is told."""
    shares = np.array([[0.5, 0.5, 0.0], [np.nan, 0.5, 0.5], [0.2, 0.7, 0.1000003]], np.float32)
    np.savez("shares.npz", shares)
    result = command(
        *("records", "import", "clean=shares.npz", "--labels", "labels.csv", "--model", "net", "--out", "out.parquet"),
        *("--values", "probabilities", "--probabilities", "all", "--json"),
    )
    rows = pl.read_parquet("out.parquet")
    assert rows["predicted"].to_list() == [0, None, 1]
    assert rows["confidence"].to_list() == [0.5, None, float(shares[2, 1])]
    assert rows["true_probability"].to_list() == [0.5, None, float(shares[2, 1])]
    assert rows["probabilities"][2].to_list() == shares[2].tolist()
    first, second = result.json["warnings"]
    assert "1 of 3 rows under clean have outputs that are not finite" in first
    assert "(1 equal, where the lowest index counts)" in second
    assert result.json["conditions"][0]["unusable"] == 1
    assert load_records("out.parquet").evaluation(perturbed="clean").unusable == 1


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ([1.2, -0.1, -0.1], "probabilities -0.1"),
        ([0.5, 0.5, 0.2], "probabilities 1.2"),
        ([3.0, 1.0, 2.0], "probabilities 6.0"),
        ([0.6, 0.5, -0.1], "an entry of 'ant/a.png' under clean"),
    ],
)
def test_what_is_no_softmax_is_refused(folder, command, row, rule):
    shares = np.array([[0.5, 0.5, 0.0], row, [0.2, 0.7, 0.1]])
    np.save("shares.npy", shares)
    assert rule in refused(command, "clean=shares.npy", values="probabilities")


def test_probabilities_that_are_called_logits_are_refused(folder, command):
    np.save("shares.npy", np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.2, 0.7, 0.1]]))
    assert "every row under clean sums to 1; give --values probabilities" in refused(
        command, "clean=shares.npy", values="logits"
    )
    np.save("logits.npy", np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.2, 0.7, 0.2]]))
    assert len(imported(command, "clean=logits.npy", values="logits")) == 3


def test_a_folder_of_arrays(folder, command):
    for name in ("clean", "fog/3", "snow/1"):
        path = folder / "outputs" / f"{name}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, LOGITS)
    rows = imported(command, "outputs", values="logits")
    assert rows["condition"].unique().sort().to_list() == ["clean", "fog/3", "snow/1"]


@pytest.mark.parametrize("ending", ["npy", "txt"])
def test_labels_without_ids(folder, command, ending):
    if ending == "npy":
        np.save("labels.npy", np.array([0, 2, 1] * 4, np.int64))
    else:
        Path("labels.txt").write_text("0\n2\n1\n" * 4)
    np.savez("clean.npz", other=np.zeros(3), logits=np.tile(LOGITS, (4, 1)))
    rows = imported(command, "clean=clean.npz", labels=f"labels.{ending}", values="logits")
    assert rows["image_id"].to_list() == [f"{row:02}" for row in range(12)]
    assert rows["label"].to_list() == [0, 2, 1] * 4


def test_many_rows_are_those_of_few(folder, command):
    """More rows than are turned into records at a time."""
    draw = np.random.Generator(np.random.PCG64(0))
    logits = draw.normal(size=(5000, 4)).astype(np.float32)
    np.save("many.npy", logits)
    np.save("labels.npy", draw.integers(0, 4, 5000))
    rows = imported(command, "clean=many.npy", labels="labels.npy", values="logits")
    assert rows["predicted"].to_numpy() == pytest.approx(logits.argmax(axis=1))


@pytest.mark.parametrize(
    ("sources", "options", "rule"),
    [
        (("clean.npy",), {"values": "logits"}, "write clean=FILE.npy"),
        (("clean=absent.npy",), {"values": "logits"}, "with a file that exists"),
        (("empty",), {"values": "logits"}, "holds no .npy or .npz file"),
        (("clean=clean.npy",), {}, "add --values logits"),
        (("clean=clean.npy", "clean=wide.npy"), {"values": "logits"}, "two files for one condition"),
        (("clean=clean.npy", "fog/1=wide.npy"), {"values": "logits"}, "fog/1 5: classes, but 3"),
        (("clean=short.npy",), {"values": "logits"}, "clean 2: rows, but there are 3 labels"),
        (("clean=narrow.npy",), {"values": "logits"}, "label 2: the outputs are of the classes 0 to 1"),
        (("clean=images.npy",), {"values": "logits"}, "is uint8 (3, 8, 8, 3), not floats"),
        (("clean=objects.npy",), {"values": "logits"}, "cannot be read"),
        (("clean=objects.npz",), {"values": "logits"}, "cannot be read"),
        (("clean=damaged.npz",), {"values": "logits"}, "cannot be read"),
        (("clean=labels.csv",), {"values": "logits"}, "is for arrays"),
        (("clean=labels.csv",), {}, "inference.py --include-index"),
        (("clean=clean.npy", "fog/1=labels.csv"), {}, "arrays and predictions in one import"),
        (("clean=two.npz",), {"values": "logits"}, "holds a, b, none of them 'logits'"),
    ],
)
def test_what_cannot_be_imported(folder, command, sources, options, rule):
    (folder / "empty").mkdir()
    np.save("wide.npy", np.zeros((3, 5), np.float32))
    np.save("short.npy", LOGITS[:2])
    np.save("narrow.npy", LOGITS[:, :2])
    np.save("images.npy", np.zeros((3, 8, 8, 3), np.uint8))
    np.save("objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.savez("objects.npz", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.savez("two.npz", a=LOGITS, b=LOGITS)
    Path("damaged.npz").write_bytes(Path("two.npz").read_bytes()[:200])
    assert rule in refused(command, *sources, **options)


@pytest.mark.parametrize(
    ("values", "rule"),
    [(np.array([0.0, 1.0, 2.0]), "not one class index a row"), (np.array([0, -1, 2]), "not one class")],
)
def test_labels_that_are_none(folder, command, values, rule):
    np.save("labels.npy", values)
    assert rule in refused(command, "clean=clean.npy", labels="labels.npy", values="logits")
    Path("labels.txt").write_text("0\ncat\n1\n")
    assert "'cat': is no class index" in refused(command, "clean=clean.npy", labels="labels.txt", values="logits")


def write_timm(path: str, top: int, output: str, names: list[str], separate: bool = False, **changed: object) -> None:
    """As timm's inference.py (1.0, `--include-index`) writes them through pandas: arrays as NumPy shows them."""
    values = softmax(LOGITS).astype(np.float32) if output == "prob" else LOGITS
    order = np.argsort(-values, axis=1, kind="stable")[:, :top]
    columns: dict[str, list[object]] = {"filename": list(names)}
    for name, array in (("index", order), ("label", order.astype(str)), (output, np.take_along_axis(values, order, 1))):
        if separate and top > 1:
            columns |= {f"{name}_{i}": list(array[:, i]) for i in range(top)}
        else:
            columns[name] = list(array[:, 0]) if top == 1 else [str(row) for row in array]
    columns |= {name: [value] * len(names) for name, value in changed.items()}
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_predictions_of_timm_with_every_label_among_them(folder, command, separate, full):
    names = [name if full else name.rpartition("/")[2] for name, _ in LABELS]
    write_timm("net.csv", 3, "prob", names, separate)
    header, *lines = Path("net.csv").read_text().splitlines()
    Path("net.csv").write_text("\n".join([header, *reversed(lines)]))
    rows = imported(command, "clean=net.csv").sort("image_id")
    shares = softmax(LOGITS)
    assert rows["image_id"].to_list() == ["ant/a.png", "cat/b.png", "dog/c.png"]
    assert rows["predicted"].to_list() == [1, 0, 1]
    assert rows["confidence"].to_list() == pytest.approx(shares.max(axis=1)[[1, 0, 2]])
    assert rows["true_probability"].to_list() == pytest.approx(shares[[1, 0, 2], [2, 0, 1]])


def test_predictions_of_timm_with_the_largest_alone(folder, command):
    write_timm("net.csv", 1, "prob", [name for name, _ in LABELS])
    rows = imported(command, "clean=net.csv", "fog/3=net.csv")
    assert rows["predicted"].to_list() == [0, 1, 1] * 2
    assert "true_probability" not in rows.columns
    assert load_records("out.parquet").evaluation().clean.confidence is not None


def test_logits_of_timm_are_predictions_alone(folder, command):
    write_timm("net.csv", 2, "logit", [name for name, _ in LABELS], separate=True)
    rows = imported(command, "clean=net.csv")
    assert rows["predicted"].to_list() == [0, 1, 1]
    assert {"confidence", "true_probability"}.isdisjoint(rows.columns)


def test_predictions_without_a_label_are_left_out_and_counted(folder, command):
    write_timm("net.csv", 1, "prob", ["cat/b.png", "bird/z.png", "dog/c.png"])
    assert imported(command, "clean=net.csv")["image_id"].to_list() == ["cat/b.png", "dog/c.png"]
    result = command(
        *("records", "import", "clean=net.csv", "--labels", "labels.csv", "--model", "net", "--out", "out.parquet")
    )
    assert "clean: 1 predictions have no label and are left out, 1 labels no prediction" in result.err


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        (["b.png", "b.png", "c.png"], "'b.png': stands twice under clean"),
        (["x.png", "y.png", "z.png"], "'x.png': no row under clean is of an image of the labels"),
        (["a.png", "twin.png", "c.png"], "'twin.png': is the name of 2 images"),
    ],
)
def test_names_that_cannot_be_matched(folder, command, names, rule):
    with Path("labels.csv").open("a") as file:
        file.write("cat/twin.png,0\ndog/twin.png,1\n")
    write_timm("net.csv", 1, "prob", names)
    assert rule in refused(command, "clean=net.csv")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"prob": 1.5}, "not one probability in [0, 1]"),
        ({"index": -1}, "no rows with class indices"),
        ({"index": 1.5}, "no rows with class indices"),
        ({"index": "inf"}, "no rows with class indices"),
        ({"index": ""}, "not one probability"),
        ({"index": "cat"}, "has a row without what a header promises"),
    ],
)
def test_a_damaged_file_of_predictions(folder, command, change, rule):
    write_timm("net.csv", 1, "prob", [name for name, _ in LABELS], **change)
    assert rule in refused(command, "clean=net.csv")


def test_a_row_that_ends_early(folder, command):
    write_timm("net.csv", 1, "prob", [name for name, _ in LABELS])
    Path("net.csv").write_text(Path("net.csv").read_text().rstrip().rpartition(",")[0])
    assert "has a row without what a header promises" in refused(command, "clean=net.csv")
