"""From a body that is done to the next state: choose, record, enter; nothing here waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from statecli.kernel.choose import Ask, End, Take, every_way, only_way
from statecli.kernel.filters import filter_data
from statecli.kernel.recorder import Recorder
from statecli.kernel.settle import enter, missed, settle, tried
from statecli.model.event import Chose, Ended, Entered, Failed, Split, Trial, Waiting
from statecli.model.graph import END, PLAN_KINDS, WAITING_KINDS, Graph, State, Transition

#: Builds the event of every step: three times as fast as calling its class.
_new: Any = tuple.__new__


class Options(NamedTuple):
    """Routes among which a model still has to choose; `trials` are all that were looked at."""

    routes: tuple[Transition, ...]
    trials: tuple[Trial, ...]


def move(
    to: Recorder, number: int, state: State, *, by: str, allowed: Sequence[str] | None = None
) -> Options | None:
    """Take the token on from a state whose body is done.

    `by`: "line" for a waiting state, else "order". `allowed` narrows the targets that may come next
    without a guard. Options: the model has to choose, nothing has moved yet; otherwise what
    happened is recorded.
    """
    if allowed is None:
        always = _always(to.graph).get(state.name)
        if always is not None and always.by == by and always.chose.token == number:
            to.emit(always.chose)
            to.emit(always.entered)
            return None
    if state.fans_out:
        _move_all(to, number, state, by=by, allowed=allowed)
        return None
    choice, trials = tried(to, number)
    if type(choice) is Take:
        route = choice.transition
        if allowed is None or route.guard is not None or route.target in allowed:
            take(to, number, state, route, trials, by=by)
        else:
            _stuck(to, number, state, trials, f"'{route.target}' may not come next")
    elif isinstance(choice, Ask):
        routes = [r for r in choice.options if allowed is None or r.target in allowed]
        if len(routes) > 1:
            return Options(tuple(routes), trials)
        names = tuple(route.target for route in choice.options)
        if routes:
            take(to, number, state, routes[0], trials, names, by=by)
        else:
            _stuck(to, number, state, trials, f"none of {', '.join(names)} may come next")
    elif isinstance(choice, End):
        to.emit(Ended(number, state.name))
    else:
        _nothing_holds(to, number, state, trials, by)
    return None


def _nothing_holds(
    to: Recorder, number: int, state: State, trials: tuple[Trial, ...], by: str
) -> None:
    if by == "line":
        to.emit(Waiting(number, state.name))
    else:
        tried_ = "; ".join(f"-> {t.target}: {_truth(t)}" for t in trials)
        _stuck(to, number, state, trials, tried_ or "it has no way out")


def _move_all(
    to: Recorder, number: int, state: State, *, by: str, allowed: Sequence[str] | None
) -> None:
    """Take every way that holds: with several the token splits, one for each in their order."""
    token = to.token(number)
    found, missing = list[Trial](), list[str]()
    routes = every_way(to.graph, to.snapshot, token, found, missing, allowed)
    missed(to, token, found, missing)
    trials = tuple(found)
    if not routes:
        _nothing_holds(to, number, state, trials, by)
        return
    if len(routes) == 1:
        take(to, number, state, routes[0], trials, by=by)
        return
    numbers = tuple(range(number + 1, number + 1 + len(routes)))
    # A filter may raise: then nothing has happened.
    trial = Recorder(to.graph, to.snapshot, to.clean)
    for route in routes:
        trial.emit(Chose(number, state.name, route.target, route.number, trials, by="all"))
        trials = ()
    trial.emit(Split(number, state.name, numbers, by))
    for child, route in zip(numbers, routes, strict=True):
        own = trial.seen_by(child)
        _pass(own, child, route, "all")
        for body in own.bodies:
            trial.emit(body)
    to.bodies += trial.bodies
    to.snapshot = trial.snapshot


class _Always(NamedTuple):
    """The move of a state that has one way out and no guard, to a state of no plan: the same two
    events each time, made once."""

    by: str
    chose: Chose
    entered: Entered


def _always(graph: Graph) -> dict[str, _Always]:
    known: dict[str, _Always] | None = graph.memory.get("always")
    if known is None:
        known = graph.memory["always"] = {}
        for name, state in graph.states.items():
            only = only_way(graph, name)
            if only is None or graph.states[only[0].transition.target].is_plan:
                continue
            if only[0].transition.state_filter is not None:
                continue
            route, by = only[0].transition, "line" if state.kind in WAITING_KINDS else "order"
            chose = Chose(0, name, route.target, route.number, only[1], by=by)
            known[name] = _Always(by, chose, Entered(0, route.target, route.number, by))
    return known


def _stuck(to: Recorder, number: int, state: State, trials: tuple[Trial, ...], why: str) -> None:
    message = f"nothing holds in '{state.name}' ({why})"
    to.emit(Failed(number, state.name, message, stuck=True, trials=trials))


def take(
    to: Recorder,
    number: int,
    state: State,
    route: Transition,
    trials: tuple[Trial, ...] = (),
    options: tuple[str, ...] = (),
    answers: tuple[str, ...] = (),
    *,
    by: str,
) -> None:
    """Record the choice and enter the target; a plan state that is entered settles at once, the
    target ``__end__`` of a plan ends the run."""
    target = route.target
    to.emit(_new(Chose, (number, state.name, target, route.number, trials, options, answers, by)))
    _pass(to, number, route, by)


def _pass(to: Recorder, number: int, route: Transition, by: str) -> None:
    """Go along a route, with what it passes on of the data."""
    target = route.target
    if route.state_filter is not None:
        filter_data(to, number, route)
    if target == END:
        to.emit(Ended(number, END))
        return
    enter(to, number, target, route.number, by)
    if to.graph.states[target].kind in PLAN_KINDS:
        settle(to, number)


def _truth(trial: Trial) -> str:
    if trial.note:
        return trial.note
    return "holds" if trial.value else "does not hold"
