"""Enumeration for the claims about counts: closed forms on arrays over classes, as the package calls them.

C1, C3, C5, C13 and C15; the other claims are in `proofs.exhaustive`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, permutations, product
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.errors import CountError
from proofs.attained import PYTHON, Enumerated, Grouped, enumerated, mask
from proofs.evidence import Cell, Counterexample, fails, required

__all__ = ["CHECKS", "Check", "by_enumeration"]

Ints = npt.NDArray[np.int64]
Check = Callable[[ModuleType, bool], Cell]

CHECKS: dict[str, Check] = {}
"""How each claim is checked, by stem: (closed forms, fast) -> cell."""


def by_enumeration(stem: str) -> Callable[[Callable[[ModuleType, bool], Mapping[str, int]]], None]:
    """Register a function that returns what it counted, or raises `Counterexample`."""

    def register(function: Callable[[ModuleType, bool], Mapping[str, int]]) -> None:
        def check(forms: ModuleType, fast: bool) -> Cell:
            try:
                return Cell("enumeration", "holds", counts=function(forms, fast), tool=PYTHON)
            except Counterexample as found:
                return fails("enumeration", PYTHON, str(found))

        CHECKS[stem] = check

    return register


def _elements(bits: int) -> str:
    return "{" + ", ".join(str(i) for i in range(61) if bits >> i & 1) + "}"


def _same(what: str, found: Enumerated, groups: Grouped, attained: Ints, claimed: Ints) -> None:
    """Require two sets, as bits, to be equal in every group."""
    if (wrong := np.flatnonzero(attained != claimed)).size:
        g = wrong[0]
        given = ", ".join(f"{name} = {values[g]}" for name, values in groups.counts.items())
        raise Counterexample(
            f"{what}: attained are {_elements(int(attained[g]))}, claimed {_elements(int(claimed[g]))}; "
            f"{found.classes[groups.of[g]]}{', ' + given if given else ''}"
        )


def _between(what: str, found: Enumerated, groups: Grouped, name: str, ends: tuple[Ints, Ints]) -> None:
    """Require a count to take every integer between two ends, and no other."""
    _same(what, found, groups, groups.attained(name), mask(*_arrays(ends, groups)))


def _ends(what: str, found: Enumerated, groups: Grouped, name: str, ends: tuple[Ints, Ints]) -> None:
    """Require two ends to be the least and the greatest value of a count."""
    least, most = groups.ends(name)
    low, high = _arrays(ends, groups)
    wrong = np.flatnonzero((low != least) | (high != most))
    if wrong.size:
        g = wrong[0]
        given = ", ".join(f"{key} = {values[g]}" for key, values in groups.counts.items())
        raise Counterexample(
            f"{what}: attained ends are {least[g]} and {most[g]}, claimed {low[g]} and {high[g]}; "
            f"{found.classes[groups.of[g]]}{', ' + given if given else ''}"
        )


def _arrays(ends: tuple[Any, Any], groups: Grouped) -> tuple[Ints, Ints]:
    """The ends as one entry a group, whatever an altered form returns."""
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.int64), groups.of.shape) for end in ends)
    return low, high


def _of(found: Enumerated, groups: Grouped, *names: str) -> list[Ints]:
    """Margins, one entry a group."""
    return [found.margins[name][groups.of] for name in names]


@by_enumeration("feasible_correct_correct")
def _c1(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    found = enumerated(fast)
    groups = found.by()
    n, a, b = _of(found, groups, "n", "A", "B")
    _between("k", found, groups, "retained-correct", forms.correct_correct_range(n, a, b))
    attained = groups.attained("retained-correct")
    for size, x, y, bits in {(*row,) for row in np.stack([n, a, b, attained], axis=1).tolist()}:
        claimed = list(forms.feasible_correct_correct(size, x, y))
        told = f"feasible_correct_correct({size}, {x}, {y})"
        required(claimed == [k for k in range(size + 1) if bits >> k & 1], f"{told} gives {claimed}")
    for bad in ((-1, 0, 0), (2, 3, 0), (2, 0, 3), (2, -1, 0), (2, 0, -1)):
        try:
            claimed = list(forms.feasible_correct_correct(*bad))
        except CountError:
            continue
        raise Counterexample(f"feasible_correct_correct{bad} gives {claimed}, not an error")
    return found.counts


@by_enumeration("lost_acceptance")
def _c3(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    found = enumerated(fast)
    groups, k = found.by_pairs, found.by_pairs.counts["retained-correct"]
    a1, a0, b1, b0 = _of(found, groups, "A1", "A0", "B1", "B0")
    for name, of_rows, r1, r0, c1, c0 in (
        ("lost-acceptance", "retained-correct-accepted", a1, a0, b0, b1),
        ("gained-acceptance", "retained-correct-rejected", a0, a1, b1, b0),
    ):
        _between(name, found, groups, name, forms.block(r1, r0, c1, c0, k))
        _between(of_rows, found, groups, of_rows, forms.marked_row_range(r1, r0, k))
        _ratio_points(forms, found, name, of_rows, (r1, r0, c1, c0))
    return found.counts


def _ratio_points(forms: ModuleType, found: Enumerated, name: str, of_rows: str, margins: tuple[Ints, ...]) -> None:
    """The points that decide ratios of sums over classes: theory, section 1.

    A point (x, y) is the right one for every ratio t of [0, 1] where it is attained and least (greatest) in x - t y
    for t = 0 and for t = 1, since that is linear in t.
    """
    groups = found.by_pairs
    k = groups.counts["retained-correct"]
    for sign, point in zip((1, -1), forms.most_other_rows_ratio(*margins, k), strict=True):
        _best_point(found, groups, name, of_rows, sign, *_arrays(point, groups))
    for over_marked in (False, True):
        chosen = forms.ratio_pairs(k, k, *margins, over_marked)
        told = f"{name}: ratio_pairs chooses another k than the one that is known"
        required(all((np.asarray(choice) == k).all() for choice in chosen), told)
    classes = found.by()
    first = np.searchsorted(groups.of, classes.of)
    low, high = forms.correct_correct_range(*_of(found, classes, "n", "A", "B"))
    rows = [side[first] for side in margins]
    for over_marked, below in ((False, "retained-correct"), (True, of_rows)):
        for which, sign in ((0, 1), (1, -1)):
            chosen = forms.ratio_pairs(low, high, *rows, over_marked)[which]
            x, y = forms.block(*rows, chosen)[which], chosen
            if over_marked:
                x, y = forms.most_other_rows_ratio(*rows, chosen)[which]
            _best_point(found, classes, name, below, sign, *_arrays((x, y), classes))


def _best_point(found: Enumerated, groups: Grouped, top: str, below: str, sign: int, x: Ints, y: Ints) -> None:
    """Require (x, y) to be attained in every group, and least (or, for sign -1, greatest) in x - t y at t = 0, 1."""
    tops, belows = found.outcomes[top], found.outcomes[below]
    attained = np.zeros(len(groups.of), dtype=np.bool_)
    np.logical_or.at(attained, groups.group, (tops == x[groups.group]) & (belows == y[groups.group]))
    better = np.zeros(len(groups.of), dtype=np.bool_)
    for t in (0, 1):
        np.logical_or.at(better, groups.group, sign * (tops - t * belows) < sign * (x - t * y)[groups.group])
    if (wrong := np.flatnonzero(~attained | better)).size:
        g = wrong[0]
        raise Counterexample(
            f"{top} over {below}: ({x[g]}, {y[g]}) is {'beaten' if attained[g] else 'not attained'}; "
            f"{found.classes[groups.of[g]]}"
        )


def _wrong(forms: ModuleType, found: Enumerated, groups: Grouped) -> Ints:
    """m of each group, as claimed."""
    margins = _of(found, groups, "n", "A", "B")
    claimed = np.asarray(forms.wrong_pairs(*margins, groups.counts["retained-correct"]), dtype=np.int64)
    _ends("images wrong on both sides", found, groups, "both-wrong", (claimed, claimed))
    return claimed


def _tightest(both: Ints, first: Ints, second: Ints) -> Ints:
    """The least of both - first_l - second_l over the labels l; `both` where there are none."""
    least: Ints = (both[:, None] - first - second).min(axis=1)
    return least


@by_enumeration("feasible_persistent")
def _c5(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    found = enumerated(fast)
    groups = found.by_pairs
    m = _wrong(forms, found, groups)
    w, v = found.labels["w"][groups.of], found.labels["w'"][groups.of]
    both = found.margins["W"][groups.of] + found.margins["W'"][groups.of]
    most = np.minimum(w, v)
    ends = forms.persistent_range(m, _tightest(both, w, v), most.sum(axis=1))
    _ends("ends of s", found, groups, "persistent-wrong", ends)
    feasible = np.zeros(len(m), dtype=np.int64)
    for s in range(int(m.max()) + 1):
        least = forms.persistent_lower_share(w, v, m[:, None], s, both[:, None])
        fits = (s <= m) & (least <= most).all(axis=1) & (least.sum(axis=1) <= s) & (s <= most.sum(axis=1))
        feasible |= fits.astype(np.int64) << s
    attained = groups.attained("persistent-wrong")
    _same("s", found, groups, attained, feasible)
    holes = attained != mask(*groups.ends("persistent-wrong"))
    return {**found.counts, "sets with holes": int(holes.sum())}


@by_enumeration("transition_counts")
def _c13(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    found = enumerated(fast)
    groups, k = found.by_pairs, found.by_pairs.counts["retained-correct"]
    a, a1, a0, w, v, e, f = _of(found, groups, "A", "A1", "A0", "W", "W'", "E", "E'")
    m = _wrong(forms, found, groups)
    kept = _arrays(forms.block(e, w - e, f, v - f, m), groups)
    for name, ends in (
        ("kept-accepted-error", kept),
        ("new-accepted-error", (f - kept[1], f - kept[0])),
        ("resolved-accepted-error", (e - kept[1], e - kept[0])),
        ("rejected-wrong-to-accepted-error", forms.block(w - e, e, f, v - f, m)),
        ("correct-to-accepted-error", forms.block(a, 0, f, v - f, a - k)),
        ("accepted-correct-to-accepted-error", forms.block(a1, a0, f, v - f, a - k)),
    ):
        _between(name, found, groups, name, ends)
    clean, perturbed = found.labels["e"][groups.of], found.labels["e'"][groups.of]
    common = np.minimum(clean, perturbed).sum(axis=1)
    persistent_ends = forms.persistent_range(m, _tightest(w + v, clean, perturbed), common)
    _ends("ends of kept-persistent", found, groups, "kept-persistent-accepted-error", persistent_ends)
    tightest = _tightest(e + f, clean, perturbed)
    changed_ends = forms.kept_changed_range(m, e, f, w - e, v - f, tightest, common)
    _ends("ends of kept-changed", found, groups, "kept-changed-accepted-error", changed_ends)
    return {**found.counts, "choices of pairs for the block lemma": _block_lemma(forms, 3 if fast else 4)}


def _block_lemma(forms: ModuleType, size: int) -> int:
    """Every choice of t disjoint pairs between rows and columns, up to `size` marked and others of each."""
    seen = 0
    for r1, r0, c1, c0 in product(range(size + 1), repeat=4):
        rows, columns = [1] * r1 + [0] * r0, [1] * c1 + [0] * c0
        if len(rows) > size or len(columns) > size:
            continue
        for t in range(min(len(rows), len(columns)) + 1):
            attained = set()
            for chosen in combinations(rows, t):
                for partners in permutations(columns, t):
                    seen += 1
                    attained.add(sum(map(int.__mul__, chosen, partners)))
            low, high = map(int, forms.block(r1, r0, c1, c0, t))
            told = f"block({r1}, {r0}, {c1}, {c0}, {t}) gives {low} to {high}, attained are {sorted(attained)}"
            required(sorted(attained) == list(range(low, high + 1)), told)
    return seen


@by_enumeration("persistent_kept_errors")
def _c15(forms: ModuleType, fast: bool) -> Mapping[str, int]:
    found = enumerated(fast)
    groups = found.by_states
    s = groups.counts["persistent-wrong"]
    w, v, e, f = (found.labels[name][groups.of] for name in ("w", "w'", "e", "e'"))
    both = found.margins["W"][groups.of] + found.margins["W'"][groups.of]
    m = _wrong(forms, found, groups)
    least = forms.persistent_lower_share(w, v, m[:, None], s[:, None], both[:, None])
    ends = forms.persistent_kept_errors(
        least, np.minimum(w, v), w - e + v - f, np.minimum(e, f), s, lambda entries: entries.sum(axis=1)
    )
    _between("kept-persistent", found, groups, "kept-persistent-accepted-error", ends)
    return {**found.counts, "pairs (k, s)": len(s)}
