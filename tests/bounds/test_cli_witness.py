"""`--witness FILE`: every end is attained by the pairs written for it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command import Command, write_small

from bounds.cli_witness import COLUMNS
from bounds.quantities import QUANTITIES
from bounds.records import load_records
from bounds.witness import value


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write_small(tmp_path / "records.parquet")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("method", ["auto", "milp"])
def test_every_end_is_attained_by_its_pairs(
    suffix: str, method: str, records: Path, out: Path, command: Command
) -> None:
    path = out / f"witness{suffix}"
    arguments = ("--perturbed", "fog/1", "--threshold", "0.8", "--method", method, "--witness", path, "--json")
    objects = command("bounds", records, *arguments).json
    read = pl.read_csv(path, infer_schema=False) if suffix == ".csv" else pl.read_parquet(path)
    assert read.columns == list(COLUMNS)
    evaluation = load_records(records).evaluation("net", "fog/1").at_threshold("0.8")
    ids = evaluation.clean.image_id.to_list()
    assert len(read) == len(objects) * 2 * len(ids)
    for interval, end in itertools.product(objects, ("lower", "upper")):
        rows = read.filter(quantity=interval["quantity"], knowledge=interval["knowledge"], end=end)
        assert rows["clean_image_id"].to_list() == ids
        match = np.array([ids.index(image) for image in rows["perturbed_image_id"]])
        denominator = interval["denominator"]["name"]
        attained = value(evaluation, match, QUANTITIES[interval["quantity"]], denominator, "micro")
        assert attained == Fraction(interval[f"{end}_exact"])
        assert rows["class"].to_list() == ["0"] * 3 + ["1"] * 3


def test_per_class_holds_the_rows_of_the_class(records: Path, out: Path, command: Command) -> None:
    path = out / "witness.parquet"
    arguments = ("--quantity", "lost", "--knowledge", "marginals", "--per-class", "--witness", path)
    assert command("bounds", records, "--perturbed", "fog/1", *arguments).code == 0
    read = pl.read_parquet(path)
    assert read.group_by("class", "end", maintain_order=True).agg("clean_image_id").rows() == [
        ("0", "lower", ["a", "b", "c"]),
        ("0", "upper", ["a", "b", "c"]),
        ("1", "lower", ["d", "e", "f"]),
        ("1", "upper", ["d", "e", "f"]),
    ]
    assert set(read["perturbed_image_id"][:3]) == {"a", "b", "c"}


def test_ends_that_do_not_exist_have_no_pairs(tmp_path: Path, out: Path, command: Command) -> None:
    path = write_small(tmp_path / "wrong.parquet", predicted=9)
    result = command("bounds", path, "--perturbed", "fog/1", "--threshold", "0.8", "--witness", out / "w.csv", "--json")
    assert {(o["lower"], o["undefined"]) for o in result.json} == {(None, "0 retained-correct images")}
    assert (out / "w.csv").read_text() == ",".join(COLUMNS) + "\n"
