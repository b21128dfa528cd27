"""`pairbounds policies`: what policies cost, and which of them are ordered whatever the correspondence."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, backend_option, chosen, node_limit_option, output_options, progress
from bounds.cli_records import Choice, record_options
from bounds.errors import PairboundsError

if TYPE_CHECKING:
    from bounds.cli_witness import PairFile
    from bounds.policies import Comparison, Difference, PolicyCost
    from bounds.policy import Policy
    from bounds.records import Records

__all__ = ["comparison_text", "policies"]

WITNESS_COLUMNS = (
    *("perturbed", "knowledge", "first", "second", "cheaper"),
    *("class", "clean_image_id", "perturbed_image_id"),
)
"""Columns of the witness file, all strings; one row a pair of images. `cheaper` is the cheaper policy."""

COST_ALIGN = ("left", "left", "right", "right", "left")
PAIR_ALIGN = ("left", "left", "left", "right", "right", "left", "left")


@click.command(cls=Verb)
@click.argument("policies_file", metavar="POLICIES.toml", type=click.Path(path_type=Path))
@record_options()
@click.option(
    "--knowledge",
    "levels",
    multiple=True,
    metavar="K",
    default=["correct-correct"],
    show_default=True,
    help="Levels of knowledge.",
)
@backend_option
@node_limit_option
@click.option(
    "--witness",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Correspondences that order unresolved pairs either way.",
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="The partial order: .png, .svg or .pdf.")
@output_options
def policies(
    *,
    policies_file: Path,
    choice: Choice,
    levels: Sequence[str],
    backend: str,
    node_limit: int | None,
    witness: Path | None,
    plot: Path | None,
    output: Output,
) -> None:
    """Costs of policies, and their differences under the shared correspondence.

    POLICIES.toml holds the policies, RECORDS are Parquet or CSV files of prediction records. List options repeat, take
    commas and `all`. There is one comparison for each --model (of the policies that name none), condition and level.
    """
    output.check([("POLICIES.toml", policies_file), *choice.inputs], witness=witness, plot=plot)

    from bounds import tables
    from bounds.cli_witness import pair_file
    from bounds.knowledge import Level
    from bounds.policies import open_records
    from bounds.policy import load_policies

    asked = load_policies(policies_file)
    opened = open_records(asked, list(choice.files), choice.strata)
    scopes = _scopes(asked, next(iter(opened.values())), choice)
    known = chosen("--knowledge", levels, list(Level))
    options = {"backend": backend, "node_limit": node_limit, "witnesses": witness is not None}
    comparisons: list[Comparison] = []
    with contextlib.ExitStack() as stack:
        file = None if witness is None else stack.enter_context(pair_file(witness, WITNESS_COLUMNS))
        total = len(known) * sum(len(conditions) for _, conditions in scopes)
        for task in progress(_tasks(asked, opened, scopes, choice.clean, known, options), lambda: total, "comparisons"):
            comparison = task()
            comparisons.append(comparison if file is None else _written(file, comparison))
    if plot is not None:
        from bounds.plot_order import plot_order

        plot_order(comparisons, plot)
    parts = [comparison.to_dict() for comparison in comparisons]
    found = {key: [row for part in parts for row in part[key]] for key in ("policies", "pairs")}
    output.write(
        found,
        lambda: comparison_text(comparisons),
        lambda: "\n".join(tables.latex(rows(comparisons, scope=True)) for rows in (_cost_rows, _pair_rows)),
        rows=[{"row": "policy"} | row for row in found["policies"]] + [{"row": "pair"} | row for row in found["pairs"]],
    )


def _scopes(asked: Sequence[Policy], source: Records, choice: Choice) -> list[tuple[str | None, list[str]]]:
    """The model of the policies that name none, with the conditions that all models of the comparison have.

    Raises:
        PairboundsError: if a name is unknown, no model can be chosen, or one is given that no policy asks for.
    """
    from bounds.policies import model_of, shared_conditions

    open_ended = [policy for policy in asked if policy.model is None]
    if choice.models and not open_ended:
        raise PairboundsError("--model", ", ".join(choice.models), "every policy names its model", "leave it out")
    found = []
    for model in chosen("--model", choice.models, source.models) if choice.models else [None]:
        used = [model_of(policy, model, source.models) for policy in asked]
        conditions = shared_conditions(source, used, choice.clean)
        found.append((model, chosen("--perturbed", choice.perturbed, conditions)))
    return found


def _tasks(
    asked: Sequence[Policy],
    opened: dict[str, Records],
    scopes: Sequence[tuple[str | None, Sequence[str]]],
    clean: str,
    levels: Sequence[str],
    options: dict[str, Any],
) -> Iterator[Callable[[], Comparison]]:
    from bounds.policies import evaluate_policies, evaluations_of

    for model, conditions in scopes:
        for evaluations in evaluations_of(asked, opened, model=model, perturbed=conditions, clean=clean):
            for level in levels:
                yield partial(evaluate_policies, asked, evaluations, level, model=model, **options)


def _written(file: PairFile, comparison: Comparison) -> Comparison:
    """Write the witnesses; the comparison is given back without their correspondences."""
    from bounds.cli_witness import pair_frame

    for pair in comparison.differences:
        for witness in pair.witnesses:
            assert witness.match is not None
            told = {
                "perturbed": comparison.perturbed,
                "knowledge": comparison.knowledge,
                "first": pair.first,
                "second": pair.second,
                "cheaper": pair.first if witness.difference < 0 else pair.second,
            }
            file(pair_frame(comparison.evaluation, witness.match, told))
    differences = tuple(
        replace(pair, witnesses=tuple(replace(witness, match=None) for witness in pair.witnesses))
        for pair in comparison.differences
    )
    return replace(comparison, differences=differences)


def comparison_text(comparisons: Sequence[Comparison]) -> str:
    """Comparisons as tables for people: the policies, then their pairs."""
    from bounds.tables import FOOTER, text

    parts = []
    for comparison in comparisons:
        models = ", ".join(dict.fromkeys(cost.model for cost in comparison.costs))
        parts.append(
            f"{models}: {comparison.clean} → {comparison.perturbed}, known: {comparison.knowledge}, "
            f"{comparison.images} images in {comparison.classes} {'class' if comparison.classes == 1 else 'classes'}"
        )
        parts += [text(_cost_rows([comparison]), COST_ALIGN), ""]
        if comparison.differences:
            parts += [text(_pair_rows([comparison]), PAIR_ALIGN), _summary(comparison.differences), ""]
        parts += [*_left_out(comparison)]
    return "\n".join([*parts, "Costs are means over all images.", FOOTER])


def _scope(comparison: Comparison) -> dict[str, str]:
    return {"perturbed": comparison.perturbed, "knowledge": comparison.knowledge}


def _end_columns(part: PolicyCost | Difference) -> dict[str, str]:
    from bounds.tables import ends_text

    lower, upper = ends_text(part.lower, part.upper)
    return {"lower": lower, "upper": upper, "ends": "sharp" if part.sharp else "outer"}


def _cost_rows(comparisons: Sequence[Comparison], *, scope: bool = False) -> list[dict[str, str]]:
    return [
        (_scope(comparison) if scope else {}) | {"policy": cost.policy, "model": cost.model, **_end_columns(cost)}
        for comparison in comparisons
        for cost in comparison.costs
    ]


def _pair_rows(comparisons: Sequence[Comparison], *, scope: bool = False) -> list[dict[str, str]]:
    return [
        (_scope(comparison) if scope else {})
        | {
            "first": pair.first,
            "costs": pair.relation or "?",
            "second": pair.second,
            **_end_columns(pair),
            "ordered": pair.ordered,
        }
        for comparison in comparisons
        for pair in comparison.differences
    ]


def _summary(pairs: Sequence[Difference]) -> str:
    counts = Counter(pair.ordered for pair in pairs)
    return (
        f"{len(pairs)} pairs: {counts['separate']} ordered by their separate intervals, "
        f"{counts['shared']} by the shared correspondence only, {counts['unresolved']} unresolved"
    )


def _left_out(comparison: Comparison) -> Iterator[str]:
    for model, counts in comparison.left_out.items():
        told = {
            "only clean": counts["unmatched"]["clean"],
            "only perturbed": counts["unmatched"]["perturbed"],
            "without a prediction on a side": counts["unusable"],
            "not of the other models": counts["not_shared"],
        }
        if any(told.values()):
            yield f"images of {model} left out: {', '.join(f'{n} {why}' for why, n in told.items() if n)}\n"
