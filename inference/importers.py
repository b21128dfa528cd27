"""Records from what others already have: arrays of outputs, and predictions of timm's `inference.py`.

Rows of an array are matched with labels by position, since an array has no ids; rows of predictions by file name.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bounds.errors import PairboundsError
from bounds.files import replacing
from bounds.records import ABOVE_ONE, ROW_SUM
from inference.datasets import open_manifest
from inference.predictions import Kept, kind_of, probability_table, record_table
from inference.provenance import versions
from inference.record_files import write_records

__all__ = ["ARRAYS", "VALUES", "Imported", "find", "import_records"]

VALUES = ("logits", "probabilities")
ARRAYS = (".npy", ".npz")
BLOCK = 4096
"""Rows that become records at a time."""

Labels = Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import gave: rows in the file, outputs of the model if known, and what to look at."""

    rows: int
    classes: int | None
    notes: tuple[str, ...]


def find(texts: Sequence[str]) -> dict[str, Path]:
    """Condition -> file, from `CONDITION=FILE`, or a folder whose arrays name their conditions by their paths.

    Raises:
        PairboundsError: if a text is neither, a file is absent, or a condition stands twice.
    """
    found: list[tuple[str, Path]] = []
    for text in texts:
        condition, equals, name = text.partition("=")
        folder = Path(text)
        if folder.is_dir():
            files = sorted(path for path in folder.rglob("*") if path.suffix in ARRAYS)
            if not files:
                raise PairboundsError("SOURCE", text, f"holds no {' or '.join(ARRAYS)} file", "name a folder that does")
            found += [(path.relative_to(folder).with_suffix("").as_posix(), path) for path in files]
        elif condition and equals and Path(name).is_file():
            found.append((condition, Path(name)))
        else:
            raise PairboundsError(
                "SOURCE", text, "is no folder, and no CONDITION=FILE with a file that exists", "write clean=FILE.npy"
            )
    for number, (condition, _) in enumerate(found):
        if condition in dict(found[:number]):
            raise PairboundsError("SOURCE", condition, "two files for one condition", "name one of them otherwise")
    return dict(found)


def import_records(
    sources: Mapping[str, Path], labels: Path, out: Path, *, model: str, values: str | None, kept: Kept
) -> Imported:
    """Write records of files of outputs.

    Args:
        sources: by condition: all .npy or .npz with outputs of shape (N, C), or all CSV files of timm's
            `inference.py --include-index`.
        labels: CSV with `image_id` and `label`, in the order of the arrays' rows; for arrays also .npy or .txt with
            one class index a row, and then the ids are the rows' numbers.
        out: the record file.
        model: name in the records.
        values: what the arrays hold, one of `VALUES`; None for predictions, which say so themselves.
        kept: what is kept of them beside the record's own numbers.

    Raises:
        PairboundsError: if shapes do not go together, a probability is none, or nothing can be matched.
    """
    arrays = {path.suffix in ARRAYS for path in sources.values()}
    if len(arrays) > 1:
        raise PairboundsError("SOURCE", None, "arrays and predictions in one import", "import them one after the other")
    if arrays == {True}:
        if values is None:
            raise PairboundsError("--values", None, "an array does not say what it holds", f"add --values {VALUES[0]}")
        if values == "probabilities" and kept.logits:
            raise PairboundsError("--logits", None, "the arrays hold probabilities", "leave it out")
        known = _labels(labels)
        opened = {condition: _outputs(path, values) for condition, path in sources.items()}
        for condition, array in opened.items():
            _check_logits(condition, array, values)
            _check_shape(condition, array, next(iter(opened.values())), known)
        classes = next(iter(opened.values())).shape[1]
        tables = _of_arrays(opened, known, model, values, kept)
        notes: tuple[str, ...] = ()
    else:
        if values is not None or kept != Kept():
            option = "--values" if values is not None else "--logits" if kept.logits else "--probabilities"
            raise PairboundsError(option, None, "is for arrays", "leave it out: predictions say what they hold")
        predictions = {condition: _predictions(path) for condition, path in sources.items()}
        found, notes = _of_predictions(predictions, open_manifest(labels), model)
        tables, classes = iter(found), None
    first = next(tables)
    provenance = _provenance(sources, labels, model, values)
    rows = 0

    def counted() -> Iterator[pa.Table]:
        nonlocal rows
        for table in (first, *tables):
            rows += len(table)
            yield table

    with replacing(out) as part:
        write_records(counted(), part, first.schema, provenance)
    return Imported(rows, classes, notes)


def _provenance(sources: Mapping[str, Path], labels: Path, model: str, values: str | None) -> dict[str, str]:
    def told(path: Path) -> dict[str, str]:
        with path.open("rb") as file:
            return {"file": path.name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}

    return {
        "tool": "pairbounds records import",
        "libraries": json.dumps(versions()),
        "model_name": model,
        "imported": json.dumps({condition: told(path) for condition, path in sources.items()}),
        "imported_values": values or "predictions",
        "imported_labels": json.dumps(told(labels)),
    }


def _labels(path: Path) -> Labels:
    """Ids and labels, in the order of the rows."""
    if path.suffix == ".npy":
        array = _loaded(path)
        if array.ndim != 1 or array.dtype.kind not in "iu" or (array < 0).any():
            raise PairboundsError(
                "--labels",
                str(path),
                f"is {array.dtype} {array.shape}, not one class index a row",
                "give whole numbers",
            )
        indices = [int(index) for index in array]
    elif path.suffix == ".txt":
        lines = path.read_text(encoding="utf-8-sig").split()
        wrong = [line for line in lines if not re.fullmatch("[0-9]{1,9}", line)]
        if wrong:
            raise PairboundsError("--labels", wrong[0], "is no class index", "write one whole number a line")
        indices = [int(line) for line in lines]
    else:
        return open_manifest(path)
    digits = len(str(max(len(indices) - 1, 0)))
    return [(f"{row:0{digits}}", index) for row, index in enumerate(indices)]


def _loaded(path: Path, name: str = "") -> Any:
    """The array of a file; of an .npz the one of that name, or the only one."""
    try:
        if path.suffix == ".npy":
            return np.load(path, mmap_mode="r", allow_pickle=False)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as loaded:
            found = name if name in loaded.files else loaded.files[0] if len(loaded.files) == 1 else None
            if found is not None:
                return loaded[found]
            held = ", ".join(loaded.files)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise PairboundsError("file", str(path), f"cannot be read ({error})", "save it with numpy.save") from error
    raise PairboundsError("file", str(path), f"holds {held}, none of them {name!r}", f"name one {name}")


def _outputs(path: Path, values: str) -> npt.NDArray[np.floating[Any]]:
    """The array of outputs in a file, of shape (N, C)."""
    loaded = _loaded(path, values)
    if loaded.ndim != 2 or loaded.dtype.kind != "f" or 0 in loaded.shape:
        raise PairboundsError(
            "file", str(path), f"is {loaded.dtype} {loaded.shape}, not floats (images, classes)", "save the outputs"
        )
    return loaded  # type: ignore[no-any-return]  # an array, as was just seen


def _check_shape(condition: str, array: npt.NDArray[Any], first: npt.NDArray[Any], known: Labels) -> None:
    if len(array) != len(known):
        raise PairboundsError(
            condition, len(array), f"rows, but there are {len(known)} labels", "give as many, in the same order"
        )
    if array.shape[1] != first.shape[1]:
        raise PairboundsError(
            condition, array.shape[1], f"classes, but {first.shape[1]} in the first file", "import one model at a time"
        )
    largest = max(index for _, index in known)
    if largest >= array.shape[1]:
        raise PairboundsError(
            "label", largest, f"the outputs are of the classes 0 to {array.shape[1] - 1}", "correct one of them"
        )


def _check_logits(condition: str, array: npt.NDArray[Any], values: str) -> None:
    """Check that what is called logits are not probabilities: softmax would be taken twice."""
    first = np.asarray(array[:BLOCK], dtype=np.float64)
    if values == "logits" and (first >= 0).all() and (np.abs(first.sum(axis=1) - 1) <= ROW_SUM).all():
        raise PairboundsError(
            "--values", values, f"but every row under {condition} sums to 1", "give --values probabilities"
        )


def _of_arrays(
    opened: Mapping[str, npt.NDArray[Any]], known: Labels, model: str, values: str, kept: Kept
) -> Iterator[pa.Table]:
    make: Any = record_table if values == "logits" else probability_table
    for condition, array in opened.items():
        for start in range(0, len(known), BLOCK):
            rows = known[start : start + BLOCK]
            yield make(
                np.asarray(array[start : start + BLOCK]),
                model=model,
                condition=condition,
                kind=kind_of(condition),
                ids=[image for image, _ in rows],
                labels=[label for _, label in rows],
                kept=kept,
            )


@dataclass(frozen=True, slots=True)
class _Predictions:
    """The largest outputs of N images: class indices of shape (N, K), and their probabilities if they are known."""

    ids: list[str]
    indices: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64] | None

    @property
    def first(self) -> npt.NDArray[np.int64]:
        """The place of the largest in each row; of equal ones, of that with the lowest index."""
        if self.values is None:
            return np.zeros(len(self.ids), dtype=np.int64)
        largest = self.values == self.values.max(axis=1, keepdims=True)
        return np.asarray(np.where(largest, self.indices, np.iinfo(np.int64).max).argmin(axis=1))

    def of_labels(self, labels: Mapping[str, int]) -> npt.NDArray[np.float64]:
        """The label's probability; NaN where it is not among the largest."""
        assert self.values is not None
        own = np.array([labels[image] for image in self.ids])
        hit = self.indices == own[:, None]
        return np.where(hit.any(axis=1), np.where(hit, self.values, 0.0).sum(axis=1), np.nan)


def _predictions(path: Path) -> _Predictions:
    """A file of timm's script; its ids are file names. Logits are dropped: they are no probabilities without the rest.

    Raises:
        PairboundsError: if it is none, or holds no indices.
    """

    def refused(
        why: str, way_out: str = "write it with timm's inference.py --include-index --fullname"
    ) -> PairboundsError:
        return PairboundsError("file", str(path), why, way_out)

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise refused(f"is no CSV in UTF-8 ({error})") from error
    try:
        names = [row["filename"] for row in rows]
        indices, values = _numbers(rows, "index"), _numbers(rows, "prob")
    except (KeyError, ValueError) as error:
        raise refused(f"has a row without what a header promises ({error})") from error
    if indices is None or not (np.isfinite(indices) & (indices >= 0) & (indices == np.floor(indices))).all():
        raise refused("has no rows with class indices in a column index")
    if values is not None and (values.shape != indices.shape or not ((values >= 0) & (values <= 1 + ABOVE_ONE)).all()):
        raise refused("has not one probability in [0, 1] for each index")
    return _Predictions(names, indices.astype(np.int64), values)


def _numbers(rows: Sequence[Mapping[str, str]], column: str) -> npt.NDArray[np.float64] | None:
    """A column, its parts `column_0`, …, or its lists, as floats of shape (N, K); None if there is none."""
    header = list(rows[0]) if rows else []
    parts = [column] if column in header else [name for name in header if re.fullmatch(f"{column}_[0-9]+", name)]
    if not parts:
        return None
    texts = [
        [text for name in parts for text in (row[name] or "").strip("[]").replace(",", " ").split()] for row in rows
    ]
    return np.array(texts, dtype=np.float64)


def _of_predictions(
    predictions: Mapping[str, _Predictions], known: Labels, model: str
) -> tuple[list[pa.Table], tuple[str, ...]]:
    """A table a condition, and notes on what was left out."""
    labels = dict(known)
    notes: list[str] = []
    matched = {condition: _matched(condition, file, labels, notes) for condition, file in predictions.items()}
    own: dict[str, npt.NDArray[np.float64]] = {}
    if any(file.values is None for file in matched.values()):
        notes.append("without probabilities (--output-type prob) there is neither confidence nor true_probability")
    else:
        own = {condition: file.of_labels(labels) for condition, file in matched.items()}
        if any(np.isnan(values).any() for values in own.values()):
            notes.append("true_probability is left out: not every label is among the largest (--topk N keeps N)")
            own = {}
    confident = all(file.values is not None for file in matched.values())
    tables = []
    for condition, file in matched.items():
        rows = np.arange(len(file.ids))
        columns: dict[str, Any] = {
            "model": [model] * len(rows),
            "condition": [condition] * len(rows),
            "kind": [kind_of(condition)] * len(rows),
            "image_id": file.ids,
            "label": pa.array([labels[image] for image in file.ids], pa.int32()),
            "predicted": pa.array(file.indices[rows, file.first], pa.int32()),
        }
        if confident and file.values is not None:
            columns["confidence"] = file.values[rows, file.first]
        if own:
            columns["true_probability"] = own[condition]
        tables.append(pa.table(columns))
    return tables, tuple(notes)


def _matched(condition: str, file: _Predictions, labels: Mapping[str, int], notes: list[str]) -> _Predictions:
    """The rows whose names are ids of the labels, or the last parts of these, with those ids."""
    by_name: dict[str, list[str]] = {}
    for image in labels:
        by_name.setdefault(image.rpartition("/")[2], []).append(image)
    rows: dict[str, int] = {}
    for row, name in enumerate(file.ids):
        images = [name] if name in labels else by_name.get(name, [])
        if len(images) > 1 or (images and images[0] in rows):
            rule = f"is the name of {len(images)} images" if len(images) > 1 else f"stands twice under {condition}"
            raise PairboundsError("filename", name, rule, "use timm's inference.py --fullname, and keep one row each")
        rows.update(dict.fromkeys(images, row))
    if not rows:
        shown = file.ids[0] if file.ids else None
        raise PairboundsError(
            "filename", shown, f"no row under {condition} is of an image of the labels", "give ids that are file names"
        )
    without, missing = len(file.ids) - len(rows), len(labels) - len(rows)
    if without or missing:
        notes.append(
            f"{condition}: {without} predictions have no label and are left out, {missing} labels no prediction"
        )
    kept = list(rows.values())
    return _Predictions(list(rows), file.indices[kept], None if file.values is None else file.values[kept])
