"""Thresholds chosen by clean coverage: the share of the clean images that they accept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from bounds.errors import QuantityError, RecordError
from bounds.evaluation import Coverage, Evaluation
from bounds.exact import exact_number

__all__ = ["at_coverage", "at_every_threshold", "coverage_share", "threshold_for_coverage"]


def coverage_share(coverage: str | float | Decimal) -> Fraction:
    """The share that a decimal means, exactly.

    Raises:
        QuantityError: if it is not a decimal in (0, 1].

    >>> coverage_share("0.8")
    Fraction(4, 5)
    """
    text = str(coverage).strip()
    way_out = "give a decimal such as 0.8"
    try:
        share = exact_number(coverage)
    except ValueError as error:
        raise QuantityError("coverage", text, str(error), way_out) from None
    if not 0 < share <= 1:
        raise QuantityError("coverage", text, "a share of the clean images lies in (0, 1]", way_out)
    return share


def threshold_for_coverage(evaluation: Evaluation, coverage: str | float | Decimal) -> str:
    """The largest clean confidence that accepts at least that share of the clean images.

    Args:
        evaluation: N images; those that were left out as unmatched or unusable do not count.
        coverage: a decimal c in (0, 1]; at least ceil(c * N) images are accepted, more where confidences tie.

    Returns:
        The shortest decimal that rounds to this confidence in the dtype of the clean side.

    Raises:
        QuantityError: if the coverage is no such decimal, there is no image, or the records carry `accepted`.
        RecordError: if the records have no confidences.
    """
    share = coverage_share(coverage)
    descending = _descending(evaluation, str(coverage).strip())
    needed = share * len(descending)
    return _decimal(descending[-(-needed.numerator // needed.denominator) - 1])


def at_coverage(evaluation: Evaluation, coverage: str | float | Decimal) -> Evaluation:
    """The evaluation at `threshold_for_coverage`, applied to both sides; `threshold.coverage` says what it achieves.

    Raises:
        PairboundsError: as `threshold_for_coverage`.
    """
    return _at(evaluation, threshold_for_coverage(evaluation, coverage), str(coverage).strip())


def at_every_threshold(evaluation: Evaluation, limit: int) -> Iterator[Evaluation]:
    """The evaluation at each distinct clean confidence, coverage ascending; `coverage.asked` is None.

    Raises:
        QuantityError: if there are more than `limit`, or no image, or the records carry `accepted`.
        RecordError: if the records have no confidences.
    """
    values = np.unique(_descending(evaluation, "all"))[::-1]
    if len(values) > limit:
        raise QuantityError(
            "coverage", "all", f"{len(values)} distinct clean confidences, more than {limit}", "name coverages instead"
        )
    return (_at(evaluation, _decimal(value), None) for value in values)


def _descending(evaluation: Evaluation, asked: str) -> np.ndarray[tuple[int], np.dtype[np.floating]]:
    """The clean confidences, largest first; at least one."""
    if evaluation.threshold is None and evaluation.clean.accepted is not None:
        raise QuantityError(
            "coverage", asked, "the records already carry a column 'accepted'", "give one of the two, not both"
        )
    confidence = evaluation.clean.confidence
    if confidence is None:
        raise RecordError("confidence", None, "the clean records have no such column", "add it, or a column 'accepted'")
    if not len(confidence):
        raise QuantityError(
            "coverage", asked, "there is no image whose share it could be", "give records of both sides"
        )
    return np.sort(confidence)[::-1]


def _decimal(value: np.floating) -> str:
    return np.format_float_positional(value, unique=True, trim="-")


def _at(evaluation: Evaluation, threshold: str, asked: str | None) -> Evaluation:
    at = evaluation.at_threshold(threshold)
    assert at.threshold is not None
    assert at.clean.accepted is not None
    achieved = Fraction(int(at.clean.accepted.sum()), at.images)
    return replace(at, threshold=replace(at.threshold, coverage=Coverage(asked, achieved)))
