"""Two states of a plan, two tasks of one state, or two session fields share an id.

Why: a transition to the id, or a call that completes the task, can only mean one of the two; the
other is never reached.

Bad:
    states:
      - id: greeting
        title: Greeting
      - id: greeting
        title: Farewell

Bad (two tasks of one state):
    states:
      - id: intake
        title: Intake
        tasks:
          - {id: name, description: Ask for the name}
          - {id: name, description: Ask for the age}

Good:
    states:
      - id: greeting
        title: Greeting
      - id: farewell
        title: Farewell

Fix: give the second one an id of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.data import is_list, is_map
from statecli.model.diagnostic import Finding, Related
from statecli.model.span import Path, Place

FAMILY = "syntax"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Equal ids within one list."""
    listed = facts.value(("states",))
    # The graph keeps one state of each id: as many states as items means that no id stands twice.
    if facts.is_plan and is_list(listed) and len(listed) != len(facts.states):
        yield from _repeats(facts, ("states",), "state of this plan")
    for state in facts.collecting:
        if len(state.tasks) > 1 and len({task.id for task in state.tasks}) != len(state.tasks):
            yield from _repeats(facts, (*state.path, "tasks"), f"task of '{state.name}'")
    if facts.is_plan:
        yield from _repeats(facts, ("session_context", "fields"), "field of the session context")


def _repeats(facts: Facts, path: Path, what: str) -> Iterator[Finding]:
    listed = facts.value(path)
    first: dict[str, Place] = {}
    for number, item in enumerate(listed if is_list(listed) else ()):
        name = item.get("id") if is_map(item) else None
        if name is None or is_map(name) or is_list(name):
            continue
        at = Place((*path, number, "id"))
        text = name if isinstance(name, str) else facts.document.raw(at.path)
        before = first.setdefault(text, at)
        if before is not at:
            yield Finding(
                message=f"the id '{text}' is already taken by another {what}",
                at=at,
                states=facts.owner(at.path),
                related=(Related("first here", before),),
                hint="give it an id of its own",
            )
