"""A quantity's ends as functions of the retained-correct count k, class by class.

Given k, every quantity of the retained-correct pairs (and every plain count, and every accepted-error transition)
has closed ends, so a level of knowledge is a set of k vectors (`Domain`) and the rest is choosing among them
(`bounds.aggregate`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.closed_forms import (
    block,
    correct_correct_range,
    kept_changed_range,
    marked_row_range,
    most_other_rows_ratio,
    persistent_kept_errors,
    persistent_lower_share,
    persistent_range,
    wrong_pairs,
)
from bounds.counts import ClassCounts, segment_sum
from bounds.errors import RecordError
from bounds.exact import Arithmetic, integers, sort_within
from bounds.knowledge import Knowledge, Level
from bounds.quantities import Quantity

__all__ = ["AcceptanceCurve", "Curve", "Domain", "ProbabilityCurve", "curve", "domain_of"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The feasible k vectors: lo <= k <= hi in each class, and sum(k) == total unless that is None.

    Knowing k makes lo == hi.
    """

    lo: Ints
    hi: Ints
    total: int | None = None

    @property
    def fixed(self) -> bool:
        """Whether one k vector is left."""
        return bool((self.lo == self.hi).all())

    def alone(self) -> Domain:
        """What the domain leaves each class when that class is looked at alone: a range without a coupling."""
        if self.total is None:
            return self
        spare = self.total - int(self.lo.sum())
        needed = self.total - int(self.hi.sum())
        return Domain(np.maximum(self.lo, self.hi + needed), np.minimum(self.hi, self.lo + spare))


def domain_of(counts: ClassCounts, knowledge: Knowledge) -> Domain:
    """The k vectors that `knowledge` leaves (C1, C11)."""
    if knowledge.retained_correct is not None:
        return Domain(knowledge.retained_correct, knowledge.retained_correct)
    lo, hi = correct_correct_range(counts.images, counts.clean_correct, counts.perturbed_correct)
    return Domain(lo, hi, knowledge.total if knowledge.level is Level.TOTAL else None)


Ends = Callable[[Ints, Ints], tuple[npt.NDArray[Any], npt.NDArray[Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The ends of a numerator given k.

    Attributes:
        ends: (class indices, k) -> (least, greatest) numerator times `scale`, as integers; both attained.
        scale: positive integer.
        step: the rounding error of a numerator is at most `step` per retained-correct pair; 0 where exact.
        persistent_sign: +1 where the numerator is s, -1 where it is m - s, 0 elsewhere.
    """

    ends: Ends
    scale: int = 1
    step: float = 0.0
    persistent_sign: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class AcceptanceCurve(Curve):
    """Lost or gained acceptance: marked-marked pairs among the retained-correct ones.

    Attributes:
        marked_rows, other_rows: clean-correct records that start as the quantity wants (accepted for lost acceptance)
            and the others, int64 of shape (C,).
        marked_columns, other_columns: perturbed-correct records that end so (rejected for lost acceptance), and the
            others.
    """

    marked_rows: Ints = None  # type: ignore[assignment]
    other_rows: Ints = None  # type: ignore[assignment]
    marked_columns: Ints = None  # type: ignore[assignment]
    other_columns: Ints = None  # type: ignore[assignment]

    def points(self, c: Ints, k: Ints) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """((x, y) least ratio, (x, y) greatest) as in `closed_forms.most_other_rows_ratio`."""
        return most_other_rows_ratio(
            self.marked_rows[c], self.other_rows[c], self.marked_columns[c], self.other_columns[c], k
        )

    def marked_range(self, c: Ints, k: Ints) -> tuple[Ints, Ints]:
        """Least and greatest number of marked rows among the retained-correct pairs."""
        return marked_row_range(self.marked_rows[c], self.other_rows[c], k)


class ProbabilityCurve(Curve):
    """Sum of p(x) - p'(y) over retained-correct pairs; a curve by itself, named for the choice rules."""


def curve(counts: ClassCounts, quantity: Quantity, knowledge: Knowledge, arithmetic: Arithmetic) -> Curve | None:
    """The curve of a quantity at a level of knowledge, or None where no claim covers it.

    Raises:
        RecordError: if the records lack the column that the quantity reads.
    """
    if quantity.probability:
        return _probability(counts, arithmetic)
    if quantity.name in ("lost-acceptance", "gained-acceptance"):
        lost = quantity.name == "lost-acceptance"
        rows = counts.clean_correct_accepted, counts.clean_correct_rejected
        columns = counts.perturbed_correct_rejected, counts.perturbed_correct_accepted
        r1, r0 = rows if lost else rows[::-1]
        c1, c0 = columns if lost else columns[::-1]
        return AcceptanceCurve(
            lambda c, k: block(r1[c], r0[c], c1[c], c0[c], k),
            marked_rows=r1,
            other_rows=r0,
            marked_columns=c1,
            other_columns=c0,
        )
    if quantity.name in _PLAIN:
        count = _PLAIN[quantity.name]
        return Curve(lambda c, k: (count(counts, c, k),) * 2)
    if quantity.name in ("persistent-wrong", "changed-wrong"):
        return _persistent(counts, knowledge, changed=quantity.name == "changed-wrong")
    if quantity.name in _TRANSITIONS and knowledge.level is not Level.FIVE_STATE:
        ends = _TRANSITIONS[quantity.name]
        return Curve(lambda c, k: ends(counts, c, k))
    if quantity.name == "kept-persistent-accepted-error":
        return _persistent_kept(counts, knowledge)
    return None


_PLAIN: dict[str, Callable[[ClassCounts, Ints, Ints], Ints]] = {
    "retained-correct": lambda n, c, k: k,
    "lost": lambda n, c, k: n.clean_correct[c] - k,
    "recovered": lambda n, c, k: n.perturbed_correct[c] - k,
    "flips": lambda n, c, k: n.clean_correct[c] + n.perturbed_correct[c] - 2 * k,
}


def _wrong(n: ClassCounts, c: Ints, k: Ints) -> Ints:
    return wrong_pairs(n.images[c], n.clean_correct[c], n.perturbed_correct[c], k)  # type: ignore[no-any-return]


def _persistent(counts: ClassCounts, knowledge: Knowledge, changed: bool) -> Curve:
    known = knowledge.persistent
    sign = -1 if changed else 1
    if known is not None:
        s = known

        def exactly(c: Ints, k: Ints) -> tuple[Ints, Ints]:
            count = _wrong(counts, c, k) - s[c] if changed else s[c]
            return count, count

        return Curve(exactly, persistent_sign=sign)
    by_class = counts.wrong_classes
    both = counts.clean_wrong + counts.perturbed_wrong
    owner = np.repeat(np.arange(len(both)), np.diff(by_class.starts))
    tightest = by_class.minimum(both[owner] - by_class.clean - by_class.perturbed, otherwise=both)
    common = by_class.sum(np.minimum(by_class.clean, by_class.perturbed))

    def ends(c: Ints, k: Ints) -> tuple[Ints, Ints]:
        wrong = _wrong(counts, c, k)
        least, most = persistent_range(wrong, tightest[c], common[c])
        return (wrong - most, wrong - least) if changed else (least, most)

    return Curve(ends, persistent_sign=sign)


def _probability(counts: ClassCounts, arithmetic: Arithmetic) -> ProbabilityCurve:
    starts, sums, exponent = _probability_sums(counts, arithmetic)

    def smallest(side: int, c: Ints, k: Ints) -> Ints:
        first = starts[side][c]
        total: Ints = sums[side][first + k] - sums[side][first]
        return total

    def largest(side: int, c: Ints, k: Ints) -> Ints:
        last = starts[side][c + 1]
        total: Ints = sums[side][last] - sums[side][last - k]
        return total

    def ends(c: Ints, k: Ints) -> tuple[Ints, Ints]:
        return smallest(0, c, k) - largest(1, c, k), largest(0, c, k) - smallest(1, c, k)

    return ProbabilityCurve(ends, scale=1 << exponent, step=0.0 if arithmetic == "exact" else 2.0**-exponent)


@lru_cache(maxsize=4)
def _probability_sums(counts: ClassCounts, arithmetic: Arithmetic) -> tuple[list[Ints], list[Ints], int]:
    """Running sums of the sorted probabilities of the correct records, both sides: (class starts, sums, exponent)."""
    evaluation = counts.evaluation
    correct = []
    for name, side, sizes in (
        ("clean", evaluation.clean, counts.clean_correct),
        ("perturbed", evaluation.perturbed, counts.perturbed_correct),
    ):
        if side.true_probability is None:
            raise RecordError(
                "true_probability",
                None,
                f"the {name} records have no such column",
                "add it, or leave mean-probability-decrease out",
            )
        groups = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        correct.append(sort_within(side.true_probability[side.correct], groups))
    *columns, exponent = integers(correct[0], correct[1], arithmetic, evaluation.images)
    starts = [np.concatenate([[0], np.cumsum(n)]) for n in (counts.clean_correct, counts.perturbed_correct)]
    sums = [np.concatenate([np.zeros(1, dtype=column.dtype), np.cumsum(column)]) for column in columns]
    return starts, sums, exponent


def _kept(n: ClassCounts, c: Ints, k: Ints) -> tuple[Ints, Ints]:
    e, f = n.clean_accepted_errors[c], n.perturbed_accepted_errors[c]
    return block(e, n.clean_wrong[c] - e, f, n.perturbed_wrong[c] - f, _wrong(n, c, k))


def _new(n: ClassCounts, c: Ints, k: Ints) -> tuple[Ints, Ints]:
    least, most = _kept(n, c, k)
    return n.perturbed_accepted_errors[c] - most, n.perturbed_accepted_errors[c] - least


def _resolved(n: ClassCounts, c: Ints, k: Ints) -> tuple[Ints, Ints]:
    least, most = _kept(n, c, k)
    return n.clean_accepted_errors[c] - most, n.clean_accepted_errors[c] - least


def _rejected_wrong(n: ClassCounts, c: Ints, k: Ints) -> tuple[Ints, Ints]:
    e, f = n.clean_accepted_errors[c], n.perturbed_accepted_errors[c]
    return block(n.clean_wrong[c] - e, e, f, n.perturbed_wrong[c] - f, _wrong(n, c, k))


def _from_correct(n: ClassCounts, c: Ints, k: Ints) -> tuple[Ints, Ints]:
    f, correct = n.perturbed_accepted_errors[c], n.clean_correct[c]
    return block(correct, 0, f, n.perturbed_wrong[c] - f, correct - k)


def _from_accepted_correct(n: ClassCounts, c: Ints, k: Ints) -> tuple[Ints, Ints]:
    f = n.perturbed_accepted_errors[c]
    return block(
        n.clean_correct_accepted[c],
        n.clean_correct_rejected[c],
        f,
        n.perturbed_wrong[c] - f,
        n.clean_correct[c] - k,
    )


def _accepted_error_classes(n: ClassCounts) -> tuple[Ints, Ints, Ints]:
    """Sum of min(e_l, e'_l); min of (W - e_l) + (W' - e'_l); min of (E - e_l) + (E' - e'_l); each of shape (C,)."""
    by_class = n.wrong_classes
    pairs = by_class.clean_accepted + by_class.perturbed_accepted
    common = segment_sum(np.minimum(by_class.clean_accepted, by_class.perturbed_accepted), by_class.starts)
    results = [common]
    for both in (n.clean_wrong + n.perturbed_wrong, n.clean_accepted_errors + n.perturbed_accepted_errors):
        owner = np.repeat(np.arange(len(both)), np.diff(by_class.starts))
        results.append(by_class.minimum(both[owner] - pairs, otherwise=both))
    return results[0], results[1], results[2]


def _kept_persistent(n: ClassCounts, c: Ints, k: Ints) -> tuple[Ints, Ints]:
    common, tightest, _ = _accepted_error_classes(n)
    return persistent_range(_wrong(n, c, k), tightest[c], common[c])


def _persistent_kept(n: ClassCounts, knowledge: Knowledge) -> Curve:
    """Given k and s, so there is one k to ask for."""
    retained, persistent, by_class = knowledge.retained_correct, knowledge.persistent, n.wrong_classes
    assert retained is not None
    assert persistent is not None
    owner = np.repeat(np.arange(len(retained)), np.diff(by_class.starts))
    least = persistent_lower_share(
        by_class.clean,
        by_class.perturbed,
        _wrong(n, owner, retained[owner]),
        persistent[owner],
        (n.clean_wrong + n.perturbed_wrong)[owner],
    )
    low, high = persistent_kept_errors(
        least,
        np.minimum(by_class.clean, by_class.perturbed),
        by_class.clean + by_class.perturbed - by_class.clean_accepted - by_class.perturbed_accepted,
        np.minimum(by_class.clean_accepted, by_class.perturbed_accepted),
        persistent,
        by_class.sum,
    )
    return Curve(lambda c, k: (low[c], high[c]))


def _kept_changed(n: ClassCounts, c: Ints, k: Ints) -> tuple[Ints, Ints]:
    common, _, tightest = _accepted_error_classes(n)
    e, f = n.clean_accepted_errors[c], n.perturbed_accepted_errors[c]
    return kept_changed_range(
        _wrong(n, c, k), e, f, n.clean_wrong[c] - e, n.perturbed_wrong[c] - f, tightest[c], common[c]
    )


_TRANSITIONS: dict[str, Callable[[ClassCounts, Ints, Ints], tuple[Ints, Ints]]] = {
    "new-accepted-error": _new,
    "resolved-accepted-error": _resolved,
    "kept-accepted-error": _kept,
    "kept-persistent-accepted-error": _kept_persistent,
    "kept-changed-accepted-error": _kept_changed,
    "rejected-wrong-to-accepted-error": _rejected_wrong,
    "correct-to-accepted-error": _from_correct,
    "accepted-correct-to-accepted-error": _from_accepted_correct,
}
