"""A state has no way out and is not terminal.

Why: the conversation gets there and stops: nothing follows, and it does not count as ended.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [reply]}
      reply:
        type: agent

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [reply]}
      reply:
        type: agent
        transition: {next: [done]}
      done:
        type: terminal

Fix: write where the state leads, or make it terminal; the unsafe fix does the latter. The last
state of a plan needs no way out: the plan ends after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import State
from statecli.model.span import Place

FAMILY = "termination"
SEVERITY = "error"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """Every reachable state without a transition, written or implicit. Whether a custom kind
    ends the run is not known, so there it is only worth knowing."""
    found = [number for number, ways in enumerate(facts.routes) if not ways]
    found = [n for n in found if facts.reachable[n] and not facts.ending[n]]
    if not found or facts.fired("undefined-initial"):
        return
    for number in found:
        if number in facts.unclear:
            continue
        state = facts.states[number]
        if facts.opaque[number]:
            yield Finding(
                message=f"'{state.name}' has no transition; whether a state of the kind "
                f"'{state.kind}' ends the run is not known",
                at=facts.place(state),
                states=(state.name,),
                severity="info",
                verdict="possible",
            )
        else:
            yield Finding(
                message=f"'{state.name}' has no transition and is not terminal",
                at=facts.place(state),
                states=(state.name,),
                hint="write where it leads, or make it 'type: terminal'",
                fix=None if facts.unclear else _end_there(state),
            )


def _end_there(state: State) -> Fix | None:
    """A plan state has tasks and is not made terminal by one word."""
    if state.is_plan or "type" not in state.settings:
        return None
    return Fix("make it terminal", (Edit(Place((*state.path, "type")), "terminal", "text"),))
