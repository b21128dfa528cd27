"""`pairbounds region`: which pairs of values two quantities can have together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, average_option, chosen, node_limit_option, output_options, plot_option, progress
from bounds.cli_records import Acceptance, Choice, acceptance_options, record_options
from bounds.errors import QuantityError

if TYPE_CHECKING:
    from bounds.regions import Region

__all__ = ["region"]


@click.command(cls=Verb)
@record_options()
@click.option("--first", required=True, metavar="Q", help="The first quantity.")
@click.option("--second", required=True, metavar="Q", help="The second quantity.")
@click.option(
    "--knowledge", "levels", multiple=True, metavar="K", help="correct-correct, five-state  [default: the first]"
)
@acceptance_options
@click.option("--denominator", metavar="D", help="What both are taken over  [default: each quantity's own]")
@average_option
@click.option("--class", "class_text", metavar="NAME", help="One class instead of all.")
@node_limit_option
@plot_option
@output_options
def region(
    *,
    choice: Choice,
    first: str,
    second: str,
    levels: Sequence[str],
    acceptance: Acceptance,
    denominator: str | None,
    average: str,
    class_text: str | None,
    node_limit: int | None,
    plot: Path | None,
    output: Output,
) -> None:
    """The joint region of two quantities given the retained-correct counts: the convex hull of attained pairs.

    RECORDS are Parquet or CSV files of prediction records. List options repeat, take commas and `all`.
    """
    output.check(choice.inputs, plot=plot)

    from bounds import tables
    from bounds.knowledge import Level
    from bounds.regions import joint_region

    known = chosen("--knowledge", levels or (Level.CLASSWISE,), [Level.CLASSWISE, Level.FIVE_STATE])
    source = choice.load()
    asked = choice.sides(source)
    evaluations = choice.evaluations(source, asked)
    found: list[Region] = []
    for evaluation in progress(evaluations, lambda: sum(map(len, asked.values())), "conditions"):
        class_name = None if class_text is None else _class(class_text, evaluation.classes)
        found += [
            joint_region(
                at,
                first,
                second,
                level,
                denominators=(denominator, denominator),
                average=average,
                class_name=class_name,
                node_limit=node_limit,
            )
            for at in acceptance.of(evaluation)
            for level in known
        ]
    if plot is not None:
        from bounds.plot_regions import plot_regions

        plot_regions(found, plot)
    rows = [row for one in found for row in _rows(one)]
    output.write(
        [one.to_dict() for one in found],
        lambda: region_text(found),
        lambda: tables.latex([_readable(one, vertex) for one in found for vertex in one.vertices]),
        rows=rows,
    )


def _class(text: str, classes: Sequence[str | int]) -> str | int:
    """The class whose name reads so."""
    for name in classes:
        if str(name) == text:
            return name
    raise QuantityError("--class", text, "not in the records", f"choose among {', '.join(map(str, classes[:30]))}")


def _rows(one: Region) -> list[dict[str, Any]]:
    """A row a vertex, for CSV and Parquet."""
    told = one.to_dict()
    vertices = told.pop("vertices")
    return [told | {"vertex": number} | vertex_columns(vertex) for number, vertex in enumerate(vertices)]


def vertex_columns(vertex: dict[str, Any]) -> dict[str, Any]:
    """A vertex's columns, apart from those that say what the quantities are."""
    return {f"vertex_{key}": value for key, value in vertex.items()}


def _readable(one: Region, vertex: tuple[Any, Any]) -> dict[str, str]:
    from bounds.tables import nearest

    return {
        "model": one.model,
        "perturbed": one.perturbed,
        "knowledge": one.knowledge,
        **{name: nearest(value) for name, value in zip(one.quantities, vertex, strict=True)},
    }


def region_text(regions: Sequence[Region]) -> str:
    """Regions as tables of their vertices, for people."""
    from bounds.regions import CLAIM
    from bounds.tables import DIGITS, nearest, text

    parts = []
    for one in regions:
        names = [
            f"{quantity} over {denominator}" if denominator != "none" else quantity
            for quantity, denominator in zip(one.quantities, one.denominators, strict=True)
        ]
        title = [f"{one.model}: {one.clean} → {one.perturbed}", f"given {one.knowledge}"]
        title += [] if one.threshold is None else [f"threshold {one.threshold}"]
        title += [f"class {one.class_name}" if one.class_name is not None else str(one.average)]
        parts.append(", ".join(title))
        if one.undefined is not None:
            parts.append(f"undefined: {one.undefined}\n")
            continue
        rows = [dict(zip(names, map(nearest, vertex), strict=True)) for vertex in one.vertices]
        parts.append(text(rows, ["right", "right"]))
        if one.paired is not None:
            parts.append(f"the true pair: {', '.join(map(nearest, one.paired))}")
        parts.append("")
    return "\n".join(
        [*parts, f"Vertices of the {CLAIM}.", f"Values to the nearest {DIGITS} digits; --json gives them exactly."]
    )
