"""The expression language of `when: "..."`: what it allows, and its value.

Parsed from Python's own grammar with an allow list and interpreted here; nothing is compiled or
run by Python, so a graph from a stranger cannot do more than compare (model.md 4.2).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

#: Longest text, and largest intermediate results, in characters, items and bits.
MAX_TEXT = 2000
MAX_NODES = 400
MAX_BITS = 4096
MAX_ITEMS = 100_000

FUNCTIONS: dict[str, Callable[..., object]] = {
    "len": len,
    "abs": abs,
    "min": min,
    "max": max,
    "sum": sum,
    "all": all,
    "any": any,
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
}


class Problem(NamedTuple):
    """What is wrong with an expression, at its characters `start` up to `end`."""

    message: str
    start: int
    end: int


def parse(text: str) -> ast.expr | Problem:
    """The tree of an expression, or the first thing in it that the language does not have."""
    if len(text) > MAX_TEXT:
        return Problem(f"longer than {MAX_TEXT} characters", 0, len(text))
    if "\0" in text:
        at = text.index("\0")
        return Problem("a NUL character", at, at + 1)
    lead = len(text) - len(text.lstrip())
    # Brackets around it let a condition stand on several lines, as YAML folds them.
    source = "(" + text[lead:] + "\n)"
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        start = _offset(source, error.lineno or 1, (error.offset or 1) - 1) - 1 + lead
        start = max(lead, min(start, len(text) - 1))
        return Problem(_plain(error.msg), start, start + 1)
    except (RecursionError, MemoryError, ValueError):
        return Problem("nested too deeply", 0, len(text))
    for size, node in enumerate(ast.walk(tree)):
        reason = _refusal(node)
        if reason:
            return Problem(reason, *_range(source, node, lead))
        if size >= MAX_NODES:
            return Problem(f"more than {MAX_NODES} parts", 0, len(text))
    return tree


def names(tree: ast.expr) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two lists: every field it reads, and those that must be set (not asked for by `has`)."""
    inside_has: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            inside_has.add(id(node.func))
            if node.func.id == "has":
                inside_has.update(id(argument) for argument in node.args)
    found: dict[str, None] = {}
    required: dict[str, None] = {}
    for node in _in_order(tree):
        if isinstance(node, ast.Name):
            if id(node) not in inside_has:
                found[node.id] = None
                required[node.id] = None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "has":
                found[_has_key(node)] = None
    return tuple(found), tuple(required)


def value_of(tree: ast.expr, data: Mapping[str, object]) -> bool:
    """The truth of a parsed expression over set fields. What Python would raise on is false."""
    try:
        return bool(_value(tree, data))
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, AttributeError):
        return False


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _in_order(child)


def _has_key(call: ast.Call) -> str:
    argument = call.args[0]
    return argument.id if isinstance(argument, ast.Name) else str(_constant(argument))


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


_PLAIN = (
    ast.Name, ast.Load, ast.Tuple, ast.List, ast.Set, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp,
    ast.Not, ast.USub, ast.UAdd, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
    ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div,
    ast.FloorDiv, ast.Mod, ast.Pow,
)  # fmt: skip


def _refusal(node: ast.AST) -> str:
    """Why a node is not in the language, or an empty text."""
    if isinstance(node, _PLAIN):
        return ""
    if isinstance(node, ast.Constant):
        allowed = node.value is None or isinstance(node.value, str | bool | int | float)
        return "" if allowed else "only text, numbers, True, False and None are constants here"
    if isinstance(node, ast.Dict):
        return "" if all(node.keys) else "'**' is not allowed in a condition"
    if isinstance(node, ast.Subscript):
        return "" if not isinstance(node.slice, ast.Slice) else "slices are not allowed"
    if isinstance(node, ast.Slice):
        return "slices are not allowed in a condition"
    if isinstance(node, ast.Call):
        return _call_refusal(node)
    if isinstance(node, ast.Attribute):
        return f"attributes are not allowed: write {_subscript(node)} for a key"
    word = _WORDS.get(type(node).__name__, "this")
    return f"{word} is not allowed in a condition"


_WORDS = {
    "Lambda": "'lambda'", "IfExp": "'if ... else'", "ListComp": "a comprehension",
    "SetComp": "a comprehension", "DictComp": "a comprehension", "GeneratorExp": "a comprehension",
    "Await": "'await'", "Yield": "'yield'", "YieldFrom": "'yield'", "JoinedStr": "an f-string",
    "NamedExpr": "':='", "Starred": "'*'", "BitOr": "'|' (write 'or')",
    "BitAnd": "'&' (write 'and')",
    "BitXor": "'^'", "Invert": "'~' (write 'not')", "LShift": "'<<'", "RShift": "'>>'",
    "MatMult": "'@'",
}  # fmt: skip


def _subscript(node: ast.Attribute) -> str:
    base = ast.unparse(node.value)
    return f"{base}['{node.attr}']"


def _call_refusal(node: ast.Call) -> str:
    listed = ", ".join([*FUNCTIONS, "has"])
    if not isinstance(node.func, ast.Name):
        return f"only these can be called: {listed}"
    name = node.func.id
    if name not in FUNCTIONS and name != "has":
        return f"'{name}' cannot be called here; only {listed} can"
    if node.keywords:
        return f"'{name}' takes no named arguments here"
    if name == "has":
        one = len(node.args) == 1
        if not one or not (
            isinstance(node.args[0], ast.Name) or isinstance(_constant(node.args[0]), str)
        ):
            return "'has' takes the name of one field"
    return ""


def _plain(message: str | None) -> str:
    text = (message or "not a condition").split(" (<unknown>")[0]
    if "Perhaps you forgot a comma" in text:
        return "not a condition: something is missing between two parts"
    if "'='" in text or "Maybe you meant '=='" in text:
        return "'=' assigns; write '==' to compare"
    if text in {"invalid syntax", "f-string: invalid syntax"}:
        return "not a condition in the expression language"
    return text[:1].lower() + text[1:]


def _offset(source: str, line: int, column: int) -> int:
    lines = source.split("\n")
    return sum(len(text) + 1 for text in lines[: line - 1]) + column


def _range(source: str, node: ast.AST, lead: int) -> tuple[int, int]:
    """The characters of a node in the text before the bracket was put around it."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 1)
    end_line = getattr(node, "end_lineno", line) or line
    end_column = getattr(node, "end_col_offset", column + 1)
    start = _offset(source, line, _characters(source, line, column))
    end = _offset(source, end_line, _characters(source, end_line, end_column))
    return start - 1 + lead, max(end, start + 1) - 1 + lead


def _characters(source: str, line: int, column: int) -> int:
    """Ast counts columns in UTF-8 bytes; we count characters."""
    return len(source.split("\n")[line - 1].encode()[:column].decode(errors="ignore"))


def _value(node: ast.expr, data: Mapping[str, object]) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return data[node.id]
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
        return _has_key(node) in data
    arguments = [_value(argument, data) for argument in node.args]
    if node.func.id in ("int", "float") and arguments and isinstance(arguments[0], str):
        if len(arguments[0]) > 400:
            raise ValueError("too long")
    return FUNCTIONS[node.func.id](*arguments)
