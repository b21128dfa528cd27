"""Risk-coverage bands: the interval of each quantity against clean coverage, over a sweep of thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bounds.coverage import at_coverage, at_every_threshold, coverage_share
from bounds.errors import QuantityError
from bounds.evaluation import Evaluation
from bounds.interval import Interval
from bounds.knowledge import Level, know
from bounds.quantities import Quantity, quantity
from bounds.solve import bound

__all__ = ["COVERAGES", "MOST_THRESHOLDS", "bands"]

COVERAGES = tuple(f"{twentieth * 5 / 100:g}" for twentieth in range(1, 21))
"""0.05, 0.1, ..., 1."""

MOST_THRESHOLDS = 5_000
"""Most distinct thresholds of a sweep over all of them."""


def bands(
    evaluation: Evaluation,
    quantities: Sequence[str | Quantity],
    knowledge: Sequence[str | Level] = (Level.CLASSWISE, Level.FIVE_STATE),
    coverages: Sequence[str] | None = COVERAGES,
    **options: Any,
) -> Iterator[Interval]:
    """The intervals of a sweep: for each coverage, ascending, of each quantity at each level.

    Args:
        evaluation: records with confidences and without a column `accepted`.
        quantities: names or quantities, each of which depends on acceptance.
        knowledge: levels; their counts are read off the true pairing once.
        coverages: decimals; None takes every distinct clean confidence as a threshold, `MOST_THRESHOLDS` at most.
        options: of `bounds.solve.bound`.

    Returns:
        Intervals with `coverage` set, as they are found. Coverages that ties send to one threshold repeat its ends.

    Raises:
        PairboundsError: for coverages, quantities or records that cannot be used.
    """
    asked = [quantity(name) for name in quantities]
    for one in asked:
        if not one.needs_acceptance:
            raise QuantityError(
                "quantity", one.name, "does not depend on acceptance, so coverage cannot move it", "ask for its bounds"
            )
    known = [know(evaluation, level) for level in knowledge]
    if coverages is None:
        sweep = at_every_threshold(evaluation, MOST_THRESHOLDS)
    else:
        sweep = (at_coverage(evaluation, text) for text in sorted(coverages, key=coverage_share))
    return (bound(at, one, level, **options) for at in sweep for one in asked for level in known)
