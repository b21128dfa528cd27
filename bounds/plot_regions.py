"""Pictures of joint regions: one panel a model, condition and threshold, one polygon a level of knowledge.

The dotted box is the product of the two separate intervals, so that what the region adds can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.errors import PairboundsError
from bounds.plot_bands import band_patch, band_style
from bounds.plots import STYLES, add_legend, axis_title, open_frame, panel_grid, write_figure
from bounds.regions import Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure", "plot_regions"]

PANEL_INCHES = (3.0, 3.0)


def plot_regions(regions: Sequence[Region], path: str | Path) -> None:
    """Draw regions into a PNG, SVG or PDF file; equal regions give equal bytes.

    Args:
        regions: of the same two quantities; at least one that is defined.
        path: ends in .png, .svg or .pdf.

    Raises:
        MissingExtraError: if matplotlib is absent.
        PairboundsError: if the ending is another one, the file cannot be written or there is nothing to draw.
    """
    write_figure(lambda: figure(regions), path)


def figure(regions: Sequence[Region]) -> Figure:
    """The picture of `plot_regions` as a matplotlib figure.

    Raises:
        PairboundsError: if no region is defined.
    """
    panels: dict[tuple[Any, ...], list[Region]] = {}
    for one in regions:
        if one.vertices:
            panels.setdefault((one.model, one.perturbed, one.threshold, one.class_name), []).append(one)
    if not panels:
        raise PairboundsError("plot", None, "there is no region to draw", "ask for one that is defined")
    picture, grid = panel_grid(len(panels), PANEL_INCHES, top=0.9)
    for ((model, perturbed, threshold, class_name), members), axes in zip(panels.items(), grid, strict=True):
        parts = [model, perturbed]
        parts += [] if threshold is None else [f"≥ {threshold}"]
        parts += [] if class_name is None else [f"class {class_name}"]
        axes.set_title(", ".join(parts), fontsize=8)
        _panel(axes, members)
    _legend(picture, [one for members in panels.values() for one in members])
    return picture


def _panel(axes: Axes, members: Sequence[Region]) -> None:
    first = members[0]
    for one in members:
        x, y = ([float(value) for value in values] for values in zip(*one.vertices, strict=True))
        style = STYLES[one.knowledge]
        axes.fill(x, y, zorder=2, **band_style(one.knowledge))
        marks = {"marker": style["marker"], "markersize": 2.5 if len(x) <= 40 else 0}
        axes.plot(
            [*x, x[0]], [*y, y[0]], color=style["color"], linestyle=style["linestyle"], linewidth=1.2, zorder=3, **marks
        )
        box = [min(x), max(x), max(x), min(x), min(x)], [min(y), min(y), max(y), max(y), min(y)]
        axes.plot(*box, color="0.35", linestyle=":", linewidth=0.8, zorder=1)
    if first.paired is not None:
        axes.plot(*map(float, first.paired), color="black", marker="*", markersize=8, zorder=4)
    for set_label, number in ((axes.set_xlabel, 0), (axes.set_ylabel, 1)):
        values = axis_title(first.denominators[number], first.units[number])
        set_label(f"{first.quantities[number].replace('-', ' ')}\n{values}", fontsize=7)
    axes.tick_params(labelsize=7)
    axes.margins(0.06)
    open_frame(axes)


def _legend(picture: Figure, regions: Sequence[Region]) -> None:
    from matplotlib.lines import Line2D

    levels = list(dict.fromkeys(one.knowledge for one in regions))
    handles: list[Any] = [band_patch(level) for level in levels]
    handles.append(Line2D([], [], color="0.35", linestyle=":", linewidth=0.8, label="the separate intervals"))
    if any(one.paired is not None for one in regions):
        handles.append(
            Line2D([], [], color="black", linestyle="", marker="*", markersize=8, label="the true paired values")
        )
    first = regions[0]
    x, y = (name.replace("-", " ") for name in first.quantities)
    average = "" if first.average is None else f", {first.average} average"
    title = f"{y} against {x}, given {' or '.join(levels)}: convex hull of attained pairs{average}"
    add_legend(picture, handles, title)
