"""A terminal state has transitions.

Why: the conversation ends there, so its transitions are never taken; either the state is not
meant to be the end, or the transitions are left over.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [done]}
      done:
        type: terminal
        transition: {next: [ask]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [done]}
      done:
        type: terminal
        message: Goodbye

Fix: remove the transitions, or give the state the kind that it is. The unsafe fix removes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "termination"
SEVERITY = "error"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """Every terminal state with a written transition."""
    for number, ways in enumerate(facts.routes):
        if ways and facts.ending[number]:
            state = facts.states[number]
            path = ways[0].path[: len(state.path) + 1]
            targets = list(dict.fromkeys(way.target for way in ways))
            yield Finding(
                message=f"'{state.name}' is terminal but leads to {listed(targets)}; "
                "the conversation has ended there",
                at=Place(path, "key"),
                states=(state.name,),
                hint=f"remove '{path[-1]}', or change 'type'",
                fix=Fix(f"remove '{path[-1]}'", (Edit(Place(path), "", "item"),)),
            )
