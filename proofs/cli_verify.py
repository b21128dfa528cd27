"""`pairbounds verify`: the claims that the package rests on, and the evidence for each."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import click

from bounds.cli import Verb, emit
from bounds.cli_options import chosen, json_text, progress
from bounds.errors import PairboundsError, printable

if TYPE_CHECKING:
    from proofs.evidence import Cell, Kind
    from proofs.register import Report

__all__ = ["report_text", "verify"]

WIDTH = 118


@click.command(cls=Verb)
@click.argument("stems", nargs=-1, metavar="[STEM]...")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON and nothing else.")
@click.option("--latex", is_flag=True, help="Print the statements as LaTeX and check nothing.")
@click.option("--fast", is_flag=True, help="Fewer and smaller classes, and no Coq: under 20 seconds.")
@click.option(
    "--require",
    multiple=True,
    metavar="KIND",
    help="Kinds of evidence that have to hold wherever they are expected: enumeration, programs, symbolic, smt, coq; "
    "repeats, takes commas and all.",
)
@click.option(
    "--against",
    metavar="MODULE",
    help="Closed forms to check in place of the package's: an import path or a .py file.",
)
@click.pass_context
def verify(
    context: click.Context,
    *,
    stems: Sequence[str],
    as_json: bool,
    latex: bool,
    fast: bool,
    require: Sequence[str],
    against: str | None,
) -> None:
    """Do the claims hold? The evidence for each STEM (C5 or its full name), or for all, gathered now.

    Exits with 0 if everything that was checked holds, and with 1 if a claim fails, or if evidence that --require names
    is not there.
    """
    if as_json and latex:
        raise PairboundsError("--latex", None, "cannot go with --json", "give one of the two")

    from bounds import closed_forms
    from proofs import register
    from proofs.claims import CLAIMS
    from proofs.evidence import KINDS

    names = {claim.name: claim.stem for claim in CLAIMS}
    asked = chosen("claim", [names.get(stem.upper(), stem) for stem in stems] or ["all"], list(names.values()))
    claims = [claim for claim in CLAIMS if claim.stem in asked]
    required = [kind for kind in KINDS if kind in chosen("--require", require, KINDS)]
    forms = closed_forms if against is None else register.forms_of(against)
    if latex:
        emit(register.latex_of(claims, forms))
        return
    report = register.Report(tuple(claims), {}, {}, against)
    steps = register.tasks(claims, report, fast=fast, forms=forms)
    for step in progress(steps, lambda: len(steps), "checks"):
        step()
    emit(json_text(report.to_dict(required)) if as_json else report_text(report))
    context.exit(0 if report.holds(required) else 1)


def report_text(report: Report) -> str:
    """The table of claims by kinds of evidence; below it the statements, and what each cell rests on."""
    from bounds.tables import text
    from proofs.evidence import KINDS

    rows = []
    for claim in report.claims:
        found: dict[str, str] = {
            kind: report.cells[claim.stem, kind].short if claim.expects(kind) else "–" for kind in KINDS
        }
        rows.append({"": claim.name, "claim": claim.stem, **found})
    parts = [text(rows)]
    if report.against is not None:
        parts.append(f"Closed forms: {printable(report.against)}")
    parts.append("\n".join(_wrapped(claim.name, claim.statement) for claim in report.claims))
    parts += [_kind_text(report, kind) for kind in report.seconds]
    return "\n\n".join(parts)


def _kind_text(report: Report, kind: Kind) -> str:
    """What one kind of evidence rests on, a claim a paragraph; one line where nothing of it ran."""
    cells = [(claim.name, report.cells[claim.stem, kind]) for claim in report.claims if claim.expects(kind)]
    tools = "".join(f", {tool}" for tool in dict.fromkeys(cell.tool for _, cell in cells if cell.tool))
    if len({cell.reason for _, cell in cells}) == 1 and all(cell.outcome == "not checked" for _, cell in cells):
        return f"{kind}: not checked ({cells[0][1].reason})"
    lines = [_wrapped(name, _told(cell, shared=kind == "coq")) for name, cell in cells]
    return "\n".join([f"{kind}{tools}: {report.seconds[kind]:.1f} s", *lines])


def _wrapped(name: str, told: str) -> str:
    filled = fill(f"  {name:<4}{told}", WIDTH, subsequent_indent=" " * 6, break_on_hyphens=False)
    return filled.replace("\N{NO-BREAK SPACE}", " ")


def _told(cell: Cell, shared: bool) -> str:
    """One cell in words; `shared` time is not its own."""
    gap = "\N{NO-BREAK SPACE}"
    counts = ", ".join(f"{count:,}".replace(",", gap) + f" {name}" for name, count in cell.counts.items())
    said = (cell.outcome, printable(cell.counterexample or ""), counts, cell.reason)
    time = "" if shared or cell.outcome == "not checked" else f" ({cell.seconds:.1f} s)"
    return "; ".join(part for part in said if part) + time
