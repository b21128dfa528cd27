"""Pictures of risk-coverage bands: the interval of each quantity against clean coverage.

One panel a quantity and condition. A level of knowledge is a band with its own colour, hatching and edges, so that a
grey print reads too; the black line is the true paired value.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.errors import PairboundsError
from bounds.interval import Interval
from bounds.knowledge import Level
from bounds.plots import NAMES, STYLES, add_legend, axis_title, open_frame, panel_grid, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

__all__ = ["band_patch", "band_style", "figure", "plot_bands"]

HATCHES = {Level.MARGINALS: "", Level.TOTAL: "....", Level.CLASSWISE: "////", Level.FIVE_STATE: "\\\\\\\\"}
"""Hatching of each level; those that are often drawn together cross."""

PANEL_INCHES = (3.0, 2.5)


def plot_bands(intervals: Sequence[Interval], path: str | Path) -> None:
    """Draw bands into a PNG, SVG or PDF file; equal intervals give equal bytes.

    Args:
        intervals: at least one, each with `coverage`, in any order.
        path: ends in .png, .svg or .pdf.

    Raises:
        MissingExtraError: if matplotlib is absent.
        PairboundsError: if the ending is another one, the file cannot be written or there is nothing to draw.
    """
    write_figure(lambda: figure(intervals), path)


def figure(intervals: Sequence[Interval]) -> Figure:
    """The picture of `plot_bands` as a matplotlib figure.

    Raises:
        PairboundsError: if there is no interval, or one without a coverage.
    """
    if not intervals or any(interval.coverage is None for interval in intervals):
        raise PairboundsError("plot", None, "there is no band to draw", "ask for intervals at some coverages")
    panels: dict[tuple[str, str, str, str, str], list[Interval]] = {}
    for one in intervals:
        key = (one.model, one.perturbed, one.quantity, one.denominator.name, one.unit)
        panels.setdefault(key, []).append(one)
    levels = [level for level in STYLES if any(i.knowledge == level for i in intervals)]
    picture, grid = panel_grid(len(panels), PANEL_INCHES, top=0.5 + 0.2 * len(levels), sharex=True)
    several = len({(one.model, one.perturbed) for one in intervals}) > 1
    for ((model, perturbed, quantity, over, unit), members), axes in zip(panels.items(), grid, strict=True):
        where = f"\n{model}, {perturbed}" if several else ""
        axes.set_title(quantity.replace("-", " ") + where, fontsize=8)
        axes.set_ylabel(axis_title(over, unit), fontsize=7)
        _panel(axes, members, levels)
    _legend(picture, intervals, levels)
    return picture


def _panel(axes: Axes, members: Sequence[Interval], levels: Sequence[str]) -> None:
    for level in levels:
        at = _sorted(one for one in members if one.knowledge == level)
        drawn = [
            (_coverage(one), float(one.lower), float(one.upper))
            for one in at
            if one.lower is not None and one.upper is not None
        ]
        if not drawn:
            continue
        x, low, high = zip(*drawn, strict=True)
        axes.fill_between(x, low, high, **band_style(level))
        for ends in (low, high):
            axes.plot(x, ends, color=STYLES[level]["color"], linestyle=STYLES[level]["linestyle"], linewidth=1.1)
    known = _sorted(one for one in members if one.paired is not None)
    paired = dict.fromkeys((_coverage(one), float(one.paired)) for one in known if one.paired is not None)
    if paired:
        axes.plot(*zip(*paired, strict=True), color="black", linewidth=1.3, marker=".", markersize=3, zorder=4)
    axes.set_xlabel("clean coverage", fontsize=7)
    axes.tick_params(labelsize=7, labelbottom=True)
    open_frame(axes)


def _sorted(intervals: Any) -> list[Interval]:
    return sorted(intervals, key=_coverage)


def _coverage(interval: Interval) -> float:
    assert interval.coverage is not None
    return float(interval.coverage.achieved)


def band_style(level: str) -> dict[str, Any]:
    """How the area of a level is filled."""
    from matplotlib.colors import to_rgba

    color = STYLES[level]["color"]
    return {
        "facecolor": to_rgba(color, 0.18),
        "edgecolor": to_rgba(color, 0.55),
        "hatch": HATCHES[Level(level)],
        "linewidth": 0.0,
    }


def band_patch(level: str) -> Patch:
    """The area of a level in a legend."""
    from matplotlib.patches import Patch

    edge = {"edgecolor": STYLES[level]["color"], "linestyle": STYLES[level]["linestyle"], "linewidth": 1.0}
    return Patch(label=f"known: {NAMES[Level(level)]}", **band_style(level) | edge)


def _legend(picture: Figure, intervals: Sequence[Interval], levels: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles: list[Any] = [band_patch(level) for level in levels]
    if any(interval.paired is not None for interval in intervals):
        handles.append(
            Line2D([], [], color="black", linewidth=1.3, marker=".", markersize=4, label="the true paired value")
        )
    first = intervals[0]
    parts = [first.model] if len({one.model for one in intervals}) == 1 else []
    parts.append(f"{first.perturbed} against {first.clean}" if _one_condition(intervals) else f"against {first.clean}")
    if first.average is not None:
        parts.append(f"{first.average} average")
    if any(not interval.sharp and interval.undefined is None for interval in intervals):
        parts.append("some bands are outer")
    add_legend(picture, handles, ", ".join(parts))


def _one_condition(intervals: Sequence[Interval]) -> bool:
    return len({interval.perturbed for interval in intervals}) == 1
