"""The compact program of each class, as arrays, and the way from its integer points back to correspondences.

What a pair adds depends on its state and on the acceptance *patterns* (a clean, b perturbed) of its records alone. So
of each class it is enough to know, for every (a, b), the retained-correct pairs x, the lost ones y, the recovered ones
z and the changed-wrong ones R, and for every label l that is wrong on both sides the persistent pairs d_l, the changed
pairs r_l that leave it and those q_l that enter it. With A, B the correct and W, V the wrong records of a pattern (w_l,
v_l those of label l; w_o those of labels that are wrong on the clean side alone, v_o on the perturbed side alone):

.. math::
    \\sum_b (x + y)_{ab} = A_a,\\quad \\sum_b (z + R + \\sum_l d_l)_{ab} = W_a,\\quad
    \\sum_a (x + z)_{ab} = B_b,\\quad \\sum_a (y + R + \\sum_l d_l)_{ab} = V_b,\\\\
    \\sum_b (d_l + r_l)_{ab} \\le w_{la},\\quad 0 \\le (R - \\sum_l r_l)_{ab},\\quad
    \\sum_b (R - \\sum_l r_l)_{ab} \\le w_{oa},\\quad \\text{the same of } q \\text{ and } v,\\\\
    (r_l + q_l)_{ab} \\le R_{ab},\\quad \\sum x = k,\\quad \\sum_l d_l = s.

An integer point is a correspondence: with r_l + q_l <= R the changed pairs of (a, b) can be laid out in label order on
both sides and one side turned by max_l (r_1 + ... + r_l - q_1 - ... - q_{l-1}) places, and no label meets itself.

Claim: compact_program (C10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.evaluation import Evaluation
from bounds.knowledge import Knowledge, Level
from bounds.program import COST_BITS, Constraints, Floats, Ints
from bounds.quantities import STATES

__all__ = ["Conditions", "Groups", "LinearProgram", "Structure", "expand", "structure_of"]


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram:
    """A linear or integer program of independent blocks, as the backends take it.

    Attributes:
        objective: integers, int64 or Python's, one a variable; maximised.
        block: int64, the block of each variable; costs are scaled block by block.
        constraints: all conditions but x >= 0.
        integral: whether x must be integers.
    """

    objective: npt.NDArray[Any]
    block: Ints
    constraints: Constraints
    integral: bool

    @property
    def variables(self) -> int:
        """How many variables there are."""
        return len(self.objective)

    @property
    def exponents(self) -> Ints:
        """int64, one a block: its costs are divided by 2 to this power, so that the largest has `COST_BITS` bits."""
        largest = np.zeros(int(self.block.max(initial=-1)) + 1, dtype=self.objective.dtype)
        np.maximum.at(largest, self.block, np.abs(self.objective))
        return np.array([int(size).bit_length() - COST_BITS for size in largest.tolist()], dtype=np.int64)

    @property
    def costs(self) -> Floats:
        """float64 of shape (variables,): what solvers see, each rounded once."""
        exponents = self.exponents[self.block]
        shifts = np.maximum(0, exponents - 500)
        kept = self.objective >> shifts if shifts.any() else self.objective
        return np.ldexp(kept.astype(np.float64), shifts - exponents)


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """lower <= M x <= upper, all int64: M as (row, variable, coefficient), rows ascending."""

    row: Ints
    variable: Ints
    coefficient: Ints
    lower: Ints
    upper: Ints

    @property
    def constraints(self) -> Constraints:
        """For a solver."""
        starts = np.searchsorted(self.row, np.arange(len(self.lower) + 1)).astype(np.int64)
        numbers = (self.coefficient, self.lower, self.upper)
        return Constraints(starts, self.variable, *(values.astype(np.float64) for values in numbers))

    def violated(self, x: Ints) -> npt.NDArray[np.bool_]:
        """Which rows an integer point breaks; exact."""
        sums = np.zeros(len(self.lower), dtype=np.int64)
        np.add.at(sums, self.row, self.coefficient * x[self.variable])
        return (sums < self.lower) | (sums > self.upper)

    def part(self, rows: npt.NDArray[np.bool_], variables: npt.NDArray[np.bool_]) -> Conditions:
        """Some rows on some variables, numbered anew."""
        inside = rows[self.row]
        return Conditions(
            (np.cumsum(rows) - 1)[self.row[inside]],
            (np.cumsum(variables) - 1)[self.variable[inside]],
            self.coefficient[inside],
            self.lower[rows],
            self.upper[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """The program of every class without its objective, and the way back to the records.

    Dense variables are numbered family by family: x, y, z, R of shape (C, P, P) each, then d, r, q of shape (E, P, P)
    each, where an *entry* is a label of a class that is wrong on both sides. Those that margins make zero are left out.

    Attributes:
        patterns: P.
        clean, perturbed: how the records of each side are grouped.
        entries: int64 of shape (C + 1,); the entries of class c are `entries[c]:entries[c + 1]`.
        dense: int64, the dense numbers of the variables.
        dense_size: how many dense numbers there are.
        upper: int64, no feasible point, integral or not, has more; one a variable.
        block, row_block: int64, the block of each variable and of each row; classes, or 0 where a total couples them.
        blocks: how many blocks there are.
        images: int64, the images of each block.
        cell: int64, which of the C * 5 * P * P weights is the cost of a variable, -1 for none.
        conditions: the rows.
        solved: what was solved, by objective; kept by `bounds.compact`.
    """

    patterns: int
    clean: Groups
    perturbed: Groups
    entries: Ints
    dense: Ints
    dense_size: int
    upper: Ints
    block: Ints
    row_block: Ints
    blocks: int
    images: Ints
    cell: Ints
    conditions: Conditions
    solved: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The records of one side by class, correctness, label and pattern.

    Attributes:
        pattern: int64 of shape (N,), the pattern of each row.
        order: int64 of shape (N,), rows sorted by group: correct ones by (class, pattern), then wrong ones of entries
            by (entry, pattern), then the other wrong ones by (class, pattern).
        correct, entry, other: int64 of shapes (C, P), (E, P), (C, P), group sizes.
        wrong: int64 of shape (C, P), entries and others together.
    """

    pattern: Ints
    order: Ints
    correct: Ints
    entry: Ints
    other: Ints
    wrong: Ints


def structure_of(
    evaluation: Evaluation, knowledge: Knowledge, patterns: int, clean_pattern: Ints, perturbed_pattern: Ints
) -> Structure:
    """The compact programs of an evaluation's classes.

    Args:
        knowledge: every level but `paired`.
        patterns: P; clean_pattern, perturbed_pattern: int64 of shape (N,), values in 0..P-1.
    """
    classes, labels, p = len(evaluation.classes), max(1, len(evaluation.labels)), patterns
    of_row, images = evaluation.class_of_row, np.diff(evaluation.starts)
    sides = (evaluation.clean, evaluation.perturbed)
    keys = [of_row * labels + side.predicted for side in sides]
    common = np.intersect1d(keys[0][~sides[0].correct], keys[1][~sides[1].correct])
    owner = common // labels
    x, y = (
        _groups(of_row, key, ~side.correct, pattern, common, classes, p)
        for key, side, pattern in zip(keys, sides, (clean_pattern, perturbed_pattern), strict=True)
    )
    dense = np.arange((4 * classes + 3 * len(owner)) * p * p, dtype=np.int64)
    family = _families(dense, classes, p)
    upper = _upper(x, y, owner)
    rows = _Rows(upper > 0)
    _margins(rows, family, x, y, owner, images)
    each = np.arange(classes, dtype=np.int64)
    cc, stay = family["cc"], family["stay"]
    if knowledge.retained_correct is not None:
        rows.add(knowledge.retained_correct, knowledge.retained_correct, each, (each[:, None, None], cc, 1))
    if knowledge.persistent is not None:
        rows.add(knowledge.persistent, knowledge.persistent, each, (owner[:, None, None], stay, 1))
    if knowledge.total is not None:
        rows.add(np.array([knowledge.total]), knowledge.total, each[:1] * 0, (np.zeros(1, dtype=np.int64), cc, 1))
    conditions, row_class = rows.conditions()
    coupled = knowledge.level is Level.TOTAL
    kept = np.flatnonzero(upper > 0)
    class_of = np.concatenate([np.tile(np.repeat(each, p * p), 4), np.tile(np.repeat(owner, p * p), 3)])
    states = np.concatenate(
        [
            np.repeat([STATES.index(state) for state in ("CC", "CW", "WC", "WD")], classes * p * p),
            np.repeat(STATES.index("WS"), len(owner) * p * p),
            np.full(2 * len(owner) * p * p, -1),
        ]
    )
    cell = np.where(states < 0, -1, (class_of * 5 + states) * p * p + dense % (p * p))
    return Structure(
        patterns=p,
        clean=x,
        perturbed=y,
        entries=np.searchsorted(owner, np.arange(classes + 1)).astype(np.int64),
        dense=kept,
        dense_size=len(dense),
        upper=upper[kept],
        block=class_of[kept] * (not coupled),
        row_block=row_class * (not coupled),
        blocks=1 if coupled else classes,
        images=images.sum(keepdims=True) if coupled else images,
        cell=cell[kept],
        conditions=conditions,
    )


def _groups(
    of_row: Ints, key: Ints, wrong: npt.NDArray[np.bool_], pattern: Ints, common: Ints, classes: int, p: int
) -> Groups:
    place = np.searchsorted(common, key)
    shared = wrong & (np.append(common, -1)[place] == key)
    first = np.where(shared, classes + place, np.where(wrong, classes + len(common) + of_row, of_row))
    group = first * p + pattern
    sizes = np.bincount(group, minlength=(2 * classes + len(common)) * p).astype(np.int64).reshape(-1, p)
    correct, entry, other = np.split(sizes, [classes, classes + len(common)])
    total = np.bincount(of_row[wrong] * p + pattern[wrong], minlength=classes * p).astype(np.int64).reshape(-1, p)
    return Groups(pattern, np.argsort(group, kind="stable"), correct, entry, other, total)


def _families(dense: Ints, classes: int, p: int) -> dict[str, Ints]:
    """An array over the dense variables by family, of shape (C, P, P) or (E, P, P) each."""
    by_class, by_entry = np.split(dense, [4 * classes * p * p])
    parts = (*by_class.reshape(4, classes, p, p), *by_entry.reshape(3, -1, p, p))
    return dict(zip(("cc", "cw", "wc", "changed", "stay", "leave", "enter"), parts, strict=True))


def _upper(x: Groups, y: Groups, owner: Ints) -> Ints:
    """What the margins leave each dense variable at most."""
    pairs = (
        (x.correct, y.correct),
        (x.correct, y.wrong),
        (x.wrong, y.correct),
        (x.wrong, y.wrong),
        (x.entry, y.entry),
        (x.entry, y.wrong[owner] - y.entry),
        (x.wrong[owner] - x.entry, y.entry),
    )
    return np.concatenate([np.minimum(rows[:, :, None], columns[:, None, :]).ravel() for rows, columns in pairs])


def _margins(rows: _Rows, family: dict[str, Ints], x: Groups, y: Groups, owner: Ints, images: Ints) -> None:
    """All conditions but the known counts, in the order of the module docstring."""
    classes, p = x.correct.shape
    mixed, place = np.unique(owner, return_inverse=True)

    def numbered(count: int, *shape: int) -> Ints:
        return np.arange(count * p ** len(shape), dtype=np.int64).reshape(count, *shape)

    by_class, by_entry = numbered(classes, p), numbered(len(owner), p)
    by_mixed, mixed_cell, entry_cell = numbered(len(mixed), p), numbered(len(mixed), p, p), numbered(len(owner), p, p)
    changed = family["changed"]
    for group, axis, lost, back, moved in ((x, 2, "cw", "wc", "leave"), (y, 1, "wc", "cw", "enter")):

        def along(numbers: Ints, axis: int = axis) -> Ints:
            return np.expand_dims(numbers, axis)

        each = np.repeat(np.arange(classes), p)
        at = along(by_class)
        rows.add(group.correct, group.correct, each, (at, family["cc"], 1), (at, family[lost], 1))
        stays = (along(by_class[owner]), family["stay"], 1)
        rows.add(group.wrong, group.wrong, each, (at, changed, 1), (at, family[back], 1), stays)
        at = along(by_entry)
        rows.add(group.entry * 0, group.entry, np.repeat(owner, p), (at, family["stay"], 1), (at, family[moved], 1))
        others = group.other[mixed]
        most = np.broadcast_to(along(others), mixed_cell.shape)
        minus = (mixed_cell[place], family[moved], -1)
        rows.add(most * 0, most, np.repeat(mixed, p * p), (mixed_cell, changed[mixed], 1), minus)
        minus = (along(by_mixed[place]), family[moved], -1)
        rows.add(others * 0, others, np.repeat(mixed, p), (along(by_mixed), changed[mixed], 1), minus)
    terms = [(entry_cell, family["leave"], 1), (entry_cell, family["enter"], 1), (entry_cell, changed[owner], -1)]
    rows.add(np.repeat(-images[owner], p * p), 0, np.repeat(owner, p * p), *terms)


class _Rows:
    """Collects rows family by family; dense variables that are left out are dropped from them."""

    def __init__(self, kept: npt.NDArray[np.bool_]) -> None:
        self._number = np.cumsum(kept) - 1
        self._kept = kept
        self._entries: list[tuple[Ints, Ints, Ints]] = []
        self._sides: list[tuple[Ints, Ints, Ints]] = []
        self._rows = 0

    def add(self, lower: Ints, upper: Ints | int, owner: Ints, *terms: tuple[Ints, Ints, int]) -> None:
        """Rows lower <= sum <= upper, each of the class `owner`.

        A term is (number of the row among these, dense variable, coefficient), the first broadcast to the second.
        """
        for row, variable, coefficient in terms:
            number, dense = np.broadcast_to(row, variable.shape).ravel(), variable.ravel()
            inside = self._kept[dense]
            row, dense = self._rows + number[inside], self._number[dense[inside]]
            self._entries.append((row, dense, np.full(len(row), coefficient, dtype=np.int64)))
        self._sides.append((lower.ravel(), np.broadcast_to(upper, lower.shape).ravel(), owner))
        self._rows += lower.size

    def conditions(self) -> tuple[Conditions, Ints]:
        """The rows, and the class of each."""
        row, variable, coefficient = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        lower, upper, owner = (np.concatenate(part) for part in zip(*self._sides, strict=True))
        order = np.argsort(row, kind="stable")
        return Conditions(row[order], variable[order], coefficient[order], lower, upper), owner.astype(np.int64)


def expand(structure: Structure, x: Ints) -> Ints:
    """The correspondence of an integer point, int64 of shape (N,).

    Each record gets the number of the dense variable that it is counted in (that of R, if changed), and equal numbers
    are paired in order: changed pairs in label order, with the perturbed side turned (see the module docstring).
    """
    p, entries = structure.patterns, structure.entries
    classes, owner = len(entries) - 1, np.repeat(np.arange(len(entries) - 1), np.diff(entries))
    counts, names = _families(x, classes, p), _families(np.arange(len(x), dtype=np.int64), classes, p)
    sides = []
    for group, order, turn in (
        (structure.clean, ("cc", "cw", "wc", "changed", "stay", "leave"), (0, 1, 2)),
        (structure.perturbed, ("cc", "wc", "cw", "changed", "stay", "enter"), (0, 2, 1)),
    ):
        turned = ([family[name].transpose(turn) for name in order] for family in (counts, names))
        keys = _keys(group, owner, *turned)
        by_key = np.argsort(keys, kind="stable")
        place = np.empty_like(keys)
        place[by_key] = np.arange(len(keys)) - np.searchsorted(keys[by_key], keys[by_key])
        sides.append((group.order, keys, place))
    changed = counts["changed"].ravel()
    start = np.zeros((classes, p, p), dtype=np.int64)
    if len(owner):
        left, entered = (
            np.concatenate([np.zeros((1, p, p), dtype=np.int64), np.cumsum(counts[name], axis=0)])
            for name in ("leave", "enter")
        )
        first = entries[owner]
        np.maximum.at(start, owner, (left[1:] - left[first]) - (entered[:-1] - entered[first]))
    _, keys, place = sides[1]
    number = keys - names["changed"].ravel()[0] if classes else keys
    moves = np.flatnonzero((number >= 0) & (number < len(changed)))
    place[moves] = (place[moves] + start.ravel()[number[moves]]) % changed[number[moves]]
    clean, perturbed = (rows[np.lexsort((place, keys))] for rows, keys, place in sides)
    match = np.empty(len(clean), dtype=np.int64)
    match[clean] = perturbed
    return match


def _keys(group: Groups, owner: Ints, counts: Sequence[Ints], names: Sequence[Ints]) -> Ints:
    """int64 of shape (N,), in the order of `group.order`: the variable that each record of a side is counted in.

    Args:
        counts, names: the values and the numbers of retained, correct then wrong, wrong then correct, changed,
            persistent, and changed pairs of the entries; the side's own pattern comes before the other side's.
    """
    kept, lost, back, changed, stay, moved = counts
    others = changed.copy()
    np.subtract.at(others, owner, moved)
    classes, p = group.correct.shape
    home = np.arange(classes * p, dtype=np.int64).reshape(classes, p)
    # Whatever of a group of wrong records has no partner yet goes to correct ones; -1 until it is known which.
    waits = group.entry - (stay + moved).sum(axis=2), group.other - others.sum(axis=2)
    none = [np.full((len(waiting), p, 1), -1, dtype=np.int64) for waiting in waits]
    lines = (
        ((kept, lost), (names[0], names[1])),
        ((stay, moved, waits[0][:, :, None]), (names[4], names[3][owner], none[0])),
        ((others, waits[1][:, :, None]), (names[3], none[1])),
    )
    keys = np.concatenate(
        [np.repeat(np.concatenate(n, axis=2).ravel(), np.concatenate(c, axis=2).ravel()) for c, n in lines]
    )
    homes = np.concatenate(
        [np.repeat(where.ravel(), waiting.ravel()) for where, waiting in zip((home[owner], home), waits, strict=True)]
    )
    keys[np.flatnonzero(keys < 0)[np.argsort(homes, kind="stable")]] = np.repeat(names[2].ravel(), back.ravel())
    return keys
