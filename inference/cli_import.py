"""`pairbounds records import`: records from outputs that others already have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from bounds.cli import Verb, emit
from bounds.cli_options import json_text, note
from bounds.files import check_apart, check_output
from inference.cli_infer import readable, top_of

__all__ = ["import_"]


@click.command(cls=Verb, name="import")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--labels",
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Labels, see above.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.parquet", help="The records.")
@click.option("--model", required=True, metavar="M", help="The model's name in the records.")
@click.option("--values", type=click.Choice(["logits", "probabilities"]), help="What the arrays hold.")
@click.option("--probabilities", default="none", show_default=True, help="Keep them: all, none, or the largest K.")
@click.option("--logits", is_flag=True, help="Keep the logits.")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON and nothing else.")
def import_(
    *,
    sources: Sequence[str],
    labels: Path,
    out: Path,
    model: str,
    values: str | None,
    probabilities: str,
    logits: bool,
    as_json: bool,
) -> None:
    """Records of arrays of outputs, or of predictions of timm's inference.py.

    SOURCE is CONDITION=FILE, such as clean=clean.npy, or a folder whose files name their conditions, such as
    fog/3.npy. FILE is .npy or .npz of shape (images, classes), or what timm's inference.py --include-index --fullname
    wrote as CSV. Labels are a CSV file with image_id and label, for arrays in the order of their rows; or, for arrays,
    .npy or .txt with one class index a row.
    """
    check_output("--out", out, (".parquet",))
    top = top_of(probabilities)

    from inference.importers import find, import_records
    from inference.predictions import Kept
    from inference.summary import conditions_of, warnings_of

    found = find(sources)
    check_apart([("--out", out)], [("--labels", labels), *(("SOURCE", path) for path in found.values())])
    kept = Kept(probabilities=top is None, top=top or 0, logits=logits)
    done = import_records(found, labels, out, model=model, values=values, kept=kept)
    rows = conditions_of(out)
    warnings = [*done.notes, *warnings_of(out, rows, done.classes)]
    for text in warnings:
        note(text)
    told = {"out": str(out), "rows": done.rows, "conditions": rows, "warnings": warnings}
    emit(json_text(told) if as_json else readable(f"{out}: {done.rows} rows", rows))
