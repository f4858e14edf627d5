"""Events as text and back: one JSON object a body, the same in the store, in traces and exports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from statecli.model.event import BODIES, Body, Event, Trial
from statecli.model.snapshot import Messages


def dumped(body: Body) -> str:
    """A body's fields as a JSON object; fields at their default are left out."""
    defaults = body._field_defaults
    fields = {
        name: value
        for name, value in zip(body._fields, body, strict=True)
        if name not in defaults or value != defaults[name]
    }
    return json.dumps(fields, ensure_ascii=False, default=_plain, separators=(",", ":"))


def loaded(name: str, text: str) -> Body:
    """The body that `dumped` wrote. ValueError where the row is not one."""
    kind = BODIES.get(name)
    if kind is None:
        raise ValueError(f"no event is named '{name}'")
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise ValueError("an event is a JSON object")
    for key, value in fields.items():
        if isinstance(value, list) and key not in _LISTS:
            fields[key] = tuple(Trial(*item) if key == "trials" else item for item in value)
    try:
        return kind(**fields)
    except TypeError as error:
        raise ValueError(f"not an event '{name}': {error}") from None


def body_of(row: Mapping[str, Any]) -> Body:
    """The body of one line that `line` wrote."""
    return loaded(str(row["event"]), json.dumps(row["body"]))


#: Fields whose lists are data, not tuples of the event.
_LISTS = frozenset({"data", "value", "result", "arguments", "early"})


def line(event: Event) -> str:
    """One line of a trace or export (JSONL)."""
    head = {"run": event.run, "number": event.number, "time": event.time, "event": event.name}
    return f"{json.dumps(head)[:-1]}, \"body\": {dumped(event.body)}}}"


def _plain(value: Any) -> Any:
    """Values that JSON has no word for: messages, sets, other mappings."""
    if isinstance(value, Messages | set | frozenset | tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
