"""An enum lists a value twice, or two values that differ only in case.

Why: values are compared without regard to case and surrounding blanks, so the second one is the
same value again; a guard cannot tell them apart.

Bad:
    states:
      - id: order
        title: Order
        tasks:
          - id: ask-size
            description: Ask for the size
            deliverables: [{key: size, type: enum, enum_values: [small, large, small]}]

Bad (only the case differs):
    states:
      - id: order
        title: Order
        tasks:
          - id: ask-size
            description: Ask for the size
            deliverables: [{key: size, type: enum, enum_values: [small, Small]}]

Good:
    states:
      - id: order
        title: Order
        tasks:
          - id: ask-size
            description: Ask for the size
            deliverables: [{key: size, type: enum, enum_values: [small, large]}]

Fix: remove the second one. The safe fix does so where the two are written exactly alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecli.lint.facts import Facts
from statecli.model.data import shown
from statecli.model.diagnostic import Edit, Finding, Fix, Related
from statecli.model.guard import fold
from statecli.model.span import Path, Place

FAMILY = "tasks"
SEVERITY = "warning"
FIX = "safe"


def check(facts: Facts) -> Iterator[Finding]:
    """Repeated values of deliverables and of declared fields; a list that several share through
    an anchor is looked at once."""
    if facts.graph is None:
        return
    seen: set[int] = set()
    for state, item in facts.collected:
        if len(item.values) > 1:
            path = (*item.path, "enum_values")
            yield from _repeats(facts, item.values, path, (state.name,), seen)
    for field in facts.graph.fields.values() if facts.graph.declares_fields else ():
        if field.origin == "declared" and len(field.values) > 1:
            yield from _repeats(facts, field.values, (*field.path, "values"), (), seen)


def _repeats(
    facts: Facts, values: Sequence[object], path: Path, states: tuple[str, ...], seen: set[int]
) -> Iterator[Finding]:
    first: dict[object, int] = {}
    keys = [_folded(value) for value in values]
    if len(set(keys)) == len(keys):
        return
    shared = id(facts.value(path))
    if shared in seen:
        return
    seen.add(shared)
    for index, key in enumerate(keys):
        if first.setdefault(key, index) == index:
            continue
        value, before = values[index], values[first[key]]
        at = Place((*path, index))
        exact = value == before
        message = f"{shown(value)} is listed twice"
        if not exact:
            message = f"{shown(value)} is the same value as {shown(before)}: case and blanks "
            message += "around it do not count"
        fix = Fix("remove the second one", (Edit(at, "", "item"),), safe=True) if exact else None
        yield Finding(
            message=message,
            at=at,
            states=states,
            related=(Related("first here", Place((*path, first[key]))),),
            hint="remove one of them",
            fix=fix,
        )


def _folded(value: object) -> object:
    """What makes two values equal (model.md 4.2): text is folded, true is not 1."""
    if isinstance(value, str):
        return fold(value)
    return (type(value) is bool, value if isinstance(value, int | float) else repr(value))
