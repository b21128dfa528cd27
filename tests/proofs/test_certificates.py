"""The writer of certificates: whatever it writes of a true interval is certified, and by `proofs.checker` alone."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from importlib import metadata

import numpy as np
import polars as pl
import pytest
from command import Command, write_small
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

from bounds import aggregate, load_records
from bounds.auditing import audit
from bounds.cli_certificate import GROUP
from bounds.errors import QuantityError
from bounds.knowledge import Level, know
from bounds.own import pair_quantity
from bounds.quantities import QUANTITIES
from bounds.solve import bound, per_class
from proofs import branching, certificates, checker, class_bounds
from proofs.canonical import records_hash, records_text
from proofs.certificates import Certificate, certify
from proofs.class_program import ClassProgram

EMBEDDED, CERTIFIED, NOT, REJECTED = checker.STATUSES


def text_of(*added):
    """The certificate of (evaluation, knowledge, interval) triples, and its tally."""
    certificate = Certificate()
    for found in added:
        certificate.add(*found)
    return "".join(certificate.parts()).encode(), certificate.tally


def statuses(data, *texts):
    """status -> reasons."""
    found = {}
    for item in checker.check(data, texts).items:
        found.setdefault(item.status, []).append(item.reason)
    return found


def asked(evaluation, name, level, **options):
    known = know(evaluation, level)
    return evaluation, known, bound(evaluation, name, known, witness=True, **options)


# --- what is true is certified ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUANTITIES)
@settings(max_examples=8)
@given(records=evaluations(max_images=5, max_classes=3), data=st.data())
def test_every_interval_is_certified_with_the_records_and_without(name, records, data):
    quantity = QUANTITIES[name]
    triples = []
    for level in Level:
        known = know(records, level)
        for denominator in quantity.denominators:
            averages = ["micro"] if denominator == "none" else ["micro", "macro"]
            average = data.draw(st.sampled_from(averages))
            found = [bound(records, quantity, known, denominator=denominator, average=average, witness=True)]
            found += per_class(records, quantity, known, denominator=denominator, witness=True)
            triples += [(records, known, interval) for interval in found]
    written, tally = text_of(*triples)
    assert (tally.intervals, tally.certified, tally.uncertified) == (len(triples), len(triples), [])
    assert set(statuses(written, records_text(records))) == {CERTIFIED}
    without = statuses(written)
    unread = "the paired value of probabilities can be checked with the records only"
    assert all(reason == f"lower: {unread}; upper: {unread}" for reason in without.pop(NOT, []))
    assert set(without) <= {EMBEDDED}
    sharp = [entry["sharp"] or entry["undefined"] for entry in json.loads(written)["intervals"]]
    assert all(sharp)


@pytest.mark.parametrize("seed", range(4))
def test_larger_classes_are_certified(seed):
    """Where totals are spread over many counts, and multipliers and rates differ from class to class."""
    draw = random.Random(seed)

    def side(images, right):
        return [
            (0 if draw.random() < right else draw.randint(1, 4), draw.random() < 0.6, draw.randint(0, 64) / 64)
            for _ in range(images)
        ]

    sizes = [draw.randint(8, 24) for _ in range(3)]
    records = evaluation(*((side(n, 0.6), side(n, 0.5)) for n in sizes))
    triples = []
    for level in Level:
        known = know(records, level)
        for name, quantity in QUANTITIES.items():
            for denominator in quantity.denominators:
                for average in ("micro",) if denominator == "none" else ("micro", "macro"):
                    options = {"denominator": denominator, "average": average, "witness": True}
                    triples.append((records, known, bound(records, name, known, **options)))
    written, tally = text_of(*triples)
    assert tally.certified == len(triples)
    assert set(statuses(written, records_text(records))) == {CERTIFIED}


@settings(max_examples=15)
@given(records=evaluations(max_images=5, max_classes=2))
def test_counts_that_are_given_are_a_premise(records):
    unpaired = replace(records, paired=False)
    for level in list(Level)[1:4]:
        known = know(records, level)
        triples = [(unpaired, known, bound(unpaired, name, known, witness=True)) for name in QUANTITIES]
        written, _ = text_of(*triples)
        assert set(statuses(written, records_text(unpaired))) == {CERTIFIED}
        assert {i["knowledge"]["source"] for i in json.loads(written)["intervals"]} == {"given"}


def test_counts_that_are_not_the_pairings_are_given():
    records = evaluation(([(0, True), (0, True), (1, True)], [(0, True), (1, True), (0, True)]))
    for k, source in ((1, "pairing"), (2, "given")):
        known = know(records, "correct-correct", retained_correct=[k])
        written, _ = text_of((records, known, bound(records, "lost", known, witness=True)))
        assert json.loads(written)["intervals"][0]["knowledge"]["source"] == source
        assert set(statuses(written, records_text(records))) == {CERTIFIED}


GAPS = {
    "new": ("new-accepted-error", [(1, True), (2, False), (2, False)], [(2, True), (1, True), (0, False)], 0, 1),
    "kept": ("kept-accepted-error", [(1, True), (2, False), (2, False)], [(2, True), (1, True), (0, False)], 0, 1),
    "kept-changed": (
        "kept-changed-accepted-error",
        [(1, True), (2, True), (3, False)],
        [(1, True), (3, True), (2, False)],
        0,
        1,
    ),
    "kept-changed half": (
        "kept-changed-accepted-error",
        [(1, False), (0, False), (2, True)],
        [(2, True), (2, False), (1, True)],
        0,
        1,
    ),
}
"""Examples of integrality_matters (C7), where the linear relaxation is loose: quantity, clean, perturbed, k, s."""


@pytest.mark.parametrize("example", GAPS)
def test_gaps_of_the_relaxation_are_closed(example):
    name, clean, perturbed, k, s = GAPS[example]
    records = evaluation((clean, perturbed))
    known = know(records, "five-state", retained_correct=[k], persistent=[s])
    written, tally = text_of((records, known, bound(records, name, known, witness=True)))
    assert tally.by_rounding + tally.by_branching >= 1
    assert set(statuses(written)) == {EMBEDDED}


def branched():
    """An interval whose lower or upper end takes a tree."""
    name, clean, perturbed, k, s = GAPS["new"]
    records = evaluation((clean, perturbed))
    known = know(records, "five-state", retained_correct=[k], persistent=[s])
    return records, known, bound(records, name, known, witness=True)


def test_a_gap_that_rounding_leaves_takes_a_tree():
    written, tally = text_of(branched())
    assert tally.by_branching == 1
    assert tally.nodes >= 3
    assert b'"rule":"branch"' in written
    assert b'"farkas"' in written


def test_a_tree_that_would_be_too_large_is_not_certified(monkeypatch):
    monkeypatch.setattr(branching, "NODE_LIMIT", 2)
    written, tally = text_of(branched())
    assert tally.uncertified == ["branching took more than 2 nodes or 200 levels"]
    assert statuses(written)[NOT] == ["lower: branching took more than 2 nodes or 200 levels"]


def test_questions_that_differ_by_margins_share_their_multipliers(monkeypatch):
    solved = []
    run = class_bounds.relaxations
    monkeypatch.setattr(class_bounds, "relaxations", lambda *a: solved.append(a) or run(*a))
    _, clean, perturbed, k, s = GAPS["new"]
    records = evaluation((clean, perturbed))
    known = know(records, "five-state", retained_correct=[k], persistent=[s])
    names = ("new-accepted-error", "resolved-accepted-error", "kept-accepted-error")
    written, _ = text_of(*((records, known, bound(records, n, known, witness=True)) for n in names))
    assert len(solved) == 1
    assert set(statuses(written)) == {EMBEDDED}


# --- what is not true, or not shown, is not ---------------------------------------------------------------------------


def test_a_number_that_is_wrong_finds_no_proof():
    for name, level in (("lost-acceptance", "marginals"), ("kept-accepted-error", "five-state"), ("lost", "marginals")):
        records = evaluation(
            ([(0, True), (0, False), (1, True), (2, True)], [(0, False), (1, True), (2, True), (0, True)])
        )
        evaluated, known, interval = asked(records, name, level)
        assert interval.high.value is not None
        for wrong in (interval.high.value - Fraction(1, 1000), interval.high.value + Fraction(1, 1000)):
            lie = replace(interval, high=replace(interval.high, value=wrong))
            found = statuses(text_of((evaluated, known, lie))[0])
            assert not {CERTIFIED, EMBEDDED} & set(found)


def test_an_interval_without_correspondences_is_not_certified_as_sharp():
    records = evaluation(([(0, True)], [(0, False)]))
    known = know(records, "marginals")
    written, tally = text_of((records, known, bound(records, "lost-acceptance", known)))
    assert tally.uncertified == ["no correspondence that attains it was asked for"] * 2
    assert set(statuses(written)) == {NOT}


def test_outer_ends_are_certified_as_outer(monkeypatch):
    records = evaluation(
        ([(0, True), (0, True), (1, True), (1, True)], [(0, False), (0, False), (0, False), (1, True)]),
        (
            [(0, True), (0, False), (0, False), (1, True), (1, True)],
            [(0, False), (0, False), (0, False), (1, True), (1, True)],
        ),
    )
    for module in (aggregate, certificates):
        monkeypatch.setattr(module, "DP_LIMIT", 0)
    known = know(records, "total-correct-correct", total=5)
    interval = bound(records, "lost-acceptance", known, average="macro", witness=True)
    assert not interval.sharp
    written, _ = text_of((records, known, interval))
    assert b'"rule":"mean"' in written
    assert set(statuses(written)) == {EMBEDDED}


def test_what_the_format_does_not_cover_is_refused():
    records = evaluation(([(0, True, 0.5)], [(0, False, 0.25)]))
    known = know(records, "marginals")
    own = bound(records, pair_quantity("mine", lambda x, y: x.accepted), known)
    with pytest.raises(QuantityError, match="does not cover quantities of one's own"):
        text_of((records, known, own))
    rough = bound(records, "mean-probability-decrease", known, arithmetic="float")
    with pytest.raises(QuantityError, match="states exact ends"):
        text_of((records, known, rough))


# --- the file ---------------------------------------------------------------------------------------------------------


def test_tables_that_ends_share_are_written_once():
    records = evaluation(([(0, True), (1, True)], [(1, True), (0, True)]))
    written, _ = text_of(*(asked(records, name, "paired") for name in QUANTITIES))
    (only,) = json.loads(written)["evaluations"][0]["classes"]
    assert len(only["tables"]) == 2, "with acceptance, and without for probabilities"
    assert set(statuses(written, records_text(records))) == {CERTIFIED}


def test_evaluations_follow_one_another(tmp_path):
    source = load_records(write_small(tmp_path / "r.parquet"))
    sides = [side.at_threshold(t) for side in source.evaluations("net") for t in ("0.8", "0.9")]
    written, tally = text_of(
        *(asked(side, name, "marginals") for side in sides for name in ("lost-acceptance", "lost"))
    )
    assert tally.evaluations == 4
    assert [i["evaluation"] for i in json.loads(written)["intervals"]] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert statuses(written, *map(records_text, sides)) == {CERTIFIED: [""] * 8}


@pytest.mark.parametrize("name", ["model", "clean", "perturbed"])
def test_records_do_not_speak_for_another_model_or_condition(tmp_path, name):
    source = load_records(write_small(tmp_path / "r.parquet"))
    sides = [side.at_threshold("0.8") for side in source.evaluations("net")]
    sides[1] = replace(sides[1], model="other", clean_condition="raw")
    written, _ = text_of(*(asked(side, "lost", "marginals") for side in sides))
    whole = json.loads(written)
    one, other = whole["evaluations"]
    assert one[name] != other[name]
    one[name], other[name] = other[name], one[name]
    swapped = statuses(json.dumps(whole).encode(), *map(records_text, sides))
    assert set(swapped) == {REJECTED}
    assert sum("not the names of this evaluation" in reason for reason in swapped[REJECTED]) == 4


def test_the_canonical_text_knows_no_order_and_no_format(tmp_path):
    table = pl.read_parquet(write_small(tmp_path / "r.parquet"))
    table.sample(fraction=1, shuffle=True, seed=1).write_csv(tmp_path / "r.csv")
    texts = [
        records_text(load_records(tmp_path / name).evaluation("net", "fog/1").at_threshold("0.8"))
        for name in ("r.parquet", "r.csv")
    ]
    assert texts[0] == texts[1]
    lines = texts[0].split("\n")
    assert lines[1:3] == [
        f'clean\t"a"\t0\t1\t0\t1\t{(0.9).hex()}\t{(0.9).hex()}',
        f'clean\t"b"\t0\t1\t0\t0\t{(0.7).hex()}\t{(0.7).hex()}',
    ]
    assert lines[-2:] == [f'perturbed\t"f"\t1\t0\t0\t1\t{(0.8).hex()}\t{(1 - 0.8).hex()}', ""]
    assert records_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_canonical_text_escapes_names_and_marks_what_is_absent():
    records = evaluation(([(0, True)], [(1, True)]), acceptance=False)
    records = replace(records, classes=("é\t",), labels=("é\t", "b"))
    assert records_text(records).split("\n")[1].split("\t") == [
        *("clean", '"image0"', '"\\u00e9\\t"', "1", '"\\u00e9\\t"', "-", "-", (0.5).hex())
    ]


def test_a_certificate_is_written_whole_or_not_at_all(tmp_path):
    records = evaluation(([(0, True)], [(0, False)]))
    path = tmp_path / "c.json"
    path.write_text("before")
    rough = bound(records, "mean-probability-decrease", "marginals", arithmetic="float")
    with pytest.raises(QuantityError):
        certify(path, records, [("marginals", rough)])
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]
    assert path.read_text() == "before"
    certify(path, records, [("marginals", bound(records, "lost", "marginals", witness=True))])
    assert set(statuses(path.read_bytes())) == {EMBEDDED}


# --- the program of a class -------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(records=evaluations(max_images=6), data=st.data())
def test_multipliers_bound_every_point_whatever_they_are(records, data):
    """Any correspondence's point obeys the rows, and any multipliers bound its cost."""
    groups = [
        Counter((None if r == 0 else int(r), int(a)) for r, a in zip(side.predicted, side.accepted, strict=True))
        for side in (records.clean, records.perturbed)
    ]
    program = ClassProgram.of(*groups, (0, records.images), None)
    order = data.draw(st.permutations(range(records.images)))
    point = dict.fromkeys(program.variables, 0)
    for i, j in enumerate(order):
        x, y = int(records.clean.predicted[i]), int(records.perturbed.predicted[j])
        bits = int(records.clean.accepted[i]), int(records.perturbed.accepted[j])
        if x and x == y:
            point["st", x, *bits] += 1
            continue
        point[("ch" if y else "wc") if x else ("cw" if y else "cc"), *bits] += 1
        if x and y:
            for name in (("out", x, *bits), ("in", y, *bits)):
                if name in point:
                    point[name] += 1
    at = np.array([point[name] for name in program.variables], dtype=np.int64)
    sums = np.zeros(len(program.rows), dtype=np.int64)
    np.add.at(sums, program.row, program.coefficient * at[program.variable])
    assert ((program.lower <= sums) & (sums <= program.upper)).all()
    assert (at <= program.limit).all()
    size = len(program.rows)
    y = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size)), dtype=np.float64)
    cost = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=len(at), max_size=len(at))), dtype=np.int64)
    assert program.multipliers(cost, y, 1, np.zeros_like(at), program.limit).bound >= int((cost * at).sum())


# --- audits -----------------------------------------------------------------------------------------------------------


def claim(claim_id, lower, upper="", **fields):
    row = {
        **dict.fromkeys(("model", "clean", "perturbed", "average", "denominator"), ""),
        "claim_id": claim_id,
        "quantity": "kept-accepted-error",
        "knowledge": "five-state",
        "threshold": "",
        "lower": lower,
        "upper": upper,
        "unit": "count",
        "retained_correct": "",
        "persistent": "",
        "rounding": "",
    }
    return row | {"denominator": "none"} | fields


@pytest.fixture
def hole():
    """Records of one class whose kept accepted errors, given k = 0 and s = 1, are 0 or 2 (theory, section 5)."""
    clean = [(1, True), (2, True), (0, True), (0, True)]
    perturbed = [(2, True), (2, True), (1, False), (1, False)]
    rows = []
    for condition, side in (("clean", clean), ("fog/1", [perturbed[i] for i in (2, 3, 0, 1)])):
        for i, (predicted, accepted) in enumerate(side):
            rows.append(
                {
                    "model": "net",
                    "condition": condition,
                    "image_id": f"i{i}",
                    "label": 0,
                    "predicted": predicted,
                    "true_probability": 0.25 * (i + 1) if predicted == 0 else 0.0,
                    "accepted": accepted,
                }
            )
    return pl.DataFrame(rows)


def audited(claims, records):
    certificate = Certificate()
    verdicts = audit(claims, records)
    left_out = certificate.add_verdicts(verdicts)
    written = "".join(certificate.parts()).encode()
    report = checker.check(written)
    found = {item.what.split()[0]: item for item in report.items if item.where.startswith("audits")}
    return {v.claim_id: str(v.verdict) for v in verdicts}, found, left_out, json.loads(written)


def test_every_verdict_is_certified(hole):
    rate = {"denominator": "images", "unit": "fraction"}
    claims = [
        claim("sharp", "0", "2"),
        claim("loose", "0", "3"),
        claim("invalid", "0", "1"),
        claim("possible", "2"),
        claim("hole", "1"),
        claim("no count prints so", "0.30", **rate),
        claim("beyond", "3"),
        claim("infeasible", "0", "2", retained_correct="1"),
        claim("too many", "0", "2", persistent="3"),
        claim("undefined", "0.0", "1.0", quantity="lost-acceptance", denominator="", unit="fraction"),
        claim("k at marginals", "0", "2", knowledge="marginals", retained_correct="3"),
        claim("unread", "x", "2"),
    ]
    verdicts, found, left_out, written = audited(claims, hole)
    assert verdicts == {
        **{name: name for name in ("sharp", "loose", "invalid", "possible", "infeasible", "undefined")},
        **dict.fromkeys(("hole", "no count prints so", "beyond"), "impossible"),
        **dict.fromkeys(("too many", "k at marginals"), "infeasible"),
        "unread": "error",
    }
    assert left_out == ["unread"]
    assert {item.status for item in found.values()} == {EMBEDDED}, found
    audits = {entry["claim_id"]: entry for entry in written["audits"]}
    assert audits["hole"]["excluded"]["tree"] is not None
    assert audits["no count prints so"]["excluded"] == {"tree": None}
    assert audits["beyond"]["excluded"] is None
    assert audits["too many"]["infeasible"]["claim"] == "feasible_persistent"
    assert len(written["evaluations"]) == 1
    assert len(written["intervals"]) == 3, "each question once"


def test_a_verdict_that_cannot_be_certified_says_so(hole):
    both = pl.concat(
        [
            hole,
            hole.with_columns(
                label=pl.lit(3, pl.Int64), predicted=3 + pl.col("predicted"), image_id=pl.col("image_id") + "b"
            ),
        ]
    )
    verdicts, found, _, _ = audited([claim("hole", "1")], both)
    assert verdicts == {"hole": "impossible"}
    assert (found["hole"].status, found["hole"].reason) == (
        NOT,
        "that no counts of several classes add up to a value is not proved",
    )


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    return write_small(tmp_path / "records.parquet")


@pytest.fixture
def command(capsys):
    return Command(capsys)


def test_the_command_certifies_all_that_it_shows(command, small, tmp_path):
    path = tmp_path / "c.json"
    common = (small, "--quantity", "all", "--certificate", path, "--json")
    for options in (
        ("--perturbed", "all", "--threshold", "0.8,0.9"),
        ("--perturbed", "fog/1", "--coverage", "0.5", "--average", "macro"),
        ("--perturbed", "fog/1", "--threshold", "0.8", "--per-class"),
        ("--perturbed", "fog/1", "--threshold", "0.8", "--method", "milp", "--knowledge", "five-state,marginals"),
        ("--perturbed", "fog/1", "--threshold", "0.8", "--unpaired"),
    ):
        done = command("bounds", *common, *options)
        assert done.code == 0, done
        checked = command("check", path, "--records", small, "--json")
        assert checked.code == 0, checked
        assert Counter(item["status"] for item in checked.json["items"]) == {CERTIFIED: len(done.json)}


def test_strata_are_the_classes(command, tmp_path):
    small = write_small(tmp_path / "r.parquet", group=pl.col("image_id").is_in(["a", "d"]).cast(pl.Int64))
    path = tmp_path / "c.json"
    asked = ("--perturbed", "fog/1", "--threshold", "0.8", "--strata", "group", "--certificate", path)
    assert command("bounds", small, *asked).code == 0
    assert command("check", path, "--records", small, "--strata", "group").code == 0
    assert command("check", path, "--records", small).code == 1


def test_counts_of_unpaired_records_are_written_as_given(command, small, tmp_path):
    counts, path = tmp_path / "counts.csv", tmp_path / "c.json"
    counts.write_text("class,retained_correct,persistent\n0,1,0\n1,1,1\n")
    asked = ("--perturbed", "fog/1", "--threshold", "0.8", "--quantity", "all", "--unpaired", "--counts", counts)
    done = command("bounds", small, *asked, "--certificate", path, "--json")
    assert done.code == 0, done
    assert {i["knowledge"].get("source") for i in json.loads(path.read_text())["intervals"]} == {None, "given"}
    assert command("check", path, "--records", small).code == 0


def test_averages_over_conditions_stay_out(command, small, tmp_path):
    path = tmp_path / "c.json"
    asked = ("--average-conditions", "both=fog/1,snow/2", "--threshold", "0.8", "--certificate", path)
    done = command("bounds", small, *asked, "--json")
    assert "averages over conditions are not in it" in done.err
    written = json.loads(path.read_text())
    assert {entry["perturbed"] for entry in written["evaluations"]} == {"fog/1", "snow/2"}
    assert len(written["intervals"]) == 2 * len(done.json)
    assert command("check", path).code in (0, 1)


def test_the_audit_writes_its_verdicts(command, small, tmp_path):
    claims, path = tmp_path / "claims.csv", tmp_path / "c.json"
    rows = [claim("yes", "0", "2", knowledge="marginals", perturbed="fog/1", threshold="0.8"), claim("no", "x", "2")]
    pl.DataFrame(rows).write_csv(claims)
    done = command("audit", claims, "--records", small, "--certificate", path)
    assert done.code == 2
    assert "are not in it: no" in done.err
    checked = command("check", path, "--records", small, "--json")
    assert checked.code == 0
    assert [item["status"] for item in checked.json["items"]] == [CERTIFIED] * 2


def test_what_is_not_certified_is_noted(command, small, tmp_path, monkeypatch):
    def never(*_):
        raise branching.Unproven("not today")

    monkeypatch.setattr(certificates, "_proof", never)
    asked = ("--perturbed", "fog/1", "--threshold", "0.8", "--knowledge", "marginals", "--quantity", "lost")
    done = command("bounds", small, *asked, "--certificate", tmp_path / "c.json")
    assert done.code == 0
    assert "--certificate: 2 not certified, the first as not today" in done.err


def test_bad_paths_are_refused_before_the_work(command, small, tmp_path):
    before = small.read_bytes()
    for path, why in (
        (tmp_path / "c.txt", "ends in none of .json"),
        (tmp_path / "absent" / "c.json", "there is no folder"),
        (tmp_path, "ends in none of .json"),
    ):
        assert why in command("bounds", small, "--perturbed", "fog/1", "--certificate", path).refused()
    claims = tmp_path / "claims.json"
    claims.write_text("claim_id\n")
    refused = command("audit", claims, "--records", small, "--certificate", claims).refused()
    assert "is the same file as CLAIMS" in refused
    both = tmp_path / "c.json"
    asked = ("--perturbed", "fog/1", "--format", "csv", "--out", both, "--certificate", both)
    assert "is the same file as --certificate" in command("bounds", small, *asked).refused()
    assert small.read_bytes() == before
    assert claims.read_text() == "claim_id\n"


def test_floats_are_refused_and_nothing_is_left_behind(command, small, tmp_path):
    path = tmp_path / "c.json"
    asked = ("--perturbed", "fog/1", "--arithmetic", "float", "--quantity", "lost", "--certificate", path)
    assert "--arithmetic 'float': a certificate states exact ends" in command("bounds", small, *asked).refused()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["records.parquet"]


def test_without_a_writer_the_option_says_so(command, small, tmp_path, monkeypatch):
    entry_points = metadata.entry_points
    monkeypatch.setattr(metadata, "entry_points", lambda **k: () if k.get("group") == GROUP else entry_points(**k))
    refused = command("bounds", small, "--perturbed", "fog/1", "--certificate", tmp_path / "c.json").refused()
    assert "no package that is installed writes certificates" in refused


def test_the_option_loads_the_writer_only_when_used(small):
    code = (
        "import sys\nfrom bounds.cli import run\n"
        f"run(['bounds', {str(small)!r}, '--perturbed', 'fog/1', '--quantity', 'lost'])\n"
        "print(any(name.startswith('proofs') for name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr.strip().endswith("False")
