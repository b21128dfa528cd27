"""Is a value attained? Whether some correspondence that agrees with the knowledge gives a value in a closed set.

The attained values of a quantity are a finite set with holes, not an interval. "Yes" comes with a correspondence, read
again in exact arithmetic; "no" with an exact argument: the attained set is known as a whole
(`bounds.attained_sets`), or every correspondence was enumerated (`bounds.attained_search`). What neither settles
stays undecided.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from bounds.attained_search import approach, enumerate_all
from bounds.attained_sets import acceptance, count
from bounds.errors import SolverError
from bounds.evaluation import Evaluation
from bounds.knowledge import Knowledge, Level
from bounds.quantities import STATES
from bounds.question import Question
from bounds.witness import cell_counts, value

__all__ = ["Attained", "Search", "agrees", "find"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Attained:
    """The answer.

    Attributes:
        possible: True, False, or None where it stays undecided.
        reason: why, in a few words.
        match: for True, a correspondence that gives `value`, as in `bounds.evaluation`.
        value: for True, the value attained, inside the set asked for.
    """

    possible: bool | None
    reason: str
    match: Ints | None = field(default=None, repr=False)
    value: Fraction | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What is looked for: a value of `question` in the closed set [low, high]; `ends` as in `find`."""

    question: Question
    low: Fraction
    high: Fraction
    ends: tuple[Ints, Ints] | None

    @property
    def classes(self) -> int:
        return len(self.question.evaluation.classes)

    def fixed_denominators(self) -> Ints | None:
        """int64 of shape (C,): what each class's numerator is divided by, where no correspondence changes that."""
        question = self.question
        if question.denominator == "retained-correct" and question.domain.fixed:
            return question.domain.lo
        return question.fixed_denominators

    def pooled(self) -> bool:
        """Whether the value is a summed numerator over a summed denominator.

        A macro mean is one too where all classes have the same fixed denominator.
        """
        question = self.question
        if question.average != "macro" or self.classes == 1:
            return True
        fixed = self.fixed_denominators()
        if fixed is None:
            return False
        filled = fixed[question.counts.images > 0]
        return len(filled) > 0 and bool((filled == filled[0]).all()) and bool(filled[0] > 0)

    def pooled_denominator(self) -> int | None:
        """The summed denominator where no correspondence changes it (1 for a count)."""
        if self.question.denominator == "none":
            return 1
        if self.question.denominator == "retained-correct" and self.question.domain.total is not None:
            return self.question.domain.total
        fixed = self.fixed_denominators()
        return None if fixed is None else int(fixed.sum())

    def attained_by(self, match: Ints) -> Fraction | None:
        """The value at a correspondence, if it is in the set asked for."""
        question = self.question
        found = value(question.evaluation, match, question.quantity, question.denominator, question.average)
        return found if found is not None and self.low <= found <= self.high else None

    def agrees(self, match: Ints) -> bool:
        """Whether a correspondence has the counts that are known."""
        return agrees(self.question.evaluation, self.question.knowledge, match)

    def yes(self, match: Ints, how: str) -> Attained:
        """The answer True, once the correspondence was read again."""
        found = self.attained_by(match)
        if found is None or not self.agrees(match):
            raise SolverError("witness", None, "did not survive the check in exact arithmetic", "report this")
        return Attained(True, how, match, found)

    def no(self, reason: str) -> Attained:
        """The answer False."""
        return Attained(False, reason)


def find(question: Question, low: Fraction, high: Fraction, ends: tuple[Ints, Ints] | None = None) -> Attained:
    """Whether some correspondence that agrees with the knowledge gives a value in [low, high].

    Args:
        question: of all classes; its quantity is not undefined.
        low, high: the closed set asked for.
        ends: two correspondences that agree with the knowledge, such as those that attain the ends of the interval;
            searches start from them.

    Returns:
        The answer; True only with a correspondence that was read again, False only by an exact argument.

    Source: theory, section 5; claims correct_correct_suffices (C2), lost_acceptance (C3), feasible_persistent (C5),
    transition_counts (C13).
    """
    search = Search(question, low, high, ends)
    for end in ends or ():
        if search.attained_by(end) is not None:
            return search.yes(end, "an end of the interval")
    for settle in (_paired, _no_integer, acceptance, count, enumerate_all, approach):
        found = settle(search)
        if found is not None:
            return found
    return Attained(None, "no correspondence with this value was found, and it was not excluded")


def agrees(evaluation: Evaluation, knowledge: Knowledge, match: Ints) -> bool:
    """Whether a correspondence has the counts that are known."""
    if knowledge.level is Level.MARGINALS:
        return True
    if knowledge.level is Level.PAIRED:
        return np.array_equal(match, np.arange(evaluation.images))
    by_state = cell_counts(evaluation, match).sum(axis=(2, 3))
    retained, persistent = by_state[:, STATES.index("CC")], by_state[:, STATES.index("WS")]
    if knowledge.level is Level.TOTAL:
        return int(retained.sum()) == knowledge.total
    known = ((retained, knowledge.retained_correct), (persistent, knowledge.persistent))
    return all(count is None or np.array_equal(seen, count) for seen, count in known)


def _paired(search: Search) -> Attained | None:
    if search.question.knowledge.level is not Level.PAIRED:
        return None
    match = np.arange(search.question.evaluation.images, dtype=np.int64)
    if search.attained_by(match) is None:
        return search.no("the pairing is known and gives another value")
    return search.yes(match, "the pairing is known and gives it")


def _no_integer(search: Search) -> Attained | None:
    """No: a whole numerator over a fixed denominator takes none of these values."""
    divisor = search.pooled_denominator()
    if search.question.quantity.probability or divisor is None or not search.pooled():
        return None
    if ceil(search.low * divisor) > floor(search.high * divisor):
        return search.no(f"no whole number over {divisor} gives this value")
    return None
