"""A closed form: the greatest or the least of some linear expressions in the counts, in text, LaTeX and Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proofs.derive.model import Model

__all__ = ["Expression", "Form", "simplest"]


@dataclass(frozen=True, slots=True)
class Expression:
    """(sum of coefficients * symbols) / divisor.

    Attributes:
        coefficients: integers by symbol, none 0; `n` is the number of images.
        divisor: at least 1.
    """

    coefficients: Mapping[str, int]
    divisor: int = 1

    def value(self, counts: Mapping[str, int]) -> Fraction:
        """At some counts; exact."""
        return Fraction(sum(a * counts[name] for name, a in self.coefficients.items()), self.divisor)

    def text(self, up: bool = False) -> str:
        """As code: rounded down, or with `up` up, where there is a divisor.

        >>> Expression({"k": 1, "A0": -1}).text(), Expression({"W": 3, "s": 1}, 2).text(up=True)
        ('k - A0', '-(-(s + 3*W) // 2)')
        """
        total = _sum(self.coefficients, lambda name: name, "*")
        if self.divisor == 1:
            return total
        return f"-(-({total}) // {self.divisor})" if up else f"({total}) // {self.divisor}"

    def latex(self, up: bool = False) -> str:
        r"""In LaTeX.

        >>> Expression({"k": 1, "A0": -1}).latex()
        'k - A_{0}'
        """
        total = _sum(self.coefficients, _symbol, r" ")
        if self.divisor == 1:
            return total
        left, right = (r"\lceil", r"\rceil") if up else (r"\lfloor", r"\rfloor")
        return rf"\left{left} \frac{{{total}}}{{{self.divisor}}} \right{right}"


def _symbol(name: str) -> str:
    return f"{name[0]}_{{{name[1:]}}}" if len(name) > 1 else name


def _sum(coefficients: Mapping[str, int], spell: Callable[[str], str], times: str) -> str:
    parts: list[str] = []
    for name, a in sorted(coefficients.items(), key=lambda item: (item[1] < 0, item[0] == "n", item[0].lower())):
        size = "" if abs(a) == 1 else f"{abs(a)}{times}"
        sign = ("-" if a < 0 else "") if not parts else (" - " if a < 0 else " + ")
        parts.append(f"{sign}{size}{spell(name)}")
    return "".join(parts) or "0"


def simplest(model: Model, multipliers: Sequence[Fraction]) -> Expression:
    """The expression of a dual solution, with as few symbols as the sums of both sides allow.

    Both sides add up to n: clean counts can be exchanged for perturbed ones, and wrong ones for n less the rest.

    Args:
        multipliers: one for each of `model.symbols`.
    """
    sides = [[group.symbol for group in side] for side in (model.clean, model.perturbed)]
    wrong = [[group.symbol for group in side if not group.correct] for side in (model.clean, model.perturbed)]
    start = dict(zip(model.symbols, multipliers, strict=True))
    found: list[dict[str, Fraction]] = []
    for shift in {Fraction(0), *(-start[name] for name in sides[0]), *(start[name] for name in sides[1])}:
        shifted = dict(start)
        for side, sign in ((0, 1), (1, -1)):
            for name in sides[side]:
                shifted[name] += sign * shift
        found.append(shifted)
        with_n = dict(shifted)
        for side in (0, 1):
            common = {with_n[name] for name in wrong[side]}
            if len(common) == 1 and (value := common.pop()):
                for name in sides[side]:
                    with_n[name] -= value
                with_n["n"] = with_n.get("n", Fraction(0)) + value
        found.append(with_n)
    best = min(found, key=_cost)
    divisor = math.lcm(*(value.denominator for value in best.values()))
    return Expression({name: int(value * divisor) for name, value in best.items() if value}, divisor)


def _cost(coefficients: Mapping[str, Fraction]) -> tuple[object, ...]:
    """Fewer counts of wrong records first, then fewer terms, then smaller ones."""
    terms = {name: value for name, value in coefficients.items() if value}
    hidden = sum(name[0] in "WV" for name in terms)
    return hidden, len(terms), sum(map(abs, terms.values())), sorted(terms.items())


@dataclass(frozen=True, slots=True)
class Form:
    """An end of an interval.

    Attributes:
        upper: the least of the expressions, rounded down; else the greatest, rounded up.
        expressions: at least one.
    """

    upper: bool
    expressions: tuple[Expression, ...]

    def value(self, counts: Mapping[str, int]) -> int:
        """At some counts, `n` among them."""
        values = [one.value(counts) for one in self.expressions]
        return math.floor(min(values)) if self.upper else math.ceil(max(values))

    def text(self) -> str:
        """As Python code."""
        parts = [one.text(up=not self.upper) for one in self._ordered()]
        return parts[0] if len(parts) == 1 else f"{'min' if self.upper else 'max'}({', '.join(parts)})"

    def latex(self) -> str:
        """In LaTeX."""
        parts = [one.latex(up=not self.upper) for one in self._ordered()]
        return parts[0] if len(parts) == 1 else rf"\{'min' if self.upper else 'max'}({', '.join(parts)})"

    def _ordered(self) -> list[Expression]:
        return sorted(self.expressions, key=lambda one: (len(one.coefficients), one.divisor, one.text()))
