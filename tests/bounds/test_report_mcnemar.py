"""McNemar's test of printed reports, against going through every table."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
import report_oracle
from command import Command
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.mcnemar import TESTS, p_value
from bounds.report import load_report
from bounds.report_mcnemar import report_mcnemar

LEVEL = Fraction(1, 20)
KEYS = ("clean-accuracy", "perturbed-accuracy", "retained-correct", "lost", "recovered", "flips", "persistent-wrong")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@settings(max_examples=80)
@given(
    images=st.integers(1, 9),
    table=st.lists(st.integers(0, 9), min_size=4, max_size=4),
    keys=st.sets(st.sampled_from(KEYS), min_size=1, max_size=3),
    digits=st.integers(0, 2),
)
def test_p_values_are_those_of_every_table(
    images: int, table: list[int], keys: set[str], digits: int, folder: Path
) -> None:
    """Rates of a real table, rounded; some statements leave one difference of the accuracies, some many."""
    kept, lost, recovered, _ = (count * images // max(1, sum(table)) for count in table)
    values = {
        "clean-accuracy": kept + lost,
        "perturbed-accuracy": kept + recovered,
        "retained-correct": kept,
        "lost": lost,
        "recovered": recovered,
        "flips": lost + recovered,
        "persistent-wrong": 0,
    }
    lines = [f"{key} = '{values[key] / images:.{digits}f}'" for key in sorted(keys)]
    (folder / "r.toml").write_text(f"images = {images}\n[[row]]\n" + "\n".join(lines) + "\n")
    (row,) = load_report(folder / "r.toml")
    sheet = row.sheet.to_dict()
    every = [
        (report_oracle.count(sheet, x, "lost", None), report_oracle.count(sheet, x, "recovered", None))
        for x in report_oracle.tables(sheet, row.given)
    ]
    found = report_mcnemar(row, LEVEL)
    assert found.reason is None
    assert found.pairs is not None
    sums = [b + c for b, c in every]
    assert found.pairs.ends == (min(sums), max(sums))
    assert [outcome.name for outcome in found.outcomes] == list(TESTS)
    for outcome in found.outcomes:
        p = [p_value(outcome.name, b, c) for b, c in every]
        assert outcome.p == (min(p), max(p))


ROWS = """
images = 100
[shared]
clean-accuracy = "0.92"
[[row]]
name = "fog"
perturbed-accuracy = "0.60"
[[row]]
name = "snow"
perturbed-accuracy = "0.88"
{}
"""


class TestCommand:
    def test_rows_with_one_clean_count_get_holm_too(self, tmp_path: Path, command: Command) -> None:
        (tmp_path / "r.toml").write_text(ROWS.format(""))
        fog, snow = command("audit-report", tmp_path / "r.toml", "--mcnemar", "0.05", "--json").json
        assert fog["mcnemar"]["discordant"] == {"lower": 32, "upper": 48}
        for test in fog["mcnemar"]["tests"]:
            assert (test["significant"], test["holm"]["significant"]) == ("always", "always")
            assert test["holm"]["lower"] == 2 * test["p"]["lower"]
        assert {test["significant"] for test in snow["mcnemar"]["tests"]} == {"never", "sometimes"}
        out = command("audit-report", tmp_path / "r.toml", "--mcnemar", "0.05").out
        assert "\nfog: McNemar's test over all tables, discordant 32 to 48\n" in out
        assert "after Holm" in out

    def test_further_statements_narrow_them(self, tmp_path: Path, command: Command) -> None:
        (tmp_path / "r.toml").write_text(ROWS.format('"flips/none" = "<= 4"'))
        _, snow = command("audit-report", tmp_path / "r.toml", "--mcnemar", "0.05", "--json").json
        exact = snow["mcnemar"]["tests"][0]
        assert exact["p"] == {"lower": 0.125, "upper": 0.125}

    def test_rows_that_cannot_hold_have_none_and_there_is_no_holm(self, tmp_path: Path, command: Command) -> None:
        (tmp_path / "r.toml").write_text(ROWS.format('"flips/none" = "3"'))
        fog, snow = command("audit-report", tmp_path / "r.toml", "--mcnemar", "0.05", "--json").json
        assert snow["mcnemar"] is None
        assert "holm" not in fog["mcnemar"]["tests"][0]

    def test_too_many_differences_are_not_looked_at(self, tmp_path: Path, command: Command) -> None:
        (tmp_path / "r.toml").write_text("images = 900\n[[row]]\nclean-correct = 500\n")
        (row,) = command("audit-report", tmp_path / "r.toml", "--mcnemar", "0.05", "--json").json
        assert row["mcnemar"]["reason"] == "the correct counts may differ by 901 numbers; at most 400 are tried"
        assert row["mcnemar"]["tests"] == []

    @pytest.mark.parametrize("level", ["0", "1", "x", "-1"])
    def test_another_level_is_refused(self, level: str, tmp_path: Path, command: Command) -> None:
        (tmp_path / "r.toml").write_text(ROWS.format(""))
        assert "mcnemar" in command("audit-report", tmp_path / "r.toml", f"--mcnemar={level}").refused()
