"""Events as text and back: one JSON object a body, the same in the store, in traces and exports.

Values that JSON has no word for stand as an object with one key: ``{"$tuple": [...]}``, ``$set``,
``$frozenset``, ``$float`` (nan, inf), ``$bytes`` (base64), ``$map`` (pairs, where a key is no
plain text), and those of `statecli.store.standard`.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from itertools import starmap
from typing import Any

from statecli.model.event import BODIES, Body, Event, Trial
from statecli.model.ports import Batch
from statecli.model.snapshot import Messages


class NotPlain(TypeError):
    """A value that cannot be stored: plain data can, an object of a class of one's own cannot."""


#: Fields that hold data: anything that a state may write.
_DATA = frozenset({"data", "early", "value", "result", "arguments"})
#: Fields that are tuples of the event itself.
_TUPLES = frozenset(
    {
        "entries",
        "forgotten",
        "reopened",
        "options",
        "answers",
        "tasks",
        "trials",
        "tokens",
        "fields",
    }
)

#: What reading a value raises that nobody wrote like this.
_DAMAGE = (TypeError, ArithmeticError, LookupError, AttributeError, RecursionError)

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_decode = json.JSONDecoder().raw_decode
_encode_ascii = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_ABSENT: Any = object()
#: The fields of each body: name, default, whether it holds data.
_SHAPES: dict[type, list[tuple[str, Any, bool]]] = {
    kind: [(name, kind._field_defaults.get(name, _ABSENT), name in _DATA) for name in kind._fields]
    for kind in BODIES.values()
}
#: The fields of each body that are tuples.
_LISTED: dict[type, list[str]] = {
    kind: [name for name in kind._fields if name in _TUPLES] for kind in BODIES.values()
}


def dumped(body: Body) -> str:
    """A body's fields as a JSON object; fields at their default are left out. Raises NotPlain."""
    try:
        text = _encode(_fields_of(body))
    except (ValueError, RecursionError) as error:  # too many digits; a value that holds itself
        raise NotPlain(f"a value cannot be stored: {error}") from None
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # half a character, as a broken terminal sends it
            return _encode_ascii(_fields_of(body))
    return text


def _fields_of(body: Body) -> dict[str, Any]:
    """What is not at its default."""
    fields: dict[str, Any] = {}
    for (name, default, data), value in zip(_SHAPES[type(body)], body, strict=True):
        if value is not default and value != default:
            at = getattr(body, "key", name) if name == "value" else name
            fields[name] = _told(value, at) if data else value
    return fields


def there_already(run: str) -> ValueError:
    """Why a store makes no second run of a name."""
    return ValueError(f"there is already a run '{run}' in the store: Run.resume goes on with it")


def loaded(name: str, text: str) -> Body:
    """The body that `dumped` wrote. ValueError where the row is not one."""
    return _body(name, text, _fields(text))


#: So many rows are read as one text: few enough to stay in a near cache.
_AT_ONCE = 64


def all_loaded(rows: Sequence[tuple[str, str]]) -> list[Body]:
    """The bodies of rows: (name, text). ValueError where one is none.

    They are read as one array, which knows the names of the fields after the first of them: a third
    of the time. Where that is not one plain value a row, each is read by itself.
    """
    found: list[Body] = []
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        text = ",".join([text for _, text in some])
        try:
            values = _decode(f"[{text}]")[0]
            if len(values) == len(some) and '"$' not in text:
                found += [
                    _plain(BODIES[name], fields)
                    for (name, _), fields in zip(some, values, strict=True)
                ]
                continue
        except (ValueError, *_DAMAGE):
            pass
        found += [loaded(name, text) for name, text in some]
    return found


def _fields(text: str) -> Any:
    try:
        return _decode(text)[0]
    except RecursionError as error:
        raise ValueError(f"not an event: {error}") from None


def _body(name: str, text: str, fields: Any) -> Body:
    kind = BODIES.get(name)
    if kind is None:
        raise ValueError(f"no event is named '{name}'")
    if not isinstance(fields, dict):
        raise ValueError("an event is a JSON object")
    try:
        if '"$' in text:
            fields = {key: _read(value) if key in _DATA else value for key, value in fields.items()}
        return _plain(kind, fields)
    except _DAMAGE as error:
        raise ValueError(f"not an event '{name}': {error}") from None


def _plain(kind: type[Any], fields: dict[str, Any]) -> Body:
    """The body of fields whose values are what JSON has a word for."""
    for key in _LISTED[kind]:
        if key in fields and type(value := fields[key]) is list:
            fields[key] = tuple(starmap(Trial, value) if key == "trials" else value)
    body: Body = kind(**fields)
    return body


def events_of(run: str, batch: Batch) -> list[Event]:
    """The events of a batch, one by one."""
    return [
        Event(run, number, time, body)
        for number, (time, body) in enumerate(
            zip(batch.times, batch.bodies, strict=True), batch.first
        )
    ]


def body_of(row: Mapping[str, Any]) -> Body:
    """The body of one line that `line` wrote. ValueError where it is none."""
    try:
        return loaded(str(row["event"]), json.dumps(row["body"]))
    except KeyError as error:
        raise ValueError(f"an event has {error}") from None


def line(event: Event) -> str:
    """One line of a trace or export (JSONL). What a terminal might obey is escaped."""
    head = {"run": event.run, "number": event.number, "time": event.time, "event": event.name}
    text = f'{json.dumps(head)[:-1]}, "body": {dumped(event.body)}}}'
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)


# --- values -------------------------------------------------------------------------------------


def _told(value: Any, at: str) -> Any:
    """A value in the words of JSON. `at` names its place for the error."""
    write = _WRITE.get(type(value))
    if write is None:
        write = next((way for kind, way in _WRITE_KINDS if isinstance(value, kind)), _standard)
    return write(value, at)


def in_json(value: Any, at: str) -> Any:
    """A value of the data as rows have it: `json` can write it. `at` names it in NotPlain."""
    return _told(value, at)


def from_json(value: Any) -> Any:
    """The value that `in_json` wrote. ValueError where it is damaged."""
    try:
        return _read(value)
    except _DAMAGE as error:
        raise ValueError(f"not a value: {error}") from None


def _as_it_is(value: Any, at: str) -> Any:  # noqa: ARG001 - every way of writing takes the same
    return value


def _standard(value: Any, at: str) -> Any:
    """What Python's own library has (times, paths, members of an Enum); else NotPlain."""
    from statecli.store.standard import written

    found = written(value, lambda inner: _told(inner, at))
    if found is None:
        kind = type(value).__name__
        raise NotPlain(f"'{at}' holds a {kind}, which cannot be stored: use plain data, or "
                       "a schema (with_schema) of pydantic models or dataclasses")  # fmt: skip
    return found


def _float(value: float, at: str) -> Any:  # noqa: ARG001
    return value if math.isfinite(value) else {"$float": repr(value)}


def _items(value: Any, at: str) -> Any:
    return [_told(item, at) for item in value]


def _sorted(value: Any, at: str) -> Any:
    """The members of a set: equal sets are written alike."""
    return sorted(_items(value, at), key=_encode)


def _map(value: Mapping[Any, Any], at: str) -> Any:
    if all(type(key) is str and key[:1] != "$" for key in value):
        return {key: _told(item, key) for key, item in value.items()}
    return {"$map": [[_told(key, at), _told(item, at)] for key, item in value.items()]}


_WRITE: dict[type, Callable[[Any, str], Any]] = {
    str: _as_it_is,
    int: _as_it_is,
    bool: _as_it_is,
    type(None): _as_it_is,
    float: _float,
    list: _items,
    dict: _map,
    Messages: _items,
    tuple: lambda value, at: {"$tuple": _items(value, at)},
    set: lambda value, at: {"$set": _sorted(value, at)},
    frozenset: lambda value, at: {"$frozenset": _sorted(value, at)},
    bytes: lambda value, at: {"$bytes": base64.b64encode(value).decode()},
}
#: What is written like one of these.
_WRITE_KINDS: tuple[tuple[type, Callable[[Any, str], Any]], ...] = (
    (Enum, _standard),
    (str, lambda value, at: str.__str__(value)),
    (int, lambda value, at: int(value)),
    (float, lambda value, at: _float(float(value), at)),
    (Mapping, _map),
    (list, _items),
    (tuple, lambda value, at: {"$tuple": _items(value, at)}),
)

_READ: dict[str, Callable[[Any], Any]] = {
    "$tuple": lambda value: tuple(map(_read, value)),
    "$set": lambda value: set(map(_read, value)),
    "$frozenset": lambda value: frozenset(map(_read, value)),
    "$float": float,
    "$bytes": base64.b64decode,
    "$map": lambda value: {_read(key): _read(item) for key, item in value},
}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        key = next(iter(value))
        if key in _READ:
            return _READ[key](value[key])
        if key[:1] == "$":
            from statecli.store.standard import READ

            return READ[key](_read(value[key])) if key in READ else {key: _read(value[key])}
    return {key: _read(item) for key, item in value.items()}
