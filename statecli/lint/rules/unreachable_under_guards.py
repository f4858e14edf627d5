"""A state that is connected on paper, but that no run gets to.

Why: every path to it needs a way that is never taken. What the state should do does not happen.

Bad:
    states:
      - id: risk
        title: Risk
        tasks:
          - id: ask
            description: Ask for the score
            deliverables: [{key: score, type: number}]
        transitions:
          - target_state_id: watch
            priority: 1
            condition_type: deliverable_value_numeric
            condition_config: {key: score, operator: gte, value: 4}
          - target_state_id: urgent
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: score, operator: gte, value: 8}
          - {target_state_id: watch, priority: 10}
      - id: urgent
        title: Urgent
        tasks: [{id: call, description: Call somebody}]
        transitions: [{target_state_id: watch}]
      - id: watch
        title: Watch

Good:
    states:
      - id: risk
        title: Risk
        tasks:
          - id: ask
            description: Ask for the score
            deliverables: [{key: score, type: number}]
        transitions:
          - target_state_id: urgent
            priority: 1
            condition_type: deliverable_value_numeric
            condition_config: {key: score, operator: gte, value: 8}
          - target_state_id: watch
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: score, operator: gte, value: 4}
          - {target_state_id: watch, priority: 10}
      - id: urgent
        title: Urgent
        tasks: [{id: call, description: Call somebody}]
        transitions: [{target_state_id: watch}]
      - id: watch
        title: Watch

Fix: see why the way there is never taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "reachability"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for each state next to what runs reach, with those that lie behind it."""
    names = {proof.state for proof in facts.proven("unreachable-under-guards")}
    if not names or facts.unclear:
        return
    lost = {facts.index[name] for name in names}
    ways: dict[int, list[Place]] = {}
    for number, found in enumerate(facts.routes):
        if number in lost or not facts.reachable[number]:
            continue
        for way in found:
            target = facts.index.get(way.target)
            if target in lost:
                at = Place(way.at) if way.origin == "written" else facts.place(way.source)
                ways.setdefault(target, []).append(at)
    told: set[int] = set()
    for number in sorted(ways):
        if number not in told:
            yield _finding(facts, number, _behind(facts, number, lost, told), ways[number])


def _behind(facts: Facts, number: int, lost: set[int], told: set[int]) -> list[int]:
    """The lost states that this one leads to, itself first."""
    found = [number]
    told.add(number)
    for at in found:
        for target in facts.successors[at]:
            if target in lost and target not in told:
                told.add(target)
                found.append(target)
    return found


def _finding(facts: Facts, number: int, members: list[int], ways: list[Place]) -> Finding:
    names = facts.names(members)
    more = f", nor to {listed(names[1:], 'or')} behind it" if len(names) > 1 else ""
    one = len(ways) == 1
    return Finding(
        message=f"no run gets to '{names[0]}'{more}: {'the way' if one else 'no way'} there is "
        f"{'never taken' if one else 'ever taken'}",
        at=facts.place(facts.states[number]),
        states=names,
        related=tuple(Related("never taken", place) for place in ways),
        hint=f"let a run get to '{names[0]}', or remove it",
    )
