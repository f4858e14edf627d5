"""Guards in words, for people who look at a graph: "risk ≥ 8", "issue is billing".

Exact, however short: text that could be mistaken for something else stands in quotes, a part with
an `and` or `or` of its own in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from statecli.model.data import shown
from statecli.model.graph import Deliverable
from statecli.model.guard import (
    AllOf,
    AnyOf,
    Atom,
    Bounds,
    Closed,
    Complete,
    Expr,
    Guard,
    Not,
    Opaque,
    Turns,
)
from statecli.model.wording import joined

if TYPE_CHECKING:
    import ast

_SIGNS = {
    "eq": "is", "is": "is", "ne": "is not", "isnot": "is not", "contains": "contains",
    "gt": ">", "gte": "≥", "lt": "<", "lte": "≤", "eq#": "=", "neq#": "≠",
}  # fmt: skip
_TURNS = {
    "without_progress": "without progress",
    "total": "in this state",
    "session": "in the session",
}
#: The operators of an expression, beside an arrow.
_EXPRESSION = {"Eq": "=", "NotEq": "≠", "Lt": "<", "LtE": "≤", "Gt": ">", "GtE": "≥"}
#: Text that needs no quotes; the words that would read as another value, or as a part of the
#: sentence, do.
_BARE = re.compile(r"[^\W\d][\w-]*")
_TAKEN = frozenset({"true", "false", "null", "none", "not", "and", "or", "of", "set", "one"})


def in_words(guard: Guard, atom: Callable[[Atom], str] | None = None) -> str:
    """A guard on one line. `atom` puts one comparison in words; by default exactly."""
    if isinstance(guard, Atom):
        return atom(guard) if atom is not None else _atom(guard)
    if isinstance(guard, Turns):
        return f"after {turns_words(guard.turns, guard.scope)}"
    if isinstance(guard, Complete):
        return "all tasks done"
    if isinstance(guard, Closed):
        return "goal closed"
    if isinstance(guard, AllOf):
        return _joined(guard.children, " and ", atom) or "always"
    if isinstance(guard, AnyOf):
        return _joined(guard.children, " or ", atom) or "never"
    if isinstance(guard, Not):
        return f"not ({in_words(guard.child, atom)})"
    if isinstance(guard, Expr):
        return " ".join(guard.text.split())
    if isinstance(guard, Opaque):
        return f"decided in code: {' '.join(guard.text.split())}".rstrip(": ")
    return f"never: {guard.reason}"


def turns_words(count: int, scope: str) -> str:
    """A number of turns, counted in a scope."""
    return f"{count} {'turn' if count == 1 else 'turns'} {_TURNS[scope]}"


def value_words(value: object) -> str:
    """A value in a sentence."""
    if isinstance(value, str) and _BARE.fullmatch(value) and value.casefold() not in _TAKEN:
        return value
    if isinstance(value, list | tuple):
        return f"[{', '.join(values_words(value))}]"
    return shown(value)


def values_words(values: Iterable[object]) -> list[str]:
    """The values of a list, each once; among several all texts have quotes."""
    words = (shown(value) if isinstance(value, str) else value_words(value) for value in values)
    return list(dict.fromkeys(words))


def deliverable_words(item: Deliverable) -> str:
    """What a task collects: its key, and what is special about it."""
    said = [item.type] if item.type != "string" else []
    if item.values:
        said = [" | ".join(map(value_words, item.values))]
    if not item.required:
        said.append("optional")
    return f"{item.key} ({', '.join(said)})" if said else item.key


def part_in_words(guard: Guard, atom: Callable[[Atom], str] | None = None) -> str:
    """A guard as a part of a sentence, in brackets where it has parts of its own."""
    while isinstance(guard, AllOf | AnyOf) and len(guard.children) == 1:
        guard = guard.children[0]
    words = in_words(guard, atom)
    several = isinstance(guard, AllOf | AnyOf) and guard.children
    if several or isinstance(guard, Expr) or (atom is _brief and " or " in words):
        return f"({words})"
    return words


def brief(guard: Guard) -> str:
    """A guard as it stands beside an arrow: as few words as can be, "issue = billing or other"."""
    if isinstance(guard, Expr):
        return _brief_expression(guard.tree) or in_words(guard)
    return in_words(guard, _brief)


def _brief_expression(tree: ast.expr) -> str:
    """An expression of comparisons in the words of `_brief`; nothing where it is more than that."""
    import ast

    if isinstance(tree, ast.BoolOp):
        word = " and " if isinstance(tree.op, ast.And) else " or "
        parts = [(_brief_expression(item), item) for item in tree.values]
        if not all(words for words, _ in parts):
            return ""
        return word.join(
            f"({words})" if isinstance(item, ast.BoolOp) or " or " in words else words
            for words, item in parts
        )
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        words = _brief_expression(tree.operand)
        return f"not ({words})" if words else ""
    if isinstance(tree, ast.Name):
        return tree.id
    if not isinstance(tree, ast.Compare):
        return ""
    sides = [_side(side) for side in (tree.left, *tree.comparators)]
    signs = [_EXPRESSION.get(type(op).__name__, "") for op in tree.ops]
    if not all(sides) or not all(signs):
        return ""
    return " ".join([sides[0], *(f"{s} {w}" for s, w in zip(signs, sides[1:], strict=True))])


def _side(side: ast.expr) -> str:
    """One side of a comparison: a field or a constant; nothing for more than that."""
    import ast

    if isinstance(side, ast.Name):
        return side.id
    return value_words(side.value) if isinstance(side, ast.Constant) else ""


def _brief(atom: Atom) -> str:
    key, operand = atom.key, atom.operand
    if atom.op in ("in", "notin") and isinstance(operand, list | tuple) and operand:
        words = list(dict.fromkeys(map(value_words, operand)))
        if atom.op == "in":
            return f"{key} = {joined(words, 'or')}"
        return f"{key} ≠ {joined(words, 'and')}"
    sign = {"eq": "=", "is": "=", "ne": "≠", "isnot": "≠"}.get(atom.op)
    return _atom(atom) if sign is None else f"{key} {sign} {value_words(operand)}"


def _joined(children: tuple[Guard, ...], word: str, atom: Callable[[Atom], str] | None) -> str:
    words = list(dict.fromkeys(part_in_words(child, atom) for child in children))
    return in_words(children[0], atom) if len(words) == 1 else word.join(words)


def _atom(atom: Atom) -> str:
    key, operand = atom.key, atom.operand
    if atom.op in ("exists", "absent"):
        return f"{key} is {'not ' * (atom.op == 'absent')}set"
    if isinstance(operand, Bounds):
        sign = "≤" if operand.inclusive else "<"
        return f"{shown(operand.low)} {sign} {key} {sign} {shown(operand.high)}"
    if atom.op in ("in", "notin") and isinstance(operand, list | tuple):
        words = values_words(operand)
        if len(words) == 1:
            return f"{key} is {'not ' * (atom.op == 'notin')}{value_words(operand[0])}"
        listed = ", ".join(words) or "no values"
        return f"{key} is {'none' if atom.op == 'notin' else 'one'} of {listed}"
    return f"{key} {_SIGNS[atom.op]} {value_words(operand)}"
