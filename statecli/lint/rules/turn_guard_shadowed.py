"""A turn guard never fires, because one with a lower threshold always fires first.

Why: turns without progress are turns in the state, and those are turns of the session. When five
turns have passed without progress, three turns have passed in the state.

Bad:
    states:
      - id: ask
        title: Ask
        tasks: [{id: name, description: Ask for the name}]
        transitions:
          - {target_state_id: done, priority: 1}
          - target_state_id: help
            priority: 2
            condition_type: turn_count_exceeded
            condition_config: {turns: 3, scope: total}
          - target_state_id: done
            priority: 3
            condition_type: turn_count_exceeded
            condition_config: {turns: 5, scope: without_progress}
      - id: help
        title: Help
      - id: done
        title: Done

Good:
    states:
      - id: ask
        title: Ask
        tasks: [{id: name, description: Ask for the name}]
        transitions:
          - {target_state_id: done, priority: 1}
          - target_state_id: help
            priority: 2
            condition_type: turn_count_exceeded
            condition_config: {turns: 3, scope: without_progress}
          - target_state_id: done
            priority: 3
            condition_type: turn_count_exceeded
            condition_config: {turns: 5, scope: total}
      - id: help
        title: Help
      - id: done
        title: Done

Fix: give the later one the lower number of turns, put it first, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.hiding import Named, hides_later
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import State, Transition
from statecli.model.guard import SCOPES, Turns
from statecli.model.span import Place
from statecli.model.words import turns_words

FAMILY = "guards"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Turn guards that an earlier turn guard of the state implies."""
    if Turns not in facts.guard_types:
        return
    others = Named(facts, "duplicate-transition")
    for number in facts.guarded:
        ways = [way for way in facts.routes[number] if type(way.guard) is Turns]
        state = facts.states[number]
        if len(ways) < 2 or state.fans_out:
            continue
        ways = [way for way in ways if hides_later(facts, state, way)]
        for at, way in enumerate(ways):
            first = next((other for other in ways[:at] if _sooner(other, way)), None)
            if first is not None and way not in others:
                yield _finding(state, first, way)


def _sooner(first: Transition, later: Transition) -> bool:
    """Whether the first one holds whenever the later one does."""
    one, two = first.guard, later.guard
    assert isinstance(one, Turns)
    assert isinstance(two, Turns)
    wider = SCOPES.index(one.scope) >= SCOPES.index(two.scope)
    return wider and one.turns <= two.turns


def _finding(state: State, first: Transition, way: Transition) -> Finding:
    same = first.target == way.target
    guard = first.guard
    assert isinstance(guard, Turns)
    spent = turns_words(guard.turns, guard.scope)
    reason = f"after {spent} the run goes to '{first.target}' already"
    return Finding(
        message=f"{'redundant: ' * same}the way to '{way.target}' is never taken: {reason}",
        at=Place(way.at),
        states=(state.name, way.target),
        related=(Related("this one always fires first", Place(first.path)),),
        hint="remove it" if same else "give it the lower number of turns, or put it first",
        severity="info" if same else None,
    )
