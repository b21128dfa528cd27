"""The closed forms, vectorised over classes.

Every function takes integers or equally long integer arrays (one entry a class) and a namespace `xp` that offers
`maximum` and `minimum`: NumPy, or a symbolic stand-in, so that what is proved and what is computed are one object.

Counts of one class: `images` n; `clean_correct` A and `perturbed_correct` B; `pairs` k, the retained-correct pairs.
Where a function speaks of marked rows and columns, a *row* is a clean record and a *column* a perturbed one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bounds.errors import CountError

__all__ = [
    "block",
    "correct_correct_range",
    "feasible_correct_correct",
    "kept_changed_range",
    "marked_row_range",
    "most_other_rows_ratio",
    "persistent_kept_errors",
    "persistent_lower_share",
    "persistent_range",
    "ratio_pairs",
    "wrong_pairs",
]

Counts = Any
"""An integer, an int64 array, or a symbolic integer."""


def correct_correct_range(
    images: Counts, clean_correct: Counts, perturbed_correct: Counts, xp: Any = np
) -> tuple[Counts, Counts]:
    """Least and greatest number of retained-correct pairs; every integer between is attained.

    Claim: feasible_correct_correct (C1).

    >>> [int(end) for end in correct_correct_range(10, 8, 5)]
    [3, 5]
    """
    return xp.maximum(0, clean_correct + perturbed_correct - images), xp.minimum(clean_correct, perturbed_correct)


def feasible_correct_correct(images: int, clean_correct: int, perturbed_correct: int) -> range:
    """Counts of retained-correct images that some correspondence attains.

    Args:
        images: images in the class, n >= 0.
        clean_correct: correct clean records, 0..n.
        perturbed_correct: correct perturbed records, 0..n.

    Returns:
        Every attainable count, ascending; none is skipped.

    Raises:
        CountError: if a count is outside 0..n.

    Claim: feasible_correct_correct (C1).

    >>> list(feasible_correct_correct(10, 8, 5))
    [3, 4, 5]
    """
    if images < 0:
        raise CountError("images", images, "a class has no fewer than 0 images", "give a count >= 0")
    for name, value in (("clean_correct", clean_correct), ("perturbed_correct", perturbed_correct)):
        if not 0 <= value <= images:
            raise CountError(name, value, f"not in 0..{images}, the images of the class", "check the counts")
    low, high = correct_correct_range(images, clean_correct, perturbed_correct)
    return range(int(low), int(high) + 1)


def block(
    marked_rows: Counts, other_rows: Counts, marked_columns: Counts, other_columns: Counts, pairs: Counts, xp: Any = np
) -> tuple[Counts, Counts]:
    """Least and greatest number of marked-marked pairs among `pairs` disjoint (row, column) pairs.

    Every integer between is attained. Lost acceptance given k is `block(A1, A0, B0, B1, k)`, gained acceptance
    `block(A0, A1, B1, B0, k)`.

    Claims: lost_acceptance (C3); the block lemma of transition_counts (C13).

    >>> [int(end) for end in block(3, 2, 2, 2, 4)]
    [0, 2]
    """
    least = xp.maximum(0, pairs - other_rows - other_columns)
    return least, xp.minimum(xp.minimum(marked_rows, marked_columns), pairs)


def marked_row_range(marked_rows: Counts, other_rows: Counts, pairs: Counts, xp: Any = np) -> tuple[Counts, Counts]:
    """Least and greatest number of marked rows among the rows of `pairs` pairs.

    With clean-accepted rows marked this is the denominator `retained-correct-accepted` given k.

    >>> [int(end) for end in marked_row_range(3, 2, 4)]
    [2, 3]
    """
    return xp.maximum(0, pairs - other_rows), xp.minimum(marked_rows, pairs)


def most_other_rows_ratio(
    marked_rows: Counts,
    other_rows: Counts,
    marked_columns: Counts,
    other_columns: Counts,
    pairs: Counts,
    xp: Any = np,
) -> tuple[tuple[Counts, Counts], tuple[Counts, Counts]]:
    """Where marked-marked pairs over marked rows is least and greatest, for a fixed number of pairs.

    Returns:
        ((x, y) at the least ratio, (x, y) at the greatest): x marked-marked pairs, y marked rows. Both points are
        attained, and for every 0 <= t <= 1 they minimise, respectively maximise, x - t y; so they also decide sums
        over classes. Where y is 0 although another choice has a marked row, the ratio there is 1 (least) or 0
        (greatest).

    Source: theory, section 1, ratio closed forms.

    >>> most_other_rows_ratio(3, 2, 2, 2, 4)[1]
    (np.int64(2), np.int64(2))
    """
    least, greatest = block(marked_rows, other_rows, marked_columns, other_columns, pairs, xp)
    unmarked = xp.minimum(xp.minimum(marked_rows, other_columns), pairs)
    return (
        (least, xp.maximum(pairs - other_rows, unmarked)),
        (greatest, xp.maximum(pairs - other_rows, greatest)),
    )


def ratio_pairs(
    low: Counts,
    high: Counts,
    marked_rows: Counts,
    other_rows: Counts,
    marked_columns: Counts,
    other_columns: Counts,
    over_marked_rows: bool,
    xp: Any = np,
) -> tuple[Counts, Counts]:
    """The k of each class at which a ratio of sums over classes is least and greatest, when k is only in low..high.

    Args:
        low, high: the feasible k.
        over_marked_rows: whether the denominator is the marked rows (clean accepted, for lost acceptance) rather than
            all retained-correct pairs.

    Returns:
        (k at the least ratio, k at the greatest); the points are `block`'s or `most_other_rows_ratio`'s at that k.

    Source: theory, section 1, ratio closed forms.

    >>> [int(k) for k in ratio_pairs(1, 5, 3, 2, 2, 3, False)]
    [5, 2]
    """
    spare = other_columns if over_marked_rows else other_rows + other_columns
    most = xp.minimum(marked_rows, marked_columns)
    return xp.maximum(low, xp.minimum(high, spare)), xp.maximum(low, xp.minimum(high, most))


def wrong_pairs(images: Counts, clean_correct: Counts, perturbed_correct: Counts, pairs: Counts) -> Counts:
    """m, the images wrong on both sides: n - A - B + k.

    >>> wrong_pairs(10, 6, 5, 3)
    2
    """
    return images - clean_correct - perturbed_correct + pairs


def persistent_range(wrong: Counts, tightest: Counts, common: Counts, xp: Any = np) -> tuple[Counts, Counts]:
    """Least and greatest number of persistent-wrong pairs given k; both are attained, but there are holes between.

    Of kept, persistent accepted errors too (C13), with the accepted errors e_l and e'_l in place of w_l and w'_l, while
    W and W' stay.

    Args:
        wrong: m, the images wrong on both sides.
        tightest: min over wrong classes of (W - w_l) + (W' - w'_l), at least 0; W + W' where there are none.
        common: sum over wrong classes of min(w_l, w'_l).

    Claim: feasible_persistent (C5), transition_counts (C13).

    >>> [int(end) for end in persistent_range(2, 2, 2)]
    [0, 2]
    """
    return xp.maximum(0, wrong - tightest), xp.minimum(wrong, common)


def persistent_lower_share(
    clean_wrong: Counts, perturbed_wrong: Counts, wrong: Counts, persistent: Counts, total: Counts, xp: Any = np
) -> Counts:
    """L_l(s): the persistent pairs that wrong class l must hold if s pairs are persistent in all.

    Args:
        clean_wrong, perturbed_wrong: w_l and w'_l.
        wrong: m; persistent: s; total: W + W'.

    Claim: feasible_persistent (C5); the ceiling makes the holes.

    >>> int(persistent_lower_share(1, 1, 2, 1, 4))
    1
    """
    return xp.maximum(0, -((total - clean_wrong - perturbed_wrong - wrong - persistent) // 2))


def kept_changed_range(
    wrong: Counts,
    clean_errors: Counts,
    perturbed_errors: Counts,
    clean_other: Counts,
    perturbed_other: Counts,
    tightest: Counts,
    common: Counts,
    xp: Any = np,
) -> tuple[Counts, Counts]:
    """Least and greatest number of kept, changed accepted errors given k; both attained, with holes between.

    Args:
        wrong: m; clean_errors, perturbed_errors: E and E'; clean_other, perturbed_other: W - E and W' - E'.
        tightest: min over classes of (E - e_l) + (E' - e'_l), E + E' where there are none.
        common: sum over classes of min(e_l, e'_l).

    Claim: transition_counts (C13).
    """
    least = xp.maximum(0, wrong - clean_other - perturbed_other - common)
    most = xp.minimum(xp.minimum(wrong, tightest), xp.minimum(clean_errors, perturbed_errors))
    return least, most


def persistent_kept_errors(
    least: Counts, most: Counts, spared: Counts, common: Counts, persistent: Counts, total: Any, xp: Any = np
) -> tuple[Counts, Counts]:
    """Least and greatest number of kept, persistent accepted errors given k and s; every integer between is attained.

    Args:
        least, most: L_l(s) and min(w_l, w'_l), one entry for each label l that is wrong on either side.
        spared: (w_l - e_l) + (w'_l - e'_l), the wrong records of the label that are no accepted errors.
        common: min(e_l, e'_l).
        persistent: s, one entry a class.
        total: sums entries over the labels of each class.

    Claim: persistent_kept_errors (C15).

    >>> one, two = np.array([0, 0]), np.array([1, 2])
    >>> [int(end) for end in persistent_kept_errors(one, two, one, np.array([1, 1]), 2, np.sum)]
    [2, 2]
    """
    low = total(xp.maximum(0, least - spared)) + xp.maximum(
        0, persistent - total(xp.maximum(least, xp.minimum(most, spared)))
    )
    return low, xp.minimum(total(common), persistent - total(xp.maximum(0, least - common)))
