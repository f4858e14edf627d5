"""What can be said about the ways out of a state: what each needs, when it is the first that is
taken, and why it never is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from statecli.kernel.order import options
from statecli.lint.facts import Facts
from statecli.lint.guardtable import Axis, Columns, GuardTable
from statecli.lint.hiding import hides_later
from statecli.model.classes import ABSENT
from statecli.model.diagnostic import Diagnostic
from statecli.model.graph import END, KINDS, State, Transition
from statecli.model.guard import (
    SCOPES,
    AllOf,
    Atom,
    Closed,
    Complete,
    Expr,
    Guard,
    Opaque,
    Turns,
    as_number,
    invalid,
    walk,
)
from statecli.model.keys import OBJECTS
from statecli.model.span import Path
from statecli.model.words import in_words, turns_words, value_words

#: A route with one of these is never taken.
_NEVER = frozenset(
    {"shadowed-transition", "turn-guard-shadowed", "guard-never-holds", "default-not-last",
     "undefined-target", "goal-condition-outside-goal", "guard-syntax", "unknown-operator",
     "condition-config-missing", "unknown-condition-type"}
)  # fmt: skip
#: A route whose whole condition is an atom (or several that must all hold) with one of these
#: is not, unless the atom asks for a difference.
_NEVER_ATOM = frozenset(
    {"value-not-in-enum", "compare-type-mismatch", "field-never-written", "field-written-later",
     "wrong-value-type"}
)  # fmt: skip
#: Milder diagnostics are told if they are of these families.
_ABOUT_ROUTES = frozenset({"guards", "references", "data"})
_DIFFERENT = frozenset({"ne", "neq#", "notin", "isnot", "absent"})


@dataclass(frozen=True, slots=True)
class Example:
    """A situation: values that are set, what is true beside them, turns that were spent."""

    data: Mapping[str, object] = field(default_factory=dict)
    holding: tuple[str, ...] = ()
    turns: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.data or self.holding or self.turns)

    def __str__(self) -> str:
        said = [f"{key} = {value_words(value)}" for key, value in self.data.items()]
        said += self.holding
        said += [turns_words(count, scope) for scope, count in self.turns.items()]
        return ", ".join(said) or "nothing set yet"


class Route(NamedTuple):
    """One way out. `needs` in words; `choice` are the targets among which the model chooses;
    `example` is a situation in which it is the first to be taken, None where that is not known;
    `never` says why it is not taken at all; `notes` are the diagnostics on it."""

    way: Transition
    needs: str
    choice: tuple[str, ...]
    example: Example | None
    never: tuple[str, ...]
    notes: tuple[Diagnostic, ...]


class Account(NamedTuple):
    """A state with its routes in the order in which they are tried, and what else happens."""

    state: State
    routes: tuple[Route, ...]
    otherwise: str


class Accounts:
    """The accounts of one graph's states."""

    def __init__(self, facts: Facts, diagnostics: Sequence[Diagnostic]) -> None:
        self.facts = facts
        self.notes: dict[Path, list[Diagnostic]] = {}
        for item in diagnostics:
            path = item.finding.at.path
            for size in range(1, len(path) + 1):
                self.notes.setdefault(path[:size], []).append(item)

    def of(self, number: int) -> Account:
        """The account of a state by its number."""
        state, ways = self.facts.states[number], self.facts.routes[number]
        firsts = _Firsts(self.facts, state, ways)
        chosen = () if state.fans_out else options(ways)
        routes = tuple(
            self._route(state, way, at, firsts, chosen if way in chosen else ())
            for at, way in enumerate(ways)
        )
        return Account(state, routes, _otherwise(self.facts, number, routes))

    def _route(
        self,
        state: State,
        way: Transition,
        at: int,
        firsts: _Firsts,
        chosen: Sequence[Transition],
    ) -> Route:
        found = self.notes.get(way.path, []) if way.origin == "written" else []
        notes = tuple(
            note
            for note in found
            if note.severity == "error" or note.rule in _NEVER or note.family in _ABOUT_ROUTES
        )
        never = _never(self.facts, state, way, notes) or firsts.never(at)
        choice = tuple(dict.fromkeys(option.target for option in chosen))
        if way.guard is not None:
            needs = in_words(way.guard)
        elif len(choice) > 1:
            needs = f"the model chooses among: {', '.join(choice)}"
        else:
            needs = "otherwise" if at and not state.fans_out else "always"
        example = None if never or (way.guard is None and not at) else firsts.example(at)
        return Route(way, needs, choice if len(choice) > 1 else (), example, never, notes)


def _never(
    facts: Facts, state: State, way: Transition, notes: Sequence[Diagnostic]
) -> tuple[str, ...]:
    """Why a route is never taken, as far as it can be told without the others."""
    if state.kind == "terminal":
        return ("a terminal state ends the run",)
    certain = [n for n in notes if n.rule in _NEVER or (_is_atom(way, n) and n.severity == "error")]
    if certain:
        return tuple(f"{note.message} [{note.rule}]" for note in certain)
    if way.target not in facts.index and not (way.target == END and facts.is_plan):
        return (f"no state is named '{way.target}'",)
    if state.is_plan and way.target == state.name:
        return ("a plan state does not move to itself",)
    wrong = invalid(way.guard) if way.guard is not None else None
    return (wrong.reason,) if wrong is not None else ()


def _is_atom(way: Transition, note: Diagnostic) -> bool:
    """Whether the note is about an atom without which the guard cannot hold."""
    if note.rule not in _NEVER_ATOM:
        return False
    parts = way.guard.children if isinstance(way.guard, AllOf) else (way.guard,)
    path = note.finding.at.path
    return any(
        isinstance(part, Atom) and part.op not in _DIFFERENT and path[: len(part.path)] == part.path
        for part in parts
    )


class _Firsts:
    """For each route of a state the situations in which it is taken first, if they can be told."""

    def __init__(self, facts: Facts, state: State, ways: Sequence[Transition]) -> None:
        self.guards = [way.guard for way in ways]
        self.columns = Columns(facts.fields)
        self.table: GuardTable | None = None
        self.rows: list[int] = []
        if state.kind not in KINDS:
            return
        for guard in self.guards:
            if guard is not None:
                self.columns.add(guard)
        if self.columns.lay_out():
            self.table = GuardTable(self.guards, self.columns)
            self.rows = _first_rows(facts, state, ways, self.table)

    def never(self, at: int) -> tuple[str, ...]:
        """Why a route is never the first."""
        if self.table is None or self.rows[at]:
            return ()
        if not self.table.truths[at]:
            return ("its condition never holds",)
        return ("another way is always taken before it",)

    def example(self, at: int) -> Example | None:
        """A simple situation in which a route is taken first."""
        if self.table is None or not self.rows[at]:
            return None
        rows, number = self.rows[at], 0
        best: tuple[int, int] | None = None
        while rows:
            if rows & 1:
                cost = self._cost(number)
                if best is None or cost < best[0]:
                    best = (cost, number)
            rows >>= 1
            number += 1
        return self._described(best[1]) if best is not None else None

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

    def _described(self, row: int) -> Example:
        data: dict[str, object] = {}
        holding: dict[str, None] = {}
        for key, axis in self.columns.axes.items():
            value = axis.samples[row // axis.stride % axis.size]
            if value is not ABSENT and axis.tests:
                data[key] = _simplest(axis, value)
            elif value is not ABSENT:
                holding[f"{key} is set"] = None
        scopes: set[str] = set()
        for leaf in self._leaves():
            if isinstance(leaf, Turns):
                scopes.add(leaf.scope)
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


def _otherwise(facts: Facts, number: int, routes: Sequence[Route]) -> str:
    """What happens when no route is taken; empty if one always is."""
    state = facts.states[number]
    if state.kind == "terminal":
        return "the run ends here"
    if state.kind not in KINDS:
        return f"the code of '{state.kind}' decides among these"
    live = [route for route in routes if not route.never]
    if any(route.way.guard is None for route in live):
        return ""
    if not state.transitions and not live:
        return "it waits" if facts.waiting[number] else "no way out: the run stops here"
    if not facts.waiting[number]:
        return "if none holds: the run stops here, stuck"
    return f"if none holds: it waits{_net(facts, number)}"


def _net(facts: Facts, number: int) -> str:
    """The way out of a plan state in which nothing moves (model.md 4.3)."""
    graph = facts.graph
    if graph is None or not graph.is_plan or not facts.states[number].is_plan:
        return ""
    turns = graph.limits.get("stuck_turns", OBJECTS["limits"]["stuck_turns"].default)
    if not isinstance(turns, int) or turns == 0:
        return ""
    following = facts.states[number + 1].name if number + 1 < facts.end else ""
    target = f"goes on to '{following}'" if following else "ends"
    return f"; after {turns} turns without progress the run {target}"
