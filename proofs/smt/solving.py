"""Questions put to Z3, and to cvc5 for a second opinion."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Literal

from proofs.evidence import Cell, not_checked
from proofs.smt.terms import Question

__all__ = ["LIMIT", "SECOND_LIMIT", "Verdict", "ask_cvc5", "ask_z3", "decide"]

LIMIT = 200_000_000
"""Steps (`rlimit`) that Z3 may spend on a question; it does not depend on the clock. The longest needs 37 million."""

SECOND_LIMIT = 1_000_000
"""The same of cvc5, whose steps are longer."""

Verdict = Literal["unsat", "sat", "unknown"]


def ask_z3(script: str, limit: int = LIMIT) -> tuple[Verdict, dict[str, str]]:
    """Whether the asserted formulas can hold together, and the values of the constants if they can.

    >>> ask_z3("(declare-const x Int) (assert (< 0 x 2))")
    ('sat', {'x': '1'})
    >>> ask_z3("(declare-const x Int) (assert (< 0 x 1))")
    ('unsat', {})
    """
    z3: Any = importlib.import_module("z3")
    solver = z3.SolverFor("QF_LIRA" if " Real)" in script else "QF_LIA", ctx=z3.Context())
    solver.set("rlimit", limit)
    solver.from_string(script)
    verdict = str(solver.check())
    if verdict not in ("unsat", "sat"):
        return "unknown", {}
    if verdict == "unsat":
        return "unsat", {}
    # The model names the definitions too, and prints each in full.
    model, constants = solver.model(), set(re.findall(r"\(declare-const (\S+)", script))
    return "sat", {d.name(): str(model[d]) for d in sorted(model.decls(), key=str) if d.name() in constants}


def ask_cvc5(script: str, limit: int = SECOND_LIMIT) -> Verdict:
    """Whether the asserted formulas can hold together, in the opinion of cvc5."""
    cvc5: Any = importlib.import_module("cvc5")
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("rlimit", str(limit))
    solver.setLogic("QF_LIRA" if " Real)" in script else "QF_LIA")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    result = solver.checkSat()
    return "unsat" if result.isUnsat() else "sat" if result.isSat() else "unknown"


def decide(questions: Sequence[Question], fast: bool, reach: str) -> Cell:
    """All questions, one by one; the first that has a counterexample ends it.

    Args:
        questions: what is to follow from what.
        fast: leave the second opinion out.
        reach: what the answers say together, for the cell's reason.
    """
    if find_spec("z3") is None:
        return not_checked("smt", "Z3 is not installed: pip install z3-solver")
    start = time.perf_counter()
    second = not fast and find_spec("cvc5") is not None
    tool = f"Z3 {_version('z3-solver')}, rlimit {LIMIT:,}" + (
        f"; cvc5 {_version('cvc5')}, rlimit {SECOND_LIMIT:,}" if second else ""
    )
    open_questions, agreed = [], 0

    def cell(outcome: Literal["holds", "fails", "unknown"], reason: str, counterexample: str | None = None) -> Cell:
        counts = {"questions": len(questions), "proved": proved} | ({"proved by cvc5 too": agreed} if second else {})
        return Cell("smt", outcome, reason, counts, tool, time.perf_counter() - start, counterexample)

    proved = 0
    for question in questions:
        script = question.script()
        verdict, values = ask_z3(script)
        if verdict == "sat":
            return cell("fails", f"refuted: {question.name}", _shown(values))
        if verdict == "unknown":
            open_questions.append(question.name)
            continue
        proved += 1
        opinion = ask_cvc5(script) if second else "unknown"
        if opinion == "sat":
            return cell(
                "fails", f"cvc5 contradicts Z3: {question.name}", "cvc5 finds a counterexample where Z3 has none"
            )
        agreed += opinion == "unsat"
    if open_questions:
        return cell("unknown", f"the limit was reached: {'; '.join(open_questions)}")
    return cell("holds", reach)


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


def _shown(values: dict[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "in every case"
