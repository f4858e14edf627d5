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
from typing import NamedTuple

from statecli.lint.facts import Facts
from statecli.lint.guardtable import Axis, GuardTable
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


class _Numeric(NamedTuple):
    """A route whose guard is about one number; `taken`: the rows of routes before it."""

    way: Transition
    key: str
    rows: int
    taken: int


def check(facts: Facts) -> Iterator[Finding]:
    """Pairs of routes of different priority and target that hold together for some numbers."""
    for number in facts.guarded:
        ways = facts.routes[number]
        if len(ways) < 2 or ways[0].priority == ways[-1].priority:
            continue
        state = facts.states[number]
        if sum(_number(way.guard) is not None for way in ways) < 2 or state.fans_out:
            continue
        table = facts.guard_table(number)
        if table is None:
            continue
        found = _numeric(facts, state, table, ways)
        for at, later in enumerate(found):
            if later.rows & ~later.taken:
                for first in found[:at]:
                    yield from _pair(state, table.axes[later.key], first, later)


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


def _numeric(
    facts: Facts, state: State, table: GuardTable, ways: Sequence[Transition]
) -> list[_Numeric]:
    found: list[_Numeric] = []
    taken = 0
    for way, rows in zip(ways, table.truths, strict=True):
        if hides_later(facts, state, way):
            key = _number(way.guard)
            if key is not None and rows:
                found.append(_Numeric(way, key, rows, taken))
            taken |= rows
    return found


def _pair(state: State, axis: Axis, first: _Numeric, later: _Numeric) -> Iterator[Finding]:
    both = first.rows & later.rows & ~first.taken
    way, other = later.way, first.way
    if first.key != later.key or other.priority == way.priority or other.target == way.target:
        return
    if not both or not first.rows & ~later.rows:
        return
    whole = axis.field is not None and axis.field.type == "int"
    shared = regions(points(axis.tests), lambda v: bool(axis.where(v) & both), whole=whole)
    if not shared:
        return
    words = " and ".join(region.said(later.key) for region in shared)
    yield Finding(
        message=(
            f"{words} {'matches' if len(shared) == 1 else 'match'} both; '{other.target}' wins:"
            f" its priority number is lower than that of '{way.target}'"
        ),
        at=Place(way.at),
        states=(state.name, way.target),
        related=(Related(f"the way to '{other.target}'", Place(other.path)),),
        hint="move the bounds apart, unless this is meant",
    )
