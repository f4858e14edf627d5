"""Where a run goes next: the one function that chat, test, replay and explain ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from statecli.kernel.order import routes_of
from statecli.kernel.tasks import complete
from statecli.model.event import Trial
from statecli.model.graph import END, FUNCTION, WAITING_KINDS, Graph, State, Transition
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

#: Notes of a trial that was passed over.
NO_SUCH_STATE = "no such state"
TO_ITSELF = "a plan state does not move to itself"
NOT_YET = "only at the end of a turn"


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
    only = only_way(graph, token.state)
    if only is not None:
        if trials is not None:
            trials.extend(only[1])
        return only[0]
    state = graph.states[token.state]
    found = routes_of(graph, state.name)
    if state.kind == "terminal" or (state.kind == FUNCTION and not found):
        return _END
    view: View | None = None
    for at, route in enumerate(found):
        if route.guard is not None and view is None:
            view = view_of(graph, snapshot, token, missing)
        value, note = _truth(graph, state, route, view, at_turn_end)
        if trials is not None:
            trials.append(Trial(route.number, route.target, value, note))
        if route.guard is None and not note:
            return _unguarded(graph, found[at:])
        if value and not note:
            return Take(route)
    return _STAY if state.kind in WAITING_KINDS else _STUCK


def every_way(
    graph: Graph,
    snapshot: Snapshot,
    token: Token,
    trials: list[Trial],
    missing: list[str],
    allowed: Sequence[str] | None = None,
) -> list[Transition]:
    """Every way out of a state that takes all at once (``fanout: all``): those whose guard holds,
    and those without one (of these only the `allowed` targets, where a body narrows them)."""
    state = graph.states[token.state]
    view: View | None = None
    found: list[Transition] = []
    for route in routes_of(graph, state.name):
        if route.guard is not None and view is None:
            view = view_of(graph, snapshot, token, missing)
        value, note = _truth(graph, state, route, view, False)
        trials.append(Trial(route.number, route.target, value, note))
        free = route.guard is None and (allowed is None or route.target in allowed)
        if not note and (free or value):
            found.append(route)
    return found


def only_way(graph: Graph, name: str) -> tuple[Take, tuple[Trial]] | None:
    """The only way out of a state that has one, without a guard: what `choose` and its trials
    always say, remembered."""
    known: dict[str, tuple[Take, tuple[Trial]] | None] | None = graph.memory.get("only")
    if known is None:
        known = graph.memory["only"] = {
            name: _only_way(graph, state) for name, state in graph.states.items()
        }
    return known.get(name)


def _only_way(graph: Graph, state: State) -> tuple[Take, tuple[Trial]] | None:
    found = routes_of(graph, state.name)
    if len(found) != 1 or state.is_plan or state.kind == "terminal":
        return None
    route = found[0]
    if route.guard is not None or route.target not in graph.states:
        return None
    return Take(route), (Trial(route.number, route.target, None),)


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


def _truth(
    graph: Graph, state: State, route: Transition, view: View | None, at_turn_end: bool
) -> tuple[bool | None, str]:
    """Whether a route's guard holds (None: it has none, or cannot be known), and why the route is
    passed over, if it is."""
    note = _passed_over(graph, state, route, at_turn_end)
    if route.guard is None or view is None or note not in ("", NO_SUCH_STATE):
        return None, note
    value = evaluate(route.guard, view)
    if not note:
        broken = invalid(route.guard)
        note = broken.reason if broken is not None else "opaque" if value is None else ""
    return value, note


def _passed_over(graph: Graph, state: State, route: Transition, at_turn_end: bool) -> str:
    """Why a route cannot be taken whatever its guard says, or an empty text: self-transitions never
    fire in settle, and targets that do not exist are passed over; both do not hide the next match.
    The implicit end comes only at the end of a turn."""
    if state.is_plan and route.target == state.name:
        return TO_ITSELF
    if route.target == END and graph.is_plan:
        return "" if route.origin == "written" or at_turn_end else NOT_YET
    return "" if route.target in graph.states else NO_SUCH_STATE


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
