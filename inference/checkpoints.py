"""Weights from local files into a network: every entry has its place and shape, or the file is refused."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bounds.errors import PairboundsError

if TYPE_CHECKING:
    import torch

__all__ = ["load_weights", "weights_hash"]

COUNTER = "num_batches_tracked"
"""An entry of batch norms that inference never reads; files from old versions lack it."""

LEAVES = frozenset({"weight", "bias", "running_mean", "running_var"})
"""Last parts of names that mean the same in every network; matching by order never swaps two of them."""


def load_weights(module: torch.nn.Module, path: Path, *, match_order: bool = False) -> None:
    """Load a file into the network.

    Args:
        module: the network; a timm one says which of its layers is the classifier.
        path: safetensors, or a PyTorch file of which nothing but weights is unpickled. `module.` and `_orig_mod.` in
            front of names are dropped; of a training checkpoint the averaged weights are taken where it has them.
        match_order: pair the entries by their order instead of their names.

    Raises:
        PairboundsError: if the file cannot be read, has other entries, or an entry has another shape.
    """
    state, expected = _read(path), module.state_dict()
    if match_order:
        state = _by_order(state, expected, path.name)
    state = {name: tensor for name, tensor in expected.items() if name.endswith(COUNTER)} | state
    _check_names(state, expected, path.name)
    _check_shapes(state, expected, path.name, _classifiers(module))
    module.load_state_dict(state)


def weights_hash(module: torch.nn.Module) -> str:
    """SHA-256 of all parameters and buffers with their names, shapes and types, whatever file they came from."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _read(path: Path) -> dict[str, torch.Tensor]:
    import torch
    from safetensors import SafetensorError
    from timm.models import load_state_dict

    if not path.is_file():
        raise PairboundsError("checkpoint", str(path), "there is no such file", "check the path")
    try:
        state = load_state_dict(str(path), weights_only=True)
    except (SafetensorError, RuntimeError, OSError, EOFError, ValueError, KeyError, pickle.UnpicklingError) as error:
        raise PairboundsError(
            "checkpoint",
            path.name,
            f"cannot be read as weights alone ({str(error).splitlines()[0] if str(error) else type(error).__name__})",
            "save the network's state_dict(), as safetensors or with torch.save",
        ) from error
    if not isinstance(state, Mapping) or not all(isinstance(tensor, torch.Tensor) for tensor in state.values()):
        raise PairboundsError(
            "checkpoint", path.name, "does not map names to tensors", "save the network's state_dict()"
        )
    return dict(state)


def _by_order(
    state: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor], file: str
) -> dict[str, torch.Tensor]:
    """The entries under the names of `expected`, paired by position; batch counters are left aside."""
    theirs = [name for name in state if not name.endswith(COUNTER)]
    ours = [name for name in expected if not name.endswith(COUNTER)]
    if len(theirs) != len(ours):
        raise PairboundsError(
            "--match-order", file, f"has {len(theirs)} entries, the network {len(ours)}", "name the right network"
        )
    for one, other in zip(theirs, ours, strict=True):
        leaves = {one.rpartition(".")[2], other.rpartition(".")[2]}
        if len(leaves & LEAVES) == 2:
            raise PairboundsError(
                "--match-order", file, f"{one!r} would become {other!r}: the orders differ", "name the right network"
            )
    return {other: state[one] for one, other in zip(theirs, ours, strict=True)}


def _check_names(state: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor], file: str) -> None:
    missing = [name for name in expected if name not in state]
    foreign = [name for name in state if name not in expected]
    if missing or foreign:
        parts = [
            f"{len(names)} entries {what}, such as {names[0]!r}"
            for names, what in ((missing, "are missing"), (foreign, "are unknown to the network"))
            if names
        ]
        raise PairboundsError(
            "checkpoint",
            file,
            " and ".join(parts),
            "name the right network, or add --match-order if order and shapes agree",
        )


def _check_shapes(
    state: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor], file: str, classifiers: tuple[str, ...]
) -> None:
    wrong = [name for name in expected if state[name].shape != expected[name].shape]
    if not wrong:
        return
    name = wrong[0]
    theirs, ours = state[name].shape, expected[name].shape
    if name.rpartition(".")[0] in classifiers and len(theirs) and theirs[1:] == ours[1:]:
        raise PairboundsError(
            "checkpoint",
            file,
            f"has {theirs[0]} classes, the network {ours[0]}",
            f"add --num-classes {theirs[0]}, or name the right file",
        )
    raise PairboundsError(
        "checkpoint",
        file,
        f"{name!r} has shape {tuple(theirs)}, the network's {tuple(ours)}"
        + (f", and so on for {len(wrong) - 1} more" if len(wrong) > 1 else ""),
        "name the network that the file was saved from",
    )


def _classifiers(module: torch.nn.Module) -> tuple[str, ...]:
    """Names of a timm network's classifier layers."""
    named = getattr(module, "pretrained_cfg", {}).get("classifier") or ()
    return (named,) if isinstance(named, str) else tuple(named)
