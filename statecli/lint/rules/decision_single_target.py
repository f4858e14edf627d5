"""A decision has only one target, so there is nothing to decide.

Why: a `decision` exists to choose. With one target it is a step that does nothing, or its other
targets were forgotten.

Bad:
    initial: route
    states:
      route:
        type: decision
        transition: {next: [reply]}
      reply:
        type: agent
        transition: {next: [route]}

Good:
    initial: route
    states:
      route:
        type: decision
        transition:
          next:
            - {to: reply, description: The person asked something}
            - {to: done, description: The person said goodbye}
      reply:
        type: agent
        transition: {next: [route]}
      done:
        type: terminal

Fix: add the other targets, or lead to the target directly. A decision with `join` is a meeting
point of branches and may have one target.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.hiding import fully_read
from statecli.model.diagnostic import Finding
from statecli.model.span import Place

FAMILY = "guards"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """States of kind `decision`, unless some of their targets could not be read."""
    if "decision" not in facts.kinds:
        return
    for state in facts.states:
        if state.kind != "decision" or "join" in state.settings:
            continue
        targets = {way.target for way in state.transitions}
        if len(targets) != 1 or not fully_read(facts, state):
            continue
        (target,) = targets
        yield Finding(
            message=f"'{state.name}' decides nothing: its only target is '{target}'",
            at=Place((*state.path, "type")),
            states=(state.name, target),
            hint=f"add the other targets, or lead to '{target}' directly",
        )
