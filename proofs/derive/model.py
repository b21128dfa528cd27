"""One class with symbolic counts: kinds of records, pairs of kinds, and what is known of them.

A record kind is a state (correct, or wrong with one of L labels) and acceptance. Kinds that the question does not tell
apart are merged: for lost acceptance all wrong records of a side are one kind. The unknowns are the numbers of pairs of
each two kinds; they add up to the counts of the kinds, and to k retained-correct and s persistent pairs where known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bounds.errors import QuantityError
from bounds.knowledge import Level
from bounds.quantities import QUANTITIES, STATES, Quantity

__all__ = ["LEVELS", "MOST_LABELS", "Cell", "Group", "Model", "model_of"]

LEVELS = (Level.MARGINALS, Level.CLASSWISE, Level.FIVE_STATE)
"""Levels that speak of one class."""

MOST_LABELS = 3

CORRECT = 0
"""The label of correct records; wrong ones have 1, 2, ..."""

Kind = tuple[int, int]
"""(label, accepted)."""

Cell = tuple[int, int]
"""Places of a clean and of a perturbed group."""


@dataclass(frozen=True, slots=True)
class Group:
    """Record kinds of one side that the question does not tell apart.

    Attributes:
        symbol: of their count.
        kinds: (label, accepted) of each.
        meaning: for people.
    """

    symbol: str
    kinds: tuple[Kind, ...]
    meaning: str

    @property
    def correct(self) -> bool:
        """Whether its records are correct."""
        return self.kinds[0][0] == CORRECT


@dataclass(frozen=True, eq=False)
class Model:
    """A question about one class.

    Attributes:
        quantity: whose count is asked for.
        level: what is known.
        labels: wrong labels that are told apart; 1 where none have to be.
        clean, perturbed: groups of each side.
        weights: the quantity's weight of each cell, integers.
        states: the state of each cell; where labels do not matter, wrong pairs are "WD".
    """

    quantity: Quantity
    level: Level
    labels: int
    clean: tuple[Group, ...]
    perturbed: tuple[Group, ...]
    weights: dict[Cell, int]
    states: dict[Cell, str]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every pair of groups."""
        return tuple(self.weights)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Of the counts: clean groups, perturbed groups, then k and s where known."""
        groups = (*self.clean, *self.perturbed)
        return (*(group.symbol for group in groups), *self.known)

    @property
    def known(self) -> tuple[str, ...]:
        """k, k and s, or nothing."""
        return {Level.MARGINALS: (), Level.CLASSWISE: ("k",), Level.FIVE_STATE: ("k", "s")}[self.level]

    @cached_property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """The cells that each symbol counts, in the order of `symbols`."""
        by_clean = [tuple(c for c in self.cells if c[0] == i) for i in range(len(self.clean))]
        by_perturbed = [tuple(c for c in self.cells if c[1] == j) for j in range(len(self.perturbed))]
        of_state = {"k": "CC", "s": "WS"}
        counted = [tuple(c for c in self.cells if self.states[c] == of_state[name]) for name in self.known]
        return (*by_clean, *by_perturbed, *counted)


def model_of(quantity: str, knowledge: str, labels: int | None = None) -> Model:
    """The question for a counted quantity at a level of knowledge.

    Args:
        quantity: a name in `bounds.quantities.QUANTITIES`.
        knowledge: a name in `LEVELS`.
        labels: wrong labels, 1 to `MOST_LABELS`; 2 where they matter, if None.

    Raises:
        QuantityError: if the quantity counts no pairs, the level is of several classes, or labels matter and are few.

    >>> model_of("lost-acceptance", "correct-correct").symbols
    ('A1', 'A0', 'W', 'B1', 'B0', 'V', 'k')
    """
    if quantity not in QUANTITIES:
        raise QuantityError("quantity", quantity, "unknown", f"choose among {', '.join(QUANTITIES)}")
    found = QUANTITIES[quantity]
    if found.probability:
        raise QuantityError("quantity", quantity, "adds probabilities, and forms are of counts", "choose a count")
    if knowledge not in LEVELS:
        rule = "forms are of one class"
        raise QuantityError("--knowledge", knowledge, rule, f"choose among {', '.join(LEVELS)}")
    level = Level(knowledge)
    matter = level is Level.FIVE_STATE or bool(
        (found.cells[STATES.index("WS")] != found.cells[STATES.index("WD")]).any()
    )
    if labels is not None and not 1 <= labels <= MOST_LABELS:
        raise QuantityError("--labels", labels, f"1 to {MOST_LABELS} wrong labels are told apart", "give such as 2")
    if not matter and labels not in (None, 1):
        raise QuantityError("--labels", labels, f"{quantity} does not depend on labels here", "leave it out")
    if matter and labels == 1:
        raise QuantityError("--labels", labels, "with one wrong label no wrong answer changes", "give 2 or 3")
    many = (labels or 2) if matter else 1
    kinds = [(label, accepted) for label in range(many + 1) for accepted in (1, 0)]

    def state(clean: Kind, perturbed: Kind) -> str:
        if CORRECT in (clean[0], perturbed[0]):
            return ("C" if clean[0] == CORRECT else "W") + ("C" if perturbed[0] == CORRECT else "W")
        return "WS" if matter and clean[0] == perturbed[0] else "WD"

    def weight(clean: Kind, perturbed: Kind) -> int:
        return int(found.cells[STATES.index(state(clean, perturbed)), clean[1], perturbed[1]])

    def told(kind: Kind, clean: bool) -> tuple[object, ...]:
        """What the question sees of a kind."""
        pairs = [(kind, other) if clean else (other, kind) for other in kinds]
        persistence = kind[0] if level is Level.FIVE_STATE else None
        return kind[0] == CORRECT, persistence, tuple(weight(*pair) for pair in pairs)

    sides = []
    for clean in (True, False):
        merged: dict[tuple[object, ...], list[Kind]] = {}
        for kind in kinds:
            merged.setdefault(told(kind, clean), []).append(kind)
        sides.append(tuple(_group(tuple(members), many, clean) for members in merged.values()))
    pairs = {(i, j): (a.kinds[0], b.kinds[0]) for i, a in enumerate(sides[0]) for j, b in enumerate(sides[1])}
    weights = {cell: weight(*pair) for cell, pair in pairs.items()}
    states = {cell: state(*pair) for cell, pair in pairs.items()}
    return Model(found, level, many, sides[0], sides[1], weights, states)


def _group(kinds: tuple[Kind, ...], labels: int, clean: bool) -> Group:
    correct = kinds[0][0] == CORRECT
    accepted = sorted({kind[1] for kind in kinds}, reverse=True)
    bits = "" if len(accepted) == 2 else str(accepted[0])
    wrong = sorted({kind[0] for kind in kinds} - {CORRECT})
    letter = ("A" if clean else "B") if correct else ("W" if clean else "V")
    named = "" if correct or len(wrong) == labels else "".join(chr(ord("a") + label - 1) for label in wrong)
    side = "clean" if clean else "perturbed"
    answer = "correct" if correct else "wrong" + (f" with label {' or '.join(named)}" if named else "")
    status = {"": "", "1": "accepted ", "0": "rejected "}[bits]
    return Group(letter + bits + named, kinds, f"{status}{side} records that are {answer}")
