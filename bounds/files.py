"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from bounds.errors import PairboundsError

__all__ = ["check_apart", "check_output", "replacing"]


def check_output(name: str, path: str | Path, suffixes: tuple[str, ...] = ()) -> Path:
    """The path, if a file can be written there; checked before long work, and nothing is left there yet.

    Args:
        name: what the path is for, as in the error's line (an option's name).
        path: where to write.
        suffixes: the endings allowed, lower case with the dot; empty for any.

    Raises:
        PairboundsError: if the ending is not among `suffixes`, the folder is absent or not writable, or something
            that is not a regular file stands there.
    """
    path = Path(path)
    if suffixes and path.suffix.lower() not in suffixes:
        raise PairboundsError(name, str(path), f"ends in none of {', '.join(suffixes)}", "choose one of these endings")
    if path.exists() and not path.is_file():
        raise PairboundsError(name, str(path), "is not a regular file", "name a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise PairboundsError(name, str(path), f"there is no folder {folder}", "make it, or name another file")
    try:
        # Permissions do not tell all: some file systems refuse even those who have them.
        with TemporaryFile(dir=folder):
            return path
    except OSError as error:
        rule = f"the folder {folder} cannot be written to ({error.strerror})"
        raise PairboundsError(name, str(path), rule, "name another file") from error


def check_apart(outputs: Iterable[tuple[str, Path | None]], inputs: Iterable[tuple[str, Path | None]]) -> None:
    """Check that no output is an input or another output, by whatever path; None stands for one not asked for.

    Args:
        outputs, inputs: what each path is for, as in the error's line (an option's name), and the path.

    Raises:
        PairboundsError: naming the output and what it would replace.
    """
    taken = [(name, path) for name, path in inputs if path is not None]
    for name, path in outputs:
        if path is None:
            continue
        for other, at in taken:
            if path.resolve() == at.resolve() or (path.exists() and at.exists() and path.samefile(at)):
                raise PairboundsError(name, str(path), f"is the same file as {other} {str(at)!r}", "name another file")
        taken.append((name, path))


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path in the folder of `path`, renamed to `path` on success and removed on failure.

    Links are followed, so that the file that a link names is replaced and the link stays.

    Raises:
        OSError: if the file cannot be written; it names `path`.
    """
    target = Path(path).resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(target)
    except OSError as error:
        if str(part) not in str(error):
            raise
        told = (error.strerror or str(error)).replace(str(part), str(path))
        raise OSError(error.errno, told, str(path)) from error
    finally:
        part.unlink(missing_ok=True)
