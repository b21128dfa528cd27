"""The checker of reports' certificates: what it accepts is true, and every rule has a spoiled certificate."""

from __future__ import annotations

import ast
import copy
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from report_oracle import HOLDS, Unknown, said, true

from bounds.errors import ClaimError
from bounds.printed import parse
from bounds.report_sheet import Counted, Sheet
from proofs import checker, report_checker
from proofs.report_certificates import ReportCertificate

# --- certificates ---------------------------------------------------------------------------------------------------


def small():
    """Seven images: 6 and 3 correct, an odd number of flips printed as 4, and a rate of them."""
    statements = (
        said("clean-correct", "6"),
        said("perturbed-correct", "0.43", "images", unit="fraction"),
        said("flips", "4"),
        said("lost", "58%", "clean-correct", unit="", relation="at most"),
        said("persistent-wrong", "0", relation="at least"),
    )
    certificate = ReportCertificate()
    report = certificate.report(Sheet("small", ((None, 7),), False, statements))
    report.possible([0, 1])
    report.possible([0, 1, 2])
    asked = Counted("retained-correct")
    ends = report.ends([0, 1, 3], asked)
    rate = Counted("recovered", "perturbed-correct")
    others = report.ends([0, 1, 3, 4], rate)
    report.ends([1, 3], Counted("changed-wrong", "clean-wrong"))
    report.verdict(asked, printed("3", "3"), "sharp", [ends["lower"], ends["upper"]])
    report.verdict(rate, printed("0", "10", "percent"), "loose", [others["lower"], others["upper"]])
    report.verdict(asked, printed("1", "2"), "invalid", [ends["upper"]])
    report.verdict(asked, printed("1", "2"), "infeasible", [1])
    return json.loads(json.dumps(certificate.to_dict()))


def accepted():
    """Two classes, three images, with acceptance, and a ratio that nothing is left to take of."""
    statements = (
        said("clean-accepted-correct", "1.0", "clean-accepted", unit="fraction", of_class=0),
        said("clean-accepted", "1", of_class=0),
        said("perturbed-accepted", "33", "images", unit="percent"),
        said("retained-correct", "33", "images", unit="percent", relation="between", upper="67"),
        said("CC1. CW1.", "0", relation="at most", of_class=1),
    )
    certificate = ReportCertificate()
    report = certificate.report(Sheet("accepted", (("cat", 2), ("dog", 1)), True, statements))
    report.ends([0, 1, 2, 3], Counted("lost-acceptance"))
    report.ends([0, 1, 2, 3], Counted("new-accepted-error", "images"))
    undefined = report.ends([4], Counted("lost-acceptance", "retained-correct-accepted", 1))["undefined"]
    report.verdict(
        Counted("lost-acceptance", "retained-correct-accepted", 1),
        printed("1", "1", "percent"),
        "undefined",
        [undefined],
    )
    report.possible([0, 1, 2, 3, 4])
    return json.loads(json.dumps(certificate.to_dict()))


def printed(lower, upper, unit="count", rounding=""):
    return {"lower": lower, "upper": upper, "unit": unit, "rounding": rounding}


def split():
    """Ratios that leave points between the whole ones: a proof with cases."""
    statements = (
        said("clean-correct", "0.66", "perturbed-correct", unit="fraction", relation="at least"),
        said("clean-correct", "0.75", "perturbed-correct", unit="fraction", relation="at most"),
        said("lost", "0.6", "clean-correct", unit="fraction", relation="at least"),
    )
    certificate = ReportCertificate()
    report = certificate.report(Sheet("split", ((None, 8),), False, statements))
    for asked in (Counted("perturbed-correct"), Counted("lost"), Counted("flips"), Counted("lost", "flips")):
        report.ends([0, 1, 2], asked)
    return json.loads(json.dumps(certificate.to_dict()))


def checked(whole):
    return checker.check(json.dumps(whole).encode())


def statuses(whole):
    return Counter(item.status for item in checked(whole).items)


@pytest.mark.parametrize("build", [small, accepted, split])
def test_what_is_written_is_true(build):
    whole = build()
    result = checked(whole)
    assert {item.status for item in result.items} == {"certified"}, list(result.lines())
    assert result.exit_code == 0
    sheet = whole["reports"][0]
    assert all(true(sheet, number) for number in range(len(sheet["answers"])))


def test_there_are_proofs_of_every_kind():
    nodes = [
        answer["proof"]
        for build in (small, accepted, split)
        for answer in build()["reports"][0]["answers"]
        if "proof" in answer
    ]
    assert any("form" in node for node in nodes)
    assert any(node["rounds"] for node in nodes)
    assert any(not node["rounds"] and "rows" in node for node in nodes)


def test_the_lines_say_what_was_read_and_what_follows():
    lines = list(checked(small()).lines())
    assert lines[0] == "reports[0] small: 5 statements"
    assert lines[2] == "  1 perturbed-correct over images is 0.43 fraction"
    assert lines[4] == "  3 lost over clean-correct at most 58%"
    assert lines[7].endswith("statements 0, 1, 2 cannot hold together, but without any one of them can: certified")
    assert lines[8].endswith("given statements 0, 1, 3, retained-correct is at least 3, which is attained: certified")
    assert lines[-1] == "12 certified"


# --- spoiled certificates -------------------------------------------------------------------------------------------


def put(whole, path, value):
    """A copy with one entry replaced; a path that ends in "-" removes it, "+" adds a key."""
    whole = copy.deepcopy(whole)
    at = whole
    for step in path[:-1]:
        at = at[step]
    if value is KeyError:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return whole


ANSWERS = ("reports", 0, "answers")
STATEMENTS = ("reports", 0, "statements")

SPOILED = [
    (("format",), "another", "has to be one of"),
    (("version",), 2, "has to lie in 1..1"),
    (("more",), 1, "unknown"),
    ((*ANSWERS, 0, "table"), [[0, 7]], "breaks statement 0"),
    ((*ANSWERS, 0, "table"), [[0, 4], [1, 2], [3, 2]], "breaks the images of class 0"),
    ((*ANSWERS, 0, "table"), [[0, 3], [0, 3], [1, 1]], "stands twice"),
    ((*ANSWERS, 0, "table"), [[0, 3], [1, 4], [2, -1], [3, 1]], "has to lie in 1"),
    ((*ANSWERS, 0, "table"), [[5, 7]], "has to lie in 0..4"),
    ((*ANSWERS, 0, "given"), [1, 0], "once each, ascending"),
    ((*ANSWERS, 0, "given"), [0, 0], "once each, ascending"),
    ((*ANSWERS, 0, "given"), [9], "has to lie in 0..4"),
    ((*ANSWERS, 0, "kind"), "certain", "has to be one of"),
    ((*ANSWERS, 1, "given"), [0, 1], "is no row of this program"),
    ((*ANSWERS, 1, "without"), [], "has to have 3 entries"),
    ((*ANSWERS, 1, "without", 2), [[0, 7]], "breaks statement 0"),
    ((*ANSWERS, 1, "proof", "rows"), [], "leaves room"),
    ((*ANSWERS, 1, "proof", "rounds"), [], "is no row of this program"),
    ((*ANSWERS, 1, "proof", "more"), 1, "unknown"),
    ((*ANSWERS, 2, "value"), "2/1", "the table gives 3"),
    ((*ANSWERS, 2, "value"), "5/2", "is a whole number"),
    ((*ANSWERS, 2, "side"), "upper", "leaves room"),
    ((*ANSWERS, 2, "numerator"), "images", "the table gives 7"),
    ((*ANSWERS, 2, "numerator"), "nothing", "names no count"),
    ((*ANSWERS, 2, "numerator"), "lost-acceptance", "depends on acceptance"),
    ((*ANSWERS, 2, "class"), 1, "has to lie in 0..0"),
    ((*ANSWERS, 4, "value"), "1/3", "the table gives 0"),
    ((*ANSWERS, 8, "verdict"), "loose", "does not follow from the ends"),
    ((*ANSWERS, 8, "lower"), "2", "does not follow from the ends"),
    ((*ANSWERS, 8, "because"), [2], "has to be both ends"),
    ((*ANSWERS, 8, "because"), [], "is no reason for sharp"),
    ((*ANSWERS, 8, "because"), [4, 5], "speaks of other statements or of another quantity"),
    ((*ANSWERS, 8, "because"), [2, 8], "has to lie in 0..7"),
    ((*ANSWERS, 8, "unit"), "fraction", "has to be one of count"),
    ((*ANSWERS, 9, "lower"), "5", "does not follow from the ends"),
    ((*ANSWERS, 9, "verdict"), "sharp", "does not follow from the ends"),
    ((*ANSWERS, 10, "upper"), "3", "no end that is attained lies outside"),
    ((*ANSWERS, 11, "because"), [0], "is no reason for infeasible"),
    ((*STATEMENTS, 0, "lower"), "7", "breaks statement 0"),
    ((*STATEMENTS, 0, "lower"), "5.55", "stands for no whole number"),
    ((*STATEMENTS, 0, "unit"), "fraction", "has to be one of count"),
    ((*STATEMENTS, 0, "upper"), "7", "has to be one of"),
    ((*STATEMENTS, 0, "relation"), "about", "has to be one of"),
    ((*STATEMENTS, 1, "lower"), "0.29", "breaks statement 1"),
    ((*STATEMENTS, 1, "lower"), "a half", "not a plain decimal number"),
    ((*STATEMENTS, 1, "rounding"), "up", "has to be one of"),
    (("reports", 0, "classes"), [], "has to name each class once"),
    (
        ("reports", 0, "classes"),
        [{"name": "a", "images": 3}, {"name": "a", "images": 4}],
        "has to name each class once",
    ),
    (
        ("reports", 0, "classes"),
        [{"name": None, "images": 3}, {"name": "a", "images": 4}],
        "has to name each class once",
    ),
    (("reports", 0, "classes", 0, "images"), 8, "breaks the images"),
    (("reports", 0, "classes", 0, "images"), -1, "has to lie in 0"),
    (("reports", 0, "acceptance"), None, "has to be true or false"),
]


@pytest.mark.parametrize(("path", "value", "words"), SPOILED)
def test_a_spoiled_certificate(path, value, words):
    whole = put(small(), path, value)
    if path[0] != "reports":
        with pytest.raises(checker.Unreadable) as refused:
            report_checker.check(json.dumps(whole).encode())
        assert words in str(refused.value)
        return
    rejected = [item.reason for item in checked(whole).items if item.status == "rejected"]
    assert any(words in reason for reason in rejected), rejected


PROOF = [
    (lambda node: node["rounds"][0]["form"].append([0, 1]), "stands twice|states more"),
    (lambda node: node["rounds"][0]["form"].__setitem__(0, [0, 2]), "states more"),
    (lambda node: node["rounds"][0]["form"].append([9, 1]), "has to lie in 0..4"),
    (lambda node: node["rounds"][0]["rows"].append(copy.deepcopy(node["rounds"][0]["rows"][0])), "stands twice"),
    (lambda node: node["rounds"][0]["rows"].append([["statement", 1, "defined"], "1/1"]), "states more"),
    (lambda node: node["rounds"][0]["rows"].append([["statement", 0, "defined"], "1/1"]), "is no row"),
    (lambda node: node["rounds"][0]["rows"].append([["beyond"], "1/1"]), "is no row"),
    (lambda node: node["rounds"][0]["rows"].append([0, "1/1"]), "is no row"),
    (lambda node: node["rows"][0].__setitem__(1, "-1/1"), "has to be at least 0"),
    (lambda node: node["rows"][0].__setitem__(1, "2/2"), "lowest terms"),
    (lambda node: node["rows"][0].__setitem__(0, [True]), "is no row"),
    (lambda node: node["rows"].pop(), "leaves room"),
]


@pytest.mark.parametrize(("spoil", "words"), PROOF)
def test_a_spoiled_proof(spoil, words):
    whole = small()
    spoil(whole["reports"][0]["answers"][1]["proof"])
    item = checked(whole).items[1]
    assert item.status == "rejected"
    assert any(word in item.reason for word in words.split("|")), item.reason


def test_spoiled_cases():
    whole = split()
    answers = whole["reports"][0]["answers"]
    number = next(n for n, answer in enumerate(answers) if "form" in answer["proof"])
    for key, value in (
        ("at", answers[number]["proof"]["at"] + 1),
        ("form", []),
        ("up", answers[number]["proof"]["down"]),
    ):
        assert checked(put(whole, (*ANSWERS, number, "proof", key), value)).items[number].status == "rejected"
    deep = answers[number]["proof"]
    for _ in range(report_checker.DEEPEST_TREE + 1):
        deep = {"rounds": [], "form": [[0, 1]], "at": 0, "down": deep, "up": deep}
    path = put(whole, (*ANSWERS, number, "proof"), {"rounds": [], "rows": []})
    at = checker.At(deep, "proof")
    with pytest.raises(checker.Refused, match="deeper than 200"):
        report_checker.refute(at, report_checker.Sheet(checker.At(path["reports"][0], "")).program([]), 5)


EVERY = [[i, 1] for i in range(5)]


def lost_at_most(value, proof):
    """A certificate by hand: of 7 images, one recovered at least, so many are lost at most."""
    statements = [{"numerator": "recovered", "denominator": None, "class": None, "relation": "at least", "lower": "1",
                   "upper": "", "unit": "count", "rounding": ""}]  # fmt: skip
    answer = {"kind": "end", "given": [0], "numerator": "lost", "denominator": None, "class": None, "side": "upper",
              "value": f"{value}/1", "table": [[1, value], [2, 7 - value]], "proof": proof}  # fmt: skip
    report = {"name": "by hand", "classes": [{"name": None, "images": 7}], "acceptance": False,
              "statements": statements, "answers": [answer]}  # fmt: skip
    return {"format": report_checker.FORMAT, "version": 1, "tool": "none", "reports": [report]}


def test_proofs_by_hand():
    """What a sum rounds to, and where a second case begins, to the unit."""
    least = [["statement", 0, "lower"], "1/1"]
    rounds = [{"rows": [[["images", 0], "1/1"]], "form": EVERY}]
    for value, status in ((6, "certified"), (5, "rejected")):
        proof = {"rounds": rounds, "rows": [[0, "1/1"], least, [["beyond"], "1/1"]]}
        assert checked(lost_at_most(value, proof)).items[0].status == status
        down = {"rounds": [], "rows": [[0, "1/1"], [["beyond"], "1/1"]]}
        up = {"rounds": [], "rows": [[0, "1/1"], [["images", 0], "1/1"], least]}
        cases = {"rounds": [], "form": [[1, 1]], "at": value, "down": down, "up": up}
        assert checked(lost_at_most(value, cases)).items[0].status == status


def test_a_round_of_nothing_states_nothing():
    proof = {"rounds": [{"rows": [], "form": [[1, 1]]}], "rows": [[0, "1/1"], [["beyond"], "1/1"]]}
    assert "states more than its rows give" in checked(lost_at_most(5, proof)).items[0].reason


def test_an_answer_that_was_refused_is_no_reason():
    whole = put(small(), (*ANSWERS, 2, "value"), "2/1")
    items = checked(whole).items
    assert [items[n].status for n in (2, 8)] == ["rejected", "rejected"]
    assert "was not certified" in items[8].reason


def test_what_is_undecided_is_not_certified():
    whole = put(small(), (*ANSWERS, 0), {"kind": "undecided", "reason": "not decided within 3 nodes"})
    result = checked(whole)
    assert (result.items[0].status, result.items[0].reason) == ("not certified", "not decided within 3 nodes")
    assert result.exit_code == 1
    assert list(result.lines())[-1] == "11 certified, 1 not certified"


def test_a_number_of_a_ratio_that_has_no_denominator():
    whole = put(accepted(), (*ANSWERS, 4, "denominator"), None)
    assert "a count is never undefined" in checked(whole).items[4].reason


# --- mutations ------------------------------------------------------------------------------------------------------

WORDS = (
    *HOLDS,
    "CC..", "WS.. WD..", "is", "at least", "at most", "between", "lower", "upper", "fraction", "percent",
    "count", "nearest", "truncate", "sharp", "loose", "invalid", "undefined", "infeasible", "possible",
    "impossible", "end", "statement", "images", "defined", "beyond", "", "0/1", "1/1", "1/2", "-1/1", "0", "1",
    "2", "3", "4", "0.5", "0.43", "50",
)  # fmt: skip


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def mutated(whole, rng):
    """One place changed: another number or word, a part left out, doubled, or taken from elsewhere."""
    every_place = [path for path in places(whole) if path and path[0] == "reports" and len(path) > 2]
    path = rng.choice(every_place)
    at = whole
    for step in path:
        at = at[step]
    kind = rng.random()
    if type(at) is int and kind < 0.8:
        return put(whole, path, at + rng.choice([-2, -1, 1, 2]))
    if type(at) is str and kind < 0.8:
        return put(whole, path, rng.choice(WORDS))
    if type(path[-1]) is int and kind < 0.5:
        return put(whole, path, KeyError)
    other = whole
    for step in rng.choice(every_place):
        other = other[step]
    return put(whole, path, copy.deepcopy(other))


def judged(whole, rounds, rng):
    """(rejected, accepted and true, too large to tell) of mutations."""
    counts = Counter()
    for _ in range(rounds):
        spoiled = whole
        for _ in range(rng.choice([1, 1, 2])):
            spoiled = mutated(spoiled, rng)
        try:
            result = checked(spoiled)
        except checker.Unreadable:
            counts["rejected"] += 1
            continue
        sheet = spoiled["reports"][0]
        for number, item in enumerate(result.items):
            if item.status != "certified":
                counts["rejected"] += 1
                continue
            try:
                assert true(sheet, number), (item, sheet["answers"][number], sheet["statements"])
                counts["true"] += 1
            except Unknown:
                counts["unknown"] += 1
    return counts


@pytest.mark.parametrize("build", [small, accepted, split])
@pytest.mark.parametrize("seed", range(3))
def test_a_mutated_certificate_is_accepted_only_where_it_is_true(build, seed):
    counts = judged(build(), 60, random.Random(seed))
    assert counts["rejected"] > 20
    assert counts["true"] > 20


# --- the file -------------------------------------------------------------------------------------------------------


def test_it_needs_the_standard_library_only():
    for name in ("report_checker.py", "checker.py"):
        source = (Path(checker.__file__).parent / name).read_text(encoding="utf-8")
        names = {
            (node.module if isinstance(node, ast.ImportFrom) else alias.name).split(".")[0]
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert names - {"proofs", "checker"} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("name", ["checker.py", "report_checker.py"])
def test_it_runs_by_itself(tmp_path, name):
    folder = tmp_path / "alone"
    folder.mkdir()
    for file in ("checker.py", "report_checker.py"):
        (folder / file).write_bytes((Path(checker.__file__).parent / file).read_bytes())
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(small()))
    bad.write_text(json.dumps(put(small(), (*ANSWERS, 2, "value"), "2/1")))
    ended = []
    for file, options in ((good, []), (bad, ["--json"]), (tmp_path / "none.json", [])):
        ended.append(
            subprocess.run(
                [sys.executable, "-I", "-S", folder / name, file, *options],
                capture_output=True, text=True, check=False,
            )
        )  # fmt: skip
    assert [run.returncode for run in ended] == [0, 1, 2], [run.stderr for run in ended]
    assert ended[0].stdout.splitlines()[-1] == "12 certified"
    assert json.loads(ended[1].stdout)["counts"]["rejected"] == 2
    assert ended[2].stderr.count("\n") == 1


def test_printed_numbers_are_read_as_everywhere():
    """The checker's reading of printed numbers against the package's, whole and not."""
    for text in ("0.12", "12.5%", "0", "-0.4", "7", "7.0", "1e2", "0.5", ".5", "99.95"):
        for unit in ("fraction", "percent", "count", ""):
            for rounding in ("", "truncate"):
                for whole in (False, True):
                    try:
                        ours = parse(text, unit, rounding, whole=whole)
                    except ClaimError:
                        continue
                    at = checker.At(text, "x")
                    assert checker.printed(at, unit, rounding == "truncate", whole) == (ours.low, ours.high)
