"""What document 002 says in words: inputs, deltas, copies, new roots, what the end puts out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypedDict

from scripted import play
from test_branches import LOG, diamond, logs, writes

from statecli import GraphBuilder, Run
from statecli.session.guards import decided_by

Keeps = Callable[[Mapping[str, Any]], dict[str, Any]]


class Schema(TypedDict):
    messages: Annotated[list[Any], "append_messages"]
    log: Annotated[list[str], "extend"]
    total: Annotated[int, "increment"]
    seen: Annotated[dict[str, int], "merge"]
    name: Annotated[str, "overwrite"]


DELTAS: dict[str, dict[str, Any]] = {
    "a": {"log": ["a"], "total": 2, "seen": {"a": 1}}, "b": {"name": "B"}, "c": {"log": ["c"]},
}  # fmt: skip
BEGIN = {"messages": [], "log": ["z"], "total": 1, "seen": {"z": 0}, "name": "A"}
AFTER_A = {**BEGIN, "log": ["z", "a"], "total": 3, "seen": {"z": 0, "a": 1}}
AFTER_B = {**AFTER_A, "name": "B"}
AFTER_C = {**AFTER_B, "log": ["z", "a", "c"]}


def kept(name: str, into: dict[str, Any], delta: Mapping[str, Any]) -> Any:
    """A state that keeps what it was given, and writes this."""

    def body(state: dict[str, Any]) -> dict[str, Any]:
        into[name] = dict(state)
        return dict(delta)

    return body


def three() -> tuple[Run, dict[str, Any]]:
    """Three states in a row, of several fields with a reducer each, and what each was given."""
    given: dict[str, Any] = {}
    graph = (
        GraphBuilder()
        .with_schema(Schema)
        .with_states(**{name: kept(name, given, delta) for name, delta in DELTAS.items()})
        .with_transitions(("a", "b"), ("b", "c"))
        .build()
    )
    run = Run(graph, data=BEGIN)
    run.run()
    return run, given


def test_002_the_input_is_complete_and_came_through_the_edge() -> None:
    """Each state is given all fields, also those that nobody wrote, with all that was merged."""
    _, given = three()
    assert given == {"a": BEGIN, "b": AFTER_A, "c": AFTER_B}


def test_002_the_output_is_a_delta_and_nothing_else_is_kept() -> None:
    run, _ = three()
    points = [point for point in run.history().values() if point.what == "changed"]
    assert {point.state: dict(point.delta) for point in points} == DELTAS


def test_002_each_field_is_merged_by_its_own_update() -> None:
    run, _ = three()
    assert dict(run.data) == AFTER_C


def test_002_rebuilding_merges_layer_by_layer_by_the_updates() -> None:
    history = three()[0].history()
    found = {point.state: dict(history.at(point.number))
             for point in history.values() if point.what == "changed"}  # fmt: skip
    assert dict(history.at(history.root.number)) == BEGIN
    assert found == {"a": AFTER_A, "b": AFTER_B, "c": AFTER_C}


def test_002_messages_exist_undeclared() -> None:
    """States that talk find `messages` without a schema: what was said, and what was answered."""
    text = """
initial: ask
states:
  ask: {type: user, transition: {next: [reply]}}
  reply: {type: agent, transition: {next: [ask]}}
"""
    played = play(text, "hello", answers=["good day"])
    (request,) = played.world.requests
    assert [message["content"] for message in request.snapshot.data["messages"]] == ["hello"]
    told = played.snapshot.data["messages"]
    assert [(m["role"], m["content"]) for m in told] == [
        ("user", "hello"), ("assistant", "good day")]  # fmt: skip


def test_002_undeclared_messages_are_appended_and_doubles_dropped() -> None:
    one, two = ({"id": name, "role": "user", "content": name} for name in ("1", "2"))
    graph = (
        GraphBuilder()
        .with_states(a=writes(messages=[one]), b=writes(messages=[one, two]))
        .with_transitions(("a", "b"))
        .build()
    )
    run = Run(graph)
    run.run()
    assert [message["id"] for message in run.data["messages"]] == ["1", "2"]


def test_002_edges_are_given_a_copy_too() -> None:
    """ "Modifications to the input state by nodes and edges will not affect the state tree"."""

    def guard(data: Any) -> bool:
        data["log"].append("guard")
        return True

    def keeps(data: dict[str, Any]) -> dict[str, Any]:
        data["log"].append("filter")
        data["new"] = 1
        return {"n": data["n"]}

    graph = (
        GraphBuilder()
        .with_states(a=logs("a", n=5), b=logs("b"), c=logs("c"))
        .with_transitions(("a", "b", decided_by(guard)), ("b", "c", {"state_filter": keeps}))
        .with_fields(n={}, new={}, **LOG)
        .build()
    )
    run = Run(graph)
    run.run()
    history = run.history()
    found = {point.state: dict(history.at(point.number))
             for point in history.values() if point.what == "changed"}  # fmt: skip
    assert found["a"] == {"log": ["a"], "n": 5}
    assert found["b"] == {"log": ["a", "b"], "n": 5}
    assert dict(run.data) == {"log": ["c"], "n": 5}


def test_002_what_a_filter_deletes_no_later_state_finds() -> None:
    given: dict[str, Any] = {}
    graph = (
        GraphBuilder()
        .with_states(a=writes(secret=1, n=1), b=kept("b", given, {"n": 2}), c=kept("c", given, {}))
        .with_transitions(("a", "b", {"state_filter": ["n"]}), ("b", "c"))
        .with_fields(secret={}, n={})
        .build()
    )
    run = Run(graph)
    run.run()
    assert given == {"b": {"n": 1}, "c": {"n": 2}}
    assert dict(run.data) == {"n": 2}


def test_002_what_a_merge_strategy_deletes_no_later_state_finds() -> None:
    given: dict[str, Any] = {}

    def best(states: list[dict[str, Any]]) -> dict[str, Any]:
        return {"best": max(state["n"] for state in states)}

    graph = (
        diamond(x=writes(n=1), y=writes(n=3), z=writes(n=2), j=kept("j", given, {}))
        .with_states(last=kept("last", given, {}))
        .with_transitions(("j", "last"))
        .with_fields(n={}, best={})
        .with_join("j", strategy=best)
        .build()
    )
    run = Run(graph)
    run.run()
    assert given == {"j": {"best": 3}, "last": {"best": 3}}
    assert dict(run.data) == {"best": 3}


def test_002_the_end_puts_out_the_complete_state() -> None:
    """What was there before the split, and what only one of those that ended wrote."""
    graph = (
        GraphBuilder()
        .with_states(s=logs("s", of_s=1), x=logs("x", of_x=2), y=logs("y", of_y=3))
        .with_transitions(("s", "x"), ("s", "y"))
        .with_fields(of_s={}, of_x={}, of_y={}, given={}, **LOG)
        .with_fanout("s")
        .build()
    )
    run = Run(graph, data={"given": 0})
    run.run()
    assert dict(run.data) == {
        "given": 0, "of_s": 1, "of_x": 2, "of_y": 3, "log": ["s", "x", "y"]}  # fmt: skip
