"""`pairbounds audit`: exit codes, streams and tables; the verdicts themselves are tested with `bounds.audit`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command import Command, process, small_records, write_small

HEADER = "claim_id,model,clean,perturbed,quantity,knowledge,threshold,average,denominator,lower,upper,unit\n"
ROW = "{},net,clean,fog/1,lost-acceptance,{},0.8,micro,retained-correct,{},{}\n"

SHARP = ROW.format("sharp", "correct-correct", "0.5", "1.0,fraction")
LOOSE = ROW.format("loose", "correct-correct", "25%", "100%,")
INVALID = ROW.format("invalid", "marginals", "0.5", "1.0,fraction")
POSSIBLE = ROW.format("possible", "correct-correct", "0.50", ",fraction")
IMPOSSIBLE = ROW.format("impossible", "correct-correct", "0.20", ",fraction")
BAD = ROW.format("bad", "correct-correct", "a half", "1.0,fraction")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_small(tmp_path / "records.parquet")


def claims(folder: Path, *rows: str) -> Path:
    path = folder / "claims.csv"
    path.write_text(HEADER + "".join(rows))
    return path


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([SHARP, LOOSE, POSSIBLE], 0),
        ([SHARP, INVALID], 1),
        ([IMPOSSIBLE], 1),
        ([SHARP, BAD, INVALID], 2),
        ([], 0),
    ],
)
def test_the_exit_code_tells_whether_the_claims_hold(
    rows: list[str], code: int, tmp_path: Path, records: Path, command: Command
) -> None:
    result = command("audit", claims(tmp_path, *rows), "--records", records, "--json")
    assert (result.code, result.err) == (code, "")
    names = [row.partition(",")[0] for row in rows]
    assert [(v["claim_id"], v["verdict"]) for v in result.json] == [
        (name, "error" if name == "bad" else name) for name in names
    ]


def test_json_has_the_keys_of_the_contract(tmp_path: Path, records: Path, command: Command) -> None:
    (verdict,) = command("audit", claims(tmp_path, INVALID), "--records", records, "--json").json
    assert list(verdict) == ["claim_id", "verdict", "reported", "exact", "excess", "witness", "reason"]
    assert verdict["reported"] == {"lower": "0.5", "upper": "1.0", "unit": "fraction"}
    assert (verdict["exact"]["lower"], verdict["exact"]["upper"]) == ("0/1", "1/1")
    assert sorted(pair[0] for pair in verdict["witness"]["pairs"]) == ["a", "b", "c", "d", "e", "f"]


def test_the_table_for_people_is_in_the_unit_reported(tmp_path: Path, records: Path, command: Command) -> None:
    result = command("audit", claims(tmp_path, SHARP, LOOSE, POSSIBLE), "--records", records)
    assert result.code == 0
    rows = [line.split() for line in result.out.splitlines() if not line.startswith(" ")]
    assert rows[2][:6] == ["sharp", "[0.5,", "1.0]", "fraction", "[0.5000,", "1.0000]"]
    assert rows[3][:6] == ["loose", "[25%,", "100%]", "[50.00,", "100.00]", "loose"]
    assert rows[4][:5] == ["possible", "0.50", "fraction", "[0.5000,", "1.0000]"]


def test_csv_parquet_and_latex(tmp_path: Path, records: Path, command: Command) -> None:
    base: tuple[Any, ...] = ("audit", claims(tmp_path, SHARP, INVALID), "--records", records, "--format")
    result = command(*base, "csv")
    assert result.code == 1
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["verdict"] for row in rows] == ["sharp", "invalid"]
    assert [row["witness_end"] for row in rows] == ["", "lower"]
    assert "witness_pairs" not in rows[0], "pairs belong into the JSON"
    assert command(*base, "parquet", "--out", tmp_path / "v.parquet").code == 1
    table = pl.read_parquet(tmp_path / "v.parquet")
    assert table.columns == list(rows[0])
    assert table["exact_lower"].to_list() == ["1/2", "0/1"]
    assert r"\toprule" in command(*base, "latex").out


def test_columns_and_types_do_not_depend_on_the_claims(tmp_path: Path, records: Path, command: Command) -> None:
    headers, schemas = [], []
    for rows in ([SHARP, INVALID, POSSIBLE], [BAD], [BAD, SHARP], []):
        base: tuple[Any, ...] = ("audit", claims(tmp_path, *rows), "--records", records, "--format")
        headers.append(command(*base, "csv").out.splitlines()[0])
        command(*base, "parquet", "--out", tmp_path / "v.parquet")
        schemas.append(pl.read_parquet_schema(tmp_path / "v.parquet"))
    assert headers == [",".join(schemas[0])] * 4
    assert schemas == [schemas[0]] * 4
    assert list(schemas[0])[:2] == ["claim_id", "verdict"]
    assert (schemas[0]["exact_lower"], schemas[0]["exact_lower_float"]) == (pl.String, pl.Float64)


def test_no_claims_are_told(tmp_path: Path, records: Path, command: Command) -> None:
    result = command("audit", claims(tmp_path), "--records", records)
    assert (result.code, result.out, result.err) == (0, "0 claims\n", "")


def test_control_characters_of_a_claim_are_shown_escaped(tmp_path: Path, records: Path, command: Command) -> None:
    path = claims(tmp_path, SHARP.replace("sharp", "odd\x1b\x07"), BAD.replace("a half", "a\x1bhalf"))
    for more in ((), ("--format", "latex")):
        shown = command("audit", path, "--records", records, *more).out
        assert all(character.isprintable() or character == "\n" for character in shown)
        assert r"odd\x1b\x07" in shown.replace(r"\textbackslash{}", "\\")


@pytest.mark.parametrize("which", ["CLAIMS", "--records"])
def test_an_output_that_is_an_input_is_refused(which: str, tmp_path: Path, records: Path, command: Command) -> None:
    path = claims(tmp_path, SHARP)
    target = {"CLAIMS": path, "--records": records}[which]
    before = target.read_bytes()
    line = command("audit", path, "--records", records, "--format", "csv", "--out", target).refused()
    assert f"--out '{target}': is the same file as {which} '{target}'; name another file" in line
    assert target.read_bytes() == before


def test_records_repeat_and_strata_are_passed_on(tmp_path: Path, command: Command) -> None:
    parts = []
    for condition in ("clean", "fog/1"):
        parts.append(tmp_path / f"{condition[:3]}.parquet")
        small_records(pool=pl.lit("all")).filter(pl.col("condition") == condition).write_parquet(parts[-1])
    arguments = ("--records", parts[0], "--records", parts[1], "--strata", "pool", "--json")
    (verdict,) = command("audit", claims(tmp_path, SHARP), *arguments).json
    # One pool: A = 4, A1 = 3, B = 3, B0 = 2, k = 2, so that lost is from max(0, 2 - 1 - 1) to min(3, 2, 2).
    assert (verdict["exact"]["lower"], verdict["exact"]["upper"]) == ("0/1", "1/1")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("absent.csv", None),
        ("empty.csv", ""),
        ("columns.csv", "claim_id,lower\na,1\n"),
        ("semicolons.csv", HEADER.replace(",", ";")),
    ],
)
def test_claims_that_cannot_be_read_are_one_line(
    name: str, content: str | None, tmp_path: Path, records: Path, command: Command
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    arguments = ("--records", records, "--format", "csv", "--out", tmp_path / "out.csv")
    command("audit", tmp_path / name, *arguments).refused()
    assert not (tmp_path / "out.csv").exists()


def test_records_that_cannot_be_read_are_one_line(tmp_path: Path, command: Command) -> None:
    command("audit", claims(tmp_path, SHARP), "--records", tmp_path / "absent.parquet").refused()
    assert "Missing option '--records'" in command("audit", claims(tmp_path, SHARP)).refused()


def test_the_exit_code_reaches_the_shell(tmp_path: Path, records: Path) -> None:
    result = process("audit", claims(tmp_path, INVALID), "--records", records, "--json")
    assert (result.code, result.err) == (1, "")
    assert result.json[0]["verdict"] == "invalid"
