"""`pairbounds choose-copies`: how many corruptions are needed, and which."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, output_options
from bounds.errors import PairboundsError
from ranking.cli_options import RankingChoice, ranking_options

if TYPE_CHECKING:
    from ranking.selection import Candidate, Chosen

__all__ = ["choose_copies"]

METHOD = "mean_true_probability"


@click.command("choose-copies", cls=Verb)
@ranking_options(targets=True, budgets=("0.2",))
@click.option(
    "--across",
    type=click.Choice(["images", "models"]),
    default="images",
    show_default=True,
    help="What is split into a part that selects and a part that measures.",
)
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Parts; each measures once.")
@click.option("--draws", type=click.IntRange(min=1), default=20, show_default=True, help="Random sets a size and fold.")
@click.option("--most", type=click.IntRange(min=1), metavar="M", help="Copies kept at most  [default: all]")
@output_options
def choose_copies(
    *, choice: RankingChoice, across: str, folds: int, draws: int, most: int | None, output: Output
) -> None:
    """Failure recall against the number of copies kept, selected on one part and measured on the other.

    Greedy forward selection of the copies whose mean true-class probability finds most failures. RECORDS are Parquet or
    CSV files of prediction records. List options repeat, take commas and `all`.
    """
    output.check(choice.inputs)
    if choice.scores and list(choice.scores) != [METHOD]:
        raise PairboundsError("--score", choice.scores[0], f"copies are chosen for {METHOD}", "leave --score out")
    if len(choice.copies) != 1:
        raise PairboundsError(
            "--copies", ", ".join(choice.copies) or None, "one set is chosen from", "give one --copies"
        )

    import numpy as np

    from bounds import tables
    from ranking import selection

    work = choice.work(choice.load())
    candidates: dict[str, list[Candidate]] = {target: [] for target in work.targets}
    for pool, _ in work.rankings():
        for target, captures in pool.captures.items():
            rows = np.flatnonzero(captures.captured)
            copies = pool.copies[choice.copies[0]]
            assert copies.true_probability is not None
            ids = pool.image_id.to_list()
            candidates[target].append(
                selection.Candidate(
                    pool.model,
                    [ids[row] for row in rows],
                    copies.names,
                    copies.true_probability[:, rows].astype(np.float64),
                    captures.failures(choice.failure, rows),
                )
            )
    found = {
        (target, budget.text): selection.choose_copies(
            members, budget, across=across, folds=folds, draws=draws, seed=choice.seed, most=most
        )
        for target, members in candidates.items()
        for budget in choice.budgets
    }
    objects: list[dict[str, Any]] = [
        {"target": target, "budget": budget, "across": across, "folds": folds} | one.to_dict()
        for (target, budget), rows in found.items()
        for one in rows
    ]
    output.write(objects, lambda: chosen_text(found, across), lambda: tables.latex(_latex(found)))
    work.tell()


def _cells(one: Chosen) -> dict[str, Any]:
    def cell(value: float | None) -> str | None:
        return None if value is None else f"{value:.4f}"

    return {
        "copies": str(one.copies),
        "held out": cell(one.held_out),
        "selecting part": cell(one.selected),
        "random set": cell(one.random),
        "all copies": cell(one.every),
        "most often added": added(one),
    }


def added(one: Chosen) -> str:
    """The copy that most folds added last, and in how many of them."""
    name, times = min(Counter(names[-1] for names in one.names).items(), key=lambda item: (-item[1], item[0]))
    return f"{name} ({times}/{len(one.names)})"


def _latex(found: dict[tuple[str, str], list[Chosen]]) -> list[dict[str, Any]]:
    return [
        {"target": target, "budget": budget} | _cells(one) for (target, budget), rows in found.items() for one in rows
    ]


def chosen_text(found: dict[tuple[str, str], list[Chosen]], across: str) -> str:
    """Tables for people, one for each target and budget."""
    from bounds.tables import text

    parts = []
    for (target, budget), rows in found.items():
        title = f"{target}, budget {budget}: failure recall, selected and measured on different {across}"
        parts.append(f"{title}\n{text([_cells(one) for one in rows], ['right'] * 5 + ['left'])}\n")
        parts += dict.fromkeys(f"undefined: {one.reason}\n" for one in rows if one.reason)
    told = "held out: the copies kept, on the part that did not select; on the selecting part recall is optimistic."
    return "\n".join([*parts, told])
