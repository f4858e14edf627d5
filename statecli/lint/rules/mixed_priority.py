"""A state writes the priority of some of its transitions and leaves it out of others.

Why: a transition without a priority has 1, which is before every other number but 1. It often reads
as if it came last.

Bad:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: ask
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: praise
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 5}
          - {target_state_id: improve}
      - id: improve
        title: Improve
      - id: praise
        title: Praise

Good:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: ask
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: praise
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 5}
          - {target_state_id: improve, priority: 3}
      - id: improve
        title: Improve
      - id: praise
        title: Praise

Fix: write the priority everywhere, or nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding
from statecli.model.span import Place

FAMILY = "guards"
SEVERITY = "info"


def check(facts: Facts) -> Iterator[Finding]:
    """Each such state, at the first transition that leaves it out."""
    for state in facts.states:
        ways = state.transitions
        if len(ways) < 2:
            continue
        silent = [way for way in ways if not way.stated_priority]
        if not silent or len(silent) == len(ways) or all(way.priority == 1 for way in ways):
            continue
        way = silent[0]
        yield Finding(
            message=f"the way to '{way.target}' writes no priority, so it has 1; others in"
            f" '{state.name}' write theirs",
            at=Place(way.at),
            states=(state.name,),
            hint="write the priority of each",
        )
