"""`pairbounds advise`: which statistics would narrow an interval, and the table that an author could print."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, denominator_option, node_limit_option, note, output_options, progress, split
from bounds.cli_records import Acceptance, Choice, acceptance_options, record_options, usable_quantities
from bounds.errors import PairboundsError
from bounds.files import check_apart, check_output

if TYPE_CHECKING:
    from bounds.advice import Advice
    from bounds.table_intervals import Ends

__all__ = ["advice_text", "advise"]

SUFFIXES = (".csv", ".parquet", ".tex")

SCOPE = ("quantity", "model", "clean", "perturbed", "threshold")
"""What says whose advice it is, in tables."""


@click.command(cls=Verb)
@record_options()
@click.option("--quantity", "quantities", multiple=True, metavar="Q", help="Quantities  [default: as in bounds]")
@click.option("--statistic", "statistics", multiple=True, metavar="S", help="Counts that could be printed.")
@click.option("--width", metavar="W", help="How narrow is enough, a decimal  [default: as narrow as it can be]")
@click.option("--table", type=click.Path(path_type=Path), metavar="FILE", help="What to print: .csv, .parquet or .tex.")
@acceptance_options
@denominator_option
@node_limit_option
@output_options
def advise(
    *,
    choice: Choice,
    quantities: Sequence[str],
    statistics: Sequence[str],
    width: str | None,
    table: Path | None,
    acceptance: Acceptance,
    denominator: str | None,
    node_limit: int | None,
    output: Output,
) -> None:
    """What should a paper print? How far each further statistic narrows an interval, the best one first.

    RECORDS are Parquet or CSV files of prediction records. List options repeat and take commas.
    """
    output.check(choice.inputs)
    if table is not None:
        check_output("--table", table, SUFFIXES)
        check_apart([("--table", table), ("--out", output.out)], choice.inputs)
    goal = _width(width)

    from bounds import tables
    from bounds.advice import advise as advise_on
    from bounds.advice import printable_counts

    source = choice.load()
    asked = choice.sides(source)
    evaluations = (at for evaluation in choice.evaluations(source, asked) for at in acceptance.of(evaluation))
    named = split(statistics) or None
    found: list[Advice] = []
    counts: list[dict[str, Any]] = []
    told: list[str] = []
    total = sum(map(len, asked.values())) * len(acceptance)
    for at in progress(evaluations, lambda: total, "evaluations"):
        usable, left_out = usable_quantities(quantities, at, denominator)
        told = told or left_out
        for quantity in usable:
            advice = advise_on(
                at, quantity, denominator=denominator, statistics=named, width=goal, node_limit=node_limit
            )
            found.append(advice)
            scope = {key: value for key, value in advice.to_dict().items() if key in SCOPE}
            counts += [scope | row for row in printable_counts(at, advice.enough[0])]
    for text in told:
        note(text)
    if table is not None:
        _write_table(counts, table)
    readable = [(advice, row) for advice in found for row in _readable(advice)]
    output.write(
        [advice.to_dict() for advice in found],
        lambda: advice_text(found),
        lambda: tables.scoped_latex([advice.marginals for advice, _ in readable], [row for _, row in readable]),
        [row for advice in found for row in _flat(advice)],
    )


def advice_text(found: Sequence[Advice]) -> str:
    """Advice as tables for people, one for each quantity of each (model, condition, acceptance)."""
    from bounds.tables import FOOTER, heading, over, range_text, text

    parts = []
    for title, members in groupby(found, lambda advice: heading(advice.marginals)):
        parts.append(title)
        for advice in members:
            chosen, ends = advice.enough
            at = advice.marginals
            parts.append(f"\n{at.quantity} over {over(at)}, from the two sides alone: {range_text(at)}")
            parts.append(text(_readable(advice), ["right", "left", "right", "right"]))
            names = " + ".join(map(str, chosen)) or "nothing further"
            parts.append(f"enough: {names}: {_range(ends, advice)}")
        parts.append("")
    return "\n".join([*parts, FOOTER])


def _range(ends: Ends, advice: Advice) -> str:
    from bounds.tables import between, ends_text

    if ends.lower is None or ends.upper is None:
        return "undefined"
    digits = {} if advice.marginals.unit != "count" else {"digits": 0}
    return between(ends_text(ends.lower, ends.upper, **digits)) + ("" if ends.sharp else " outer")


def _readable(advice: Advice) -> list[dict[str, Any]]:
    """A row a statistic: those of the steps in their order, then the others."""
    ends = {step.statistic: step.ends for step in advice.alone}
    chosen = [step.statistic for step in advice.steps]
    with_those = {step.statistic: _range(step.ends, advice) for step in advice.steps}
    return [
        {
            "": chosen.index(one) + 1 if one in chosen else None,
            "statistic": str(one),
            "alone": _range(ends[one], advice),
            "with those above": with_those.get(one, "adds nothing"),
        }
        for one in (*chosen, *(one for one in ends if one not in chosen))
    ]


def _flat(advice: Advice) -> list[dict[str, Any]]:
    """Rows for CSV and Parquet: what is known besides the two sides, and the interval."""
    told = advice.to_dict()
    scope = {key: told[key] for key in SCOPE} | {"denominator": told["denominator"]["name"], "average": told["average"]}
    nothing = {"statistic": None, "per_class": None}
    rows = [scope | {"known": "marginals", "order": None} | nothing | told["marginals"]]
    for kind, name in (("alone", "alone"), ("step", "steps")):
        rows += [scope | {"known": kind, "order": order} | row for order, row in enumerate(told[name], 1)]
    interval = {key: value for key, value in told["enough"].items() if key != "statistics"}
    names = " + ".join(str(one) for one in advice.enough[0])
    return [*rows, scope | {"known": "enough", "order": None} | nothing | {"statistic": names} | interval]


def _write_table(rows: Sequence[dict[str, Any]], path: Path) -> None:
    from bounds import tables

    columns = {**dict.fromkeys((*SCOPE, "class", "statistic"), str), "count": int}
    if path.suffix.lower() == ".parquet":
        tables.write_parquet(rows, path, columns)
    elif path.suffix.lower() == ".tex":
        tables.write_text(tables.latex(rows), path)
    else:
        tables.write_text(tables.csv_text(rows, columns), path)


def _width(text: str | None) -> Fraction | None:
    from bounds.exact import exact_number

    if text is None:
        return None
    try:
        number = exact_number(text)
    except ValueError as error:
        raise PairboundsError("--width", text, str(error), "give a decimal such as 0.05") from None
    if number < 0:
        raise PairboundsError("--width", text, "a width is not negative", "give a decimal such as 0.05")
    return number
