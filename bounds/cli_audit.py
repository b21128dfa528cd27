"""`pairbounds audit`: verdicts on reported intervals and values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_certificate import certificate_option
from bounds.cli_options import Output, note, output_options

if TYPE_CHECKING:
    from bounds.auditing import Verdict

__all__ = ["VERDICT_COLUMNS", "audit", "verdict_text"]

NESTED: dict[str, dict[str, type]] = {
    "reported": {"lower": str, "upper": str, "unit": str},
    "exact": {"lower": str, "upper": str, "lower_float": float, "upper_float": float},
    "excess": {"lower": str, "upper": str},
    "witness": {"end": str, "value": str},
}
"""What a table holds of the objects inside a verdict; the pairs of a witness are in the JSON."""

VERDICT_COLUMNS: dict[str, type] = {
    "claim_id": str,
    "verdict": str,
    **{f"{outer}_{inner}": kind for outer, columns in NESTED.items() for inner, kind in columns.items()},
    "reason": str,
}
"""Columns of a table of verdicts with their types."""

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
@click.option(
    "--policies",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Policies (TOML) for rows that compare two, such as 'strict < lenient'.",
)
@certificate_option
@output_options
@click.pass_context
def audit(
    context: click.Context,
    *,
    claims: Path,
    records: Sequence[Path],
    strata: str | None,
    policies: Path | None,
    certificate: Path | None,
    output: Output,
) -> None:
    """Is a reported interval or value right? A verdict for each row of CLAIMS, a CSV file.

    Exits with 0 if every claim is sharp, loose or possible, with 1 if one is not, and with 2 if a row cannot be read.
    """
    inputs = [("CLAIMS", claims), ("--policies", policies), *(("--records", path) for path in records)]
    output.check(inputs, certificate=certificate)

    from bounds import tables
    from bounds.auditing import audit as verdicts_on
    from bounds.auditing import exit_code
    from bounds.cli_certificate import certificate_file

    with contextlib.ExitStack() as stack:
        proofs = None if certificate is None else stack.enter_context(certificate_file(certificate))
        verdicts = verdicts_on(claims, list(records), strata=strata, policies=policies)
        left_out = [] if proofs is None else proofs.add_verdicts(verdicts)
    if left_out:
        what = "rows that cannot be read and comparisons of policies are not in it"
        note(f"--certificate: {what}: {', '.join(left_out)}")
    objects = [verdict.to_dict() for verdict in verdicts]
    output.write(
        objects,
        lambda: verdict_text(verdicts),
        lambda: tables.latex([_readable(verdict) for verdict in verdicts]),
        rows=[row | {outer: _some(row[outer], columns) for outer, columns in NESTED.items()} for row in objects],
        columns=VERDICT_COLUMNS,
    )
    context.exit(exit_code(verdicts))


def _some(inner: Mapping[str, object] | None, columns: Iterable[str]) -> dict[str, object]:
    """Some values of an object, or as many Nones where there is none."""
    return {key: None if inner is None else inner[key] for key in columns}


def verdict_text(verdicts: Sequence[Verdict]) -> str:
    """Verdicts as a table for people."""
    from bounds.tables import text

    if not verdicts:
        return "0 claims"
    return text([_readable(verdict) for verdict in verdicts])


def _readable(verdict: Verdict) -> dict[str, Any]:
    """A verdict for people; the exact ends in the unit reported, rounded outward."""
    from bounds.tables import between, ends_text

    scale, digits = {"percent": (100, 2), "count": (1, 0)}.get(verdict.unit, (1, 4))
    exact = None
    if verdict.exact is not None:
        lower, upper = (Fraction(end) * scale for end in verdict.exact)
        exact = between(ends_text(lower, upper, digits))
    reported = f"[{verdict.lower}, {verdict.upper}]" if verdict.upper else verdict.lower
    unit = "" if "%" in reported else verdict.unit
    return {
        "claim_id": verdict.claim_id,
        "reported": f"{reported} {unit}".strip(),
        "exact": exact,
        "verdict": str(verdict.verdict),
        "reason": wrap(verdict.reason, REASON_WIDTH),
    }
