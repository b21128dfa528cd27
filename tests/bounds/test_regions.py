"""Joint regions, against the convex hull of the pairs that every correspondence gives."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np
import oracles
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import evaluation, evaluations

from bounds import plot_regions, regions
from bounds.errors import PairboundsError, QuantityError, SolverError
from bounds.knowledge import Level, know
from bounds.regions import joint_region
from bounds.solve import bound

RETAINED = ("lost-acceptance", "gained-acceptance", "mean-probability-decrease", "retained-correct")
BEYOND = ("new-accepted-error", "kept-persistent-accepted-error", "lost-acceptance", "mean-probability-decrease")


@cache
def class_pairs(made, c, first, second, k, s):
    """Every (first numerator, second numerator) of a class over its correspondences with counts k (and s)."""
    rows = range(int(made.starts[c]), int(made.starts[c + 1]))
    clean = [oracles.records(made.clean)[i] for i in rows]
    perturbed = [oracles.records(made.perturbed)[i] for i in rows]
    found = set()
    for order in permutations(perturbed):
        pairs = list(zip(clean, order, strict=True))
        states = [oracles.state(*pair) for pair in pairs]
        if states.count("CC") == k and s in (None, states.count("WS")):
            found.add(tuple(sum(Fraction(oracles.NUMERATORS[q](*pair)) for pair in pairs) for q in (first, second)))
    return found


def hull(points):
    """The vertices of the convex hull by gift wrapping, counterclockwise from the leftmost."""
    start = min(points)
    found = [start]
    while True:
        last, following = found[-1], None
        for point in points - {last}:
            if following is None:
                following = point
                continue
            (ax, ay), (bx, by) = ((p[0] - last[0], p[1] - last[1]) for p in (following, point))
            cross = ax * by - ay * bx
            if cross < 0 or (cross == 0 and bx * bx + by * by > ax * ax + ay * ay):
                following = point
        if following is None or following == start:
            return tuple(found)
        found.append(following)


def rates(made, quantities, denominators, average, classes, known):
    """For each quantity the factor of every class's numerator in its value; None where it has no denominator."""
    factors = []
    for name in denominators:
        if name == "none":
            factors.append([Fraction(1)] * len(classes))
            continue
        sizes = []
        for c in classes:
            rows = range(int(made.starts[c]), int(made.starts[c + 1]))
            below = oracles.DENOMINATORS[name]
            if name == "retained-correct":
                sizes.append(known[c])
            else:
                clean, perturbed = oracles.records(made.clean), oracles.records(made.perturbed)
                sizes.append(sum(below(clean[i], perturbed[i]) for i in rows))
        if not any(sizes):
            return None
        if average == "macro":
            factors.append([Fraction(1, size * sum(map(bool, sizes))) if size else Fraction(0) for size in sizes])
        else:
            factors.append([Fraction(1, sum(sizes))] * len(classes))
    return factors


def expected(made, quantities, denominators, average, level, classes):
    five = know(made, Level.FIVE_STATE)
    k, s = five.retained_correct.tolist(), five.persistent.tolist()
    factors = rates(made, quantities, denominators, average, classes, k)
    if factors is None:
        return ()
    sets = [class_pairs(made, c, *quantities, k[c], s[c] if level == "five-state" else None) for c in classes]
    return hull(
        {
            tuple(sum(factors[axis][n] * pair[axis] for n, pair in enumerate(choice)) for axis in (0, 1))
            for choice in product(*sets)
        }
    )


def check(made, quantities, denominators, average, level, class_name=None):
    classes = range(len(made.classes)) if class_name is None else [made.classes.index(class_name)]
    found = joint_region(made, *quantities, level, denominators=denominators, average=average, class_name=class_name)
    rule = "micro" if class_name is not None else average
    assert found.vertices == expected(made, quantities, denominators, rule, level, classes)
    assert (found.undefined is None) == bool(found.vertices)
    alone = made.select(classes)
    clean, perturbed = oracles.records(alone.clean), oracles.records(alone.perturbed)
    known = know(alone, Level.FIVE_STATE)
    factors = rates(alone, quantities, denominators, rule, range(len(alone.classes)), known.retained_correct.tolist())
    for number, vertex in enumerate(found.vertices):
        match = found.match(number)
        value, counts = [Fraction(0), Fraction(0)], {}
        for c in range(len(alone.classes)):
            rows = range(int(alone.starts[c]), int(alone.starts[c + 1]))
            assert sorted(match[rows.start : rows.stop].tolist()) == list(rows)
            pairs = [(clean[i], perturbed[match[i]]) for i in rows]
            states = [oracles.state(*pair) for pair in pairs]
            counts[c] = states.count("CC"), states.count("WS")
            for axis, name in enumerate(quantities):
                value[axis] += factors[axis][c] * sum(Fraction(oracles.NUMERATORS[name](*pair)) for pair in pairs)
        assert tuple(value) == vertex
        assert [k for k, _ in counts.values()] == known.retained_correct.tolist()
        if level == "five-state":
            assert [s for _, s in counts.values()] == known.persistent.tolist()
    return found


@settings(max_examples=100)
@given(
    evaluations(max_images=5, max_labels=2),
    st.sampled_from(RETAINED),
    st.sampled_from(RETAINED),
    st.sampled_from(["correct-correct", "five-state"]),
)
@example(
    evaluation(([(0, True, 0.5), (0, False, 0.25)] * 3, [(0, False, 1.0), (0, True, 0.75), (1, True)] * 2)),
    "lost-acceptance",
    "mean-probability-decrease",
    "correct-correct",
)
def test_one_class_gives_the_hull_of_every_pair(made, first, second, level):
    found = check(made, (first, second), ("none", "none"), "micro", level, made.classes[0])
    assert found.proof == "closed form"


@settings(max_examples=80)
@given(
    evaluations(max_images=4, max_classes=2, max_labels=2),
    st.sampled_from(RETAINED[:3]),
    st.sampled_from(RETAINED[:3]),
    st.sampled_from(["none", "retained-correct"]),
    st.sampled_from(["micro", "macro"]),
)
def test_pooled_classes_give_the_hull_of_every_sum(made, first, second, denominator, average):
    average = "micro" if denominator == "none" else average
    check(made, (first, second), (denominator,) * 2, average, "correct-correct")


@settings(max_examples=40)
@given(
    evaluations(max_images=4, max_classes=2, max_labels=2),
    st.sampled_from(BEYOND[:2]),
    st.sampled_from(BEYOND),
    st.sampled_from(["correct-correct", "five-state"]),
)
def test_quantities_beyond_the_retained_pairs_are_settled_by_programs(made, first, second, level):
    check(made, (first, second), ("none", "none"), "micro", level)


def test_a_vertex_has_the_known_persistent_count_where_the_first_wrong_pairs_have_another():
    made = evaluation(([(0, True), (1, True), (2, True)], [(2, True), (0, True), (2, True)]))
    check(made, ("lost-acceptance", "gained-acceptance"), ("none", "none"), "micro", "five-state")


def corners(*pairs):
    return [regions._Point((Fraction(x), Fraction(y)), np.empty(0, dtype=np.int64), "dual") for x, y in pairs]


def test_points_on_an_edge_are_no_vertices():
    square = corners((0, 0), (1, 0), (2, 0), (2, 2), (1, 1), (0, 1), (0, 2))
    assert [point.at for point in regions._strict(square)] == [(0, 0), (2, 0), (2, 2), (0, 2)]


def test_a_square_plus_a_triangle_has_every_edge_once_in_order():
    """The triangle brings a new slope, shares two with the square, and stands second."""
    square, triangle = corners((0, 0), (1, 0), (1, 1), (0, 1)), corners((0, 0), (2, 1), (0, 1))
    found = list(regions._sum([square, triangle]))
    assert found == [
        ((0, 0), (0, 0)),
        ((1, 0), (1, 0)),
        ((3, 1), (1, 1)),
        ((3, 2), (2, 1)),
        ((0, 2), (3, 2)),
    ]


def test_mixed_denominators_and_a_class_that_does_not_count():
    made = evaluation(
        ([(0, True), (0, False), (1, True)], [(0, False), (0, True), (1, True)]),
        ([(1, True), (2, False)], [(2, True), (1, True)]),
    )
    check(made, ("lost-acceptance", "new-accepted-error"), ("retained-correct", "images"), "macro", "correct-correct")
    check(
        made,
        ("kept-accepted-error", "new-accepted-error"),
        ("clean-accepted-errors", "perturbed-accepted-errors"),
        "macro",
        "five-state",
    )


def test_persistence_does_not_move_the_region_of_retained_pairs_and_moves_that_of_errors():
    made = evaluation(([(0, False), (1, True)], [(1, False), (2, True)]))
    quantities = "new-accepted-error", "kept-accepted-error"
    given_k, given_ks = (joint_region(made, *quantities, level).vertices for level in ("correct-correct", "five-state"))
    half = Fraction(1, 2)
    assert given_k == ((0, half), (half, 0))
    assert given_ks == ((0, half),)


def test_a_region_that_has_no_denominator_is_undefined():
    made = evaluation(([(0, True), (1, True)], [(1, True), (0, True)]))
    found = joint_region(made, "lost-acceptance", "gained-acceptance")
    assert (found.vertices, found.undefined, found.paired) == ((), "0 retained-correct images", None)


def test_the_true_pair_lies_inside_and_the_json_is_plain():
    made = evaluation(([(0, True, 0.5), (0, False, 0.5)], [(0, False, 0.25), (0, True, 0.5)]))
    found = joint_region(made, "lost-acceptance", "mean-probability-decrease")
    assert found.paired == (Fraction(1, 2), Fraction(1, 8))
    told = found.to_dict()
    assert told["first"] == {"quantity": "lost-acceptance", "denominator": "retained-correct", "unit": "fraction"}
    assert told["second"]["unit"] == "probability"
    assert told["vertices"][0] == {"first": 0.0, "second": 0.125, "first_exact": "0/1", "second_exact": "1/8"}
    assert told["paired"]["second_exact"] == "1/8"
    assert told["claim"] == regions.CLAIM


@pytest.mark.parametrize("level", ["marginals", "total-correct-correct", "paired"])
def test_other_levels_are_refused(level):
    with pytest.raises(QuantityError, match="given the retained-correct count of each class"):
        joint_region(evaluation(([(0, True)], [(0, True)])), "lost-acceptance", "gained-acceptance", level)


def test_a_denominator_that_varies_is_refused():
    with pytest.raises(QuantityError, match="'retained-correct-accepted': varies with the correspondence"):
        joint_region(
            evaluation(([(0, True)], [(0, True)])),
            "lost-acceptance",
            "gained-acceptance",
            denominators=("retained-correct-accepted", None),
        )


def test_a_support_that_is_not_attained_is_never_shown(monkeypatch):
    best = regions._Retained.best

    def wrong(self, cells, weight):
        value, rows, columns = best(self, cells, weight)
        return value + 1, rows, columns

    monkeypatch.setattr(regions._Retained, "best", wrong)
    with pytest.raises(SolverError, match="a vertex is not attained"):
        joint_region(evaluation(([(0, True)], [(0, True)])), "lost-acceptance", "gained-acceptance")


class TestPicture:
    @pytest.fixture(autouse=True)
    def _matplotlib(self, require):
        require("matplotlib", importlib.util.find_spec("matplotlib") is not None, "pictures are drawn with it")

    @pytest.fixture
    def found(self):
        made = evaluation(([(0, False), (1, True), (2, True)], [(1, True), (2, True), (0, True)]))
        quantities = "new-accepted-error", "kept-persistent-accepted-error"
        return [joint_region(made, *quantities, level) for level in ("correct-correct", "five-state")]

    @pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
    def test_equal_regions_give_equal_bytes(self, suffix, tmp_path, found):
        first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        plot_regions.plot_regions(found, first)
        plot_regions.plot_regions(found, second)
        assert first.read_bytes() == second.read_bytes()

    def test_each_polygon_and_the_true_pair_are_where_they_belong(self, found):
        (axes,) = plot_regions.figure(found).axes
        polygons = [set(map(tuple, area.get_xy().tolist())) for area in axes.patches]
        assert polygons == [{(float(x), float(y)) for x, y in one.vertices} for one in found]
        (star,) = [line for line in axes.get_lines() if line.get_marker() == "*"]
        assert (*star.get_xdata(), *star.get_ydata()) == tuple(map(float, found[0].paired))
        assert axes.get_xlabel() == "new accepted error\nfraction of all images"
        assert len({area.get_hatch() for area in axes.patches}) == 2

    def test_the_title_says_what_is_shown(self, found):
        title = plot_regions.figure(found).legends[0].get_title().get_text().replace("\n", " ")
        assert title == (
            "kept persistent accepted error against new accepted error, given correct-correct or five-state: "
            "convex hull of attained pairs, micro average"
        )

    def test_nothing_defined_is_refused(self):
        nothing = joint_region(evaluation(([(1, True)], [(1, True)])), "lost-acceptance", "gained-acceptance")
        with pytest.raises(PairboundsError, match="there is no region to draw"):
            plot_regions.figure([nothing])


def test_a_class_of_a_thousand_images_is_settled_without_a_program(monkeypatch):
    random = np.random.default_rng(0)

    def side():
        wrong, accepted = random.integers(0, 2, (2, 1000)).tolist()
        p = random.random(1000, dtype=np.float32).tolist()
        return [(w, bool(a), q) for w, a, q in zip(wrong, accepted, p, strict=True)]

    made = evaluation((side(), side()))
    monkeypatch.setattr("bounds.by_program.Solver.optimise", None)
    found = joint_region(made, "lost-acceptance", "mean-probability-decrease")
    assert len(found.vertices) > 100
    for axis, quantity in enumerate(found.quantities):
        alone = bound(made, quantity, "correct-correct")
        reached = [vertex[axis] for vertex in found.vertices]
        assert (min(reached), max(reached)) == (alone.lower, alone.upper)
