"""One question: a quantity over a denominator, averaged, at a level of knowledge, of one class or of all."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bounds import witness
from bounds.aggregate import Grid, best_sum
from bounds.closed_forms import marked_row_range
from bounds.counts import ClassCounts, counts_of, weighted
from bounds.curves import Domain, domain_of
from bounds.errors import QuantityError
from bounds.evaluation import Evaluation
from bounds.exact import Arithmetic
from bounds.knowledge import Knowledge, Level
from bounds.quantities import DENOMINATORS, Quantity

__all__ = ["Found", "Question", "Weights", "check_average"]

Ints = npt.NDArray[np.int64]
Weights = tuple[npt.NDArray[np.object_], list[Fraction]]
"""Cells (C, 5, 2, 2), or (5, 2, 2) for all classes alike, and probability coefficients (C,) of a linear objective, as
`correspondences.Objective` takes them."""

_WORDS = {
    "images": "images",
    "clean-correct": "clean-correct images",
    "retained-correct": "retained-correct images",
    "retained-correct-accepted": "retained-correct images accepted when clean",
    "retained-correct-rejected": "retained-correct images rejected when clean",
    "clean-accepted-errors": "accepted errors when clean",
    "perturbed-accepted-errors": "accepted errors when perturbed",
}


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """An end as a method found it.

    Attributes:
        value: the end, exact for the arithmetic used; with `match` or a way to build it where attained.
        attained: whether some correspondence has this value.
        proof: as in `bounds.interval.End`.
        k: int64 of shape (C,), the retained-correct counts of an attaining correspondence; closed forms only.
        marked: int64 of shape (C, 2), marked-marked pairs and marked rows of it; acceptance quantities only.
        match: an attaining correspondence; programs only.
    """

    value: Fraction
    attained: bool
    proof: str
    k: Ints | None = None
    marked: Ints | None = None
    match: Ints | None = field(default=None, repr=False)


def check_average(average: str, denominator: str) -> None:
    """Raise `QuantityError` unless a value over that denominator can be averaged so."""
    if average not in ("micro", "macro"):
        raise QuantityError("average", average, "unknown", "choose micro or macro")
    if average == "macro" and denominator == "none":
        raise QuantityError("average", average, "a count has no mean of class rates", "ask for micro")


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A checked question.

    Attributes:
        evaluation: the records asked about; those of the class alone where `index` is set.
        quantity, denominator, average: what; `average` is "micro" or "macro", and "micro" for a single class.
        knowledge: of the records asked about. For a class alone at `total-correct-correct`, see `domain`.
        domain: the k vectors that the knowledge leaves; for a class alone the range the total leaves it.
        arithmetic: "exact" or "float".
        whole, whole_knowledge: all classes, where the question is about one.
        index: that class in `whole`, or None.
    """

    evaluation: Evaluation
    quantity: Quantity
    denominator: str
    average: str
    knowledge: Knowledge
    domain: Domain
    arithmetic: Arithmetic
    whole: Evaluation
    whole_knowledge: Knowledge
    index: int | None

    @classmethod
    def ask(
        cls,
        evaluation: Evaluation,
        quantity: Quantity,
        denominator: str | None,
        average: str,
        knowledge: Knowledge,
        arithmetic: Arithmetic = "exact",
        class_name: str | int | None = None,
    ) -> Question:
        """Check that the parts go together.

        Raises:
            QuantityError: if they do not.
        """
        name = quantity.denominator(denominator)
        check_average(average, name)
        if arithmetic not in ("exact", "float"):
            raise QuantityError("arithmetic", arithmetic, "unknown", "choose exact or float")
        accepts = quantity.needs_acceptance or name.endswith(("accepted", "rejected", "errors"))
        if accepts and (evaluation.clean.accepted is None or evaluation.perturbed.accepted is None):
            raise QuantityError(
                "quantity",
                quantity.name,
                "needs acceptance, and neither a threshold nor a column 'accepted' was given",
                "give a threshold, such as 0.8",
            )
        domain = domain_of(counts_of(evaluation), knowledge)
        if class_name is None:
            return cls(evaluation, quantity, name, average, knowledge, domain, arithmetic, evaluation, knowledge, None)
        if class_name not in evaluation.classes:
            raise QuantityError("class", class_name, "not in the records", "name a class that they hold")
        c = evaluation.classes.index(class_name)
        alone = domain.alone()

        return cls(
            evaluation=evaluation.select([c]),
            quantity=quantity,
            denominator=name,
            average="micro",
            knowledge=knowledge.of_class(c),
            domain=Domain(alone.lo[c : c + 1], alone.hi[c : c + 1]),
            arithmetic=arithmetic,
            whole=evaluation,
            whole_knowledge=knowledge,
            index=c,
        )

    @property
    def counts(self) -> ClassCounts:
        """The margins of the records asked about."""
        return counts_of(self.evaluation)

    @property
    def fixed_denominators(self) -> Ints | None:
        """int64 of shape (C,) where no correspondence changes them, None where it does or for a count."""
        counts = self.counts
        fixed = {
            "images": counts.images,
            "clean-correct": counts.clean_correct,
            "clean-accepted-errors": counts.clean_accepted_errors,
            "perturbed-accepted-errors": counts.perturbed_accepted_errors,
        }
        if self.domain.fixed:
            fixed["retained-correct"] = self.domain.lo
        return fixed.get(self.denominator)

    def denominator_given(self, c: Ints, k: Ints) -> tuple[Ints, Ints]:
        """Least and greatest value of a denominator that varies, for classes `c` with `k` retained-correct pairs."""
        if self.denominator == "retained-correct":
            return k, k
        counts = self.counts
        rows = counts.clean_correct_accepted[c], counts.clean_correct_rejected[c]
        if self.denominator == "retained-correct-rejected":
            rows = rows[::-1]
        return marked_row_range(*rows, k)

    def denominator_range(self) -> tuple[int, int]:
        """Least and greatest sum of the class denominators over the correspondences."""
        fixed = self.fixed_denominators
        if fixed is not None:
            return int(fixed.sum()), int(fixed.sum())
        grid = Grid.of(self.domain)
        least, most = self.denominator_given(grid.c, grid.k)
        ends = []
        for sign, values in ((-1, least), (1, most)):
            k = best_sum(grid, sign * values)
            ends.append(int(values[grid.offsets[:-1] + k - self.domain.lo].sum()))
        return ends[0], ends[1]

    def undefined(self) -> str:
        """Why the quantity is undefined where its denominator is zero."""
        return f"0 {_WORDS[self.denominator]}"

    @property
    def denominator_cells(self) -> npt.NDArray[np.int64]:
        """The denominator's weights, int64 of shape (5, 2, 2)."""
        return DENOMINATORS[self.denominator]

    def weights(self, numerator: list[Fraction], denominator: list[Fraction]) -> Weights:
        """Numerator cells times one factor a class, plus denominator cells times another."""
        factors = list(zip(numerator, denominator, strict=True))
        top = self.quantity.cells.astype(object)
        below = self.denominator_cells.astype(object) if any(denominator) else 0
        tables = {(n, d): top * n + below * d for n, d in set(factors)}
        cells = next(iter(tables.values())) if len(tables) == 1 else np.empty((len(factors), 5, 2, 2), dtype=object)
        for c in range(len(factors) if len(tables) > 1 else 0):
            cells[c] = tables[factors[c]]
        return cells, [n * int(self.quantity.probability) for n in numerator]

    def sums(self, evaluation: Evaluation, match: Ints, classes: range) -> tuple[Fraction, int]:
        """Numerator and denominator of a correspondence, summed over some classes of `evaluation`."""
        tops = witness.class_numerators(evaluation, match, self.quantity)
        below = weighted(witness.cell_counts(evaluation, match), self.denominator_cells)
        return sum((tops[c] for c in classes), Fraction(0)), int(sum(below[c] for c in classes))

    def given(self, k: int) -> Question:
        """The same of a single class, with its retained-correct count known."""
        known = Knowledge(Level.CLASSWISE, retained_correct=np.array([k], dtype=np.int64))
        return Question.ask(self.evaluation, self.quantity, self.denominator, "micro", known)
