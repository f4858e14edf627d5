"""Text of a person to a value of a field's type. Nothing is guessed: what is unclear is Unfit."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, NamedTuple

from statecli.kernel.spoken import number_in, yes_or_no
from statecli.model.data import shown
from statecli.model.graph import Field
from statecli.model.guard import fold
from statecli.model.snapshot import Messages


class Unfit(NamedTuple):
    """Why a text or value does not fit, in words for the person (or the model)."""

    reason: str


def parsed(field: Field | None, text: str) -> Any:
    """The value that a line means for a field, or Unfit. A field nobody declares takes the text."""
    kind = field.type if field is not None else "any"
    line = text.strip()
    if kind in ("any", "str"):
        return line or Unfit("an empty line is no answer")
    if kind == "enum" and field is not None:
        return _member(field, line)
    if kind == "bool":
        answer = yes_or_no(line)
        return Unfit(f"{shown(line)} is neither yes nor no") if answer is None else answer
    if kind in ("int", "float"):
        about = spaced(field.name) if field is not None else ""
        return _number(line, about, whole=kind == "int")
    return _structure(kind, line)


def _member(field: Field, line: str) -> Any:
    """A member by its name (folded; spaces for the underscores) or by its number in the list."""
    word = spaced(line)
    for member in field.values:
        if spaced(str(member)) == word:
            return member
    if line.isascii() and line.isdigit() and 1 <= int(line) <= len(field.values):
        return field.values[int(line) - 1]
    listed = ", ".join(str(member) for member in field.values)
    return Unfit(f"{shown(line)} is none of {listed}")


def spaced(name: str) -> str:
    """A name as people say it: folded, with spaces where it has underscores or hyphens."""
    return " ".join(fold(name).replace("_", " ").replace("-", " ").split())


def _number(line: str, about: str, *, whole: bool) -> Any:
    number = number_in(line, about)
    if number is None:
        return Unfit(f"{shown(line)} is not a number")
    if whole and number != int(number):
        return Unfit(f"{shown(line)} is not a whole number")
    return int(number) if whole else number


def _structure(kind: str, line: str) -> Any:
    """Lists and mappings are written as JSON; a list also as items with commas between."""
    wanted = dict if kind == "dict" else list
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, wanted):
        return value
    if wanted is list and line and line[0] not in "[{":
        return [item.strip() for item in line.split(",")]
    return Unfit(f"{shown(line)} is not a {'mapping' if wanted is dict else 'list'} in JSON")


def fits(field: Field | None, value: Any) -> Any:
    """A value of a model or tool as the field stores it, or Unfit. An int is a float."""
    kind = field.type if field is not None else "any"
    if field is None or kind == "any":
        return value
    if kind == "enum":
        if isinstance(value, Enum):
            value = value.value
        if any(member == value and type(member) is type(value) for member in field.values):
            return value
        if isinstance(value, str):
            return _member(field, value) if not value.strip().isdigit() else _literal(field, value)
        return Unfit(f"{shown(value)} is none of the values of '{field.name}'")
    if kind in ("int", "float") and isinstance(value, bool):
        return Unfit(f"'{field.name}' is a number, not {shown(value)}")
    if kind == "int" and isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, _TYPES.get(kind, object)):
        return Unfit(f"'{field.name}' is {_ARTICLE.get(kind, 'a')} {kind}, not {shown(value)}")
    if kind == "tuple" and isinstance(value, list):
        return tuple(value)
    return _as_set(field.name, value) if kind == "set" else value


_TYPES: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": (int, float),
    "list": (list, Messages),
    "tuple": (list, tuple),
    "dict": dict,
    "set": (list, set, frozenset),
}
_ARTICLE = {"int": "an"}


def _as_set(name: str, value: Any) -> Any:
    try:
        return set(value)
    except TypeError:
        return Unfit(f"'{name}' is a set, and {shown(value)} holds what no set can")


def _literal(field: Field, value: str) -> Any:
    for member in field.values:
        if fold(str(member)) == fold(value):
            return member
    return Unfit(f"{shown(value)} is none of the values of '{field.name}'")
