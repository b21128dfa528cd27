"""Pictures of rankings: recall against budget with the ideal and the random line, and bands of resampled images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bounds.errors import PairboundsError, printable
from bounds.plots import write_figure
from ranking.bootstrap import LEVEL, Judged, interval, resampled_recalls
from ranking.measures import Budget, found_within, parse_budget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Curve", "curves", "plot_curves"]

Floats = npt.NDArray[np.float64]

SHARES = (0.005, 0.01, 0.02, 0.03, 0.04, *(round(0.05 * step, 2) for step in range(1, 20)), 1.0)
"""Where the curves are drawn."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's."""
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))
RESAMPLES = 1000
PANEL_INCHES = 3.4
LEGEND_INCHES = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Mean recall over the models of one ranking, at each of `shares`.

    Attributes:
        target, score, copies: what it is of.
        models: how many the means are over: those with a failure.
        resamples: of the images, from which the band is.
        shares: of the pool.
        recall, ideal, random: float64, one number a share.
        lower, upper: of the band; NaN where in some resample a model has no failure.
    """

    target: str
    score: str
    copies: str
    models: int
    resamples: int
    shares: Floats
    recall: Floats
    ideal: Floats
    random: Floats
    lower: Floats
    upper: Floats


def curves(judged: Sequence[Judged], images: int, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Curve]:
    """The curves of every ranking, models averaged; those without a failure are left out.

    Args:
        judged, images: as `ranking.comparison.judge` gives them.
        resamples, seed: of the bands.
    """
    budgets = [parse_budget(str(share)) for share in SHARES]
    drawn = resampled_recalls(judged, budgets, images, resamples, seed)
    found = []
    for key in dict.fromkeys((one.target, one.score, one.copies) for one in judged):
        rows = [
            row for row, one in enumerate(judged) if (one.target, one.score, one.copies) == key and one.failures.total
        ]
        if not rows:
            continue
        recall, ideal, random = np.mean([_lines(judged[row], budgets) for row in rows], axis=0)
        ends = [interval(draws, LEVEL) or (np.nan, np.nan) for draws in drawn[:, rows].mean(axis=1).T]
        lower, upper = np.array(ends).T
        found.append(Curve(*key, len(rows), resamples, np.array(SHARES), recall, ideal, random, lower, upper))
    return found


def _lines(one: Judged, budgets: Sequence[Budget]) -> Floats:
    """Recall, ideal and random at each budget: shape (3, budgets)."""
    total, pool = one.failures.total, one.order.images
    sizes = [budget.images(pool) for budget in budgets]
    return np.array(
        [
            [float(found_within(one.order, one.failures, k) / total) for k in sizes],
            [float(one.failures.ideal(k) / total) for k in sizes],
            [k / pool for k in sizes],
        ]
    )


def plot_curves(found: Sequence[Curve], path: str | Path) -> None:
    """Draw the curves, one panel a target, into a PNG, SVG or PDF file; equal curves give equal bytes.

    Args:
        found: as `curves` gives them.
        path: ends in .png, .svg or .pdf.

    Raises:
        MissingExtraError: if matplotlib is absent.
        PairboundsError: if there is no curve, the ending is another one or the file cannot be written.
    """
    if not found:
        raise PairboundsError("--plot", str(path), "there is no curve: no model has a failure", "name another target")
    write_figure(lambda: figure(found), path)


def figure(found: Sequence[Curve]) -> Figure:
    """The picture of `plot_curves` as a matplotlib figure."""
    from matplotlib.figure import Figure

    targets = list(dict.fromkeys(one.target for one in found))
    names = list(dict.fromkeys((one.score, one.copies) for one in found))
    height = PANEL_INCHES + 0.3 + LEGEND_INCHES * (len(names) + 2)
    picture = Figure(figsize=(max(2, len(targets)) * PANEL_INCHES, height), layout="constrained")
    panels = picture.subplots(1, len(targets), sharey=True, squeeze=False)[0]
    for panel, target in zip(panels, targets, strict=True):
        members = [one for one in found if one.target == target]
        panel.plot(
            members[0].shares, members[0].ideal, color="0.4", linewidth=1, linestyle=(0, (6, 2)), label="ideal order"
        )
        panel.plot(
            members[0].shares, members[0].random, color="0.6", linewidth=1, linestyle=(0, (1, 2)), label="random order"
        )
        for one in members:
            number = names.index((one.score, one.copies))
            colour = COLOURS[number % len(COLOURS)]
            style = LINES[number % len(LINES)]
            panel.fill_between(one.shares, one.lower, one.upper, color=colour, alpha=0.12, linewidth=0)
            label = one.score if one.copies == "clean" else f"{one.score} on {one.copies}"
            panel.plot(one.shares, one.recall, color=colour, linestyle=style, linewidth=1.5, label=label)
        many = members[0].models
        panel.set_title(f"{printable(target)}, {f'mean of {many} models' if many > 1 else 'one model'}", fontsize=10)
        panel.set_xlabel("images tested, share of the clean-correct")
        panel.set_xlim(0, 1)
        panel.set_ylim(0, 1.02)
        panel.grid(color="0.92", linewidth=0.8)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("failure recall")
    handles, labels = panels[0].get_legend_handles_labels()
    title = f"bands: {float(100 * LEVEL):g} % of {found[0].resamples} resamples of the images"
    picture.legend(
        handles, labels, loc="outside lower center", fontsize=8, frameon=False, title=title, title_fontsize=8
    )
    return picture
