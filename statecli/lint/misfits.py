"""Comparisons that do not fit the type of their field: what `value-not-in-enum` and
`compare-type-mismatch` report, found in one pass over all guards."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from statecli.model.classes import kind_of
from statecli.model.graph import Field, State
from statecli.model.guard import NUMERIC, Atom, Complete, Expr, Guard, as_number, same, walk
from statecli.model.parts import Part, parts

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: What is wrong: `member`: the value is none of the enum's; `type`: it has another type than the
#: field; `operator`: what compares cannot be asked of the field's type.
MEMBER, TYPE, OPERATOR = "member", "type", "operator"
_ALIKE = {"eq": True, "is": True, "in": True, "ne": False, "isnot": False, "notin": False}


class Misfit(NamedTuple):
    """One comparison. `item` is its number in a list of values; `node` what to point at inside
    `expression`, where the guard is one; `alike`: it asks for equality, not for difference."""

    state: State
    field: Field
    what: str
    test: Atom | Part
    value: object
    alike: bool = True
    item: int | None = None
    expression: Expr | None = None
    node: ast.expr | None = None


def misfits(facts: Facts) -> list[Misfit]:
    """Every comparison in the guards of a graph that does not fit."""
    found: list[Misfit] = []
    fields = facts.fields
    fitting: set[int] = set()
    for members in facts.alike if fields else ():
        if len(members) > 1 and not _of_state(facts.states[members[0]], fields):
            fitting.update(members)
    for number, state in enumerate(facts.states if fields else ()):
        if state.transitions and number not in fitting:
            found += _of_state(state, fields)
    return found


def _of_state(state: State, fields: Mapping[str, Field]) -> list[Misfit]:
    found: list[Misfit] = []
    for way in state.transitions:
        guard = way.guard
        if type(guard) is Atom:
            field = fields.get(guard.key)
            if field is not None and not _plainly_fits(field, guard):
                found += _of_atom(state, field, guard)
        elif guard is not None and type(guard) is not Complete:
            found += _inside(state, fields, guard)
    return found


def _plainly_fits(field: Field, atom: Atom) -> bool:
    """The cases that most guards are, without further questions."""
    if atom.op == "eq":
        text = isinstance(atom.operand, str)
        return text and (field.type == "str" or atom.operand in field.values)
    return atom.op == "exists" or (field.type in ("float", "int") and atom.op in NUMERIC)


def _inside(state: State, fields: Mapping[str, Field], guard: Guard) -> Iterator[Misfit]:
    for part in walk(guard):
        if isinstance(part, Atom):
            field = fields.get(part.key)
            if field is not None:
                yield from _of_atom(state, field, part)
        elif isinstance(part, Expr):
            for piece in (parts(part.tree) or {}).values():
                field = fields.get(piece.key)
                if field is not None:
                    yield from _of_part(state, field, part, piece)


def _of_atom(state: State, field: Field, atom: Atom) -> Iterator[Misfit]:
    op, kind = atom.op, kind_of(field)
    if kind == "any":
        return
    if op in _ALIKE:
        alike = _ALIKE[op]
        listed = op in ("in", "notin")
        values = atom.operand if listed and isinstance(atom.operand, tuple) else (atom.operand,)
        for item, value in enumerate(values):
            what = _folded(field, kind, value, alike)
            if what:
                yield Misfit(state, field, what, atom, value, alike, item if listed else None)
    elif op in NUMERIC:
        numeric = kind in ("int", "float")
        if kind == "enum":
            numeric = any(as_number(value) is not None for value in field.values)
        if not numeric and not (field.has_default and as_number(field.default) is not None):
            yield Misfit(state, field, OPERATOR, atom, atom.operand)
    elif op == "contains" and kind in ("bool", "int", "float"):
        yield Misfit(state, field, OPERATOR, atom, atom.operand)
    elif op == "contains" and kind == "str" and not isinstance(atom.operand, str):
        yield Misfit(state, field, TYPE, atom, atom.operand)


def _folded(field: Field, kind: str, value: object, alike: bool) -> str:
    """What is wrong with a value that conditions (trimmed, case-folded) compare with."""
    if kind == "enum":
        if not alike or any(same(member, value) for member in field.values):
            return ""
        return "" if _by_default(field, value) else MEMBER
    if value is None and not alike:
        return ""  # "is not null" is how people ask whether something is set
    return "" if _fits(kind, value) or _by_default(field, value) else TYPE


_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int, float),
    "float": (int, float),
    "str": (str,),
    "list": (list, tuple),
    "tuple": (list, tuple),
    "set": (list, tuple),
    "dict": (dict,),
}


def _fits(kind: str, value: object) -> bool:
    return isinstance(value, _TYPES[kind]) and isinstance(value, bool) is (kind == "bool")


def _by_default(field: Field, value: object) -> bool:
    """A field may begin with a value that its type does not have."""
    return field.has_default and same(field.default, value)


def _of_part(state: State, field: Field, guard: Expr, part: Part) -> Iterator[Misfit]:
    """A part of an expression, where Python's equality holds: true is 1, and case counts."""
    kind, node = kind_of(field), part.node
    if not isinstance(node, ast.Compare) or kind == "any":
        return
    if part.ordered:
        values = field.values if kind == "enum" else ()
        if field.has_default:
            values = (*values, field.default)
        orderable = kind in ("bool", "int", "float")
        if not orderable and not any(isinstance(value, int | float) for value in values):
            yield Misfit(state, field, OPERATOR, part, None, True, None, guard, node)
        return
    alike = isinstance(node.ops[0], ast.Eq | ast.Is | ast.In)
    for value, place in part.constants:
        if field.has_default and field.default == value:
            continue
        if kind == "enum":
            if alike and value not in field.values:
                yield Misfit(state, field, MEMBER, part, value, True, None, guard, place)
        elif value is None:
            if alike:
                yield Misfit(state, field, TYPE, part, value, True, None, guard, place)
        elif not _python_fits(kind, value):
            yield Misfit(state, field, TYPE, part, value, alike, None, guard, place)


def _python_fits(kind: str, value: object) -> bool:
    if kind in ("bool", "int", "float"):
        return isinstance(value, int | float)
    return isinstance(value, _TYPES[kind])
