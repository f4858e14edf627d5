"""A transition's `condition_type` is none that there is.

Why: the condition never holds, so the transition is never taken.

Bad:
    states:
      - id: intake
        title: Intake
        tasks:
          - id: name
            description: Ask for the name
            deliverables: [{key: name}]
        transitions:
          - target_state_id: summary
            condition_type: deliverable_exist
            condition_config: {key: name}
      - id: summary
        title: Summary

Good:
    states:
      - id: intake
        title: Intake
        tasks:
          - id: name
            description: Ask for the name
            deliverables: [{key: name}]
        transitions:
          - target_state_id: summary
            condition_type: deliverable_exists
            condition_config: {key: name}
      - id: summary
        title: Summary

Fix: write one of all_tasks_complete, goal_achieved, deliverable_exists, deliverable_value,
deliverable_value_in, deliverable_value_numeric, turn_count_exceeded, all_of, any_of, compound. The
unsafe fix takes the nearest.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.conditions import from_conditions
from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding

FAMILY = "syntax"
SEVERITY = "error"
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """The condition types that the loader does not know."""
    yield from from_conditions(facts, "unknown-condition-type")
