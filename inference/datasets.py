"""Images with their labels, in one order."""

from __future__ import annotations

import csv
import functools
import io
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bounds.errors import MissingExtraError, PairboundsError
from inference.images import SUFFIXES

__all__ = ["IMAGENET", "IMAGENET_ES", "Data", "Item", "open_class_map", "open_data", "open_manifest", "open_names"]

IMAGENET = "imagenet"
"""As a class map: the 1000 classes of ImageNet-1k by their WordNet ids."""

IMAGENET_ES = "sampled_tin_no_resize2"
"""The folder of the clean images in ImageNet-ES, beside those of its captures."""

SHOWN = 5
"""How many names a message lists."""


@dataclass(frozen=True, slots=True)
class Item:
    """One image: its id is its path relative to the root, with `/`."""

    image_id: str
    path: Path
    label: int | None


@dataclass(frozen=True, slots=True)
class Data:
    """Items sorted by image_id; `class_names` by index, empty if unknown; `notes` for the user."""

    items: tuple[Item, ...]
    root: Path
    class_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def open_data(source: str | Path, *, class_map: Path | None = None, labelled: bool = True) -> Data:
    """The images of a folder by class, or of a CSV manifest.

    Args:
        source: a folder with one folder a class, whose index is its place among their sorted names; a folder of
            ImageNet-ES, which holds such a one as `IMAGENET_ES`; or a CSV file with the columns `image_id` (a path
            relative to the file's folder, or to the folder `images` beside the file) and `label`.
        class_map: gives the class index of a folder's name, or of what stands in a manifest's `label`: a CSV file with
            the column `label` and `name`, `wnid` or both; a text file, one name a line, in order of the indices; or
            `IMAGENET`.
        labelled: if not, `source` is a folder of images of whatever classes, at any depth, and they have no labels.

    Raises:
        PairboundsError: if something is missing, stands twice, or is no class index.
    """
    source = Path(source)
    if not labelled and (class_map is not None or not source.is_dir()):
        what = "--class-map" if class_map is not None else "--data"
        raise PairboundsError(what, str(class_map or source), "is for labelled images", "name a folder of images alone")
    if not source.exists():
        raise PairboundsError("--data", str(source), "does not exist", "name a folder by class, or a CSV manifest")
    mapped = None if class_map is None else open_class_map(class_map)
    names: tuple[str, ...] = ()
    notes: list[str] = []
    root = source
    if not labelled:
        items = [Item(path.relative_to(source).as_posix(), path, None) for path in _images(source)]
        _check_ids(item.image_id for item in items)
    elif source.is_dir():
        root = source / IMAGENET_ES if (source / IMAGENET_ES).is_dir() else source
        items, names, notes = _of_folder(root, mapped)
    else:
        root, items, notes = _of_manifest(source, mapped)
    if not items:
        endings = ", ".join(sorted(SUFFIXES))
        raise PairboundsError("--data", str(source), "holds no images", f"name a folder by class with {endings} files")
    return Data(tuple(sorted(items, key=lambda item: item.image_id)), root, names, tuple(notes))


def open_manifest(path: Path, mapped: Mapping[str, int | None] | None = None) -> list[tuple[str, int]]:
    """The (image_id, label) of a CSV manifest, in its order; the images are not looked for.

    Args:
        path: with the columns `image_id` and `label`.
        mapped: class index by what stands in `label`, as `open_class_map` gives it.

    Raises:
        PairboundsError: if a column is missing, a label is no class index, or an id is none or stands twice.
    """
    rows = _rows(path, ("image_id",))
    _check_ids([row["image_id"] for row in rows])
    return [(_relative(row["image_id"]), _label("label", row["label"], mapped)) for row in rows]


def _of_folder(source: Path, mapped: Mapping[str, int | None] | None) -> tuple[list[Item], tuple[str, ...], list[str]]:
    """Items, names of the classes if they are the sorted folders, and notes on what was left out."""
    inside = sorted(source.iterdir(), key=lambda path: _composed(path.name))
    folders = [path for path in inside if path.is_dir() and not path.name.startswith(".")]
    _check_twins([path.name for path in folders])
    items: list[Item] = []
    empty: list[str] = []
    others: Counter[str] = Counter()
    for index, folder in enumerate(folders):
        found = _images(folder, others)
        if not found:
            empty.append(folder.name)
            continue
        label = index if mapped is None else _label("folder", folder.name, mapped)
        items += [Item(path.relative_to(source).as_posix(), path, label) for path in found]
    _check_ids(item.image_id for item in items)
    notes = []
    if empty:
        counts = ", and still count as classes" if mapped is None else ""
        notes.append(f"class folders without an image{counts}: {_some(empty)}")
    if others:
        told = _some([f"{ending} ({many})" for ending, many in sorted(others.items())])
        notes.append(f"files left out by their ending: {told}")
    outside = sum(path.is_file() and path.suffix.lower() in SUFFIXES for path in inside)
    if outside:
        notes.append(f"images outside of the class folders, left out: {outside}")
    return items, tuple(folder.name for folder in folders) if mapped is None else (), notes


def _images(folder: Path, others: Counter[str] | None = None) -> list[Path]:
    """The image files below a folder, also links that lead nowhere; other files are counted by their endings."""
    files = [path for path in folder.rglob("*") if path.is_file() or (path.is_symlink() and not path.is_dir())]
    if others is not None:
        others.update(path.suffix.lower() or "none" for path in files if path.suffix.lower() not in SUFFIXES)
    return [path for path in files if path.suffix.lower() in SUFFIXES]


def _of_manifest(source: Path, mapped: Mapping[str, int | None] | None) -> tuple[Path, list[Item], list[str]]:
    """The root, the items, and notes on how ids are spelled."""
    rows = open_manifest(source, mapped)
    ids = [image for image, _ in rows]
    for root in (source.parent, source.parent / "images"):
        paths = [_spelled(root, image) for image in ids]
        if any(paths):
            break
    else:
        if ids:
            raise PairboundsError(
                "--data",
                str(source),
                f"none of its {len(ids)} images (such as {ids[0]!r}) lies in {source.parent} or its folder images",
                "write image_id relative to one of these",
            )
    items = [Item(image, path or root / image, label) for (image, label), path in zip(rows, paths, strict=True)]
    respelled = sum(path is not None and path != root / image for image, path in zip(ids, paths, strict=True))
    notes = []
    if respelled:
        notes.append(f"{respelled} ids are spelled with other Unicode code points (NFC, NFD) than their files")
    spaced = sum(image != image.strip() for image in ids)
    if spaced:
        notes.append(f"{spaced} ids begin or end with white space; they are kept as they are")
    return root, items, notes


def _relative(image: str) -> str:
    """An id that is a path inside of a folder."""
    path = PurePosixPath(image)
    if not image or path.is_absolute() or ".." in path.parts or path.as_posix() != image:
        raise PairboundsError(
            "image_id", image, "is no plain relative path", "write such as cat/1.png, with / and without . and .."
        )
    return image


def _spelled(root: Path, image: str) -> Path | None:
    """The file, also where its name is in the other Unicode form; None if there is none."""
    for form in (image, _composed(image), unicodedata.normalize("NFD", image)):
        path = root / form
        if os.path.lexists(path):
            return path
    return None


def _check_ids(ids: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for image in ids:
        if not image.isascii() and image.encode(errors="replace").decode() != image:
            raise PairboundsError("image_id", image, "is not UTF-8", "rename the file")
        plain = _composed(image)
        if plain in seen:
            different = "" if seen[plain] == image else " (in two Unicode forms, NFC and NFD)"
            raise PairboundsError("image_id", image, f"stands twice{different}", "keep or rename one")
        seen[plain] = image


def _check_twins(names: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        twin = seen.setdefault(_composed(name).strip(), name)
        if twin != name:
            raise PairboundsError(
                "folder", name, f"differs from {twin!r} in white space or Unicode form only", "rename one"
            )


def open_class_map(path: Path) -> dict[str, int | None]:
    """Class indices by name, as `open_data` takes them; None for a name that has several."""
    if str(path) == IMAGENET:
        return {name: index for index, name in enumerate(_wnids())}
    if not path.is_file():
        raise PairboundsError("--class-map", str(path), "is no file", f"name a CSV or text file, or {IMAGENET}")
    if path.suffix.lower() == ".txt":
        pairs = [(name, index) for index, name in enumerate(open_names("--class-map", path))]
    else:
        pairs = [
            (row[column], _label("label", row["label"], None))
            for row in _rows(path, ("name", "wnid"))
            for column in ("name", "wnid")
            if column in row
        ]
    found: dict[str, int | None] = {}
    for name, index in pairs:
        plain = _composed(name)
        found[plain] = index if found.get(plain, index) == index else None
    return found


def open_names(option: str, path: Path) -> list[str]:
    """The names of a text file, one a line, in order of the class indices.

    Raises:
        PairboundsError: naming the option, if a line before the last name is blank, which would shift the indices.
    """
    names = [line.strip() for line in _text(path).rstrip().splitlines()]
    if "" in names:
        raise PairboundsError(
            option, str(path), f"line {names.index('') + 1} is blank", "give one name a line, in order of the indices"
        )
    return names


@functools.cache
def _wnids() -> Sequence[str]:
    try:
        from timm.data.imagenet_info import ImageNetInfo
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "--class-map", IMAGENET, "needs the package timm, which is absent", "pip install 'pairbounds[inference]'"
        ) from error
    info: Any = ImageNetInfo("imagenet-1k")
    return tuple(info.label_names())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise PairboundsError("file", str(path), f"is not UTF-8 ({error.reason})", "save it as CSV in UTF-8") from error


def _rows(path: Path, names: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV file: `label`, and those of `names` that it has, at least one; separated by , ; or tabs."""
    text = _text(path)
    known = {*names, "label"}
    separator = max(",;\t", key=lambda mark: len(known & set(text.partition("\n")[0].strip("\r").split(mark))))
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise PairboundsError("file", str(path), f"is no CSV ({error})", "save it as CSV in UTF-8") from error
    header = table[0] if table else []
    if not ("label" in header and set(names) & set(header)):
        missing = "label" if set(names) & set(header) else " or ".join(names)
        raise PairboundsError(
            "file", str(path), f"has no column {missing!r}", f"give it the columns {' or '.join(names)} and label"
        )
    kept = {name: header.index(name) for name in (*names, "label") if name in header}
    wrong = next((row for row in table[1:] if row and len(row) != len(header)), None)
    if wrong is not None:
        raise PairboundsError(
            "file",
            str(path),
            f"has a row of {len(wrong)} fields under a header of {len(header)} ({wrong[0]!r})",
            "quote fields that hold the separator",
        )
    return [{name: row[place] for name, place in kept.items()} for row in table[1:] if row]


def _label(what: str, text: str, mapped: Mapping[str, int | None] | None) -> int:
    """A class index, by the map if there is one."""
    if mapped is not None:
        if _composed(text) not in mapped:
            raise PairboundsError(what, text, "is not in the class map", "add it, with its class index")
        index = mapped[_composed(text)]
        if index is None:
            raise PairboundsError(what, text, "has several indices in the class map", "keep one, or go by wnid")
        return index
    if not (text.isascii() and text.isdigit()):
        raise PairboundsError(
            what, text, "is no class index", "give the place of the class in the model's order, from 0"
        )
    return int(text)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
