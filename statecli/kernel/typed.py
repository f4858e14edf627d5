"""Plain data as what the annotations of a schema say: members of an Enum, dataclasses, models."""

from __future__ import annotations

import functools
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
    """One member, dataclass or model."""
    if isinstance(value, hint):
        return value
    if issubclass(hint, Enum):
        return hint(value)
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r} is no {hint.__name__}")
    if hasattr(hint, "model_validate"):
        return hint.model_validate(value)
    known = hint.__dataclass_fields__
    given = {key: item for key, item in value.items() if key in known and known[key].init}
    return hint(**typed_fields(hint, given))
