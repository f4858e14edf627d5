"""The subset of JSON schema that structured output takes ("strict"): a schema in it, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Smaller than what the servers document, so that all of them take it.
MAX_DEPTH = 5
MAX_PROPERTIES = 100
MAX_MEMBERS = 500
_KNOWN = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "anyOf",
    "description", "title",
})  # fmt: skip
_SCALARS = ("string", "number", "integer", "boolean", "null")


class _Outside(Exception):
    """The schema says something that the subset has no word for."""


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same schema in the subset; None where it says more (any object, optional keys)."""
    counts = {"properties": 0, "members": 0}
    try:
        found = _strict(schema, 1, counts)
    except _Outside:
        return None
    few = counts["properties"] <= MAX_PROPERTIES and counts["members"] <= MAX_MEMBERS
    return found if found.get("type") == "object" and few else None


def _strict(schema: object, depth: int, counts: dict[str, int]) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH or not schema.keys() <= _KNOWN:
        raise _Outside
    found = {key: schema[key] for key in ("description", "title") if key in schema}
    if "anyOf" in schema:
        branches = schema["anyOf"]
        if not isinstance(branches, list) or depth == 1:
            raise _Outside
        return {**found, "anyOf": [_strict(item, depth + 1, counts) for item in branches]}
    if "enum" in schema:
        return {**found, **_members(schema["enum"], counts)}
    kind = schema.get("type")
    if kind == "object":
        return {**found, **_object(schema, depth, counts)}
    if kind == "array":
        return {**found, "type": "array", "items": _strict(schema.get("items"), depth + 1, counts)}
    kinds = kind if isinstance(kind, list) else [kind]
    if not kinds or not all(item in _SCALARS for item in kinds):
        raise _Outside
    return {**found, "type": kind}


def _object(schema: Mapping[str, Any], depth: int, counts: dict[str, int]) -> dict[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        raise _Outside
    if len(required) != len(properties) or any(key not in required for key in properties):
        raise _Outside  # a key that may be left out
    if schema.get("additionalProperties") is not False:
        raise _Outside
    counts["properties"] += len(properties)
    return {
        "type": "object",
        "properties": {key: _strict(item, depth + 1, counts) for key, item in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


def _members(values: object, counts: dict[str, int]) -> dict[str, Any]:
    """A choice of values, with their type, which the subset insists on."""
    if not isinstance(values, list) or not values:
        raise _Outside
    counts["members"] += len(values)
    kinds = list(dict.fromkeys(map(_type, values)))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(values)}


def _type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    raise _Outside
