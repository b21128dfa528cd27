"""Writes certificates (CERTIFICATE.md): for each end of an interval a table of pairs that attains it, and a proof that
no correspondence goes beyond it.

Nothing here has to be trusted: `proofs/checker.py` believes neither the numbers nor the reasons. An end that could
not be proved is written with the reason why, and proves nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bounds import by_closed_form
from bounds.aggregate import DP_LIMIT, Grid
from bounds.counts import counts_of
from bounds.errors import BackendError, InfeasibleError, QuantityError, SolverError
from bounds.evaluation import Evaluation, Side
from bounds.files import replacing
from bounds.interval import End, Interval
from bounds.knowledge import Knowledge, Level, check_persistent, check_total, know
from bounds.printed import parse
from bounds.quantities import QUANTITIES, STATES
from bounds.question import Question
from bounds.solve import bound
from bounds.witness import class_numerators
from proofs.branching import Unproven, as_json, tree
from proofs.canonical import has_acceptance, records_hash, records_text
from proofs.class_bounds import ClassBounds, Tally
from proofs.class_program import ClassProgram, Groups, rational

if TYPE_CHECKING:
    from bounds.auditing import Basis, Verdict, Witness

__all__ = ["Certificate", "certify", "writing"]

Ints = npt.NDArray[np.int64]

_FIXED = ("images", "clean-correct", "clean-accepted-errors", "perturbed-accepted-errors")

_STEMS = {
    "lost-acceptance": "lost_acceptance",
    "gained-acceptance": "lost_acceptance",
    "mean-probability-decrease": "mean_probability_decrease",
    "retained-correct": "plain",
    "lost": "plain",
    "recovered": "plain",
    "flips": "plain",
    "persistent-wrong": "feasible_persistent",
    "changed-wrong": "feasible_persistent",
}
"""The claim of each quantity's closed form; that of the others is `transition_counts`."""


def certify(
    path: str | Path, evaluation: Evaluation, intervals: Iterable[tuple[str | Level | Knowledge, Interval]]
) -> Tally:
    """Write the certificate of some intervals of one evaluation.

    Args:
        path: where to; the file appears there when it is complete.
        evaluation: whose intervals they are, at their threshold.
        intervals: (what was known, the interval) of each, as given to and by `bounds.bound` with `witness=True`. One
            without witnesses is written, and not certified where it is said to be sharp.

    Returns:
        What was written, and how ends were proved.

    Raises:
        QuantityError: for an interval of a quantity of one's own, of float arithmetic, or averaged over conditions.

    >>> import tempfile
    >>> from bounds import bound, load_records
    >>> from bounds.demo import RECORDS, example
    >>> with example(RECORDS) as records:
    ...     fog = load_records(records).evaluation(perturbed="fog/3").at_threshold("0.8")
    >>> found = bound(fog, "kept-accepted-error", "five-state", witness=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     certify(folder + "/fog.json", fog, [("five-state", found)]).certified
    1
    """
    with writing(path) as certificate:
        for knowledge, interval in intervals:
            known = knowledge if isinstance(knowledge, Knowledge) else know(evaluation, knowledge)
            certificate.add(evaluation, known, interval)
    return certificate.tally


@contextmanager
def writing(path: str | Path) -> Iterator[Certificate]:
    """A certificate to add to; it is written to `path` when the block has ended well."""
    certificate = Certificate()
    yield certificate
    with replacing(path) as part, part.open("w", encoding="ascii", newline="\n") as stream:
        stream.writelines(certificate.parts())


class Certificate:
    """A certificate as it grows.

    Attributes:
        tally: what was written so far.
    """

    def __init__(self) -> None:
        self.tally = Tally()
        self._sheets: list[str] = []
        self._intervals: list[str] = []
        self._audits: list[str] = []
        self._sheet: _Sheet | None = None
        self._questions: dict[tuple[object, ...], int | None] = {}

    def add(self, evaluation: Evaluation, knowledge: Knowledge, interval: Interval) -> int:
        """Add an interval; its number among the intervals is given back.

        Evaluations are best taken one after the other: each is written out when the next one comes.

        Args:
            evaluation: all classes, at the interval's threshold.
            knowledge: of all classes.
            interval: of all classes or of one.

        Raises:
            QuantityError: if the format does not cover it.
        """
        if interval.averaged is not None or interval.quantity not in QUANTITIES:
            what = "averages over conditions" if interval.averaged is not None else "quantities of one's own"
            raise QuantityError("certificate", interval.quantity, f"does not cover {what}", "leave it out")
        if interval.method != "paired" and interval.low.value is None and interval.undefined is None:
            raise QuantityError("arithmetic", "float", "a certificate states exact ends", "leave it at exact")
        sheet = self._sheet_of(evaluation)
        question = Question.ask(
            evaluation,
            QUANTITIES[interval.quantity],
            interval.denominator.name,
            interval.average or "micro",
            knowledge,
            class_name=interval.class_name,
        )
        self._intervals.append(_compact(_interval(sheet, len(self._sheets), question, interval, self.tally)))
        return len(self._intervals) - 1

    @property
    def uncertified(self) -> list[str]:
        """Why ends and verdicts so far are not certified, one reason each."""
        return self.tally.uncertified

    def add_verdicts(self, verdicts: Sequence[Verdict]) -> list[str]:
        """Add verdicts of audits with their intervals, the verdicts of each evaluation together.

        Returns:
            The claim ids of those that the format has no place for: comparisons of policies, rows that cannot be read.
        """
        together: dict[Evaluation, list[tuple[Verdict, Basis]]] = {}
        for verdict in verdicts:
            if verdict.basis is not None:
                together.setdefault(verdict.basis.evaluation, []).append((verdict, verdict.basis))
        for pairs in together.values():
            for verdict, basis in pairs:
                index = None if basis.question is None else self._interval_of(basis.question)
                self._audits.append(_compact(self._audit(verdict, basis, index)))
        return [verdict.claim_id for verdict in verdicts if verdict.basis is None]

    def _interval_of(self, question: Question) -> int | None:
        """The number of a question's interval, found anew with its witnesses; None where that was not possible."""
        asked = question.quantity, question.denominator, question.average, question.knowledge
        self._sheet_of(question.evaluation)
        if asked not in self._questions:
            try:
                found = bound(
                    question.evaluation,
                    question.quantity,
                    question.knowledge,
                    denominator=question.denominator,
                    average=question.average,
                    witness=True,
                )
            except (SolverError, BackendError):
                self._questions[asked] = None
            else:
                self._questions[asked] = self.add(question.evaluation, question.knowledge, found)
        return self._questions[asked]

    def _audit(self, verdict: Verdict, basis: Basis, interval: int | None) -> dict[str, Any]:
        """The AUDIT."""
        sheet, question = self._sheet_of(basis.evaluation), basis.question
        found: dict[str, Any] = {
            "claim_id": verdict.claim_id,
            "evaluation": len(self._sheets),
            "reported": {
                "lower": verdict.lower,
                "upper": verdict.upper,
                "unit": verdict.unit,
                "rounding": basis.rounding,
            },
            "verdict": str(verdict.verdict),
            "interval": interval,
            "witness": None,
            "infeasible": None,
            "excluded": None,
            "uncertified": None,
        }
        try:
            if verdict.verdict == "infeasible":
                found["infeasible"] = _infeasible(basis)
            elif interval is None and verdict.verdict != "undecided":
                raise Unproven("the interval could not be found with its correspondences")
            elif question is not None and verdict.witness is not None:
                found["witness"] = _witness(sheet, question, verdict, verdict.witness)
            elif question is not None and verdict.verdict == "impossible":
                found["excluded"] = _excluded(sheet, question, verdict, basis.rounding)
        except Unproven as error:
            found["uncertified"] = str(error)
        self.tally.audits += 1
        self.tally.uncertified += [] if found["uncertified"] is None else [found["uncertified"]]
        return found

    def parts(self) -> Iterator[str]:
        """The text of the file."""
        self._close()
        tool = f"pairbounds {metadata.version('pairbounds')}"
        yield f'{{"format":"pairbounds certificate","version":1,"tool":{json.dumps(tool)}'
        for name, items in (
            ("evaluations", self._sheets),
            ("intervals", self._intervals),
            ("audits", self._audits),
        ):
            yield f',\n"{name}":['
            for number, item in enumerate(items):
                yield ",\n" if number else "\n"
                yield item
            yield "]"
        yield "}\n"

    def _sheet_of(self, evaluation: Evaluation) -> _Sheet:
        if self._sheet is None or self._sheet.evaluation is not evaluation:
            self._close()
            self._sheet = _Sheet(evaluation)
        return self._sheet

    def _close(self) -> None:
        """Write out the evaluation at hand; nothing more is added to it."""
        if self._sheet is not None:
            self._sheets.append(_compact(self._sheet.to_dict()))
            self.tally.evaluations += 1
        self._sheet = None
        self._questions.clear()


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


# --- evaluations ------------------------------------------------------------------------------------------------------


class _Sheet:
    """One evaluation in the certificate: its groups, and the tables that its intervals refer to."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.acceptance = has_acceptance(evaluation)
        self.probabilities = False
        self.bounds: dict[bytes, ClassBounds] = {}
        self._labels = len(evaluation.labels) + 1
        self._tables: list[dict[bytes, tuple[int, list[list[Any]]]]] = [{} for _ in evaluation.classes]
        self._label = [self._label_of(side) for side in (evaluation.clean, evaluation.perturbed)]
        self._known: tuple[npt.NDArray[Any], bool, int | None, list[int]] | None = None
        self._groups = [self._groups_of(side, label) for side, label in zip(self._sides, self._label, strict=True)]

    @property
    def _sides(self) -> tuple[Side, Side]:
        return self.evaluation.clean, self.evaluation.perturbed

    @staticmethod
    def _label_of(side: Side) -> Ints:
        """int64, one a row: 0 if it is correct, else one more than the code of the predicted class."""
        return np.where(side.correct, 0, side.predicted + 1).astype(np.int64)

    def _bits(self, side: Side) -> Ints:
        known = side.accepted if self.acceptance else None
        return np.zeros(len(side), dtype=np.int64) if known is None else known.astype(np.int64)

    def _named(self, label: int) -> str | int | None:
        return None if label == 0 else self.evaluation.labels[label - 1]

    def _groups_of(self, side: Side, label: Ints) -> list[dict[tuple[str | int | None, int], int]]:
        size = 2 * self._labels
        keys, counts = np.unique(self.evaluation.class_of_row * size + label * 2 + self._bits(side), return_counts=True)
        groups: list[dict[tuple[str | int | None, int], int]] = [{} for _ in self.evaluation.classes]
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
            c, group = divmod(key, size)
            groups[c][self._named(group // 2), group % 2] = count
        return groups

    def groups(self, c: int) -> tuple[Groups, Groups]:
        """The records of a class on both sides."""
        return self._groups[0][c], self._groups[1][c]

    def tables(self, match: Ints, merged: bool, index: int | None) -> list[int]:
        """The numbers of the tables of a correspondence, one a class.

        Args:
            match: of all rows, or of the rows of class `index`.
            merged: whether acceptance is left out.
        """
        if self._known is not None and self._known[0] is match and self._known[1:3] == (merged, index):
            return self._known[3]
        evaluation, starts = self.evaluation, self.evaluation.starts
        classes = range(len(evaluation.classes)) if index is None else range(index, index + 1)
        rows = slice(int(starts[classes.start]), int(starts[classes.stop]))
        size = 2 * self._labels
        clean, perturbed = (
            label[rows] * 2 + (0 if merged else self._bits(side)[rows])
            for side, label in zip(self._sides, self._label, strict=True)
        )
        owner = evaluation.class_of_row[rows]
        keys, counts = np.unique((owner * size + clean) * size + perturbed[match], return_counts=True)
        found = []
        cuts = np.searchsorted(keys, np.arange(classes.start, classes.stop + 1) * size * size)
        for c, first, last in zip(classes, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            entries = np.stack([keys[first:last] - c * size * size, counts[first:last]], axis=1)
            known = self._tables[c]
            key = entries.tobytes()
            if key not in known:
                known[key] = len(known), [self._pair(*entry) for entry in entries.tolist()]
            found.append(known[key][0])
        self._known = match, merged, index, found
        return found

    def _pair(self, key: int, count: int) -> list[Any]:
        clean, perturbed = divmod(key, 2 * self._labels)
        return [self._named(clean // 2), clean % 2, self._named(perturbed // 2), perturbed % 2, count]

    def to_dict(self) -> dict[str, Any]:
        """The EVALUATION."""
        evaluation, threshold = self.evaluation, self.evaluation.threshold
        return {
            "model": evaluation.model,
            "clean": evaluation.clean_condition,
            "perturbed": evaluation.perturbed_condition,
            "paired": evaluation.paired,
            "threshold": None
            if threshold is None
            else {"text": threshold.text, "clean": threshold.clean.hex(), "perturbed": threshold.perturbed.hex()},
            "acceptance": self.acceptance,
            "records": records_hash(records_text(evaluation)),
            "classes": [self._class(c) for c in range(len(evaluation.classes))],
        }

    def _class(self, c: int) -> dict[str, Any]:
        clean, perturbed = (
            [[label, accepted, count] for (label, accepted), count in groups.items()] for groups in self.groups(c)
        )
        return {
            "name": self.evaluation.classes[c],
            "clean": clean,
            "perturbed": perturbed,
            "probabilities": self._probabilities(c) if self.probabilities else None,
            "tables": [table for _, table in self._tables[c].values()],
        }

    def _probabilities(self, c: int) -> dict[str, list[list[Any]]]:
        rows = slice(int(self.evaluation.starts[c]), int(self.evaluation.starts[c + 1]))
        found = {}
        for name, side in zip(("clean", "perturbed"), self._sides, strict=True):
            assert side.true_probability is not None
            values, counts = np.unique(
                side.true_probability[rows][side.correct[rows]].astype(np.float64), return_counts=True
            )
            found[name] = [[value.hex(), count] for value, count in zip(values.tolist(), counts.tolist(), strict=True)]
        return found


# --- intervals --------------------------------------------------------------------------------------------------------


def _interval(sheet: _Sheet, number: int, question: Question, interval: Interval, tally: Tally) -> dict[str, Any]:
    """The INTERVAL."""
    nothing = {"value": None, "attained": None, "proof": None, "uncertified": None}
    if question.quantity.probability:
        sheet.probabilities = True
    undefined = interval.undefined is not None or interval.low.number is None
    if undefined:
        ends = [nothing, nothing | _undefined(sheet, question)]
    else:
        ends = [
            nothing | _end(sheet, question, end, upper, interval.sharp, tally)
            for upper, end in ((False, interval.low), (True, interval.high))
        ]
    tally.intervals += 1
    tally.certified += all(end["uncertified"] is None for end in ends)
    tally.uncertified += [str(end["uncertified"]) for end in ends if end["uncertified"] is not None]
    return {
        "evaluation": number,
        "quantity": question.quantity.name,
        "denominator": question.denominator,
        "average": question.average,
        "class": interval.class_name,
        "knowledge": _knowledge(question),
        "sharp": interval.sharp and not undefined,
        "undefined": undefined,
        "lower": ends[0],
        "upper": ends[1],
    }


def _knowledge(question: Question) -> dict[str, Any]:
    """The KNOWLEDGE; counts are the pairing's where they are those that it has."""
    known, told = question.whole_knowledge, question.knowledge
    found: dict[str, Any] = {"level": str(known.level)}
    if known.total is not None:
        found["total"] = known.total
    if told.retained_correct is not None:
        found["retained_correct"] = told.retained_correct.tolist()
    if told.persistent is not None:
        found["persistent"] = told.persistent.tolist()
    if len(found) > 1:
        found["source"] = "pairing" if question.whole.paired and _is_paired(question.whole, known) else "given"
    return found


def _is_paired(evaluation: Evaluation, known: Knowledge) -> bool:
    """Whether the counts known are those of the true pairing."""
    states = counts_of(evaluation).cells.sum(axis=(2, 3))
    retained, persistent = (states[:, STATES.index(state)] for state in ("CC", "WS"))
    return (
        known.total in (None, int(retained.sum()))
        and (known.retained_correct is None or np.array_equal(known.retained_correct, retained))
        and (known.persistent is None or np.array_equal(known.persistent, persistent))
    )


def _end(sheet: _Sheet, question: Question, end: End, upper: bool, sharp: bool, tally: Tally) -> dict[str, Any]:
    """Value, table and proof of an end that has a value."""
    assert end.value is not None
    attained = None
    if end.match is not None:
        attained = sheet.tables(end.match, question.quantity.probability, question.index)
    found: dict[str, Any] = {"value": rational(end.value), "attained": attained}
    if attained is None and (sharp or question.knowledge.level is Level.PAIRED):
        return found | {"uncertified": "no correspondence that attains it was asked for"}
    try:
        return found | {"proof": _proof(sheet, question, end, upper, tally)}
    except Unproven as error:
        return found | {"uncertified": str(error)}


def _proof(sheet: _Sheet, question: Question, end: End, upper: bool, tally: Tally) -> dict[str, Any]:
    """The PROOF that no correspondence goes beyond an end.

    Raises:
        Unproven: if none was found.
    """
    assert end.value is not None
    if question.knowledge.level is Level.PAIRED:
        return {"rule": "pairing"}
    fixed = _fixed(question)
    if question.average == "macro" and fixed is None:
        return _mean(question, upper, end.value)
    if by_closed_form.curve_of(question) is not None:
        return _sum(question, upper, end.value, fixed)
    return _by_class(sheet, question, end, upper, _shares(question, fixed), tally)


def _fixed(question: Question) -> Ints | None:
    """The class denominators where they are fixed, in the sense of CERTIFICATE.md."""
    known = question.knowledge.retained_correct is not None
    if question.denominator in _FIXED or (question.denominator == "retained-correct" and known):
        return question.fixed_denominators
    return None


def _shares(question: Question, fixed: Ints | None) -> list[Fraction]:
    """w_c: what a unit of each class's numerator adds to a count, a sum, or a rate over a fixed denominator."""
    if fixed is None:
        return [Fraction(1)] * len(question.domain.lo)
    if question.average == "micro":
        return [Fraction(1, int(fixed.sum()))] * len(fixed)
    counted = int((fixed > 0).sum())
    return [Fraction(1, d * counted) if d else Fraction(0) for d in fixed.tolist()]


def _stem(question: Question, numerator: bool) -> str:
    """The claim that covers an objective with, or without, the quantity's numerator."""
    if question.denominator in ("retained-correct-accepted", "retained-correct-rejected"):
        return "lost_acceptance"
    if not numerator:
        return "plain"
    if question.quantity.name == "kept-persistent-accepted-error" and question.knowledge.level is Level.FIVE_STATE:
        return "persistent_kept_errors"
    return _STEMS.get(question.quantity.name, "transition_counts")


def _claim(stem: str, value: Fraction | int) -> dict[str, str]:
    return {"rule": "claim", "claim": stem, "value": rational(value)}


def _alone(question: Question) -> Grid:
    """Each class with every k that the knowledge leaves it."""
    return Grid.of(question.domain.alone())


def _sum(question: Question, upper: bool, value: Fraction, fixed: Ints | None) -> dict[str, Any]:
    """Rule `sum` by closed forms: of N_c with its share, or of N_c - V D_c.

    Raises:
        Unproven: if the classes together show more than the value.
    """
    curve, grid, sign = by_closed_form.curve_of(question), _alone(question), 1 if upper else -1
    assert curve is not None
    if question.denominator == "none" or fixed is not None:
        shares = _shares(question, fixed)
        scale = math.lcm(*(share.denominator for share in shares))
        weights = np.array([int(share * scale) for share in shares], dtype=object)
        values = sign * curve.ends(grid.c, grid.k)[int(upper)].astype(object) * weights[grid.c]
        at_most = sign * value
    else:
        top, below = by_closed_form.ratio_points(question, curve, upper, grid.c, grid.k)
        scale = value.denominator
        values = sign * (top.astype(object) * scale - below.astype(object) * (value.numerator * curve.scale))
        at_most = Fraction(0)
    return _added(question, grid, values, scale * curve.scale, _stem(question, numerator=True), at_most)


def _undefined(sheet: _Sheet, question: Question) -> dict[str, Any]:
    """The upper end of an interval without values: the denominators are 0."""
    if question.knowledge.level is Level.PAIRED:
        pairing = np.arange(question.evaluation.images, dtype=np.int64)
        tables = sheet.tables(pairing, question.quantity.probability, question.index)
        return {"attained": tables, "proof": {"rule": "pairing"}}
    grid, fixed = _alone(question), _fixed(question)
    most = fixed[grid.c] if fixed is not None else question.denominator_given(grid.c, grid.k)[1]
    stem = _stem(question, numerator=False)
    return {"proof": _added(question, grid, most.astype(object), 1, stem, Fraction(0))}


def _added(
    question: Question, grid: Grid, values: npt.NDArray[Any], scale: int, stem: str, at_most: Fraction
) -> dict[str, Any]:
    """Rule `sum`, from what each class has at most at each k, in parts of `scale`."""
    total = question.domain.total
    multiplier = None if total is None else _multiplier(grid, values, total)
    if multiplier is not None:
        values = values - multiplier * grid.k.astype(object)
    most = np.maximum.reduceat(values, grid.offsets[:-1]).tolist() if len(grid.c) else []
    found = Fraction(sum(most) + (multiplier or 0) * (total or 0), scale)
    if found > at_most:
        raise Unproven(f"the classes together show {found}, not {at_most}")
    return {
        "rule": "sum",
        "multiplier": None if multiplier is None else rational(Fraction(multiplier, scale)),
        "classes": [_claim(stem, Fraction(value, scale)) for value in most],
    }


def _multiplier(grid: Grid, values: npt.NDArray[Any], total: int) -> int:
    """What one more retained-correct pair is worth where `total` of them are spread best over concave values (C11)."""
    inside = np.flatnonzero(grid.c[1:] == grid.c[:-1])
    increments = sorted((values[inside + 1] - values[inside]).tolist(), reverse=True)
    taken = total - int(grid.domain.lo.sum())
    return increments[max(taken, 1) - 1] if increments else 0


def _mean(question: Question, upper: bool, value: Fraction) -> dict[str, Any]:
    """Rule `mean`, or `allocation` where a total couples the classes and the recurrence is small enough.

    Raises:
        Unproven: if the rates do not show the value.
    """
    domain = question.domain
    if domain.total is not None:
        grid = Grid.of(domain)
        if len(grid.c) * (domain.total - int(domain.lo.sum()) + 1) <= DP_LIMIT:
            rates = _rates(question, upper, grid, np.arange(len(grid.c)))
            cuts = zip(grid.offsets[:-1].tolist(), grid.offsets[1:].tolist(), strict=True)
            return {"rule": "allocation", "classes": [[rate.to_dict() for rate in rates[a:b]] for a, b in cuts]}
    grid = _alone(question)
    rates = _rates(question, upper, grid, grid.offsets[:-1])
    gain, sign = Fraction(0), 1 if upper else -1
    for rate in rates:
        if rate.rate is not None:
            over = rate.rate - sign * value
            gain += over if rate.least >= 1 else max(Fraction(0), over)
    if gain > 0:
        raise Unproven(f"the rates of the classes show {gain} more")
    return {"rule": "mean", "classes": [rate.to_dict() for rate in rates]}


@dataclass(frozen=True, slots=True)
class _Rate:
    """The greatest t N/D of a class over some k, None where D is never positive; and the least D."""

    rate: Fraction | None
    least: int
    stem: str
    stem_below: str

    def to_dict(self) -> dict[str, Any]:
        """The RATE."""
        return {
            "rate": None if self.rate is None else rational(self.rate),
            "bound": _claim(self.stem_below if self.rate is None else self.stem, 0),
            "positive": _claim(self.stem_below, -self.least) if self.rate is not None and self.least >= 1 else None,
        }


def _rates(question: Question, upper: bool, grid: Grid, starts: Ints) -> list[_Rate]:
    """The rates of the segments of the grid that begin at `starts`."""
    curve, sign = by_closed_form.curve_of(question), 1 if upper else -1
    assert curve is not None
    values, _ = by_closed_form.class_rates(question, curve, upper, grid.c, grid.k)
    least = np.minimum.reduceat(question.denominator_given(grid.c, grid.k)[0], starts) if len(starts) else starts
    stems = _stem(question, numerator=True), _stem(question, numerator=False)
    found = []
    for first, last, below in zip(starts.tolist(), [*starts.tolist()[1:], len(grid.c)], least.tolist(), strict=True):
        rates = [sign * rate for rate in values[first:last] if rate is not None]
        found.append(_Rate(max(rates, default=None), below, *stems))
    return found


def _by_class(
    sheet: _Sheet, question: Question, end: End, upper: bool, shares: Sequence[Fraction], tally: Tally
) -> dict[str, Any]:
    """Rule `sum` by a bound on the integral points of each class's program, k and s being known.

    Raises:
        Unproven: if a class resists.
    """
    sign, indices = 1 if upper else -1, range(len(shares)) if question.index is None else [question.index]
    targets: list[int | None] = [None] * len(shares)
    if end.match is not None:
        tops = class_numerators(question.evaluation, end.match, question.quantity)
        targets = [sign * int(top) for top in tops]
    bounds = _class_bounds(sheet, question)
    total, found = Fraction(0), []
    for c, target, share in zip(indices, targets, shares, strict=True):
        if not share:
            found.append(_claim("plain", 0))
            continue
        bound = bounds.bound(c, question.quantity, sign, target, tally)
        total += share * bound.value
        found.append(bound.to_dict(share))
    assert end.value is not None
    if total > sign * end.value:
        raise Unproven(f"the classes together show {sign * total}, not {end.value}")
    return {"rule": "sum", "multiplier": None, "classes": found}


def _class_bounds(sheet: _Sheet, question: Question) -> ClassBounds:
    known = question.whole_knowledge
    assert known.retained_correct is not None
    assert known.persistent is not None
    key = known.retained_correct.tobytes() + known.persistent.tobytes()
    if key not in sheet.bounds:
        sheet.bounds[key] = ClassBounds(sheet.evaluation, sheet.groups, known.retained_correct, known.persistent)
    return sheet.bounds[key]


# --- audits -----------------------------------------------------------------------------------------------------------


def _infeasible(basis: Basis) -> dict[str, Any]:
    """The INFEASIBLE: a claim whose condition the counts break.

    Raises:
        Unproven: if none is broken, as where a total claimed is not that of the true pairing.
    """
    counts, k, s = counts_of(basis.evaluation), basis.retained_correct, basis.persistent
    found = {"rule": "infeasible", "class": None, "claim": "total_count_allocation", "retained_correct": k}
    if k is not None:
        try:
            check_total(counts, k)
        except InfeasibleError:
            return found | {"persistent": None}
    by_class = basis.level in (Level.CLASSWISE, Level.FIVE_STATE, Level.PAIRED)
    if s is not None and k is None and by_class and basis.evaluation.paired:
        k = int(counts.cells[:, STATES.index("CC")].sum())
    if s is not None and k is not None and len(basis.evaluation.classes) == 1:
        try:
            check_persistent(counts, np.array([k]), np.array([s]))
        except InfeasibleError:
            return found | {"class": 0, "claim": "feasible_persistent", "retained_correct": k, "persistent": s}
    raise Unproven("the totals claimed break no condition that a certificate states")


def _witness(sheet: _Sheet, question: Question, verdict: Verdict, witness: Witness) -> dict[str, Any] | None:
    """The witness of a verdict; None for a mean of probabilities, of which tables show the ends alone.

    Raises:
        Unproven: if it would have to show a mean between them.
    """
    if question.quantity.probability:
        if verdict.verdict == "possible" and verdict.exact is not None and witness.value not in verdict.exact:
            raise Unproven("tables do not show a mean of probabilities between its ends")
        return None
    assert witness.match is not None
    return {
        "value": rational(witness.value),
        "attained": sheet.tables(witness.match, False, question.index),
        "knowledge": _knowledge(question),
    }


def _excluded(sheet: _Sheet, question: Question, verdict: Verdict, rounding: str) -> dict[str, Any] | None:
    """The proof that no count prints as a value that lies between the ends; None where it lies beyond them.

    Raises:
        Unproven: if there is none.
    """
    whole = question.denominator == "none" and not question.quantity.probability and verdict.unit == "count"
    printed = parse(verdict.lower, verdict.unit, rounding, whole=whole)
    assert verdict.exact is not None
    if printed.high < verdict.exact[0] or printed.low > verdict.exact[1]:
        return None
    classes, fixed = len(question.evaluation.classes), _fixed(question)
    if question.quantity.probability or (question.average == "macro" and classes > 1):
        raise Unproven("sums of probabilities and means over classes have no proof that a value is not attained")
    below = 1 if question.denominator == "none" else None
    if question.denominator == "retained-correct":
        below = question.knowledge.total
    if fixed is not None:
        below = int(fixed.sum())
    if below is None:
        raise Unproven("a ratio whose denominator varies has no proof that a value is not attained")
    least, most = math.ceil(printed.low * below), math.floor(printed.high * below)
    if least > most:
        return {"tree": None}
    if classes > 1:
        raise Unproven("that no counts of several classes add up to a value is not proved")
    domain, s = question.domain.alone(), question.knowledge.persistent
    program = ClassProgram.of(
        *sheet.groups(0), (int(domain.lo[0]), int(domain.hi[0])), None if s is None else int(s[0])
    )
    program = program.with_row(("n",), program.costs(question.quantity.cells), least, most)
    nothing = np.zeros_like(program.limit)
    return {"tree": as_json(program, tree(program, nothing, -1), np.zeros(len(program.rows), dtype=np.int64))}
