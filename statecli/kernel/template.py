"""`{{name}}` in the texts of a graph: the value of a field takes its place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

#: `{{ order.id }}`: a name, perhaps with keys of it. `\{{` is no variable.
_VARIABLE = re.compile(r"(?<!\\)\{\{-?\s*([^\W\d][\w-]*?)((?:\.[\w-]+)*)\s*-?\}\}")


def filled(text: str, data: Mapping[str, Any]) -> str:
    """The text with values for its variables; what is not set stays as it is."""
    if "{{" not in text:
        return text
    return _VARIABLE.sub(lambda match: _worded(_found(match, data), match.group()), text)


def with_values(value: Any, data: Mapping[str, Any]) -> Any:
    """A value of a document with its texts filled. A text that is one variable and nothing else
    becomes the value itself, a number say; KeyError with the name where that is not set."""
    if isinstance(value, Mapping):
        return {key: with_values(item, data) for key, item in value.items()}
    if isinstance(value, list):
        return [with_values(item, data) for item in value]
    if not isinstance(value, str):
        return value
    whole = _VARIABLE.fullmatch(value.strip())
    if whole is None:
        return filled(value, data)
    found = _found(whole, data)
    if found is _UNSET:
        raise KeyError(whole.group(1) + whole.group(2))
    return found


_UNSET: Any = object()


def _found(match: re.Match[str], data: Mapping[str, Any]) -> Any:
    found: Any = data
    for key in (match.group(1) + match.group(2)).split("."):
        if not isinstance(found, Mapping) or key not in found:
            return _UNSET
        found = found[key]
    return found


def _worded(value: Any, instead: str) -> str:
    if value is _UNSET:
        return instead
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    try:
        return list(value)
    except TypeError:
        return str(value)
