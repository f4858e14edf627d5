"""A state reads a key that is collected only in states that cannot come before it.

Why: when the state is there, the key is not, so the condition never holds, or the prompt lacks
what it asks for.

Bad:
    states:
      - id: ask
        title: Ask
        tasks: [{id: hello, description: Say hello}]
        transitions:
          - target_state_id: call
            condition_type: deliverable_exists
            condition_config: {key: phone}
          - {target_state_id: call, priority: 2}
      - id: call
        title: Call
        tasks:
          - id: get-phone
            description: Ask for the number
            deliverables: [{key: phone}]

Good:
    states:
      - id: call
        title: Call
        tasks:
          - id: get-phone
            description: Ask for the number
            deliverables: [{key: phone}]
      - id: ask
        title: Ask
        tasks: [{id: hello, description: Say hello}]
        transitions:
          - target_state_id: done
            condition_type: deliverable_exists
            condition_config: {key: phone}
          - {target_state_id: done, priority: 2}
      - id: done
        title: Done

Fix: collect the key in this state or in one before it, or ask for it later.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint import flow, reading
from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.model.span import Place

FAMILY = "data"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Each key that is set only afterwards, once for each state that reads it."""
    late = [(n, key) for n, key in facts.foreign_reads if key in facts.writers]
    found = list(flow.never_before(facts, late)) if late else []
    if not found:
        return
    opaque = flow.after_opaque(facts)
    reached = facts.reachable if facts.roots else None
    for number, key in found:
        if opaque[number] and facts.may_hold(key):
            continue
        setters = facts.writers[key]
        if reached is not None and not all(reached[setter] for setter in setters):
            continue  # why a state that sets it is not reached is another rule's message
        first, name = facts.states[setters[0]], facts.states[number].name
        path, word = reading.setter(first, key)
        reads = reading.places(facts, number, key)
        yield Finding(
            message=f"'{key}' is first {word} in '{first.name}', which cannot come before '{name}'",
            at=reads[0].place,
            states=(name, first.name),
            related=(Related(f"'{key}' is {word} here", Place(path)),),
            hint=f"have '{key}' {word} in '{name}' or in a state before it",
        )
