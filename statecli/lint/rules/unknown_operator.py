"""An operator or scope of a condition is none that there is.

Why: the condition never holds, so the transition is never taken.

Bad:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: rating
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: thanks
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: "=>", value: 3}
          - target_state_id: thanks
            priority: 2
      - id: thanks
        title: Thanks

Bad (a suffix of `when`):
    initial: rate
    states:
      rate:
        type: agent
        writes: [rating]
        transition:
          next:
            - {to: thanks, when: {rating__ge: 3}}
            - rate
      thanks:
        type: terminal

Good:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: rating
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: thanks
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 3}
          - target_state_id: thanks
            priority: 2
      - id: thanks
        title: Thanks

Fix: numbers: gt, gte, lt, lte, eq, neq, between. `compound`: and, or. The scope of turns:
without_progress, total, session. `when`: eq, ne, lt, lte, gt, gte, in, notin, contains, is, isnot,
exists. The unsafe fix takes the nearest.
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
    """The operators and scopes that the loader does not know."""
    yield from from_conditions(facts, "unknown-operator")
