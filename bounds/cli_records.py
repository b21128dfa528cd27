"""Choosing from records: models, conditions, acceptance and quantities, alike for every verb that reads them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli_options import chosen, is_all, split
from bounds.errors import PairboundsError, QuantityError

if TYPE_CHECKING:
    from bounds.evaluation import Evaluation
    from bounds.quantities import Quantity
    from bounds.records import Records

DEFAULT_QUANTITIES = ("lost-acceptance", "gained-acceptance", "mean-probability-decrease")

__all__ = ["Acceptance", "Choice", "acceptance_options", "record_options", "usable_quantities"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which records are asked for: files, models, conditions, and the column of their classes."""

    files: Sequence[Path]
    models: Sequence[str]
    perturbed: Sequence[str]
    clean: str
    strata: str | None

    @property
    def inputs(self) -> list[tuple[str, Path | None]]:
        """The files, as `Output.check` takes them."""
        return [("RECORDS", path) for path in self.files]

    def load(self) -> Records:
        """The records of all files."""
        from bounds.records import load_records

        return load_records(list(self.files), strata=self.strata)

    def sides(self, source: Records) -> dict[str, list[str]]:
        """Model -> perturbed conditions asked for.

        Raises:
            PairboundsError: if a name is unknown, or none can be chosen.
        """
        if not self.models and len(source.models) > 1:
            raise PairboundsError(
                "--model",
                None,
                f"the records hold {len(source.models)}",
                f"choose among {', '.join(source.models)}, or all",
            )
        found = {}
        for model in chosen("--model", self.models, source.models) if self.models else source.models:
            conditions = source.conditions(model)
            if self.clean not in conditions:
                raise PairboundsError(
                    "--clean", self.clean, f"{model} has no such records", f"it has {', '.join(conditions)}"
                )
            others = [condition for condition in conditions if condition != self.clean]
            if not others:
                raise PairboundsError(
                    "--perturbed", None, f"{model} has records of {self.clean!r} only", "add perturbed ones"
                )
            found[model] = chosen("--perturbed", self.perturbed, others)
        return found

    def evaluations(
        self, source: Records, asked: Mapping[str, Sequence[str]], *, paired: bool = True
    ) -> Iterator[Evaluation]:
        """The evaluation of each model and condition of `sides`, in order."""
        for model, conditions in asked.items():
            yield from source.evaluations(model, conditions, clean=self.clean, paired=paired)


def record_options(*, perturbed: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add RECORDS, `--model`, `--perturbed` (required unless told otherwise), `--clean` and `--strata`, handed to the
    verb as one `choice`.
    """
    options = (
        click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option("--model", "models", multiple=True, metavar="M", help="Models; needed where there are several."),
        click.option("--perturbed", multiple=True, required=perturbed, metavar="COND", help="Perturbed conditions."),
        click.option("--clean", default="clean", show_default=True, metavar="COND", help="The clean condition."),
        click.option("--strata", metavar="COLUMN", help="Column that holds the classes  [default: label]"),
    )

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(
            *args: Any,
            records: Sequence[Path],
            models: Sequence[str],
            perturbed: Sequence[str],
            clean: str,
            strata: str | None,
            **kwargs: Any,
        ) -> Any:
            return function(*args, choice=Choice(records, models, perturbed, clean, strata), **kwargs)

        return functools.reduce(lambda inner, option: option(inner), reversed(options), wrapped)

    return decorated


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What makes records accepted: thresholds, or thresholds chosen by coverage, or neither (a column `accepted`)."""

    thresholds: Sequence[str]
    coverages: Sequence[str]

    @classmethod
    def asked(cls, thresholds: Sequence[str], coverages: Sequence[str]) -> Acceptance:
        """The options as typed.

        Raises:
            PairboundsError: if both are given, or a value is no list of decimals.
        """
        if thresholds and coverages:
            raise PairboundsError(
                "--coverage", coverages[0], "chooses a threshold, and --threshold gives one", "give one of the two"
            )
        for option, values in (("--threshold", thresholds), ("--coverage", coverages)):
            for value in values:
                if re.fullmatch(r"\s*[01]\s*,\s*[0-9]+\s*", value):
                    raise QuantityError(
                        option,
                        value,
                        f"may be a decimal comma or two {option[2:]}s",
                        "write 0.8, or repeat the option",
                    )
        return cls(split(thresholds), split(coverages))

    def __len__(self) -> int:
        return len(self.thresholds) + len(self.coverages) or 1

    def of(self, evaluation: Evaluation) -> Iterator[Evaluation]:
        """The evaluation with each acceptance asked for, in order; as it is where none was."""
        from bounds.coverage import at_coverage

        for text in self.thresholds:
            yield evaluation.at_threshold(text)
        for text in self.coverages:
            yield at_coverage(evaluation, text)
        if not self.thresholds and not self.coverages:
            yield evaluation


def acceptance_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--threshold` and `--coverage`, handed to the verb as one `acceptance`."""

    @click.option(
        "--threshold", "thresholds", multiple=True, metavar="T", help="Acceptance: confidence >= T, a decimal."
    )
    @click.option(
        "--coverage",
        "coverages",
        multiple=True,
        metavar="C",
        help="In place of it: the largest threshold that accepts this share of the clean images.",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, thresholds: Sequence[str], coverages: Sequence[str], **kwargs: Any) -> Any:
        return function(*args, acceptance=Acceptance.asked(thresholds, coverages), **kwargs)

    return wrapped


def usable_quantities(
    names: Sequence[str], evaluation: Evaluation, denominator: str | None
) -> tuple[list[Quantity], list[str]]:
    """The quantities asked for (three by default), and a note on each reason that leaves some of all or of these out.

    Raises:
        PairboundsError: if a name is unknown, or none of all is left.
    """
    from bounds.quantities import QUANTITIES

    found = [QUANTITIES[name] for name in chosen("--quantity", names or DEFAULT_QUANTITIES, list(QUANTITIES))]
    if names and not is_all("--quantity", split(names)):
        return found, []
    both = (evaluation.clean, evaluation.perturbed)
    refused: dict[str, list[str]] = {}
    kept = []
    for quantity in found:
        if quantity.needs_acceptance and any(side.accepted is None for side in both):
            reason = "no --threshold and no column 'accepted'"
        elif quantity.probability and any(side.true_probability is None for side in both):
            reason = "no column 'true_probability'"
        elif denominator is not None and denominator not in quantity.denominators:
            reason = f"not over {denominator}"
        else:
            kept.append(quantity)
            continue
        refused.setdefault(reason, []).append(quantity.name)
    if not kept:
        reasons = "; ".join(f"{why} ({', '.join(which)})" for why, which in refused.items())
        value, what = ("all", "none") if names else (None, "none of the default ones")
        raise QuantityError("--quantity", value, f"{what} is left: {reasons}", "give --threshold, or name a quantity")
    return kept, [f"quantities left out, {why}: {', '.join(names)}" for why, names in refused.items()]
