"""Confidence intervals of `bounds.sampling`; `tests/benchmarks/test_sampling.py` measures their coverage at length."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from populations import FLIPS_TIED, REGULAR, TIED, Population, cover, independent
from scipy.stats import binom, norm
from strategies import evaluation

from bounds.errors import PairboundsError, QuantityError
from bounds.knowledge import know
from bounds.resampling import Branch
from bounds.sampling import METHODS, _margin, sampled

CHANCE = 1e-6
"""A test of coverage that should pass fails with at most this probability, were its seed not fixed."""


def least_hits(runs: int, level: float = 0.95) -> int:
    """Fewer are hardly seen where coverage is `level` or more: probability at most `CHANCE`."""
    return int(binom.ppf(CHANCE, runs, level))


def most_hits(runs: int, level: float) -> int:
    """More are hardly seen where coverage is `level` or less."""
    return int(binom.ppf(1 - CHANCE, runs, level))


class TestCoverage:
    RUNS = 120

    def test_all_cover_where_no_lines_are_near(self) -> None:
        covered, _ = cover(REGULAR, 267, "flips", "images", "marginals", runs=self.RUNS, resamples=200, seed=1)
        assert set(covered) == set(METHODS)
        for name, hits in covered.items():
            # 0.93: what 200 resamples and the approximation may cost.
            assert hits >= least_hits(self.RUNS, 0.93), name

    @pytest.mark.parametrize("denominator", ["images", "retained-correct"])
    def test_the_robust_one_covers_where_ten_classes_are_tied(self, denominator: str) -> None:
        covered, flagged = cover(
            TIED, 50, "lost-acceptance", denominator, "marginals", runs=self.RUNS, resamples=200, seed=2
        )
        assert covered["robust"] >= least_hits(self.RUNS)
        assert flagged == self.RUNS
        assert covered["percentile"] <= most_hits(self.RUNS, 0.5), "the tie does not bite"

    def test_where_both_ends_are_tied_the_usual_ones_fail_and_the_robust_one_does_not(self) -> None:
        covered, flagged = cover(FLIPS_TIED, 50, "flips", "images", "marginals", runs=self.RUNS, resamples=200, seed=3)
        assert covered["robust"] >= least_hits(self.RUNS)
        assert flagged == self.RUNS
        for name in ("normal", "percentile", "imbens-manski", "stoye"):
            assert covered[name] <= most_hits(self.RUNS, 0.5), name

    def test_probabilities(self) -> None:
        """The population's ends by hand: the sum of a share f of the largest of uniform values is f - f² / 2."""
        clean, perturbed = np.array([0.6, 0.2, 0.1, 0.1]), np.array([0.3, 0.3, 0.2, 0.2])
        population = Population(np.array([independent(clean, perturbed)]))
        a, b = 0.8, 0.6
        k = a * b
        largest = [side * (k / side - (k / side) ** 2 / 2) for side in (a, b)]
        smallest = [side * (k / side) ** 2 / 2 for side in (a, b)]
        ends = (smallest[0] - largest[1]) / k, (largest[0] - smallest[1]) / k
        rng = np.random.default_rng(4)
        hits = dict.fromkeys(METHODS, 0)
        for _ in range(60):
            found = sampled(
                population.draw(300, rng), "mean-probability-decrease", "correct-correct", resamples=200, seed=1
            )
            for one in found.intervals:
                hits[one.name] += one.lower <= ends[0] and ends[1] <= one.upper
        for name in ("normal", "percentile", "robust"):
            assert hits[name] >= least_hits(60, 0.93), hits


def test_a_share_of_paired_images_has_the_textbook_interval() -> None:
    records = evaluation(([(0, True)] * 200 + [(1, True)] * 200, [(0, True)] * 80 + [(1, True)] * 320))
    found = sampled(records, "lost", "paired", resamples=4000)
    margin = norm.ppf(0.975) * math.sqrt(0.3 * 0.7 / 400)
    for one in found.intervals:
        assert (one.lower, one.upper) == pytest.approx((0.3 - margin, 0.3 + margin), abs=0.006), one.name
    assert found.irregular == ((), ())


def test_wider_levels_and_order() -> None:
    records = REGULAR.draw(100, np.random.default_rng(0))
    inner, outer = (sampled(records, "lost-acceptance", "marginals", level=level) for level in (0.8, 0.99))
    for one, other in zip(inner.intervals, outer.intervals, strict=True):
        assert other.lower <= one.lower <= one.upper <= other.upper
        assert one.name == other.name
    assert [one.name for one in inner.intervals] == list(METHODS)
    found = {one.name: one for one in inner.intervals}
    assert found["normal"].lower <= found["imbens-manski"].lower <= inner.identified.low.number
    assert found["robust"].lower <= inner.identified.low.number <= inner.identified.high.number <= found["robust"].upper


def test_the_seed_decides() -> None:
    records = REGULAR.draw(60, np.random.default_rng(0))
    one, same, other = (sampled(records, "flips", "marginals", seed=seed).to_dict() for seed in (5, 5, 6))
    assert one == same
    assert one["confidence"] != other["confidence"]


def test_sides_without_common_ids() -> None:
    """Each is drawn by itself: a difference of two independent shares."""
    side = [(0, True)] * 200 + [(1, True)] * 200
    records = evaluation((side, [(0, True)] * 100 + [(1, True)] * 300))
    apart = sampled(replace(records, paired=False), "flips", "marginals", resamples=4000)
    assert apart.sides_apart
    assert apart.to_dict()["drawn"] == "sides"
    # The lower end is |A - B| / n.
    error = math.sqrt((0.25 + 0.1875) / 400)
    found = {one.name: one for one in apart.intervals}
    assert found["normal"].lower == pytest.approx(0.25 - norm.ppf(0.975) * error, abs=0.004)
    known = know(records, "correct-correct")
    with pytest.raises(QuantityError, match="no common ids"):
        sampled(replace(records, paired=False), "flips", known)


def test_few_images_are_told() -> None:
    records = evaluation(([(0, True)] * 100, [(0, True)] * 97 + [(1, True)] * 3))
    assert "few images" in sampled(records, "lost", "paired").irregular[1]


def test_what_no_image_shows_may_still_happen() -> None:
    """The exact upper limit of a share of which none of 100 images is one."""
    records = evaluation(([(0, True)] * 100, [(0, True)] * 100))
    found = {one.name: one for one in sampled(records, "lost", "paired").intervals}
    assert found["robust"].lower == 0
    assert found["robust"].upper == pytest.approx(1 - 0.025 ** (1 / 100), abs=0.001)
    assert found["normal"].upper == 0


def test_an_end_that_cannot_go_further_is_not_flagged() -> None:
    records = evaluation(([(0, True)] * 50 + [(0, False)] * 50, [(0, True)] * 50 + [(0, False)] * 50))
    found = sampled(records, "lost-acceptance", "marginals")
    assert found.identified.low.number == 0
    assert found.irregular[0] == ()
    assert {one.lower for one in found.intervals} == {0.0}


def test_resamples_without_a_denominator_are_counted() -> None:
    records = evaluation(([(0, True)] * 3 + [(1, True)] * 20, [(0, True)] * 2 + [(1, True)] * 21))
    found = sampled(records, "lost-acceptance", "correct-correct")
    assert found.undefined_resamples == pytest.approx(1000 * (21 / 23) ** 23, rel=0.3)
    few = evaluation(([(0, True)] + [(1, True)] * 20, [(0, True)] + [(1, True)] * 20))
    with pytest.raises(QuantityError, match="is undefined"):
        sampled(evaluation(([(1, True)], [(1, True)])), "lost-acceptance", "correct-correct")
    assert sampled(few, "lost-acceptance", "correct-correct").undefined_resamples > 200


def test_only_resamples_with_a_denominator_count() -> None:
    """Whatever is retained loses acceptance, so that the rate is one wherever it is defined."""
    records = evaluation(([(0, True)] * 2 + [(1, True)] * 20, [(0, False)] * 2 + [(1, True)] * 20))
    found = sampled(records, "lost-acceptance", "correct-correct")
    assert found.undefined_resamples > 50
    ends = {one.name: (one.lower, one.upper) for one in found.intervals}
    # Two images can say nothing, and the robust interval says so.
    assert ends == dict.fromkeys(METHODS, (1.0, 1.0)) | {"robust": (0.0, 1.0)}


def test_the_margin_of_near_lines_by_hand() -> None:
    """Two groups; the second line of the first group is near, that of the second is far; the first branch is far."""
    falls = np.array([[-1.0, 3.0], [0.0, -2.0], [1.0, -1.0]])
    deviations = np.stack([falls, falls], axis=1)
    near = Branch(np.array([[1.0, 2.0], [1.0, 90.0]]), deviations)
    far = Branch(np.array([[500.0, 501.0], [0.0, 1.0]]), deviations)
    least, widest, single = _margin([far, near], 2.0, 0.0)
    assert least == 2.0
    # Of each resample, the greater fall of the first group's two lines, and that of the second group's first.
    assert widest.tolist() == [1.0 + 1.0, 2.0 + 0.0, 1.0 - 1.0]
    assert single.tolist() == [2.0, 0.0, -2.0]


@pytest.mark.parametrize(
    "options", [{"level": 0.4}, {"level": 1.0}, {"resamples": 99}, {"seed": -1}, {"denominator": "none"}]
)
def test_what_cannot_be_used(options: dict[str, object]) -> None:
    with pytest.raises(PairboundsError, match=next(iter(options))):
        sampled(REGULAR.draw(20, np.random.default_rng(0)), "lost", "marginals", **options)  # type: ignore[arg-type]
