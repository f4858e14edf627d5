"""The value of an expression: its parsed tree walked over the data, with bounded results."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from statecli.model.expression import has_key
from statecli.model.guard import plain

#: The largest intermediate results, in bits and in items.
MAX_BITS = 4096
MAX_ITEMS = 100_000


def _sum(items: Iterable[float], start: float = 0) -> float:
    """The sum of numbers; Python's own would also join lists, at a cost that grows as a square."""
    if not isinstance(start, int | float):
        raise TypeError("a sum is of numbers")
    return sum(items, start)


_CALLS: dict[str, Callable[..., object]] = {
    "len": len,
    "abs": abs,
    "min": min,
    "max": max,
    "sum": _sum,
    "all": all,
    "any": any,
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
}


def value_of(tree: ast.expr, data: Mapping[str, object]) -> bool:
    """The truth of a parsed expression over set fields. What Python would raise on is false."""
    return outcome(tree, data) is True


def outcome(tree: ast.expr, data: Mapping[str, object]) -> bool | None:
    """The truth of a parsed expression (or of a part of one) over set fields; None where Python
    would raise."""
    try:
        return bool(_value(tree, data))
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, AttributeError):
        return None


def _value(node: ast.expr, data: Mapping[str, object]) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return plain(data[node.id])
    if isinstance(node, ast.BoolOp):
        return _bool_op(node, data)
    if isinstance(node, ast.UnaryOp):
        return _unary(node, data)
    if isinstance(node, ast.Compare):
        return _comparison(node, data)
    if isinstance(node, ast.BinOp):
        return _arithmetic(node.op, _value(node.left, data), _value(node.right, data))
    if isinstance(node, ast.Subscript):
        return _value(node.value, data)[_value(node.slice, data)]  # type: ignore[index]
    if isinstance(node, ast.Call):
        return _call(node, data)
    if isinstance(node, ast.Dict):
        keys = [_value(key, data) for key in node.keys if key is not None]
        return dict(zip(keys, (_value(item, data) for item in node.values), strict=True))
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        items = [_value(item, data) for item in node.elts]
        if isinstance(node, ast.Set):
            return set(items)
        return items if isinstance(node, ast.List) else tuple(items)
    raise TypeError(type(node).__name__)


def _bool_op(node: ast.BoolOp, data: Mapping[str, object]) -> object:
    stop = isinstance(node.op, ast.Or)
    value: object = None
    for part in node.values:
        value = _value(part, data)
        if bool(value) is stop:
            break
    return value


def _unary(node: ast.UnaryOp, data: Mapping[str, object]) -> object:
    value = _value(node.operand, data)
    if isinstance(node.op, ast.Not):
        return not value
    if not isinstance(value, int | float):
        raise TypeError("a sign needs a number")
    return -value if isinstance(node.op, ast.USub) else +value


def _comparison(node: ast.Compare, data: Mapping[str, object]) -> bool:
    left = _value(node.left, data)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, data)
        if not _COMPARE[type(op)](left, right):
            return False
        left = right
    return True


def _is(left: object, right: object) -> bool:
    """Identity where it means something in data: None and booleans; else equality of one type."""
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return type(left) is type(right) and left == right


_COMPARE: dict[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: bool(a < b),  # type: ignore[operator]
    ast.LtE: lambda a, b: bool(a <= b),  # type: ignore[operator]
    ast.Gt: lambda a, b: bool(a > b),  # type: ignore[operator]
    ast.GtE: lambda a, b: bool(a >= b),  # type: ignore[operator]
    ast.In: lambda a, b: a in b,  # type: ignore[operator]
    ast.NotIn: lambda a, b: a not in b,  # type: ignore[operator]
    ast.Is: _is,
    ast.IsNot: lambda a, b: not _is(a, b),
}


def _arithmetic(op: ast.operator, left: object, right: object) -> object:
    """Arithmetic on numbers, and joining of two texts or lists, with bounded results."""
    if (
        isinstance(op, ast.Add)
        and type(left) is type(right)
        and isinstance(left, str | list | tuple)
    ):
        if len(left) + len(right) > MAX_ITEMS:  # type: ignore[arg-type]
            raise ValueError("too long")
        return left + right  # type: ignore[operator]
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        raise TypeError("arithmetic needs numbers")
    if isinstance(op, ast.Pow):
        if isinstance(left, int) and isinstance(right, int):
            if right > 0 and left.bit_length() * right > MAX_BITS:
                raise ValueError("too large")
        result = left**right
        if isinstance(result, complex):
            raise ValueError("not a real number")
        return result
    result = _NUMBERS[type(op)](left, right)
    if isinstance(result, int) and result.bit_length() > MAX_BITS:
        raise ValueError("too large")
    return result


_NUMBERS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}


def _call(node: ast.Call, data: Mapping[str, object]) -> object:
    assert isinstance(node.func, ast.Name)
    if node.func.id == "has":
        return has_key(node) in data
    arguments = [_value(argument, data) for argument in node.args]
    if node.func.id in ("int", "float") and arguments and isinstance(arguments[0], str):
        if len(arguments[0]) > 400:
            raise ValueError("too long")
    return _CALLS[node.func.id](*arguments)
