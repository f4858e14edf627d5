"""Evaluation of plan states after each change: choose, move, repeat (model.md 5.3), and turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statecli.kernel.apply import resets
from statecli.kernel.choose import NO_SUCH_STATE, Choice, Take, choose, only_way
from statecli.kernel.filters import filter_data
from statecli.kernel.limits import limit
from statecli.kernel.order import following
from statecli.kernel.recorder import Recorder
from statecli.kernel.tasks import addressed, record
from statecli.model.event import (
    Chose,
    Ended,
    Entered,
    Guard_Missing_Field,
    Jumped,
    Limited,
    Skipped,
    Trial,
    Turned,
    Warned,
)
from statecli.model.graph import END, PLAN_KINDS
from statecli.model.snapshot import Token

#: Builds the event of every step: three times as fast as calling its class.
_new: Any = tuple.__new__


def enter(
    to: Recorder,
    token: int,
    target: str,
    number: int | None,
    by: str = "",
    why: str = "",
) -> None:
    """Move a token into a state; one that says ``on_reenter: reset`` forgets its last visit."""
    state = to.graph.states[target]
    if state.kind in PLAN_KINDS and resets(state):
        to.emit(Entered(token, target, number, by, why, True, *_last_visit(to, target)))
    else:
        to.emit(_new(Entered, (token, target, number, by, why, False, (), ())))


def jump(to: Recorder, token: int, target: str) -> None:
    """Move a token from outside; a plan state that is entered settles at once."""
    state = to.graph.states[target]
    if resets(state):
        to.emit(Jumped(token, target, True, *_last_visit(to, target)))
    else:
        to.emit(Jumped(token, target))
    if state.is_plan:
        settle(to, token)


def _last_visit(to: Recorder, target: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields and the tasks of a state's last visit; nothing if there was none."""
    snapshot = to.snapshot
    if target not in snapshot.work.visited:
        return (), ()
    state = to.graph.states[target]
    held = snapshot.data.keys() | snapshot.early.keys()
    forgotten = dict.fromkeys(item.key for item in state.deliverables() if item.key in held)
    reopened = (record(state, task) for task in state.tasks)
    return tuple(forgotten), tuple(key for key in reopened if key in snapshot.tasks)


def tried(
    to: Recorder, number: int, *, at_turn_end: bool = False
) -> tuple[Choice, tuple[Trial, ...]]:
    """Where the token goes next, with the routes that were tried; what was missing on the way is
    told."""
    token = to.token(number)
    only = only_way(to.graph, token.state)
    if only is not None:
        return only
    trials: list[Trial] = []
    missing: list[str] = []
    choice = choose(to.graph, to.snapshot, token, trials, at_turn_end=at_turn_end, missing=missing)
    missed(to, token, trials, missing)
    return choice, tuple(trials)


def missed(to: Recorder, token: Token, trials: Sequence[Trial], missing: Sequence[str]) -> None:
    """Tell which fields guards did not find, and which targets are not there."""
    for key in dict.fromkeys(missing):
        to.emit(Guard_Missing_Field(token.id, token.state, key))
    for trial in trials:
        if trial.note == NO_SUCH_STATE and trial.value is not False:
            message = f"'{token.state}' goes to '{trial.target}', which does not exist"
            to.emit(Warned(token.id, token.state, f"{message}; what comes after it is tried"))


def settle(to: Recorder, number: int, *, at_turn_end: bool = False) -> bool:
    """Move the token on while a route of its plan state holds, up to `max_hops` moves.

    A move into a state already visited in this pass is not made and ends the pass; a move into a
    state of another kind is made and ends it. True if at least one move was made.
    """
    graph = to.graph
    visited = {to.token(number).state: None}
    hops = limit(graph, "max_hops")
    while True:
        name = to.token(number).state
        moved = len(visited) > 1
        if not graph.states[name].is_plan:
            return moved
        choice, trials = tried(to, number, at_turn_end=at_turn_end and not moved)
        if not isinstance(choice, Take):
            return moved
        route = choice.transition
        path = " -> ".join([*visited, route.target])
        if route.target in visited:
            message = f"this pass would go round ({path}); it stops in '{name}'"
            to.emit(Warned(number, name, message))
            return moved
        if len(visited) > hops:
            to.emit(Limited(number, name, "max_hops", f"max_hops: {hops} moves at once ({path})"))
            return moved
        to.emit(Chose(number, name, route.target, route.number, trials, by="settle"))
        if route.target == END:
            to.emit(Ended(number, END))
            return True
        if route.state_filter is not None:
            filter_data(to, number, route)
        enter(to, number, route.target, route.number, "settle", route.why)
        visited[route.target] = None


def end_turn(to: Recorder, number: int) -> bool:
    """The end of a turn of a plan state: counters move, one more settle, then the idle net.

    True if the token moved (or the run ended).
    """
    token = to.token(number)
    to.emit(Turned(number, token.state))
    if settle(to, number, at_turn_end=True):
        return True
    return _net(to, number)


def _net(to: Recorder, number: int) -> bool:
    """After `stuck_turns` idle turns on to the next state in order; what was open is skipped."""
    graph = to.graph
    token = to.token(number)
    state = graph.states[token.state]
    turns = limit(graph, "stuck_turns")
    if turns == 0 or token.idle < turns or to.snapshot.status != "running":
        return False
    why = f"{turns} turns without progress"
    if not graph.is_plan:
        message = f"stuck_turns: {why} in '{state.name}'"
        to.emit(Limited(number, state.name, "stuck_turns", message))
        return False
    open_tasks = tuple(
        record(state, task)
        for task in state.tasks
        if state.kind != "goal" and not addressed(to.snapshot, state, task)
    )
    to.emit(Skipped(number, state.name, open_tasks, state.kind == "goal"))
    target = following(graph, state.name)
    to.emit(Chose(number, state.name, target or END, -1, by="net"))
    if target is None:
        to.emit(Ended(number, END))
        return True
    enter(to, number, target, None, why=why)
    settle(to, number)
    return True
