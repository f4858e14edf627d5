"""Transitions that a state has twice: what `duplicate-target` and `duplicate-transition` share."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.data import is_map
from statecli.model.diagnostic import Edit, Finding, Fix, Related
from statecli.model.graph import State, Transition
from statecli.model.guard import invalid
from statecli.model.span import Place


def repeated(facts: Facts, *, conditions: bool) -> Iterator[Finding]:
    """Each transition that repeats an earlier one of its state; with `conditions` those that state
    one (or are a plan's transitions), without them the bare items of `next`."""
    for state in facts.doubled:
        for first, second in _pairs(state):
            if facts.half_read(first) or facts.half_read(second):
                continue
            if _states_condition(facts, second) is conditions:
                yield _finding(facts, state, first, second, conditions)


def _pairs(state: State) -> Iterator[tuple[Transition, Transition]]:
    """The first of several equal transitions with each later one, in the order they are tried."""
    first: dict[tuple[str, str], list[Transition]] = {}
    for way in sorted(state.transitions, key=lambda way: way.priority):
        same = first.setdefault((way.target, way.group), [])
        earlier = next((other for other in same if _equal(state, other, way)), None)
        if earlier is None:
            same.append(way)
        else:
            yield earlier, way


def _equal(state: State, first: Transition, second: Transition) -> bool:
    """Whether the second adds nothing. Without a guard another priority is another matter
    (default-not-last); with fan-out each has a token and perhaps a filter of its own."""
    if first.guard is None and second.guard is None:
        return first.priority == second.priority and not state.fans_out
    if first.guard is None or second.guard is None:
        return False
    return first.guard == second.guard and invalid(first.guard) is None and not state.fans_out


def _states_condition(facts: Facts, way: Transition) -> bool:
    if way.path[-2] == "transitions":
        return True
    item = facts.value(way.path)
    return is_map(item) and item.get("when") is not None


def _finding(
    facts: Facts, state: State, first: Transition, second: Transition, conditions: bool
) -> Finding:
    if conditions:
        message = f"'{state.name}' has the same transition to '{second.target}' twice"
    else:
        where = f"among the ways out of '{state.name}'" if facts.is_python else "in one 'next'"
        message = f"'{second.target}' stands twice {where}"
    same = facts.value(first.path) == facts.value(second.path)
    return Finding(
        message=message,
        at=Place(second.at) if not conditions else Place(second.path),
        states=(state.name, second.target),
        related=(Related("first here", Place(first.at if not conditions else first.path)),),
        hint="remove one of them",
        fix=Fix("remove the second one", (Edit(Place(second.path), "", "item"),), safe=same),
    )
