"""The questions put to Z3 and cvc5: proved for the true closed forms, refuted with a counterexample for others."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from mutations import shifted_forms

from bounds import closed_forms
from proofs import register
from proofs.claims import CLAIMS
from proofs.smt import solving

ASKED = {claim.name: claim for claim in CLAIMS if claim.expects("smt")}


@pytest.fixture(autouse=True)
def _z3(require):
    require("z3", find_spec("z3") is not None, "pip install z3-solver")


@pytest.mark.parametrize("name", ASKED)
def test_the_claim_is_proved(name):
    cell = register.cell(ASKED[name], "smt", closed_forms, True)
    assert cell.outcome == "holds", cell
    assert cell.counts["questions"] == cell.counts["proved"] > 0


# Upper ends that are off by one. Of kept_changed_range and persistent_kept_errors Z3 needs minutes to find a
# counterexample; enumeration finds it at once (test_register.py).
@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("C1", "correct_correct_range"),
        ("C3", "block"),
        ("C3", "marked_row_range"),
        ("C3", "most_other_rows_ratio"),
        ("C3", "ratio_pairs"),
        ("C5", "persistent_range"),
        ("C5", "persistent_lower_share"),
        ("C13", "block"),
        ("C13", "wrong_pairs"),
        ("C15", "persistent_lower_share"),
    ],
)
def test_a_closed_form_that_is_off_is_refuted(claim, name):
    cell = register.cell(ASKED[claim], "smt", shifted_forms(name), True)
    assert cell.outcome == "fails", cell
    assert " = " in cell.counterexample


def test_a_solver_that_gives_up_is_unknown_and_no_proof(monkeypatch):
    monkeypatch.setattr(solving, "ask_z3", lambda script, limit=1: ("unknown", {}))
    assert register.cell(ASKED["C3"], "smt", closed_forms, True).outcome == "unknown"
