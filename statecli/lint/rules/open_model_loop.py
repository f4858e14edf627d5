"""A loop without a person in it, which only a choice of the model leaves.

Why: a model that keeps choosing the tool goes round until a limit stops it. Nearly every agent
with tools is built that way, so this rule is off unless it is selected.

Bad:
    initial: think
    states:
      think:
        type: agent
        transition:
          next:
            - {to: search, description: Something must be looked up}
            - {to: ask, description: The question is answered}
      search:
        type: tool
        transition: {next: [think]}
      ask:
        type: user
        transition: {next: [think]}

Good:
    initial: think
    fields:
      found: {type: bool}
    states:
      think:
        type: agent
        transition: {next: [search]}
      search:
        type: tool
        writes: [found]
        transition:
          next:
            - {to: ask, when: {found: true}}
            - think
      ask:
        type: user
        transition: {next: [think]}

Fix: let a guard decide when to leave, or trust `limits.max_steps`; `loop: <reason>` on one of the
states says that it is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecli.lint.facts import Facts
from statecli.model import graphs
from statecli.model.diagnostic import Finding
from statecli.model.wording import walked

FAMILY = "termination"
SEVERITY = "info"
ON = False


def check(facts: Facts) -> Iterator[Finding]:
    """The cycles among states that neither wait nor end; a state that leads to itself beside
    another way out is none."""
    busy = [
        bool(reached) and not (facts.waiting[number] or facts.opaque[number])
        for number, reached in enumerate(facts.reachable[: facts.end])
    ]
    inside: list[list[int]] = [
        [to for to in targets if to != number and to < facts.end and busy[to]]
        if number < facts.end and busy[number]
        else []
        for number, targets in enumerate(facts.successors)
    ]
    for members in graphs.components(inside):
        if len(members) > 1 and _left_by_choice(facts, members):
            if any(facts.states[member].settings.get("loop") for member in members):
                continue
            cycle = graphs.cycle_through(inside, members)
            yield Finding(
                message=f"only the model's choice ends the loop {walked(facts.names(cycle))}; "
                "nothing waits for a user in it",
                at=facts.place(facts.states[members[0]]),
                states=facts.names(members),
                hint="let a guard decide when to leave, or say 'loop: <reason>' there",
                anchors=tuple(facts.place(facts.states[member]) for member in members[1:]),
            )


def _left_by_choice(facts: Facts, members: Sequence[int]) -> bool:
    """Whether there are ways out, and each is one of several that the model chooses from."""
    names = set(facts.names(members))
    found = False
    for member in members:
        options = {way.target for way in facts.options(member)}
        for way in facts.routes[member]:
            if way.target not in names:
                found = True
                if way.target not in options:
                    return False
    return found
