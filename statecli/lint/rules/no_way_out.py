"""From a part of the graph that waits for the person, no terminal state can be reached.

Why: the graph has an end, but a conversation that came here never gets there. The person can talk
on, or leave; what the end should do does not happen.

Bad:
    initial: greet
    states:
      greet:
        type: agent
        transition:
          next:
            - {to: ask, description: There is a question}
            - {to: done, description: There is none}
      ask:
        type: user
        transition: {next: [reply]}
      reply:
        type: agent
        transition: {next: [ask]}
      done:
        type: terminal

Good:
    initial: greet
    states:
      greet:
        type: agent
        transition:
          next:
            - {to: ask, description: There is a question}
            - {to: done, description: There is none}
      ask:
        type: user
        transition: {next: [greet]}
      done:
        type: terminal

Fix: lead one state of this part on towards a terminal state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecli.lint.facts import Facts
from statecli.lint.proofs import Proof
from statecli.lint.told import how
from statecli.model.diagnostic import Finding, Related
from statecli.model.wording import listed, walked

FAMILY = "termination"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """One finding for each closed component with a waiting state, if an end can be reached from
    elsewhere; where the verifier decides, one for each part that it proves to lead nowhere. A plan
    is meant to end, so there it is an error."""
    report = facts.verified
    proofs = facts.proven("no-way-out")
    told: set[str] = set()
    for finding in _on_paper(facts):
        proof = next((p for p in proofs if not set(_members(p)).isdisjoint(finding.states)), None)
        doomed = report.lists["doomed"] if report is not None else frozenset()
        if report is not None and report.decided_by_data and doomed.isdisjoint(finding.states):
            continue  # no run comes there, or something that is no route gets it out
        told.update(finding.states)
        if proof is None:
            yield finding
        else:
            yield finding._replace(verdict=proof.verdict, witness=proof.witness)
    if proofs and _ends(facts):
        told.update(_told(facts))
        for proof in proofs:
            names = _members(proof)
            if told.isdisjoint(names) and facts.unclear.isdisjoint(facts.index[n] for n in names):
                told.update(names)
                yield _proved(facts, proof, names)


def _on_paper(facts: Facts) -> Iterator[Finding]:
    """What the edges alone say."""
    traps = [part for part in facts.traps if any(facts.waiting[member] for member in part)]
    ends = _ends(facts) if traps else []
    if not ends:
        return
    dead = {name for finding in facts.fired("dead-end-state") for name in finding.states}
    for members in traps:
        if facts.states[members[0]].name not in dead:
            yield _finding(facts, members, ends)


def _ends(facts: Facts) -> list[str]:
    return [name for name in facts.terminals if facts.reachable[facts.index[name]]]


def _members(proof: Proof) -> tuple[str, ...]:
    members = proof.values["members"]
    assert isinstance(members, tuple)
    return members


def _told(facts: Facts) -> Iterator[str]:
    """States about which another rule says why a run stays there."""
    for rule in ("dead-end-state", "runaway-loop", "stuck-state", "unreachable-terminal"):
        for finding in facts.fired(rule):
            yield from finding.states


def _proved(facts: Facts, proof: Proof, names: tuple[str, ...]) -> Finding:
    """A part that has ways out, none of which is taken with the values of this run."""
    ends = _ends(facts)
    after = how(facts, proof.witness)
    lead = "only lead to each other" if len(names) > 1 else "is never left"
    goal = "where the plan ends" if facts.is_plan else f"'{ends[0]}'"
    return Finding(
        message=f"{after} no run gets from '{names[0]}' to {goal}: {listed(names)} {lead}"
        if after
        else f"no run gets from '{names[0]}' to {goal}: {listed(names)} {lead}",
        at=facts.place(names[0]),
        states=names,
        related=(Related("this end", facts.place(ends[0])),),
        hint="lead on from there whatever was answered, or ask again",
        severity="error" if facts.is_plan else None,
        verdict=proof.verdict,
        witness=proof.witness,
        anchors=tuple(facts.place(name) for name in names[1:]),
    )


def _finding(facts: Facts, members: Sequence[int], ends: list[str]) -> Finding:
    path = facts.way_in(members, 6)
    entry = path[-1]
    others = [member for member in members if member != entry]
    goal = f"'{ends[0]}' cannot be reached"
    if facts.is_plan:
        goal += ", where the plan ends"
    elif len(ends) > 1:
        goal += f", nor {listed(ends[1:], 'or', 3)}"
    names = facts.names([entry, *others])
    only = "lead only to each other" if others else "leads nowhere else"
    way = walked(facts.names(path)) if len(path) > 1 else ""
    related = [Related("this end", facts.place(ends[0]))]
    if way:
        related.append(Related("entered here", facts.edge(*path[-2:])))
        way = f"; the way in is {'' if path[0] in facts.roots else '… -> '}{way}"
    return Finding(
        message=f"from here {goal}: {listed(names)} {only}{way}",
        at=facts.place(facts.states[entry]),
        states=names,
        related=tuple(related),
        hint=f"lead {'one of them' if others else 'it'} on towards '{ends[0]}'",
        severity="error" if facts.is_plan else None,
        anchors=tuple(facts.place(facts.states[member]) for member in others),
    )
