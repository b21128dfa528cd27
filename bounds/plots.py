"""Pictures of intervals: by condition and level of knowledge, with the true paired value where it is known.

One panel a quantity (and denominator), one row a condition, one line a level of knowledge. Levels differ in colour
(Okabe and Ito's, told apart by colour-blind readers), in line style and in marker, so that a grey print reads too.
Filled markers are sharp ends, open ones outer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from bounds.errors import MissingExtraError, PairboundsError
from bounds.files import check_output, replacing
from bounds.interval import INDEPENDENT, Interval
from bounds.knowledge import Level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "NAMES",
    "STYLES",
    "SUFFIXES",
    "add_legend",
    "axis_title",
    "figure",
    "open_frame",
    "panel_grid",
    "plot_intervals",
    "require_matplotlib",
    "wrapped_title",
    "write_figure",
]

SUFFIXES = (".png", ".svg", ".pdf")

STYLES: dict[str, dict[str, Any]] = {
    Level.MARGINALS: {"color": "#56B4E9", "linestyle": "-", "marker": "o"},
    Level.TOTAL: {"color": "#E69F00", "linestyle": (0, (5, 1.5)), "marker": "s"},
    Level.CLASSWISE: {"color": "#0072B2", "linestyle": (0, (3, 1, 1, 1)), "marker": "^"},
    Level.FIVE_STATE: {"color": "#D55E00", "linestyle": (0, (1, 1)), "marker": "v"},
}
"""Colour, line style and marker of each level; `paired` is a point and has its own mark."""

NAMES = {
    Level.MARGINALS: "the two marginals",
    Level.TOTAL: "total retained correct",
    Level.CLASSWISE: "retained correct by class",
    Level.FIVE_STATE: "five states by class",
}

LINE_INCHES = 0.085
GAP_INCHES = 0.13
PANEL_INCHES = 2.9
LEAST_INCHES = 4.0
"""No picture is narrower."""
TITLE_CHARACTERS_AN_INCH = 13
TALL = 12
"""From this many rows on, the scale is repeated at the top."""
COLUMNS = 3

UNITS = {
    "fraction": "fraction of {over}",
    "count": "images",
    "value": "value over {over}",
    "probability": "mean over {over} (probability)",
    "probability sum": "sum over retained-correct images (probability)",
}

OVER = {
    "images": "all images",
    "clean-correct": "clean-correct images",
    "retained-correct": "retained-correct images",
    "retained-correct-accepted": "retained-correct images\naccepted clean",
    "retained-correct-rejected": "retained-correct images\nrejected clean",
    "clean-accepted-errors": "clean accepted errors",
    "perturbed-accepted-errors": "perturbed accepted errors",
}


def require_matplotlib() -> None:
    """Check that pictures can be drawn.

    Raises:
        MissingExtraError: if matplotlib is absent.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "plots", None, f"need the package {error.name}, which is absent", "pip install 'pairbounds[plots]'"
        ) from error


def plot_intervals(intervals: Sequence[Interval], path: str | Path) -> None:
    """Draw intervals into a PNG, SVG or PDF file; equal intervals give equal bytes.

    Args:
        intervals: at least one, in any order; rows and panels come in order of first appearance.
        path: ends in .png, .svg or .pdf.

    Raises:
        MissingExtraError: if matplotlib is absent.
        PairboundsError: if the ending is another one, the file cannot be written or there is no interval.
    """
    write_figure(lambda: figure(intervals), path)


def write_figure(make: Callable[[], Figure], path: str | Path) -> None:
    """Write a picture into a PNG, SVG or PDF file without a date, so that equal pictures give equal bytes.

    Args:
        make: draws the figure.
        path: ends in .png, .svg or .pdf.

    Raises:
        MissingExtraError: if matplotlib is absent.
        PairboundsError: if the ending is another one or the file cannot be written.
    """
    path = check_output("plot", path, SUFFIXES)
    require_matplotlib()
    from matplotlib import rc_context

    suffix = path.suffix.lower()
    dates = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "pairbounds", "pdf.fonttype": 42}):
        picture = make()
        with replacing(path) as part:
            picture.savefig(part, format=suffix[1:], dpi=200, metadata=dates[suffix])


def figure(intervals: Sequence[Interval]) -> Figure:
    """The picture of `plot_intervals` as a matplotlib figure.

    Raises:
        PairboundsError: if there is no interval.
    """
    if not intervals:
        raise PairboundsError("plot", None, "there is no interval to draw", "ask for at least one")
    panels: dict[tuple[str, str, str], dict[str, list[Interval]]] = {}
    label = _row_labels(intervals)
    for interval in intervals:
        key = (interval.quantity, interval.denominator.name, interval.unit)
        panels.setdefault(key, {}).setdefault(label(interval), []).append(interval)
    rows = list(dict.fromkeys(label(interval) for interval in intervals))
    levels = [level for level in STYLES if any(i.knowledge == level for i in intervals)]

    labels_inches = 0.075 * max(len(row) for row in rows) + 0.2
    body = max(1.1, len(rows) * (max(1, len(levels)) * LINE_INCHES + GAP_INCHES))
    size = (PANEL_INCHES, body + 0.95)
    picture, grid = panel_grid(len(panels), size, left=labels_inches, top=0.6 + 0.2 * len(levels), sharey=True)
    for (key, members), axes in zip(panels.items(), grid, strict=True):
        _panel(axes, key, members, rows, levels)
    _legend(picture, intervals, levels)
    return picture


def panel_grid(
    panels: int, size: tuple[float, float], *, top: float, left: float = 0.0, **sharing: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with that many panels of a size in inches, and room on the left and at the top."""
    from matplotlib.figure import Figure

    columns = min(COLUMNS, panels)
    lines = -(-panels // columns)
    width, height = size
    picture = Figure(figsize=(max(left + columns * width, LEAST_INCHES), lines * height + top), layout="constrained")
    grid = list(picture.subplots(lines, columns, squeeze=False, **sharing).flat)
    for axes in grid[panels:]:
        axes.set_visible(False)
    return picture, grid[:panels]


def add_legend(picture: Figure, handles: Sequence[Any], title: str) -> None:
    """The legend above the panels, under the title of the picture."""
    picture.legend(
        handles=list(handles),
        loc="outside upper center",
        ncols=2 if len(picture.axes) > 1 else 1,
        fontsize=7,
        frameon=False,
        title=wrapped_title(picture, title),
        title_fontsize=9,
    )


def open_frame(axes: Axes, axis: Literal["both", "x"] = "both", hidden: Sequence[str] = ("top", "right")) -> None:
    """Light lines behind what is drawn, and no frame on some sides."""
    axes.grid(axis=axis, color="0.85", linewidth=0.5)
    axes.set_axisbelow(True)
    for side in hidden:
        axes.spines[side].set_visible(False)


def _varying(intervals: Sequence[Interval]) -> dict[str, bool]:
    fields = ("model", "clean", "perturbed", "threshold", "average", "class_name")
    return {field: len({getattr(i, field) for i in intervals}) > 1 for field in fields}


def _row_labels(intervals: Sequence[Interval]) -> Any:
    varies = _varying(intervals)

    def label(interval: Interval) -> str:
        parts = [interval.perturbed]
        if varies["model"]:
            parts.insert(0, interval.model)
        if varies["threshold"]:
            parts.append("no threshold" if interval.threshold is None else f"≥ {interval.threshold}")
        if interval.class_name is not None:
            parts.append(f"class {interval.class_name}")
        return ", ".join(parts)

    return label


def _title(intervals: Sequence[Interval]) -> str:
    varies, first = _varying(intervals), intervals[0]
    parts = [] if varies["model"] else [first.model]
    parts.append(f"against {first.clean}")
    if not varies["threshold"] and first.threshold is not None:
        parts.append(f"accepted at confidence ≥ {first.threshold}")
    if not varies["average"] and first.average is not None:
        parts.append(f"{first.average} average")
    if any(interval.averaged is not None for interval in intervals):
        parts.append(f"means over conditions take correspondences as {INDEPENDENT}")
    return ", ".join(parts)


def _panel(
    axes: Axes,
    key: tuple[str, str, str],
    members: dict[str, list[Interval]],
    rows: list[str],
    levels: list[str],
) -> None:
    quantity, over, unit = key
    step = LINE_INCHES / (max(1, len(levels)) * LINE_INCHES + GAP_INCHES)
    for y, row in enumerate(rows):
        if y % 2:
            axes.axhspan(y - 0.5, y + 0.5, color="0.95", linewidth=0, zorder=0)
        paired = None
        drawn = members.get(row, [])
        if drawn and all(interval.undefined is not None for interval in drawn):
            _undefined(axes, y, 7)
            continue
        for interval in drawn:
            if interval.paired is not None:
                paired = float(interval.paired)
            if interval.knowledge in levels:
                offset = (levels.index(interval.knowledge) - (len(levels) - 1) / 2) * step
                _line(axes, interval, y + offset)
        if paired is not None:
            half = (max(1, len(levels)) / 2 + 0.2) * step
            axes.plot([paired, paired], [y - half, y + half], color="black", linewidth=1.1, zorder=4)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(labelsize=7)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", top=len(rows) >= TALL, labeltop=len(rows) >= TALL)
    axes.margins(x=0.04)
    open_frame(axes, "x", ("top", "right", "left"))
    axes.set_title(quantity.replace("-", " "), fontsize=8)
    axes.set_xlabel(axis_title(over, unit), fontsize=7)


def axis_title(over: str, unit: str) -> str:
    """What an axis of values shows: the unit, and what rates are taken over."""
    return UNITS[unit].format(over=OVER.get(over, over))


def _line(axes: Axes, interval: Interval, y: float) -> None:
    style = STYLES[interval.knowledge]
    if interval.low.number is None or interval.high.number is None:
        _undefined(axes, y, 5)
        return
    axes.plot(
        [interval.low.number, interval.high.number],
        [y, y],
        color=style["color"],
        linestyle=style["linestyle"],
        linewidth=1.3,
        marker=style["marker"],
        markersize=3.2,
        markeredgewidth=0.8,
        markerfacecolor=style["color"] if interval.sharp else "white",
        zorder=3,
    )


def _undefined(axes: Axes, y: float, size: int) -> None:
    axes.text(0.02, y, "undefined", transform=axes.get_yaxis_transform(), fontsize=size, va="center", color="0.3")


def _legend(picture: Figure, intervals: Sequence[Interval], levels: list[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], markersize=4, linewidth=1.3, label=f"known: {NAMES[Level(level)]}", **STYLES[level])
        for level in levels
    ]
    if any(interval.paired is not None for interval in intervals):
        handles.append(
            Line2D([], [], color="black", linestyle="", marker="|", markersize=9, label="the true paired value")
        )
    if any(not interval.sharp and interval.undefined is None for interval in intervals):
        handles.append(
            Line2D(
                [],
                [],
                color="0.3",
                linestyle="",
                marker="o",
                markersize=4,
                markerfacecolor="white",
                label="open marker: outer end",
            )
        )
    add_legend(picture, handles, _title(intervals))


def wrapped_title(picture: Figure, title: str) -> str:
    """A title in as many lines as the width of the picture asks for."""
    return "\n".join(wrap(title, int(picture.get_figwidth() * TITLE_CHARACTERS_AN_INCH)))
