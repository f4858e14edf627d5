"""Every key of every object of both forms (model.md 2.4), as data.

The loaders, `unknown-key`, completion, `schema` and `fmt` read this one table. The type of a key
is a word (text name bool count int number any map state) or ``@object``; ``[x]`` is a list of x,
``{x}`` a mapping from names to x, and ``|`` separates alternatives. A key of type `state` (or
``[state]``) names states: an edge for references, reachability, drawing and rename.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Key(NamedTuple):
    """What a key may hold. `rule` names the rule that reports a wrong choice instead of
    `wrong-value-type`; `required` is the severity of `missing-key` where it is required."""

    type: str
    default: object = None
    choices: tuple[str, ...] = ()
    required: str = ""
    rule: str = "wrong-value-type"


TEXT, ANY, BOOL, MAP, NUMBER = Key("text"), Key("any"), Key("bool"), Key("map"), Key("number")
STATE, COUNT = Key("state"), Key("count")
NAMES = Key("[text]")

CONDITIONS = (
    "all_tasks_complete", "goal_achieved", "deliverable_exists", "deliverable_value",
    "turn_count_exceeded", "deliverable_value_in", "deliverable_value_numeric",
    "all_of", "any_of", "compound",
)  # fmt: skip
COMPOSITES = ("all_of", "any_of", "compound")
FIELD_TYPES = ("str", "int", "float", "bool", "list", "tuple", "dict", "set", "enum", "any")
DELIVERABLE_TYPES = ("string", "number", "integer", "boolean", "enum")
#: The field type behind each deliverable type.
FIELD_TYPE_OF = {
    "string": "str", "number": "float", "integer": "int", "boolean": "bool", "enum": "enum",
    "select": "enum",
}  # fmt: skip

_COMMON: dict[str, Key] = {
    "type": TEXT,
    "title": TEXT,
    "description": TEXT,
    "reads": NAMES,
    "writes": NAMES,
    "tags": NAMES,
    "on_error": STATE,
    "join": Key("text", "any", ("any", "all")),
    "merge": MAP,
    "multi_input_merge_strategy": Key("@code"),
    "model": Key("@model | text"),
    "prompt": TEXT,
    "loop": TEXT,
}
_SPEAKING: dict[str, Key] = {
    "speaks_first": BOOL,
    "on_invalid": STATE,
    "tools": NAMES,
    "allow_writes_null": BOOL,
}
_PLAN_STATE: dict[str, Key] = {
    "tasks": Key("[@task]"),
    "goal": Key("@goal"),
    "transitions": Key("[@plan_transition]"),
    "on_reenter": Key("text", "keep", ("keep", "reset")),
}
_KIND_KEYS: dict[str, dict[str, Key]] = {
    "agent": _SPEAKING,
    "decision": _SPEAKING,
    "planner": _SPEAKING,
    "executor": _SPEAKING,
    "verifier": _SPEAKING,
    "tool": {"tool": TEXT, "tools": NAMES, "arguments": MAP},
    "terminal": {"message": TEXT},
    "strict": _PLAN_STATE,
    "loose": _PLAN_STATE,
    "goal": _PLAN_STATE,
}
_GRAPH: dict[str, Key] = {
    "title": TEXT,
    "description": TEXT,
    "metadata": MAP,
    "system_prompt": TEXT,
    "limits": Key("@limits"),
    "tools": Key("{@tool}"),
    "model": Key("@model | text"),
    "prompts": Key("@prompts"),
}
#: What a model is told, each a text file in `llm/prompts/`, which `prompts` of a graph replaces.
PROMPTS = (
    "system", "strict", "loose", "goal", "delta", "choice", "tool", "arguments", "plan", "step",
    "step_tools", "answer_tools", "verdict", "check", "skill", "structured", "summary", "words",
    "repair", "go_on",
)  # fmt: skip

OBJECTS: dict[str, Mapping[str, Key]] = {
    "states graph": _GRAPH
    | {
        "initial": STATE,
        "entry_transitions": Key("[state] | state"),
        "fields": Key("{@field}"),
        "states": Key("{@state}"),
        "strict_guards": BOOL,
    },
    "plan graph": _GRAPH
    | {
        "id": TEXT,
        "initial_state_id": STATE,
        "states": Key("[@plan_state]"),
        "session_context": Key("@session_context"),
        "language": TEXT,
        "voice": ANY,
        "strict_guards": BOOL,
    },
    "session_context": {"fields": Key("[@context_field]")},
    "context_field": {
        "id": Key("text", required="error"),
        "label": TEXT,
        "type": Key("text", "string", ("string", "number", "boolean", "select")),
        "required": BOOL,
        "description": TEXT,
        "options": Key("[any]"),
        "default_value": ANY,
    },
    "field": {
        "type": Key("text", "any", FIELD_TYPES, rule="bad-field"),
        "values": Key("[any]"),
        "reducer": Key("text", "overwrite"),
        "default": ANY,
        "description": TEXT,
    },
    "transition": {
        "next": Key("[@next | state] | state"),
        "fanout": Key("text", "first", ("first", "all")),
        "on_failure": Key("text", "wait", ("wait", "cancel")),
    },
    "next": {
        "to": Key("state", required="error"),
        "when": ANY,
        "priority": NUMBER,
        "description": TEXT,
        "group": TEXT,
        "state_filter": Key("[text] | text | @code"),
    },
    "code": {"python": Key("text", required="error")},
    "plan_state": _COMMON
    | _PLAN_STATE
    | {
        "id": Key("name", required="error"),
        "title": Key("text", required="warning"),
        "type": Key("text", "loose"),
    },
    "task": {
        "id": Key("name"),
        "description": Key("text", required="error"),
        "instruction": TEXT,
        "required": Key("bool", True),
        "deliverables": Key("[@deliverable]"),
    },
    "deliverable": {
        "key": Key("text", required="error"),
        "type": Key("text", "string", DELIVERABLE_TYPES),
        "description": TEXT,
        "required": Key("bool", True),
        "acceptance_criteria": TEXT,
        "examples": Key("[any]"),
        "enum_values": Key("[any]"),
    },
    "goal": {
        "objective": TEXT,
        "context": TEXT,
        "depth_guidance": TEXT,
        "boundaries": TEXT,
        "success_description": TEXT,
        "deliverables": Key("[@deliverable]"),
    },
    "plan_transition": {
        "target_state_id": Key("state", required="error"),
        "condition_type": Key("any", "all_tasks_complete"),
        "priority": Key("number", 1),
        "condition_config": ANY,
        "description": TEXT,
    },
    "model": {
        "name": TEXT,
        "base_url": TEXT,
        "api_key": TEXT,
        "temperature": NUMBER,
        "top_p": NUMBER,
        "max_tokens": COUNT,
        "seed": Key("int"),
        "timeout": NUMBER,
        "check": TEXT,
        "prices": Key("@prices"),
    },
    "prompts": dict.fromkeys(PROMPTS, TEXT),
    "prices": {"input": NUMBER, "output": NUMBER},
    "tool": {
        "command": Key("[text] | text"),
        "env": Key("{text}"),
        "cwd": TEXT,
        "url": TEXT,
        "headers": Key("{text}"),
        "python": TEXT,
        "timeout": NUMBER,
        "description": TEXT,
    },
    "limits": {
        "max_steps": Key("count", 10),
        "max_calls": Key("count", 10),
        "max_hops": Key("count", 10),
        "stuck_turns": Key("count", 10),
        "max_insights": Key("count", 25),
        "max_tokens": COUNT,
        "max_cost": NUMBER,
        "timeout": NUMBER,
    },
}
for _kind in ("user", "skill_builder", *_KIND_KEYS):
    OBJECTS[f"{_kind} state"] = (
        _COMMON | {"transition": Key("@transition")} | _KIND_KEYS.get(_kind, {})
    )

#: The keys of a condition's config, by condition type; those that must be there come first.
CONFIG_KEYS: dict[str, tuple[str, ...]] = {
    "all_tasks_complete": (),
    "goal_achieved": (),
    "deliverable_exists": ("key",),
    "deliverable_value": ("key", "value"),
    "deliverable_value_in": ("key", "values"),
    "deliverable_value_numeric": ("key", "operator", "value", "min", "max", "inclusive"),
    "turn_count_exceeded": ("turns", "scope"),
    "all_of": ("conditions",),
    "any_of": ("conditions",),
    "compound": ("operator", "conditions"),
}
#: Older spellings that are read with a warning (model.md 2.2), old -> new.
OLD_MODES = {"sequential": "strict", "flexible": "loose"}
OLD_CONFIG_KEYS = {"deliverable_key": "key", "expected_value": "value"}
OLD_TURNS_KEYS = {"value": "turns"}
OLD_CHILD_KEYS = {"type": "condition_type", "config": "condition_config"}
OPERATORS = ("gt", "gte", "lt", "lte", "eq", "neq", "between")
OLD_OPERATORS = {
    ">": "gt", ">=": "gte", "<": "lt", "<=": "lte", "==": "eq", "!=": "neq", "range": "between",
}  # fmt: skip

#: Operators as other languages have them: read by nobody, but what was meant is plain.
OPERATOR_SLIPS = {
    "=>": "gte", "=<": "lte", "=": "eq", "===": "eq", "<>": "neq", "!==": "neq", "≥": "gte",
    "≤": "lte", "≠": "neq", "ge": "gte", "le": "lte", "ne": "neq", "neq": "ne", "equal": "eq",
    "equals": "eq", "not_equal": "neq", "not_equals": "neq", "greater": "gt", "greater_than": "gt",
    "less": "lt", "less_than": "lt", "at_least": "gte", "at_most": "lte", "in_range": "between",
    "&&": "and", "&": "and", "all": "and", "all_of": "and", "||": "or", "|": "or", "any": "or",
    "any_of": "or", "has": "contains", "nin": "notin",
}  # fmt: skip

#: Keys as other forms and tools have them, by object: too far from ours to be near, but meant.
KEY_SLIPS: dict[str, dict[str, str]] = {
    "states graph": dict.fromkeys(("initial_state_id", "initial_state", "start"), "initial"),
    "plan graph": dict.fromkeys(("initial", "initial_state", "start"), "initial_state_id"),
    "next": {
        **dict.fromkeys(("target", "target_state_id", "target_state", "state", "next"), "to"),
        **dict.fromkeys(("condition", "cond", "guard", "if"), "when"),
    },
    "plan_transition": dict.fromkeys(("to", "target", "target_state", "next"), "target_state_id"),
    "plan_state": {"mode": "type", "name": "title"},
    "deliverable": {
        **dict.fromkeys(("id", "name"), "key"),
        **dict.fromkeys(("values", "options", "choices", "enum"), "enum_values"),
    },
    "field": dict.fromkeys(("enum_values", "options", "choices", "enum"), "values"),
}

#: Keys that only a state has: a mapping with a `type` and one of them looks like one.
STATE_MARKS = ("transition", "transitions", "tasks")


def state_object(kind: str) -> str:
    """The name of the object that a state of this kind is in the `states` form."""
    return f"{kind} state"
