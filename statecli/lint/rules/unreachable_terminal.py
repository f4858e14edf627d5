"""No terminal state can be reached, so no conversation can end.

Why: the graph has an end on paper, but every conversation goes on until the person leaves or a
limit stops it.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [reply]}
      reply:
        type: agent
        transition: {next: [ask]}
      done:
        type: terminal

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

Fix: lead a transition to the terminal state.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model import graphs
from statecli.model.diagnostic import Finding, Related
from statecli.model.wording import listed

FAMILY = "reachability"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for the graph, on its first terminal state. A dead end on the way is the
    reason already, if there is one."""
    if not facts.roots or facts.reachable.find(0, 0, facts.end) < 0:
        return
    ends = [facts.index[name] for name in facts.terminals]
    if not ends or any(facts.reachable[number] for number in ends):
        return
    if facts.fired("undefined-initial") or _explained(facts, ends):
        return
    names = facts.names(ends)
    start = listed(facts.names(facts.roots), "or", 3)
    if facts.is_plan:
        message = f"no path from {start} leads to {listed(names, 'or')}, where the plan ends"
    elif len(names) == 1:
        message = f"no path from {start} leads to '{names[0]}': this graph can never end"
    else:
        message = f"no path from {start} leads to {listed(names, 'or')}: this graph can never end"
    yield Finding(
        message=message,
        at=facts.place(names[0]),
        states=names,
        related=tuple(Related("nor to this one", facts.place(name)) for name in names[1:6]),
        hint=f"lead a transition to '{names[0]}'",
    )


def _explained(facts: Facts, ends: list[int]) -> bool:
    """Whether another finding names the reason: a dead end, or a target that was meant."""
    if any(finding.severity != "info" for finding in facts.fired("dead-end-state")):
        return True
    meant = graphs.reachable(*facts.mended)
    return any(meant[number] for number in ends)
