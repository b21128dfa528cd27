"""`pairbounds sampling`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from command import Command

from bounds.cli_sampling import COLUMNS
from bounds.sampling import METHODS


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes of 60 images under fog."""
    rows = []
    for image in range(120):
        for condition, right, confidence in (
            ("clean", image % 5 > 0, 0.5 + (image % 7) / 14),
            ("fog", image % 3 > 0, 0.4 + (image % 11) / 22),
        ):
            label = image % 2
            predicted = label if right else 1 - label
            rows.append(
                {"condition": condition, "image_id": f"{image}", "label": label, "predicted": predicted}
                | {
                    "confidence": confidence,
                    "true_probability": confidence if right else min(confidence, 1 - confidence) / 2,
                }
            )
    path = tmp_path_factory.mktemp("sampling") / "records.parquet"
    pl.DataFrame(rows).write_parquet(path)
    return path


def ask(records: Path, *more: object) -> tuple[object, ...]:
    return ("sampling", records, "--perturbed", "fog", "--resamples", 200, *more)


def test_the_object(records: Path, command: Command) -> None:
    arguments = ask(
        records, "--quantity", "lost-acceptance", "--knowledge", "marginals", "--threshold", "0.7", "--json"
    )
    (found,) = command(*arguments, "--level", "0.9", "--seed", 3).json
    assert [one["name"] for one in found["confidence"]] == list(METHODS)
    assert {one["name"]: one["covers"] for one in found["confidence"]} == {
        **dict.fromkeys(("normal", "percentile", "robust"), "interval"),
        **dict.fromkeys(("imbens-manski", "stoye"), "value"),
    }
    exact = command("bounds", *arguments[1:4], *arguments[6:]).json[0]
    assert found["identified"] == {end: exact[end] for end in ("lower", "upper")}
    assert (found["level"], found["seed"], found["resamples"], found["drawn"]) == (0.9, 3, 200, "images")
    assert found["threshold"] == "0.7"
    assert command(*arguments, "--level", "0.9", "--seed", 3).json == [found]


def test_what_all_cannot_mean_is_told(records: Path, command: Command) -> None:
    done = command(*ask(records, "--threshold", "0.7", "--json"))
    kinds = {(one["quantity"], one["knowledge"]) for one in done.json}
    assert len(kinds) == 13
    assert ("mean-probability-decrease", "marginals") not in kinds
    assert done.err.count("left out, mean-probability-decrease at") == 2


def test_the_tables(records: Path, tmp_path: Path, command: Command) -> None:
    arguments = ask(records, "--quantity", "flips,lost", "--knowledge", "marginals,paired")
    out = command(*arguments).out
    assert "identified: over the correspondences of these images" in out
    assert "confidence 0.95, 200 resamples, images drawn within their classes" in out
    rows = list(csv.DictReader(io.StringIO(command(*arguments, "--format", "csv").out)))
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == 4 * len(METHODS)
    command(*arguments, "--format", "parquet", "--out", tmp_path / "t.parquet")
    table = pl.read_parquet(tmp_path / "t.parquet")
    assert table.columns == list(COLUMNS)
    assert [str(kind) for kind in table.dtypes].count("Float64") == 5
    assert r"\toprule" in command(*arguments, "--format", "latex").out


def test_sides_without_common_ids(records: Path, command: Command) -> None:
    arguments = ask(records, "--quantity", "flips", "--unpaired")
    done = command(*arguments, "--json")
    assert [(one["knowledge"], one["drawn"]) for one in done.json] == [("marginals", "sides")]
    assert "each side drawn by itself" in command(*arguments).out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--quantity", "persistent-wrong", "--knowledge", "marginals"), "has no sampling interval at marginals"),
        (("--quantity", "mean-probability-decrease", "--knowledge", "marginals"), "that of a single pair"),
        (("--quantity", "lost", "--denominator", "none"), "a population has shares"),
        (("--quantity", "flips", "--unpaired", "--knowledge", "correct-correct"), "needs the count"),
        (("--quantity", "lost-acceptance"), "needs acceptance"),
        (("--quantity", "lost", "--level", "1"), "--level '1'"),
        (("--quantity", "lost", "--level", "95%"), "--level '95%'"),
        (("--quantity", "lost", "--resamples", "5"), "fewer than 100"),
        (("--quantity", "lost", "--resamples", "10000001"), "fit into memory"),
        (("--quantity", "lost", "--seed", "-1"), "seed -1"),
        (("--quantity", "nothing"), "nothing"),
        (("--knowledge", "much"), "much"),
        (("--quantity", "lost", "--threshold", "1.5"), "1.5"),
    ],
)
def test_what_is_refused(more: tuple[str, ...], told: str, records: Path, command: Command) -> None:
    assert told in command(*ask(records, *more)).refused()
