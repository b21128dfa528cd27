"""`pairbounds records`: import, merge and compare files of records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bounds.cli import Verb, emit
from bounds.cli_options import json_text
from bounds.errors import PairboundsError, printable
from bounds.files import check_apart, check_output
from inference.cli_import import import_

__all__ = ["records"]


@click.group()
def records() -> None:
    """Import, merge and compare files of prediction records."""


records.add_command(import_)


@records.command(cls=Verb)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.parquet", help="The one file.")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON and nothing else.")
def merge(*, files: Sequence[Path], out: Path, as_json: bool) -> None:
    """Put several Parquet files of records into one.

    A row that occurs twice is refused. Provenance that differs is kept with the name of its file.
    """
    check_output("--out", out, (".parquet",))
    check_apart([("--out", out)], [("FILES", file) for file in files])
    from inference import record_files

    rows = record_files.merge(files, out)
    told = {"out": str(out), "files": len(files), "rows": rows}
    emit(json_text(told) if as_json else f"{out}: {rows} rows of {len(files)} files")


@records.command(cls=Verb)
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, max=1),
    default=0.0,
    show_default=True,
    help="Difference of a probability or logit that counts as none.",
)
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON and nothing else.")
@click.pass_context
def diff(context: click.Context, *, first: Path, second: Path, tolerance: float, as_json: bool) -> None:
    """Compare two files row by row; exit 0 if they agree and 1 if not."""
    from dataclasses import asdict

    from inference import record_files

    if math.isnan(tolerance):
        raise PairboundsError("--tolerance", tolerance, "is no number", "give one from 0 to 1")
    found = record_files.diff(first, second, tolerance=tolerance)
    emit(json_text(asdict(found)) if as_json else _readable(asdict(found)))
    if not found.equal:
        context.exit(1)


def _readable(found: dict[str, Any]) -> str:
    def distance(name: str) -> str:
        return "not in both files" if found[name] is None else f"{found[name]:.3g}"

    lines = [
        f"rows: {found['common']} in both, {found['first_only']} only in the first, "
        f"{found['second_only']} only in the second",
        f"differing: {found['labels']} labels, {found['predictions']} predictions",
        f"largest difference: confidence {distance('confidence')}, true_probability {distance('true_probability')}",
        *(f"differing: {rows} in {name}" for name, rows in found["others"].items() if rows),
        *(f"not compared, in one file only: {name}" for name in found["not_compared"]),
        *(f"  {row['model']}, {row['condition']}, {row['image_id']}: {row['what']}" for row in found["examples"]),
        "equal" if found["equal"] else "not equal",
    ]
    return "\n".join(map(printable, lines))
