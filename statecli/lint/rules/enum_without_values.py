"""A deliverable of type `enum` lists no values.

Why: no value is allowed then, so the deliverable can never be collected.

Bad:
    states:
      - id: intake
        title: Intake
        tasks:
          - id: topic
            description: Ask for the topic
            deliverables: [{key: topic, type: enum}]

Good:
    states:
      - id: intake
        title: Intake
        tasks:
          - id: topic
            description: Ask for the topic
            deliverables: [{key: topic, type: enum, enum_values: [billing, technical]}]

Fix: add `enum_values`, or make it a string.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding
from statecli.model.span import Place

FAMILY = "syntax"
SEVERITY = "error"


def check(facts: Facts) -> Iterator[Finding]:
    """Every enum deliverable of a task or goal without `enum_values`."""
    for state, item in facts.collected:
        if item.type != "enum" or item.values:
            continue
        if "enum_values" in facts.meant.get(item.path, ()):
            continue
        yield Finding(
            message=f"the enum '{item.key}' has no enum_values",
            at=Place((*item.path, "type")),
            states=(state.name,),
            hint="add enum_values: [...]",
        )
