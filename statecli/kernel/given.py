"""Data as Python code of a person gets it: a deep copy, of the graph's own type."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Mapping
from typing import Annotated, Any

from statecli.kernel.typed import by_name, dataclass_of, model_of, typed_fields
from statecli.model.snapshot import Messages

#: Values that need no copy: nobody can change them.
FIXED = frozenset({str, int, float, bool, bytes, type(None), frozenset})


def given(data_type: Any, data: Mapping[str, Any]) -> Any:
    """A deep copy of the data, as an instance of `data_type` (None: a dict)."""
    found = dict(data)
    for key, value in data.items():
        if type(value) not in FIXED:
            found[key] = copied(value)
    return found if data_type is None else _typed(data_type, found)


def _typed(data_type: Any, values: dict[str, Any]) -> Any:
    """An instance of a model, a dataclass or a TypedDict. A model whose required fields are not
    all set yet has those that are."""
    model = getattr(data_type, "model_fields", None)
    if model is not None:
        return _model(data_type, model, {key: v for key, v in values.items() if key in model})
    if hasattr(data_type, "__dataclass_fields__"):
        return dataclass_of(data_type, values)
    return data_type(**typed_fields(data_type, values))


def _model(data_type: Any, fields: Mapping[str, Any], known: dict[str, Any]) -> Any:
    if any(item.is_required() and name not in known for name, item in fields.items()):
        found = data_type.model_construct()
        # Each is made what its annotation says, by itself, also where the model is frozen.
        for name, value in known.items():
            found.__dict__[name] = _adapter(data_type, name).validate_python(value, **by_name())
            found.__pydantic_fields_set__.add(name)
        return found
    if not by_name():
        for name, alias in _aliases(data_type):
            if name in known:
                known[alias] = known.pop(name)
    return model_of(data_type, known)


@functools.cache
def _aliases(data_type: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a model that it wants to be given by another name."""
    found = ((name, item.validation_alias) for name, item in data_type.model_fields.items())
    return tuple((name, alias) for name, alias in found if isinstance(alias, str))


@functools.cache
def _adapter(data_type: Any, name: str) -> Any:
    """What makes a value what a field of a model wants."""
    from pydantic import TypeAdapter

    field = data_type.model_fields[name]
    notes = tuple(field.metadata)
    hint: Any = Annotated[(field.annotation, *notes)] if notes else field.annotation
    return TypeAdapter(hint)


def kept_values(values: Mapping[str, Any], schema: Any = None) -> dict[str, Any]:
    """Fields as a run keeps them: copies, without models. ValueError for one that nobody can read
    to its end."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        try:
            found[key] = unmodelled(copied(value), schema)
        except RecursionError:
            raise ValueError(f"'{key}' contains itself, or lists within lists too deep") from None
    return found


def unmodelled(value: Any, schema: Any = None) -> Any:
    """Models in a value as plain data, as deep as lists, tuples and mappings go; dataclasses where
    there is a `schema` that makes them what they were again."""
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump()
    if schema is not None and dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = fields_of(value)
    if type(value) in (list, tuple):
        return type(value)([unmodelled(item, schema) for item in value])
    if type(value) is dict:
        return {key: unmodelled(item, schema) for key, item in value.items()}
    if schema is not None and isinstance(value, tuple):  # a named one
        return tuple([unmodelled(item, schema) for item in value])
    return value


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a mapping, a model or a dataclass."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        found: dict[str, Any] = dump()
        return found
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    return dict(vars(value))


def copied(value: Any) -> Any:
    """A body may change what it gets, and gets a list where it expects one."""
    return copy.deepcopy(list(value) if isinstance(value, Messages) else value)
