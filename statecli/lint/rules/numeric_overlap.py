"""Two conditions on a number hold for the same numbers, and only the priority decides.

Why: it may be meant. Where it is not, the numbers in both go to the first state, unseen. Silent
where the later condition takes all that the earlier one takes and more: there the order is clearly
meant.

Bad:
    states:
      - id: rate
        title: Rate
        tasks:
          - id: ask
            description: Ask for a rating
            deliverables: [{key: rating, type: number}]
        transitions:
          - target_state_id: improve
            priority: 1
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: lte, value: 5}
          - target_state_id: praise
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 5}
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
          - target_state_id: improve
            priority: 1
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: lt, value: 5}
          - target_state_id: praise
            priority: 2
            condition_type: deliverable_value_numeric
            condition_config: {key: rating, operator: gte, value: 5}
      - id: improve
        title: Improve
      - id: praise
        title: Praise

Fix: move the bounds apart, unless the overlap is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecli.lint.facts import Facts
from statecli.lint.guardtable import GuardTable
from statecli.lint.hiding import hides_later
from statecli.lint.regions import regions
from statecli.model.classes import points
from statecli.model.diagnostic import Finding, Related
from statecli.model.graph import State, Transition
from statecli.model.guard import (
    NUMERIC,
    AllOf,
    AnyOf,
    Atom,
    Closed,
    Complete,
    Expr,
    Guard,
    Turns,
    reads,
    walk,
)
from statecli.model.parts import parts
from statecli.model.span import Place

FAMILY = "guards"
SEVERITY = "info"


def check(facts: Facts) -> Iterator[Finding]:
    """Pairs of routes of different priority and target that hold together for some numbers."""
    for number in facts.suspects(lambda guards, table: any(_together(guards, table))):
        ways, table, state = facts.routes[number], facts.guard_table(number), facts.states[number]
        if table is None or ways[0].priority == ways[-1].priority or state.fans_out:
            continue
        for first, later, key in _together([way.guard for way in ways], table):
            yield from _pair(facts, state, table, (first, later), key)


def _together(guards: Sequence[Guard | None], table: GuardTable) -> Iterator[tuple[int, int, str]]:
    """Two guards that compare one field with numbers and hold together, and that field."""
    keys = [_number(guard) for guard in guards]
    for later, key in enumerate(keys):
        if key is not None:
            for first in range(later):
                if keys[first] == key and table.truths[first] & table.truths[later]:
                    yield first, later, key


def _number(guard: Guard | None) -> str | None:
    """The one field that a guard compares with numbers only; None if it asks anything else."""
    if type(guard) is Atom:
        return guard.key if guard.op in NUMERIC else None
    if guard is None or isinstance(guard, Complete | Closed | Turns):
        return None
    keys = reads(guard)
    return keys[0] if len(keys) == 1 and all(map(_compares_numbers, walk(guard))) else None


def _compares_numbers(part: Guard) -> bool:
    if isinstance(part, Expr):
        found = parts(part.tree)
        return bool(found) and all(piece.ordered for piece in (found or {}).values())
    return isinstance(part, AllOf | AnyOf) or (isinstance(part, Atom) and part.op in NUMERIC)


def _pair(
    facts: Facts, state: State, table: GuardTable, pair: tuple[int, int], key: str
) -> Iterator[Finding]:
    ways = facts.routes[facts.index[state.name]]
    first, later = (ways[at] for at in pair)
    if first.priority == later.priority or first.target == later.target:
        return
    if not hides_later(facts, state, first) or not hides_later(facts, state, later):
        return
    rows, others = (table.truths[at] for at in pair)
    shadowed = not others & ~_taken(facts, state, table, ways[: pair[1]])
    both = rows & others & ~_taken(facts, state, table, ways[: pair[0]])
    if shadowed or not both or not rows & ~others:
        return
    axis = table.axes[key]
    whole = axis.field is not None and axis.field.type == "int"
    shared = regions(points(axis.tests), lambda v: bool(axis.where(v) & both), whole=whole)
    if not shared:
        return
    words = " and ".join(region.said(key) for region in shared)
    yield Finding(
        message=(
            f"{words} {'matches' if len(shared) == 1 else 'match'} both; '{first.target}' wins:"
            f" its priority number is lower than that of '{later.target}'"
        ),
        at=Place(later.at),
        states=(state.name, later.target),
        related=(Related(f"the way to '{first.target}'", Place(first.path)),),
        hint="move the bounds apart, unless this is meant",
    )


def _taken(facts: Facts, state: State, table: GuardTable, ways: Sequence[Transition]) -> int:
    """The rows in which one of the first routes of a state is taken."""
    rows = 0
    for way, held in zip(ways, table.truths, strict=False):
        if hides_later(facts, state, way):
            rows |= held
    return rows
