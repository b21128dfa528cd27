"""Programs of arbitrary pair costs and side conditions against every bijection of small blocks."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bounds.duality
from bounds.errors import BackendError, CountError
from bounds.pairs import Coupling, PairBlock, PairRow, merged, optimise_pairs, pair_rows
from bounds.program import Status


def exact(rows):
    array = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    return array


def matrices(draw, shape, values):
    return [[draw(values) for _ in range(shape[1])] for _ in range(shape[0])]


@st.composite
def programs(draw):
    """Blocks of at most 4 records, with rows and sometimes a coupling."""
    blocks, counted = [], []
    for _ in range(draw(st.integers(1, 2))):
        images = draw(st.integers(0, 4))
        sizes = [
            tuple(np.bincount(draw(st.lists(st.integers(0, 3), min_size=images, max_size=images)))) for _ in range(2)
        ]
        sizes = [tuple(int(size) for size in side if size) for side in sizes]
        shape = (len(sizes[0]), len(sizes[1]))
        cost = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            cost[index] = Fraction(draw(st.integers(-6, 6)), draw(st.integers(1, 3)))
        rows = []
        for number in range(draw(st.integers(0, 2))):
            lower = draw(st.integers(-1, 3))
            coefficients = np.array(matrices(draw, shape, st.integers(-1, 2)), dtype=np.int64).reshape(shape)
            rows.append(PairRow(f"row {number}", coefficients, lower, lower + draw(st.sampled_from([0, 0, 1, 2, 10]))))
        blocks.append(PairBlock(sizes[0], sizes[1], cost, tuple(rows)))
        counted.append(np.array(matrices(draw, shape, st.integers(0, 1)), dtype=np.int64).reshape(shape))
    couplings = []
    if draw(st.booleans()):
        lower = draw(st.integers(0, 4))
        couplings = [Coupling("all", counted, lower, lower + draw(st.sampled_from([0, 1, 20])))]
    return blocks, counted, couplings


def within(row, value):
    return row.lower <= value <= row.upper


def total(matrix, clean, order):
    return sum((matrix[i, j] for i, j in zip(clean, order, strict=True)), 0)


def values(blocks, counted, couplings):
    """Every total cost over the bijections of all blocks that meet the side conditions."""
    found = []
    for block, matrix in zip(blocks, counted, strict=True):
        clean, perturbed = (np.repeat(np.arange(len(s)), s) for s in (block.clean_sizes, block.perturbed_sizes))
        found.append(
            {
                (total(block.cost, clean, order), int(total(matrix, clean, order)))
                for order in permutations(perturbed)
                if all(within(row, total(row.coefficients, clean, order)) for row in block.rows)
            }
        )
    return {
        sum(cost for cost, _ in choice)
        for choice in product(*found)
        if all(within(row, sum(count for _, count in choice)) for row in couplings)
    }


def settled(blocks, couplings, maximise, **options):
    found = optimise_pairs(blocks, couplings, maximise=maximise, **options)
    if found.tables is not None:
        for block, table in zip(blocks, found.tables, strict=True):
            assert tuple(table.sum(axis=1)) == block.clean_sizes
            assert tuple(table.sum(axis=0)) == block.perturbed_sizes
        assert found.attained == sum(
            sum((block.cost * table).ravel().tolist()) for block, table in zip(blocks, found.tables, strict=True)
        )
    return found


DEGENERATE = PairBlock(
    (1, 1, 1),
    (1, 1, 1),
    exact([[-6, -6, 6], [-10, -9, 8], [-8, 9, 30]]) / Fraction(6),
    (
        PairRow("r0", np.array([[0, 2, 2], [0, 1, -1], [0, 0, 2]]), -1, 0),
        PairRow("r1", np.array([[2, 1, 2], [-1, 0, 0], [-1, 2, -1]]), 2, 4),
    ),
)
"""Its relaxation has multipliers that no equation settles."""
NINE = np.array([[0, 1, 1], [0, 0, 0], [0, 1, 1]])


@settings(max_examples=120)
@given(programs(), st.booleans())
@example(([DEGENERATE], [NINE], [Coupling("all", [NINE], 1, 1)]), False)
def test_ends_are_those_of_every_bijection(program, maximise) -> None:
    blocks, counted, couplings = program
    attained = values(blocks, counted, couplings)
    found = settled(blocks, couplings, maximise)
    if not attained:
        assert (found.status, found.bound, found.tables) == (Status.INFEASIBLE, None, None)
        return
    best = max(attained) if maximise else min(attained)
    assert (found.bound, found.sharp) == (best, True)
    outer = settled(blocks, couplings, maximise, method="lp")
    assert outer.bound >= best if maximise else outer.bound <= best
    if all(row.lower == row.upper for row in (*couplings, *(row for block in blocks for row in block.rows))):
        assert settled(blocks, couplings, maximise, method="enumerate").bound == best


def test_multipliers_of_many_digits_leave_the_program_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses against such multipliers are too fine for a solver, the costs are not."""
    monkeypatch.setattr(bounds.duality, "HINT_DENOMINATOR", 1 << 80)
    found = settled([DEGENERATE], [Coupling("all", [NINE], 1, 1)], False)
    assert (found.bound, found.sharp) == (Fraction(11, 6), True)


@settings(max_examples=30)
@given(programs(), st.booleans())
def test_merging_what_nothing_tells_apart_changes_nothing(program, maximise) -> None:
    blocks, counted, couplings = program
    small = [merged(block, [matrix]) for block, matrix in zip(blocks, counted, strict=True)]
    first = [np.ix_(*(np.unique(group, return_index=True)[1] for group in groups)) for _, *groups in small]
    fewer = [
        Coupling(row.name, [m[at] for m, at in zip(row.coefficients, first, strict=True)], row.lower, row.upper)
        for row in couplings
    ]
    one, other = settled(blocks, couplings, maximise), settled([block for block, *_ in small], fewer, maximise)
    assert (one.bound, one.attained, one.status) == (other.bound, other.attained, other.status)


def test_equal_groups_are_merged_and_others_are_not() -> None:
    cost = exact([[1, 2], [1, 2], [0, 2]])
    block, clean, perturbed = merged(PairBlock((1, 2, 3), (4, 2), cost))
    assert (block.clean_sizes, block.perturbed_sizes, block.cost.tolist()) == ((3, 3), (4, 2), [[1, 2], [0, 2]])
    assert (clean.tolist(), perturbed.tolist()) == ([0, 0, 1], [0, 1])
    assert merged(PairBlock((1, 2, 3), (4, 2), cost), [np.array([[0, 0], [1, 0], [0, 0]])])[0].clean_sizes == (1, 2, 3)


def test_rows_are_paired_as_the_table_says() -> None:
    table = np.array([[1, 1], [0, 2]])
    clean, perturbed = pair_rows(table, [np.array([5, 6]), np.array([7, 8])], [np.array([1]), np.array([2, 3, 4])])
    assert (clean.tolist(), perturbed.tolist()) == ([5, 6, 7, 8], [1, 2, 3, 4])


def test_no_block_costs_nothing() -> None:
    found = optimise_pairs([], maximise=True)
    assert (found.bound, found.attained, found.tables) == (0, 0, ())


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (PairBlock((1,), (2,), exact([[1]])), r"block \[1, 2\]: holds unequal numbers"),
        (PairBlock((1,), (1,), exact([[1, 2]])), r"cost \[1, 2\]: needs shape \(1, 1\)"),
        (
            PairBlock((1,), (1,), exact([[1]]), (PairRow("swaps", np.zeros((2, 1), dtype=np.int64), 0, 0),)),
            r"swaps \[2, 1\]: needs shape \(1, 1\)",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(block: PairBlock, message: str) -> None:
    with pytest.raises(CountError, match=message):
        optimise_pairs([block], maximise=True)


def test_a_coupling_needs_a_matrix_for_each_block() -> None:
    with pytest.raises(CountError, match=r"all .*: needs the shapes"):
        optimise_pairs([PairBlock((1,), (1,), exact([[1]]))], [Coupling("all", [], 0, 0)], maximise=True)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(BackendError, match="method 'closed-form': not a program"):
        optimise_pairs([], maximise=True, method="closed-form")  # type: ignore[arg-type]
