"""Networks by name: `timm:NAME[@checkpoint]`, `module:package.factory`, `open-clip:NAME@weights`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.errors import MissingExtraError, PairboundsError
from bounds.imports import calling, imported
from inference.checkpoints import load_weights, weights_hash
from inference.preprocessing import Preprocessing

if TYPE_CHECKING:
    import torch

__all__ = ["Loading", "Model", "load_model", "require_torch"]

FORMS = "timm:NAME[@checkpoint], module:package.factory or open-clip:NAME@weights"


@dataclass(frozen=True, slots=True)
class Model:
    """A network in evaluation mode, with what is needed to use it.

    Attributes:
        name: as in the records.
        source: what was asked for; of a local file the name alone.
        classes: outputs of the network.
        weights: SHA-256 of its parameters and buffers.
        configuration: what else decides its outputs, for the records.
        notes: what its user should know.
    """

    name: str
    source: str
    module: torch.nn.Module
    preprocessing: Preprocessing
    classes: int
    weights: str
    configuration: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loading:
    """How a model is to be loaded.

    Attributes:
        name: instead of the model's own in the records.
        match_order: see `inference.checkpoints.load_weights`.
        num_classes: outputs that a timm network is made with; its own number if None.
        overrides: fields of `Preprocessing` in place of the model's own.
        class_names: by index; of these a zero-shot classifier is made.
        templates: prompts with `{}` for the class name; several are averaged. None for open_clip's 80.
    """

    name: str | None = None
    match_order: bool = False
    num_classes: int | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    class_names: Sequence[str] = ()
    templates: Sequence[str] | None = ("a photo of a {}.",)


def require_torch() -> None:
    """Check that networks can be run at all.

    Raises:
        MissingExtraError: naming the pip line.
    """
    for package in ("torch", "timm"):
        _package(package)


def load_model(source: str, loading: Loading | None = None) -> Model:
    """The model that `source` names.

    Raises:
        PairboundsError: if there is none, its weights cannot be had, or it does not give one row of logits an image.
    """
    require_torch()
    loading = loading or Loading()
    kind, _, rest = source.partition(":")
    loaders = {"timm": _timm, "module": _module, "open-clip": _open_clip}
    if kind not in loaders or not rest:
        raise PairboundsError("--model", source, "names no model", f"write {FORMS}")
    for given, option in ((loading.match_order, "--match-order"), (loading.num_classes, "--num-classes")):
        if given and kind != "timm":
            raise PairboundsError(option, given, f"is for timm models, not {source!r}", "leave it out")
    found = loaders[kind](rest, loading)
    name, _, file = rest.partition("@")
    if name.startswith("local-dir:"):
        name = Path(name.removeprefix("local-dir:")).resolve().name
    preprocessing = replace(found.preprocessing, **loading.overrides)
    return Model(
        name=loading.name or name,
        source=f"{kind}:{name}" + (f"@{Path(file).name}" if file else ""),
        module=found.module,
        preprocessing=preprocessing,
        classes=_outputs(found.module, preprocessing, source),
        weights=weights_hash(found.module),
        configuration=found.configuration,
        notes=found.notes,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    module: torch.nn.Module
    preprocessing: Preprocessing
    configuration: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingExtraError(
            "package", name, "is needed to run models and absent", "pip install 'pairbounds[inference]'"
        ) from error


def _outputs(module: torch.nn.Module, preprocessing: Preprocessing, source: str) -> int:
    """The number of logits of an image, from one that is blank; the network is put into evaluation mode."""
    import torch

    module.eval()
    try:
        blank = torch.zeros(1, preprocessing.size, preprocessing.size, 3, dtype=torch.uint8)
        with torch.inference_mode():
            logits = module(preprocessing.normalise(blank))
    except Exception as error:
        # Whatever the network raises; there is no common class.
        size = f"{preprocessing.size}x{preprocessing.size}"
        raise PairboundsError(
            "--model", source, f"cannot take an image of {size} ({_first_line(error)})", "give its --size"
        ) from error
    if not isinstance(logits, torch.Tensor) or logits.ndim != 2 or len(logits) != 1 or not logits.is_floating_point():
        shape = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
        raise PairboundsError(
            "--model", source, f"gives {shape} for one image, not a row of logits", "wrap it to return logits (N, C)"
        )
    return int(logits.shape[1])


def _timm(rest: str, loading: Loading) -> _Found:
    timm = _package("timm")
    name, _, checkpoint = rest.partition("@")
    if not timm.is_model(name):
        near = get_close_matches(name, timm.list_models(), 3)
        raise PairboundsError(
            "--model",
            f"timm:{name}",
            "timm knows no such model",
            f"choose among {', '.join(near)}" if near else "see timm.list_models()",
        )
    made: dict[str, Any] = {} if loading.num_classes is None else {"num_classes": loading.num_classes}
    try:
        module = timm.create_model(name, pretrained=not checkpoint, **made)
    except Exception as error:
        # Whatever the hub, the network or the disk raises; there is no common class.
        raise PairboundsError(
            "--model",
            f"timm:{name}",
            f"cannot be made with its weights from the hub ({_first_line(error)})"
            if not checkpoint
            else f"cannot be made ({_first_line(error)})",
            "check the name and the network, or give a local file as timm:NAME@FILE",
        ) from error
    if checkpoint:
        load_weights(module, Path(checkpoint), match_order=loading.match_order)
    elif loading.match_order:
        raise PairboundsError("--match-order", None, "is for a local file", "write timm:NAME@FILE, or leave it out")
    return _Found(module, Preprocessing.of(timm.data.resolve_model_data_config(module)))


def _module(rest: str, loading: Loading) -> _Found:
    """A factory's network; its preprocessing is returned beside it, an attribute of it, or given by options."""
    torch = _package("torch")
    module_name, _, attribute = rest.rpartition(".")
    factory = imported("--model", f"module:{rest}", module_name, attribute, "module:package.factory")
    with calling("--model", f"module:{rest}", "give a function that needs no arguments and returns a network"):
        made = factory()
    module, declared = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(module, torch.nn.Module):
        raise PairboundsError(
            "--model", f"module:{rest}", f"gives a {type(module).__name__}", "return a torch.nn.Module"
        )
    declared = getattr(module, "preprocessing", None) if declared is None else declared
    needed = {"size", "mean", "std"}
    if declared is None and needed <= set(loading.overrides):
        declared = {"crop": 1.0, "interpolation": "bilinear"} | {name: loading.overrides[name] for name in needed}
    if isinstance(declared, Mapping):
        given = dict(declared)
        try:
            declared = Preprocessing(**given)
        except TypeError as error:
            raise PairboundsError(
                "preprocessing", given, str(error), "give size, crop, interpolation, mean and std"
            ) from error
    if not isinstance(declared, Preprocessing):
        raise PairboundsError(
            "--model",
            f"module:{rest}",
            "declares no preprocessing",
            "return (module, inference.preprocessing.Preprocessing(...)), or give --size, --mean and --std",
        )
    return _Found(module, declared)


def _open_clip(rest: str, loading: Loading) -> _Found:
    _package("open_clip")
    from inference.zero_shot import zero_shot

    name, _, weights = rest.partition("@")
    return _Found(*zero_shot(name, weights, loading.class_names, loading.templates))


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
