"""A condition lacks a key that its type needs.

Why: the condition never holds, so the transition is never taken.

Bad:
    states:
      - id: topic
        title: Topic
        tasks:
          - id: topic
            description: Ask for the topic
            deliverables: [{key: topic}]
        transitions:
          - target_state_id: billing
            condition_type: deliverable_value
            condition_config: {key: topic}
          - target_state_id: billing
            priority: 2
      - id: billing
        title: Billing

Good:
    states:
      - id: topic
        title: Topic
        tasks:
          - id: topic
            description: Ask for the topic
            deliverables: [{key: topic}]
        transitions:
          - target_state_id: billing
            condition_type: deliverable_value
            condition_config: {key: topic, value: billing}
          - target_state_id: billing
            priority: 2
      - id: billing
        title: Billing

Fix: add the keys that the message names to `condition_config`.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding
from statecli.model.shape import BadCondition
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Every condition that lacks keys, save those that are only misspelt."""
    for issue in facts.issues(BadCondition):
        if issue.rule != "condition-config-missing":
            continue
        lacking = [key for key in issue.choices if key not in facts.meant.get(issue.path, ())]
        if lacking:
            added = " and ".join(f"'{key}'" for key in lacking)
            what = "to the condition" if lacking == ["condition_type"] else "to 'condition_config'"
            yield Finding(
                message=issue.message,
                at=Place(issue.path),
                states=facts.owner(issue.path),
                hint=f"add {added} {what}",
            )
