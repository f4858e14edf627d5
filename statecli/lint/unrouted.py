"""Values of a field that no route of a state takes, whatever the other fields are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from statecli.lint.guardtable import Axis, GuardTable
from statecli.lint.hiding import ABOUT_GUARDS, Named, fully_read
from statecli.model.graph import State
from statecli.model.guard import Atom, Closed, Complete, Guard, Opaque, Turns

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: Guards that ask for no value, so that they may hold whatever it is.
_FALLBACKS = (Complete, Closed, Turns, Opaque)


class Unrouted(NamedTuple):
    """A field that some routes of a state compare with values, and the rows that no route takes.
    At least one value has none of its rows taken, and at least one has some."""

    state: State
    key: str
    axis: Axis
    taken: int

    def lost(self, value: object) -> bool:
        """Whether no route takes this value."""
        return not self.axis.where(value) & self.taken


def unrouted(facts: Facts, kinds: tuple[str, ...]) -> Iterator[Unrouted]:
    """The fields of these types, state by state. A fallback (completion, a closed goal, turns, what
    is decided in code, no guard) takes every value, so such states have none. Silent where a
    condition is wrong in itself: corrected it may take more."""
    others = Named(facts, *ABOUT_GUARDS)
    for number in facts.suspects(lambda guards, table: any(_partly(guards, table, kinds))):
        ways, state, table = facts.routes[number], facts.states[number], facts.guard_table(number)
        assert table is not None
        for key, axis, taken in _partly([way.guard for way in ways], table, kinds):
            if state.kind == "user" and key in state.writes:
                continue  # (a person who gives such a value is asked again)
            if not fully_read(facts, state) or any(way in others for way in ways):
                continue
            if _sets(state, key) or not _sorted_before(facts, key, number):
                yield Unrouted(state, key, axis, taken)


def _partly(
    guards: Sequence[Guard | None], table: GuardTable, kinds: tuple[str, ...]
) -> Iterator[tuple[str, Axis, int]]:
    """The fields of which the guards take some values and not others, and the rows they take."""
    if not all(table.truths) or any(g is None or type(g) in _FALLBACKS for g in guards):
        return
    taken = reduce(or_, table.truths)
    for key, axis in table.axes.items():
        if axis.field is not None and axis.field.type in kinds and _compared(axis):
            hits = [bool(axis.rows(1 << at) & taken) for at in range(1, axis.size)]
            if any(hits) and not all(hits):
                yield key, axis, taken


def _sets(state: State, key: str) -> bool:
    return key in state.writes or any(item.key == key for item in state.deliverables())


def _sorted_before(facts: Facts, key: str, number: int) -> bool:
    """Whether another state compares the key too, so that not every value need come here."""
    return any(state != number for state in facts.comparing.get(key, ()))


def _compared(axis: Axis) -> bool:
    """Whether some guard looks at the value, not only at whether there is one."""
    return any(
        test.op not in ("exists", "absent") if isinstance(test, Atom) else test.constants
        for test in axis.tests
    )
