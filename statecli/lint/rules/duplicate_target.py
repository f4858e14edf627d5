"""One `next` names the same state twice.

Why: the second one changes nothing, and where the model chooses, it sees one option twice.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [ask, ask]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [ask]}

Fix: remove the second one; the safe fix does.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.repeats import repeated
from statecli.model.diagnostic import Finding

FAMILY = "references"
SEVERITY = "warning"
FIX = "safe"


def check(facts: Facts) -> Iterator[Finding]:
    """Items of one `next` without a condition that lead to the same state."""
    yield from repeated(facts, conditions=False)
