"""Text of a person to a value of a field's type. Nothing is guessed: what is unclear is Unfit."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from statecli.model.data import shown
from statecli.model.graph import Field
from statecli.model.guard import as_number, fold


class Unfit(NamedTuple):
    """Why a text or value does not fit, in words for the person (or the model)."""

    reason: str


YES = frozenset({"yes", "y", "true", "on", "1", "yep", "yeah", "sure", "ok", "okay"})
NO = frozenset({"no", "n", "false", "off", "0", "nope", "nah"})


def parsed(field: Field | None, text: str) -> Any:
    """The value that a line means for a field, or Unfit. A field nobody declares takes the text."""
    kind = field.type if field is not None else "any"
    name = field.name if field is not None else "this"
    line = text.strip()
    if kind in ("any", "str"):
        return line or Unfit(f"'{name}' needs some text")
    if kind == "enum" and field is not None:
        return _member(field, line)
    if kind == "bool":
        return _yes_or_no(name, line)
    if kind in ("int", "float"):
        return _number(name, line, whole=kind == "int")
    return _structure(name, kind, line)


def _member(field: Field, line: str) -> Any:
    """A member by its name (folded) or by its number in the list."""
    for member in field.values:
        if fold(str(member)) == fold(line):
            return member
    if line.isascii() and line.isdigit() and 1 <= int(line) <= len(field.values):
        return field.values[int(line) - 1]
    listed = ", ".join(str(member) for member in field.values)
    return Unfit(f"'{field.name}' is one of: {listed}")


def _yes_or_no(name: str, line: str) -> Any:
    word = fold(line).rstrip(".!")
    if word in YES:
        return True
    if word in NO:
        return False
    return Unfit(f"'{name}' is yes or no")


#: A number with a unit behind it ("3 days", "12 €") is a number; two numbers are not one.
_WITH_UNIT = re.compile(r"[^\d+\-.]{0,3}([+-]?\d+(?:\.\d+)?)\s*[^\d\s]{0,12}", re.ASCII)
_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip


def _number(name: str, line: str, *, whole: bool) -> Any:
    number = as_number(line)
    if number is None:
        number = _WORDS.get(fold(line))
    if number is None:
        found = _WITH_UNIT.fullmatch(line)
        number = as_number(found.group(1)) if found is not None else None
    if number is None:
        return Unfit(f"'{name}' is a number, not {shown(line)}")
    if whole and number != int(number):
        return Unfit(f"'{name}' is a whole number, not {shown(line)}")
    return int(number) if whole else number


def _structure(name: str, kind: str, line: str) -> Any:
    """Lists and mappings are written as JSON; a list also as items with commas between."""
    wanted = dict if kind == "dict" else list
    try:
        value = json.loads(line)
    except ValueError:
        value = [item.strip() for item in line.split(",")] if wanted is list and line else None
    if isinstance(value, wanted):
        return value
    return Unfit(f"'{name}' is a {'mapping' if wanted is dict else 'list'}, written as JSON")


def fits(field: Field | None, value: Any) -> Any:
    """A value of a model or tool as the field stores it, or Unfit. An int is a float."""
    kind = field.type if field is not None else "any"
    if field is None or kind == "any":
        return value
    if kind == "enum":
        if any(member == value and type(member) is type(value) for member in field.values):
            return value
        if isinstance(value, str):
            return _member(field, value) if not value.strip().isdigit() else _literal(field, value)
        return Unfit(f"{shown(value)} is none of the values of '{field.name}'")
    types: dict[str, type | tuple[type, ...]] = {
        "str": str,
        "bool": bool,
        "int": int,
        "float": (int, float),
        "list": list,
        "tuple": (list, tuple),
        "dict": dict,
        "set": (list, set, frozenset),
    }
    if kind in ("int", "float") and isinstance(value, bool):
        return Unfit(f"'{field.name}' is a number, not {shown(value)}")
    if not isinstance(value, types[kind]):
        return Unfit(f"'{field.name}' is a {kind}, not {shown(value)}")
    return value


def _literal(field: Field, value: str) -> Any:
    for member in field.values:
        if fold(str(member)) == fold(value):
            return member
    return Unfit(f"{shown(value)} is none of the values of '{field.name}'")
