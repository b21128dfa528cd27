"""Parts, row groups, and files of records that are merged and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import Command, small_records

from bounds.errors import PairboundsError
from bounds.records import load_records
from inference import record_files
from inference.record_files import write_records
from inference.work import Done, Skip
from inference.writer import Parts, skipped_path

SCHEMA = pa.schema([("image_id", pa.string()), ("label", pa.int32())])


def rows(first: int, count: int) -> pa.Table:
    ids = range(first, first + count)
    return pa.table({"image_id": [str(i) for i in ids], "label": list(ids)}, schema=SCHEMA)


def test_equal_rows_give_equal_bytes_however_they_are_spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_files, "ROW_GROUP", 10)
    one, other = tmp_path / "one", tmp_path / "other"
    write_records([rows(0, 25)], one, SCHEMA, {"seed": "1", "tool": "x"})
    write_records([rows(0, 3), rows(3, 0), rows(3, 17), rows(20, 5)], other, SCHEMA, {"tool": "x", "seed": "1"})
    assert one.read_bytes() == other.read_bytes()
    file = pq.ParquetFile(one)
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [10, 10, 5]
    assert pq.read_table(one)["label"].to_pylist() == list(range(25))


def test_parts_in_any_order_become_one_file_with_its_table_of_skipped_images(tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    with Parts.of(out) as parts:
        parts.plan({"seed": "1"})
        assert parts.missing(3) == [0, 1, 2]
        parts.write(Done(2, rows(4, 1), (Skip("4b", "fog/1", "x/4b.png", 'half a "JPEG", 3 bytes'),)))
        parts.write(Done(0, rows(0, 2), ()))
        assert parts.missing(3) == [1]
        parts.write(Done(1, rows(2, 2), (Skip("2b", "", "x/2b.png", "empty"),)))
        skipped = parts.merge(3, SCHEMA)
        parts.remove()
    assert [skip.image_id for skip in skipped] == ["2b", "4b"]
    assert pq.read_table(out)["label"].to_pylist() == [0, 1, 2, 3, 4]
    assert pl.read_parquet_metadata(out)["seed"] == "1"
    table = pl.read_csv(skipped_path(out))
    assert table.columns == ["image_id", "condition", "path", "reason"]
    assert table.row(1) == ("4b", "fog/1", "x/4b.png", 'half a "JPEG", 3 bytes')
    assert sorted(path.name for path in tmp_path.iterdir()) == ["records.parquet", "records.skipped.csv"]


def test_the_plan_says_what_differs(tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    with Parts.of(out) as parts:
        parts.plan({"seed": "1", "batch": "8"})
        parts.plan({"seed": "1", "batch": "8"})
        parts.write(Done(0, small_records().to_arrow(), ()))
        with pytest.raises(PairboundsError, match="seed 1, now 2"):
            parts.plan({"seed": "2", "batch": "8"})
    with Parts.of(out, restart=True) as parts:
        assert parts.planned() is None


def test_a_run_that_failed_before_its_first_part_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    parts = Parts.of(out)
    parts.__enter__().plan({"seed": "1"})
    assert not parts.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert not list(tmp_path.iterdir())


def test_a_plan_without_a_part_gives_way_to_another(tmp_path: Path) -> None:
    """It was killed: it could not clear its folder away."""
    with Parts.of(tmp_path / "records.parquet") as parts:
        parts.plan({"seed": "1"})
        parts.plan({"seed": "2"})
        assert parts.planned() == {"seed": "2"}


def test_the_parts_are_held_by_one_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    with Parts.of(out), pytest.raises(PairboundsError, match="another run is writing it"), Parts.of(out):
        pass
    with Parts.of(out):
        pass


def write(path: Path, **columns: Any) -> Path:
    small_records(**columns).write_parquet(path)
    return path


def test_merged_files_are_read_as_the_files_are(tmp_path: Path, command: Command) -> None:
    first = write(tmp_path / "a.parquet")
    second = write(tmp_path / "b.parquet", model=pl.lit("other"), margin=pl.lit(0.5))
    out = tmp_path / "both.parquet"
    result = command("records", "merge", first, second, "--out", out, "--json")
    assert (result.code, result.json) == (0, {"out": str(out), "files": 2, "rows": 36})
    merged = pl.read_parquet(out)
    assert merged["margin"].null_count() == 18
    assert load_records(out).models == ("net", "other")
    for model in ("net", "other"):
        alone = load_records(first if model == "net" else second).evaluation(model, "fog/1")
        together = load_records(out).evaluation(model, "fog/1")
        assert (alone.clean.correct == together.clean.correct).all()
    assert command("records", "diff", out, out).out.endswith("equal\n")


@pytest.mark.parametrize(
    ("column", "one", "other", "apart"),
    [
        ("kind", "other", "recapture", 1),
        ("accepted", True, False, 1),
        ("logits", [0.5, 1.0], [0.5, 1.125], 0.125),
        ("logits", [0.5, 1.0], [0.5, 1.0, 2.0], 1),
        ("logits", [0.5, float("-inf")], [0.5, 1.0], 1),
        ("logits", [0.5, float("nan")], [0.5, 1.0], 1),
        ("probabilities", [0.5, 0.5], None, 1),
    ],
)
def test_other_columns_are_compared_too(
    column: str, one: Any, other: Any, apart: float, tmp_path: Path, command: Command
) -> None:
    def written(name: str, value: Any) -> Path:
        rows = [value if number == 3 else one for number in range(18)]
        small_records().with_columns(pl.Series(column, rows)).write_parquet(tmp_path / name)
        return tmp_path / name

    first, second = written("a.parquet", one), written("b.parquet", other)
    assert command("records", "diff", first, first).code == 0
    assert command("records", "diff", second, second).code == 0
    result = command("records", "diff", first, second, "--json")
    assert (result.code, result.json["others"][column]) == (1, 1)
    assert [row["what"] for row in result.json["examples"]] == [column]
    if apart < 1:
        assert command("records", "diff", first, second, "--tolerance", apart).code == 0
        assert command("records", "diff", first, second, "--tolerance", 0.9 * apart).code == 1
    assert f"differing: 1 in {column}" in command("records", "diff", first, second).out
    plain = write(tmp_path / "c.parquet")
    assert f"not compared, in one file only: {column}" in command("records", "diff", first, plain).out


def test_provenance_that_differs_is_kept_with_its_file(tmp_path: Path) -> None:
    paths = []
    for name, model in (("a", "net"), ("b", "other")):
        table = small_records(model=pl.lit(model)).to_arrow().replace_schema_metadata({"tool": "x", "model": model})
        paths.append(tmp_path / f"{name}.parquet")
        pq.write_table(table, paths[-1])
    record_files.merge(paths, tmp_path / "both.parquet")
    kept = load_records(tmp_path / "both.parquet").provenance
    assert kept["tool"] == "x"
    assert "net" in kept["model"]
    assert "b.parquet" in kept["model"]


def test_what_cannot_be_merged_is_refused(tmp_path: Path, command: Command) -> None:
    first, out = write(tmp_path / "a.parquet"), tmp_path / "out.parquet"
    line = command("records", "merge", first, first, "--out", out).refused()
    assert "18 rows occur more than once: (net, clean, a), " in line
    small_records(model=pl.lit("csv")).write_csv(tmp_path / "c.csv")
    assert "not all Parquet" in command("records", "merge", first, tmp_path / "c.csv", "--out", out).refused()
    other = write(tmp_path / "d.parquet", model=pl.lit("d"), confidence=pl.col("confidence").cast(pl.String))
    assert command("records", "merge", first, other, "--out", out).code == 2
    assert "is the same file" in command("records", "merge", first, "--out", first).refused()
    assert not out.exists()


def test_a_difference_is_found_counted_and_shown(tmp_path: Path, command: Command) -> None:
    first = write(tmp_path / "a.parquet")
    changed = small_records().with_row_index()
    changed = changed.with_columns(
        predicted=pl.when(pl.col("index") == 1).then(1).when(pl.col("index") != 4).then("predicted"),
        confidence=pl.when(pl.col("index") == 2).then(pl.col("confidence") + 0.125).otherwise("confidence"),
        true_probability=pl.when(pl.col("index") == 3).then(None).otherwise("true_probability"),
    )
    second = tmp_path / "b.parquet"
    changed.filter(pl.col("index") != 0).drop("index").write_parquet(second)
    result = command("records", "diff", first, second, "--json")
    found = result.json
    assert (result.code, found["equal"]) == (1, False)
    assert (found["first_only"], found["second_only"], found["common"]) == (1, 0, 17)
    assert (found["labels"], found["predictions"], found["confidence"]) == (0, 2, 0.125)
    assert [row["what"] for row in found["examples"]] == [
        "only in the first",
        "predicted",
        "confidence",
        "true_probability",
        "predicted",
    ]
    second = write(tmp_path / "c.parquet", confidence=pl.col("confidence") + 0.125)
    assert "--tolerance nan: is no number" in command("records", "diff", first, second, "--tolerance", "nan").refused()
    assert command("records", "diff", first, second, "--tolerance", "0.126").code == 0
    assert command("records", "diff", first, second, "--tolerance", "0.1").code == 1
