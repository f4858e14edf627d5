"""From a part of the graph that waits for the person, no terminal state can be reached.

Why: the graph has an end, but a conversation that came here never gets there. The person can talk
on, or leave; what the end should do does not happen.

Bad:
    initial: greet
    states:
      greet:
        type: agent
        transition:
          next:
            - {to: ask, description: There is a question}
            - {to: done, description: There is none}
      ask:
        type: user
        transition: {next: [reply]}
      reply:
        type: agent
        transition: {next: [ask]}
      done:
        type: terminal

Good:
    initial: greet
    states:
      greet:
        type: agent
        transition:
          next:
            - {to: ask, description: There is a question}
            - {to: done, description: There is none}
      ask:
        type: user
        transition: {next: [greet]}
      done:
        type: terminal

Fix: lead one state of this part on towards a terminal state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.model.wording import listed, walked

FAMILY = "termination"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for each closed component with a waiting state, if an end can be reached from
    elsewhere. A plan is meant to end, so there it is an error."""
    traps = [part for part in facts.traps if any(facts.waiting[member] for member in part)]
    if not traps:
        return
    ends = [name for name in facts.terminals if facts.reachable[facts.index[name]]]
    if not ends:
        return
    dead = {name for finding in facts.fired("dead-end-state") for name in finding.states}
    for members in traps:
        if facts.states[members[0]].name not in dead:
            yield _finding(facts, members, ends)


def _finding(facts: Facts, members: Sequence[int], ends: list[str]) -> Finding:
    path = facts.way_in(members, 6)
    entry = path[-1]
    others = [member for member in members if member != entry]
    goal = f"'{ends[0]}' cannot be reached"
    if facts.is_plan:
        goal += ", where the plan ends"
    elif len(ends) > 1:
        goal += f", nor {listed(ends[1:], 'or', 3)}"
    names = facts.names([entry, *others])
    only = "lead only to each other" if others else "leads nowhere else"
    way = walked(facts.names(path)) if len(path) > 1 else ""
    related = [Related("this end", facts.place(ends[0]))]
    if way:
        related.append(Related("entered here", facts.edge(*path[-2:])))
        way = f"; the way in is {'' if path[0] in facts.roots else '… -> '}{way}"
    return Finding(
        message=f"from here {goal}: {listed(names)} {only}{way}",
        at=facts.place(facts.states[entry]),
        states=names,
        related=tuple(related),
        hint=f"lead {'one of them' if others else 'it'} on towards '{ends[0]}'",
        severity="error" if facts.is_plan else None,
        anchors=tuple(facts.place(facts.states[member]) for member in others),
    )
