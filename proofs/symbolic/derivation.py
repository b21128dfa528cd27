"""Closed forms on symbols, and the steps of a derivation.

A step is decided completely: minima, maxima and floors are split into regions in which the statement is linear; there
it is either an identity or a sum of what is given with multipliers >= 0, and SymPy expands the difference to zero.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from proofs.evidence import Cell, not_checked
from proofs.symbolic.certificates import multipliers

__all__ = ["SYMBOLS", "Derivation", "Expression", "Refuted", "decide", "expression", "integers", "ranges", "text"]

Expression = Any
"""A SymPy expression, or an integer."""


@cache
def _sympy() -> Any:
    return importlib.import_module("sympy")


def integers(names: str) -> tuple[Expression, ...]:
    """Integer symbols."""
    return tuple(_sympy().Symbol(name, integer=True) for name in names.split())


def expression(value: Expression) -> Expression:
    """An expression, also of an integer."""
    return _sympy().sympify(value)


class Symbols:
    """The namespace `xp` of the closed forms: on expressions, integers and object arrays of them."""

    @property
    def maximum(self) -> Any:
        """The larger of two."""
        return np.frompyfunc(_sympy().Max, 2, 1)

    @property
    def minimum(self) -> Any:
        """The smaller of two."""
        return np.frompyfunc(_sympy().Min, 2, 1)


SYMBOLS = Symbols()


class Refuted(Exception):
    """A step that does not hold, with a point where it fails."""


class Derivation:
    """Steps taken one after another; the first that does not hold raises `Refuted`.

    Attributes:
        steps, regions, identities: how many statements were decided, into how many regions they were split, and how
            many differences SymPy expanded to zero.
    """

    def __init__(self) -> None:
        self.steps = self.regions = self.identities = 0

    def equal(self, name: str, first: Expression, second: Expression, given: Sequence[Expression] = ()) -> None:
        """The two agree at the integers where the given expressions are >= 0."""
        self.steps += 1
        for region, difference in self._pieces(_sympy().sympify(first) - second, given):
            if _sympy().expand(difference) == 0:
                self.identities += 1
                continue
            self._consequence(name, difference, region)
            self._consequence(name, -difference, region)

    def follows(self, name: str, claims: Sequence[Expression], given: Sequence[Expression]) -> None:
        """Each claim is >= 0 at the integers where the given expressions are."""
        for claim in claims:
            self.steps += 1
            for region, piece in self._pieces(_sympy().sympify(claim), given):
                self._consequence(name, piece, region)

    def projected(
        self,
        name: str,
        table: Sequence[Expression],
        given: Sequence[Expression],
        target: Expression,
        eliminate: Sequence[Expression],
    ) -> tuple[Expression, Expression]:
        """The least and the greatest value of `target` in an integer table; every integer between is a value.

        The other unknowns are eliminated (Fourier, Motzkin). Each has coefficients of 0, 1 and -1 only when its turn
        comes, so that it can take the value of one of its bounds, an integer: no integer point is lost or added.

        Args:
            table: expressions in the unknowns that are to be >= 0.
            given: expressions in the counts that are >= 0; what the elimination asks of the counts follows from them.
        """
        self.steps += 1
        sympy, left = _sympy(), [_sympy().expand(g) for g in (*table, *given)]
        for symbol in eliminate:
            below, above, rest = _by_sign(left, symbol)
            if any(abs(g.coeff(symbol)) != 1 for g in (*below, *above)):
                raise Refuted(f"{name}: {symbol} has a coefficient other than 1")
            left = _needed([*rest, *(sympy.expand(g + h) for g in below for h in above)])
        below, above, rest = _by_sign(left, target)
        if any(abs(g.coeff(target)) != 1 for g in (*below, *above)):
            raise Refuted(f"{name}: {target} has a coefficient other than 1")
        for condition in (*rest, *(sympy.expand(g + h) for g in below for h in above)):
            self._consequence(f"{name}: the counts must allow a table", condition, given)
        return sympy.Max(*(target - g for g in below)), sympy.Min(*(target + g for g in above))

    def _pieces(self, claim: Expression, given: Sequence[Expression]) -> Iterator[tuple[list[Expression], Expression]]:
        """The regions in which claim and given are linear, as expressions >= 0, with what the claim is there."""
        linear = [g for g in given if not _kinks([g])]
        found = 0
        for region, (piece, *others) in self._split((claim, *(g for g in given if _kinks([g]))), linear):
            region = [*region, *others]
            if _infeasible(region) is None:
                found += 1
                yield region, piece
        if not found:
            raise Refuted("no counts meet what is given")
        self.regions += found

    def _split(
        self, expressions: Sequence[Expression], region: list[Expression]
    ) -> Iterator[tuple[list[Expression], Sequence[Expression]]]:
        """The expressions by regions without minima, maxima and floors; empty regions are left out."""
        sympy = _sympy()
        innermost = [node for node in _kinks(expressions) if not _kinks(node.args)]
        if not innermost:
            yield region, expressions
            return
        node = min(innermost, key=str)
        choices = []
        if isinstance(node, sympy.floor):
            quotient = sympy.Symbol(f"[{node.args[0]}]", integer=True)
            numerator, divisor = sympy.fraction(sympy.together(node.args[0]))
            left_over = numerator - divisor * quotient
            choices.append((quotient, [left_over, divisor - 1 - left_over]))
        else:
            sign = 1 if isinstance(node, sympy.Max) else -1
            for chosen in node.args:
                choices.append((chosen, [sign * (chosen - other) for other in node.args if other is not chosen]))
        for value, where in choices:
            inside = [*region, *where]
            if _infeasible(inside) is None:
                yield from self._split([e.xreplace({node: value}) for e in expressions], inside)

    def _consequence(self, name: str, claim: Expression, given: Sequence[Expression]) -> None:
        """claim >= 0 at the integers where each given expression is."""
        sympy = _sympy()
        denied = -claim - 1
        found = _infeasible([*given, denied])
        if found is None:
            raise Refuted(f"{name}: {_solution([*given, denied])}")
        if sympy.expand(sum(y * g for y, g in zip(found, [*given, denied], strict=True)) + 1) != 0:
            raise ArithmeticError(f"{name}: the multipliers do not prove it")
        self.identities += 1


def _kinks(expressions: Sequence[Expression]) -> set[Expression]:
    """The minima, maxima and floors in the expressions."""
    sympy = _sympy()
    return {node for e in expressions for node in sympy.sympify(e).atoms(sympy.Max, sympy.Min, sympy.floor)}


def _needed(inequalities: Sequence[Expression]) -> list[Expression]:
    """The inequalities without those that follow from the others, at integers."""
    kept = list(dict.fromkeys(g for g in inequalities if not g.is_nonnegative))
    for g in list(kept):
        others = [h for h in kept if h is not g]
        if _infeasible([*others, -g - 1]) is not None:
            kept = others
    return kept


def _by_sign(
    inequalities: Sequence[Expression], symbol: Expression
) -> tuple[list[Expression], list[Expression], list[Expression]]:
    """Those that bound the symbol from below, from above, and not at all."""
    below = [g for g in inequalities if g.coeff(symbol) > 0]
    above = [g for g in inequalities if g.coeff(symbol) < 0]
    return below, above, [g for g in inequalities if g.coeff(symbol) == 0]


@lru_cache(maxsize=4096)
def _coefficients(inequality: Expression) -> dict[Expression, int]:
    """The linear expression, of integer coefficients, by symbols; the constant is at 1."""
    parts = _sympy().expand(inequality).as_coefficients_dict()
    if not all(value.is_Integer and (symbol.is_Symbol or symbol == 1) for symbol, value in parts.items()):
        raise Refuted(f"{inequality} is not linear with integer coefficients")
    return {symbol: int(value) for symbol, value in parts.items()}


def _rows(inequalities: Sequence[Expression]) -> tuple[list[Expression], list[list[int]]]:
    parts = [_coefficients(g) for g in inequalities]
    one = _sympy().S.One
    symbols = sorted({symbol for part in parts for symbol in part} - {one}, key=str)
    return symbols, [[part.get(symbol, 0) for symbol in (one, *symbols)] for part in parts]


def _infeasible(inequalities: Sequence[Expression]) -> list[Expression] | None:
    """Multipliers whose sum of the expressions is -1, or None where all can be >= 0 together."""
    if not inequalities:
        return None
    found, _ = multipliers(_rows(inequalities)[1])
    return None if found is None else [_sympy().Rational(y.numerator, y.denominator) for y in found]


def _solution(inequalities: Sequence[Expression]) -> str:
    symbols, rows = _rows(inequalities)
    return ", ".join(f"{symbol} = {value}" for symbol, value in zip(symbols, multipliers(rows)[1], strict=True))


def decide(derive: Callable[[ModuleType, Derivation], None], forms: ModuleType, reach: str) -> Cell:
    """The cell of a claim whose derivation is `derive`.

    Args:
        derive: takes its steps.
        forms: the closed forms.
        reach: what was derived, and what was not.
    """
    if find_spec("sympy") is None:
        return not_checked("symbolic", "SymPy is not installed: pip install sympy")
    start, derivation, failed = time.perf_counter(), Derivation(), None
    try:
        derive(forms, derivation)
    except Refuted as error:
        failed = str(error)
    counts = {"identities": derivation.identities, "steps": derivation.steps, "regions": derivation.regions}
    seconds, tool = time.perf_counter() - start, f"SymPy {version('sympy')}"
    if failed is not None:
        return Cell("symbolic", "fails", "a step does not hold", counts, tool, seconds, failed)
    return Cell("symbolic", "holds", reach, counts, tool, seconds)


def text(expression: Expression) -> str:
    """LaTeX of an expression.

    >>> print(text(SYMBOLS.maximum(0, integers("k")[0])))
    \\max\\left(0, k\\right)
    """
    return str(_sympy().latex(expression))


def ranges(*named: tuple[str, tuple[Expression, Expression]]) -> str:
    """LaTeX of ranges, one a line.

    >>> print(ranges(("k", (0, 2))))
    0 \\le k \\le 2
    """
    return " \\\\\n".join(rf"{text(low)} \le {name} \le {text(high)}" for name, (low, high) in named)
