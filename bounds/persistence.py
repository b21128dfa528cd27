"""What persistence buys: the interval given the retained-correct counts beside the one given persistent counts too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bounds.evaluation import Evaluation
from bounds.exact import exact_text
from bounds.interval import Interval
from bounds.knowledge import Level, know
from bounds.quantities import STATES, Quantity, quantity
from bounds.solve import bound

__all__ = ["Gain", "persistence_gain"]


@dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """One quantity at both levels of knowledge.

    Attributes:
        without: the interval given the retained-correct count of each class.
        given: the interval given the persistent-wrong counts too.
        retained_only: whether the quantity lives on the retained-correct pairs, so that no persistent count moves its
            interval (claim correct_correct_suffices, C2).
    """

    without: Interval
    given: Interval
    retained_only: bool

    @property
    def removed(self) -> Fraction | None:
        """The share of the width that the persistent counts remove; None where undefined or nothing was left to it.

        Exact where both intervals are sharp; of outer intervals it is the share of what was printed.
        """
        without, given = (_width(interval) for interval in (self.without, self.given))
        return None if not without or given is None else 1 - given / without

    @property
    def reason(self) -> str | None:
        """Why `removed` is None, or must be 0; else None."""
        if self.without.undefined is not None:
            return f"undefined: {self.without.undefined}"
        if not _width(self.without):
            return "the retained-correct counts fix it"
        return "retained-correct pairs only: persistence removes nothing (C2)" if self.retained_only else None

    def to_dict(self) -> dict[str, Any]:
        """The object that `pairbounds persistence --json` prints."""
        told = self.without.to_dict()
        keys = ("lower", "upper", "lower_exact", "upper_exact", "sharp", "method")
        known = ("quantity", "model", "clean", "perturbed", "threshold", "coverage", "average", "denominator", "unit")
        removed = self.removed
        return {key: told[key] for key in known if key in told} | {
            "correct_correct": {key: told[key] for key in keys},
            "five_state": {key: value for key, value in self.given.to_dict().items() if key in keys},
            "removed": None if removed is None else float(removed),
            "removed_exact": exact_text(removed),
            "reason": self.reason,
            "paired": told["paired"],
            "paired_exact": told["paired_exact"],
        }


def persistence_gain(evaluation: Evaluation, quantities: Sequence[str | Quantity], **options: Any) -> list[Gain]:
    """What the persistent-wrong counts of the true pairing remove from the intervals given retained-correct counts.

    Args:
        evaluation: paired records, with acceptance where a quantity needs it.
        quantities: names or quantities.
        options: of `bounds.solve.bound`, for both levels.

    Returns:
        One `Gain` a quantity, in order.

    Raises:
        PairboundsError: as `bounds.solve.bound`, and where the records are not paired.

    Claims: persistence_informs_errors (C6), correct_correct_suffices (C2).
    """
    levels = [know(evaluation, level) for level in (Level.CLASSWISE, Level.FIVE_STATE)]
    found = []
    for one in map(quantity, quantities):
        without, given = (bound(evaluation, one, level, **options) for level in levels)
        retained_only = not one.cells[[STATES.index(state) for state in STATES if state != "CC"]].any()
        found.append(Gain(without, given, retained_only))
    return found


def _width(interval: Interval) -> Fraction | None:
    if interval.lower is None or interval.upper is None:
        return None
    return Fraction(interval.upper) - Fraction(interval.lower)
