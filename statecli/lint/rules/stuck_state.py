"""A run gets to where nothing is left to ask and no way leads on.

Why: the person waits for ever, or the run stops with an error. The finding comes with the answers
that lead there.

Bad:
    initial: classify
    states:
      classify:
        type: agent
        writes: [intent]
        transition:
          next:
            - {to: refund, when: {intent: refund}}
            - {to: order, when: {intent: order}}
      refund:
        type: terminal
      order:
        type: terminal

Good:
    initial: classify
    states:
      classify:
        type: agent
        writes: [intent]
        transition:
          next:
            - {to: refund, when: {intent: refund}}
            - order
      refund:
        type: terminal
      order:
        type: terminal

Fix: add a way that takes the rest: one without a condition, in a plan one on completion.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.proofs import named
from statecli.lint.told import how
from statecli.model.diagnostic import Finding
from statecli.model.graph import FUNCTION

FAMILY = "termination"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Each state in which some run gets stuck, if no other rule says why."""
    found = facts.proven("stuck-state")
    if not found:
        return
    told = named(facts)
    silent = {
        name
        for rule in ("dead-end-state", "enum-value-unrouted", "numeric-gap")
        for finding in facts.fired(rule)
        for name in finding.states[:1]
    }
    for proof in found:
        number = facts.index[proof.state]
        state = facts.states[number]
        if proof.state in silent or number in facts.unclear:
            continue
        if any(way.path in told for way in state.transitions) or not _leads_on(facts, number):
            continue
        after = how(facts, proof.witness)
        where = "nothing is left to ask and no way leads on" if state.is_plan else "no way leads on"
        yield Finding(
            message=f"{f'{after} ' if after else ''}{where} in '{proof.state}'",
            at=facts.place(state),
            states=(proof.state,),
            hint=f"add a way that takes the rest{', on completion' if state.is_plan else ''}",
            severity="warning" if state.kind == FUNCTION else None,  # its body may see to it
            verdict=proof.verdict,
            witness=proof.witness,
        )


def _leads_on(facts: Facts, number: int) -> bool:
    """Whether any way leads to another state at all; else `no-way-out` says so."""
    return not facts.states[number].is_plan or any(
        target != number for target in facts.successors[number]
    )
