"""Correspondences themselves: reading a quantity off one, and building one with given counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.aggregate import mean_rate
from bounds.closed_forms import persistent_lower_share
from bounds.counts import identity_cells, segment_sum, weighted
from bounds.errors import InfeasibleError
from bounds.evaluation import Evaluation
from bounds.exact import Arithmetic, integers
from bounds.quantities import DENOMINATORS, Quantity

__all__ = [
    "acceptance_pairs",
    "aligned",
    "cell_counts",
    "class_numerators",
    "complete",
    "probabilities",
    "value",
    "value_as_paired",
]

Ints = npt.NDArray[np.int64]


def aligned(evaluation: Evaluation, match: Ints) -> Evaluation:
    """The evaluation with its perturbed rows moved so that row i of both sides is a pair of `match`.

    Args:
        match: int64 of shape (N,), a bijection within every class.

    Raises:
        InfeasibleError: if it is not.
    """
    classes = evaluation.class_of_row
    if len(match) != evaluation.images or not np.array_equal(np.sort(match), np.arange(len(match))):
        raise InfeasibleError("match", None, "not a bijection of the rows", "pair every row exactly once")
    if not np.array_equal(classes[match], classes):
        raise InfeasibleError("match", None, "pairs records of different classes", "pair within each class")
    return replace(evaluation, perturbed=evaluation.perturbed.take(match))


def cell_counts(evaluation: Evaluation, match: Ints) -> Ints:
    """int64 of shape (C, 5, 2, 2): pairs by class, state, accepted clean, accepted perturbed.

    Where acceptance is unknown every pair counts as rejected on both sides.
    """
    return identity_cells(aligned(evaluation, match), evaluation.class_of_row)


def class_numerators(evaluation: Evaluation, match: Ints, quantity: Quantity) -> list[Fraction]:
    """The numerator of each class at a correspondence, exactly; C entries."""
    moved = aligned(evaluation, match)
    sums, scale = _numerators(moved, identity_cells(moved, moved.class_of_row), quantity, "exact")
    return [Fraction(int(n), scale) for n in sums]


def value(
    evaluation: Evaluation, match: Ints, quantity: Quantity, denominator: str, average: str | None
) -> Fraction | None:
    """The exact value at a correspondence, or None where it is undefined there.

    Args:
        match: int64 of shape (N,), a bijection within every class.
        denominator: a name that the quantity offers, "none" for the plain count or sum.
        average: "micro" (or None: the same, for a single class) or "macro".

    Source: theory, section 1 (micro, macro).
    """
    moved = aligned(evaluation, match)
    return value_as_paired(moved, identity_cells(moved, moved.class_of_row), quantity, denominator, average)


def value_as_paired(
    evaluation: Evaluation,
    cells: Ints,
    quantity: Quantity,
    denominator: str,
    average: str | None,
    arithmetic: Arithmetic = "exact",
) -> Fraction | None:
    """`value` where row i is paired with row i, whose `identity_cells` are given.

    With "float" arithmetic probabilities are rounded to the grid (`bounds.exact`) first.
    """
    numerators, scale = _numerators(evaluation, cells, quantity, arithmetic)
    if denominator == "none":
        return Fraction(int(numerators.sum()), scale)
    denominators: Ints = weighted(cells, DENOMINATORS[denominator])
    counted = denominators > 0
    if not counted.any():
        return None
    if average == "macro":
        return mean_rate(numerators[counted], denominators[counted]) / scale
    return Fraction(int(numerators.sum()), int(denominators.sum()) * scale)


def probabilities(evaluation: Evaluation) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.object_], int]:
    """True-class probabilities of both sides as Python integers over 2 ** e, exactly: (clean, perturbed, e)."""
    clean, perturbed = evaluation.clean.true_probability, evaluation.perturbed.true_probability
    assert clean is not None
    assert perturbed is not None
    return integers(clean, perturbed, "exact", evaluation.images)


def _numerators(
    evaluation: Evaluation, cells: Ints, quantity: Quantity, arithmetic: Arithmetic
) -> tuple[npt.NDArray[Any], int]:
    """Class numerators times a scale, as integers, where row i is paired with row i."""
    counts: Ints = weighted(cells, quantity.cells)
    if not quantity.probability:
        return counts, 1
    clean, perturbed = evaluation.clean, evaluation.perturbed
    assert clean.true_probability is not None
    assert perturbed.true_probability is not None
    retained = np.flatnonzero(clean.correct & perturbed.correct)
    p, q, exponent = integers(
        clean.true_probability[retained], perturbed.true_probability[retained], arithmetic, evaluation.images
    )
    starts = np.searchsorted(retained, evaluation.starts)
    return segment_sum(p - q, starts) + (counts << exponent), 1 << exponent


def acceptance_pairs(evaluation: Evaluation, tables: Ints) -> tuple[Ints, Ints]:
    """Retained-correct pairs with given acceptance.

    Args:
        tables: int64 of shape (C, 2, 2), `tables[c, a, b]` pairs accepted (1) or rejected (0) on the clean side (a)
            and on the perturbed side (b).

    Returns:
        (clean rows, perturbed rows), int64, paired in order.

    Raises:
        InfeasibleError: if a class has too few records of a kind.
    """
    clean_rows: list[Ints] = []
    perturbed_rows: list[Ints] = []
    for c, table in enumerate(tables):
        rows = slice(int(evaluation.starts[c]), int(evaluation.starts[c + 1]))
        for side, found, needs in (
            (evaluation.clean, clean_rows, [(a, int(table[a].sum())) for a in (0, 1)]),
            (evaluation.perturbed, perturbed_rows, [(b, int(table[a, b])) for a in (0, 1) for b in (0, 1)]),
        ):
            accepted = side.accepted
            assert accepted is not None
            left = {bit: list(np.flatnonzero(side.correct[rows] & (accepted[rows] == bit))) for bit in (0, 1)}
            for bit, count in needs:
                if count < 0 or count > len(left[bit]):
                    raise InfeasibleError(
                        f"class {evaluation.classes[c]!r}",
                        table.tolist(),
                        f"needs {count} correct records with accepted = {bit}, has {len(left[bit])}",
                        "choose another table",
                    )
                found.append(rows.start + np.array(left[bit][:count], dtype=np.int64))
                del left[bit][:count]
    return _joined(clean_rows), _joined(perturbed_rows)


def complete(evaluation: Evaluation, clean_rows: Ints, perturbed_rows: Ints, persistent: Ints | None = None) -> Ints:
    """A correspondence whose retained-correct pairs are exactly the given ones.

    Args:
        clean_rows, perturbed_rows: int64, correct rows of the two sides, paired in order, each pair in one class.
        persistent: int64 of shape (C,), the persistent-wrong pairs of each class; None leaves them free.

    Returns:
        int64 of shape (N,), a bijection within every class.

    Raises:
        InfeasibleError: if no correspondence has these counts.

    Claims: correct_correct_suffices (C2: the pairs and the wrong-wrong block are chosen independently),
    feasible_persistent (C5).
    """
    match = np.full(evaluation.images, -1, dtype=np.int64)
    match[clean_rows] = perturbed_rows
    taken = np.zeros(evaluation.images, dtype=bool)
    taken[perturbed_rows] = True
    for c, name in enumerate(evaluation.classes):
        rows = np.arange(evaluation.starts[c], evaluation.starts[c + 1], dtype=np.int64)
        clean_left = rows[match[rows] < 0]
        perturbed_left = rows[~taken[rows]]
        correct = clean_left[evaluation.clean.correct[clean_left]]
        wrong = clean_left[~evaluation.clean.correct[clean_left]]
        recovered = perturbed_left[evaluation.perturbed.correct[perturbed_left]]
        lost = perturbed_left[~evaluation.perturbed.correct[perturbed_left]]
        both_wrong = len(lost) - len(correct)
        if both_wrong < 0 or len(wrong) - len(recovered) != both_wrong:
            raise InfeasibleError(
                f"class {name!r}", len(rows) - len(clean_left), "not a feasible retained-correct count", "see claim C1"
            )
        wanted = None if persistent is None else int(persistent[c])
        kept = _wrong_wrong(evaluation, wrong, lost, both_wrong, wanted, name)
        match[wrong[kept[0]]] = lost[kept[1]]
        match[np.delete(wrong, kept[0])] = recovered
        match[correct] = np.delete(lost, kept[1])
    return match


def _wrong_wrong(
    evaluation: Evaluation, clean: Ints, perturbed: Ints, pairs: int, persistent: int | None, name: str | int
) -> tuple[Ints, Ints]:
    """Positions (in `clean`, in `perturbed`) of `pairs` wrong-wrong pairs, `persistent` of them with one label."""
    if persistent is None:
        return np.arange(pairs, dtype=np.int64), np.arange(pairs, dtype=np.int64)
    rows: dict[int, list[int]] = {}
    columns: dict[int, list[int]] = {}
    for positions, found, side in ((clean, rows, evaluation.clean), (perturbed, columns, evaluation.perturbed)):
        for position, label in enumerate(side.predicted[positions].tolist()):
            found.setdefault(label, []).append(position)
    labels = sorted(rows.keys() | columns.keys())
    same, row_amounts, column_amounts = _persistent_split(
        [(len(rows.get(label, [])), len(columns.get(label, []))) for label in labels], pairs, persistent, name
    )
    chosen: list[tuple[int, int]] = []
    for label, count in zip(labels, same, strict=True):
        chosen += [(rows[label].pop(), columns[label].pop()) for _ in range(count)]
    for _ in range(pairs - persistent):
        i, j = _off_diagonal(row_amounts, column_amounts)
        row_amounts[i] -= 1
        column_amounts[j] -= 1
        chosen.append((rows[labels[i]].pop(), columns[labels[j]].pop()))
    found_rows, found_columns = zip(*chosen, strict=True) if chosen else ((), ())
    return np.array(found_rows, dtype=np.int64), np.array(found_columns, dtype=np.int64)


def _persistent_split(
    wrong: list[tuple[int, int]], pairs: int, persistent: int, name: str | int
) -> tuple[list[int], list[int], list[int]]:
    """Persistent pairs by label, and what rows and columns of each label the changed pairs use (C5)."""
    total = sum(w + v for w, v in wrong)
    same = [int(persistent_lower_share(w, v, pairs, persistent, total)) for w, v in wrong]
    left = persistent - sum(same)
    for index, (w, v) in enumerate(wrong):
        more = min(left, min(w, v) - same[index])
        if more < 0:
            left = -1
            break
        same[index] += more
        left -= more
    if left or persistent > pairs:
        raise InfeasibleError(
            f"class {name!r}", persistent, "not a feasible persistent-wrong count", "see feasible_persistent (C5)"
        )
    rows = [w - d for (w, _), d in zip(wrong, same, strict=True)]
    columns = [v - d for (_, v), d in zip(wrong, same, strict=True)]
    for amounts in (rows, columns):
        for _ in range(sum(amounts) - (pairs - persistent)):
            spare = max((r + c, i) for i, (r, c) in enumerate(zip(rows, columns, strict=True)) if amounts[i])[1]
            amounts[spare] -= 1
    return same, rows, columns


def _off_diagonal(rows: list[int], columns: list[int]) -> tuple[int, int]:
    """A (row label, column label) pair of two labels that leaves the rest matchable without equal labels."""
    order = sorted(range(len(rows)), key=lambda i: -(rows[i] + columns[i]))
    first = order[0]
    for other in order[1:]:
        if rows[first] and columns[other]:
            return first, other
        if columns[first] and rows[other]:
            return other, first
    raise InfeasibleError("changed-wrong pairs", None, "no pair of different labels is left", "see claim C5")


def _joined(parts: Iterable[Ints]) -> Ints:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
