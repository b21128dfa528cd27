"""`pairbounds persistence`: what the persistent-wrong counts remove from the intervals given retained-correct ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from bounds.cli import Verb
from bounds.cli_options import (
    Output,
    average_option,
    denominator_option,
    node_limit_option,
    note,
    output_options,
    progress,
)
from bounds.cli_records import Acceptance, Choice, acceptance_options, record_options, usable_quantities

if TYPE_CHECKING:
    from bounds.persistence import Gain

__all__ = ["gain_text", "persistence"]


@click.command(cls=Verb)
@record_options()
@click.option("--quantity", "quantities", multiple=True, metavar="Q", help="Quantities  [default: all]")
@acceptance_options
@denominator_option
@average_option
@node_limit_option
@output_options
def persistence(
    *,
    choice: Choice,
    quantities: Sequence[str],
    acceptance: Acceptance,
    denominator: str | None,
    average: str,
    node_limit: int | None,
    output: Output,
) -> None:
    """What knowing which wrong answers persist buys: the width that it removes from each interval.

    RECORDS are Parquet or CSV files of prediction records. List options repeat, take commas and `all`.
    """
    output.check(choice.inputs)

    from bounds import tables
    from bounds.persistence import persistence_gain

    source = choice.load()
    asked = choice.sides(source)
    evaluations = (at for evaluation in choice.evaluations(source, asked) for at in acceptance.of(evaluation))
    gains: list[Gain] = []
    told: list[str] = []
    total = sum(map(len, asked.values())) * len(acceptance)
    for at in progress(evaluations, lambda: total, "evaluations"):
        usable, left_out = usable_quantities(quantities or ("all",), at, denominator)
        told = told or left_out
        gains += persistence_gain(at, usable, denominator=denominator, average=average, node_limit=node_limit)
    for text in told:
        note(text)
    output.write(
        [gain.to_dict() for gain in gains],
        lambda: gain_text(gains),
        lambda: tables.scoped_latex([gain.without for gain in gains], [_readable(gain) for gain in gains]),
    )


def gain_text(gains: Sequence[Gain]) -> str:
    """Gains as tables for people, one for each (model, condition, acceptance)."""
    from bounds.tables import FOOTER, heading, text

    parts = []
    for title, members in groupby(gains, lambda gain: heading(gain.without)):
        rows = [_readable(gain) for gain in members]
        parts.append(f"{title}\n{text(rows, ['left', 'left', 'right', 'right', 'right', 'left'])}\n")
    return "\n".join([*parts, FOOTER])


def _readable(gain: Gain) -> dict[str, str | None]:
    from bounds.tables import nearest, over, range_text

    removed = gain.removed
    return {
        "quantity": gain.without.quantity,
        "over": over(gain.without),
        "correct-correct": range_text(gain.without),
        "five-state": range_text(gain.given),
        "removed": None if removed is None else f"{nearest(100 * removed, 1)} %",
        "note": gain.reason,
    }
