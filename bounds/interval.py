"""The result: the two ends of a quantity over the correspondences that the knowledge leaves, with their evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.evaluation import Coverage
from bounds.exact import exact_text

__all__ = ["INDEPENDENT", "Averaged", "Denominator", "End", "Interval"]

INDEPENDENT = "independent across conditions"
"""What an average over conditions takes of their correspondences."""


def _plain(count: int | Fraction | None) -> int | float | None:
    return float(count) if isinstance(count, Fraction) else count


@dataclass(frozen=True, slots=True)
class Averaged:
    """The conditions behind an average over conditions.

    Attributes:
        conditions: those averaged.
        left_out: those in which the quantity is undefined for every correspondence.
    """

    conditions: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Denominator:
    """What a rate is taken over, and the range of that number over the correspondences.

    Attributes:
        name: as in `bounds.quantities`.
        lower, upper: least and greatest denominator (summed over classes); None for a count. Fractions for a function
            of one's own that gives such.
    """

    name: str
    lower: int | Fraction | None
    upper: int | Fraction | None


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """One end of an interval.

    Attributes:
        value: exact, or None where only a float is known (or the quantity is undefined).
        number: the nearest float64 to `value`, or the float path's own result.
        proof: why no correspondence goes beyond `value`: "closed form", "dual" (exact multipliers), "enumeration",
            "branch and bound" (the solver's word) or "paired"; None for the float path, whose error bound speaks.
        match: a correspondence that attains `value`, as in `bounds.evaluation`; None unless asked for, or unless
            none is known (an outer end).
    """

    value: Fraction | None
    number: float | None
    proof: str | None = None
    match: npt.NDArray[np.int64] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """What the two sides and the knowledge say of one quantity, for one class or for all of them together.

    Attributes:
        quantity, knowledge, denominator, average: what was asked; `average` is None for a single class.
        model, clean, perturbed, threshold: of which records; `threshold` as typed, None if none was used.
        class_name: the class, or None where classes are pooled.
        unit: "fraction", "count", "probability" or "probability sum".
        low, high: the ends; both values are None where the quantity is undefined for every correspondence.
        sharp: whether both ends are attained and none is beaten; False marks an outer interval.
        may_be_undefined: whether some correspondence leaves the quantity without a denominator.
        undefined: the reason where every correspondence does, else None.
        paired: the value under the true pairing, a float where only that is known; None if unknown or undefined.
        method, backend: what decided; `backend` is None unless a solver ran.
        error_bound: for the float path, no end is further than this from the exact one; 0.0 for exact ends.
        images, classes: how many are pooled here.
        unmatched, unusable: rows left out, as in `bounds.evaluation.Evaluation`.
        coverage: the clean coverage that chose the threshold, if one did.
        averaged: for an average over conditions, which; `perturbed` is then its name, `images` adds up over them,
            and the denominator's range is None.
    """

    quantity: str
    knowledge: str
    denominator: Denominator
    average: str | None
    model: str
    clean: str
    perturbed: str
    threshold: str | None
    class_name: str | int | None
    unit: str
    low: End
    high: End
    sharp: bool
    may_be_undefined: bool
    undefined: str | None
    paired: Fraction | float | None
    method: str
    backend: str | None
    error_bound: float
    images: int
    classes: int
    unmatched: tuple[int, int]
    unusable: int
    coverage: Coverage | None = None
    averaged: Averaged | None = None

    @property
    def lower(self) -> Fraction | float | None:
        """The lower end: exact where the method is, else a float; None where undefined."""
        return self.low.number if self.low.value is None else self.low.value

    @property
    def upper(self) -> Fraction | float | None:
        """The upper end: exact where the method is, else a float; None where undefined."""
        return self.high.number if self.high.value is None else self.high.value

    def without_matches(self) -> Interval:
        """The same without correspondences, which are as large as the records."""
        return replace(self, low=replace(self.low, match=None), high=replace(self.high, match=None))

    def to_dict(self) -> dict[str, Any]:
        """The object that `pairbounds bounds --json` prints: plain strings, integers, floats, booleans and None."""
        more: dict[str, Any] = {}
        if self.coverage is not None:
            more["coverage"] = self.coverage.to_dict()
        if self.averaged is not None:
            more["assumption"] = INDEPENDENT
            more["conditions"] = list(self.averaged.conditions)
            more["left_out"] = list(self.averaged.left_out)
        return {
            "quantity": self.quantity,
            "knowledge": self.knowledge,
            "model": self.model,
            "clean": self.clean,
            "perturbed": self.perturbed,
            "threshold": self.threshold,
            "average": self.average,
            "class": self.class_name,
            "denominator": {
                "name": self.denominator.name,
                "lower": _plain(self.denominator.lower),
                "upper": _plain(self.denominator.upper),
            },
            "unit": self.unit,
            "lower": self.low.number,
            "upper": self.high.number,
            "lower_exact": exact_text(self.low.value),
            "upper_exact": exact_text(self.high.value),
            "sharp": self.sharp,
            "may_be_undefined": self.may_be_undefined,
            "undefined": self.undefined,
            "paired": None if self.paired is None else float(self.paired),
            "paired_exact": exact_text(self.paired),
            "method": self.method,
            "backend": self.backend,
            "proof": {"lower": self.low.proof, "upper": self.high.proof},
            "error_bound": self.error_bound,
            "images": self.images,
            "classes": self.classes,
            "unmatched": {"clean": self.unmatched[0], "perturbed": self.unmatched[1]},
            "unusable": self.unusable,
            **more,
        }
