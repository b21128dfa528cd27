"""What should a report have printed besides? How far a further count would narrow an interval, whatever its value.

Without records the count's value is unknown. Each whole number that it can have beside the statements is put in its
place, and the interval of the quantity found anew: the widest one is what the count narrows for certain, the narrowest
what it may. Everything is exact (`bounds.table_solver`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bounds.errors import InfeasibleError, SolverError
from bounds.report import Ask, ReportRow
from bounds.table_intervals import Ends, interval
from bounds.table_program import Row, TableProgram, Vector
from bounds.table_solver import Infeasible, Undecided

__all__ = ["MOST_VALUES", "Outlook", "Prospect", "outlook", "report_outlook"]

MOST_VALUES = 101
"""Most values of a count that are tried; of more, so many are taken evenly, the least and the greatest among them."""


OFFERED = ("retained-correct", "lost", "recovered", "flips", "persistent-wrong")
OFFERED_OF_ACCEPTANCE = ("retained-correct-accepted", "lost-acceptance", "gained-acceptance", "new-accepted-error")
"""Counts that a report could print besides."""

MOST_CLASSES = 10
"""In more classes counts of single ones are not looked at."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a count would do.

    Attributes:
        name: the count's.
        least, greatest: what it can be beside the statements.
        tried: the values that were put in its place.
        complete: whether these are all from least to greatest.
        narrowest, widest: intervals of the quantity over the values that it can have, with such a value.
    """

    name: str
    least: int
    greatest: int
    tried: int
    complete: bool
    narrowest: tuple[int, Ends]
    widest: tuple[int, Ends]


@dataclass(frozen=True, slots=True)
class Outlook:
    """A quantity's interval from the statements alone, and the prospects: those that narrow it for certain first."""

    start: Ends
    prospects: tuple[Prospect, ...]


def outlook(
    program: TableProgram,
    numerator: Vector,
    denominator: Vector | None,
    counts: Mapping[str, Vector],
    *,
    most_values: int = MOST_VALUES,
    node_limit: int | None = None,
) -> Outlook:
    """How far each count, by itself, would narrow the interval of a quantity.

    Args:
        program: the statements.
        numerator, denominator: the quantity; None for a plain count.
        counts: what could be printed besides, by name.
        most_values: most values of a count that are tried.
        node_limit: as in `bounds.table_solver.optimum`.

    Raises:
        InfeasibleError: if the statements cannot hold together.
        SolverError: if an interval is not decided within the limit on nodes.

    >>> rows = (Row("images", {0: 1, 1: 1, 2: 1, 3: 1}, 10, 10), Row("clean", {0: 1, 1: 1}, 7, 7))
    >>> rows += (Row("perturbed", {0: 1, 2: 1}, 5, 5),)
    >>> program = TableProgram(("kept", "lost", "recovered", "wrong"), rows)
    >>> found = outlook(program, {1: 1}, None, {"recovered": {2: 1}, "wrong": {3: 1}})
    >>> [(p.name, p.least, p.greatest, int(p.widest[1].width)) for p in found.prospects]
    [('recovered', 0, 3, 0), ('wrong', 0, 3, 0)]
    """
    start = _interval(program, numerator, denominator, node_limit)
    if start is None:
        raise InfeasibleError("statements", None, "cannot hold together", "ask which of them cannot")
    found = [
        _prospect(program, numerator, denominator, name, form, most_values, node_limit) for name, form in counts.items()
    ]
    return Outlook(start, tuple(sorted(found, key=lambda p: (p.widest[1].width, p.narrowest[1].width))))


def report_outlook(row: ReportRow, ask: Ask, *, node_limit: int | None = None) -> Outlook:
    """How far each count that a report does not fix would narrow the interval of a quantity.

    Args:
        row: as `bounds.report.load_report` gives it.
        ask: the quantity.
        node_limit: as in `outlook`.

    Returns:
        The prospects of `OFFERED` and, with acceptance, `OFFERED_OF_ACCEPTANCE`: in all, and in each class of up to
        `MOST_CLASSES`; but for the quantity itself and for counts that have one value only.

    Raises:
        InfeasibleError: if the statements cannot hold together.
        SolverError: as `outlook`.
    """
    sheet = row.sheet
    program = sheet.program(row.given)[0]
    names = OFFERED + (OFFERED_OF_ACCEPTANCE if sheet.acceptance else ())
    counts: dict[str, Vector] = {}
    for name in names:
        if name == ask.counted.numerator:
            continue
        counts[f"{name} in all"] = sheet.form(name, None)
        if 1 < len(sheet.classes) <= MOST_CLASSES:
            for number, (of_class, _) in enumerate(sheet.classes):
                counts[f"{name} of {of_class}"] = sheet.form(name, number)
    below = ask.counted.denominator
    found = outlook(
        program,
        sheet.form(ask.counted.numerator, ask.counted.of_class),
        None if below is None else sheet.form(below, ask.counted.of_class),
        counts,
        node_limit=node_limit,
    )
    return Outlook(found.start, tuple(one for one in found.prospects if one.least < one.greatest))


def _interval(
    program: TableProgram, numerator: Vector, denominator: Vector | None, node_limit: int | None
) -> Ends | None:
    """The interval of a quantity; None if the program has no table.

    Raises:
        SolverError: if it is not decided within the limit on nodes.
    """
    found = interval(program, numerator, denominator, node_limit=node_limit)
    if isinstance(found, Undecided):
        raise SolverError("interval", None, found.reason, "give a larger --node-limit")
    return None if isinstance(found, Infeasible) else found


def _prospect(
    program: TableProgram,
    numerator: Vector,
    denominator: Vector | None,
    name: str,
    form: Vector,
    most_values: int,
    node_limit: int | None,
) -> Prospect:
    reach = _interval(program, form, None, node_limit)
    assert reach is not None
    assert reach.lower is not None
    assert reach.upper is not None
    least, greatest = int(reach.lower), int(reach.upper)
    values = list(_spread(least, greatest, most_values))
    found = []
    for value in values:
        ends = _interval(program.with_rows([Row(name, form, value, value)]), numerator, denominator, node_limit)
        if ends is not None:
            found.append((value, ends))
    narrowest, widest = (pick(found, key=lambda one: one[1].width) for pick in (min, max))
    return Prospect(name, least, greatest, len(values), len(values) == greatest - least + 1, narrowest, widest)


def _spread(least: int, greatest: int, most: int) -> Sequence[int] | Iterator[int]:
    """All whole numbers between, or so many of them evenly, both ends among them."""
    if greatest - least < most:
        return range(least, greatest + 1)
    steps = max(most, 2) - 1
    return (least + (greatest - least) * step // steps for step in range(steps + 1))
