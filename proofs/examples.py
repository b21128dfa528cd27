"""The examples that claims name, and values of a pair of records that several checks use."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.policies import Comparison
from bounds.policy import Policy, preset_cost
from bounds.quantities import QUANTITIES, STATES
from proofs.small_classes import LEVELS, PAIR_COUNTS, Record, SmallClass, state

__all__ = [
    "INFORMED",
    "LOOSE",
    "MACRO",
    "OWN_COST",
    "POLICIES_EXAMPLE",
    "TRANSITIONS",
    "Value",
    "cost_of",
    "own_cost",
    "policy",
    "policy_cost",
    "policy_ends",
    "weights",
]

Value = Callable[[Record, Record], int]
"""What a pair counts."""

TRANSITIONS = tuple(name for name in QUANTITIES if "accepted-error" in name)
"""The accepted-error transitions, by name."""

YES, NO = True, False

INFORMED = (
    (
        SmallClass((Record(0, NO), Record(1, YES)), (Record(1, NO), Record(2, YES))),
        0,
        0,
        (("new-accepted-error", {0, 1}, {0}), ("kept-accepted-error", {0, 1}, {1})),
    ),
    (
        SmallClass((Record(0, NO), Record(1, NO)), (Record(1, NO), Record(2, YES))),
        0,
        0,
        (("rejected-wrong-to-accepted-error", {0, 1}, {1}),),
    ),
)
"""C6's examples: class, k, s, and (quantity, values given k, values given k and s)."""

LOOSE: tuple[tuple[SmallClass, int, int, str, set[int], tuple[Fraction, Fraction]], ...] = (
    (
        SmallClass((Record(1, YES), Record(2, NO), Record(2, NO)), (Record(2, YES), Record(1, YES), Record(0, NO))),
        0,
        1,
        "new-accepted-error",
        {2},
        (Fraction(1), Fraction(2)),
    ),
    (
        SmallClass((Record(1, YES), Record(2, NO), Record(2, NO)), (Record(2, YES), Record(1, YES), Record(0, NO))),
        0,
        1,
        "kept-accepted-error",
        {0},
        (Fraction(0), Fraction(1)),
    ),
    (
        SmallClass((Record(1, NO), Record(0, NO), Record(2, YES)), (Record(2, YES), Record(2, NO), Record(1, YES))),
        0,
        1,
        "kept-changed-accepted-error",
        {0},
        (Fraction(0), Fraction(1, 2)),
    ),
)
"""C7's examples: class, k, s, quantity, attained values, ends of the linear relaxation."""

OWN_COST = (
    SmallClass(tuple(Record(int(i > 1), NO, i) for i in range(4)), tuple(Record(int(i > 1), NO, i) for i in range(4))),
    1,
)
"""C7's example of an arbitrary pair cost: the class, whose records are told apart by their level, and k."""

_FREE = {(0, 0), (1, 1), (2, 2), (3, 3), (0, 2), (1, 3), (2, 1), (3, 0)}


def own_cost(x: Record, y: Record) -> int:
    """C7's pair cost: 0 on the identity and on 1→3, 2→4, 3→2, 4→1, else 1."""
    return int((x.level, y.level) not in _FREE)


POLICIES_EXAMPLE = (
    SmallClass(
        (Record(0, NO, 1), Record(0, NO, 1), Record(1, NO, 2)), (Record(0, NO, 0), Record(1, NO, 0), Record(1, NO, 2))
    ),
    1,
)
"""C9's example: the class, whose `level` is the confidence, and k."""

COST = preset_cost({"lost-acceptance": 1, "new-accepted-error": 2})


def policy_cost(threshold: int) -> Value:
    """1 per lost acceptance and 2 per new accepted error, where a level of `threshold` or more accepts."""

    def cost(x: Record, y: Record) -> int:
        x, y = (r._replace(accepted=r.level >= threshold) for r in (x, y))
        return int(PAIR_COUNTS["lost-acceptance"](x, y)) + 2 * int(PAIR_COUNTS["new-accepted-error"](x, y))

    return cost


def policy(name: str, threshold: int) -> Policy:
    """The policy that accepts confidences of `threshold` eighths or more, at `COST`."""
    return Policy(name, COST, threshold=str(threshold / LEVELS))


def policy_ends(found: Comparison, one: SmallClass) -> list[tuple[Any, Any]]:
    """Ends of the costs and of the differences that the package found, as sums over the images of the class."""
    rows = [(row.lower, row.upper) for row in found.costs] + [(row.lower, row.upper) for row in found.differences]
    return [(low * one.images, high * one.images) for low, high in rows]


def _acceptance_class(n: int, a1: int, a0: int, b1: int, b0: int) -> SmallClass:
    def side(yes: int, no: int) -> tuple[Record, ...]:
        return (Record(0, YES),) * yes + (Record(0, NO),) * no + (Record(1, NO),) * (n - yes - no)

    return SmallClass(side(a1, a0), side(b1, b0))


MACRO = _acceptance_class(4, 2, 1, 0, 3), _acceptance_class(5, 1, 2, 0, 3)
"""C11's classes, whose macro rate given K = 5 a greedy allocation gets wrong."""


def weights(draw: random.Random, additive: int | None = None) -> npt.NDArray[np.int64]:
    """Random weights of shape (5, 2, 2); with `additive` (0 to 3) additive on CC, CW, WC or wrong-wrong (C14)."""
    table = np.array([draw.randint(-5, 5) for _ in range(20)], dtype=np.int64).reshape(5, 2, 2)
    if additive is not None:
        rows, columns = ([draw.randint(-5, 5) for _ in range(2)] for _ in range(2))
        table[additive : additive + 1 if additive < 3 else 5] = np.add.outer(rows, columns)
    return table


def cost_of(table: npt.NDArray[np.int64]) -> Value:
    """What a pair weighs by its state and acceptance."""
    cells = {name: table[row].tolist() for row, name in enumerate(STATES)}
    return lambda x, y: cells[state(x, y)][x.accepted][y.accepted]
