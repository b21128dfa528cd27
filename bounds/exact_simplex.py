"""The simplex method in integers, on rows s = M z between integer bounds with z free (Dutertre and de Moura, 2006).

All entries have one common denominator, a minor of M, so that every division is exact (Edmonds, Bareiss). Bounds may be
changed at any time, and a run goes on from where the last one ended. Nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["Simplex"]

Reason = list[tuple[int, int, int]]
"""(variable, side, positive factor): bounds that add up to a contradiction; side 0 is the upper one, 1 the lower."""

PATIENCE = 50
"""Pivots by the largest step before Bland's rule, which always ends, takes over."""


class Simplex:
    """Variables 0..d-1 are z, then one a row.

    Attributes:
        upper, lower: integers or None, one a variable; write them freely between calls.

    >>> simplex = Simplex(2, [[2, 2]])
    >>> simplex.lower[:], simplex.upper[:] = [0, 0, 3], [None, None, 3]
    >>> simplex.check(), simplex.value(2)
    (None, Fraction(3, 1))
    """

    def __init__(self, free: int, rows: Sequence[Sequence[int]]) -> None:
        self.free = free
        count = free + len(rows)
        self.upper: list[int | None] = [None] * count
        self.lower: list[int | None] = [None] * count
        self._table = [list(row) for row in rows]
        self._scale = 1
        self._basic = list(range(free, count))
        self._column = list(range(free))
        self._at = [0] * free
        # Where each variable stands: its row, or -1 - its column.
        self._place = [-1 - j for j in range(free)] + list(range(len(rows)))

    def clone(self) -> Simplex:
        """A copy that goes its own way."""
        other = Simplex.__new__(Simplex)
        other.free, other._scale = self.free, self._scale
        other.upper, other.lower = self.upper[:], self.lower[:]
        other._table = [row[:] for row in self._table]
        other._basic, other._place = self._basic[:], self._place[:]
        other._column, other._at = self._column[:], self._at[:]
        return other

    def add(self, row: Sequence[int]) -> int:
        """One more row, by its coefficients on z; its variable, without bounds."""
        fresh = [0] * self.free
        for z, a in enumerate(row):
            if a and (place := self._place[z]) < 0:
                fresh[-1 - place] += a * self._scale
            elif a:
                fresh = [x + a * y for x, y in zip(fresh, self._table[place], strict=True)]
        self._table.append(fresh)
        self._basic.append(len(self._place))
        self._place.append(len(self._table) - 1)
        self.upper.append(None)
        self.lower.append(None)
        return len(self._place) - 1

    def value(self, variable: int) -> Fraction:
        """Its value now."""
        place = self._place[variable]
        if place < 0:
            return Fraction(self._at[-1 - place])
        return Fraction(self._sum(self._table[place]), self._scale)

    def _sum(self, row: list[int]) -> int:
        return sum(map(int.__mul__, row, self._at))

    def check(self) -> Reason | None:
        """Move to a point within all bounds; None, or why there is none."""
        for column, variable in enumerate(self._column):
            upper, lower = self.upper[variable], self.lower[variable]
            if upper is not None and lower is not None and lower > upper:
                return [(variable, 0, 1), (variable, 1, 1)]
            if upper is not None and self._at[column] > upper:
                self._at[column] = upper
            elif lower is not None and self._at[column] < lower:
                self._at[column] = lower
        steps = 0
        while True:
            row, low = self._broken(bland=steps > PATIENCE)
            if row < 0:
                return None
            column = self._repair(row, low, bland=steps > PATIENCE)
            if column < 0:
                return self._reason(row, low)
            variable = self._basic[row]
            self._pivot(row, column)
            target = self.lower[variable] if low else self.upper[variable]
            assert target is not None
            self._at[column] = target
            steps += 1

    def _broken(self, bland: bool) -> tuple[int, bool]:
        """A row out of its bounds, and whether it is below; -1 if there is none."""
        found, best, below = -1, -1, False
        for row, variable in enumerate(self._basic):
            upper, lower = self.upper[variable], self.lower[variable]
            if upper is None and lower is None:
                continue
            value = self._sum(self._table[row])
            if lower is not None and value < lower * self._scale:
                excess, low = lower * self._scale - value, True
            elif upper is not None and value > upper * self._scale:
                excess, low = value - upper * self._scale, False
            else:
                continue
            if found < 0 or (variable < self._basic[found] if bland else excess > best):
                found, best, below = row, excess, low
        return found, below

    def _repair(self, row: int, low: bool, bland: bool) -> int:
        """A column whose variable may move so as to mend the row; -1 if there is none."""
        found = -1
        for column, a in enumerate(self._table[row]):
            if a == 0 or not self._may(column, up=(a > 0) == low):
                continue
            if found < 0 or (
                self._column[column] < self._column[found] if bland else abs(a) < abs(self._table[row][found])
            ):
                found = column
        return found

    def _may(self, column: int, up: bool) -> bool:
        """Whether the column's variable has room that way."""
        bound = (self.upper if up else self.lower)[self._column[column]]
        return bound is None or self._at[column] != bound

    def _reason(self, row: int, low: bool) -> Reason:
        reason = [(self._basic[row], int(low), self._scale)]
        for column, a in enumerate(self._table[row]):
            if a:
                reason.append((self._column[column], int((a > 0) != low), abs(a)))
        return reason

    def _pivot(self, row: int, column: int) -> None:
        """Exchange the variables of a row and a column; the values of columns stay but for the new one's."""
        table, scale = self._table, self._scale
        old = table[row]
        p = old[column]
        sign = 1 if p > 0 else -1
        fresh = [-sign * a for a in old]
        fresh[column] = sign * scale
        size = abs(p)
        for i, other in enumerate(table):
            if i == row:
                continue
            a = other[column]
            if a == 0:
                if size != scale:
                    table[i] = [x * size // scale for x in other]
                continue
            a *= sign
            if scale == 1:
                changed = [x * size - a * y for x, y in zip(other, old, strict=True)]
            else:
                changed = [(x * size - a * y) // scale for x, y in zip(other, old, strict=True)]
            changed[column] = a
            table[i] = changed
        table[row] = fresh
        self._scale = size
        leaving, entering = self._basic[row], self._column[column]
        self._basic[row], self._column[column] = entering, leaving
        self._place[entering], self._place[leaving] = row, -1 - column

    def maximise(self, variable: int) -> Fraction | None:
        """The greatest value of a variable, from a point within all bounds, and move there; None if it is unbounded.

        The variable has to be a row's (not a z) and have no upper side of its own.
        """
        steps = 0
        while True:
            place = self._place[variable]
            if place < 0:
                moved = self._raise(-1 - place, up=True, bland=False)
                if moved is None:
                    return None
                if not moved:
                    return self.value(variable)
                continue
            entering = self._improving(self._table[place], bland=steps > PATIENCE)
            if entering is None:
                return self.value(variable)
            column, up = entering
            if self._raise(column, up, bland=steps > PATIENCE, skip=variable) is None:
                return None
            steps += 1

    def _improving(self, row: list[int], bland: bool) -> tuple[int, bool] | None:
        found, best = None, 0
        for column, a in enumerate(row):
            if a == 0 or not self._may(column, up=a > 0):
                continue
            if bland:
                if found is None or self._column[column] < self._column[found[0]]:
                    found = column, a > 0
            elif abs(a) > best:
                found, best = (column, a > 0), abs(a)
        return found

    def _raise(self, column: int, up: bool, bland: bool, skip: int = -1) -> bool | None:
        """Move a column's variable as far as the bounds let it, and exchange it there; None if nothing stops it."""
        way = 1 if up else -1
        variable = self._column[column]
        own = (self.upper if up else self.lower)[variable]
        # A step is (room above, room below) of a fraction: room / |a| in units of the column's variable.
        room, size, stop = (abs(own - self._at[column]), 1, -1) if own is not None else (-1, 1, -1)
        for row, basic in enumerate(self._basic):
            a = self._table[row][column] * way
            if a == 0 or basic == skip:
                continue
            side = (self.upper if a > 0 else self.lower)[basic]
            if side is None:
                continue
            left = abs(side * self._scale - self._sum(self._table[row]))
            a = abs(a)
            if (
                room < 0
                or left * size < room * a
                or (left * size == room * a and stop >= 0 and bland and basic < self._basic[stop])
            ):
                room, size, stop = left, a, row
        if room < 0:
            return None
        if stop < 0:
            assert own is not None
            self._at[column] = own
            return room > 0
        basic = self._basic[stop]
        rising = self._table[stop][column] * way > 0
        self._pivot(stop, column)
        side = (self.upper if rising else self.lower)[basic]
        assert side is not None
        self._at[column] = side
        return True
