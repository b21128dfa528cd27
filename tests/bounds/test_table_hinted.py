"""Programs of many classes: proofs from a solver's floats, the same ends as without a solver."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from bounds import table_hinted, table_solver
from bounds.table_program import Row, TableProgram
from bounds.table_proofs import flaw
from bounds.table_solver import End, Infeasible, Undecided, feasible, optimum

CELLS = [(state, a, b) for state in ("CC", "CW", "WC", "WS", "WD") for a in (0, 1) for b in (0, 1)]


def chosen(classes, holds):
    return {20 * c + i: 1 for c in range(classes) for i, cell in enumerate(CELLS) if holds(*cell)}


def report(classes, size, seed):
    """Accuracy a class, pooled flips and accuracy among accepted, rounded to three digits."""
    rng = random.Random(seed)
    x = [0] * (20 * classes)
    for c in range(classes):
        for i in rng.choices(range(20), weights=[rng.random() for _ in range(20)], k=size):
            x[20 * c + i] += 1
    rows = []
    for c in range(classes):
        cells = range(20 * c, 20 * c + 20)
        rows.append(Row("structure", dict.fromkeys(cells, 1), size, size))
        correct = {i: 1 for i in cells if i % 20 < 8}
        count = sum(x[i] for i in correct)
        rows.append(Row(f"clean {c}", correct, count, count))
    for name, top, bottom in (
        ("flips", chosen(classes, lambda s, a, b: s in ("CW", "WC")), chosen(classes, lambda *_: True)),
        ("accepted", chosen(classes, lambda s, a, b: s[0] == "C" and a), chosen(classes, lambda s, a, b: a)),
    ):
        rate = Fraction(round(Fraction(sum(x[i] for i in top), sum(x[i] for i in bottom)) * 1000), 1000)
        for side, bound in (("lower", rate - Fraction(1, 2000)), ("upper", rate + Fraction(1, 2000))):
            sums = {i: top.get(i, 0) - bound * bottom.get(i, 0) for i in {*top, *bottom}}
            rows.append(Row(name, sums, *((0, None) if side == "lower" else (None, 0))))
    return TableProgram(tuple(map(str, range(len(x)))), tuple(rows))


def with_hints(monkeypatch, use):
    monkeypatch.setattr(table_solver, "SMALL", -1 if use else 10**9)
    table_solver._prepared.cache_clear()


@pytest.mark.parametrize("seed", range(3))
def test_the_same_ends(monkeypatch, seed):
    classes = 6
    program = report(classes, 20, seed)
    objectives = [chosen(classes, lambda s, a, b: s == "CC"), chosen(classes, lambda s, a, b: s == "CC" and a > b)]
    for objective in objectives:
        for sense in ("min", "max"):
            ends = []
            for use in (False, True):
                with_hints(monkeypatch, use)
                end = optimum(program, objective, sense)
                assert isinstance(end, End)
                assert flaw(program.with_rows(end.rows), end.proof) is None
                ends.append(end.value)
            assert ends[0] == ends[1]


def test_many_classes():
    classes = 120
    program = report(classes, 30, 7)
    assert len(program.variables) * len(program.rows) > table_solver.SMALL
    kept = chosen(classes, lambda s, a, b: s == "CC")
    low, high = (optimum(program, kept, sense) for sense in ("min", "max"))
    assert low.value < high.value
    more = feasible(program.with_rows([Row("kept", kept, high.value + 1, None)]))
    assert isinstance(more, Infeasible)
    assert "kept" in more.names


def test_wrong_hints_prove_nothing(monkeypatch):
    """Whatever the floats say: a wrong value is never returned."""
    program = report(4, 20, 1)
    kept = chosen(4, lambda s, a, b: s == "CC")
    right = optimum(program, kept, "max").value
    with_hints(monkeypatch, True)
    true_run = table_hinted._run

    def noisy(cost, rows, integral, node_limit):
        hint = true_run(cost, rows, integral, node_limit)
        y = None if hint.y is None else hint.y + rng.normal(0, 0.3, len(hint.y))
        x = None if hint.x is None else hint.x + rng.normal(0, 0.3, len(hint.x))
        return table_hinted._Hint(hint.status, x, y, hint.value)

    monkeypatch.setattr(table_hinted, "_run", noisy)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        table_solver._prepared.cache_clear()
        found = optimum(program, kept, "max", node_limit=5)
        assert isinstance(found, Undecided) or found.value == right
