"""What counts as proved by Coq: sources that compile, theorems that exist and assume nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proofs import coq_evidence, register
from proofs.claims import CLAIMS
from proofs.coq_evidence import FOLDER, Built, build, cell, missing_tools, theorems_in

GOOD = """(* Theorem in_a_comment : True. *)
Theorem proved : 1 + 1 = 2. Proof. reflexivity. Qed.
Theorem given_up : 1 = 2. Abort.
Axiom extra : 1 = 2.
Theorem assumed : 1 = 2. Proof. exact extra. Qed.
Theorem admitted : 1 = 2. Admitted.
"""

THEOREMS = {"good": ["proved", "given_up", "assumed", "admitted"], "broken": ["broken"], "absent": ["absent"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small sources without a library."""
    folder = tmp_path_factory.mktemp("coq")
    (folder / "_CoqProject").write_text("-Q . Small\n\ngood.v\nbroken.v\n", encoding="utf-8")
    (folder / "Makefile").write_text("all: good.vo broken.vo\n%.vo: %.v\n\tcoqc -Q . Small $<\n", encoding="utf-8")
    (folder / "good.v").write_text(GOOD, encoding="utf-8")
    (folder / "broken.v").write_text("Theorem broken : 1 = 2. Proof. reflexivity. Qed.\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def built(folder: Path, require: Callable[[str, bool, str], None]) -> Built:
    """The sources built and asked."""
    require("coq", missing_tools() is None, str(missing_tools()))
    return build(THEOREMS, folder)


def test_a_theorem_that_assumes_nothing_holds(built: Built) -> None:
    found = cell("good", ["proved"], built)
    assert (found.outcome, found.counts) == ("holds", {"theorems": 1})
    assert found.tool.startswith("Coq 8")


@pytest.mark.parametrize(
    ("stem", "theorem", "told"),
    [
        ("good", "given_up", "not found"),
        ("good", "assumed", "it assumes good.extra"),
        ("good", "admitted", "it assumes good.admitted"),
        ("good", "in_a_comment", "no theorem in_a_comment"),
        ("broken", "broken", "does not compile: Error: Unable to unify"),
        ("absent", "absent", "absent.v is missing"),
    ],
)
def test_anything_else_fails(stem: str, theorem: str, told: str, built: Built) -> None:
    found = cell(stem, [theorem], built)
    assert found.outcome == "fails"
    assert told in (found.counterexample or "")


def test_a_build_that_fails_is_not_as_stored(built: Built) -> None:
    assert not built.as_stored


def test_nothing_is_written_beside_the_sources(folder: Path, built: Built) -> None:
    assert {path.name for path in folder.iterdir()} == {"_CoqProject", "Makefile", "good.v", "broken.v"}


def test_a_library_that_is_missing_leaves_it_unchecked(folder: Path) -> None:
    log = "Error: Cannot find a physical path bound to logical path\nall_ssreflect with prefix mathcomp."
    built = Built(folder, "Coq 8.16.1", frozenset(), log, {}, coq_evidence.library_missing(log), False)
    found = cell("good", ["proved"], built)
    assert found.outcome == "not checked"
    assert "libcoq-mathcomp-ssreflect" in found.reason


def test_without_coq_nothing_is_checked_and_the_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    claims = [claim for claim in CLAIMS if claim.stem == "feasible_correct_correct"]
    report = register.Report(tuple(claims), {}, {})
    register.tasks(claims, report)[-1]()
    found = report.cells["feasible_correct_correct", "coq"]
    assert found.outcome == "not checked"
    assert found.reason.startswith("coqc is not installed: apt-get install coq ")
    assert report.holds()
    assert not report.holds(["coq"])


def test_every_claim_that_expects_it_is_proved_in_coq(require: Callable[[str, bool, str], None]) -> None:
    """And what the theorems state and assume is what is stored."""
    require("coq", missing_tools() is None, str(missing_tools()))
    claims = [claim for claim in CLAIMS if claim.expects("coq")]
    built = build({claim.stem: claim.theorems for claim in claims})
    found = {claim.stem: cell(claim.stem, claim.theorems, built) for claim in claims}
    assert {stem: one.counterexample for stem, one in found.items() if one.outcome != "holds"} == {}
    assert built.as_stored, built.log[-2000:]


def test_statements_in_comments_are_none(tmp_path: Path) -> None:
    (tmp_path / "some.v").write_text(GOOD, encoding="utf-8")
    assert theorems_in(tmp_path / "some.v") == {"proved", "given_up", "assumed", "admitted"}
    assert FOLDER.name == "coq"
