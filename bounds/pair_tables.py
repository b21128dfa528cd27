"""Functions of a pair of records as exact tables, one a class: what any clean record gives with any perturbed one.

A table holds a code for each pair and an exact value for each code, so that equal values, equal rows and equal columns
are found in integers, whatever the values are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.errors import PairboundsError, QuantityError, RecordError
from bounds.evaluation import Evaluation, Side
from bounds.exact import exact_number, plain_array
from bounds.program import Exact
from bounds.quantities import Cells

__all__ = [
    "PairFunction",
    "RecordView",
    "Table",
    "cell_index",
    "cell_table",
    "function_table",
    "probability_table",
    "zero_table",
]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class RecordView:
    """The records of one side of a class, as a function of a pair sees them.

    Vectorised functions get arrays, of shape (n, 1) for the clean side and (1, n) for the perturbed one; others get the
    scalars of one record.

    Attributes:
        image_id: str (arrays are object arrays).
        class_name: the class (stratum), str or int.
        predicted: name of the predicted class, str or int (arrays are object arrays).
        correct: bool, `predicted == label`.
        accepted: bool.
        confidence: float64.
        true_probability: float64.
    """

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        """One column.

        Raises:
            AttributeError: if records have no such attribute at all.
            RecordError: if these records lack it.
        """
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"a record has no {name!r}; it has {', '.join(COLUMNS)}")
        value = self._values[name]
        if value is None:
            way_out = "give a threshold, such as 0.8" if name == "accepted" else "add it, or do without it"
            raise RecordError(name, None, "the records have no such column", way_out)
        return value


COLUMNS = ("image_id", "class_name", "predicted", "correct", "accepted", "confidence", "true_probability")

PairFunction = Callable[[RecordView, RecordView], Any]
"""Of a clean and a perturbed record (or arrays of them)."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A function of a pair, on one class of n images.

    Attributes:
        codes: int64 of shape (n, n), the value's number for clean record i and perturbed record j.
        values: object array of Fractions, one a code; all differ.
    """

    codes: Ints
    values: Exact

    def total(self, match: Ints) -> Fraction:
        """The sum over the pairs of a correspondence, `match[i]` being the perturbed record of clean record i."""
        used = np.bincount(self.codes[np.arange(len(match)), match], minlength=len(self.values))
        return sum((int(n) * v for n, v in zip(used, self.values, strict=True) if n), Fraction(0))

    def where(self, condition: Callable[[Fraction], bool]) -> Bools:
        """bool of shape (n, n): whether the value of each pair meets a condition."""
        return np.array([condition(value) for value in self.values], dtype=np.bool_)[self.codes]

    @property
    def additive(self) -> bool:
        """Whether the value is a function of the clean record plus one of the perturbed: the same sum always."""
        if len(self.values) <= 1:
            return True
        scale = math.lcm(*(value.denominator for value in self.values))
        whole = np.array([int(value * scale) for value in self.values], dtype=object)[self.codes]
        return bool((whole - whole[:1] == whole[:, :1] - whole[0, 0]).all())

    def by_cell(self, cells: Ints) -> Exact | None:
        """object array of shape (5, 2, 2), the value of each cell (0 of absent ones), or None if it is not one.

        Args:
            cells: `cell_index` of the class.
        """
        found = np.unique(cells.ravel() * max(len(self.values), 1) + self.codes.ravel())
        cell, code = np.divmod(found, max(len(self.values), 1))
        if len(np.unique(cell)) < len(cell):
            return None
        weights = np.full(20, Fraction(0), dtype=object)
        weights[cell] = self.values[code]
        return weights.reshape(5, 2, 2)


def zero_table(images: int) -> Table:
    """The function that is 0."""
    values = np.array([Fraction(0)], dtype=object)
    return Table(np.zeros((images, images), dtype=np.int64), values)


def cell_index(evaluation: Evaluation, c: int) -> Ints:
    """int64 of shape (n, n): 4 * state + 2 * accepted clean + accepted perturbed of each pair of a class.

    Where acceptance is unknown every record counts as rejected.
    """
    clean, perturbed = _side(evaluation, evaluation.clean, c), _side(evaluation, evaluation.perturbed, c)
    x, y = clean.correct[:, None], perturbed.correct[None, :]
    same = clean.predicted[:, None] == perturbed.predicted
    state = np.select([x & y, x & ~y, ~x & y, same], [0, 1, 2, 3], 4).astype(np.int64)
    bits = [np.zeros(len(s), dtype=np.int64) if s.accepted is None else s.accepted for s in (clean, perturbed)]
    return 4 * state + 2 * bits[0][:, None] + bits[1]


def cell_table(weights: Cells, cells: Ints) -> Table:
    """A quantity given by 20 weights, from the `cell_index` of a class."""
    return _numbered(weights.ravel()[cells])


def probability_table(evaluation: Evaluation, c: int) -> Table:
    """p(x) - p'(y) over retained-correct pairs, else 0; exact."""
    clean, perturbed = _side(evaluation, evaluation.clean, c), _side(evaluation, evaluation.perturbed, c)
    columns = []
    for side, name in ((clean, "clean"), (perturbed, "perturbed")):
        if side.true_probability is None:
            raise RecordError("true_probability", None, f"the {name} records have no such column", "add it")
        columns.append(np.array([Fraction(p) for p in side.true_probability.tolist()], dtype=object))
    retained = clean.correct[:, None] & perturbed.correct
    differences = columns[0][:, None] - columns[1][None, :]
    differences[~retained] = Fraction(0)
    return _numbered(differences)


def function_table(function: PairFunction, evaluation: Evaluation, c: int, *, vectorised: bool, name: str) -> Table:
    """A user's function on all pairs of a class.

    Args:
        function: of two `RecordView`s; it is called once a class if vectorised, else once a pair.
        vectorised: whether it takes arrays, and returns what broadcasts to (n, n).
        name: of what the function stands for, for messages.

    Raises:
        QuantityError: if it raises an error of its own, which is then the cause, or returns another shape, or a value
            that is no finite real number.
    """
    clean = _columns(evaluation, evaluation.clean, c)
    perturbed = _columns(evaluation, evaluation.perturbed, c)
    images = len(clean["correct"])
    if vectorised:
        views = [
            _view(side, np.s_[:, None] if axis == 0 else np.s_[None, :]) for axis, side in ((0, clean), (1, perturbed))
        ]
        with _named(name):
            returned = function(views[0], views[1])
        try:
            raw = plain_array(returned)
        except ValueError as error:
            raise QuantityError(name, None, f"its function returns {error}", "return one value a pair") from None
        if raw.ndim not in (0, 2) or any(size not in (1, images) for size in raw.shape):
            raise QuantityError(
                name,
                list(raw.shape),
                f"a vectorised function returns an array of shape ({images}, {images})",
                "return one value a pair, or pass vectorised=False",
            )
        raw = np.broadcast_to(raw, (images, images))
    else:
        rows = [_view(clean, i) for i in range(images)]
        columns = [_view(perturbed, j) for j in range(images)]
        raw = np.empty((images, images), dtype=object)
        with _named(name):
            for i, x in enumerate(rows):
                raw[i] = [function(x, y) for y in columns]
    return _numbered(raw, lambda i, j: f"{name} at the pair ({clean['image_id'][i]!r}, {perturbed['image_id'][j]!r})")


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors of a user's function, under the name of what it stands for."""
    try:
        yield
    except PairboundsError:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise QuantityError(name, None, f"its function raised {told}", "correct the function") from error


def _side(evaluation: Evaluation, side: Side, c: int) -> Side:
    return side.take(np.arange(evaluation.starts[c], evaluation.starts[c + 1], dtype=np.int64))


def _columns(evaluation: Evaluation, side: Side, c: int) -> dict[str, Any]:
    """The columns of a class's records by name; None where the records have none."""
    part = _side(evaluation, side, c)
    labels = np.empty(len(evaluation.labels), dtype=object)
    labels[:] = evaluation.labels
    name = np.empty(len(part), dtype=object)
    name[:] = [evaluation.classes[c]] * len(part)
    return {
        "image_id": part.image_id.to_numpy().astype(object),
        "class_name": name,
        "predicted": labels[part.predicted],
        "correct": part.correct,
        "accepted": part.accepted,
        "confidence": None if part.confidence is None else part.confidence.astype(np.float64),
        "true_probability": None if part.true_probability is None else part.true_probability.astype(np.float64),
    }


def _view(columns: dict[str, Any], at: Any) -> RecordView:
    """Some records; one of them where `at` is an integer, in plain Python values."""

    def pick(values: npt.NDArray[Any] | None) -> Any:
        return None if values is None else values.item(at) if isinstance(at, int) else values[at]

    return RecordView({name: pick(values) for name, values in columns.items()})


def _numbered(raw: npt.NDArray[Any], where: Callable[[int, int], str] = lambda i, j: "value") -> Table:
    """An array of numbers as a table.

    Raises:
        QuantityError: for an entry that is no finite real number; `where` names it.
    """
    kind, width = raw.dtype.kind, raw.dtype.itemsize
    if kind in "biu" or (kind == "f" and width <= 8):
        bad = np.argwhere(~np.isfinite(raw))
        if len(bad):
            raise _unusable(where(*bad[0].tolist()), raw.item(*bad[0].tolist()), NOT_A_NUMBER)
        distinct, codes = np.unique(raw, return_inverse=True)
        values = [Fraction(value) for value in distinct.tolist()]
        return Table(codes.reshape(raw.shape).astype(np.int64), np.array([*values, None], dtype=object)[:-1])
    known: dict[Fraction, int] = {}
    codes = np.empty(raw.shape, dtype=np.int64)
    for (i, j), entry in np.ndenumerate(raw):
        try:
            value = _exact(entry)
        except ValueError as error:
            raise _unusable(where(i, j), entry, str(error)) from None
        codes[i, j] = known.setdefault(value, len(known))
    return Table(codes, np.array([*known, None], dtype=object)[:-1])


NOT_A_NUMBER = "not a finite real number"


def _exact(entry: Any) -> Fraction:
    """A number exactly.

    Raises:
        ValueError: with the rule, if it is none.
    """
    if isinstance(entry, np.generic):
        entry = entry.item()
    if isinstance(entry, Rational) or (isinstance(entry, float) and math.isfinite(entry)):
        return Fraction(entry)
    if isinstance(entry, Decimal) and entry.is_finite():
        return exact_number(entry)
    raise ValueError(NOT_A_NUMBER)


def _unusable(name: str, value: Any, rule: str) -> QuantityError:
    return QuantityError(name, value, rule, "return a bool, an int, a float, a Fraction or a Decimal")
