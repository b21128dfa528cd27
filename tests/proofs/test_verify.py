"""`pairbounds verify`: the table, the exit codes, and what cannot be asked."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from command import Command
from mutations import alterations, altered_source

from proofs import register
from proofs.claims import CLAIMS
from proofs.evidence import KINDS, Cell, Kind, holds


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in this process."""
    return Command(capsys)


def cells_of(**outcomes: Cell) -> register.Report:
    """A report on the first claim, in which every kind but those given holds."""
    claim = CLAIMS[0]
    cells = {(claim.stem, kind): outcomes.get(kind, holds(kind, "tool 1", things=3)) for kind in KINDS}
    return register.Report((claim,), cells, dict.fromkeys(KINDS, 0.0))


@pytest.mark.parametrize(
    ("outcome", "alone", "required"),
    [("holds", True, True), ("fails", False, False), ("unknown", True, False), ("not checked", True, False)],
)
def test_what_makes_a_report_hold(outcome: str, alone: bool, required: bool) -> None:
    report = cells_of(smt=Cell("smt", outcome))  # type: ignore[arg-type]
    assert (report.holds(), report.holds(["coq"]), report.holds(["smt"])) == (alone, alone, required)


def test_all_fast_evidence_holds(command: Command, require: Callable[[str, bool, str], None]) -> None:
    require("z3", find_spec("z3") is not None, "not installed")
    result = command("verify", "--fast", "--json", "--require", "enumeration,programs,symbolic,smt")
    assert result.code == 0, result
    assert [claim["claim"] for claim in result.json["claims"]] == [claim.name for claim in CLAIMS]
    for claim, told in zip(CLAIMS, result.json["claims"], strict=True):
        for kind, cell in told["evidence"].items():
            expected = None if not claim.expects(kind) else "not checked" if kind == "coq" else "holds"
            assert (cell and cell["outcome"]) == expected, (claim.name, kind, cell)
            if expected == "holds":
                assert cell["tool"]
                assert all(count > 0 for count in list(cell["counts"].values())[:1])
    assert result.json["claims"][0]["evidence"]["coq"]["reason"] == "--fast"


def test_the_table_for_people(command: Command) -> None:
    result = command("verify", "C7", "persistent_kept_errors", "--fast")
    assert result.code == 0
    header, _, first, second = result.out.splitlines()[:4]
    assert header.split() == ["claim", *KINDS]
    assert first.split()[:4] == ["C7", "integrality_matters", "holds", "42"]
    assert first.split()[6:] == ["–", "–", "not", "checked"]
    assert second.split()[0] == "C15"
    assert "\n\ncoq: not checked (--fast)\n" in result.out
    assert "can be strictly wider" in result.out


def test_evidence_that_is_required_has_to_be_there(command: Command) -> None:
    assert command("verify", "C7", "--fast", "--require", "coq").code == 1
    assert command("verify", "C12", "--fast", "--require", "all").code == 0


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("block", "C3"),
        ("persistent_lower_share", "C5"),
        ("persistent_kept_errors", "C15"),
        ("correct_correct_range", "C1"),
    ],
)
def test_altered_closed_forms_are_caught_by_the_command(
    name: str, claim: str, command: Command, tmp_path: Path
) -> None:
    text, _ = altered_source(*next(alteration for alteration in alterations() if alteration[0] == name))
    path = tmp_path / "altered.py"
    path.write_text(text, encoding="utf-8")
    result = command("verify", claim, "C10", "--fast", "--json", "--against", path)
    assert result.code == 1
    assert result.json["against"] == str(path)
    first, compact = (told["evidence"] for told in result.json["claims"])
    first, compact = (compact, first) if result.json["claims"][0]["claim"] == "C10" else (first, compact)
    assert first["enumeration"]["outcome"] == "fails"
    assert first["enumeration"]["counterexample"]
    assert compact["enumeration"]["outcome"] == "not checked"
    assert "reads no closed form" in compact["enumeration"]["reason"]
    assert "FAILS" in command("verify", claim, "--fast", "--against", path).out


def test_the_package_s_own_closed_forms_pass_as_others(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "same.py"
    path.write_text("from bounds.closed_forms import *\n", encoding="utf-8")
    assert command("verify", "C1", "--fast", "--against", path).code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["lost_acceptence"], "choose among lost_acceptance"),
        (["C16"], "unknown"),
        (["all", "C1"], "cannot go with"),
        (["--require", "coqq"], "choose among coq"),
        (["--json", "--latex"], "cannot go with --json"),
        (["--against", "no.such.module"], "cannot be imported"),
        (["--against", "absent.py"], "cannot be imported"),
        (["--against", "bounds.errors"], "begin it with: from bounds.closed_forms import *"),
    ],
)
def test_what_is_refused(arguments: list[str], told: str, command: Command) -> None:
    assert told in command("verify", *arguments).refused()


def test_an_absent_package_leaves_its_evidence_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(forms: object, fast: bool) -> Cell:
        raise ModuleNotFoundError("No module named 'sympy'", name="sympy")

    monkeypatch.setattr(register, "_check_of", lambda claim, kind: absent)
    found = register.cell(CLAIMS[0], "symbolic", register.closed_forms, True)
    assert (found.outcome, found.reason) == ("not checked", "sympy is not installed: pip install sympy")


def test_a_module_of_ours_that_is_missing_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    kind: Kind = "symbolic"
    with pytest.raises(ModuleNotFoundError, match=r"proofs\.symbolic\.compact_program"):
        register.cell(CLAIMS[9], kind, register.closed_forms, True)


def test_latex_states_every_claim(command: Command) -> None:
    result = command("verify", "--latex")
    assert result.code == 0
    assert result.out.count(r"\paragraph{") == len(CLAIMS)
    assert result.out.count(r"\begin{gathered}") == sum(claim.expects("symbolic") for claim in CLAIMS)
    assert result.out.count("$") % 2 == 0
    assert result.out.count("{") == result.out.count("}")
