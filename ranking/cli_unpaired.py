"""`pairbounds rank-bounds`: what would be known of failures and recall without the correspondence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, output_options
from bounds.errors import PairboundsError
from ranking.cli_options import RankingChoice, ranking_options

if TYPE_CHECKING:
    from ranking.unpaired import Unpaired

__all__ = ["rank_bounds"]

COLUMNS: dict[str, type] = {
    **dict.fromkeys(("model", "condition"), str),
    **dict.fromkeys(("images", "clean_correct"), int),
    **dict.fromkeys(("score", "copies", "budget"), str),
    "k": int,
    "knowledge": str,
    **dict.fromkeys(("failures", "failures_lower", "failures_upper"), int),
    **dict.fromkeys(("recall", "recall_lower", "recall_upper"), float),
    "may_be_undefined": bool,
    "reason": str,
}


@click.command("rank-bounds", cls=Verb)
@ranking_options(targets=True, budgets=("0.2",))
@output_options
def rank_bounds(*, choice: RankingChoice, output: Output) -> None:
    """Failures and recall as intervals, when it is not known which recapture is of which image.

    Beside them the paired values: the difference is what correspondence adds to planning. Each capture of a target is
    taken by itself. RECORDS are Parquet or CSV files of prediction records. List options repeat, take commas and `all`.
    """
    output.check(choice.inputs)
    if choice.failure != "any":
        rule = "joins several captures, and here each is taken by itself"
        raise PairboundsError("--failure", choice.failure, rule, "leave it out")

    from bounds import tables
    from ranking.unpaired import unpaired

    work = choice.work(choice.load())
    found: list[Unpaired] = []
    for pool, rankings in work.rankings():
        conditions = sorted({name for captures in pool.captures.values() for name in captures.conditions})
        for evaluation in work.source.records.evaluations(pool.model, conditions, clean=work.source.clean):
            found += unpaired(evaluation, pool, rankings, choice.budgets)
    rows = [one.to_dict() for one in found]
    output.write(rows, lambda: unpaired_text(found), lambda: tables.latex(_rows(found)), columns=COLUMNS)
    work.tell()


def _rows(found: Sequence[Unpaired]) -> list[dict[str, Any]]:
    """One row a model, condition, ranking, budget and level; what the levels have in common stands in the first."""
    from bounds.tables import between, ends_text, nearest

    rows = []
    for one in found:
        first = one.knowledge == found[0].knowledge
        recalls = one.recalls
        rows.append(
            {
                "model": one.model if first else None,
                "condition": one.condition if first else None,
                "score": f"{one.score}@{one.copies}" if first else None,
                "budget": one.budget if first else None,
                "failures": f"{one.failures} of {one.clean_correct}" if first else None,
                "recall": nearest(one.recall) if first and one.recall is not None else None,
                "knowledge": one.knowledge,
                "failures in": between((str(one.lower), str(one.upper))),
                "recall in": between(ends_text(recalls.lower, recalls.upper)) + "*" * recalls.may_be_undefined
                if recalls.lower is not None and recalls.upper is not None
                else None,
            }
        )
    return rows


def unpaired_text(found: Sequence[Unpaired]) -> str:
    """A table for people."""
    from bounds.tables import text

    align = ["left", "left", "left", "right", "right", "right", "left", "right", "right"]
    notes = [f"undefined: {reason}" for reason in dict.fromkeys(one.to_dict()["reason"] for one in found) if reason]
    if any(one.recalls.may_be_undefined for one in found):
        notes.append("* some correspondences have no failure; the interval is of the others")
    told = (
        "failures, recall: by the correspondence at hand; in: over all correspondences that agree with what is known.",
        "total-correct-correct: the failures in all are known; correct-correct: those of each class. Ends attained.",
    )
    return "\n".join([text(_rows(found), align), *notes, "", *told])
