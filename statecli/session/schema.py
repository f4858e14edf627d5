"""Fields from a schema in Python: a pydantic model, a dataclass or a TypedDict whose annotations
name the reducer: ``messages: Annotated[list, "append_messages"]`` (document 002)."""

from __future__ import annotations

import keyword
import types
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from statecli.kernel.given import unmodelled
from statecli.kernel.reducers import known_reducer
from statecli.model.graph import REDUCERS, Field
from statecli.model.keys import FIELD_TYPES, OBJECTS
from statecli.model.nearest import did_you_mean

#: Types that `generate_state_schema` takes, also by name.
PLAIN = {kind.__name__: kind for kind in (str, int, float, bool, list, tuple, dict, set)}


class _Default(NamedTuple):
    has: bool
    value: Any = None


def fields_from(schema: Any) -> dict[str, Field]:
    """The fields of a schema, in its order. ValueError for a reducer that nobody registered,
    TypeError for what is no schema."""
    if not isinstance(schema, type) or not hasattr(schema, "__annotations__"):
        name = getattr(schema, "__name__", repr(schema))
        raise TypeError(f"{name} is no schema: a pydantic model, a dataclass or a TypedDict is")
    return {name: _field(schema, name, hint) for name, hint in _hints(schema).items()}


def _hints(schema: Any) -> Mapping[str, Any]:
    """The annotation of each field. A model knows its own; else names are looked up where the
    schema was defined. TypeError where one is not there."""
    model = getattr(schema, "model_fields", None)
    if model is not None:
        return {
            name: Annotated[(field.annotation, *field.metadata)] if field.metadata
            else field.annotation
            for name, field in model.items()
        }  # fmt: skip
    try:
        hints = get_type_hints(schema, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{schema.__name__}: {error}; the types of a schema have to be defined in its module"
        ) from None
    own = _own(schema)
    return {name: hint for name, hint in hints.items() if own is None or name in own}


def _own(schema: Any) -> Mapping[str, Any] | None:
    """The fields of a dataclass by name, without what is of the class or for its constructor only;
    None where it is none."""
    if not hasattr(schema, "__dataclass_fields__"):
        return None
    import dataclasses

    return {item.name: item for item in dataclasses.fields(schema)}


def _field(schema: Any, name: str, hint: Any) -> Field:
    reducer = "append_messages" if name == "messages" else "overwrite"
    while get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        named = next((note for note in notes if isinstance(note, str)), None)
        if named is not None:
            reducer = named
    _reducer(name, reducer)
    kind, values = _kind(hint)
    default = _default(schema, name)
    first = unmodelled(default.value, schema)
    return Field(name, kind, values, reducer, default.has, first, "declared", ())


def declared(name: str, spec: Any) -> Field:
    """A field as it stands under `fields` in a file."""
    if not isinstance(spec, Mapping):
        raise TypeError(f"the field '{name}' is a mapping, such as {{'type': 'int'}}, not {spec!r}")
    for key in spec:
        _one_of(f"the key '{key}' of the field '{name}'", key, OBJECTS["field"])
    kind, reducer = spec.get("type", "any"), spec.get("reducer", "overwrite")
    _one_of(f"the type {kind!r} of the field '{name}'", kind, FIELD_TYPES)
    _reducer(name, reducer)
    return Field(
        name, kind, tuple(spec.get("values", ())), reducer,
        "default" in spec, spec.get("default"), "declared", (),
    )  # fmt: skip


def _one_of(what: str, word: object, known: Iterable[str]) -> None:
    names = list(known)
    if word not in names:
        hint = did_you_mean(str(word), names) or f"there are: {', '.join(names)}"
        raise ValueError(f"{what} is none ({hint})")


def _reducer(name: str, reducer: str) -> None:
    """ValueError for a reducer that nobody registered."""
    if not known_reducer(reducer):
        hint = did_you_mean(reducer, REDUCERS)
        message = f"the field '{name}' wants the reducer '{reducer}', which nobody registered"
        raise ValueError(f"{message} ({hint})" if hint else message)


def _kind(hint: Any) -> tuple[str, tuple[object, ...]]:
    """The type of a field, and the values of an enum. A type that is several is any."""
    origin = get_origin(hint)
    if getattr(origin, "__name__", "") in ("Required", "NotRequired", "ReadOnly"):
        return _kind(get_args(hint)[0])
    if origin is Literal:
        return "enum", get_args(hint)
    if origin in (Union, types.UnionType):
        return "any", ()
    kind = origin or hint
    if isinstance(kind, type):
        if issubclass(kind, Enum):
            return "enum", tuple(member.value for member in kind)
        for name in ("bool", "int", "float", "str", "list", "tuple", "dict", "set"):
            if kind is PLAIN[name] or (name == "set" and kind is frozenset):
                return name, ()
        if issubclass(kind, Mapping):
            return "dict", ()
        if issubclass(kind, Sequence) and not issubclass(kind, str | bytes):
            return "list", ()
    return "any", ()


def _default(schema: Any, name: str) -> _Default:
    """The default that a model, a dataclass or a class attribute gives."""
    model = getattr(schema, "model_fields", None)
    if model is not None:
        found = model.get(name)
        if found is None or found.is_required():
            return _Default(has=False)
        return _Default(True, found.get_default(call_default_factory=True))
    own = (_own(schema) or {}).get(name)
    if own is not None and own.init:  # else it makes that itself, perhaps of other fields
        import dataclasses

        if own.default is not dataclasses.MISSING:
            return _Default(True, own.default)
        if own.default_factory is not dataclasses.MISSING:
            return _Default(True, own.default_factory())
    return _Default(has=False)


def is_plain_dict(schema: Any) -> bool:
    """Whether bodies get a dict: a TypedDict has keys, no attributes."""
    return isinstance(schema, type) and issubclass(schema, dict)


def generate_state_schema(variables: Iterable[tuple[str, Any, str]] = ()) -> Any:
    """A schema made of ``(name, type, reducer)``; the field `messages` is always there.

    Types are str, int, float, bool, list, tuple, dict and set, or their names. ValueError for a
    name that Python cannot have or that comes twice, another type, a reducer nobody registered.
    """
    from typing import TypedDict

    found: dict[str, Any] = {"messages": Annotated[list, "append_messages"]}
    for name, kind, reducer in variables:
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r} is no name of a variable in Python")
        if name in found:
            raise ValueError(f"the name '{name}' comes twice" if name != "messages" else
                             "the field 'messages' is there already")  # fmt: skip
        known = PLAIN.get(kind) if isinstance(kind, str) else kind
        if known not in PLAIN.values() and get_origin(known) not in PLAIN.values():
            listed = ", ".join(PLAIN)
            raise ValueError(f"'{name}' has the type {kind!r}; there are: {listed}")
        if not known_reducer(reducer):
            listed = did_you_mean(reducer, REDUCERS) or f"there are: {', '.join(REDUCERS)}"
            raise ValueError(f"'{name}': no reducer is named '{reducer}' ({listed})")
        found[name] = Annotated[known, reducer]
    return TypedDict("StateSchema", found)  # type: ignore[operator]  # made at run time


def safe_get_attr(state: Any, name: str, default: Any = None) -> Any:
    """A field of the data however bodies get it: by key or by attribute."""
    if isinstance(state, Mapping):
        return state.get(name, default)
    return getattr(state, name, default)
