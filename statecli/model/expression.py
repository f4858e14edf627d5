"""The expression language of `when: "..."`: what it allows, and where its parts stand.

Parsed from Python's own grammar with an allow list and interpreted by `expression_value`; nothing
is compiled or run by Python, so a graph from a stranger cannot do more than compare (model.md 4.2).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

#: The longest text, in characters and in parts.
MAX_TEXT = 2000
MAX_NODES = 400


#: What an expression may call beside `has`.
FUNCTIONS = ("len", "abs", "min", "max", "sum", "all", "any", "str", "int", "float", "bool")


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
    if not text.strip():
        return Problem("an empty condition", 0, len(text))
    source = _Source(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # '\d' and '1and' are the author's, not the user's
            tree = ast.parse(source.text, mode="eval").body
    except SyntaxError as error:
        return source.other_language(error) or Problem(_plain(error.msg), *source.of_error(error))
    except (RecursionError, MemoryError, ValueError):
        return Problem("nested too deeply", 0, len(text))
    if isinstance(tree, ast.Tuple):
        return Problem(
            "a comma makes a list, which always holds; write 'and'", *source.first_comma(tree)
        )
    if source.of(tree)[0] < source.lead:
        # "a) or (b" fits into the bracket around it, but is no condition by itself.
        at = text.index(")")
        return Problem("unmatched ')'", at, at + 1)
    return _refused(tree, source) or tree


def _refused(tree: ast.expr, source: _Source) -> Problem | None:
    """The first thing, in reading order, that the language does not have."""
    nodes = list(ast.walk(tree))
    if len(nodes) > MAX_NODES:
        return Problem(f"more than {MAX_NODES} parts", 0, len(source.written))
    for node in nodes:
        if isinstance(node, ast.JoinedStr):  # what is inside has no reliable places before 3.12
            return Problem(_refusal(node, source), *source.of(node))
    found: list[Problem] = []
    for node in nodes:
        if isinstance(node, ast.BinOp) and not isinstance(node.op, _PLAIN):
            found.append(Problem(_refusal(node.op, source), *source.operator(node)))
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, _PLAIN):
            start, _ = source.of(node)
            found.append(Problem(_refusal(node.op, source), start, start + 1))
        elif isinstance(node, ast.expr):
            reason = _refusal(node, source)
            if reason:
                found.append(Problem(reason, *source.of(node)))
    return min(found, key=lambda problem: problem.start, default=None)


class _Source:
    """A condition with a bracket around it, so that it may stand on several lines as YAML folds
    them, and the way from Python's lines and columns back to the author's characters."""

    def __init__(self, written: str) -> None:
        self.written = written
        self.lead = len(written) - len(written.lstrip())
        # For Python every one of these ends a line; as one character each they keep the places.
        body = re.sub(r"[\r\f\v]", " ", written[self.lead :])
        self.text = f"({body}\n)"
        self.lines = self.text.split("\n")

    def offset(self, line: int, column: int) -> int:
        """The place in the author's text; `column` counts characters of the line from 0."""
        before = sum(len(text) + 1 for text in self.lines[: line - 1])
        return before + column - 1 + self.lead

    def of(self, node: ast.expr) -> tuple[int, int]:
        """The characters of a node. Python counts its columns in UTF-8 bytes."""
        start = self.offset(node.lineno, self._characters(node.lineno, node.col_offset))
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        end = self.offset(end_line, self._characters(end_line, end_column))
        return start, max(end, start + 1)

    def of_error(self, error: SyntaxError) -> tuple[int, int]:
        """The characters that Python complains about; the closing bracket stands for the end."""
        last = len(self.written.rstrip())
        start = self.offset(error.lineno or 1, (error.offset or 1) - 1)
        start = max(self.lead, min(start, last - 1))
        end = start + 1
        if error.end_lineno and error.end_offset:
            end = max(end, min(self.offset(error.end_lineno, error.end_offset - 1), last))
        return start, end

    def other_language(self, error: SyntaxError) -> Problem | None:
        """An operator of another language where Python stops, with the one to write here."""
        start, end = self.of_error(error)
        for sign, word in _FOREIGN.items():
            size = len(sign)
            at = self.written.find(sign, max(self.lead, start - size + 1), end + size - 1)
            if at >= 0:
                return Problem(f"'{sign}' is of another language: write '{word}'", at, at + size)
        return None

    def operator(self, node: ast.BinOp) -> tuple[int, int]:
        """The characters of the operator between two operands."""
        left, right = self.of(node.left)[1], self.of(node.right)[0]
        sign = _SIGNS.get(type(node.op).__name__, "")
        at = self.written.find(sign, left, right) if sign else -1
        return (at, at + len(sign)) if at >= 0 else self.of(node)

    def first_comma(self, node: ast.Tuple) -> tuple[int, int]:
        """The comma behind the first part of a tuple."""
        after = self.of(node.elts[0])[1] if node.elts else self.lead
        at = self.written.find(",", after)
        return (at, at + 1) if at >= 0 else (self.lead, len(self.written))

    def segment(self, node: ast.expr) -> str:
        start, end = self.of(node)
        return self.written[start:end]

    def _characters(self, line: int, column: int) -> int:
        return len(self.lines[line - 1].encode()[:column].decode(errors="ignore"))


def names(tree: ast.expr) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Every field it reads, and those that must be set (not only asked for by `has`)."""
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
                found[has_key(node)] = None
    return tuple(found), tuple(required)


def places(text: str, tree: ast.expr) -> list[tuple[str, int, int]]:
    """Where a parsed expression names fields: the name, and its characters in `text`."""
    source = _Source(text)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found: list[tuple[str, int, int]] = []
    for node in _in_order(tree):
        if isinstance(node, ast.Name) and id(node) not in called:
            found.append((node.id, *source.of(node)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            argument = node.args[0] if node.func.id == "has" else None
            if isinstance(argument, ast.Constant):
                start, end = source.of(argument)
                found.append((has_key(node), start + 1, end - 1))
    return found


def characters(text: str, node: ast.expr) -> tuple[int, int]:
    """Where a part of a parsed expression stands in its text: from this character up to that."""
    return _Source(text).of(node)


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _in_order(child)


def has_key(call: ast.Call) -> str:
    """The field that a call of `has` asks for."""
    argument = call.args[0]
    return argument.id if isinstance(argument, ast.Name) else str(_constant(argument))


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


_PLAIN = (
    ast.Load, ast.Tuple, ast.List, ast.Set, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp,
    ast.Not, ast.USub, ast.UAdd, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
    ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div,
    ast.FloorDiv, ast.Mod, ast.Pow, ast.Subscript,
)  # fmt: skip


def _refusal(node: ast.AST, source: _Source) -> str:
    """Why a node is not in the language, or an empty text."""
    if isinstance(node, ast.Name):
        wanted = _CONSTANTS.get(node.id)
        return f"'{node.id}' would be a field: write {wanted}" if wanted else ""
    if isinstance(node, _PLAIN):
        return ""
    if isinstance(node, ast.Constant):
        allowed = node.value is None or isinstance(node.value, str | bool | int | float)
        return "" if allowed else "only text, numbers, True, False and None are constants here"
    if isinstance(node, ast.Dict):
        return "" if all(node.keys) else "'**' is not allowed in a condition"
    if isinstance(node, ast.Slice):
        return "slices are not allowed in a condition"
    if isinstance(node, ast.Call):
        return _call_refusal(node)
    if isinstance(node, ast.Attribute):
        base = source.segment(node.value)
        wanted = f"{base}['{node.attr}']" if len(base) <= 40 else f"[...]['{node.attr}']"
        return f"attributes are not allowed: write {wanted} for a key"
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
_FOREIGN = {
    "&&": "and", "||": "or", "===": "==", "!==": "!=", "<>": "!=", "=>": ">=", "=<": "<=",
    "=!": "!=", "!": "not",
}  # fmt: skip
_CONSTANTS = {"true": "True", "false": "False", "null": "None"}
_SIGNS = {
    "BitOr": "|", "BitAnd": "&", "BitXor": "^", "LShift": "<<", "RShift": ">>", "MatMult": "@",
}  # fmt: skip


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
    text = (message or "not a condition").split(" (<unknown>")[0].split(" (detected")[0]
    if text.startswith("closing parenthesis"):
        return "an opening bracket is never closed"
    if "Perhaps you forgot a comma" in text:
        return "not a condition: something is missing between two parts"
    if "'='" in text or "Maybe you meant '=='" in text:
        return "'=' assigns; write '==' to compare"
    if text in {"invalid syntax", "f-string: invalid syntax"}:
        return "not a condition in the expression language"
    if text.startswith("invalid "):
        return f"not a condition: unexpected {text.removeprefix('invalid ')}"
    if text.startswith("(unicode error)"):
        return "a broken escape in a text"
    return text[:1].lower() + text[1:]
