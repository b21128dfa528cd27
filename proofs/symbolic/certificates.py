"""Linear consequences by multipliers, exactly: no trust is needed, since whoever gets the multipliers can check."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["multipliers"]


def multipliers(inequalities: Sequence[Sequence[int]]) -> tuple[list[Fraction] | None, list[Fraction]]:
    """Why the inequalities a.x + b >= 0 have no rational solution x, or a solution.

    Args:
        inequalities: rows (b, a_1, ..., a_n) of integers.

    Returns:
        (y, []) with y >= 0 whose sum of y_i (b_i, a_i) is (-1, 0, ..., 0), or (None, x) with a solution x.

    The first phase of the simplex method, by Bland's rule, on the rows of sum y_i a_i = 0, sum y_i b_i = -1. The
    tableau is kept in integers over one denominator, the last pivot (Edmonds, Bareiss), so its divisions are exact.

    >>> multipliers([[-1, 1], [0, -1]])
    ([Fraction(1, 1), Fraction(1, 1)], [])
    >>> multipliers([[-1, 1]])
    (None, [Fraction(1, 1)])
    """
    size, count = len(inequalities[0]), len(inequalities)
    # Rows of the tableau: y columns, one artificial column a row, right-hand side. The first equation is negated.
    tableau: list[list[int]] = []
    for number in range(size):
        sign = -1 if number == 0 else 1
        units = [int(number == other) for other in range(size)]
        tableau.append([sign * entry[number] for entry in inequalities] + units + [int(number == 0)])
    cost = [-sum(column) for column in zip(*tableau, strict=True)]
    cost[count : count + size] = [0] * size
    basis = list(range(count, count + size))
    denominator = 1
    while (entering := next((j for j in range(count) if cost[j] < 0), None)) is not None:
        ratios = [(Fraction(row[-1], row[entering]), basis[i], i) for i, row in enumerate(tableau) if row[entering] > 0]
        leaving = min(ratios)[2]
        chosen = tableau[leaving]
        tableau = [row if row is chosen else _reduced(row, chosen, entering, denominator) for row in tableau]
        cost = _reduced(cost, chosen, entering, denominator)
        basis[leaving], denominator = entering, chosen[entering]
    if cost[-1] == 0:
        found = [Fraction(0)] * count
        for row, column in zip(tableau, basis, strict=True):
            if column < count:
                found[column] = Fraction(row[-1], denominator)
        return found, []
    duals = [denominator - value for value in cost[count : count + size]]
    return None, [Fraction(-value, duals[0]) for value in duals[1:]]


def _reduced(row: list[int], chosen: list[int], entering: int, denominator: int) -> list[int]:
    """The row with the entering column eliminated by the chosen row."""
    pivot, factor = chosen[entering], row[entering]
    return [(x * pivot - factor * y) // denominator for x, y in zip(row, chosen, strict=True)]
