"""The door: what enters unchanged, what is refused and in which words, and that order and format change nothing."""

from __future__ import annotations

import datetime
import gzip
import io
import subprocess
import sys
from dataclasses import fields
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bounds import records
from bounds.errors import RecordError
from bounds.records import load_records

COLUMNS = ("condition", "image_id", "label", "predicted", "confidence", "true_probability")


def table(*rows, columns=COLUMNS, **more):
    """A polars table; further columns by keyword, one list each."""
    frame = pl.DataFrame(list(rows), schema=list(columns), orient="row")
    return frame.with_columns(pl.Series(name, values) for name, values in more.items())


def two(*ids, label=0, condition="fog/1"):
    """Clean and perturbed rows of some images, all right."""
    return [(c, i, label, label, 0.75, 0.75) for c in ("clean", condition) for i in ids]


def csv_file(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def same(first, second):
    """Whether two evaluations agree in every bit and type."""
    for field in fields(first):
        a, b = getattr(first, field.name), getattr(second, field.name)
        if field.name in ("clean", "perturbed"):
            assert a.image_id.equals(b.image_id), field.name
            for name in ("correct", "predicted", "accepted", "confidence", "true_probability"):
                left, right = getattr(a, name), getattr(b, name)
                assert (left is None) == (right is None), name
                if left is not None:
                    assert left.dtype == right.dtype, name
                    np.testing.assert_array_equal(left, right, err_msg=f"{field.name}.{name}")
        elif field.name == "starts":
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b, field.name


# What enters.


def test_the_layout():
    evaluation = load_records(
        table(
            ("clean", "b", 7, 7, 0.5, 0.5),
            ("clean", "a", 7, 2, 0.75, 0.125),
            ("clean", "c", 2, 2, 1.0, 1.0),
            ("fog/1", "a", 7, 7, 0.25, 0.25),
            ("fog/1", "c", 2, 9, 0.5, 0.0),
            ("fog/1", "b", 7, 9, 0.5, 0.5),
        )
    ).evaluation()
    assert (evaluation.model, evaluation.clean_condition, evaluation.perturbed_condition) == ("model", "clean", "fog/1")
    assert evaluation.classes == (2, 7)
    assert evaluation.labels == (2, 7, 9)
    assert evaluation.starts.tolist() == [0, 1, 3]
    assert evaluation.starts.dtype == np.int64
    assert evaluation.clean.image_id.to_list() == evaluation.perturbed.image_id.to_list() == ["c", "a", "b"]
    assert evaluation.clean.predicted.tolist() == [0, 0, 1]
    assert evaluation.perturbed.predicted.tolist() == [2, 1, 2]
    assert evaluation.clean.predicted.dtype == np.int64
    assert evaluation.clean.correct.tolist() == [True, False, True]
    assert evaluation.perturbed.correct.tolist() == [False, True, False]
    assert evaluation.clean.confidence.tolist() == [1.0, 0.75, 0.5]
    assert evaluation.perturbed.true_probability.tolist() == [0.0, 0.25, 0.5]
    assert evaluation.clean.accepted is None
    assert (evaluation.paired, evaluation.unmatched, evaluation.unusable, evaluation.notes) == (True, (0, 0), 0, ())


def test_models_conditions_and_kinds():
    rows = table(*two("a"), *two("a", condition="screen")[1:], *two("a", condition="tone")[1:], model=["m"] * 4)
    rows = pl.concat([rows, rows.filter(pl.col("condition") != "tone").with_columns(model=pl.lit("l"))])
    loaded = load_records(rows)
    assert loaded.models == ("l", "m")
    assert loaded.conditions("m") == ("clean", "fog/1", "screen", "tone")
    assert [loaded.kind(c) for c in loaded.conditions("m")] == ["clean", "corruption", "other", "other"]
    explicit = load_records(rows.with_columns(kind=pl.when(pl.col("condition") == "screen").then(pl.lit("recapture"))))
    assert [explicit.kind(c) for c in loaded.conditions("m")] == ["clean", "corruption", "recapture", "other"]
    assert [(e.model, e.perturbed_condition) for e in loaded.evaluations()] == [
        ("l", "fog/1"),
        ("l", "screen"),
        ("m", "fog/1"),
        ("m", "screen"),
        ("m", "tone"),
    ]
    assert [(e.model, e.perturbed_condition) for e in loaded.evaluations("m", ["tone", "fog/1"])] == [
        ("m", "fog/1"),
        ("m", "tone"),
    ]
    assert len(list(loaded.evaluations("all", "all"))) == 5
    assert loaded.evaluation("l", "screen", clean="fog/1").clean_condition == "fog/1"


def test_the_nineteen_corruptions():
    assert len(records.CORRUPTIONS) == 19


@pytest.mark.parametrize("kind", ["blurry", "Clean"])
def test_an_unknown_kind_is_refused(kind):
    with pytest.raises(RecordError, match=f"kind '{kind}': unknown"):
        load_records(table(*two("a"), kind=["clean", kind]))


def test_two_kinds_of_one_condition_are_refused():
    rows = table(*two("a", "b"), kind=["clean", "clean", "natural", "other"])
    with pytest.raises(RecordError, match="condition 'fog/1': has the kinds"):
        load_records(rows)
    parts = [table(*two("a"), kind=["clean", kind]) for kind in ("natural", "other")]
    with pytest.raises(RecordError, match="condition 'fog/1': has the kinds 'natural' and 'other'"):
        load_records(parts)


def test_a_kind_may_be_missing_in_some_rows():
    loaded = load_records(table(*two("a", "b"), kind=[None, "clean", "natural", None]))
    assert (loaded.kind("clean"), loaded.kind("fog/1")) == ("clean", "natural")
    assert loaded.evaluation().images == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.evaluation(), "model: the records hold several; choose among 'l', 'm'"),
        (lambda r: r.evaluation("k"), "model 'k': not in the records; choose among 'l', 'm'"),
        (lambda r: r.conditions("k"), "model 'k': not in the records; choose among 'l', 'm'"),
        (lambda r: r.evaluation("m"), "'m' has 2 conditions besides 'clean'; choose among 'fog/1', 'tone'"),
        (lambda r: r.evaluation("m", "rain"), "condition 'rain': not in the records of 'm'; choose among 'clean', "),
        (lambda r: r.evaluation("m", "tone", clean="dry"), "condition 'dry': not in the records of 'm'"),
        (lambda r: r.evaluations("m", ["tone", "rain"]), "condition 'rain': not in the records of 'm'"),
        (lambda r: r.evaluations("m", []), "perturbed: the records hold only 'clean'"),
    ],
)
def test_unknown_names_say_what_exists(call, message):
    rows = table(*two("a"), *two("a", condition="tone")[1:])
    loaded = load_records(pl.concat([rows.with_columns(model=pl.lit(m)) for m in ("l", "m")]))
    with pytest.raises(RecordError) as error:
        call(loaded)
    assert message in str(error.value)


def test_only_clean_records():
    with pytest.raises(RecordError, match="has 0 conditions besides 'clean'; add records"):
        load_records(table(*two("a")[:1])).evaluation()


def test_float_types_stay():
    for dtype, kept in ((pl.Float32, np.float32), (pl.Float64, np.float64), (pl.Float16, np.float32)):
        frame = table(*two("a")).cast({"confidence": dtype})
        evaluation = load_records(frame).evaluation()
        assert evaluation.clean.confidence.dtype == kept
        assert evaluation.clean.true_probability.dtype == np.float64


def test_each_side_has_its_own_float_type(tmp_path):
    table(*two("a")[:1]).cast({"confidence": pl.Float32}).write_parquet(tmp_path / "clean.parquet")
    table(*two("a")[1:]).write_parquet(tmp_path / "fog.parquet")
    evaluation = load_records([tmp_path / "clean.parquet", tmp_path / "fog.parquet"]).evaluation()
    assert evaluation.clean.confidence.dtype == np.float32
    assert evaluation.perturbed.confidence.dtype == np.float64


def test_one_side_of_two_float_types_is_refused():
    parts = [table(*two("a")), table(*two("b")).cast({"confidence": pl.Float32})]
    with pytest.raises(RecordError, match=r"confidence: differs among the files that hold \(model, clean\): float32"):
        load_records(parts).evaluation()


def test_integer_and_decimal_probabilities():
    frame = table(*two("a")).with_columns(confidence=pl.lit(1), true_probability=pl.lit(Decimal("1.000")))
    evaluation = load_records(frame).evaluation()
    assert evaluation.clean.confidence.tolist() == evaluation.clean.true_probability.tolist() == [1.0]
    assert evaluation.clean.confidence.dtype == np.float64


def test_probabilities_may_be_absent():
    evaluation = load_records(table(*two("a")).drop("confidence", "true_probability")).evaluation()
    assert evaluation.clean.confidence is None
    assert evaluation.perturbed.true_probability is None


def test_further_columns_are_ignored():
    frame = table(*two("a"), remark=[None, "odd"], taken=[datetime.date(2026, 1, 1)] * 2)
    same(load_records(frame).evaluation(), load_records(table(*two("a"))).evaluation())


@pytest.mark.parametrize(
    "dtypes",
    [
        {"image_id": pl.Categorical, "condition": pl.Categorical, "label": pl.Categorical},
        {"image_id": pl.Enum(["x", "y"]), "predicted": pl.Enum(["dog", "cat"])},
    ],
)
def test_dictionary_columns(dtypes):
    rows = table(
        ("clean", "x", "cat", "dog", 0.5, 0.5),
        ("clean", "y", "dog", "dog", 0.5, 0.5),
        ("fog/1", "y", "dog", "cat", 0.5, 0.5),
        ("fog/1", "x", "cat", "cat", 0.5, 0.5),
    )
    evaluation = load_records(rows.cast(dtypes)).evaluation()
    same(evaluation, load_records(rows).evaluation())
    assert evaluation.classes == evaluation.labels == ("cat", "dog")
    assert evaluation.clean.predicted.tolist() == [1, 1]


def test_integer_ids_are_their_digits():
    frame = table(*two("12", "7"))
    same(load_records(frame.cast({"image_id": pl.Int32})).evaluation(), load_records(frame).evaluation())


def test_small_and_far_apart_labels():
    rows = [("clean", "a", -(2**62), 2**62, 0.5, 0.5), ("fog/1", "a", -(2**62), -(2**62), 0.5, 0.5)]
    evaluation = load_records(table(*rows)).evaluation()
    assert evaluation.labels == (-(2**62), 2**62)
    assert evaluation.classes == (-(2**62),)
    assert evaluation.clean.predicted.tolist() == [1]
    assert evaluation.perturbed.predicted.tolist() == [0]


def test_many_far_apart_labels():
    labels = [5_000_000, -3, 70_000_000]
    rows = [(c, f"{i}", label, label, 0.5, 0.5) for c in ("clean", "fog/1") for i, label in enumerate(labels)]
    evaluation = load_records(table(*rows)).evaluation()
    assert evaluation.classes == evaluation.labels == (-3, 5_000_000, 70_000_000)
    assert evaluation.clean.image_id.to_list() == ["1", "0", "2"]
    assert evaluation.clean.predicted.tolist() == [0, 1, 2]


def test_accepted_column():
    evaluation = load_records(table(*two("a", "b"), accepted=[True, False, False, True])).evaluation()
    assert evaluation.clean.accepted.tolist() == [True, False]
    assert evaluation.perturbed.accepted.tolist() == [False, True]


def test_a_missing_acceptance_is_refused():
    with pytest.raises(RecordError, match="accepted: missing for image_id 'b', but acceptance is true or false"):
        load_records(table(*two("a", "b"), accepted=[True, True, True, None])).evaluation()


def test_acceptance_on_one_side_is_refused():
    clean, perturbed = table(*two("a")[:1], accepted=[True]), table(*two("a")[1:])
    with pytest.raises(RecordError, match=r"accepted: only one of \(model, clean\) and \(model, fog/1\)"):
        load_records([clean, perturbed]).evaluation()


def test_acceptance_of_another_type_is_refused():
    with pytest.raises(RecordError, match="column 'accepted': has type Int64"):
        load_records(table(*two("a"), accepted=[1, 0]))


def test_strata_define_the_classes():
    rows = table(
        *two("a", label=1)[:1],
        *two("b", label=2)[:1],
        *two("a", label=1)[1:],
        *two("b", label=2)[1:],
        group=["pets", "birds", "pets", "birds"],
    )
    evaluation = load_records(rows, strata="group").evaluation()
    assert evaluation.classes == ("birds", "pets")
    assert evaluation.clean.image_id.to_list() == ["b", "a"]
    assert evaluation.labels == (1, 2)
    pooled = load_records(rows.with_columns(group=pl.lit(0)), strata="group").evaluation()
    assert pooled.classes == (0,)
    assert pooled.starts.tolist() == [0, 2]


def test_a_stratum_that_differs_between_the_sides_is_refused():
    with pytest.raises(RecordError, match="image_id 'b': has the group 'y' and the group 'x' in"):
        load_records(table(*two("a", "b"), group=["x", "y", "x", "x"]), strata="group").evaluation()


def test_a_missing_stratum_is_refused():
    with pytest.raises(RecordError, match="strata: missing for image_id 'a', but every row has a stratum"):
        load_records(table(*two("a"), group=["x", None]), strata="group").evaluation()


def test_provenance(tmp_path):
    for name, seed in (("a", "1"), ("b", "2")):
        table(*two(name)).write_parquet(tmp_path / f"{name}.parquet", metadata={"tool": "timm 1.0", "seed": seed})
    loaded = load_records([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert loaded.provenance == {"tool": "timm 1.0", "seed": "1 (a.parquet); 2 (b.parquet)"}
    arrow = table(*two("a")).to_arrow().replace_schema_metadata({"tool": "timm"})
    assert load_records(arrow).provenance == {"tool": "timm"}
    assert load_records(table(*two("a"))).provenance == {}


# Ids and labels.


def test_007_and_7_are_two_images(tmp_path):
    frame = table(*two("007", "7"))
    frame.write_parquet(tmp_path / "r.parquet")
    for style in ("necessary", "always"):
        frame.write_csv(tmp_path / f"{style}.csv", quote_style=style)
        evaluation = load_records(tmp_path / f"{style}.csv").evaluation()
        assert evaluation.clean.image_id.to_list() == ["007", "7"]
        same(evaluation, load_records(tmp_path / "r.parquet").evaluation())


def test_integer_labels_and_text_predictions_are_refused():
    frame = table(*two("a", label=1)).cast({"predicted": pl.String})
    with pytest.raises(RecordError, match="integers in 'label' in polars DataFrame but names in 'predicted'"):
        load_records(frame)


def test_files_with_integer_and_with_text_labels_are_refused():
    with pytest.raises(RecordError, match="1 is not '1'"):
        load_records([table(*two("a", label=1)), table(*two("b", label="1"))])


def test_csv_labels_are_integers_only_if_all_are(tmp_path):
    rows = "condition,image_id,label,predicted\nclean,a,1,1\nfog/1,a,1,{}\n"
    evaluation = load_records(csv_file(tmp_path / "i.csv", rows.format(10))).evaluation()
    assert evaluation.labels == (1, 10)
    evaluation = load_records(csv_file(tmp_path / "n.csv", rows.format("cat"))).evaluation()
    assert evaluation.labels == ("1", "cat")
    evaluation = load_records(csv_file(tmp_path / "e.csv", rows.format(""))).evaluation()
    assert evaluation.labels == ()
    assert evaluation.unusable == 1


def test_csv_files_of_one_set_decide_together(tmp_path):
    rows = "condition,image_id,label,predicted\n{0},a,1,1\n{0},b,{1},1\n"
    clean = csv_file(tmp_path / "clean.csv", rows.format("clean", "cat"))
    fog = csv_file(tmp_path / "fog.csv", rows.format("fog/1", "cat"))
    only = csv_file(tmp_path / "only.csv", "condition,image_id,label,predicted\nrain,a,1,1\n")
    assert load_records([clean, fog, only]).evaluation(perturbed="rain").labels == ("1",)


@pytest.mark.parametrize(
    ("label", "predicted"), [("3", "3.0"), ("3", "03"), ("cat", "cat "), ("caf\u00e9", "cafe\u0301")]
)
def test_class_names_that_only_look_alike_are_refused(tmp_path, label, predicted):
    text = f"condition,image_id,label,predicted\nclean,a,{label},{predicted}\nfog/1,a,{label},{predicted}\n"
    with pytest.raises(RecordError, match="cannot be told from the class"):
        load_records(csv_file(tmp_path / "r.csv", text)).evaluation()


NAMES, INDICES = ("cat", "dog", "owl"), ("0", "1", " 2.0")


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_names_in_one_column_and_indices_in_the_other_are_refused(tmp_path, swapped, suffix):
    rows = [
        (condition, f"{i}", *((NAMES[i % 3], INDICES[i % 3])[:: -1 if swapped else 1]), 0.5, 0.5)
        for condition in ("clean", "fog/1")
        for i in range(300)
    ]
    frame, path = table(*rows), tmp_path / f"r.{suffix}"
    (frame.write_csv if suffix == "csv" else frame.write_parquet)(path)
    one, other = ("predicted", "label") if swapped else ("label", "predicted")
    with pytest.raises(RecordError) as error:
        load_records(path)
    assert f"names such as 'cat' in '{one}'" in str(error.value)
    assert f"indices such as ' 2.0' in '{other}'" in str(error.value)
    assert f"r.{suffix}" in str(error.value)
    both = [(condition, "x", "7", "cat", 0.5, 0.5) for condition in ("clean", "fog/1")]
    both += [(condition, "y", "cat", "7", 0.5, 0.5) for condition in ("clean", "fog/1")]
    assert load_records(pl.concat([frame, table(*both)])).evaluation().images == 302


def test_predictions_that_are_all_missing_are_no_indices():
    frame = table(*two("a", label="cat")).with_columns(predicted=pl.lit(None, pl.String))
    assert load_records(frame).evaluation().unusable == 1


def test_float_labels_are_refused():
    with pytest.raises(RecordError, match="column 'label': has type Float64 in polars DataFrame, but a class is"):
        load_records(table(*two("a")).cast({"label": pl.Float64}))


@pytest.mark.parametrize("name", ["NA", "None", "null", "nan", "N/A"])
def test_classes_named_like_missing_values_keep_their_images(tmp_path, name):
    frame = table(*two("a", label=name), *two("b", label="cat"))
    frame.write_csv(tmp_path / "r.csv")
    evaluation = load_records(tmp_path / "r.csv").evaluation()
    assert evaluation.images == 2
    assert set(evaluation.classes) == {name, "cat"}
    same(evaluation, load_records(frame).evaluation())


@pytest.mark.parametrize("column", ["condition", "model", "image_id", "label"])
def test_a_missing_name_is_refused(tmp_path, column):
    frame = table(*two("a", "b", label="cat"), model=["m"] * 4)
    holed = frame.with_columns(pl.when(pl.int_range(4) != 3).then(pl.col(column)))
    holed.write_csv(tmp_path / "r.csv")
    for source in (holed, tmp_path / "r.csv"):
        with pytest.raises(RecordError, match=rf"^{column}"):
            load_records(source).evaluation("m", "fog/1")


@pytest.mark.parametrize("empty", ["", '""'])
@pytest.mark.parametrize("side", ["clean", "fog/1"])
def test_an_only_row_without_an_id_is_refused(tmp_path, side, empty):
    ids = {"clean": "a", "fog/1": "a", side: empty}
    text = "condition,image_id,label,predicted\n" + "".join(f"{c},{i},0,0\n" for c, i in ids.items())
    path = csv_file(tmp_path / "r.csv", text)
    for source in (path, table(*[(c, i.strip('"'), 0, 0, 0.5, 0.5) for c, i in ids.items()])):
        for paired in (True, False):
            with pytest.raises(RecordError, match="image_id: missing in at least one row; give every row its image_id"):
                load_records(source).evaluation(paired=paired)
    nulls = table(*two("a")).with_columns(pl.when(pl.col("condition") != side).then(pl.col("image_id")))
    with pytest.raises(RecordError, match="image_id: missing in at least one row"):
        load_records(nulls).evaluation()


@pytest.mark.parametrize("side", ["clean", "fog/1"])
def test_duplicated_ids_are_listed(side):
    rows = [*two(*"abcdefgh"), *[row for row in two(*"bcdefgh") if row[0] == side]]
    with pytest.raises(RecordError) as error:
        load_records(table(*rows)).evaluation()
    assert f"7 ids occur more than once in (model, {side}): 'b', 'c', 'd', 'e', 'f' and 2 more" in str(error.value)
    assert "\n" not in str(error.value)


def test_duplicated_unmatched_ids_are_listed():
    rows = [*two("a"), *two("z", "z")[2:]]
    with pytest.raises(RecordError, match=r"1 id occurs more than once in \(model, fog/1\): 'z'"):
        load_records(table(*rows)).evaluation()


def test_ids_duplicated_across_files():
    with pytest.raises(RecordError, match=r"1 id occurs more than once in \(model, fog/1\)"):
        load_records([table(*two("a")), table(*two("a")[1:])]).evaluation()


def test_unmatched_ids_are_counted():
    rows = [*two("a", "b", "c")[:3], *two("c", "d", "a", "e", "f")[5:]]
    evaluation = load_records(table(*rows)).evaluation()
    assert evaluation.unmatched == (1, 3)
    assert evaluation.clean.image_id.to_list() == ["a", "c"]
    assert "1 clean and 3 perturbed images are on one side only and left out" in evaluation.notes[0]


def test_no_common_id_leaves_no_image():
    evaluation = load_records(table(*two("a")[:1], *two("b")[1:])).evaluation()
    assert (evaluation.images, evaluation.classes, evaluation.unmatched) == (0, (), (1, 1))
    assert len(evaluation.clean.image_id) == len(evaluation.perturbed.confidence) == 0


def test_an_id_of_another_models_clean_side_is_unmatched():
    first = table(*two("a", "b"), model=["l"] * 4)
    second = table(*two("a", "b")[1:], model=["m"] * 3).with_columns(
        condition=pl.Series(["clean", "fog/1", "fog/1"]), image_id=pl.Series(["b", "a", "b"])
    )
    evaluation = list(load_records([first, second]).evaluations())[1]
    assert (evaluation.model, evaluation.unmatched) == ("m", (0, 1))
    assert evaluation.clean.image_id.to_list() == ["b"]


def test_one_image_with_two_labels_on_the_two_sides_is_refused():
    rows = [*two("a", "b", label=1)[:3], *two("b", label=2)[1:]]
    with pytest.raises(RecordError, match=r"image_id 'b': has the label 1 and the label 2 in \(model, clean\) and"):
        load_records(table(*rows)).evaluation()


@pytest.mark.parametrize("budget", [1, 1000])
def test_one_image_with_two_labels_of_two_models_is_refused(monkeypatch, budget):
    monkeypatch.setattr(records, "ROW_BUDGET", budget)
    rows = [table(*two("a", "b", label=1), model=["l"] * 4), table(*two("b", label=2), model=["m"] * 2)]
    loaded = load_records(rows)
    assert loaded.evaluation("l").images == 2
    with pytest.raises(RecordError, match=r"image_id 'b': has the label 1 and the label 2 in \(m, clean\) and of an"):
        list(loaded.evaluations())


COMPOSED, DECOMPOSED = "caf\u00e9/1.png", "cafe\u0301/1.png"


@pytest.mark.parametrize(("clean", "perturbed"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)])
def test_two_unicode_spellings_pair_up_with_a_note(clean, perturbed):
    rows = table(*two("b", clean)[:2], *two("b", perturbed)[2:])
    evaluation = load_records(rows).evaluation()
    assert (evaluation.images, evaluation.unmatched) == (2, (0, 0))
    assert sorted(evaluation.clean.image_id) == sorted(["b", clean])
    assert sorted(evaluation.perturbed.image_id) == sorted(["b", perturbed])
    assert evaluation.notes == ("1 id is spelled with other Unicode code points (NFC, NFD) on the two sides",)


@pytest.mark.parametrize("spelling", [COMPOSED, DECOMPOSED])
def test_one_unicode_spelling_needs_no_note(spelling):
    evaluation = load_records(table(*two("b", spelling))).evaluation()
    assert (evaluation.images, evaluation.notes) == (2, ())
    assert evaluation.perturbed.image_id.to_list() == ["b", spelling]


@pytest.mark.parametrize("side", ["clean", "fog/1"])
def test_two_files_that_differ_only_in_unicode_spelling_are_refused(side):
    rows = [*two("b", COMPOSED), *[row for row in two(DECOMPOSED) if row[0] == side]]
    with pytest.raises(RecordError, match=rf"2 ids of \(model, {side}\) differ only in Unicode code points") as error:
        load_records(table(*rows)).evaluation()
    assert r"'cafe\u0301/1.png', 'caf\xe9/1.png'" in str(error.value)


def test_unmatched_ids_that_differ_only_in_unicode_spelling_are_refused():
    rows = [*two("b"), *two(COMPOSED, DECOMPOSED)[2:]]
    with pytest.raises(RecordError, match=r"2 ids of \(model, fog/1\) differ only in Unicode code points"):
        load_records(table(*rows)).evaluation()


def test_white_space_around_ids_is_reported():
    evaluation = load_records(table(*two("a", "b ")[:2], *two("a", "b")[2:])).evaluation()
    assert evaluation.unmatched == (1, 1)
    assert any(
        "1 of their ids begins or ends with white space; without it 1 more image would pair" in note
        for note in evaluation.notes
    )
    paired = load_records(table(*two("a", " b"))).evaluation()
    assert paired.unmatched == (0, 0)
    assert paired.notes == ("1 id of (model, clean) begins or ends with white space; ids pair only as they are",)


# CSV.

PLAIN = "condition,image_id,label,predicted,confidence,true_probability\nclean,a,0,0,0.91,0.91\nfog/1,a,0,1,0.5,0.25\n"


@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "r.txt"])
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_gzip_bom_and_line_ends(tmp_path, name, zipped, bom, newline):
    data = (bom + PLAIN.replace("\n", newline) + newline).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data, mtime=0) if zipped else data)
    evaluation = load_records(path).evaluation()
    assert evaluation.clean.confidence.tolist() == [0.91]
    assert evaluation.clean.confidence.dtype == np.float64
    assert evaluation.perturbed.true_probability.tolist() == [0.25]
    assert evaluation.notes == ()


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("mark", [",", "."])
def test_other_separators_and_the_decimal_comma(tmp_path, separator, mark):
    path = csv_file(tmp_path / "r.csv", PLAIN.replace(",", separator).replace(".", mark))
    assert load_records(path).evaluation().clean.confidence.tolist() == [0.91]


def test_a_decimal_comma_between_commas(tmp_path):
    quoted = csv_file(tmp_path / "q.csv", PLAIN.replace("0.91", '"0,91"').replace("0.5,0.25", '"0,5","0,25"'))
    assert load_records(quoted).evaluation().clean.confidence.tolist() == [0.91]
    bare = csv_file(tmp_path / "b.csv", PLAIN.replace(".", ","))
    with pytest.raises(RecordError, match="with a decimal comma separate columns by ';'"):
        load_records(bare)
    mixed = csv_file(tmp_path / "m.csv", PLAIN.replace("0.91,", '"0,91",'))
    with pytest.raises(RecordError, match=r"confidence '0,91': has a comma while '0.5' in the same column"):
        load_records(mixed)
    both = csv_file(tmp_path / "t.csv", PLAIN.replace("0.91,", '"1.234,5",').replace("0.5,", '"0,5",'))
    with pytest.raises(RecordError, match=r"confidence '1\.234,5': has both a comma and a point \(t\.csv\); write"):
        load_records(both)


def test_a_number_that_is_none(tmp_path):
    for text in ("high", "NA", "0x1"):
        path = csv_file(tmp_path / "r.csv", PLAIN.replace("0.5", text))
        with pytest.raises(RecordError, match=f"confidence '{text}': not a number \\(image_id 'a' in r.csv\\)"):
            load_records(path)


def test_an_empty_or_nan_number_makes_the_image_unusable(tmp_path):
    for text in ("", '""', "nan", " "):
        evaluation = load_records(csv_file(tmp_path / "r.csv", PLAIN.replace("0.5", text))).evaluation()
        assert (evaluation.images, evaluation.unusable) == (0, 1)


def test_a_quoted_empty_field_is_empty(tmp_path):
    text = 'condition,image_id,label,predicted\n"clean","a","cat","dog"\n"fog/1","a","{}","{}"\n'
    evaluation = load_records(csv_file(tmp_path / "r.csv", text.format("cat", ""))).evaluation()
    assert (evaluation.images, evaluation.unusable) == (0, 1)
    with pytest.raises(RecordError, match="label: missing for image_id 'a'"):
        load_records(csv_file(tmp_path / "r.csv", text.format("", "cat"))).evaluation()


def test_csv_acceptance(tmp_path):
    text = "condition,image_id,label,predicted,accepted\nclean,a,0,0,{}\nfog/1,a,0,0,{}\n"
    for yes, no in (("true", "false"), ("True", "False"), ("1", "0")):
        evaluation = load_records(csv_file(tmp_path / "r.csv", text.format(yes, no))).evaluation()
        assert (evaluation.clean.accepted.tolist(), evaluation.perturbed.accepted.tolist()) == ([True], [False])
    with pytest.raises(RecordError, match="accepted 'yes': neither true nor false"):
        load_records(csv_file(tmp_path / "r.csv", text.format("yes", "0")))
    with pytest.raises(RecordError, match="accepted: missing for image_id 'a'"):
        load_records(csv_file(tmp_path / "r.csv", text.format("1", ""))).evaluation()


# Files that are not what they say.


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("none.parquet", None, "cannot be read: No such file"),
        ("r.parquet", b"", "records 'r.parquet': an empty file"),
        ("r.csv", b"\xef\xbb\xbf\r\n", "records 'r.csv': an empty file"),
        ("r.parquet", b"condition,image_id\n", "records 'r.parquet': not a Parquet file, whatever its name says"),
        ("r.parquet", b"PAR1 and nothing else PAR1", "records 'r.parquet': a damaged Parquet file"),
        ("r.csv.gz", b"\x1f\x8b\x08 broken", "records 'r.csv.gz': a damaged gzip file"),
        ("r.csv.gz", gzip.compress(b"PAR1....", mtime=0), "records 'r.csv.gz': an archive around another format"),
        ("r.csv", PLAIN.encode("utf-16"), "records 'r.csv': neither Parquet nor UTF-8 text"),
        ("r.csv", PLAIN.replace("a", "\xe9").encode("latin-1"), "records 'r.csv': not UTF-8"),
        ("r.csv", PLAIN.replace("clean", "\xe9").encode("latin-1"), "'r.csv': not UTF-8 (line 2: invalid continuation"),
        ("r.csv", PLAIN.replace("fog/1", "\xe9").encode("latin-1"), "line 3: invalid continuation byte); save it as"),
        ("r.csv", b"a,b\n1,2\n", "columns 'condition, image_id, label, predicted': missing from r.csv; it has a, b"),
        ("r.csv", b"label,label\n1,2\n", "column 'label': occurs twice in the header of r.csv"),
        ("r.csv", PLAIN.splitlines()[0].encode(), "records 'r.csv': no rows"),
    ],
)
def test_unreadable_files_get_one_line(tmp_path, name, data, message):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(RecordError) as error:
        load_records(tmp_path / name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_other_things_that_are_not_records(tmp_path):
    with pytest.raises(RecordError, match="a folder, not a file"):
        load_records(tmp_path)
    with pytest.raises(RecordError, match="records 'int': not a file or a table"):
        load_records(3)
    with pytest.raises(RecordError, match="no file was given"):
        load_records([])
    with pytest.raises(RecordError, match="polars DataFrame': no rows"):
        load_records(table(*two("a")).clear())
    with pytest.raises(RecordError, match="columns 'group': missing from polars DataFrame"):
        load_records(table(*two("a")), strata="group")
    with pytest.raises(RecordError, match="column 'image_id': has type Float64"):
        load_records(table(*two("a")).with_columns(image_id=pl.lit(1.5)))
    with pytest.raises(RecordError, match="column 'confidence': has type String"):
        load_records(table(*two("a")).cast({"confidence": pl.String}))


def test_a_parquet_file_cut_in_its_pages(tmp_path):
    path = tmp_path / "r.parquet"
    table(*two(*map(str, range(1000)))).write_parquet(path, compression="zstd")
    data = bytearray(path.read_bytes())
    data[4:2000] = bytes(1996)
    path.write_bytes(data)
    with pytest.raises(RecordError, match=r"records 'r\.parquet': cannot be read"):
        load_records(path).evaluation()


# Probabilities.


@pytest.mark.parametrize("column", ["confidence", "true_probability"])
@pytest.mark.parametrize("value", [91.0, 1.00001, -0.1, float("inf"), float("-inf")])
@pytest.mark.parametrize("condition", ["clean", "fog/1"])
def test_values_outside_the_unit_interval_are_refused(column, value, condition):
    at = (pl.col("image_id") == "b") & (pl.col("condition") == condition)
    frame = table(*two("a", "b", "c")).with_columns(pl.when(at).then(value).otherwise(pl.col(column)).alias(column))
    with pytest.raises(RecordError) as error:
        load_records(frame).evaluation()
    assert f"{column} {value!r}: outside [0, 1] (image_id 'b' of (model, {condition}))" in str(error.value)


def test_a_rounding_above_one_is_kept_and_noted():
    value = float(np.float32(1.0000003))
    frame = table(*two("a")).with_columns(confidence=pl.lit(value), true_probability=pl.lit(value))
    evaluation = load_records(frame).evaluation()
    assert evaluation.clean.confidence.tolist() == [value]
    assert len(evaluation.notes) == 4
    assert "1 value of confidence in (model, clean) exceeds 1 by at most 1e-06, kept as is" in evaluation.notes


@pytest.mark.parametrize("column", ["predicted", "confidence", "true_probability"])
@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("condition", ["clean", "fog/1"])
def test_unusable_rows_leave_out_the_image_on_both_sides(column, missing, condition):
    if column == "predicted":
        missing = None
    at = (pl.col("image_id") == "b") & (pl.col("condition") == condition)
    frame = table(*two("a", "b", "c")).with_columns(pl.when(~at).then(pl.col(column)).otherwise(missing).alias(column))
    evaluation = load_records(frame).evaluation()
    assert evaluation.unusable == 1
    assert evaluation.unmatched == (0, 0)
    assert evaluation.clean.image_id.to_list() == evaluation.perturbed.image_id.to_list() == ["a", "c"]


@pytest.mark.parametrize(
    ("predicted", "confidence", "true_probability", "rule"),
    [
        (0, 0.9, 0.5, "differs from confidence 0.9 in a correct row"),
        (0, 0.5, 0.9, "differs from confidence 0.5 in a correct row"),
        (1, 0.5, 0.9, "exceeds confidence 0.5 in a wrong row"),
    ],
)
def test_contradicting_columns_are_refused(predicted, confidence, true_probability, rule):
    rows = [*two("a"), ("clean", "b", 0, predicted, confidence, true_probability), *two("b")[1:]]
    with pytest.raises(RecordError) as error:
        load_records(table(*rows)).evaluation()
    assert rule in str(error.value)
    assert "image_id 'b' of (model, clean)" in str(error.value)


def test_rounding_is_no_contradiction():
    rows = [("clean", "a", 0, 0, 0.912, 0.9124), ("fog/1", "a", 0, 1, 0.5, 0.5004)]
    assert load_records(table(*rows)).evaluation().images == 1


def lists(*probabilities, predicted=(0, 0, 0, 0), dtype=pl.Float32):
    rows = table(*two("a", "b"), predicted=list(predicted)).drop("confidence", "true_probability")
    return rows.with_columns(probabilities=pl.Series(list(probabilities), dtype=pl.List(dtype)))


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_row_sums_near_one_pass(dtype):
    frame = lists([0.7500003, 0.25], [1.0, 0.0], [0.5, 0.4999], [0.75, 0.25], dtype=dtype)
    evaluation = load_records(frame).evaluation()
    assert (evaluation.images, evaluation.unusable, evaluation.notes) == (2, 0, ())
    array = frame.with_columns(pl.col("probabilities").list.to_array(2))
    same(load_records(array).evaluation(), evaluation)


@pytest.mark.parametrize(("row", "shown"), [([0.7, 0.5], "1.2"), ([1.1, -0.1], "-0.1"), ([0.5, 0.25], "0.75")])
def test_rows_that_are_no_distribution_are_refused(row, shown):
    frame = lists([0.75, 0.25], [0.75, 0.25], [0.75, 0.25], row, dtype=pl.Float64)
    with pytest.raises(RecordError) as error:
        load_records(frame).evaluation()
    assert f"probabilities {shown}" in str(error.value)
    assert "image_id 'b'" in str(error.value)


def test_a_nan_row_is_unusable():
    frame = lists([0.75, 0.25], [0.75, 0.25], [float("nan"), 0.25], [0.75, 0.25])
    evaluation = load_records(frame).evaluation()
    assert (evaluation.unusable, evaluation.clean.image_id.to_list()) == (1, ["b"])


def test_a_tie_goes_to_the_lowest_class_index():
    frame = lists([0.5, 0.5], [0.75, 0.25], [0.75, 0.25], [0.25, 0.75], predicted=(1, 0, 0, 1))
    evaluation = load_records(frame).evaluation()
    assert evaluation.clean.predicted.tolist() == [0, 0]
    assert evaluation.perturbed.predicted.tolist() == [0, 1]
    assert evaluation.notes == (
        "1 row of (model, clean) ties at the largest probability; the lowest class index counts",
    )


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
@pytest.mark.parametrize("predicted", [1, 2, -1, 3])
def test_a_prediction_that_is_not_the_largest_probability_is_refused(dtype, predicted):
    frame = lists(*[[0.75, 0.2, 0.05]] * 4, predicted=(0, 0, 0, predicted), dtype=dtype)
    with pytest.raises(RecordError) as error:
        load_records(frame).evaluation()
    assert f"predicted {predicted}: not the class with the largest of the row's probabilities" in str(error.value)
    assert "image_id 'b'" in str(error.value)


def test_a_prediction_below_a_tie_is_refused():
    with pytest.raises(RecordError, match="predicted 2: not the class with the largest"):
        load_records(lists(*[[0.4, 0.4, 0.2]] * 4, predicted=(0, 0, 0, 2))).evaluation()


def test_names_do_not_say_which_probability_is_theirs():
    frame = lists(*[[0.75, 0.25]] * 4).with_columns(label=pl.lit("dog"), predicted=pl.Series(["dog", "cat"] * 2))
    assert load_records(frame).evaluation().clean.correct.tolist() == [True, False]


def test_a_row_without_a_prediction_or_its_probabilities_contradicts_nothing():
    frame = lists([0.75, 0.25], None, *[[0.75, 0.25]] * 2, predicted=(None, 1, 0, 0))
    evaluation = load_records(frame.with_columns(confidence=0.75)).evaluation()
    assert (evaluation.images, evaluation.unusable) == (1, 1)


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
@pytest.mark.parametrize("column", ["confidence", "true_probability"])
def test_probabilities_that_contradict_another_column_are_refused(dtype, column):
    frame = lists(*[[0.75, 0.25]] * 4, dtype=dtype)
    near = frame.with_columns(pl.Series(column, [0.75, 0.7509, 0.7491, 0.75]))
    assert load_records(near).evaluation().unusable == 0
    missing = frame.with_columns(pl.Series(column, [0.75, None, float("nan"), 0.75]))
    assert load_records(missing).evaluation().unusable == 2
    far = frame.with_columns(pl.Series(column, [0.75, 0.75, 0.75, 0.7520]))
    with pytest.raises(RecordError) as error:
        load_records(far).evaluation()
    assert f"{column} 0.752: differs from the row's probabilities by more than 0.001 (image_id 'b')" in str(error.value)


def test_probabilities_of_another_type_are_refused():
    with pytest.raises(RecordError, match="column 'probabilities': has type"):
        load_records(table(*two("a"), probabilities=["0.5", "0.5"]))


# Without common ids.


def test_unpaired_sides_match_by_class():
    rows = table(
        ("clean", "q", 1, 1, 0.5, 0.5),
        ("clean", "p", 1, 2, 0.5, 0.25),
        ("clean", "o", 2, 2, 0.5, 0.5),
        ("fog/1", "9", 2, 1, 0.5, 0.25),
        ("fog/1", "8", 1, 2, 0.5, 0.25),
        ("fog/1", "7", 1, 1, 0.5, 0.5),
    )
    evaluation = load_records(rows).evaluation(paired=False)
    assert not evaluation.paired
    assert (evaluation.classes, evaluation.starts.tolist()) == ((1, 2), [0, 2, 3])
    assert evaluation.clean.image_id.to_list() == ["p", "q", "o"]
    assert evaluation.perturbed.image_id.to_list() == ["7", "8", "9"]
    assert evaluation.clean.correct.tolist() == [False, True, True]
    assert evaluation.perturbed.correct.tolist() == [True, False, False]
    assert evaluation.unmatched == (0, 0)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 2, 2], "class 1: 2 images in (model, clean) but 1 in"),
        ([1, 1, 3], "class 2: 1 image in (model, clean) but 0"),
    ],
)
def test_unpaired_sides_of_other_sizes_are_refused(labels, message):
    rows = [("clean", f"{i}", label, 1, 0.5, 0.5) for i, label in enumerate([1, 1, 2])]
    rows += [("fog/1", f"f{i}", label, 1, 0.5, 0.5) for i, label in enumerate(labels)]
    with pytest.raises(RecordError) as error:
        load_records(table(*rows)).evaluation(paired=False)
    assert message in str(error.value)


def test_an_unpaired_class_on_the_perturbed_side_only_is_refused():
    rows = table(*two("a", label=1)[:1], *two("b", label=2)[1:], *two("c", label=1)[1:])
    with pytest.raises(RecordError, match=r"class 2: 0 images in \(model, clean\) but 1 in \(model, fog/1\)"):
        load_records(rows).evaluation(paired=False)


def test_unpaired_unusable_rows_are_refused():
    rows = table(*two("a")[:1], ("fog/1", "b", 0, None, 0.5, 0.5))
    with pytest.raises(RecordError, match=r"image_id 'b': no usable record .* as in 1 row of \(model, fog/1\)"):
        load_records(rows).evaluation(paired=False)


def test_unpaired_duplicates_are_refused():
    rows = [("clean", "a", 0, 0, 0.5, 0.5)] * 2 + [("fog/1", "b", 0, 0, 0.5, 0.5), ("fog/1", "c", 0, 0, 0.5, 0.5)]
    with pytest.raises(RecordError, match=r"1 id occurs more than once in \(model, clean\): 'a'"):
        load_records(table(*rows)).evaluation(paired=False)


# Order, format and batches change nothing.

grid = st.integers(0, 64).map(lambda i: i / 64)


@st.composite
def sets(draw):
    """Long-form tables of up to two models, three conditions and eight images, with gaps on either side."""
    names = draw(st.booleans())
    ids = draw(st.lists(st.text("ab7é0/ .", min_size=1, max_size=4), min_size=1, max_size=8, unique_by=str.strip))
    label = st.integers(-1, 3).map(lambda i: f"c{i}" if names else i)
    truth = {image: draw(label) for image in ids}
    rows = []
    for model in draw(st.sampled_from([["m"], ["m", "n"]])):
        for condition in ("clean", "fog/1", "tone"):
            for image in ids:
                if draw(st.integers(0, 9)) == 0 and image != ids[0]:
                    continue
                predicted = draw(st.none() | label if draw(st.integers(0, 9)) == 0 else label)
                confidence = draw(grid)
                right = confidence if predicted == truth[image] else draw(grid) * confidence
                rows.append((model, condition, image, truth[image], predicted, confidence, right, draw(st.booleans())))
    dtype = pl.String if names else pl.Int64
    schema = {
        "model": pl.String,
        "condition": pl.String,
        "image_id": pl.String,
        "label": dtype,
        "predicted": dtype,
        "confidence": pl.Float64,
        "true_probability": pl.Float64,
        "accepted": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def written(frame, kind, folder):
    """The frame behind one of the doors."""
    if kind in ("parquet", "csv", "gzip"):
        path = folder / f"r.{'parquet' if kind == 'parquet' else 'csv'}"
        if kind == "parquet":
            frame.write_parquet(path, row_group_size=3)
        else:
            data = io.BytesIO()
            frame.write_csv(data)
            path.write_bytes(gzip.compress(data.getvalue(), mtime=0) if kind == "gzip" else data.getvalue())
        return path
    return {"polars": frame, "lazy": frame.lazy(), "arrow": frame.to_arrow()}[kind]


def alike(source, frame):
    loaded, reference = load_records(source), load_records(frame)
    assert loaded.models == reference.models
    for first, second in zip(loaded.evaluations(), reference.evaluations(), strict=True):
        same(first, second)


EACH = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@EACH
@given(
    frame=sets(), seed=st.integers(0, 99), kind=st.sampled_from(["parquet", "csv", "gzip", "polars", "lazy", "arrow"])
)
def test_row_order_and_format_change_nothing(tmp_path, frame, seed, kind):
    alike(written(frame.sample(fraction=1, shuffle=True, seed=seed), kind, tmp_path), frame)


@EACH
@given(frame=sets(), seed=st.integers(0, 99), parts=st.integers(2, 4), kind=st.sampled_from(["parquet", "csv"]))
def test_splitting_into_files_changes_nothing(tmp_path, frame, seed, parts, kind):
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    paths = []
    for part in range(parts):
        rows = shuffled[part::parts]
        if len(rows):
            folder = tmp_path / str(part)
            folder.mkdir(exist_ok=True)
            paths.append(written(rows, kind, folder))
    alike(paths, frame)


@EACH
@given(frame=sets(), budget=st.integers(1, 40))
def test_the_row_budget_changes_nothing(frame, budget):
    with pytest.MonkeyPatch.context() as patch:
        reference = list(load_records(frame).evaluations())
        patch.setattr(records, "ROW_BUDGET", budget)
        for first, second in zip(load_records(frame).evaluations(), reference, strict=True):
            same(first, second)


@EACH
@given(frame=sets())
def test_asking_for_one_is_as_asking_for_all(frame):
    loaded = load_records(frame)
    for evaluation in loaded.evaluations():
        same(loaded.evaluation(evaluation.model, evaluation.perturbed_condition), evaluation)


@EACH
@given(frame=sets())
def test_pairs_agree_with_a_plain_join(frame):
    """Against the slow and obvious: a dictionary an image, sorted as Python sorts."""
    rows = {(r["model"], r["condition"], r["image_id"]): r for r in frame.iter_rows(named=True)}
    for evaluation in load_records(frame).evaluations():
        model, condition = evaluation.model, evaluation.perturbed_condition
        clean = {i: r for (m, c, i), r in rows.items() if (m, c) == (model, "clean")}
        perturbed = {i: r for (m, c, i), r in rows.items() if (m, c) == (model, condition)}
        common = sorted(clean.keys() & perturbed.keys(), key=lambda i: (clean[i]["label"], i))
        kept = [i for i in common if clean[i]["predicted"] is not None and perturbed[i]["predicted"] is not None]
        assert evaluation.unmatched == (len(clean) - len(common), len(perturbed) - len(common))
        assert evaluation.unusable == len(common) - len(kept)
        assert [evaluation.classes[c] for c in evaluation.class_of_row] == [clean[i]["label"] for i in kept]
        for side, source in ((evaluation.clean, clean), (evaluation.perturbed, perturbed)):
            assert side.image_id.to_list() == kept
            assert [evaluation.labels[p] for p in side.predicted] == [source[i]["predicted"] for i in kept]
            assert side.correct.tolist() == [source[i]["predicted"] == source[i]["label"] for i in kept]
            assert side.accepted.tolist() == [source[i]["accepted"] for i in kept]
            assert side.confidence.tolist() == [source[i]["confidence"] for i in kept]
            assert side.true_probability.tolist() == [source[i]["true_probability"] for i in kept]


def test_pandas_tables(require):
    try:
        import pandas
    except ModuleNotFoundError:
        pandas = None
    require("pandas", pandas is not None, "pip install 'pairbounds[pandas]'")
    frame = table(*two("b", "a", label=1))
    plain = frame.to_pandas()
    for source in (
        plain,
        plain.set_index("image_id"),
        plain.set_index(["condition", "image_id"]),
        plain.sample(frac=1, random_state=0),
        plain.astype({"image_id": "category"}),
    ):
        same(load_records(source).evaluation(), load_records(frame).evaluation())
    with pytest.raises(RecordError, match="columns 'image_id': missing from pandas DataFrame"):
        load_records(plain.drop(columns="image_id"))
    with pytest.raises(RecordError, match="pandas DataFrame: cannot be converted"):
        load_records(plain.assign(predicted=pandas.Series([1, "1", 1, 1], dtype=object)))


def test_arrow_tables():
    frame = table(*two("b", "a", label=1))
    arrow = frame.to_arrow()
    column = arrow.schema.get_field_index("image_id")
    encoded = arrow.set_column(column, "image_id", arrow["image_id"].cast(pa.string()).dictionary_encode())
    for source in (arrow, encoded):
        same(load_records(source).evaluation(), load_records(frame).evaluation())


def test_an_evaluation_holds_no_part_of_its_batch():
    frame = table(*two("a", "b"), *two("a", "b", condition="tone")[2:], accepted=[True] * 6)
    for evaluation in load_records(frame).evaluations():
        side = evaluation.perturbed
        for values in (side.correct, side.predicted, side.accepted, side.confidence, side.true_probability):
            assert values.base is None


def test_the_shared_records(shared_records):
    loaded = load_records(shared_records)
    assert loaded.models == ("resnet20", "resnet56")
    assert {loaded.kind(c) for c in loaded.conditions("resnet20")} == {"clean", "corruption", "natural", "recapture"}
    truth = (
        pl.scan_parquet(shared_records)
        .group_by("model", "condition")
        .agg((pl.col("label") == pl.col("predicted")).sum(), pl.col("true_probability").cast(pl.Float64).sum())
        .collect()
        .rows_by_key(("model", "condition"))
    )
    count = 0
    for evaluation in loaded.evaluations():
        count += 1
        assert (evaluation.images, evaluation.unmatched, evaluation.unusable) == (2000, (0, 0), 0)
        assert evaluation.classes == evaluation.labels == tuple(range(10))
        assert np.diff(evaluation.starts).tolist() == [200] * 10
        for side, condition in ((evaluation.clean, "clean"), (evaluation.perturbed, evaluation.perturbed_condition)):
            ((correct, total),) = truth[evaluation.model, condition]
            assert side.correct.sum() == correct
            assert side.true_probability.astype(np.float64).sum() == pytest.approx(total, rel=1e-12)
            assert side.confidence.dtype == np.float32
    assert count == 2 * 47


PEAK = """
import re
from pathlib import Path
import bounds.records as records
records.ROW_BUDGET = {budget}
images = sum(evaluation.images for evaluation in records.load_records({path!r}).evaluations())
status = Path("/proc/self/status").read_text()
print(images, re.search(r"VmHWM:\\s*(\\d+) kB", status)[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_memory_grows_with_the_budget_and_not_with_the_file(tmp_path):
    images = 5_000
    ids = pl.Series([f"n{i % 50:08d}/ILSVRC2012_val_{i:08d}.JPEG" for i in range(images)])
    label = pl.arange(images, eager=True) % 50

    def peak(conditions, budget):
        path = tmp_path / f"{conditions}.parquet"
        if not path.exists():
            sides = [
                pl.DataFrame({"image_id": ids, "label": label, "predicted": label}).with_columns(condition=pl.lit(name))
                for name in ("clean", *map(str, range(conditions)))
            ]
            pl.concat(sides).write_parquet(path, row_group_size=20 * images)
        code = PEAK.format(budget=budget, path=str(path))
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        count, kilobytes = map(int, run.stdout.split())
        assert count == images * conditions
        return kilobytes * 1024

    unbounded = peak(400, 10**9) - peak(100, 10**9)
    bounded = peak(400, 20 * images) - peak(100, 20 * images)
    assert unbounded > 300 * images * 30
    assert bounded < unbounded / 2
