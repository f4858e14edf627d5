"""What holds for every plan under every sequence of operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from plans import operations, plans

from statecli.kernel.apply import fold
from statecli.kernel.calls import Outcome, Plan
from statecli.kernel.choose import Ask, Take, choose
from statecli.kernel.limits import limit
from statecli.kernel.order import routes_of
from statecli.kernel.recorder import Recorder
from statecli.kernel.settle import end_turn, settle
from statecli.load.loader import load
from statecli.model.event import Body, Entered, Started
from statecli.model.graph import END, Graph
from statecli.model.snapshot import Snapshot


def graph_of(plan: dict[str, Any]) -> Graph:
    graph = load("plan.json", json.dumps(plan)).graph
    assert graph is not None
    return graph


def started(graph: Graph) -> Recorder:
    to = Recorder(graph, Snapshot())
    to.emit(Started(graph.initial, {}))
    return to


def do(to: Recorder, op: str, first: str, value: Any) -> None:
    """One operation, then what follows from it."""
    plan = Plan(to, 0)
    if op == "turn":
        end_turn(to, 0)
        return
    calls: dict[str, Callable[[], Outcome]] = {
        "set": lambda: plan.set_deliverable(first, value),
        "complete": lambda: plan.complete_task(first),
        "skip": lambda: plan.skip_task(first),
        "skip_state": plan.skip_state,
        "close": lambda: plan.close_goal(first),
    }
    if calls[op]().ok:
        settle(to, 0)


def played(graph: Graph, ops: list[tuple[str, Any, Any]]) -> Recorder:
    to = started(graph)
    for op, first, value in ops:
        if to.snapshot.status == "ended":
            break
        do(to, op, first, value)
    return to


@settings(max_examples=120, deadline=None)
@given(plans(), operations())
def test_nothing_raises_and_no_value_is_lost(
    plan: dict[str, Any], ops: list[tuple[str, Any, Any]]
) -> None:
    """Whatever is done, a collected value stays, except where a state resets on re-entry."""
    graph = graph_of(plan)
    resets = {
        item.key
        for state in graph.states.values()
        if state.settings.get("on_reenter") == "reset"
        for item in state.deliverables()
    }
    to = started(graph)
    kept: dict[str, Any] = {}
    hops = limit(graph, "max_hops")
    for op, first, value in ops:
        if to.snapshot.status == "ended":
            break
        before = len(to.bodies)
        do(to, op, first, value)
        assert set(kept) - resets <= set(to.snapshot.data)
        kept = dict(to.snapshot.data)
        moves = sum(isinstance(body, Entered) for body in to.bodies[before:])
        assert moves <= 2 * hops + 1, "one pass after the turn, the net, and one pass more"
        assert to.snapshot.state in graph.states or to.snapshot.state == END


@settings(max_examples=100, deadline=None)
@given(plans(), operations())
def test_a_fold_can_be_cut_anywhere(plan: dict[str, Any], ops: list[tuple[str, Any, Any]]) -> None:
    graph = graph_of(plan)
    to = played(graph, ops)
    bodies: list[Body] = to.bodies
    assert fold(graph, bodies) == to.snapshot
    for cut in range(0, len(bodies) + 1, max(1, len(bodies) // 7)):
        assert fold(graph, bodies[cut:], fold(graph, bodies[:cut])) == to.snapshot


@settings(max_examples=100, deadline=None)
@given(plans(), operations())
def test_choose_names_written_or_implicit_targets_only(
    plan: dict[str, Any], ops: list[tuple[str, Any, Any]]
) -> None:
    graph = graph_of(plan)
    to = played(graph, ops)
    snapshot = to.snapshot
    if snapshot.status == "ended":
        return
    for at_turn_end in (False, True):
        choice = choose(graph, snapshot, snapshot.token, at_turn_end=at_turn_end)
        targets = {route.target for route in routes_of(graph, snapshot.state)}
        if isinstance(choice, Take):
            assert choice.transition.target in targets
            assert choice.transition.target in {*graph.states, END}
        assert not isinstance(choice, Ask), "plan routes always have guards"


@settings(max_examples=100, deadline=None)
@given(plans(), operations())
def test_applying_never_changes_an_older_snapshot(
    plan: dict[str, Any], ops: list[tuple[str, Any, Any]]
) -> None:
    graph = graph_of(plan)
    to = started(graph)
    for op, first, value in ops:
        if to.snapshot.status == "ended":
            break
        before = to.snapshot
        copy = json.dumps([before.data, before.tasks, before.early, before.goals], default=list)
        do(to, op, first, value)
        after = json.dumps([before.data, before.tasks, before.early, before.goals], default=list)
        assert after == copy
