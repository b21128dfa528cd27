"""Coverage of the confidence intervals, simulated, against the nominal level; and their speed.

Each line that is printed has the population, the images a class, and the share of samples that each interval covers:
the whole identified interval for normal, percentile and robust, the worse of its two ends for Imbens-Manski and Stoye.
"""

from __future__ import annotations

import numpy as np
import pytest
from populations import FLIPS_TIED, ONE_TIED, REGULAR, TIED, Population, cover, near
from scipy.stats import binom

from bounds.sampling import METHODS, sampled

RUNS, RESAMPLES, LEVEL = 1000, 400, 0.95

LOST = ("lost-acceptance", "images", "marginals")

RETAINED = ("lost-acceptance", "retained-correct", "correct-correct")
TOTAL = ("lost-acceptance", "retained-correct", "total-correct-correct")

CASES = {
    "flips, regular": (REGULAR, 267, ("flips", "images", "marginals")),
    "lost acceptance, regular": (REGULAR, 67, RETAINED),
    "lost acceptance, regular, more images": (REGULAR, 267, RETAINED),
    "lost acceptance, regular, total known": (REGULAR, 267, TOTAL),
    "new accepted errors, regular": (REGULAR, 267, ("new-accepted-error", "images", "marginals")),
    "one tied class": (ONE_TIED, 200, LOST),
    "ten tied classes": (TIED, 50, LOST),
    "ten tied classes, ratio": (TIED, 50, ("lost-acceptance", "retained-correct", "marginals")),
    "ten tied classes, more images": (TIED, 200, LOST),
    "ten classes nearly tied": (near(0.05), 50, LOST),
    "ten classes farther from a tie": (near(0.1), 50, LOST),
    "both ends tied": (FLIPS_TIED, 50, ("flips", "images", "marginals")),
    "both ends tied, more images": (FLIPS_TIED, 200, ("flips", "images", "marginals")),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_coverage(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    population, images, (quantity, denominator, knowledge) = CASES[name]
    covered, flagged = cover(
        population, images, quantity, denominator, knowledge,
        runs=RUNS, resamples=RESAMPLES, seed=20, confidence=LEVEL,
    )  # fmt: skip
    shares = ", ".join(f"{method} {covered[method] / RUNS:.3f}" for method in METHODS)
    with capsys.disabled():
        print(f"\n{name}, {images} a class: {shares}; irregular {flagged / RUNS:.2f}")
    # Fails with probability 1e-6 where the coverage is the nominal one.
    assert covered["robust"] >= binom.ppf(1e-6, RUNS, LEVEL)
    if "tied classes" in name or "both" in name:
        assert flagged == RUNS


@pytest.mark.parametrize(("classes", "images"), [(10, 200), (1000, 50)])
def test_speed(classes: int, images: int, benchmark) -> None:
    population = Population(np.array([REGULAR.shares[c % 3] for c in range(classes)]))
    records = population.draw(images, np.random.default_rng(0))
    benchmark.pedantic(sampled, (records, "lost-acceptance", "marginals"), rounds=2)
