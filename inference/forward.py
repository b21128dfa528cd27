"""A network on a device: batches in, float32 logits out."""

from __future__ import annotations

import contextlib
import copy
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bounds.errors import PairboundsError
from bounds.imports import calling

if TYPE_CHECKING:
    import torch

    from inference.preprocessing import Preprocessing

__all__ = ["LAYOUT", "PRECISIONS", "Forward", "batch_size", "chosen_device", "cores", "device_name"]

Logits = npt.NDArray[np.float32]

PRECISIONS = ("float32", "bf16", "fp16")
LAYOUT = "channels-last"

LARGEST_BATCH = {"cpu": 16, "cuda": 512}
"""More gains no speed (a CPU has one batch a core), and a batch is what is done again after a stop."""

MEMORY_SHARE = 0.125
"""Of all memory, what the activations of the batches may take by the estimate of `batch_size`."""


SMALLER = "mend the network; if memory is short, give a smaller --batch-size"


class Forward:
    """A network in evaluation mode on one device."""

    def __init__(self, module: torch.nn.Module, device: str, precision: str = "float32") -> None:
        """Move the network to the device.

        Args:
            module: takes float images (N, 3, S, S) and gives logits (N, C).
            device: as PyTorch names it.
            precision: one of `PRECISIONS`; the lower ones compute in mixed precision.
        """
        import torch

        self.device = torch.device(device)
        self.module = module.eval().to(self.device).to(memory_format=torch.channels_last)
        self._types = {"bf16": torch.bfloat16, "fp16": torch.float16}
        self._precision = precision
        # Equal output is promised for equal batches, and float32 means float32.
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False

    def copy(self) -> Forward:
        """Another one for another thread, on the same parameters: a network may keep something of its last batch."""
        tensors = {id(tensor): tensor for tensor in (*self.module.parameters(), *self.module.buffers())}
        other = copy.copy(self)
        other.module = copy.deepcopy(self.module, tensors)
        return other

    def __call__(self, images: torch.Tensor) -> Logits:
        """Logits as float32 of shape (N, C), from normalised images of shape (N, 3, S, S)."""
        import torch

        mixed: Any = contextlib.nullcontext()
        if self._precision in self._types:
            mixed = torch.autocast(self.device.type, dtype=self._types[self._precision])
        with torch.inference_mode(), mixed, calling("--model", type(self.module).__name__, SMALLER):
            logits = self.module(images.to(self.device, non_blocking=True))
        if logits.ndim != 2 or len(logits) != len(images):
            raise PairboundsError(
                "--model",
                type(self.module).__name__,
                f"gives {tuple(logits.shape)} for a batch of {len(images)}, not a row of logits each",
                "wrap it to return logits (N, C)",
            )
        return np.asarray(logits.to(torch.float32).cpu().numpy())

    def pixels(self, batch: torch.Tensor, preprocessing: Preprocessing) -> Logits:
        """Logits of uint8 images of shape (N, S, S, 3), normalised on the device."""
        import torch

        with torch.inference_mode():
            return self(preprocessing.normalise(batch.to(self.device, non_blocking=True)))


def chosen_device(device: str) -> str:
    """The device; `auto` is a GPU where PyTorch has one.

    Raises:
        PairboundsError: if it does not exist here.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise PairboundsError("--device", device, f"not usable here ({reason})", "use auto or cpu") from error
    return device


def device_name(device: str) -> str:
    """The kind of hardware, as far as equal results depend on it.

    >>> device_name("cpu").partition(" ")[0]
    'cpu'
    """
    import torch

    if device.startswith("cuda"):
        return f"cuda {torch.cuda.get_device_name(device)}"
    return f"{device} {torch.backends.cpu.get_cpu_capability()}" if device == "cpu" else device


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def batch_size(module: torch.nn.Module, preprocessing: Preprocessing, device: str) -> int:
    """A power of two whose activations fit in an eighth of the memory, at most 16 on a CPU and 512 on a GPU.

    The estimate adds up the outputs of all layers for one image, more than is ever held at once. It depends on the
    network and the machine alone, so that a run that is repeated there has the same batches.
    """
    import torch

    outputs: list[int] = []

    def measure(_module: torch.nn.Module, _inputs: Any, output: Any) -> None:
        if isinstance(output, torch.Tensor):
            outputs.append(output.numel() * output.element_size())

    leaves = [layer for layer in module.modules() if not list(layer.children())]
    hooks = [layer.register_forward_hook(measure) for layer in leaves]
    try:
        Forward(module, "cpu").pixels(
            torch.zeros(1, preprocessing.size, preprocessing.size, 3, dtype=torch.uint8), preprocessing
        )
    finally:
        for hook in hooks:
            hook.remove()
    if device.startswith("cuda"):
        memory, kind = torch.cuda.mem_get_info(device)[1], "cuda"
    else:
        memory, kind = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // cores(), "cpu"
    fitting = max(1, int(memory * MEMORY_SHARE) // max(1, sum(outputs)))
    return int(min(LARGEST_BATCH[kind], 1 << (fitting.bit_length() - 1)))
