"""A state name, id or target is a number, true, false or null instead of text.

Why: names are compared as text. Another reader keeps the number, and then 404 and "404" are two
names; null is no name at all.

Bad:
    initial: 404
    states:
      404:
        type: terminal

Good:
    initial: "404"
    states:
      "404":
        type: terminal

Fix: put the name into quotes; the safe fix does.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.shape import OddName
from statecli.model.span import Place
from statecli.text.core_value import core_value

FAMILY = "syntax"
SEVERITY = "warning"
FIX = "safe"


def check(facts: Facts) -> Iterator[Finding]:
    """The names that the loader took as text although they are none."""
    for issue in facts.issues(OddName):
        at = Place(issue.path, "key" if issue.is_key else "value")
        name = f"the name {issue.text}" if issue.text else "an empty name"
        fix = None
        if issue.text and (issue.is_key or facts.document.raw(issue.path)):
            edits = (Edit(at, '"', "before"), Edit(at, '"', "after"))
            fix = Fix("put it into quotes", edits, safe=True)
        yield Finding(
            message=f"{name} is read as {_sort(issue.text)}, not as text",
            at=at,
            states=facts.owner(issue.path),
            hint=f'write "{issue.text}"' if issue.text else "write a name",
            fix=fix,
        )


def _sort(text: str) -> str:
    value = core_value(text)
    if value is None:
        return "nothing"
    return "true or false" if isinstance(value, bool) else "a number"
