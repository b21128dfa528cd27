"""The whole points of a program's equations, as x = x0 + Z z with z any whole numbers; and every row in terms of z.

Equations are taken out one by one over the integers (with divisions as in Euclid's algorithm where no coefficient is
1), so that what parity forbids is seen before any search. Rows are divided by what their coefficients have in common
and their sides rounded; a row whose sides meet becomes an equation. Each bound that results remembers why it holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bounds.table_program import Number, Row, TableProgram, Vector
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
        value: of any kind.
        source: multipliers of rows whose combination gives it, but for a multiple of x >= 0.
        common: what its coefficients in z have in common; 0 before it was put in terms of z.
        level: the side for the coprime form in z, a whole number.
    """

    form: Vector
    value: Number
    source: Mapping[int, Number]
    common: int = 0
    level: int = 0


def add(total: Exactly, part: Mapping[int, Number], times: Number = 1) -> None:
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
        self._gone: set[int] = set()
        self._next = size

    # --- bounds in terms of z ---

    def in_z(self, form: Mapping[int, int]) -> tuple[Vector, int]:
        """(coefficients by z, constant) of a form in x."""
        found: Vector = {}
        constant = 0
        for i, a in form.items():
            constant += a * self.offset[i]
            for j, c in self.columns[i].items():
                found[j] = found.get(j, 0) + a * c
        return {j: c for j, c in found.items() if c}, constant

    def in_x(self, form: Iterable[tuple[int, int]]) -> Vector:
        """Coefficients by x of a form in z."""
        found: Vector = {}
        for j, c in form:
            for i, a in self.forms[j].items():
                found[i] = found.get(i, 0) + c * a
        return {i: a for i, a in found.items() if a}

    def primitive(self, form: Mapping[int, int]) -> Form:
        """A form in x as coprime coefficients in z: its multiple, sign and constant are left out."""
        return _coprime(self.in_z(form)[0])[0]

    def reduced(self, bound: Bound) -> tuple[Form, int, Bound] | None:
        """The bound in terms of z, divided and rounded: (form, its sign, the bound); None where it always holds.

        Raises:
            Conflict: if it never holds.
        """
        found, constant = self.in_z(bound.form)
        left = bound.value - constant
        if not found:
            if left < 0:
                raise Conflict(self.leaf([(bound, 1)]))
            return None
        form, sign, common = _coprime(found)
        level = math.floor(Fraction(left, common) if type(left) is int else left / common)
        if level * common == left:
            return form, sign, replace(bound, common=common, level=level)
        return form, sign, self._rounded(bound, [(j, sign * c) for j, c in form], common, level)

    def divided(self, bound: Bound) -> tuple[Form, int, Bound] | None:
        """As `reduced` of a bound whose value is left open: always a round where coefficients have a common divisor."""
        found, _ = self.in_z(bound.form)
        if not found:
            return None
        form, sign, common = _coprime(found)
        if common > 1:
            bound = self._rounded(bound, [(j, sign * c) for j, c in form], common, 0)
        return form, sign, replace(bound, common=1)

    def _rounded(self, bound: Bound, form: Iterable[tuple[int, int]], common: int, level: int) -> Bound:
        """The bound divided by `common` and rounded: `form` z <= level."""
        target = self.in_x(form)
        multipliers: Exactly = {}
        add(multipliers, bound.source, Fraction(1, common))
        rest: Exactly = {}
        add(rest, target)
        add(rest, bound.form, Fraction(-1, common))
        add(multipliers, self._fill(rest))
        self.rounds.append(Round(multipliers, target))
        return Bound(target, level, {-len(self.rounds): 1}, 1, level)

    def leaf(self, parts: Iterable[tuple[Bound, int]]) -> Leaf:
        """The leaf whose multipliers add up bounds, each divided by what it has in common, times positive factors; in z
        their forms cancel.
        """
        total: Exactly = {}
        rest: Exactly = {}
        for bound, times in parts:
            part = Fraction(times, bound.common or 1)
            add(total, bound.source, part)
            add(rest, bound.form, -part)
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
                raise Conflict(self.leaf([(up if value < 0 else down, 1)]))
            return
        common = math.gcd(*found.values())
        left = {j: c // common for j, c in found.items()}
        if value % common:
            level = math.floor(Fraction(value) / common)
            over = self._rounded(up, left.items(), common, level)
            under = self._rounded(down, [(j, -c) for j, c in left.items()], common, -level - 1)
            raise Conflict(self.leaf([(over, 1), (under, 1)]))
        value = int(value) // common
        while min(map(abs, left.values())) > 1:
            left = self._divide(left)
        # Of the z with coefficient 1 or -1 the one that occurs least, so that little fills up.
        pivot = min((j for j, c in left.items() if abs(c) == 1), key=lambda j: (len(self._where[j]), j))
        sign = left.pop(pivot)
        self._substitute(pivot, {j: -sign * c for j, c in left.items()}, sign * value)
        self._remember(up, down)

    def _divide(self, left: Vector) -> Vector:
        """One step of Euclid's algorithm: z_p = t - sum of q_j z_j with the quotients q by the smallest coefficient."""
        p = min(left, key=lambda j: (abs(left[j]), j))
        quotients = {j: c // left[p] for j, c in left.items() if j != p}
        fresh = self._next
        self._next += 1
        self.forms[fresh] = self.in_x([*quotients.items(), (p, 1)])
        self._where[fresh] = set()
        self._substitute(p, {fresh: 1, **{j: -q for j, q in quotients.items() if q}}, 0)
        rest = {j: left[j] - q * left[p] for j, q in quotients.items()}
        return {fresh: left[p], **{j: c for j, c in rest.items() if c}}

    def _substitute(self, pivot: int, by: Vector, constant: int) -> None:
        """Put z_pivot = constant + by z into every x."""
        del self.forms[pivot]
        self._gone.add(pivot)
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
        for index, row in enumerate(self.program.rows):
            up, down = row_bounds(index, row, *self.program.whole_rows[index])
            if up is not None and down is not None and up.value == -down.value and Fraction(up.value).denominator == 1:
                self._equate(up, down)
            else:
                waiting += [bound for bound in (up, down) if bound is not None]
        waiting += [Bound({i: -1}, 0, {}) for i in range(len(self.program.variables))]
        while waiting:
            self._gone = set()
            meeting: dict[Form, None] = {}
            for bound in waiting:
                if (form := self._tighten(bound)) is not None:
                    meeting[form] = None
            for form in meeting:
                up, down = self.sides[form]
                assert up is not None
                assert down is not None
                self._equate(*self._matched(up, down))
            moved = [form for form in self.sides if any(j in self._gone for j, _ in form)]
            waiting = [bound for form in moved for bound in self.sides.pop(form) if bound is not None]

    def _matched(self, up: Bound, down: Bound) -> tuple[Bound, Bound]:
        """The bounds as two of one form in x: forms that agree in z may differ by equations."""
        # -up.form = part * down.form + rest, and rest is a combination of the equations.
        part = Fraction(up.common, down.common)
        rest: Exactly = {}
        add(rest, up.form, -1)
        add(rest, down.form, -part)
        source: Exactly = {}
        add(source, down.source, part)
        add(source, self._fill(rest))
        return up, Bound({i: -a for i, a in up.form.items()}, -up.value, source)

    def _tighten(self, bound: Bound) -> Form | None:
        """Take a bound into `sides`, if it is tighter than what stands there; the form, if the sides meet now.

        Raises:
            Conflict: if it leaves nothing.
        """
        found = self.reduced(bound)
        if found is None:
            return None
        form, sign, bound = found
        sides = self.sides.setdefault(form, [None, None])
        side = 0 if sign > 0 else 1
        old, other = sides[side], sides[1 - side]
        if old is not None and old.level <= bound.level:
            return None
        sides[side] = bound
        if other is None or other.level + bound.level > 0:
            return None
        if other.level + bound.level < 0:
            raise Conflict(self.leaf([(other, 1), (bound, 1)]))
        return form

    def point(self, z: Mapping[int, int]) -> tuple[int, ...]:
        """x at whole numbers z."""
        return tuple(
            offset + sum(c * z[j] for j, c in column.items())
            for offset, column in zip(self.offset, self.columns, strict=True)
        )


def row_bounds(index: int, row: Row, vector: Vector, factor: Fraction) -> tuple[Bound | None, Bound | None]:
    """A row as two bounds from above, in coprime integers."""
    up, down = None, None
    if row.upper is not None:
        up = Bound(vector, _plain(row.upper * factor), {index: factor})
    if row.lower is not None:
        down = Bound({i: -a for i, a in vector.items()}, _plain(-row.lower * factor), {index: -factor})
    return up, down


def _plain(value: Number) -> Number:
    """An integer as such."""
    return value.numerator if value.denominator == 1 else value


def _coprime(found: Vector) -> tuple[Form, int, int]:
    """(coprime form with a positive first coefficient, the sign that it was multiplied by, what was taken out)."""
    items = sorted(found.items())
    common = math.gcd(*found.values())
    sign = 1 if items and items[0][1] > 0 else -1
    return tuple((j, sign * c // common) for j, c in items), sign, common
