"""The ways out of a state in the order they are tried, written and implicit (model.md 4.1, 5.3).

Everything that asks where a state may go asks here: choose, the linter, the verifier, explain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter

from statecli.model.graph import END, Graph, State, Transition
from statecli.model.guard import Closed, Complete, Guard

_priority = attrgetter("priority")
#: The priority of the completion route that is added to a state whose written routes all lead to
#: the next one.
COMPLETION_PRIORITY = 1000


def routes(graph: Graph, state: State, following: str | None) -> tuple[Transition, ...]:
    """The transitions of a state by (priority, file order). `following` is the next state in
    order, None for the last one (see `followers`)."""
    written = state.transitions
    if graph.is_plan and state.is_plan:
        extra = _implicit(graph, state, following)
        if extra is not None:
            written = (*written, extra)
    if len(written) > 1:
        priorities = [route.priority for route in written]
        if priorities != sorted(priorities):
            return tuple(sorted(written, key=_priority))
    return written


def routes_of(graph: Graph, name: str) -> tuple[Transition, ...]:
    """The routes of a state by name, remembered: a run asks at every step."""
    known: dict[str, tuple[Transition, ...]] | None = graph.memory.get("routes")
    if known is None:
        known = graph.memory["routes"] = {}
    found = known.get(name)
    if found is None:
        found = known[name] = routes(graph, graph.states[name], following(graph, name))
    return found


def following(graph: Graph, name: str) -> str | None:
    """The state after this one in the order of the file; None for the last."""
    order: Mapping[str, str | None] | None = graph.memory.get("order")
    if order is None:
        order = graph.memory["order"] = followers(graph)
    return order[name]


def options(ways: Sequence[Transition]) -> tuple[Transition, ...]:
    """The unguarded ways out that are reached together, if no guard before them holds: all of
    the first unguarded one's priority. `ways` are in the order in which they are tried."""
    for way in ways:
        if way.guard is None:
            found = (w for w in ways if w.guard is None and w.priority == way.priority)
            return tuple(found)
    return ()


def followers(graph: Graph) -> Mapping[str, str | None]:
    """For each state the one after it in the order of the file; None for the last."""
    names = list(graph.states)
    following: list[str | None] = [*names[1:], None]
    return dict(zip(names, following, strict=False))  # no name, no follower


def _implicit(graph: Graph, state: State, following: str | None) -> Transition | None:
    """The one way out that a plan state has without writing it, if it has one. Written ones that
    never fire (4.1) do not stand in its way: to the state itself, to one that does not exist."""
    target = following if following is not None else END
    name, states, written = state.name, graph.states, state.transitions
    live = [r for r in written if r.target != name and (r.target in states or r.target == END)]
    if not live:
        why = "no written route is ever taken" if written else "no route is written"
        if following is not None:
            return _made(state, target, 1, f"{why}: the next state in order")
        why = why if written else "the last state"
        return _made(state, target, 1, f"{why}: the plan ends when it is complete")
    if state.kind == "goal":
        if any(type(route.guard) is Closed for route in live):
            return None
        why = "a closed goal whose routes match nothing moves on in order"
        return _made(state, target, math.inf, why)
    if following is None or not state.tasks:
        return None
    for route in live:
        if route.target != following or type(route.guard) is Complete:
            return None
    why = "every route leads to the next state: so does completion"
    return _made(state, target, COMPLETION_PRIORITY, why)


def _made(state: State, target: str, priority: float, why: str) -> Transition:
    done: Guard = Closed(state.path) if state.kind == "goal" else Complete(state.path)
    return Transition(
        source=state.name,
        target=target,
        guard=done,
        priority=priority,
        number=len(state.transitions),
        path=state.path,
        at=state.path,
        origin="implicit",
        why=why,
    )
