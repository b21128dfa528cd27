"""What all bijections of many small classes attain, as arrays: the ground truth that closed forms are compared with."""

from __future__ import annotations

import math
import platform
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations
from operator import getitem

import numpy as np
import numpy.typing as npt

from proofs.small_classes import PAIR_COUNTS, Record, SmallClass, all_classes, drawn

__all__ = ["PYTHON", "Enumerated", "Grouped", "enumerated", "mask"]

Ints = npt.NDArray[np.int64]

PYTHON = f"Python {platform.python_version()}"
"""Enumeration needs no tool but this."""

BITS = 3
"""Bits of one count in a packed sum: no class has more than 7 images."""

SEED = 20


@cache
def _pack(x: Record, y: Record) -> int:
    return sum(int(counts(x, y)) << BITS * place for place, counts in enumerate(PAIR_COUNTS.values()))


def _outcomes(one: SmallClass) -> set[int]:
    """The packed counts of every bijection of a class, each distinct vector once."""
    table = [[_pack(x, y) for y in one.perturbed] for x in one.clean]
    return {sum(map(getitem, table, order)) for order in permutations(range(one.images))}


def mask(low: Ints, high: Ints) -> Ints:
    """The set of integers from `low` to `high` as bits; empty where low > high or low < 0 or high > 60.

    >>> [bin(m) for m in mask(np.array([0, 2]), np.array([1, 1]))]
    ['0b11', '0b0']
    """
    inside = (low >= 0) & (low <= high) & (high <= 60)
    low, high = np.where(inside, low, 0), np.where(inside, high, 0)
    bits = (np.int64(2) << high) - (np.int64(1) << low)
    return np.where(inside, bits, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Outcomes that agree in some counts.

    Attributes:
        of: int64, the class of each group.
        counts: what the outcomes of a group agree in, by name; int64, one entry a group.
        group: int64, the group of each outcome.
        outcomes: the counts of every outcome, by name.
    """

    of: Ints
    counts: dict[str, Ints]
    group: Ints
    outcomes: dict[str, Ints]

    def attained(self, name: str) -> Ints:
        """The set of values that a count takes in each group, as bits."""
        found = np.zeros(len(self.of), dtype=np.int64)
        np.bitwise_or.at(found, self.group, np.int64(1) << self.outcomes[name])
        return found

    def ends(self, name: str) -> tuple[Ints, Ints]:
        """Least and greatest value that a count takes in each group."""
        low, high = np.full(len(self.of), 99, dtype=np.int64), np.full(len(self.of), -1, dtype=np.int64)
        np.minimum.at(low, self.group, self.outcomes[name])
        np.maximum.at(high, self.group, self.outcomes[name])
        return low, high


@dataclass(frozen=True, eq=False)
class Enumerated:
    """Classes, what their margins are, and what their bijections attain.

    Attributes:
        classes: the classes.
        margins: by name (theory, section 1: n, A, B, A1, ...), int64, one entry a class.
        labels: w, w', e, e' by name, int64 of shape (classes, labels); zero where a class lacks a label.
        of: int64, the class of each outcome.
        outcomes: distinct count vectors over all bijections of each class, by the names of `PAIR_COUNTS`.
        bijections: how many were looked at.
    """

    classes: tuple[SmallClass, ...]
    margins: dict[str, Ints]
    labels: dict[str, Ints]
    of: Ints
    outcomes: dict[str, Ints]
    bijections: int

    @property
    def counts(self) -> dict[str, int]:
        """How much was looked at, for a cell."""
        sizes = [one.images for one in self.classes]
        return {"bijections": self.bijections, "classes": len(sizes), "images at most": max(sizes)}

    def by(self, *names: str) -> Grouped:
        """The outcomes grouped by class and by the counts named."""
        keys = np.stack([self.of, *(self.outcomes[name] for name in names)], axis=1)
        unique, group = np.unique(keys, axis=0, return_inverse=True)
        agreed = dict(zip(names, unique.T[1:], strict=True))
        return Grouped(unique[:, 0], agreed, group.reshape(-1).astype(np.int64), self.outcomes)

    @cached_property
    def by_pairs(self) -> Grouped:
        """Grouped by k."""
        return self.by("retained-correct")

    @cached_property
    def by_states(self) -> Grouped:
        """Grouped by (k, s)."""
        return self.by("retained-correct", "persistent-wrong")


def _side(records: tuple[Record, ...]) -> tuple[int, int, int, int]:
    """Correct accepted, correct rejected, wrong accepted, wrong rejected."""
    kinds = [(r.label == 0, r.accepted) for r in records]
    return (
        kinds.count((True, True)),
        kinds.count((True, False)),
        kinds.count((False, True)),
        kinds.count((False, False)),
    )


def of_classes(classes: Iterable[SmallClass]) -> Enumerated:
    """Every bijection of every class."""
    kept, sides, label_counts, of, packed = [], [], [], [], []
    for number, one in enumerate(classes):
        kept.append(one)
        sides.append((*_side(one.clean), *_side(one.perturbed)))
        label_counts.append(_labels(one))
        found = sorted(_outcomes(one))
        of += [number] * len(found)
        packed += found
    a1, a0, e, w0, b1, b0, f, v0 = np.array(sides, dtype=np.int64).reshape(-1, 8).T
    margins = {"A1": a1, "A0": a0, "E": e, "B1": b1, "B0": b0, "E'": f}
    margins |= {"A": a1 + a0, "B": b1 + b0, "W": e + w0, "W'": f + v0, "n": a1 + a0 + e + w0}
    widest = max((len(rows) for rows in label_counts), default=0)
    padded = np.zeros((len(kept), max(widest, 1), 4), dtype=np.int64)
    for number, rows in enumerate(label_counts):
        padded[number, : len(rows)] = rows or padded[number, :0]
    labels = dict(zip(("w", "w'", "e", "e'"), np.moveaxis(padded, 2, 0), strict=True))
    words = np.array(packed, dtype=np.int64)
    outcomes = {name: words >> BITS * place & 7 for place, name in enumerate(PAIR_COUNTS)}
    bijections = sum(math.factorial(one.images) for one in kept)
    return Enumerated(tuple(kept), margins, labels, np.array(of, dtype=np.int64), outcomes, bijections)


def _labels(one: SmallClass) -> list[tuple[int, int, int, int]]:
    """w, w', e, e' of every label that is wrong on either side."""
    names = sorted({r.label for side in one for r in side} - {0})

    def count(records: tuple[Record, ...], label: int, accepted_only: bool) -> int:
        return sum(r.label == label and (r.accepted or not accepted_only) for r in records)

    return [
        (
            count(one.clean, label, False),
            count(one.perturbed, label, False),
            count(one.clean, label, True),
            count(one.perturbed, label, True),
        )
        for label in names
    ]


def _chosen(fast: bool) -> Iterator[SmallClass]:
    """Every class of up to 3 (fast) or 4 images, and random ones of up to 6 or 7."""
    draw = random.Random(SEED)
    for images in range(4 if fast else 5):
        yield from all_classes(images)
    for images, count in ((5, 200), (6, 50)) if fast else ((5, 3000), (6, 1000), (7, 200)):
        for _ in range(count):
            yield drawn(draw, images)


@cache
def enumerated(fast: bool) -> Enumerated:
    """All bijections of the classes that the claims about counts are checked on; shared by them."""
    return of_classes(_chosen(fast))
