"""Lists of names and where results go."""

from __future__ import annotations

import math

import pytest

from bounds.cli_options import chosen, json_text, note, progress, split
from bounds.errors import PairboundsError

KNOWN = ["clean", "fog/1", "fog/3", "a,b"]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["fog/1"], ["fog/1"]),
        (["fog/3,fog/1"], ["fog/3", "fog/1"]),
        (["fog/3", "fog/1 , fog/3"], ["fog/3", "fog/1"]),
        (["a,b"], ["a,b"]),
        (["all"], KNOWN),
    ],
)
def test_lists_repeat_take_commas_and_all(values: list[str], names: list[str]) -> None:
    assert chosen("--perturbed", values, KNOWN) == names


@pytest.mark.parametrize("values", [["fog/1,all"], ["all", "fog/9"]])
def test_all_stands_alone(values: list[str]) -> None:
    with pytest.raises(PairboundsError, match=r"--perturbed 'all': cannot go with fog/.; give all, or the names"):
        chosen("--perturbed", values, KNOWN)


@pytest.mark.parametrize("value", ["fog/2", "", "fog/1,", "ALL"])
def test_an_unknown_name_is_told_with_those_near_it(value: str) -> None:
    with pytest.raises(PairboundsError, match="unknown; choose among") as caught:
        chosen("--perturbed", [value], KNOWN)
    assert caught.value.value in split([value])
    assert "fog/1" in caught.value.line


def test_a_long_list_of_names_is_cut() -> None:
    known = [f"condition{c}" for c in range(100)]
    with pytest.raises(PairboundsError, match="condition29 …, or all"):
        chosen("--perturbed", ["xyz"], known)


def test_json_has_one_element_a_line_and_no_nan() -> None:
    assert json_text([{"a": 1}, {"a": None}]) == '[\n{"a": 1},\n{"a": null}\n]'
    assert json_text([]) == "[]"
    with pytest.raises(ValueError, match="Out of range float"):
        json_text([{"a": math.nan}])


def test_progress_passes_every_task_on() -> None:
    assert list(progress(iter(range(5)), lambda: 5, "tasks")) == [0, 1, 2, 3, 4]


def test_a_note_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    note("quantities left out")
    assert capsys.readouterr() == ("", "pairbounds: note: quantities left out\n")
