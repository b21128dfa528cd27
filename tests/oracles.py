"""Slow and obvious: every correspondence of a small evaluation, straight from the definitions.

Shares no code with `bounds` beyond the record arrays of `Evaluation`, and no formula with the closed forms.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product


def records(side):
    """One (correct, predicted, accepted, probability) a row, in plain Python."""
    size = len(side.correct)
    accepted = [False] * size if side.accepted is None else [bool(a) for a in side.accepted]
    probability = [Fraction(0)] * size
    if side.true_probability is not None:
        probability = [Fraction(float(p)) for p in side.true_probability]
    return [(bool(side.correct[i]), int(side.predicted[i]), accepted[i], probability[i]) for i in range(size)]


def state(x, y):
    if x[0]:
        return "CC" if y[0] else "CW"
    if y[0]:
        return "WC"
    return "WS" if x[1] == y[1] else "WD"


def accepted_error(x):
    return not x[0] and x[2]


NUMERATORS = {
    "lost-acceptance": lambda x, y: state(x, y) == "CC" and x[2] and not y[2],
    "gained-acceptance": lambda x, y: state(x, y) == "CC" and not x[2] and y[2],
    "mean-probability-decrease": lambda x, y: x[3] - y[3] if state(x, y) == "CC" else 0,
    "retained-correct": lambda x, y: state(x, y) == "CC",
    "lost": lambda x, y: state(x, y) == "CW",
    "recovered": lambda x, y: state(x, y) == "WC",
    "flips": lambda x, y: x[0] != y[0],
    "persistent-wrong": lambda x, y: state(x, y) == "WS",
    "changed-wrong": lambda x, y: state(x, y) == "WD",
    "new-accepted-error": lambda x, y: accepted_error(y) and not accepted_error(x),
    "resolved-accepted-error": lambda x, y: accepted_error(x) and not accepted_error(y),
    "kept-accepted-error": lambda x, y: accepted_error(x) and accepted_error(y),
    "kept-persistent-accepted-error": lambda x, y: accepted_error(x) and accepted_error(y) and x[1] == y[1],
    "kept-changed-accepted-error": lambda x, y: accepted_error(x) and accepted_error(y) and x[1] != y[1],
    "rejected-wrong-to-accepted-error": lambda x, y: not x[0] and not x[2] and accepted_error(y),
    "correct-to-accepted-error": lambda x, y: x[0] and accepted_error(y),
    "accepted-correct-to-accepted-error": lambda x, y: x[0] and x[2] and accepted_error(y),
}

DENOMINATORS = {
    "images": lambda x, y: True,
    "clean-correct": lambda x, y: x[0],
    "retained-correct": lambda x, y: state(x, y) == "CC",
    "retained-correct-accepted": lambda x, y: state(x, y) == "CC" and x[2],
    "retained-correct-rejected": lambda x, y: state(x, y) == "CC" and not x[2],
    "clean-accepted-errors": lambda x, y: accepted_error(x),
    "perturbed-accepted-errors": lambda x, y: accepted_error(y),
}


@lru_cache(maxsize=256)
def outcomes(evaluation, c, quantity, denominator):
    """The set of (k, s, numerator, denominator) over all bijections of class `c`; denominator 0 for "none"."""
    rows = range(int(evaluation.starts[c]), int(evaluation.starts[c + 1]))
    clean = [records(evaluation.clean)[i] for i in rows]
    perturbed = [records(evaluation.perturbed)[i] for i in rows]
    top = NUMERATORS[quantity]
    below = DENOMINATORS.get(denominator, lambda x, y: 0)
    k = [[state(x, y) == "CC" for y in perturbed] for x in clean]
    s = [[state(x, y) == "WS" for y in perturbed] for x in clean]
    n = [[top(x, y) for y in perturbed] for x in clean]
    d = [[below(x, y) for y in perturbed] for x in clean]
    found = set()
    for order in permutations(range(len(clean))):
        found.add(tuple(sum((table[i][j] for i, j in enumerate(order)), Fraction(0)) for table in (k, s, n, d)))
    return found


def choices(evaluation, quantity, denominator, level, k, s, only=None):
    """Every tuple of (numerator, denominator) a class, over all correspondences consistent with a level of knowledge.

    `k` and `s` are the known counts of each class; `only` restricts the quantity, not the knowledge, to one class.
    """
    per_class = []
    for c in range(len(evaluation.classes)):
        found = outcomes(evaluation, c, quantity, denominator)
        if level in ("correct-correct", "five-state"):
            found = {o for o in found if o[0] == k[c]}
        if level == "five-state":
            found = {o for o in found if o[1] == s[c]}
        per_class.append({(o[0], o[2], o[3]) for o in found})
    for choice in product(*per_class):
        if level != "total-correct-correct" or sum(o[0] for o in choice) == sum(k):
            yield tuple((n, d) for _, n, d in (choice if only is None else (choice[only],)))


def values(evaluation, quantity, denominator, average, level, k, s, only=None):
    """Every value (None: undefined) over the same correspondences."""
    return {_value(c, denominator, average) for c in choices(evaluation, quantity, denominator, level, k, s, only)}


def _value(pairs, denominator, average):
    if denominator == "none":
        return sum((n for n, _ in pairs), Fraction(0))
    if average == "micro":
        below = sum(d for _, d in pairs)
        return sum(n for n, _ in pairs) / below if below else None
    rates = [n / d for n, d in pairs if d]
    return sum(rates) / len(rates) if rates else None
