"""Prediction records from models, images and perturbations.

`predict` makes records from a model and a loader of one's own; `pairbounds infer` is the whole road from image files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inference.predictions import Kept, predict

__all__ = ["Kept", "predict"]


def __getattr__(name: str) -> Any:
    """`predict` and `Kept`, loaded when first asked for."""
    if name in __all__:
        from inference import predictions

        return getattr(predictions, name)
    raise AttributeError(f"module 'inference' has no attribute {name!r}")
