"""What a reducer has to be given so that a value comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecli.kernel.reducers import is_conversation
from statecli.model.graph import Graph


def same(old: Any, new: Any) -> bool:
    """Whether a value is still what it was: 1 is not True, and not 1.0."""
    return old is new or (type(old) is type(new) and bool(old == new))


def difference(key: str, reducer: str, old: Any, new: Any) -> Any:
    """What a reducer makes the new value of, given the old one. ValueError where nothing does."""
    if reducer in ("", "overwrite"):
        return new
    if reducer == "increment":
        return new - (old or 0)
    if reducer == "merge":
        known_items = dict(old or {})
        if known_items.keys() <= new.keys():
            return {k: v for k, v in new.items() if k not in known_items or known_items[k] != v}
    if reducer in ("extend", "append_messages", "append"):
        known = list(old or ())
        if list(new[: len(known)]) == known:
            tail = list(new[len(known) :])
            if reducer != "append":
                return tail
            if len(tail) == 1:
                return tail[0]
    raise ValueError(f"'{key}' was changed in a way that its reducer '{reducer}' cannot do")


def reducer_of(graph: Graph, key: str) -> str:
    """The name of the reducer that merges a field."""
    if is_conversation(graph, key):
        return "append_messages"
    field = graph.fields.get(key)
    return (field.reducer if field is not None else "") or "overwrite"


def as_delta(graph: Graph, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What was added to the data `old` so that it is `new`. A value that its reducer cannot reach
    from the old one stands as a whole: the reducer gets all of it."""
    found: dict[str, Any] = {}
    for key, value in new.items():
        if key in old and (old[key] is value or old[key] == value):
            continue
        try:
            found[key] = difference(key, reducer_of(graph, key), old.get(key), value)
        except (ValueError, TypeError, AttributeError):
            found[key] = value
    return found
