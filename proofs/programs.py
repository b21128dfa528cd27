"""Evidence by linear and integer programs: each claim on classes too large to enumerate.

The programs are stated here, straight from the records, and share nothing with those of `bounds` but the solver and
what checks its answers exactly: a point is an integer table with the right margins, and a bound comes from exact
multipliers or, where the cell counts it so, is the solver's word that nothing better exists.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np

from bounds import backends, solve
from bounds.compact import optimise_cells
from bounds.knowledge import Knowledge, Level, know
from bounds.policies import evaluate_policies
from bounds.program import Block, Program, Row, Status
from bounds.quantities import QUANTITIES
from bounds.refinement import Settled, integer, relaxed
from proofs.attained import SEED
from proofs.evidence import Cell, Counterexample, required
from proofs.examples import (
    LOOSE,
    OWN_COST,
    POLICIES_EXAMPLE,
    TRANSITIONS,
    Value,
    cost_of,
    own_cost,
    policy,
    policy_cost,
    policy_ends,
    weights,
)
from proofs.small_classes import LEVELS, PAIR_COUNTS, SmallClass, drawn, evaluation, persistent, retained

__all__ = ["CHECKS"]

Check = Callable[[ModuleType, bool], Cell]

CHECKS: dict[str, Check] = {}
"""How each claim is checked, by stem: (closed forms, fast) -> cell."""


@dataclass
class _Solver:
    """Solves programs and counts them."""

    name: str = "HiGHS"
    programs: int = 0
    by_multipliers: int = 0
    relaxations: int = 0
    infeasible: int = 0
    largest: int = 0
    backend: Any = field(default_factory=lambda: backends.get("highs"))

    def ends(self, classes: Sequence[SmallClass], value: Value, **known: Any) -> tuple[int, int] | None:
        """Least and greatest sum of a value over correspondences with the known counts; None where there is none."""
        found = []
        for sign in (-1, 1):
            program = _program(classes, value, sign, **known)
            settled = integer(program, self.backend, None)
            self._count(settled, classes)
            if settled.status is Status.INFEASIBLE:
                self.infeasible += 1
                return None
            assert settled.bound is not None
            assert settled.x is not None
            attained = _attained(program, settled)
            required(settled.bound == attained, f"a program is left open: {attained} attained, {settled.bound} proven")
            self.by_multipliers += settled.proof == "dual"
            found.append(sign * int(attained))
        return found[0], found[1]

    def relaxed_ends(self, classes: Sequence[SmallClass], value: Value, **known: Any) -> tuple[Fraction, Fraction]:
        """What exact multipliers prove of the linear relaxation: no more than its ends, and as a rule these."""
        found = []
        for sign in (-1, 1):
            settled = relaxed(_program(classes, value, sign, **known), self.backend)
            self._count(settled, classes)
            self.relaxations += 1
            assert settled.bound is not None
            found.append(sign * settled.bound)
        return found[0], found[1]

    def _count(self, settled: Settled, classes: Sequence[SmallClass]) -> None:
        self.programs += 1
        self.name = settled.solver
        self.largest = max(self.largest, *(one.images for one in classes))

    def counts(self) -> dict[str, int]:
        """What was solved, for a cell."""
        told = {"programs": self.programs, "images at most": self.largest}
        told |= {"relaxations": self.relaxations} if self.relaxations else {}
        told |= {"infeasible ones": self.infeasible} if self.infeasible else {}
        return told | {"proven by exact multipliers": self.by_multipliers}


def _program(
    classes: Sequence[SmallClass],
    value: Value,
    sign: int,
    *,
    k: int | None = None,
    s: int | None = None,
    total: int | None = None,
) -> Program:
    """Maximise `sign` times the sum of a value over the pairs; equal records of a side share a row or a column.

    `k` and `s` are of the one class there is, `total` is the sum of k over all of them.
    """
    blocks: list[Block] = []
    costs: list[int] = []
    cells: list[tuple[int, bool, bool]] = []
    for one in classes:
        rows, columns = Counter(one.clean), Counter(one.perturbed)
        blocks.append(Block(tuple(rows.values()), tuple(columns.values()), len(costs)))
        for x, y in product(rows, columns):
            cells.append((len(costs), retained(x, y), persistent(x, y)))
            costs.append(sign * int(value(x, y)))
    conditions = []
    for name, known, place in (("k", k, 1), ("s", s, 2), ("K", total, 1)):
        if known is not None:
            variables = np.array([cell[0] for cell in cells if cell[place]], dtype=np.int64)
            conditions.append(Row(name, variables, np.ones(len(variables), dtype=np.int64), known, known))
    objective = np.empty(len(costs), dtype=object)
    objective[:] = costs
    return Program(tuple(blocks), tuple(conditions), objective, 1, integral=True)


def _attained(program: Program, settled: Settled) -> Fraction:
    """The value of a point, after its margins and counts were added up again."""
    assert settled.x is not None
    x = settled.x.tolist()
    required(min(x, default=0) >= 0, "a point has a negative number of pairs")
    for block in program.blocks:
        width = len(block.perturbed_sizes)
        table = [x[block.first + i * width :][:width] for i in range(len(block.clean_sizes))]
        rows, columns = tuple(map(sum, table)), tuple(map(sum, zip(*table, strict=True)))
        required((rows, columns) == (block.clean_sizes, block.perturbed_sizes), "a point has other margins")
    for row in program.rows:
        required(sum(x[v] for v in row.variables.tolist()) == row.lower, f"a point has another {row.name}")
    return Fraction(sum(c * count for c, count in zip(program.objective.tolist(), x, strict=True)), program.scale)


def _check(stem: str) -> Callable[[Callable[[ModuleType, bool, _Solver], dict[str, int] | None]], None]:
    """Register a function that solves programs, and raises `Counterexample` or returns further counts."""

    def register(function: Callable[[ModuleType, bool, _Solver], dict[str, int] | None]) -> None:
        def check(forms: ModuleType, fast: bool) -> Cell:
            solver = _Solver()
            try:
                more = function(forms, fast, solver)
            except Counterexample as found:
                return Cell("programs", "fails", counts=solver.counts(), tool=solver.name, counterexample=str(found))
            return Cell("programs", "holds", counts=solver.counts() | (more or {}), tool=solver.name)

        CHECKS[stem] = check

    return register


def _drawn(seed: str, fast: bool, count: int, sizes: tuple[int, int] = (8, 40)) -> Iterator[SmallClass]:
    """Random classes; their levels are left out, so that equal records merge."""
    draw = random.Random(f"{SEED} programs {seed}")
    for _ in range(count if fast else 6 * count):
        one = drawn(draw, draw.randint(*sizes), labels=4)
        yield SmallClass(*(tuple(r._replace(level=0) for r in side) for side in one))


def _told_apart(one: SmallClass) -> SmallClass:
    """The class with the place of each record as its level, so that a value can tell all pairs apart."""
    return SmallClass(*(tuple(r._replace(level=i) for i, r in enumerate(side)) for side in one))


def _sizes(one: SmallClass) -> dict[str, int]:
    """Margins of a class (theory, section 1), in plain integers."""
    found = {"n": one.images}
    for names, side in (("A A1 A0 W E", one.clean), ("B B1 B0 W' E'", one.perturbed)):
        right = [r for r in side if r.label == 0]
        accepted = sum(r.accepted for r in right)
        wrong = len(side) - len(right)
        errors = sum(r.accepted for r in side if r.label)
        found |= dict(zip(names.split(), (len(right), accepted, len(right) - accepted, wrong, errors), strict=True))
    return found


def _by_label(one: SmallClass, accepted: bool = False) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """w and w' (e and e' of the accepted alone) of every label that is wrong on either side."""
    labels = sorted({r.label for side in one for r in side} - {0})
    w, v = (
        np.array([sum(r.label == label and (r.accepted or not accepted) for r in side) for label in labels], dtype=int)
        for side in one
    )
    return w, v


def _k(one: SmallClass) -> int:
    """The retained-correct pairs of the true pairing: a feasible k."""
    return sum(map(retained, *one))


def _s(one: SmallClass) -> int:
    return sum(map(persistent, *one))


def _says(what: str, claimed: tuple[Any, Any], found: tuple[Any, Any] | None, one: SmallClass, **known: int) -> None:
    given = "".join(f", {name} = {value}" for name, value in known.items())
    ends = None if found is None else [*map(str, found)]
    required(found is not None and tuple(claimed) == found, f"{what}: claimed {claimed}, programs {ends}{given}; {one}")


# Closed forms.


@_check("feasible_correct_correct")
def _c1(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    for one in _drawn("C1", fast, 20):
        n = _sizes(one)
        _says("k", forms.correct_correct_range(n["n"], n["A"], n["B"]), solver.ends([one], retained), one)


@_check("lost_acceptance")
def _c3(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    for one in _drawn("C3", fast, 6):
        n, k = _sizes(one), _k(one)
        k_range = forms.correct_correct_range(n["n"], n["A"], n["B"])
        for name, of_rows, names in (
            ("lost-acceptance", "retained-correct-accepted", "A1 A0 B0 B1"),
            ("gained-acceptance", "retained-correct-rejected", "A0 A1 B1 B0"),
        ):
            both, rows = PAIR_COUNTS[name], PAIR_COUNTS[of_rows]
            margins = [n[margin] for margin in names.split()]
            _says(name, forms.block(*margins, k), solver.ends([one], both, k=k), one, k=k)
            _says(of_rows, forms.marked_row_range(*margins[:2], k), solver.ends([one], rows, k=k), one, k=k)
            _best_points(solver, one, (both, rows), forms.most_other_rows_ratio(*margins, k), k=k)
            at = forms.ratio_pairs(*k_range, *margins, False)
            points = [(forms.block(*margins, at[i])[i], at[i]) for i in (0, 1)]
            _best_points(solver, one, (both, retained), points)
            at = forms.ratio_pairs(*k_range, *margins, True)
            _best_points(solver, one, (both, rows), [forms.most_other_rows_ratio(*margins, at[i])[i] for i in (0, 1)])


def _best_points(
    solver: _Solver, one: SmallClass, values: tuple[Value, Value], points: Sequence[Any], **known: int
) -> None:
    """Require x - t y to be least at the first point (x, y) and greatest at the second, for t = 0 and t = 1."""
    top, below = values
    for t in (0, 1):
        claimed = [x - t * y for x, y in points]
        found = solver.ends([one], lambda x, y, t=t: top(x, y) - t * below(x, y), **known)  # type: ignore[misc]
        _says(f"x - {t} y", (claimed[0], claimed[1]), found, one, **known)


@_check("mean_probability_decrease")
def _c4(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    draw = random.Random(f"{SEED} programs C4")
    for _ in range(15 if fast else 90):
        one = drawn(draw, draw.randint(8, 30))
        k = _k(one)
        p, q = (sorted(r.level for r in side if r.label == 0) for side in one)
        claimed = sum(p[:k]) - sum(q[len(q) - k :]), sum(p[len(p) - k :]) - sum(q[:k])
        _says("sum", claimed, solver.ends([one], lambda x, y: retained(x, y) * (x.level - y.level), k=k), one, k=k)
        said = solve.bound(
            evaluation(one),
            "mean-probability-decrease",
            know(evaluation(one), "correct-correct", retained_correct=[k]),
            denominator="none",
        )
        _says(
            "the package's sum",
            (said.lower, said.upper),
            (Fraction(claimed[0], LEVELS), Fraction(claimed[1], LEVELS)),
            one,
            k=k,
        )


@_check("feasible_persistent")
def _c5(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    for one in _drawn("C5", fast, 6, (6, 20)):
        n, k = _sizes(one), _k(one)
        (w, v), both = _by_label(one), n["W"] + n["W'"]
        m = forms.wrong_pairs(n["n"], n["A"], n["B"], k)
        most = np.minimum(w, v)
        claimed = forms.persistent_range(m, (both - w - v).min(initial=both), most.sum())
        _says("s", claimed, solver.ends([one], persistent, k=k), one, k=k)
        for s in range(m + 1):
            least = forms.persistent_lower_share(w, v, m, s, both)
            feasible = bool((least <= most).all() and least.sum() <= s <= most.sum())
            found = solver.ends([one], persistent, k=k, s=s)
            told = f"s = {s} is claimed to be {'' if feasible else 'in'}feasible, k = {k}, and is not; {one}"
            required(feasible == (found is not None), told)


@_check("transition_counts")
def _c13(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    for one in _drawn("C13", fast, 4, (3, 40)):
        n = _sizes(one)
        e, f, other, lost = n["E"], n["E'"], n["W"] - n["E"], n["W'"] - n["E'"]
        clean, perturbed = _by_label(one, accepted=True)
        common = np.minimum(clean, perturbed).sum()
        for k in {_k(one), max(0, n["A"] + n["B"] - n["n"]), min(n["A"], n["B"])}:
            m = forms.wrong_pairs(n["n"], n["A"], n["B"], k)
            kept = forms.block(e, other, f, lost, m)
            for name, claimed in {
                "kept-accepted-error": kept,
                "new-accepted-error": (f - kept[1], f - kept[0]),
                "resolved-accepted-error": (e - kept[1], e - kept[0]),
                "rejected-wrong-to-accepted-error": forms.block(other, e, f, lost, m),
                "correct-to-accepted-error": forms.block(n["A"], 0, f, lost, n["A"] - k),
                "accepted-correct-to-accepted-error": forms.block(n["A1"], n["A0"], f, lost, n["A"] - k),
                "kept-persistent-accepted-error": forms.persistent_range(
                    m, (n["W"] + n["W'"] - clean - perturbed).min(initial=n["W"] + n["W'"]), common
                ),
                "kept-changed-accepted-error": forms.kept_changed_range(
                    m, e, f, other, lost, (e + f - clean - perturbed).min(initial=e + f), common
                ),
            }.items():
                _says(name, claimed, solver.ends([one], PAIR_COUNTS[name], k=k), one, k=k)


@_check("persistent_kept_errors")
def _c15(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    name = "kept-persistent-accepted-error"
    for one in _drawn("C15", fast, 15, (3, 24)):
        n, k = _sizes(one), _k(one)
        (w, v), (e, f), both = _by_label(one), _by_label(one, accepted=True), n["W"] + n["W'"]
        s_ends = solver.ends([one], persistent, k=k)
        assert s_ends is not None
        for s in {_s(one), *s_ends}:
            least = forms.persistent_lower_share(w, v, forms.wrong_pairs(n["n"], n["A"], n["B"], k), s, both)
            claimed = forms.persistent_kept_errors(least, np.minimum(w, v), w - e + v - f, np.minimum(e, f), s, np.sum)
            _says(name, claimed, solver.ends([one], PAIR_COUNTS[name], k=k, s=s), one, k=k, s=s)


# Statements about programs and about the package.


def _random_f(draw: random.Random, one: SmallClass) -> Value:
    """A value of each retained-correct pair of a class whose records are told apart."""
    f = {pair: draw.randint(-99, 99) for pair in product(range(one.images), repeat=2)}
    return lambda x, y: f[x.level, y.level] if retained(x, y) else 0


@_check("correct_correct_suffices")
def _c2(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    draw = random.Random(f"{SEED} programs C2")
    for drawn_class in _drawn("C2", fast, 5, (8, 14)):
        one, k = _told_apart(drawn_class), _k(drawn_class)
        f = _random_f(draw, one)
        given_k = solver.ends([one], f, k=k)
        s_ends = solver.ends([one], persistent, k=k)
        assert given_k is not None
        assert s_ends is not None
        for s in sorted({*s_ends, _s(drawn_class)}):
            _says("a random f, given k alone", given_k, solver.ends([one], f, k=k, s=s), drawn_class, k=k, s=s)


@_check("persistence_informs_errors")
def _c6(forms: ModuleType, fast: bool, solver: _Solver) -> dict[str, int]:
    strictly = 0
    for one in _drawn("C6", fast, 5, (6, 16)):
        k, s, records = _k(one), _s(one), evaluation(one)
        for name in TRANSITIONS:
            outer, inner = (solver.ends([one], PAIR_COUNTS[name], k=k, **more) for more in ({}, {"s": s}))
            assert outer is not None
            assert inner is not None
            required(outer[0] <= inner[0] <= inner[1] <= outer[1], f"{name}: {inner} is not inside {outer}; {one}")
            said = solve.bound(records, name, "five-state", denominator="none")
            _says(f"the package's {name}", (said.lower, said.upper), inner, one, k=k, s=s)
            strictly += inner != outer
    required(strictly > 0, "no interval was strictly inside")
    return {"strictly inside": strictly}


@_check("integrality_matters")
def _c7(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    for one, k, s, name, attained, loose in LOOSE:
        value = PAIR_COUNTS[name]
        _says(name, (min(attained), max(attained)), solver.ends([one], value, k=k, s=s), one, k=k, s=s)
        _says(f"{name}, relaxed", loose, solver.relaxed_ends([one], value, k=k, s=s), one, k=k, s=s)
    one, k = OWN_COST
    found, least = solver.ends([one], own_cost, k=k), solver.relaxed_ends([one], own_cost, k=k)[0]
    required(found is not None and found[0] == 1 and least == 0, f"the arbitrary cost: {found}, relaxed {least}")


@_check("cc_programs_are_integral")
def _c8(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    draw = random.Random(f"{SEED} programs C8")
    for drawn_class in _drawn("C8", fast, 12, (6, 14)):
        one, k = _told_apart(drawn_class), _k(drawn_class)
        f = _random_f(draw, one)
        _says("a random f, relaxed", solver.relaxed_ends([one], f, k=k), solver.ends([one], f, k=k), drawn_class, k=k)


@_check("four_block_integrality")
def _c14(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    draw = random.Random(f"{SEED} programs C14")
    for number, one in enumerate(_drawn("C14", fast, 15, (8, 30))):
        value, k = cost_of(weights(draw, additive=number % 4)), _k(one)
        _says(
            "qualifying weights, relaxed",
            solver.relaxed_ends([one], value, k=k),
            solver.ends([one], value, k=k),
            one,
            k=k,
        )


@_check("shared_correspondence_orders_policies")
def _c9(forms: ModuleType, fast: bool, solver: _Solver) -> dict[str, int]:
    draw = random.Random(f"{SEED} programs C9")
    one, k = POLICIES_EXAMPLE
    asked = [(one, 1, 2)]
    for _ in range(4 if fast else 30):
        thresholds = sorted(draw.sample(range(LEVELS + 1), 2))
        asked.append((drawn(draw, draw.randint(6, 14)), thresholds[0], thresholds[1]))
    shared = 0
    for one, first, second in asked:
        k = _k(one)
        costs = policy_cost(first), policy_cost(second)
        p, q = (solver.ends([one], cost, k=k) for cost in costs)
        difference = solver.ends([one], lambda x, y, c=costs: c[0](x, y) - c[1](x, y), k=k)  # type: ignore[misc]
        assert p is not None
        assert q is not None
        assert difference is not None
        required(p[0] - q[1] <= difference[0] <= difference[1] <= p[1] - q[0], f"{difference} outside; {one}")
        records = evaluation(one, acceptance=False)
        said = policy_ends(evaluate_policies([policy("P", first), policy("Q", second)], records), one)
        required(said == [p, q, difference], f"the package says {said}, programs {[p, q, difference]}; {one}")
        shared += p[0] <= q[1] and q[0] <= p[1] and (difference[0] > 0 or difference[1] < 0)
    required(shared > 0, "no difference has one sign where the separate intervals overlap")
    return {"ordered by the shared correspondence alone": shared}


@_check("compact_program")
def _c10(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    draw = random.Random(f"{SEED} programs C10")
    for one in _drawn("C10", fast, 10, (8, 30)):
        table, k, s, records = weights(draw), _k(one), _s(one), evaluation(one)
        for level, known in (
            (Level.MARGINALS, {}),
            (Level.CLASSWISE, {"k": k}),
            (Level.FIVE_STATE, {"k": k, "s": s}),
        ):
            knowledge = know(records, level)
            claimed = [optimise_cells(records, table, knowledge, maximise=upper).bound for upper in (False, True)]
            _says(f"compact, {level}", (claimed[0], claimed[1]), solver.ends([one], cost_of(table), **known), one)


@_check("total_count_allocation")
def _c11(forms: ModuleType, fast: bool, solver: _Solver) -> None:
    names = [name for name in PAIR_COUNTS if name in QUANTITIES]
    for classes in zip(*(_drawn(f"C11 {part}", fast, 3, (4, 14)) for part in range(3)), strict=True):
        records, total = evaluation(*classes), sum(map(_k, classes))
        knowledge = Knowledge(Level.TOTAL, total=total)
        for name in names:
            said = solve.bound(records, name, knowledge, denominator="none")
            found = solver.ends(classes, PAIR_COUNTS[name], total=total)
            told = f"{name}, K = {total}: the package says [{said.lower}, {said.upper}], programs {found}"
            required(found == (said.lower, said.upper), f"{told}; {'; '.join(map(str, classes))}")
