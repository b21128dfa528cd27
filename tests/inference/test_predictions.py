"""Records from logits, worked out by hand, and from loaders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
import timm
import torch

import inference
from bounds.errors import PairboundsError
from bounds.records import load_records
from inference import forward
from inference.forward import Forward, batch_size, chosen_device
from inference.predictions import Kept, record_table
from inference.preprocessing import Preprocessing


def table(logits: Any, labels: Any, **options: Any) -> dict[str, list[Any]]:
    array = np.array(logits, dtype=np.float32)
    ids = [f"image{i}" for i in range(len(array))]
    return record_table(
        array, model="net", condition="clean", kind="clean", ids=ids, labels=labels, **options
    ).to_pydict()


def test_rows_are_those_worked_out_by_hand() -> None:
    rows = table([[0, math.log(3), 0], [math.log(6), 0, 0]], [1, 2])
    assert rows["model"] == ["net", "net"]
    assert rows["image_id"] == ["image0", "image1"]
    assert (rows["label"], rows["predicted"]) == ([1, 2], [1, 0])
    assert rows["confidence"] == pytest.approx([3 / 5, 6 / 8], abs=1e-7)
    assert rows["true_probability"] == pytest.approx([3 / 5, 1 / 8], abs=1e-7)
    assert rows["margin"] == pytest.approx([math.log(3), math.log(6)], abs=1e-6)


def test_a_tie_goes_to_the_lowest_index_and_shows_in_the_margin() -> None:
    rows = table([[0, 2, 2], [5, 5, 5]], [1, 1], kept=Kept(top=2))
    assert rows["predicted"] == [1, 0]
    assert rows["margin"] == [0, 0]
    assert rows["top_classes"] == [[1, 2], [0, 1]]


def test_large_logits_do_not_overflow_and_close_ones_stay_apart() -> None:
    rows = table([[1000, 999, -1000], [90, 20, 0]], [2, 1])
    assert rows["confidence"][0] == pytest.approx(1 / (1 + math.exp(-1)))
    assert rows["true_probability"][0] == 0
    # float32 would end at 0 and at exactly 1
    assert 0 < rows["true_probability"][1] < 1e-30


@pytest.mark.parametrize("lost", [math.nan, math.inf, -math.inf])
def test_a_logit_that_is_not_finite_marks_its_row_and_no_other(lost: float) -> None:
    rows = table([[0, lost], [0, 1]], [0, 0], kept=Kept(probabilities=True, top=1, logits=True))
    for column in ("predicted", "confidence", "true_probability", "margin", "probabilities", "top_classes"):
        assert rows[column][0] is None
        assert rows[column][1] is not None
    assert rows["label"] == [0, 0]
    np.testing.assert_equal(rows["logits"][0], [0, lost])


def test_the_loader_counts_a_marked_row_as_unusable() -> None:
    frames = [
        pl.DataFrame(table([[0, 1], [0, second]], [1, 1])).with_columns(condition=pl.lit(condition))
        for condition, second in (("clean", 1), ("fog/1", math.nan))
    ]
    evaluation = load_records(pl.concat(frames)).evaluation()
    assert (evaluation.images, evaluation.unusable) == (1, 1)


def test_classes_left_out_have_probability_zero_and_keep_their_indices() -> None:
    allowed = np.array([False, True, True, False])
    rows = table([[9, 0, math.log(3), 1]], [1], allowed=allowed, kept=Kept(probabilities=True, logits=True))
    assert rows["predicted"] == [2]
    assert rows["probabilities"][0] == pytest.approx([0, 1 / 4, 3 / 4, 0])
    assert rows["logits"][0][0] == -math.inf
    assert rows["margin"] == pytest.approx([math.log(3)])
    alone = table([[9, 0]], [1], allowed=np.array([False, True]))
    assert (alone["confidence"], alone["margin"]) == ([1], [None])


def test_a_row_without_label_keeps_its_prediction() -> None:
    rows = table([[0, 1]], [None])
    assert (rows["label"], rows["predicted"], rows["true_probability"]) == ([None], [1], [None])


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    torch.manual_seed(3)
    return timm.create_model("test_resnet", num_classes=10).eval()


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    return torch.randn(64, 3, 32, 32, generator=torch.Generator().manual_seed(4))


def loader(images: torch.Tensor, batch: int, **options: Any) -> torch.utils.data.DataLoader[Any]:
    dataset = torch.utils.data.TensorDataset(images, torch.arange(len(images)) % 10)
    return torch.utils.data.DataLoader(dataset, batch_size=batch, **options)


def test_ten_images_in_batches_of_four_are_ten_rows_that_the_loader_reads(
    network: torch.nn.Module, images: torch.Tensor
) -> None:
    ids = [f"i{i}" for i in range(10)]
    network.train()
    frames = [
        inference.predict(network, loader(images[:10] + shift, 4), name="net", condition=name, ids=ids, device="cpu")
        for name, shift in (("clean", 0), ("fog/1", 1))
    ]
    assert network.training, "left as it was"
    assert [len(frame) for frame in frames] == [10, 10]
    records = load_records(pl.concat(frames))
    assert records.kind("fog/1") == "corruption"
    assert records.evaluation().images == 10


def test_the_batch_size_changes_a_label_only_where_two_logits_nearly_tie(
    network: torch.nn.Module, images: torch.Tensor
) -> None:
    ids = [str(i) for i in range(64)]
    one, all_ = (
        inference.predict(network, loader(images, batch), name="net", ids=ids, device="cpu") for batch in (1, 64)
    )
    differ = one["predicted"] != all_["predicted"]
    assert (one.filter(differ)["margin"] < 1e-5).all()
    np.testing.assert_allclose(one["confidence"], all_["confidence"], atol=1e-5)


def test_a_loader_gives_each_images_id_or_keeps_its_order(network: torch.nn.Module, images: torch.Tensor) -> None:
    own = [(images[:2], torch.tensor([0, 1]), ("a", "b"))]
    assert inference.predict(network, own, name="net", device="cpu")["image_id"].to_list() == ["a", "b"]

    def refused(*arguments: Any, **options: Any) -> str:
        with pytest.raises(PairboundsError) as caught:
            inference.predict(network, *arguments, name="net", device="cpu", **options)
        return caught.value.line

    ids = ["a", "b", "c", "d"]
    data = torch.utils.data
    for options in (
        {"batch_size": 2, "shuffle": True},
        {"batch_size": 2, "sampler": data.WeightedRandomSampler([1.0] * 4, 4)},
        {"batch_sampler": data.BatchSampler(data.RandomSampler(range(4)), 2, False)},
        {"batch_sampler": [[0, 1], [2, 3]]},
    ):
        shuffled = data.DataLoader(data.TensorDataset(images[:4], torch.arange(4)), **options)
        assert "the loader shuffles" in refused(shuffled, ids=ids)
    in_order = data.BatchSampler(data.SequentialSampler(range(4)), 2, False)
    whole = data.DataLoader(data.TensorDataset(images[:4], torch.arange(4)), batch_sampler=in_order)
    assert len(inference.predict(network, whole, name="net", device="cpu", ids=ids)) == 4
    assert "ids 'a': stands twice" in refused(own * 2)
    network.train()
    for label in (-1, 10):
        assert f"label {label}: the outputs are of the classes 0 to 9" in refused([(images[:1], [label], ["a"])])
    assert network.training, "left as it was"
    network.eval()
    assert "label 1.5: is no class index" in refused([(images[:1], [1.5], ["a"])])
    assert "kind 'weird': unknown" in refused(own, kind="weird")
    assert "precision 'int8': unknown" in refused(own, precision="int8")
    assert "missing for image 1" in refused(loader(images[:4], 2))
    assert "missing for image 4" in refused(loader(images[:4], 2), ids=ids[:3])
    assert "the loader has 4 images" in refused(loader(images[:4], 2), ids=[*ids, "e"])


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_low_precision_gives_float32_logits_near_the_others(
    precision: str, network: torch.nn.Module, images: torch.Tensor
) -> None:
    full, low = Forward(network, "cpu")(images[:8]), Forward(network, "cpu", precision)(images[:8])
    assert low.dtype == np.float32
    assert 0 < np.abs(full - low).max() < 0.1


def test_a_copy_for_another_thread_shares_the_parameters_and_nothing_else(network: torch.nn.Module) -> None:
    own = Forward(network, "cpu")
    other = own.copy()
    assert other.module is not own.module
    for one, two in zip(own.module.parameters(), other.module.parameters(), strict=True):
        assert one is two


def test_the_default_batch_is_a_power_of_two_that_fits_in_memory(
    network: torch.nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Preprocessing(32, 1.0, "bilinear", (0.5,) * 3, (0.5,) * 3)
    assert batch_size(network, plan, "cpu") == 16
    sizes = []
    for halvings in range(40):
        monkeypatch.setattr(forward, "MEMORY_SHARE", 2.0**-halvings)
        sizes.append(batch_size(network, plan, "cpu"))
    assert list(dict.fromkeys(sizes)) == [16, 8, 4, 2, 1]


def test_a_device_that_is_not_there_is_refused() -> None:
    assert chosen_device("cpu") == "cpu"
    with pytest.raises(PairboundsError, match="not usable here"):
        chosen_device("nonsense")
