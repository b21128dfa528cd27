"""The questions put to Z3 and cvc5: proved for the true closed forms, refuted by counterexample for altered ones."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

import pytest
from mutations import alterations, altered

from bounds import closed_forms
from proofs import register
from proofs.claims import CLAIMS
from proofs.smt import feasible_correct_correct, solving
from proofs.smt.terms import Question, integers

ASKED = {claim.name: claim for claim in CLAIMS if claim.expects("smt")}

UNREACHED = {"feasible_correct_correct": "the range of correct_correct_range as a Python range, with its checks"}
"""Closed forms whose alterations are left to enumeration, with the reason."""


@pytest.fixture(autouse=True)
def _z3(require):
    require("z3", find_spec("z3") is not None, "pip install z3-solver")


@pytest.fixture
def without(monkeypatch):
    """`without(package)`: the package is not found."""

    def hide(package):
        monkeypatch.setattr(solving, "find_spec", lambda name: None if name == package else find_spec(name))

    return hide


@pytest.mark.parametrize("name", ASKED)
def test_the_claim_is_proved(name, without):
    without("cvc5")
    cell = register.cell(ASKED[name], "smt", closed_forms, False)
    assert cell.outcome == "holds", cell
    assert cell.counts["questions"] == cell.counts["proved"] > 0


@pytest.mark.parametrize("name", ["C1", "C3", "C5", "C9"])
def test_cvc5_agrees_on_every_question(name, require):
    require("cvc5", find_spec("cvc5") is not None, "pip install cvc5")
    cell = register.cell(ASKED[name], "smt", closed_forms, False)
    assert cell.outcome == "holds", cell
    assert cell.counts["proved by cvc5 too"] == cell.counts["questions"]
    assert "Z3 " in cell.tool
    assert "cvc5 " in cell.tool


@pytest.mark.parametrize("name", ASKED)
def test_no_question_is_empty(name):
    for question in importlib.import_module(f"proofs.smt.{ASKED[name].stem}").questions(closed_forms, False):
        assert solving.ask_z3(question.premises())[0] == "sat", question.name


@pytest.mark.parametrize(("name", "number"), [a for a in alterations() if a[0] not in UNREACHED])
def test_an_altered_closed_form_is_refuted(name, number):
    forms, what = altered(name, number)
    cells = (register.cell(claim, "smt", forms, True) for claim in ASKED.values() if name in claim.forms)
    failed = next((cell for cell in cells if cell.outcome == "fails"), None)
    assert failed is not None, what
    assert failed.reason.startswith("refuted: ")
    assert " = " in failed.counterexample


def test_the_counterexample_is_one():
    forms, _ = altered("correct_correct_range", 0)
    cell = feasible_correct_correct.check(forms, True)
    point = {name: int(value) for name, value in (part.split(" = ") for part in cell.counterexample.split(", "))}
    n, a, b, k = (point[name] for name in ("n", "A", "B", "CC"))
    assert k in closed_forms.feasible_correct_correct(n, a, b)
    low, high = forms.correct_correct_range(n, a, b)
    assert not low <= k <= high


def test_a_false_statement_is_refuted_by_both(require):
    require("cvc5", find_spec("cvc5") is not None, "pip install cvc5")
    x, y = integers("x y")
    script = Question("false", [x <= y], [y <= x]).script()
    verdict, values = solving.ask_z3(script)
    assert verdict == solving.ask_cvc5(script) == "sat"
    assert int(values["x"]) < int(values["y"])


def test_a_solver_that_gives_up_is_unknown_and_no_proof(without):
    without("cvc5")
    hard = importlib.import_module("proofs.smt.persistent_kept_errors").questions(closed_forms, True)[-1]
    assert solving.ask_z3(hard.script(), limit=1000)[0] == "unknown"


def test_an_open_question_leaves_the_claim_unknown(monkeypatch):
    monkeypatch.setattr(solving, "ask_z3", lambda script, limit=1: ("unknown", {}))
    cell = register.cell(ASKED["C3"], "smt", closed_forms, True)
    assert cell.outcome == "unknown"
    assert cell.counts["proved"] == 0


def test_cvc5_giving_up_leaves_the_proof_and_contradicting_fails_it(monkeypatch, require):
    require("cvc5", find_spec("cvc5") is not None, "pip install cvc5")
    monkeypatch.setattr(solving, "ask_cvc5", lambda script: "unknown")
    cell = register.cell(ASKED["C1"], "smt", closed_forms, False)
    assert cell.outcome == "holds"
    assert cell.counts["proved by cvc5 too"] == 0
    monkeypatch.setattr(solving, "ask_cvc5", lambda script: "sat")
    assert register.cell(ASKED["C1"], "smt", closed_forms, False).outcome == "fails"


def test_an_absent_solver_leaves_the_claim_unchecked(without):
    without("z3")
    cell = register.cell(ASKED["C1"], "smt", closed_forms, True)
    assert cell.outcome == "not checked"
    assert "pip install z3-solver" in cell.reason
