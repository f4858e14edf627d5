"""A loop that nothing leaves and in which nobody is waited for.

Why: the conversation never comes back to the person. Every round calls a model or a tool again,
until a limit stops it or the money is spent.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [think]}
      think:
        type: agent
        transition: {next: [search]}
      search:
        type: tool
        transition: {next: [think]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [think]}
      think:
        type: agent
        transition:
          next:
            - {to: search, description: Something must be looked up}
            - {to: ask, description: The question is answered}
      search:
        type: tool
        transition: {next: [think]}

Fix: lead one state of the loop back to the person or to a terminal state. A loop that is meant
says so with `loop: <reason>` on one of its states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecli.lint.facts import Facts
from statecli.model import graphs
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import FUNCTION
from statecli.model.wording import listed, walked

FAMILY = "termination"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for each closed component with a cycle and without a waiting state. Who runs a
    Python graph may halt it in a loop: without an end anywhere that is how it is meant."""
    for members in facts.traps:
        if facts.has_cycle(members) and not any(facts.waiting[member] for member in members):
            found = _finding(facts, members)
            if facts.is_python:
                ends = any(facts.reachable[facts.index[name]] for name in facts.terminals)
                hint = f"{'lead it to an end, or ' if ends else ''}{_HALT}"
                found = found._replace(severity="warning" if ends else "info", hint=hint)
            yield found


_HALT = "stop there with halt_before or halt_after"


def _finding(facts: Facts, members: Sequence[int]) -> Finding:
    path = facts.way_in(members, 6)
    entry = path[-1]
    others = [member for member in members if member != entry]
    cycle = graphs.cycle_through(facts.successors, [entry, *others])
    beside = listed(facts.names(sorted(set(members).difference(cycle))))
    reason = _reason(facts, members)
    message = (
        f"the loop {walked(facts.names(cycle))}{f' (with {beside})' if beside else ''} "
        f"has no way out{_cost(facts, members)}"
    )
    if len(path) > 1:
        message += f"; the way in is {_way(facts, path)}"
    if reason:
        message += f"; its reason: {reason}"
    return Finding(
        message=message,
        at=facts.place(facts.states[entry]),
        states=facts.names([entry, *others]),
        related=(Related("entered here", facts.edge(*path[-2:])),) if len(path) > 1 else (),
        hint=""
        if reason
        else "lead one state of it to a user or terminal state, or say 'loop: <reason>' there",
        severity="info" if reason else None,
        anchors=tuple(facts.place(facts.states[member]) for member in members),
    )


def _reason(facts: Facts, members: Sequence[int]) -> str:
    """What a member says the loop is for."""
    for member in members:
        reason = facts.states[member].settings.get("loop")
        if isinstance(reason, str) and reason.strip():
            return " ".join(reason.split())
    return ""


def _cost(facts: Facts, members: Sequence[int]) -> str:
    """A decision with one way on asks no model, nor does a function; everything else does."""
    kinds = {facts.states[member].kind for member in members}
    if kinds == {FUNCTION}:
        return ""
    asks = "every pass is a model call; " if kinds != {"decision"} else ""
    return f": {asks}nothing waits for a user"


def _way(facts: Facts, path: Sequence[int]) -> str:
    return ("… -> " if path[0] not in facts.roots else "") + walked(facts.names(path))
