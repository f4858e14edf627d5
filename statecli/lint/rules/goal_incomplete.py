"""A goal state does not say what its goal is, or a goal stands in a state of another type.

Why: the model gets no task list in a goal state, only the objective. Without a
`success_description` it has to guess when the goal is reached (that is only worth knowing). In a
strict or loose state (a state without `type` is loose) nobody reads the goal (a warning).

Bad:
    states:
      - id: coach
        title: Coaching
        type: goal

Bad (no objective):
    states:
      - id: coach
        title: Coaching
        type: goal
        goal: {success_description: A step is named}

Bad (no goal state):
    states:
      - id: coach
        title: Coaching
        goal: {objective: Find a next step, success_description: A step is named}

Good:
    states:
      - id: coach
        title: Coaching
        type: goal
        goal: {objective: Find a next step, success_description: A step is named}

Fix: write `goal: {objective: ..., success_description: ...}`, and `type: goal`.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding
from statecli.model.graph import State
from statecli.model.span import Place

FAMILY = "tasks"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Goal states without a goal, an objective or a description of success; goals elsewhere."""
    for state in facts.states:
        if state.kind == "goal":
            finding = _finding(state, facts)
            if finding is not None:
                yield finding
        elif state.goal is not None and state.is_plan and "type" not in facts.misspelt(state.name):
            yield Finding(
                message=f"'goal' is read in goal states only, and '{state.name}' is {state.kind}",
                at=Place(state.goal.path, "key"),
                states=(state.name,),
                hint="did you mean 'type: goal'?",
                severity="warning",
            )


def _finding(state: State, facts: Facts) -> Finding | None:
    """What is missing, unless it is there under a misspelt name or with a value of another type,
    which another rule names."""
    if state.goal is None:
        if "goal" in facts.misspelt(state.name):
            return None
        return Finding(
            message=f"'{state.name}' is a goal state without a goal",
            at=facts.place(state),
            states=(state.name,),
            hint="write goal: {objective: ..., success_description: ...}",
        )
    named = facts.meant.get(state.goal.path, set())
    if not state.goal.objective.strip() and "objective" not in named:
        message, hint = f"the goal of '{state.name}' has no objective", "objective"
        severity = None
    elif not state.goal.success_description.strip() and "success_description" not in named:
        message = f"the goal of '{state.name}' has no 'success_description'"
        message += ": the model has to guess when it is reached"
        hint, severity = "success_description", "info"
    else:
        return None
    return Finding(
        message=message,
        at=Place(state.goal.path, "key"),
        states=(state.name,),
        hint=f"write '{hint}'",
        severity=severity,
    )
