"""C15 for classes of all sizes with two or three wrong classes: kept, persistent accepted errors given k and s."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from proofs.evidence import Cell
from proofs.smt.feasible_persistent import Labels
from proofs.smt.solving import decide
from proofs.smt.tables import block_table, fits, part
from proofs.smt.terms import TERMS, Question, Term, between, equal, integers, least, non_negative, total

__all__ = ["check", "questions"]


def questions(forms: ModuleType, fast: bool = False) -> list[Question]:
    """The bound is valid, and every value between is attained."""
    return _with_labels(forms, 2) + ([] if fast else _with_labels(forms, 3))


def _with_labels(forms: ModuleType, labels: int) -> list[Question]:
    of = Labels(forms, labels)
    clean, perturbed = (integers(" ".join(f"{side}{i}" for i in range(1, labels + 1))) for side in "ef")
    errors = list(zip(clean, perturbed, strict=True))
    given = [
        *of.margins,
        *non_negative([*clean, *perturbed]),
        *(x <= most for x, most in zip((*clean, *perturbed), (*of.rows, *of.columns), strict=True)),
    ]
    low = of.least(of.s)
    common = [least(e, f) for e, f in errors]
    spared = [w - e + v - f for w, v, (e, f) in zip(of.rows, of.columns, errors, strict=True)]
    arrays = (np.array(entries, dtype=object) for entries in (low, of.most, spared, common))
    ends = forms.persistent_kept_errors(*arrays, of.s, lambda entries: total(np.atleast_1d(entries)), TERMS)

    def split(persistent: Sequence[Term], kept: Sequence[Term]) -> list[Term]:
        """That the persistent pairs of each label hold these kept ones, by an explicit table of acceptance."""
        return [
            formula
            for w, v, (e, f), d, t in zip(of.rows, of.columns, errors, persistent, kept, strict=True)
            for formula in fits(block_table(e, w - e, f, v - f, d, t), (e, w - e), (f, v - f), d)
        ]

    parts = [{cell: Term(f"y{i}{cell[0]}{cell[1]}") for cell in _CELLS} for i in range(labels)]
    held = [*given, *fits(of.table, of.rows, of.columns, of.m), equal(total(of.diagonal()), of.s)]
    for part_, w, v, (e, f), d in zip(parts, of.rows, of.columns, errors, of.diagonal(), strict=True):
        held += fits(part_, (e, w - e), (f, v - f), d)
    limits = [equal(total(of.diagonal()), of.s)]
    for part_, d, first, most, g, c in zip(parts, of.diagonal(), low, of.most, spared, common, strict=True):
        limits += [*between(first, d, most), *between(d - g, part_[0, 0], d), *between(0, part_[0, 0], c)]
    (value,) = integers("t")
    persistent, kept = _witness(of, low, spared, common, value)
    table = of.with_persistent(persistent)
    name = f"{labels} wrong classes"
    return [
        Question(f"{name}: a table limits the persistent and the kept pairs of each label", held, limits),
        Question(
            f"{name}: the bound is valid within these limits",
            [*given, *limits],
            between(ends[0], total(p[0, 0] for p in parts), ends[1]),
        ),
        Question(
            f"{name}: every value between is attained",
            [*given, *of.condition(of.s), *between(ends[0], value, ends[1])],
            [
                *fits(table, of.rows, of.columns, of.m),
                equal(total(persistent), of.s),
                equal(total(kept), value),
                *split(persistent, kept),
            ],
        ),
    ]


_CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))


def _witness(
    of: Labels, low: Sequence[Term], spared: Sequence[Term], common: Sequence[Term], value: Term
) -> tuple[list[Term], list[Term]]:
    """Persistent pairs and kept ones of each label, `value` kept in all.

    Kept pairs are added to the fewest. A label's next kept pair is *free* up to L_l, since it needs no further
    persistent pair, and *useful* up to U_l - g_l, since it lets the label hold one more. Those that are both come
    first, then as many useful ones as s needs, then free ones, then the others.
    """
    fewest = [TERMS.maximum(0, least - g) for least, g in zip(low, spared, strict=True)]
    both, useful, free, others = [], [], [], []
    for p, first, most, g, c in zip(fewest, low, of.most, spared, common, strict=True):
        both.append(TERMS.maximum(p, least(first, most - g)) - p)
        useful.append(TERMS.maximum(0, most - g - first))
        free.append(TERMS.maximum(0, least(first, c) - TERMS.maximum(p, most - g)))
        others.append(TERMS.maximum(0, c - TERMS.maximum(first, most - g)))
    left = value - total(fewest)
    of_both = least(left, total(both))
    left = left - of_both
    held = total(least(most, p + g) for p, most, g in zip(fewest, of.most, spared, strict=True))
    needed = least(left, total(useful), TERMS.maximum(0, of.s - held - of_both))
    of_free = least(left - needed, total(free))
    of_useful = needed + least(left - needed - of_free, total(useful) - needed)
    stages = ((both, of_both), (useful, of_useful), (free, of_free), (others, left - of_free - of_useful))
    kept = [total(amounts) for amounts in zip(fewest, *(part(room, n) for room, n in stages), strict=True)]
    bottom = [TERMS.maximum(first, t) for first, t in zip(low, kept, strict=True)]
    top = [least(most, t + g) for most, t, g in zip(of.most, kept, spared, strict=True)]
    return of.split(bottom, top), kept


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    return decide(
        questions(forms, fast),
        fast,
        f"all class sizes with {'two' if fast else 'two and three'} wrong classes: the bound is valid, and every value "
        "between is attained by an explicit table of labels whose diagonal is split by acceptance",
    )
