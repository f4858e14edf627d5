"""The graph has no terminal state: a conversation ends only when the person leaves.

Why: most chats are meant that way, so this is only worth knowing. Whoever expects an end, a
summary at the end or a test that runs to the end will wait for it in vain.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [reply]}
      reply:
        type: agent
        transition: {next: [ask]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [reply]}
      reply:
        type: agent
        transition:
          next:
            - {to: ask, description: Something is still open}
            - {to: done, description: The person said goodbye}
      done:
        type: terminal

Fix: add a terminal state and lead a transition there, if conversations should end by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding
from statecli.model.span import Place

FAMILY = "termination"
SEVERITY = "info"


def check(facts: Facts) -> Iterator[Finding]:
    """One note for the graph, where it begins. A custom kind may end a run, so one that can be
    reached keeps this silent."""
    if facts.graph is None or not facts.traps or facts.terminals:
        return
    dead = {name for finding in facts.fired("dead-end-state") for name in finding.states}
    waits = any(
        facts.waiting[member] and facts.states[member].name not in dead
        for members in facts.traps
        for member in members
    )
    if not waits or any(o and r for o, r in zip(facts.opaque, facts.reachable, strict=False)):
        return
    first = facts.graph.initial
    path = facts.graph.initial_path
    what = "plan has no way to end" if facts.is_plan else "graph has no terminal"
    yield Finding(
        message=f"this {what}: it ends only when the user leaves",
        at=Place(path) if path is not None else facts.place(facts.states[0]),
        states=(first,),
        hint="if it should end by itself, "
        + ("lead a transition to '__end__'" if facts.is_plan else "lead one way to a terminal"),
    )
