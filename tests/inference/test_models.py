"""Networks by name, their weights and their preprocessing; what does not fit is refused in one line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

from bounds.errors import PairboundsError
from inference.checkpoints import weights_hash
from inference.forward import Forward
from inference.models import Loading, Model, load_model
from inference.preprocessing import Preprocessing

NAME = "test_resnet"


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    torch.manual_seed(1)
    return timm.create_model(NAME, num_classes=10).eval()


def load(path: Path, **options: Any) -> Model:
    options = {"num_classes": 10, "overrides": {"size": 32}} | options
    return load_model(f"timm:{NAME}@{path}", Loading(**options))


def refused(source: str, **options: Any) -> str:
    with pytest.raises(PairboundsError) as caught:
        load_model(source, Loading(**options))
    assert "\n" not in caught.value.line
    return caught.value.line


def logits(module: torch.nn.Module) -> torch.Tensor:
    with torch.inference_mode():
        return module(torch.linspace(-1, 1, 3 * 32 * 32).view(1, 3, 32, 32))


@pytest.mark.parametrize("form", ["safetensors", "pth", "bin", "module", "training"])
def test_weights_come_from_every_form_of_file(form: str, network: torch.nn.Module, tmp_path: Path) -> None:
    state, path = network.state_dict(), tmp_path / f"net.{form}"
    if form == "safetensors":
        save_file(state, path)
    elif form == "module":
        torch.save({f"module.{name}": tensor for name, tensor in state.items()}, path)
    elif form == "training":
        torch.save({"state_dict": state, "epoch": 3, "optimizer": {"state": {}}}, path)
    else:
        torch.save(state, path)
    model = load(path)
    assert torch.equal(logits(model.module), logits(network))
    assert model.weights == weights_hash(network)
    assert (model.name, model.source, model.classes) == (NAME, f"timm:{NAME}@net.{form}", 10)
    assert not model.module.training


def test_entries_of_other_names_are_matched_by_order_when_asked(network: torch.nn.Module, tmp_path: Path) -> None:
    path = tmp_path / "net.pth"
    state = {f"layer{i}_{name.rpartition('.')[2]}": t for i, (name, t) in enumerate(network.state_dict().items())}
    state = {name.replace("_", ".", 1): tensor for name, tensor in state.items() if "num_batches" not in name}
    torch.save(state, path)
    assert "--match-order" in refused(f"timm:{NAME}@{path}", num_classes=10)
    assert torch.equal(logits(load(path, match_order=True).module), logits(network))


def test_an_order_that_swaps_two_kinds_of_entries_is_refused(network: torch.nn.Module, tmp_path: Path) -> None:
    state = network.state_dict()
    names = list(state)
    mean, variance = (next(i for i, name in enumerate(names) if name.endswith(end)) for end in ("_mean", "_var"))
    names[mean], names[variance] = names[variance], names[mean]
    torch.save({name: state[name] for name in names}, tmp_path / "net.pth")
    line = refused(f"timm:{NAME}@{tmp_path / 'net.pth'}", num_classes=10, match_order=True)
    assert "the orders differ" in line


@pytest.mark.parametrize("match_order", [False, True])
def test_another_number_of_classes_is_told_with_both_numbers(
    match_order: bool, network: torch.nn.Module, tmp_path: Path
) -> None:
    torch.save(network.state_dict(), tmp_path / "net.pth")
    line = refused(f"timm:{NAME}@{tmp_path / 'net.pth'}", match_order=match_order)
    assert "has 10 classes, the network 1000; add --num-classes 10" in line


class Trap:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> Any:
        return (sys.exit, ("unpickled",))


def test_nothing_but_weights_is_unpickled(tmp_path: Path) -> None:
    torch.save({"state_dict": Trap()}, tmp_path / "net.pth")
    assert "cannot be read as weights alone" in refused(f"timm:{NAME}@{tmp_path / 'net.pth'}")


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "cannot be read as weights alone"),
        (b"PK\x03\x04 half", "cannot be read as weights alone"),
        (None, "there is no such file"),
    ],
)
@pytest.mark.parametrize("suffix", ["pth", "safetensors"])
def test_a_file_that_is_no_checkpoint_is_refused(content: bytes | None, rule: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"net.{suffix}"
    if content is not None:
        path.write_bytes(content)
    assert rule in refused(f"timm:{NAME}@{path}")


def test_another_network_is_refused_with_an_entry_that_differs(tmp_path: Path) -> None:
    torch.save(timm.create_model("test_efficientnet", num_classes=10).state_dict(), tmp_path / "net.pth")
    line = refused(f"timm:{NAME}@{tmp_path / 'net.pth'}", num_classes=10)
    assert "entries are missing, such as" in line
    assert "unknown to the network" in line
    torch.save({"weight": 3}, tmp_path / "net.pth")
    assert "does not map names to tensors" in refused(f"timm:{NAME}@{tmp_path / 'net.pth'}")


def test_unknown_names_and_weights_that_cannot_be_fetched_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("offline\nand more")

    monkeypatch.setattr(timm, "create_model", fail)
    assert "choose among test_resnet" in refused("timm:test_resnett")
    assert "weights from the hub (offline); " in refused(f"timm:{NAME}")
    assert "names no model" in refused("resnet50")
    assert "names no model" in refused("timm:")


FACTORIES = """
import torch
from inference.preprocessing import Preprocessing

class Net(torch.nn.Module):
    def __init__(self, shape=(-1, 2)):
        super().__init__()
        self.shape = shape
        self.weight = torch.nn.Parameter(torch.zeros(1))
    def forward(self, x):
        return x.mean(dim=(2, 3))[:, :2].reshape(self.shape) + self.weight

plan = Preprocessing(size=8, crop=1.0, interpolation="bilinear", mean=(0.0,) * 3, std=(1.0,) * 3)

def pair():
    return Net(), plan

def attribute():
    net = Net()
    net.preprocessing = {"size": 8, "crop": 1.0, "interpolation": "bilinear", "mean": (0.0,) * 3, "std": (1.0,) * 3}
    return net

def bare():
    return Net()

def cubic():
    return Net((-1, 1, 2)), plan

number = lambda: 3

def picky(size):
    return Net()

class Brittle(Net):
    def forward(self, x):
        if len(x) > 1:
            raise ValueError("one at a time")
        return super().forward(x)

class Merging(Net):
    def forward(self, x):
        return super().forward(x)[:1]

def brittle():
    return Brittle(), plan

def merging():
    return Merging(), plan
"""


def test_a_factory_gives_a_network_with_declared_preprocessing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_factories.py").write_text(FACTORIES)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    expected = Preprocessing(8, 1.0, "bilinear", (0.0,) * 3, (1.0,) * 3)
    for name in ("pair", "attribute"):
        model = load_model(f"module:my_factories.{name}", Loading(name="mine"))
        assert (model.name, model.classes, model.preprocessing) == ("mine", 2, expected)
    assert "declares no preprocessing" in refused("module:my_factories.bare")
    overrides = {"size": 8, "mean": (0.0,) * 3, "std": (1.0,) * 3}
    assert load_model("module:my_factories.bare", Loading(overrides=overrides)).preprocessing == expected
    assert "gives (1, 1, 2) for one image" in refused("module:my_factories.cubic")
    assert "gives a int" in refused("module:my_factories.number")
    assert "raised TypeError: picky() missing 1 required" in refused("module:my_factories.picky")
    for name, rule in (("brittle", "raised ValueError: one at a time"), ("merging", "gives (1, 2) for a batch of 3")):
        with pytest.raises(PairboundsError, match=re.escape(rule)):
            Forward(load_model(f"module:my_factories.{name}").module, "cpu")(torch.zeros(3, 3, 8, 8))
    assert "cannot be imported" in refused("module:my_factories.absent")
    assert "cannot be imported" in refused("module:absent_package.net")
    assert "cannot be imported" in refused("module:net")


CLIP = {
    "model_cfg": {
        "embed_dim": 16,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16},
        "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
    },
    "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "interpolation": "bilinear"},
}


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny CLIP with random weights, in a folder of its own."""
    import open_clip

    folder = tmp_path_factory.mktemp("clip") / "tiny"
    folder.mkdir()
    torch.manual_seed(2)
    save_file(open_clip.CLIP(**CLIP["model_cfg"]).state_dict(), folder / "open_clip_model.safetensors")
    (folder / "open_clip_config.json").write_text(json.dumps(CLIP))
    return f"open-clip:local-dir:{folder}"


def test_clip_classifies_by_the_nearest_prompt(clip: str) -> None:
    import open_clip

    names = ["cat", "dog", "tench"]
    model = load_model(clip, Loading(class_names=names))
    assert (model.name, model.source, model.classes) == ("tiny", "open-clip:tiny", 3)
    assert model.preprocessing == Preprocessing(32, 1.0, "bilinear", (0.5,) * 3, (0.5,) * 3)
    assert json.loads(model.configuration["class_names"]) == names
    assert any("QuickGELU" in text for text in model.notes)
    assert model.configuration["quick_gelu"] == "false"
    folder = clip.removeprefix("open-clip:")
    whole = open_clip.create_model(folder).eval()
    texts = open_clip.get_tokenizer(folder)([f"a photo of a {name}." for name in names])
    image = torch.linspace(-1, 1, 3 * 32 * 32).view(1, 3, 32, 32)
    with torch.inference_mode():
        features, prompts = whole.encode_image(image, normalize=True), whole.encode_text(texts, normalize=True)
        expected = whole.logit_scale.exp() * features @ prompts.T
        found = model.module(image)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_clip_averages_several_prompts_and_needs_names_and_places_for_them(clip: str) -> None:
    one = load_model(clip, Loading(class_names=["cat", "dog"]))
    both = load_model(clip, Loading(class_names=["cat", "dog"], templates=["a photo of a {}.", "art of the {}."]))
    assert one.weights != both.weights
    assert load_model(clip, Loading(class_names=["cat", "dog"], templates=None)).classes == 2
    assert "made of class names" in refused(clip)
    assert "has no single {}" in refused(clip, class_names=["cat"], templates=["a photo"])
    assert "names no weights" in refused("open-clip:ViT-B-32", class_names=["cat"])
    assert "cannot be had" in refused("open-clip:ViT-B-32@absent.pt", class_names=["cat"])


def test_preprocessing_is_that_of_timm_unless_overridden(network: torch.nn.Module, tmp_path: Path) -> None:
    torch.save(network.state_dict(), tmp_path / "net.pth")
    own = timm.data.resolve_model_data_config(network)
    assert load(tmp_path / "net.pth", overrides={}).preprocessing == Preprocessing.of(own)
    changed = load(tmp_path / "net.pth", overrides={"size": 64, "mean": (0.5,) * 3}).preprocessing
    assert (changed.size, changed.mean, changed.std) == (64, (0.5,) * 3, own["std"])


@pytest.mark.parametrize("mode", ["center", "squash", "border"])
@pytest.mark.parametrize("shape", [(40, 31), (32, 50), (20, 20)])
def test_the_two_halves_are_timms_whole_transform(mode: str, shape: tuple[int, int]) -> None:
    plan = Preprocessing(32, 0.875, "bicubic", (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), mode)
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    whole = timm.data.create_transform(
        (3, 32, 32), interpolation="bicubic", crop_pct=0.875, crop_mode=mode, mean=plan.mean, std=plan.std
    )
    found = plan.normalise(torch.from_numpy(plan.geometry(pixels))[None])
    assert torch.equal(found[0], whole(Image.fromarray(pixels)))
    assert found.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("interpolation", "cubic", "choose among nearest, bilinear"),
        ("crop_mode", "middle", "choose among center"),
        ("size", 0, "a side is 1 to 8192"),
        ("crop", 1.5, "is not in (0, 1]"),
        ("mean", (0.5,), "three finite numbers"),
        ("std", (0.5, 0.0, 0.5), "std above 0"),
    ],
)
def test_preprocessing_that_cannot_be_is_refused(field: str, value: Any, rule: str) -> None:
    fields = {"size": 8, "crop": 1.0, "interpolation": "bilinear", "mean": (0.0,) * 3, "std": (1.0,) * 3}
    with pytest.raises(PairboundsError) as caught:
        Preprocessing(**fields | {field: value})
    assert rule in caught.value.line
