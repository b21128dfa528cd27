"""C4 in real arithmetic, for up to three retained-correct pairs among up to five correct records of each side.

The formula stands in `bounds.curves` as differences of running sums of sorted values; it is stated here anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType

from proofs.evidence import Cell
from proofs.smt.solving import decide
from proofs.smt.terms import Question, Term, between, choice, equal, reals, total, truths

__all__ = ["check", "questions"]

MOST_PAIRS, MOST_RECORDS = 3, 5


def questions(forms: ModuleType | None = None, fast: bool = False) -> list[Question]:
    """The extreme sums over any k clean and any k perturbed records, and the choices that attain them."""
    sizes = range(1, MOST_RECORDS if fast else MOST_RECORDS + 1)
    return [
        question
        for k in range(1, MOST_PAIRS + 1)
        for a in sizes
        for b in sizes
        if k <= min(a, b)
        for question in _of_sizes(a, b, k)
    ]


def _of_sizes(a: int, b: int, k: int) -> list[Question]:
    p = reals(" ".join(f"p{i}" for i in range(1, a + 1)))
    q = reals(" ".join(f"q{i}" for i in range(1, b + 1)))
    x = truths(" ".join(f"x{i}" for i in range(1, a + 1)))
    y = truths(" ".join(f"y{i}" for i in range(1, b + 1)))
    ascending = [first <= second for side in (p, q) for first, second in pairwise(side)]
    least, most = total(p[:k]) - total(q[b - k :]), total(p[a - k :]) - total(q[:k])
    chosen = [equal(_size(x), k), equal(_size(y), k)]
    name = f"{k} pairs of {a} and {b} records"

    def firsts(flags: Sequence[Term]) -> list[Term]:
        return _only(flags, 0, k)

    def lasts(flags: Sequence[Term]) -> list[Term]:
        return _only(flags, len(flags) - k, len(flags))

    return [
        Question(f"{name}: the bound is valid", [*ascending, *chosen], between(least, _sum(x, p) - _sum(y, q), most)),
        Question(
            f"{name}: the lower end is attained",
            [*ascending, *firsts(x), *lasts(y)],
            [*chosen, equal(_sum(x, p) - _sum(y, q), least)],
        ),
        Question(
            f"{name}: the upper end is attained",
            [*ascending, *lasts(x), *firsts(y)],
            [*chosen, equal(_sum(x, p) - _sum(y, q), most)],
        ),
    ]


def _size(flags: Sequence[Term]) -> Term:
    return total(choice(flag, 1, 0) for flag in flags)


def _sum(flags: Sequence[Term], values: Sequence[Term]) -> Term:
    return total(choice(flag, value, 0) for flag, value in zip(flags, values, strict=True))


def _only(flags: Sequence[Term], first: int, end: int) -> list[Term]:
    """The flags from `first` to before `end` are true, the others false."""
    return [flag if first <= index < end else Term("not", (flag,), "Bool") for index, flag in enumerate(flags)]


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; the claim uses none of the closed forms in `forms`."""
    most = MOST_RECORDS - 1 if fast else MOST_RECORDS
    return decide(
        questions(forms, fast),
        fast,
        f"any real probabilities, k <= {MOST_PAIRS}, at most {most} correct records a side; the formula is stated anew",
    )
