"""C5 for classes of all sizes with two or three wrong classes: which persistent counts are attained, given k.

Fewer wrong classes are the case in which some have no record.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from proofs.evidence import Cell
from proofs.smt.solving import decide
from proofs.smt.tables import fits, part, transport, transport_question
from proofs.smt.terms import TERMS, Question, Term, between, equal, integers, least, non_negative, total

__all__ = ["Labels", "check", "questions"]


class Labels:
    """The wrong records of a class by label; `m` pairs are wrong on both sides, `s` of them persistent."""

    def __init__(self, forms: ModuleType, labels: int) -> None:
        self.forms = forms
        self.rows = integers(" ".join(f"w{i}" for i in range(1, labels + 1)))
        self.columns = integers(" ".join(f"v{i}" for i in range(1, labels + 1)))
        self.m, self.s = integers("m s")
        self.most = [least(w, v) for w, v in zip(self.rows, self.columns, strict=True)]
        self.table = {(i, j): Term(f"x{i}{j}") for i in range(labels) for j in range(labels)}
        self.margins = [
            *non_negative([*self.rows, *self.columns, self.m]),
            *(self.m <= total(self.rows), self.m <= total(self.columns)),
        ]
        """What C1 leaves of the class: m pairs between at least as many rows and columns."""

    @property
    def everything(self) -> Term:
        """W + W'."""
        return total([*self.rows, *self.columns])

    def least(self, persistent: Term) -> list[Term]:
        """L_l(s) of each label."""
        return [
            self.forms.persistent_lower_share(w, v, self.m, persistent, self.everything, TERMS)
            for w, v in zip(self.rows, self.columns, strict=True)
        ]

    def condition(self, persistent: Term) -> list[Term]:
        """The claim's condition on s."""
        low = self.least(persistent)
        boxes = [least <= most for least, most in zip(low, self.most, strict=True)]
        return [persistent <= self.m, *boxes, *between(total(low), persistent, total(self.most))]

    def split(self, low: Sequence[Term], high: Sequence[Term]) -> list[Term]:
        """s persistent pairs between these bounds of each label, the first labels first."""
        room = [most - least for least, most in zip(low, high, strict=True)]
        extra = part(room, self.s - total(low))
        return [least + more for least, more in zip(low, extra, strict=True)]

    def with_persistent(self, persistent: Sequence[Term]) -> dict[tuple[int, int], Term]:
        """A table with these persistent pairs and m - s changed ones."""
        a = [w - d for w, d in zip(self.rows, persistent, strict=True)]
        b = [v - d for v, d in zip(self.columns, persistent, strict=True)]
        return {**transport(a, b, self.m - self.s), **{(label, label): d for label, d in enumerate(persistent)}}

    def diagonal(self) -> list[Term]:
        """The persistent pairs of each label in `table`."""
        return [self.table[label, label] for label in range(len(self.rows))]


def questions(forms: ModuleType, fast: bool = False) -> list[Question]:
    """The condition is necessary and sufficient; the range is that of the condition."""
    return _with_labels(forms, 2) + ([] if fast else [transport_question(3), *_with_labels(forms, 3)])


def _with_labels(forms: ModuleType, labels: int) -> list[Question]:
    of = Labels(forms, labels)
    held = [*of.margins, *fits(of.table, of.rows, of.columns, of.m)]
    outside = [of.everything - w - v for w, v in zip(of.rows, of.columns, strict=True)]
    low, high = forms.persistent_range(of.m, least(*outside), total(of.most), TERMS)
    name = f"{labels} wrong classes"
    witness = of.with_persistent(of.split(of.least(of.s), of.most))
    return [
        Question(
            f"{name}: each persistent count that a table has meets the condition",
            [*held, equal(of.s, total(of.diagonal()))],
            of.condition(of.s),
        ),
        Question(
            f"{name}: each count that meets the condition is attained",
            [*of.margins, *of.condition(of.s)],
            [
                *fits(witness, of.rows, of.columns, of.m),
                equal(total(x for (i, j), x in witness.items() if i == j), of.s),
            ],
        ),
        Question(
            f"{name}: no count outside the range meets the condition",
            [*of.margins, *of.condition(of.s)],
            between(low, of.s, high),
        ),
        Question(
            f"{name}: both ends of the range meet the condition", of.margins, of.condition(low) + of.condition(high)
        ),
    ]


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    return decide(
        questions(forms, fast),
        fast,
        f"all class sizes with {'two' if fast else 'two and three'} wrong classes: the condition, parity included, is "
        "necessary, and sufficient by an explicit table; the range has the least and the greatest count that meet it",
    )
