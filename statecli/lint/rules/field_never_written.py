"""A condition, a prompt or `reads` asks for a key that no state collects or writes.

Why: the key is never set, so the condition never holds, or the prompt lacks what it asks for;
mostly the key is misspelt in one of two places.

Bad:
    states:
      - id: contact
        title: Contact
        tasks:
          - id: ask-email
            description: Ask for the e-mail address
            deliverables: [{key: email}]
        transitions:
          - target_state_id: done
            condition_type: deliverable_exists
            condition_config: {key: emial}
      - id: done
        title: Done

Bad (in the states form):
    initial: triage
    states:
      triage:
        type: agent
        transition:
          next: [{to: refund, when: "intent == 'refund'"}, done]
      refund: {type: terminal}
      done: {type: terminal}

Good:
    states:
      - id: contact
        title: Contact
        tasks:
          - id: ask-email
            description: Ask for the e-mail address
            deliverables: [{key: email}]
        transitions:
          - target_state_id: done
            condition_type: deliverable_exists
            condition_config: {key: email}
      - id: done
        title: Done

Good (given from outside):
    initial: triage
    fields:
      tier: {type: str, default: free}
    states:
      triage:
        type: agent
        transition:
          next: [{to: vip, when: {tier: premium}}, done]
      vip: {type: terminal}
      done: {type: terminal}

Fix: correct the key, let a state collect it (a deliverable, or `writes`), give it a default under
`fields`, or name it in `session_context` or under `inputs` in the config if it comes from outside.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint import flow, reading
from statecli.lint.facts import IMPLICIT_FIELDS, Facts
from statecli.lint.lost import lost
from statecli.model.diagnostic import Finding
from statecli.model.graph import KINDS
from statecli.model.nearest import nearest
from statecli.model.span import Place

FAMILY = "data"
SEVERITY = "error"
FIX = "unsafe"
#: So many different keys are compared with those that are set.
MOST_GUESSES = 50


def check(facts: Facts) -> Iterator[Finding]:
    """Each key that nothing sets, once for each state that reads it."""
    unset = [(n, key) for n, key in facts.foreign_reads if key not in facts.writers]
    texts = list(_unset_in_graph_texts(facts))
    if not unset and not texts:
        return
    hidden = lost(facts) | set(reading.misspelt_writes(facts).values())
    fields = facts.graph.fields if facts.graph is not None else {}
    # `plan`, `messages` and the like exist everywhere, but nobody means them by a slip.
    known = [*facts.writers, *fields, *(facts.given - IMPLICIT_FIELDS)]
    guesses: dict[str, str | None] = {}
    for key, place in texts:
        if key not in hidden:
            yield _finding(facts, key, nearest(key, known), [reading.Read(place, asks=False)], ())
    opaque = flow.after_opaque(facts)
    for number, key in unset:
        if key in hidden or (opaque[number] and facts.may_hold(key)):
            continue
        if key not in guesses:
            guesses[key] = nearest(key, known) if len(guesses) < MOST_GUESSES else None
        reads = reading.places(facts, number, key)
        yield _finding(facts, key, guesses[key], reads, facts.names([number]))


def _unset_in_graph_texts(facts: Facts) -> Iterator[tuple[str, Place]]:
    """Variables in texts of the graph itself, which every state may show."""
    for variable in facts.templates:
        key = variable.name
        if variable.state >= 0 or key in facts.writers or key in facts.given:
            continue
        if reading.is_known(facts, key) and all(state.kind in KINDS for state in facts.states):
            yield key, Place(variable.path, "value", (variable.start, variable.end))


def _finding(
    facts: Facts, key: str, guess: str | None, reads: list[reading.Read], states: tuple[str, ...]
) -> Finding:
    plan = facts.is_plan
    message = f"no state {'collects' if plan else 'writes'} '{key}'"
    if facts.graph is not None and key in facts.graph.fields:
        message += ", and it has no default"
    elif facts.graph is not None and facts.graph.declares_fields:
        message += ", nor do 'fields' declare it"
    if guess is not None:
        hint = f"did you mean '{guess}'?"
    elif plan:
        hint = "let a task collect it, or name it in 'session_context' if it is given from outside"
    else:
        hint = (
            "add it to the 'writes' of the state that sets it, give it a default under 'fields', "
            "or name it under 'inputs' in statecli.toml"
        )
    return Finding(
        message=message,
        at=reads[0].place,
        states=states,
        hint=hint,
        fix=reading.rename(reads, guess) if guess is not None else None,
    )
