"""Images with their labels, in one order."""

from __future__ import annotations

import csv
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from bounds.errors import PairboundsError

__all__ = ["Data", "Item", "open_data"]

SUFFIXES = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})


@dataclass(frozen=True, slots=True)
class Item:
    """One image: its id is its path relative to the root, with `/`."""

    image_id: str
    path: Path
    label: int | None
    class_name: str | None = None


@dataclass(frozen=True, slots=True)
class Data:
    """Items sorted by image_id; `class_names` by index, empty if unknown."""

    items: tuple[Item, ...]
    root: Path
    class_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def open_data(source: str | Path, *, class_map: Path | None = None) -> Data:
    """The images of a folder by class, or of a CSV manifest.

    Args:
        source: a folder with one folder a class, whose index is its place among their sorted names; or a CSV file with
            the columns `image_id` (a path relative to the file's folder) and `label`.
        class_map: a CSV file with the columns `name` and `label` that gives the class index of a folder's name, or of
            what stands in a manifest's `label`.

    Raises:
        PairboundsError: if something is missing, stands twice, or is no class index.
    """
    source = Path(source)
    mapped = None if class_map is None else _class_map(class_map)
    items = _of_folder(source, mapped) if source.is_dir() else _of_manifest(source, mapped)
    if not items:
        raise PairboundsError("--data", source, "holds no images", f"name one with {', '.join(sorted(SUFFIXES))} files")
    ids: dict[str, str] = {}
    for item in items:
        plain = unicodedata.normalize("NFC", item.image_id)
        if plain in ids:
            raise PairboundsError(
                "image_id", item.image_id, "stands twice (or differs in its Unicode form only)", "rename one"
            )
        ids[plain] = item.image_id
    names = tuple(sorted({item.class_name for item in items if item.class_name})) if mapped is None else ()
    root = source if source.is_dir() else source.parent
    return Data(tuple(sorted(items, key=lambda item: item.image_id)), root, names)


def _of_folder(source: Path, mapped: dict[str, int] | None) -> list[Item]:
    names = sorted(path.name for path in source.iterdir() if path.is_dir())
    items = []
    for index, name in enumerate(names):
        label = index if mapped is None else _label("folder", name, mapped)
        found = sorted(path for path in (source / name).rglob("*") if path.suffix.lower() in SUFFIXES)
        items += [Item(path.relative_to(source).as_posix(), path, label, name) for path in found]
    return items


def _of_manifest(source: Path, mapped: dict[str, int] | None) -> list[Item]:
    return [
        Item(row["image_id"], source.parent / row["image_id"], _label("label", row["label"], mapped))
        for row in _rows(source, "image_id")
    ]


def _class_map(path: Path) -> dict[str, int]:
    return {row["name"]: _label("label", row["label"], None) for row in _rows(path, "name")}


def _rows(path: Path, first: str) -> list[dict[str, str]]:
    """The rows of a CSV file with this column and `label`, in UTF-8, with or without a byte-order mark."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise PairboundsError("file", path, f"is no CSV in UTF-8 ({error})", "save it as one") from error
    for column in (first, "label"):
        if column not in (reader.fieldnames or []):
            raise PairboundsError("file", path, f"has no column {column!r}", f"give it the columns {first} and label")
    return [{name: row[name] or "" for name in (first, "label")} for row in rows]


def _label(what: str, text: str, mapped: dict[str, int] | None) -> int:
    """A class index, by the map if there is one."""
    if mapped is not None:
        if text not in mapped:
            raise PairboundsError(what, text, "is not in the class map", "add it, with its class index")
        return mapped[text]
    if not (text.isascii() and text.isdigit()):
        raise PairboundsError(
            what, text, "is no class index", "give the place of the class in the model's order, from 0"
        )
    return int(text)
