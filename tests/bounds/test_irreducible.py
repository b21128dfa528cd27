"""Irreducible and smallest sets against going through every set."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from small_tables import programs, tables

from bounds.errors import CountError
from bounds.irreducible import irreducible
from bounds.table_program import Row, TableProgram
from bounds.table_solver import Undecided


def impossible(program, images, names, kept):
    return not tables(program.without(set(names) - set(kept)), images)


@given(programs(most_cells=4, most_images=5))
def test_against_every_set(asked):
    program, images = asked
    program = program.with_rows([Row("s0", {0: 1}, None, images), Row("more", {0: 1}, images + 1, None)])
    names = [f"s{i}" for i in range(5)] + ["more"]
    least = next(
        size for size in range(7) if any(impossible(program, images, names, kept) for kept in combinations(names, size))
    )
    for smallest in (False, True):
        found = irreducible(program, names, smallest=smallest)
        assert impossible(program, images, names, found)
        assert not any(impossible(program, images, names, set(found) - {name}) for name in found)
        assert list(found) == [name for name in names if name in found]
        assert not smallest or len(found) == least


def cells(*rows):
    return TableProgram(tuple("abcd"), (Row("images", dict.fromkeys(range(4), 1), 10, 10), *rows))


def test_a_smaller_one_is_found():
    """Three thirds of the images too many, or two numbers that disagree."""
    three = [Row(f"third{i}", {i: 1}, 4, 4) for i in range(3)]
    two = [Row("twice", {3: 2}, 3, 3), Row("other", {3: 1}, 2, None)]
    program = cells(*three, *two)
    names = [row.name for row in program.rows[1:]]
    assert irreducible(program, names, smallest=True) == ("twice",)
    program = program.without({"twice"})
    assert irreducible(program, names, smallest=True) == ("third0", "third1", "third2")
    assert irreducible(program, names[:2], smallest=True) == ("third0", "third1")


def test_what_is_not_removable_may_fail_by_itself():
    assert irreducible(cells(Row("a", {0: 1}, 11, None)), [], smallest=True) == ()


def test_refusals():
    with pytest.raises(CountError, match="has a table"):
        irreducible(cells(), ["a"], smallest=False)
    many = [Row(f"r{i}", {0: 1}, 11, None) for i in range(21)]
    with pytest.raises(CountError, match="among 20 at most"):
        irreducible(cells(*many), [row.name for row in many], smallest=True)
    assert irreducible(cells(*many), [row.name for row in many], smallest=False) in [(row.name,) for row in many]


def test_a_limit_is_no_verdict():
    parts = cells(Row("a", {0: 2}, 7, 7), Row("b", {0: 1}, 0, 1))
    assert isinstance(irreducible(parts, ["a", "b"], smallest=True, node_limit=0), Undecided)
    assert isinstance(irreducible(parts, ["a", "b"], smallest=False, node_limit=0), Undecided)
