"""Sharp bounds on what a paired robustness evaluation does and does not reveal.

A correspondence is a bijection between the clean and the perturbed records of one class; every interval here is a
minimum and a maximum over the correspondences that the knowledge leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bounds.auditing import audit
    from bounds.records import load_records
    from bounds.solve import bound, per_class

__all__ = ["audit", "bound", "load_records", "per_class"]

_HOMES = {"audit": "auditing", "bound": "solve", "load_records": "records", "per_class": "solve"}


def __getattr__(name: str) -> Any:
    """Load the doors on first use, so that `pairbounds --help` loads none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'bounds' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"bounds.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
