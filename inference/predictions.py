"""From logits to prediction records, and the Python door for loaders of one's own."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bounds.errors import PairboundsError, RecordError
from bounds.records import CORRUPTIONS, KINDS, ROW_SUM
from inference.forward import PRECISIONS, Forward, Logits, chosen_device

if TYPE_CHECKING:
    import polars as pl
    import torch

__all__ = ["NEAR_TIE", "Kept", "kind_of", "predict", "probability_table", "record_table"]

NEAR_TIE = 1e-5
"""Two largest logits closer than this may change places with the batch size or the device."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What of the outputs is kept beside the record's own numbers.

    Attributes:
        probabilities: of every class.
        top: the largest probabilities, this many; 0 for none.
        logits: of every class.
    """

    probabilities: bool = False
    top: int = 0
    logits: bool = False

    @property
    def schema(self) -> pa.Schema:
        """Columns of the records, in order."""
        columns = [
            *((name, pa.string()) for name in ("model", "condition", "kind", "image_id")),
            *((name, pa.int32()) for name in ("label", "predicted")),
            *((name, pa.float64()) for name in ("confidence", "true_probability", "margin")),
        ]
        if self.probabilities:
            columns.append(("probabilities", pa.list_(pa.float32())))
        if self.top:
            columns += [("top_classes", pa.list_(pa.int32())), ("top_probabilities", pa.list_(pa.float32()))]
        if self.logits:
            columns.append(("logits", pa.list_(pa.float32())))
        return pa.schema(columns)


def record_table(
    logits: Logits,
    *,
    model: str,
    condition: str,
    kind: str,
    ids: Sequence[str],
    labels: Sequence[int | None],
    allowed: npt.NDArray[np.bool_] | None = None,
    kept: Kept | None = None,
) -> pa.Table:
    """Records of some images under one condition.

    Args:
        logits: float32 of shape (N, C).
        model, condition, kind: of all rows.
        ids, labels: one an image; None for an unknown label.
        allowed: the classes among which the model may choose, of shape (C,); all if None. The others get
            probability 0 and logit -inf.
        kept: what is kept of the outputs.

    Returns:
        One row an image, in columns `kept.schema`. Probabilities are a softmax in float64; ties go to the lowest
        index; `margin` is the difference of the two largest logits. A row with a logit that is not
        finite has no prediction, and nulls in place of what is computed from it.

    >>> table = record_table(np.array([[0.0, 2.0], [np.nan, 1.0]], dtype=np.float32), model="net", condition="clean",
    ...                      kind="clean", ids=["a", "b"], labels=[1, 0])
    >>> table["predicted"].to_pylist(), round(table["true_probability"][0].as_py(), 4), table["margin"].to_pylist()
    ([1, None], 0.8808, [2.0, None])
    """
    kept = kept or Kept()
    classes = logits.shape[1]
    considered = np.ones(classes, dtype=np.bool_) if allowed is None else allowed
    lost: npt.NDArray[np.bool_] = ~np.all(np.isfinite(logits[:, considered]), axis=1, keepdims=True)[:, 0]
    logits = np.where(considered, logits, np.float32(-np.inf))
    finite = np.where(lost[:, None], np.float32(0), logits).astype(np.float64)
    predicted = finite.argmax(axis=1)
    shares = np.exp(finite - finite.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    two = np.partition(finite, -2, axis=1)[:, -2:] if considered.sum() > 1 else None
    margin = None if two is None else two[:, 1] - two[:, 0]
    return _assembled(shares, predicted, margin, lost, logits, model, condition, kind, ids, labels, kept)


def probability_table(
    shares: npt.NDArray[np.floating[Any]],
    *,
    model: str,
    condition: str,
    kind: str,
    ids: Sequence[str],
    labels: Sequence[int | None],
    kept: Kept | None = None,
) -> pa.Table:
    """As `record_table`, from probabilities of shape (N, C), which stay as they are.

    `margin` is the difference of the logarithms of the two largest. A row with NaN has no prediction.

    Raises:
        RecordError: if an entry is negative, or a row sums to something else than 1 beyond `bounds.records.ROW_SUM`.

    >>> table = probability_table(np.array([[0.5, 0.5], [np.nan, 1.0]]), model="net", condition="clean",
    ...                           kind="clean", ids=["a", "b"], labels=[1, 0])
    >>> table["predicted"].to_pylist(), table["true_probability"].to_pylist(), table["margin"].to_pylist()
    ([0, None], [0.5, None], [0.0, None])
    """
    lost: npt.NDArray[np.bool_] = np.isnan(shares).any(axis=1)
    sums = np.where(lost, 1.0, shares.sum(axis=1, dtype=np.float64))
    low = np.where(lost, 0.0, shares.min(axis=1, initial=np.inf))
    wrong = (low < 0) | (np.abs(sums - 1) > ROW_SUM)
    if wrong.any():
        row = int(wrong.argmax())
        raise RecordError(
            "probabilities",
            float(low[row] if low[row] < 0 else sums[row]),
            f"{'an entry' if low[row] < 0 else 'the sum'} of {ids[row]!r} under {condition}, but entries are >= 0 and "
            f"sum to 1 within {ROW_SUM}",
            "give softmax outputs, or say that they are logits",
        )
    kept_as_is: npt.NDArray[np.float64] = np.where(lost[:, None], 0.0, shares.astype(np.float64))
    margin = None
    if shares.shape[1] > 1:
        two = np.partition(kept_as_is, -2, axis=1)[:, -2:]
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.log(two[:, 1]) - np.log(two[:, 0])
    predicted = kept_as_is.argmax(axis=1)
    return _assembled(kept_as_is, predicted, margin, lost, None, model, condition, kind, ids, labels, kept or Kept())


def _assembled(
    shares: npt.NDArray[np.float64],
    predicted: npt.NDArray[np.intp],
    margin: npt.NDArray[np.float64] | None,
    lost: npt.NDArray[np.bool_],
    logits: npt.NDArray[Any] | None,
    model: str,
    condition: str,
    kind: str,
    ids: Sequence[str],
    labels: Sequence[int | None],
    kept: Kept,
) -> pa.Table:
    images = len(shares)
    rows = np.arange(images)
    beyond = [label for label in labels if label is not None and not 0 <= label < shares.shape[1]]
    if beyond:
        raise RecordError(
            "label", beyond[0], f"the outputs are of the classes 0 to {shares.shape[1] - 1}", "correct one of them"
        )
    known = np.array([label is not None for label in labels], dtype=np.bool_)
    label = np.array([0 if label is None else label for label in labels], dtype=np.int32)
    values: dict[str, pa.Array] = {
        "model": pa.array([model] * images, pa.string()),
        "condition": pa.array([condition] * images, pa.string()),
        "kind": pa.array([kind] * images, pa.string()),
        "image_id": pa.array(list(ids), pa.string()),
        "label": pa.array(label, mask=~known),
        "predicted": pa.array(predicted.astype(np.int32), mask=lost),
        "confidence": pa.array(shares[rows, predicted], mask=lost),
        "true_probability": pa.array(shares[rows, label], mask=lost | ~known),
        "margin": pa.nulls(images, pa.float64()) if margin is None else pa.array(margin, mask=lost),
    }
    if kept.probabilities:
        values["probabilities"] = _lists(shares.astype(np.float32), lost)
    if kept.top:
        order = np.argsort(-shares, axis=1, kind="stable")[:, : kept.top]
        values["top_classes"] = _lists(order.astype(np.int32), lost)
        values["top_probabilities"] = _lists(np.take_along_axis(shares, order, axis=1).astype(np.float32), lost)
    if kept.logits and logits is not None:
        values["logits"] = _lists(logits.astype(np.float32), np.zeros(images, dtype=np.bool_))
    return pa.table(values, schema=kept.schema)


def _lists(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> pa.Array:
    """A list a row, from shape (N, K); null where missing."""
    images, width = values.shape
    flat = pa.array(np.ascontiguousarray(values[~missing]).reshape(-1))
    offsets = np.zeros(images + 1, dtype=np.int32)
    np.cumsum(np.where(missing, 0, width), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), flat, mask=pa.array(missing) if missing.any() else None)


def kind_of(condition: str) -> str:
    """The kind that a condition's name tells.

    >>> kind_of("clean"), kind_of("fog/3"), kind_of("screen")
    ('clean', 'corruption', 'other')
    """
    if condition == "clean":
        return "clean"
    return "corruption" if condition.partition("/")[0] in CORRUPTIONS else "other"


def predict(
    model: torch.nn.Module,
    loader: Iterable[Any],
    *,
    name: str,
    condition: str = "clean",
    kind: str | None = None,
    ids: Sequence[str] | None = None,
    device: str = "auto",
    precision: str = "float32",
    kept: Kept | None = None,
) -> pl.DataFrame:
    """Prediction records of a model on a loader of one's own.

    Args:
        model: takes what the loader yields first and gives logits (N, C); it is run in evaluation mode.
        loader: yields (inputs, labels, ids), or (inputs, labels) beside `ids`.
        name, condition: as in the records.
        kind: one of `bounds.records.KINDS`; told by the condition's name if None.
        ids: image ids in the loader's order, which then must not be shuffled.
        device, precision, kept: as for `pairbounds infer`.

    Returns:
        A polars table that `bounds.load_records` reads; pair conditions by giving an image the same id in each.

    Raises:
        PairboundsError: if ids are missing, too few, too many or not unique, the loader shuffles while ids go by
            position, or a label is no class index; None stands for an unknown one.

    >>> import torch
    >>> batches = [(torch.eye(2), [0, 1], ["a", "b"])]
    >>> predict(torch.nn.Identity(), batches, name="net", device="cpu")["predicted"].to_list()
    [0, 1]
    """
    import polars as pl

    for option, value, known in (("kind", kind or kind_of(condition), KINDS), ("precision", precision, PRECISIONS)):
        if value not in known:
            raise PairboundsError(option, value, "unknown", f"choose among {', '.join(known)}")
    if ids is not None and not _in_order(loader):
        raise PairboundsError("ids", None, "go by position, but the loader shuffles", "yield each image's id with it")
    training = model.training
    try:
        tables = list(
            _predicted(Forward(model, chosen_device(device), precision), loader, name, condition, kind, ids, kept)
        )
    finally:
        model.train(training)
    table = pl.DataFrame(pa.concat_tables(tables) if tables else (kept or Kept()).schema.empty_table())
    if ids is not None and len(table) != len(ids):
        raise PairboundsError("ids", len(ids), f"the loader has {len(table)} images", "give one id an image")
    twice = table.filter(pl.col("image_id").is_duplicated())["image_id"]
    if len(twice):
        raise PairboundsError("ids", twice[0], "stands twice", "give every image an id of its own")
    return table


def _in_order(loader: Iterable[Any]) -> bool:
    """Whether nothing is known to shuffle the images of a loader."""
    from torch.utils.data import DataLoader, IterableDataset, SequentialSampler

    if not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset):
        return True
    order = loader.sampler if loader.batch_sampler is None else getattr(loader.batch_sampler, "sampler", None)
    return isinstance(order, SequentialSampler)


def _predicted(
    forward: Forward,
    loader: Iterable[Any],
    name: str,
    condition: str,
    kind: str | None,
    ids: Sequence[str] | None,
    kept: Kept | None,
) -> Iterator[pa.Table]:
    """Records of each batch."""
    done = 0
    for inputs, labels, *own in loader:
        batch = list(own[0]) if own else None if ids is None else list(ids[done : done + len(labels)])
        if batch is None or len(batch) != len(labels):
            raise PairboundsError(
                "ids", None, f"missing for image {done + (len(batch) if batch else 0) + 1} of the loader",
                "give ids=, or yield (inputs, labels, ids)",
            )  # fmt: skip
        yield record_table(
            forward(inputs),
            model=name,
            condition=condition,
            kind=kind or kind_of(condition),
            ids=[str(image) for image in batch],
            labels=[_index(label) for label in labels],
            kept=kept,
        )
        done += len(labels)


def _index(label: Any) -> int | None:
    """A class index: Python's, NumPy's or PyTorch's integer; None stays."""
    try:
        return None if label is None else operator.index(label)
    except TypeError as error:
        raise PairboundsError("label", label, "is no class index", "give whole numbers") from error
