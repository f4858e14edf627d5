"""A task has neither a description nor an instruction.

Why: the text is all the model gets to know about a task. Without one it can only guess from the
task's id what to ask.

Bad:
    states:
      - id: greet
        title: Greeting
        tasks:
          - {id: name, description: ""}

Good:
    states:
      - id: greet
        title: Greeting
        tasks:
          - {id: name, description: Ask for the first name}

Fix: say in the description what the task is about.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding
from statecli.model.span import Place

FAMILY = "tasks"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """Tasks with blank text; one without a description at all is reported by `missing-key`, one
    whose text is misspelt or of another type by the rule for that."""
    missing = None
    for state in facts.states:
        for task in state.tasks:
            if task.description.strip() or task.instruction.strip():
                continue
            if missing is None:
                missing = {finding.at.path for finding in facts.fired("missing-key")}
            named = facts.meant.get(task.path, set())
            if task.path in missing or named & {"description", "instruction"}:
                continue
            if state.kind == "goal" and facts.fired("goal-with-tasks"):
                continue
            yield Finding(
                message=f"task '{task.id}' of '{state.name}' has no text: the model cannot know "
                "what to do",
                at=Place(task.path),
                states=(state.name,),
                hint="say in 'description' what the task is about",
            )
