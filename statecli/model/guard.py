"""Guards: the tree that a condition is, and its truth. Every command asks `evaluate` here.

The meaning of each condition is model.md 4.2: strings compare trimmed and case-folded, numbers
may be numeric text, a missing field makes an atom false. A condition that cannot be decided from
the data (an opaque one) has no truth value: `evaluate` answers None, and None is never a pass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from statecli.model.span import Path

if TYPE_CHECKING:
    import ast

KindT = TypeVar("KindT")
#: Composites nest at most this deep.
MAX_DEPTH = 5
#: Operators of an atom that read the value as a number.
NUMERIC = ("gt", "gte", "lt", "lte", "eq#", "neq#", "between")
SCOPES = ("without_progress", "total", "session")


def _by_meaning(kind: type[KindT]) -> type[KindT]:
    """Guards are equal by what they say, not by where they stand (their last field)."""

    def equal(left: Any, right: Any) -> bool:
        return type(left) is type(right) and bool(left[:-1] == right[:-1])

    def different(left: Any, right: Any) -> bool:
        return not equal(left, right)

    def hashed(guard: Any) -> int:
        return hash((type(guard), *guard[:-1]))

    # A class that inherits from a NamedTuple has a dictionary and is slower: so these are set here.
    for name, method in (("__eq__", equal), ("__ne__", different), ("__hash__", hashed)):
        setattr(kind, name, method)
    return kind


@_by_meaning
class Atom(NamedTuple):
    """One field compared with a constant.

    `op`: exists absent eq ne in notin contains is isnot (values, compared folded) ·
    gt gte lt lte eq# neq# (numbers) · between (operand: `Bounds`).
    """

    key: str
    op: str
    operand: object = None
    path: Path = ()


class Bounds(NamedTuple):
    """The range of a `between`."""

    low: float
    high: float
    inclusive: bool


@_by_meaning
class Turns(NamedTuple):
    """At least `turns` turns were spent, counted in `scope` (one of SCOPES)."""

    turns: int
    scope: str = "without_progress"
    path: Path = ()


@_by_meaning
class Complete(NamedTuple):
    """Every task of the state is addressed (`all_tasks_complete`)."""

    path: Path = ()


@_by_meaning
class Closed(NamedTuple):
    """The goal of the state was closed or given up in this visit (`goal_achieved`)."""

    path: Path = ()


@_by_meaning
class AllOf(NamedTuple):
    children: tuple[Guard, ...]
    path: Path = ()


@_by_meaning
class AnyOf(NamedTuple):
    children: tuple[Guard, ...]
    path: Path = ()


@_by_meaning
class Not(NamedTuple):
    child: Guard
    path: Path = ()


class Expr(NamedTuple):
    """A condition in the expression language; `tree` passed the allow list of `guardtext`."""

    text: str
    tree: ast.expr
    names: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    path: Path = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self.text == other.text

    def __hash__(self) -> int:
        return hash((Expr, self.text))


class Opaque(NamedTuple):
    """Decided in code that nobody here can read; a `function` of the data, where there is one, is
    asked when the run is there."""

    text: str
    path: Path = ()
    function: Callable[[Mapping[str, Any]], Any] | None = None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Opaque)
            and self.text == other.text
            and self.function is other.function
        )

    def __hash__(self) -> int:
        return hash((Opaque, self.text, self.function))


@_by_meaning
class Invalid(NamedTuple):
    """A condition that a diagnostic was given for; it never holds, nor does what contains it."""

    reason: str
    path: Path = ()


Guard = Atom | Turns | Complete | Closed | AllOf | AnyOf | Not | Expr | Opaque | Invalid


class GuardMissingField(Exception):
    """A guard read an unset field while the graph says `strict_guards`."""

    def __init__(self, key: str) -> None:
        super().__init__(f"a guard reads '{key}', which is not set (strict_guards is on)")
        self.key = key


class View:
    """What a guard may look at.

    `data` holds only fields that are set. `complete` and `closed` answer for the state whose
    transitions are tried; `turns` maps a scope to its counter. None where unknown. `missing`
    collects the unset fields that an atom asked for; with `strict` the first one raises.
    """

    __slots__ = ("closed", "complete", "data", "missing", "strict", "turns")

    def __init__(
        self,
        data: Mapping[str, object],
        complete: bool | None = None,
        closed: bool | None = None,
        turns: Mapping[str, int] | None = None,
        missing: list[str] | None = None,
        strict: bool = False,
    ) -> None:
        self.data = data
        self.complete = complete
        self.closed = closed
        self.turns = turns
        self.missing = missing if missing is not None else []
        self.strict = strict


def evaluate(guard: Guard, view: View) -> bool | None:
    """The truth of a guard: True, False, or None where it cannot be known."""
    if invalid(guard) is not None:
        return False
    return _truth(guard, view)


def invalid(guard: Guard) -> Invalid | None:
    """The first invalid part of a guard: one invalid child makes the whole composite invalid."""
    if type(guard) is Atom:
        return _wrong(guard)
    return next(filter(None, map(_wrong, walk(guard))), None)


def _wrong(part: Guard) -> Invalid | None:
    """The part itself if it is invalid: also a range whose ends stand the wrong way round."""
    if isinstance(part, Atom):
        bounds = part.operand
        if isinstance(bounds, Bounds) and bounds.low > bounds.high:
            return Invalid("'min' is larger than 'max'", part.path)
        return None
    return part if isinstance(part, Invalid) else None


def walk(guard: Guard) -> Iterator[Guard]:
    """The guard and everything inside it, in reading order."""
    yield guard
    if isinstance(guard, AllOf | AnyOf):
        for child in guard.children:
            yield from walk(child)
    elif isinstance(guard, Not):
        yield from walk(guard.child)


def reads(guard: Guard) -> tuple[str, ...]:
    """The fields a guard looks at, in reading order, each once."""
    names: dict[str, None] = {}
    for part in walk(guard):
        if isinstance(part, Atom):
            names[part.key] = None
        elif isinstance(part, Expr):
            names.update(dict.fromkeys(part.names))
    return tuple(names)


def _truth(guard: Guard, view: View) -> bool | None:
    if isinstance(guard, Atom):
        return _atom(guard, view)
    if isinstance(guard, Complete):
        return view.complete
    if isinstance(guard, Closed):
        return view.closed
    if isinstance(guard, Turns):
        count = None if view.turns is None else view.turns.get(guard.scope)
        return None if count is None else count >= guard.turns
    if isinstance(guard, AllOf):
        return _all(_truth(child, view) for child in guard.children)
    if isinstance(guard, AnyOf):
        inverse = _all(_negate(_truth(child, view)) for child in guard.children)
        return _negate(inverse)
    if isinstance(guard, Not):
        return _negate(_truth(guard.child, view))
    if isinstance(guard, Expr):
        return _expr(guard, view)
    if isinstance(guard, Opaque):
        return None if guard.function is None else bool(guard.function(view.data))
    return False


def _negate(value: bool | None) -> bool | None:
    return None if value is None else not value


def _all(values: Iterator[bool | None]) -> bool | None:
    """And, in three values: one False decides, else one unknown does."""
    answer: bool | None = True
    for value in values:
        if value is False:
            return False
        if value is None:
            answer = None
    return answer


def _atom(atom: Atom, view: View) -> bool:
    if atom.op == "exists":
        return atom.key in view.data
    if atom.op == "absent":
        return atom.key not in view.data
    if atom.key not in view.data:
        _miss(atom.key, view)
        return False
    return holds(atom, view.data[atom.key])


def _miss(key: str, view: View) -> None:
    view.missing.append(key)
    if view.strict:
        raise GuardMissingField(key)


def holds(atom: Atom, value: object) -> bool:
    """The truth of an atom over the value of its field, which is set."""
    op, operand = atom.op, atom.operand
    value = plain(value)
    if op in NUMERIC:
        number = as_number(value)
        return number is not None and _compare(op, number, operand)
    try:
        return _TESTS[op](value, operand)
    except RecursionError:  # lists within lists, deeper than any document: equal to nothing
        return False


def _compare(op: str, number: float, operand: object) -> bool:
    if isinstance(operand, Bounds):
        if operand.inclusive:
            return operand.low <= number <= operand.high
        return operand.low < number < operand.high
    limit = as_number(operand)
    return limit is not None and _ORDER[op](number, limit)


_ORDER: dict[str, Callable[[float, float], bool]] = {
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
    "eq#": lambda a, b: a == b,
    "neq#": lambda a, b: a != b,
}


def fold(text: str) -> str:
    """Text as equality sees it: trimmed and case-folded (measured in the plan engine)."""
    return text.strip().casefold()


def same(left: object, right: object) -> bool:
    """Equality of model.md 4.2: folded for text, otherwise no coercion (5 is not "5" nor true). A
    member of an Enum is its value: a field of a schema holds that, whatever a body gave."""
    if isinstance(left, str) and isinstance(right, str):
        return fold(left) == fold(right)
    if isinstance(left, Enum) or isinstance(right, Enum):
        return same(plain(left), plain(right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right


def plain(value: object) -> object:
    """The value of a member of an Enum; anything else as it is."""
    return value.value if isinstance(value, Enum) else value


def _contains(value: object, operand: object) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and fold(operand) in fold(value)
    if isinstance(value, list | tuple | set | frozenset | dict):
        return any(same(item, operand) for item in value)
    return False


def _is(value: object, operand: object) -> bool:
    return (
        value is operand if operand is None or isinstance(operand, bool) else same(value, operand)
    )


def _one_of(value: object, operand: object) -> bool:
    return any(same(value, item) for item in _items(operand))


def _items(operand: object) -> list[object]:
    return list(operand) if isinstance(operand, list | tuple) else [operand]


_TESTS: dict[str, Callable[[object, object], bool]] = {
    "exists": lambda value, operand: True,
    "absent": lambda value, operand: False,
    "eq": same,
    "ne": lambda value, operand: not same(value, operand),
    "in": _one_of,
    "notin": lambda value, operand: not _one_of(value, operand),
    "contains": _contains,
    "is": _is,
    "isnot": lambda value, operand: not _is(value, operand),
}


_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def as_number(value: object) -> float | None:
    """The number a value is, or None: finite numbers, and text that is one in ASCII digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str) and len(value) <= 400:
        text = value.strip()
        if _NUMBER.fullmatch(text):
            number = float(text)
            if not math.isfinite(number):
                return None
            return int(text) if text.lstrip("+-").isdigit() else number
    return None


def _expr(guard: Expr, view: View) -> bool | None:
    """False as a whole when a field it reads (outside `has`) is unset."""
    absent = [name for name in guard.required if name not in view.data]
    if absent:
        for name in absent:
            _miss(name, view)
        return False
    from statecli.model.expression_value import value_of

    return value_of(guard.tree, view.data)
