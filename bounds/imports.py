"""What users name by import path, and what their functions raise."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bounds.errors import PairboundsError

__all__ = ["calling", "imported"]


def imported(option: str, text: str, module: str, attribute: str, form: str) -> Callable[..., Any]:
    """A callable of a module; modules in the working folder are found too, after all others.

    Args:
        option: where it was asked for, as in the error's line.
        text: what was asked for, likewise.
        module, attribute: where it is.
        form: the way to write it.

    Raises:
        PairboundsError: if there is none, or its module raises something.

    >>> imported("--score", "math:sqrt", "math", "sqrt", "module:function")(4)
    2.0
    """
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        # Whatever the user's module raises while it is run; there is no common class.
        raise PairboundsError(option, text, f"cannot be imported ({_told(error)})", f"write {form}") from error
    if not callable(found):
        raise PairboundsError(option, text, "cannot be called", f"write {form}")
    return found  # type: ignore[no-any-return]  # a callable, as was just seen


@contextmanager
def calling(option: str, text: str, way_out: str = "mend it, or choose another") -> Iterator[None]:
    """Turn what the user's own code raises inside the block into an error that names it.

    >>> with calling("--score", "mine:score", "mend it"):
    ...     1 / 0
    Traceback (most recent call last):
    bounds.errors.PairboundsError: --score 'mine:score': raised ZeroDivisionError: division by zero; mend it
    """
    try:
        yield
    except PairboundsError:
        raise
    except Exception as error:
        # Likewise.
        raise PairboundsError(option, text, f"raised {_told(error)}", way_out) from error


def _told(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
