"""A word is an older spelling that the plan document does not have.

Why: statecli reads it, the plan engine does not: there a condition whose keys are misspelt never
holds, and the person lands in another state than meant.

Bad:
    states:
      - id: intake
        title: Intake
        type: sequential

Bad (the keys of a condition):
    states:
      - id: intake
        title: Intake
        tasks:
          - id: topic
            description: Ask for the topic
            deliverables: [{key: topic}]
        transitions:
          - target_state_id: billing
            condition_type: deliverable_value
            condition_config: {deliverable_key: topic, expected_value: billing}
          - target_state_id: billing
            priority: 2
      - id: billing
        title: Billing

Good:
    states:
      - id: intake
        title: Intake
        type: strict

Fix: write the new spelling; the safe fix does. Modes: strict (sequential), loose (flexible). Keys:
key (deliverable_key), value (expected_value), turns (value), condition_type (type),
condition_config (config). Operators: gt, gte, lt, lte, eq, neq, between (range).
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.shape import OldSpelling
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "warning"
FIX = "safe"


def check(facts: Facts) -> Iterator[Finding]:
    """The older spellings that the loader read."""
    for issue in facts.issues(OldSpelling):
        at = Place(issue.path, "key" if issue.is_key else "value")
        yield Finding(
            message=f"'{issue.old}' is an older spelling of '{issue.new}'",
            at=at,
            states=facts.owner(issue.path),
            hint=f"write '{issue.new}'",
            fix=Fix(f"write '{issue.new}'", (Edit(at, issue.new, "text"),), safe=True),
        )
