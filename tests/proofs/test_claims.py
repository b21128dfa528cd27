"""The register is complete, and the map from claims to theorems, functions and tests leads somewhere."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from bounds import closed_forms
from proofs.claims import CLAIMS, Claim
from proofs.coq_evidence import FOLDER, theorems_in
from proofs.evidence import KINDS
from proofs.exhaustive import CHECKS
from proofs.programs import CHECKS as PROGRAMS

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)


def test_the_claims_are_those_of_the_theory_page(root: Path) -> None:
    page = (root / "docs" / "theory.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (C\d+) \| `(\w+)` \|", page, re.MULTILINE)
    assert [(claim.name, claim.stem) for claim in CLAIMS] == listed


@each_claim
def test_there_is_a_check_of_each_kind_expected(claim: Claim) -> None:
    assert list(claim.evidence) == [kind for kind in KINDS if claim.expects(kind)]
    assert claim.expects("enumeration") == (claim.stem in CHECKS)
    assert claim.expects("programs") == (claim.stem in PROGRAMS)
    for kind in ("symbolic", "smt"):
        assert claim.expects(kind) == (FOLDER.parent / kind / f"{claim.stem}.py").is_file(), kind  # type: ignore[arg-type]
    assert claim.expects("coq") == bool(claim.theorems)


def test_every_closed_form_is_read_by_a_claim() -> None:
    assert {form for claim in CLAIMS for form in claim.forms} == set(closed_forms.__all__)


@each_claim
def test_its_functions_are_public(claim: Claim) -> None:
    assert claim.functions
    for path in claim.functions:
        module, _, name = path.rpartition(".")
        found = importlib.import_module(module)
        assert callable(getattr(found, name))
        assert name in found.__all__, path


@each_claim
def test_its_tests_exist(claim: Claim, root: Path) -> None:
    assert claim.tests
    for path in claim.tests:
        file, _, name = path.partition("::")
        tree = ast.parse((root / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, path


@each_claim
def test_its_theorems_are_stated(claim: Claim) -> None:
    if claim.theorems:
        assert set(claim.theorems) <= theorems_in(FOLDER / f"{claim.stem}.v")


@each_claim
def test_every_theorem_of_its_file_is_named(claim: Claim) -> None:
    if claim.theorems:
        assert theorems_in(FOLDER / f"{claim.stem}.v", "Theorem") <= set(claim.theorems)


@each_claim
def test_the_page_maps_it(claim: Claim, root: Path) -> None:
    page = (root / "docs" / "proofs.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {claim.name} \|(.*)\|$", page, re.MULTILINE)
    named = [re.findall(r"`([^`]+)`", cell) for cell in row.split("|")]
    tests = [test.removeprefix("tests/bounds/") for test in claim.tests]
    assert named == [[claim.stem], list(claim.theorems), list(claim.functions), tests]
