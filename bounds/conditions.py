"""Averages over conditions, such as the 15 common corruptions at one severity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from bounds.aggregate import best_mean
from bounds.errors import QuantityError
from bounds.interval import Averaged, Denominator, End, Interval
from bounds.records import COMMON_CORRUPTIONS

__all__ = ["GROUPS", "average_over_conditions"]

SAME = ("quantity", "knowledge", "average", "model", "clean", "threshold", "coverage", "class_name", "unit")
"""What the intervals of one average have in common, besides the denominator's name."""

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        f"corruptions/{severity}": tuple(f"{corruption}/{severity}" for corruption in COMMON_CORRUPTIONS)
        for severity in range(1, 6)
    }
)
"""Short names: `corruptions/3` stands for the 15 common corruptions at severity 3."""

_WEAKEST = ("paired", "closed form", "dual", "enumeration", "branch and bound")


def average_over_conditions(intervals: Sequence[Interval], name: str) -> Interval:
    """The interval of the mean over conditions, each of whose correspondences is chosen freely of the others.

    Args:
        intervals: one a condition, alike in all else; of paired evaluations, or all of unpaired ones.
        name: what the average is called, in place of a condition.

    Returns:
        The mean over the conditions in which the quantity is defined, as a macro average is over classes: a condition
        undefined for every correspondence is left out and listed; one that some correspondences leave undefined is
        left out by those. The ends are attained where those of the conditions are. A true value is the mean of the
        conditions' true values.

    Raises:
        QuantityError: if there is no interval, a condition comes twice, or the intervals differ in something else.

    Source: theory, section 1 (macro), with conditions in the place of classes. That the correspondences of different
    conditions are independent is assumed; under one that is shared the interval is outer.
    """
    if not intervals:
        raise QuantityError("average", name, "is over no condition", "name at least one")
    first = intervals[0]
    for interval in intervals[1:]:
        for field in SAME:
            if getattr(interval, field) != getattr(first, field):
                told = f"{getattr(first, field)} and {getattr(interval, field)}"
                raise QuantityError(
                    f"average {name}, {field}", told, "differ between conditions", "average what is alike in all else"
                )
        if interval.denominator.name != first.denominator.name:
            raise QuantityError("average", name, "denominators differ between conditions", "ask for one of them")
    conditions = [interval.perturbed for interval in intervals]
    if len(set(conditions)) < len(conditions):
        raise QuantityError("average", name, "a condition comes twice", "name each once")
    members = [interval for interval in intervals if interval.undefined is None]
    result = replace(
        first,
        perturbed=name,
        denominator=Denominator(first.denominator.name, None, None),
        sharp=all(member.sharp for member in members),
        may_be_undefined=all(interval.may_be_undefined for interval in intervals),
        undefined=None if members else first.undefined,
        method=", ".join(dict.fromkeys(interval.method for interval in members or intervals)),
        backend=next((member.backend for member in members if member.backend is not None), None),
        images=sum(interval.images for interval in intervals),
        classes=max(interval.classes for interval in intervals),
        unmatched=(sum(i.unmatched[0] for i in intervals), sum(i.unmatched[1] for i in intervals)),
        unusable=sum(interval.unusable for interval in intervals),
        averaged=Averaged(
            tuple(member.perturbed for member in members),
            tuple(interval.perturbed for interval in intervals if interval.undefined is not None),
        ),
    )
    if not members:
        return result
    low, high = (_end(members, upper) for upper in (False, True))
    errors = [member.error_bound for member in members]
    rounding = 2.0**-53 * max(abs(low.number or 0), abs(high.number or 0)) if any(errors) else 0.0
    return replace(result, low=low, high=high, paired=_paired(members), error_bound=max(errors) + rounding)


def _end(members: Sequence[Interval], upper: bool) -> End:
    """The mean of the ends, over the choice of conditions that makes it least or greatest."""
    sign = 1 if upper else -1
    ends = [member.upper if upper else member.lower for member in members]
    rates = [None if end is None else sign * Fraction(end) for end in ends]
    droppable = np.array([member.may_be_undefined for member in members])
    choice = best_mean(rates, droppable, np.zeros(len(members), dtype=np.int64))
    value = sign * choice.mean
    if not all(isinstance(end, Fraction) for end in ends):
        return End(None, float(value))
    proofs = {(member.high if upper else member.low).proof for member in members}
    return End(value, float(value), next(proof for proof in reversed(_WEAKEST) if proof in proofs))


def _paired(members: Sequence[Interval]) -> Fraction | float | None:
    """The mean of the true values; conditions in which the true pairing leaves none are left out."""
    values = [member.paired for member in members if member.paired is not None]
    if not values:
        return None
    mean = sum((Fraction(value) for value in values), Fraction(0)) / len(values)
    return mean if all(isinstance(value, Fraction) for value in values) else float(mean)
