"""When a route is the first that holds: the situations in which it is, and a simple one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from statecli.kernel.order import options
from statecli.lint.guardtable import Axis, Columns, GuardTable
from statecli.lint.hiding import hides_later
from statecli.model.classes import ABSENT
from statecli.model.data import shown
from statecli.model.graph import State, Transition
from statecli.model.guard import (
    SCOPES,
    Atom,
    Closed,
    Complete,
    Expr,
    Guard,
    Opaque,
    Turns,
    as_number,
    walk,
)
from statecli.model.words import in_words, turns_words, value_words

if TYPE_CHECKING:
    from statecli.lint.facts import Facts


@dataclass(frozen=True, slots=True)
class Example:
    """A situation: values that are set, what is true beside them, turns that were spent."""

    data: Mapping[str, object] = field(default_factory=dict)
    holding: tuple[str, ...] = ()
    turns: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.data or self.holding or self.turns)

    def __str__(self) -> str:
        said = [
            f"{key} = {shown(value) if isinstance(value, str) else value_words(value)}"
            for key, value in self.data.items()
        ]
        said += self.holding
        said += [turns_words(count, scope) for scope, count in self.turns.items()]
        return ", ".join(said) or "nothing set yet"


class Firsts:
    """For each route of a state the situations in which it is taken first, if they can be told."""

    def __init__(self, facts: Facts, state: State, ways: Sequence[Transition]) -> None:
        self.state = state
        self.guards = [way.guard for way in ways]
        #: With which values runs get here, where that is known.
        self.history = facts.verified.ways if facts.verified is not None else None
        self.columns = Columns(facts.fields)
        self.table: GuardTable | None = None
        #: For each route the rows in which it is taken, and those of them that can happen.
        self.rows: list[int] = []
        self.possible: list[int] = []
        #: The rows whose values complete the state.
        self.done = 0
        if not state.routed:
            return
        for guard in self.guards:
            if guard is not None:
                self.columns.add(guard)
        if self.columns.lay_out():
            self.table = GuardTable(self.guards, self.columns)
            self.rows = _first_rows(facts, state, ways, self.table)
            impossible, self.done = _tasks(facts, state, self.columns)
            self.possible = [rows & ~impossible for rows in self.rows]

    def dead(self, at: int) -> bool:
        """Whether the whole condition of a route never holds, whatever the others are."""
        return self.table is not None and not self.table.truths[at]

    def never(self, at: int) -> tuple[str, ...]:
        """Why a route is never the first."""
        if self.table is None or self.rows[at]:
            return ()
        if self.dead(at):
            return ("its condition never holds",)
        return ("another way is always taken before it",)

    def example(self, at: int) -> Example | None:
        """A simple situation in which a route is taken first; None where none can be told."""
        if self.table is None:
            return None
        rows, number = self.possible[at], 0
        best: tuple[int, int, dict[str, object]] | None = None
        while rows:
            if rows & 1:
                cost = self._cost(number)
                if best is None or cost < best[0]:
                    values = self._values(at, number)
                    best = (cost, number, values) if values is not None else best
            rows >>= 1
            number += 1
        return self._described(at, *best[1:]) if best is not None else None

    def _leaves(self) -> list[Guard]:
        return [part for guard in self.guards if guard is not None for part in walk(guard)]

    def _holds(self, leaf: Guard, row: int) -> bool:
        return bool(self.columns.of(leaf) >> row & 1)

    def _cost(self, row: int) -> int:
        """How much must have happened: as little as possible, but all tasks are not done without
        the values that they ask for."""
        done = any(self._holds(leaf, row) for leaf in self._leaves() if isinstance(leaf, Complete))
        cost = 3 * done + sum(self._reading(row))
        for axis in self.columns.axes.values():
            value = axis.samples[row // axis.stride % axis.size]
            if (value is ABSENT) == done:
                cost += 2
        for leaf in self._leaves():
            if isinstance(leaf, Closed | Opaque) and self._holds(leaf, row):
                cost += 3
        return cost

    def _reading(self, row: int) -> tuple[int, ...]:
        counters = self.columns.counters
        return self.columns.readings[row // counters.stride % counters.size]

    def _values(self, at: int, row: int) -> dict[str, object] | None:
        """The values of a row, or others like them, with which some run takes a route; None where
        none does."""
        axes = self.columns.axes
        found = {key: axis.samples[row // axis.stride % axis.size] for key, axis in axes.items()}
        if self.history is None:
            return found
        wanted = {key: (value, _like(axes[key], value)) for key, value in found.items()}
        return self.history.taken_with(self.state.name, at, wanted)

    def _described(self, at: int, row: int, values: Mapping[str, object]) -> Example:
        guard = self.guards[at]
        data: dict[str, object] = {}
        holding: dict[str, None] = {}
        for key, axis in self.columns.axes.items():
            value = values[key]
            if value is not ABSENT and axis.tests:
                data[key] = _simplest(axis, value)
            elif value is not ABSENT:
                holding[f"{key} is set"] = None
        scopes: set[str] = set()
        asked = [part for part in walk(guard) if type(part) is Complete] if guard else []
        for leaf in self._leaves():
            if isinstance(leaf, Turns):
                scopes.add(leaf.scope)
            elif isinstance(leaf, Complete) and self.done >> row & 1 and leaf not in asked:
                continue  # the values say so
            elif self._is_free(leaf) and self._holds(leaf, row):
                holding[in_words(leaf)] = None
        reading = dict(zip(SCOPES, self._reading(row), strict=True))
        turns = {scope: count for scope, count in reading.items() if scope in scopes and count}
        return Example(data, tuple(holding), turns)

    def _is_free(self, leaf: Guard) -> bool:
        """Whether the values of an example do not already say that a leaf holds."""
        if isinstance(leaf, Expr):
            return not all(self.columns.axes[name].tests for name in leaf.names)
        if isinstance(leaf, Atom):
            return leaf.op not in ("exists", "absent") and not any(
                test is leaf for test in self.columns.axes[leaf.key].tests
            )
        return isinstance(leaf, Complete | Closed | Opaque)


def _tasks(facts: Facts, state: State, columns: Columns) -> tuple[int, int]:
    """The rows that contradict how tasks are done (model.md 5.1, 5.2), and those whose values do
    them all: tasks whose values are all there are done, and a strict state does one after the other
    and skips none."""
    if state.kind not in ("strict", "loose"):
        return 0, 0
    axes, number, found = columns.axes, facts.index[state.name], 0
    done = may_be = columns.full
    asked: set[str] = set()
    for task in state.tasks:
        keys = [item.key for item in task.deliverables]
        for key in keys:
            # What only a later task asks for is not there before its turn.
            if key in axes and key not in asked and key not in facts.given:
                if facts.writers[key] == [number]:
                    found |= axes[key].present & ~may_be
        asked.update(keys)
        for item in task.deliverables:
            if item.required and item.key in axes:
                may_be &= axes[item.key].present
        needed = [item.key for item in task.needed]
        if not needed or any(key not in axes for key in needed):
            done = 0
        for key in needed if done else ():
            done &= axes[key].present
    if state.kind == "loose":
        found, may_be = 0, columns.full
    if columns.asks_completion:
        complete = columns.of(Complete())
        found |= (done & ~complete) | (complete & ~may_be)
    return found, done


def _like(axis: Axis, value: object) -> Callable[[object], bool]:
    """Whether the guards of the state say the same of another value."""
    rows = axis.where(value)
    return lambda other: axis.where(other) == rows


def _simplest(axis: Axis, value: object) -> object:
    """A value like this one; of a field that may hold anything rather a number than its text."""
    number = as_number(value)
    if isinstance(value, str) and number is not None and axis.field is None:
        if axis.where(number) == axis.where(value):
            return number
    return value


def _first_rows(
    facts: Facts, state: State, ways: Sequence[Transition], table: GuardTable
) -> list[int]:
    """For each route the rows in which it is taken: those in which no earlier one is. Of the
    unguarded routes of one priority each may be."""
    if state.fans_out:
        return table.truths
    together = options(ways)
    taken, before = 0, None
    found: list[int] = []
    for way, rows in zip(ways, table.truths, strict=True):
        if way in together:
            before = taken if before is None else before
            found.append(rows & ~before)
            taken = table.full
            continue
        found.append(rows & ~taken)
        if hides_later(facts, state, way):
            taken |= rows
    return found
