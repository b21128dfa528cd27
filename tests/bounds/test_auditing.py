"""Verdicts: one of each by hand, against all correspondences at random, and rows that cannot be read."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracles
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

import bounds
from bounds import attained_search, auditing
from bounds.auditing import COLUMNS, Verdict, audit, exit_code
from bounds.errors import ClaimError, SolverError
from bounds.evaluation import Evaluation
from bounds.interval import End, Interval
from bounds.knowledge import Level, know
from bounds.quantities import QUANTITIES
from bounds.records import load_records


def table(ev: Evaluation) -> pl.DataFrame:
    """The records of an evaluation from `strategies`: wrong predictions are labels other than the class."""
    rows = []
    for condition, side in (("clean", ev.clean), ("fog/3", ev.perturbed)):
        for i in range(len(side)):
            label = f"class{ev.class_of_row[i]}"
            predicted = label if side.correct[i] else f"wrong{side.predicted[i]}"
            accepted, p = bool(side.accepted[i]), float(side.true_probability[i])
            rows.append((condition, f"{i:03d}.png", label, predicted, p, accepted))
    return pl.DataFrame(
        rows, ["condition", "image_id", "label", "predicted", "true_probability", "accepted"], orient="row"
    )


def claim(quantity: str, knowledge: str, lower: str, upper: str = "", **rest: Any) -> dict[str, Any]:
    fields = dict.fromkeys(COLUMNS, "") | {"claim_id": "c", "unit": "fraction"}
    return fields | {"quantity": quantity, "knowledge": knowledge, "lower": lower, "upper": upper} | rest


def one(ev: Evaluation | pl.DataFrame, *args: str, **rest: Any) -> Verdict:
    (verdict,) = audit([claim(*args, **rest)], ev if isinstance(ev, pl.DataFrame) else table(ev))
    return verdict


YES, NO = True, False

NINE = evaluation(
    (
        [(0, YES)] * 9 + [(1, NO)],
        [(1, NO)] * 3 + [(0, YES)] * 6 + [(1, NO)],
    )
)
"""10 images, 9 correct when clean, 3 of those lost."""

FLAT = evaluation(([(0, YES, 0.75), (0, NO, 0.5), (1, YES, 0.25)], [(0, NO, 0.5), (0, YES, 0.25), (2, YES, 0.125)]))
"""Clean ✓✓w, perturbed ✓✓w; k is 1 or 2; at k = 2 lost acceptance is 0 or 1."""


# --- one of each -----------------------------------------------------------------------------------------------------


def test_sharp() -> None:
    verdict = one(FLAT, "lost-acceptance", "correct-correct", "0.0", "0.5")
    assert verdict.to_dict() == {
        "claim_id": "c",
        "verdict": "sharp",
        "reported": {"lower": "0.0", "upper": "0.5", "unit": "fraction"},
        "exact": {"lower": "0/1", "upper": "1/2", "lower_float": 0.0, "upper_float": 0.5},
        "excess": {"lower": "0/1", "upper": "0/1"},
        "witness": None,
        "reason": "both ends print as reported",
    }


def test_loose_with_the_excess_from_the_printed_interval() -> None:
    verdict = one(FLAT, "lost-acceptance", "correct-correct", "0.0", "0.70")
    assert (verdict.verdict, verdict.excess) == ("loose", (0, Fraction("0.195")))
    verdict = one(FLAT, "lost-acceptance", "correct-correct", "-10.0%", "50%", unit="")
    assert (verdict.verdict, verdict.excess) == ("loose", (Fraction("0.0995"), 0))


@pytest.mark.parametrize(
    ("lower", "upper", "end", "value"), [("0.1", "0.5", "lower", 0), ("0.0", "0.4", "upper", Fraction(1, 2))]
)
def test_invalid_brings_the_correspondence(lower: str, upper: str, end: str, value: Fraction) -> None:
    verdict = one(FLAT, "lost-acceptance", "correct-correct", lower, upper)
    assert verdict.verdict == "invalid"
    witness = verdict.to_dict()["witness"]
    assert (witness["end"], Fraction(witness["value"])) == (end, value)
    x, y = oracles.records(FLAT.clean), oracles.records(FLAT.perturbed)
    pairs = [(x[int(a[:3])], y[int(b[:3])]) for a, b in witness["pairs"]]
    assert sorted(b for _, b in witness["pairs"]) == ["000.png", "001.png", "002.png"]
    lost = sum(oracles.NUMERATORS["lost-acceptance"](*pair) for pair in pairs)
    assert Fraction(lost, sum(oracles.state(*pair) == "CC" for pair in pairs)) == value


def test_infeasible_names_the_condition() -> None:
    verdict = one(FLAT, "lost-acceptance", "correct-correct", "0", "1", retained_correct="3")
    assert verdict.verdict == "infeasible"
    assert "max(0, 2 + 2 - 3) = 1 <= k <= min(2, 2) = 2 is violated" in verdict.reason
    assert verdict.exact is None


def test_undefined_is_not_zero() -> None:
    nothing = evaluation(([(1, YES)], [(0, YES)]))
    verdict = one(nothing, "lost-acceptance", "marginals", "0.0", "0.0")
    assert (verdict.verdict, verdict.reason) == ("undefined", "undefined: 0 retained-correct images")
    assert one(nothing, "lost-acceptance", "marginals", "0.0").verdict == "undefined"


def test_infeasible_comes_before_undefined() -> None:
    nothing = evaluation(([(1, YES)], [(0, YES)]))
    assert one(nothing, "lost-acceptance", "correct-correct", "0", "1", retained_correct="1").verdict == "infeasible"


def test_possible_and_impossible_values() -> None:
    assert one(FLAT, "lost-acceptance", "correct-correct", "0.5").verdict == "possible"
    assert one(FLAT, "lost-acceptance", "correct-correct", "0.3").verdict == "impossible"
    outside = one(FLAT, "lost-acceptance", "correct-correct", "0.9")
    assert (outside.verdict, outside.reason) == ("impossible", "outside the interval [0, 1/2]")
    found = one(FLAT, "mean-probability-decrease", "correct-correct", "0.250")
    assert (found.verdict, found.witness.value) == ("possible", Fraction(1, 4))


def test_a_value_between_two_attained_ones_is_impossible() -> None:
    """Theory, section 5: k = 0, s = 1 leaves kept accepted errors 0 or 2."""
    ev = evaluation(
        (
            [(1, YES), (2, YES), (0, NO), (0, NO)],
            [(2, YES), (2, YES), (1, NO), (1, NO)],
        )
    )
    given_counts = {"denominator": "none", "unit": "count", "retained_correct": "0", "persistent": "1"}
    verdicts = [one(ev, "kept-accepted-error", "five-state", str(v), **given_counts).verdict for v in range(4)]
    assert verdicts == ["possible", "impossible", "possible", "impossible"]


def test_a_value_of_the_known_pairing() -> None:
    assert one(NINE, "lost", "paired", "0.3").verdict == "possible"
    assert one(NINE, "lost", "paired", "0.2").verdict == "impossible"
    assert one(NINE, "lost", "paired", "0.3", "0.3").verdict == "sharp"


def test_undecided_says_what_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attained_search, "MOST_STEPS", 1000)
    spread = [(0, YES, 0.001 * i + 0.1) for i in range(30)]
    ev = evaluation(([*spread, (1, NO)], spread[:20] + [(1, NO)] * 11))
    # Sums of float32 probabilities are odd multiples of tiny steps: nobody attains a window this narrow by chance.
    verdict = one(ev, "mean-probability-decrease", "correct-correct", "0.01000000000000000001")
    assert verdict.verdict == "undecided"
    assert verdict.reason.startswith("inside the interval; no correspondence with this value was found")
    assert verdict.exact is not None


def test_small_classes_are_enumerated_where_a_solver_would_have_to_be_believed() -> None:
    """C7: new accepted errors are 2 over all bijections and at least 1 in the relaxation, which duals cannot close."""
    ev = evaluation(([(1, YES), (2, NO), (2, NO)], [(2, YES), (1, YES), (0, NO)]))
    fields = {"denominator": "none", "unit": "count", "retained_correct": "0", "persistent": "1"}
    found = [one(ev, "new-accepted-error", "five-state", lower, upper, **fields) for lower, upper in ("22", "12", "05")]
    assert [v.verdict for v in found] == ["sharp", "loose", "loose"]
    assert [v.exact for v in found] == [(2, 2)] * 3
    assert [v.excess for v in found] == [(0, 0), (1, 0), (2, 3)]


def test_an_end_on_a_solvers_word_alone_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """C7: kept accepted errors are 0 over bijections and up to 1 in the relaxation, which has exact multipliers."""
    ev = evaluation(([(1, YES), (2, NO), (2, NO)], [(2, YES), (1, YES), (0, NO)]))
    fields = {"denominator": "none", "unit": "count", "retained_correct": "0", "persistent": "1"}
    actual = auditing.bound

    def bound(*args: Any, **options: Any) -> Interval:
        interval = actual(*args, **options)
        if options["method"] == "lp":
            return interval
        return replace(interval, high=replace(interval.high, proof="branch and bound"))

    monkeypatch.setattr(auditing, "bound", bound)
    verdicts = [one(ev, "kept-accepted-error", "five-state", "0", upper, **fields) for upper in ("0", "1", "2")]
    assert [v.verdict for v in verdicts] == ["undecided", "undecided", "loose"]
    assert [v.exact for v in verdicts] == [(0, 1)] * 3
    assert "only [0, 1] is proven to contain them all" in verdicts[0].reason
    assert "whether it is sharp was not decided" in verdicts[1].reason
    assert verdicts[2].excess == (0, 1)
    assert one(ev, "kept-accepted-error", "five-state", "1", "1", **fields).verdict == "invalid"
    assert one(ev, "kept-accepted-error", "five-state", "1", **fields).verdict == "impossible"


def test_a_limit_that_was_hit_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def bound(*args: Any, **options: Any) -> Interval:
        raise SolverError("program", "milp", "ended 'limit' with nothing proven", "raise --node-limit")

    monkeypatch.setattr(auditing, "bound", bound)
    verdict = one(FLAT, "kept-accepted-error", "five-state", "0", "1")
    assert (verdict.verdict, verdict.exact) == ("undecided", None)
    assert "ended 'limit' with nothing proven" in verdict.reason


def test_an_outer_interval_proves_containment_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a macro average given a total beyond the dynamic program's limit: the ends are not attained."""
    actual = auditing.bound

    def bound(*args: Any, **options: Any) -> Interval:
        interval = actual(*args, **options)
        ends = [End(v, float(v), "closed form") for v in (Fraction(-1, 2), Fraction(3, 2))]
        return replace(interval, low=ends[0], high=ends[1], sharp=False)

    monkeypatch.setattr(auditing, "bound", bound)
    fields = {"denominator": "clean-correct"}
    verdicts = [
        one(NINE, "lost", "marginals", *ends, **fields)
        for ends in (("-0.5", "1.5"), ("-0.7", "1.7"), ("0.3", "0.3"), ("0.4", "1.5"), ("-0.5", "0.2"))
    ]
    assert [v.verdict for v in verdicts] == ["undecided", "loose", "undecided", "invalid", "invalid"]
    assert verdicts[1].excess == (Fraction("0.15"), Fraction("0.15"))
    assert [v.witness.end for v in verdicts[3:]] == ["lower", "upper"]
    assert {v.witness.value for v in verdicts[3:]} == {Fraction(1, 3)}


def test_the_package_offers_it_however_often_it_is_asked() -> None:
    """A function and a module of one name: the second use must not find the module instead."""
    for _ in range(2):
        (verdict,) = bounds.audit([claim("lost", "paired", "0.3")], table(NINE))
        assert verdict.verdict == "possible"


# --- units, rates, totals --------------------------------------------------------------------------------------------


def test_a_rate_agrees_with_its_own_denominator_only() -> None:
    """3 of 9 clean-correct images lost, of 10 images: 33.3 % is the rate among clean-correct ones."""
    claims = [
        claim("lost", "paired", "33.3 %", claim_id="correct", denominator="clean-correct", unit=""),
        claim("lost", "paired", "33.3 %", claim_id="images", denominator="images", unit=""),
        claim("lost", "paired", "30 %", claim_id="30", denominator="images", unit="percent"),
        claim("lost", "paired", "3", claim_id="count", denominator="none", unit="count"),
        claim("flips", "paired", "33.3 %", claim_id="flips", unit="percent"),
    ]
    assert [v.verdict for v in audit(claims, table(NINE))] == [
        "possible",
        "impossible",
        "possible",
        "possible",
        "impossible",
    ]


def test_an_eighth_agrees_with_both_roundings() -> None:
    ev = evaluation(([(0, YES)] * 8, [(1, NO)] + [(0, YES)] * 7))
    verdicts = [one(ev, "lost", "paired", text).verdict for text in ("0.11", "0.12", "0.13", "0.14")]
    assert verdicts == ["impossible", "possible", "possible", "impossible"]
    cut = [one(ev, "lost", "paired", text, rounding="truncate").verdict for text in ("0.11", "0.12", "0.13")]
    assert cut == ["impossible", "possible", "impossible"]


TWO = evaluation(
    ([(0, YES), (0, NO), (1, YES)], [(0, NO), (1, YES), (0, YES)]),
    ([(0, YES), (2, NO), (2, YES)], [(0, NO), (0, YES), (2, YES)]),
)
"""k is 1 or 2 in the first class and 0 or 1 in the second; truly 1 and 1, with 0 and 1 persistent."""


def test_claimed_totals() -> None:
    def verdict(knowledge: str, **totals: str) -> tuple[str, str]:
        found = one(TWO, "retained-correct", knowledge, "0", "6", denominator="none", unit="count", **totals)
        return found.verdict, found.reason

    feasible = "feasible are 1 to 3: the sums over classes"
    for knowledge in ("marginals", "total-correct-correct"):
        assert verdict(knowledge, retained_correct="3")[0] == "loose"
        name, reason = verdict(knowledge, retained_correct="4")
        assert name == "infeasible"
        assert feasible in reason
    for knowledge in ("correct-correct", "five-state", "paired"):
        assert verdict(knowledge, retained_correct="2", persistent="1")[0] == "loose"
        name, reason = verdict(knowledge, retained_correct="3")
        assert (name, "retained_correct 3: the counts of the classes sum to 2" in reason) == ("infeasible", True)
    for knowledge in ("five-state", "paired"):
        name, reason = verdict(knowledge, persistent="0")
        assert (name, "persistent 0: the counts of the classes sum to 1" in reason) == ("infeasible", True)
    assert verdict("marginals", persistent="3")[0] == "infeasible"
    assert verdict("marginals", retained_correct="1", persistent="1")[0] == "infeasible"
    assert verdict("correct-correct", persistent="2")[0] == "infeasible"


def test_a_claimed_total_is_the_knowledge() -> None:
    fields = {"denominator": "none", "unit": "count"}
    for total in ("1", "2", "3"):
        verdict = one(TWO, "retained-correct", "total-correct-correct", total, total, retained_correct=total, **fields)
        assert verdict.verdict == "sharp"
    for total in ("1", "2"):
        verdict = one(FLAT, "retained-correct", "correct-correct", total, total, retained_correct=total, **fields)
        assert verdict.verdict == "sharp"


def test_a_persistent_total_in_a_hole() -> None:
    """C5: s is 0 or 2; 1 meets every linear condition and no correspondence."""
    ev = evaluation(([(1, NO), (2, NO)], [(1, NO), (2, NO)]))
    for knowledge, reason in (
        ("correct-correct", "parity"),
        ("five-state", "parity"),
        ("marginals", "nearest attained are 0 and 2"),
        ("total-correct-correct", "nearest attained are 0 and 2"),
    ):
        verdict = one(ev, "flips", knowledge, "0", "1", persistent="1")
        assert verdict.verdict == "infeasible"
        assert reason in verdict.reason


# --- rows that cannot be used ----------------------------------------------------------------------------------------

BAD = {
    "an unknown quantity": ({"quantity": "lost-acceptence"}, "quantity 'lost-acceptence': unknown"),
    "a denominator of another": ({"denominator": "clean-correct"}, "denominator 'clean-correct': not offered"),
    "an unknown level": ({"knowledge": "everything"}, "knowledge 'everything': unknown"),
    "an unknown average": ({"average": "weighted"}, "average 'weighted': unknown"),
    "no unit": ({"unit": ""}, "lower '0': a number without a unit is ambiguous"),
    "a unit of another": ({"unit": "count"}, "unit 'count': lost-acceptance over 'retained-correct' is a rate"),
    "a rate for a count": (
        {"denominator": "none"},
        "unit 'fraction': lost-acceptance over 'none' is a number of images",
    ),
    "a percent sign": ({"upper": "50%"}, "upper '50%': a % sign beside the unit fraction"),
    "no number": ({"lower": "n/a"}, "lower 'n/a': not a plain decimal number"),
    "no lower end": ({"lower": ""}, "lower '': not a plain decimal number"),
    "a decimal comma": ({"lower": "0,5"}, "lower '0,5': a comma"),
    "ends exchanged": ({"lower": "0.6", "upper": "0.5"}, "lower '0.6': above the upper end '0.5'"),
    "no such condition": ({"perturbed": "fog/9"}, "condition 'fog/9': not in the records"),
    "no such clean": ({"clean": "original", "perturbed": "fog/3"}, "condition 'original': not in the records"),
    "no such model": ({"model": "resnet"}, "model 'resnet': not in the records"),
    "both acceptances": ({"threshold": "0.5"}, "threshold '0.5': the records already carry a column 'accepted'"),
    "an unknown rounding": ({"rounding": "up"}, "rounding 'up': unknown"),
    "a fractional total": ({"retained_correct": "1.5"}, "retained_correct '1.5': a claimed total is a whole number"),
    "an endless total": ({"retained_correct": "9" * 5000}, "a claimed total is a whole number"),
    "a negative total": ({"persistent": "-1"}, "persistent '-1': a claimed total is a whole number"),
    "no claim id": ({"claim_id": ""}, "claim_id '': is empty"),
    "a float": ({"lower": 0.5}, "lower 0.5: a float does not tell how it was printed"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_row_is_its_own_error(name: str) -> None:
    change, message = BAD[name]
    rows = [
        claim("lost-acceptance", "correct-correct", "0", "0.5", claim_id="before"),
        claim("lost-acceptance", "correct-correct", "0", "0.5") | change,
        claim("lost-acceptance", "correct-correct", "0", "0.5", claim_id="after"),
    ]
    verdicts = audit(rows, table(FLAT))
    assert [v.verdict for v in verdicts] == ["sharp", "error", "sharp"]
    claim_id = rows[1]["claim_id"]
    assert verdicts[1].reason.startswith(f"claim {claim_id!r}, row 2: ")
    assert message in verdicts[1].reason
    assert "\n" not in verdicts[1].reason
    assert exit_code(verdicts) == 2


def test_faulty_records_of_one_condition_spoil_no_other_claim() -> None:
    good = table(NINE).with_columns(model=pl.lit("m"))
    perturbed = good.filter(pl.col("condition") == "fog/3")
    faulty = perturbed.with_columns(condition=pl.lit("blur/1"), true_probability=pl.lit(1.5))
    records = pl.concat([good, faulty, perturbed.with_columns(condition=pl.lit("snow/1"))])
    names = [("m", "fog/3"), ("m", "blur/1"), ("m", "snow/1"), ("m", "fog/3"), ("n", "fog/3"), ("m", "clean")]
    rows = [claim("lost", "paired", "0.3", claim_id=f"{i}", model=m, perturbed=p) for i, (m, p) in enumerate(names)]
    verdicts = audit(rows, records)
    assert [v.verdict for v in verdicts] == ["possible", "error", "possible", "possible", "error", "impossible"]
    assert "row 2: true_probability 1.5" in verdicts[1].reason
    assert "row 5: model 'n': not in the records" in verdicts[4].reason


def test_acceptance_needs_a_threshold() -> None:
    records = (
        table(FLAT)
        .with_columns(confidence=pl.Series([0.9, 0.4, 0.8, 0.4, 0.9, 0.9]))
        .drop("accepted", "true_probability")
    )
    verdict = one(records, "lost-acceptance", "correct-correct", "0", "0.5")
    assert verdict.verdict == "error"
    assert "needs acceptance, and neither a threshold nor a column 'accepted' was given" in verdict.reason
    assert one(records, "lost-acceptance", "correct-correct", "0", "0.5", threshold="0.5").verdict == "sharp"
    assert one(records, "retained-correct", "correct-correct", "0", "1").verdict == "loose"


def test_a_second_claim_of_one_name_is_an_error() -> None:
    verdicts = audit([claim("lost", "paired", "0.3")] * 2, table(NINE))
    assert [v.verdict for v in verdicts] == ["possible", "error"]
    assert "claim_id 'c': stands in an earlier row" in verdicts[1].reason


# --- files -----------------------------------------------------------------------------------------------------------

HEADER = ",".join([*COLUMNS, "retained_correct", "rounding"])


def test_200_rows_give_200_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    lines = [HEADER]
    for i in range(200):
        upper = "x" if i % 7 == 3 else "0.5"
        quantity = "lost-acceptance" if i % 11 else "won-acceptance"
        lines.append(f"c{i:03d},,clean,fog/3,{quantity},correct-correct,,micro,,0.0,{upper},fraction,,")
    lines[50] = "c049,too,few"
    lines[51] += ",too,many"
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    verdicts = audit(path, table(FLAT))
    assert [v.claim_id for v in verdicts] == [f"c{i:03d}" for i in range(200)]
    bad = {i for i in range(200) if i % 7 == 3 or i % 11 == 0} | {49, 50}
    assert [v.verdict for v in verdicts] == ["error" if i in bad else "sharp" for i in range(200)]
    assert "row 50: fields 3: not as many as the header has" in verdicts[49].reason
    for verdict in verdicts:
        assert json.loads(json.dumps(verdict.to_dict(), allow_nan=False)) == verdict.to_dict()


@pytest.mark.parametrize("kind", ["plain", "bom", "gzip", "crlf", "quoted"])
def test_csv_as_it_comes(tmp_path: Path, kind: str) -> None:
    row = ["NA", "", "", "", "lost", "paired", "", "", "clean-correct", "33.3 %", "", "", "", ""]
    text = f"{HEADER}\n{','.join(row)}\n"
    if kind == "quoted":
        text = HEADER + "\n" + ",".join(f'"{field}"' for field in row) + "\n"
    raw = text.replace("\n", "\r\n" if kind == "crlf" else "\n").encode("utf-8-sig" if kind == "bom" else "utf-8")
    path = tmp_path / "claims.csv"
    path.write_bytes(gzip.compress(raw) if kind == "gzip" else raw)
    (verdict,) = audit(str(path), table(NINE))
    assert (verdict.claim_id, verdict.verdict) == ("NA", "possible")
    assert verdict.to_dict()["reported"] == {"lower": "33.3 %", "upper": None, "unit": "percent"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "claims '.*': is empty"),
        (HEADER.replace("unit", "units").encode(), "column 'units': unknown in a claims file"),
        (HEADER.replace("unit,", "").encode(), "column 'unit': missing from the claims file"),
        ((HEADER + ",unit").encode(), "column 'unit': stands twice"),
        (HEADER.replace(",", ";").encode(), "its columns are separated by ';'"),
        (HEADER.encode("utf-16"), "not readable as CSV"),
        (b"\x1f\x8b\x08broken", "claims"),
        ((HEADER + '\n"c,,').encode(), "not readable as CSV"),
    ],
)
def test_a_file_that_is_no_claims_file(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "claims.csv"
    path.write_bytes(content)
    with pytest.raises(ClaimError, match=message) as error:
        audit(path, table(FLAT))
    assert "\n" not in error.value.line


def test_a_missing_file_and_a_table_of_another_kind() -> None:
    with pytest.raises(ClaimError, match=r"claims 'nowhere.csv': No such file"):
        audit("nowhere.csv", table(FLAT))
    with pytest.raises(ClaimError, match="claims 'int': not a table"):
        audit(3, table(FLAT))
    with pytest.raises(ClaimError, match="claims 'list': not a table"):
        audit([["c"]], table(FLAT))


def test_a_polars_table_of_claims() -> None:
    rows = [claim("lost", "paired", "0.3"), claim("lost", "paired", "0.30", "0.40", claim_id="d")]
    assert [v.verdict for v in audit(pl.DataFrame(rows), table(NINE))] == ["possible", "loose"]
    (verdict,) = audit([claim("lost", "paired", "") | {"lower": Decimal("0.30")}], table(NINE))
    assert (verdict.verdict, verdict.lower) == ("possible", "0.30")
    with pytest.raises(ClaimError, match="column 'claim_id': missing"):
        audit(pl.DataFrame({"lower": ["0.3"]}), table(NINE))


def test_exit_codes() -> None:
    def code(*names: str) -> int:
        return exit_code([Verdict("c", auditing.VerdictName(name), "", "", "", "") for name in names])

    assert code() == 0
    assert code("sharp", "loose", "possible") == 0
    for name in ("invalid", "infeasible", "undefined", "impossible", "undecided"):
        assert code("sharp", name) == 1
        assert code("error", name) == 2


# --- against every correspondence ------------------------------------------------------------------------------------

FAMILY = ["lost-acceptance", "gained-acceptance", "mean-probability-decrease", "retained-correct", "lost", "recovered"]
FAMILY += ["flips", "persistent-wrong", "changed-wrong"]
ASKED = [
    (name, denominator, average)
    for name in FAMILY
    for denominator in QUANTITIES[name].denominators
    for average in ("micro", "macro")
    if (denominator, average) != ("none", "macro")
]


def printed(value: Fraction, places: int) -> str:
    """Rounded half up; `value` is not negative or the tie does not matter, since both roundings are allowed."""
    whole = (value * 10**places * 2 + 1) // 2
    return f"{Decimal(int(whole)).scaleb(-places):f}"


def window(text: str, whole: bool) -> tuple[Fraction, Fraction]:
    half = Fraction(0) if whole else Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
    return Fraction(text) - half, Fraction(text) + half


@settings(max_examples=300)
@given(evaluations(max_images=3, max_classes=3, max_labels=2, min_images=1), st.data())
def test_verdicts_agree_with_all_correspondences(ev: Evaluation, data: st.DataObject) -> None:
    name, denominator, average = data.draw(st.sampled_from(ASKED))
    level = data.draw(st.sampled_from(list(Level)[:-1]))
    known = know(ev, Level.FIVE_STATE)
    k, s = known.retained_correct.tolist(), known.persistent.tolist()
    values = oracles.values(ev, name, denominator, average, level, k, s) - {None}
    unit = QUANTITIES[name].unit(denominator)
    places = 0 if unit == "count" else data.draw(st.integers(1, 3))
    step = Fraction(1, 10**places)
    low, high = min(values, default=Fraction(0)), max(values, default=Fraction(1))
    near = st.integers(-2, 2).map(lambda steps: steps * step)
    lower, upper = printed(low + data.draw(near), places), printed(high + data.draw(near), places)
    assume(Fraction(lower) <= Fraction(upper) and (unit != "count" or Fraction(lower) >= 0))
    inner = printed(low + (high - low) * data.draw(st.fractions(0, 1, max_denominator=12)), places)
    fields = {"denominator": denominator, "average": average, "unit": "fraction" if places else "count"}
    interval, value = audit(
        [
            claim(name, level, lower, upper, claim_id="interval", **fields),
            claim(name, level, inner, claim_id="value", **fields),
        ],
        table(ev),
    )
    if not values:
        assert (interval.verdict, value.verdict) == ("undefined", "undefined")
        return
    (low_a, low_b), (high_a, high_b) = window(lower, unit == "count"), window(upper, unit == "count")
    if low < low_a or high > high_b:
        assert interval.verdict == "invalid"
        assert interval.witness.value in values
        assert interval.witness.value < low_a or interval.witness.value > high_b
    elif low <= low_b and high >= high_a:
        assert interval.verdict == "sharp"
    else:
        assert interval.verdict == "loose"
        assert interval.excess == (max(0, low - low_b), max(0, high_a - high))
    a, b = window(inner, unit == "count")
    if any(a <= v <= b for v in values):
        assert value.verdict == "possible"
        assert value.witness.value in values
        assert a <= value.witness.value <= b
    else:
        assert value.verdict == "impossible"


def test_claims_on_the_shared_records(shared_records: Path, tmp_path: Path) -> None:
    """Intervals as `bound` finds them, printed to three digits, are sharp; the paired value is possible."""
    from bounds.solve import bound

    records = load_records(shared_records)
    path = tmp_path / "claims.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for perturbed in ("fog/3", "screen_simulated"):
            evaluation = records.evaluation("resnet20", perturbed).at_threshold("0.8")
            for name in ("lost-acceptance", "mean-probability-decrease"):
                for level in ("marginals", "correct-correct"):
                    interval = bound(evaluation, name, level)
                    for kind in ("interval", "value"):
                        ends = (interval.low.value, interval.high.value) if kind == "interval" else (interval.paired,)
                        texts = [printed(end, 3) for end in ends] + [""]
                        row = claim(name, level, *texts[:2], claim_id=f"{perturbed} {name} {level} {kind}")
                        writer.writerow(row | {"model": "resnet20", "perturbed": perturbed, "threshold": "0.8"})
    verdicts = audit(path, records)
    assert [v.verdict for v in verdicts] == ["sharp", "possible"] * 8
