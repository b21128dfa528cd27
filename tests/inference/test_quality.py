"""Calibration and detection: against numbers worked out by hand, a second library, and brute force."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from command import Command, write_small
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss
from torchmetrics.functional.classification import binary_auroc, multiclass_calibration_error

from bounds.errors import RecordError
from inference.outputs import OutputsFile
from inference.predictions import Kept, record_table
from inference.quality import SCORES, calibration_error, detection, fit_temperature, log_shares, quality

KEPT = {"logits": Kept(logits=True), "probabilities": Kept(probabilities=True), "nothing": Kept()}


def some_logits(images: int = 300, classes: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overconfident logits, and labels that are likelier where they are large."""
    draw = np.random.Generator(np.random.PCG64(seed))
    logits = draw.normal(0, 2, (images, classes)).astype(np.float32)
    labels = np.array([draw.choice(classes, p=np.exp(row)) for row in log_shares(logits.astype(float))])
    return 3 * logits, labels


def write(path: Path, kept: str = "logits", condition: str = "clean", seed: int = 0, images: int = 300) -> Path:
    logits, labels = some_logits(images, seed=seed)
    ids = [f"{condition}-{row}" for row in range(images)][::-1]
    table = record_table(
        logits, model="net", condition=condition, kind="clean" if condition == "clean" else "other", ids=ids,
        labels=[int(label) for label in labels], kept=KEPT[kept],
    )  # fmt: skip
    pl.DataFrame(table).write_parquet(path)
    return path


def numbers(path: Path, **options: Any) -> Any:
    return quality(OutputsFile(path).labelled("net", "clean"), **options)


HAND = pl.DataFrame(
    {
        "condition": "clean",
        "image_id": ["a", "b", "c", "d"],
        "label": [0, 1, 1, 2],
        "predicted": [0, 0, 1, 0],
        "probabilities": [[0.5, 0.25, 0.25], [0.75, 0.25, 0.0], [0.0, 1.0, 0.0], [0.5, 0.25, 0.25]],
    },
    schema_overrides={"probabilities": pl.List(pl.Float32)},
)


def test_numbers_worked_out_by_hand():
    found = quality(OutputsFile(HAND).labelled("model", "clean"))
    assert found.accuracy == 0.5
    assert found.mean_confidence == (0.5 + 0.75 + 1 + 0.5) / 4
    # Two rows at 0.5, one of them right; one at 0.75, wrong; one at 1, right.
    assert found.ece == (0 + 0.75 + 0) / 4
    assert found.nll == pytest.approx(-np.log(0.5 * 0.25 * 1 * 0.25) / 4)
    brier = [0.25 + 2 / 16, 9 / 16 + 9 / 16, 0, 0.25 + 1 / 16 + 9 / 16]
    assert found.brier == pytest.approx(sum(brier) / 4)
    assert found.reasons == {}


@pytest.mark.parametrize("kept", ["logits", "probabilities"])
def test_they_are_those_of_other_libraries(tmp_path, kept):
    found = numbers(write(tmp_path / "a.parquet", kept))
    logits, labels = some_logits()
    shares = torch.from_numpy(logits).double().softmax(1)
    other = multiclass_calibration_error(shares, torch.from_numpy(labels), 6, n_bins=15, norm="l1")
    assert found.ece == pytest.approx(float(other), abs=1e-6)
    assert found.nll == pytest.approx(log_loss(labels, shares.numpy(), labels=range(6)), abs=1e-6)
    hot = np.eye(6)[labels]
    assert found.brier == pytest.approx(np.square(shares.numpy() - hot).sum(axis=1).mean(), abs=1e-6)


def slow_calibration_error(confidence: np.ndarray, correct: np.ndarray, bins: int) -> float:
    total = 0.0
    for i in range(bins):
        inside = (confidence > i / bins) & (confidence <= (i + 1) / bins) | (confidence == 0) & (i == 0)
        if inside.any():
            total += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    return total


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.one_of(st.floats(0, 1), st.integers(0, 15).map(lambda i: i / 15)), st.booleans()), min_size=1)
)
def test_calibration_error_is_that_of_its_definition(rows):
    confidence, correct = (np.array(column) for column in zip(*rows, strict=True))
    expected = slow_calibration_error(confidence, correct, 15)
    assert calibration_error(confidence, correct) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kept", ["logits", "probabilities"])
def test_the_temperature_is_the_best_of_all(tmp_path, kept):
    """Against a fine grid, and against gradient descent in PyTorch; the same from logits and from probabilities."""
    path = write(tmp_path / "a.parquet", kept)
    fit = fit_temperature(OutputsFile(path).labelled("net", "clean"))
    assert fit.temperature is not None
    logits, labels = (torch.from_numpy(values) for values in some_logits())
    loss = torch.nn.functional.cross_entropy
    grid = np.linspace(0.5, 6, 2001)
    best = grid[np.argmin([float(loss(logits.double() / t, labels)) for t in grid])]
    assert fit.temperature == pytest.approx(best, abs=0.003)
    log_temperature = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.LBFGS([log_temperature], max_iter=100, tolerance_grad=1e-12, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        descent.zero_grad()
        value = loss(logits.double() / log_temperature.exp(), labels)
        value.backward()
        return value

    descent.step(step)
    assert fit.temperature == pytest.approx(float(log_temperature.detach().exp()), rel=1e-5)
    scaled = numbers(path, fit=fit)
    assert scaled.scaled_nll == pytest.approx(float(loss(logits.double() / fit.temperature, labels)), abs=1e-6)
    assert scaled.scaled_nll < scaled.nll
    assert scaled.scaled_ece < scaled.ece / 2


def of(logits: list[list[float]], labels: list[int]) -> Any:
    table = record_table(
        np.array(logits, np.float32), model="net", condition="clean", kind="clean",
        ids=[str(row) for row in range(len(labels))], labels=labels, kept=Kept(logits=True),
    )  # fmt: skip
    return OutputsFile(table).labelled("net", "clean")


@pytest.mark.parametrize(
    ("logits", "labels", "reason"),
    [
        ([[1, 0], [0, 2]], [0, 1], "every label has the largest score"),
        ([[1, 0], [0, 2]], [1, 0], "no likelier than under a uniform guess"),
        ([[1, 1], [1, 1]], [1, 0], "no likelier than under a uniform guess"),
    ],
)
def test_a_temperature_that_does_not_exist_has_its_reason(logits, labels, reason):
    outputs = of(logits, labels)
    fit = fit_temperature(outputs)
    assert fit.temperature is None
    assert reason in str(fit.reason)
    found = quality(outputs, fit)
    assert reason in found.reasons["temperature"]
    assert found.scaled_ece is found.scaled_nll is found.scaled_brier is None


def test_what_is_not_kept_is_missing_with_its_reason(tmp_path):
    bare = numbers(write(tmp_path / "a.parquet", "nothing"))
    whole = numbers(write(tmp_path / "b.parquet"))
    assert (bare.accuracy, bare.ece, bare.nll) == (whole.accuracy, pytest.approx(whole.ece), pytest.approx(whole.nll))
    assert bare.brier is None
    assert list(bare.reasons) == ["brier"]
    less = OutputsFile(HAND.drop("probabilities")).labelled("model", "clean")
    found = quality(less)
    assert found.accuracy == 0.5
    assert set(found.reasons) == {"mean_confidence", "ece", "nll", "brier"}


def test_names_as_labels(tmp_path):
    named = HAND.with_columns(
        *(pl.col(name).replace_strict({0: "cat", 1: "dog", 2: "ant"}).alias(name) for name in ("label", "predicted")),
        confidence=pl.Series([0.5, 0.75, 1.0, 0.5]), true_probability=pl.Series([0.5, 0.25, 1.0, 0.25]),
    )  # fmt: skip
    by_index, by_name = (quality(OutputsFile(table).labelled("model", "clean")) for table in (HAND, named))
    assert by_name.brier == pytest.approx(by_index.brier)
    assert by_name.nll == pytest.approx(by_index.nll)
    fit = fit_temperature(OutputsFile(named).labelled("model", "clean"))
    assert "labels are names" in str(fit.reason)


def test_an_impossible_label_has_infinite_loss_and_strict_json():
    wrong = HAND.with_columns(label=pl.Series([0, 2, 1, 2]))
    found = quality(OutputsFile(wrong).labelled("model", "clean"))
    assert found.nll is None
    assert found.reasons["nll"] == "infinite: the label has probability 0 in 1 rows"
    assert "a label has probability 0" in str(fit_temperature(OutputsFile(wrong).labelled("model", "clean")).reason)


def test_rows_without_a_prediction_are_left_out_and_counted():
    logits, labels = some_logits(20)
    logits[3, 2] = np.nan
    outputs = of(logits.tolist(), labels.tolist())
    rest = np.arange(20) != 3
    other = of(logits[rest].tolist(), labels[rest].tolist())
    assert (outputs.images, outputs.unusable) == (19, 1)
    assert quality(outputs).nll == pytest.approx(quality(other).nll)
    nothing = of([[np.nan, 0.0]], [0])
    assert quality(nothing).reasons["accuracy"] == "0 usable images"


def test_lists_that_do_not_go_with_the_rows_are_refused():
    with pytest.raises(RecordError, match="label 7: the probabilities are of the classes 0 to 2"):
        OutputsFile(HAND.with_columns(label=pl.Series([0, 7, 1, 2]))).labelled("model", "clean")
    ragged = HAND.with_columns(pl.Series("probabilities", [[0.5, 0.5], *HAND["probabilities"][1:].to_list()]))
    with pytest.raises(RecordError, match="different lengths"):
        OutputsFile(ragged).labelled("model", "clean")


def slow_detection(known: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    wins = [(a > b) + (a == b) / 2 for a in known for b in others]
    rates = [(others >= t).mean() for t in known if (known >= t).mean() >= 0.95]
    return float(np.mean(wins)), float(min(rates))


@pytest.mark.parametrize("score", list(SCORES))
def test_detection_is_that_of_its_definition(tmp_path, score):
    known = OutputsFile(write(tmp_path / "a.parquet", images=60)).unlabelled("net", "clean")
    others = OutputsFile(write(tmp_path / "b.parquet", seed=1, condition="far", images=50)).unlabelled("net", "far")
    found = detection(known, others, score, 2.0)
    sides = [SCORES[score](side, 2.0) for side in (known, others)]
    assert (found.auroc, found.fpr95) == pytest.approx(slow_detection(*sides))
    both, truth = np.concatenate(sides), np.repeat([1, 0], [60, 50])
    squashed = torch.from_numpy(both.argsort().argsort() / 110)
    assert found.auroc == pytest.approx(float(binary_auroc(squashed, torch.from_numpy(truth))), abs=1e-6)


def test_scores_worked_out_by_hand():
    outputs = of([[0.0, 0.0], [np.log(3.0), 0.0]], [0, 0])
    assert SCORES["msp"](outputs, 1.0) == pytest.approx([0.5, 0.75])
    assert SCORES["energy"](outputs, 1.0) == pytest.approx(np.log([2.0, 4.0]))
    assert SCORES["energy"](outputs, 2.0) == pytest.approx(2 * np.log([2.0, 1 + np.sqrt(3)]))
    assert SCORES["max-logit"](outputs, 1.0) == pytest.approx([0, np.log(3)])
    assert SCORES["entropy"](outputs, 1.0) == pytest.approx([-np.log(2), 0.75 * np.log(0.75) + 0.25 * np.log(0.25)])


def test_ties_and_the_rate_at_95_percent():
    same = of([[1.0, 0.0]] * 20, [0] * 20)
    found = detection(same, same, "msp")
    assert (found.auroc, found.fpr95) == (0.5, 1.0)
    # 19 of 20 known images lie above all others: that is 95 %, and no other comes with them.
    known = of([[3.0, 0.0]] * 19 + [[0.0, 0.0]], [0] * 20)
    assert detection(known, of([[2.0, 0.0]] * 5, [0] * 5), "msp").fpr95 == 0


def test_the_threshold_is_no_coarser_than_the_scores():
    """A point of the curve on the line between its neighbours is one all the same: 95 % comes with 1 of 10 others."""
    known = of([[3.0, 0.0]] * 18 + [[2.0, 0.0], [1.0, 0.0]], [0] * 20)
    others = of([[2.0, 0.0], [1.0, 0.0]] + [[0.0, 0.0]] * 8, [0] * 10)
    assert detection(known, others, "msp").fpr95 == 1 / 10


def test_rows_that_have_no_score_are_left_out_and_faulty_ones_refused():
    table = pl.DataFrame(
        {
            "condition": "far", "image_id": list("abcd"), "label": pl.Series([None] * 4, dtype=pl.Int32),
            "predicted": [0, None, 1, 1], "confidence": [0.9, 0.8, float("nan"), 0.6],
        }
    )  # fmt: skip
    found = OutputsFile(table).unlabelled("model", "far")
    assert (found.confidence.tolist(), found.unusable) == ([0.9, 0.6], 2)
    logits = table.with_columns(logits=pl.Series([[1.0, 0.0]] * 3 + [[float("nan"), 0.0]]))
    found = OutputsFile(logits).unlabelled("model", "far")
    assert (found.logits.tolist(), found.unusable) == ([[1.0, 0.0]], 3)
    with pytest.raises(RecordError, match="'a': stands twice"):
        OutputsFile([table, table]).unlabelled("model", "far")
    with pytest.raises(RecordError, match=r"confidence 90\.0: outside"):
        OutputsFile(table.with_columns(confidence=pl.Series([90.0, 80, 70, 60]))).unlabelled("model", "far")
    wrong = HAND.with_columns(logits=pl.Series([[1.0, 0.0, float("nan")]] * 4))
    with pytest.raises(RecordError, match="logits 'NaN': in a row with a prediction"):
        OutputsFile(wrong).labelled("model", "clean")


def test_images_without_labels_are_enough_for_detection(tmp_path, command: Command):
    path = write(tmp_path / "a.parquet")
    far = tmp_path / "far.parquet"
    pl.read_parquet(write(far, condition="far", seed=1)).with_columns(label=pl.lit(None, pl.Int32)).write_parquet(far)
    options = ("--conditions", "clean", "--score", "msp,energy", "--json")
    rows = command("quality", path, "--ood", far, *options).json
    assert [(row["score"], row["images"], row["ood_images"], row["reason"]) for row in rows] == [
        ("msp", 300, 300, None),
        ("energy", 300, 300, None),
    ]
    assert all(0.3 < row["auroc"] < 0.7 for row in rows)
    assert "every row has a true class" in command("quality", far).refused()


def test_scaling_in_the_command(tmp_path, command: Command):
    files = [write(tmp_path / "a.parquet"), write(tmp_path / "b.parquet", condition="far", seed=1)]
    fitted = command("quality", *files, "--fit-temperature", "clean", "--json").json
    given = command("quality", *files, "--temperature", repr(fitted[0]["temperature"]), "--json").json
    assert fitted == given
    assert [row["condition"] for row in fitted] == ["clean", "far"]
    assert all(row["scaled_nll"] < row["nll"] for row in fitted)
    text = command("quality", *files, "--fit-temperature", "clean").out
    assert text.splitlines()[0] == "net"
    assert f"{fitted[0]['scaled_ece']:.4f}" in text


def test_tables_and_reasons(tmp_path, command: Command):
    path = write_small(tmp_path / "small.parquet")
    rows = command("quality", path, "--json").json
    assert [row["condition"] for row in rows] == ["clean", "fog/1", "snow/2"]
    assert rows[0]["accuracy"] == 4 / 6
    assert rows[0]["brier"] is None
    assert "--probabilities all" in rows[0]["reasons"]["brier"]
    shown = command("quality", path, "--conditions", "clean").out
    assert shown.splitlines()[-1] == f"brier: {rows[0]['reasons']['brier']}"
    header, *lines = command("quality", path, "--format", "csv").out.splitlines()
    assert (len(lines), header.split(",")[:3]) == (3, ["model", "condition", "kind"])
    assert "reasons_brier" in header
    assert command("quality", path, "--format", "latex").out.startswith("\\begin{tabular}")
    out = tmp_path / "table.parquet"
    assert command("quality", path, "--format", "parquet", "--out", out).code == 0
    assert pl.read_parquet(out)["ece"].to_list() == [row["ece"] for row in rows]
    assert json.loads(command("quality", path, "--ood", path, "--json").out)[0]["auroc"] == 0.5


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--model", "other"), "--model 'other': unknown"),
        (("--conditions", "fog"), "choose among fog/1"),
        (("--fit-temperature", "fog"), "choose among fog/1"),
        (("--fit-temperature", "all"), "is not one condition"),
        (("--fit-temperature", "clean,fog/1"), "is not one condition"),
        (("--temperature", "0"), "finite and above 0"),
        (("--temperature", "nan"), "finite and above 0"),
        (("--temperature", "1", "--fit-temperature", "clean"), "cannot go with"),
        (("--score", "msp"), "add --ood FILE"),
        (("--ood", "records.parquet", "--score", "max"), "choose among msp, energy, max-logit"),
        (("--ood", "records.parquet", "--ood-conditions", "fog"), "choose among fog/1"),
        (("--ood", "records.parquet", "--fit-temperature", "clean"), "neither whole probabilities nor logits"),
        (("--ood", "absent.parquet"), "cannot be read"),
        (("--ood", "other.parquet"), "has no records of this model"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path, monkeypatch, command: Command, options, rule):
    monkeypatch.chdir(tmp_path)
    write_small(tmp_path / "records.parquet")
    write_small(tmp_path / "other.parquet", model=pl.lit("other net"))
    assert rule in command("quality", "records.parquet", *options).refused()


def test_the_shared_records(shared_records: Path):
    """Both libraries on real probabilities of two networks."""
    file = OutputsFile(shared_records)
    for model in file.models:
        outputs = file.labelled(model, "clean")
        found = quality(outputs, fit_temperature(outputs))
        shares, labels = torch.tensor(outputs.probabilities), torch.tensor(outputs.label)
        other = multiclass_calibration_error(shares, labels, 10, n_bins=15, norm="l1")
        assert found.ece == pytest.approx(float(other), abs=1e-5)
        assert found.nll == pytest.approx(float(torch.nn.functional.nll_loss(shares.log(), labels)), abs=1e-6)
        assert found.scaled_ece < 0.03 < found.ece
