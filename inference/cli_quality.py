"""`pairbounds quality`: calibration of a model's records, and detection of images that are of no known class."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, chosen, output_options, progress
from bounds.errors import PairboundsError, printable

if TYPE_CHECKING:
    from inference.outputs import OutputsFile
    from inference.quality import Fit

__all__ = ["quality"]

NUMBERS = ("accuracy", "mean_confidence", "ece", "nll", "brier")
SCALED = ("temperature", "scaled_ece", "scaled_nll", "scaled_brier")

COLUMNS: dict[str, type] = {
    **dict.fromkeys(("model", "condition", "kind"), str),
    **dict.fromkeys(("images", "unusable"), int),
    **dict.fromkeys((*NUMBERS, *SCALED), float),
    **dict.fromkeys([f"reasons_{name}" for name in (*NUMBERS, *SCALED)], str),
}
"""Of a table of `inference.quality.Quality`."""

DETECTION: dict[str, type] = {
    **dict.fromkeys(("model", "condition", "ood_condition", "score"), str),
    "temperature": float,
    **dict.fromkeys(("images", "ood_images", "unusable", "ood_unusable"), int),
    **dict.fromkeys(("auroc", "fpr95"), float),
    "reason": str,
}
"""Of a table of `inference.quality.Detection`."""


@click.command(cls=Verb)
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", "models", multiple=True, metavar="M", help="Models  [default: all]")
@click.option("--conditions", multiple=True, metavar="COND", help="Conditions  [default: all]")
@click.option("--fit-temperature", metavar="COND", help="Scale by the temperature that suits this condition best.")
@click.option("--temperature", type=float, metavar="T", help="Scale by this temperature.")
@click.option(
    "--ood", type=click.Path(path_type=Path), metavar="FILE", help="Records of other images, to be told from these."
)
@click.option("--ood-conditions", multiple=True, metavar="COND", help="Conditions of --ood  [default: all]")
@click.option(
    "--score",
    "scores",
    multiple=True,
    metavar="S",
    help="What tells them: msp, energy, max-logit, entropy  [default: msp]",
)
@output_options
def quality(
    *,
    records: Sequence[Path],
    models: Sequence[str],
    conditions: Sequence[str],
    fit_temperature: str | None,
    temperature: float | None,
    ood: Path | None,
    ood_conditions: Sequence[str],
    scores: Sequence[str],
    output: Output,
) -> None:
    """Accuracy, calibration error (15 bins), negative log-likelihood and Brier score of each condition.

    With --ood instead: how the outputs tell the images of RECORDS from those of FILE. RECORDS are Parquet or CSV files
    of prediction records. List options repeat, take commas and `all`.
    """
    output.check([*(("RECORDS", path) for path in records), ("--ood", ood)])
    if temperature is not None and fit_temperature is not None:
        raise PairboundsError("--temperature", temperature, "cannot go with --fit-temperature", "give one of the two")
    if temperature is not None and not 0 < temperature < math.inf:
        raise PairboundsError("--temperature", temperature, "a temperature is finite and above 0", "give such as 1.5")
    if ood is None and (scores or ood_conditions):
        option = "--score" if scores else "--ood-conditions"
        raise PairboundsError(option, None, "is for telling images from others", "add --ood FILE, or leave it out")

    from bounds import tables
    from inference.outputs import OutputsFile

    file = OutputsFile(list(records))
    asked = {model: _conditions("--conditions", conditions, file, model) for model in chosen_models(models, file)}
    rows: list[dict[str, Any]]
    if ood is None:
        steps = progress(_qualities(file, asked, fit_temperature, temperature), _total(asked), "conditions")
        rows = list(steps)
        columns, readable = COLUMNS, _quality_text
    else:
        from inference.quality import SCORES

        others = OutputsFile([ood])
        wanted = chosen("--score", scores or ("msp",), tuple(SCORES))
        pairs = {model: _conditions("--ood-conditions", ood_conditions, others, model) for model in asked}
        rows = list(_detections(file, asked, others, pairs, wanted, fit_temperature, temperature))
        columns, readable = DETECTION, _detection_text
    latex_rows = [{name: _cell(row[name]) for name in columns if name in row} for row in rows]
    output.write(rows, lambda: readable(rows), lambda: tables.latex(latex_rows), columns=columns)


def chosen_models(models: Sequence[str], file: OutputsFile) -> list[str]:
    """The models asked for; all by default."""
    return chosen("--model", models or ("all",), file.models)


def _conditions(option: str, asked: Sequence[str], file: OutputsFile, model: str) -> list[str]:
    if model not in file.models:
        raise PairboundsError("--ood", model, "has no records of this model", f"it has {', '.join(file.models)}")
    return chosen(option, asked or ("all",), file.conditions(model))


def _total(asked: dict[str, list[str]]) -> Any:
    return lambda: sum(map(len, asked.values()))


def _fit(file: OutputsFile, model: str, fitted: str | None, given: float | None) -> Fit | None:
    from inference.quality import Fit, fit_temperature

    if fitted is None:
        return None if given is None else Fit(given)
    found = chosen("--fit-temperature", [fitted], file.conditions(model))
    if len(found) != 1:
        raise PairboundsError("--fit-temperature", fitted, "is not one condition", f"choose one, such as {found[0]}")
    (condition,) = found
    return fit_temperature(file.labelled(model, condition))


def _qualities(
    file: OutputsFile, asked: dict[str, list[str]], fitted: str | None, given: float | None
) -> Iterator[dict[str, Any]]:
    from inference.quality import quality

    for model, conditions in asked.items():
        fit = _fit(file, model, fitted, given)
        for condition in conditions:
            yield asdict(quality(file.labelled(model, condition), fit))


def _detections(
    file: OutputsFile,
    asked: dict[str, list[str]],
    others: OutputsFile,
    pairs: dict[str, list[str]],
    scores: Sequence[str],
    fitted: str | None,
    given: float | None,
) -> Iterator[dict[str, Any]]:
    from inference.quality import detection

    for model, conditions in asked.items():
        fit = _fit(file, model, fitted, given)
        if fit is not None and fit.temperature is None:
            raise PairboundsError("--fit-temperature", fitted, str(fit.reason), "give --temperature, or leave it out")
        temperature = 1.0 if fit is None or fit.temperature is None else fit.temperature
        for condition in conditions:
            known = file.unlabelled(model, condition)
            for other in pairs[model]:
                unknown = others.unlabelled(model, other)
                for score in scores:
                    yield asdict(detection(known, unknown, score, temperature))


def _cell(value: Any) -> str | None:
    return f"{value:.4f}" if isinstance(value, float) else None if value is None else str(value)


def _quality_text(rows: Sequence[dict[str, Any]]) -> str:
    """A table for each model, with the reasons for what is missing below it."""
    from bounds import tables

    parts = []
    for model, members in groupby(rows, lambda row: row["model"]):
        group = list(members)
        scaled = SCALED if any("scaled_ece" in row["reasons"] or row["temperature"] for row in group) else ()
        shown = ("condition", "images", *NUMBERS, *scaled)
        lines = [{name.replace("_", " "): _cell(row[name]) for name in shown} for row in group]
        reasons = dict.fromkeys(
            f"{name.replace('_', ' ')}: {why}" for row in group for name, why in row["reasons"].items()
        )
        unusable = sum(row["unusable"] for row in group)
        left_out = [f"rows left out, without a usable prediction or number: {unusable}"] if unusable else []
        table = tables.text(lines, ["left", *["right"] * (len(shown) - 1)])
        parts.append("\n".join([printable(model), table, *reasons, *left_out]))
    return "\n\n".join(parts)


def _detection_text(rows: Sequence[dict[str, Any]]) -> str:
    from bounds import tables

    shown = ("model", "condition", "images", "ood_condition", "ood_images", "score", "auroc", "fpr95")
    lines = [{name.replace("_", " "): _cell(row[name]) for name in shown} for row in rows]
    reasons = dict.fromkeys(f"{row['score']}: {row['reason']}" for row in rows if row["reason"])
    right = {"images", "ood_images", "auroc", "fpr95"}
    return "\n".join([tables.text(lines, ["right" if name in right else "left" for name in shown]), *reasons])
