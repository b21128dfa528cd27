"""Comparing policies on the same images: what each costs, and which pairs are ordered whatever the correspondence.

The correspondence is unknown but one and the same for all policies, so a difference of costs is bounded as one
quantity over shared correspondences: its interval lies inside the difference of the intervals and can have one sign
where these overlap. With two models an image's record on a side is that of both models, and both move together.

Claim: shared_correspondence_orders_policies (C9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from bounds.compact import optimise_cells
from bounds.correspondences import Method, pair_state, states
from bounds.errors import PolicyError, RecordError, SolverError
from bounds.evaluation import Bools, Evaluation, Ints
from bounds.exact import exact_text
from bounds.knowledge import Knowledge, Level, know
from bounds.pairs import Coupling, PairBlock, PairRow, merged, optimise_pairs, pair_rows
from bounds.policy import Policy
from bounds.quantities import STATES
from bounds.records import Records, load_records
from bounds.records_source import ACCEPTED

__all__ = [
    "JOINT_CELLS",
    "Comparison",
    "Difference",
    "PolicyCost",
    "Witness",
    "evaluate_policies",
    "evaluations_of",
    "model_of",
    "open_records",
    "shared_conditions",
]

Exact = npt.NDArray[np.object_]

JOINT_CELLS = 4_096
"""Two models: a class with more pairs of joint record groups than this is bounded by the linear relaxation alone."""

CC, WS = STATES.index("CC"), STATES.index("WS")


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """What a policy costs, a mean over all images.

    Attributes:
        policy, model: whose cost, and on which model's records.
        lower, upper: exact.
        sharp: whether both ends are attained.
    """

    policy: str
    model: str
    lower: Fraction
    upper: Fraction
    sharp: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain strings, floats and booleans."""
        return {"name": self.policy, "model": self.model, **_ends(self.lower, self.upper, self.sharp)}


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A correspondence, and what two policies cost under it.

    Attributes:
        first, second: exact mean costs.
        match: as in `bounds.evaluation`, on the rows of `Comparison.evaluation`; None unless asked for.
    """

    first: Fraction
    second: Fraction
    match: Ints | None = field(default=None, repr=False)

    @property
    def difference(self) -> Fraction:
        """First minus second."""
        return self.first - self.second

    def to_dict(self) -> dict[str, Any]:
        """Plain strings and floats."""
        return {
            "difference": float(self.difference),
            "difference_exact": exact_text(self.difference),
            "first_exact": exact_text(self.first),
            "second_exact": exact_text(self.second),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """The cost of one policy minus that of another under the shared correspondence, a mean over all images.

    Attributes:
        first, second: the policies.
        lower, upper, sharp: as in `PolicyCost`.
        ordered: "separate" where one's own interval ends at or before the other's begins, "shared" where that does
            not hold but the difference is never positive or never negative, else "unresolved".
        relation: what holds between the first and the second cost under every correspondence: "<", "<=", "=", ">=",
            ">", or None.
        witnesses: of an unresolved pair, a correspondence under which the first is cheaper and one under which the
            second is. Fewer than two where the ends are outer and none was found.
        ends: the correspondence nearest to each end that is known, if asked for; it attains a sharp end.
    """

    first: str
    second: str
    lower: Fraction
    upper: Fraction
    sharp: bool
    ordered: str
    relation: str | None
    witnesses: tuple[Witness, ...] = ()
    ends: tuple[Witness | None, Witness | None] = (None, None)

    def to_dict(self) -> dict[str, Any]:
        """Plain strings, floats, booleans, lists and None."""
        return {
            "first": self.first,
            "second": self.second,
            **_ends(self.lower, self.upper, self.sharp),
            "ordered": self.ordered,
            "relation": self.relation,
            "witnesses": [witness.to_dict() for witness in self.witnesses],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Policies compared under one condition at one level of knowledge.

    Attributes:
        clean, perturbed, knowledge: conditions and level.
        costs: one a policy, in the order asked.
        differences: one an unordered pair, in that order.
        images, classes: those compared; all costs are means over these images.
        left_out: for each model how many of its images are not compared: `unmatched` (clean, perturbed) on one side
            only, `unusable` without a prediction on a side, `not_shared` without a record of another model.
        evaluation: one model's records of these images, for the image ids and classes behind a witness.
    """

    clean: str
    perturbed: str
    knowledge: str
    costs: tuple[PolicyCost, ...]
    differences: tuple[Difference, ...]
    images: int
    classes: int
    left_out: Mapping[str, Mapping[str, Any]]
    evaluation: Evaluation = field(repr=False)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """`policies` and `pairs`, every row with its condition and level."""
        scope = {"clean": self.clean, "perturbed": self.perturbed, "knowledge": self.knowledge, "images": self.images}
        return {
            "policies": [row.to_dict() | scope | dict(self.left_out[row.model]) for row in self.costs],
            "pairs": [row.to_dict() | scope for row in self.differences],
        }


def _ends(lower: Fraction, upper: Fraction, sharp: bool) -> dict[str, Any]:
    return {
        "lower": float(lower),
        "upper": float(upper),
        "lower_exact": exact_text(lower),
        "upper_exact": exact_text(upper),
        "sharp": sharp,
    }


Evaluations = Mapping[str, Mapping[str, Evaluation]]
"""For each model its evaluation, by the column that its acceptance was read from."""


def open_records(policies: Sequence[Policy], source: Any, strata: str | None = None) -> dict[str, Records]:
    """What `bounds.load_records` makes of a source, by the column that acceptance is read from for some policies."""
    columns = dict.fromkeys(policy.accepted_column or ACCEPTED for policy in policies)
    return {column: load_records(source, strata=strata, accepted=column) for column in columns}


def evaluations_of(
    policies: Sequence[Policy],
    opened: Mapping[str, Records],
    *,
    model: str | None = None,
    perturbed: str | Sequence[str] | None = None,
    clean: str = "clean",
) -> Iterator[Evaluations]:
    """The evaluations that policies need, condition by condition, read as they are consumed.

    Args:
        policies: at least one.
        opened: by `open_records`, for these policies.
        model: of the policies that name none; may be left out where the records hold one.
        perturbed: conditions; None or "all" for every one but `clean` that all models have. They come sorted.
        clean: the condition on the clean side.

    Raises:
        PolicyError: if a policy names a model that the records do not hold, or none where they hold several.
        RecordError: as `bounds.records.Records.evaluations`.
    """
    first = next(iter(opened.values()))
    needed = {(model_of(policy, model, first.models), policy.accepted_column or ACCEPTED): None for policy in policies}
    if perturbed is None or perturbed == "all":
        perturbed = shared_conditions(first, [name for name, _ in needed], clean)
    streams = [opened[column].evaluations(name, perturbed, clean=clean) for name, column in needed]
    for row in zip(*streams, strict=True):
        found: dict[str, dict[str, Evaluation]] = {}
        for (name, column), evaluation in zip(needed, row, strict=True):
            found.setdefault(name, {})[column] = evaluation
        yield found


def shared_conditions(records: Records, models: Sequence[str], clean: str) -> list[str]:
    """The conditions but `clean` that all of some models have, sorted."""
    first, *others = (records.conditions(model) for model in dict.fromkeys(models))
    return [name for name in first if name != clean and all(name in conditions for conditions in others)]


def model_of(policy: Policy, model: str | None, models: Sequence[str]) -> str:
    """The model that a policy works on: its own, else the one asked about, else the only one there is.

    Raises:
        PolicyError: if there is none, or it is not among `models`.
    """
    if model is None and len(models) == 1:
        model = models[0]
    name = policy.model or model
    where, way_out = f"policy {policy.name!r}: model", f"choose among {', '.join(models)}"
    if name is None:
        raise PolicyError(where, None, f"names none, and the records hold {len(models)}", way_out)
    if name not in models:
        raise PolicyError(where, name, "not in the records", way_out)
    return name


def evaluate_policies(
    policies: Sequence[Policy],
    source: Any,
    knowledge: str | Level = Level.CLASSWISE,
    *,
    model: str | None = None,
    perturbed: str | None = None,
    clean: str = "clean",
    strata: str | None = None,
    backend: str = "highs",
    node_limit: int | None = None,
    witnesses: bool = False,
) -> Comparison:
    """The cost of each policy and the difference of each pair over the correspondences that the knowledge leaves.

    Args:
        policies: at least one, of different names.
        source: an `Evaluation`, or several of different models under one condition; what `evaluations_of` yields; or
            anything that `bounds.load_records` takes (then `model`, `perturbed`, `clean` and `strata` choose from it).
        knowledge: a level; its counts are read off the true pairing, for each model. A policy's own cost is bounded
            with its model's counts alone, a difference of two models with the counts of both.
        model: of the policies that name none.
        backend: "highs" or "cvxpy".
        node_limit: branch-and-bound nodes that a program may take; a program that stops there leaves an outer end.
        witnesses: whether to keep the correspondences behind the witnesses of unresolved pairs.

    Raises:
        PolicyError, RecordError, QuantityError: for input that cannot be used.

    Claim: shared_correspondence_orders_policies (C9).

    >>> from bounds.policy import preset_cost
    >>> import polars as pl
    >>> table = pl.DataFrame({
    ...     "condition":  ["clean"] * 3 + ["fog/3"] * 3,
    ...     "image_id":   ["a", "b", "c"] * 2,
    ...     "label":      [0] * 6,
    ...     "predicted":  [0, 0, 1, 0, 1, 1],
    ...     "confidence": [0.6, 0.6, 0.9, 0.2, 0.2, 0.9],
    ... })
    >>> cost = preset_cost({"lost-acceptance": 1, "new-accepted-error": 2})
    >>> found = evaluate_policies([Policy("P", cost, threshold="0.5"), Policy("Q", cost, threshold="0.8")], table)
    >>> [(str(row.lower), str(row.upper)) for row in found.costs]
    [('1/3', '1'), ('0', '2/3')]
    >>> found.differences[0].ordered, found.differences[0].relation, str(found.differences[0].lower)
    ('shared', '>', '1/3')
    """
    names = [policy.name for policy in policies]
    if not names:
        raise PolicyError("policies", None, "none was given", "give at least one")
    if double := next((name for name in names if names.count(name) > 1), None):
        raise PolicyError("policy", double, "named twice", "give each policy its own name")
    evaluations = _given(source)
    if evaluations is None:
        opened = open_records(policies, source, strata)
        evaluations, *more = islice(evaluations_of(policies, opened, model=model, perturbed=perturbed, clean=clean), 2)
        if more:
            raise RecordError("perturbed", None, "the records hold several conditions", "name one")
    comparer = _Comparer.of(policies, evaluations, model, knowledge, backend, node_limit)
    return comparer.compare(witnesses)


def _given(source: Any) -> Evaluations | None:
    """Evaluations that were handed over as such."""
    if isinstance(source, Evaluation):
        source = [source]
    if isinstance(source, Mapping):
        return source
    if isinstance(source, list | tuple) and source and all(isinstance(part, Evaluation) for part in source):
        return {evaluation.model: {ACCEPTED: evaluation} for evaluation in source}
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """An end of a sum: what nothing goes beyond, and the value of a correspondence, where one is known."""

    bound: Fraction
    attained: Fraction | None
    match: Ints | None

    @property
    def sharp(self) -> bool:
        return self.bound == self.attained


Solve = Callable[[Level, bool], _Found]
_Members = tuple[Sequence[Ints], Sequence[Ints]]


@dataclass(frozen=True, slots=True, eq=False)
class _Comparer:
    """Policies on records that were cut to the same images, row by row.

    Attributes:
        policies, models: the policies, and on whose records each works.
        sides: the evaluation of each model, without acceptance.
        accepted: for each policy the accepted rows, clean and perturbed.
        known: knowledge of each model at the level, and at `correct-correct` where the level is `five-state`.
        left_out: as in `Comparison`.
    """

    policies: Sequence[Policy]
    models: Sequence[str]
    sides: Mapping[str, Evaluation]
    accepted: Sequence[tuple[Bools, Bools]]
    level: Level
    known: Mapping[Level, Mapping[str, Knowledge]]
    backend: str
    node_limit: int | None
    left_out: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(
        cls,
        policies: Sequence[Policy],
        evaluations: Evaluations,
        model: str | None,
        knowledge: str | Level,
        backend: str,
        node_limit: int | None,
    ) -> _Comparer:
        models = [model_of(policy, model, list(evaluations)) for policy in policies]
        whole = {name: next(iter(evaluations[name].values())) for name in dict.fromkeys(models)}
        rows = _shared_rows(list(whole.values()))
        classes, starts = _classes(next(iter(whole.values())), rows[0])
        if not len(rows[0]):
            raise RecordError("images", 0, "none is left to compare on", "give records of the same images")

        def cut(evaluation: Evaluation, kept: Ints) -> Evaluation:
            if len(kept) == evaluation.images and len(whole) == 1:
                return evaluation
            clean, perturbed = evaluation.clean.take(kept), evaluation.perturbed.take(kept)
            return replace(evaluation, classes=classes, starts=starts, clean=clean, perturbed=perturbed)

        kept = dict(zip(whole, rows, strict=True))
        accepted = [
            _accepted(policy, {column: cut(part, kept[name]) for column, part in evaluations[name].items()})
            for policy, name in zip(policies, models, strict=True)
        ]
        sides = {name: _bare(cut(part, kept[name])) for name, part in whole.items()}
        asked = {name: know(part, knowledge) for name, part in sides.items()}
        level = next(iter(asked.values())).level
        known = {level: asked}
        if level is Level.FIVE_STATE:
            known[Level.CLASSWISE] = {name: know(part, Level.CLASSWISE) for name, part in sides.items()}
        left_out = {
            name: {
                "unmatched": {"clean": part.unmatched[0], "perturbed": part.unmatched[1]},
                "unusable": part.unusable,
                "not_shared": part.images - len(rows[0]),
            }
            for name, part in whole.items()
        }
        return cls(policies, models, sides, accepted, level, known, backend, node_limit, left_out)

    @property
    def evaluation(self) -> Evaluation:
        """The first model's."""
        return next(iter(self.sides.values()))

    def compare(self, witnesses: bool) -> Comparison:
        costs = [self._cost(i) for i in range(len(self.policies))]
        pairs = combinations(range(len(self.policies)), 2)
        evaluation = self.evaluation
        return Comparison(
            clean=evaluation.clean_condition,
            perturbed=evaluation.perturbed_condition,
            knowledge=str(self.level),
            costs=tuple(costs),
            differences=tuple(self._difference(i, j, costs[i], costs[j], witnesses) for i, j in pairs),
            images=evaluation.images,
            classes=len(evaluation.classes),
            left_out=self.left_out,
            evaluation=evaluation,
        )

    def _cost(self, i: int) -> PolicyCost:
        side = self.sides[self.models[i]]
        clean, perturbed = self.accepted[i]
        side = replace(
            side, clean=replace(side.clean, accepted=clean), perturbed=replace(side.perturbed, accepted=perturbed)
        )

        def solve(level: Level, upper: bool) -> _Found:
            known = self.known[level][self.models[i]]
            return self._cells(side, self.policies[i].cost, known, upper, lambda match: self._value(i, match))

        low, high = self._both(solve, lambda match: self._value(i, match))
        images = side.images
        return PolicyCost(
            self.policies[i].name, self.models[i], low.bound / images, high.bound / images, low.sharp and high.sharp
        )

    def _difference(self, i: int, j: int, first: PolicyCost, second: PolicyCost, witnesses: bool) -> Difference:
        def value(match: Ints) -> Fraction:
            return self._value(i, match) - self._value(j, match)

        same = self.models[i] == self.models[j]
        low, high = self._both(self._on_one(i, j, value) if same else self._on_two(i, j, value), value)
        images = self.evaluation.images
        # The difference of the separate intervals contains this one; it says more only where this one is outer.
        lower = max(low.bound / images, first.lower - second.upper)
        upper = min(high.bound / images, first.upper - second.lower)
        relation = _relation(lower, upper)
        if relation is None:
            ordered = "unresolved"
        else:
            separate = first.upper <= second.lower or second.upper <= first.lower
            ordered = "separate" if separate else "shared"
        return Difference(
            first=first.policy,
            second=second.policy,
            lower=lower,
            upper=upper,
            # Some correspondence is consistent with the knowledge, so a single value is attained.
            sharp=(low.sharp and high.sharp) or lower == upper,
            ordered=ordered,
            relation=relation,
            witnesses=() if relation else self._witnesses(i, j, [low.match, high.match], witnesses),
            ends=(self._witness(i, j, low.match), self._witness(i, j, high.match)) if witnesses else (None, None),
        )

    def _witness(self, i: int, j: int, match: Ints | None) -> Witness | None:
        """What two policies cost under a correspondence, if one is known."""
        images = self.evaluation.images
        return None if match is None else Witness(self._value(i, match) / images, self._value(j, match) / images, match)

    def _witnesses(self, i: int, j: int, matches: Sequence[Ints | None], keep: bool) -> tuple[Witness, ...]:
        """One correspondence under which the first policy is cheaper, one under which the second is, if known."""
        identity = np.arange(self.evaluation.images, dtype=np.int64)
        found = [w for w in (self._witness(i, j, match) for match in (*matches, identity)) if w is not None]
        below = (witness for witness in found if witness.difference < 0)
        above = (witness for witness in found if witness.difference > 0)
        chosen = [witness for witness in (next(below, None), next(above, None)) if witness is not None]
        return tuple(chosen if keep else (replace(witness, match=None) for witness in chosen))

    def _value(self, i: int, match: Ints) -> Fraction:
        """The total cost of a policy at a correspondence, from the records."""
        side = self.sides[self.models[i]]
        clean, perturbed = self.accepted[i]
        cells = np.ravel_multi_index(
            (states(side, match), clean.astype(np.int64), perturbed[match].astype(np.int64)), (5, 2, 2)
        )
        counts = np.bincount(cells, minlength=20).tolist()
        return sum((n * cost for n, cost in zip(counts, self.policies[i].cost.ravel(), strict=True)), Fraction(0))

    def _both(self, solve: Solve, value: Callable[[Ints], Fraction]) -> tuple[_Found, _Found]:
        """Both ends; an outer end is cut by the coarser level's (claim more_knowledge_never_widens, C12)."""
        if self.level is Level.PAIRED:
            identity = np.arange(self.evaluation.images, dtype=np.int64)
            found = _Found(value(identity), value(identity), identity)
            return found, found
        ends = []
        for upper in (False, True):
            found = solve(self.level, upper)
            if not found.sharp and self.level is Level.FIVE_STATE:
                coarser = solve(Level.CLASSWISE, upper)
                found = replace(found, bound=(min if upper else max)(found.bound, coarser.bound))
            ends.append(found)
        return ends[0], ends[1]

    def _cells(
        self,
        side: Evaluation,
        weights: Exact,
        known: Knowledge,
        upper: bool,
        value: Callable[[Ints], Fraction],
        clean_pattern: Ints | None = None,
        perturbed_pattern: Ints | None = None,
    ) -> _Found:
        optimum = optimise_cells(
            side,
            weights,
            known,
            maximise=upper,
            backend=self.backend,
            node_limit=self.node_limit,
            clean_pattern=clean_pattern,
            perturbed_pattern=perturbed_pattern,
        )
        return _found(optimum.bound, optimum.attained, optimum.match, value)

    def _on_one(self, i: int, j: int, value: Callable[[Ints], Fraction]) -> Solve:
        """Two policies on one model: a record carries both acceptance bits."""
        first, second = (self.policies[p].cost for p in (i, j))
        a, b = np.divmod(np.arange(4), 2)
        weights = first[:, a[:, None], a] - second[:, b[:, None], b]
        patterns = [
            2 * one.astype(np.int64) + other for one, other in zip(self.accepted[i], self.accepted[j], strict=True)
        ]
        name = self.models[i]

        def solve(level: Level, upper: bool) -> _Found:
            return self._cells(self.sides[name], weights, self.known[level][name], upper, value, *patterns)

        return solve

    def _on_two(self, i: int, j: int, value: Callable[[Ints], Fraction]) -> Solve:
        """Two policies on two models: a record is that of both, and the full program is over groups of equal ones."""
        plans: dict[Level, _Joint] = {}

        def solve(level: Level, upper: bool) -> _Found:
            if level not in plans:
                plans[level] = self._joint(i, j, level)
            plan = plans[level]
            optimum = optimise_pairs(
                plan.blocks,
                plan.couplings,
                maximise=upper,
                method=plan.method,
                backend=self.backend,
                node_limit=self.node_limit,
            )
            match = None if optimum.tables is None else plan.match(optimum.tables)
            return _found(optimum.bound, optimum.attained, match, value)

        return solve

    def _joint(self, i: int, j: int, level: Level) -> _Joint:
        parts = [self._joint_class(i, j, c, level) for c in range(len(self.evaluation.classes))]
        blocks = [block for block, _, _ in parts]
        couplings = []
        for number, p in enumerate((i, j)):
            total = self.known[level][self.models[p]].total
            if total is not None:
                matrices = [retained[number] for _, retained, _ in parts]
                couplings.append(Coupling(f"retained correct of {self.models[p]}", matrices, total, total))
        large = any(block.cost.size > JOINT_CELLS for block in blocks)
        members = [rows for _, _, rows in parts]
        return _Joint(blocks, couplings, members, "lp" if large else "milp", self.evaluation.images)

    def _joint_class(self, i: int, j: int, c: int, level: Level) -> tuple[PairBlock, list[Ints], _Members]:
        """A class: its block, where both records are correct for each model, and the rows of each group."""
        rows = np.arange(self.evaluation.starts[c], self.evaluation.starts[c + 1], dtype=np.int64)
        clean, perturbed = (_groups([self._seen(p, side, rows, level) for p in (i, j)]) for side in (0, 1))
        costs, retained, known = [], [], []
        for p, x, y in zip((i, j), np.hsplit(clean.keys, 2), np.hsplit(perturbed.keys, 2), strict=True):
            found = pair_state(x[:, None, 0] == 1, y[:, 0] == 1, x[:, None, 1] == y[:, 1])
            costs.append(_plain(self.policies[p].cost)[found, x[:, None, 2], y[:, 2]])
            retained.append((found == CC).astype(np.int64))
            knowledge = self.known[level][self.models[p]]
            for which, counts in ((CC, knowledge.retained_correct), (WS, knowledge.persistent)):
                if counts is not None:
                    matrix, count = (found == which).astype(np.int64), int(counts[c])
                    known.append(PairRow(f"{STATES[which]} of {self.models[p]}", matrix, count, count))
        whole = PairBlock(clean.sizes, perturbed.sizes, costs[0] - costs[1], tuple(known))
        block, left, right = merged(whole, retained)
        picked = np.ix_(*(np.unique(group, return_index=True)[1] for group in (left, right)))
        members = _rows_of(rows, left[clean.of_row]), _rows_of(rows, right[perturbed.of_row])
        return block, [matrix[picked] for matrix in retained], members

    def _seen(self, p: int, side: int, rows: Ints, level: Level) -> Ints:
        """int64 of shape (rows, 3): what costs and knowledge can see of a policy's records on a side."""
        evaluation, cost = self.sides[self.models[p]], self.policies[p].cost
        records = (evaluation.clean, evaluation.perturbed)[side]
        labels_seen = level is Level.FIVE_STATE or bool((cost[STATES.index("WS")] != cost[STATES.index("WD")]).any())
        label = np.where(records.correct | (not labels_seen), 0, records.predicted)
        return np.column_stack([records.correct, label, self.accepted[p][side]])[rows].astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """The program of two policies on two models, and the way back to the rows.

    Attributes:
        members: for each block the rows of each clean group and of each perturbed group.
    """

    blocks: Sequence[PairBlock]
    couplings: Sequence[Coupling]
    members: Sequence[_Members]
    method: Method
    images: int

    def match(self, tables: Sequence[Ints]) -> Ints:
        """int64 of shape (images,): a correspondence with these pairs."""
        match = np.empty(self.images, dtype=np.int64)
        for table, (clean, perturbed) in zip(tables, self.members, strict=True):
            rows, columns = pair_rows(table, clean, perturbed)
            match[rows] = columns
        return match


def _plain(cost: Exact) -> Exact:
    """The same numbers, whole ones as integers, which add up faster."""
    plain = np.empty(cost.size, dtype=object)
    plain[:] = [value.numerator if value.denominator == 1 else value for value in cost.ravel()]
    return plain.reshape(cost.shape)


class _Groups(NamedTuple):
    """Distinct lines of numbers: int64 of shape (groups, columns), their sizes, and the group of each row."""

    keys: Ints
    sizes: tuple[int, ...]
    of_row: Ints


def _groups(parts: Sequence[Ints]) -> _Groups:
    """The distinct lines of some columns side by side."""
    keys, group, sizes = np.unique(np.column_stack(parts), axis=0, return_inverse=True, return_counts=True)
    return _Groups(keys, tuple(sizes.tolist()), group.reshape(-1))


def _rows_of(rows: Ints, group: Ints) -> list[Ints]:
    """The rows of each group."""
    order = np.argsort(group, kind="stable")
    return np.split(rows[order], np.cumsum(np.bincount(group))[:-1])


def _found(
    bound: Fraction | None, attained: Fraction | None, match: Ints | None, value: Callable[[Ints], Fraction]
) -> _Found:
    """A program's answer, with its correspondence valued anew from the records.

    Raises:
        SolverError: if nothing is proven, or the correspondence has another value.
    """
    if bound is None:
        raise SolverError("program", None, "ended with nothing proven", "raise --node-limit")
    if match is not None and value(match) != attained:
        raise SolverError("witness", str(value(match)), f"does not cost {attained}", "report it: no answer was shown")
    return _Found(bound, attained, match)


def _relation(lower: Fraction, upper: Fraction) -> str | None:
    """What holds between two numbers whose difference lies in [lower, upper], both ends included."""
    if lower > 0 or upper < 0:
        return ">" if lower > 0 else "<"
    if lower == 0 or upper == 0:
        return "=" if lower == upper else (">=" if lower == 0 else "<=")
    return None


def _accepted(policy: Policy, columns: Mapping[str, Evaluation]) -> tuple[Bools, Bools]:
    """Accepted rows, clean and perturbed."""
    if policy.thresholds is not None:
        bare = _bare(next(iter(columns.values())))
        clean, perturbed = (bare.at_threshold(threshold) for threshold in policy.thresholds)
        assert clean.clean.accepted is not None
        assert perturbed.perturbed.accepted is not None
        return clean.clean.accepted, perturbed.perturbed.accepted
    column = str(policy.accepted_column)
    found = columns.get(column)
    if found is None or found.threshold is not None or found.clean.accepted is None or found.perturbed.accepted is None:
        raise PolicyError(
            f"policy {policy.name!r}: accepted_column", column, "the records have no such column", "add it"
        )
    return found.clean.accepted, found.perturbed.accepted


def _bare(evaluation: Evaluation) -> Evaluation:
    """Without acceptance."""
    clean, perturbed = (replace(side, accepted=None) for side in (evaluation.clean, evaluation.perturbed))
    return replace(evaluation, clean=clean, perturbed=perturbed, threshold=None)


def _shared_rows(evaluations: Sequence[Evaluation]) -> list[Ints]:
    """For each evaluation the rows of the images that all hold, image by image in the first one's order.

    Raises:
        RecordError: if the sides of one are not paired, or two put an image in different classes or conditions.
    """
    first, *others = evaluations
    if not others:
        return [np.arange(first.images, dtype=np.int64)]
    tables = []
    for evaluation in evaluations:
        if not evaluation.paired:
            raise RecordError("image_id", None, "policies on two models need common ids", "give paired records")
        if (evaluation.clean_condition, evaluation.perturbed_condition) != (
            first.clean_condition,
            first.perturbed_condition,
        ):
            raise RecordError(
                "condition",
                evaluation.perturbed_condition,
                f"of {evaluation.model}, but {first.perturbed_condition!r} of {first.model}",
                "compare under one condition",
            )
        names = np.array([str(name) for name in evaluation.classes], dtype=object)[evaluation.class_of_row]
        ids = evaluation.clean.image_id.str.normalize("NFC")
        tables.append(pl.DataFrame({"id": ids, "class": pl.Series(names, dtype=pl.String)}).with_row_index("row"))
    joined = tables[0].rename({"row": "row0"})
    for number, (table, evaluation) in enumerate(zip(tables[1:], others, strict=True), start=1):
        other = table.rename({"row": f"row{number}", "class": "other"})
        joined = joined.join(other, on="id", how="inner", maintain_order="left")
        wrong = joined.filter(pl.col("class") != pl.col("other"))
        if len(wrong):
            raise RecordError(
                "image_id",
                wrong["id"][0],
                f"in class {wrong['class'][0]!r} of {first.model} and in class {wrong['other'][0]!r} of "
                f"{evaluation.model}",
                "an image has one class; correct it",
            )
        joined = joined.drop("other")
    return [joined[f"row{number}"].to_numpy().astype(np.int64) for number in range(len(evaluations))]


def _classes(evaluation: Evaluation, rows: Ints) -> tuple[tuple[str | int, ...], Ints]:
    """The classes that some rows (ascending) are of, and where each starts."""
    sizes = np.bincount(evaluation.class_of_row[rows], minlength=len(evaluation.classes))
    kept = np.flatnonzero(sizes)
    starts = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
    return tuple(evaluation.classes[c] for c in kept.tolist()), starts
