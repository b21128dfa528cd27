"""Ends as least sums of lines, against `bounds.bound` and against linear programs over all couplings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from populations import GROUPS, Population, lp_ends
from strategies import evaluation

from bounds.errors import QuantityError, RecordError
from bounds.evaluation import Evaluation
from bounds.knowledge import Level
from bounds.quantities import QUANTITIES, quantity
from bounds.resampling import LINES, A, B, K, N, ProbabilityEnds, _draws, ends_of, options
from bounds.solve import bound

LEVELS = ("marginals", "total-correct-correct", "correct-correct", "five-state", "paired")


def random_evaluation(rng: np.random.Generator, classes: int = 3, most: int = 7) -> Evaluation:
    found = []
    for _ in range(classes):
        images = int(rng.integers(0, most + 1))
        bias = rng.random(2)
        sides = [
            [(int(rng.integers(1, 3)) * (rng.random() > p), bool(rng.random() < bias[1 - i]), float(rng.random()))
             for _ in range(images)]
            for i, p in enumerate(bias)
        ]  # fmt: skip
        found.append(tuple(sides))
    return evaluation(*found)


def offered(level: str) -> list[tuple[str, str]]:
    """(quantity, denominator) that have sampling intervals."""
    found = []
    for one in QUANTITIES.values():
        for denominator in one.denominators:
            if denominator == "none":
                continue
            try:
                ends_of(
                    evaluation(([(0, True)], [(0, True)])), one, denominator, Level(level), 1, np.random.default_rng()
                )
            except QuantityError:
                continue
            found.append((one.name, denominator))
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_ends_of_the_images_are_those_of_bound(level: str) -> None:
    rng = np.random.default_rng(LEVELS.index(level))
    pairs = offered(level)
    assert len(pairs) >= {"paired": 39}.get(level, 8)
    compared = 0
    for _ in range(25):
        records = random_evaluation(rng)
        for name, denominator in pairs:
            found = bound(records, name, level, denominator=denominator)
            ends = ends_of(records, quantity(name), denominator, Level(level), 2, rng)
            for sign, end, exact in zip((-1, 1), ends, (found.low, found.high), strict=True):
                if isinstance(end, ProbabilityEnds):
                    still = replace(
                        end,
                        deviations=0 * end.deviations[:1],
                        retained_deviations=0 * end.retained_deviations[:1],
                    )
                    value = still.resampled()[0]
                else:
                    value = end.at(end.held[None])[0]
                if exact.number is None:
                    assert np.isnan(value)
                    continue
                assert value == pytest.approx(exact.number, abs=1e-9), (name, denominator)
                compared += 1
                # The greatest N - t D is zero at the end, and what is drawn adds up to the same number of images.
                least = min(branch.values.min(axis=1).sum() for branch in end.branches(sign * exact.number))
                if found.denominator.upper and found.denominator.lower:
                    assert least == pytest.approx(0, abs=1e-9), (name, denominator)
    assert compared > 300


@pytest.mark.parametrize("level", LEVELS[:3])
def test_ends_of_a_population_are_those_of_linear_programs(level: str) -> None:
    """Where counts are no integers too: shares of cells in place of counts."""
    rng = np.random.default_rng(7)
    names = [name for name in LINES if name in offered_names(level)]
    for _ in range(6):
        tables = rng.dirichlet(np.full(16, 0.4), 3).reshape(3, 4, 4)
        cells = np.array([to_cells(table) for table in tables])
        for name in names:
            denominators = [d for d in ("images", "retained-correct", "clean-correct") if (name, d) in offered(level)]
            for denominator in denominators:
                ends = ends_of(random_evaluation(rng), quantity(name), denominator, Level(level), 1, rng)
                found = [end.at(cells[None])[0] for end in ends]  # type: ignore[attr-defined]
                assert found == pytest.approx(lp_ends(tables, name, denominator, level), abs=1e-8), (name, denominator)


def offered_names(level: str) -> set[str]:
    return {name for name, _ in offered(level)}


def to_cells(table: np.ndarray) -> np.ndarray:
    """Shares of the 20 cells from shares of pairs of groups; wrong pairs count as changed."""
    cells = np.zeros((5, 2, 2))
    for i, x in enumerate(GROUPS):
        for j, y in enumerate(GROUPS):
            state = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 4}[x[0], y[0]]
            cells[state, int(x[1]), int(y[1])] += table[i, j]
    return cells.reshape(20)


def test_options_are_the_best_choice_of_k() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        cells = rng.integers(0, 6, 20).astype(float)
        lines = [(rng.normal(size=20), float(rng.choice([-2, -1, 0, 0.5, 1]))) for _ in range(rng.integers(1, 5))]
        low, high = max(0.0, cells @ (A + B - N)), min(cells @ A, cells @ B)
        corners = [low, high]
        corners += [
            float((cells @ (c - a)) / (b - d)) for i, (a, b) in enumerate(lines) for c, d in lines[:i] if b != d
        ]
        best = max(min(cells @ a + b * k for a, b in lines) for k in corners if low - 1e-12 <= k <= high + 1e-12)
        assert (options(lines) @ cells).min() == pytest.approx(best, abs=1e-9)


def test_paired_images_are_drawn_with_both_records_and_sides_apart_without() -> None:
    same = [(0, True)] * 30 + [(1, False)] * 30
    paired = evaluation((same, same))
    held, drawn = _draws(paired, 4000, np.random.default_rng(0))
    assert (drawn.sum(axis=2) == 60).all()
    assert drawn[:, 0].mean(axis=0) == pytest.approx(held[0], abs=0.4)
    # Both sides move together where images are drawn, and not where sides are.
    assert (drawn @ A == drawn @ B).all()
    other = evaluation((same, [(0, True)] * 12 + [(1, False)] * 48), paired=False)
    apart = _draws(other, 4000, np.random.default_rng(0))[1]
    clean, perturbed = (apart @ A)[:, 0], (apart @ B)[:, 0]
    assert (clean.mean(), perturbed.mean()) == pytest.approx((30, 12), abs=0.4)
    assert (clean.var(), perturbed.var()) == pytest.approx((15, 9.6), rel=0.1)
    assert abs(np.corrcoef(clean, perturbed)[0, 1]) < 0.06


def test_sums_of_the_largest_probabilities_in_resamples() -> None:
    """Against `bound` on the resampled images themselves: off by far less than they vary."""
    records = Population(np.full((1, 4, 4), 1 / 16), (0.5, 1.5)).draw(300, np.random.default_rng(5))
    rng = np.random.default_rng(11)
    lower, upper = ends_of(records, quantity("mean-probability-decrease"), "retained-correct", Level.CLASSWISE, 8, rng)
    weights = np.random.default_rng(11).multinomial(300, np.full(300, 1 / 300), 8)
    for number, drawn in enumerate(weights):
        rows = np.repeat(np.arange(300), drawn)
        again = replace(records, clean=records.clean.take(rows), perturbed=records.perturbed.take(rows))
        found = bound(again, "mean-probability-decrease", "correct-correct")
        for end, value in ((lower, found.low.number), (upper, found.high.number)):
            assert end.resampled()[number] == pytest.approx(value, abs=0.05 * end.resampled().std())
        # Its lines at t are those of N - t D.
        (branch,) = upper.branches(0.3)
        total = (branch.values + branch.deviations[number]).min(axis=1).sum()
        retained = found.denominator.lower
        assert total == pytest.approx(
            retained * (found.high.number - 0.3), abs=0.05 * retained * upper.resampled().std()
        )


@pytest.mark.parametrize(
    ("name", "denominator", "level", "told"),
    [
        ("lost", "none", "marginals", "no counts"),
        ("lost-acceptance", "retained-correct-accepted", "correct-correct", "pairs are not known"),
        ("mean-probability-decrease", "retained-correct", "marginals", "a single pair"),
        ("mean-probability-decrease", "retained-correct", "total-correct-correct", "a single pair"),
        ("persistent-wrong", "images", "correct-correct", "at correct-correct"),
        ("kept-accepted-error", "images", "five-state", "at five-state"),
        ("kept-persistent-accepted-error", "images", "marginals", "at marginals"),
    ],
)
def test_what_is_not_offered(name: str, denominator: str, level: str, told: str) -> None:
    records = evaluation(([(0, True)], [(0, True)]))
    with pytest.raises(QuantityError, match=told):
        ends_of(records, quantity(name), denominator, Level(level), 1, np.random.default_rng())


def test_pairs_are_not_read_off_unpaired_sides() -> None:
    records = evaluation(([(0, True)], [(0, True)]), paired=False)
    with pytest.raises(QuantityError, match="no common ids"):
        ends_of(records, quantity("lost"), "images", Level.CLASSWISE, 1, np.random.default_rng())


def test_probabilities_are_needed() -> None:
    records = evaluation(([(0, True)], [(0, True)]))
    records = replace(records, perturbed=replace(records.perturbed, true_probability=None))
    with pytest.raises(RecordError, match="perturbed records have no such column"):
        ends_of(
            records,
            quantity("mean-probability-decrease"),
            "retained-correct",
            Level.PAIRED,
            1,
            np.random.default_rng(),
        )


def test_k_is_the_retained_correct_count() -> None:
    assert K @ np.arange(20) == sum(range(4))
