"""`pairbounds audit`: verdicts on reported intervals and values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

from bounds.cli import Verb
from bounds.cli_options import Output, output_options

if TYPE_CHECKING:
    from bounds.auditing import Verdict

__all__ = ["audit", "verdict_text"]

REASON_WIDTH = 60


@click.command(cls=Verb)
@click.argument("claims", type=click.Path(path_type=Path))
@click.option(
    "--records",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    metavar="RECORDS",
    help="Parquet or CSV files of prediction records; repeats.",
)
@click.option("--strata", metavar="COLUMN", help="Column that holds the classes  [default: label]")
@output_options
@click.pass_context
def audit(context: click.Context, *, claims: Path, records: Sequence[Path], strata: str | None, output: Output) -> None:
    """Is a reported interval or value right? A verdict for each row of CLAIMS, a CSV file.

    Exits with 0 if every claim is sharp, loose or possible, with 1 if one is not, and with 2 if a row cannot be read.
    """
    from bounds import tables
    from bounds.auditing import audit as verdicts_on
    from bounds.auditing import exit_code

    verdicts = verdicts_on(claims, list(records), strata=strata)
    objects = [verdict.to_dict() for verdict in verdicts]
    output.write(
        objects,
        lambda: verdict_text(verdicts),
        lambda: tables.latex([_readable(verdict) for verdict in verdicts]),
        rows=[row | {"witness": _without_pairs(row["witness"])} for row in objects],
    )
    context.exit(exit_code(verdicts))


def _without_pairs(witness: dict[str, object] | None) -> dict[str, object]:
    """A witness as columns of a table; the pairs themselves are in the JSON."""
    return {key: None if witness is None else witness[key] for key in ("end", "value")}


def verdict_text(verdicts: Sequence[Verdict]) -> str:
    """Verdicts as a table for people."""
    from bounds.tables import text

    rows = [_readable(verdict) for verdict in verdicts]
    return text([row | {"reason": fill(row["reason"] or "", REASON_WIDTH)} for row in rows])


def _readable(verdict: Verdict) -> dict[str, str | None]:
    """A verdict for people; the exact ends in the unit reported, rounded outward."""
    from bounds.tables import outward

    scale, digits = {"percent": (100, 2), "count": (1, 0)}.get(verdict.unit, (1, 4))
    exact = None
    if verdict.exact is not None:
        lower, upper = (Fraction(end) * scale for end in verdict.exact)
        exact = f"[{outward(lower, up=False, digits=digits)}, {outward(upper, up=True, digits=digits)}]"
    reported = f"[{verdict.lower}, {verdict.upper}]" if verdict.upper else verdict.lower
    unit = "" if "%" in reported else verdict.unit
    return {
        "claim_id": verdict.claim_id,
        "reported": f"{reported} {unit}".strip(),
        "exact": exact,
        "verdict": str(verdict.verdict),
        "reason": verdict.reason,
    }
