"""`pairbounds infer`: records from a model, images and conditions."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb, emit
from bounds.cli_options import json_text, note, split
from bounds.errors import PairboundsError
from bounds.files import check_apart, check_output

if TYPE_CHECKING:
    from inference.datasets import Data

__all__ = ["infer", "readable", "top_of"]

IMAGENET = "imagenet"
"""As a template: open_clip's 80 of ImageNet."""

QUIET_SECONDS = 1.0
LINE_SECONDS = 60.0
"""Between two signs of progress on a terminal, and elsewhere."""


@click.command(cls=Verb)
@click.option(
    "--model",
    "source",
    required=True,
    metavar="SPEC",
    help="timm:NAME[@FILE], module:package.factory, open-clip:NAME@WEIGHTS.",
)
@click.option("--data", required=True, type=click.Path(path_type=Path), help="Folder by class, or CSV manifest.")
@click.option("--conditions", multiple=True, default=("clean",), show_default=True, metavar="COND", help="Conditions.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.parquet", help="The records.")
@click.option("--name", metavar="M", help="The model's name in the records  [default: its own]")
@click.option(
    "--class-map", type=click.Path(path_type=Path), metavar="FILE", help="Class index of each folder, or `imagenet`."
)
@click.option("--unlabelled", is_flag=True, help="Any images below the folder, of no known class; for quality --ood.")
@click.option("--class-offset", type=click.IntRange(min=0), metavar="N", help="Outputs before that of class 0.")
@click.option(
    "--restrict-classes", metavar="LIST", help="The model chooses among these: indices, a file of them, or `data`."
)
@click.option("--match-order", is_flag=True, help="Pair a file's entries with the network's by order.")
@click.option(
    "--num-classes", type=click.IntRange(min=1), metavar="N", help="Outputs that a timm network is made with."
)
@click.option(
    "--class-names",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="One name a line, for open-clip.",
)
@click.option(
    "--template",
    "templates",
    multiple=True,
    metavar="TEXT",
    help="Prompt with {} for the name; repeat to average, or `imagenet` for 80 of them.",
)
@click.option("--size", type=click.IntRange(min=1), help="Side of the input, in pixels  [default: the model's]")
@click.option("--crop", type=float, help="Share of the resized side that is kept  [default: the model's]")
@click.option("--crop-mode", help="center, squash or border  [default: the model's]")
@click.option("--interpolation", help="Of the resize  [default: the model's]")
@click.option("--mean", metavar="R,G,B", help="Of values in [0, 1]  [default: the model's]")
@click.option("--std", metavar="R,G,B", help="Likewise  [default: the model's]")
@click.option(
    "--probabilities",
    default="none",
    show_default=True,
    metavar="WHICH",
    help="Keep them: all, none, or the largest K.",
)
@click.option("--logits", is_flag=True, help="Keep the logits.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of conditions that draw at random.")
@click.option("--device", default="auto", show_default=True, help="As PyTorch names it.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "bf16", "fp16"]),
    default="float32",
    show_default=True,
    help="Of the network.",
)
@click.option(
    "--batch-size", default="auto", show_default=True, help="Images of a batch, which is also a unit of work."
)
@click.option("--workers", default="auto", show_default=True, help="Processes that read and perturb images.")
@click.option("--ray", metavar="ADDRESS", help="Compute on a Ray cluster; `local` starts one here.")
@click.option(
    "--save-images", type=click.Path(path_type=Path), metavar="DIR", help="The images that the network sees, as PNG."
)
@click.option("--restart", is_flag=True, help="Discard an unfinished run.")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON and nothing else.")
def infer(
    *,
    source: str,
    data: Path,
    conditions: Sequence[str],
    out: Path,
    name: str | None,
    class_map: Path | None,
    unlabelled: bool,
    class_offset: int | None,
    restrict_classes: str | None,
    match_order: bool,
    num_classes: int | None,
    class_names: Path | None,
    templates: Sequence[str],
    probabilities: str,
    logits: bool,
    seed: int,
    device: str,
    precision: str,
    batch_size: str,
    workers: str,
    ray: str | None,
    save_images: Path | None,
    restart: bool,
    as_json: bool,
    **overrides: Any,
) -> None:
    """Run a model on images under conditions and write one record a (condition, image).

    A run that was stopped goes on where it was when it is repeated. Beside FILE.parquet, FILE.skipped.csv lists the
    images that could not be used.
    """
    check_output("--out", out, (".parquet",))
    check_apart([("--out", out)], [("--data", data), ("--class-map", class_map), ("--class-names", class_names)])
    if ray is not None and workers != "auto":
        raise PairboundsError("--workers", workers, "is for this machine, and --ray computes elsewhere", "leave it out")
    for option, given in (("--class-names", class_names), ("--template", templates)):
        if given and not source.startswith("open-clip:"):
            raise PairboundsError(option, None, f"is for open-clip models, not {source!r}", "leave it out")
    settings: dict[str, Any] = {
        "seed": seed,
        "device": device,
        "precision": precision,
        "batch": _number("--batch-size", batch_size, 1),
        "workers": _number("--workers", workers, 0),
        "offset": class_offset,
        "images": save_images,
        "restart": restart,
    }
    top = top_of(probabilities)

    from inference.models import Loading, load_model, require_torch

    require_torch()
    from inference.conditions import parse
    from inference.datasets import open_data, open_names
    from inference.predictions import Kept
    from inference.run import Settings
    from inference.run import infer as run
    from inference.writer import skipped_path

    asked = parse(split(conditions), seed=seed)
    opened = open_data(data, class_map=class_map, labelled=not unlabelled)
    loading = Loading(
        name=name,
        match_order=match_order,
        num_classes=num_classes,
        overrides=_overrides(overrides),
        class_names=opened.class_names if class_names is None else open_names("--class-names", class_names),
        templates=None if list(templates) == [IMAGENET] else list(templates) or Loading().templates,
    )
    model = load_model(source, loading)
    first = (*model.notes, *opened.notes)
    for text in first:
        note(text)
    elsewhere = None
    if ray is not None:
        from inference.ray_run import on_ray

        elsewhere = on_ray(ray)
    with Progress(len(asked)) as progress:
        report = run(
            model,
            opened,
            asked,
            out,
            Settings(
                **settings,
                kept=Kept(probabilities=top is None, top=top or 0, logits=logits),
                restricted=_restricted(restrict_classes, opened),
            ),
            elsewhere=elsewhere,
            progress=progress,
        )
    for text in report.warnings:
        if text not in first:
            note(text)
    told = {"out": str(out), "skipped_images": str(skipped_path(out)), **asdict(report)}
    title = f"{out}: {report.rows} rows, {report.skipped} skipped, listed in {skipped_path(out)}"
    emit(json_text(told) if as_json else readable(title, report.conditions))


class Progress:
    """Rows done, their rate and the time left, on stderr: a bar on a terminal, else a line a minute."""

    def __init__(self, conditions: int) -> None:
        self._conditions = conditions
        self._bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` images are done."""
        if self._bar is None:
            from tqdm import tqdm

            often = QUIET_SECONDS if sys.stderr.isatty() else LINE_SECONDS
            self._bar = tqdm(
                total=total * self._conditions,
                initial=done * self._conditions,
                unit="row",
                file=sys.stderr,
                mininterval=often,
                delay=often,
                leave=False,
            )
        else:
            self._bar.update(done * self._conditions - self._bar.n)


def _number(option: str, text: str, least: int) -> int | None:
    """A whole number; None for auto."""
    if text == "auto":
        return None
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) < least:
        raise PairboundsError(option, text, f"is neither auto nor a whole number from {least}", "give such a number")
    return int(text)


def top_of(text: str) -> int | None:
    """How many of the largest probabilities are kept; None for all."""
    if text == "all":
        return None
    if text == "none":
        return 0
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise PairboundsError("--probabilities", text, "is neither all, none nor a number", "give such as 5")
    return int(text)


def _overrides(given: Mapping[str, Any]) -> dict[str, Any]:
    """The preprocessing that was asked for; mean and std as numbers."""
    found = {name: value for name, value in given.items() if value is not None}
    for name in ("mean", "std"):
        if name in found:
            try:
                numbers = tuple(float(part) for part in found[name].split(","))
            except ValueError:
                numbers = ()
            if len(numbers) not in (1, 3):
                raise PairboundsError(
                    f"--{name}", found[name], "is not one or three decimals", "give such as 0.5,0.5,0.5"
                )
            found[name] = numbers * 3 if len(numbers) == 1 else numbers
    return found


def _words(path: Path) -> list[str]:
    """The words of a file of class indices."""
    try:
        return path.read_text(encoding="utf-8-sig").replace(",", " ").split()
    except UnicodeDecodeError as error:
        raise PairboundsError("--restrict-classes", str(path), "is not UTF-8", "save it as UTF-8") from error


def _restricted(text: str | None, data: Data) -> tuple[int, ...] | None:
    """Class indices: those of the data, of a file, or of a list."""
    if text is None:
        return None
    if text == "data":
        return tuple(sorted({item.label for item in data.items if item.label is not None}))
    parts = _words(Path(text)) if Path(text).is_file() else split([text])
    wrong = [part for part in parts if not re.fullmatch("[0-9]{1,6}", part)]
    if wrong:
        raise PairboundsError(
            "--restrict-classes", wrong[0], "is no class index", "give indices, a file of them, or data"
        )
    return tuple(sorted({int(part) for part in parts}))


def readable(title: str, conditions: Sequence[Mapping[str, Any]]) -> str:
    """The summary for people; conditions as `inference.summary.conditions_of` gives them."""
    from bounds import tables

    rows = [
        {
            "condition": row["condition"],
            "images": str(row["images"]),
            "unusable": str(row["unusable"]),
            **{name: "" if row[name] is None else f"{row[name]:.4f}" for name in ("accuracy", "mean_true_probability")},
        }
        for row in conditions
    ]
    return "\n".join([title, "", tables.text(rows, ["left", *["right"] * 4])])
