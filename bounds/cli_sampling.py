"""`pairbounds sampling`: the images as a sample of a population."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, chosen, denominator_option, is_all, note, output_options, progress, split
from bounds.cli_records import Acceptance, Choice, acceptance_options, record_options, usable_quantities
from bounds.errors import PairboundsError, QuantityError

if TYPE_CHECKING:
    from bounds.evaluation import Evaluation
    from bounds.sampling import Sampled

__all__ = ["sampling"]

FOOTER = (
    "identified: over the correspondences of these images, exact; more images would not narrow it.\n"
    "The others are confidence intervals for the population: normal, percentile and robust for the whole identified\n"
    "interval, Imbens-Manski and Stoye for each value inside it. 4 digits, rounded outward."
)

COLUMNS: dict[str, type] = {
    **dict.fromkeys(("quantity", "knowledge", "model", "clean", "perturbed", "threshold", "denominator"), str),
    **dict.fromkeys(("images", "classes"), int),
    **dict.fromkeys(("identified_lower", "identified_upper"), float),
    "interval": str,
    "covers": str,
    **dict.fromkeys(("lower", "upper", "level"), float),
    **dict.fromkeys(("irregular_lower", "irregular_upper", "drawn"), str),
    **dict.fromkeys(("resamples", "undefined_resamples", "seed"), int),
}


@click.command(cls=Verb)
@record_options()
@click.option(
    "--quantity", "quantities", multiple=True, metavar="Q", help="Quantities  [default: retained-correct ones]"
)
@click.option("--knowledge", "levels", multiple=True, metavar="K", help="Levels of knowledge  [default: all]")
@acceptance_options
@denominator_option
@click.option("--level", default="0.95", show_default=True, metavar="P", help="Of confidence, a decimal.")
@click.option("--resamples", type=int, default=1000, show_default=True, metavar="R", help="Of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="S", help="Of the draws.")
@click.option("--unpaired", is_flag=True, help="The sides share no image ids: each is a sample of its own.")
@output_options
def sampling(
    *,
    choice: Choice,
    quantities: Sequence[str],
    levels: Sequence[str],
    acceptance: Acceptance,
    denominator: str | None,
    level: str,
    resamples: int,
    seed: int,
    unpaired: bool,
    output: Output,
) -> None:
    """Confidence intervals around an identified interval: the images as a sample of a population.

    RECORDS are Parquet or CSV files of prediction records. List options repeat, take commas and `all`.
    """
    output.check(choice.inputs)

    from bounds.knowledge import Level
    from bounds.sampling import sampled

    share = _level(level)
    names = chosen("--knowledge", levels or ("all",), list(Level))
    every = not levels or is_all("--knowledge", split(levels))
    source = choice.load()
    asked = choice.sides(source)
    evaluations = (at for one in choice.evaluations(source, asked, paired=not unpaired) for at in acceptance.of(one))
    found: list[Sampled] = []
    told: list[str] = []

    def one(at: Evaluation, quantity: Any, name: str) -> None:
        try:
            found.append(
                sampled(at, quantity, name, denominator=denominator, level=share, resamples=resamples, seed=seed)
            )
        except QuantityError as error:
            if not every:
                raise
            told.append(f"left out, {quantity.name} at {name}: {error.rule}")

    total = sum(map(len, asked.values())) * len(acceptance)
    for at in progress(evaluations, lambda: total, "evaluations"):
        usable, left_out = usable_quantities(quantities, at, denominator)
        told += left_out
        for quantity in usable:
            for name in names:
                one(at, quantity, name)
    if not found:
        raise QuantityError(
            "--quantity", ", ".join(quantities) or None, f"nothing is left: {told[-1]}", "choose others"
        )
    for text in dict.fromkeys(told):
        note(text)
    output.write(
        [result.to_dict() for result in found],
        lambda: sampled_text(found),
        lambda: _latex(found),
        rows=[row for result in found for row in _flat(result)],
        columns=COLUMNS,
    )


def _level(text: str) -> float:
    from bounds.exact import exact_number

    try:
        level = exact_number(text)
    except ValueError as error:
        raise PairboundsError("--level", text, str(error), "give such as 0.95") from None
    if not Fraction(1, 2) <= level <= Fraction(999, 1000):
        raise PairboundsError("--level", text, "lies from 0.5 to 0.999", "give such as 0.95")
    return float(level)


def _flat(result: Sampled) -> list[dict[str, Any]]:
    whole = result.to_dict()
    shared = {key: whole[key] for key in list(COLUMNS)[:9]}
    shared |= {f"identified_{end}": whole["identified"][end] for end in ("lower", "upper")}
    after = {f"irregular_{end}": ", ".join(whole["irregular"][end]) for end in ("lower", "upper")}
    after |= {key: whole[key] for key in ("drawn", "resamples", "undefined_resamples", "seed")}
    return [
        shared
        | {"interval": one["name"], "covers": one["covers"], "lower": one["lower"], "upper": one["upper"]}
        | {"level": whole["level"]}
        | after
        for one in whole["confidence"]
    ]


def _span(low: float, high: float) -> str:
    from bounds.tables import outward

    return f"[{outward(low, up=False)}, {outward(high, up=True)}]"


def _readable(result: Sampled) -> dict[str, str]:
    from bounds.tables import range_text

    ends = [f"{end}: {', '.join(why)}" for end, why in zip(("lower", "upper"), result.irregular, strict=True) if why]
    return {
        "quantity": result.identified.quantity,
        "over": result.identified.denominator.name,
        "knowledge": result.identified.knowledge,
        "identified": range_text(result.identified),
        **{one.name: _span(one.lower, one.upper) for one in result.intervals},
        "irregular": "; ".join(ends),
    }


def sampled_text(found: Sequence[Sampled]) -> str:
    """Tables for people, one for each model, condition and acceptance."""
    from bounds.tables import heading, text

    parts = []
    for title, members in groupby(found, lambda result: heading(result.identified)):
        group = list(members)
        how = "each side drawn by itself" if group[0].sides_apart else "images drawn within their classes"
        rows = [_readable(result) for result in group]
        told = f"confidence {group[0].level:g}, {group[0].resamples} resamples, {how}"
        parts.append(f"{title}\n{told}\n{text(rows)}\n")
    if any(reasons for result in found for reasons in result.irregular):
        parts.append(
            "irregular: only the robust interval is to be believed at that end; with few images not even that.\n"
        )
    return "\n".join([*parts, FOOTER])


def _latex(found: Sequence[Sampled]) -> str:
    from bounds.tables import scoped_latex

    return scoped_latex([result.identified for result in found], [_readable(result) for result in found])
