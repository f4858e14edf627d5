"""A join waits for all its branches, and one of them does not come.

Why: the run stops there with an error. A branch that was not taken, or that went another way, is
never delivered.

Bad:
    initial: split
    fields:
      urgent: {type: bool}
    states:
      split:
        type: agent
        writes: [urgent]
        transition:
          fanout: all
          next:
            - {to: call, when: {urgent: true}}
            - write
      call: {type: agent, transition: {next: [report]}}
      write: {type: agent, transition: {next: [report]}}
      report: {type: agent, join: all, transition: {next: [done]}}
      done: {type: terminal}

Good:
    initial: split
    states:
      split:
        type: decision
        transition:
          fanout: all
          next: [call, write]
      call: {type: agent, transition: {next: [report]}}
      write: {type: agent, transition: {next: [report]}}
      report: {type: agent, join: all, transition: {next: [done]}}
      done: {type: terminal}

Fix: let every branch that the join waits for come there, or let the join take what comes
(`join: any`).
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.told import how
from statecli.model.diagnostic import Finding, Related
from statecli.model.wording import listed

FAMILY = "termination"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Each join that some run waits at for ever, but not only since another one does."""
    for proof in facts.proven("join-never-satisfied"):
        if proof.values["follows"]:
            continue
        lacking = proof.values["lacking"]
        assert isinstance(lacking, tuple)
        missing = listed(lacking, "and") if lacking else "another branch"
        waits = f"'{proof.state}' waits for all branches, and can wait for {missing} for ever"
        told = how(facts, proof.witness)
        yield Finding(
            message=f"{waits}, as {told}" if told else waits,
            at=facts.place(proof.state),
            states=(proof.state, *lacking),
            related=tuple(Related("does not come", facts.place(name)) for name in lacking),
            hint="let every branch that it waits for come, or say 'join: any'",
            verdict=proof.verdict,
            witness=proof.witness,
        )
