"""How a delta is merged into the data, field by field (model.md 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from statecli.model.graph import Graph
from statecli.model.snapshot import Messages

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
_custom: dict[str, Callable[[Any, Any], Any]] = {}


def register_reducer(name: str) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
    """A decorator: the function ``(old, new) -> value`` is the reducer `name`; what is absent is
    MISSING."""

    def decorate(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        _custom[name] = function
        return function

    return decorate


def reduced(graph: Graph, data: Mapping[str, Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    """The data with a delta merged in; the old mapping stays as it was."""
    result = dict(data)
    fields = graph.fields
    for key, new in delta.items():
        field = fields.get(key)
        name = field.reducer if field is not None else ""
        if key == "messages" and field is None:
            name = "append_messages"
        if not name or name == "overwrite":
            result[key] = new
        else:
            result[key] = reduce(name, result.get(key, MISSING), new)
    return result


def reduce(name: str, old: object, new: object) -> object:
    """One value by one reducer. KeyError where no reducer has the name."""
    return (_REDUCERS.get(name) or _custom[name])(old, new)


def _append_messages(old: Any, new: Any) -> Messages:
    """Messages at the end; one whose id is already there is dropped, one without id never is."""
    messages = old if isinstance(old, Messages) else Messages([] if old is MISSING else list(old))
    known: set[object] | None = None
    for message in new if isinstance(new, list | tuple | Messages) else [new]:
        identity = message.get("id") if isinstance(message, Mapping) else None
        if identity:
            if known is None:
                known = {m.get("id") for m in messages if isinstance(m, Mapping)}
            if identity in known:
                continue
            known.add(identity)
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


_REDUCERS: dict[str, Callable[[Any, Any], Any]] = {
    "overwrite": lambda old, new: new,
    "append_messages": _append_messages,
    "append": _append,
    "extend": _extend,
    "merge": _merge,
    "increment": _increment,
}
