"""The derivations in SymPy: they end in identities for the true closed forms, and do not for others."""

from __future__ import annotations

import pytest
from mutations import shifted_forms

from bounds import closed_forms
from proofs import register
from proofs.claims import CLAIMS

ASKED = {claim.name: claim for claim in CLAIMS if claim.expects("symbolic")}


@pytest.mark.parametrize("name", ASKED)
def test_the_claim_is_derived(name):
    cell = register.cell(ASKED[name], "symbolic", closed_forms, True)
    assert cell.outcome == "holds", cell
    assert cell.counts["identities"] > 0


# Upper ends that are off by one; what a derivation does not claim (its cell says so) is not here.
@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("C1", "correct_correct_range"),
        ("C3", "block"),
        ("C3", "marked_row_range"),
        ("C5", "persistent_range"),
        ("C5", "persistent_lower_share"),
        ("C13", "block"),
        ("C13", "wrong_pairs"),
        ("C13", "persistent_range"),
        ("C15", "persistent_kept_errors"),
    ],
)
def test_a_closed_form_that_is_off_is_noticed(claim, name):
    cell = register.cell(ASKED[claim], "symbolic", shifted_forms(name), True)
    assert cell.outcome == "fails", cell


def test_latex_comes_from_the_code():
    text = register.latex_of([ASKED["C3"]], closed_forms)
    assert r"\min" in text
    assert register.latex_of([ASKED["C3"]], shifted_forms("block")) != text
