"""A proof holds, or what is wrong with it is said."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from bounds.table_program import Row, TableProgram
from bounds.table_proofs import CASE, Leaf, Round, Split, combined, flaw, kinds, numbered, round_row, row_names

HALF = Fraction(1, 2)

ODD = TableProgram(("k",), (Row("idle", {0: 1}, 0, 99), Row("flips", {0: 2}, 41, 41)))
"""2 k = 41."""

ROUNDS = (Round({1: HALF}, {0: 1}), Round({1: -HALF}, {0: -1}))
PARITY = Leaf(ROUNDS, {2: Fraction(1), 3: Fraction(1)})

WEDGE = TableProgram(
    ("a", "b"), (Row("low", {0: 2, 1: -2}, 1, None), Row("high", {0: 2, 1: -3}, None, 0), Row("b", {1: 1}, 0, 1))
)
"""b < a <= 3/2 b, b <= 1."""

CASES = Split(
    (),
    {1: 1},
    0,
    Leaf((), {0: Fraction(-1), 1: Fraction(1), 3: Fraction(1)}),
    Leaf((), {0: Fraction(-1), 1: Fraction(1), 2: Fraction(1)}),
)


def test_half_of_an_odd_number_rounds_to_nothing():
    assert flaw(ODD, PARITY) is None
    assert kinds(PARITY) == (2, 0, 1)
    assert row_names(ODD, PARITY) == ("flips",)


def test_combining_picks_the_side_by_the_sign():
    rows = {0: Row("r", {0: 2, 1: Fraction(1, 3)}, 1, 5)}
    assert combined(rows, {0: Fraction(3, 2)}) == ({0: 3, 1: Fraction(1, 2)}, Fraction(15, 2))
    assert combined(rows, {0: Fraction(-1)}) == ({0: -2, 1: Fraction(-1, 3)}, -1)
    assert combined({0: Row("r", {0: 1}, None, 5)}, {0: Fraction(-1)}) is None
    assert combined(rows, {1: Fraction(1)}) is None


def test_a_round_may_weaken_but_not_strengthen():
    rows = {0: Row("r", {0: 1, 1: HALF}, None, Fraction(7, 2))}
    row = round_row(rows, Round({0: Fraction(1)}, {0: 1}))
    assert row is not None
    assert (row.upper, row.lower) == (3, None)
    assert round_row(rows, Round({0: Fraction(1)}, {0: 1, 1: 1})) is None
    assert round_row({0: Row("r", {0: 1, 1: -1}, None, 3)}, Round({0: Fraction(1)}, {0: 1})) is None


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        (replace(PARITY, rounds=(replace(ROUNDS[0], form={0: 2}), ROUNDS[1])), "round 0 states more"),
        (replace(PARITY, rounds=(ROUNDS[0], Round({7: HALF}, {0: 1}))), "round 1 states more"),
        (replace(PARITY, multipliers={2: Fraction(1)}), "leave room"),
        (replace(PARITY, multipliers={2: Fraction(1), 3: HALF}), "leave room"),
        (replace(PARITY, multipliers={2: Fraction(-1), 3: Fraction(1)}), "a side that its row does not have"),
        (replace(PARITY, multipliers={2: Fraction(1), 3: Fraction(1), 4: Fraction(1)}), "does not have"),
        (Leaf((), {}), "leave room"),
    ],
)
def test_a_spoiled_leaf(proof, words):
    assert words in (flaw(ODD, proof) or "")


def test_both_cases_have_to_be_closed():
    wedge = TableProgram(("a", "b"), (*WEDGE.rows[:2], Row("b", {1: 1}, 0, 1)))
    up = CASES.up
    assert flaw(wedge, CASES) is not None
    # In the case b >= 1 the row b <= 1 makes 2 a >= 3 and 2 a <= 3, and a is whole.
    proof = replace(
        CASES,
        up=Leaf(
            (Round({1: HALF, 2: 3 * HALF}, {0: 1}), Round({0: -HALF, 3: -Fraction(1)}, {0: -1})),
            {4: Fraction(1), 5: Fraction(1)},
        ),
    )
    assert flaw(wedge, proof) is None
    assert kinds(proof) == (2, 1, 2)
    assert row_names(wedge, proof) == ("low", "high", "b")
    assert flaw(wedge, replace(proof, at=1)) is not None
    assert flaw(wedge, replace(proof, down=up)) is not None


def test_numbering_drops_what_nothing_rests_on():
    rounds = [Round({0: Fraction(1)}, {0: 1}), *ROUNDS, Round({-2: Fraction(1)}, {0: 1})]
    root = Split((), {0: 1}, 3, *(Leaf((), {-2: Fraction(1), -3: Fraction(1), CASE: s}) for s in (1, -1)))
    proof = numbered(2, rounds, root)
    assert proof.rounds == ROUNDS
    assert isinstance(proof, Split)
    assert proof.down.multipliers == {2: 1, 3: 1, 4: 1}
    assert proof.up.multipliers == {2: 1, 3: 1, 4: -1}
