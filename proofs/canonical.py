"""The records of an evaluation as one text, the same whatever file they came from, and its hash (CERTIFICATE.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.evaluation import Evaluation, Side

__all__ = ["records_hash", "records_text"]


def records_text(evaluation: Evaluation) -> str:
    r"""A line with the names, then one a record and side, sorted, each ending in a line feed: see CERTIFICATE.md.

    Args:
        evaluation: with its acceptance, which the text tells.

    >>> from bounds import load_records
    >>> from bounds.demo import RECORDS, example
    >>> with example(RECORDS) as path:
    ...     fog = load_records(path).evaluation(perturbed="fog/3").at_threshold("0.8")
    >>> text = records_text(fog).split("\n")
    >>> text[0].split("\t")
    ['names', '"resnet20"', '"clean"', '"fog/3"']
    >>> text[1].split("\t")[:6]
    ['clean', '"airplane/0000"', '0', '1', '0', '0']
    """
    known = has_acceptance(evaluation)
    classes = np.array([json.dumps(name) for name in evaluation.classes], dtype=object)[evaluation.class_of_row]
    lines: list[str] = []
    for name, side in (("clean", evaluation.clean), ("perturbed", evaluation.perturbed)):
        lines += map("\t".join, zip([name] * len(side), *_columns(evaluation, side, classes, known), strict=True))
    lines.sort()
    names = (evaluation.model, evaluation.clean_condition, evaluation.perturbed_condition)
    return "".join(f"{line}\n" for line in ("\t".join(["names", *map(json.dumps, names)]), *lines))


def has_acceptance(evaluation: Evaluation) -> bool:
    """Whether it is known of both sides what is accepted; of one alone, it is not told."""
    return evaluation.clean.accepted is not None and evaluation.perturbed.accepted is not None


def _columns(
    evaluation: Evaluation, side: Side, classes: npt.NDArray[np.object_], known: bool
) -> Iterable[Iterable[str]]:
    """The fields after the first, each with one text a row."""
    labels = np.array([*(json.dumps(label) for label in evaluation.labels), ""], dtype=object)
    bits = np.array(["0", "1"], dtype=object)
    accepted = bits[side.accepted.astype(np.int64)] if known and side.accepted is not None else ["-"] * len(side)
    return (
        map(json.dumps, side.image_id.to_list()),
        classes,
        bits[side.correct.astype(np.int64)],
        labels[side.predicted],
        accepted,
        _hex(side.confidence, len(side)),
        _hex(side.true_probability, len(side)),
    )


def _hex(values: npt.NDArray[Any] | None, size: int) -> Iterable[str]:
    return ["-"] * size if values is None else map(float.hex, values.astype(np.float64).tolist())


def records_hash(text: str) -> str:
    """The SHA-256 of a canonical text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
