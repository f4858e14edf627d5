"""A suppression hides nothing, or names no rule.

Why: the next real finding at this place would be hidden without anybody knowing why.

Bad:
    initial: ask
    states:
      ask:
        type: terminal  # statecli: ignore[dead-end-state] not built yet

Good:
    initial: ask
    states:
      ask:  # statecli: ignore[dead-end-state] not built yet
        type: agent

Fix: remove the suppression, or correct the rule's name. The safe fix removes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding

FAMILY = "style"
SEVERITY = "warning"
FIX = "safe"


def check(_facts: Facts) -> Iterator[Finding]:
    """Nothing here: what a suppression hides is known only after all rules have run, so the
    linter asks `statecli.lint.ignores` then."""
    return iter(())
