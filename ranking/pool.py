"""The pool: the images that a model classifies correctly when clean, with what it says of their copies and captures.

Records enter through `bounds.load_records`, which pairs and checks them; only whole probabilities, which bounds does
not keep, are read here, one condition at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bounds import load_records
from bounds.errors import PairboundsError
from bounds.evaluation import Evaluation
from bounds.records import Records
from bounds.records_source import open_sources
from ranking.conditions import copy_conditions, target_conditions
from ranking.measures import Failures
from ranking.probabilities import Probabilities

__all__ = ["FAILURE_RULES", "Captures", "Copies", "Pool", "RankingRecords"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]

FAILURE_RULES = ("any", "majority", "all", "rate")
"""When an image with several captures counts as a failure: one capture is misclassified, more than half of them, every
one; or it counts as the share of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """What a model says of M perturbed copies of the n images of a pool.

    Attributes:
        word: the set as typed.
        names: M condition names, sorted.
        predicted: int64 of shape (M, n): codes into the pool's `labels`.
        confidence: float32 or float64 of shape (M, n), or None where the records have none.
        true_probability: likewise.
    """

    word: str
    names: tuple[str, ...]
    predicted: Ints
    confidence: Floats | None
    true_probability: Floats | None

    def subset(self, names: Sequence[str]) -> Copies:
        """Some of the copies, by name."""
        rows = [self.names.index(name) for name in sorted(names)]

        def pick(values: Any) -> Any:
            return None if values is None else values[rows]

        return Copies(
            ",".join(sorted(names)),
            tuple(self.names[row] for row in rows),
            self.predicted[rows],
            pick(self.confidence),
            pick(self.true_probability),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Captures:
    """The recaptures of one target.

    Attributes:
        name: the target.
        conditions: K condition names, sorted.
        wrong: bool of shape (K, n): the capture is misclassified.
        present: bool of shape (K, n): the image has this capture.
    """

    name: str
    conditions: tuple[str, ...]
    wrong: Bools
    present: Bools

    @property
    def captured(self) -> Bools:
        """Images with at least one capture; shape (n,)."""
        found: Bools = np.any(self.present, axis=0)
        return found

    def failures(self, rule: str, rows: Ints) -> Failures:
        """Which of the given images fail.

        Args:
            rule: one of `FAILURE_RULES`.
            rows: images with at least one capture.
        """
        wrong = self.wrong[:, rows].sum(axis=0, dtype=np.int64)
        taken = self.present[:, rows].sum(axis=0, dtype=np.int64)
        if rule == "rate":
            unit = lcm(*map(int, np.unique(taken)))
            return Failures(wrong * (unit // taken), unit)
        failed = {"any": wrong > 0, "majority": 2 * wrong > taken, "all": wrong == taken}[rule]
        return Failures(failed.astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The n images of one model that a ranking orders.

    Attributes:
        model: its name.
        image_id: String series of length n, sorted by class, then id.
        label: int64 of shape (n,): codes into `labels`; the clean prediction is the same.
        labels: names of the classes that occur.
        confidence: clean, float32 or float64 of shape (n,), or None where the records have none.
        copies: the sets asked for, by word.
        captures: the targets asked for, by name.
        clean_correct: images that are correct when clean; those without a usable record of every copy are left out.
        probabilities: reads whole probabilities.
    """

    model: str
    image_id: pl.Series
    label: Ints
    labels: tuple[str | int, ...]
    confidence: Floats | None
    copies: Mapping[str, Copies]
    captures: Mapping[str, Captures]
    clean_correct: int
    probabilities: Probabilities

    @property
    def images(self) -> int:
        """n."""
        return len(self.label)

    def take(self, rows: Ints | Bools) -> Pool:
        """Some of the images, in the order of `rows`; the probabilities are those of these images."""
        at: Ints = np.arange(self.images)[rows]

        def pick(values: Any) -> Any:
            return None if values is None else values[..., at]

        return replace(
            self,
            image_id=self.image_id.gather(at),
            label=self.label[at],
            confidence=pick(self.confidence),
            copies={
                word: replace(
                    copies,
                    predicted=copies.predicted[:, at],
                    confidence=pick(copies.confidence),
                    true_probability=pick(copies.true_probability),
                )
                for word, copies in self.copies.items()
            },
            captures={
                name: replace(captures, wrong=captures.wrong[:, at], present=captures.present[:, at])
                for name, captures in self.captures.items()
            },
            probabilities=self.probabilities.take(at),
        )


class RankingRecords:
    """Record files opened for ranking.

    Args:
        source: what `bounds.load_records` takes.
        clean: the clean condition.

    Raises:
        RecordError: as `bounds.load_records`.
    """

    def __init__(self, source: Any, clean: str = "clean") -> None:
        self.records: Records = load_records(source)
        self.clean = clean
        self._sources = open_sources(source, None)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the records that every file has."""
        return frozenset.intersection(*(frozenset(source.columns) for source in self._sources))

    def pool(self, model: str, copies: Sequence[str] = (), targets: Sequence[str] = ()) -> Pool:
        """The pool of one model, with the copies and the captures asked for in memory.

        Args:
            model: its name.
            copies: sets of copies, each a word of `ranking.conditions.copy_conditions`.
            targets: names as `ranking.conditions.target_conditions` takes them.

        Returns:
            The clean-correct images that have a usable record in every copy of every set.

        Raises:
            PairboundsError: if a set or target does not exist, they share a condition, or no image is left.
            RecordError: if rows break a rule of the record format.
        """
        sets = {word: copy_conditions(self.records, model, word) for word in copies}
        captured = {name: target_conditions(self.records, model, name) for name in targets}
        _check_apart(sets, captured, self.clean)
        base = self.records.evaluation(model, self.clean, clean=self.clean)
        correct = np.flatnonzero(base.clean.correct)
        everyone = base.clean.image_id.gather(correct)
        codes = _Codes(base, correct)
        wanted = sorted({name for names in (*sets.values(), *captured.values()) for name in names})
        columns = (
            {
                one.perturbed_condition: codes.column(one, everyone)
                for one in self.records.evaluations(model, wanted, clean=self.clean)
            }
            if wanted
            else {}
        )
        keep = np.ones(len(correct), dtype=np.bool_)
        for name in {name for names in sets.values() for name in names}:
            keep &= columns[name].present
        if not keep.any():
            rule = f"no clean-correct image of {model} has a usable record in every copy"
            raise PairboundsError(
                "--copies" if sets else "RECORDS", ", ".join(sets) or None, rule, "look at the records"
            )
        pool = Pool(
            model=model,
            image_id=everyone,
            label=codes.label,
            labels=tuple(codes.names),
            confidence=None if base.clean.confidence is None else base.clean.confidence[correct],
            copies={word: _copies(word, names, columns) for word, names in sets.items()},
            captures={
                name: Captures(
                    name,
                    conditions,
                    np.array([columns[other].wrong for other in conditions]),
                    np.array([columns[other].present for other in conditions]),
                )
                for name, conditions in captured.items()
            },
            clean_correct=len(correct),
            probabilities=Probabilities(self._sources, model, self.clean, everyone, codes.label, tuple(codes.names)),
        )
        return pool if keep.all() else pool.take(keep)


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """One condition, on the clean-correct images."""

    present: Bools
    wrong: Bools
    predicted: Ints
    confidence: Floats | None
    true_probability: Floats | None


class _Codes:
    """Class names as integers, alike for every condition."""

    def __init__(self, base: Evaluation, correct: Ints) -> None:
        self.names: dict[str | int, int] = {}
        self.label = self.encode(base.labels)[base.clean.predicted[correct]]

    def encode(self, labels: Sequence[str | int]) -> Ints:
        """The code of each name; a new one gets the next."""
        return np.array([self.names.setdefault(name, len(self.names)) for name in labels], dtype=np.int64)

    def column(self, evaluation: Evaluation, everyone: pl.Series) -> _Column:
        """The perturbed side of an evaluation, on the images `everyone`."""
        own = evaluation.clean.image_id
        rows = np.flatnonzero(evaluation.clean.correct)
        ids = own.gather(rows)
        side = evaluation.perturbed
        if len(ids) == len(everyone) and ids.equals(everyone):
            present = np.ones(len(everyone), dtype=np.bool_)
        else:
            at = everyone.to_frame("id").join(
                pl.DataFrame({"id": ids, "row": rows}), on="id", how="left", maintain_order="left"
            )["row"]
            present = at.is_not_null().to_numpy()
            rows = at.fill_null(0).to_numpy()
        predicted = self.encode(evaluation.labels)[side.predicted[rows]]

        def pick(values: Any) -> Any:
            return None if values is None else values[rows]

        wrong = ~side.correct[rows] & present
        return _Column(present, wrong, predicted, pick(side.confidence), pick(side.true_probability))


def _copies(word: str, names: tuple[str, ...], columns: Mapping[str, _Column]) -> Copies:
    def stacked(values: list[Any]) -> Any:
        return None if any(value is None for value in values) else np.array(values)

    return Copies(
        word,
        names,
        np.array([columns[name].predicted for name in names]),
        stacked([columns[name].confidence for name in names]),
        stacked([columns[name].true_probability for name in names]),
    )


def _check_apart(sets: Mapping[str, Sequence[str]], captured: Mapping[str, Sequence[str]], clean: str) -> None:
    for option, found in (("--copies", sets), ("--targets", captured)):
        for word, names in found.items():
            if clean in names:
                raise PairboundsError(option, word, f"holds the clean condition {clean!r}", "name perturbed ones")
    for name, conditions in captured.items():
        for word, others in sets.items():
            if shared := sorted(set(conditions) & set(others)):
                rule = f"{shared[0]} is among the copies {word} as well"
                raise PairboundsError("--targets", name, rule, "rank by other conditions than those to be found")
