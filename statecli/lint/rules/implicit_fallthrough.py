"""A plan state goes on to the next one in the file, although no route says so.

Why: the order of the file is a route here. Who moves the states or inserts one changes where the
conversation goes.

Bad:
    states:
      - id: ask
        title: Ask
        tasks: [{id: name, description: Ask for the name}]
      - id: summary
        title: Summary

Bad (a goal that closes without its routes):
    states:
      - id: talk
        title: Talk
        type: goal
        goal:
          objective: Find out what matters
          success_description: The person said it
          deliverables: [{key: wish, type: string}]
        transitions:
          - target_state_id: plan
            condition_type: deliverable_exists
            condition_config: {key: wish}
      - id: goodbye
        title: Goodbye
      - id: plan
        title: Plan

Good:
    states:
      - id: ask
        title: Ask
        tasks: [{id: name, description: Ask for the name}]
        transitions:
          - {target_state_id: summary}
      - id: summary
        title: Summary

Fix: write the route. Where a state has none, the safe fix writes the one that is taken now.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.hiding import fully_read
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import END, State, Transition
from statecli.model.span import Place
from statecli.text.scalars import written

FAMILY = "guards"
SEVERITY = "info"
FIX = "safe"


def check(facts: Facts) -> Iterator[Finding]:
    """The implicit routes of model.md 5.3 that lead to a state; the end of a plan is none."""
    if not facts.is_plan:
        return
    for number, ways in enumerate(facts.routes):
        for way in ways:
            if way.origin == "implicit" and way.target in facts.index:
                state = facts.states[number]
                if _known(facts, state):
                    yield _finding(facts, state, way)


def _known(facts: Facts, state: State) -> bool:
    """Whether all written routes could be read and lead somewhere; else another rule says so."""
    if not fully_read(facts, state) or "transitions" in facts.misspelt(state.name):
        return False
    return all(way.target in facts.index or way.target == END for way in state.transitions)


def _finding(facts: Facts, state: State, way: Transition) -> Finding:
    name, target = state.name, way.target
    goes = f"the plan continues with '{target}' (next in order)"
    alone = not state.transitions
    if state.kind == "goal":
        matches = "" if alone else " and no route matches"
        message = f"when '{name}' closes{matches}, {goes}"
    elif not state.tasks:
        message = f"'{name}' has no routes{' to elsewhere' * (not alone)}: {goes}"
    elif alone:
        message = f"'{name}' has no routes: when its tasks are complete, {goes}"
    elif all(way.target == name for way in state.transitions):
        message = f"no route of '{name}' leads elsewhere: when its tasks are complete, {goes}"
    else:
        message = f"no route of '{name}' is for completion: when its tasks are complete, {goes}"
    return Finding(
        message=message,
        at=facts.place(state),
        states=(name, target),
        hint=f"write the way to '{target}', so that the order of the states does not matter",
        fix=_fix(facts, state, target) if alone and state.kind != "goal" else None,
    )


def _fix(facts: Facts, state: State, target: str) -> Fix | None:
    """The route that is taken now, written as a new entry of the state (or in its empty list)."""
    name = written(target, facts.document.language)
    route, key = f"[{{target_state_id: {name}}}]", "transitions"
    if facts.document.language == "json":
        route, key = f'[{{"target_state_id": {name}}}]', '"transitions"'
    title = f"write the way to '{target}'"
    if "transitions" not in state.settings:
        return Fix(title, (Edit(Place(state.path), f"{key}: {route}", "entry"),), safe=True)
    if state.settings["transitions"] == []:
        return Fix(title, (Edit(Place((*state.path, "transitions")), route),), safe=True)
    return None
