"""`pairbounds derive`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from command import Command

C3 = ("derive", "lost-acceptance", "--knowledge", "correct-correct")


@pytest.fixture(autouse=True)
def z3(require: Callable[[str, bool, str], None]) -> None:
    require("z3", find_spec("z3") is not None, "not installed")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`pairbounds` in this process."""
    return Command(capsys)


def test_the_form_for_people(command: Command) -> None:
    done = command(*C3)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "lost-acceptance at correct-correct, one class, a count of pairs"
    assert "least = max(0, k - A0 - B1)" in lines
    assert "greatest = min(A1, B0, k)" in lines
    assert "  B0: rejected perturbed records that are correct" in lines


def test_the_object(command: Command) -> None:
    found = command(*C3, "--json").json
    assert (found["quantity"], found["knowledge"], found["labels"]) == ("lost-acceptance", "correct-correct", 1)
    assert [end["text"] for end in found["ends"]] == ["max(0, k - A0 - B1)", "min(A1, B0, k)"]
    assert [end["status"] for end in found["ends"]] == ["exact", "exact"]
    assert found["ends"][1]["latex"] == r"\min(A_{1}, B_{0}, k)"
    assert set(found["symbols"]) == {"A1", "A0", "B1", "B0", "k"}


def test_the_function_runs(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "form.py"
    assert command(*C3, "--format", "python", "--out", path).code == 0
    space: dict[str, object] = {}
    exec(compile(ast.parse(path.read_text()), "form.py", "exec"), space)
    function = space["lost_acceptance_at_correct_correct"]
    assert callable(function)
    assert function(A1=3, A0=2, B1=2, B0=2, k=4) == (0, 2)
    assert "Least: exact" in str(function.__doc__)


def test_latex(command: Command) -> None:
    out = command(*C3, "--format", "latex").out
    assert out.splitlines()[0] == r"\[ \min = \max(0, k - A_{0} - B_{1}) \] % exact"


def test_what_is_not_decided_exits_with_one(command: Command) -> None:
    done = command("derive", "kept-accepted-error", "--knowledge", "five-state", "--limit", "0.5", "--json")
    assert done.code == 1
    assert "exact" not in {end["status"] for end in done.json["ends"]}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("lst", "--knowledge", "marginals"), "unknown"),
        (("lost", "--knowledge", "paired"), "one class"),
        (("lost", "--knowledge", "marginals", "--labels", "2"), "does not depend"),
        (("lost", "--knowledge", "marginals", "--limit", "0"), "limit"),
        (("lost",), "knowledge"),
        (("lost", "--knowledge", "marginals", "--json", "--format", "latex"), "cannot go with --json"),
        (("lost", "--knowledge", "marginals", "--out", "nowhere/x.py"), "no folder"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], told: str, command: Command) -> None:
    assert told in command("derive", *arguments).refused()
