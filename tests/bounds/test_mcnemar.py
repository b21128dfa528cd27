"""McNemar's test over all correspondences, against going through all of them and against other libraries."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control
from statsmodels.stats.contingency_tables import mcnemar as of_statsmodels
from statsmodels.stats.multitest import multipletests

from bounds.errors import CountError
from bounds.mcnemar import (
    TESTS,
    Discordant,
    correct_counts,
    discordant,
    discordant_by_class,
    holm,
    holm_ends,
    mcnemar,
    p_value,
    verdict,
)
from bounds.printed import parse


def pairs_of(images: int, first: int, second: int) -> list[tuple[int, int]]:
    """(lost, recovered) of every correspondence, by the retained images that it can have."""
    return [
        (first - k, second - k)
        for k in range(images + 1)
        if first - k >= 0 and second - k >= 0 and images - first - second + k >= 0
    ]


class TestDiscordant:
    @pytest.mark.parametrize("images", range(8))
    def test_margins_leave_every_other_number(self, images: int) -> None:
        for first, second in product(range(images + 1), repeat=2):
            found = discordant(images, first, second)
            every = pairs_of(images, first, second)
            assert sorted(b + c for b, c in every) == list(range(found.ends[0], found.ends[1] + 1, 2))
            assert found.lost == (min(b for b, _ in every), max(b for b, _ in every))
            assert found.recovered == (min(c for _, c in every), max(c for _, c in every))
            assert found.step == 2

    @given(st.integers(0, 9), st.data())
    def test_sets_of_counts_are_the_union(self, images: int, data: st.DataObject) -> None:
        counts = st.tuples(st.integers(0, images), st.integers(0, images)).map(sorted)
        (a, b), (c, d) = data.draw(counts), data.draw(counts)
        retained = data.draw(st.none() | st.integers(0, images))
        every: dict[int, set[int]] = {}
        for first, second in product(range(a, b + 1), range(c, d + 1)):
            for lost, recovered in pairs_of(images, first, second):
                if retained is None or first - lost == retained:
                    every.setdefault(first - second, set()).add(lost + recovered)
        if not every:
            with pytest.raises(CountError, match="retained"):
                discordant(images, range(a, b + 1), range(c, d + 1), retained)
            return
        found = discordant(images, range(a, b + 1), range(c, d + 1), retained)
        assert found.ranges == {gap: (min(values), max(values)) for gap, values in every.items()}

    def test_classes_add_up(self) -> None:
        found = discordant_by_class([discordant(50, 48, 10), discordant(50, 44, 50)])
        assert (found.images, found.ranges) == (100, {32: (44, 48)})
        whole = discordant(100, 92, 60)
        assert whole.ranges == {32: (32, 48)}

    @pytest.mark.parametrize(("first", "second"), [(11, 5), (-1, 5), (5, 11), (range(0), 5)])
    def test_counts_outside_are_refused(self, first: int | range, second: int) -> None:
        with pytest.raises(CountError):
            discordant(10, first, second)

    @given(st.integers(1, 60), st.sampled_from(["0", "0.5", "0.9", "0.33", "0.125", "1.0"]))
    def test_printed_accuracies_stand_for_counts(self, images: int, text: str) -> None:
        printed = parse(text, "fraction")
        assert list(correct_counts(images, printed)) == [k for k in range(images + 1) if Fraction(k, images) in printed]


class TestTests:
    @given(st.integers(0, 40), st.integers(0, 40))
    def test_p_values_are_those_of_other_libraries(self, lost: int, recovered: int) -> None:
        table = [[3, lost], [recovered, 5]]
        pairs = lost + recovered
        exact = p_value("exact", lost, recovered)
        if not pairs:
            assert [p_value(test, 0, 0) for test in TESTS] == [1] * 4
            return
        assert float(exact) == pytest.approx(binomtest(lost, pairs).pvalue, rel=1e-9)
        assert float(exact) == pytest.approx(of_statsmodels(table, exact=True).pvalue, rel=1e-9)
        asymptotic = of_statsmodels(table, exact=False, correction=False).pvalue
        assert p_value("asymptotic", lost, recovered) == pytest.approx(asymptotic, rel=1e-9)
        if lost != recovered:
            # For equal counts statsmodels corrects 0 to 1; here, as in R, it stays 0.
            corrected = of_statsmodels(table, exact=False, correction=True).pvalue
            assert p_value("continuity-corrected", lost, recovered) == pytest.approx(corrected, rel=1e-9)
        else:
            assert p_value("continuity-corrected", lost, recovered) == 1

    @pytest.mark.parametrize("pairs", range(31))
    def test_the_binomial_ones_are_sums_over_coins(self, pairs: int) -> None:
        row = [1]
        for _ in range(pairs):
            row = [1, *(a + b for a, b in pairwise(row)), 1]
        for lost in range(pairs + 1):
            least = min(lost, pairs - lost)
            two = Fraction(2 * sum(row[: least + 1]), 2**pairs)
            assert p_value("exact", lost, pairs - lost) == min(1, two)
            assert p_value("mid-p", lost, pairs - lost) == two - Fraction(row[least], 2**pairs)

    def test_long_sums_from_either_side_agree(self) -> None:
        """Few outer terms, or few inner ones: floats of SciPy tell the same."""
        for lost, recovered in ((3000, 2950), (3000, 100), (2001, 1000), (900, 300)):
            found = float(p_value("exact", lost, recovered))
            assert found == pytest.approx(binomtest(lost, lost + recovered).pvalue, rel=1e-7)


class TestIntervals:
    @pytest.mark.parametrize("images", [1, 2, 3, 7, 16, 25])
    def test_ends_are_those_of_all_correspondences(self, images: int) -> None:
        for first, second in product(range(images + 1), repeat=2):
            every = pairs_of(images, first, second)
            for outcome in mcnemar(discordant(images, first, second)):
                values = [p_value(outcome.name, *pair) for pair in every]
                assert outcome.p == (min(values), max(values))
                assert outcome.significant == verdict((min(values), max(values)), Fraction(1, 20))

    @given(st.integers(1, 14), st.data())
    def test_ends_over_printed_accuracies_too(self, images: int, data: st.DataObject) -> None:
        counts = st.tuples(st.integers(0, images), st.integers(0, images)).map(sorted)
        (a, b), (c, d) = data.draw(counts), data.draw(counts)
        every = [
            pair
            for first, second in product(range(a, b + 1), range(c, d + 1))
            for pair in pairs_of(images, first, second)
        ]
        for outcome in mcnemar(discordant(images, range(a, b + 1), range(c, d + 1))):
            values = [p_value(outcome.name, *pair) for pair in every]
            assert outcome.p == (min(values), max(values))

    def test_the_level_itself_is_significant(self) -> None:
        """5 lost and none recovered: 2 / 32, exactly 1/16."""
        always = mcnemar(discordant(5, 5, 0), Fraction(1, 16))[0]
        never = mcnemar(discordant(5, 5, 0), Fraction(1, 16) - Fraction(1, 10**30))[0]
        assert (always.significant, never.significant) == ("always", "never")

    def test_statistics_have_their_ends(self) -> None:
        exact, _, asymptotic, corrected = mcnemar(discordant(100, 92, 60))
        assert exact.statistic == (0, 8)
        assert asymptotic.statistic == (Fraction(32**2, 48), 32)
        assert corrected.statistic == (Fraction(31**2, 48), Fraction(31**2, 32))


FORTIETHS = st.integers(0, 40).map(lambda n: Fraction(n, 40))
PS = st.lists(st.integers(0, 100).map(lambda n: Fraction(n, 100)), min_size=1, max_size=6)


class TestHolm:
    @given(PS)
    def test_adjusted_p_values_are_those_of_statsmodels(self, p: list[Fraction]) -> None:
        found = [float(value) for value in holm(p)]
        assert found == pytest.approx(multipletests([float(value) for value in p], method="holm")[1].tolist())

    @given(
        st.lists(
            st.lists(st.integers(0, 40).map(lambda n: Fraction(n, 40)), min_size=1, max_size=3), min_size=2, max_size=4
        )
    )
    def test_ends_are_those_of_all_combinations(self, values: list[list[Fraction]]) -> None:
        every = [holm(combination) for combination in product(*values)]
        found = holm_ends([(min(some), max(some)) for some in values])
        for number, ends in enumerate(found):
            assert ends == (min(one[number] for one in every), max(one[number] for one in every))

    def test_it_is_not_the_false_discovery_rate(self) -> None:
        p = [0.01, 0.02, 0.03]
        assert holm(p) != false_discovery_control(p).tolist()


def test_no_range_is_refused() -> None:
    assert Discordant(5, {1: (1, 3), 0: (0, 4)}).step is None
