"""Checks certificates of printed reports (CERTIFICATE.md): can statements hold together, and what follows from them?

Standard library only, beside `checker.py`, whose reader it shares. From the statements of a report, as printed, it
derives the inequalities that they stand for by itself, and decides every answer in integers and fractions: a table
obeys them, or multipliers show that no table does. No claim and no solver is trusted.

    python report_checker.py CERTIFICATE.json [--json]

Exit code 0: every answer is certified; 1: one is not, or is rejected; 2: the file cannot be read.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from proofs.checker import (
        BITS,
        DENOMINATORS,
        QUANTITIES,
        At,
        Cell,
        Item,
        Refused,
        Uncertified,
        Unreadable,
        cells,
        parse,
        printed,
        shown,
    )
else:
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from checker import (
        BITS,
        DENOMINATORS,
        QUANTITIES,
        At,
        Cell,
        Item,
        Refused,
        Uncertified,
        Unreadable,
        cells,
        parse,
        printed,
        shown,
    )

__all__ = ["FORMAT", "Result", "check", "main"]

FORMAT = "pairbounds report certificate"
STATES = ("CC", "CW", "WC", "WS", "WD")
DEEPEST_TREE = 200
STATUSES = ("certified", "not certified", "rejected")

COUNTS: dict[str, frozenset[Cell]] = {
    **DENOMINATORS,
    **{name: counted for name, (counted, stem, _) in QUANTITIES.items() if stem != "mean_probability_decrease"},
    "perturbed-correct": cells("CC.. WC.."),
    "clean-wrong": cells("WC.. WS.. WD.."),
    "perturbed-wrong": cells("CW.. WS.. WD.."),
    "clean-accepted": cells("CC1. CW1. WC1. WS1. WD1."),
    "perturbed-accepted": cells("CC.1 CW.1 WC.1 WS.1 WD.1"),
    "clean-accepted-correct": cells("CC1. CW1."),
    "perturbed-accepted-correct": cells("CC.1 WC.1"),
}
"""What statements may count, by name; besides any sum of cells, written as in "CC10 WS.1"."""

# --- programs ---------------------------------------------------------------------------------------------------------

Form = Mapping[int, int | Fraction]
"""Coefficients of variables."""

Reference = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """form x <= side; where `equal`, form x = side."""

    form: Form
    side: int | Fraction
    equal: bool = False


def plus(form: Form, other: Form, times: int | Fraction) -> dict[int, int | Fraction]:
    """form + times * other."""
    total = dict(form)
    for i, a in other.items():
        total[i] = total.get(i, 0) + times * a
    return total


@dataclass(frozen=True)
class Statement:
    """What is said of numerator / denominator (of the numerator itself where that is None).

    Attributes:
        words: for the report of the checker.
        low, high: what it may be; None where nothing is said.
    """

    words: str
    numerator: Form
    denominator: Form | None
    low: Fraction | None
    high: Fraction | None

    @cached_property
    def conditions(self) -> dict[str, Condition]:
        """The inequalities that it stands for. A ratio that is printed has a denominator."""
        found = {}
        negative = {i: -a for i, a in self.numerator.items()}
        if self.denominator is None:
            if self.low is not None:
                found["lower"] = Condition(negative, -self.low)
            if self.high is not None:
                found["upper"] = Condition(self.numerator, self.high)
            return found
        if self.low is not None:
            found["lower"] = Condition(plus(negative, self.denominator, self.low), 0)
        if self.high is not None:
            found["upper"] = Condition(plus(self.numerator, self.denominator, -self.high), 0)
        found["defined"] = Condition({i: -a for i, a in self.denominator.items()}, -1)
        return found


class Sheet:
    """A report: its classes and statements."""

    def __init__(self, at: At) -> None:
        fields = at.object("name", "classes", "acceptance", "statements", "answers")
        self.name, self.acceptance = fields["name"].text(), fields["acceptance"].boolean()
        self.width = 20 if self.acceptance else 5
        self.classes: list[str | int | None] = []
        self.conditions: dict[Reference, Condition] = {}
        for number, entry in enumerate(fields["classes"].list()):
            told = entry.object("name", "images")
            self.classes.append(None if told["name"].null else told["name"].name())
            if not told["images"].null:
                every = dict.fromkeys(range(self.width * number, self.width * (number + 1)), 1)
                self.conditions["images", number] = Condition(every, told["images"].integer(0), equal=True)
        named = [json.dumps(name) for name in self.classes]
        if not named or len(set(named)) != len(named) or (None in self.classes and len(named) > 1):
            fields["classes"].refuse("has to name each class once, or be one class without a name")
        self.statements = [self.statement(entry) for entry in fields["statements"].list()]
        self.answers = fields["answers"].list()

    @property
    def variables(self) -> int:
        return self.width * len(self.classes)

    def form(self, at: At, of_class: int | None) -> Form:
        """What a name, or cells, count: of one class or of all."""
        text = at.text()
        if text in COUNTS:
            counted = COUNTS[text]
        else:
            if re.fullmatch(r"(CC|CW|WC|WS|WD)[01.]{2}( (CC|CW|WC|WS|WD)[01.]{2})*", text) is None:
                at.refuse("names no count, and no cells")
            counted = cells(text)
        if not self.acceptance and any((s, a, b) not in counted for s, _, _ in counted for a, b in BITS):
            at.refuse("depends on acceptance, of which this report says nothing")
        one = [
            place
            for place, cell in enumerate((s, a, b) for s in STATES for a, b in (BITS if self.acceptance else BITS[:1]))
            if cell in counted
        ]
        which = range(len(self.classes)) if of_class is None else (of_class,)
        return {self.width * c + place: 1 for c in which for place in one}

    def counted(self, fields: Mapping[str, At]) -> tuple[Form, Form | None, str]:
        """Numerator, denominator and words of what a statement or an answer speaks of."""
        of_class = None if fields["class"].null else fields["class"].integer(0, len(self.classes) - 1)
        numerator = self.form(fields["numerator"], of_class)
        denominator = None if fields["denominator"].null else self.form(fields["denominator"], of_class)
        words = str(fields["numerator"].value)
        if denominator is not None:
            words += f" over {fields['denominator'].value}"
        if of_class is not None and self.classes[of_class] is not None:
            words += f" in class {self.classes[of_class]}"
        return numerator, denominator, words

    def statement(self, at: At) -> Statement:
        fields = at.object("numerator", "denominator", "class", "relation", "lower", "upper", "unit", "rounding")
        numerator, denominator, words = self.counted(fields)
        relation = fields["relation"].text("is", "at least", "at most", "between")
        low, high = read_printed(fields, denominator is not None, relation != "between")
        told = f"{fields['lower'].value}" + (f" to {fields['upper'].value}" if relation == "between" else "")
        said = f"{words} {relation} {told} {fields['unit'].value}".rstrip()
        return Statement(
            said,
            numerator,
            denominator,
            None if relation == "at most" else low[0],
            None if relation == "at least" else high[1],
        )

    def program(self, given: Sequence[int]) -> dict[Reference, Condition]:
        """The inequalities of some statements, besides those of the classes."""
        found = dict(self.conditions)
        for number in given:
            for side, condition in self.statements[number].conditions.items():
                found["statement", number, side] = condition
        return found

    def table(self, at: At, program: Mapping[Reference, Condition]) -> list[int]:
        """A table that obeys a program."""
        x = [0] * self.variables
        for entry in at.list():
            place, count = entry.list(2)
            index = place.integer(0, self.variables - 1)
            if x[index]:
                place.refuse("stands twice")
            x[index] = count.integer(1)
        for reference, condition in program.items():
            value = sum(a * x[i] for i, a in condition.form.items())
            if value > condition.side or (condition.equal and value != condition.side):
                at.refuse(f"breaks {self.reference(reference)}")
        return x

    def reference(self, reference: Reference) -> str:
        """A row in words."""
        if reference[0] == "statement":
            return f"statement {reference[1]} ({self.statements[int(reference[1])].words})"
        return f"the images of class {reference[1]}" if reference[0] == "images" else str(reference[0])


def read_printed(
    fields: Mapping[str, At], ratio: bool, single: bool
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """What the printed numbers stand for; `upper` is empty where there is one."""
    unit = fields["unit"].text(*(("", "fraction", "percent") if ratio else ("count",)))
    truncated = fields["rounding"].text("", "nearest", "truncate") == "truncate"
    names = ("lower",) if single else ("lower", "upper")
    if single:
        fields["upper"].text("")
    sets = [printed(fields[name], unit, truncated, not ratio) for name in names]
    for name, (low, high) in zip(names, sets, strict=True):
        if low > high:
            fields[name].refuse("stands for no whole number")
    return sets[0], sets[-1]


# --- proofs -----------------------------------------------------------------------------------------------------------


def combine(at: At, rows: Mapping[Reference, Condition]) -> tuple[dict[int, int | Fraction], int | Fraction]:
    """(q, b) with q x <= b for every table: the sum of multipliers times conditions.

    Multipliers are at least 0, but for equations.
    """
    used: dict[Reference, Fraction] = {}
    for entry in at.list():
        where, number = entry.list(2)
        reference = tuple(part.value for part in where.list()) if type(where.value) is list else (where.value,)
        if any(type(part) not in (str, int) for part in reference) or reference not in rows:
            where.refuse("is no row of this program")
        if reference in used:
            where.refuse("stands twice")
        used[reference] = number.rational()
        if used[reference] < 0 and not rows[reference].equal:
            number.refuse("has to be at least 0 for an inequality")
    scale = math.lcm(*(y.denominator for y in used.values()))
    q: dict[int, int | Fraction] = {}
    b: int | Fraction = 0
    for reference, y in used.items():
        times = int(y * scale)
        b += times * rows[reference].side
        for i, a in rows[reference].form.items():
            q[i] = q.get(i, 0) + times * a
    return {i: Fraction(a, scale) for i, a in q.items()}, Fraction(b, scale)


def read_form(at: At, variables: int) -> dict[int, int]:
    """[[variable, coefficient], ...]."""
    form: dict[int, int] = {}
    for entry in at.list():
        place, number = entry.list(2)
        index = place.integer(0, variables - 1)
        if index in form:
            place.refuse("stands twice")
        form[index] = number.integer()
    return form


def refute(at: At, rows: Mapping[Reference, Condition], variables: int, depth: int = 0, derived: int = 0) -> None:
    """Whether a proof shows that no table obeys `rows`; `derived` rows were added to them on the way."""
    if depth > DEEPEST_TREE:
        at.refuse(f"is deeper than {DEEPEST_TREE}")
    split = type(at.value) is dict and "form" in at.value
    fields = at.object("rounds", *(("form", "at", "down", "up") if split else ("rows",)))
    known = dict(rows)
    for step in fields["rounds"].list():
        told = step.object("rows", "form")
        q, b = combine(told["rows"], known)
        form = read_form(told["form"], variables)
        if any(form.get(i, 0) > a for i, a in q.items()) or any(a > 0 for i, a in form.items() if i not in q):
            told["form"].refuse("states more than its rows give")
        known[derived,] = Condition(form, math.floor(b))
        derived += 1
    if split:
        form, least = read_form(fields["form"], variables), fields["at"].integer()
        known[derived,] = Condition(form, least)
        refute(fields["down"], known, variables, depth + 1, derived + 1)
        known[derived,] = Condition({i: -a for i, a in form.items()}, -least - 1)
        refute(fields["up"], known, variables, depth + 1, derived + 1)
        return
    q, b = combine(fields["rows"], known)
    if b >= 0 or any(a < 0 for a in q.values()):
        fields["rows"].refuse("leaves room for a table")


# --- answers ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Answer:
    """What an answer was found to state.

    Attributes:
        kind: "possible", "impossible", "end", "undefined" or "verdict".
        words: what it states.
        given: the statements that it takes as true.
        asked: numerator, denominator and class as written, for an end or an undefined ratio.
        upper: of an end.
        value: of an end.
    """

    kind: str
    words: str
    given: tuple[int, ...] = ()
    asked: tuple[Any, ...] = ()
    upper: bool = False
    value: Fraction = Fraction(0)


ASKED = ("numerator", "denominator", "class")


def check_answer(at: At, sheet: Sheet, before: Sequence[Answer | None]) -> Answer:
    """Check an answer; refused if it does not hold. An answer may refer to those `before` it."""
    kind = at.member("kind").text("possible", "impossible", "end", "undefined", "verdict", "undecided")
    if kind == "undecided":
        raise Uncertified(at.object("kind", "reason")["reason"].text() or "no reason given")
    if kind == "verdict":
        return check_verdict(at, sheet, before)
    keys = {
        "possible": ("table",),
        "impossible": ("proof", "without"),
        "end": (*ASKED, "side", "value", "table", "proof"),
        "undefined": (*ASKED, "proof"),
    }
    fields = at.object("kind", "given", *keys[kind])
    given = tuple(entry.integer(0, len(sheet.statements) - 1) for entry in fields["given"].list())
    if list(given) != sorted(set(given)):
        fields["given"].refuse("has to list statements once each, ascending")
    program = sheet.program(given)
    if kind == "possible":
        sheet.table(fields["table"], program)
        return Answer(kind, f"{listed(given)} can hold together", given)
    if kind == "impossible":
        return check_impossible(fields, sheet, given)
    numerator, denominator, words = sheet.counted(fields)
    asked = tuple(fields[name].value for name in ASKED)
    if kind == "undefined":
        if denominator is None:
            fields["denominator"].refuse("a count is never undefined")
        program["defined",] = Condition({i: -a for i, a in denominator.items()}, -1)
        refute(fields["proof"], program, sheet.variables)
        return Answer(kind, f"given {listed(given)}, nothing is left to take {words} of", given, asked)
    upper, value = fields["side"].text("lower", "upper") == "upper", fields["value"].rational()
    sign = 1 if upper else -1
    if denominator is None:
        if value.denominator != 1:
            fields["value"].refuse("a count is a whole number")
        beyond = Condition({i: -sign * a for i, a in numerator.items()}, -sign * value - 1)
    else:
        program["defined",] = Condition({i: -a for i, a in denominator.items()}, -1)
        scaled = {i: sign * value.denominator * a for i, a in numerator.items()}
        over = plus(scaled, denominator, -sign * value.numerator)
        common = math.gcd(*(int(a) for a in over.values())) or 1
        beyond = Condition({i: -a // common for i, a in over.items()}, -1)
    x = sheet.table(fields["table"], program)
    top = sum(a * x[i] for i, a in numerator.items())
    bottom = 1 if denominator is None else sum(a * x[i] for i, a in denominator.items())
    if Fraction(top, bottom) != value:
        fields["value"].refuse(f"the table gives {shown(Fraction(top, bottom))}")
    program["beyond",] = beyond
    refute(fields["proof"], program, sheet.variables)
    words = f"given {listed(given)}, {words} is at {'most' if upper else 'least'} {shown(value)}, which is attained"
    return Answer(kind, words, given, asked, upper, value)


def check_impossible(fields: Mapping[str, At], sheet: Sheet, given: tuple[int, ...]) -> Answer:
    """Statements that cannot hold together; with `without`, each set with one less can."""
    refute(fields["proof"], sheet.program(given), sheet.variables)
    words = f"{listed(given)} cannot hold together"
    if fields["without"].null:
        return Answer("impossible", words, given)
    tables = fields["without"].list(len(given))
    for number, entry in zip(given, tables, strict=True):
        sheet.table(entry, sheet.program([other for other in given if other != number]))
    return Answer("impossible", f"{words}, but without any one of them can", given)


def check_verdict(at: At, sheet: Sheet, before: Sequence[Answer | None]) -> Answer:
    """A verdict on a printed interval, by answers before it."""
    fields = at.object("kind", *ASKED, "lower", "upper", "unit", "rounding", "verdict", "because")
    verdict = fields["verdict"].text("sharp", "loose", "invalid", "undefined", "infeasible")
    _, denominator, words = sheet.counted(fields)
    low, high = read_printed(fields, denominator is not None, single=False)
    reasons = []
    for entry in fields["because"].list():
        found = before[entry.integer(0, len(before) - 1)] if before else entry.refuse("no answer stands before it")
        if found is None:
            entry.refuse("was not certified")
        reasons.append(found)
    asked = tuple(fields[name].value for name in ASKED)
    kinds = {"undefined": ["undefined"], "infeasible": ["impossible"]}.get(verdict, ["end"] * len(reasons))
    if [reason.kind for reason in reasons] != kinds or not reasons:
        fields["because"].refuse(f"is no reason for {verdict}")
    if any(reason.given != reasons[0].given for reason in reasons) or any(
        reason.asked != asked for reason in reasons if reason.kind != "impossible"
    ):
        fields["because"].refuse("speaks of other statements or of another quantity")
    ends = {reason.upper: reason.value for reason in reasons if reason.kind == "end"}
    if verdict == "invalid":
        if not any(value < low[0] or value > high[1] for value in ends.values()):
            fields["verdict"].refuse("no end that is attained lies outside the printed interval")
    elif verdict in ("sharp", "loose"):
        if len(ends) != 2 or len(reasons) != 2:
            fields["because"].refuse("has to be both ends")
        inside = low[0] <= ends[False] <= low[1] and high[0] <= ends[True] <= high[1]
        contained = low[0] <= ends[False] and ends[True] <= high[1]
        if not (inside if verdict == "sharp" else contained and not inside):
            fields["verdict"].refuse(f"does not follow from the ends {shown(ends[False])} and {shown(ends[True])}")
    told = " ".join(str(fields[name].value) for name in ("lower", "upper", "unit"))
    return Answer("verdict", f"{words}, printed as {told}: {verdict}", reasons[0].given)


def listed(given: Sequence[int]) -> str:
    """Statements by their numbers."""
    if not given:
        return "no statements"
    return f"statement{'s' * (len(given) > 1)} {', '.join(map(str, given))}"


# --- the report -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Result:
    """What was checked.

    Attributes:
        items: an answer each, or a report that was refused as a whole.
        statements: of each report, its name and its statements in words.
    """

    items: list[Item] = field(default_factory=list)
    statements: list[tuple[str, list[str]]] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 if every item is certified, else 1."""
        return int(any(item.status != "certified" for item in self.items))

    def to_dict(self) -> dict[str, Any]:
        """As in `--json`."""
        names = ("where", "what", "status", "reason")
        return {
            "items": [{name: getattr(item, name) for name in names} for item in self.items],
            "counts": {status: sum(item.status == status for item in self.items) for status in STATUSES},
            "reports": [{"name": name, "statements": said} for name, said in self.statements],
        }

    def lines(self) -> Iterator[str]:
        """The statements as they were read, a line an answer, and a last one with the numbers of each status."""
        for number, (name, said) in enumerate(self.statements):
            yield clean(f"reports[{number}] {name}: {len(said)} statements")
            for index, words in enumerate(said):
                yield clean(f"  {index} {words}")
        for item in self.items:
            text = f"{item.where} {item.what}".rstrip()
            yield clean(f"{text}: {item.status}" + (f": {item.reason}" if item.reason else ""))
        counts = [f"{n} {status}" for status, n in self.to_dict()["counts"].items() if n]
        yield ", ".join(counts) or "nothing to certify"


def clean(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def check(data: bytes) -> Result:
    """Check a certificate of reports.

    Raises:
        Unreadable: if the file is no certificate of this version.
    """
    try:
        whole = At(parse(data), "").object("format", "version", "tool", "reports")
        whole["format"].text(FORMAT)
        whole["version"].integer(1, 1)
        whole["tool"].text()
        reports = whole["reports"].list()
    except Refused as error:
        raise Unreadable(str(error)) from None
    result = Result()
    for at in reports:
        try:
            sheet = Sheet(at)
        except Refused as error:
            result.items.append(Item(at.where, "", "rejected", str(error)))
            result.statements.append(("refused", []))
            continue
        result.statements.append((sheet.name, [statement.words for statement in sheet.statements]))
        before: list[Answer | None] = []
        for entry in sheet.answers:
            what, status, reason = "", "certified", ""
            try:
                before.append(check_answer(entry, sheet, before))
                what = before[-1].words if before[-1] is not None else ""
            except (Refused, Uncertified) as error:
                before.append(None)
                status, reason = "rejected" if isinstance(error, Refused) else "not certified", str(error)
            result.items.append(Item(entry.where, what, status, reason))
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of this file."""
    parser = argparse.ArgumentParser(description="Check a certificate of printed reports.")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    asked = parser.parse_args(arguments)
    try:
        result = check(asked.certificate.read_bytes())
    except (OSError, Unreadable) as error:
        print(f"report_checker: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result.to_dict()) if asked.json else "\n".join(result.lines()))
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main())
