"""What is known of the correspondence, and which counts are feasible at all.

From least to most: `marginals` (nothing), `total-correct-correct` (the sum over classes of retained-correct images),
`correct-correct` (that count for each class), `five-state` (with the persistent-wrong count, the whole table of states
of each class) and `paired` (the correspondence itself).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from bounds.closed_forms import correct_correct_range, persistent_lower_share, wrong_pairs
from bounds.counts import ClassCounts, counts_of
from bounds.errors import CountError, InfeasibleError, QuantityError
from bounds.evaluation import Evaluation
from bounds.exact import plain_array
from bounds.quantities import STATES

__all__ = [
    "Knowledge",
    "Level",
    "check_persistent",
    "check_retained_correct",
    "check_total",
    "feasible_persistent",
    "know",
]

Ints = npt.NDArray[np.int64]


class Level(StrEnum):
    """The five levels of knowledge, ascending."""

    MARGINALS = "marginals"
    TOTAL = "total-correct-correct"
    CLASSWISE = "correct-correct"
    FIVE_STATE = "five-state"
    PAIRED = "paired"


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """A level with its counts.

    Attributes:
        level: the level.
        total: K, the retained-correct images of all classes; for `total-correct-correct` only.
        retained_correct: k, int64 of shape (C,); for `correct-correct` and `five-state`.
        persistent: s, int64 of shape (C,); for `five-state`.
    """

    level: Level
    total: int | None = None
    retained_correct: Ints | None = None
    persistent: Ints | None = None

    def of_class(self, index: int) -> Knowledge:
        """What the level says of one class; nothing of its own where only the total over classes is known."""

        def part(values: Ints | None) -> Ints | None:
            return None if values is None else values[index : index + 1]

        return Knowledge(self.level, None, part(self.retained_correct), part(self.persistent))


def know(
    evaluation: Evaluation,
    level: str | Level,
    *,
    retained_correct: npt.ArrayLike | None = None,
    persistent: npt.ArrayLike | None = None,
    total: int | None = None,
) -> Knowledge:
    """The knowledge of a level, with counts taken from the true pairing where they are not given.

    Args:
        evaluation: of which records.
        level: a `Level` or its name.
        retained_correct: k, int of shape (C,).
        persistent: s, int of shape (C,).
        total: K; the sum of `retained_correct` by default.

    Raises:
        QuantityError: if the level is unknown, or counts are needed that neither the pairing nor the caller gives.
        CountError: if counts are not integers, negative, or of the wrong shape.
        InfeasibleError: if no correspondence has the counts; the message names the class and the violated condition.

    Claims: feasible_correct_correct (C1), feasible_persistent (C5), total_count_allocation (C11).
    """
    try:
        level = Level(level)
    except ValueError:
        raise QuantityError("knowledge", level, "unknown", f"choose among {', '.join(Level)}") from None
    if level is Level.PAIRED and not evaluation.paired:
        raise QuantityError(
            "knowledge", str(level), "the two sides have no common ids", f"ask for {', '.join(list(Level)[:-1])}"
        )
    if level in (Level.MARGINALS, Level.PAIRED):
        return Knowledge(level)
    counts = counts_of(evaluation)
    if evaluation.paired and retained_correct is None and total is None:
        retained_correct = counts.cells[:, STATES.index("CC")].sum(axis=(1, 2))
    if evaluation.paired and persistent is None:
        persistent = counts.cells[:, STATES.index("WS")].sum(axis=(1, 2))
    if level is Level.TOTAL:
        if total is None:
            if retained_correct is None:
                raise _missing(level, "total")
            k = _integers("retained_correct", retained_correct, evaluation)
            check_retained_correct(counts, k)
            total = int(k.sum())
        check_total(counts, total)
        return Knowledge(level, total=total)
    if retained_correct is None:
        raise _missing(level, "retained_correct")
    k = _integers("retained_correct", retained_correct, evaluation)
    check_retained_correct(counts, k)
    if level is Level.CLASSWISE:
        return Knowledge(level, retained_correct=k)
    if persistent is None:
        raise _missing(level, "persistent")
    s = _integers("persistent", persistent, evaluation)
    check_persistent(counts, k, s)
    return Knowledge(level, retained_correct=k, persistent=s)


def _missing(level: Level, name: str) -> QuantityError:
    return QuantityError("knowledge", str(level), f"needs the count {name!r}", "give it for every class (--counts)")


def _integers(name: str, values: npt.ArrayLike, evaluation: Evaluation) -> Ints:
    try:
        array = plain_array(values)
    except ValueError as error:
        raise CountError(name, None, str(error), "give one per class") from None
    if array.shape != (len(evaluation.classes),):
        raise CountError(name, list(array.shape), f"needs shape ({len(evaluation.classes)},)", "give one per class")
    if array.dtype.kind not in "iu" and len(array):
        raise CountError(name, str(array.dtype), "counts are integers", "give integers")
    return array.astype(np.int64)


def check_total(counts: ClassCounts, total: int) -> None:
    """Raise `InfeasibleError` unless some correspondence retains `total` correct images in all (C1, summed)."""
    low, high = correct_correct_range(counts.images, counts.clean_correct, counts.perturbed_correct)
    if not int(low.sum()) <= total <= int(high.sum()):
        raise InfeasibleError(
            "retained correct, in all",
            total,
            f"feasible are {int(low.sum())} to {int(high.sum())}: the sums over classes of max(0, A + B - n) and of "
            "min(A, B)",
            "check the count and the records",
        )


def check_retained_correct(counts: ClassCounts, retained_correct: Ints) -> None:
    """Raise `InfeasibleError` unless max(0, A + B - n) <= k <= min(A, B) in every class (C1)."""
    low, high = correct_correct_range(counts.images, counts.clean_correct, counts.perturbed_correct)
    wrong = np.flatnonzero((retained_correct < low) | (retained_correct > high))
    if len(wrong):
        c = int(wrong[0])
        n, a, b = counts.images[c], counts.clean_correct[c], counts.perturbed_correct[c]
        raise InfeasibleError(
            f"class {counts.evaluation.classes[c]!r}, retained correct",
            int(retained_correct[c]),
            f"max(0, {a} + {b} - {n}) = {low[c]} <= k <= min({a}, {b}) = {high[c]} is violated",
            "check the count and the records",
        )


def check_persistent(counts: ClassCounts, retained_correct: Ints, persistent: Ints) -> None:
    """Raise `InfeasibleError` unless (k, s) is feasible in every class (C5, parity included)."""
    wrong = wrong_pairs(counts.images, counts.clean_correct, counts.perturbed_correct, retained_correct)
    by_class = counts.wrong_classes
    owner = np.repeat(np.arange(len(wrong)), np.diff(by_class.starts))
    least = persistent_lower_share(
        by_class.clean,
        by_class.perturbed,
        wrong[owner],
        persistent[owner],
        (counts.clean_wrong + counts.perturbed_wrong)[owner],
    )
    most = np.minimum(by_class.clean, by_class.perturbed)
    sum_least, sum_most = by_class.sum(least), by_class.sum(most)
    squeezed = by_class.sum((least > most).astype(np.int64)) > 0
    bad = (persistent < 0) | (persistent > wrong) | (persistent > sum_most) | (persistent < sum_least) | squeezed
    if not bad.any():
        return
    c = int(np.flatnonzero(bad)[0])
    s, m = int(persistent[c]), int(wrong[c])
    if s < 0 or s > m:
        rule = f"0 <= s <= m = {m}, the images wrong on both sides, is violated"
    elif s > sum_most[c]:
        rule = f"s <= sum over wrong classes of min(w, w') = {sum_most[c]} is violated"
    else:
        entries = range(int(by_class.starts[c]), int(by_class.starts[c + 1]))
        over = next((e for e in entries if least[e] > most[e]), None)
        if over is not None:
            label = counts.evaluation.labels[int(by_class.label[over])]
            rule = (
                f"wrong class {label!r} would need {least[over]} persistent pairs "
                f"(parity: ceil((w + w' + m + s - W - W')/2)) and has min(w, w') = {most[over]}"
            )
        else:
            rule = (
                f"the wrong classes need {sum_least[c]} persistent pairs together "
                "(parity: sum of ceil((w + w' + m + s - W - W')/2)), more than s"
            )
    raise InfeasibleError(
        f"class {counts.evaluation.classes[c]!r}, persistent wrong", s, rule, "check the count and the records"
    )


def feasible_persistent(counts: ClassCounts, c: int, retained_correct: int) -> list[int]:
    """Every persistent-wrong count of class `c` that some correspondence with `retained_correct` attains, ascending.

    There are holes: clean wrong {a, b}, perturbed wrong {a, b}, both images wrong twice gives [0, 2].

    Claim: feasible_persistent (C5).
    """
    single = ClassCounts(counts.evaluation.select([c]))
    k = np.array([retained_correct], dtype=np.int64)
    check_retained_correct(single, k)
    wrong = int(wrong_pairs(single.images, single.clean_correct, single.perturbed_correct, k)[0])
    found = []
    for s in range(wrong + 1):
        try:
            check_persistent(single, k, np.array([s], dtype=np.int64))
        except InfeasibleError:
            continue
        found.append(s)
    return found
