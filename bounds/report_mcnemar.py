"""McNemar's test of a printed report: over all tables that its statements leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bounds.errors import CountError
from bounds.mcnemar import Discordant, Outcome, mcnemar
from bounds.report import ReportRow
from bounds.table_program import Row, TableProgram, Vector
from bounds.table_solver import End, Infeasible, Sense, optimum

__all__ = ["MOST_DIFFERENCES", "RowTest", "report_mcnemar"]

MOST_DIFFERENCES = 400
"""With more possible differences of the two accuracies the test is not looked at."""


@dataclass(frozen=True, slots=True)
class RowTest:
    """The test of one row.

    Attributes:
        pairs: discordant counts that the statements leave, by the difference of the correct counts; None if not found.
        clean_correct: the count of clean-correct images, where it is one.
        outcomes: of each test; empty if not found.
        reason: why not.
    """

    pairs: Discordant | None
    clean_correct: int | None
    outcomes: tuple[Outcome, ...]
    reason: str | None


class _Open(Exception):
    """Something was not decided."""


def report_mcnemar(row: ReportRow, level: Fraction, *, node_limit: int | None = None) -> RowTest:
    """Every test of a row over all tables of its statements.

    For each difference of the two correct counts that some table has, the least and the most flips are found; p-values
    are monotone in both (`bounds.mcnemar`), so that their ends are attained by tables.

    Args:
        row: one whose statements can hold together.
        level: of significance.
        node_limit: as in `bounds.table_solver.optimum`.
    """
    sheet = row.sheet
    program = sheet.program(row.given)[0]
    forms = {name: sheet.form(name, None) for name in ("images", "clean-correct", "lost", "recovered", "flips")}
    gap = {**forms["lost"], **{i: -a for i, a in forms["recovered"].items()}}
    try:
        images = _ends(program, forms["images"], node_limit)
        clean = _ends(program, forms["clean-correct"], node_limit)
        low, high = _ends(program, gap, node_limit)
        if images[0] != images[1]:
            raise _Open("the number of images is not known")
        if high - low >= MOST_DIFFERENCES:
            raise _Open(
                f"the correct counts may differ by {high - low + 1} numbers; at most {MOST_DIFFERENCES} are tried"
            )
        ranges = dict(_flips(program, gap, forms["flips"], range(low, high + 1), node_limit))
    except _Open as found:
        return RowTest(None, None, (), str(found))
    except CountError as error:
        return RowTest(None, None, (), error.rule)
    pairs = Discordant(images[0], ranges)
    return RowTest(pairs, clean[0] if clean[0] == clean[1] else None, tuple(mcnemar(pairs, level)), None)


def _flips(
    program: TableProgram, gap: Vector, flips: Vector, differences: range, node_limit: int | None
) -> Mapping[int, tuple[int, int]]:
    found = {}
    for difference in differences:
        narrowed = program.with_rows([Row("difference", gap, difference, difference)])
        ends = _ends_or_none(narrowed, flips, node_limit)
        if ends is not None:
            found[difference] = ends
    return found


def _ends(program: TableProgram, form: Vector, node_limit: int | None) -> tuple[int, int]:
    found = _ends_or_none(program, form, node_limit)
    if found is None:
        raise _Open("the statements cannot hold together")
    return found


def _ends_or_none(program: TableProgram, form: Vector, node_limit: int | None) -> tuple[int, int] | None:
    """The least and the greatest value of a sum; None where there is no table."""
    senses: tuple[Sense, Sense] = ("min", "max")
    values = []
    for sense in senses:
        found = optimum(program, form, sense, node_limit=node_limit)
        if isinstance(found, Infeasible):
            return None
        if not isinstance(found, End):
            raise _Open(found.reason)
        values.append(int(found.value))
    return values[0], values[1]
