"""`pairbounds bands`: the intervals of quantities against clean coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bounds.cli import Verb
from bounds.cli_options import (
    Output,
    average_option,
    chosen,
    denominator_option,
    is_all,
    node_limit_option,
    output_options,
    plot_option,
    progress,
    split,
)
from bounds.cli_records import Choice, record_options
from bounds.errors import QuantityError

if TYPE_CHECKING:
    from bounds.interval import Interval

__all__ = ["bands"]

DEFAULT = ("lost-acceptance", "new-accepted-error")
LEVELS = ("correct-correct", "five-state")


@click.command(cls=Verb)
@record_options()
@click.option(
    "--quantity",
    "quantities",
    multiple=True,
    metavar="Q",
    help=f"Quantities that depend on acceptance  [default: {', '.join(DEFAULT)}]",
)
@click.option(
    "--knowledge", "levels", multiple=True, metavar="K", help=f"Levels of knowledge  [default: {', '.join(LEVELS)}]"
)
@click.option(
    "--coverages",
    multiple=True,
    metavar="C",
    help="Clean coverages; `all` for every distinct threshold  [default: 0.05, 0.1, ..., 1]",
)
@denominator_option
@average_option
@node_limit_option
@plot_option
@output_options
def bands(
    *,
    choice: Choice,
    quantities: Sequence[str],
    levels: Sequence[str],
    coverages: Sequence[str],
    denominator: str | None,
    average: str,
    node_limit: int | None,
    plot: Path | None,
    output: Output,
) -> None:
    """Risk-coverage bands: the interval of each quantity at each clean coverage.

    RECORDS are Parquet or CSV files of prediction records with confidences. List options repeat, take commas and `all`.
    """
    output.check(choice.inputs, plot=plot)

    from bounds import bands as sweeps
    from bounds import tables
    from bounds.knowledge import Level

    source = choice.load()
    asked = choice.sides(source)
    names = _quantities(quantities, denominator)
    known = chosen("--knowledge", levels or LEVELS, list(Level))
    named = split(coverages) or list(sweeps.COVERAGES)
    sweep = None if is_all("--coverages", named) else named
    evaluations = choice.evaluations(source, asked)
    found: list[Interval] = []
    for evaluation in progress(evaluations, lambda: sum(map(len, asked.values())), "conditions"):
        found += sweeps.bands(
            evaluation, names, known, sweep, denominator=denominator, average=average, node_limit=node_limit
        )
    if plot is not None:
        from bounds.plot_bands import plot_bands

        plot_bands(found, plot)
    output.write(
        [interval.to_dict() for interval in found],
        lambda: band_text(found),
        lambda: tables.scoped_latex(found, [tables.readable(interval) for interval in found]),
    )


def _quantities(names: Sequence[str], denominator: str | None) -> list[str]:
    """The quantities asked for; `all` means those that depend on acceptance and are offered over the denominator."""
    from bounds.quantities import QUANTITIES

    if not is_all("--quantity", split(names)):
        return chosen("--quantity", names or DEFAULT, list(QUANTITIES))
    found = [
        name
        for name, quantity in QUANTITIES.items()
        if quantity.needs_acceptance and (denominator is None or denominator in quantity.denominators)
    ]
    if not found:
        raise QuantityError("--denominator", denominator, "no quantity is offered over it", "leave it out")
    return found


def band_text(intervals: Sequence[Interval]) -> str:
    """Bands as tables for people: one for each quantity of each (model, condition), one row a coverage."""
    from bounds.tables import FOOTER, heading, nearest, over, paired_text, range_text, text

    parts = []
    first: dict[tuple[str, ...], list[Interval]] = {}
    for one in intervals:
        first.setdefault((one.model, one.perturbed, one.quantity), []).append(one)
    for members in first.values():
        rows: dict[object, dict[str, str | None]] = {}
        for one in members:
            assert one.coverage is not None
            row = rows.setdefault(
                (one.coverage, one.threshold),
                {
                    "asked": one.coverage.asked,
                    "coverage": nearest(one.coverage.achieved),
                    "threshold": one.threshold,
                },
            )
            row[one.knowledge] = range_text(one) + ("" if one.sharp else " outer")
            row["paired"] = row.pop("paired", None) or paired_text(one)
        plain = heading(replace(members[0], threshold=None, coverage=None))
        title = f"{plain}\n{members[0].quantity} over {over(members[0])}"
        parts.append(f"{title}\n{text(list(rows.values()), ['right'] * len(next(iter(rows.values()))))}\n")
    return "\n".join([*parts, FOOTER])
