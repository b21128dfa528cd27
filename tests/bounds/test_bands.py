"""Bands over a sweep of coverages, and their picture."""

from __future__ import annotations

import importlib.util
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

from bounds import plot_bands
from bounds.bands import COVERAGES, bands
from bounds.errors import PairboundsError, QuantityError
from bounds.evaluation import Coverage
from bounds.knowledge import Level, know
from bounds.quantities import QUANTITIES
from bounds.solve import bound

ASKED = ("lost-acceptance", "kept-accepted-error")


def confident(made, values):
    """The records with these confidences in place of acceptance, clean ones first."""
    numbers = np.array(values, dtype=np.float32)
    sides = [
        replace(side, accepted=None, confidence=part)
        for side, part in zip((made.clean, made.perturbed), np.split(numbers, 2), strict=True)
    ]
    return replace(made, clean=sides[0], perturbed=sides[1])


@st.composite
def confident_evaluations(draw):
    made = draw(evaluations(max_images=4, max_classes=2, max_labels=2, min_images=1))
    size = 2 * made.images
    return confident(made, draw(st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0]), min_size=size, max_size=size)))


@settings(max_examples=40)
@given(confident_evaluations(), st.sets(st.sampled_from(["0.1", "0.5", ".75", "1"]), min_size=1))
def test_a_band_is_the_interval_at_each_threshold(made, coverages):
    levels = (Level.MARGINALS, Level.FIVE_STATE)
    found = list(bands(made, ASKED, levels, sorted(coverages)))
    ordered = sorted(coverages, key=Fraction)
    assert [(one.coverage.asked, one.quantity, one.knowledge) for one in found] == [
        (text, name, level) for text in ordered for name in ASKED for level in levels
    ]
    five = know(made, Level.FIVE_STATE)
    for one in found:
        at = made.at_threshold(one.threshold)
        assert one.coverage.achieved == Fraction(int(at.clean.accepted.sum()), made.images)
        alone = bound(at, one.quantity, one.knowledge)
        assert (one.lower, one.upper, one.paired, one.sharp) == (alone.lower, alone.upper, alone.paired, alone.sharp)
        every = oracles.values(
            at,
            one.quantity,
            one.denominator.name,
            "micro",
            one.knowledge,
            five.retained_correct.tolist(),
            five.persistent.tolist(),
        ) - {None}
        assert (one.lower, one.upper) == ((min(every), max(every)) if every else (None, None))


def test_all_thresholds_are_each_distinct_confidence():
    made = confident(evaluation(([(0,)] * 3, [(0,)] * 3)), [0.5, 0.25, 0.5, 0.1, 0.4, 0.9])
    found = list(bands(made, ["lost-acceptance"], ["marginals"], None))
    assert [(one.threshold, one.coverage) for one in found] == [
        ("0.5", Coverage(None, Fraction(2, 3))),
        ("0.25", Coverage(None, Fraction(1))),
    ]


def test_the_default_grid_is_every_twentieth():
    assert [Fraction(text) for text in COVERAGES] == [Fraction(i, 20) for i in range(1, 21)]


def test_a_quantity_that_coverage_cannot_move_is_refused():
    made = confident(evaluation(([(0,)], [(0,)])), [0.5, 0.5])
    with pytest.raises(QuantityError, match="'lost': does not depend on acceptance"):
        bands(made, ["lost"])
    with pytest.raises(QuantityError, match="coverage '2'"):
        bands(made, ["lost-acceptance"], coverages=["0.5", "2"])


def test_twenty_coverages_at_two_levels_of_two_thousand_images_take_seconds():
    random = np.random.default_rng(0)

    def side():
        return [(int(wrong),) for wrong in random.integers(0, 4, 200)]

    made = confident(evaluation(*[(side(), side()) for _ in range(10)]), random.random(4000))
    started = time.perf_counter()
    closed = [name for name, quantity in QUANTITIES.items() if quantity.needs_acceptance]
    found = list(bands(made, closed, [Level.MARGINALS, Level.CLASSWISE]))
    assert len(found) == 20 * 10 * 2
    assert {one.method for one in found} == {"closed-form"}
    assert time.perf_counter() - started < 5


class TestPicture:
    @pytest.fixture(autouse=True)
    def _matplotlib(self, require):
        require("matplotlib", importlib.util.find_spec("matplotlib") is not None, "pictures are drawn with it")

    @pytest.fixture
    def found(self):
        records = ([(0,), (0,), (1,), (1,)], [(0,), (0,), (1,), (2,)])
        made = confident(evaluation(records), [0.9, 0.8, 0.7, 0.6, 0.6, 0.9, 0.85, 0.5])
        return list(bands(made, ASKED, (Level.CLASSWISE, Level.FIVE_STATE)))

    @pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
    def test_equal_intervals_give_equal_bytes(self, suffix, tmp_path, found):
        first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        plot_bands.plot_bands(found, first)
        plot_bands.plot_bands(found, second)
        assert first.read_bytes() == second.read_bytes()

    def test_every_end_and_every_true_value_is_where_it_belongs(self, found):
        axes = plot_bands.figure(found).axes
        assert [panel.get_title() for panel in axes] == [name.replace("-", " ") for name in ASKED]
        for panel, name in zip(axes, ASKED, strict=True):
            drawn = [list(zip(*line.get_data(), strict=True)) for line in panel.get_lines()]
            wanted = []
            for level in (Level.CLASSWISE, Level.FIVE_STATE):
                members = [one for one in found if (one.quantity, one.knowledge) == (name, level)]
                for end in ("lower", "upper"):
                    wanted.append([(float(o.coverage.achieved), float(getattr(o, end))) for o in members])
            members = [one for one in found if one.quantity == name]
            wanted.append(sorted({(float(o.coverage.achieved), float(o.paired)) for o in members}))
            assert drawn == wanted
            assert panel.get_xlabel() == "clean coverage"

    def test_levels_are_told_apart_without_colour(self, found):
        (first, _) = plot_bands.figure(found).axes
        assert len({area.get_hatch() for area in first.collections}) == 2
        assert len(set(plot_bands.HATCHES.values())) == 4
        assert len({line._unscaled_dash_pattern for line in first.get_lines()}) == 3, "two levels and the true value"

    def test_undefined_ends_are_left_out(self, found):
        end = replace(found[0].low, value=None, number=None)
        nothing = [replace(one, low=end, high=end, paired=None, undefined="0 images") for one in found]
        assert [panel.get_lines()[:] for panel in plot_bands.figure(nothing).axes] == [[], []]

    def test_intervals_without_a_coverage_are_refused(self, found):
        for nothing in ([], [replace(found[0], coverage=None)]):
            with pytest.raises(PairboundsError, match="there is no band to draw"):
                plot_bands.figure(nothing)
