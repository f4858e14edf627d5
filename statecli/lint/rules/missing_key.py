"""A field that an object must have is not there.

Why: without its `id` nothing can lead to a state, without its target a transition goes nowhere,
without its `key` a deliverable has no name to be stored under.

Bad:
    states:
      - title: Greeting

Bad (an item of `next` without a target):
    initial: ask
    states:
      ask:
        type: user
        transition:
          next:
            - {when: {done: true}}

Good:
    states:
      - id: greeting
        title: Greeting

Fix: add the field that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.objects import called
from statecli.model.diagnostic import Finding
from statecli.model.shape import MissingKey
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "error"
_CURES = {
    "target_state_id": "name the state it leads to, or __end__",
    "to": "name the state it leads to",
    "id": "give it an id of its own",
    "key": "give it the name under which the value is stored",
    "description": "say what is to be done",
    "title": "give it a title for people to read",
}


def check(facts: Facts) -> Iterator[Finding]:
    """Every required key that an object lacks and does not misspell."""
    for issue in facts.issues(MissingKey):
        if issue.key in facts.meant.get(issue.path, ()):
            continue
        yield Finding(
            message=f"{called(issue.object)} needs '{issue.key}'",
            at=Place(issue.path),
            states=facts.owner(issue.path),
            hint=_CURES.get(issue.key, f"add '{issue.key}'"),
            severity=issue.severity,
        )
