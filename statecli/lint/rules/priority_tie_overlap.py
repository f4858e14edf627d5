"""Two conditions of one priority hold together and lead to different states.

Why: the order in the file decides, and nothing in it says that it was meant to. Whoever sorts the
list changes what the graph does.

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
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 5}
          - target_state_id: improve
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: lte, value: 8}
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
            priority: 1
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 5}
          - target_state_id: improve
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: lte, value: 8}
      - id: improve
        title: Improve
      - id: praise
        title: Praise

Fix: give the one that is meant to win the lower priority number, or make the conditions exclude
each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.proofs import named
from statecli.lint.told import how
from statecli.model.diagnostic import Finding, Related
from statecli.model.span import Place

FAMILY = "guards"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """Each pair of transitions that a run reaches together, if neither is a mistake of its own."""
    found = facts.proven("priority-tie-overlap")
    told = named(facts) if found else set()
    dead = {(proof.state, proof.transition) for proof in facts.proven("dead-transition")}
    for proof in found:
        state = facts.states[facts.index[proof.state]]
        other = proof.values["other"]
        assert isinstance(other, int)
        first, second = state.transitions[proof.transition], state.transitions[other]
        if first.path in told or second.path in told:
            continue
        if not dead.isdisjoint({(state.name, first.number), (state.name, second.number)}):
            continue
        after = how(facts, proof.witness)
        yield Finding(
            message=f"the ways to '{first.target}' and '{second.target}' have the same priority"
            f" and hold together{f', {after}' if after else ''}; the first in the file wins",
            at=Place(second.at),
            states=(state.name, first.target, second.target),
            related=(Related("holds too", Place(first.at)),),
            hint="give the one that is meant to win a lower priority number",
            verdict=proof.verdict,
            witness=proof.witness,
        )
