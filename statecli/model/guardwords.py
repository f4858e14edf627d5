"""Guards in words, as messages say them: "r >= 8", "k is 'x' or 'y'", "all tasks are complete"."""

from __future__ import annotations

from collections.abc import Sequence

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
    "eq": "=", "is": "=", "eq#": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=",
    "ne": "is not", "isnot": "is not", "neq#": "is not", "contains": "contains",
}  # fmt: skip
_TURNS = {
    "without_progress": "without progress",
    "total": "in this state",
    "session": "in the session",
}
#: Of a longer list of values only so many are named.
_MOST = 5


def said(guard: Guard | None) -> str:
    """A guard on one line; None is no condition."""
    if guard is None:
        return "no condition"
    if isinstance(guard, Atom):
        return _atom(guard)
    if isinstance(guard, Turns):
        return f"{guard.turns} {'turn' if guard.turns == 1 else 'turns'} {_TURNS[guard.scope]}"
    if isinstance(guard, Complete):
        return "all tasks are complete"
    if isinstance(guard, Closed):
        return "the goal is closed"
    if isinstance(guard, AllOf):
        return " and ".join(map(_inner, guard.children)) or "always"
    if isinstance(guard, AnyOf):
        return " or ".join(map(_inner, guard.children)) or "never"
    if isinstance(guard, Not):
        return f"not ({said(guard.child)})"
    if isinstance(guard, Expr | Opaque):
        text = " ".join(guard.text.split())
        return text if len(text) <= 60 else f"{text[:59]}…"
    return "a condition that cannot be read"


def _inner(guard: Guard) -> str:
    """A part of a composite, in brackets where it has an `and` or `or` of its own."""
    composite = isinstance(guard, AllOf | AnyOf) and len(guard.children) > 1
    if composite or isinstance(guard, Expr):
        return f"({said(guard)})"
    return said(guard)


def _atom(atom: Atom) -> str:
    key, operand = atom.key, atom.operand
    if atom.op == "exists":
        return f"{key} is set"
    if atom.op == "absent":
        return f"{key} is not set"
    if isinstance(operand, Bounds):
        sign = "<=" if operand.inclusive else "<"
        return f"{shown(operand.low)} {sign} {key} {sign} {shown(operand.high)}"
    if atom.op in ("in", "notin") and isinstance(operand, tuple):
        return f"{key} is {'not ' * (atom.op == 'notin')}{either(operand)}"
    value = shown(list(operand) if isinstance(operand, tuple) else operand)
    return f"{key} {_SIGNS[atom.op]} {value}"


def either(values: Sequence[object]) -> str:
    """ "'a', 'b' or 'c'"; long lists are shortened."""
    words = [shown(value) for value in values[:_MOST]]
    if len(values) > _MOST:
        words.append(f"{len(values) - _MOST} more")
    if not words:
        return "one of no values"
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
