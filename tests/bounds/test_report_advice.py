"""Prospects of further counts, against every table."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from small_tables import objectives, programs, tables, total

from bounds.errors import InfeasibleError, SolverError
from bounds.report_advice import outlook
from bounds.table_intervals import Ends
from bounds.table_program import Row, TableProgram


def ends(every, numerator, denominator):
    values = [
        total(numerator, x) / (1 if denominator is None else total(denominator, x))
        for x in every
        if denominator is None or total(denominator, x)
    ]
    return Ends(min(values), max(values)) if values else Ends(None, None)


@settings(max_examples=40)
@given(programs(most_cells=4, most_images=5), objectives, objectives)
def test_all_values_are_tried(asked, numerator, count):
    program, images = asked
    cells = len(program.variables)
    numerator = {i: int(a) for i, a in numerator.items() if i < cells and int(a)}
    count = {i: 1 for i in count if i < cells}
    every = tables(program, images)
    for denominator in (None, {0: 1}):
        if not every:
            with pytest.raises(InfeasibleError, match="cannot hold together"):
                outlook(program, numerator, denominator, {"count": count})
            continue
        found = outlook(program, numerator, denominator, {"count": count})
        assert found.start == ends(every, numerator, denominator)
        (prospect,) = found.prospects
        values = sorted({int(total(count, x)) for x in every})
        assert (prospect.least, prospect.greatest) == (values[0], values[-1])
        assert prospect.complete
        by_value = {v: ends([x for x in every if total(count, x) == v], numerator, denominator) for v in values}
        widths = [one.width for one in by_value.values()]
        assert (prospect.narrowest[1].width, prospect.widest[1].width) == (min(widths), max(widths))
        for value, one in (prospect.narrowest, prospect.widest):
            assert one == by_value[value]


def program(images):
    rows = (
        Row("images", {0: 1, 1: 1, 2: 1, 3: 1}, images, images),
        Row("clean", {0: 1, 1: 1}, images // 2, images // 2),
    )
    return TableProgram(("kept", "lost", "recovered", "wrong"), rows)


def test_of_many_values_some_are_tried():
    (prospect,) = outlook(program(100), {2: 1}, None, {"lost": {1: 1}}, most_values=5).prospects
    assert (prospect.least, prospect.greatest, prospect.tried, prospect.complete) == (0, 50, 5, False)


def test_what_narrows_for_certain_comes_first():
    found = outlook(program(20), {1: 1}, None, {"recovered": {2: 1}, "kept": {0: 1}})
    assert [prospect.name for prospect in found.prospects] == ["kept", "recovered"]
    assert [int(prospect.widest[1].width) for prospect in found.prospects] == [0, 10]


def test_a_limit_is_said():
    with pytest.raises(SolverError, match="not decided within 0 nodes"):
        outlook(program(9), {1: 1}, None, {}, node_limit=0)
