"""Ends by programs over the pairs of records, for quantities and refinements of one's own.

A quantity is recognised for what it is on the records at hand, every pair of them being looked at: one that sees the
state and the acceptance bits alone goes the way of the named ones; one that is zero off the retained-correct pairs is a
linear program given the retained-correct count, whatever it is there (claims correct_correct_suffices, C2, and
cc_programs_are_integral, C8); anything else is an integer program over groups of equal records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bounds import by_program, witness
from bounds.correspondences import METHODS, Method, Optimum, consistent
from bounds.counts import counts_of
from bounds.curves import Domain, domain_of
from bounds.errors import BackendError, InfeasibleError, QuantityError, SolverError
from bounds.evaluation import Evaluation
from bounds.interval import Denominator, End, Interval
from bounds.knowledge import Knowledge, Level
from bounds.own import OPEN, Condition, Kind, OwnQuantity, Refinement, conditions
from bounds.pair_tables import (
    PairFunction,
    Table,
    cell_index,
    cell_table,
    function_table,
    probability_table,
    zero_table,
)
from bounds.pairs import Coupling, PairBlock, PairOptimum, PairRow, optimise_pairs
from bounds.program import Exact, Status
from bounds.quantities import DENOMINATORS, Quantity
from bounds.question import Found, check_average

__all__ = ["CELL_LIMIT", "Tables", "answer"]

Ints = npt.NDArray[np.int64]

CELL_LIMIT = 40_000
"""Pairs of groups above which `auto` answers a program over pairs by its relaxation: 200 x 200 different records."""


GRID_BITS = 28
"""Bits that a solver tells apart in a sum of costs; see `bounds.refinement`."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Numerator and denominator of each class; None as denominators of a count or a sum.

    Denominators are whole numbers: both are multiplied by what clears the fractions, which is `scale`.
    """

    tops: dict[str | int, Table]
    belows: dict[str | int, Table] | None
    scale: int
    denominator: str

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        quantity: OwnQuantity | Quantity,
        denominator: str | None,
        only: Sequence[str | int],
    ) -> Tables:
        """The tables of a quantity, zero outside the classes in `only`."""
        over = _denominator(quantity, denominator)
        bits = evaluation.clean.accepted is not None and evaluation.perturbed.accepted is not None
        if over in DENOMINATORS and not bits and str(over).endswith(("accepted", "rejected", "errors")):
            raise QuantityError("denominator", over, "needs acceptance", "give a threshold, such as 0.8")
        if isinstance(quantity, Quantity) and quantity.needs_acceptance and not bits:
            raise QuantityError("quantity", quantity.name, "needs acceptance", "give a threshold, such as 0.8")
        tops, belows = {}, {}
        for c, name in enumerate(evaluation.classes):
            images = int(evaluation.starts[c + 1] - evaluation.starts[c])
            if name not in only:
                tops[name] = belows[name] = zero_table(images)
                continue
            index = cell_index(evaluation, c)
            if isinstance(quantity, OwnQuantity):
                tops[name] = function_table(
                    quantity.function, evaluation, c, vectorised=quantity.vectorised, name=quantity.name
                )
            elif quantity.probability:
                tops[name] = probability_table(evaluation, c)
            else:
                tops[name] = cell_table(quantity.cells, index)
            if callable(over):
                assert isinstance(quantity, OwnQuantity)
                below = function_table(
                    over, evaluation, c, vectorised=quantity.vectorised, name=f"denominator of {quantity.name}"
                )
                if any(value < 0 for value in below.values):
                    raise QuantityError(
                        f"denominator of {quantity.name}", None, "is negative for a pair", "return >= 0"
                    )
                belows[name] = below
            elif over is not None:
                belows[name] = cell_table(DENOMINATORS[over], index)
        if over is None:
            return cls(tops, None, 1, "none")
        scale = math.lcm(*(v.denominator for table in belows.values() for v in table.values))
        return cls(
            {name: Table(table.codes, table.values * scale) for name, table in tops.items()},
            {name: Table(table.codes, table.values * scale) for name, table in belows.items()},
            scale,
            over if isinstance(over, str) else "own",
        )

    def all(self) -> Iterator[tuple[str | int, Table]]:
        """Every table with its class."""
        yield from self.tops.items()
        if self.belows is not None:
            yield from self.belows.items()

    @property
    def fixed(self) -> Exact | None:
        """object array of shape (C,), the denominators if they are the same for all correspondences, else None."""
        if self.belows is None or not all(table.additive for table in self.belows.values()):
            return None
        return np.array([int(table.total(np.arange(len(table.codes)))) for table in self.belows.values()], dtype=object)

    @property
    def grounded(self) -> bool:
        """Whether the numerator is 0 wherever the denominator is, if the denominator varies.

        Else the best ratio must be sought among the correspondences that have a denominator, which is one condition
        more.
        """
        if self.belows is None or self.fixed is not None:
            return True
        return not any((table.where(bool) & ~self.belows[name].where(bool)).any() for name, table in self.tops.items())

    def kind(self, evaluation: Evaluation) -> Kind:
        """What numerator and denominator are together."""
        if not self.grounded:
            return "pairs"
        indices = {name: cell_index(evaluation, c) for c, name in enumerate(evaluation.classes)}
        if all(table.by_cell(indices[name]) is not None for name, table in self.all()):
            return "cells"
        off = {name: index >= 4 for name, index in indices.items()}
        parts = self.tops.items() if self.fixed is not None else self.all()
        if all(not table.where(bool)[off[name]].any() for name, table in parts):
            return "retained-correct"
        return "pairs"


def _denominator(quantity: OwnQuantity | Quantity, asked: str | None) -> str | PairFunction | None:
    if isinstance(quantity, Quantity):
        name = quantity.denominator(asked)
        return None if name == "none" else name
    if asked is None:
        return quantity.denominator
    if asked != "none" and asked not in DENOMINATORS:
        raise QuantityError("denominator", asked, "unknown", f"choose among none, {', '.join(DENOMINATORS)}")
    return None if asked == "none" else asked


@dataclass(frozen=True, slots=True, eq=False)
class PairQuestion:
    """A question about tables; `bounds.by_program.Asked`.

    Attributes:
        evaluation, knowledge, domain, average: as in `bounds.question.Question`. For a class alone whose
            correspondences hang together with those of others, the evaluation holds all and the other tables are zero.
        tables: what is asked.
        conditions: what refinements say of each class by itself.
        ties: what they say of several classes together.
        recognised: whether `kind` may be another than "pairs": not where a method was asked for.
        kind: the way to go; always "pairs" with refinements.
    """

    evaluation: Evaluation
    knowledge: Knowledge
    domain: Domain
    average: str
    tables: Tables
    conditions: Mapping[str | int, Sequence[Condition]]
    ties: Sequence[Condition]
    recognised: bool
    kind: Kind

    @property
    def denominator(self) -> str:
        """Its name, "none" for a count or a sum."""
        return self.tables.denominator

    @property
    def fixed_denominators(self) -> npt.NDArray[Any] | None:
        """See `bounds.by_program.Asked`."""
        return self.tables.fixed

    def weights(self, numerator: list[Fraction], denominator: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
        """See `bounds.by_program.Asked`; `PairEngine` knows the tables."""
        return numerator, denominator

    def sums(self, evaluation: Evaluation, match: Ints, classes: range) -> tuple[Fraction, int]:
        """See `bounds.by_program.Asked`."""
        top, below = Fraction(0), 0
        for c in classes:
            part = _of_class(evaluation, match, c)
            top += self.tables.tops[evaluation.classes[c]].total(part)
            if self.tables.belows is not None:
                below += int(self.tables.belows[evaluation.classes[c]].total(part))
        return top, below

    def value(self, match: Ints) -> Fraction | None:
        """The exact value at a correspondence, None where it is undefined there."""
        if self.average == "macro":
            sums = [self.sums(self.evaluation, match, range(c, c + 1)) for c in range(len(self.evaluation.classes))]
            rates = [top / below for top, below in sums if below]
            return sum(rates, Fraction(0)) / len(rates) if rates else None
        top, below = self.sums(self.evaluation, match, range(len(self.evaluation.classes)))
        if self.tables.belows is None:
            return top
        return top / below if below else None

    def broken(self, evaluation: Evaluation, match: Ints) -> str | None:
        """The first refinement that a correspondence of `evaluation`, all classes or one, breaks."""
        parts = {name: _of_class(evaluation, match, c) for c, name in enumerate(evaluation.classes)}
        for condition in (*(one for name in parts for one in self.conditions.get(name, ())), *self.ties):
            total = sum(_weighed(codes, weights, parts[name]) for name, (codes, weights) in condition.tables.items())
            if not condition.lower <= total <= condition.upper:
                return condition.refinement
        return None

    @property
    def refined(self) -> bool:
        """Whether there are refinements."""
        return bool(self.conditions) or bool(self.ties)

    def unrefined(self) -> PairQuestion:
        """The question without refinements."""
        kind = self.tables.kind(self.evaluation) if self.recognised else "pairs"
        return replace(self, conditions={}, ties=(), kind=kind)

    def coarser(self) -> PairQuestion | None:
        """The question with less known, or None where nothing is."""
        if self.refined:
            return self.unrefined()
        if self.knowledge.level is Level.FIVE_STATE:
            known = Knowledge(Level.CLASSWISE, retained_correct=self.knowledge.retained_correct)
        elif self.knowledge.level is not Level.MARGINALS:
            known = Knowledge(Level.MARGINALS)
        else:
            return None
        return replace(self, knowledge=known, domain=domain_of(counts_of(self.evaluation), known))


def _weighed(codes: Ints, weights: Ints, match: Ints) -> int:
    """The sum of a condition's weights over the pairs of one class."""
    return int(weights[codes[np.arange(len(match)), match]].sum())


def _of_class(evaluation: Evaluation, match: Ints, c: int) -> Ints:
    """The part of a correspondence in class `c`, in rows of that class."""
    start = int(evaluation.starts[c])
    return match[start : int(evaluation.starts[c + 1])] - start


@dataclass(slots=True)
class PairEngine:
    """Optimises the tables of a question; `bounds.by_program.Engine`.

    Attributes:
        question: what is asked.
        method: "auto", or the program asked for.
        backend, node_limit: as everywhere.
        used: the programs that answered.
    """

    question: PairQuestion
    method: str
    backend: str
    node_limit: int | None
    used: set[str] = field(default_factory=set)

    def optimise(
        self, evaluation: Evaluation, weights: tuple[list[Fraction], list[Fraction]], knowledge: Knowledge, upper: bool
    ) -> Optimum:
        """See `bounds.by_program.Engine`.

        Raises:
            InfeasibleError: if no correspondence meets the refinements.
            SolverError: if nothing was proven.
        """
        if self.question.kind == "cells":
            self.used.add("milp")
            solver = by_program.Solver("milp", self.backend, self.node_limit, "compact")
            return solver.optimise(evaluation, self._cells(evaluation, weights), knowledge, upper)
        costs = [self._cost(name, n, d) for name, n, d in zip(evaluation.classes, *weights, strict=True)]
        if self.question.kind == "retained-correct":
            found, match = self._retained(evaluation, costs, knowledge, upper)
        else:
            positive = not self.question.tables.grounded and any(weights[0])
            found, match = self._pairs(evaluation, costs, knowledge, upper, weights[0] if positive else ())
        if found.status is Status.INFEASIBLE:
            raise self._infeasible(evaluation, knowledge)
        if found.bound is None:
            raise SolverError(
                "program", self.method, f"ended {found.status.value!r} with nothing proven", "raise the node limit"
            )
        if match is not None:
            self._check(evaluation, costs, knowledge, match, found)
        return Optimum(found.status, found.bound, found.proofs, found.nodes, found.solver, found.attained, match)

    def _cost(self, name: str | int, numerator: Fraction, denominator: Fraction) -> list[tuple[Fraction, Table]]:
        """What a pair of a class adds: factors with their tables."""
        belows = self.question.tables.belows
        parts = [(Fraction(numerator), self.question.tables.tops[name])]
        if belows is not None:
            parts.append((Fraction(denominator), belows[name]))
        return [(factor, table) for factor, table in parts if factor]

    def _cells(
        self, evaluation: Evaluation, weights: tuple[list[Fraction], list[Fraction]]
    ) -> tuple[Exact, list[Fraction]]:
        """The weights on the cells of each class, as `by_program.Solver` takes them."""
        found = np.zeros((len(evaluation.classes), 5, 2, 2), dtype=object)
        known = evaluation.clean.accepted is not None, evaluation.perturbed.accepted is not None
        for c, (name, n, d) in enumerate(zip(evaluation.classes, *weights, strict=True)):
            for factor, table in self._cost(name, n, d):
                by_cell = table.by_cell(cell_index(evaluation, c))
                assert by_cell is not None
                found[c] += factor * by_cell
        found = found if known[0] else np.repeat(found[:, :, :1], 2, axis=2)
        return found if known[1] else np.repeat(found[:, :, :, :1], 2, axis=3), [Fraction(0)] * len(found)

    def _retained(
        self, evaluation: Evaluation, costs: list[list[tuple[Fraction, Table]]], knowledge: Knowledge, upper: bool
    ) -> tuple[PairOptimum, Ints | None]:
        """Retained-correct pairs alone, as a transport with one more group on each side for the rest.

        With k retained-correct pairs the added groups take A - k perturbed and B - k clean partners and not each
        other; of each such correspondence the rest is filled freely (C2), so persistent pairs are left out of it.
        """
        domain = domain_of(counts_of(evaluation), knowledge)
        blocks, members, spare = [], [], []
        for c, cost in enumerate(costs):
            rows, columns = (
                np.flatnonzero(side.correct[evaluation.starts[c] : evaluation.starts[c + 1]])
                for side in (evaluation.clean, evaluation.perturbed)
            )
            left, right = (_groups(cost, [], axis, kept) for axis, kept in ((0, rows), (1, columns)))
            least = int(domain.lo[c])
            matrix = np.zeros((len(left) + 1, len(right) + 1), dtype=object)
            matrix[:-1, :-1] = _matrix(cost, left, right)
            corner = np.zeros(matrix.shape, dtype=np.int64)
            corner[-1, -1] = 1
            spare.append(corner)
            known = PairRow("retained correct", corner, 0, 0)
            blocks.append(
                PairBlock(
                    (*map(len, left), len(columns) - least),
                    (*map(len, right), len(rows) - least),
                    matrix,
                    (known,) if domain.lo[c] == domain.hi[c] else (),
                )
            )
            members.append((left, right))
        couplings = []
        if domain.total is not None and not domain.fixed:
            over = domain.total - int(domain.lo.sum())
            couplings.append(Coupling("retained correct of all classes", spare, over, over))
        found = optimise_pairs(
            blocks, couplings, maximise=upper, method="milp", backend=self.backend, node_limit=self.node_limit
        )
        self.used.add("lp" if found.proof == "dual" else "milp")
        if found.tables is None:
            return found, None
        pairs = [
            _paired(*groups, table[:-1, :-1], int(start))
            for groups, table, start in zip(members, found.tables, evaluation.starts[:-1], strict=True)
        ]
        clean, perturbed = (
            np.concatenate([np.empty(0, dtype=np.int64), *(pair[side] for pair in pairs)]) for side in (0, 1)
        )
        return found, witness.complete(evaluation, clean, perturbed, knowledge.persistent)

    def _pairs(
        self,
        evaluation: Evaluation,
        costs: list[list[tuple[Fraction, Table]]],
        knowledge: Knowledge,
        upper: bool,
        grounded: Sequence[Fraction] = (),
    ) -> tuple[PairOptimum, Ints | None]:
        """All pairs of groups of equal records; with a denominator in the classes where `grounded` is not zero."""
        ties = self.question.ties
        blocks, members, retained = [], [], []
        tied: list[list[Ints]] = [[] for _ in ties]
        based: list[Ints] = []
        for c, (name, cost) in enumerate(zip(evaluation.classes, costs, strict=True)):
            state = cell_index(evaluation, c) // 4
            conditions = self.question.conditions.get(name, ())
            seen = [condition.tables[name][0] for condition in (*conditions, *ties)]
            if knowledge.level is not Level.MARGINALS:
                seen.append((state == 0).astype(np.int64))
            if knowledge.persistent is not None:
                seen.append(state)
            if grounded and self.question.tables.belows is not None:
                below = self.question.tables.belows[name].where(bool).astype(np.int64)
                seen.append(below)
            everyone = np.arange(len(state), dtype=np.int64)
            left, right = (_groups(cost, seen, axis, everyone) for axis in (0, 1))
            at = np.ix_([int(group[0]) for group in left], [int(group[0]) for group in right])
            retained.append((state[at] == 0).astype(np.int64))
            rows = []
            if knowledge.retained_correct is not None:
                k = int(knowledge.retained_correct[c])
                rows.append(PairRow("retained correct", retained[-1], k, k))
            if knowledge.persistent is not None:
                s = int(knowledge.persistent[c])
                rows.append(PairRow("persistent wrong", (state[at] == 3).astype(np.int64), s, s))
            for condition in conditions:
                codes, weights = condition.tables[name]
                rows.append(PairRow(condition.refinement, weights[codes[at]], condition.lower, condition.upper))
            for matrices, condition in zip(tied, ties, strict=True):
                codes, weights = condition.tables[name]
                matrices.append(weights[codes[at]])
            if grounded:
                based.append(below[at] * int(grounded[c] != 0))
            sizes = tuple(map(len, left)), tuple(map(len, right))
            blocks.append(PairBlock(*sizes, _matrix(cost, left, right), tuple(rows)))
            members.append((left, right))
        couplings = [
            Coupling(condition.refinement, matrices, condition.lower, condition.upper)
            for condition, matrices in zip(ties, tied, strict=True)
        ]
        if grounded:
            couplings.append(Coupling("a denominator", based, 1, OPEN))
        if knowledge.total is not None:
            couplings.append(Coupling("retained correct of all classes", retained, knowledge.total, knowledge.total))
        method = self.method
        if method == "auto":
            cells = [block.cost.size for block in blocks]
            method = "milp" if (sum(cells) if couplings else max(cells, default=0)) <= CELL_LIMIT else "lp"
        self.used.add(method)
        found = self._program(blocks, couplings, upper, method)
        if found.tables is None:
            return found, None
        match = np.empty(evaluation.images, dtype=np.int64)
        for groups, table, start in zip(members, found.tables, evaluation.starts[:-1], strict=True):
            clean, perturbed = _paired(*groups, table, int(start))
            match[clean] = perturbed
        return found, match

    def _program(
        self, blocks: Sequence[PairBlock], couplings: Sequence[Coupling], upper: bool, method: str
    ) -> PairOptimum:
        """The optimum; where values are too fine for a solver to tell neighbours apart, settled in another way.

        Small classes are enumerated. Of larger ones the bound is that of values rounded outward to a grid that the
        solver resolves: an outer one, but off by at most a grid step a pair.
        """

        def run(some: Sequence[PairBlock], method: str) -> PairOptimum:
            return optimise_pairs(
                some,
                couplings,
                maximise=upper,
                method=cast(Method, method),
                backend=self.backend,
                node_limit=self.node_limit,
            )

        found = run(blocks, method)
        if method != "milp" or found.sharp or found.status is not Status.OPTIMAL or found.bound is None:
            return found
        try:
            return run(blocks, "enumerate")
        except BackendError:
            rounded = run(_rounded(blocks, upper), "milp")
        if rounded.bound is None or (rounded.bound >= found.bound if upper else rounded.bound <= found.bound):
            return found
        return replace(found, bound=rounded.bound, proofs=rounded.proofs)

    def _check(
        self,
        evaluation: Evaluation,
        costs: list[list[tuple[Fraction, Table]]],
        knowledge: Knowledge,
        match: Ints,
        found: PairOptimum,
    ) -> None:
        """Every correspondence is valued again from the tables and the records."""
        seen = sum(
            (
                factor * table.total(_of_class(evaluation, match, c))
                for c, cost in enumerate(costs)
                for factor, table in cost
            ),
            Fraction(0),
        )
        broken = self.question.broken(evaluation, match)
        if seen != found.attained or broken is not None or not consistent(evaluation, knowledge, match):
            raise SolverError(
                "correspondence", broken, "its exact value or counts differ from the program's", "report this"
            )

    def _infeasible(self, evaluation: Evaluation, knowledge: Knowledge) -> InfeasibleError:
        """Which refinement no correspondence meets, with exact evidence where one count alone shows it."""
        asked = self.question
        every = [*(one for name in evaluation.classes for one in asked.conditions.get(name, ())), *asked.ties]
        plain = PairEngine(asked.unrefined(), "lp", self.backend, None)
        for condition in every:
            costs: list[list[tuple[Fraction, Table]]] = []
            for name in evaluation.classes:
                part = condition.tables.get(name)
                costs.append([] if part is None else [(Fraction(1), Table(part[0], part[1].astype(object)))])
            least, most = (plain._pairs(evaluation, costs, knowledge, upper)[0].bound for upper in (False, True))
            assert least is not None
            assert most is not None
            if condition.upper < least or condition.lower > most:
                return InfeasibleError(
                    f"refinement {condition.refinement!r}",
                    condition.lower if condition.lower == condition.upper else (condition.lower, condition.upper),
                    f"every correspondence at level {knowledge.level} has a count from {least} to {most} (exact "
                    "multipliers)",
                    "check the count and the records",
                )
        names = list(dict.fromkeys(condition.refinement for condition in every))
        for name in names:
            own = {c: [one for one in ones if one.refinement == name] for c, ones in asked.conditions.items()}
            ties = [one for one in asked.ties if one.refinement == name]
            alone = PairEngine(replace(asked, conditions=own, ties=ties), "milp", self.backend, self.node_limit)
            if alone._pairs(evaluation, [[]] * len(evaluation.classes), knowledge, True)[0].status is Status.INFEASIBLE:
                names = [name]
                break
        return InfeasibleError(
            "refinement" if len(names) == 1 else "refinements",
            ", ".join(names),
            f"with level {knowledge.level} no correspondence was found feasible by the integer program",
            "check the counts and the records",
        )


def _groups(cost: Sequence[tuple[Fraction, Table]], seen: Sequence[Ints], axis: int, kept: Ints) -> tuple[Ints, ...]:
    """Records of a side (0 clean, 1 perturbed) that nothing tells apart, as rows of the class, ascending."""
    if not len(kept):
        return ()
    matrices = {id(codes): codes for codes in (*(table.codes for _, table in cost), *seen)}
    lines = [np.zeros((len(kept), 1), dtype=np.int64)]
    for codes in matrices.values():
        _, line = np.unique(codes if axis == 0 else codes.T, axis=0, return_inverse=True)
        lines.append(line.reshape(-1, 1)[kept])
    group = np.unique(np.concatenate(lines, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(group, kind="stable")
    return tuple(np.split(kept[order], np.flatnonzero(np.diff(group[order])) + 1))


def _matrix(cost: Sequence[tuple[Fraction, Table]], left: Sequence[Ints], right: Sequence[Ints]) -> Exact:
    """What a pair of two groups adds."""
    at = np.ix_([int(group[0]) for group in left], [int(group[0]) for group in right])
    parts = [(factor * table.values)[table.codes[at]] for factor, table in cost]
    return sum(parts[1:], parts[0]) if parts else np.zeros((len(left), len(right)), dtype=object)


def _rounded(blocks: Sequence[PairBlock], upper: bool) -> list[PairBlock]:
    """The blocks with their costs rounded outward to a grid that solvers resolve; see `bounds.refinement`."""
    costs = [block.cost.ravel().tolist() for block in blocks]
    largest = max((abs(value) for values in costs for value in values), default=0)
    images = sum(sum(block.clean_sizes) for block in blocks)
    step = Fraction(largest) / (1 << max(1, GRID_BITS - images.bit_length())) or Fraction(1)
    outward = math.ceil if upper else math.floor
    found = []
    for block, values in zip(blocks, costs, strict=True):
        cost = np.empty(len(values), dtype=object)
        cost[:] = [outward(value / step) * step for value in values]
        found.append(replace(block, cost=cost.reshape(block.cost.shape)))
    return found


def _paired(left: Sequence[Ints], right: Sequence[Ints], table: Ints, start: int) -> tuple[Ints, Ints]:
    """(clean rows, perturbed rows) paired by a table over groups, as rows of an evaluation whose class starts there."""
    used_left, used_right = [0] * len(left), [0] * len(right)
    clean, perturbed = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for i, j in np.argwhere(table).tolist():
        count = int(table[i, j])
        clean.append(left[i][used_left[i] : used_left[i] + count])
        perturbed.append(right[j][used_right[j] : used_right[j] + count])
        used_left[i] += count
        used_right[j] += count
    return np.concatenate(clean) + start, np.concatenate(perturbed) + start


def answer(
    evaluation: Evaluation,
    quantity: OwnQuantity | Quantity,
    knowledge: Knowledge,
    *,
    refinements: Sequence[Refinement] = (),
    denominator: str | None = None,
    average: str = "micro",
    class_name: str | int | None = None,
    method: str = "auto",
    backend: str = "highs",
    node_limit: int | None = None,
    witnesses: bool = False,
) -> Interval:
    """The interval of a quantity over the correspondences that the knowledge and the refinements leave.

    Args: as `bounds.bound`, which is the door.

    Raises:
        InfeasibleError: if no correspondence meets the refinements; the message names one, or all of them.
        QuantityError: if a value lies beyond the largest float.
        PairboundsError: one of its kinds, for input that cannot be used.

    Claims: correct_correct_suffices (C2), cc_programs_are_integral (C8), more_knowledge_never_widens (C12).
    """
    if method not in ("auto", *METHODS):
        raise BackendError(
            "method", method, "no claim covers quantities or refinements of one's own", "choose auto or milp"
        )
    asked = _ask(evaluation, quantity, refinements, denominator, average, knowledge, class_name, method == "auto")
    alone = evaluation if class_name is None else evaluation.select([evaluation.classes.index(class_name)])
    identity = np.arange(asked.evaluation.images, dtype=np.int64)
    if knowledge.level is Level.PAIRED:
        if not evaluation.paired:
            raise QuantityError("knowledge", "paired", "the two sides have no common ids", "ask for marginals")
        if (broken := asked.broken(asked.evaluation, identity)) is not None:
            raise InfeasibleError("refinement", broken, "the true pairing breaks it", "check the counts")
    paired = asked.value(identity) if evaluation.paired else None
    used: set[str] = set()

    def engine(question: PairQuestion) -> PairEngine:
        return PairEngine(question, method, backend, node_limit, used)

    least, most = _denominator_range(asked, engine(asked))
    ends, attained = [End(None, None)] * 2, True
    if knowledge.level is Level.PAIRED:
        proof = None if paired is None else "paired"
        end = End(paired, _nearest(paired, quantity.name), proof, identity if witnesses else None)
        ends = [end] * 2
    elif most != 0:
        ends = []
        for upper in (False, True):
            found = _end(asked, engine, upper)
            attained = attained and found.attained
            match = found.match
            if match is not None and asked.value(match) != found.value:
                raise SolverError("witness", None, f"does not attain the end {found.value}", "report this")
            if match is not None and class_name is not None:
                match = _of_class(asked.evaluation, match, asked.evaluation.classes.index(class_name))
            ends.append(
                End(found.value, _nearest(found.value, quantity.name), found.proof, match if witnesses else None)
            )
    if knowledge.level is Level.PAIRED:
        method = "paired"
    elif method == "auto":
        method = "lp" if "lp" in used else "milp"
    over = Denominator(asked.denominator, *(_over(count, asked.tables.scale) for count in (least, most)))
    for value in (paired, over.lower, over.upper):
        _nearest(value, quantity.name)
    return Interval(
        quantity=quantity.name,
        knowledge=str(knowledge.level),
        denominator=over,
        average=None if class_name is not None else average,
        model=evaluation.model,
        clean=evaluation.clean_condition,
        perturbed=evaluation.perturbed_condition,
        threshold=None if evaluation.threshold is None else evaluation.threshold.text,
        class_name=class_name,
        unit=_unit(quantity, asked),
        low=ends[0],
        high=ends[1],
        sharp=attained,
        may_be_undefined=least == 0,
        undefined=f"0 in all by the denominator {asked.denominator!r}" if most == 0 else None,
        paired=paired,
        method=method,
        backend=backend if method in ("lp", "milp") else None,
        error_bound=0.0,
        images=alone.images,
        classes=len(alone.classes),
        unmatched=evaluation.unmatched,
        unusable=evaluation.unusable,
        coverage=None if evaluation.threshold is None else evaluation.threshold.coverage,
    )


def _ask(
    evaluation: Evaluation,
    quantity: OwnQuantity | Quantity,
    refinements: Sequence[Refinement],
    denominator: str | None,
    average: str,
    knowledge: Knowledge,
    class_name: str | int | None,
    recognised: bool,
) -> PairQuestion:
    """Check that the parts go together, and call the functions."""
    everywhere = evaluation.classes
    only = everywhere if class_name is None else (class_name,)
    if class_name is not None:
        if class_name not in everywhere:
            raise QuantityError("class", class_name, "not in the records", "name a class that they hold")
        tied = any(not isinstance(known, Mapping) for refinement in refinements for _, known in refinement.known)
        if not tied and knowledge.level is not Level.TOTAL:
            c = everywhere.index(class_name)
            evaluation, knowledge = evaluation.select([c]), knowledge.of_class(c)
    tables = Tables.of(evaluation, quantity, denominator, only)
    check_average(average, tables.denominator)
    own: dict[str | int, list[Condition]] = {}
    ties: list[Condition] = []
    for refinement in refinements:
        for condition in conditions(evaluation, refinement, everywhere):
            if len(condition.tables) == 1:
                own.setdefault(next(iter(condition.tables)), []).append(condition)
            else:
                ties.append(condition)
    domain = domain_of(counts_of(evaluation), knowledge)
    coupled = bool(ties) or (bool(own) and knowledge.level is Level.TOTAL and not domain.fixed)
    if average == "macro" and class_name is None and coupled and tables.fixed is None:
        raise BackendError(
            "average", average, "a refinement ties classes whose denominators vary", "ask for micro, or for each class"
        )
    question = PairQuestion(
        evaluation=evaluation,
        knowledge=knowledge,
        domain=domain,
        average=average if class_name is None else "micro",
        tables=tables,
        conditions=own,
        ties=ties,
        recognised=recognised,
        kind="pairs",
    )
    return question if own or ties else question.unrefined()


def _denominator_range(asked: PairQuestion, engine: PairEngine) -> tuple[int | None, int | None]:
    """Least and greatest sum of the class denominators; whole numbers, so `Tables.scale` times what is meant."""
    if asked.tables.belows is None:
        return None, None
    if asked.knowledge.level is Level.PAIRED:
        identity = np.arange(asked.evaluation.images, dtype=np.int64)
        return (asked.sums(asked.evaluation, identity, range(len(asked.evaluation.classes)))[1],) * 2
    if asked.tables.fixed is not None:
        return (int(asked.tables.fixed.sum()),) * 2
    ones = [Fraction(1)] * len(asked.evaluation.classes)
    weights = [Fraction(0)] * len(ones), ones
    ends = [engine.optimise(asked.evaluation, weights, asked.knowledge, upper).bound for upper in (False, True)]
    assert ends[0] is not None
    assert ends[1] is not None
    return math.floor(ends[0]), math.ceil(ends[1])


def _end(asked: PairQuestion, engine: Callable[[PairQuestion], PairEngine], upper: bool) -> Found:
    """One end; an outer one is intersected with those of less knowledge (C12)."""
    found = by_program.end(asked, engine(asked), upper)
    less = None if found.attained else asked.coarser()
    if less is None:
        return found
    outside = _end(less, engine, upper)
    better = outside.value < found.value if upper else outside.value > found.value
    return replace(found, value=outside.value, proof=outside.proof) if better else found


def _over(count: int | None, scale: int) -> int | Fraction | None:
    """A denominator as it was given."""
    if count is None:
        return None
    return count // scale if count % scale == 0 else Fraction(count, scale)


def _nearest(value: Fraction | int | None, name: str) -> float | None:
    """The nearest float, None for None.

    Raises:
        QuantityError: if the value lies beyond the largest float.
    """
    try:
        return None if value is None else float(value)
    except OverflowError:
        raise QuantityError(
            "quantity", name, "its values lie beyond the largest float, 1.8e308", "scale the function down"
        ) from None


def _unit(quantity: OwnQuantity | Quantity, asked: PairQuestion) -> str:
    """The unit of a named quantity; "count" or "fraction" for truth values of one's own, else "value"."""
    if isinstance(quantity, Quantity):
        return quantity.unit(asked.denominator)
    scale = asked.tables.scale
    if all(value in (0, scale) for table in asked.tables.tops.values() for value in table.values):
        return "count" if asked.denominator == "none" else "fraction"
    return "value"
