"""CLIP as a classifier: the class whose prompts are nearest to the image."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from bounds.errors import PairboundsError
from inference.preprocessing import Preprocessing

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Classifier", "zero_shot"]

CROPS = {"shortest": "center", "squash": "squash"}
"""open_clip's resize modes -> `Preprocessing.crop_mode`."""


class Classifier(torch.nn.Module):
    """Logits: the temperature times the cosine between an image and the mean prompt of each class."""

    classes: Tensor
    temperature: Tensor

    def __init__(self, visual: torch.nn.Module, classes: Tensor, temperature: Tensor) -> None:
        super().__init__()
        self.visual = visual
        self.register_buffer("classes", classes)
        self.register_buffer("temperature", temperature)

    def forward(self, images: Tensor) -> Tensor:
        """Float of shape (N, C), from images of shape (N, 3, S, S)."""
        features = torch.nn.functional.normalize(self.visual(images), dim=-1)
        logits: Tensor = self.temperature * features @ self.classes
        return logits


def zero_shot(
    name: str, weights: str, class_names: Sequence[str], templates: Sequence[str] | None
) -> tuple[Classifier, Preprocessing, dict[str, str], tuple[str, ...]]:
    """A classifier over `class_names`, its preprocessing, what else decides its outputs, and notes.

    Args:
        name: open_clip's name, or `local-dir:FOLDER` with `open_clip_config.json` and the weights.
        weights: a tag of open_clip's or a local file; empty for a folder.
        class_names: by class index.
        templates: prompts with `{}` for the name; the mean of several is taken. None for open_clip's 80 of ImageNet.

    Raises:
        PairboundsError: if there are no class names, a template has no place for one, or the model cannot be had.
    """
    import open_clip

    if not class_names:
        raise PairboundsError(
            "--class-names", None, "a zero-shot classifier is made of class names", "give a file, one name a line"
        )
    for template in templates or ():
        if template.count("{}") != 1 or len(template.replace("{}", "")) != len(template) - 2:
            raise PairboundsError("--template", template, "has no single {}", "write such as 'a photo of a {}.'")
    if not weights and not name.startswith(("local-dir:", "hf-hub:")):
        raise PairboundsError(
            "--model", f"open-clip:{name}", "names no weights", "write open-clip:NAME@TAG, @FILE or local-dir:FOLDER"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            clip: Any = open_clip.create_model(name, pretrained=weights or None, require_pretrained=True)
            tokenizer = open_clip.get_tokenizer(name)
        except Exception as error:
            # Whatever the hub, the disk or the configuration raises; there is no common class.
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise PairboundsError(
                "--model", f"open-clip:{name}", f"cannot be had ({reason})", "check the name, the tag and the network"
            ) from error
    clip.eval()
    prompts: Sequence[Any] = templates if templates is not None else open_clip.OPENAI_IMAGENET_TEMPLATES
    classes = open_clip.build_zero_shot_classifier(clip, tokenizer, list(class_names), list(prompts))
    configuration = open_clip.get_model_config(name) or {}
    quick = bool(configuration.get("quick_gelu", False))
    notes = [str(warning.message) for warning in caught if "QuickGELU" in str(warning.message)]
    if (Path(weights).is_file() or name.startswith("local-dir:")) and not quick:
        notes.append(
            f"weights from a local path do not say whether they were trained with QuickGELU; {name} uses GELU: "
            "for OpenAI's weights and others of that kind name the -quickgelu model"
        )
    module = Classifier(clip.visual, classes, clip.logit_scale.detach().exp())
    module.requires_grad_(False)
    return (
        module,
        _preprocessing(open_clip.get_model_preprocess_cfg(clip)),
        {
            "open_clip": json.dumps(configuration, sort_keys=True, default=str),
            "quick_gelu": str(quick).lower(),
            "class_names": json.dumps(list(class_names)),
            "templates": json.dumps(list(templates) if templates is not None else "open_clip ImageNet 80"),
        },
        tuple(notes),
    )


def _preprocessing(config: Mapping[str, Any]) -> Preprocessing:
    size, mode = config["size"], config.get("resize_mode", "shortest")
    if mode not in CROPS:
        raise PairboundsError("--model", mode, "its way of resizing is not known", f"use one of {', '.join(CROPS)}")
    height, width = (size, size) if isinstance(size, int) else size
    return Preprocessing.of(
        {
            "input_size": (3, height, width),
            "crop_pct": 1.0,
            "crop_mode": CROPS[mode],
            "interpolation": config.get("interpolation", "bicubic"),
            "mean": config["mean"],
            "std": config["std"],
        }
    )
