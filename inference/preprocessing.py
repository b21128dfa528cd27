"""From pixels to a model's input: resize and crop first, normalise last; perturbations come between the two."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.errors import PairboundsError
from inference.images import Pixels

if TYPE_CHECKING:
    import torch

__all__ = ["CROP_MODES", "INTERPOLATIONS", "Preprocessing"]

CROP_MODES = ("center", "border", "squash")
INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos")

LARGEST_SIZE = 8192
"""Beyond any network's input; one image alone would then fill the memory."""


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """timm's evaluation transform in two halves.

    Attributes:
        size: side of the square input, in pixels.
        crop: the share of the resized side that the crop keeps; the image is resized to floor(size / crop).
        crop_mode: `center` resizes the shorter side and crops, `squash` resizes both sides, `border` pads.
        interpolation: of the resize.
        mean, std: one a channel, of values in [0, 1].
    """

    size: int
    crop: float
    interpolation: str
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    crop_mode: str = "center"

    def __post_init__(self) -> None:
        for name, known in (("interpolation", INTERPOLATIONS), ("crop_mode", CROP_MODES)):
            if getattr(self, name) not in known:
                raise PairboundsError(name, getattr(self, name), "unknown", f"choose among {', '.join(known)}")
        if not 1 <= self.size <= LARGEST_SIZE:
            raise PairboundsError("size", self.size, f"a side is 1 to {LARGEST_SIZE} pixels", "give such a number")
        if not 0 < self.crop <= 1:
            raise PairboundsError("crop", self.crop, "is not in (0, 1]", "give such as 0.875")
        for name in ("mean", "std"):
            values = getattr(self, name)
            if len(values) != 3 or not np.isfinite(values).all() or (name == "std" and min(values) <= 0):
                raise PairboundsError(
                    name, values, "three finite numbers, one a channel, std above 0", "give such as 0.5,0.5,0.5"
                )

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Preprocessing:
        """From timm's data configuration (`timm.data.resolve_model_data_config`).

        Raises:
            PairboundsError: if the input is not square with three channels.

        >>> Preprocessing.of({"input_size": (3, 32, 32), "crop_pct": 1.0, "interpolation": "bicubic",
        ...                   "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5), "crop_mode": "center"}).size
        32
        """
        channels, height, width = config["input_size"]
        if channels != 3 or height != width:
            raise PairboundsError(
                "model", f"{channels}x{height}x{width}", "its input is not square with 3 channels", "choose another"
            )
        return cls(
            size=int(height),
            crop=float(config["crop_pct"]),
            interpolation=str(config["interpolation"]),
            mean=tuple(map(float, config["mean"])),  # type: ignore[arg-type]  # checked in __post_init__
            std=tuple(map(float, config["std"])),  # type: ignore[arg-type]  # likewise
            crop_mode=str(config.get("crop_mode", "center")),
        )

    def geometry(self, pixels: Pixels) -> Pixels:
        """Resized and cropped: uint8 of shape (size, size, 3), from uint8 of shape (H, W, 3)."""
        from PIL import Image

        cropped = _geometry(self)(Image.fromarray(pixels))
        return np.ascontiguousarray(np.asarray(cropped).transpose(1, 2, 0))

    def normalise(self, batch: torch.Tensor) -> torch.Tensor:
        """Float32 of shape (N, 3, S, S) in channels-last layout, from uint8 of shape (N, S, S, 3), on its device."""
        import torch

        def channels(values: tuple[float, ...]) -> torch.Tensor:
            return torch.tensor(values, dtype=torch.float32, device=batch.device).view(1, 3, 1, 1)

        scaled = batch.permute(0, 3, 1, 2).to(torch.float32).div_(255)
        return scaled.sub_(channels(self.mean)).div_(channels(self.std))

    def to_dict(self) -> dict[str, Any]:
        """As stored with the records."""
        return asdict(self)


@functools.lru_cache(maxsize=8)
def _geometry(preprocessing: Preprocessing) -> Any:
    """timm's transform up to the crop: PIL image to uint8 of shape (3, S, S)."""
    from timm.data.transforms_factory import transforms_imagenet_eval

    return transforms_imagenet_eval(
        preprocessing.size,
        crop_pct=preprocessing.crop,
        crop_mode=preprocessing.crop_mode,
        interpolation=preprocessing.interpolation,
        mean=preprocessing.mean,
        use_prefetcher=True,
    )
