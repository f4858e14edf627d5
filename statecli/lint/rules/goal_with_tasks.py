"""A goal state has tasks.

Why: a goal state has no task list, its goal is the one task. Its tasks are never offered to the
model, so what they should collect is not asked for.

Bad:
    states:
      - id: coach
        title: Coaching
        type: goal
        goal: {objective: Find a next step, success_description: A step is named}
        tasks:
          - {id: mood, description: Ask how the week went}

Good:
    states:
      - id: warm-up
        title: Warm up
        type: loose
        tasks:
          - {id: mood, description: Ask how the week went}
      - id: coach
        title: Coaching
        type: goal
        goal: {objective: Find a next step, success_description: A step is named}
        tasks: []

Fix: move the tasks to a strict or loose state, or say what they ask for in the goal. The unsafe
fix removes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "tasks"
SEVERITY = "warning"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """Goal states whose `tasks` is not empty."""
    for state in facts.states:
        if state.tasks and state.kind == "goal":
            path = (*state.path, "tasks")
            names = listed([task.id for task in state.tasks])
            noun = "task" if len(state.tasks) == 1 else "tasks"
            verb = "is" if len(state.tasks) == 1 else "are"
            yield Finding(
                message=f"'{state.name}' is a goal state: its {noun} {names} {verb} never offered",
                at=Place(path, "key"),
                states=(state.name,),
                hint="say it in the goal, or move it to a strict or loose state",
                fix=Fix("remove the tasks", (Edit(Place(path), "", "item"),)),
            )
