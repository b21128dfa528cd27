"""What is done to an image before a model sees it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bounds.errors import PairboundsError
from inference.corruptions import GROUPS, NAMES, backend, corrupt
from inference.images import Pixels, Unreadable
from inference.imports import imported
from inference.seeds import generator
from inference.transforms import natural

__all__ = ["Condition", "parse"]

MOST_NATURAL = 999

_CHOICES = (
    "clean, identity, fog/3 (a corruption and its severity), corruptions:common/3, natural:15, folder:PATH=NAME, "
    "module:package.function"
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
        found = imported("--conditions", self.what[1], "module:package.function")(
            pixels.copy(), generator(self.seed, self.name, image_id)
        )
        if not isinstance(found, np.ndarray) or found.dtype != np.uint8 or found.shape != pixels.shape:
            told = f"{found.dtype} {found.shape}" if isinstance(found, np.ndarray) else type(found).__name__
            raise PairboundsError(
                "--conditions", f"module:{self.what[1]}", f"returned {told}", f"return uint8 of shape {pixels.shape}"
            )
        return found

    def counterpart(self, image_id: str) -> Path:
        """The re-captured image in `source` with the same relative stem.

        Raises:
            Unreadable: if there is none, or several.
        """
        assert self.source is not None
        stem = self.source / Path(image_id).with_suffix("")
        found = sorted(path for path in stem.parent.glob("*") if path.stem == stem.name)
        if len(found) != 1:
            raise Unreadable(f"{len(found)} images with its relative stem")
        return found[0]


def parse(texts: Sequence[str], *, seed: int) -> tuple[Condition, ...]:
    """The conditions that the texts name, each once, in order.

    `clean`; `identity` (the same pixels under another name, a check of the machinery); `fog/3`; `corruptions:common/3`
    (or all, noise, blur, weather, digital, extra); `natural:15`; `folder:PATH=NAME`; `module:package.function`, a
    function of uint8 pixels (H, W, 3) and a `numpy.random.Generator` that returns such pixels.

    Raises:
        PairboundsError: for a text that names none, or a name that two of them have.

    >>> [condition.name for condition in parse(["clean", "corruptions:noise/3"], seed=0)]
    ['clean', 'gaussian_noise/3', 'shot_noise/3', 'impulse_noise/3']
    """
    found: dict[str, Condition] = {}
    for text in texts:
        for condition in _conditions(text, seed):
            if found.setdefault(condition.name, condition) != condition:
                raise PairboundsError("--conditions", condition.name, "two conditions have this name", "rename one")
    if any(condition.kind == "corruption" for condition in found.values()):
        backend()
    return tuple(found.values())


def _conditions(text: str, seed: int) -> list[Condition]:
    head, colon, rest = text.partition(":")
    if text == "clean":
        return [Condition("clean", "clean")]
    if text == "identity":
        return [Condition("identity", "other")]
    if colon and head == "natural":
        return [
            Condition(f"natural/{n}", "natural", None, ("natural", n), seed) for n in range(1, _count(text, rest) + 1)
        ]
    if colon and head == "folder":
        path, equals, name = rest.rpartition("=")
        if not (equals and path and name):
            raise PairboundsError("--conditions", text, "a folder needs a name", "write folder:PATH=NAME")
        if not Path(path).is_dir():
            raise PairboundsError("--conditions", text, f"{path} is no folder", "name one that exists")
        return [Condition(name, "recapture", Path(path).resolve())]
    if colon and head == "module":
        imported("--conditions", rest, "module:package.function")
        return [Condition(rest, "other", None, ("module", rest), seed)]
    if colon and head == "corruptions":
        group, severity = _with_severity(text, rest, tuple(GROUPS))
        names = GROUPS[group]
    else:
        name, severity = _with_severity(text, text, NAMES)
        names = (name,)
    return [Condition(f"{name}/{severity}", "corruption", None, ("corruption", name, severity), seed) for name in names]


def _count(text: str, number: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,2}", number):
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
