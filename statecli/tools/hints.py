"""The JSON schema of a Python function's parameters, from its type hints, and arguments back to
the values that it takes."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Union

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


class Signature(NamedTuple):
    """`schema` of the arguments; `hints` are the types they are given as."""

    schema: dict[str, Any]
    hints: Mapping[str, Any]
    takes_user: bool

    def values(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as the function takes them."""
        return {name: _value(self.hints.get(name, Any), item) for name, item in arguments.items()}


def signature_of(function: Callable[..., Any], user: str) -> Signature:
    """What a function takes. A parameter named `user` is left out of the schema. Raises TypeError
    for what no JSON can give."""
    target = function if inspect.isroutine(function) else type(function).__call__
    hints = typing.get_type_hints(target, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    takes_user = more = False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            more = True
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            raise TypeError(f"'{name}' can only be given by its place")
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif name == user:
            takes_user = True
        else:
            schema = schema_of(hints.get(name, Any))
            if parameter.default is parameter.empty:
                required.append(name)
            elif isinstance(parameter.default, str | int | float | bool | None):
                schema = {**schema, "default": parameter.default}
            properties[name] = schema
    schema = {"type": "object", "properties": properties, "required": required}
    if not more:
        schema["additionalProperties"] = False
    return Signature(schema, hints, takes_user)


def schema_of(hint: Any) -> dict[str, Any]:
    """The schema of one type. TypeError for one that JSON has no values of."""
    if isinstance(hint, typing.TypeVar) or hint in (inspect.Parameter.empty, ...):
        return {}
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(hint)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin in (typing.Required, typing.NotRequired):
        return schema_of(args[0])
    base = origin or hint
    if inspect.isclass(base):
        return _class(base, args)
    raise TypeError(f"there is no JSON for the type {_name(hint)}")


def _annotated(hint: Any) -> dict[str, Any]:
    """A text beside a type describes it; pydantic's Field has one too."""
    schema = schema_of(hint.__origin__)
    for more in hint.__metadata__:
        about = more if isinstance(more, str) else getattr(more, "description", None)
        if isinstance(about, str):
            schema = {**schema, "description": about}
    return schema


def _union(args: Sequence[Any]) -> dict[str, Any]:
    schemas = [schema_of(arg) for arg in args]
    kinds = [schema.get("type") for schema in schemas]
    if all(set(schema) == {"type"} and isinstance(schema["type"], str) for schema in schemas):
        return {"type": kinds}
    return {"anyOf": schemas}


def _class(base: Any, args: Sequence[Any]) -> dict[str, Any]:
    if issubclass(base, enum.Enum):
        return {"enum": [member.value for member in base]}
    if typing.is_typeddict(base):
        hints = typing.get_type_hints(base, include_extras=True)
        return _object(hints, [key for key, hint in hints.items() if _needed(base, key, hint)])
    if dataclasses.is_dataclass(base):
        hints = typing.get_type_hints(base, include_extras=True)
        missing = dataclasses.MISSING
        fields = [f for f in dataclasses.fields(base) if f.init]
        needed = [f.name for f in fields if f.default is missing and f.default_factory is missing]
        return _object({f.name: hints[f.name] for f in fields}, needed)
    if hasattr(base, "model_json_schema"):  # a class of pydantic knows its own
        found: dict[str, Any] = base.model_json_schema()
        return found
    if issubclass(base, Mapping):
        inner = schema_of(args[1]) if len(args) == 2 else {}
        return {"type": "object", **({"additionalProperties": inner} if inner else {})}
    if issubclass(base, tuple) and args and args[-1] is not ...:
        count = len(args)
        items = [schema_of(arg) for arg in args]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}
    if issubclass(base, Collection) and not issubclass(base, bytes | bytearray):
        schema: dict[str, Any] = {"type": "array", "items": schema_of(args[0]) if args else {}}
        return {**schema, "uniqueItems": True} if issubclass(base, set | frozenset) else schema
    raise TypeError(f"there is no JSON for the type {_name(base)}")


def _needed(base: Any, key: str, hint: Any) -> bool:
    """Whether a key of a TypedDict is required. Where its annotations are texts the class itself
    does not know."""
    while typing.get_origin(hint) is typing.Annotated:
        hint = hint.__origin__
    origin = typing.get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        return origin is typing.Required
    return key in base.__required_keys__


def _object(hints: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    properties = {name: schema_of(hint) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": list(required),
            "additionalProperties": False}  # fmt: skip


def _value(hint: Any, item: Any) -> Any:
    """A value of JSON as its type: members of enums, objects of classes, sets, tuples."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _value(hint.__origin__, item)
    if origin in (Union, types.UnionType):
        return _one_of(args, item)
    base = origin or hint
    if not inspect.isclass(base):
        return item
    if issubclass(base, enum.Enum):
        return base(item)
    if dataclasses.is_dataclass(base) and isinstance(item, Mapping):
        hints = typing.get_type_hints(base, include_extras=True)
        return base(**{name: _value(hints.get(name, Any), v) for name, v in item.items()})
    if hasattr(base, "model_validate"):
        return base.model_validate(item)
    if isinstance(item, list):
        return _items(base, args, item)
    return float(item) if base is float and type(item) is int else item


def _one_of(args: Sequence[Any], item: Any) -> Any:
    """A value of a union: a plain value is itself, else the first that it can be."""
    if any(inspect.isclass(arg) and type(item) is arg for arg in args):
        return item
    for arg in args:
        try:
            made = _value(arg, item)
        except (TypeError, ValueError):
            continue
        if made is not item:
            return made
    return item


def _items(base: type, args: Sequence[Any], items: list[Any]) -> Any:
    inner = args[0] if args else Any
    if issubclass(base, tuple):
        kinds = args if args and args[-1] is not ... else [inner] * len(items)
        return tuple(_value(kind, part) for kind, part in zip(kinds, items, strict=False))
    parts = [_value(inner, part) for part in items]
    return base(parts) if issubclass(base, set | frozenset) else parts


def _name(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)
