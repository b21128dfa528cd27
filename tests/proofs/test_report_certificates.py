"""Certificates of random reports: written, checked, and true by going through every table."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest
from command import Command, write_small
from report_oracle import count, every, ratio, said, tables, true

from bounds.report_sheet import Counted, Sheet
from proofs import checker
from proofs.report_certificates import ReportCertificate, writing

NAMES = ("clean-correct", "perturbed-correct", "retained-correct", "flips", "lost", "persistent-wrong", "clean-wrong")
BELOW = ("images", "clean-correct", "perturbed-correct", "retained-correct")


def report(rng):
    """Statements about a table that exists, one of them moved away from it."""
    images = rng.randint(1, 7)
    sheet = {"classes": [{"name": None, "images": images}], "acceptance": False, "statements": []}
    x = rng.choice(every(images, False))
    statements = []
    for number in range(rng.randint(1, 5)):
        name = rng.choice(NAMES)
        away = number == 0 and rng.random() < 0.5
        below = rng.choice((None, *BELOW))
        told = {"numerator": name, "denominator": below, "class": None}
        value = ratio(sheet, x, told)
        if value is None or below is None:
            value = count(sheet, x, name, None) + away
            statements.append(said(name, str(value)))
        else:
            digits = rng.choice((1, 2))
            printed = Fraction(round(value * 10**digits) + away * rng.choice((-1, 1)), 10**digits)
            text = f"{float(max(printed, Fraction(0))):.{digits}f}"
            statements.append(said(name, text, below, unit="fraction", relation=rng.choice(("is", "is", "at least"))))
    return Sheet("random", ((None, images),), False, tuple(statements))


@pytest.mark.parametrize("seed", range(60))
def test_random_reports(seed):
    rng = random.Random(seed)
    sheet = report(rng)
    certificate = ReportCertificate()
    written = certificate.report(sheet)
    every_one = range(len(sheet.statements))
    written.possible(every_one)
    written.ends(every_one, Counted(rng.choice(NAMES)))
    written.ends(every_one, Counted(rng.choice(NAMES), rng.choice(BELOW)))
    whole = json.loads(json.dumps(certificate.to_dict()))
    result = checker.check(json.dumps(whole).encode())
    assert {item.status for item in result.items} == {"certified"}
    assert all(true(whole["reports"][0], number) for number in range(len(result.items)))
    assert written.answers[0]["kind"] == ("possible" if tables(whole["reports"][0], list(every_one)) else "impossible")


def test_the_command_checks_it(tmp_path, capsys):
    path = tmp_path / "report.json"
    sheet = Sheet(
        "fog",
        ((None, 100),),
        False,
        (said("clean-correct", "92"), said("perturbed-correct", "60"), said("flips", "41")),
    )
    with writing(path) as certificate:
        written = certificate.report(sheet)
        written.possible([0, 1, 2])
        ends = written.ends([0, 1], Counted("retained-correct"))
        assert [written.value(ends[side]) for side in ("lower", "upper")] == [52, 60]
    pairbounds = Command(capsys)
    found = pairbounds("check", str(path))
    assert found.code == 0
    assert found.out.splitlines()[-1] == "3 certified"
    records = write_small(tmp_path / "records.parquet")
    assert "speaks of no records" in pairbounds("check", str(path), "--records", str(records)).refused()


def test_what_is_not_decided_is_said(tmp_path):
    sheet = Sheet("x", ((None, 9),), False, (said("lost", "0.4", "flips", unit="fraction"),))
    certificate = ReportCertificate()
    written = certificate.report(sheet, node_limit=0)
    written.possible([0])
    ends = written.ends([0], Counted("lost"))
    assert written.undecided == 3
    assert written.value(ends["lower"]) is None
    result = checker.check(json.dumps(certificate.to_dict()).encode())
    assert {item.status for item in result.items} == {"not certified"}
    assert result.exit_code == 1


def test_an_error_leaves_no_file(tmp_path):
    path = tmp_path / "report.json"
    with pytest.raises(ZeroDivisionError), writing(path):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
