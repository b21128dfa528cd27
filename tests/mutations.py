"""Closed forms altered in one place, by machine.

Each sum becomes a difference (and the reverse), each maximum a minimum, each constant is moved by one, each sign
dropped, and each maximum or minimum loses one of its arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType
from typing import Any

from bounds import closed_forms


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
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


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


def altered_source(name: str, number: int) -> tuple[str, str]:
    """The text of `closed_forms` with one alteration, and what was altered."""
    alter = Alter(number)
    function = body(functions()[name])
    function.body = [alter.visit(statement) for statement in function.body]
    with open(closed_forms.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    tree.body = [function if isinstance(n, ast.FunctionDef) and n.name == name else n for n in tree.body]
    return ast.unparse(ast.fix_missing_locations(tree)), alter.what


def altered(name: str, number: int) -> tuple[ModuleType, str]:
    """`closed_forms` with one alteration, and what was altered."""
    text, what = altered_source(name, number)
    module = ModuleType("altered")
    exec(compile(text, "altered", "exec"), module.__dict__)
    return module, what


def shifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same with one more in its last number."""

    def more(found: Any) -> Any:
        return (*found[:-1], more(found[-1])) if isinstance(found, tuple) else found + 1

    return lambda *args, **kwargs: more(function(*args, **kwargs))


def shifted_forms(name: str) -> ModuleType:
    """`closed_forms` with one function that is off by one."""
    forms = ModuleType("off")
    vars(forms).update(vars(closed_forms))
    setattr(forms, name, shifted(getattr(closed_forms, name)))
    return forms
