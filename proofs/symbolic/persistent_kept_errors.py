"""C15 derived for any number of wrong classes, label by label.

A label with d persistent pairs holds from f(d) = max(0, d - g) to h(d) = min(c, d) kept ones (block lemma). With
L <= d <= U in each label and s persistent pairs in all, the least sum of f(d) and the greatest of h(d) are found by
weak duality: each bound of a label is linear in d with slope 0 or 1, so that the bounds add up to a bound of the sum.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from proofs.evidence import Cell
from proofs.symbolic.derivation import SYMBOLS, Derivation, Expression, Refuted, decide, integers, ranges, text

__all__ = ["check", "derive", "latex"]

NAMES = "L U g c s"


class _Sums:
    """The argument `total` of the closed form: a symbol for each sum; its terms, for one label, are kept."""

    def __init__(self) -> None:
        self.terms: list[Expression] = []

    def __call__(self, entries: Expression) -> Expression:
        self.terms.append(np.atleast_1d(entries)[0])
        return integers(f"S_{len(self.terms)}")[0]


def _form(forms: ModuleType) -> tuple[tuple[Expression, Expression], list[Expression]]:
    """The ends in terms of sums S_1, S_2, ... over labels, and the terms of these sums."""
    *label, s = integers(NAMES)
    sums = _Sums()
    ends = forms.persistent_kept_errors(*(np.array([x], dtype=object) for x in label), s, sums, SYMBOLS)
    return ends, sums.terms


def derive(forms: ModuleType, proof: Derivation) -> None:
    """One label, then the sum over labels, then every integer between."""
    low, most, g, c, s = integers(NAMES)
    d, t = integers("d t")
    w, v, e, f = integers("w w' e e'")
    sides = [e, f, w - e, v - f]
    spared, common, greatest = w - e + v - f, SYMBOLS.minimum(e, f), SYMBOLS.minimum(w, v)
    least_kept, most_kept = SYMBOLS.maximum(0, d - g), SYMBOLS.minimum(c, d)
    block = forms.block(e, w - e, f, v - f, d, SYMBOLS)
    held = [*sides, d, greatest - d]
    proof.equal("a label holds at least f(d)", block[0], least_kept.xreplace({g: spared}), held)
    proof.equal("and at most h(d)", block[1], most_kept.xreplace({c: common}), held)
    proof.follows("c <= U <= c + g", [greatest - common, common + spared - greatest], sides)

    label = [low, most - low, g, c, most - c, c + g - most]
    inside = [*label, d - low, most - d]
    (least, greatest), terms = _form(forms)
    if len(terms) != 4:
        raise Refuted(f"the closed form has {len(terms)} sums over labels, and the derivation is of one with four")
    (one, two, three, four), (s1, s2, s3, s4) = terms, integers("S_1 S_2 S_3 S_4")
    proof.follows("slopes 0 and 1 below f", [least_kept - one, least_kept - one - d + two], inside)
    proof.follows("the bound is valid below", [t - least], [t - s1, t - s1 - s + s2])
    proof.follows("the turning point lies in the box", [two - low, most - two], label)
    proof.equal("f is flat up to it", least_kept, one, [*inside, two - d])
    proof.equal("f has slope 1 from it", least_kept, one + d - two, [*inside, d - two])
    proof.equal("the lower end is attained on the flat", least, s1, [s2 - s])
    proof.equal("the lower end is attained on the slope", least, s1 + s - s2, [s - s2])

    turn = three + four
    proof.follows("slopes 0 and 1 above h", [three - most_kept, d - four - most_kept], inside)
    proof.follows("the bound is valid above", [greatest - t], [s3 - t, s - s4 - t])
    proof.follows("the turning point of h lies in the box", [turn - low, most - turn], label)
    proof.equal("h has slope 1 up to it", most_kept, d - four, [*inside, turn - d])
    proof.equal("h is flat from it", most_kept, three, [*inside, d - turn])
    proof.equal("the upper end is attained on the slope", greatest, s - s4, [s3 + s4 - s])
    proof.equal("the upper end is attained on the flat", greatest, s3, [s - s3 - s4])

    for end in (least_kept, most_kept):
        step = end.xreplace({d: d + 1}) - end
        proof.follows("moving one pair between labels moves an end by at most 1", [step, 1 - step], inside)
    proof.follows("f <= h", [most_kept - least_kept], inside)


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    return decide(
        derive,
        forms,
        "all class sizes and numbers of wrong classes, label by label: the bound is valid, both ends and every integer "
        "between are attained by persistent pairs d_l between L_l and U_l; that such d_l extend to a correspondence is "
        "C5",
    )


def latex(forms: ModuleType) -> str:
    """The closed form, with the terms of each sum."""
    ends, terms = _form(forms)
    sums = [rf"S_{{{number}}} = \sum_l {text(term)}" for number, term in enumerate(terms, 1)]
    return " \\\\\n".join([ranges(("t", ends)), *sums])
