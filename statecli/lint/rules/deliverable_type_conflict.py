"""Two tasks collect one key as different types or with different values.

Why: a key is one field of the whole session. What one state stored does not fit where the other
state, or a guard, expects something else.

Bad:
    states:
      - id: order
        title: Order
        tasks:
          - id: ask-size
            description: Ask for the size
            deliverables: [{key: size, type: string}]
      - id: check
        title: Check
        tasks:
          - id: check-size
            description: Confirm the size
            deliverables: [{key: size, type: number}]

Bad (other values):
    states:
      - id: order
        title: Order
        tasks:
          - id: ask-size
            description: Ask for the size
            deliverables: [{key: size, type: enum, enum_values: [small, large]}]
          - id: check-size
            description: Confirm the size
            deliverables: [{key: size, type: enum, enum_values: [small, medium]}]

Good:
    states:
      - id: order
        title: Order
        tasks:
          - id: ask-size
            description: Ask for the size
            deliverables: [{key: size, type: enum, enum_values: [small, large]}]
      - id: check
        title: Check
        tasks:
          - id: check-size
            description: Confirm the size
            deliverables: [{key: size, type: enum, enum_values: [small, large]}]

Fix: declare the key the same way everywhere, or give the second one a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import Deliverable
from statecli.model.guard import fold
from statecli.model.keys import DELIVERABLE_TYPES
from statecli.model.span import Place
from statecli.model.wording import listed

FAMILY = "tasks"
SEVERITY = "error"


class _Declared(NamedTuple):
    """A key as some state declares it."""

    item: Deliverable
    state: str


def check(facts: Facts) -> Iterator[Finding]:
    """Each way of declaring a key that differs from the first one, once."""
    first: dict[str, _Declared] = {}
    told: set[tuple[str, str, frozenset[object]]] = set()
    for state, item in facts.collected:
        known = first.get(item.key)
        if known is None:
            first[item.key] = _Declared(item, state.name)
            continue
        if item.type not in DELIVERABLE_TYPES:
            continue
        if item.type == known.item.type and item.values == known.item.values:
            continue
        variant = (item.key, item.type, _values(item))
        if _differ(known.item, item) and variant not in told:
            told.add(variant)
            yield _finding(facts, known, _Declared(item, state.name))


def _differ(first: Deliverable, second: Deliverable) -> bool:
    """Types and, of enums, the values as equality sees them; an enum without values is another
    rule's finding."""
    if first.type not in DELIVERABLE_TYPES:
        return False
    if first.type != second.type:
        return True
    if first.type != "enum" or not (first.values and second.values):
        return False
    return _values(first) != _values(second)


def _values(item: Deliverable) -> frozenset[object]:
    return frozenset(
        fold(value) if isinstance(value, str) else repr(value) for value in item.values
    )


def _finding(facts: Facts, first: _Declared, second: _Declared) -> Finding:
    key = second.item.key
    where = "" if first.state == second.state else f" in '{first.state}'"
    at = "type"
    if first.item.type != second.item.type:
        message = f"'{key}' is {second.item.type} here, but {first.item.type}{where}"
        hint = f"write '{first.item.type}', or give it another key"
    else:
        at = "enum_values"
        message = f"'{key}' has other values here than{where or ' before'}: "
        message += _difference(first.item, second.item)
        hint = "list the same values, or give it another key"
    path = (*second.item.path, at)
    return Finding(
        message=message,
        at=Place(path if facts.value(path) is not None else second.item.path),
        states=(second.state,) if first.state == second.state else (second.state, first.state),
        related=(Related(f"'{key}' is declared first here", Place(first.item.path)),),
        hint=hint,
    )


def _difference(first: Deliverable, second: Deliverable) -> str:
    """Which values are new and which are gone."""
    before, after = _values(first), _values(second)
    new = [str(v) for v in second.values if not _values(second._replace(values=(v,))) <= before]
    gone = [str(v) for v in first.values if not _values(first._replace(values=(v,))) <= after]
    parts = [f"{listed(new)} only here"] if new else []
    return ", ".join(parts + ([f"{listed(gone)} only there"] if gone else []))
