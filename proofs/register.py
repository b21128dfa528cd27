"""Running the register: each claim, each kind of evidence expected for it, one cell."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from bounds import closed_forms
from bounds.errors import ClaimError, MissingExtraError
from proofs.claims import Claim
from proofs.evidence import KINDS, Cell, Kind, not_checked

__all__ = ["Report", "cell", "forms_of", "latex_of", "tasks", "verify"]

PIP = {"sympy": "sympy", "z3": "z3-solver", "cvc5": "cvc5", "highspy": "highspy"}
"""Packages that evidence may lack, by import name, with the name that pip knows."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run of the register said.

    Attributes:
        claims: the claims asked about.
        cells: by (stem, kind), for the kinds that each claim expects.
        seconds: how long each kind took in all.
        against: the module of closed forms that was put in place of the package's, None for these.
    """

    claims: tuple[Claim, ...]
    cells: dict[tuple[str, Kind], Cell]
    seconds: dict[Kind, float]
    against: str | None = None

    def holds(self, require: Collection[Kind] = ()) -> bool:
        """Whether nothing fails, and every cell of the kinds required holds."""
        return not any(
            cell.outcome == "fails" or (kind in require and cell.outcome != "holds")
            for (_, kind), cell in self.cells.items()
        )

    def to_dict(self, require: Collection[Kind] = ()) -> dict[str, Any]:
        """Plain strings, numbers, booleans and None; a kind that is not expected is null."""
        return {
            "holds": self.holds(require),
            "against": self.against,
            "required": [kind for kind in KINDS if kind in require],
            "seconds": {kind: round(self.seconds[kind], 3) for kind in KINDS if kind in self.seconds},
            "claims": [
                {
                    "claim": claim.name,
                    "stem": claim.stem,
                    "statement": claim.statement,
                    "evidence": {
                        kind: self.cells[claim.stem, kind].to_dict() if claim.expects(kind) else None for kind in KINDS
                    },
                }
                for claim in self.claims
            ],
        }


def forms_of(source: str) -> ModuleType:
    """The module of closed forms with that import path, or in that `.py` file.

    It has to offer every name that `bounds.closed_forms` offers. `from bounds.closed_forms import *` at its top brings
    them all; a function altered below that line is then the only difference, though others that call it inside
    `bounds.closed_forms` go on to call the original.

    Raises:
        ClaimError: if it cannot be imported, or lacks a name.
    """
    try:
        if source.endswith(".py"):
            # Not imported, so that nothing is written beside it.
            module = ModuleType(Path(source).stem)
            exec(compile(Path(source).read_text(encoding="utf-8"), source, "exec"), vars(module))
        else:
            module = importlib.import_module(source)
    except Exception as error:
        reason = f"cannot be imported: {type(error).__name__}: {error}"
        raise ClaimError("--against", source, reason, "give an import path or a .py file") from error
    missing = [name for name in closed_forms.__all__ if not callable(getattr(module, name, None))]
    if missing:
        way_out = "begin it with: from bounds.closed_forms import *"
        raise ClaimError("--against", source, f"lacks {', '.join(missing)} of bounds.closed_forms", way_out)
    return module


Task = Callable[[], None]

NO_FORMS = "--against: it reads no closed form"


def tasks(
    claims: Sequence[Claim], report: Report, *, fast: bool = False, forms: ModuleType = closed_forms
) -> list[Task]:
    """What `verify` does, step by step; each step puts its cells and seconds into the report.

    Args:
        claims: which claims.
        report: an empty one, for these.
        fast: whether to look at fewer and smaller classes, and to leave Coq out.
        forms: the closed forms; others than the package's are put to those claims alone that read them, and not to Coq,
            which does not.
    """

    def run(kind: Kind, cells: Callable[[], Iterable[tuple[Claim, Cell]]]) -> None:
        started = time.perf_counter()
        for claim, found in cells():
            report.cells[claim.stem, kind] = found
        report.seconds[kind] = report.seconds.get(kind, 0.0) + time.perf_counter() - started

    def one(claim: Claim, kind: Kind) -> Iterator[tuple[Claim, Cell]]:
        if forms is not closed_forms and not claim.forms:
            yield claim, not_checked(kind, NO_FORMS)
        else:
            yield claim, cell(claim, kind, forms, fast)

    steps: list[Task] = [
        partial(run, kind, partial(one, claim, kind))
        for kind in KINDS
        for claim in claims
        if claim.expects(kind) and kind != "coq"
    ]
    if in_coq := [claim for claim in claims if claim.expects("coq")]:
        left_out = "--fast" if fast else NO_FORMS if forms is not closed_forms else None
        steps.append(partial(run, "coq", partial(_coq, in_coq, left_out)))
    return steps


def verify(claims: Sequence[Claim], *, fast: bool = False, forms: ModuleType = closed_forms) -> Report:
    """Run every kind of evidence that is expected for the claims; see `tasks`.

    >>> from proofs.claims import CLAIMS
    >>> report = verify([claim for claim in CLAIMS if claim.stem == "integrality_matters"], fast=True)
    >>> [(kind, cell.outcome) for (_, kind), cell in report.cells.items()]
    [('enumeration', 'holds'), ('programs', 'holds'), ('coq', 'not checked')]
    """
    report = Report(tuple(claims), {}, {}, None if forms is closed_forms else forms.__name__)
    for step in tasks(claims, report, fast=fast, forms=forms):
        step()
    return report


def cell(claim: Claim, kind: Kind, forms: ModuleType, fast: bool) -> Cell:
    """The cell of one claim and kind; a crash is a failure, an absent package leaves it unchecked."""
    started = time.perf_counter()
    try:
        found = _check_of(claim, kind)(forms, fast)
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in PIP:
            raise
        found = not_checked(kind, f"{name} is not installed: pip install {PIP[name]}")
    except Exception as error:
        found = Cell(kind, "fails", counterexample=f"{type(error).__name__}: {error}")
    return replace(found, seconds=time.perf_counter() - started)


def _check_of(claim: Claim, kind: Kind) -> Callable[[ModuleType, bool], Cell]:
    if kind == "enumeration":
        from proofs.exhaustive import CHECKS

        return CHECKS[claim.stem]
    if kind == "programs":
        from proofs.programs import CHECKS as PROGRAMS

        return PROGRAMS[claim.stem]
    check: Callable[[ModuleType, bool], Cell] = importlib.import_module(f"proofs.{kind}.{claim.stem}").check
    return check


def _coq(claims: Sequence[Claim], left_out: str | None) -> Iterator[tuple[Claim, Cell]]:
    """The cells of all claims from one build."""
    from proofs import coq_evidence

    started = time.perf_counter()
    reason = left_out or coq_evidence.missing_tools()
    if reason is not None:
        yield from ((claim, not_checked("coq", reason)) for claim in claims)
        return
    built = coq_evidence.build({claim.stem: claim.theorems for claim in claims})
    seconds = time.perf_counter() - started
    for claim in claims:
        yield claim, replace(coq_evidence.cell(claim.stem, claim.theorems, built, claim.stated), seconds=seconds)


def latex_of(claims: Sequence[Claim], forms: ModuleType = closed_forms) -> str:
    """The statements as LaTeX, with the closed forms that SymPy writes from the code.

    Raises:
        MissingExtraError: if a claim has such forms and SymPy is absent.
    """
    parts = []
    for claim in claims:
        stem = claim.stem.replace("_", r"\_")
        parts.append(rf"\paragraph{{{claim.name} (\texttt{{{stem}}}).}} {claim.latex}")
        if claim.expects("symbolic"):
            try:
                written = importlib.import_module(f"proofs.symbolic.{claim.stem}").latex(forms)
            except ModuleNotFoundError as error:
                if error.name != "sympy":
                    raise
                raise MissingExtraError("--latex", None, "needs SymPy, which is absent", "pip install sympy") from error
            parts[-1] += f"\n\\[\\begin{{gathered}}\n{written}\n\\end{{gathered}}\\]"
    return "\n\n".join(parts)
