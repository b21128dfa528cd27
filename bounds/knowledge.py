"""What is known of the correspondence, and which counts are feasible at all.

From least to most: `marginals` (nothing), `total-correct-correct` (the sum over classes of retained-correct images),
`correct-correct` (that count for each class), `five-state` (with the persistent-wrong count, the whole table of states
of each class) and `paired` (the correspondence itself).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

__all__ = ["Knowledge", "Level"]

Ints = npt.NDArray[np.int64]


class Level(StrEnum):
    """The five levels of knowledge, ascending."""

    MARGINALS = "marginals"
    TOTAL = "total-correct-correct"
    CLASSWISE = "correct-correct"
    FIVE_STATE = "five-state"
    PAIRED = "paired"


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """A level with its counts.

    Attributes:
        level: the level.
        total: K, the retained-correct images of all classes; for `total-correct-correct` only.
        retained_correct: k, int64 of shape (C,); for `correct-correct` and `five-state`.
        persistent: s, int64 of shape (C,); for `five-state`.
    """

    level: Level
    total: int | None = None
    retained_correct: Ints | None = None
    persistent: Ints | None = None
