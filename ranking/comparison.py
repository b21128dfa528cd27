"""Rankings compared over many models: mean recalls, and differences on the same resampled images."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bounds.errors import PairboundsError
from ranking.bootstrap import LEVEL, Judged, interval, resampled_recalls
from ranking.measures import Budget, at_budget
from ranking.pool import Pool
from ranking.scores import Scored

__all__ = ["HOLDS", "Compared", "compare", "judge"]

Floats = npt.NDArray[np.float64]

HOLDS = ("nothing", "score", "copies")
"""What a ranking shares with the reference that it is compared with."""

Ranking = tuple[str, str]
"""Score and copies."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A ranking over all models, against a reference ranking.

    Attributes:
        score, copies, target, budget: as typed.
        models: how many models the means are over: those with a failure.
        left_out: the others.
        undefined: resamples in which some of these models has no failure; with any, there is no interval.
        recall: mean over these of the recall; None without one.
        interval: of `recall`, from the resamples.
        ideal, random: means of the recalls of the ideal and of a random order.
        reference: score and copies compared with; None for a reference itself.
        difference: mean of recall minus the reference's.
        difference_interval: of it, on the same resamples.
        wins, ties, losses: models on which it is above, at and below the reference, in exact arithmetic.
    """

    score: str
    copies: str
    target: str
    budget: str
    models: int
    left_out: tuple[str, ...]
    undefined: int
    recall: Fraction | None
    interval: tuple[float, float] | None
    ideal: Fraction | None
    random: Fraction | None
    reference: Ranking | None
    difference: Fraction | None
    difference_interval: tuple[float, float] | None
    wins: int | None
    ties: int | None
    losses: int | None

    def to_dict(self) -> dict[str, Any]:
        """The object of the JSON output."""

        def ends(value: tuple[float, float] | None) -> dict[str, float | None]:
            low, high = value or (None, None)
            return {"lower": low, "upper": high}

        def number(value: Fraction | None) -> float | None:
            return None if value is None else float(value)

        return {
            "score": self.score,
            "copies": self.copies,
            "target": self.target,
            "budget": self.budget,
            "models": self.models,
            "left_out": list(self.left_out),
            "recall": number(self.recall),
            "recall_interval": ends(self.interval),
            "ideal_recall": number(self.ideal),
            "random_recall": number(self.random),
            "reference_score": self.reference and self.reference[0],
            "reference_copies": self.reference and self.reference[1],
            "difference": number(self.difference),
            "difference_interval": ends(self.difference_interval),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "undefined_resamples": self.undefined,
            "reason": self.reason,
        }

    @property
    def reason(self) -> str | None:
        """Why the numbers are None, or the intervals."""
        if self.recall is None:
            return "no model has a failure"
        if self.undefined:
            return f"no interval: in {self.undefined} resamples a model has no failure"
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """One ranking of one model under one target and budget; `draws` are its recalls in the resamples."""

    recall: Fraction
    ideal: Fraction
    random: Fraction
    draws: Floats


def judge(pools: Iterable[tuple[Pool, Sequence[Scored]]], rule: str) -> tuple[list[Judged], int]:
    """Every ranking of every pool against each of its targets, light enough to keep those of all models.

    Args:
        pools: as `ranking.cli_options.Work.rankings` gives them.
        rule: one of `ranking.pool.FAILURE_RULES`.

    Returns:
        The rankings, and how many images there are in all; these are numbered in the order of their ids.

    Raises:
        PairboundsError: if no image of a pool has a capture of a target.
    """
    found: list[tuple[int, Judged]] = []
    names: list[pl.Series] = []
    for pool, rankings in pools:
        for target, captures in pool.captures.items():
            rows = np.flatnonzero(captures.captured)
            if not len(rows):
                empty = f"no image of {pool.model}'s pool has a capture"
                raise PairboundsError("--targets", target, empty, "look at the ids")
            failures = captures.failures(rule, rows)
            for one in rankings:
                order = one.order if len(rows) == pool.images else one.order.take(rows)
                found.append((len(names), Judged(pool.model, one.score, one.copies, target, rows, order, failures)))
            names.append(pool.image_id.gather(rows).alias("image_id"))
    every = pl.concat(names).unique().sort().to_frame().with_row_index("number")
    numbers = [
        part.to_frame()
        .join(every, on="image_id", how="left", maintain_order="left")["number"]
        .to_numpy()
        .astype(np.int64)
        for part in names
    ]
    return [replace(one, image=numbers[part]) for part, one in found], len(every)


def compare(
    judged: Sequence[Judged],
    budgets: Sequence[Budget],
    images: int,
    *,
    reference: Ranking,
    hold: str = "nothing",
    level: Fraction = LEVEL,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Compared]:
    """Every ranking over all models, with its difference from a reference.

    Args:
        judged, images: as `judge` gives them.
        budgets: at least one.
        reference: the ranking compared with. With `hold` "score", each score is compared with itself on the copies of
            the reference; with "copies", with the reference's score on its own copies. Rankings that look at the clean
            records alone are compared with `reference` itself.
        hold: one of `HOLDS`.
        level: of the intervals, percentiles of the resamples.
        resamples, seed: of the images.

    Returns:
        For each target and budget every ranking, in the order of `judged`. Means are over the models with a failure;
        an interval is None where some resample of some model holds none.
    """
    rankings = list(dict.fromkeys((one.score, one.copies) for one in judged))
    models = list(dict.fromkeys(one.model for one in judged))
    if reference not in rankings:
        shown = ", ".join(f"{score}@{copies}" for score, copies in rankings)
        raise PairboundsError(
            "--reference", "@".join(filter(None, reference)), "is not among the rankings", f"choose among {shown}"
        )
    drawn = resampled_recalls(judged, budgets, images, resamples, seed)
    found = []
    for target in dict.fromkeys(one.target for one in judged):
        for column, budget in enumerate(budgets):
            cells: dict[Ranking, dict[str, _Cell]] = {ranking: {} for ranking in rankings}
            for number, one in enumerate(judged):
                if one.target == target:
                    at = at_budget(one.order, one.failures, budget.images(one.order.images))
                    if at.recall is not None and at.ideal is not None and at.random is not None:
                        cell = _Cell(at.recall, at.ideal, at.random, drawn[:, number, column])
                        cells[one.score, one.copies][one.model] = cell
            for ranking in rankings:
                other = _partner(ranking, reference, hold, rankings)
                found.append(_compared(ranking, other, target, budget.text, cells, models, level))
    return found


def _partner(ranking: Ranking, reference: Ranking, hold: str, rankings: Sequence[Ranking]) -> Ranking | None:
    partner = {
        "nothing": reference,
        "score": (ranking[0], reference[1]),
        "copies": (reference[0], ranking[1]),
    }[hold]
    if partner not in rankings:
        partner = reference
    return None if partner == ranking else partner


def _compared(
    ranking: Ranking,
    other: Ranking | None,
    target: str,
    budget: str,
    cells: Mapping[Ranking, Mapping[str, _Cell]],
    models: Sequence[str],
    level: Fraction,
) -> Compared:
    own = cells[ranking]
    left_out = tuple(name for name in models if name not in own)
    if not own:
        nothing = (None,) * 3
        return Compared(*ranking, target, budget, 0, left_out, 0, None, None, None, None, other, None, None, *nothing)
    values = list(own.values())
    draws = np.mean([cell.draws for cell in values], axis=0)
    difference, difference_interval = None, None
    signs: tuple[int | None, ...] = (None, None, None)
    if other is not None:
        pairs = [(own[model], cells[other][model]) for model in own]
        differences = [mine.recall - theirs.recall for mine, theirs in pairs]
        difference = _mean(differences)
        difference_interval = interval(np.mean([mine.draws - theirs.draws for mine, theirs in pairs], axis=0), level)
        signs = sum(d > 0 for d in differences), sum(d == 0 for d in differences), sum(d < 0 for d in differences)
    wins, ties, losses = signs
    return Compared(
        *ranking,
        target=target,
        budget=budget,
        models=len(values),
        left_out=left_out,
        undefined=int(np.isnan(draws).sum()),
        recall=_mean([cell.recall for cell in values]),
        interval=interval(draws, level),
        ideal=_mean([cell.ideal for cell in values]),
        random=_mean([cell.random for cell in values]),
        reference=other,
        difference=difference,
        difference_interval=difference_interval,
        wins=wins,
        ties=ties,
        losses=losses,
    )


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)
