"""One of the values that may be chosen has no route.

Why: who chooses that value gets nowhere. There is nothing to catch it: no route on completion, on
turns or without a condition.

Bad:
    states:
      - id: triage
        title: Triage
        tasks:
          - id: ask
            description: Ask what it is about
            deliverables: [{key: topic, type: enum, enum_values: [billing, technical]}]
        transitions:
          - target_state_id: billing
            condition_type: deliverable_value
            condition_config: {key: topic, value: billing}
      - id: technical
        title: Technical
      - id: billing
        title: Billing

Good:
    states:
      - id: triage
        title: Triage
        tasks:
          - id: ask
            description: Ask what it is about
            deliverables: [{key: topic, type: enum, enum_values: [billing, technical]}]
        transitions:
          - target_state_id: billing
            condition_type: deliverable_value
            condition_config: {key: topic, value: billing}
          - target_state_id: technical
            condition_type: deliverable_value
            condition_config: {key: topic, value: technical}
      - id: technical
        title: Technical
      - id: billing
        title: Billing

Fix: add a route for the value, or one that takes what is left (on completion).
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.guardplaces import declared, ways_out
from statecli.lint.proofs import gaps
from statecli.lint.unrouted import unrouted
from statecli.model.diagnostic import Finding
from statecli.model.wording import listed

FAMILY = "guards"
SEVERITY = "warning"


def check(facts: Facts) -> Iterator[Finding]:
    """Each enum that routes of a state compare, with the values that none takes."""
    yield from gaps(facts, _gaps(facts))


def _gaps(facts: Facts) -> Iterator[Finding]:
    for found in unrouted(facts, ("enum",)):
        field = found.axis.field
        values = field.values if field is not None else ()
        lost = [value for value in values if found.lost(value)]
        if not lost or field is None:
            continue
        name = found.state.name
        one = len(lost) == 1
        rest = "on completion" if found.state.is_plan else "without a condition"
        yield Finding(
            message=(
                f"{listed([str(value) for value in lost])} {'has' if one else 'have'} no route:"
                f" no condition in '{name}' takes {'this value' if one else 'these values'} of"
                f" '{found.key}'"
            ),
            at=ways_out(found.state),
            states=(name,),
            related=(declared(field),),
            hint=f"add a route for {'it' if one else 'them'}, or one {rest}",
        )
