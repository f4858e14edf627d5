"""`on_invalid` names a state that is no target of the state itself.

Why: it says which of the targets is taken when the model names none of them, so another state is
never taken: the run goes on as if `on_invalid` were not there, or stops.

Bad:
    initial: route
    states:
      route:
        type: agent
        on_invalid: help
        transition: {next: [ask, {to: done, description: All is said}]}
      ask:
        type: user
        description: The person says more
        transition: {next: [route, help]}
      help:
        type: agent
        description: Say what can be asked
        transition: {next: [ask]}
      done: {type: terminal}

Good:
    initial: route
    states:
      route:
        type: agent
        on_invalid: ask
        transition: {next: [ask, {to: done, description: All is said}]}
      ask:
        type: user
        description: The person says more
        transition: {next: [route]}
      done: {type: terminal}

Fix: name one of the targets, or add a transition to the state. The unsafe fix takes the nearest
name among the targets.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.hiding import fully_read
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.keys import OBJECTS, state_object
from statecli.model.nearest import nearest
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "references"
SEVERITY = "warning"
FIX = "unsafe"
_KEY = "on_invalid"


def check(facts: Facts) -> Iterator[Finding]:
    """Each `on_invalid` that names a state of the graph, but none that the state can choose."""
    if _KEY not in facts.document.survey.names:
        return
    for state in facts.states:
        name = dict(state.jumps).get(_KEY) if state.jumps else None
        if name not in facts.index or _KEY not in OBJECTS.get(state_object(state.kind), ()):
            continue  # undefined-target and unknown-key say so
        targets = [w.target for w in state.transitions if w.target in facts.index]
        if not targets or name in targets or not fully_read(facts, state):
            continue
        guess = nearest(name, targets)
        at = Place((*state.path, _KEY))
        hint = f"did you mean '{guess}'?"
        if guess is None:
            names = listed(list(dict.fromkeys(targets)), "or", 3)
            hint = f"name {names}, or add a transition to '{name}'"
        yield Finding(
            message=f"'{name}' is no target of '{state.name}'",
            at=at,
            states=(state.name, name),
            hint=hint,
            fix=Fix(f"write '{guess}'", (Edit(at, guess, "text"),)) if guess is not None else None,
        )
