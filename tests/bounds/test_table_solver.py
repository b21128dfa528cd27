"""Answers about tables against going through every table."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_tables import objectives, programs, tables, total

from bounds import table_solver
from bounds.errors import CountError
from bounds.table_program import Row, TableProgram
from bounds.table_proofs import flaw, kinds
from bounds.table_solver import End, Infeasible, Undecided, Undefined, feasible, optimum, ratio_optimum

STATES = ("kept", "lost", "recovered", "wrong")


def margins(images, clean, perturbed, *rows):
    """The states of so many images with so many correct."""
    return TableProgram(
        STATES,
        (
            Row("images", {0: 1, 1: 1, 2: 1, 3: 1}, images, images),
            Row("clean", {0: 1, 1: 1}, clean, clean),
            Row("perturbed", {0: 1, 2: 1}, perturbed, perturbed),
            *rows,
        ),
    )


@pytest.fixture(params=["exact", "hinted"])
def engine(request, monkeypatch):
    """Each way of solving, whatever the size."""
    monkeypatch.setattr(table_solver, "SMALL", -1 if request.param == "hinted" else 10**9)
    table_solver._prepared.cache_clear()
    return request.param


def check_feasible(program, images):
    every = tables(program, images)
    found = feasible(program)
    if isinstance(found, Infeasible):
        assert not every
        assert flaw(program, found.proof) is None
        kept = program.without({row.name for row in program.rows} - set(found.names))
        assert isinstance(feasible(kept), Infeasible)
    else:
        assert found in every


@given(programs())
def test_a_table_or_a_proof(asked):
    check_feasible(*asked)


STEPWISE = TableProgram(
    ("a", "b", "c"),
    (
        Row("images", {0: 1, 1: 1, 2: 1}, 6, 6),
        Row("s", {0: Fraction(3, 2), 1: Fraction(9, 5), 2: Fraction(17, 9)}, Fraction(154, 15), Fraction(169, 15)),
    ),
)
"""The least c is found by one step from the table found first."""


@given(programs(), objectives)
@example((STEPWISE, 6), {2: 1})
def test_ends_of_a_sum(asked, objective):
    program, images = asked
    objective = {i: a for i, a in objective.items() if i < len(program.variables)}
    values = [total(objective, x) for x in tables(program, images)]
    for sense, pick in (("max", max), ("min", min)):
        found = optimum(program, objective, sense)
        if not values:
            assert isinstance(found, Infeasible)
            assert flaw(program, found.proof) is None
            continue
        assert isinstance(found, End)
        assert found.value == pick(values) == total(objective, found.table)
        assert flaw(program.with_rows(found.rows), found.proof) is None
        (beyond,) = found.rows
        assert (
            flaw(program.with_rows([Row("met", beyond.coefficients, beyond.lower - 1, None)]), found.proof) is not None
        )


@given(programs(most_cells=4, most_images=5), objectives, st.lists(st.sampled_from([0, 1, 1]), min_size=4, max_size=4))
def test_ends_of_a_ratio(asked, numerator, denominator):
    program, images = asked
    numerator = {i: a for i, a in numerator.items() if i < len(program.variables)}
    denominator = {i: denominator[i] for i in range(len(program.variables))}
    every = tables(program, images)
    values = [total(numerator, x) / total(denominator, x) for x in every if total(denominator, x)]
    for sense, pick in (("max", max), ("min", min)):
        found = ratio_optimum(program, numerator, denominator, sense)
        if not every:
            assert isinstance(found, Infeasible)
        elif not values:
            assert isinstance(found, Undefined)
            assert flaw(program.with_rows(found.rows), found.proof) is None
        else:
            assert isinstance(found, End)
            assert found.value == pick(values)
            assert flaw(program.with_rows(found.rows), found.proof) is None
            assert total(numerator, found.table) == found.value * total(denominator, found.table)


@settings(max_examples=30)
@given(programs(most_cells=4, most_images=5), objectives)
@example((TableProgram(("a",), (Row("n", {0: 1}, 3, 3), Row("half", {0: 2}, 5, 5))), 3), {0: 1})
def test_with_a_solver_for_hints(asked, objective):
    program, images = asked
    objective = {i: a for i, a in objective.items() if i < len(program.variables)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_solver, "SMALL", -1)
        table_solver._prepared.cache_clear()
        check_feasible(program, images)
        values = [total(objective, x) for x in tables(program, images)]
        found = optimum(program, objective, "max")
        if values:
            assert isinstance(found, End)
            assert found.value == max(values)
        else:
            assert isinstance(found, Infeasible)


def test_right_values(engine):
    """100 images, 92 and 60 correct: both correct 52 to 60, flips 32 to 48 and even."""
    program = margins(100, 92, 60)
    for objective, ends in (({0: 1}, (52, 60)), ({1: 1, 2: 1}, (32, 48)), ({1: 1}, (32, 40))):
        assert tuple(optimum(program, objective, sense).value for sense in ("min", "max")) == ends
    possible = [
        flips
        for flips in range(101)
        if not isinstance(feasible(margins(100, 92, 60, Row("flips", {1: 1, 2: 1}, flips, flips))), Infeasible)
    ]
    assert possible == list(range(32, 49, 2))


def test_parity_needs_no_search(engine):
    odd = feasible(margins(100, 92, 60, Row("flips", {1: 1, 2: 1}, Fraction(81, 2), Fraction(83, 2))))
    assert isinstance(odd, Infeasible)
    assert kinds(odd.proof)[1:] == (0, 1)
    large = 10**15
    odd = feasible(margins(large, large - 8, large - 41, Row("flips", {1: 1, 2: 1}, 36, 36)))
    assert isinstance(odd, Infeasible)


def test_two_classes(engine):
    """Two classes of 50 with (48, 10) and (44, 50) correct: 52 to 54 correct on both sides; pooled 52 to 60."""
    rows = []
    for first, (clean, perturbed) in ((0, (48, 10)), (4, (44, 50))):
        rows += [
            Row("images", {first + i: 1 for i in range(4)}, 50, 50),
            Row("clean", {first: 1, first + 1: 1}, clean, clean),
            Row("perturbed", {first: 1, first + 2: 1}, perturbed, perturbed),
        ]
    program = TableProgram(STATES * 2, tuple(rows))
    assert [optimum(program, {0: 1, 4: 1}, sense).value for sense in ("min", "max")] == [52, 54]


def test_a_rate_on_seventeen_images(engine):
    def printed(low, high):
        return margins(17, 17, 17).with_rows([Row("accuracy", {0: 1, 1: 1}, low * 17, high * 17)]).without({"clean"})

    assert isinstance(feasible(printed(Fraction("0.865"), Fraction("0.875"))), Infeasible)
    assert feasible(printed(Fraction("0.875"), Fraction("0.885"))) == (15, 0, 2, 0)


def test_a_limit_decides_nothing():
    few = optimum(margins(9, 5, 5), {0: 1}, "max", node_limit=0)
    assert few == Undecided("not decided within 0 nodes of 200 splits in depth")
    wedge = TableProgram(
        ("a", "b"),
        (Row("n", {0: 1, 1: 1}, None, 99), Row("low", {0: 7, 1: -5}, 1, None), Row("high", {0: 9, 1: -7}, None, 0)),
    )
    some = optimum(wedge, {0: 1}, "max", node_limit=2)
    assert isinstance(some, Undecided)
    assert some.table is not None
    assert wedge.violated(some.table) is None
    assert some.value == some.table[0]


def test_nothing_limits_it(engine):
    program = TableProgram(("a", "b"), (Row("gap", {0: 1, 1: -1}, 0, 3),))
    with pytest.raises(CountError, match="no row limits it"):
        optimum(program, {0: 1}, "max")
    assert optimum(program, {0: 1, 1: -1}, "max").value == 3


def test_no_variables_and_no_rows():
    assert feasible(TableProgram((), ())) == ()
    assert isinstance(feasible(TableProgram((), (Row("one", {}, 1, 1),))), Infeasible)
    assert feasible(TableProgram(("a",), ())) == (0,)


def test_a_constant(engine):
    program = margins(5, 3, 2)
    assert optimum(program, {}, "min").value == 0
    assert optimum(program, {0: 1, 1: 1}, "max").value == 3


def test_what_is_wrong_is_not_returned(monkeypatch):
    program = margins(9, 5, 5)
    monkeypatch.setattr(table_solver.Prepared, "table", lambda self, limit: (9, 0, 0, 0))
    with pytest.raises(table_solver.SolverError, match="breaks this row"):
        feasible(program)
    monkeypatch.setattr(table_solver, "flaw", lambda program, proof: "a leaf's multipliers leave room")
    with pytest.raises(table_solver.SolverError, match="does not hold"):
        optimum(program, {0: 1}, "max")
