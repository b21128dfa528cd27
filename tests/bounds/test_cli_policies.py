"""`pairbounds policies` on records that can be worked out by hand, and on input that it refuses."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest
from command import Command

POLICIES = """
[[policy]]
name = "P"
threshold = "0.5"
preset = { lost-acceptance = 1, new-accepted-error = 2 }

[[policy]]
name = "Q"
threshold = "0.8"
preset = { lost-acceptance = 1, new-accepted-error = 2 }

[[policy]]
name = "R"
threshold = "0.8"
preset = "rejection"
"""

CLEAN = [(0, 0.6), (0, 0.6), (1, 0.9)]
FOG = [(0, 0.2), (1, 0.2), (1, 0.9)]
SNOW = [(0, 0.9), (0, 0.2), (1, 0.9)]


def rows(model: str, condition: str, side: list[tuple[int, float]], ids: str = "abc") -> list[dict[str, object]]:
    return [
        {
            "model": model,
            "condition": condition,
            "image_id": image,
            "label": 0,
            "predicted": predicted,
            "confidence": confidence,
            "chosen": confidence > 0.5,
        }
        for image, (predicted, confidence) in zip(ids, side, strict=True)
    ]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Claim C9's example as the condition fog/3, and another one."""
    path = tmp_path / "records.parquet"
    pl.DataFrame(
        [row for c, side in (("clean", CLEAN), ("fog/3", FOG), ("snow/2", SNOW)) for row in rows("net", c, side)]
    ).write_parquet(path)
    return path


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """Two models; `two` has another image and no snow."""
    path = tmp_path / "both.parquet"
    found = [row for c, side in (("clean", CLEAN), ("fog/3", FOG), ("snow/2", SNOW)) for row in rows("one", c, side)]
    found += [row for c, side in (("clean", CLEAN), ("fog/3", FOG)) for row in rows("two", c, side[::-1], "bcd")]
    pl.DataFrame(found).write_parquet(path)
    return path


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    path = tmp_path / "policies.toml"
    path.write_text(POLICIES)
    return path


def test_c9_in_the_json_of_the_contract(policies: Path, records: Path, command: Command) -> None:
    result = command("policies", policies, records, "--perturbed", "fog/3", "--json")
    assert (result.code, result.err) == (0, "")
    assert list(result.json) == ["policies", "pairs"]
    scope = {"clean": "clean", "perturbed": "fog/3", "knowledge": "correct-correct", "images": 3}
    assert result.json["policies"][0] == {
        "name": "P",
        "model": "net",
        "lower": 1 / 3,
        "upper": 1.0,
        "lower_exact": "1/3",
        "upper_exact": "1/1",
        "sharp": True,
        **scope,
        "unmatched": {"clean": 0, "perturbed": 0},
        "unusable": 0,
        "not_shared": 0,
    }
    assert result.json["pairs"][0] == {
        "first": "P",
        "second": "Q",
        "lower": 1 / 3,
        "upper": 1 / 3,
        "lower_exact": "1/3",
        "upper_exact": "1/3",
        "sharp": True,
        "ordered": "shared",
        "relation": ">",
        "witnesses": [],
        **scope,
    }
    # R rejects two of three, under whatever correspondence; P costs 1/3 to 1, so it may cost less or more.
    assert [(pair["first"], pair["second"], pair["ordered"]) for pair in result.json["pairs"]] == [
        ("P", "Q", "shared"),
        ("P", "R", "unresolved"),
        ("Q", "R", "separate"),
    ]
    assert [
        {key: Fraction(witness[f"{key}_exact"]) for key in ("difference", "first", "second")}
        for witness in result.json["pairs"][1]["witnesses"]
    ] == [
        {"difference": Fraction(-1, 3), "first": Fraction(1, 3), "second": Fraction(2, 3)},
        {"difference": Fraction(1, 3), "first": 1, "second": Fraction(2, 3)},
    ]


def test_witnesses_are_correspondences_that_order_the_pair_either_way(
    policies: Path, records: Path, command: Command, out: Path
) -> None:
    for name in ("w.csv", "w.parquet"):
        result = command("policies", policies, records, "--perturbed", "fog/3", "--witness", out / name, "--json")
        assert (result.code, result.err) == (0, "")
        found = pl.read_csv(out / name) if name == "w.csv" else pl.read_parquet(out / name)
        assert found.columns[:5] == ["perturbed", "knowledge", "first", "second", "cheaper"]
        assert found["cheaper"].to_list() == ["P"] * 3 + ["R"] * 3
        clean = {row["image_id"]: row for row in rows("net", "clean", CLEAN)}
        fog = {row["image_id"]: row for row in rows("net", "fog/3", FOG)}
        for cheaper, cost in (("P", 1), ("R", 3)):
            pairs = found.filter(pl.col("cheaper") == cheaper).select("clean_image_id", "perturbed_image_id").rows()
            assert sorted(x for x, _ in pairs) == sorted(y for _, y in pairs) == ["a", "b", "c"]
            total = 0
            for x, y in ((clean[x], fog[y]) for x, y in pairs):
                accepted = x["confidence"] >= 0.5, y["confidence"] >= 0.5
                total += x["predicted"] == y["predicted"] == 0 and accepted == (True, False)
                total += 2 * (y["predicted"] == 1 and accepted[1] and not (x["predicted"] == 1 and accepted[0]))
            assert total == cost


def test_each_condition_and_level_is_a_comparison(policies: Path, records: Path, command: Command) -> None:
    result = command("policies", policies, records, "--perturbed", "all", "--knowledge", "paired,marginals", "--json")
    assert [(row["name"], row["perturbed"], row["knowledge"]) for row in result.json["policies"]] == [
        (name, condition, level)
        for condition in ("fog/3", "snow/2")
        for level in ("paired", "marginals")
        for name in ("P", "Q", "R")
    ]
    assert len(result.json["pairs"]) == 12


def test_the_table_for_people(policies: Path, records: Path, command: Command) -> None:
    lines = command("policies", policies, records, "--perturbed", "fog/3").out.splitlines()
    assert lines[0] == "net: clean → fog/3, known: correct-correct, 3 images in 1 class"
    assert lines[3].split() == ["P", "net", "0.3333", "1.0000", "sharp"]
    assert lines[9].split() == ["P", ">", "Q", "0.3333", "0.3333", "sharp", "shared"]
    assert lines[10].split() == ["P", "?", "R", "-0.3334", "0.3334", "sharp", "unresolved"]
    assert lines[12] == (
        "3 pairs: 1 ordered by their separate intervals, 1 by the shared correspondence only, 1 unresolved"
    )


def test_a_name_breaks_no_row(policies: Path, records: Path, command: Command) -> None:
    policies.write_text(policies.read_text().replace('"P"', r'"P\n\u001b[31m"'))
    for more in ((), ("--format", "latex")):
        shown = command("policies", policies, records, "--perturbed", "fog/3", *more).out
        assert all(character.isprintable() or character == "\n" for character in shown)
        lines = shown.replace(r"\textbackslash{}", "\\").splitlines()
        assert len([line for line in lines if r"P\n\x1b[31m" in line and "net" in line]) == 1


def test_one_policy_has_no_pairs(policies: Path, records: Path, command: Command) -> None:
    policies.write_text(POLICIES[: POLICIES.index("[[policy]]", 5)])
    result = command("policies", policies, records, "--perturbed", "fog/3")
    assert "pairs" not in result.out
    assert command("policies", policies, records, "--perturbed", "fog/3", "--json").json["pairs"] == []


def test_tables_carry_policies_and_pairs(policies: Path, records: Path, command: Command, out: Path) -> None:
    options = ("policies", policies, records, "--perturbed", "fog/3", "--format")
    found = list(csv.DictReader(io.StringIO(command(*options, "csv").out)))
    assert [(row["row"], row["name"], row["first"], row["lower_exact"]) for row in found[:4]] == [
        ("policy", "P", "", "1/3"),
        ("policy", "Q", "", "0/1"),
        ("policy", "R", "", "2/3"),
        ("pair", "", "P", "1/3"),
    ]
    command(*options, "parquet", "--out", out / "t.parquet")
    assert pl.read_parquet(out / "t.parquet")["row"].to_list() == ["policy"] * 3 + ["pair"] * 3
    latex = command(*options, "latex").out
    assert latex.count(r"\begin{tabular}") == 2
    assert "fog/3" in latex


def test_two_models_are_compared_on_their_common_images(policies: Path, both: Path, command: Command) -> None:
    text = POLICIES.replace('name = "P"', 'name = "P"\nmodel = "one"').replace(
        'name = "Q"', 'name = "Q"\nmodel = "two"'
    )
    policies.write_text(text[: text.index('[[policy]]\nname = "R"')])
    result = command("policies", policies, both, "--perturbed", "all", "--json")
    assert [(row["name"], row["model"], row["images"], row["not_shared"]) for row in result.json["policies"]] == [
        ("P", "one", 2, 1),
        ("Q", "two", 2, 1),
    ]
    assert {row["perturbed"] for row in result.json["pairs"]} == {"fog/3"}
    assert (
        "images of two left out: 1 not of the other models"
        in command("policies", policies, both, "--perturbed", "all").out
    )


def test_policies_without_a_model_are_compared_on_each(policies: Path, both: Path, command: Command) -> None:
    result = command("policies", policies, both, "--model", "all", "--perturbed", "fog/3", "--json")
    assert [row["model"] for row in result.json["policies"]] == ["one"] * 3 + ["two"] * 3


def test_any_column_says_what_is_accepted(policies: Path, records: Path, command: Command) -> None:
    policies.write_text('[[policy]]\nname = "C"\naccepted_column = "chosen"\npreset = "rejection"\n')
    result = command("policies", policies, records, "--perturbed", "fog/3", "--json")
    assert result.json["policies"][0]["lower_exact"] == "2/3"
    policies.write_text('[[policy]]\nname = "C"\naccepted_column = "absent"\npreset = "rejection"\n')
    assert "columns 'absent': missing from" in command("policies", policies, records, "--perturbed", "fog/3").refused()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--perturbed", "rain/1"), "--perturbed 'rain/1': unknown; choose among fog/3, snow/2"),
        (("--perturbed", "fog/3", "--clean", "sunny"), "'sunny'"),
        (("--perturbed", "fog/3", "--model", "absent"), "--model 'absent': unknown"),
        (("--perturbed", "fog/3", "--knowledge", "some"), "--knowledge 'some': unknown"),
        (("--perturbed", "fog/3", "--plot", "x.gif"), "--plot 'x.gif': ends in none of"),
        (("--perturbed", "fog/3", "--witness", "x.txt"), "--witness 'x.txt': ends in none of"),
        ((), "Missing option '--perturbed'"),
    ],
)
def test_what_is_refused(
    policies: Path, records: Path, command: Command, options: tuple[str, ...], message: str
) -> None:
    assert message in command("policies", policies, records, *options).refused()


def test_policies_that_are_refused(policies: Path, records: Path, both: Path, command: Command) -> None:
    fog = ("--perturbed", "fog/3")
    assert (
        "policy 'P': model: names none, and the records hold 2; choose among one, two"
        in command("policies", policies, both, *fog).refused()
    )
    policies.write_text(POLICIES.replace("threshold", 'model = "net"\nthreshold'))
    assert (
        "--model 'net': every policy names its model; leave it out"
        in command("policies", policies, records, *fog, "--model", "net").refused()
    )
    policies.write_text("policy")
    assert "policies 'policies.toml': not TOML" in command("policies", policies, records, *fog).refused()
    assert "cannot be read" in command("policies", policies.with_name("absent.toml"), records, *fog).refused()


def test_the_order_is_drawn(
    policies: Path, records: Path, command: Command, out: Path, require: Callable[[str, bool, str], None]
) -> None:
    require("matplotlib", find_spec("matplotlib") is not None, "the order is drawn with it")
    for name in ("o.png", "o.svg", "o.pdf"):
        written = []
        for _ in range(2):
            assert command("policies", policies, records, "--perturbed", "all", "--plot", out / name).code == 0
            written.append((out / name).read_bytes())
        assert written[0] == written[1]
        assert len(written[0]) > 5_000
    picture = (out / "o.svg").read_text()
    assert all(text in picture for text in ("fog/3", "snow/2", "shared correspondence only"))
