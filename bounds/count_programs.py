"""Programs over the counts of an evaluation's pairs, for exact answers whatever else is known (`bounds.table_solver`).

Every table of these programs is a correspondence, and every correspondence a table: of pairs by correctness and
acceptance, whatever has the margins can be laid out; where persistent-wrong pairs are told from changed ones, it is the
compact program (`bounds.compact_program`).

Claim: compact_program (C10).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bounds.compact_program import structure_of
from bounds.correspondences import states
from bounds.evaluation import Evaluation
from bounds.knowledge import Knowledge, Level
from bounds.program import Ints
from bounds.quantities import STATES, Cells
from bounds.table_program import Row, TableProgram, Vector

__all__ = ["CountProgram", "by_block", "by_label", "tells_persistent", "true_counts"]

WS, WD = STATES.index("WS"), STATES.index("WD")


@dataclass(frozen=True, eq=False)
class CountProgram:
    """A program whose variables count pairs.

    Attributes:
        program: the margins of both sides.
        cell: int64, what each variable counts: `20 * class + 4 * state + 2 * clean accepted + perturbed accepted`, -1
            for nothing.
    """

    program: TableProgram
    cell: Ints

    def form(self, weights: Cells, of_class: int | None = None) -> Vector:
        """The coefficients of a sum of cell weights, over all classes or one."""
        values = np.where(self.cell < 0, 0, weights.ravel()[self.cell % 20])
        if of_class is not None:
            values = np.where(self.cell // 20 == of_class, values, 0)
        used = np.flatnonzero(values)
        return dict(zip(used.tolist(), values[used].tolist(), strict=True))


def tells_persistent(weights: Cells) -> bool:
    """Whether weights differ between persistent-wrong and changed-wrong pairs.

    >>> from bounds.quantities import QUANTITIES
    >>> [tells_persistent(QUANTITIES[name].cells) for name in ("flips", "changed-wrong")]
    [False, True]
    """
    return bool((weights[WS] != weights[WD]).any())


def acceptance_bits(evaluation: Evaluation) -> tuple[Ints, Ints]:
    """int64 of shape (N,) for each side: whether a record is accepted; 0 where the records do not tell."""
    zeros = np.zeros(evaluation.images, dtype=np.int64)
    clean, perturbed = evaluation.clean.accepted, evaluation.perturbed.accepted
    if clean is None or perturbed is None:
        return zeros, zeros
    return clean.astype(np.int64), perturbed.astype(np.int64)


def true_counts(evaluation: Evaluation) -> Ints:
    """int64 of shape (C, 5, 2, 2): the pairs of each class by state and acceptance, as the records are paired."""
    of_pair = states(evaluation, np.arange(evaluation.images, dtype=np.int64))
    found = np.zeros((len(evaluation.classes), len(STATES), 2, 2), dtype=np.int64)
    np.add.at(found, (evaluation.class_of_row, of_pair, *acceptance_bits(evaluation)), 1)
    return found


def by_block(evaluation: Evaluation) -> CountProgram:
    """Pairs by correctness and acceptance of both sides; a variable of pairs wrong twice stands for both states."""
    classes = evaluation.class_of_row
    clean, perturbed = acceptance_bits(evaluation)
    sides = ((evaluation.clean.correct, clean), (evaluation.perturbed.correct, perturbed))
    rows = []
    cell = [
        20 * c + 4 * state + bits
        for c in range(len(evaluation.classes))
        for state in range(len(STATES))
        for bits in range(4)
        if state != WS
    ]
    # Correct on the clean side, accepted there; correct on the perturbed side, accepted there.
    place = np.array(cell, dtype=np.int64)
    told = ((place % 20 < 8, place // 2 % 2), (np.isin(place % 20 // 4, [0, 2]), place % 2))
    for (correct, accepted), (of_pair, bit) in zip(sides, told, strict=True):
        sizes = np.zeros((len(evaluation.classes), 2, 2), dtype=np.int64)
        np.add.at(sizes, (classes, correct.astype(np.int64), accepted), 1)
        for c, right, a in np.ndindex(sizes.shape):
            inside = np.flatnonzero((place // 20 == c) & (of_pair == right) & (bit == a))
            size = int(sizes[c, right, a])
            rows.append(Row("margins", dict.fromkeys(inside.tolist(), 1), size, size))
    return CountProgram(TableProgram(_names(len(cell)), tuple(rows)), place)


def by_label(evaluation: Evaluation) -> CountProgram:
    """The compact program: pairs by state and acceptance, wrong ones by label too."""
    seen = evaluation.clean.accepted is not None and evaluation.perturbed.accepted is not None
    structure = structure_of(evaluation, Knowledge(Level.MARGINALS), 2 if seen else 1, *acceptance_bits(evaluation))
    conditions = structure.conditions
    entries: list[Vector] = [{} for _ in range(len(conditions.lower))]
    columns = (conditions.row, conditions.variable, conditions.coefficient)
    for row, variable, coefficient in zip(*(column.tolist() for column in columns), strict=True):
        entries[row][variable] = coefficient
    sides = zip(entries, conditions.lower.tolist(), conditions.upper.tolist(), strict=True)
    rows = tuple(Row("margins", *row) for row in sides)
    cell = structure.cell if seen else np.where(structure.cell < 0, -1, 4 * structure.cell)
    return CountProgram(TableProgram(_names(len(cell)), rows), cell)


def _names(size: int) -> tuple[str, ...]:
    return tuple(f"pairs {i}" for i in range(size))
