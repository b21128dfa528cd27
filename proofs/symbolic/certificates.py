"""Linear consequences by multipliers, in exact fractions: no trust is needed, since whoever gets them can check."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["multipliers"]

Row = Sequence[Fraction]


def multipliers(inequalities: Sequence[Row]) -> tuple[list[Fraction] | None, list[Fraction]]:
    """Why the inequalities a.x + b >= 0 have no rational solution x, or a solution.

    Args:
        inequalities: rows (b, a_1, ..., a_n).

    Returns:
        (y, []) with y >= 0 whose sum of y_i (b_i, a_i) is (-1, 0, ..., 0), or (None, x) with a solution x.

    The first phase of the simplex method, by Bland's rule, on the rows of sum y_i a_i = 0, sum y_i b_i = -1.

    >>> multipliers([[Fraction(-1), Fraction(1)], [Fraction(0), Fraction(-1)]])
    ([Fraction(1, 1), Fraction(1, 1)], [])
    >>> multipliers([[Fraction(-1), Fraction(1)]])
    (None, [Fraction(1, 1)])
    """
    size, count = len(inequalities[0]), len(inequalities)
    # Rows of the tableau: y columns, one artificial column a row, right-hand side. The first equation is negated.
    tableau: list[list[Fraction]] = []
    for number in range(size):
        sign = -1 if number == 0 else 1
        units = [Fraction(int(number == other)) for other in range(size)]
        tableau.append([sign * entry[number] for entry in inequalities] + units + [Fraction(int(number == 0))])
    cost = [-sum(column) for column in zip(*tableau, strict=True)]
    cost[count : count + size] = [Fraction(0)] * size
    basis = list(range(count, count + size))
    while (entering := next((j for j in range(count) if cost[j] < 0), None)) is not None:
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(tableau) if row[entering] > 0]
        leaving = min(ratios)[2]
        pivot = tableau[leaving][entering]
        tableau[leaving] = [value / pivot for value in tableau[leaving]]
        for i, row in enumerate(tableau):
            if i != leaving and row[entering]:
                factor = row[entering]
                tableau[i] = [x - factor * y for x, y in zip(row, tableau[leaving], strict=True)]
        factor = cost[entering]
        cost = [x - factor * y for x, y in zip(cost, tableau[leaving], strict=True)]
        basis[leaving] = entering
    if cost[-1] == 0:
        found = [Fraction(0)] * count
        for row, column in zip(tableau, basis, strict=True):
            if column < count:
                found[column] = row[-1]
        return found, []
    duals = [1 - value for value in cost[count : count + size]]
    return None, [-value / duals[0] for value in duals[1:]]
