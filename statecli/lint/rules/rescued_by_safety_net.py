"""Only the safety net of idle turns gets a run on from here.

Why: everything is answered, but no way leads on. The person talks to a state that has nothing to
ask any more until the net moves the run to the next state in order, whether that fits or not.

Bad:
    states:
      - id: intake
        title: Intake
        tasks:
          - id: who
            description: Ask whether the person is a customer
            deliverables: [{key: customer, type: boolean}]
        transitions:
          - target_state_id: account
            condition_type: deliverable_value
            condition_config: {key: customer, value: true}
      - id: sales
        title: Sales
        tasks: [{id: offer, description: Make an offer}]
      - id: account
        title: Account

Good:
    states:
      - id: intake
        title: Intake
        tasks:
          - id: who
            description: Ask whether the person is a customer
            deliverables: [{key: customer, type: boolean}]
        transitions:
          - target_state_id: account
            condition_type: deliverable_value
            condition_config: {key: customer, value: true}
          - {target_state_id: sales, priority: 2}
      - id: sales
        title: Sales
        tasks: [{id: offer, description: Make an offer}]
      - id: account
        title: Account

Fix: add a way on completion.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.kernel.limits import limit
from statecli.kernel.order import following
from statecli.lint.facts import Facts
from statecli.lint.proofs import named
from statecli.lint.told import answers
from statecli.model.diagnostic import Finding

FAMILY = "termination"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """Each plan state that some run leaves by the net alone, if no other rule says why."""
    found = facts.proven("rescued-by-safety-net")
    graph = facts.graph
    if not found or graph is None:
        return
    told = named(facts)
    silent = {
        name
        for rule in ("enum-value-unrouted", "numeric-gap")
        for finding in facts.fired(rule)
        for name in finding.states[:1]
    }
    turns = limit(graph, "stuck_turns")
    for proof in found:
        state = facts.states[facts.index[proof.state]]
        if proof.state in silent or any(way.path in told for way in state.transitions):
            continue
        target = following(graph, proof.state)
        on = f"moves on to '{target}'" if target is not None else "ends the run"
        after = answers(proof.witness)
        yield Finding(
            message=f"{f'after {after} ' if after else ''}nothing is left to ask and no way leads "
            f"on in '{proof.state}': only the safety net {on}, after {turns} idle turns",
            at=facts.place(state),
            states=(proof.state,),
            hint="add a way that takes the rest, on completion",
            verdict=proof.verdict,
            witness=proof.witness,
        )
