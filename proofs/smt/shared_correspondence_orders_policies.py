"""C9's example: two policies whose separate cost intervals overlap, while one costs more at every correspondence."""

from __future__ import annotations

from types import ModuleType

from proofs.evidence import Cell
from proofs.smt.solving import decide
from proofs.smt.terms import Question, Term, between, choice, equal, integers, total

__all__ = ["check", "questions"]

CORRECT = 0
CLEAN = ((CORRECT, 1), (CORRECT, 1), (1, 2))
PERTURBED = ((CORRECT, 0), (1, 0), (1, 2))
"""Records as (predicted class, confidence level)."""

RETAINED = 1
LEVELS = {"P": 1, "Q": 2}
"""Policies, with the confidence level from which each accepts."""

ROWS = range(len(CLEAN))
PARTNERS = integers("s0 s1 s2")
"""The perturbed record of each clean one."""


def _cost(level: int, x: tuple[int, int], y: tuple[int, int]) -> int:
    """1 for an acceptance lost on a retained-correct image, 2 for a new accepted error."""
    accepted_x, accepted_y = x[1] >= level, y[1] >= level
    if x[0] == y[0] == CORRECT:
        return int(accepted_x and not accepted_y)
    return 2 * int(y[0] != CORRECT and accepted_y and not (x[0] != CORRECT and accepted_x))


def _sum(value: list[list[int]]) -> Term:
    return total(choice(equal(PARTNERS[i], j), value[i][j], 0) for i in ROWS for j in ROWS)


def questions(forms: ModuleType | None = None, fast: bool = False) -> list[Question]:
    """The three intervals, over all permutations of three records with one retained-correct pair."""
    retained = _sum([[int(x[0] == y[0] == CORRECT) for y in PERTURBED] for x in CLEAN])
    p, q = (_sum([[_cost(level, x, y) for y in PERTURBED] for x in CLEAN]) for level in LEVELS.values())
    permutation = [formula for partner in PARTNERS for formula in between(0, partner, len(ROWS) - 1)]
    permutation += [Term("not", (equal(PARTNERS[i], PARTNERS[j]),), "Bool") for i in ROWS for j in ROWS if i < j]
    given = [*permutation, equal(retained, RETAINED)]

    def attained(name: str, cost: Term, value: int, partners: tuple[int, ...]) -> Question:
        chosen = [equal(s, j) for s, j in zip(PARTNERS, partners, strict=True)]
        return Question(f"cost {name} = {value} is attained", chosen, [*given, equal(cost, value)])

    return [
        Question("cost P is 1 to 3", given, between(1, p, 3)),
        attained("P", p, 1, (0, 1, 2)),
        attained("P", p, 3, (0, 2, 1)),
        Question("cost Q is 0 to 2", given, between(0, q, 2)),
        attained("Q", q, 0, (0, 1, 2)),
        attained("Q", q, 2, (0, 2, 1)),
        Question("cost P - cost Q is 1", given, [equal(p - q, 1)]),
    ]


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; the claim uses none of the closed forms in `forms`."""
    return decide(
        questions(forms, fast),
        fast,
        "the example: all permutations; P in [1, 3] and Q in [0, 2] with both ends attained, P - Q = 1 always",
    )
