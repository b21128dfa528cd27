"""What statements of a certificate mean: the writer's translation against the checker's; they share no code."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest

from bounds.errors import ClaimError
from bounds.report_sheet import COUNTS, Counted, Said, Sheet
from proofs import report_checker
from proofs.checker import At

BOTH = Sheet("x", (("cat", 5), ("dog", 4)), True, ())
PLAIN = Sheet("x", ((None, 5),), False, ())


def read(sheet):
    """As the checker reads it."""
    return report_checker.Sheet(At(json.loads(json.dumps({**sheet.to_dict(), "answers": []})), ""))


def normal(form, side):
    """An inequality form x <= side in coprime integers."""
    scale = Fraction(1)
    for a in form.values():
        scale = max(scale, Fraction(a).denominator)
    whole = {i: Fraction(a) for i, a in form.items() if a}
    top = max((abs(a) for a in whole.values()), default=Fraction(1))
    return frozenset((i, a / top) for i, a in whole.items()), Fraction(side) / top


def test_names_count_the_same_cells():
    assert set(COUNTS) == set(report_checker.COUNTS)
    theirs = read(BOTH)
    for name in (*COUNTS, "CC10", "WS.1 WD.1", "CW.."):
        for of_class in (None, 0, 1):
            assert BOTH.form(name, of_class) == theirs.form(At(name, ""), of_class), name


@pytest.mark.parametrize("seed", range(40))
def test_statements_are_the_same_rows(seed):
    rng = random.Random(seed)
    statements = []
    for _ in range(6):
        ratio = rng.random() < 0.6
        relation = rng.choice(["is", "at least", "at most", "between"])
        unit = rng.choice(["fraction", "percent"]) if ratio else "count"
        lower, upper = sorted((str(rng.randint(0, 9)), f"{rng.randint(0, 99)}{'.5' if ratio else ''}"), key=float)
        names = rng.sample([*COUNTS, "CC10 WS11"], 2)
        statements.append(
            Said(
                Counted(names[0], names[1] if ratio else None, rng.choice([None, 0, 1])),
                relation,
                lower,
                upper if relation == "between" else "",
                unit,
                rng.choice(["", "nearest", "truncate"]),
            )
        )
    sheet = Sheet("x", (("cat", 5), ("dog", None)), True, tuple(statements))
    given = sorted(rng.sample(range(6), 4))
    program, references = sheet.program(given)
    theirs = read(sheet).program(given)
    assert set(references) == set(theirs)
    for reference, row in zip(references, program.rows, strict=True):
        condition = theirs[reference]
        if reference[0] == "images":
            assert (row.coefficients, row.lower, row.upper) == (condition.form, condition.side, condition.side)
            assert condition.equal
        elif row.upper is None:
            assert normal({i: -a for i, a in row.coefficients.items()}, -row.lower) == normal(
                condition.form, condition.side
            )
        else:
            assert normal(row.coefficients, row.upper) == normal(condition.form, condition.side)


def test_what_cannot_be_counted():
    wrong = [(PLAIN, "lost-acceptance", "depends on acceptance"), (PLAIN, "CC1.", "depends on acceptance")]
    for sheet, text, words in (*wrong, (BOTH, "accuracy", "no name and no cells"), (BOTH, "CC..  CW..", "no name")):
        with pytest.raises(ClaimError, match=words):
            sheet.form(text, None)
    assert PLAIN.form("CC.. WS..", None) == {0: 1, 3: 1}


def test_names_of_variables():
    assert PLAIN.variables == ("CC00", "CW00", "WC00", "WS00", "WD00")
    assert BOTH.variables[21] == "CC01 of dog"
