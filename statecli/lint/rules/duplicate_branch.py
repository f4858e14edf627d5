"""Two branches are in one state at once, and nothing says that they are to be joined there.

Why: the state runs once for each branch: the person is asked twice, or two models do one job.

Bad:
    initial: split
    states:
      split: {type: decision, transition: {fanout: all, next: [costs, terms]}}
      costs: {type: agent, transition: {next: [weigh]}}
      terms: {type: agent, transition: {next: [weigh]}}
      weigh: {type: agent, transition: {next: [done]}}
      done: {type: terminal}

Good:
    initial: split
    states:
      split: {type: decision, transition: {fanout: all, next: [costs, terms]}}
      costs: {type: agent, transition: {next: [weigh]}}
      terms: {type: agent, transition: {next: [weigh]}}
      weigh: {type: agent, join: all, transition: {next: [done]}}
      done: {type: terminal}

Fix: say `join: all` where the branches come together, or `join: any` if each is to run on its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding

FAMILY = "termination"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """The states where branches first meet without a join; what comes after follows from it."""
    found = facts.proven("duplicate-branch")
    told = {proof.state for proof in found}
    for proof in found:
        number = facts.index[proof.state]
        if any(
            facts.states[source].name in told
            for source, targets in enumerate(facts.successors)
            if number in targets and source != number
        ):
            continue
        yield Finding(
            message=f"two branches can be in '{proof.state}' at once, and it does not join them",
            at=facts.place(proof.state),
            states=(proof.state,),
            hint="say 'join: all' there, or 'join: any' if each is to run on its own",
            verdict=proof.verdict,
            witness=proof.witness,
        )
