"""A transition whose condition can hold, but that is never the first to hold on any run.

Why: what happened before, or what another way takes first, leaves nothing for it. It looks like a
way out but is none.

Bad:
    states:
      - id: login
        title: Login
        tasks:
          - id: ask
            description: Ask whether the account is locked
            deliverables: [{key: locked, type: boolean}]
        transitions:
          - target_state_id: check
            condition_type: deliverable_value
            condition_config: {key: locked, value: true}
          - {target_state_id: done, priority: 2}
      - id: check
        title: Check
        tasks: [{id: look, description: Look at the account}]
        transitions:
          - target_state_id: done
            condition_type: deliverable_value
            condition_config: {key: locked, value: false}
          - {target_state_id: help, priority: 2}
      - id: help
        title: Help
        tasks: [{id: say, description: Say how to unlock it}]
      - id: done
        title: Done

Good:
    states:
      - id: login
        title: Login
        tasks:
          - id: ask
            description: Ask whether the account is locked
            deliverables: [{key: locked, type: boolean}]
        transitions:
          - target_state_id: check
            condition_type: deliverable_value
            condition_config: {key: locked, value: true}
          - {target_state_id: done, priority: 2}
      - id: check
        title: Check
        tasks:
          - id: look
            description: Look whether it is locked now
            deliverables: [{key: still_locked, type: boolean}]
        transitions:
          - target_state_id: done
            condition_type: deliverable_value
            condition_config: {key: still_locked, value: false}
          - {target_state_id: help, priority: 2}
      - id: help
        title: Help
        tasks: [{id: say, description: Say how to unlock it}]
      - id: done
        title: Done

Fix: ask for what may have changed under a name of its own, change the condition, or remove the
transition.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.kernel.limits import limit
from statecli.lint.facts import Facts
from statecli.lint.proofs import Proof, named
from statecli.model.diagnostic import Finding
from statecli.model.graph import State, Transition
from statecli.model.guard import AllOf, Guard, Turns
from statecli.model.span import Place
from statecli.model.wording import joined
from statecli.model.words import value_words

FAMILY = "guards"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """Each transition that is proved to be never taken, if no other rule says why."""
    found = facts.proven("dead-transition")
    told = named(facts) if found else set()
    waiting = {proof.state for proof in facts.proven("join-never-satisfied")}
    for proof in found:
        state = facts.states[facts.index[proof.state]]
        way = state.transitions[proof.transition]
        if way.path in told or facts.index[proof.state] in facts.unclear:
            continue
        if proof.state in waiting and proof.values["held"] is None:
            continue  # no run gets that far
        yield Finding(
            message=f"the way to '{way.target}' is never taken: {_why(facts, state, way, proof)}",
            at=Place(way.at),
            states=(state.name, way.target),
            hint="change its condition, or remove it",
        )


def _why(facts: Facts, state: State, way: Transition, proof: Proof) -> str:
    """What the fields that it looks at always are there, or what comes first."""
    only = proof.values.get("only")
    if isinstance(only, dict) and only:
        said = [
            f"'{key}' is {joined([_said(value) for value in values], 'or')}"
            for key, values in only.items()
        ]
        return f"when it is tried, {joined(said)}"
    assert facts.graph is not None
    stuck = limit(facts.graph, "stuck_turns")
    if state.is_plan and 0 < stuck < _idle_turns(way.guard):
        return f"after {stuck} turns without progress the safety net has moved the run on"
    if state.fans_out or proof.values["held"] is False:  # all that hold are taken
        return "it holds on no run that gets here"
    if proof.values["held"] is None:
        return "no run that gets here takes it"
    return "whenever it holds, another way is taken first"


def _idle_turns(guard: Guard | None) -> int:
    """So many turns without progress are needed for a condition at least."""
    if isinstance(guard, Turns) and guard.scope == "without_progress":
        return guard.turns
    if isinstance(guard, AllOf):
        return max((_idle_turns(part) for part in guard.children), default=0)
    return 0


def _said(value: object) -> str:
    return "not set" if value is None else value_words(value)
