"""The audit of reported intervals and values: is what was printed right, given what was known?

Every verdict is reached in exact arithmetic, on the interval over all correspondences that agree with the claimed
knowledge and, where one correspondence settles it, on that correspondence (theory, section 5).
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.attained import agrees, find
from bounds.auditing_policies import OrderClaim, PolicyAuditor, is_order
from bounds.counts import ClassCounts, counts_of
from bounds.errors import BackendError, ClaimError, InfeasibleError, PairboundsError, SolverError
from bounds.evaluation import Evaluation
from bounds.exact import exact_text, whole_number
from bounds.interval import Interval
from bounds.knowledge import Knowledge, Level, check_persistent, check_total, know
from bounds.printed import Printed, parse
from bounds.quantities import STATES, Quantity, quantity
from bounds.question import Question
from bounds.records import Records, load_records
from bounds.solve import Method, bound
from bounds.witness import value

__all__ = ["COLUMNS", "OPTIONAL_COLUMNS", "Basis", "Verdict", "VerdictName", "Witness", "audit", "exit_code"]

Ints = npt.NDArray[np.int64]

COLUMNS = (
    "claim_id",
    "model",
    "clean",
    "perturbed",
    "quantity",
    "knowledge",
    "threshold",
    "average",
    "denominator",
    "lower",
    "upper",
    "unit",
)
OPTIONAL_COLUMNS = ("retained_correct", "persistent", "rounding")


class VerdictName(StrEnum):
    """The verdicts, of intervals first, then of values, then of rows that cannot be read."""

    INFEASIBLE = "infeasible"
    UNDEFINED = "undefined"
    INVALID = "invalid"
    SHARP = "sharp"
    LOOSE = "loose"
    POSSIBLE = "possible"
    IMPOSSIBLE = "impossible"
    UNDECIDED = "undecided"
    ERROR = "error"


HOLDS = (VerdictName.SHARP, VerdictName.LOOSE, VerdictName.POSSIBLE)
"""Verdicts of claims with which nothing is wrong."""


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A correspondence that settles a claim.

    Attributes:
        end: "lower" or "upper" for an interval that it refutes, "value" for a value that it attains.
        value: what the quantity is there.
        clean, perturbed: image ids of both sides, paired in order.
        match: the same as rows of the evaluation; None where two policies are compared.
    """

    end: str
    value: Fraction
    clean: Sequence[str] = field(repr=False)
    perturbed: Sequence[str] = field(repr=False)
    match: Ints | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What a verdict speaks of, for whoever wants to prove it.

    Attributes:
        evaluation: the records, at the claim's threshold.
        level: what is said to be known.
        question: what was asked of them; None where no correspondence has the counts claimed, or that was not decided.
        retained_correct, persistent: the totals claimed.
        rounding: as claimed.
    """

    evaluation: Evaluation
    level: Level
    question: Question | None
    retained_correct: int | None
    persistent: int | None
    rounding: str


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What the audit says of one claim.

    Attributes:
        claim_id: as in the claims, "" where the row has none.
        verdict: one of `VerdictName`.
        lower, upper, unit: as printed; `upper` is "" for a value.
        reason: one sentence.
        exact: the ends of the interval; outer ones where nothing sharper is proven; None where there are none.
        excess: for "sharp" and "loose": how far the printed ends lie beyond the exact ones (from the nearest value
            that prints so), at each end.
        witness: for "invalid" and "possible".
        basis: None for a row that could not be read, and where two policies are compared.
    """

    claim_id: str
    verdict: VerdictName
    lower: str
    upper: str
    unit: str
    reason: str
    exact: tuple[Fraction, Fraction] | None = None
    excess: tuple[Fraction, Fraction] | None = None
    witness: Witness | None = None
    basis: Basis | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The object that `pairbounds audit --json` prints: strings, floats, lists and None."""
        exact = None
        if self.exact is not None:
            exact = {
                "lower": exact_text(self.exact[0]),
                "upper": exact_text(self.exact[1]),
                "lower_float": float(self.exact[0]),
                "upper_float": float(self.exact[1]),
            }
        witness = None
        if self.witness is not None:
            pairs = zip(self.witness.clean, self.witness.perturbed, strict=True)
            witness = {
                "value": exact_text(self.witness.value),
                "end": self.witness.end,
                "pairs": [list(pair) for pair in pairs],
            }
        return {
            "claim_id": self.claim_id,
            "verdict": str(self.verdict),
            "reported": {"lower": self.lower, "upper": self.upper or None, "unit": self.unit or None},
            "exact": exact,
            "excess": None
            if self.excess is None
            else dict(zip(("lower", "upper"), map(exact_text, self.excess), strict=True)),
            "witness": witness,
            "reason": self.reason,
        }


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """0 if all claims hold, 1 if one does not or is undecided, 2 if a row is an error."""
    names = {verdict.verdict for verdict in verdicts}
    return 2 if VerdictName.ERROR in names else int(not names <= set(HOLDS))


def audit(claims: Any, records: Any, *, strata: str | None = None, policies: Any = None) -> list[Verdict]:
    """A verdict for each claim, in order.

    Args:
        claims: a CSV file (a path; UTF-8, optionally gzipped), a polars DataFrame, or a sequence of mappings, with
            `COLUMNS` and any of `OPTIONAL_COLUMNS`; every value is text as printed. `lower` and `upper` are the ends;
            an empty `upper` makes `lower` a claimed value. `retained_correct` and `persistent` are claimed totals.
            An empty `average` is "micro", an empty `denominator` the quantity's own, an empty `clean` "clean"; an
            empty `model` or `perturbed` is the only one there is.
        records: a `Records`, or whatever `bounds.load_records` takes.
        strata: the column that defines classes, as for `bounds.load_records`.
        policies: a policies file, or `Policy` objects, for rows that compare two (`bounds.auditing_policies`).

    Returns:
        One verdict a row; a row that cannot be used has the verdict "error" and the others are audited.

    Raises:
        ClaimError: if the claims as a whole cannot be read: no such file, an unknown or a missing column.
        RecordError: if the records cannot be opened.

    Source: theory, section 5.
    """
    rows = _rows(claims)
    opened = records if isinstance(records, Records) else load_records(records, strata=strata)
    verdicts: list[Verdict | None] = [None] * len(rows)
    groups: dict[_Sides, list[tuple[int, _Claim]]] = {}
    seen: set[str] = set()
    compared = PolicyAuditor(policies, records, strata)
    for index, row in enumerate(rows):
        try:
            text = _fields(row)
            if text["claim_id"] in seen:
                raise ClaimError("claim_id", text["claim_id"], "stands in an earlier row", "give every claim its own")
            seen.add(text["claim_id"])
            if is_order(text["quantity"]):
                verdicts[index] = _order(text["claim_id"], OrderClaim.read(text), compared)
                continue
            claim = _Claim.read(text)
            groups.setdefault((claim.model, claim.perturbed, claim.clean), []).append((index, claim))
        except PairboundsError as error:
            verdicts[index] = _error(index, row, error)
    for sides, evaluation in _evaluations(opened, list(groups)):
        if isinstance(evaluation, PairboundsError):
            for index, _ in groups[sides]:
                verdicts[index] = _error(index, rows[index], evaluation)
            continue
        auditor = _Auditor(evaluation)
        for index, claim in groups[sides]:
            try:
                verdicts[index] = auditor.verdict(claim)
            except PairboundsError as error:
                verdicts[index] = _error(index, rows[index], error)
    return [verdict for verdict in verdicts if verdict is not None]


_Sides = tuple[str | None, str | None, str]
"""Model, perturbed and clean condition, as a claim names them."""


def _evaluations(records: Records, wanted: list[_Sides]) -> Iterator[tuple[_Sides, Evaluation | PairboundsError]]:
    """The evaluation of each, or why there is none; those of one model are read together, as far as they can be."""
    together: dict[tuple[str, str], list[str]] = {}
    for model, perturbed, clean in wanted:
        if model in records.models and {perturbed, clean} <= set(records.conditions(model)):
            together.setdefault((model, clean), []).append(str(perturbed))
    done: set[_Sides] = set()
    for (of_model, clean), conditions in together.items():
        try:
            for evaluation in records.evaluations(of_model, conditions, clean=clean):
                done.add((of_model, evaluation.perturbed_condition, clean))
                yield (of_model, evaluation.perturbed_condition, clean), evaluation
        except PairboundsError:
            # The rows at fault are met again below, where each condition is read by itself.
            continue
    for sides in wanted:
        if sides not in done:
            try:
                yield sides, records.evaluation(sides[0], sides[1], clean=sides[2])
            except PairboundsError as error:
                yield sides, error


def _error(index: int, row: _Row, error: PairboundsError) -> Verdict:
    claim_id, lower, upper, unit = (str(row.get(name) or "") for name in ("claim_id", "lower", "upper", "unit"))
    reason = f"claim {claim_id!r}, row {index + 1}: {error.line}"
    return Verdict(claim_id, VerdictName.ERROR, lower, upper, unit, reason)


# --- reading ----------------------------------------------------------------------------------------------------------

_Row = Mapping[str | None, Any]


def _rows(claims: Any) -> list[_Row]:
    """The rows, once the columns are known to be the right ones."""
    if isinstance(claims, str | Path):
        return _csv_rows(Path(claims))
    if hasattr(claims, "to_dicts"):
        _check_columns(claims.columns)
        rows: list[_Row] = claims.to_dicts()
        return rows
    rows = list(claims) if isinstance(claims, Sequence) else []
    if not isinstance(claims, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise ClaimError(
            "claims", type(claims).__name__, "not a table", "give a path, a polars DataFrame or a list of dicts"
        )
    if rows:
        _check_columns(list(dict.fromkeys(str(name) for row in rows for name in row)))
    return rows


def _csv_rows(path: Path) -> list[_Row]:
    way_out = "give a CSV file in UTF-8, separated by commas"
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), strict=True) if line]
    except OSError as error:
        raise ClaimError("claims", str(path), str(error.strerror or error), way_out) from None
    except (UnicodeDecodeError, csv.Error, EOFError, zlib.error) as error:
        raise ClaimError("claims", str(path), f"not readable as CSV: {error}", way_out) from None
    if not lines:
        raise ClaimError("claims", str(path), "is empty", f"the first row names the columns {', '.join(COLUMNS)}")
    header = [name.strip() for name in lines[0]]
    if len(header) == 1 and ";" in header[0]:
        raise ClaimError("claims", str(path), "its columns are separated by ';'", way_out)
    _check_columns(header)
    return [
        dict(zip(header, line, strict=True)) if len(line) == len(header) else _ragged(header, line)
        for line in lines[1:]
    ]


def _ragged(header: list[str], line: list[str]) -> _Row:
    """A row with too few or too many fields; the key None tells how many it has."""
    return {**dict(zip(header, line, strict=False)), None: len(line)}


def _check_columns(columns: Sequence[str]) -> None:
    known = (*COLUMNS, *OPTIONAL_COLUMNS)
    for name in columns:
        if name not in known:
            raise ClaimError("column", name, "unknown in a claims file", f"the columns are {', '.join(known)}")
    doubled = [name for name, count in Counter(columns).items() if count > 1]
    if doubled:
        raise ClaimError("column", doubled[0], "stands twice in the claims file", "keep one")
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise ClaimError("column", missing[0], "missing from the claims file", "add it; its fields may be empty")


@dataclass(frozen=True, slots=True)
class _Claim:
    """One row: text, and what can be read without the records."""

    claim_id: str
    model: str | None
    clean: str
    perturbed: str | None
    quantity: Quantity
    knowledge: Level
    threshold: str | None
    average: str
    denominator: str
    lower: Printed
    upper: Printed | None
    unit: str
    retained_correct: int | None
    persistent: int | None
    rounding: str

    @classmethod
    def read(cls, text: Mapping[str, str]) -> _Claim:
        """The claim of a row's fields.

        Raises:
            PairboundsError: naming the first field that cannot be used.
        """
        asked = quantity(text["quantity"])
        denominator = asked.denominator(text["denominator"] or None)
        if text["knowledge"] not in list(Level):
            raise ClaimError("knowledge", text["knowledge"], "unknown", f"choose among {', '.join(Level)}")
        ends = [
            _printed(asked, denominator, text, name) for name in ("lower", "upper") if text[name] or name == "lower"
        ]
        if len(ends) == 2 and ends[0].value > ends[1].value:
            raise ClaimError("lower", text["lower"], f"above the upper end {text['upper']!r}", "exchange the ends")
        return cls(
            claim_id=text["claim_id"],
            model=text["model"] or None,
            clean=text["clean"] or "clean",
            perturbed=text["perturbed"] or None,
            quantity=asked,
            knowledge=Level(text["knowledge"]),
            threshold=text["threshold"] or None,
            average=text["average"] or "micro",
            denominator=denominator,
            lower=ends[0],
            upper=ends[1] if len(ends) == 2 else None,
            unit=ends[0].unit,
            retained_correct=_total("retained_correct", text["retained_correct"]),
            persistent=_total("persistent", text["persistent"]),
            rounding=text["rounding"],
        )

    def verdict(self, name: VerdictName, reason: str, **rest: Any) -> Verdict:
        """A verdict on this claim."""
        upper = "" if self.upper is None else self.upper.text
        return Verdict(self.claim_id, name, self.lower.text, upper, self.unit, reason, **rest)


def _fields(row: _Row) -> dict[str, str]:
    """The text of every field of a row.

    Raises:
        ClaimError: if the row has fields too many or too few, or no claim_id.
    """
    if None in row:
        raise ClaimError("fields", row[None], "not as many as the header has", "quote fields that hold commas")
    text = {name: _field(name, row.get(name)) for name in (*COLUMNS, *OPTIONAL_COLUMNS)}
    if not text["claim_id"]:
        raise ClaimError("claim_id", "", "is empty", "name the claim")
    return text


def _order(claim_id: str, claim: OrderClaim, compared: PolicyAuditor) -> Verdict:
    """The verdict on a claim that one policy costs less than another."""
    found, refuted = compared.compare(claim)
    exact = found.lower, found.upper
    if found.relation == "<":
        reason = f"{claim.first} costs less under every correspondence ({found.ordered})"
        return Verdict(claim_id, VerdictName.SHARP, "", "", "", reason, exact=exact)
    if refuted is not None:
        reason = f"a correspondence makes {claim.first} cost {_shown(refuted.difference)} more per image"
        witness = Witness("upper", *refuted)
        return Verdict(claim_id, VerdictName.INVALID, "", "", "", reason, exact=exact, witness=witness)
    reason = "no correspondence that settles it was found, and none was excluded"
    return Verdict(claim_id, VerdictName.UNDECIDED, "", "", "", reason, exact=exact)


def _field(name: str, value: Any) -> str:
    """The text of a field.

    Raises:
        ClaimError: for a float, whose printed digits are lost.
    """
    if isinstance(value, float):
        raise ClaimError(name, value, "a float does not tell how it was printed", "give it as text")
    return "" if value is None else str(value).strip()


def _printed(asked: Quantity, denominator: str, text: Mapping[str, str], name: str) -> Printed:
    """An end, in the unit that goes with the quantity: count for numbers of images, else fraction or percent."""
    unit = text["unit"]
    of_quantity = asked.unit(denominator)
    allowed = {"count": ("count",), "probability sum": ("count", "fraction")}.get(of_quantity, ("fraction", "percent"))
    printed = parse(text[name], unit, text["rounding"], whole=of_quantity == "count" and unit == "count", name=name)
    if printed.unit not in allowed:
        what = {"count": "a number of images", "probability sum": "a sum of probabilities"}.get(of_quantity, "a rate")
        raise ClaimError(
            "unit", printed.unit, f"{asked.name} over {denominator!r} is {what}", f"use {' or '.join(allowed)}"
        )
    return printed


def _total(name: str, text: str) -> int | None:
    if text and whole_number(text) is None:
        raise ClaimError(name, text, "a claimed total is a whole number >= 0", "print it without signs and separators")
    return whole_number(text)


# --- deciding ---------------------------------------------------------------------------------------------------------


class _Undecided(Exception):
    """What a claim rests on was not decided; the message says what."""


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """What is proven of an interval.

    Attributes:
        outer: no correspondence gives less than the first or more than the second.
        attained: values that correspondences attain, as near to `outer` as is known; the lower, the upper.
        matches: those correspondences, where they were built.
    """

    outer: tuple[Fraction, Fraction]
    attained: tuple[Fraction | None, Fraction | None]
    matches: tuple[Ints | None, Ints | None]

    @property
    def note(self) -> str:
        """What remains open, for a reason."""
        return "" if self.outer == self.attained else "; the interval is an outer one"


class _Auditor:
    """Audits the claims on one evaluation; intervals are found once."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.accepted: dict[str | None, Evaluation] = {None: evaluation}
        self.known: dict[tuple[Evaluation, Level, int | None, int | None], Knowledge] = {}
        self.intervals: dict[tuple[Evaluation, Quantity, str, str, Knowledge, bool, str], Interval] = {}

    def verdict(self, claim: _Claim) -> Verdict:
        """The verdict on one claim.

        Raises:
            PairboundsError: if the claim does not go with the records.
        """
        if claim.threshold not in self.accepted:
            self.accepted[claim.threshold] = self.evaluation.at_threshold(claim.threshold or "")
        evaluation = self.accepted[claim.threshold]
        Question.ask(evaluation, claim.quantity, claim.denominator, claim.average, Knowledge(Level.MARGINALS))
        question = None
        try:
            known = self._knowledge(claim, evaluation)
            question = Question.ask(evaluation, claim.quantity, claim.denominator, claim.average, known)
            verdict = self._decided(claim, question)
        except InfeasibleError as error:
            verdict = claim.verdict(VerdictName.INFEASIBLE, error.line)
        except _Undecided as error:
            verdict = claim.verdict(VerdictName.UNDECIDED, str(error))
        except (SolverError, BackendError) as error:
            verdict = claim.verdict(VerdictName.UNDECIDED, error.line)
        totals = claim.retained_correct, claim.persistent
        basis = Basis(evaluation, claim.knowledge, question, *totals, claim.rounding)
        return replace(verdict, basis=basis)

    def _decided(self, claim: _Claim, question: Question) -> Verdict:
        interval = self._bound(question)
        if interval.undefined is not None:
            return claim.verdict(VerdictName.UNDEFINED, f"undefined: {interval.undefined}")
        if claim.upper is None:
            return self._value(claim, question)
        return self._interval(claim, claim.upper, question)

    def _knowledge(self, claim: _Claim, evaluation: Evaluation) -> Knowledge:
        """The knowledge claimed, checked against the claimed totals.

        Raises:
            InfeasibleError: if no correspondence has the totals claimed.
            _Undecided: if that could not be decided.
        """
        key = evaluation, claim.knowledge, claim.retained_correct, claim.persistent
        if key not in self.known:
            self.known[key] = _checked_knowledge(evaluation, *key[1:])
        return self.known[key]

    def _bound(self, question: Question, *, witness: bool = False, method: Method = "auto") -> Interval:
        """The interval of a question, found once."""
        quantity, denominator, average = question.quantity, question.denominator, question.average
        key = question.evaluation, quantity, denominator, average, question.knowledge, witness, method
        if key not in self.intervals:
            self.intervals[key] = bound(
                question.evaluation,
                quantity,
                question.knowledge,
                denominator=denominator,
                average=average,
                witness=witness,
                method=method,
            )
        return self.intervals[key]

    def _ends(self, question: Question, *, witness: bool = False) -> _Ends:
        """What is proven of the interval; `witness` asks for the correspondences too."""
        interval = self._bound(question, witness=witness)
        if "branch and bound" in (interval.low.proof, interval.high.proof):
            with suppress(BackendError):  # classes too large to enumerate
                interval = self._bound(question, witness=witness, method="enumerate")
        pair = interval.low, interval.high
        if not interval.sharp and not witness:
            return self._ends(question, witness=True)
        outer = list(_exact(interval))
        by_solver = [end.proof == "branch and bound" for end in pair]
        if any(by_solver):
            proven = _exact(self._bound(question, method="lp"))
            outer = [p if doubtful else end for p, end, doubtful in zip(proven, outer, by_solver, strict=True)]
        if interval.sharp:
            return _Ends((outer[0], outer[1]), _exact(interval), (pair[0].match, pair[1].match))
        known = [self._attained(question, end.match) for end in pair]
        return _Ends((outer[0], outer[1]), (known[0][0], known[1][0]), (known[0][1], known[1][1]))

    def _attained(self, question: Question, match: Ints | None) -> tuple[Fraction | None, Ints | None]:
        """The value of the correspondence of an end; where there is none, that of the true pairing."""
        evaluation = question.evaluation
        if match is None and evaluation.paired:
            match = np.arange(evaluation.images, dtype=np.int64)
        if match is None or not agrees(evaluation, question.knowledge, match):
            return None, None
        return value(evaluation, match, question.quantity, question.denominator, question.average), match

    def _interval(self, claim: _Claim, upper: Printed, question: Question) -> Verdict:
        lower, ends = claim.lower, self._ends(question)
        low, high = ends.attained
        for name, attained, beyond, printed in (
            ("lower", low, low is not None and low < lower.low, lower),
            ("upper", high, high is not None and high > upper.high, upper),
        ):
            if beyond and attained is not None:
                match = self._ends(question, witness=True).matches[name == "upper"]
                where = "below" if name == "lower" else "above"
                return claim.verdict(
                    VerdictName.INVALID,
                    f"a correspondence gives {_shown(attained)}, {where} all that prints as {printed.text!r}",
                    exact=ends.outer,
                    witness=_witness(question, name, attained, match),
                )
        if ends.outer[0] < lower.low or ends.outer[1] > upper.high:
            return claim.verdict(
                VerdictName.UNDECIDED,
                f"no correspondence outside was found, and only [{_shown(ends.outer[0])}, {_shown(ends.outer[1])}] is "
                "proven to contain them all",
                exact=ends.outer,
            )
        excess = max(Fraction(0), ends.outer[0] - lower.high), max(Fraction(0), upper.low - ends.outer[1])
        if any(excess):
            reason = f"contains every attained value; beyond the ends by {_shown(excess[0])} and {_shown(excess[1])}"
            return claim.verdict(VerdictName.LOOSE, reason + ends.note, exact=ends.outer, excess=excess)
        if low is None or high is None or low > lower.high or high < upper.low:
            reason = "contains every attained value; whether it is sharp was not decided"
            return claim.verdict(VerdictName.UNDECIDED, reason, exact=ends.outer)
        return claim.verdict(VerdictName.SHARP, "both ends print as reported", exact=ends.outer, excess=excess)

    def _value(self, claim: _Claim, question: Question) -> Verdict:
        printed, ends = claim.lower, self._ends(question)
        if printed.high < ends.outer[0] or printed.low > ends.outer[1]:
            reason = f"outside the interval [{_shown(ends.outer[0])}, {_shown(ends.outer[1])}]"
            return claim.verdict(VerdictName.IMPOSSIBLE, reason, exact=ends.outer)
        first, last = self._ends(question, witness=True).matches
        known = None if first is None or last is None else (first, last)
        found = find(question, printed.low, printed.high, known)
        if found.possible is None:
            return claim.verdict(VerdictName.UNDECIDED, f"inside the interval; {found.reason}", exact=ends.outer)
        if not found.possible:
            return claim.verdict(VerdictName.IMPOSSIBLE, found.reason, exact=ends.outer)
        assert found.value is not None
        reason = f"a correspondence gives {_shown(found.value)}: {found.reason}"
        witness = _witness(question, "value", found.value, found.match)
        return claim.verdict(VerdictName.POSSIBLE, reason, exact=ends.outer, witness=witness)


def _exact(interval: Interval) -> tuple[Fraction, Fraction]:
    low, high = interval.low.value, interval.high.value
    assert low is not None
    assert high is not None
    return low, high


def _shown(value: Fraction) -> str:
    """A value for a sentence: exact where that is short, else to six digits."""
    return str(value) if value.denominator < 10**6 else f"{float(value):.6g}"


def _witness(question: Question, end: str, attained: Fraction, match: Ints | None) -> Witness:
    assert match is not None
    evaluation = question.evaluation
    perturbed = evaluation.perturbed.image_id.gather(match)
    return Witness(end, attained, evaluation.clean.image_id.to_list(), perturbed.to_list(), match)


def _checked_knowledge(evaluation: Evaluation, level: Level, retained: int | None, persistent: int | None) -> Knowledge:
    """The knowledge of a claim: its counts are the totals claimed where they fix them, else those of the records.

    Raises:
        InfeasibleError: if no correspondence has the totals.
        QuantityError: if counts are needed that neither the claim nor the pairing gives.
        _Undecided: if it could not be decided whether one has them.
    """
    counts = counts_of(evaluation)
    if len(evaluation.classes) == 1 and level in (Level.CLASSWISE, Level.FIVE_STATE):
        claimed = None if persistent is None or level is Level.CLASSWISE else [persistent]
        known = know(evaluation, level, retained_correct=None if retained is None else [retained], persistent=claimed)
    elif level is Level.TOTAL:
        known = know(evaluation, level, total=retained)
    else:
        known = know(evaluation, level)
        if retained is not None:
            if level is Level.MARGINALS:
                check_total(counts, retained)
            else:
                _same("retained_correct", retained, "CC", counts)
    if persistent is None:
        return known
    if level is Level.PAIRED or (level is Level.FIVE_STATE and len(evaluation.classes) > 1):
        _same("persistent", persistent, "WS", counts)
    elif level is not Level.FIVE_STATE:
        total = retained if level is Level.MARGINALS else known.total
        narrower = Knowledge(Level.TOTAL, total=total) if total is not None else known
        _check_persistent_total(evaluation, narrower, persistent)
    return known


def _same(name: str, claimed: int, state: str, counts: ClassCounts) -> None:
    """Raise unless a claimed total is that of the true pairing, which the knowledge fixes."""
    actual = int(counts.cells[:, STATES.index(state)].sum())
    if claimed != actual:
        raise InfeasibleError(name, claimed, f"the counts of the classes sum to {actual}", "check the count")


def _check_persistent_total(evaluation: Evaluation, known: Knowledge, persistent: int) -> None:
    """Raise unless some correspondence has that many persistent-wrong images in all (C5, summed over classes)."""
    if known.retained_correct is not None and len(evaluation.classes) == 1:
        check_persistent(counts_of(evaluation), known.retained_correct, np.array([persistent], dtype=np.int64))
        return
    question = Question.ask(evaluation, quantity("persistent-wrong"), "none", "micro", known)
    found = find(question, Fraction(persistent), Fraction(persistent))
    if found.possible is None:
        raise _Undecided(f"persistent {persistent}: it was not decided whether a correspondence has that many")
    if not found.possible:
        raise InfeasibleError("persistent", persistent, found.reason, "check the count and the records")
