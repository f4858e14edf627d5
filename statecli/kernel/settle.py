"""Evaluation of plan states after each change: choose, move, repeat (model.md 5.3), and turns."""

from __future__ import annotations

from collections.abc import Callable

from statecli.kernel.apply import apply
from statecli.kernel.choose import Take, choose
from statecli.kernel.order import following
from statecli.kernel.tasks import addressed, record
from statecli.model.event import (
    Body,
    Chose,
    Ended,
    Entered,
    Guard_Missing_Field,
    Limited,
    Skipped,
    Trial,
    Turned,
    Warned,
)
from statecli.model.graph import END, Graph
from statecli.model.keys import OBJECTS
from statecli.model.snapshot import Snapshot, Token

Emit = Callable[[Body], Snapshot]


def limit(graph: Graph, name: str) -> int:
    """A limit of the graph, or its default (model.md 4.3)."""
    value = graph.limits.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    default = OBJECTS["limits"][name].default
    return default if isinstance(default, int) else 0


class Recorder:
    """A snapshot that grows by events; `bodies` are those emitted so far."""

    def __init__(self, graph: Graph, snapshot: Snapshot) -> None:
        self.graph = graph
        self.snapshot = snapshot
        self.bodies: list[Body] = []

    def emit(self, body: Body) -> Snapshot:
        self.bodies.append(body)
        self.snapshot = apply(self.graph, self.snapshot, body)
        return self.snapshot

    def token(self, number: int) -> Token:
        tokens = self.snapshot.tokens
        if len(tokens) == 1:
            return tokens[0]
        return next(token for token in tokens if token.id == number)


def enter(
    record_to: Recorder,
    token: int,
    target: str,
    number: int | None,
    by: str = "",
    why: str = "",
) -> None:
    """Move a token into a state; one that says ``on_reenter: reset`` forgets its last visit."""
    state = record_to.graph.states[target]
    forgotten: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    if state.is_plan and state.settings.get("on_reenter") == "reset":
        held = record_to.snapshot.data.keys() | record_to.snapshot.early.keys()
        forgotten = tuple(i.key for i in state.deliverables() if i.key in held)
        keys = (record(state, task) for task in state.tasks)
        reopened = tuple(key for key in keys if key in record_to.snapshot.tasks)
    record_to.emit(Entered(token, target, number, by, why, forgotten, reopened))


def settle(record_to: Recorder, number: int, *, at_turn_end: bool = False) -> bool:
    """Move the token on while a route of its plan state holds, up to `max_hops` moves.

    A move into a state already visited in this pass is not made and ends the pass; a move into a
    state of another kind is made and ends it. True if at least one move was made.
    """
    graph = record_to.graph
    visited = {record_to.token(number).state}
    hops = limit(graph, "max_hops")
    moved = False
    for _ in range(hops):
        token = record_to.token(number)
        if not graph.states[token.state].is_plan:
            return moved
        trials: list[Trial] = []
        missing: list[str] = []
        choice = choose(
            graph,
            record_to.snapshot,
            token,
            trials,
            at_turn_end=at_turn_end and not moved,
            missing=missing,
        )
        for key in dict.fromkeys(missing):
            record_to.emit(Guard_Missing_Field(number, token.state, key))
        if not isinstance(choice, Take):
            return moved
        route = choice.transition
        if route.target in visited:
            path = " -> ".join([*visited, route.target])
            message = f"this pass would go round ({path}); it stops in '{token.state}'"
            record_to.emit(Warned(number, token.state, message))
            return moved
        record_to.emit(
            Chose(number, token.state, route.target, route.number, tuple(trials), by="settle")
        )
        moved = True
        if route.target == END:
            record_to.emit(Ended(number, END))
            return True
        enter(record_to, number, route.target, route.number, "settle", route.why)
        visited.add(route.target)
    return moved


def end_turn(record_to: Recorder, number: int) -> bool:
    """The end of a turn of a plan state: counters move, one more settle, then the idle net.

    True if the token moved (or the run ended).
    """
    token = record_to.token(number)
    record_to.emit(Turned(number, token.state))
    if settle(record_to, number, at_turn_end=True):
        return True
    return _net(record_to, number)


def _net(record_to: Recorder, number: int) -> bool:
    """After `stuck_turns` idle turns on to the next state in order; what was open is skipped."""
    graph = record_to.graph
    token = record_to.token(number)
    state = graph.states[token.state]
    turns = limit(graph, "stuck_turns")
    if turns == 0 or token.idle < turns:
        return False
    if not graph.is_plan:
        message = f"{turns} turns without progress in '{state.name}'"
        record_to.emit(Limited(number, state.name, "stuck_turns", message))
        return False
    open_tasks = tuple(
        record(state, task)
        for task in state.tasks
        if state.kind != "goal" and not addressed(record_to.snapshot, state, task)
    )
    record_to.emit(Skipped(number, state.name, open_tasks, state.kind == "goal"))
    target = following(graph, state.name)
    why = f"{turns} turns without progress"
    if target is None:
        record_to.emit(Ended(number, END))
        return True
    enter(record_to, number, target, None, why=why)
    settle(record_to, number)
    return True
