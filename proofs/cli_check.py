"""`pairbounds check`: does a certificate hold? The checker of `proofs.checker`, with records in any of our formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from bounds.cli import Verb, emit
from bounds.cli_options import json_text
from bounds.errors import PairboundsError

__all__ = ["check", "texts_of"]


@click.command(cls=Verb)
@click.argument("certificate", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--records",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RECORDS",
    help="The records that the certificate speaks of, Parquet or CSV; repeats.",
)
@click.option("--strata", metavar="COLUMN", help="Column that holds the classes  [default: label]")
@click.option("--json", "as_json", is_flag=True, help="Strict JSON.")
@click.pass_context
def check(
    context: click.Context, *, certificate: Path, records: Sequence[Path], strata: str | None, as_json: bool
) -> None:
    """Does a certificate hold? Every interval and verdict of FILE is checked in exact arithmetic, without a solver.

    Exits with 0 if everything is certified and with 1 if something is not. Without RECORDS the counts in FILE are
    taken as they are.
    """
    from proofs import checker

    if strata is not None and not records:
        raise PairboundsError("--strata", strata, "says how records are read", "add --records")
    try:
        data = certificate.read_bytes()
        report = checker.check(data, list(texts_of(checker.parse(data), records, strata)) if records else ())
    except checker.Unreadable as error:
        raise PairboundsError("FILE", str(certificate), str(error), "give a file that --certificate wrote") from None
    emit(json_text(report.to_dict()) if as_json else "\n".join(report.lines()))
    context.exit(report.exit_code)


def texts_of(certificate: Any, records: Sequence[Path], strata: str | None) -> Iterator[str]:
    """The canonical text of the records of each evaluation that a certificate names, once each.

    Args:
        certificate: as `proofs.checker.parse` reads it. What is not well formed is passed over, the checker refuses it.

    Raises:
        PairboundsError: if the records cannot be read, or hold no such evaluation.
    """
    from bounds.records import load_records
    from proofs.canonical import records_text
    from proofs.checker import REPORTS

    if isinstance(certificate, dict) and certificate.get("format") == REPORTS:
        rule = "a certificate of printed reports speaks of no records"
        raise PairboundsError("--records", str(records[0]), rule, "leave the option out")

    loaded, sides = load_records(list(records), strata=strata), {}
    named = set()
    for entry in certificate.get("evaluations", []) if isinstance(certificate, dict) else []:
        try:
            names = entry["model"], entry["clean"], entry["perturbed"]
            threshold = entry["threshold"] and entry["threshold"]["text"]
            named.add((*names, entry["paired"] is True, threshold))
        except (KeyError, TypeError):
            continue
    for model, clean, perturbed, paired, threshold in sorted(named, key=str):
        key = model, clean, perturbed, paired
        if key not in sides:
            sides[key] = loaded.evaluation(model, perturbed, clean=clean, paired=paired)
        yield records_text(sides[key] if threshold is None else sides[key].at_threshold(threshold))
