"""What the objects of the key table are called in a message."""

from __future__ import annotations

_NAMES = {
    "states graph": "a graph",
    "plan graph": "a plan",
    "plan_state": "a plan state",
    "state": "a state",
    "session_context": "the session context",
    "context_field": "a field of the session context",
    "field": "a field",
    "transition": "'transition'",
    "next": "an item of 'next'",
    "task": "a task",
    "deliverable": "a deliverable",
    "goal": "a goal",
    "plan_transition": "a transition",
    "condition": "a condition",
    "model": "'model'",
    "prices": "'prices'",
    "tool": "a tool",
    "limits": "'limits'",
}


def called(name: str) -> str:
    """An object of the key table, a state of some kind, or the config of a condition type."""
    if name in _NAMES:
        return _NAMES[name]
    if name.endswith(" state"):
        kind = name.removesuffix(" state")
        return f"{'an' if kind[:1] in 'aeio' else 'a'} {kind} state"
    return f"the config of '{name}'"
