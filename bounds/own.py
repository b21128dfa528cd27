"""Quantities and refinements of one's own: any function of a clean and a perturbed record.

`bounds.bound` takes an `OwnQuantity` in place of a quantity's name, and `Refinement`s beside the level of knowledge;
`bounds.by_pairs` finds the ends.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bounds.errors import CountError, InfeasibleError, QuantityError
from bounds.evaluation import Evaluation
from bounds.exact import plain_array
from bounds.pair_tables import PairFunction, RecordView, Table, function_table
from bounds.quantities import DENOMINATORS, QUANTITIES

__all__ = [
    "OPEN",
    "Condition",
    "Kind",
    "Known",
    "OwnQuantity",
    "Refinement",
    "check_refinements",
    "conditions",
    "known_pairs",
    "label_swaps",
    "pair_quantity",
    "transition_matrix",
]

Ints = npt.NDArray[np.int64]
Kind = Literal["cells", "retained-correct", "pairs"]
Known = int | tuple[int | None, int | None]
"""A count, or the least and the greatest it can be (None: open)."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnQuantity:
    """A function of a clean and a perturbed record, summed over the pairs of a correspondence; see `pair_quantity`."""

    name: str
    function: PairFunction
    denominator: str | PairFunction | None = None
    vectorised: bool = True
    title: str | None = None

    def __post_init__(self) -> None:
        """Check name, function and denominator."""
        _check_function("quantity", self.name, self.function)
        if self.name in QUANTITIES:
            raise QuantityError("quantity", self.name, "is the name of a built-in one", "choose another name")
        if self.denominator is not None and not callable(self.denominator) and self.denominator not in DENOMINATORS:
            raise QuantityError("denominator", self.denominator, "unknown", f"choose None, {', '.join(DENOMINATORS)}")

    def kind(self, evaluation: Evaluation) -> Kind:
        """What the quantity is recognised as on these records (with acceptance, where it sees it).

        Returns:
            "cells" (it depends on the state and on who accepts, class by class), "retained-correct" (numerator and
            denominator vanish off the retained-correct pairs, or the denominator is the same for all correspondences),
            or "pairs"; that too where the numerator does not vanish with a denominator that varies. It decides how
            `bounds.bound` finds the ends, not what they are.
        """
        from bounds.by_pairs import Tables

        return Tables.of(evaluation, self, None, evaluation.classes).kind(evaluation)


def _check_function(what: str, name: object, function: object) -> None:
    """Raise `QuantityError` unless something of one's own has a name and a function."""
    if not isinstance(name, str) or not name.strip():
        raise QuantityError(f"{what}, name", name, "not a name", "give a string")
    if not callable(function):
        raise QuantityError(f"{what} {name!r}", function, "not a function", "give one of two records")


def pair_quantity(
    name: str,
    function: PairFunction,
    *,
    denominator: str | PairFunction | None = None,
    vectorised: bool = True,
    title: str | None = None,
) -> OwnQuantity:
    """A quantity from a function of a clean and a perturbed record.

    Args:
        name: for tables, pictures and messages; not that of a built-in quantity.
        function: of two `bounds.pair_tables.RecordView`s. Vectorised, it gets columns of shape (n, 1) and (1, n) and
            returns what broadcasts to (n, n), the value of each pair of a class; else it is called with one pair at a
            time. Values are booleans, integers, floats (each counts as the dyadic rational that it is), Fractions or
            Decimals.
        denominator: None (the quantity is a count or a sum), a name in `bounds.quantities.DENOMINATORS`, or another
            such function, with values >= 0.
        vectorised: whether the functions take arrays.
        title: a few words; the name by default.

    Returns:
        What `bounds.bound` takes in place of a quantity's name. An end, or a true value, beyond the largest float is
        refused there.

    Raises:
        QuantityError: for a name, function or denominator that is none.

    >>> confident = pair_quantity("confident-flip", lambda x, y: (x.correct != y.correct) & (y.confidence > 0.9))
    >>> confident.name, confident.denominator
    ('confident-flip', None)
    """
    return OwnQuantity(name, function, denominator, vectorised, title)


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """Known counts of pairs, beyond the level of knowledge.

    Attributes:
        name: for messages.
        function: of a pair, as in `pair_quantity`; its values are integers or booleans.
        counts: how many pairs have each value: a count or a (least, greatest) for all classes together, or a mapping
            from class names to such. Values that are left out stay free.
        total: instead of `counts`, the sum of the values over the pairs (for booleans how many are true), in the same
            forms. With integers as values it is any linear constraint on counts of kinds of pairs.
        vectorised: whether the function takes arrays.

    Raises:
        QuantityError: for a name or a function that is none.
        CountError: for counts that are none, or if they are not given once.

    >>> Refinement("confusions", lambda x, y: (x.predicted == "cat") & (y.predicted == "dog"), total=(2, 5)).total
    (2, 5)
    """

    name: str
    function: PairFunction
    counts: Mapping[int, Known | Mapping[str | int, Known]] | None = None
    total: Known | Mapping[str | int, Known] | None = None
    vectorised: bool = True

    def __post_init__(self) -> None:
        """Check the name, the function and the counts."""
        _check_function("refinement", self.name, self.function)
        if (self.counts is None) == (self.total is None):
            raise CountError(self.name, None, "needs either counts or a total", "give one of the two")
        if not isinstance(self.counts, Mapping | None):
            raise CountError(self.name, self.counts, "counts go by value", "give a mapping such as {1: 5}")
        for label, known in self.known:
            if not isinstance(label, int | np.integer | None):
                raise CountError(self.name, label, "a value of the function is an integer", "count integers")
            for count in known.values() if isinstance(known, Mapping) else [known]:
                _ends(self.name, count)

    @property
    def known(self) -> list[tuple[int | None, Known | Mapping[str | int, Known]]]:
        """What is known of the pairs with a value; of the sum of values, under None."""
        found: list[tuple[int | None, Known | Mapping[str | int, Known]]] = []
        found += [] if self.counts is None else list(self.counts.items())
        return found if self.total is None else [*found, (None, self.total)]


def label_swaps(count: Known | Mapping[str | int, Known]) -> Refinement:
    """That many pairs predict another class when perturbed than when clean, be either right or wrong.

    Args:
        count: in all, or by class; a count or a (least, greatest).
    """
    return Refinement("label swaps", lambda x, y: x.predicted != y.predicted, total=count)


def known_pairs(evaluation: Evaluation, pairs: Sequence[tuple[str, str]]) -> Refinement:
    """The pairing of some images is known.

    Args:
        evaluation: the records.
        pairs: (clean image_id, perturbed image_id), each id at most once.

    Raises:
        QuantityError: if a pair is not two strings.
        InfeasibleError: if an id is not in the records or comes twice, or if a pair joins two classes.
    """
    if not isinstance(pairs, Sequence):
        raise QuantityError("known pairs", pairs, "not a list", "give (clean id, perturbed id) of each")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or [isinstance(name, str) for name in pair] != [True, True]:
            raise QuantityError("known pair", pair, "not a pair of image ids", "give (clean id, perturbed id)")
    place = [
        dict(zip(side.image_id.to_list(), evaluation.class_of_row.tolist(), strict=True))
        for side in (evaluation.clean, evaluation.perturbed)
    ]
    counts = dict.fromkeys(evaluation.classes, 0)
    for pair in pairs:
        found = [where.get(name) for where, name in zip(place, pair, strict=True)]
        if found[0] is None or found[0] != found[1]:
            rule = "an id is not in the records" if None in found else "joins records of two classes"
            raise InfeasibleError("known pair", tuple(pair), rule, "check the ids")
        counts[evaluation.classes[found[0]]] += 1
    partners = dict(pairs)
    if len(partners) < len(pairs) or len(set(partners.values())) < len(pairs):
        raise InfeasibleError("known pairs", None, "an image comes twice", "give each id of a side once")

    def is_known(x: RecordView, y: RecordView) -> Any:
        partner = np.array([partners.get(name) for name in x.image_id.ravel()], dtype=object)
        return partner[:, None] == y.image_id

    return Refinement("known pairs", is_known, total=counts)


def transition_matrix(evaluation: Evaluation, table: npt.ArrayLike | None = None) -> Refinement:
    """The whole matrix of predicted classes is known, class by class: clean prediction by perturbed prediction.

    Args:
        evaluation: the records.
        table: int of shape (C, L, L), pairs by class, clean and perturbed prediction, in the order of
            `evaluation.classes` and `evaluation.labels`; by default that of the true pairing.

    Raises:
        QuantityError: if there is neither a table nor a true pairing.
        CountError: if the table has another shape, or entries that are no counts.
        InfeasibleError: if its margins are not those of the records; the message names class and label.
    """
    classes, labels = len(evaluation.classes), len(evaluation.labels)
    clean, perturbed, row = evaluation.clean.predicted, evaluation.perturbed.predicted, evaluation.class_of_row
    if table is None:
        if not evaluation.paired:
            raise QuantityError("transition matrix", None, "the two sides have no common ids", "give a table")
        counted: Ints = np.zeros((classes, labels, labels), dtype=np.int64)
        np.add.at(counted, (row, clean, perturbed), 1)
    else:
        rule = f"needs counts of shape ({classes}, {labels}, {labels})"
        way_out = "give one a class, clean and perturbed label"
        try:
            given = plain_array(table)
        except ValueError:
            raise CountError("transition matrix", None, rule, way_out) from None
        if given.shape != (classes, labels, labels) or given.dtype.kind not in "iu" or (given < 0).any():
            raise CountError("transition matrix", [*given.shape], rule, way_out)
        counted = given.astype(np.int64)
    for side, codes, axis in (("clean", clean, 2), ("perturbed", perturbed, 1)):
        margins: Ints = np.zeros((classes, labels), dtype=np.int64)
        np.add.at(margins, (row, codes), 1)
        wrong = np.argwhere(margins != counted.sum(axis=axis))
        if len(wrong):
            c, label = wrong[0].tolist()
            raise InfeasibleError(
                f"transition matrix, class {evaluation.classes[c]!r}, {side} label {evaluation.labels[label]!r}",
                int(counted.sum(axis=axis)[c, label]),
                f"{margins[c, label]} {side} records predict it",
                "check the table and the records",
            )
    code = {name: number for number, name in enumerate(evaluation.labels)}

    def transition(x: RecordView, y: RecordView) -> Any:
        sides = [np.array([code[name] for name in side.predicted.ravel()], dtype=np.int64) for side in (x, y)]
        return sides[0][:, None] * labels + sides[1]

    counts: dict[int, dict[str | int, Known]] = {}
    for c, name in enumerate(evaluation.classes):
        # The margins are known, so that one clean and one perturbed label may be left out: the commonest.
        sides = [counted[c].sum(axis=axis) for axis in (1, 0)]
        kept = [[label for label in np.flatnonzero(m).tolist() if label != int(m.argmax())] for m in sides]
        for i, j in product(*kept):
            counts.setdefault(i * labels + j, {})[name] = int(counted[c, i, j])
    return Refinement("transition matrix", transition, counts=counts)


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """lower <= sum of weights over the pairs of some classes <= upper.

    Attributes:
        refinement: its name.
        tables: for each class int64 of shape (n, n), the weight's number of each pair, and int64, each number's weight.
        lower, upper: both included.
    """

    refinement: str
    tables: Mapping[str | int, tuple[Ints, Ints]]
    lower: int
    upper: int

    def total(self, name: str | int, match: Ints) -> int:
        """The sum over the pairs of one class."""
        codes, weights = self.tables[name]
        return int(weights[codes[np.arange(len(match)), match]].sum())


OPEN = 1 << 62
"""Beyond any count."""


def conditions(evaluation: Evaluation, refinement: Refinement, everywhere: Sequence[str | int]) -> Iterator[Condition]:
    """A refinement as conditions on one class each, or on all together.

    Args:
        evaluation: the records, of all classes or of one.
        refinement: what is known.
        everywhere: the classes of all records; counts of those that are not in `evaluation` are passed over.

    Raises:
        QuantityError: for a value that is no integer, or a class that does not exist.
        CountError: for what is no count.
    """
    tables: dict[str | int, Table] = {}
    for c, name in enumerate(evaluation.classes):
        tables[name] = function_table(
            refinement.function, evaluation, c, vectorised=refinement.vectorised, name=f"refinement {refinement.name!r}"
        )
        if any(value.denominator != 1 or abs(value) > OPEN for value in tables[name].values):
            raise QuantityError(
                "refinement", refinement.name, "its function returns a value that is no integer", "return integers"
            )

    def weighted(name: str | int, labels: Container[int] | None) -> tuple[Ints, Ints]:
        values = map(int, tables[name].values.tolist())
        weights = [value if labels is None else int(value in labels) for value in values]
        return tables[name].codes, np.array(weights, dtype=np.int64)

    never: dict[str | int, set[int]] = {}
    for label, known in refinement.known:
        labels = None if label is None else {label}
        if isinstance(known, Mapping):
            for name, count in known.items():
                if name not in everywhere:
                    raise QuantityError(
                        f"refinement {refinement.name!r}", name, "no class of the records", "leave it out"
                    )
                ends = _ends(refinement.name, count)
                if name in tables and ends == (0, 0) and label is not None:
                    never.setdefault(name, set()).add(label)
                elif name in tables:
                    yield Condition(refinement.name, {name: weighted(name, labels)}, *ends)
        else:
            whole = {name: weighted(name, labels) for name in tables}
            yield Condition(refinement.name, whole, *_ends(refinement.name, known))
    for name, absent in never.items():
        yield Condition(refinement.name, {name: weighted(name, absent)}, 0, 0)


def check_refinements(refinements: object) -> None:
    """Raise `QuantityError` unless it is a list of refinements."""
    if not isinstance(refinements, Sequence) or not all(isinstance(one, Refinement) for one in refinements):
        raise QuantityError("refinements", None, "not a list of refinements", "give one such as [label_swaps(0)]")


def _ends(name: str, known: Known) -> tuple[int, int]:
    ends = known if isinstance(known, tuple) else (known, known)
    if len(ends) != 2 or any(isinstance(e, bool) or not isinstance(e, int | np.integer | None) for e in ends):
        raise CountError(name, known, "not a count", "give an integer, or (least, greatest)")
    lower, upper = (-OPEN if ends[0] is None else int(ends[0])), (OPEN if ends[1] is None else int(ends[1]))
    if lower > upper:
        raise CountError(name, known, "the least count is above the greatest", "give (least, greatest)")
    return lower, upper
