"""A state has the same transition twice: same target, same condition.

Why: whenever the second one holds the first one does, so the second one is never taken.

Bad:
    states:
      - id: intake
        title: Intake
        tasks: [{id: name, description: Ask for the name}]
        transitions:
          - target_state_id: summary
          - target_state_id: summary
      - id: summary
        title: Summary

Good:
    states:
      - id: intake
        title: Intake
        tasks: [{id: name, description: Ask for the name}]
        transitions:
          - target_state_id: summary
      - id: summary
        title: Summary

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
    """Transitions of one state with equal target and equal condition."""
    yield from repeated(facts, conditions=True)
