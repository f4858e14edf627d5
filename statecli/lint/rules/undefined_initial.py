"""The initial state does not exist.

Why: no run can start. What could be reached from there is unknown, so reachability and termination
are not checked.

Bad:
    initial: strat
    states:
      start:
        type: user
        transition: {next: [done]}
      done:
        type: terminal

Good:
    initial: start
    states:
      start:
        type: user
        transition: {next: [done]}
      done:
        type: terminal

Fix: name a state of the graph. The unsafe fix takes the nearest name.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.nearest import nearest
from statecli.model.span import Place

FAMILY = "references"
SEVERITY = "error"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding, where `initial` or `initial_state_id` names no state."""
    graph = facts.graph
    if graph is None or graph.initial_path is None or not graph.states:
        return
    name = graph.initial
    if name in graph.states or name in facts.stray or name in facts.nameless:
        return
    guess = nearest(name, graph.states)
    at = Place(graph.initial_path)
    yield Finding(
        message=f"no state is named '{name}', so no run can start",
        at=at,
        hint=f"did you mean '{guess}'?" if guess is not None else "name a state of the graph",
        fix=Fix(f"write '{guess}'", (Edit(at, guess, "text"),)) if guess is not None else None,
    )
