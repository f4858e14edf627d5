"""Plain data as what the annotations of a schema say: members of an Enum, dataclasses, models."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Mapping
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints


@functools.cache
def made_by(schema: Any) -> Mapping[str, Any]:
    """The annotations of those fields of a dataclass or TypedDict whose values are no plain data;
    of no field where their types cannot be looked up."""
    try:
        hints = get_type_hints(schema)
    except NameError:  # a type of a function: `with_schema` says so, where it matters
        return {}
    except TypeError:  # a generic class with its parameter, or another thing that makes instances
        return {}
    return {name: hint for name, hint in hints.items() if _is_made(hint)}


def _is_made(hint: Any) -> bool:
    return _makes(hint) or any(map(_is_made, get_args(hint)))


def _makes(hint: Any) -> bool:
    return isinstance(hint, type) and (
        issubclass(hint, Enum)
        or hasattr(hint, "__dataclass_fields__")
        or hasattr(hint, "model_validate")
        or (issubclass(hint, tuple) and hasattr(hint, "_fields"))
    )


def typed_fields(schema: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a schema, each as its annotation says. What fits none stays as it is."""
    hints = made_by(schema)
    return {k: made(hints[k], value) if k in hints else value for k, value in values.items()}


def made(hint: Any, value: Any) -> Any:
    """A value as its annotation says; ValueError where it cannot be."""
    if _makes(hint):
        return _one(hint, value)
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        for part in parts:
            if _is_made(part) and type(value) is not part:
                try:
                    return made(part, value)
                except (TypeError, ValueError):
                    continue
    elif isinstance(value, Mapping) and len(parts) == 2:
        return {made(parts[0], key): made(parts[1], item) for key, item in value.items()}
    elif kind is tuple and parts and parts[-1] is not ...:
        if type(value) in (list, tuple) and len(value) == len(parts):
            return tuple(made(part, item) for part, item in zip(parts, value, strict=True))
    elif type(value) in (list, tuple, set) and parts:
        return type(value)(made(parts[0], item) for item in value)
    return value


def _one(hint: Any, value: Any) -> Any:
    """One member, named tuple, dataclass or model."""
    if isinstance(value, hint):
        return value
    if issubclass(hint, Enum):
        return hint(value)
    if issubclass(hint, tuple) and isinstance(value, list | tuple):
        return hint(**typed_fields(hint, dict(zip(hint._fields, value, strict=False))))
    if hasattr(hint, "model_validate"):
        return model_of(hint, value)
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r} is no {hint.__name__}")
    return dataclass_of(hint, value)


def model_of(kind: Any, values: Any) -> Any:
    """A model of plain data, in which fields go by their names, however deep: their aliases are for
    the world outside."""
    return kind.model_validate(values, **by_name())


@functools.cache
def by_name() -> Mapping[str, Any]:
    """What asks pydantic to take fields by their names too; versions before 2.11 cannot."""
    from pydantic import BaseModel

    known = inspect.signature(BaseModel.model_validate).parameters
    return {"by_name": True, "by_alias": True} if "by_name" in known else {}


def dataclass_of(kind: Any, values: Mapping[str, Any]) -> Any:
    """A dataclass of plain data. What its constructor does not take is set when it is made.
    TypeError where a field is wanted that is not there."""
    known = {item.name: item for item in dataclasses.fields(kind)}
    given = typed_fields(kind, {key: item for key, item in values.items() if key in known})
    for name, item in known.items():
        if item.init and name not in given and _is_required(item):
            raise TypeError(f"{kind.__name__} needs '{name}', and nothing has set it yet: give it "
                            "a default, or the run a value at its beginning")  # fmt: skip
    found = kind(**{name: item for name, item in given.items() if known[name].init})
    for name, item in given.items():
        if not known[name].init:
            object.__setattr__(found, name, item)  # also where it is frozen
    return found


def _is_required(item: Any) -> bool:
    return item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
