"""`pairbounds persistence`: what the persistent-wrong counts remove from the intervals given retained-correct ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bounds.cli import Verb
from bounds.cli_options import Output, note, output_options, progress
from bounds.cli_records import Acceptance, acceptance_options, record_options, sides, usable_quantities
from bounds.files import check_apart

if TYPE_CHECKING:
    from bounds.persistence import Gain

__all__ = ["gain_text", "persistence"]


@click.command(cls=Verb)
@record_options()
@click.option("--quantity", "quantities", multiple=True, metavar="Q", help="Quantities  [default: all]")
@acceptance_options
@click.option("--denominator", metavar="D", help="What rates are taken over  [default: the quantity's own]")
@click.option(
    "--average", type=click.Choice(["micro", "macro"]), default="micro", show_default=True, help="Over classes."
)
@click.option("--node-limit", type=click.IntRange(min=0), metavar="N", help="Branch-and-bound nodes of one program.")
@output_options
def persistence(
    *,
    records: Sequence[Path],
    models: Sequence[str],
    perturbed: Sequence[str],
    clean: str,
    strata: str | None,
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
    check_apart([("--out", output.out)], [("RECORDS", path) for path in records])

    from bounds import tables
    from bounds.persistence import persistence_gain
    from bounds.records import load_records

    source = load_records(list(records), strata=strata)
    asked = sides(source, models, perturbed, clean)
    evaluations = (
        at
        for model, conditions in asked.items()
        for evaluation in source.evaluations(model, conditions, clean=clean)
        for at in acceptance.of(evaluation)
    )
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
