"""Data as Python code of a person gets it: a deep copy, of the graph's own type."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

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
        known = {key: value for key, value in values.items() if key in model}
        lacks = any(item.is_required() and name not in known for name, item in model.items())
        return data_type.model_construct(**known) if lacks else data_type(**known)
    fields = getattr(data_type, "__dataclass_fields__", values)
    return data_type(**{key: value for key, value in values.items() if key in fields})


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
