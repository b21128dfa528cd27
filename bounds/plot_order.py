"""The partial order of policies by cost, as a Hasse diagram: above costs at least as much, whatever the correspondence.

A line joins two policies that are ordered with none between them, solid where their separate intervals say so, dashed
where only the shared correspondence does. Policies that no path joins are unresolved. Policies that always cost the
same share a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bounds.errors import PairboundsError, printable
from bounds.plots import wrapped_title, write_figure
from bounds.policies import Comparison
from bounds.tables import between, ends_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Order", "order_figure", "order_of", "plot_order"]

DIGITS = 4
CHARACTER_INCHES = 0.065
GAP_INCHES = 0.25
BEND_INCHES = 0.7
"""The room that a line takes which passes a layer by."""
LINE_INCHES = 0.14
LAYER_INCHES = 0.45
MARGIN_INCHES = 0.35
HEAD_INCHES = 0.65
LEAST_INCHES = 5.0
MOST_INCHES = 11.0
"""Panels stand side by side up to this width."""
SWEEPS = 8
STYLES: dict[str, Any] = {"separate": "-", "shared": (0, (3.5, 2))}
MEANINGS = {
    "separate": "ordered by the separate intervals",
    "shared": "ordered by the shared correspondence only",
}


@dataclass(frozen=True, slots=True)
class Order:
    """A partial order, drawn from above.

    Attributes:
        nodes: policies (indices into `Comparison.costs`) that always cost the same, ascending.
        lines: (upper node, lower node, "separate" or "shared") of the transitive reduction, ascending.
        layers: for each node the length of the longest chain below it.
    """

    nodes: tuple[tuple[int, ...], ...]
    lines: tuple[tuple[int, int, str], ...]
    layers: tuple[int, ...]


def order_of(comparison: Comparison) -> Order:
    """The order that the differences of a comparison give, closed under transitivity."""
    names = [cost.policy for cost in comparison.costs]
    above: npt.NDArray[np.bool_] = np.eye(len(names), dtype=np.bool_)
    kinds: dict[tuple[int, int], str] = {}
    for pair in comparison.differences:
        i, j = names.index(pair.first), names.index(pair.second)
        kinds[i, j] = kinds[j, i] = pair.ordered
        above[i, j] |= pair.relation in (">", ">=", "=")
        above[j, i] |= pair.relation in ("<", "<=", "=")
    for middle in range(len(names)):
        above |= above[:, [middle]] & above[[middle], :]
    equal = above & above.T
    nodes = tuple(dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in equal))
    first = [node[0] for node in nodes]
    strict = (above & ~equal)[np.ix_(first, first)]
    covers = strict & ~((strict.astype(np.int64) @ strict.astype(np.int64)) > 0)
    lines = []
    for upper, lower in np.argwhere(covers).tolist():
        found = {kinds[i, j] for i in nodes[upper] for j in nodes[lower]}
        lines.append((upper, lower, "separate" if "separate" in found else "shared"))
    layers = [0] * len(nodes)
    for node in sorted(range(len(nodes)), key=lambda node: int(strict[node].sum())):
        layers[node] = max((layers[lower] + 1 for lower in np.flatnonzero(strict[node]).tolist()), default=0)
    return Order(nodes, tuple(lines), tuple(layers))


def plot_order(comparisons: Sequence[Comparison], path: str | Path) -> None:
    """Draw the order of the policies under each comparison; equal comparisons give equal bytes.

    Args:
        comparisons: at least one, a panel each.
        path: ends in .png, .svg or .pdf.

    Raises:
        MissingExtraError: if matplotlib is absent.
        PairboundsError: if the ending is another one, the file cannot be written or there is no comparison.
    """
    write_figure(lambda: order_figure(comparisons), path)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One comparison laid out, in inches.

    Attributes:
        labels: of the nodes.
        places: (x, y) of the nodes' centres.
        paths: the points of each line, from its upper node to its lower one.
        width, height: of the panel.
    """

    order: Order
    labels: tuple[str, ...]
    places: tuple[tuple[float, float], ...]
    paths: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float


def order_figure(comparisons: Sequence[Comparison]) -> Figure:
    """The picture of `plot_order` as a matplotlib figure.

    Raises:
        PairboundsError: if there is no comparison.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    if not comparisons:
        raise PairboundsError("plot", None, "there is no comparison to draw", "ask for at least one")
    panels = [_laid_out(comparison) for comparison in comparisons]
    titles = [_title(each) for each in comparisons]
    width = max(*(panel.width for panel in panels), CHARACTER_INCHES * max(map(len, titles)))
    columns = max(1, min(len(panels), int(MOST_INCHES // width)))
    rows = [range(first, min(first + columns, len(panels))) for first in range(0, len(panels), columns)]
    heights = [max(panels[number].height for number in row) + MARGIN_INCHES for row in rows]
    size = (max(columns * width, LEAST_INCHES), sum(heights) + HEAD_INCHES)
    picture = Figure(figsize=size)
    top = size[1] - HEAD_INCHES
    for row, height in zip(rows, heights, strict=True):
        for column, number in enumerate(row):
            left, inside = (size[0] - columns * width) / 2 + column * width, height - MARGIN_INCHES
            axes = picture.add_axes((left / size[0], (top - height) / size[1], width / size[0], inside / size[1]))
            _draw(axes, panels[number], (width, inside))
            axes.set_title(titles[number], fontsize=8)
        top -= height
    handles = [
        Line2D([], [], color="black", linewidth=1.1, linestyle=STYLES[kind], label=text)
        for kind, text in MEANINGS.items()
    ]
    title = "Above costs at least as much under every correspondence; without a path: unresolved. Mean cost an image."
    picture.legend(
        handles=handles,
        loc="upper center",
        ncols=2,
        fontsize=7,
        frameon=False,
        title=wrapped_title(picture, title),
        title_fontsize=8,
    )
    return picture


def _draw(axes: Axes, panel: _Panel, size: tuple[float, float]) -> None:
    for (_, _, kind), path in zip(panel.order.lines, panel.paths, strict=True):
        axes.plot(*zip(*path, strict=True), color="black", linewidth=1.1, linestyle=STYLES[kind], zorder=1)
    for (x, y), label in zip(panel.places, panel.labels, strict=True):
        box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "0.35", "linewidth": 0.8}
        axes.text(x, y, label, ha="center", va="center", fontsize=7, bbox=box, zorder=2)
    axes.set_xlim((panel.width - size[0]) / 2, (panel.width + size[0]) / 2)
    axes.set_ylim(panel.height - size[1], panel.height)
    axes.axis("off")


def _laid_out(comparison: Comparison) -> _Panel:
    """Places by layer: lines that pass layers by get a bend there, and neighbours are drawn together (barycentres)."""
    order = order_of(comparison)
    labels = tuple("\n".join(_label(comparison, policy) for policy in node) for node in order.nodes)
    # A point is a node, or a bend of a line: its layer, its width, and its neighbours in the next layers.
    layer = list(order.layers)
    widths = [CHARACTER_INCHES * max(map(len, label.split("\n"))) + GAP_INCHES for label in labels]
    chains = []
    for upper, lower, _ in order.lines:
        chain = [upper]
        for height in range(order.layers[upper] - 1, order.layers[lower], -1):
            chain.append(len(layer))
            layer.append(height)
            widths.append(BEND_INCHES)
        chains.append([*chain, lower])
    rows = [[p for p in range(len(layer)) if layer[p] == height] for height in range(max(layer) + 1)]
    width = max(sum(widths[p] for p in row) for row in rows)
    x = _spread(rows, widths, chains, width)
    lines = max(label.count("\n") + 1 for label in labels)
    step = LINE_INCHES * lines + LAYER_INCHES
    places = [(x[p], step * (layer[p] + 0.5)) for p in range(len(layer))]
    paths = tuple(tuple(places[p] for p in chain) for chain in chains)
    return _Panel(order, labels, tuple(places[: len(labels)]), paths, width + GAP_INCHES, step * len(rows))


def _title(comparison: Comparison) -> str:
    models = printable(", ".join(_models(comparison)))
    return f"{models}: {comparison.clean} → {comparison.perturbed}, known: {comparison.knowledge}"


def _label(comparison: Comparison, policy: int) -> str:
    cost = comparison.costs[policy]
    model = f" ({cost.model})" if len(_models(comparison)) > 1 else ""
    return f"{printable(cost.policy + model)}\n{between(ends_text(cost.lower, cost.upper, DIGITS))}"


def _models(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(cost.model for cost in comparison.costs))


def _spread(
    rows: list[list[int]], widths: Sequence[float], chains: Sequence[Sequence[int]], width: float
) -> list[float]:
    """x of each point: each layer centred, its points ordered by the mean place of those that they are joined to."""
    joined: list[list[int]] = [[] for _ in widths]
    for chain in chains:
        for upper, lower in pairwise(chain):
            joined[upper].append(lower)
            joined[lower].append(upper)
    x = [0.0] * len(widths)

    def place(row: Sequence[int]) -> None:
        gap = (width - sum(widths[p] for p in row)) / (len(row) + 1)
        left = gap + GAP_INCHES / 2
        for p in row:
            x[p] = left + widths[p] / 2
            left += widths[p] + gap

    for row in rows:
        place(row)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            row.sort(key=lambda p: round(sum(x[q] for q in joined[p]) / len(joined[p]), 6) if joined[p] else x[p])
            place(row)
    return x
