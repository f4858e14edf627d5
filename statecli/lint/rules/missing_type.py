"""A state does not say of what kind it is.

Why: the kind decides what happens in a state: whether a person is asked, a model or a tool is
called, or the run ends. Only the states of a plan have one by default (loose).

Bad:
    initial: ask
    states:
      ask:
        transition: {next: [ask]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [ask]}

Fix: add `type`: user, agent, tool, decision, planner, executor, verifier or terminal.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.data import is_map
from statecli.model.diagnostic import Finding
from statecli.model.graph import KINDS, State

FAMILY = "syntax"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Every state of the `states` form without `type`."""
    if facts.is_plan or "" not in facts.kinds:
        return
    for state in facts.states:
        if (
            state.kind == ""
            and "type" not in facts.misspelt(state.name)
            and _is_state(facts, state)
        ):
            yield Finding(
                message=f"'{state.name}' has no type",
                at=facts.place(state),
                states=(state.name,),
                hint=f"add 'type': {_advice(state)}",
            )


def _is_state(facts: Facts, state: State) -> bool:
    """Whether a mapping (or nothing yet) stands there; text or a list is another mistake."""
    value = facts.value(state.path)
    return value is None or is_map(value)


def _advice(state: State) -> str:
    if state.name in KINDS:
        return state.name
    if "tasks" in state.settings or "goal" in state.settings:
        return "strict, loose or goal"
    if "transition" in state.settings:
        return "user, agent, tool or decision"
    return "user, agent, tool, decision or terminal"
