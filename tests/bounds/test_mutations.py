"""Every closed form, altered in one place, is caught by comparison with all correspondences.

The alterations are made by machine: each sum becomes a difference (and the reverse), each maximum a minimum, each
constant is moved by one, each sign dropped, and each maximum or minimum loses one of its arguments.
"""

from __future__ import annotations

import ast
import random
from functools import cache
from types import ModuleType

import numpy as np
import oracles
import pytest
from strategies import evaluation

from bounds import by_closed_form, closed_forms, curves, knowledge, question, witness
from bounds.counts import ClassCounts
from bounds.errors import PairboundsError
from bounds.quantities import QUANTITIES
from bounds.solve import bound

USERS = (by_closed_form, curves, knowledge, question, witness)
LEVELS = ("marginals", "total-correct-correct", "correct-correct")

UNREACHED = {
    "feasible_correct_correct": "checks its arguments and wraps correct_correct_range",
}
"""Functions whose alterations are left out, each with its reason."""


class Alter(ast.NodeTransformer):
    """Applies alteration number `target`, counting in the order of the walk; `target` -1 only counts."""

    def __init__(self, target: int) -> None:
        self.target, self.count, self.what = target, 0, ""

    def turn(self, node: ast.expr, new: ast.expr) -> ast.expr:
        self.count += 1
        if self.count - 1 != self.target:
            return node
        self.what = f"{ast.unparse(node)}  ->  {ast.unparse(new)}"
        return ast.copy_location(new, node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        swap = {ast.Add: ast.Sub, ast.Sub: ast.Add}.get(type(node.op))
        return node if swap is None else self.turn(node, ast.BinOp(node.left, swap(), node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return self.turn(node, node.operand)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self.turn(node, ast.Constant(node.value + 1)) if type(node.value) is int else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("maximum", "minimum"):
            return node
        other = ast.Attribute(node.func.value, "minimum" if node.func.attr == "maximum" else "maximum", ast.Load())
        for new in (ast.Call(other, node.args, []), *node.args):
            turned = self.turn(node, new)
            if turned is not node:
                return turned
        return node


def functions() -> dict[str, ast.FunctionDef]:
    with open(closed_forms.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name not in UNREACHED}


def body(function: ast.FunctionDef) -> ast.FunctionDef:
    """A copy without the docstring, whose numbers are no formula."""
    copy = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(copy, ast.FunctionDef)
    copy.body = copy.body[1:] if ast.get_docstring(copy) else copy.body
    return copy


def alterations() -> list[tuple[str, int]]:
    found = []
    for name, function in functions().items():
        counter = Alter(-1)
        for statement in body(function).body:
            counter.visit(statement)
        found += [(name, number) for number in range(counter.count)]
    return found


def altered(name: str, number: int) -> tuple[ModuleType, str]:
    """`closed_forms` with one alteration, and what was altered."""
    alter = Alter(number)
    function = body(functions()[name])
    function.body = [alter.visit(statement) for statement in function.body]
    with open(closed_forms.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    tree.body = [function if isinstance(n, ast.FunctionDef) and n.name == name else n for n in tree.body]
    module = ModuleType("altered")
    exec(compile(ast.fix_missing_locations(tree), "altered", "exec"), module.__dict__)
    return module, alter.what


@cache
def samples():
    """Random small evaluations, mixed so that every bound binds somewhere."""
    draw = random.Random(7)
    found = []
    for _ in range(120):
        classes, labels, right = draw.choice((1, 1, 2)), draw.choice((1, 2, 3)), draw.choice((0.2, 0.5, 0.8))

        def side(n, right=right, labels=labels):
            return [
                (0 if draw.random() < right else draw.randint(1, labels), draw.random() < 0.5, draw.randint(0, 4) / 4)
                for _ in range(n)
            ]

        found.append(evaluation(*((side(n), side(n)) for n in (draw.randint(1, 4 if classes == 2 else 5),) * classes)))
    return found


@cache
def expected():
    """[(evaluation, quantity, denominator, average, level, what enumeration says)]; see `said`."""
    draw = random.Random(3)
    asked = list(BY_HAND)
    for records in samples():
        for name, quantity in QUANTITIES.items():
            offered = [d for d in quantity.denominators if "errors" not in d]
            every = [(denominator, level) for denominator in offered for level in LEVELS]
            for denominator, level in every if "acceptance" in name else [draw.choice(every)]:
                average = "micro" if denominator == "none" else draw.choice(("micro", "macro"))
                asked.append((records, name, denominator, average, level))
        asked.append((records, *KEPT_PERSISTENT))
    return [(*question, truth(*question)) for question in asked]


KEPT_PERSISTENT = ("kept-persistent-accepted-error", "none", "micro", "five-state")

# Ratios over marked rows given k, where a k other than the known one would change the sum over two classes.
BY_HAND = [
    (evaluation(first, second), "lost-acceptance", "retained-correct-accepted", "micro", "correct-correct")
    for first, second in (
        # The first class retains nothing, though its accepted records could; the second loses its only acceptance.
        (
            ([(0, True), (0, True), (1, False)], [(1, False), (1, False), (0, True)]),
            ([(0, True)], [(0, False)]),
        ),
        # The first class retains one pair of two possible ones; the second keeps its only acceptance.
        (
            (
                [(0, True), (0, True), (1, False), (1, False)],
                [(0, False), (1, False), (0, False), (1, False)],
            ),
            ([(0, True)], [(0, True)]),
        ),
    )
] + [
    (evaluation(only), *KEPT_PERSISTENT)
    for only in (
        # Label 3 is accepted on both sides; no other label can be persistent, whatever its rejected records spare.
        ([(0, True), (0, False), (0, False), (3, True)], [(2, False), (0, True), (1, True), (3, True)]),
        # Label 1 must be persistent and is never kept, which leaves fewer persistent pairs to be kept.
        ([(1, False), (1, True), (3, False), (2, True)], [(1, False), (3, False), (2, True), (1, False)]),
    )
]


def truth(records, name, denominator, average, level):
    """What enumeration says, in the order of `said`."""
    counts = ClassCounts(records).cells.sum(axis=(2, 3))
    k, s = counts[:, 0].tolist(), counts[:, 3].tolist()
    values = oracles.values(records, name, denominator, average, level, k, s)
    defined = values - {None}
    ends = (min(defined), max(defined)) if defined else (None, None)
    below = {sum(d for _, d in c) for c in oracles.choices(records, name, denominator, level, k, s)}
    return *ends, *((None, None) if denominator == "none" else (min(below), max(below))), None in values


@cache
def feasible():
    """[(evaluation, attained (k, s))] of single classes."""
    return [
        (records, {(int(k), int(s)) for k, s, _, _ in oracles.outcomes(records, 0, "lost", "none")})
        for records in samples()
        if len(records.classes) == 1
    ]


def said(found):
    """Ends, range of the denominator, and whether it may be zero, as the library has them."""
    below = found.denominator
    return found.lower, found.upper, below.lower, below.upper, found.may_be_undefined


def first_difference() -> str | None:
    """The first case in which the library differs from enumeration; a crash is a difference."""
    try:
        return _first_difference()
    except Exception as error:
        return repr(error)


def _first_difference() -> str | None:
    for records, name, denominator, average, level, by_enumeration in expected():
        found = said(bound(records, name, level, denominator=denominator, average=average))
        if found != by_enumeration:
            return f"{average} {name} over {denominator} at {level}: {found}, by enumeration {by_enumeration}"
    for records, pairs in feasible():
        counts = ClassCounts(records)
        for k in range(records.images + 1):
            try:
                seen = {(k, s) for s in knowledge.feasible_persistent(counts, 0, k)}
            except PairboundsError:
                seen = set()
            if seen != {pair for pair in pairs if pair[0] == k}:
                return f"feasible (k, s): {seen}, by enumeration {pairs}"
        for k, s in pairs:
            rows, columns = np.flatnonzero(records.clean.correct)[:k], np.flatnonzero(records.perturbed.correct)[:k]
            witness.complete(records, rows, columns, np.array([s]))
    return None


def test_the_library_as_it_is_agrees_with_enumeration():
    assert len(expected()) > 1000
    assert first_difference() is None


@pytest.mark.parametrize(("name", "number"), alterations())
def test_an_altered_closed_form_is_caught(name, number, monkeypatch):
    module, what = altered(name, number)
    for user in USERS:
        for function in functions():
            if hasattr(user, function):
                monkeypatch.setattr(user, function, getattr(module, function))
    assert first_difference() is not None, f"{name}: {what}"
