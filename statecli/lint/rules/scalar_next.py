"""`next` is one name instead of a list of names.

Why: statecli reads it, but a runtime that loops over `next` walks through the letters of the name.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: ask}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [ask]}

Fix: put the name into brackets; the safe fix does.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.shape import ScalarNext
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "info"
FIX = "safe"


def check(facts: Facts) -> Iterator[Finding]:
    """Every `next` that is one text."""
    for issue in facts.issues(ScalarNext):
        at = Place(issue.path)
        fix = None
        if not set(issue.name) & set(",[]{}\n"):
            edits = (Edit(at, "[", "before"), Edit(at, "]", "after"))
            fix = Fix("write a list", edits, safe=True)
        yield Finding(
            message=f"'next' is the name '{issue.name}', not a list of names",
            at=at,
            states=facts.owner(issue.path),
            hint=f"write [{issue.name}]",
            fix=fix,
        )
