"""A transition leads to a state that does not exist.

Why: at run time the transition is skipped and the next one is tried, so the conversation silently
takes another way, or stops.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [agnt]}
      agent:
        type: agent
        transition: {next: [ask]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [agent]}
      agent:
        type: agent
        transition: {next: [ask]}

Fix: name a state of the graph, or add the missing one. The unsafe fix takes the nearest name.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import END
from statecli.model.nearest import nearest
from statecli.model.span import Place

FAMILY = "references"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Every written target, `on_error`, `on_invalid` and entry that names no state."""
    if facts.graph is None:
        return
    known = facts.index
    guesses: dict[str, str | None] = {}
    for name, target, at in _references(facts):
        if target in known or (target == END and facts.is_plan):
            continue
        if target not in guesses:
            guesses[target] = nearest(target, known) if len(guesses) < 50 else None
        guess = guesses[target]
        fix = Fix(f"write '{guess}'", (Edit(at, guess, "text"),)) if guess is not None else None
        yield Finding(
            message=f"no state is named '{target}'",
            at=at,
            states=(name,) if name else (),
            hint=f"did you mean '{guess}'?" if guess is not None else "",
            fix=fix,
        )


def _references(facts: Facts) -> Iterator[tuple[str, str, Place]]:
    assert facts.graph is not None
    for name, path in facts.graph.entries:
        yield "", name, Place(path)
    for state in facts.states:
        for way in state.transitions:
            yield state.name, way.target, Place(way.at)
        for key, target in state.jumps:
            yield state.name, target, Place((*state.path, key))
