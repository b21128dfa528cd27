"""The derivations in SymPy: they end in identities for the true closed forms, and do not for altered ones."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mutations import alterations, altered, shifted_forms

from bounds import closed_forms
from proofs import register
from proofs.claims import CLAIMS
from proofs.symbolic import derivation
from proofs.symbolic.certificates import multipliers
from proofs.symbolic.derivation import SYMBOLS, Derivation, Refuted, integers

ASKED = {claim.name: claim for claim in CLAIMS if claim.expects("symbolic")}

UNREACHED = {"feasible_correct_correct": "the range of correct_correct_range as a Python range, with its checks"}
"""Closed forms whose alterations are left to enumeration, with the reason."""

RATIOS = ("most_other_rows_ratio", "ratio_pairs")
"""Derived in the full run only."""


@pytest.mark.parametrize("name", ASKED)
def test_the_claim_is_derived(name):
    cell = register.cell(ASKED[name], "symbolic", closed_forms, False)
    assert cell.outcome == "holds", cell
    assert cell.counts["identities"] > 0


@pytest.mark.parametrize(("name", "number"), [a for a in alterations() if a[0] not in UNREACHED])
def test_an_altered_closed_form_is_not_derived(name, number):
    forms, what = altered(name, number)
    asked = [claim for claim in ASKED.values() if name in claim.forms]
    cells = (register.cell(claim, "symbolic", forms, name not in RATIOS) for claim in asked)
    failed = next((cell for cell in cells if cell.outcome == "fails"), None)
    assert failed is not None, what
    assert failed.reason == "a step does not hold"
    assert failed.counterexample


@pytest.mark.parametrize("name", ASKED)
def test_every_claim_has_latex(name):
    text = register.latex_of([ASKED[name]], closed_forms)
    assert r"\le" in text
    assert text.count("{") == text.count("}")


def test_latex_comes_from_the_code():
    text = register.latex_of([ASKED["C3"]], closed_forms)
    assert r"\min\left(A_{1}, B_{0}, k\right)" in text
    assert register.latex_of([ASKED["C3"]], shifted_forms("block")) != text


def test_without_sympy_nothing_is_checked(monkeypatch):
    monkeypatch.setattr(derivation, "find_spec", lambda name: None if name == "sympy" else find_spec(name))
    cell = register.cell(ASKED["C1"], "symbolic", closed_forms, True)
    assert cell.outcome == "not checked"
    assert "pip install sympy" in cell.reason


# --- the steps themselves ---------------------------------------------------------------------------------------------


def test_identities_of_minima_maxima_and_floors():
    x, y = integers("x y")
    proof = Derivation()
    proof.equal("sum", SYMBOLS.maximum(x, y) + SYMBOLS.minimum(x, y), x + y)
    proof.equal("given", SYMBOLS.maximum(x, y), x, [x - y])
    proof.follows("parity", [x - 2 * (x // 2), 1 - x + 2 * (x // 2)], [])
    proof.follows("integers lie apart", [x - 1], [2 * x - 1])
    assert proof.steps == 5
    assert proof.identities >= proof.regions > 0


@pytest.mark.parametrize(
    "step",
    [
        lambda proof, x, y: proof.equal("sum", SYMBOLS.maximum(x, y) + SYMBOLS.minimum(x, y), x - y),
        lambda proof, x, y: proof.equal("given", SYMBOLS.maximum(x, y), x, [y - x]),
        lambda proof, x, y: proof.follows("parity", [2 * (x // 2) - x], []),
        lambda proof, x, y: proof.follows("one too much", [x - 2], [2 * x - 1]),
        lambda proof, x, y: proof.follows("no counts at all", [x], [x, -x - 1]),
        lambda proof, x, y: proof.follows("not linear", [x * y], [x, y]),
    ],
)
def test_a_false_step_is_refuted(step):
    with pytest.raises(Refuted):
        step(Derivation(), *integers("x y"))


def test_elimination_keeps_every_integer_or_refuses():
    x, y, n = integers("x y n")
    low, high = Derivation().projected("sum", [x, y, n - x - y], [n], x, [y])
    assert (low, high) == (0, n)
    with pytest.raises(Refuted, match="coefficient other than 1"):
        # 2 y = x: x is even, and elimination alone would not say so.
        Derivation().projected("even", [x - 2 * y, 2 * y - x, x, n - x], [n], x, [y])
    with pytest.raises(Refuted, match="must allow a table"):
        Derivation().projected("counts", [x - 1, n - x], [n], x, [])


ROWS = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n + 1, max_size=n + 1), min_size=1, max_size=8)
)


@given(ROWS)
@example([[0, 0]])
@example([[-1, 0]])
def test_multipliers_prove_or_a_point_refutes(rows):
    found, point = multipliers(rows)
    if found is None:
        assert all(row[0] + sum(a * x for a, x in zip(row[1:], point, strict=True)) >= 0 for row in rows)
    else:
        assert min(found) >= 0
        sums = [sum(y * row[j] for y, row in zip(found, rows, strict=True)) for j in range(len(rows[0]))]
        assert sums == [-1] + [0] * (len(rows[0]) - 1)
