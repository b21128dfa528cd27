"""`pairbounds compare-scores`: rankings compared over models, with intervals for their differences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, note, output_options, parse_level
from bounds.errors import printable
from ranking.cli_options import RankingChoice, Work, level_option, ranking_options

if TYPE_CHECKING:
    from ranking.bootstrap import Judged
    from ranking.comparison import Compared

__all__ = ["compare_scores"]

COPIES_WIDTH = 40
"""Of the column in tables for people."""

COLUMNS: dict[str, type] = {
    **dict.fromkeys(("score", "copies", "target", "budget"), str),
    "models": int,
    "left_out": str,
    **dict.fromkeys(
        ("recall", "recall_interval_lower", "recall_interval_upper", "ideal_recall", "random_recall"), float
    ),
    **dict.fromkeys(("reference_score", "reference_copies"), str),
    **dict.fromkeys(("difference", "difference_interval_lower", "difference_interval_upper"), float),
    **dict.fromkeys(("wins", "ties", "losses", "undefined_resamples"), int),
    "reason": str,
}


@click.command("compare-scores", cls=Verb)
@ranking_options(targets=True, budgets=("0.2",))
@click.option(
    "--reference", metavar="SCORE[@SET]", help="What the others are compared with  [default: the first ranking]"
)
@click.option(
    "--hold",
    type=click.Choice(["nothing", "score", "copies"]),
    default="nothing",
    show_default=True,
    help="Compare with the reference itself, with the same score on its copies, or with its score on the same copies.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=100),
    default=1000,
    show_default=True,
    help="Of the images.",
)
@level_option
@output_options
def compare_scores(
    *, choice: RankingChoice, reference: str | None, hold: str, resamples: int, level: str, output: Output
) -> None:
    """Mean failure recall over models, by score and copies, with differences on the same resampled images.

    RECORDS are Parquet or CSV files of prediction records. List options repeat, take commas and `all`.
    """
    output.check(choice.inputs)
    share = parse_level("--level", level, "0.95")
    work = choice.work(choice.load())

    from bounds import tables
    from ranking.comparison import compare, judge

    for text in _unequal(work):
        note(text)
    judged, images = judge(work.rankings(), choice.failure)
    found = compare(
        judged,
        choice.budgets,
        images,
        reference=_reference(reference, judged),
        hold=hold,
        level=share,
        resamples=resamples,
        seed=choice.seed,
    )
    rows = [one.to_dict() for one in found]
    output.write(rows, lambda: compared_text(found, level), lambda: tables.latex(_rows(found)), columns=COLUMNS)
    work.tell()


def _unequal(work: Work) -> list[str]:
    """A note where sets of copies differ in size: then not only their kind is compared."""
    from ranking.conditions import copy_conditions

    records = work.source.records
    sizes = {word: len(copy_conditions(records, work.models[0], word)) for word in work.needed}
    if len(set(sizes.values())) < 2:
        return []
    return ["the sets of copies differ in size: " + ", ".join(f"{word} {size}" for word, size in sizes.items())]


def _reference(asked: str | None, judged: Sequence[Judged]) -> tuple[str, str]:
    """The ranking that was named, the first of its score where no copies were."""
    if asked is None:
        return judged[0].score, judged[0].copies
    score, _, copies = asked.partition("@")
    for one in judged:
        if one.score == score and copies in ("", one.copies):
            return score, one.copies
    return score, copies


def _ends(value: tuple[float, float] | None) -> str | None:
    return None if value is None else f"[{value[0]:.4f}, {value[1]:.4f}]"


def _rows(found: Sequence[Compared]) -> list[dict[str, Any]]:
    from bounds.tables import nearest

    return [
        {
            "target": one.target,
            "budget": one.budget,
            "score": one.score,
            "copies": one.copies,
            "recall": None if one.recall is None else nearest(one.recall),
            "interval": _ends(one.interval),
            "minus": None if one.reference is None else "@".join(one.reference),
            "difference": None if one.difference is None else nearest(one.difference),
            "its interval": _ends(one.difference_interval),
            "w/t/l": None if one.wins is None else f"{one.wins}/{one.ties}/{one.losses}",
        }
        for one in found
    ]


def _wrapped(row: dict[str, Any]) -> dict[str, Any]:
    """A long list of conditions on several lines."""
    names = row["copies"]
    return row | {"copies": wrap(names.replace(",", ", "), COPIES_WIDTH) if len(names) > COPIES_WIDTH else names}


def _side_by_side(found: Sequence[Compared]) -> list[dict[str, Any]]:
    """One row a ranking, one column a target: the mean recall with its interval."""
    from bounds.tables import nearest

    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for one in found:
        row = rows.setdefault((one.score, one.copies), {"score": one.score, "copies": one.copies})
        row[one.target] = None if one.recall is None else f"{nearest(one.recall)} {_ends(one.interval) or ''}".rstrip()
    return list(rows.values())


def compared_text(found: Sequence[Compared], level: str) -> str:
    """Tables for people: for each budget all targets side by side, where there are several; then each by itself."""
    from bounds.tables import nearest, text

    parts = []
    if len({one.target for one in found}) > 1:
        for budget in dict.fromkeys(one.budget for one in found):
            members = [one for one in found if one.budget == budget]
            together = [_wrapped(row) for row in _side_by_side(members)]
            parts.append(f"mean failure recall, budget {printable(budget)}\n{text(together)}\n")
    for (target, budget), group in groupby(found, lambda one: (one.target, one.budget)):
        members = list(group)
        first = members[0]
        many = f"{first.models} {'model' if first.models == 1 else 'models'}"
        title = f"{printable(target)}, budget {printable(budget)}, mean failure recall over {many}"
        if first.ideal is not None and first.random is not None:
            title += f" (ideal {nearest(first.ideal)}, random {nearest(first.random)})"
        references = {one.reference for one in members if one.reference is not None}
        shared = {"target", "budget"} | ({"minus"} if len(references) == 1 else set())
        told = [f"differences: less {printable('@'.join(one))}" for one in references if len(references) == 1]
        rows = [_wrapped({key: cell for key, cell in row.items() if key not in shared}) for row in _rows(members)]
        align = ["left" if key in ("score", "copies", "minus") else "right" for key in rows[0]]
        parts += [title, text(rows, align), *told]
        parts += [f"without a failure, and left out: {', '.join(map(printable, first.left_out))}"] * bool(
            first.left_out
        )
        parts += dict.fromkeys(one.reason for one in members if one.reason)
        parts.append("")
    level_told = f"Intervals: {level} percentiles of resampled images, the same for both rankings of a difference."
    return "\n".join([*parts, level_told, "w/t/l: models on which the ranking wins, ties and loses."])
