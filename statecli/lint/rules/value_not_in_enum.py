"""A condition compares an enum with a value that it does not have.

Why: only the listed values are ever stored, so the comparison never holds and the transition is
never taken.

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
            condition_config: {key: topic, value: biling}
          - {target_state_id: other, priority: 9}
      - id: billing
        title: Billing
      - id: other
        title: Other

Bad (expressions compare exactly):
    fields: {tier: {type: enum, values: [free, premium]}}
    initial: triage
    states:
      triage:
        type: agent
        writes: [tier]
        transition:
          next:
            - {to: vip, when: "tier == 'Premium'"}
            - done
      vip: {type: terminal, description: Talks to a person}
      done: {type: terminal, description: Ends}

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
            condition_config: {key: topic, value: Billing}
          - {target_state_id: other, priority: 9}
      - id: billing
        title: Billing
      - id: other
        title: Other

Fix: write one of the values; the unsafe fix takes the nearest. Conditions compare text trimmed and
without regard to case; expressions compare exactly.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint import guardplaces
from statecli.lint.facts import Facts
from statecli.lint.misfits import MEMBER, Misfit
from statecli.model.data import shown
from statecli.model.diagnostic import Finding, Related
from statecli.model.guard import same
from statecli.model.nearest import nearest
from statecli.model.span import Place
from statecli.model.wording import joined

FAMILY = "guards"
SEVERITY = "error"
#: So many values of an enum are named.
MOST = 6
FIX = "unsafe"


def check(facts: Facts) -> Iterator[Finding]:
    """The compared values that are none of their enum's."""
    for misfit in facts.misfits:
        if misfit.what == MEMBER:
            yield _finding(facts, misfit)


def _finding(facts: Facts, misfit: Misfit) -> Finding:
    field, value = misfit.field, misfit.value
    at = guardplaces.compared(facts, misfit)
    member = _meant(field.values, value)
    message = f"{shown(value)} is none of the values of '{field.name}'"
    if member is not None and same(member, value):
        message = f"{shown(value)} is not {shown(member)} here: an expression compares exactly"
    hint = f"its values are {_all(field.values)}"
    if member is not None:
        hint = f"did you mean {shown(member)}?"
        if type(member) is not type(value):
            hint = f"did you mean {_typed(member)}?"
    key = "enum_values" if field.origin == "deliverable" else "values"
    where = (*field.path, "options" if field.origin == "context" else key)
    return Finding(
        message=message,
        at=at,
        states=(misfit.state.name,),
        related=(Related("the values are listed here", Place(where)),),
        hint=hint,
        fix=guardplaces.rewritten(at, value, member) if member is not None else None,
    )


def _all(values: tuple[object, ...]) -> str:
    """The values in a sentence, the first few of many."""
    words = [shown(value) for value in values[:MOST]]
    if len(values) > MOST:
        words.append(f"{len(values) - MOST} more")
    return joined(words)


def _meant(members: tuple[object, ...], value: object) -> object:
    """The value that was probably meant: the same in other letters or quotes, or the nearest."""
    word = str(value)
    for member in members:
        if same(str(member), word):
            return member
    texts = [member for member in members if isinstance(member, str)]
    return nearest(word, texts) if isinstance(value, str) else None


def _typed(member: object) -> str:
    return f"the text {shown(member)}" if isinstance(member, str) else f"the number {shown(member)}"
