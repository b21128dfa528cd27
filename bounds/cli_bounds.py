"""`pairbounds bounds`: the intervals of quantities at levels of knowledge, on a file of prediction records."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_certificate import certificate_option
from bounds.cli_options import (
    Output,
    average_option,
    backend_option,
    chosen,
    denominator_option,
    is_all,
    node_limit_option,
    note,
    output_options,
    plot_option,
    progress,
    split,
)
from bounds.cli_records import Acceptance, Choice, acceptance_options, record_options, usable_quantities
from bounds.errors import CountError, PairboundsError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from bounds.evaluation import Evaluation
    from bounds.interval import Interval
    from bounds.knowledge import Knowledge

__all__ = ["bounds", "read_counts"]


@click.command(cls=Verb)
@record_options(perturbed=False)
@click.option(
    "--average-conditions",
    "averages",
    multiple=True,
    metavar="NAME=COND,...",
    help="Mean over conditions; `corruptions/3` for the 15 common ones at severity 3.",
)
@click.option(
    "--quantity", "quantities", multiple=True, metavar="Q", help="Quantities  [default: retained-correct ones]"
)
@click.option("--knowledge", "levels", multiple=True, metavar="K", help="Levels of knowledge  [default: all]")
@acceptance_options
@denominator_option
@average_option
@click.option("--per-class", is_flag=True, help="One interval a class instead of pooled ones.")
@click.option("--unpaired", is_flag=True, help="The sides share no image ids; only class counts are matched.")
@click.option("--counts", type=click.Path(path_type=Path), metavar="FILE.csv", help="What is known of an unpaired one.")
@click.option(
    "--method",
    type=click.Choice(["auto", "closed-form", "lp", "milp", "enumerate"]),
    default="auto",
    show_default=True,
    help="How ends are found.",
)
@backend_option
@click.option(
    "--program",
    type=click.Choice(["compact", "full"]),
    default="compact",
    show_default=True,
    help="What lp and milp solve where a quantity counts cells; full has a variable for every pair of groups.",
)
@node_limit_option
@click.option(
    "--arithmetic", type=click.Choice(["exact", "float"]), default="exact", show_default=True, help="Of ends."
)
@click.option(
    "--witness", type=click.Path(path_type=Path), metavar="FILE", help="Correspondences that attain the ends."
)
@certificate_option
@plot_option
@output_options
@click.pass_context
def bounds(
    context: click.Context,
    *,
    choice: Choice,
    averages: Sequence[str],
    quantities: Sequence[str],
    levels: Sequence[str],
    acceptance: Acceptance,
    denominator: str | None,
    average: str,
    per_class: bool,
    unpaired: bool,
    counts: Path | None,
    method: str,
    backend: str,
    node_limit: int | None,
    program: str,
    arithmetic: str,
    witness: Path | None,
    certificate: Path | None,
    plot: Path | None,
    output: Output,
) -> None:
    """Least and greatest value of quantities over all correspondences that agree with what is known.

    RECORDS are Parquet or CSV files of prediction records. List options repeat, take commas and `all`.
    """
    if not choice.perturbed and not averages:
        raise click.MissingParameter(ctx=context, param_type="option", param_hint="'--perturbed'")
    if certificate is not None and arithmetic == "float":
        raise PairboundsError("--arithmetic", arithmetic, "a certificate states exact ends", "leave it at exact")
    output.check([*choice.inputs, ("--counts", counts)], witness=witness, plot=plot, certificate=certificate)
    if counts is not None and not unpaired:
        raise PairboundsError(
            "--counts", str(counts), "goes with --unpaired: paired records tell their counts", "leave it out"
        )

    from bounds import tables
    from bounds.cli_certificate import certificate_file
    from bounds.cli_witness import WitnessFile

    source = choice.load()
    asked = choice.sides(source)
    averaged = {model: _averages(averages, model, source.conditions(model), choice.clean) for model in asked}
    needed = {
        model: list(dict.fromkeys([*conditions, *chain.from_iterable(averaged[model].values())]))
        for model, conditions in asked.items()
    }
    pairs = sum(map(len, needed.values()))
    if counts is not None and pairs > 1:
        raise PairboundsError(
            "--counts",
            str(counts),
            f"speaks of one pair of sides, and {pairs} are asked for",
            "give one model and one condition",
        )
    request = _Request(
        quantities=quantities,
        levels=levels or ("all",),
        acceptance=acceptance,
        counts=counts,
        per_class=per_class,
        options={
            "denominator": denominator,
            "average": average,
            "method": method,
            "backend": backend,
            "node_limit": node_limit,
            "program": program,
            "arithmetic": arithmetic,
            "witness": witness is not None or certificate is not None,
        },
    )
    evaluations = choice.evaluations(source, needed, paired=not unpaired)
    tasks = chain.from_iterable(map(request.tasks, evaluations))
    intervals: list[Interval] = []
    notes: dict[tuple[str, str], Sequence[str]] = {}
    with contextlib.ExitStack() as stack:
        file = None if witness is None else stack.enter_context(WitnessFile.replacing(witness))
        proofs = None if certificate is None else stack.enter_context(certificate_file(certificate))
        for evaluation, knowledge, task in progress(tasks, lambda: pairs * request.tasks_a_pair, "intervals"):
            notes[evaluation.model, evaluation.perturbed_condition] = evaluation.notes
            for interval in task():
                if file is not None:
                    file.write(evaluation, interval)
                if proofs is not None:
                    proofs.add(evaluation, knowledge, interval)
                intervals.append(interval.without_matches())
    shown = [interval for interval in intervals if interval.perturbed in asked[interval.model]]
    intervals = shown + _means(intervals, averaged)
    if plot is not None:
        from bounds.plots import plot_intervals

        plot_intervals(intervals, plot)
    if certificate is not None and averages:
        note("--certificate: averages over conditions are not in it; the intervals that they average are")
    for text in request.left_out:
        note(text)
    output.write(
        [interval.to_dict() for interval in intervals],
        lambda: tables.interval_text(intervals, notes),
        lambda: tables.interval_latex(intervals),
        columns=tables.INTERVAL_COLUMNS,
    )


def _averages(values: Sequence[str], model: str, conditions: Sequence[str], clean: str) -> dict[str, list[str]]:
    """Name -> conditions of each average asked for."""
    others = [condition for condition in conditions if condition != clean]
    found = {}
    for value in values:
        name, _, rest = value.partition("=")
        if value.startswith("corruptions/"):
            name = rest = value
        if not (name and rest):
            raise PairboundsError(
                "--average-conditions", value, "is neither NAME=COND,COND nor corruptions/1 to 5", "name the conditions"
            )
        if name in conditions or name in found:
            taken = "names a condition" if name in conditions else "is given twice"
            raise PairboundsError("--average-conditions", name, taken, "choose another name")
        found[name] = _members(rest, others)
    return found


def _members(value: str, conditions: Sequence[str]) -> list[str]:
    """The conditions of one average, with the groups among them written out."""
    from bounds.conditions import GROUPS

    option = "--average-conditions"
    whole = [group for group, members in GROUPS.items() if set(members) <= set(conditions)]
    parts: list[str] = []
    for part in [value] if value in conditions else [part.strip() for part in value.split(",")]:
        if part.startswith("corruptions/") and part not in (*whole, *conditions):
            missing = [member for member in GROUPS.get(part, ()) if member not in conditions]
            rule = f"the records have no {missing[0]}" if missing else "unknown: a severity is 1 to 5"
            way_out = f"the records hold {', '.join(whole)}" if whole else "name the conditions"
            raise PairboundsError(option, part, rule, way_out)
        parts += [part] if part in conditions else GROUPS.get(part, [part])
    for part in parts:
        if parts.count(part) > 1:
            raise PairboundsError(option, part, "comes twice in one average", "name each condition once")
    return chosen(option, parts, conditions)


def _means(intervals: Sequence[Interval], averaged: Mapping[str, Mapping[str, Sequence[str]]]) -> list[Interval]:
    """The averages over conditions, each over what is alike in all else."""
    from bounds.conditions import average_over_conditions

    found = []
    for model, averages in averaged.items():
        for name, conditions in averages.items():
            groups: dict[tuple[object, ...], list[Interval]] = {}
            for one in intervals:
                if one.model == model and one.perturbed in conditions:
                    asked = one.threshold if one.coverage is None else one.coverage.asked
                    groups.setdefault((asked, one.quantity, one.knowledge, one.class_name), []).append(one)
            for members in groups.values():
                missing = set(conditions) - {member.perturbed for member in members}
                if missing:
                    raise PairboundsError(
                        f"average {name}, class",
                        members[0].class_name,
                        f"has no images under {min(missing)}",
                        "average the pooled intervals, or leave the condition out",
                    )
                found.append(average_over_conditions(members, name))
    return found


@dataclass(slots=True)
class _Request:
    """What is asked of each evaluation.

    `tasks_a_pair` and `left_out`, what `all` or the default could not mean here, are known once `tasks` has begun.
    No quantities stand for the default ones.
    """

    quantities: Sequence[str]
    levels: Sequence[str]
    acceptance: Acceptance
    counts: Path | None
    per_class: bool
    options: Mapping[str, Any]
    tasks_a_pair: int = 0
    left_out: list[str] = field(default_factory=list)

    def tasks(self, evaluation: Evaluation) -> Iterator[tuple[Evaluation, Knowledge, Callable[[], list[Interval]]]]:
        """For each (threshold, quantity, level) the evaluation with its acceptance, what is known, and a call that
        bounds the quantity.
        """
        from bounds.knowledge import know
        from bounds.solve import bound, per_class

        def pooled(*arguments: Any, **options: Any) -> list[Interval]:
            return [bound(*arguments, **options)]

        first = self.tasks_a_pair == 0
        given: dict[str, Any] = {} if self.counts is None else read_counts(self.counts, evaluation.classes)
        levels = self._levels(evaluation, given, tell=first)
        for at in self.acceptance.of(evaluation):
            quantities, left_out = usable_quantities(self.quantities, at, self.options["denominator"])
            if first:
                self.left_out += left_out
                first = False
            known = [know(at, level, **given) for level in levels]
            self.tasks_a_pair = len(self.acceptance) * len(quantities) * len(levels)
            for quantity, knowledge in product(quantities, known):
                find = partial(per_class if self.per_class else pooled, at, quantity, knowledge, **self.options)
                yield at, knowledge, find

    def _levels(self, evaluation: Evaluation, given: Mapping[str, Any], *, tell: bool) -> list[str]:
        from bounds.knowledge import Level

        names = chosen("--knowledge", self.levels, list(Level))
        if evaluation.paired or not is_all("--knowledge", split(self.levels)):
            return names
        usable = [Level.MARGINALS.value]
        if "retained_correct" in given:
            usable += [Level.TOTAL, Level.CLASSWISE]
        if "persistent" in given:
            usable += [Level.FIVE_STATE]
        if tell:
            rest = [name for name in names if name not in usable]
            self.left_out.append(f"levels left out, unknown of these unpaired records: {', '.join(rest)}")
        return usable


def read_counts(path: Path, classes: Sequence[str | int]) -> dict[str, npt.NDArray[np.int64]]:
    """What is known of an unpaired evaluation, class by class.

    Args:
        path: CSV with the columns `class`, `retained_correct` and, for `five-state`, `persistent`.
        classes: those of the evaluation.

    Returns:
        `retained_correct` and, if there, `persistent`: int64 of shape (C,) in the order of `classes`.

    Raises:
        CountError: if the file cannot be read, a column or class is missing, a class is unknown or named twice, or a
            count is not a whole number.
    """
    import numpy as np

    from bounds.exact import whole_number

    name = path.name
    try:
        reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
        columns, rows = reader.fieldnames or [], list(reader)
    except OSError as error:
        raise CountError("--counts", str(path), f"cannot be read: {error.strerror}", "check the path") from error
    except UnicodeDecodeError as error:
        raise CountError("--counts", str(path), "not UTF-8", "save it as UTF-8") from error
    except csv.Error as error:
        raise CountError("--counts", str(path), f"not a CSV file ({error})", "write it again") from error
    for column in ("class", "retained_correct"):
        if column not in columns:
            raise CountError(name, None, f"has no column {column!r}", "name the columns class,retained_correct")
    wanted = [column for column in ("retained_correct", "persistent") if column in columns]
    index = {str(class_name): place for place, class_name in enumerate(classes)}
    counts = {column: np.full(len(classes), -1, dtype=np.int64) for column in wanted}
    for line, row in enumerate(rows, start=2):
        class_name = row["class"]
        if class_name not in index:
            raise CountError("class", class_name, f"not in the records ({name}, line {line})", "name each class once")
        for column in wanted:
            text = (row[column] or "").strip()
            if (count := whole_number(text)) is None:
                raise CountError(column, text, f"not a whole number ({name}, line {line})", "give a count such as 12")
            if counts[column][index[class_name]] >= 0:
                raise CountError("class", class_name, f"named twice ({name}, line {line})", "name each class once")
            counts[column][index[class_name]] = count
    missing = [str(class_name) for class_name, k in zip(classes, counts["retained_correct"], strict=True) if k < 0]
    if missing:
        raise CountError("class", missing[0], f"has no row in {name}", "name each class once")
    return counts
