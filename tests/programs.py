"""Small programs by hand and at random, and every integer point of one, found without a solver."""

from __future__ import annotations

from itertools import product

import numpy as np

from bounds.program import Block, Program, Row


def program(margins, objective, rows=(), *, integral=True, scale=1):
    """A program from (clean sizes, perturbed sizes) a block and (dense coefficients, lower, upper) a row."""
    blocks, first = [], 0
    for clean, perturbed in margins:
        blocks.append(Block(tuple(clean), tuple(perturbed), first))
        first += len(clean) * len(perturbed)
    costs = np.empty(first, dtype=object)
    costs[:] = list(objective)
    made = [
        Row(f"row {r}", np.arange(first, dtype=np.int64), np.array(line, dtype=np.int64), lower, upper)
        for r, (line, lower, upper) in enumerate(rows)
    ]
    return Program(tuple(blocks), tuple(made), costs, scale, integral)


def random_program(rng, *, integral=True):
    """Four to twelve variables in one or two blocks, with up to two side rows, equations or ranges."""
    margins = []
    for shape in [((2, 2), (3, 3), (2, 3), (3, 4))[rng.integers(4)], ((2, 2), (2, 2))[rng.integers(2)]][
        : rng.integers(1, 3)
    ]:
        images = int(rng.integers(max(shape), 6))
        margins.append([(rng.multinomial(images - groups, [1 / groups] * groups) + 1).tolist() for groups in shape])
    variables = sum(len(clean) * len(perturbed) for clean, perturbed in margins)
    rows = []
    for _ in range(rng.integers(0, 3)):
        lower = int(rng.integers(0, 4))
        line = rng.integers(-1 if rng.integers(4) == 0 else 0, 2, variables).tolist()
        rows.append((line, lower, lower + int(rng.integers(0, 2))))
    return program(margins, rng.integers(-9, 10, variables).tolist(), rows, integral=integral)


def points(program):
    """Every feasible integer point, as tuples: all tables with the margins, then the side rows."""

    def tables(clean, perturbed):
        if not clean:
            return [()] if not any(perturbed) else []
        found = []
        for line in product(*(range(min(clean[0], b) + 1) for b in perturbed)):
            if sum(line) == clean[0]:
                rest = tables(clean[1:], [b - x for b, x in zip(perturbed, line, strict=True)])
                found += [line + more for more in rest]
        return found

    found = []
    for parts in product(*(tables(list(b.clean_sizes), list(b.perturbed_sizes)) for b in program.blocks)):
        x = sum(parts, ())
        sums = [
            sum(int(g) * x[v] for v, g in zip(row.variables, row.coefficients, strict=True)) for row in program.rows
        ]
        if all(row.lower <= total <= row.upper for row, total in zip(program.rows, sums, strict=True)):
            found.append(x)
    return found


def best(program):
    """The largest objective over the integer points (undivided by the scale), or None."""
    return max((sum(c * n for c, n in zip(program.objective, x, strict=True)) for x in points(program)), default=None)
