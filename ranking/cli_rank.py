"""`pairbounds rank`: which clean-correct images to capture again first, and how well such a ranking finds failures."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, note, output_options, plot_option
from bounds.errors import PairboundsError, printable
from bounds.files import check_apart
from ranking.cli_options import RankingChoice, ranking_options

if TYPE_CHECKING:
    from ranking.evaluation import Evaluated
    from ranking.pool import Pool
    from ranking.scores import Scored

__all__ = ["rank"]

SHOWN = 20
"""Images of a ranking in the table for people."""

LIST_COLUMNS: dict[str, type] = {
    **dict.fromkeys(("model", "score_name", "copies", "image_id", "label"), str),
    "score": float,
    **dict.fromkeys(("rank", "ties"), int),
}

NUMBERS = ("recall", "precision", "lift", "trc", "rauc")
COLUMNS: dict[str, type] = {
    **dict.fromkeys(("model", "score", "copies", "target", "budget"), str),
    "k": int,
    **dict.fromkeys(NUMBERS, float),
    "failures": float,
    "pool": int,
    **dict.fromkeys(("found", "ideal_recall", "random_recall"), float),
    "tied": int,
    **dict.fromkeys(("apfd", "whole_rauc", "atrc", "auroc"), float),
    **dict.fromkeys(("reason", "auroc_reason"), str),
    "captures": int,
    "failure_rule": str,
    "left_out": int,
}
"""Of a table of `ranking.evaluation.Evaluated`."""


@click.command(cls=Verb)
@ranking_options(targets=False)
@click.option(
    "--save-plan", "plan", type=click.Path(path_type=Path), metavar="DIR", help="A new folder: the images to capture."
)
@click.option(
    "--images",
    type=click.Path(path_type=Path),
    metavar="ROOT",
    help="Where the images are, to copy and draw.",
)
@click.option(
    "--contact-sheet",
    "sheet",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Their pictures: .png, .jpg, .pdf.",
)
@plot_option
@output_options
def rank(
    *,
    choice: RankingChoice,
    plan: Path | None,
    images: Path | None,
    sheet: Path | None,
    plot: Path | None,
    output: Output,
) -> None:
    """Rank clean-correct images by the risk that a recapture is misclassified.

    Without --targets: the ranking, for planning. With --targets: how many of their failures the first images hold, in
    expectation over the order of tied images. RECORDS are Parquet or CSV files of prediction records. List options
    repeat, take commas and `all`.
    """
    output.check(choice.inputs, plot=plot)
    _check_plan(choice, plan, images, sheet, output.out)
    if plot is not None and not choice.targets:
        raise PairboundsError("--plot", str(plot), "draws recall, which needs recaptures", "add --targets")
    work = choice.work(choice.load())
    if choice.targets:
        from ranking.evaluation import evaluate

        found: list[Evaluated] = []

        def evaluated() -> Iterator[tuple[Pool, list[Scored]]]:
            for pool, rankings in work.rankings():
                found.extend(evaluate(pool, rankings, choice.budgets, choice.failure))
                yield pool, rankings

        if plot is None:
            deque(evaluated(), maxlen=0)
        else:
            from ranking.comparison import judge
            from ranking.plots import curves, plot_curves

            plot_curves(curves(*judge(evaluated(), choice.failure), seed=choice.seed), plot)
        rows = [one.to_dict() for one in found]
        output.write(rows, lambda: evaluated_text(found), lambda: _latex(found), columns=COLUMNS)
        work.tell()
        return
    listed = [(pool, ranked) for pool, rankings in work.rankings() for ranked in rankings]
    if plan is not None or sheet is not None:
        _for_the_camera(plan, sheet, listed, choice, images)
    listing = _Listing(listed, choice.seed)
    output.write(listing.objects(), listing.text, listing.latex, columns=LIST_COLUMNS)
    work.tell()


def _check_plan(
    choice: RankingChoice, plan: Path | None, images: Path | None, sheet: Path | None, out: Path | None
) -> None:
    from ranking.plan import check_plan

    if images is not None and plan is None and sheet is None:
        way_out = "add --save-plan DIR or --contact-sheet FILE"
        raise PairboundsError("--images", str(images), "is for a plan or a contact sheet", way_out)
    if sheet is not None:
        from ranking.contact_sheet import check_sheet

        if images is None:
            raise PairboundsError("--contact-sheet", str(sheet), "needs the images", "add --images ROOT")
        if choice.targets:
            raise PairboundsError("--contact-sheet", str(sheet), "is of one ranking", "leave --targets out")
        check_sheet(sheet)
        check_apart([("--out", out), ("--contact-sheet", sheet)], choice.inputs)
    if plan is None:
        return
    if choice.targets:
        raise PairboundsError("--save-plan", str(plan), "plans captures that are not there yet", "leave --targets out")
    if len(choice.budgets) != 1 or not choice.budget_given:
        raise PairboundsError("--save-plan", str(plan), "needs one --budget", "add such as --budget 100")
    check_plan(plan)


def _for_the_camera(
    plan: Path | None,
    sheet: Path | None,
    listed: Sequence[tuple[Pool, Scored]],
    choice: RankingChoice,
    images: Path | None,
) -> None:
    """The plan and the contact sheet; every image is found, and those shown are read, before anything is written."""
    from ranking.contact_sheet import SHOWN as most
    from ranking.contact_sheet import write_sheet
    from ranking.plan import image_files, plan_rows, save_plan

    if len(listed) != 1:
        option, path = ("--contact-sheet", sheet) if plan is None else ("--save-plan", plan)
        rule = f"is of one ranking, and {len(listed)} were asked for"
        raise PairboundsError(option, str(path), rule, "name one model, one score and one set of copies")
    ((pool, ranked),) = listed
    k = choice.budgets[0].images(pool.images) if choice.budget_given else pool.images
    rows = plan_rows(pool, ranked, min(k, most) if plan is None else k, choice.seed)
    files = None if images is None else image_files([row["image_id"] for row in rows], images)
    if sheet is not None and files is not None:
        shown = rows[:most]
        title = f"{pool.model}: {ranked.score} on {ranked.copies}, the {len(shown)} riskiest of {pool.images}"
        write_sheet(sheet, shown, files[:most], title)
    if plan is not None:
        save_plan(plan, rows, files)
        note(f"{plan}: {len(rows)} images, riskiest first, tied ones in an order drawn with seed {choice.seed}")


class _Listing:
    """Rankings as results."""

    def __init__(self, listed: Sequence[tuple[Pool, Scored]], seed: int) -> None:
        self._listed = listed
        self._seed = seed

    def objects(self, most: int | None = None) -> list[dict[str, Any]]:
        from ranking.plan import plan_rows

        return [
            {"model": pool.model, "score_name": ranked.score, "copies": ranked.copies}
            | {key: value for key, value in row.items() if key != "position"}
            for pool, ranked in self._listed
            for row in plan_rows(pool, ranked, pool.images if most is None else most, self._seed)
        ]

    def text(self) -> str:
        from bounds import tables
        from ranking.plan import plan_rows

        parts = []
        for pool, ranked in self._listed:
            rows = [_shown(row) for row in plan_rows(pool, ranked, SHOWN, self._seed)]
            more = f"{min(SHOWN, pool.images)} of " if pool.images > SHOWN else ""
            title = (
                f"{printable(pool.model)}: {ranked.score} on {ranked.copies}, {more}{pool.images} clean-correct images"
            )
            align = ["left", "left", "right", "right", "right"]
            left_out = pool.clean_correct - pool.images
            told = [f"left out, without a usable record of every copy: {left_out}"] if left_out else []
            parts.append("\n".join([title, tables.text(rows, align), *told, ""]))
        return "\n".join([*parts, "Higher scores are riskier. --json, or --format with --out, gives every image."])

    def latex(self) -> str:
        from bounds import tables

        return tables.latex([_shown(row) for row in self.objects(SHOWN)])


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {key: f"{value:.4f}" if key == "score" else value for key, value in row.items() if key != "position"}


def evaluated_text(found: Sequence[Evaluated]) -> str:
    """Tables for people, one for each model and target: recall at each budget, one row a ranking."""
    from bounds import tables

    parts = []
    for (model, target), group in groupby(found, lambda one: (one.model, one.target)):
        members = list(group)
        first = members[0]
        rule = "" if first.captures == 1 else f" ({first.captures} captures, rule {first.rule})"
        share = tables.nearest(100 * first.failures / first.pool, 1)
        failures = str(first.failures) if first.failures.denominator == 1 else tables.nearest(first.failures, 1)
        title = (
            f"{printable(f'{model} → {target}')}{rule}: {failures} of {first.pool} clean-correct images fail, {share} %"
        )
        rows = table_rows(members)
        notes = [f"left out, without every copy or a capture: {first.left_out}"] if first.left_out else []
        notes += list(dict.fromkeys(f"undefined: {one.found.reason}" for one in members if one.found.reason))
        align = ["left", "left", *["right"] * (len(rows[0]) - 2)]
        parts.append("\n".join([title, tables.text(rows, align), *notes, ""]))
    return "\n".join([*parts, "Failure recall: the share of all failures among the images tested."])


def table_rows(members: Sequence[Evaluated]) -> list[dict[str, Any]]:
    """One row a ranking: recall at each budget, APFD, AUROC; then the ideal and the random order."""
    from bounds.tables import nearest

    def cell(value: Any) -> str | None:
        return None if value is None else nearest(value)

    rows: dict[tuple[str, str], dict[str, Any]] = {}
    lines: dict[str, dict[str, Any]] = {
        name: {"score": name, "copies": None} for name in ("ideal order", "random order")
    }
    for one in members:
        row = rows.setdefault((one.score, one.copies), {"score": one.score, "copies": one.copies})
        row[one.budget] = cell(one.found.recall)
        lines["ideal order"][one.budget] = cell(one.found.ideal)
        lines["random order"][one.budget] = cell(one.found.random)
    for one in members:
        rows[one.score, one.copies] |= {"apfd": cell(one.whole.apfd), "auroc": cell(one.whole.auroc)}
    return [*rows.values(), *lines.values()]


def _latex(found: Sequence[Evaluated]) -> str:
    from bounds import tables

    rows = [
        {"model": model, "target": target} | row
        for (model, target), group in groupby(found, lambda one: (one.model, one.target))
        for row in table_rows(list(group))
    ]
    return tables.latex(rows)
