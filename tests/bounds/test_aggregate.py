"""Choosing counts: each rule against trying everything, and what happens beyond a limit."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bounds import aggregate
from bounds.aggregate import Grid, best_mean, best_mean_given_total, best_ratio, best_sum
from bounds.curves import Domain
from bounds.errors import SolverError

rates = st.none() | st.fractions(-1, 1, max_denominator=6)


@st.composite
def domains(draw, with_total):
    sizes = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=3))
    lo = np.array([low for low, _ in sizes], dtype=np.int64)
    hi = lo + np.array([width for _, width in sizes], dtype=np.int64)
    total = draw(st.integers(int(lo.sum()), int(hi.sum()))) if with_total else None
    return Domain(lo, hi, total)


def vectors(domain):
    for k in product(*(range(int(a), int(b) + 1) for a, b in zip(domain.lo, domain.hi, strict=True))):
        if domain.total is None or sum(k) == domain.total:
            yield k


def on(grid, values, k):
    return [values[int(grid.offsets[c]) + kc - int(grid.domain.lo[c])] for c, kc in enumerate(k)]


def concave(draw, grid):
    values = []
    for c in range(len(grid.domain.lo)):
        size = int(grid.offsets[c + 1] - grid.offsets[c])
        steps = sorted(draw(st.lists(st.integers(-4, 4), min_size=size - 1, max_size=size - 1)), reverse=True)
        values += np.concatenate([[draw(st.integers(-3, 3))], steps]).cumsum().tolist()
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize("with_total", [False, True])
@given(data=st.data())
def test_best_sum(with_total, data):
    domain = data.draw(domains(with_total))
    grid = Grid.of(domain)
    values = concave(data.draw, grid)
    k = best_sum(grid, values)
    assert tuple(k.tolist()) in set(vectors(domain))
    assert sum(on(grid, values, k.tolist())) == max(sum(on(grid, values, v)) for v in vectors(domain))


def test_best_sum_refuses_what_greedy_would_get_wrong():
    grid = Grid.of(Domain(np.array([0, 0]), np.array([2, 2]), 2))
    with pytest.raises(SolverError, match="not concave"):
        best_sum(grid, np.array([0, 0, 5, 0, 1, 2]))


@pytest.mark.parametrize("with_total", [False, True])
@given(data=st.data())
def test_best_ratio(with_total, data):
    domain = data.draw(domains(with_total))
    grid = Grid.of(domain)
    numerators = concave(data.draw, grid)
    empty = domain.lo == 0
    numerators -= np.where(empty, numerators[grid.offsets[:-1]], 0)[grid.c]  # no pairs, no numerator
    possible = [Fraction(sum(on(grid, numerators, v)), sum(v)) for v in vectors(domain) if sum(v)]
    assume(possible)
    k, ratio = best_ratio(grid, numerators, grid.k, -1000)
    assert ratio == max(possible)
    assert Fraction(sum(on(grid, numerators, k.tolist())), int(k.sum())) == ratio


def means(domain, grid, rate, droppable):
    for v in vectors(domain):
        options = []
        for r, drop in zip(on(grid, rate, v), on(grid, droppable, v), strict=True):
            options.append(([r] if r is not None else []) + (["drop"] if drop else []))
        for choice in product(*options):
            counted = [r for r in choice if r != "drop"]
            if counted:
                yield sum(counted) / len(counted)


@pytest.mark.parametrize("with_total", [False, True])
@given(data=st.data())
@settings(max_examples=300)
def test_best_mean(with_total, data):
    domain = data.draw(domains(with_total))
    if not with_total:
        domain = Domain(domain.lo, domain.lo)
    grid = Grid.of(domain)
    size = len(grid.c)
    rate = data.draw(st.lists(rates, min_size=size, max_size=size))
    droppable = np.array([r is None or data.draw(st.booleans()) for r in rate])
    possible = list(means(domain, grid, rate, droppable))
    if not possible:
        return
    found = best_mean_given_total(grid, rate, droppable) if with_total else best_mean(rate, droppable, domain.lo)
    assert found.mean == max(possible)
    assert tuple(found.k.tolist()) in set(vectors(domain))
    counted = [r for r, c in zip(on(grid, rate, found.k.tolist()), found.counted, strict=True) if c]
    assert sum(counted) / len(counted) == found.mean


def test_the_dynamic_program_says_when_it_would_be_too_large(monkeypatch):
    grid = Grid.of(Domain(np.array([0, 0]), np.array([2, 2]), 2))
    rate = [Fraction(1, 2)] * 6
    assert best_mean_given_total(grid, rate, np.zeros(6, dtype=bool)).mean == Fraction(1, 2)
    monkeypatch.setattr(aggregate, "DP_LIMIT", 17)
    assert best_mean_given_total(grid, rate, np.zeros(6, dtype=bool)) is None
