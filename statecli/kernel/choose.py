"""Where a run goes next: the one function that chat, test, replay and explain ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from statecli.kernel.order import routes_of
from statecli.kernel.tasks import complete
from statecli.model.event import Trial
from statecli.model.graph import END, WAITING_KINDS, Graph, State, Transition
from statecli.model.guard import View, evaluate, invalid
from statecli.model.snapshot import Snapshot, Token


class Take(NamedTuple):
    """A transition is taken."""

    transition: Transition


class Ask(NamedTuple):
    """The model chooses among these; none of them has a guard."""

    options: tuple[Transition, ...]


class Stay(NamedTuple):
    """Nothing holds; the state waits for the person."""


class Stuck(NamedTuple):
    """Nothing holds in a state that does not wait."""


class End(NamedTuple):
    """The state is terminal."""


Choice = Take | Ask | Stay | Stuck | End
_STAY, _STUCK, _END = Stay(), Stuck(), End()


def choose(
    graph: Graph,
    snapshot: Snapshot,
    token: Token,
    trials: list[Trial] | None = None,
    *,
    at_turn_end: bool = False,
    missing: list[str] | None = None,
) -> Choice:
    """The way out of the token's state, by (priority, file order) (model.md 4.1).

    The first guard that holds wins. The first unguarded route stops the search: it is taken, or,
    with others of its priority, the model chooses among them. `trials` collects every route that
    was looked at; `missing` the unset fields that guards read. `at_turn_end` lets the implicit end
    of a plan happen (5.3). Raises GuardMissingField where the graph says `strict_guards`.
    """
    state = graph.states[token.state]
    if state.kind == "terminal":
        return _END
    found = routes_of(graph, state.name)
    if len(found) == 1 and found[0].guard is None:
        route = found[0]
        if route.target in graph.states and not state.is_plan:
            if trials is not None:
                trials.append(Trial(route.number, route.target, None))
            return Take(route)
    view: View | None = None
    for at, route in enumerate(found):
        if not _possible(graph, state, route, at_turn_end):
            if trials is not None:
                trials.append(Trial(route.number, route.target, None, _why_not(route)))
            continue
        if route.guard is None:
            if trials is not None:
                trials.append(Trial(route.number, route.target, None))
            return _unguarded(graph, found[at:])
        view = view or view_of(graph, snapshot, token, missing)
        value = evaluate(route.guard, view)
        if trials is not None:
            broken = invalid(route.guard)
            note = broken.reason if broken is not None else "opaque" if value is None else ""
            trials.append(Trial(route.number, route.target, value, note))
        if value:
            return Take(route)
    return _nothing(state)


def view_of(graph: Graph, snapshot: Snapshot, token: Token, missing: list[str] | None) -> View:
    """What the guards of a token's state may look at."""
    state = graph.states[token.state]
    return View(
        data=snapshot.data,
        complete=complete(snapshot, state),
        closed=bool(token.closed),
        turns={
            "without_progress": token.idle,
            "total": token.total,
            "session": snapshot.turns,
        },
        missing=missing if missing is not None else [],
        strict=graph.settings.get("strict_guards") is True,
    )


def _possible(graph: Graph, state: State, route: Transition, at_turn_end: bool) -> bool:
    """Self-transitions never fire in settle, and targets that do not exist are passed over; both
    do not hide the next match. The implicit end comes only at the end of a turn."""
    if state.is_plan:
        if route.target == state.name:
            return False
        if route.target == END and graph.is_plan:
            return route.origin == "written" or at_turn_end
    return route.target in graph.states


def _why_not(route: Transition) -> str:
    if route.target == route.source:
        return "a plan state does not move to itself"
    if route.target == END:
        return "only at the end of a turn"
    return "no such state"


def _unguarded(graph: Graph, found: Sequence[Transition]) -> Choice:
    """All unguarded routes of the first one's priority are the options, each target once."""
    options: dict[str, Transition] = {}
    for route in found:
        if route.priority != found[0].priority:
            break
        if route.guard is None and route.target in graph.states:
            options.setdefault(route.target, route)
    routes = tuple(options.values())
    return Take(routes[0]) if len(routes) == 1 else Ask(routes)


def _nothing(state: State) -> Choice:
    return _STAY if state.kind in WAITING_KINDS else _STUCK
