"""How a delta is merged into the data, field by field (model.md 7)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from statecli.kernel.values import Unfit, fits
from statecli.model.graph import Field, Graph
from statecli.model.snapshot import Messages


class _Missing:
    """There is one, also where data is copied."""

    def __repr__(self) -> str:
        return "MISSING"

    def __copy__(self) -> _Missing:
        return self

    def __deepcopy__(self, memo: object) -> _Missing:
        return self


MISSING: Any = _Missing()
Reducer = Callable[[Any, Any], Any]
_custom: dict[str, Reducer] = {}


class Misfit(ValueError):
    """A value that a field cannot hold."""


class Fitted(NamedTuple):
    """What of a delta may be stored, and the keys that are no fields of the graph."""

    delta: dict[str, Any]
    dropped: tuple[str, ...] = ()


def register_reducer(name: str) -> Callable[[Reducer], Reducer]:
    """A decorator: the function ``(old, new) -> value`` is the reducer `name`; what is absent is
    MISSING."""

    def decorate(function: Reducer) -> Reducer:
        _custom[name] = function
        return function

    return decorate


def reduced(graph: Graph, data: Mapping[str, Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    """The data with a delta merged in; the old mapping stays as it was."""
    result = {**data, **delta}
    special = graph.memory.get("reducers") or _special(graph)
    for key in delta:
        if key in special:
            reduce, convert = special[key]
            value = reduce(data.get(key, MISSING), delta[key])
            result[key] = value if convert is None else convert(value)
    return result


def fitted(
    graph: Graph, data: Mapping[str, Any], delta: Mapping[str, Any], *, null: bool = False
) -> Fitted:
    """A delta as it may be stored. Raises Misfit where what a reducer makes of it is not of its
    field's type, or where a reducer fails. `null`: null may stand in any field."""
    fields = graph.fields
    found: dict[str, Any] = {}
    dropped: list[str] = []
    for key, new in delta.items():
        field = fields.get(key)
        if field is None:
            if graph.declares_fields and key not in IMPLICIT:
                dropped.append(key)
                continue
            found[key] = new
        elif field.reducer in ("", "overwrite"):
            found[key] = new if new is None and null else of_type(field, new)
        else:
            try:
                result = reducer(field.reducer)(data.get(key, MISSING), new)
            except Exception as error:
                why = str(error) or type(error).__name__
                raise Misfit(f"'{key}' cannot be merged ({field.reducer}): {why}") from error
            of_type(field, result)
            found[key] = new
    return Fitted(found, tuple(dropped))


def first_data(graph: Graph, given: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a run that begins: what is given, else the defaults. Raises Misfit where a given
    value is not of its field's type."""
    found: dict[str, Any] = {}
    for name, field in graph.fields.items():
        if field.has_default and name not in given:
            stored = fits(field, field.default)
            found[name] = field.default if isinstance(stored, Unfit) else stored
    for name, value in given.items():
        known = graph.fields.get(name)
        found[name] = value if known is None else of_type(known, value)
    return found


#: Fields that exist without being declared: the conversation, and what a planner writes.
IMPLICIT = frozenset({"messages", "plan", "plan_step", "needs_permission"})


def is_conversation(graph: Graph, name: str) -> bool:
    """Whether a field is a list of messages, told apart by their ids."""
    field = graph.fields.get(name)
    return name == "messages" if field is None else field.reducer == "append_messages"


def taken(graph: Graph, name: str) -> Field | None:
    """What a body may write into a field: a value of its type, or where a reducer puts it into a
    list, anything; None for a field that nobody declares."""
    field = graph.fields.get(name)
    if field is not None and field.reducer in ("append", "append_messages"):
        return field._replace(type="any", values=())
    return field


def of_type(field: Field, value: object) -> Any:
    """The value as the field stores it. Raises Misfit."""
    stored = fits(field, value)
    if isinstance(stored, Unfit):
        raise Misfit(stored.reason)
    return stored


def known_reducer(name: str) -> bool:
    """Whether a reducer has this name: one that is built in, or registered."""
    return name in _REDUCERS or name in _custom


def reducer(name: str) -> Reducer:
    """The reducer of a name; one that is not built in is looked for when it is used."""
    return _REDUCERS.get(name) or partial(_by_name, name)


def _by_name(name: str, old: Any, new: Any) -> Any:
    found = _custom.get(name)
    if found is None:
        raise LookupError(f"no reducer is named '{name}'")
    # A reducer of a person may change what it gets: the data before it must stay as it was.
    return found(copy.deepcopy(_listed(old)), copy.deepcopy(new))


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, Messages) else value


def _special(graph: Graph) -> dict[str, tuple[Reducer, Callable[[Any], Any] | None]]:
    """The fields of a graph that are not simply overwritten, remembered."""
    known: dict[str, tuple[Reducer, Callable[[Any], Any] | None]]
    known = {"messages": (_append_messages, None)}
    for name, field in graph.fields.items():
        convert = _TYPES.get(field.type)
        known.pop(name, None)
        if field.reducer not in ("", "overwrite") or convert is not None:
            known[name] = (reducer(field.reducer or "overwrite"), convert)
    graph.memory["reducers"] = known
    return known


def _append_messages(old: Any, new: Any) -> Messages:
    """Messages at the end; one whose id is already there is dropped, one without id never is."""
    messages = old if isinstance(old, Messages) else Messages(() if old is MISSING else old)
    for message in new if isinstance(new, list | tuple | Messages) else [new]:
        identity = message.get("id") if isinstance(message, Mapping) else None
        if isinstance(identity, str | int) and messages.knows(identity):
            continue
        messages = messages.added(message)
    return messages


def _append(old: Any, new: Any) -> list[Any]:
    return [*([] if old is MISSING else old), new]


def _extend(old: Any, new: Any) -> list[Any]:
    return [*([] if old is MISSING else old), *new]


def _merge(old: Any, new: Any) -> dict[Any, Any]:
    return {**({} if old is MISSING else old), **new}


def _increment(old: Any, new: Any) -> Any:
    return new if old is MISSING else old + new


_REDUCERS: dict[str, Reducer] = {
    "overwrite": lambda old, new: new,
    "append_messages": _append_messages,
    "append": _append,
    "extend": _extend,
    "merge": _merge,
    "increment": _increment,
}

#: Types whose values arrive as lists (from a document, a model, a store).
_TYPES: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "set": set}
