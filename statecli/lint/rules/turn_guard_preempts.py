"""A turn guard over the whole session comes before a route that somebody earned.

Why: once the session is long enough, the guard holds all the time. The person who has just answered
the last question is sent to the fallback, not to where the answer leads.

Bad:
    states:
      - id: ask
        title: Ask
        tasks: [{id: name, description: Ask for the name}]
        transitions:
          - target_state_id: help
            priority: 1
            condition_type: turn_count_exceeded
            condition_config: {turns: 20, scope: session}
          - {target_state_id: done, priority: 5}
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
          - target_state_id: help
            priority: 6
            condition_type: turn_count_exceeded
            condition_config: {turns: 20, scope: session}
          - {target_state_id: done, priority: 5}
      - id: help
        title: Help
      - id: done
        title: Done

Fix: give the turn guard the highest priority number of the state; the unsafe fix does. The scopes
`total` and `without_progress` are fine anywhere: their counters move after the calls of the turn
have been acted on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.hiding import hides_later
from statecli.model.diagnostic import Edit, Finding, Fix, Related
from statecli.model.graph import State, Transition
from statecli.model.guard import AnyOf, Atom, Closed, Complete, Expr, Guard, Turns, walk
from statecli.model.span import Place
from statecli.model.words import in_words, turns_words

FAMILY = "guards"
SEVERITY = "warning"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """Plan states only: elsewhere nothing is completed."""
    if facts.guard_types.isdisjoint((Turns, AnyOf)):
        return
    for number in facts.guarded:
        state = facts.states[number]
        if not state.is_plan:
            continue
        ways = facts.routes[number]
        for at, way in enumerate(ways):
            turns = _session(way.guard)
            if turns is not None and hides_later(facts, state, way):
                later = [
                    other
                    for other in ways[at + 1 :]
                    if other.target != way.target
                    and hides_later(facts, state, other)
                    and _earned(other.guard)
                ]
                if later:
                    yield _finding(state, way, turns, later)


def _session(guard: Guard | None) -> Turns | None:
    """The turn guard of scope `session` that makes the whole guard hold, if there is one."""
    if isinstance(guard, Turns):
        return guard if guard.scope == "session" else None
    if isinstance(guard, AnyOf):
        return next(filter(None, map(_session, guard.children)), None)
    return None


def _earned(guard: Guard | None) -> bool:
    """Whether a route is taken for what was done or said."""
    earning = (Complete, Closed, Atom, Expr)
    return guard is not None and any(isinstance(part, earning) for part in walk(guard))


def _finding(state: State, way: Transition, turns: Turns, later: list[Transition]) -> Finding:
    first = later[0]
    reward, deed = _reward(first)
    spent = turns_words(turns.turns, turns.scope)
    at = Place((*way.path, "priority")) if way.stated_priority else Place(way.at)
    written = [other.priority for other in later if other.origin == "written"]
    fix = None
    if way.stated_priority and written:
        number = math.floor(max(written)) + 1
        fix = Fix(f"write {number}", (Edit(at, f"{number}"),))
    return Finding(
        message=(
            f"after {spent} the way to '{way.target}' comes before {reward}:"
            f" who has just {deed} is sent to '{way.target}', not to '{first.target}'"
        ),
        at=at,
        states=(state.name, way.target, first.target),
        related=(Related(f"the way to '{first.target}'", Place(first.path)),),
        hint=f"give it a priority number above {max(written):g}"
        if written
        else "give it another scope",
        fix=fix,
    )


def _reward(way: Transition) -> tuple[str, str]:
    """What the preempted route is taken for, and what the person did for it."""
    if isinstance(way.guard, Complete | Closed):
        return "completion", "finished"
    assert way.guard is not None
    return f"the one for an answer ({in_words(way.guard)})", "answered"
