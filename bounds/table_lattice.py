"""The whole points of a program's equations, as x = x0 + Z z with z any whole numbers; and every row in terms of z.

Equations are taken out one by one over the integers (with divisions as in Euclid's algorithm where no coefficient is 1),
so that what parity forbids is seen before any search. Rows are divided by what their coefficients have in common and
their sides rounded; a row whose sides meet becomes an equation. Each bound that results remembers why it holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from bounds.table_program import Row, TableProgram, Vector
from bounds.table_proofs import Leaf, Round

__all__ = ["Bound", "Conflict", "Form", "Lattice"]

Exactly = dict[int, Fraction]

Form = tuple[tuple[int, int], ...]
"""Coprime coefficients by the index of z, ascending, the first one positive."""


class Conflict(Exception):
    """No whole point is left; carries the leaf that shows it."""

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf
        super().__init__("no whole point")


@dataclass(frozen=True, slots=True)
class Bound:
    """form x <= value, and why.

    Attributes:
        form: by the index of x.
        value: an integer once it is in terms of z.
        source: multipliers of rows whose combination gives it, but for a multiple of x >= 0.
    """

    form: Mapping[int, Fraction | int]
    value: Fraction | int
    source: Mapping[int, Fraction]


def add(total: dict[int, Fraction], part: Mapping[int, Fraction | int], times: Fraction | int = 1) -> None:
    """total += times * part; what becomes 0 is dropped."""
    for key, number in part.items():
        value = total.get(key, 0) + times * number
        if value:
            total[key] = Fraction(value)
        else:
            total.pop(key, None)


@dataclass(slots=True)
class _Equation:
    """A known equation, reduced by those before it.

    Attributes:
        pivot: an x that occurs in `rest` and in no later equation's `rest`.
        rest: the equation's coefficients less `parts` of earlier ones.
        up, down: the equation as two bounds.
    """

    pivot: int
    rest: Exactly
    parts: list[tuple[int, Fraction]]
    up: Bound
    down: Bound


@dataclass
class Lattice:
    """See the module docstring.

    Attributes:
        program: what is asked; its rows are numbered as there.
        rounds: the roundings made, in order; labels as in `bounds.table_proofs.numbered`.
        offset, columns: x_i = offset[i] + sum of columns[i][j] z_j.
        forms: z_j = sum of forms[j][i] x_i, on every point of the equations.
        sides: form in z -> (upper, lower) bounds, both as bounds from above: lower is that of the negated form.
    """

    program: TableProgram
    rounds: list[Round] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    columns: list[Vector] = field(default_factory=list)
    forms: dict[int, Vector] = field(default_factory=dict)
    sides: dict[Form, list[Bound | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = len(self.program.variables)
        self.offset = [0] * size
        self.columns = [{i: 1} for i in range(size)]
        self.forms = {i: {i: 1} for i in range(size)}
        self._where: dict[int, set[int]] = {i: {i} for i in range(size)}
        self._equations: list[_Equation] = []
        self._next = size

    # --- bounds in terms of z ---

    def in_z(self, form: Mapping[int, Fraction | int]) -> tuple[Exactly, Fraction | int]:
        """(coefficients by z, constant) of a form in x."""
        found: dict[int, Fraction | int] = {}
        constant: Fraction | int = 0
        for i, a in form.items():
            constant += a * self.offset[i]
            for j, c in self.columns[i].items():
                found[j] = found.get(j, 0) + a * c
        return {j: c for j, c in found.items() if c}, constant  # type: ignore[misc]

    def level(self, bound: Bound, side: int) -> int:
        """The side of a reduced bound as a number for its form in z; side 1 is a lower one."""
        value = self._value(bound)
        return int(-value if side else value)

    def primitive(self, form: Mapping[int, int]) -> tuple[Form, Vector]:
        """A form in x as coprime coefficients in z, and these in x: its multiple and constant are left out."""
        found, _ = self.in_z(form)
        common = math.gcd(*(int(c) for c in found.values()))
        items = sorted((j, int(c) // common) for j, c in found.items())
        target: Exactly = {}
        for j, c in items:
            add(target, self.forms[j], c if items[0][1] > 0 else -c)
        return tuple((j, c if items[0][1] > 0 else -c) for j, c in items), {i: int(a) for i, a in target.items()}

    def divided(self, bound: Bound) -> tuple[Form, int, Bound] | None:
        """As `reduced` of a bound whose value is left open: always a round where coefficients have a common divisor."""
        found, _ = self.in_z(bound.form)
        if not found:
            return None
        common = math.gcd(*(int(c) for c in found.values()))
        items = sorted((j, int(c) // common) for j, c in found.items())
        sign = 1 if items[0][1] > 0 else -1
        form = tuple((j, sign * c) for j, c in items)
        return form, sign, bound if common == 1 else self._rounded(bound, Fraction(common), items, 0)

    def reduced(self, bound: Bound) -> tuple[Form, int, Bound] | None:
        """The bound in terms of z, divided and rounded: (form, its sign, the bound); None where it always holds.

        Raises:
            Conflict: if it never holds.
        """
        found, constant = self.in_z(bound.form)
        left = bound.value - constant
        if not found:
            if left < 0:
                raise Conflict(self.leaf([(bound, Fraction(1))]))
            return None
        scale = math.lcm(*(Fraction(c).denominator for c in found.values()))
        common = Fraction(math.gcd(*(int(c * scale) for c in found.values())), scale)
        items = sorted((j, int(c / common)) for j, c in found.items())
        sign = 1 if items[0][1] > 0 else -1
        form = tuple((j, sign * c) for j, c in items)
        exact = Fraction(left) / common
        value = math.floor(exact)
        if value == exact:
            part = Fraction(1) / common
            kept = Bound(
                {i: a * part for i, a in bound.form.items()},
                bound.value * part,
                {r: y * part for r, y in bound.source.items()},
            )
            return form, sign, kept
        return form, sign, self._rounded(bound, common, items, value)

    def _rounded(self, bound: Bound, common: Fraction, items: Iterable[tuple[int, int]], value: int) -> Bound:
        target: Exactly = {}
        for j, c in items:
            add(target, self.forms[j], c)
        multipliers: Exactly = {}
        add(multipliers, bound.source, 1 / common)
        rest = dict(target)
        add(rest, bound.form, -1 / common)
        add(multipliers, self._fill(rest))
        form = {i: int(a) for i, a in target.items()}
        self.rounds.append(Round(multipliers, form))
        return Bound(form, value, {-len(self.rounds): Fraction(1)})

    def leaf(self, parts: Iterable[tuple[Bound, Fraction | int]]) -> Leaf:
        """The leaf whose multipliers add up bounds, in z their forms cancel, times positive factors."""
        total: Exactly = {}
        rest: Exactly = {}
        for bound, times in parts:
            add(total, bound.source, times)
            add(rest, bound.form, -times)
        add(total, self._fill(rest))
        return Leaf((), total)

    # --- equations ---

    def _fill(self, rest: Exactly) -> Exactly:
        """Multipliers whose combination of the equations has exactly these coefficients."""
        rest = dict(rest)
        used: dict[int, Fraction] = {}
        for number, equation in enumerate(self._equations):
            if not rest:
                break
            if equation.pivot in rest:
                used[number] = rest[equation.pivot] / equation.rest[equation.pivot]
                add(rest, equation.rest, -used[number])
        assert not rest, "the rest is no combination of the equations"
        total: Exactly = {}
        for number in range(len(self._equations) - 1, -1, -1):
            times = used.get(number)
            if times:
                equation = self._equations[number]
                for earlier, part in equation.parts:
                    used[earlier] = used.get(earlier, Fraction(0)) - times * part
                add(total, (equation.up if times > 0 else equation.down).source, abs(times))
        return total

    def _equate(self, up: Bound, down: Bound) -> None:
        """Take out one z, the bounds being those of one form and its negation with values that meet.

        Raises:
            Conflict: if no whole point obeys it.
        """
        found, constant = self.in_z(up.form)
        value = up.value - constant
        if not found:
            if value:
                raise Conflict(self.leaf([(up if value < 0 else down, Fraction(1))]))
            return
        common = math.gcd(*(int(c) for c in found.values()))
        if value % common:
            items = [(j, int(c) // common) for j, c in found.items()]
            over = self._rounded(up, Fraction(common), items, math.floor(Fraction(value, common)))
            under = self._rounded(
                down, Fraction(common), [(j, -c) for j, c in items], math.floor(Fraction(-value, common))
            )
            raise Conflict(self.leaf([(over, Fraction(1)), (under, Fraction(1))]))
        left = {j: int(c) // common for j, c in found.items()}
        value = int(value) // common
        while min(map(abs, left.values())) > 1:
            left = self._divide(left)
        # Of the z with coefficient 1 or -1 the one that occurs least, so that little fills up.
        pivot = min((j for j, c in left.items() if abs(c) == 1), key=lambda j: (len(self._where[j]), j))
        sign = left.pop(pivot)
        self._substitute(pivot, {j: -sign * c for j, c in left.items()}, sign * value)
        del self.forms[pivot]
        self._remember(up, down)

    def _divide(self, left: Vector) -> Vector:
        """One step of Euclid's algorithm: z_p = t - sum of q_j z_j with the quotients q by the smallest coefficient."""
        p = min(left, key=lambda j: (abs(left[j]), j))
        quotients = {j: c // left[p] for j, c in left.items() if j != p}
        fresh = self._next
        self._next += 1
        form: Exactly = {}
        for j, q in (*quotients.items(), (p, 1)):
            add(form, self.forms[j], q)
        self.forms[fresh] = {i: int(a) for i, a in form.items()}
        self._where[fresh] = set()
        self._substitute(p, {fresh: 1, **{j: -q for j, q in quotients.items() if q}}, 0)
        del self.forms[p]
        rest = {j: left[j] - q * left[p] for j, q in quotients.items()}
        return {fresh: left[p], **{j: c for j, c in rest.items() if c}}

    def _substitute(self, pivot: int, by: Vector, constant: int) -> None:
        """Put z_pivot = constant + by z into every x."""
        for i in self._where.pop(pivot):
            column = self.columns[i]
            times = column.pop(pivot)
            self.offset[i] += times * constant
            for j, c in by.items():
                value = column.get(j, 0) + times * c
                if value:
                    column[j] = value
                    self._where[j].add(i)
                else:
                    column.pop(j, None)
                    self._where[j].discard(i)

    def _remember(self, up: Bound, down: Bound) -> None:
        rest = {i: Fraction(a) for i, a in up.form.items()}
        parts = []
        for number, equation in enumerate(self._equations):
            if equation.pivot in rest:
                times = rest[equation.pivot] / equation.rest[equation.pivot]
                add(rest, equation.rest, -times)
                parts.append((number, times))
        pivot = min(rest)
        self._equations.append(_Equation(pivot, rest, parts, up, down))

    def reduce(self) -> None:
        """Take out all equations, those that rounding makes too, and fill `sides`.

        Raises:
            Conflict: if no whole point is left.
        """
        waiting: list[Bound] = []
        for index, (row, (vector, factor)) in enumerate(
            zip(self.program.rows, self.program.whole_rows, strict=True)
        ):
            up, down = row_bounds(index, row, vector, factor)
            if up is not None and down is not None and up.value == -down.value and Fraction(up.value).denominator == 1:
                self._equate(up, down)
            else:
                waiting += [bound for bound in (up, down) if bound is not None]
        waiting += [Bound({i: -1}, 0, {}) for i in range(len(self.program.variables))]
        while True:
            self.sides = {}
            for bound in waiting:
                self.tighten(bound)
            meeting = [
                (up, down)
                for up, down in self.sides.values()
                if up is not None and down is not None and self._gap(up, down) == 0
            ]
            if not meeting:
                return
            waiting = [bound for sides in self.sides.values() for bound in sides if bound is not None]
            for up, down in meeting:
                self._equate(*self._matched(up, down))

    def _gap(self, up: Bound, down: Bound) -> Fraction | int:
        """Upper side less lower side, in terms of z."""
        return up.value - self.in_z(up.form)[1] + down.value - self.in_z(down.form)[1]

    def _matched(self, up: Bound, down: Bound) -> tuple[Bound, Bound]:
        """The bounds as two of one form in x: forms that agree in z may differ by equations."""
        rest: Exactly = {}
        add(rest, up.form, -1)
        add(rest, down.form, -1)
        # -up.form = down.form + rest, and rest is a combination of the equations.
        source: Exactly = dict(down.source)
        add(source, self._fill(rest))
        return up, Bound({i: -a for i, a in up.form.items()}, -up.value, source)

    def tighten(self, bound: Bound) -> None:
        """Take a bound into `sides`, if it is tighter than what stands there.

        Raises:
            Conflict: if it leaves nothing.
        """
        found = self.reduced(bound)
        if found is None:
            return
        form, sign, bound = found
        sides = self.sides.setdefault(form, [None, None])
        side = 0 if sign > 0 else 1
        old = sides[side]
        if old is None or self._value(bound) < self._value(old):
            sides[side] = bound
            up, down = sides
            if up is not None and down is not None and self._gap(up, down) < 0:
                raise Conflict(self.leaf([(up, Fraction(1)), (down, Fraction(1))]))

    def _value(self, bound: Bound) -> Fraction | int:
        return bound.value - self.in_z(bound.form)[1]

    def point(self, z: Mapping[int, int]) -> tuple[int, ...]:
        """x at whole numbers z."""
        return tuple(
            offset + sum(c * z[j] for j, c in column.items())
            for offset, column in zip(self.offset, self.columns, strict=True)
        )


def row_bounds(index: int, row: Row, vector: Vector, factor: Fraction) -> tuple[Bound | None, Bound | None]:
    """A row as two bounds from above, in coprime integers."""
    up = None if row.upper is None else Bound(vector, row.upper * factor, {index: factor})
    down = (
        None
        if row.lower is None
        else Bound({i: -a for i, a in vector.items()}, -row.lower * factor, {index: -factor})
    )
    return up, down
