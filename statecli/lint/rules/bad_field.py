"""A field of the data is declared in a way that cannot work, or written without being declared.

Why: every value is checked against the field's type; one that can never fit stops the run, and
what no field declares is dropped.

Bad (a type that there is not):
    initial: ask
    fields:
      tags: {type: sett}
    states:
      ask: {type: user, transition: {next: [ask]}}

Bad (a default of another type):
    initial: ask
    fields:
      count: {type: int, default: many}
    states:
      ask: {type: user, transition: {next: [ask]}}

Bad (written but not declared):
    initial: ask
    fields:
      name: {type: str}
    states:
      ask: {type: user, writes: [nmae], transition: {next: [ask]}}

Good:
    initial: ask
    fields:
      tags: {type: set}
      count: {type: int, default: 0}
      price: {type: float, default: 0}
      tier: {type: enum, values: [free, premium], default: free}
      name: {type: str}
    states:
      ask: {type: user, writes: [name], transition: {next: [ask]}}

Fix: write what the message asks for. Types: str, int, float, bool, list, tuple, dict, set, enum
(with `values`) and any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from statecli.lint import reading
from statecli.lint.facts import Facts
from statecli.model.data import described, is_list, is_map, shown
from statecli.model.diagnostic import Finding
from statecli.model.graph import Field
from statecli.model.guard import same
from statecli.model.keys import FIELD_TYPES
from statecli.model.nearest import did_you_mean
from statecli.model.shape import WrongChoice
from statecli.model.span import Place

FAMILY = "data"
SEVERITY = "error"

_LISTS = ("list", "tuple", "set")
#: What a default of each type is in a file, which has neither tuples nor sets.
_FITS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "str": ("text", lambda value: isinstance(value, str)),
    "int": ("a whole number", lambda value: type(value) is int),
    "float": ("a number", lambda value: type(value) in (int, float)),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "list": ("a list", is_list),
    "tuple": ("a list", is_list),
    "set": ("a list", is_list),
    "dict": ("a mapping", is_map),
}
#: The types that the result of a reducer fits, and what to write.
_REDUCED = {
    "append_messages": (("list",), "list"),
    "append": (_LISTS, "list"),
    "extend": (_LISTS, "list"),
    "merge": (("dict",), "dict"),
    "increment": (("int", "float"), "int"),
}


def check(facts: Facts) -> Iterator[Finding]:
    """Each declared field, then each key that is written without being declared."""
    graph = facts.graph
    if graph is None or not graph.declares_fields:
        return
    for field in graph.fields.values():
        if field.origin == "declared":
            yield from _field(field, facts.meant.get(field.path, set()), python=facts.is_python)
    for issue in facts.issues(WrongChoice):
        if issue.rule == "bad-field":
            yield Finding(
                message=f"'{issue.value}' is not a type of field",
                at=Place(issue.path),
                hint=did_you_mean(issue.value, FIELD_TYPES) or f"one of {', '.join(FIELD_TYPES)}",
            )
    for number, at, key in reading.undeclared(facts):
        state = facts.states[number]
        path = (*state.path, "writes") if at is None else (*state.path, "writes", at)
        yield Finding(
            message=f"'fields' does not declare '{key}', so what '{state.name}' writes is dropped",
            at=Place(path),
            states=(state.name,),
            hint=did_you_mean(key, graph.fields) or f"declare '{key}' under 'fields'",
        )


def _field(field: Field, misspelt: set[str], *, python: bool) -> Iterator[Finding]:
    name = field.name
    if not name.isidentifier():
        yield Finding(
            message=f"'{name}' cannot be the name of a field",
            at=Place(field.path, "key"),
            hint="use letters, digits and '_', and no digit first",
        )
    if field.type == "enum" and not field.values and "values" not in misspelt:
        yield Finding(
            message=f"the enum '{name}' has no values",
            at=Place((*field.path, "type")),
            hint="list them under 'values'",
        )
    types, better = _REDUCED.get(field.reducer, ((), ""))
    if types and field.type not in types and field.type in (*_FITS, "enum"):
        yield Finding(
            message=f"'{field.reducer}' does not give a value of type '{field.type}'",
            at=Place((*field.path, "reducer")),
            hint=f"write type: {better}, or another reducer",
        )
    if field.has_default and field.default is not None:
        if not (python and _fits(field)):
            yield from _default(field)


def _fits(field: Field) -> bool:
    """What no file can hold may be the default of a field in Python: a tuple."""
    from statecli.kernel.values import Unfit, fits  # a graph in a file needs none of it

    return not isinstance(fits(field, field.default), Unfit)


def _default(field: Field) -> Iterator[Finding]:
    value, place = field.default, Place((*field.path, "default"))
    if field.type == "enum":
        if field.values and not any(same(value, member) for member in field.values):
            yield Finding(
                message=f"the default {shown(value)} is none of the values of '{field.name}'",
                at=place,
                hint=did_you_mean(str(value), map(str, field.values))
                or f"one of {', '.join(map(shown, field.values))}",
            )
        return
    wanted, fits = _FITS.get(field.type, ("", lambda _: True))
    if not fits(value):
        yield Finding(
            message=f"the default of '{field.name}' is {described(value)}, its type '{field.type}'",
            at=place,
            hint=f"write {wanted}, or another type",
        )
