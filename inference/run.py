"""A whole run: from a model, images and conditions to a file of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.errors import PairboundsError
from inference.conditions import Condition, paired
from inference.datasets import Data
from inference.forward import Forward, batch_size, chosen_device, cores
from inference.models import Model
from inference.predictions import Kept
from inference.provenance import provenance
from inference.summary import conditions_of, warnings_of
from inference.work import Done, Job, compute
from inference.writer import Parts

__all__ = ["Report", "Settings", "infer"]

BACKGROUND = 1001
"""Outputs of networks whose class 0 is the background before ImageNet's 1000."""

Compute = Callable[[Job, list[int], Model, str, str], Iterable[Done]]
"""Computes some units with a model somewhere else, in any order: on the device and in the precision given."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run is done.

    Attributes:
        seed: of the conditions that draw at random.
        device: as PyTorch names it, or `auto`.
        precision: `float32`, `bf16` or `fp16`.
        batch: images of a unit; None takes that of the unfinished run, or what memory allows.
        workers: processes that read and perturb images; None for the number of cores, less one.
        kept: what of the outputs is kept.
        offset: outputs before that of class 0; None if the network has none.
        restricted: classes among which the model may choose; None for all.
        images: folder for the images as the network sees them.
        restart: discard an unfinished run.
    """

    seed: int = 0
    device: str = "auto"
    precision: str = "float32"
    batch: int | None = None
    workers: int | None = None
    kept: Kept = field(default_factory=Kept)
    offset: int | None = None
    restricted: tuple[int, ...] | None = None
    images: Path | None = None
    restart: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What a run gave.

    Attributes:
        rows: in the file.
        skipped: rows of the table of skipped images.
        resumed: units that an earlier run had done.
        conditions: see `inference.summary.conditions_of`.
        warnings: what to look at.
    """

    rows: int
    skipped: int
    resumed: int
    conditions: list[dict[str, Any]]
    warnings: list[str]


def infer(
    model: Model,
    data: Data,
    conditions: tuple[Condition, ...],
    out: Path,
    settings: Settings | None = None,
    *,
    elsewhere: Compute | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Write the records of a model on some images under some conditions; an unfinished run is gone on with.

    Args:
        model, data, conditions: of the records.
        out: Parquet file; `OUT.skipped.csv` is written beside it.
        settings: how it is done.
        elsewhere: computes the units in place of this process.
        progress: called with the images done and all images, at first and after each unit.

    Raises:
        PairboundsError: if labels and outputs do not fit, another run writes `out`, or the unfinished run there
            was another one.
    """
    settings = settings or Settings()
    device = chosen_device(settings.device)
    offset = check_classes(model, data, settings.offset)
    allowed = _allowed(settings.restricted, model.classes - offset, data)
    if settings.images is not None:
        _check_stems(data)
        _check_apart(settings.images, data, conditions)
    beside = paired(conditions, [item.image_id for item in data.items])
    with Parts.of(out, restart=settings.restart) as parts:
        before = parts.planned()
        batch = settings.batch or (
            int(before["batch"]) if before else batch_size(model.module, model.preprocessing, device)
        )
        job = Job(
            items=data.items,
            conditions=conditions,
            preprocessing=model.preprocessing,
            batch=batch,
            model=model.name,
            kept=settings.kept,
            offset=offset,
            allowed=allowed,
            images=settings.images,
        )
        plan = provenance(job, model, seed=settings.seed, device=device, precision=settings.precision)
        parts.plan(plan)
        missing = parts.missing(job.units)
        total = len(data.items)
        left = sum(len(job.unit(unit)) for unit in missing)
        progress(total - left, total)
        if missing:
            if elsewhere is not None:
                done = elsewhere(job, missing, model, device, settings.precision)
            else:
                workers = max(1, cores() - 1) if settings.workers is None else settings.workers
                done = compute(
                    job,
                    missing,
                    Forward(model.module, device, settings.precision),
                    workers=min(workers, len(missing)),
                    threads=cores() if device == "cpu" else 1,
                )
            for one in done:
                parts.write(one)
                left -= len(job.unit(one.unit))
                progress(total - left, total)
        skipped = parts.merge(job.units, job.kept.schema)
        rows = conditions_of(out)
        classes = model.classes - offset if allowed is None else int(allowed.sum())
        report = Report(
            rows=sum(row["images"] for row in rows),
            skipped=len(skipped),
            resumed=job.units - len(missing),
            conditions=rows,
            warnings=[*model.notes, *data.notes, *beside, *warnings_of(out, rows, classes)],
        )
        parts.remove()
    return report


def check_classes(model: Model, data: Data, offset: int | None) -> int:
    """The outputs that come before class 0.

    Raises:
        PairboundsError: if the network's outputs cannot be the classes of the data.
    """
    names, outputs = len(data.class_names), model.classes
    labels = [item.label for item in data.items if item.label is not None]
    largest = max(labels, default=-1)
    classes = outputs - (offset or 0)
    if (
        offset is None
        and outputs == BACKGROUND
        and (names == BACKGROUND - 1 or (not names and largest < BACKGROUND - 1))
    ):
        raise PairboundsError(
            "classes",
            f"{names or largest + 1} of the data, {outputs} of the model",
            "one output may stand for the background",
            "add --class-offset 1 if the first one does, else --class-offset 0",
        )
    if names and names != classes:
        raise PairboundsError(
            "classes",
            f"{names} of the data, {classes} of the model",
            "an index would mean two things",
            "give labels in the model's order (--class-map FILE or imagenet, or a manifest), or name another model",
        )
    if largest >= classes or min(labels, default=0) < 0:
        wrong = largest if largest >= classes else min(labels)
        raise PairboundsError(
            "label", wrong, f"the model has the classes 0 to {classes - 1}", "give labels in the model's order"
        )
    return offset or 0


def _allowed(restricted: tuple[int, ...] | None, classes: int, data: Data) -> npt.NDArray[np.bool_] | None:
    if restricted is None:
        return None
    beyond = [index for index in restricted if not 0 <= index < classes]
    if beyond or not restricted:
        raise PairboundsError(
            "--restrict-classes",
            beyond[0] if beyond else "",
            f"the model has the classes 0 to {classes - 1}",
            "give indices of these",
        )
    allowed = np.zeros(classes, dtype=np.bool_)
    allowed[list(restricted)] = True
    outside = [item for item in data.items if item.label is not None and not allowed[item.label]]
    if outside:
        raise PairboundsError(
            "--restrict-classes",
            outside[0].label,
            f"left out, but it is the label of {outside[0].image_id} and {len(outside) - 1} more images",
            "include every label of the data",
        )
    return allowed


def _check_apart(images: Path, data: Data, conditions: Sequence[Condition]) -> None:
    """Check that images are not saved over, or among, those that are read."""
    folders = {item.path.parent.resolve() for item in data.items}
    folders |= {condition.source.resolve() for condition in conditions if condition.source is not None}
    if data.class_names or any(item.label is None for item in data.items):
        # The next run would take what is saved there for images of the data.
        folders.add(data.root.resolve())
    here = images.resolve()
    for folder in sorted(folders):
        if here == folder or here in folder.parents or folder in here.parents:
            raise PairboundsError(
                "--save-images",
                str(images),
                f"is not apart from {folder}, whose images are read",
                "name another folder",
            )


def _check_stems(data: Data) -> None:
    seen: dict[Path, str] = {}
    for item in data.items:
        twin = seen.setdefault(Path(item.image_id).with_suffix(""), item.image_id)
        if twin != item.image_id:
            raise PairboundsError(
                "--save-images", item.image_id, f"would replace that of {twin}", "rename one of the two"
            )
