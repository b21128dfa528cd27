"""Rankings judged by the failures that recaptures show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bounds.errors import PairboundsError
from ranking.measures import Budget, Found, Whole, at_budget, whole
from ranking.pool import Pool
from ranking.scores import Scored

__all__ = ["Evaluated", "evaluate"]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A ranking against one target at one budget.

    Attributes:
        model, score, copies, target: what was ranked how, and what was looked for.
        captures: conditions that the target consists of.
        rule: when an image with several captures fails.
        budget: as typed.
        found: measures at the budget.
        whole: measures of the whole ranking.
        failures: m; a fraction where shares count.
        pool: n: clean-correct images that have every copy and a capture.
        left_out: clean-correct images that have not.
    """

    model: str
    score: str
    copies: str
    target: str
    captures: int
    rule: str
    budget: str
    found: Found
    whole: Whole
    failures: Fraction
    pool: int
    left_out: int

    def to_dict(self) -> dict[str, Any]:
        """The object of the JSON output; what is undefined is null, with its reason."""
        found, total = self.found, self.whole
        return {
            "model": self.model,
            "score": self.score,
            "copies": self.copies,
            "target": self.target,
            "budget": self.budget,
            "k": found.k,
            "recall": _number(found.recall),
            "precision": _number(found.precision),
            "lift": _number(found.lift),
            "trc": _number(found.trc),
            "rauc": _number(found.rauc),
            "failures": _count(self.failures),
            "pool": self.pool,
            "found": _count(found.found),
            "ideal_recall": _number(found.ideal),
            "random_recall": _number(found.random),
            "tied": found.tied,
            "apfd": _number(total.apfd),
            "whole_rauc": _number(total.rauc),
            "atrc": total.atrc,
            "auroc": _number(total.auroc),
            "reason": found.reason,
            "auroc_reason": total.auroc_reason,
            "captures": self.captures,
            "failure_rule": self.rule,
            "left_out": self.left_out,
        }


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _count(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def evaluate(pool: Pool, rankings: Sequence[Scored], budgets: Sequence[Budget], rule: str) -> Iterator[Evaluated]:
    """Each ranking of a pool against each of its targets at each budget.

    Args:
        pool: with captures.
        rankings: of its images.
        budgets: at least one.
        rule: one of `ranking.pool.FAILURE_RULES`.

    Raises:
        PairboundsError: if no image of the pool has a capture of a target, or a budget exceeds the pool.
    """
    for name, captures in pool.captures.items():
        rows = np.flatnonzero(captures.captured)
        if not len(rows):
            raise PairboundsError(
                "--targets", name, f"no image of {pool.model}'s pool has a capture", "look at the ids"
            )
        failures = captures.failures(rule, rows)
        for ranked in rankings:
            order = ranked.order.take(rows)
            total = whole(order, failures)
            for budget in budgets:
                yield Evaluated(
                    pool.model,
                    ranked.score,
                    ranked.copies,
                    name,
                    len(captures.conditions),
                    rule,
                    budget.text,
                    at_budget(order, failures, budget.images(len(rows))),
                    total,
                    failures.total,
                    len(rows),
                    pool.clean_correct - len(rows),
                )
