"""What stands beside an arrow: the guard in a few words, and the order where it matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from statecli.model.classes import classes, open_ended
from statecli.model.graph import Graph, State, Transition
from statecli.model.guard import AllOf, Atom, Guard
from statecli.model.words import brief

#: More guards than this are not compared two by two.
_MANY = 40


def label(route: Transition, ways: Sequence[Transition], wanted: str) -> str:
    """The text beside a route. `ways` are all routes of its state in the order they are tried;
    `wanted` is guard, description or none."""
    if wanted == "none":
        return ""
    if wanted == "description" and route.description.strip():
        return " ".join(route.description.split())
    if route.guard is not None:
        return brief(route.guard)
    own = " ".join(route.description.split())
    if any(way.guard is None and way is not route for way in ways):
        return own
    if len(ways) > 1 and ways[0] is not route:
        return f"otherwise: {own}" if own else "otherwise"
    return ""


def described(graph: Graph, route: Transition) -> str:
    """What a route is for: its own description, else what its target is about."""
    target = graph.states.get(route.target)
    text = route.description or (target.description or target.title if target else "")
    return " ".join(text.split())


def order_matters(graph: Graph, state: State, ways: Sequence[Transition]) -> bool:
    """Whether two routes with guards may hold at once, so that the first of them wins."""
    if state.fans_out:
        return False
    guards = [way.guard for way in ways if way.guard is not None]
    if len(guards) > _MANY:  # the question grows with the square, and such a state is a table
        return True
    return any(not apart(graph, one, other) for one, other in combinations(guards, 2))


def apart(graph: Graph, one: Guard, other: Guard) -> bool:
    """Whether two guards are seen never to hold together: no value of one field satisfies both."""
    for left in _atoms(one):
        for right in _atoms(other):
            if left.key == right.key and _exclusive(graph, left, right):
                return True
    return False


def _exclusive(graph: Graph, left: Atom, right: Atom) -> bool:
    field = graph.fields.get(left.key)
    if open_ended(field, left) or open_ended(field, right):
        return False
    return (True, True) not in classes(field, (left, right)).answers


def _atoms(guard: Guard) -> Iterator[Atom]:
    """Atoms that must hold for the guard to hold."""
    if isinstance(guard, Atom):
        yield guard
    elif isinstance(guard, AllOf):
        for child in guard.children:
            yield from _atoms(child)
