"""What is done to an image before a model sees it."""

from __future__ import annotations

import difflib
import functools
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from bounds.errors import PairboundsError
from bounds.imports import calling, imported
from inference.corruptions import GROUPS, NAMES, backend, corrupt
from inference.images import SUFFIXES, Pixels, Unreadable, stem
from inference.seeds import generator
from inference.transforms import natural

__all__ = ["Condition", "computed", "paired", "parse"]

MOST_NATURAL = 100
"""So that two digits name each, and the order of the names is that of the numbers."""

_CHOICES = (
    "clean, identity, fog/3 (a corruption and its severity), corruptions:common/3, natural:15, folder:PATH=NAME, "
    "imagenet-c:PATH, imagenet-es:PATH, module:package.function"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition.

    Attributes:
        name: as in the records.
        kind: "clean", "corruption", "natural", "recapture" or "other".
        source: the folder of re-captured images, paired by relative stem; None for what is computed.
        what: how it is computed: ("corruption", name, severity), ("natural", number), ("module", path), or ().
        seed: of what is drawn.
    """

    name: str
    kind: str
    source: Path | None = None
    what: tuple[Any, ...] = ()
    seed: int = 0

    def apply(self, pixels: Pixels, image_id: str) -> Pixels:
        """The pixels, uint8 of shape (H, W, 3), under this condition.

        The same for the same image, condition and seed, in any order, batch, worker and process.

        Raises:
            PairboundsError: if they are too small, or the user's function returns something else.
        """
        if not self.what:
            return pixels
        if self.what[0] == "corruption":
            return corrupt(pixels, self.what[1], self.what[2], image_id=image_id, seed=self.seed)
        if self.what[0] == "natural":
            return natural(pixels, self.what[1], image_id=image_id, seed=self.seed)
        function = _function(self.what[1])
        with calling("--conditions", f"module:{self.what[1]}"):
            found = function(pixels.copy(), generator(self.seed, self.name, image_id))
        if not isinstance(found, np.ndarray) or found.dtype != np.uint8 or found.shape != pixels.shape:
            told = f"{found.dtype} {found.shape}" if isinstance(found, np.ndarray) else type(found).__name__
            raise PairboundsError(
                "--conditions", f"module:{self.what[1]}", f"returned {told}", f"return uint8 of shape {pixels.shape}"
            )
        return found

    def captures(self) -> list[Path]:
        """The re-captured images in `source`, sorted."""
        assert self.source is not None
        return sorted(path for path in self.source.rglob("*") if path.suffix.lower() in SUFFIXES)

    def counterpart(self, image_id: str) -> Path:
        """The re-captured image in `source` with the same relative stem.

        Raises:
            Unreadable: if there is none, or several.
        """
        assert self.source is not None
        wanted = PurePosixPath(_stem(image_id))
        found = _images(self.source / wanted.parent).get(wanted.name, ())
        if len(found) != 1:
            raise Unreadable(f"{len(found) or 'no'} images with its relative stem in {self.source}")
        return found[0]


def computed(condition: Condition) -> bool:
    """Whether it is a corruption that is computed here."""
    return condition.kind == "corruption" and condition.source is None


@functools.lru_cache(maxsize=256)
def _images(folder: Path) -> Mapping[str, tuple[Path, ...]]:
    """The image files of a folder by stem, in composed Unicode form."""
    found: dict[str, tuple[Path, ...]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix.lower() in SUFFIXES:
            name = unicodedata.normalize("NFC", path.stem)
            found[name] = (*found.get(name, ()), path)
    return found


def _stem(image_id: str) -> str:
    return unicodedata.normalize("NFC", stem(image_id))


def paired(conditions: Sequence[Condition], ids: Sequence[str]) -> list[str]:
    """Notes on re-captured images that are of none of the images.

    Raises:
        PairboundsError: if a folder has no counterpart of any image.
    """
    wanted = {_stem(image) for image in ids}
    notes = []
    for condition in conditions:
        if condition.source is None:
            continue
        stems = [_stem(path.relative_to(condition.source).as_posix()) for path in condition.captures()]
        beside = [one for one in stems if one not in wanted]
        if wanted and len(beside) == len(stems):
            shown = f", such as {beside[0]!r}," if beside else ""
            raise PairboundsError(
                "--conditions",
                condition.name,
                f"none of the {len(stems)} images in {condition.source}{shown} is of an image of the data, such as "
                f"{ids[0]!r}",
                "pair by the path below the folder, without its ending",
            )
        if beside:
            notes.append(f"{len(beside)} images under {condition.name} are of no image of the data, and left out")
    return notes


def parse(texts: Sequence[str], *, seed: int) -> tuple[Condition, ...]:
    """The conditions that the texts name, each once, in order.

    `clean`; `identity` (the same pixels under another name, a check of the machinery); `fog/3`; `corruptions:common/3`
    (or all, noise, blur, weather, digital, extra); `natural:15`; `folder:PATH=NAME`, `imagenet-c:PATH` and
    `imagenet-es:PATH` (every folder of images below PATH that has the place of one in these data sets);
    `module:package.function`, a function of uint8 pixels (H, W, 3) and a `numpy.random.Generator` that returns such
    pixels.

    Raises:
        PairboundsError: for a text that names none, or a name that two of them have.

    >>> [condition.name for condition in parse(["clean", "corruptions:noise/3"], seed=0)]
    ['clean', 'gaussian_noise/3', 'shot_noise/3', 'impulse_noise/3']
    """
    _images.cache_clear()
    found: dict[str, Condition] = {}
    for text in texts:
        for condition in _conditions(text, seed):
            if found.setdefault(condition.name, condition) != condition:
                raise PairboundsError("--conditions", condition.name, "two conditions have this name", "rename one")
    if any(map(computed, found.values())):
        backend()
    return tuple(found.values())


def _conditions(text: str, seed: int) -> list[Condition]:
    head, colon, rest = text.partition(":")
    if text == "clean":
        return [Condition("clean", "clean")]
    if text == "identity":
        return [Condition("identity", "other")]
    if colon and head == "natural":
        numbers = range(_count(text, rest))
        return [Condition(f"natural/{n:02}", "natural", None, ("natural", n), seed) for n in numbers]
    if colon and head == "folder":
        path, equals, name = rest.rpartition("=")
        if not (equals and path and name):
            raise PairboundsError("--conditions", text, "a folder needs a name", "write folder:PATH=NAME")
        if not re.fullmatch(r"\w[\w.+-]*(/\w[\w.+-]*)*", name) or name in ("clean", "identity"):
            raise PairboundsError("--conditions", text, f"{name} cannot name it", "write such as folder:PATH=screen/1")
        kind = "corruption" if name.partition("/")[0] in NAMES else "recapture"
        return [Condition(name, kind, _folder(text, path))]
    if colon and head in _LAYOUTS:
        return _LAYOUTS[head](text, _folder(text, rest))
    if colon and head == "module":
        _function(rest)
        return [Condition(rest, "other", None, ("module", rest), seed)]
    if colon and head == "corruptions":
        group, severity = _with_severity(text, rest, tuple(GROUPS))
        names = GROUPS[group]
    else:
        name, severity = _with_severity(text, text, NAMES)
        names = (name,)
    return [Condition(f"{name}/{severity}", "corruption", None, ("corruption", name, severity), seed) for name in names]


def _function(dotted: str) -> Callable[..., Any]:
    """The user's function of pixels and a generator."""
    module, _, name = dotted.rpartition(".")
    return imported("--conditions", f"module:{dotted}", module, name, "module:package.function")


def _folder(text: str, path: str) -> Path:
    if not Path(path).is_dir():
        raise PairboundsError("--conditions", text, f"{path} is no folder", "name one that exists")
    return Path(path).resolve()


def _imagenet_c(text: str, root: Path) -> list[Condition]:
    """`<corruption>/<1..5>`, as in ImageNet-C and 3DCC, directly below the folder or below one more each."""
    depths = [[one for one in sorted(root.glob(form)) if one.is_dir()] for form in ("*/[1-5]", "*/*/[1-5]")]
    named = [(f"{one.parent.name}/{one.name}", one) for one in depths[0] or depths[1]]
    return _found(text, "<corruption>/<1..5>", "corruption", named)


def _imagenet_es(text: str, root: Path) -> list[Condition]:
    """`{auto_exposure,param_control}/<environment>/param_<k>`, as in ImageNet-ES and ImageNet-ES-Diverse."""
    folders = [one for half in ("auto_exposure", "param_control") for one in sorted(root.glob(f"{half}/*/param_*"))]
    named = [(one.relative_to(root).as_posix(), one) for one in folders]
    return _found(text, "{auto_exposure,param_control}/<environment>/param_<k>", "recapture", named)


_LAYOUTS = {"imagenet-c": _imagenet_c, "imagenet-es": _imagenet_es}


def _found(text: str, layout: str, kind: str, named: Sequence[tuple[str, Path]]) -> list[Condition]:
    if not named:
        raise PairboundsError("--conditions", text, f"holds no folder {layout}", "name the folder above these")
    return [Condition(name, kind, path) for name, path in named]


def _count(text: str, number: str) -> int:
    if not (re.fullmatch("[1-9][0-9]{0,2}", number) and int(number) <= MOST_NATURAL):
        raise PairboundsError(
            "--conditions", text, f"a number from 1 to {MOST_NATURAL} follows natural:", "write natural:15"
        )
    return int(number)


def _with_severity(text: str, rest: str, names: Sequence[str]) -> tuple[str, int]:
    """A name of the list and a severity, from NAME/SEVERITY."""
    name, _, severity = rest.partition("/")
    if name not in names:
        near = difflib.get_close_matches(name.lower(), names, 1)
        way_out = f"write {near[0]}/3" if near and len(names) == len(NAMES) else f"choose among {', '.join(names)}"
        if not near and text == rest:
            way_out = f"choose among {_CHOICES}; corruptions are {', '.join(NAMES)}"
        raise PairboundsError("--conditions", text, "unknown", way_out)
    if severity not in ("1", "2", "3", "4", "5"):
        raise PairboundsError(
            "--conditions", text, "a severity from 1 to 5 follows the name", f"write {text.partition('/')[0]}/3"
        )
    return name, int(severity)
