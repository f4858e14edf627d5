"""The parts of an expression that read one field each, if it consists only of such.

Then its truth is a matter of single fields, and what holds of all values can be found out. An
expression that compares two fields, calculates or calls has no parts here (`parts` gives None).
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from statecli.model.expression import has_key


class Part(NamedTuple):
    """A comparison of one field with constants, or (`constants` empty) the bare name of one.

    `constants` are what it is compared with, each with its node; `ordered`: by `<`, `>` or alike.
    """

    key: str
    node: ast.expr
    constants: tuple[tuple[object, ast.expr], ...] = ()
    ordered: bool = False


def parts(tree: ast.expr) -> dict[int, Part] | None:
    """The parts of a parsed expression by the `id` of their nodes, in reading order; None where
    something in it is not about one field and constants."""
    found: dict[int, Part] = {}
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.BoolOp):
            todo.extend(reversed(node.values))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            todo.append(node.operand)
        elif isinstance(node, ast.Name):
            found[id(node)] = Part(node.id, node)
        elif isinstance(node, ast.Compare):
            part = _comparison(node)
            if part is None:
                return None
            found[id(node)] = part
        elif has_asked(node) is None and not isinstance(node, ast.Constant):
            return None
    return found


def has_asked(node: ast.expr) -> str | None:
    """The field that `has(...)` asks for, if the node is that."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "has":
        return has_key(node)
    return None


_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_MEMBER = (ast.In, ast.NotIn)


def _comparison(node: ast.Compare) -> Part | None:
    """The part that a comparison is: one name among constants, compared in a way that the sample
    values of `classes` can tell apart."""
    sides = (node.left, *node.comparators)
    keys = [side.id for side in sides if isinstance(side, ast.Name)]
    if len(keys) != 1:
        return None
    if any(isinstance(op, _MEMBER) for op in node.ops):
        listed = node.comparators[0]
        if len(node.ops) > 1 or not isinstance(listed, ast.Tuple | ast.List | ast.Set):
            return None
        sides = tuple(listed.elts)
    constants: list[tuple[object, ast.expr]] = []
    for side in sides:
        if not isinstance(side, ast.Name):
            value = _constant(side)
            if value is None and not isinstance(side, ast.Constant):
                return None
            constants.append((value, side))
        elif side.id != keys[0]:
            return None
    ordered = any(isinstance(op, _ORDER) for op in node.ops)
    numbers = all(isinstance(value, int | float) for value, _ in constants)
    if ordered and not numbers:
        return None
    if any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
        if any(type(value) in (int, float) for value, _ in constants):
            return None
    return Part(keys[0], node, tuple(constants), ordered)


def _constant(node: ast.expr) -> object:
    """The constant that a node is, with its sign; None also where it is none."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        if type(number) in (int, float) and isinstance(number, int | float):
            if isinstance(node.op, ast.USub):
                return -number
            if isinstance(node.op, ast.UAdd):
                return number
    return None
