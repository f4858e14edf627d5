"""Plain data as documents hold it: what a value is called in a message."""

from __future__ import annotations

from typing import Any, TypeGuard

from statecli.model.wording import shortened


def is_map(value: object) -> TypeGuard[dict[str, object]]:
    """A mapping of a document; its keys are always text."""
    return type(value) is dict


def is_list(value: object) -> TypeGuard[list[object]]:
    return type(value) is list


def well_formed(value: Any) -> Any:
    """Plain data whose texts can be written down: two halves of a character become one, a half
    alone becomes the sign for what is none."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {well_formed(key): well_formed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [well_formed(item) for item in value]
    return value


def described(value: object) -> str:
    """What a value is, in words that a message can use: "a list", "the number 5"."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return "text" if len(value) > 40 else f"the text '{value}'"
    return "a list" if isinstance(value, list) else "a mapping"


def shown(value: object, limit: int = 60) -> str:
    """A value as people write it in YAML: true, 4.5, 'billing'; shortened, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, str):
        text = " ".join(value.split()) if value.strip() else value
        return f"'{shortened(text, limit)}'"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return shortened(str(value), limit)
