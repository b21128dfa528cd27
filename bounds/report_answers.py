"""What printed statements leave open: whether they can hold together, the range of any quantity, verdicts on claims.

The unknown is a table of whole numbers, states x acceptance for each class; statements are linear conditions on it
(`bounds.report_sheet`). Every answer is decided by `bounds.table_solver` in exact arithmetic, and carries the table
that attains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bounds.auditing import HOLDS, VerdictName
from bounds.errors import CountError
from bounds.exact import exact_text
from bounds.irreducible import MOST_FOR_SMALLEST, irreducible
from bounds.report import Ask, Claimed, ReportRow
from bounds.report_sheet import Counted, Said, Sheet
from bounds.table_program import Row, Table, TableProgram
from bounds.table_solver import End, Infeasible, Sense, Undecided, Undefined, feasible, optimum, ratio_optimum

__all__ = ["Answer", "ClaimVerdict", "Conflict", "Range", "answer", "exit_code"]

MOST_FOR_MATTERS = 40
"""Among more statements those that matter to a range are not looked for."""

OPEN = "no table gives it a denominator"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that cannot hold together, none of them idle.

    Attributes:
        given: their numbers in the row.
        words: the statements.
        smallest: whether no smaller set exists; where not, some smaller one may.
        decided: whether it was decided that none is idle.
    """

    given: tuple[int, ...]
    words: tuple[str, ...]
    smallest: bool
    decided: bool


@dataclass(frozen=True, slots=True)
class Range:
    """The values of a quantity over all tables of some statements.

    Attributes:
        ask: the quantity.
        assuming: assumptions switched on.
        given: numbers of the statements.
        lower, upper: exact, both attained; None where undefined, impossible or undecided.
        lower_table, upper_table: attain them; None where there are none.
        may_be_undefined: whether other tables give it no denominator.
        matters: of the report's statements those without which the range would be wider, looked for where no assumption
            is made; None where it was not, among more than `MOST_FOR_MATTERS`.
        reason: why an end is None.
    """

    ask: Ask
    assuming: tuple[str, ...]
    given: tuple[int, ...]
    lower: Fraction | None
    upper: Fraction | None
    lower_table: Table | None
    upper_table: Table | None
    may_be_undefined: bool
    matters: tuple[str, ...] | None
    reason: str | None

    def to_dict(self, sheet: Sheet) -> dict[str, Any]:
        """The object of the JSON output."""
        return {
            "quantity": self.ask.key,
            "assuming": list(self.assuming),
            "lower": None if self.lower is None else float(self.lower),
            "upper": None if self.upper is None else float(self.upper),
            "lower_exact": exact_text(self.lower),
            "upper_exact": exact_text(self.upper),
            "may_be_undefined": self.may_be_undefined,
            "matters": None if self.matters is None else list(self.matters),
            "lower_table": table_object(sheet, self.lower_table),
            "upper_table": table_object(sheet, self.upper_table),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """The verdict on one claim.

    Attributes:
        claim: as printed.
        verdict: as in `bounds.auditing`.
        lower, upper: the exact range; None where there is none.
        excess: for "loose" and "sharp": how far the printed ends lie beyond the exact ones.
        table: refutes an interval ("invalid"), or attains a value ("possible").
        reason: one sentence.
    """

    claim: Claimed
    verdict: VerdictName
    lower: Fraction | None
    upper: Fraction | None
    excess: tuple[Fraction, Fraction] | None
    table: Table | None
    reason: str

    def to_dict(self, sheet: Sheet) -> dict[str, Any]:
        """The object of the JSON output."""
        excess = self.excess or (None, None)
        return {
            "claim": self.claim.words,
            "verdict": str(self.verdict),
            "reported": {"lower": self.claim.said.lower, "upper": self.claim.said.upper or None},
            "exact": {"lower": exact_text(self.lower), "upper": exact_text(self.upper)},
            "excess": {"lower": exact_text(excess[0]), "upper": exact_text(excess[1])},
            "witness": table_object(sheet, self.table),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one row.

    Attributes:
        row: as read.
        verdict: "possible", "impossible" or "undecided".
        table: one that obeys every statement of the report.
        conflict: where "impossible".
        ranges: of what was asked, without assumptions, with each, and with all.
        claims: their verdicts.
        reason: where "undecided".
    """

    row: ReportRow
    verdict: VerdictName
    table: Table | None
    conflict: Conflict | None
    ranges: tuple[Range, ...]
    claims: tuple[ClaimVerdict, ...]
    reason: str | None

    @property
    def holds(self) -> bool:
        """Whether the statements can hold together, and no claim is wrong or open."""
        verdicts = [self.verdict, *(claim.verdict for claim in self.claims)]
        return all(verdict in HOLDS for verdict in verdicts)

    def to_dict(self) -> dict[str, Any]:
        """The object of the JSON output."""
        sheet = self.row.sheet
        return {
            "row": self.row.name,
            "verdict": str(self.verdict),
            "conflict": None if self.conflict is None else list(self.conflict.words),
            "conflict_smallest": None if self.conflict is None else self.conflict.smallest,
            "table": table_object(sheet, self.table),
            "ranges": [one.to_dict(sheet) for one in self.ranges],
            "claims": [one.to_dict(sheet) for one in self.claims],
            "reason": self.reason,
        }


def table_object(sheet: Sheet, table: Table | None) -> dict[str, int] | None:
    """The counts that are not 0, by the name of their cell."""
    if table is None:
        return None
    return {name: count for name, count in zip(sheet.variables, table, strict=True) if count}


def exit_code(answers: Sequence[Answer]) -> int:
    """0 if every row can hold and every claim does, else 1."""
    return 0 if all(one.holds for one in answers) else 1


def answer(row: ReportRow, *, node_limit: int | None = None) -> Answer:
    """Everything asked of one row.

    Args:
        row: as `bounds.report.load_report` gives it.
        node_limit: of each search, as in `bounds.table_solver.feasible`.

    Raises:
        CountError: if nothing limits a quantity that is asked for.
    """
    solver = _Solver(row, node_limit)
    found = feasible(solver.program(row.given), node_limit=node_limit)
    if isinstance(found, Infeasible):
        claims = tuple(_refused(claim, VerdictName.INFEASIBLE, "the statements cannot hold") for claim in row.claims)
        conflict = solver.conflict(found)
        return Answer(row, VerdictName.IMPOSSIBLE, None, conflict, (), claims, None)
    if isinstance(found, Undecided):
        claims = tuple(_refused(claim, VerdictName.UNDECIDED, found.reason) for claim in row.claims)
        return Answer(row, VerdictName.UNDECIDED, None, None, (), claims, found.reason)
    sets: list[tuple[str, ...]] = [(), *((name,) for name in row.assumptions)]
    if len(row.assumptions) > 1:
        sets.append(row.assumptions)
    ranges = tuple(solver.range(ask, names) for ask in row.asks for names in sets)
    claims = tuple(solver.verdict(claim) for claim in row.claims)
    return Answer(row, VerdictName.POSSIBLE, found, None, ranges, claims, None)


def _refused(claim: Claimed, verdict: VerdictName, reason: str) -> ClaimVerdict:
    return ClaimVerdict(claim, verdict, None, None, None, None, reason)


_Found = End | Undefined | Infeasible | Undecided


@dataclass(slots=True)
class _Solver:
    """Answers about one row, each found once."""

    row: ReportRow
    node_limit: int | None
    _programs: dict[tuple[int, ...], TableProgram] = field(default_factory=dict)
    _ends: dict[tuple[tuple[int, ...], Counted, Sense], _Found] = field(default_factory=dict)

    def program(self, given: tuple[int, ...]) -> TableProgram:
        if given not in self._programs:
            self._programs[given] = self.row.sheet.program(given)[0]
        return self._programs[given]

    def conflict(self, found: Infeasible) -> Conflict:
        """An irreducible set; a smallest one where there are few statements."""
        row = self.row
        names = [str(number) for number in row.given]
        few = len(names) <= MOST_FOR_SMALLEST
        program = self.program(row.given)
        core = irreducible(program, names, smallest=few, node_limit=self.node_limit)
        decided = not isinstance(core, Undecided)
        chosen = found.names if isinstance(core, Undecided) else core
        given = tuple(number for number in row.given if str(number) in chosen)
        words = tuple(row.stated[number].words for number in given)
        return Conflict(given, words, few and decided, decided)

    def end(self, given: tuple[int, ...], counted: Counted, sense: Sense) -> _Found:
        key = given, counted, sense
        if key not in self._ends:
            sheet, program = self.row.sheet, self.program(given)
            top = sheet.form(counted.numerator, counted.of_class)
            if counted.denominator is None:
                self._ends[key] = optimum(program, top, sense, node_limit=self.node_limit)
            else:
                below = sheet.form(counted.denominator, counted.of_class)
                self._ends[key] = ratio_optimum(program, top, below, sense, node_limit=self.node_limit)
        return self._ends[key]

    def range(self, ask: Ask, assuming: tuple[str, ...]) -> Range:
        given = self.row.assuming(assuming)
        low, high = (self.end(given, ask.counted, sense) for sense in ("min", "max"))
        reason = next((_reason(end) for end in (low, high) if not isinstance(end, End)), None)
        told: tuple[str, ...] | None = None
        few = len(given) <= MOST_FOR_MATTERS
        if few and not assuming and isinstance(low, End) and isinstance(high, End):
            told = self._matters(given, ask.counted, low, high)
        return Range(
            ask=ask,
            assuming=assuming,
            given=given,
            lower=low.value if isinstance(low, End) else None,
            upper=high.value if isinstance(high, End) else None,
            lower_table=low.table if isinstance(low, End) else None,
            upper_table=high.table if isinstance(high, End) else None,
            may_be_undefined=isinstance(low, End) and self._undefined_elsewhere(given, ask.counted),
            matters=told,
            reason=reason,
        )

    def _undefined_elsewhere(self, given: tuple[int, ...], counted: Counted) -> bool:
        """Whether some table gives a ratio no denominator."""
        if counted.denominator is None:
            return False
        below = self.row.sheet.form(counted.denominator, counted.of_class)
        empty = self.program(given).with_rows([Row("denominator", below, 0, 0)])
        return isinstance(feasible(empty, node_limit=self.node_limit), tuple)

    def _matters(self, given: tuple[int, ...], counted: Counted, low: End, high: End) -> tuple[str, ...]:
        """Statements without which an end moves; those that the proofs of both ends do not use cannot."""
        used = {*low.names, *high.names}
        found = []
        for number in given:
            if str(number) not in used:
                continue
            rest = tuple(other for other in given if other != number)
            ends = [self._without(rest, counted, sense) for sense in ("min", "max")]
            if ends != [low.value, high.value]:
                found.append(self.row.stated[number].words)
        return tuple(found)

    def _without(self, given: tuple[int, ...], counted: Counted, sense: Sense) -> Fraction | None:
        try:
            found = self.end(given, counted, sense)
        except CountError:
            return None  # Nothing limits it without that statement.
        return found.value if isinstance(found, End) else None

    def verdict(self, claim: Claimed) -> ClaimVerdict:
        given, said = self.row.given, claim.said
        low, high = (self.end(given, said.counted, sense) for sense in ("min", "max"))
        for end in (low, high):
            if isinstance(end, Undefined):
                return _refused(claim, VerdictName.UNDEFINED, OPEN)
        if said.relation == "between":
            return _interval(claim, low, high)
        return self._value(claim, low, high)

    def _value(self, claim: Claimed, low: _Found, high: _Found) -> ClaimVerdict:
        assert claim.number is not None
        ends = _value_of(low), _value_of(high)
        found = feasible(self.program((*self.row.given, claim.number)), node_limit=self.node_limit)
        if isinstance(found, Undecided):
            return ClaimVerdict(claim, VerdictName.UNDECIDED, *ends, None, None, found.reason)
        if isinstance(found, Infeasible):
            return ClaimVerdict(claim, VerdictName.IMPOSSIBLE, *ends, None, None, "no table prints so")
        return ClaimVerdict(claim, VerdictName.POSSIBLE, *ends, None, found, "a table prints so")


def _reason(found: _Found) -> str:
    if isinstance(found, Undecided):
        known = "" if found.value is None else f"; a table gives {found.value}"
        return f"{found.reason}{known}"
    return OPEN if isinstance(found, Undefined) else "the statements cannot hold with these assumptions"


def _value_of(found: _Found) -> Fraction | None:
    return found.value if isinstance(found, End) else None


def _interval(claim: Claimed, low: _Found, high: _Found) -> ClaimVerdict:
    """The verdict on a printed interval, in the order of theory section 5."""
    ends = _value_of(low), _value_of(high)
    printed = _printed(claim.said)
    for found, text, where in ((low, claim.said.lower, "below"), (high, claim.said.upper, "above")):
        value, table = (found.value, found.table) if isinstance(found, End | Undecided) else (None, None)
        if value is not None and (value < printed[0][0] if where == "below" else value > printed[1][1]):
            reason = f"a table gives {value}, {where} all that prints as {text!r}"
            return ClaimVerdict(claim, VerdictName.INVALID, *ends, None, table, reason)
    if ends[0] is None or ends[1] is None:
        reason = next(found.reason for found in (low, high) if isinstance(found, Undecided))
        return ClaimVerdict(claim, VerdictName.UNDECIDED, *ends, None, None, reason)
    excess = max(Fraction(0), ends[0] - printed[0][1]), max(Fraction(0), printed[1][0] - ends[1])
    if any(excess):
        reason = f"contains every table's value; beyond the ends by {excess[0]} and {excess[1]}"
        return ClaimVerdict(claim, VerdictName.LOOSE, *ends, excess, None, reason)
    return ClaimVerdict(claim, VerdictName.SHARP, *ends, excess, None, "both ends print as reported")


def _printed(said: Said) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """The closed sets of values that print as the two ends."""
    found = []
    for text in (said.lower, said.upper):
        low, high = Said(said.counted, "is", text, "", said.unit, said.rounding).sides
        assert low is not None
        assert high is not None
        found.append((low, high))
    return found[0], found[1]
