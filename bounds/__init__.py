"""Sharp bounds on what a paired robustness evaluation does and does not reveal.

A correspondence is a bijection between the clean and the perturbed records of one class; every interval here is a
minimum and a maximum over the correspondences that the knowledge leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bounds.auditing import audit
    from bounds.own import Refinement, known_pairs, label_swaps, pair_quantity, transition_matrix
    from bounds.records import load_records
    from bounds.solve import bound, per_class

_HOMES = {
    "Refinement": "own",
    "audit": "auditing",
    "bound": "solve",
    "known_pairs": "own",
    "label_swaps": "own",
    "load_records": "records",
    "pair_quantity": "own",
    "per_class": "solve",
    "transition_matrix": "own",
}

__all__ = [
    "Refinement",
    "audit",
    "bound",
    "known_pairs",
    "label_swaps",
    "load_records",
    "pair_quantity",
    "per_class",
    "transition_matrix",
]


def __getattr__(name: str) -> Any:
    """Load the doors on first use, so that `pairbounds --help` loads none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'bounds' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"bounds.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
