"""A plan state without tasks is left at once.

Why: nothing is asked there, so its description and its title never matter to the person. That is
fine for a state that only sorts; it is worth knowing if it was meant to say something.

Bad:
    states:
      - id: ask
        title: Ask
        tasks: [{id: t, description: Ask how the day was}]
      - id: thank
        title: Thank the person
        transitions: [{target_state_id: close}]
      - id: close
        title: Close
        tasks: [{id: u, description: Say goodbye}]

Good:
    states:
      - id: ask
        title: Ask
        tasks: [{id: t, description: Ask how the day was}]
      - id: thank
        title: Thank the person
        tasks: [{id: v, description: Thank the person}]
        transitions: [{target_state_id: close}]
      - id: close
        title: Close
        tasks: [{id: u, description: Say goodbye}]

Fix: give it a task if the person should be there for a moment, else nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding

FAMILY = "tasks"
SEVERITY = "info"


def check(facts: Facts) -> Iterator[Finding]:
    """Each plan state without tasks in which no run ever rests."""
    for proof in facts.proven("pass-through-state"):
        state = facts.states[facts.index[proof.state]]
        if {"tasks", "type"} & facts.misspelt(state.name):
            continue
        yield Finding(
            message=f"'{state.name}' has no tasks: it is left at once, before anything is asked",
            at=facts.place(state),
            states=(state.name,),
            hint="give it a task if the person should be there for a moment",
        )
