"""`pairbounds audit-report`: can the numbers of a printed table hold together, and what do they leave open?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_certificate import certificate_option, report_certificate_file
from bounds.cli_options import Output, node_limit_option, output_options, parse_level, progress, split
from bounds.errors import printable

if TYPE_CHECKING:
    from bounds.report import Ask, ReportRow
    from bounds.report_answers import Answer, ClaimVerdict, Range

__all__ = ["audit_report"]

COLUMNS: dict[str, type] = {
    **dict.fromkeys(("row", "verdict", "kind", "quantity", "assuming"), str),
    **dict.fromkeys(("lower", "upper"), float),
    **dict.fromkeys(("lower_exact", "upper_exact", "claim", "claim_verdict", "matters", "reason"), str),
}
"""Of CSV and Parquet: one row a range or claim, or one for a row that has neither."""

DETAILED = 12
"""Up to so many rows, the statements that matter are shown."""


@click.command("audit-report", cls=Verb)
@click.argument("report", type=click.Path(path_type=Path))
@click.option(
    "--assume",
    multiple=True,
    metavar="A",
    help="Further assumptions whose effect is shown: none-recovered, none-lost.",
)
@click.option("--ask", multiple=True, metavar="Q", help="Quantities asked for, in place of the file's.")
@click.option("--advise", multiple=True, metavar="Q", help="How far further counts would narrow these.")
@click.option("--mcnemar", metavar="LEVEL", help="McNemar's test of each row at this level.")
@node_limit_option
@certificate_option
@output_options
def audit_report(
    *,
    report: Path,
    assume: Sequence[str],
    ask: Sequence[str],
    advise: Sequence[str],
    mcnemar: str | None,
    node_limit: int | None,
    certificate: Path | None,
    output: Output,
) -> None:
    """Whether a report's numbers can hold together, and the exact ranges that they leave.

    REPORT is a TOML or CSV file of numbers as printed; no records are needed. Exit code 1: some row is impossible or
    undecided, or a claim does not hold.
    """
    output.check([("REPORT", report)], certificate=certificate)

    from dataclasses import replace

    from bounds.cli_report_parts import Advice, Tests
    from bounds.report import load_report, parse_ask
    from bounds.report_answers import answer, exit_code

    rows = load_report(report, split(assume))
    if asks := tuple(parse_ask(key) for key in split(ask)):
        rows = [_wide_enough(replace(row, asks=asks), asks) for row in rows]
    level = None if mcnemar is None else parse_level("--mcnemar", mcnemar, "0.05")
    advised = [parse_ask(key) for key in split(advise)]
    rows = [_wide_enough(row, advised) for row in rows]
    answers = []
    with ExitStack() as stack:
        file = None if certificate is None else stack.enter_context(report_certificate_file(certificate))
        for row in progress(rows, lambda: len(rows), "rows"):
            answers.append(answer(row, node_limit=node_limit))
            if file is not None:
                file.add(answers[-1], node_limit)
        further: list[Advice | Tests] = [
            *([Advice(answers, advised, node_limit)] if advised else []),
            *([Tests(answers, level, node_limit)] if level is not None else []),
        ]
        objects = [one.to_dict() for one in answers]
        for part in further:
            for one, told in zip(objects, part.objects, strict=True):
                one[part.key] = told
        output.write(
            objects,
            lambda: "\n".join([report_text(answers), *(part.text() for part in further)]),
            lambda: _latex(answers),
            rows=_flat(answers),
            columns=COLUMNS,
        )
    click.get_current_context().exit(exit_code(answers))


def _wide_enough(row: ReportRow, asks: Sequence[Ask]) -> ReportRow:
    """The row with a table wide enough for what is asked."""
    from dataclasses import replace

    from bounds.report import needs_acceptance

    acceptance = row.sheet.acceptance or any(needs_acceptance(one.counted) for one in asks)
    return replace(row, sheet=replace(row.sheet, acceptance=acceptance))


def _flat(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for one in answers:
        shared = {"row": one.row.name, "verdict": str(one.verdict)}
        parts: list[dict[str, Any]] = []
        for part in one.ranges:
            told = {key: value for key, value in part.to_dict(one.row.sheet).items() if key in COLUMNS}
            told |= {"assuming": ", ".join(part.assuming), "matters": "; ".join(part.matters or ())}
            parts.append({"kind": "range"} | told)
        parts += [
            {
                "kind": "claim",
                "quantity": None,
                "lower_exact": claim.to_dict(one.row.sheet)["exact"]["lower"],
                "upper_exact": claim.to_dict(one.row.sheet)["exact"]["upper"],
                "claim": claim.claim.words,
                "claim_verdict": str(claim.verdict),
                "reason": claim.reason,
            }
            for claim in one.claims
        ]
        if one.conflict is not None:
            parts.insert(0, {"kind": "conflict", "reason": "; ".join(one.conflict.words)})
        found += [shared | part for part in parts] or [shared]
    return found


def _end(value: Fraction | None, *, up: bool) -> str:
    from bounds.tables import outward

    if value is None:
        return ""
    return str(value.numerator) if value.denominator == 1 else outward(value, up=up)


def _range(one: Range) -> str:
    from bounds.tables import nearest

    if one.lower is None or one.upper is None:
        return one.reason or ""
    if one.lower == one.upper:
        return str(one.lower) if one.lower.denominator == 1 else nearest(one.lower)
    return f"[{_end(one.lower, up=False)}, {_end(one.upper, up=True)}]" + ("*" if one.may_be_undefined else "")


def _rows(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """One line a quantity of each row, one column an assumption."""
    lines = []
    for one in answers:
        keys = list(dict.fromkeys(part.ask.key for part in one.ranges))
        for number, key in enumerate(keys or [None]):
            first = number == 0
            line: dict[str, Any] = {
                "row": one.row.name if first else None,
                "statements": str(one.verdict) if first else None,
                "quantity": key,
                "range": None,
            }
            for part in one.ranges:
                if part.ask.key == key:
                    line[f"if {' and '.join(part.assuming)}" if part.assuming else "range"] = _range(part)
            lines.append(line)
    return lines


def report_text(answers: Sequence[Answer]) -> str:
    """For people: a table of ranges, then conflicts, claims and what matters."""
    from bounds.tables import text

    parts = [text(_rows(answers)), ""]
    for one in answers:
        name = printable(one.row.name)
        if one.conflict is not None:
            which = "no smaller set" if one.conflict.smallest else "none of them idle"
            which = which if one.conflict.decided else "some may be idle"
            parts.append(
                f"{name}: these cannot hold together ({which if one.conflict.decided else 'some may be idle'}):"
            )
            parts += [f"  {printable(words)}" for words in one.conflict.words] or ["  the numbers of images alone"]
        if one.reason is not None:
            parts.append(f"{name}: undecided: {one.reason}")
        parts += [_claim_text(claim) for claim in one.claims]
        if len(answers) <= DETAILED:
            for part in one.ranges:
                if part.matters:
                    parts.append(f"{name}: {part.ask.key} rests on")
                    parts += [f"  {printable(words)}" for words in part.matters]
    if any(part.may_be_undefined for one in answers for part in one.ranges):
        parts.append("* some tables leave it without a denominator; the range is of the others")
    parts.append("Ranges are exact, every end attained by a table (--json gives it); ends are rounded outward.")
    return "\n".join(parts)


def _claim_text(claim: ClaimVerdict) -> str:
    exact = ""
    if claim.lower is not None and claim.upper is not None:
        exact = f", exactly [{_end(claim.lower, up=False)}, {_end(claim.upper, up=True)}]"
    return f"{printable(claim.claim.words)}: {claim.verdict}{exact}; {claim.reason}"


def _latex(answers: Sequence[Answer]) -> str:
    from bounds.tables import latex

    return latex(_rows(answers))
