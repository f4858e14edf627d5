"""From a body that is done to the next state: choose, record, enter; nothing here waits."""

from __future__ import annotations

from collections.abc import Sequence

from statecli.kernel.choose import Ask, End, Take, choose
from statecli.kernel.settle import Recorder, enter, settle
from statecli.model.event import Chose, Ended, Failed, Guard_Missing_Field, Trial, Waiting
from statecli.model.graph import State, Transition


class Options(tuple[Transition, ...]):
    """Routes among which a model still has to choose."""

    __slots__ = ()


def move(
    to: Recorder,
    number: int,
    state: State,
    *,
    by: str,
    allowed: Sequence[str] | None = None,
    target: str | None = None,
) -> Options | None:
    """Take the token on from a state whose body is done.

    `by`: "line" for a waiting state, else "order". `allowed` narrows the targets that a model may
    choose from, `target` is one that the body named. Options: the model has to choose, nothing has
    moved yet; otherwise what happened is recorded.
    """
    trials: list[Trial] = []
    missing: list[str] = []
    token = to.token(number)
    choice = choose(to.graph, to.snapshot, token, trials, missing=missing)
    if missing:
        for key in dict.fromkeys(missing):
            to.emit(Guard_Missing_Field(number, state.name, key))
    if type(choice) is Take:
        take(to, number, state, choice.transition, tuple(trials), by=by)
        return None
    if isinstance(choice, Ask):
        routes = [r for r in choice.options if allowed is None or r.target in allowed]
        routes = routes or list(choice.options)
        names = tuple(route.target for route in routes)
        named = [route for route in routes if route.target == target]
        if named:
            take(to, number, state, named[0], tuple(trials), names, by="model")
        elif len(routes) == 1:
            take(to, number, state, routes[0], tuple(trials), names, by=by)
        else:
            return Options(routes)
    elif isinstance(choice, End):
        to.emit(Ended(number, state.name))
    elif by == "line":
        to.emit(Waiting(number, state.name))
    else:
        tried = "; ".join(f"-> {t.target}: {_truth(t)}" for t in trials) or "it has no way out"
        message = f"nothing holds in '{state.name}' ({tried})"
        to.emit(Failed(number, state.name, message, stuck=True, trials=tuple(trials)))
    return None


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
    """Record the choice and enter the target; a plan state that is entered settles at once."""
    to.emit(Chose(number, state.name, route.target, route.number, trials, options, answers, by))
    enter(to, number, route.target, route.number, by)
    if to.graph.states[route.target].is_plan:
        settle(to, number)


def _truth(trial: Trial) -> str:
    if trial.note:
        return trial.note
    return "holds" if trial.value else "does not hold"
