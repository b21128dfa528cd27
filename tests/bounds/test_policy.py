"""Policies in Python and in TOML files, and the one line of each file that cannot be used."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bounds.errors import PolicyError
from bounds.policy import PRESETS, Policy, load_policies, preset_cost
from bounds.quantities import QUANTITIES, STATES

POLICIES = """
[[policy]]
name = "one"
threshold = "0.80"
preset = "lost-acceptance"

[[policy]]
name = "two"
clean_threshold = 0.8
perturbed_threshold = 1
model = "resnet20"
preset = { lost-acceptance = 1, new-accepted-error = "2.5", rejection = 0.1 }

[[policy]]
name = "three"
accepted_column = "chosen"

[[policy.cost]]
state = "CW"
perturbed_accepted = true
value = 1e-1

[[policy.cost]]
state = "persistent-wrong"
clean_accepted = false
perturbed_accepted = true
value = "-0.3"

[[policy.cost]]
state = "changed-wrong"
value = 2
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policies.toml"


def refused(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError) as raised:
        load_policies(path)
    assert "\n" not in raised.value.line
    return raised.value.line


def test_a_file_is_read_as_written(path: Path) -> None:
    path.write_text(POLICIES, encoding="utf-8")
    one, two, three = load_policies(path)
    assert (one.name, one.thresholds, one.model, one.accepted_column) == ("one", ("0.80", "0.80"), None, None)
    assert (two.thresholds, two.model) == (("0.8", "1"), "resnet20")
    assert (three.thresholds, three.accepted_column) == (None, "chosen")
    assert one.cost.sum() == one.cost[0, 1, 0] == 1
    assert two.cost[0].tolist() == [[Fraction(1, 10), 0], [Fraction(11, 10), 0]]
    assert two.cost[1].tolist() == [[Fraction(1, 10), Fraction(5, 2)]] * 2
    assert three.cost[1].tolist() == [[0, Fraction(1, 10)]] * 2
    assert three.cost[3].tolist() == [[0, Fraction(-3, 10)], [0, 0]]
    assert three.cost[4].tolist() == [[2, 2], [2, 2]]
    assert three.cost[[0, 2]].sum() == 0


def test_a_number_of_many_digits_is_taken_as_written(path: Path) -> None:
    path.write_text('[[policy]]\nname = "x"\nthreshold = 0.5\npreset = { lost = 0.1000000000000000000001 }')
    assert load_policies(path)[0].cost[1, 0, 0] == Fraction("0.1000000000000000000001")


def test_presets_are_the_counts_and_what_the_perturbed_side_decides() -> None:
    assert set(PRESETS) == {q.name for q in QUANTITIES.values() if not q.probability} | {
        "accepted-error",
        "rejection",
        "rejected-correct",
    }
    for state, cells in zip(STATES, PRESETS["accepted-error"].tolist(), strict=True):
        assert cells == [[0, int(state in ("CW", "WS", "WD"))]] * 2
    for state, cells in zip(STATES, PRESETS["rejected-correct"].tolist(), strict=True):
        assert cells == [[int(state in ("CC", "WC")), 0]] * 2
    assert PRESETS["rejection"].tolist() == [[[1, 0], [1, 0]]] * 5


def test_numbers_are_exact_however_they_are_given() -> None:
    costs = [preset_cost({"lost": weight})[1, 0, 0] for weight in (0.1, "0.1", Decimal("0.1"), Fraction(1, 10))]
    assert set(costs) == {Fraction(1, 10)}
    cost = Policy("x", np.full((5, 2, 2), 0.1), threshold="0.5").cost
    assert cost.dtype == object
    assert set(cost.ravel().tolist()) == {Fraction(1, 10)}


@pytest.mark.parametrize(
    ("given_by", "shown"),
    [
        ({}, "policy 'x': acceptance is a threshold"),
        ({"threshold": "0.5", "accepted_column": "accepted"}, "policy 'x' 'threshold, accepted_column': "),
        ({"threshold": "0.5", "clean_threshold": "0.5"}, "policy 'x' 'threshold, clean_threshold': "),
        ({"clean_threshold": "0.5"}, "policy 'x' 'clean_threshold': "),
        ({"perturbed_threshold": "0.5", "accepted_column": "a"}, "policy 'x' 'perturbed_threshold, accepted_column': "),
        ({"threshold": "1.01"}, "policy 'x': threshold '1.01': a confidence lies in [0, 1]"),
        ({"threshold": "half"}, "policy 'x': threshold 'half': not a finite decimal number"),
        ({"clean_threshold": "0.5", "perturbed_threshold": "-1"}, "policy 'x': perturbed_threshold '-1': a confidence"),
    ],
)
def test_acceptance_is_given_once_and_well(given_by: dict[str, str], shown: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy("x", preset_cost("lost"), **given_by)
    assert raised.value.line.startswith(shown)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "nan", "1/3", True, None])
def test_a_cost_is_a_finite_decimal(value: object) -> None:
    with pytest.raises(PolicyError, match=r"preset lost .*: not a finite decimal number"):
        preset_cost({"lost": value})


HUGE = ("1e400", "-1e400", "1e9999999", "1e-9999999", "9" * 1001, "1e" + "9" * 30)


@pytest.mark.parametrize("value", [*HUGE, Decimal("1e9999999"), 10**400, Fraction(10**400, 3)])
def test_a_cost_has_an_exponent_in_reach(value: object, path: Path) -> None:
    """Beyond it sums are no floats, and exponents build integers of millions of digits."""
    with pytest.raises(PolicyError, match=r"preset lost .*: not (0 or between 1e-400 and 1e300 in size|a finite)"):
        preset_cost({"lost": value})
    written = str(value)
    if "/" not in written:
        line = refused(path, HEAD + "preset = { lost = " + written + " }")
        assert "not 0 or between" in line or "not TOML" in line


def test_a_cost_within_reach_is_exact() -> None:
    for value in ("1e299", "-1e299", "1e-399", "0e99999", Fraction(1, 10**400)):
        assert preset_cost({"lost": value})[1, 0, 0] == Fraction(value if value != "0e99999" else 0)


def test_integers_too_long_to_read_are_refused(path: Path) -> None:
    assert "not TOML" in refused(path, HEAD + "preset = { lost = " + "9" * 5000 + " }")


@pytest.mark.parametrize("value", HUGE)
def test_a_threshold_has_an_exponent_in_reach(value: str) -> None:
    with pytest.raises(PolicyError, match=r"threshold .*: not (0 or between|a finite)"):
        Policy("x", preset_cost("lost"), threshold=value)


def test_a_cost_has_twenty_cells() -> None:
    with pytest.raises(PolicyError, match=r"cost \[5, 2\]: needs shape \(5, 2, 2\)"):
        Policy("x", np.zeros((5, 2)), threshold="0.5")


HEAD = '[[policy]]\nname = "x"\nthreshold = "0.5"\n'
COST = "[[policy.cost]]\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "policies 'policies.toml': holds no [[policy]]"),
        ("policy = []", "policies 'policies.toml': holds no [[policy]]"),
        ("policy = 3", "policies 'policies.toml': holds no [[policy]]"),
        ("[policy]\nname = 'x'", "policies 'policies.toml': holds no [[policy]]"),
        ("[[policy]", "policies 'policies.toml': not TOML ("),
        ("[[rule]]", "policies: key 'rule': unknown; known are policy; write each policy under [[policy]]"),
        ("[[policy]]\nthreshold = 1", "policy 1: name: not a name"),
        ("[[policy]]\nname = 3", "policy 1: name '3': not a name"),
        ('[[policy]]\nname = " "', "policy 1: name ' ': not a name"),
        (HEAD + 'cutoff = 1\npreset = "lost"', "policy 'x': key 'cutoff': unknown; known are name, threshold,"),
        (HEAD, "policy 'x': its cost is a preset or [[policy.cost]] entries"),
        (HEAD + 'preset = "lost"\n' + COST, "policy 'x' 'preset, cost': its cost is a preset or"),
        (HEAD + 'preset = "loss"', "policy 'x': preset 'loss': unknown; choose among lost-acceptance,"),
        (HEAD + "preset = 3", "policy 'x': preset '3': not a name or a table of weights"),
        (HEAD + "preset = {}", "policy 'x': preset '{}': not a name or a table of weights"),
        (HEAD + "preset = { loss = 1 }", "policy 'x': preset 'loss': unknown"),
        (HEAD + "preset = { lost = inf }", "policy 'x': preset lost 'Infinity': not a finite decimal number"),
        (HEAD + 'preset = { lost = "much" }', "policy 'x': preset lost 'much': not a finite decimal number"),
        (HEAD + "cost = []", "policy 'x': cost: holds no entry"),
        (HEAD + "cost = 1", "policy 'x': cost: holds no entry"),
        (HEAD + COST + "value = 1", "policy 'x': cost 1: state: missing"),
        (HEAD + COST + "state = 'CC'", "policy 'x': cost 1: value: missing"),
        (
            HEAD + COST + "state = 'XX'\nvalue = 1",
            "policy 'x': cost 1: state 'XX': unknown; choose among CC (retained-",
        ),
        (HEAD + COST + "state = ['CC']\nvalue = 1", "policy 'x': cost 1: state \"['CC']\": unknown"),
        (HEAD + COST + "state = 'CC'\nvalue = nan", "policy 'x': cost 1: value 'NaN': not a finite decimal number"),
        (HEAD + COST + "state = 'CC'\nvalue = true", "policy 'x': cost 1: value 'True': not a finite decimal number"),
        (
            HEAD + COST + "state = 'CC'\nvalue = 1\nwhen = 2",
            "policy 'x': cost 1: key 'when': unknown; known are state,",
        ),
        (
            HEAD + COST + "state = 'CC'\nvalue = 1\nclean_accepted = 1",
            "policy 'x': cost 1: clean_accepted '1': neither true nor false",
        ),
        (
            HEAD + f"{COST}state = 'CC'\nvalue = 1\n{COST}state = 'retained-correct'\nclean_accepted = true\nvalue = 2",
            "policy 'x': cost 2 'retained-correct': gives a cell its cost a second time",
        ),
        ('[[policy]]\nname = "x"\nthreshold = true\npreset = "lost"', "policy 'x': threshold 'True': not a finite"),
        ('[[policy]]\nname = "x"\nthreshold = nan\npreset = "lost"', "policy 'x': threshold 'NaN': not a finite"),
        ('[[policy]]\nname = "x"\nthreshold = 80\npreset = "lost"', "policy 'x': threshold '80': a confidence lies"),
        ('[[policy]]\nname = "x"\naccepted_column = 3\npreset = "lost"', "policy 'x': accepted_column '3': not a name"),
        (HEAD + 'model = 3\npreset = "lost"', "policy 'x': model '3': not a name"),
        (HEAD + 'accepted_column = "a"\npreset = "lost"', "policy 'x' 'threshold, accepted_column': acceptance is a"),
        ((HEAD + 'preset = "lost"\n') * 2, "policy 'x': named twice"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(path: Path, text: str, shown: str) -> None:
    assert refused(path, text).startswith(shown)


def test_a_file_that_is_absent_or_not_text_is_refused(path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read: No such file"):
        load_policies(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="not TOML"):
        load_policies(path)
