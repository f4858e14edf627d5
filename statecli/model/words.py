"""Guards in words, for people who look at a graph: "risk ≥ 8", "issue is billing".

Exact, however short: text that could be mistaken for something else stands in quotes, a part with
an `and` or `or` of its own in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from statecli.model.data import shown
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

_SIGNS = {
    "eq": "is", "is": "is", "ne": "is not", "isnot": "is not", "contains": "contains",
    "gt": ">", "gte": "≥", "lt": "<", "lte": "≤", "eq#": "=", "neq#": "≠",
}  # fmt: skip
_TURNS = {
    "without_progress": "without progress",
    "total": "in this state",
    "session": "in the session",
}
#: Text that needs no quotes; the words that would read as another value, or as a part of the
#: sentence, do.
_BARE = re.compile(r"[^\W\d][\w-]*")
_TAKEN = frozenset({"true", "false", "null", "none", "not", "and", "or", "of", "set", "one"})


def in_words(guard: Guard) -> str:
    """A guard on one line."""
    if isinstance(guard, Atom):
        return _atom(guard)
    if isinstance(guard, Turns):
        return f"after {turns_words(guard.turns, guard.scope)}"
    if isinstance(guard, Complete):
        return "all tasks done"
    if isinstance(guard, Closed):
        return "goal closed"
    if isinstance(guard, AllOf):
        return _joined(guard.children, " and ") or "always"
    if isinstance(guard, AnyOf):
        return _joined(guard.children, " or ") or "never"
    if isinstance(guard, Not):
        return f"not ({in_words(guard.child)})"
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


def part_in_words(guard: Guard) -> str:
    """A guard as a part of a sentence, in brackets where it has parts of its own."""
    while isinstance(guard, AllOf | AnyOf) and len(guard.children) == 1:
        guard = guard.children[0]
    words = in_words(guard)
    if isinstance(guard, Expr):
        return f"({words})"
    return f"({words})" if isinstance(guard, AllOf | AnyOf) and guard.children else words


def _joined(children: tuple[Guard, ...], word: str) -> str:
    words = list(dict.fromkeys(map(part_in_words, children)))
    return in_words(children[0]) if len(words) == 1 else word.join(words)


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
