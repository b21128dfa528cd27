"""An interval of one's own making, for tests of what shows intervals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from bounds.interval import Denominator, End, Interval

SAMPLE = Interval(
    quantity="lost-acceptance",
    knowledge="correct-correct",
    denominator=Denominator("retained-correct", 300, 300),
    average="micro",
    model="resnet20",
    clean="clean",
    perturbed="fog/3",
    threshold="0.8",
    class_name=None,
    unit="fraction",
    low=End(Fraction(1, 3), 1 / 3, "closed form"),
    high=End(Fraction(2, 3), 2 / 3, "closed form"),
    sharp=True,
    may_be_undefined=False,
    undefined=None,
    paired=Fraction(1, 2),
    method="closed-form",
    backend=None,
    error_bound=0.0,
    images=2000,
    classes=10,
    unmatched=(0, 0),
    unusable=0,
)


def interval(
    lower: Fraction | None = Fraction(1, 3), upper: Fraction | None = Fraction(2, 3), **changes: Any
) -> Interval:
    """`SAMPLE` with other ends (None where undefined) and other fields."""

    def end(value: Fraction | None) -> End:
        return End(value, None if value is None else float(value), "closed form")

    return replace(SAMPLE, low=end(lower), high=end(upper), **changes)
