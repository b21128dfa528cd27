"""Records in parts, one a unit, that become one file at the end.

Beside `FILE.parquet` the folder `FILE.parquet.parts` holds the plan of the run and a file for each unit that is done,
each renamed into place when it is whole. A run that stopped leaves the folder, and the next one with the same plan
goes on. The file made of the parts has fixed row groups and no time in it, so that its bytes do not tell how often
the run was stopped. A lock that the system takes back from a dead process keeps a second run out.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from bounds.errors import PairboundsError
from bounds.files import replacing
from inference.record_files import write_records
from inference.work import Done, Skip

__all__ = ["Parts", "skipped_path"]

_SKIPPED = b"skipped"


class Parts:
    """The parts of one run, locked."""

    def __init__(self, out: Path, folder: Path) -> None:
        self._out, self._folder = out, folder

    @classmethod
    @contextmanager
    def of(cls, out: Path, *, restart: bool = False) -> Iterator[Parts]:
        """The parts beside `out`, which nobody else may touch inside the block.

        Args:
            out: the file to be made.
            restart: remove what an earlier run left.

        Raises:
            PairboundsError: if another run holds them.
        """
        folder = out.with_name(f"{out.name}.parts")
        folder.mkdir(exist_ok=True)
        lock = FileLock(folder / "lock")
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            raise PairboundsError(
                "--out", str(out), "another run is writing it", "wait for that run, or name another file"
            ) from error
        try:
            if restart:
                for path in folder.iterdir():
                    if path.name != "lock":
                        path.unlink()
            yield cls(out, folder)
        except BaseException:
            # A run that failed before it had a part leaves nothing to go on with.
            if not any(folder.glob("*.parquet")):
                shutil.rmtree(folder)
            raise
        finally:
            lock.release()

    def planned(self) -> dict[str, str] | None:
        """The plan of the run that stopped here; None if there was none."""
        path = self._folder / "plan.json"
        if not path.exists():
            return None
        plan: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return plan

    def plan(self, plan: Mapping[str, str]) -> None:
        """Begin or go on with a plan: everything that decides the bytes of the file.

        Raises:
            PairboundsError: if the run that stopped here had another, and had done a part of it.
        """
        before = self.planned()
        if before is None or not any(self._folder.glob("*.parquet")):
            with replacing(self._folder / "plan.json") as part:
                part.write_text(json.dumps(dict(plan), indent=1), encoding="utf-8")
            return
        differing = [name for name in {**before, **plan} if before.get(name) != plan.get(name)]
        if differing:
            name = differing[0]
            raise PairboundsError(
                "--out",
                str(self._out),
                f"an unfinished run lies there with {name} {_short(before.get(name))}, now {_short(plan.get(name))}",
                "repeat that run to finish it, add --restart to discard it, or name another file",
            )

    def missing(self, units: int) -> list[int]:
        """Units without a part that can be read, ascending; what remains of a damaged one is removed."""
        for part in self._folder.glob(".*.part"):
            part.unlink()
        return [unit for unit in range(units) if not self._readable(unit)]

    def write(self, done: Done) -> None:
        """Keep what a unit gave."""
        skipped = json.dumps([[skip.image_id, skip.condition, skip.path, skip.reason] for skip in done.skipped])
        table = done.table.replace_schema_metadata({_SKIPPED: skipped.encode()})
        with replacing(self._path(done.unit)) as part:
            pq.write_table(table, part, compression="zstd")

    def merge(self, units: int, schema: pa.Schema) -> list[Skip]:
        """Write the file and its table of skipped images from all parts.

        Returns:
            The skipped images, in order.
        """
        plan = self.planned() or {}
        skipped: list[Skip] = []

        def tables() -> Iterator[pa.Table]:
            for unit in range(units):
                table = pq.read_table(self._path(unit))
                skipped.extend(Skip(*fields) for fields in json.loads(table.schema.metadata[_SKIPPED]))
                yield table.replace_schema_metadata(None)

        with replacing(self._out) as part:
            write_records(tables(), part, schema, plan)
        with replacing(skipped_path(self._out)) as part:
            part.write_text(_csv(skipped), encoding="utf-8", newline="")
        return skipped

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder)

    def _path(self, unit: int) -> Path:
        return self._folder / f"{unit:08d}.parquet"

    def _readable(self, unit: int) -> bool:
        path = self._path(unit)
        try:
            pq.read_metadata(path)
        except FileNotFoundError:
            return False
        except (OSError, pa.ArrowInvalid):
            path.unlink()
            return False
        return True


def skipped_path(out: Path) -> Path:
    """Where the table of skipped images of a record file goes.

    >>> skipped_path(Path("runs/net.parquet")).name
    'net.skipped.csv'
    """
    return out.with_name(f"{out.stem}.skipped.csv")


def _csv(skipped: Sequence[Skip]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["image_id", "condition", "path", "reason"])
    writer.writerows([skip.image_id, skip.condition, skip.path, skip.reason] for skip in skipped)
    return stream.getvalue()


def _short(text: str | None, length: int = 60) -> str:
    shown = "none" if text is None else text
    return shown if len(shown) <= length else f"{shown[: length - 1]}…"
