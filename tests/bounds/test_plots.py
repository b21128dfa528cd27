"""Pictures: what they show, that they are told apart without colour, and that their bytes repeat."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sample_intervals import interval

from bounds import plots
from bounds.errors import MissingExtraError, PairboundsError
from bounds.interval import Averaged, Denominator, Interval

LEVELS = ("marginals", "total-correct-correct", "correct-correct", "five-state", "paired")


@pytest.fixture(autouse=True)
def _matplotlib(require: Callable[[str, bool, str], None]) -> None:
    require("matplotlib", importlib.util.find_spec("matplotlib") is not None, "pictures are drawn with it")


def many(conditions: int, **changes: Any) -> list[Interval]:
    return [interval(perturbed=f"fog/{c}", knowledge=level, **changes) for c in range(conditions) for level in LEVELS]


def curves(axes: Any) -> list[Any]:
    """The lines of intervals, not those of paired values."""
    return [line for line in axes.get_lines() if line.get_marker() != "None"]


def laid_out(figure: Any) -> None:
    """Place every part as it is placed when the picture is saved."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).draw()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_equal_intervals_give_equal_bytes(suffix: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    plots.plot_intervals(many(2), first)
    plots.plot_intervals(many(2), second)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes()[:4] == {".png": b"\x89PNG", ".svg": b"<?xm", ".pdf": b"%PDF"}[suffix]
    assert [date for date in (b"/CreationDate", b"<dc:date>", b"tIME") if date in first.read_bytes()] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [first.name, second.name]


def test_the_title_says_what_means_over_conditions_assume() -> None:
    averaged = Averaged(("fog/1", "fog/3"), ())
    titles = [
        plots.figure(made).legends[0].get_title().get_text().replace("\n", " ")
        for made in ([interval()], [interval(averaged=averaged)])
    ]
    assert ["independent across conditions" in title for title in titles] == [False, True]


def test_each_panel_names_its_quantity_its_unit_and_its_denominator() -> None:
    none = Denominator("none", None, None)
    made = [
        *many(1),
        *many(1, quantity="lost", denominator=none, unit="count"),
        *many(1, quantity="lost", denominator=Denominator("images", 9, 9)),
        *many(1, quantity="mean-probability-decrease", unit="probability"),
    ]
    shown = [(axes.get_title(), axes.get_xlabel()) for axes in plots.figure(made).axes if axes.get_visible()]
    assert shown == [
        ("lost acceptance", "fraction of retained-correct images"),
        ("lost", "images"),
        ("lost", "fraction of all images"),
        ("mean probability decrease", "mean over retained-correct images (probability)"),
    ]


def test_every_end_is_where_it_belongs_and_the_paired_value_is_marked() -> None:
    (axes,) = plots.figure(many(3)).axes
    lines = curves(axes)
    assert len(lines) == 3 * 4
    assert {tuple(line.get_xdata()) for line in lines} == {(1 / 3, 2 / 3)}
    marks = [line for line in axes.get_lines() if line.get_marker() == "None"]
    assert [tuple(mark.get_xdata()) for mark in marks] == [(0.5, 0.5)] * 3
    for row, mark in enumerate(marks):
        low, high = mark.get_ydata()
        own = [line.get_ydata()[0] for line in lines[4 * row : 4 * row + 4]]
        assert low < min(own) < max(own) < high
        assert row - 0.5 <= low < high <= row + 0.5


def test_levels_differ_in_marker_and_line_style_as_in_colour() -> None:
    styles = plots.STYLES.values()
    for key in ("color", "linestyle", "marker"):
        assert len({str(style[key]) for style in styles}) == len(plots.STYLES) == len(LEVELS) - 1


def test_outer_ends_are_open_and_the_legend_says_so() -> None:
    figure = plots.figure([interval(), interval(knowledge="five-state", sharp=False)])
    sharp, outer = curves(figure.axes[0])
    assert sharp.get_markerfacecolor() == sharp.get_color()
    assert outer.get_markerfacecolor() == "white"
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == [
        "known: retained correct by class",
        "known: five states by class",
        "the true paired value",
        "open marker: outer end",
    ]
    assert "open marker: outer end" not in [t.get_text() for t in plots.figure(many(1)).legends[0].get_texts()]


def test_what_is_undefined_is_said_in_its_row() -> None:
    nothing = {"lower": None, "upper": None, "undefined": "0 images", "paired": None}
    (axes,) = plots.figure([interval(), interval(perturbed="snow/1", **nothing)]).axes
    assert [(text.get_text(), text.get_position()[1]) for text in axes.texts] == [("undefined", 1)]
    mixed = [interval(), interval(knowledge="five-state", **nothing)]
    (axes,) = plots.figure(mixed).axes
    assert [text.get_text() for text in axes.texts] == ["undefined"]
    assert len(curves(axes)) == 1


def test_rows_name_only_what_differs() -> None:
    def rows(made: list[Interval]) -> list[str]:
        return [label.get_text() for label in plots.figure(made).axes[0].get_yticklabels()]

    assert rows(many(2)) == ["fog/0", "fog/1"]
    assert rows([interval(), interval(model="resnet56")]) == ["resnet20, fog/3", "resnet56, fog/3"]
    assert rows([interval(), interval(threshold="0.9")]) == ["fog/3, ≥ 0.8", "fog/3, ≥ 0.9"]
    assert rows([interval(class_name=7, average=None)]) == ["fog/3, class 7"]


@pytest.mark.parametrize("conditions", [1, 47])
def test_nothing_is_cut_and_no_labels_overlap(conditions: int) -> None:
    long = {"model": "a_model_with_a_rather_long_name"}
    made = many(conditions) + many(conditions, quantity="gained-acceptance") + [interval(**long)]
    figure = plots.figure(made)
    laid_out(figure)
    frame = figure.bbox
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert len(boxes) == conditions + 1
    everything = [*boxes, figure.legends[0].get_window_extent()]
    everything += [text.get_window_extent() for axes in figure.axes for text in (axes.title, axes.xaxis.label)]
    for box in everything:
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1
    for axes in figure.axes:
        assert axes.get_window_extent().width > 2 * figure.dpi, "a panel is two inches wide at least"
    for above, below in pairwise(boxes):
        assert below.y1 < above.y0


def test_the_title_fits_a_narrow_picture() -> None:
    figure = plots.figure([interval(model="a_model_with_a_rather_long_name")])
    laid_out(figure)
    box = figure.legends[0].get_title().get_window_extent()
    assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PairboundsError, match=r"ends in none of \.png, \.svg, \.pdf"):
        plots.plot_intervals(many(1), tmp_path / "picture.gif")
    assert list(tmp_path.iterdir()) == []


def test_no_interval_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PairboundsError, match="no interval to draw"):
        plots.plot_intervals([], tmp_path / "picture.png")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_pip_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pairbounds\[plots\]'"):
        plots.plot_intervals(many(1), tmp_path / "picture.png")
    assert list(tmp_path.iterdir()) == []


def test_ends_are_drawn_at_their_numbers() -> None:
    (axes,) = plots.figure([interval(Fraction(-1, 4), Fraction(3, 4))]).axes
    assert tuple(curves(axes)[0].get_xdata()) == (-0.25, 0.75)
