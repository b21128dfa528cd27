"""Small classes to check claims on: every one up to a size, and random ones; in plain Python, from the definitions.

A class is a list of clean records and as many perturbed ones; a correspondence is a permutation of the latter. Nothing
here knows a closed form.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

from bounds.evaluation import Evaluation, Side

__all__ = [
    "LEVELS",
    "PAIR_COUNTS",
    "Record",
    "SmallClass",
    "all_classes",
    "both_wrong",
    "drawn",
    "evaluation",
    "persistent",
    "retained",
    "state",
]

LEVELS = 8
"""A record's `level` is 0 to this; as a probability or a confidence it counts eighths."""


class Record(NamedTuple):
    """What one model says of one image.

    Attributes:
        label: the class predicted, 0 for the true one.
        accepted: whether the prediction is accepted.
        level: true-class probability, or confidence, in eighths.
    """

    label: int
    accepted: bool = False
    level: int = 0


class SmallClass(NamedTuple):
    """The clean and the perturbed records of one class, equally many."""

    clean: tuple[Record, ...]
    perturbed: tuple[Record, ...]

    @property
    def images(self) -> int:
        """How many records each side has."""
        return len(self.clean)

    def __str__(self) -> str:
        def side(records: tuple[Record, ...]) -> str:
            return "{" + ", ".join(f"{r.label or '✓'}{'+' if r.accepted else '-'}" for r in records) + "}"

        return f"clean {side(self.clean)}, perturbed {side(self.perturbed)} (✓ correct, else label; + accepted)"


def state(x: Record, y: Record) -> str:
    """The state of a pair.

    >>> state(Record(0), Record(0)), state(Record(1), Record(1)), state(Record(1), Record(2))
    ('CC', 'WS', 'WD')
    """
    if x.label == 0:
        return "CC" if y.label == 0 else "CW"
    if y.label == 0:
        return "WC"
    return "WS" if x.label == y.label else "WD"


def retained(x: Record, y: Record) -> bool:
    """Correct on both sides."""
    return x.label == 0 and y.label == 0


def both_wrong(x: Record, y: Record) -> bool:
    """Wrong on both sides."""
    return x.label != 0 and y.label != 0


def persistent(x: Record, y: Record) -> bool:
    """Wrong on both sides, with one label."""
    return both_wrong(x, y) and x.label == y.label


def _error(x: Record) -> bool:
    return x.label != 0 and x.accepted


PAIR_COUNTS: dict[str, Callable[[Record, Record], bool]] = {
    "retained-correct": retained,
    "persistent-wrong": persistent,
    "changed-wrong": lambda x, y: both_wrong(x, y) and x.label != y.label,
    "both-wrong": both_wrong,
    "retained-correct-accepted": lambda x, y: retained(x, y) and x.accepted,
    "retained-correct-rejected": lambda x, y: retained(x, y) and not x.accepted,
    "lost-acceptance": lambda x, y: retained(x, y) and x.accepted and not y.accepted,
    "gained-acceptance": lambda x, y: retained(x, y) and not x.accepted and y.accepted,
    "new-accepted-error": lambda x, y: _error(y) and not _error(x),
    "resolved-accepted-error": lambda x, y: _error(x) and not _error(y),
    "kept-accepted-error": lambda x, y: _error(x) and _error(y),
    "kept-persistent-accepted-error": lambda x, y: _error(x) and _error(y) and x.label == y.label,
    "kept-changed-accepted-error": lambda x, y: _error(x) and _error(y) and x.label != y.label,
    "rejected-wrong-to-accepted-error": lambda x, y: x.label != 0 and not x.accepted and _error(y),
    "correct-to-accepted-error": lambda x, y: x.label == 0 and _error(y),
    "accepted-correct-to-accepted-error": lambda x, y: x.label == 0 and x.accepted and _error(y),
}
"""What a pair of records may count for, from the definitions (theory, section 1)."""


def all_classes(images: int) -> Iterator[SmallClass]:
    """Every class of that many images, once each up to order and up to the names of the wrong classes.

    A class is given by how many correct records each side accepts and rejects, and by the same four counts of each
    wrong class.

    >>> [sum(1 for _ in all_classes(n)) for n in range(3)]
    [1, 20, 300]
    """
    one = range(images + 1)
    for correct in product(one, one, one, one):
        clean, perturbed = images - correct[0] - correct[1], images - correct[2] - correct[3]
        if clean >= 0 and perturbed >= 0:
            for wrong in _label_counts(clean, perturbed, (images, images, images, images)):
                yield SmallClass(_records((correct, *wrong), 0), _records((correct, *wrong), 2))


Counts = tuple[int, int, int, int]
"""Accepted clean, rejected clean, accepted perturbed, rejected perturbed records of one label."""


def _label_counts(clean: int, perturbed: int, most: Counts) -> Iterator[tuple[Counts, ...]]:
    """Every descending sequence of counts other than zero, none above `most`, that adds up to both sides."""
    if clean == perturbed == 0:
        yield ()
        return
    ranges = (range(clean + 1), range(clean + 1), range(perturbed + 1), range(perturbed + 1))
    for a, b, c, d in product(*ranges):
        if a + b <= clean and c + d <= perturbed and (0, 0, 0, 0) < (a, b, c, d) <= most:
            for rest in _label_counts(clean - a - b, perturbed - c - d, (a, b, c, d)):
                yield ((a, b, c, d), *rest)


def _records(counts: tuple[Counts, ...], first: int) -> tuple[Record, ...]:
    return tuple(
        Record(label, accepted)
        for label, count in enumerate(counts)
        for accepted, size in ((True, count[first]), (False, count[first + 1]))
        for _ in range(size)
    )


def drawn(draw: random.Random, images: int, labels: int = 3) -> SmallClass:
    """A random class; the share of correct records varies from class to class."""
    right, wrong = draw.choice((0.1, 0.3, 0.5, 0.8)), draw.randint(1, labels)

    def side() -> tuple[Record, ...]:
        return tuple(
            Record(0 if draw.random() < right else draw.randint(1, wrong), draw.random() < 0.5, draw.randint(0, LEVELS))
            for _ in range(images)
        )

    return SmallClass(side(), side())


def evaluation(*classes: SmallClass, acceptance: bool = True) -> Evaluation:
    """The classes as `bounds` takes them; the true pairing is the identity, acceptance may be left to a threshold."""
    sides = []
    for side in (0, 1):
        rows = [row for one in classes for row in one[side]]
        predicted = np.array([row.label for row in rows], dtype=np.int64)
        level = np.array([row.level for row in rows], dtype=np.float64) / LEVELS
        sides.append(
            Side(
                image_id=pl.Series([f"image{i}" for i in range(len(rows))], dtype=pl.String),
                correct=predicted == 0,
                predicted=predicted,
                accepted=np.array([row.accepted for row in rows], dtype=np.bool_) if acceptance else None,
                confidence=level,
                true_probability=level,
            )
        )
    labels = 1 + max((row.label for one in classes for side in one for row in side), default=0)
    return Evaluation(
        model="model",
        clean_condition="clean",
        perturbed_condition="perturbed",
        classes=tuple(f"class{c}" for c in range(len(classes))),
        starts=np.cumsum([0, *(one.images for one in classes)]).astype(np.int64),
        labels=tuple(range(labels)),
        clean=sides[0],
        perturbed=sides[1],
        paired=True,
    )
