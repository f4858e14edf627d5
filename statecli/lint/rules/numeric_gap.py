"""Conditions on a number leave some numbers without a route.

Why: who answers with such a number gets nowhere. There is nothing to catch it: no route on
completion, on turns or without a condition.

Bad:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: ask
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: praise
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 8}
          - target_state_id: improve
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: between, min: 0, max: 7}
      - id: improve
        title: Improve
      - id: praise
        title: Praise

Good:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: ask
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: praise
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 8}
          - {target_state_id: improve, priority: 2}
      - id: improve
        title: Improve
      - id: praise
        title: Praise

Fix: move the bounds together, declare the value as an integer if only whole numbers occur, or add a
route that takes the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.lint.guardplaces import ways_out
from statecli.lint.proofs import gaps
from statecli.lint.regions import regions
from statecli.lint.unrouted import unrouted
from statecli.model.classes import points
from statecli.model.data import shown
from statecli.model.diagnostic import Finding
from statecli.model.wording import joined

FAMILY = "guards"
SEVERITY = "warning"
#: So many gaps are named.
MOST = 4


def check(facts: Facts) -> Iterator[Finding]:
    """Each number field whose values some routes of a state compare, and do not all take."""
    yield from gaps(facts, _gaps(facts))


def _gaps(facts: Facts) -> Iterator[Finding]:
    for found in unrouted(facts, ("float", "int")):
        field = found.axis.field
        whole = field is not None and field.type == "int"
        open_ = regions(points(found.axis.tests), found.lost, whole=whole)
        if not open_:
            continue
        words = [gap.said(found.key) for gap in open_]
        if len(words) > MOST:
            words = [*words[: MOST - 1], f"{len(words) - MOST + 1} more regions"]
        name, last = found.state.name, open_[-1]
        match = "match" if len(open_) > 1 else "matches"
        example = f" (for example {shown(last.sample)})" if last.low != last.high else ""
        plan = "on completion" if found.state.is_plan else "without a condition"
        yield Finding(
            message=f"{joined(words)} {match} nothing in '{name}'{example}",
            at=ways_out(found.state),
            states=(name,),
            hint=f"close the {'gaps' if len(open_) > 1 else 'gap'}, or add a route {plan}",
        )
