"""Solvers behind one protocol, registered by name: `highs`, `cvxpy` and, as the oracle, `enumerate`."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator

from bounds.errors import BackendError
from bounds.program import Backend

__all__ = ["BACKENDS", "get", "quiet_stdout"]

BACKENDS = ("highs", "cvxpy", "enumerate")
"""The names; each is a module here with a class `Solver`, imported when first asked for."""


def get(name: str) -> Backend:
    """The backend of that name.

    Raises:
        BackendError: if there is none; another solver is never put in its place.
        MissingExtraError: if its package is not installed.

    >>> get("highs").name
    'highs'
    """
    if name not in BACKENDS:
        raise BackendError("backend", name, "unknown", f"choose among {', '.join(BACKENDS)}")
    backend: Backend = importlib.import_module(f"bounds.backends.{name}").Solver()
    return backend


@contextlib.contextmanager
def quiet_stdout() -> Iterator[None]:
    """Drop what is written to file descriptor 1 for a while: HiGHS prints a banner there, whatever its options."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
