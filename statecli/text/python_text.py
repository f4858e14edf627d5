"""The text of a Python file, and where its calls, functions and classes stand."""

from __future__ import annotations

import ast
import io
import os
import tokenize
from collections.abc import Iterator, Sequence
from functools import cached_property
from types import CodeType

from statecli.model.calls import Call
from statecli.text.document import PYTHON, Document

#: The characters from the first up to the second.
Extent = tuple[int, int]
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class PythonText(Document):
    """One Python file as it stands on the disk (or where else Python has it from)."""

    def __init__(self, file: str, value: object = None) -> None:
        super().__init__(_shown(file), _source(file), PYTHON, value)
        self.file = file

    # --- nodes ----------------------------------------------------------------------------------

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        """Every node of the text; none where it cannot be read (it was changed meanwhile)."""
        try:
            return list(ast.walk(ast.parse(self.text)))
        except (SyntaxError, ValueError, RecursionError):
            return []

    @cached_property
    def _calls(self) -> dict[tuple[int, int], ast.Call]:
        """The calls by line and column (in bytes) of their end."""
        return {
            (node.end_lineno or 0, node.end_col_offset or 0): node
            for node in self._nodes
            if isinstance(node, ast.Call)
        }

    @cached_property
    def _functions(self) -> dict[int, list[_Function]]:
        """The functions by the line at which their code begins: that of the first decorator."""
        found: dict[int, list[_Function]] = {}
        for node in self._nodes:
            if isinstance(node, _BODIES):
                found.setdefault(first_line(node), []).append(node)
        return found

    def call(self, call: Call) -> ast.Call | None:
        """The call that was at work. It is known by its end: where it begins depends on what the
        method is called on."""
        positions = list(call.code.co_positions())
        at = call.instruction // 2
        if not 0 <= at < len(positions):
            return None
        _, line, _, column = positions[at]
        return self._calls.get((line or 0, -1 if column is None else column))

    def function(self, code: CodeType) -> _Function | None:
        """The function or lambda with this code."""
        found = self._functions.get(code.co_firstlineno, [])
        if code.co_name != "<lambda>":
            return next((n for n in found if getattr(n, "name", "") == code.co_name), None)
        lambdas = [node for node in found if isinstance(node, ast.Lambda)]
        if len(lambdas) < 2:
            return lambdas[0] if lambdas else None
        places = [(line, column) for line, _, column, _ in code.co_positions() if column]
        inside = [node for node in lambdas if any(_holds(node.body, place) for place in places)]
        return inside[-1] if inside else None

    def class_(self, kind: type) -> ast.ClassDef | None:
        """The class of this name."""
        return next(
            (n for n in self._nodes if isinstance(n, ast.ClassDef) and n.name == kind.__name__),
            None,
        )

    # --- places ---------------------------------------------------------------------------------

    def extent(self, node: ast.expr | ast.stmt | ast.keyword) -> Extent:
        """The characters of a node."""
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0),
        )

    def name_of(self, node: _Function | ast.ClassDef) -> Extent:
        """The name of a function or class where it is defined; the whole of a lambda's head."""
        start, end = self.extent(node)
        if isinstance(node, ast.Lambda):
            return start, end
        begin = self.text.find(node.name, start + len("def"))
        return (begin, begin + len(node.name)) if begin >= 0 else (start, end)

    def line_of(self, number: int) -> Extent:
        """What stands on a line (from 1), without the blanks around it."""
        start = self.line_start(max(1, min(number, self.text.count("\n") + 1)))
        end = self.text.find("\n", start)
        whole = self.text[start : end if end >= 0 else len(self.text)]
        begin = start + len(whole) - len(whole.lstrip())
        return begin, max(begin + len(whole.strip()), min(begin + 1, len(self.text)))

    def argument(self, node: ast.Call, number: int, given: int) -> ast.expr | None:
        """The positional argument that became the one of this number, of as many as were given. A
        list after ``*`` may be written out there; else it stands for all that it holds."""
        stars = [at for at, item in enumerate(node.args) if isinstance(item, ast.Starred)]
        if not stars:
            return node.args[number] if number < len(node.args) else None
        if number < stars[0]:
            return node.args[number]
        behind = len(node.args) - 1 - stars[-1]
        if number >= given - behind:
            return node.args[number - given]
        item = node.args[stars[0]]
        if len(stars) > 1 or not isinstance(item, ast.Starred):
            return None
        inside = item.value
        if isinstance(inside, ast.List | ast.Tuple):
            parts: Sequence[ast.expr] = inside.elts
            if not any(isinstance(part, ast.Starred) for part in parts):
                return parts[number - stars[0]]
        return item

    def _offset(self, line: int, column: int) -> int:
        """A place as `ast` has it: columns count bytes."""
        start: int = self.line_start(line)
        text = self.text[start : start + column]
        if not text.isascii():
            text = text.encode("utf-8", "replace")[:column].decode("utf-8", "replace")
        return start + len(text)

    # --- comments -------------------------------------------------------------------------------

    def comments(self) -> Iterator[tuple[int, str]]:
        """Every comment with where it begins."""
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                if token.type == tokenize.COMMENT:
                    yield self.line_start(token.start[0]) + token.start[1], token.string
        except (tokenize.TokenError, SyntaxError):  # what is broken ends the list
            return


def _source(file: str) -> str:
    """The text behind a code object; also of a cell of a notebook, or a module in an archive."""
    import linecache

    linecache.checkcache(file)
    return "".join(linecache.getlines(file)).removeprefix("\ufeff")


def _shown(file: str) -> str:
    """The path as a person in this folder would write it."""
    if not os.path.isabs(file):
        return file
    try:
        near = os.path.relpath(file)
    except ValueError:  # another drive of Windows
        return file
    return file if near.startswith(os.pardir + os.sep) else near


def first_line(node: _Function | ast.ClassDef) -> int:
    """The line at which a function begins, decorators included."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(item.lineno for item in decorators)])


def _holds(node: ast.expr, place: tuple[int | None, int | None]) -> bool:
    line, column = place
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return start <= (line or 0, column or 0) < end
