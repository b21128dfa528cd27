"""What users name by import path."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from bounds.errors import PairboundsError

__all__ = ["imported"]


def imported(option: str, dotted: str, form: str) -> Any:
    """The callable behind `package.name`; modules in the working folder are found too, after all others.

    Raises:
        PairboundsError: naming the option, if there is none; `form` is the way to write it.
    """
    package, _, attribute = dotted.rpartition(".")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(package), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise PairboundsError(option, f"module:{dotted}", f"cannot be imported ({reason})", f"write {form}") from error
    if not callable(found):
        raise PairboundsError(option, f"module:{dotted}", "cannot be called", f"write {form}")
    return found
