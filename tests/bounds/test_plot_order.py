"""The order behind the picture, and the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest
from strategies import evaluation

from bounds.errors import PairboundsError
from bounds.plot_order import order_figure, order_of, plot_order
from bounds.policies import Comparison, Difference, PolicyCost

SIGNS = {">": (1, 2), ">=": (0, 1), "=": (0, 0), "<=": (-1, 0), "<": (-2, -1), None: (-1, 1)}


def compared(names: str, *pairs: tuple[str, str | None, str, str]) -> Comparison:
    """Policies of one letter, and (first, relation, second, ordered) for the pairs."""
    differences = tuple(
        Difference(first, second, *map(Fraction, SIGNS[relation]), True, ordered, relation)
        for first, relation, second, ordered in pairs
    )
    return Comparison(
        clean="clean",
        perturbed="fog/3",
        knowledge="correct-correct",
        costs=tuple(
            PolicyCost(name, "net", Fraction(0), Fraction(number, 3), True) for number, name in enumerate(names)
        ),
        differences=differences,
        images=1,
        classes=1,
        left_out={},
        evaluation=evaluation(([], [])),
    )


CHAIN = compared(
    "abcd",
    ("a", "<", "b", "shared"),
    ("a", "<", "c", "separate"),
    ("a", "<=", "d", "separate"),
    ("b", "<=", "c", "separate"),
    ("b", None, "d", "unresolved"),
    ("c", None, "d", "unresolved"),
)


def test_only_neighbours_are_joined() -> None:
    """a < b <= c and a <= d: the line from c to a is left out, and b is not joined to d."""
    order = order_of(CHAIN)
    assert order.nodes == ((0,), (1,), (2,), (3,))
    assert order.lines == ((1, 0, "shared"), (2, 1, "separate"), (3, 0, "separate"))
    assert order.layers == (0, 1, 2, 1)


def test_policies_that_always_cost_the_same_share_a_box() -> None:
    found = compared("abc", ("a", "=", "b", "shared"), ("a", ">", "c", "shared"), ("b", ">", "c", "separate"))
    order = order_of(found)
    assert (order.nodes, order.lines, order.layers) == (((0, 1), (2,)), ((0, 1, "separate"),), (1, 0))


def test_the_order_is_closed_though_a_pair_was_left_open() -> None:
    """With outer ends a > b and b > c may be proven where a > c is not."""
    found = compared("abc", ("a", ">", "b", "shared"), ("a", None, "c", "unresolved"), ("b", ">", "c", "shared"))
    order = order_of(found)
    assert (order.lines, order.layers) == (((0, 1, "shared"), (1, 2, "shared")), (2, 1, 0))


def test_the_picture_shows_boxes_above_what_costs_less(require: Callable[[str, bool, str], None]) -> None:
    require("matplotlib", find_spec("matplotlib") is not None, "the order is drawn with it")
    (axes,) = order_figure([CHAIN]).axes
    heights = {text.get_text().split("\n")[0]: text.get_position()[1] for text in axes.texts}
    assert heights["c"] > heights["b"] == heights["d"] > heights["a"]
    assert [line.get_linestyle() for line in axes.lines] == ["--", "-", "-"]
    tops = [max(line.get_ydata()) for line in axes.lines]
    assert tops == [heights["b"], heights["c"], heights["d"]]


def test_a_point_and_models_are_told(require: Callable[[str, bool, str], None]) -> None:
    require("matplotlib", find_spec("matplotlib") is not None, "the order is drawn with it")
    (axes,) = order_figure([CHAIN]).axes
    assert axes.get_title() == "net: clean → fog/3, known: correct-correct"
    costs = (
        PolicyCost("a", "net", Fraction(2, 3), Fraction(2, 3), True),
        PolicyCost("b\n", "vit", Fraction(1, 3), Fraction(2, 3), True),
    )
    (axes,) = order_figure([replace(compared("ab", ("a", None, "b", "unresolved")), costs=costs, differences=())]).axes
    assert axes.get_title() == "net, vit: clean → fog/3, known: correct-correct"
    assert [text.get_text() for text in axes.texts] == ["a (net)\n0.6667", "b\\n (vit)\n[0.3333, 0.6667]"]


def test_a_line_that_passes_a_layer_by_bends_around_its_boxes(require: Callable[[str, bool, str], None]) -> None:
    require("matplotlib", find_spec("matplotlib") is not None, "the order is drawn with it")
    found = compared(
        "abcd",
        ("a", "<", "b", "separate"),
        ("a", "<", "c", "separate"),
        ("a", None, "d", "unresolved"),
        ("b", "<", "c", "separate"),
        ("b", None, "d", "unresolved"),
        ("c", ">", "d", "separate"),
    )
    (axes,) = order_figure([found]).axes
    places = {text.get_text().split("\n")[0]: text.get_position() for text in axes.texts}
    (long,) = [line for line in axes.lines if len(line.get_xdata()) == 3]
    assert long.get_ydata()[1] == places["b"][1]
    assert abs(long.get_xdata()[1] - places["b"][0]) > 0.3


def test_without_a_comparison_there_is_no_picture(tmp_path: Path, require: Callable[[str, bool, str], None]) -> None:
    require("matplotlib", find_spec("matplotlib") is not None, "the order is drawn with it")
    with pytest.raises(PairboundsError, match="there is no comparison to draw"):
        plot_order([], tmp_path / "o.png")
    assert list(tmp_path.iterdir()) == []
