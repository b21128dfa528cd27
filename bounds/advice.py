"""What should a paper print? How much each further statistic would narrow the interval of a quantity.

The two sides of an evaluation are known; a *statistic* is a count over its pairs, in all or of each class, that an
author could add. Its true value comes from the pairing. What a set of statistics leaves open is a program over counts
of pairs (`bounds.count_programs`) whose every point is a correspondence, so that its exact ends are sharp.

Claims: correct_correct_suffices (C2), compact_program (C10), transition_counts (C13).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any

from bounds.count_programs import CountProgram, by_block, by_label, tells_persistent, true_counts
from bounds.errors import QuantityError
from bounds.evaluation import Evaluation
from bounds.interval import Interval
from bounds.knowledge import Level
from bounds.program import Ints
from bounds.quantities import DENOMINATORS, QUANTITIES, Cells, Quantity, cells, quantity
from bounds.solve import bound
from bounds.table_intervals import Ends, interval
from bounds.table_program import Row
from bounds.table_solver import Undecided

__all__ = ["COUNTS", "USUAL", "Advice", "Statistic", "Step", "advise", "printable_counts"]

USUAL = (
    "retained-correct",
    "persistent-wrong",
    "retained-correct-accepted",
    "retained-correct-accepted-perturbed",
)
"""The counts looked at where none is named."""

COUNTS: Mapping[str, Cells] = MappingProxyType(
    {
        **{name: quantity.cells for name, quantity in QUANTITIES.items() if not quantity.probability},
        "retained-correct-accepted": DENOMINATORS["retained-correct-accepted"],
        "retained-correct-accepted-perturbed": cells("CC", None, 1),
    }
)
"""What an author could count: the named counts; and, of the images correct on both sides, those accepted on the clean
or on the perturbed side."""


@dataclass(frozen=True, slots=True, order=True)
class Statistic:
    """A count that could be printed.

    Attributes:
        name: in `COUNTS`.
        per_class: of each class, rather than in all.
    """

    name: str
    per_class: bool = False

    def __str__(self) -> str:
        return f"{self.name} per class" if self.per_class else f"{self.name} in all"


@dataclass(frozen=True, slots=True)
class Step:
    """A statistic and the interval once it is known, beside those before it."""

    statistic: Statistic
    ends: Ends


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """What further statistics would do for one quantity.

    Attributes:
        marginals: the interval from the two sides alone.
        alone: each statistic by itself, the narrowest interval first.
        steps: the best one first, then the best beside it, and so on until none narrows the interval.
        enough: a smallest set of statistics whose interval is as narrow as asked, or as it can be; and that interval.
    """

    marginals: Interval
    alone: tuple[Step, ...]
    steps: tuple[Step, ...]
    enough: tuple[tuple[Statistic, ...], Ends]

    def to_dict(self) -> dict[str, Any]:
        """The object that `pairbounds advise --json` prints."""
        told = self.marginals.to_dict()
        scope = ("quantity", "model", "clean", "perturbed", "threshold", "coverage", "average", "denominator", "unit")
        chosen, ends = self.enough
        return {key: told[key] for key in scope if key in told} | {
            "marginals": ends_of(self.marginals).to_dict(),
            "alone": [_told(step.statistic) | step.ends.to_dict() for step in self.alone],
            "steps": [_told(step.statistic) | step.ends.to_dict() for step in self.steps],
            "enough": {"statistics": list(map(_told, chosen)), **ends.to_dict()},
            "paired": told["paired"],
            "paired_exact": told["paired_exact"],
        }


def ends_of(found: Interval) -> Ends:
    """The ends of an interval in exact arithmetic."""
    if found.undefined is not None:
        return Ends(None, None)
    return Ends(found.low.value, found.high.value, found.sharp)


def _told(statistic: Statistic) -> dict[str, Any]:
    return {"statistic": statistic.name, "per_class": statistic.per_class}


def advise(
    evaluation: Evaluation,
    name: str | Quantity,
    *,
    denominator: str | None = None,
    statistics: Iterable[str] | None = None,
    width: Fraction | None = None,
    node_limit: int | None = None,
) -> Advice:
    """How much further statistics narrow the interval of a quantity.

    Args:
        evaluation: paired records, with acceptance where the quantity needs it. Rates are averaged `micro`.
        name: the quantity.
        denominator: the quantity's default where None.
        statistics: names in `COUNTS` of what could be printed, in all or per class; where None `USUAL` but for the
            quantity itself.
        width: how narrow `Advice.enough` shall be; where None, or out of reach, as narrow as it can be.
        node_limit: as in `bounds.table_solver.optimum`.

    Raises:
        QuantityError: if the records are not paired, or a statistic cannot be used.
        RecordError: if the quantity needs what the records have not.

    >>> from bounds import load_records
    >>> from bounds.demo import RECORDS, example
    >>> with example(RECORDS) as path:
    ...     fog = load_records(path).evaluation(perturbed="fog/3").at_threshold("0.8")
    >>> for step in advise(fog, "lost-acceptance", statistics=["retained-correct"]).steps:
    ...     print(step.statistic, step.ends.lower, step.ends.upper)
    retained-correct per class 4/149 44/149
    """
    asked = quantity(name)
    below = asked.denominator(denominator)
    if not evaluation.paired:
        raise QuantityError("records", "unpaired", "the true counts come from the pairing", "give images by their ids")
    usual = [name for name in USUAL if name != asked.name]
    offered = _offered(evaluation, asked, usual if statistics is None else statistics, named=statistics is not None)
    intervals = _Intervals(evaluation, asked, below, node_limit)
    start = intervals.given(())
    alone = sorted((Step(one, intervals.given((one,))) for one in offered), key=lambda step: step.ends.width)
    steps: list[Step] = []
    left = list(offered)
    while left and (steps[-1].ends if steps else start).width:
        known = tuple(step.statistic for step in steps)
        best = min((Step(one, intervals.given((*known, one))) for one in left), key=lambda step: step.ends.width)
        if best.ends.width >= (steps[-1].ends if steps else start).width:
            break
        steps.append(best)
        left.remove(best.statistic)
    enough = _enough(intervals, offered, steps, width)
    return Advice(intervals.marginals, tuple(alone), tuple(steps), enough)


def _offered(evaluation: Evaluation, asked: Quantity, names: Iterable[str], named: bool) -> list[Statistic]:
    """The statistics of these counts that the records have, those in all before those per class.

    Raises:
        QuantityError: if a count that was named cannot be used.
    """
    seen = evaluation.clean.accepted is not None and evaluation.perturbed.accepted is not None
    kept = []
    for name in dict.fromkeys(names):
        if name not in COUNTS:
            raise QuantityError("statistic", name, "no such count", f"choose among {', '.join(COUNTS)}")
        counted = COUNTS[name]
        if not seen and (counted != counted[:, :1, :1]).any():
            rule, way_out = "depends on acceptance", "give --threshold, or a column 'accepted'"
        elif asked.probability and name != "retained-correct":
            # Of sums of probabilities only the levels of knowledge are bounded.
            rule, way_out = f"cannot be put beside {asked.name}", "choose retained-correct"
        else:
            kept.append(name)
            continue
        if named:
            raise QuantityError("statistic", name, rule, way_out)
    several = len(evaluation.classes) > 1
    return [Statistic(name, per_class) for per_class in (False, True)[: 1 + several] for name in kept]


def _enough(
    intervals: _Intervals, offered: Sequence[Statistic], steps: Sequence[Step], width: Fraction | None
) -> tuple[tuple[Statistic, ...], Ends]:
    """The first smallest set whose interval is narrow enough; counts in all stand before those per class."""
    every = tuple(one for one in offered if one.per_class or Statistic(one.name, True) not in offered)
    narrowest = intervals.given(every).width
    goal = narrowest if width is None else max(narrowest, width)
    most = len(steps) if steps and steps[-1].ends.width <= goal else len(every)
    for size in range(most + 1):
        for chosen in combinations(offered, size):
            if len({one.name for one in chosen}) == size and (ends := intervals.given(chosen)).width <= goal:
                return chosen, ends
    return every, intervals.given(every)


def printable_counts(evaluation: Evaluation, statistics: Iterable[Statistic]) -> list[dict[str, Any]]:
    """The table that an author could print: the true counts, a row a class and statistic (class None for all)."""
    counts = true_counts(evaluation)
    rows: list[dict[str, Any]] = []
    for statistic in statistics:
        values = (counts * COUNTS[statistic.name]).sum(axis=(1, 2, 3))
        if not statistic.per_class:
            rows.append({"class": None, "statistic": statistic.name, "count": int(values.sum())})
            continue
        rows += [
            {"class": name, "statistic": statistic.name, "count": count}
            for name, count in zip(evaluation.classes, values.tolist(), strict=True)
        ]
    return rows


_LEVELS = {
    (): Level.MARGINALS,
    (Statistic("retained-correct"),): Level.TOTAL,
    (Statistic("retained-correct", True),): Level.CLASSWISE,
    (Statistic("persistent-wrong", True), Statistic("retained-correct", True)): Level.FIVE_STATE,
}
"""Sets of statistics that are levels of knowledge, in sorted order."""


@dataclass
class _Intervals:
    """The interval of a quantity for every set of statistics, each found once."""

    evaluation: Evaluation
    asked: Quantity
    below: str
    node_limit: int | None
    known: dict[frozenset[Statistic], Ends] = field(default_factory=dict)

    def given(self, statistics: Sequence[Statistic]) -> Ends:
        """The interval, of a level of knowledge where they are one; a count in all is dropped beside it per class."""
        chosen = frozenset(one for one in statistics if one.per_class or Statistic(one.name, True) not in statistics)
        if chosen not in self.known:
            level = _LEVELS.get(tuple(sorted(chosen)))
            self.known[chosen] = self._found(chosen) if level is None else ends_of(self._bound(level))
        return self.known[chosen]

    @cached_property
    def marginals(self) -> Interval:
        """From the two sides alone."""
        return self._bound(Level.MARGINALS)

    def _bound(self, level: Level) -> Interval:
        return bound(self.evaluation, self.asked, level, denominator=self.below, node_limit=self.node_limit)

    def _found(self, chosen: frozenset[Statistic]) -> Ends:
        top, below = self.asked.cells, None if self.below == "none" else DENOMINATORS[self.below]
        weights = [top, *([] if below is None else [below]), *(COUNTS[one.name] for one in chosen)]
        pairs = self._labels if any(map(tells_persistent, weights)) else self._blocks
        program = pairs.program.with_rows(row for one in sorted(chosen) for row in self._rows(pairs, one))
        under = None if below is None else pairs.form(below)
        found = interval(program, pairs.form(top), under, node_limit=self.node_limit)
        if isinstance(found, Undecided):
            coarser = [self.given(tuple(chosen - {one})) for one in sorted(chosen)]
            narrow = min(coarser, key=lambda ends: ends.width)
            return Ends(narrow.lower, narrow.upper, sharp=False)
        assert isinstance(found, Ends)
        return found

    def _rows(self, pairs: CountProgram, statistic: Statistic) -> list[Row]:
        counted = COUNTS[statistic.name]
        values = (self._truth * counted).sum(axis=(1, 2, 3)).tolist()
        if not statistic.per_class:
            return [Row(str(statistic), pairs.form(counted), sum(values), sum(values))]
        return [Row(f"{statistic} {c}", pairs.form(counted, c), value, value) for c, value in enumerate(values)]

    @cached_property
    def _truth(self) -> Ints:
        return true_counts(self.evaluation)

    @cached_property
    def _blocks(self) -> CountProgram:
        return by_block(self.evaluation)

    @cached_property
    def _labels(self) -> CountProgram:
        return by_label(self.evaluation)
