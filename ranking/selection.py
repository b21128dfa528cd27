"""Choosing the copies: how few corruptions suffice, selected on one part of the data and measured on the other.

The score is the mean true-class probability throughout. Greedy forward selection adds, one at a time, the copy with
which the recall on the selecting part is largest (means over models; ties go to the name that comes first). Recall on
the part that selected is optimistic, and is shown as such; the honest one is measured where nothing was selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.errors import PairboundsError
from ranking.measures import Budget, Failures, found_within
from ranking.order import order_by, seeded_keys

__all__ = ["ACROSS", "Candidate", "Chosen", "choose_copies"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ACROSS = ("images", "models")
"""What is split: images, the models seeing the same ones; or models, each seeing all its images."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """What selection needs of one model.

    Attributes:
        model: its name.
        image_id: n ids.
        names: M copies, sorted; the same for every model.
        true_probability: float64 of shape (M, n).
        failures: of the n images.
    """

    model: str
    image_id: Sequence[str]
    names: tuple[str, ...]
    true_probability: Floats
    failures: Failures


@dataclass(frozen=True, slots=True)
class Chosen:
    """Recall with so many copies.

    Attributes:
        copies: how many are kept.
        selected: mean over folds of the recall on the part that selected.
        held_out: mean over folds of the recall on the other part, of the copies selected.
        random: likewise of random sets of as many copies, mean over these.
        draws: how many of them a fold; all there are, if they are no more than were asked for.
        every: likewise of all copies.
        names: what each fold selected, in the order of selection.
        reason: why the numbers are None, if they are.
    """

    copies: int
    selected: float | None
    held_out: float | None
    random: float | None
    draws: int
    every: float | None
    names: tuple[tuple[str, ...], ...]
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """The object of the JSON output."""
        return {
            "copies": self.copies,
            "held_out_recall": self.held_out,
            "selected_recall": self.selected,
            "random_recall": self.random,
            "draws": self.draws,
            "all_recall": self.every,
            "selected": [list(names) for names in self.names],
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class _Part:
    """Some images of one model."""

    candidate: Candidate
    rows: Ints

    def recall(self, copies: Sequence[int], budget: Budget) -> Fraction | None:
        """Recall of the mean over some copies; None without a failure."""
        failures = Failures(self.candidate.failures.counts[self.rows], self.candidate.failures.unit)
        if not failures.total:
            return None
        risk = 1 - self.candidate.true_probability[sorted(copies)][:, self.rows].mean(axis=0)
        return found_within(order_by(risk), failures, budget.images(len(self.rows))) / failures.total


def choose_copies(
    candidates: Sequence[Candidate],
    budget: Budget,
    *,
    across: str = "images",
    folds: int = 5,
    draws: int = 20,
    seed: int = 0,
    most: int | None = None,
) -> list[Chosen]:
    """Cross-validated recall against the number of copies kept.

    Args:
        candidates: one a model; all have the same copies.
        budget: a share; across models it may be a count.
        across: one of `ACROSS`.
        folds: parts; at least 2, and at most as many as there are models or images.
        draws: random sets for each number of copies and fold.
        seed: of the folds and the draws.
        most: copies kept at most; all by default.

    Returns:
        One object for each number of copies from 1.

    Raises:
        PairboundsError: if the models have other copies, there are fewer models or images than folds, or a count is
            asked for across images.
    """
    names = candidates[0].names
    for one in candidates:
        if one.names != names:
            rule = f"{one.model} has other copies than {candidates[0].model}"
            raise PairboundsError("--copies", ", ".join(one.names[:3]), rule, "name conditions that every model has")
    if budget.share is None and across == "images":
        rule = f"is a count, and each of {folds} folds is measured by itself"
        raise PairboundsError("--budget", budget.text, rule, "give a share such as 0.2")
    splits = _splits(candidates, across, folds, seed)
    sizes = range(1, (len(names) if most is None else min(most, len(names))) + 1)
    found: list[list[tuple[Fraction | None, ...]]] = [[] for _ in sizes]
    picked = []
    for fold, (selecting, measuring) in enumerate(splits):
        order = _greedy(selecting, budget, len(names), len(sizes))
        picked.append(order)
        whole = _mean(measuring, range(len(names)), budget)
        for size in sizes:
            sets = _sets(len(names), size, draws, [seed, fold, size])
            drawn = _average([_mean(measuring, one, budget) for one in sets])
            own = order[:size]
            found[size - 1].append((_mean(selecting, own, budget), _mean(measuring, own, budget), drawn, whole))
    results = []
    for size, rows in zip(sizes, found, strict=True):
        selected, held_out, random, every = (_number(_average(column)) for column in zip(*rows, strict=True))
        reason = None if held_out is not None else "no image of any measuring part fails"
        chosen = tuple(tuple(names[copy] for copy in order[:size]) for order in picked)
        many = min(draws, comb(len(names), size))
        results.append(Chosen(size, selected, held_out, random, many, every, chosen, reason))
    return results


def _sets(copies: int, size: int, draws: int, seed: Sequence[int]) -> list[list[int]]:
    """Sets of so many copies: every one, if they are no more than `draws`, or so many drawn."""
    if comb(copies, size) <= draws:
        return [list(one) for one in combinations(range(copies), size)]
    rng = np.random.default_rng(seed)
    return [rng.choice(copies, size, replace=False).tolist() for _ in range(draws)]


def _greedy(parts: Sequence[_Part], budget: Budget, copies: int, most: int) -> list[int]:
    """Copies in the order in which they are added."""
    kept: list[int] = []
    while len(kept) < most:
        others = [copy for copy in range(copies) if copy not in kept]
        recalls = [_mean(parts, [*kept, copy], budget) or Fraction(0) for copy in others]
        kept.append(others[recalls.index(max(recalls))])
    return kept


def _mean(parts: Sequence[_Part], copies: Sequence[int], budget: Budget) -> Fraction | None:
    return _average([part.recall(copies, budget) for part in parts])


def _average(values: Sequence[Fraction | None]) -> Fraction | None:
    """The mean of those that are defined; None if none is."""
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known else None


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _splits(
    candidates: Sequence[Candidate], across: str, folds: int, seed: int
) -> list[tuple[list[_Part], list[_Part]]]:
    """(selecting, measuring) parts, one pair a fold; every image or model measures once."""
    if across == "models":
        names = [one.model for one in candidates]
        fold_of = _folds(names, [0] * len(names), folds, seed, "models")
        whole = [_Part(one, np.arange(len(one.image_id))) for one in candidates]
        return [
            (
                [part for part in whole if fold_of[part.candidate.model] != fold],
                [part for part in whole if fold_of[part.candidate.model] == fold],
            )
            for fold in range(folds)
        ]
    fails: dict[str, int] = {}
    for one in candidates:
        for name, count in zip(one.image_id, one.failures.counts.tolist(), strict=True):
            fails[name] = fails.get(name, 0) + (count > 0)
    fold_of = _folds(list(fails), list(fails.values()), folds, seed, "images")
    parts: list[tuple[list[_Part], list[_Part]]] = [([], []) for _ in range(folds)]
    for one in candidates:
        at = np.array([fold_of[name] for name in one.image_id])
        for fold, (selecting, measuring) in enumerate(parts):
            for side, rows in ((selecting, np.flatnonzero(at != fold)), (measuring, np.flatnonzero(at == fold))):
                if len(rows):
                    side.append(_Part(one, rows))
    return parts


def _folds(names: Sequence[str], strata: Sequence[int], folds: int, seed: int, what: str) -> dict[str, int]:
    """A fold for each name, strata dealt out evenly, the same in whatever order the names come."""
    if folds > len(names):
        rule = f"there are {len(names)} {what}"
        raise PairboundsError("--folds", folds, rule, "give fewer folds, or split across the other")
    keys = seeded_keys(names, seed)
    dealt = sorted(zip(strata, keys.tolist(), names, strict=True))
    return {name: place % folds for place, (_, _, name) in enumerate(dealt)}
