"""Integer terms on which the closed forms run, and the questions made of them, as SMT-LIB 2 text.

A question needs no solver to be asked: its script can be given to any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "TERMS",
    "Question",
    "Term",
    "between",
    "choice",
    "conjunction",
    "equal",
    "integers",
    "least",
    "non_negative",
    "reals",
    "term",
    "total",
    "truths",
]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A term or formula: an operator of SMT-LIB with its arguments; a constant has none.

    >>> x, y = integers("x y")
    >>> print(x + y <= 3)
    (<= (+ x y) 3)
    """

    operator: str
    arguments: tuple[Term, ...] = ()
    sort: str = "Int"

    def __str__(self) -> str:
        return f"({self.operator} {' '.join(map(str, self.arguments))})" if self.arguments else self.operator

    def __bool__(self) -> bool:
        raise TypeError("a term has no truth value: use `TERMS.maximum` and `TERMS.minimum` instead of comparing")

    def _with(self, operator: str, other: object, swapped: bool = False, sort: str | None = None) -> Term:
        if not isinstance(other, int | Term):
            return NotImplemented  # type: ignore[no-any-return]  # passed on by the operators
        pair = (term(other, self.sort), self) if swapped else (self, term(other, self.sort))
        return Term(operator, pair, sort or self.sort)

    def __add__(self, other: object) -> Term:
        return self._with("+", other)

    def __radd__(self, other: object) -> Term:
        return self._with("+", other, swapped=True)

    def __sub__(self, other: object) -> Term:
        return self._with("-", other)

    def __rsub__(self, other: object) -> Term:
        return self._with("-", other, swapped=True)

    def __neg__(self) -> Term:
        return Term("-", (self,), self.sort)

    def __floordiv__(self, divisor: int) -> Term:
        # SMT-LIB's `div` rounds down where the divisor is positive.
        return self._with("div", divisor) if divisor > 0 else NotImplemented

    def __le__(self, other: object) -> Term:
        return self._with("<=", other, sort="Bool")

    def __ge__(self, other: object) -> Term:
        return self._with(">=", other, sort="Bool")


def term(value: int | Term, sort: str = "Int") -> Term:
    """The term itself, or the numeral.

    >>> print(term(-2))
    (- 2)
    """
    if isinstance(value, Term):
        return value
    point = ".0" if sort == "Real" else ""
    return Term(f"{value}{point}", (), sort) if value >= 0 else -Term(f"{-value}{point}", (), sort)


def integers(names: str) -> tuple[Term, ...]:
    """Integer constants."""
    return tuple(Term(name) for name in names.split())


def reals(names: str) -> tuple[Term, ...]:
    """Real constants."""
    return tuple(Term(name, (), "Real") for name in names.split())


def truths(names: str) -> tuple[Term, ...]:
    """Constants that are true or false."""
    return tuple(Term(name, (), "Bool") for name in names.split())


def equal(first: int | Term, second: int | Term) -> Term:
    """The two are equal."""
    sort = next((value.sort for value in (first, second) if isinstance(value, Term)), "Int")
    return Term("=", (term(first, sort), term(second, sort)), "Bool")


def conjunction(formulas: Iterable[Term]) -> Term:
    """All of them.

    >>> print(conjunction([]))
    true
    """
    parts = tuple(formulas)
    return Term("and", parts, "Bool") if parts else Term("true", (), "Bool")


def between(low: int | Term, value: int | Term, high: int | Term) -> list[Term]:
    """low <= value <= high."""
    return [term(low) <= value, term(value) <= high]


def non_negative(terms: Iterable[int | Term]) -> list[Term]:
    """None is below 0."""
    return [term(0) <= value for value in terms]


def total(terms: Iterable[int | Term]) -> Term:
    """Their sum.

    >>> print(total(integers("x y z")))
    (+ (+ x y) z)
    """
    first, *others = terms
    result = term(first)
    for other in others:
        result = result + other
    return result


def choice(condition: Term, then: int | Term, otherwise: int | Term) -> Term:
    """`then` where the condition holds, `otherwise` elsewhere."""
    sort = next((value.sort for value in (then, otherwise) if isinstance(value, Term)), "Int")
    return Term("ite", (condition, term(then, sort), term(otherwise, sort)), sort)


def _choice(relation: str) -> Any:
    def choose(first: int | Term, second: int | Term) -> Term:
        one, other = term(first), term(second)
        return choice(Term(relation, (one, other), "Bool"), one, other)

    return np.frompyfunc(choose, 2, 1)


class Terms:
    """The namespace `xp` of the closed forms: on terms, integers and object arrays of them."""

    maximum = staticmethod(_choice(">="))
    minimum = staticmethod(_choice("<="))


TERMS = Terms()


def least(first: int | Term, *others: int | Term) -> Term:
    """The smallest of the terms."""
    result = term(first)
    for other in others:
        result = TERMS.minimum(result, other)
    return result


_WORDS = frozenset({"+", "-", "div", "<=", ">=", "=", "ite", "and", "or", "not", "=>", "true", "false"})


@dataclass(frozen=True)
class Question:
    """Whether `then` follows from `given`, for all values of the constants.

    Attributes:
        name: what a positive answer says.
        given: formulas.
        then: formulas; all of them are to follow.
    """

    name: str
    given: Sequence[Term]
    then: Sequence[Term]

    def script(self) -> str:
        """SMT-LIB 2 text that asserts what is given and the negation of what is to follow; unsat means that it follows.

        >>> x, y = integers("x y")
        >>> print(Question("example", [x <= y], [x <= TERMS.maximum(x, y)]).script())
        (declare-const x Int)
        (declare-const y Int)
        (define-fun ite_1 () Int (ite (>= x y) x y))
        (assert (<= x y))
        (assert (not (and (<= x ite_1))))
        """
        return _script([*self.given, Term("not", (conjunction(self.then),), "Bool")])

    def premises(self) -> str:
        """SMT-LIB 2 text that asserts what is given alone; unsat would mean that the question is empty."""
        return _script(self.given)


def _script(formulas: Sequence[Term]) -> str:
    """Declarations, one definition for each maximum and minimum, and an assertion for each formula."""
    declared: dict[str, str] = {}
    defined: list[tuple[str, str]] = []
    texts: dict[int, str] = {}

    def text(node: Term) -> str:
        if id(node) not in texts:
            texts[id(node)] = write(node)
        return texts[id(node)]

    def write(node: Term) -> str:
        if not node.arguments:
            if node.operator not in _WORDS and not node.operator[0].isdigit():
                declared[node.operator] = node.sort
            return node.operator
        body = f"({node.operator} {' '.join([text(argument) for argument in node.arguments])})"
        if node.operator != "ite":
            return body
        defined.append((node.sort, body))
        return f"ite_{len(defined)}"

    asserted = [f"(assert {text(formula)})" for formula in formulas]
    declarations = [f"(declare-const {name} {sort})" for name, sort in declared.items()]
    definitions = [f"(define-fun ite_{number} () {sort} {body})" for number, (sort, body) in enumerate(defined, 1)]
    return "\n".join([*declarations, *definitions, *asserted])
