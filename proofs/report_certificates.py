"""Writes certificates of printed reports (CERTIFICATE.md): tables that obey statements, proofs that none does.

Every answer is found anew, from the statements as the certificate has them; what was shown to someone is compared with
it by the caller. Nothing here has to be trusted: `proofs/report_checker.py` believes neither numbers nor reasons.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

from bounds.errors import SolverError
from bounds.files import replacing
from bounds.report import ReportRow
from bounds.report_answers import Answer, ClaimVerdict, Range
from bounds.report_sheet import Counted, Reference, Sheet
from bounds.table_program import Table, TableProgram
from bounds.table_proofs import Multipliers, Node, Split
from bounds.table_solver import (
    End,
    Infeasible,
    Sense,
    Undecided,
    Undefined,
    feasible,
    optimum,
    ratio_optimum,
)
from proofs.class_program import rational

__all__ = ["ReportCertificate", "Written", "writing"]


@dataclass
class Written:
    """A report as it is written.

    Attributes:
        sheet: the report.
        answers: as in the certificate.
        undecided: how many of them prove nothing.
    """

    sheet: Sheet
    node_limit: int | None = None
    answers: list[dict[str, Any]] = field(default_factory=list)
    undecided: int = 0
    _programs: dict[tuple[int, ...], tuple[TableProgram, list[Reference]]] = field(default_factory=dict)

    def _program(self, given: Sequence[int]) -> tuple[TableProgram, list[Reference]]:
        key = tuple(given)
        if key not in self._programs:
            self._programs[key] = self.sheet.program(given)
        return self._programs[key]

    def _add(self, answer: Mapping[str, Any]) -> int:
        self.answers.append(dict(answer))
        return len(self.answers) - 1

    def _undecided(self, found: Undecided) -> int:
        self.undecided += 1
        return self._add({"kind": "undecided", "reason": found.reason})

    def possible(self, given: Sequence[int]) -> int:
        """Whether statements can hold together; with the tables that show none of them idle, where they cannot.

        Returns:
            The number of the answer.
        """
        program, references = self._program(given)
        found = feasible(program, node_limit=self.node_limit)
        if isinstance(found, Undecided):
            return self._undecided(found)
        if not isinstance(found, Infeasible):
            return self._add({"kind": "possible", "given": list(given), "table": table_json(found)})
        tables = []
        for number in given:
            other = feasible(self._program([n for n in given if n != number])[0], node_limit=self.node_limit)
            if isinstance(other, Infeasible | Undecided):
                break
            tables.append(table_json(other))
        proof = node_json(found.proof, references)
        without = tables if len(tables) == len(given) else None
        return self._add({"kind": "impossible", "given": list(given), "proof": proof, "without": without})

    def ends(self, given: Sequence[int], asked: Counted) -> dict[str, int]:
        """Both ends of a quantity over the tables of statements.

        Returns:
            The numbers of the answers: "lower" and "upper", or "undefined", or "impossible".
        """
        program, references = self._program(given)
        top = self.sheet.form(asked.numerator, asked.of_class)
        below = None if asked.denominator is None else self.sheet.form(asked.denominator, asked.of_class)
        numbers: dict[str, int] = {}
        sides: list[tuple[str, Sense]] = [("lower", "min"), ("upper", "max")]
        for side, sense in sides:
            if below is None:
                found: End | Undefined | Infeasible | Undecided = optimum(
                    program, top, sense, node_limit=self.node_limit
                )
            else:
                found = ratio_optimum(program, top, below, sense, node_limit=self.node_limit)
            if isinstance(found, Infeasible):
                return {"impossible": self.possible(given)}
            if isinstance(found, Undecided):
                numbers[side] = self._undecided(found)
                continue
            extra: list[Reference] = [("beyond",)] if below is None else [("defined",), ("beyond",)]
            shared = {"given": list(given), **asked.to_dict()}
            if isinstance(found, Undefined):
                proof = node_json(found.proof, [*references, ("defined",)])
                return {"undefined": self._add({"kind": "undefined", **shared, "proof": proof})}
            answer = {"kind": "end", **shared, "side": side, "value": rational(found.value)}
            proof = node_json(found.proof, [*references, *extra])
            numbers[side] = self._add({**answer, "table": table_json(found.table), "proof": proof})
        return numbers

    def verdict(self, asked: Counted, printed: Mapping[str, str], verdict: str, because: Sequence[int]) -> int:
        """A verdict on a printed interval, by the answers with these numbers.

        Args:
            printed: `lower`, `upper`, `unit`, `rounding`.
        """
        answer = {"kind": "verdict", **asked.to_dict(), **printed, "verdict": verdict, "because": list(because)}
        return self._add(answer)

    def value(self, number: int) -> Fraction | None:
        """The value of the end with this number; None if it was not decided."""
        text = self.answers[number].get("value")
        return None if text is None else Fraction(text)


@dataclass
class ReportCertificate:
    """A certificate as it grows."""

    reports: list[Written] = field(default_factory=list)

    def report(self, sheet: Sheet, node_limit: int | None = None) -> Written:
        """One more report, to add answers to."""
        self.reports.append(Written(sheet, node_limit))
        return self.reports[-1]

    def add(self, answer: Answer, node_limit: int | None = None) -> None:
        """What `bounds.report_answers` says of one row, found anew and compared with it.

        Raises:
            SolverError: if something else is found.
        """
        row = answer.row
        written = self.report(row.sheet, node_limit)
        given = row.given if answer.conflict is None else answer.conflict.given
        first = written.possible(given)
        _same(written.answers[first]["kind"], str(answer.verdict))
        for one in answer.ranges:
            self._range(written, one)
        for claim in answer.claims:
            self._claim(written, row, claim, first)

    def _range(self, written: Written, one: Range) -> None:
        numbers = written.ends(one.given, one.ask.counted)
        for side, value in (("lower", one.lower), ("upper", one.upper)):
            if value is not None:
                _same(written.value(numbers[side]), value)

    def _claim(self, written: Written, row: ReportRow, claim: ClaimVerdict, first: int) -> None:
        said = claim.claim.said
        if claim.claim.number is not None:
            if claim.verdict in ("possible", "impossible"):
                number = written.possible((*row.given, claim.claim.number))
                _same(written.answers[number]["kind"], str(claim.verdict))
            return
        printed = {"lower": said.lower, "upper": said.upper, "unit": said.unit, "rounding": said.rounding}
        if claim.verdict == "infeasible":
            written.verdict(said.counted, printed, str(claim.verdict), [first])
            return
        numbers = written.ends(row.given, said.counted)
        if claim.verdict != "undecided":
            because = [number for number in numbers.values() if written.answers[number]["kind"] != "undecided"]
            written.verdict(said.counted, printed, str(claim.verdict), because)

    def to_dict(self) -> dict[str, Any]:
        """The whole file."""
        return {
            "format": "pairbounds report certificate",
            "version": 1,
            "tool": f"pairbounds {metadata.version('pairbounds')}",
            "reports": [{**written.sheet.to_dict(), "answers": written.answers} for written in self.reports],
        }


def _same(found: object, shown: object) -> None:
    if found != shown:
        raise SolverError("certificate", str(found), f"was shown as {shown}", "report it, with the file")


@contextmanager
def writing(path: str | Path) -> Iterator[ReportCertificate]:
    """A certificate to add to; it is written to `path` when the block has ended well."""
    certificate = ReportCertificate()
    yield certificate
    with replacing(Path(path)) as part:
        part.write_text(json.dumps(certificate.to_dict(), separators=(",", ":")) + "\n", encoding="ascii")


def table_json(table: Table) -> list[list[int]]:
    """[variable, count] of those that are not 0."""
    return [[i, count] for i, count in enumerate(table) if count]


def node_json(node: Node, references: Sequence[Reference]) -> dict[str, Any]:
    """A proof as in CERTIFICATE.md: rows by their names, derived ones by their numbers."""
    steps = [
        {"rows": rows_json(step.multipliers, references), "form": [list(item) for item in step.form.items()]}
        for step in node.rounds
    ]
    if isinstance(node, Split):
        form = [list(item) for item in node.form.items()]
        down, up = (node_json(case, references) for case in (node.down, node.up))
        return {"rounds": steps, "form": form, "at": node.at, "down": down, "up": up}
    return {"rounds": steps, "rows": rows_json(node.multipliers, references)}


def rows_json(multipliers: Multipliers, references: Sequence[Reference]) -> list[list[Any]]:
    """[row, multiplier]; inequalities are all from above there, so their multipliers are positive."""
    found: list[list[Any]] = []
    for index, y in multipliers.items():
        if index >= len(references):
            found.append([index - len(references), rational(abs(y))])
        else:
            reference = references[index]
            found.append([list(reference), rational(y if reference[0] == "images" else abs(y))])
    return found
