"""Measures against every order of the tied images, against their identities, and against dnn-tip."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from dnn_tip.apfd import apfd_from_order
from hypothesis import given
from hypothesis import strategies as st

from bounds.errors import PairboundsError
from ranking.measures import ALL_FAIL, NO_FAILURES, Failures, at_budget, found_within, parse_budget, whole
from ranking.order import order_by


def orders(scores: list[int]) -> Iterator[tuple[int, ...]]:
    """Every order of the images that falls in score."""
    groups = [[i for i, s in enumerate(scores) if s == value] for value in sorted(set(scores), reverse=True)]
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield tuple(itertools.chain(*parts))


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


SMALL = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.integers(0, 1), min_size=n, max_size=n),
        st.integers(1, n),
    )
)
SHARES = st.integers(1, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.integers(1, n),
    )
)


def slow(order: tuple[int, ...], failed: list[Fraction], k: int) -> dict[str, Fraction]:
    """The measures of one order, as ranking.md spells them."""
    n, m = len(failed), sum(failed)
    best = sorted(failed, reverse=True)
    c = [sum((failed[i] for i in order[:r]), Fraction(0)) for r in range(n + 1)]
    ideal = [sum(best[:r], Fraction(0)) for r in range(n + 1)]
    top = -(-m.numerator // m.denominator)
    return {
        "found": c[k],
        "recall": c[k] / m,
        "precision": c[k] / k,
        "lift": (c[k] / k) / (m / n),
        "trc": c[k] / ideal[k],
        "rauc": sum(c[1 : k + 1]) / sum(ideal[1 : k + 1]),
        "apfd": 1 - sum(r * failed[i] for r, i in enumerate(order, 1)) / (n * m) + Fraction(1, 2 * n),
        "whole_rauc": sum(c[1:]) / sum(ideal[1:]),
        "atrc": sum(c[r] / ideal[r] for r in range(1, top + 1)) / top,
    }


def compared(scores: list[int], counts: list[int], unit: int, k: int) -> None:
    order = order_by(np.array(scores, dtype=float))
    failures = Failures(np.array(counts), unit)
    found, total = at_budget(order, failures, k), whole(order, failures)
    failed = [Fraction(count, unit) for count in counts]
    assert found.found == mean([sum((failed[i] for i in o[:k]), Fraction(0)) for o in orders(scores)])
    assert found_within(order, failures, k) == found.found
    cut = sorted(scores)[-k]
    assert found.tied == (scores.count(cut) if sum(score >= cut for score in scores) > k else 0)
    if not any(counts):
        assert (found.recall, found.lift, found.trc, found.rauc, found.ideal) == (None,) * 5
        assert (total.apfd, total.rauc, total.atrc, total.auroc) == (None,) * 4
        assert (found.reason, total.reason, total.auroc_reason) == (NO_FAILURES,) * 3
        return
    all_orders = [slow(o, failed, k) for o in orders(scores)]
    expected = {name: mean([one[name] for one in all_orders]) for name in all_orders[0]}
    assert found.recall == expected["recall"]
    assert found.precision == expected["precision"]
    assert found.lift == expected["lift"]
    assert found.trc == expected["trc"]
    assert found.rauc == expected["rauc"]
    assert found.ideal == sum(sorted(failed)[-k:]) / sum(failed)
    assert found.random == Fraction(k, len(scores))
    assert total.apfd == expected["apfd"]
    assert total.rauc == expected["whole_rauc"]
    assert total.atrc == pytest.approx(float(expected["atrc"]), abs=1e-12)
    pairs = [
        (failed[i] * (1 - failed[j]), Fraction((scores[i] > scores[j]) * 2 + (scores[i] == scores[j]), 2))
        for i in range(len(scores))
        for j in range(len(scores))
    ]
    weight = sum(pair for pair, _ in pairs)
    if weight:
        assert total.auroc == sum(pair * value for pair, value in pairs) / weight
        assert total.auroc_reason is None
    else:
        assert (total.auroc, total.auroc_reason, total.apfd) == (None, ALL_FAIL, Fraction(1, 2))


@given(SMALL)
def test_measures_are_means_over_all_orders_of_tied_images(case: tuple[list[int], list[int], int]) -> None:
    compared(case[0], case[1], 1, case[2])


@given(SHARES)
def test_shares_of_captures_count_as_parts_of_failures(case: tuple[list[int], list[int], int]) -> None:
    compared(case[0], case[1], 3, case[2])


LARGE = st.integers(2, 200).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 30), min_size=n, max_size=n),
        st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda f: 0 < sum(f) < len(f)),
    )
)


@given(LARGE)
def test_apfd_and_auroc_say_the_same(case: tuple[list[int], list[int]]) -> None:
    """APFD = m / (2n) + (1 - m / n) AUROC, ties in expectation."""
    order, failures = order_by(np.array(case[0], dtype=float)), Failures(np.array(case[1]))
    n, m, total = len(case[0]), sum(case[1]), whole(order, failures)
    assert total.auroc is not None
    assert total.apfd == Fraction(m, 2 * n) + (1 - Fraction(m, n)) * total.auroc


@given(LARGE, st.randoms(use_true_random=False))
def test_apfd_of_an_order_without_ties_is_that_of_dnn_tip(case: tuple[list[int], list[int]], random: object) -> None:
    n = len(case[1])
    places = list(range(n))
    random.shuffle(places)  # type: ignore[attr-defined]
    found = whole(order_by(-np.argsort(places).astype(float)), Failures(np.array(case[1])))
    assert found.apfd is not None
    assert float(found.apfd) == pytest.approx(apfd_from_order(np.array(case[1]), np.array(places)), abs=1e-12)


@given(LARGE, st.randoms(use_true_random=False))
def test_shuffled_rows_change_nothing(case: tuple[list[int], list[int]], random: object) -> None:
    rows = list(range(len(case[0])))
    random.shuffle(rows)  # type: ignore[attr-defined]
    scores, failed = np.array(case[0], dtype=float), np.array(case[1])
    k = max(1, len(rows) // 5)
    found = at_budget(order_by(scores), Failures(failed), k)
    assert found == at_budget(order_by(scores[rows]), Failures(failed[rows]), k)
    assert whole(order_by(scores), Failures(failed)) == whole(order_by(scores[rows]), Failures(failed[rows]))


def test_recall_is_capped_where_failures_are_the_majority() -> None:
    found = at_budget(order_by(np.arange(10.0)), Failures(np.array([0, 0] + [1] * 8)), 4)
    assert (found.recall, found.ideal, found.trc) == (Fraction(1, 2), Fraction(1, 2), 1)


class TestBudget:
    @pytest.mark.parametrize(
        ("text", "pool", "k"),
        [
            ("1", 1000, 1),
            ("20", 1000, 20),
            ("0.2", 1627, 326),
            ("20%", 1627, 326),
            ("0.07", 100, 7),
            ("0.29", 100, 29),
            ("1.0", 7, 7),
            ("100%", 7, 7),
            ("0.0001", 7, 1),
        ],
    )
    def test_a_share_is_rounded_up_exactly(self, text: str, pool: int, k: int) -> None:
        assert parse_budget(text).images(pool) == k

    @pytest.mark.parametrize("text", ["0", "0.0", "1.01", "101%", "-1", "-0.1", "x", "", "nan", "1e999", "½"])
    def test_another_is_refused(self, text: str) -> None:
        with pytest.raises(PairboundsError, match="--budget"):
            parse_budget(text)

    def test_a_count_above_the_pool_is_refused(self) -> None:
        with pytest.raises(PairboundsError, match="the pool has 5 images"):
            parse_budget("6").images(5)
