"""A small example from scratch: scikit-learn's handwritten digits, and a network trained on them in under a minute.

    python -m inference.digits FOLDER

writes `FOLDER/test/<class>/<number>.png`, 32 x 32 pixels, and `FOLDER/net.safetensors`, weights of timm's
`test_resnet` for 10 classes that was trained on the other images, at mean and std 0.5.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["NETWORK", "load", "train", "write_images"]

NETWORK = "test_resnet"
"""One of timm's smallest; 0.5 million parameters."""

SIDE = 32
TEST = 500
"""The last images, which the network does not learn from."""

Images = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]


def load() -> tuple[Images, Labels]:
    """All digits as uint8 of shape (N, 32, 32, 3), and their labels."""
    from PIL import Image
    from sklearn.datasets import load_digits

    digits = load_digits()
    small = np.round(digits.images * (255 / 16)).astype(np.uint8)
    large = [Image.fromarray(image).resize((SIDE, SIDE), Image.Resampling.BICUBIC).convert("RGB") for image in small]
    return np.stack([np.asarray(image) for image in large]), digits.target.astype(np.int64)


def write_images(images: Images, labels: Labels, folder: Path) -> None:
    """Write each image as `folder/<class>/<number>.png`."""
    from PIL import Image

    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        path = folder / str(label) / f"{number:04d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path)


def train(images: Images, labels: Labels, path: Path, *, epochs: int = 4, seed: int = 0) -> None:
    """Train the network and save its weights as safetensors; on one core, which is fastest for one so small."""
    import timm
    import torch
    from safetensors.torch import save_file

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    module = timm.create_model(NETWORK, num_classes=10)
    x = torch.from_numpy(images).permute(0, 3, 1, 2).float().div(255).sub(0.5).div(0.5)
    y = torch.from_numpy(labels)
    optimizer = torch.optim.AdamW(module.parameters(), lr=2e-3)
    steps = epochs * -(-len(x) // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=steps)
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(64):  # type: ignore[no-untyped-call]  # PyTorch's own
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(x[batch]), y[batch]).backward()  # type: ignore[no-untyped-call]  # likewise
            optimizer.step()
            schedule.step()
    torch.set_num_threads(threads)
    save_file({name: tensor.contiguous() for name, tensor in module.state_dict().items()}, path)


def main(folder: Path) -> None:
    """Write the images and the weights."""
    images, labels = load()
    write_images(images[-TEST:], labels[-TEST:], folder / "test")
    train(images[:-TEST], labels[:-TEST], folder / "net.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
