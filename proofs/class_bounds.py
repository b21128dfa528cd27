"""What the numerator of a transition is at most in each class, its retained-correct and persistent counts being known.

Of every class the cheapest reason is taken: the claim for k alone, where s adds nothing; multipliers of the linear
relaxation, rounded down; a branching tree. Questions whose weights differ by row and column potentials only share
their multipliers, which are solved for in all classes at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.counts import counts_of
from bounds.curves import curve
from bounds.evaluation import Evaluation
from bounds.knowledge import Knowledge, Level
from bounds.quantities import Quantity
from proofs.branching import Floats, Node, as_json, best_multipliers, relaxations, tree
from proofs.class_program import ClassProgram, Groups, Ints, Name, rational

__all__ = ["ClassBound", "ClassBounds", "Tally"]

Cells = npt.NDArray[np.int64]


@dataclass(slots=True)
class Tally:
    """What a certificate holds, and how the ends of classes that no claim covers were proved.

    Attributes:
        evaluations, intervals, audits: how many were written.
        certified: intervals of which both ends are proved.
        uncertified: the reasons of ends that are not.
        by_claim, by_dual, by_rounding, by_branching: ends of classes by the claim for k alone, by multipliers that show
            the value itself, or a value that has to be rounded down, and by branching trees.
        nodes: of all those trees.
    """

    evaluations: int = 0
    intervals: int = 0
    audits: int = 0
    certified: int = 0
    uncertified: list[str] = field(default_factory=list)
    by_claim: int = 0
    by_dual: int = 0
    by_rounding: int = 0
    by_branching: int = 0
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class ClassBound:
    """No correspondence of the class has more than `value`; `reason` is the BOUND but for its value."""

    value: int
    reason: dict[str, Any]

    def to_dict(self, share: Fraction) -> dict[str, Any]:
        """The BOUND of `share` times the numerator."""
        return self.reason | {"value": rational(share * self.value)}


class ClassBounds:
    """Bounds on the classes of an evaluation at given counts; what was solved is kept."""

    def __init__(
        self,
        evaluation: Evaluation,
        groups: Callable[[int], tuple[Groups, Groups]],
        retained_correct: Ints,
        persistent: Ints,
    ) -> None:
        self._evaluation = evaluation
        self._retained_correct = retained_correct
        self._programs = [
            ClassProgram.of(*groups(c), (k, k), s)
            for c, (k, s) in enumerate(zip(retained_correct.tolist(), persistent.tolist(), strict=True))
        ]
        self._claims: dict[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]] = {}
        self._duals: dict[bytes, list[Floats]] = {}
        self._trees: dict[tuple[bytes, int, int], Node] = {}

    def bound(self, c: int, quantity: Quantity, sign: int, target: int | None, tally: Tally) -> ClassBound:
        """A bound on `sign` times the numerator of a class.

        Args:
            target: a value that is attained; None where none is known.

        Raises:
            Unproven: if nothing shows that `target` is the most.
        """
        by_claim = self._claimed(c, quantity, sign)
        if target is not None and by_claim == target:
            tally.by_claim += 1
            return ClassBound(target, {"rule": "claim", "claim": "transition_counts"})
        program = self._programs[c]
        weights, potentials = _reduced(sign * quantity.cells)
        shift = np.array([potentials.get(name, 0) for name in program.rows], dtype=np.int64)
        constant = int((shift * program.lower)[shift != 0].sum())
        reduced = None if target is None else target - constant
        key = weights.tobytes()
        if key not in self._duals:
            self._duals[key] = relaxations(self._programs, [other.costs(weights) for other in self._programs])
        cost = program.costs(weights)
        low = np.zeros_like(program.limit)
        found = best_multipliers(program, cost, self._duals[key][c], low, program.limit, reduced)
        shown = math.floor(found.bound)
        if target is None and by_claim <= shown + constant:
            tally.by_claim += 1
            return ClassBound(by_claim, {"rule": "claim", "claim": "transition_counts"})
        if reduced is None or shown <= reduced:
            tally.by_dual += found.bound == shown
            tally.by_rounding += found.bound != shown
            return ClassBound(shown + constant, {"rule": "dual", "rows": program.named(found, shift)})
        if (key, c, reduced) not in self._trees:
            self._trees[key, c, reduced] = tree(program, cost, reduced)
        node = self._trees[key, c, reduced]
        tally.by_branching += 1
        tally.nodes += node.size()
        return ClassBound(reduced + constant, {"rule": "branch", "tree": as_json(program, node, shift)})

    def _claimed(self, c: int, quantity: Quantity, sign: int) -> int:
        """What the closed form shows by k alone."""
        if quantity.name not in self._claims:
            by_count = curve(counts_of(self._evaluation), quantity, Knowledge(Level.CLASSWISE), "exact")
            assert by_count is not None
            everywhere = np.arange(len(self._programs))
            self._claims[quantity.name] = by_count.ends(everywhere, self._retained_correct)
        return sign * int(self._claims[quantity.name][sign > 0][c])


def _reduced(weights: Cells) -> tuple[Cells, dict[Name, int]]:
    """Weights less potentials of rows and columns, and these as multipliers of the rows A, B, W and V.

    The weights of retained-correct pairs get a first row and column of zeros, those of lost pairs a first row, those of
    recovered ones a first column; what is left tells apart what margins do not fix.
    """
    cc, cw, wc = weights[0], weights[1], weights[2]
    columns = {"B": cc[0], "V": cw[0]}
    rows = {"A": cc[:, 0] - cc[0, 0], "W": wc[:, 0] - cc[0, 0]}
    left = weights.copy()
    for state, (row, column) in enumerate((("A", "B"), ("A", "V"), ("W", "B"), ("W", "V"), ("W", "V"))):
        left[state] -= rows[row][:, None] + columns[column][None, :]
    return left, {(name, bit): int(numbers[bit]) for name, numbers in (columns | rows).items() for bit in (0, 1)}
