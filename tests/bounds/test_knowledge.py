"""Feasible counts against every bijection, and the message for each violated condition."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from strategies import evaluation, evaluations

from bounds import witness
from bounds.closed_forms import feasible_correct_correct
from bounds.counts import ClassCounts
from bounds.errors import CountError, InfeasibleError, QuantityError
from bounds.knowledge import Level, check_persistent, feasible_persistent, know

HOLES = evaluation(([(1,), (2,)], [(1,), (2,)]))


def attained(records, c=0):
    """All (k, s) of a class, by enumeration."""
    return {(int(k), int(s)) for k, s, _, _ in oracles.outcomes(records, c, "lost", "none")}


@given(records=evaluations(max_images=6, max_labels=3))
@settings(max_examples=400)
def test_c1_and_c5_give_exactly_the_attained_counts(records):
    expected = attained(records)
    n = records.images
    k_values = feasible_correct_correct(n, int(records.clean.correct.sum()), int(records.perturbed.correct.sum()))
    assert set(k_values) == {k for k, _ in expected}
    counts = ClassCounts(records)
    for k in k_values:
        assert {(k, s) for s in feasible_persistent(counts, 0, k)} == {pair for pair in expected if pair[0] == k}


@given(records=evaluations(max_images=5, max_classes=2))
@settings(max_examples=150)
def test_a_correspondence_is_built_for_exactly_the_feasible_counts(records):
    per_class = [attained(records, c) for c in range(len(records.classes))]
    for c, pairs in enumerate(per_class):
        alone = records.select([c])
        for k, s in pairs:
            rows = np.flatnonzero(alone.clean.correct)[:k]
            columns = np.flatnonzero(alone.perturbed.correct)[:k]
            match = witness.complete(alone, rows, columns, np.array([s]))
            counts = witness.cell_counts(alone, match)[0].sum(axis=(1, 2))
            assert (counts[0], counts[3]) == (k, s)
        for k in {k for k, _ in pairs}:
            for s in set(range(records.images + 1)) - {s for j, s in pairs if j == k}:
                rows = np.flatnonzero(alone.clean.correct)[:k]
                columns = np.flatnonzero(alone.perturbed.correct)[:k]
                with pytest.raises(InfeasibleError):
                    witness.complete(alone, rows, columns, np.array([s]))


def test_parity_leaves_a_hole():
    assert feasible_persistent(ClassCounts(HOLES), 0, 0) == [0, 2]
    with pytest.raises(InfeasibleError, match="parity"):
        know(HOLES, "five-state", retained_correct=[0], persistent=[1])


ONE = evaluation(([(0,), (0,), (1,), (2,)], [(0,), (1,), (1,), (3,)]))


@pytest.mark.parametrize(
    ("counts", "condition"),
    [
        ({"retained_correct": [2]}, "class 'class0', retained correct 2: max(0, 2 + 1 - 4) = 0 <= k <= min(2, 1) = 1"),
        ({"retained_correct": [-1]}, "max(0, 2 + 1 - 4) = 0 <= k"),
        ({"retained_correct": [0], "persistent": [2]}, "0 <= s <= m = 1"),
        ({"retained_correct": [1], "persistent": [-1]}, "0 <= s <= m = 2"),
        ({"retained_correct": [1], "persistent": [2]}, "s <= sum over wrong classes of min(w, w') = 1"),
    ],
)
def test_infeasible_counts_name_the_condition(counts, condition):
    with pytest.raises(InfeasibleError) as caught:
        know(ONE, "five-state" if "persistent" in counts else "correct-correct", **counts)
    assert condition in caught.value.line
    assert "\n" not in caught.value.line


def test_a_label_may_be_forced_to_persist():
    # Both sides wrong twice with label 1 only: s = 0 would need two changed pairs.
    forced = evaluation(([(1,), (1,)], [(1,), (1,)]))
    with pytest.raises(InfeasibleError, match="together"):
        know(forced, "five-state", retained_correct=[0], persistent=[0])
    squeezed = evaluation(([(1,), (1,), (2,)], [(1,), (3,), (3,)]))
    with pytest.raises(InfeasibleError) as caught:
        check_persistent(ClassCounts(squeezed), np.array([0]), np.array([2]))
    assert "min(w, w') = 1" in caught.value.line


def test_total_is_checked_against_the_sums():
    assert know(ONE, "total-correct-correct", total=1).total == 1
    with pytest.raises(InfeasibleError, match="feasible are 0 to 1"):
        know(ONE, "total-correct-correct", total=2)
    two = evaluation(([(0,)], [(0,)]), ([(0,), (1,)], [(0,), (1,)]))
    with pytest.raises(InfeasibleError, match="class 'class0', retained correct 0"):
        know(two, "total-correct-correct", retained_correct=[0, 1])


def test_counts_come_from_the_pairing():
    assert know(ONE, "five-state").retained_correct.tolist() == [1]
    assert know(ONE, "five-state").persistent.tolist() == [1]
    assert know(ONE, "total-correct-correct").total == 1
    assert know(ONE, Level.MARGINALS).retained_correct is None


def test_unpaired_records_need_counts():
    unpaired = evaluation(([(0,), (1,)], [(0,), (1,)]), paired=False)
    for level in ("total-correct-correct", "correct-correct"):
        with pytest.raises(QuantityError, match="--counts"):
            know(unpaired, level)
    with pytest.raises(QuantityError, match="persistent"):
        know(unpaired, "five-state", retained_correct=[1])
    with pytest.raises(QuantityError, match="no common ids"):
        know(unpaired, "paired")
    assert know(unpaired, "total-correct-correct", retained_correct=[1]).total == 1


def test_bad_counts():
    with pytest.raises(CountError, match="shape"):
        know(ONE, "correct-correct", retained_correct=[1, 1])
    with pytest.raises(CountError, match="integers"):
        know(ONE, "correct-correct", retained_correct=[0.5])
    with pytest.raises(CountError, match="retained_correct: an array in which values are masked"):
        know(ONE, "correct-correct", retained_correct=np.ma.masked_array([1], mask=True))
    with pytest.raises(QuantityError, match="choose among marginals"):
        know(ONE, "everything")
    with pytest.raises(CountError, match=r"not in 0\.\.3"):
        feasible_correct_correct(3, 4, 0)
    with pytest.raises(CountError, match="no fewer than 0"):
        feasible_correct_correct(-1, 0, 0)
