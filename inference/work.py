"""What a run does, cut into units: a fixed block of images under all conditions, each image decoded once.

A unit is one batch of images in the order of the data; its conditions go through the network one after the other,
each with the same images in the same places. So a unit gives the same rows whoever computes it, and when.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import threading
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
import torch.utils.data
from PIL import Image

from bounds.errors import PairboundsError
from bounds.files import replacing
from inference.conditions import Condition
from inference.datasets import Item
from inference.images import Pixels, Unreadable, read
from inference.predictions import Kept, record_table
from inference.preprocessing import Preprocessing

if TYPE_CHECKING:
    from inference.forward import Forward

__all__ = ["Done", "Job", "Skip", "compute"]


@dataclass(frozen=True, slots=True)
class Job:
    """A run without its network: small, and the same for everyone who works on it.

    Attributes:
        batch: images of a unit.
        model: name in the records.
        offset: outputs of the network before that of class 0, which are dropped.
        allowed: classes among which the model may choose; None for all.
        images: folder in which every image is saved as the network sees it, or None.
    """

    items: tuple[Item, ...]
    conditions: tuple[Condition, ...]
    preprocessing: Preprocessing
    batch: int
    model: str
    kept: Kept = field(default_factory=Kept)
    offset: int = 0
    allowed: npt.NDArray[np.bool_] | None = None
    images: Path | None = None

    @property
    def units(self) -> int:
        """How many there are."""
        return -(-len(self.items) // self.batch)

    def unit(self, number: int) -> tuple[Item, ...]:
        """The images of one."""
        return self.items[number * self.batch : (number + 1) * self.batch]

    def table(self, batch: _Batch, logits: npt.NDArray[np.float32]) -> pa.Table:
        """Records of a batch."""
        items, condition = self.unit(batch.unit), self.conditions[batch.condition]
        return record_table(
            logits[:, self.offset :],
            model=self.model,
            condition=condition.name,
            kind=condition.kind,
            ids=[items[place].image_id for place in batch.places],
            labels=[items[place].label for place in batch.places],
            allowed=self.allowed,
            kept=self.kept,
        )


@dataclass(frozen=True, slots=True)
class Skip:
    """An image without a row under a condition; under all of them if `condition` is empty."""

    image_id: str
    condition: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """What a unit gave."""

    unit: int
    table: pa.Table
    skipped: tuple[Skip, ...]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Images of a unit under one condition: uint8 of shape (N, S, S, 3), and their places in the unit."""

    unit: int
    condition: int
    places: tuple[int, ...]
    pixels: torch.Tensor
    skipped: tuple[Skip, ...]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Records of a batch."""

    unit: int
    table: pa.Table
    skipped: tuple[Skip, ...]


def compute(job: Job, units: Sequence[int], forward: Forward, *, workers: int, threads: int) -> Iterator[Done]:
    """Compute some units, each whole.

    Every batch goes through the network on one core: several at once use many cores better than one on all of them,
    and the last bits of the outputs, which vary with the cores of a batch, do not depend on the machine's number.

    Args:
        job: the run.
        units: which.
        forward: the network on its device.
        workers: processes that read and perturb images; 0 to do it here.
        threads: batches in the network at a time.

    Raises:
        PairboundsError: if a condition cannot be applied, or a worker dies.
    """
    with warnings.catch_warnings():
        # More workers than cores are the user's choice.
        warnings.filterwarnings("ignore", "This DataLoader will create", UserWarning)
        batches = iter(
            torch.utils.data.DataLoader(
                _Units(job, units),
                batch_size=None,
                num_workers=workers,
                collate_fn=_as_it_is,
                multiprocessing_context=_context() if workers else None,
                worker_init_fn=_end_with_the_run,
            )
        )
    pending: dict[int, list[_Rows]] = {}
    try:
        for rows in _in_order(job, batches, forward, threads):
            tables = pending.setdefault(rows.unit, [])
            tables.append(rows)
            if len(tables) == len(job.conditions):
                yield _done(pending.pop(rows.unit))
    except RuntimeError as error:
        if "DataLoader worker" in str(error):
            raise PairboundsError(
                "--workers",
                workers,
                f"a worker process died ({error})",
                "run again, which goes on where this stopped; with fewer workers if memory is short",
            ) from error
        raise


def _in_order(job: Job, batches: Iterable[_Batch | PairboundsError], forward: Forward, threads: int) -> Iterator[_Rows]:
    """Records of the batches, in their order; as many batches as `threads` go through the network at a time."""
    own = threading.local()
    before = torch.get_num_threads()

    def start() -> None:
        torch.set_num_threads(1)
        own.forward = forward.copy()

    def rows(batch: _Batch) -> _Rows:
        if not batch.places:
            return _Rows(batch.unit, job.kept.schema.empty_table(), batch.skipped)
        return _Rows(batch.unit, job.table(batch, own.forward.pixels(batch.pixels, job.preprocessing)), batch.skipped)

    waiting: deque[Future[_Rows]] = deque()
    try:
        with ThreadPoolExecutor(threads, initializer=start) as pool:
            for batch in batches:
                if isinstance(batch, PairboundsError):
                    raise batch
                waiting.append(pool.submit(rows, batch))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        torch.set_num_threads(before)


def _context() -> Any:
    """Forks of a fresh process that has imported what a worker needs: forking one with threads can deadlock."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["inference.work", "timm.data.transforms_factory"])
    return context


def _end_with_the_run(_worker: int) -> None:
    """In a worker: end when the process of the run does, also where that was killed and could tell nobody."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _done(rows: Sequence[_Rows]) -> Done:
    return Done(
        rows[0].unit,
        pa.concat_tables([one.table for one in rows]).combine_chunks(),
        tuple(skip for one in rows for skip in one.skipped),
    )


class _Units(torch.utils.data.IterableDataset[Any]):
    """The batches of some units, shared out to the workers unit by unit; in place of one the error that stopped it."""

    def __init__(self, job: Job, units: Sequence[int]) -> None:
        self._job, self._units = job, units

    def __iter__(self) -> Iterator[_Batch | PairboundsError]:
        worker = torch.utils.data.get_worker_info()
        mine = self._units if worker is None else self._units[worker.id :: worker.num_workers]
        try:
            for unit in mine:
                yield from _prepared(self._job, unit)
        except PairboundsError as error:
            yield error


def _as_it_is(batch: Any) -> Any:
    return batch


def _prepared(job: Job, unit: int) -> Iterator[_Batch]:
    """The batches of a unit, one a condition; each image is decoded once."""
    items = job.unit(unit)
    cropped: dict[int, Pixels] = {}
    unread = []
    for place, item in enumerate(items):
        try:
            cropped[place] = job.preprocessing.geometry(read(item.path))
        except Unreadable as error:
            unread.append(Skip(item.image_id, "", str(item.path), str(error)))
    for number, condition in enumerate(job.conditions):
        skipped = unread if number == 0 else []
        found: dict[int, Pixels] = {}
        for place, pixels in cropped.items():
            item = items[place]
            try:
                found[place] = _under(condition, pixels, item, job.preprocessing)
            except Unreadable as error:
                skipped.append(Skip(item.image_id, condition.name, str(item.path), str(error)))
        if job.images is not None:
            for place, pixels in found.items():
                _save(pixels, job.images / condition.name / Path(items[place].image_id).with_suffix(".png"))
        size = job.preprocessing.size
        stacked = np.stack(list(found.values())) if found else np.empty((0, size, size, 3), dtype=np.uint8)
        yield _Batch(unit, number, tuple(found), torch.from_numpy(stacked), tuple(skipped))


def _under(condition: Condition, pixels: Pixels, item: Item, preprocessing: Preprocessing) -> Pixels:
    if condition.source is not None:
        return preprocessing.geometry(read(condition.counterpart(item.image_id)))
    return condition.apply(pixels, item.image_id)


def _save(pixels: Pixels, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        Image.fromarray(pixels).save(part, "PNG")
