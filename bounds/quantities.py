"""The quantities, each as integer weights on what a pair of records can be.

A pair (x clean, y perturbed) is in one *cell*: its state (CC, CW, WC, WS, WD; theory, section 1), whether x is
accepted, whether y is. A count is a sum of 5 x 2 x 2 = 20 weights over the pairs; the mean true-class probability
decrease adds p(x) - p'(y) over the retained-correct pairs instead. Denominators are counts of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from bounds.errors import QuantityError

__all__ = [
    "DENOMINATORS",
    "QUANTITIES",
    "STATES",
    "Cells",
    "Quantity",
    "quantity",
]

STATES = ("CC", "CW", "WC", "WS", "WD")
"""Retained correct, lost, recovered, persistent wrong, changed wrong: the first axis of `Cells`."""

Cells = npt.NDArray[np.int64]
"""int64 of shape (5, 2, 2): a weight for (state, accepted clean, accepted perturbed); index 1 means accepted."""


def cells(states: str, clean_accepted: int | None = None, perturbed_accepted: int | None = None) -> Cells:
    """Weight 1 on the named states, optionally for one acceptance bit of a side only.

    >>> int(cells("CC CW").sum()), int(cells("CC", 1, 0).sum())
    (8, 1)
    """
    weights = np.zeros((5, 2, 2), dtype=np.int64)
    for state in states.split():
        clean = slice(None) if clean_accepted is None else clean_accepted
        perturbed = slice(None) if perturbed_accepted is None else perturbed_accepted
        weights[STATES.index(state), clean, perturbed] = 1
    weights.setflags(write=False)
    return weights


_ALL = "CC CW WC WS WD"

DENOMINATORS: Mapping[str, Cells] = MappingProxyType(
    {
        "images": cells(_ALL),
        "clean-correct": cells("CC CW"),
        "retained-correct": cells("CC"),
        "retained-correct-accepted": cells("CC", 1),
        "retained-correct-rejected": cells("CC", 0),
        "clean-accepted-errors": cells("WC WS WD", 1),
        "perturbed-accepted-errors": cells("CW WS WD", None, 1),
    }
)
"""What a rate may be taken over, as weights on the cells; `none` (a plain count or sum) is not among them."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A quantity of a paired evaluation.

    Attributes:
        name: as on the command line.
        title: a few words for tables and pictures.
        cells: the numerator's weights, int64 of shape (5, 2, 2).
        probability: whether p(x) - p'(y) over retained-correct pairs is added to the numerator.
        denominators: names offered, the first being the default.
    """

    name: str
    title: str
    cells: Cells
    denominators: tuple[str, ...]
    probability: bool = False

    @property
    def needs_acceptance(self) -> bool:
        """Whether the numerator depends on acceptance."""
        return bool((self.cells != self.cells[:, :1, :1]).any())

    def denominator(self, name: str | None) -> str:
        """The denominator asked for, or the default.

        Raises:
            QuantityError: if the quantity does not offer it.
        """
        if name is None:
            return self.denominators[0]
        if name not in self.denominators:
            raise QuantityError(
                "denominator", name, f"not offered for {self.name}", f"choose one of {', '.join(self.denominators)}"
            )
        return name

    def unit(self, denominator: str) -> str:
        """One of "fraction", "count", "probability" or "probability sum"."""
        if self.probability:
            return "probability sum" if denominator == "none" else "probability"
        return "count" if denominator == "none" else "fraction"


_TRANSITION = ("images", "clean-accepted-errors", "perturbed-accepted-errors", "none")

QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        q.name: q
        for q in (
            Quantity(
                "lost-acceptance",
                "lost acceptance",
                cells("CC", 1, 0),
                ("retained-correct", "retained-correct-accepted", "images", "none"),
            ),
            Quantity(
                "gained-acceptance",
                "gained acceptance",
                cells("CC", 0, 1),
                ("retained-correct", "retained-correct-rejected", "images", "none"),
            ),
            Quantity(
                "mean-probability-decrease",
                "mean true-class probability decrease",
                cells(""),
                ("retained-correct", "none"),
                probability=True,
            ),
            Quantity("retained-correct", "retained correct", cells("CC"), ("images", "clean-correct", "none")),
            Quantity("lost", "lost", cells("CW"), ("images", "clean-correct", "none")),
            Quantity("recovered", "recovered", cells("WC"), ("images", "none")),
            Quantity("flips", "correctness flips", cells("CW WC"), ("images", "none")),
            Quantity("persistent-wrong", "persistent wrong", cells("WS"), ("images", "none")),
            Quantity("changed-wrong", "changed wrong", cells("WD"), ("images", "none")),
            Quantity(
                "new-accepted-error",
                "new accepted errors",
                cells("CW", None, 1) + cells("WS WD", 0, 1),
                _TRANSITION,
            ),
            Quantity(
                "resolved-accepted-error",
                "resolved accepted errors",
                cells("WC", 1) + cells("WS WD", 1, 0),
                _TRANSITION,
            ),
            Quantity("kept-accepted-error", "kept accepted errors", cells("WS WD", 1, 1), _TRANSITION),
            Quantity(
                "kept-persistent-accepted-error",
                "kept, persistent accepted errors",
                cells("WS", 1, 1),
                _TRANSITION,
            ),
            Quantity("kept-changed-accepted-error", "kept, changed accepted errors", cells("WD", 1, 1), _TRANSITION),
            Quantity(
                "rejected-wrong-to-accepted-error",
                "rejected wrong to accepted error",
                cells("WS WD", 0, 1),
                _TRANSITION,
            ),
            Quantity("correct-to-accepted-error", "correct to accepted error", cells("CW", None, 1), _TRANSITION),
            Quantity(
                "accepted-correct-to-accepted-error",
                "accepted correct to accepted error",
                cells("CW", 1, 1),
                _TRANSITION,
            ),
        )
    }
)
"""The named quantities of the command line."""


def quantity(name: str | Quantity) -> Quantity:
    """The quantity of that name.

    Raises:
        QuantityError: if there is none.
    """
    if isinstance(name, Quantity):
        return name
    if name not in QUANTITIES:
        raise QuantityError("quantity", name, "unknown", f"choose among {', '.join(QUANTITIES)}")
    return QUANTITIES[name]
