"""The end is reached while other branches still run.

Why: what the other branches do comes too late, or does not count.

Bad:
    initial: split
    fields:
      found: {type: bool}
    states:
      split: {type: decision, transition: {fanout: all, next: [search, ask]}}
      search:
        type: agent
        writes: [found]
        transition:
          next:
            - {to: done, when: {found: true}}
            - report
      ask: {type: agent, transition: {next: [report]}}
      report: {type: agent, transition: {next: [done]}}
      done: {type: terminal}

Good:
    initial: split
    states:
      split: {type: decision, transition: {fanout: all, next: [search, ask]}}
      search: {type: agent, transition: {next: [report]}}
      ask: {type: agent, transition: {next: [report]}}
      report: {type: agent, join: all, transition: {next: [done]}}
      done: {type: terminal}

Fix: join the branches before the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model import graphs
from statecli.model.diagnostic import Finding, Related

FAMILY = "termination"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """Each end that a branch reaches while another one is under way, if that is not what comes of
    another mistake that is told."""
    for proof in facts.proven("end-with-open-branches"):
        other = str(proof.values["other"])
        if _of_a_meeting(facts, proof.state, other):
            continue
        yield Finding(
            message=f"a branch ends in '{proof.state}' while another one is still in '{other}'",
            at=facts.place(proof.state),
            states=(proof.state, other),
            related=(Related("still runs", facts.place(other)),),
            hint="join the branches before the end",
            verdict=proof.verdict,
            witness=proof.witness,
        )


def _of_a_meeting(facts: Facts, end: str, other: str) -> bool:
    """Whether branches are told to meet, and nothing joins them, on the way to this end."""
    for finding in facts.fired("duplicate-branch"):
        on = graphs.reachable(facts.successors, [facts.index[finding.states[0]]])
        if on[facts.index[end]] and on[facts.index[other]]:
            return True
    return False
