"""JSON schemas of what a model is asked for."""

from __future__ import annotations

from typing import Any

from statecli.kernel.reducers import taken
from statecli.model.graph import Field, Graph, State

_TYPES: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "list": {"type": "array", "items": {}},
    "tuple": {"type": "array", "items": {}},
    "set": {"type": "array", "items": {}},
    "dict": {"type": "object"},
    "any": {},
}


def field_schema(field: Field | None, *, nullable: bool = False) -> dict[str, Any]:
    """The schema of one field's values; nullable: the model may leave it open."""
    if field is None:
        return {"type": ["string", "null"]} if nullable else {"type": "string"}
    if field.type == "enum":
        values = [*field.values, None] if nullable else list(field.values)
        return {"enum": values}
    schema = dict(_TYPES[field.type]) if field.type in _TYPES else {}
    if nullable and isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    return schema


def delta_schema(graph: Graph, state: State) -> dict[str, Any]:
    """`{reply, <each field of writes>}`; every key required, fields nullable."""
    properties: dict[str, Any] = {"reply": {"type": "string"}}
    for key in state.writes:
        properties[key] = field_schema(taken(graph, key), nullable=True)
    return _object(properties)


def choice_schema(names: list[str]) -> dict[str, Any]:
    """`{next_state}`, one of the names."""
    return _object({"next_state": {"enum": names}})


def plan_schema() -> dict[str, Any]:
    """What a planner answers: `{steps, needs_permission}`."""
    steps = {"type": "array", "items": {"type": "string"}}
    return _object({"steps": steps, "needs_permission": {"type": "boolean"}})


def step_schema() -> dict[str, Any]:
    """What an executor answers about its step: `{reply, ok}`."""
    return _object({"reply": {"type": "string"}, "ok": {"type": "boolean"}})


def verdict_schema(names: list[str]) -> dict[str, Any]:
    """What a verifier answers: `{done, reason, next}`."""
    text = {"type": "string"}
    return _object({"done": {"type": "boolean"}, "reason": text, "next": {"enum": names}})


def skill_schema() -> dict[str, Any]:
    """A skill: its name and its markdown text."""
    return _object({"name": {"type": "string"}, "text": {"type": "string"}})


def tool_schema(names: list[str]) -> dict[str, Any]:
    """Which tool to use."""
    return _object({"tool": {"enum": names}})


def check_schema() -> dict[str, Any]:
    """The second look at a goal: `{agree, quote, reason}`."""
    text = {"type": "string"}
    return _object({"agree": {"type": "boolean"}, "quote": text, "reason": text})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
