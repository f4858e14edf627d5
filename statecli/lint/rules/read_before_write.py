"""A field is needed where some run has not set it yet.

Why: a condition on a field that is not set does not hold, whatever it compares; a prompt has a gap.
In a plan only a field that is never set there is told: that some answers are missing is normal.

Bad:
    initial: ask
    states:
      ask:
        type: agent
        writes: [wants_rush]
        transition:
          next:
            - {to: price, when: {wants_rush: true}}
            - count
      count:
        type: agent
        writes: [quantity]
        transition: {next: [price]}
      price:
        type: decision
        transition:
          next:
            - {to: large, when: {quantity__gt: 100}}
            - small
      large:
        type: terminal
      small:
        type: terminal

Good:
    initial: ask
    states:
      ask:
        type: agent
        writes: [quantity]
        transition: {next: [price]}
      price:
        type: decision
        transition:
          next:
            - {to: large, when: {quantity__gt: 100}}
            - small
      large:
        type: terminal
      small:
        type: terminal

Fix: set the field on every way here, give it a default, or ask whether it is there (`exists`).
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint import reading
from statecli.lint.facts import Facts
from statecli.lint.told import how
from statecli.model.diagnostic import Finding

FAMILY = "data"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """Each field that a state needs and a run lacks there, once for each state."""
    found = facts.proven("read-before-write")
    if not found:
        return
    told = {
        (finding.states[0], key)
        for rule in ("field-never-written", "field-written-later")
        for finding in facts.fired(rule)
        for key in facts.writers.keys() | {_quoted(finding.message)}
        if finding.states and f"'{key}'" in finding.message
    }
    dead = {proof.state for proof in facts.proven("dead-transition")}
    for proof in found:
        key, always = str(proof.values["key"]), proof.values.get("always") is True
        if (proof.state, key) in told or (facts.is_plan and not always):
            continue
        if facts.opaque[facts.index[proof.state]] or (always and proof.state in dead):
            continue
        if facts.is_given(key):
            continue
        told.add((proof.state, key))
        number = facts.index[proof.state]
        places = reading.places(facts, number, key)
        after = how(facts, proof.witness)
        if always:
            said = f"'{key}' is never set when '{proof.state}' needs it"
        else:
            said = f"'{key}' is not set in '{proof.state}' {after or 'yet'}"
        yield Finding(
            message=said,
            at=places[0].place if places else facts.place(proof.state),
            states=(proof.state,),
            hint="set it on every way here, give it a default, or ask whether it is there",
            severity="error" if always and not facts.is_plan else None,
            verdict=proof.verdict,
            witness=proof.witness,
        )


def _quoted(message: str) -> str:
    """The first name in quotes."""
    return message.split("'")[1] if message.count("'") > 1 else ""
