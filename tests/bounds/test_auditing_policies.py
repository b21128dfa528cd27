"""Claims that one policy costs less than another, on the example of shared_correspondence_orders_policies (C9)."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

from bounds.auditing import audit, exit_code
from bounds.auditing_policies import is_order
from bounds.policy import Policy, preset_cost

COST = preset_cost({"lost-acceptance": 1, "new-accepted-error": 2})
POLICIES = [
    Policy("P", COST, threshold="0.5"),
    Policy("Q", COST, threshold="0.8"),
    Policy("same as Q", COST, threshold="0.8"),
    Policy("none", preset_cost({"rejection": 0}), threshold="0.5"),
]
RECORDS = pl.DataFrame(
    {
        "condition": ["clean"] * 3 + ["fog/3"] * 3,
        "image_id": ["a", "b", "c"] * 2,
        "label": [0] * 6,
        "predicted": [0, 0, 1, 0, 1, 1],
        "confidence": [0.6, 0.6, 0.9, 0.2, 0.2, 0.9],
    }
)
EMPTY = dict.fromkeys(
    ("model", "clean", "perturbed", "threshold", "average", "denominator", "lower", "upper", "unit"), ""
)


def verdict(quantity, knowledge="correct-correct", policies=POLICIES, records=RECORDS, **fields):
    row = EMPTY | {"claim_id": "c", "quantity": quantity, "knowledge": knowledge} | fields
    (found,) = audit([row], records, policies=policies)
    return found


def test_the_shared_correspondence_settles_what_separate_intervals_do_not():
    found = verdict("Q < P")
    assert (found.verdict, found.exact) == ("sharp", (Fraction(-1, 3), Fraction(-1, 3)))
    assert "(shared)" in found.reason
    assert exit_code([found]) == 0


@pytest.mark.parametrize("quantity", ["Q<P", "Q <P", "P > Q", "Q ≤ P"])
def test_another_spelling_is_told_how_to_write_it(quantity):
    found = verdict(quantity)
    assert found.verdict == "error"
    assert "no comparison of policies; write 'cheaper < dearer', with the blanks" in found.reason


def test_the_reverse_is_refuted_by_a_correspondence():
    found = verdict("P < Q")
    assert (found.verdict, found.exact) == ("invalid", (Fraction(1, 3), Fraction(1, 3)))
    assert found.witness.value == Fraction(1, 3)
    assert sorted(found.witness.clean) == sorted(found.witness.perturbed) == ["a", "b", "c"]
    assert exit_code([found]) == 1


def test_less_means_strictly_less():
    found = verdict("Q < same as Q")
    assert (found.verdict, found.exact, found.witness.value) == ("invalid", (0, 0), 0)
    # What costs nothing is below P under every correspondence, and not below Q, which can cost nothing too.
    assert verdict("none < P").verdict == "sharp"
    assert verdict("none < Q").verdict == "invalid"


def test_the_pairing_decides_at_the_paired_level():
    assert verdict("Q < P", "paired").verdict == "sharp"
    assert verdict("P < Q", "paired").witness.perturbed == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"quantity": "P < R"}, "quantity 'R': no such policy; known are P, Q, same as Q, none"),
        ({"quantity": "P < P"}, "a policy is compared with itself"),
        ({"quantity": "P < Q", "threshold": "0.5"}, "threshold '0.5': a comparison of policies has no such field"),
        ({"quantity": "P < Q", "lower": "0"}, "lower '0': a comparison of policies has no such field"),
        ({"quantity": "P < Q", "knowledge": "all"}, "knowledge 'all': unknown"),
        ({"quantity": "P < Q", "perturbed": "snow"}, "'snow'"),
        ({"quantity": "P < Q", "policies": None}, "no such policy; known are none: give a policies file (--policies)"),
    ],
)
def test_a_row_that_cannot_be_used_says_why(fields, line):
    found = verdict(**fields)
    assert found.verdict == "error"
    assert line in found.reason


def test_other_rows_stand_beside_comparisons():
    rows = [
        EMPTY | {"claim_id": "a", "quantity": "Q < P", "knowledge": "correct-correct"},
        EMPTY | {"claim_id": "b", "quantity": "lost", "knowledge": "marginals", "lower": "1", "unit": "count"}
        | {"denominator": "none"},
    ]  # fmt: skip
    assert [v.verdict for v in audit(rows, RECORDS, policies=POLICIES)] == ["sharp", "possible"]
    assert is_order("a < b")
    assert not is_order("lost")
