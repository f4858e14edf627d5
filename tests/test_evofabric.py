"""What document 002 says in words: inputs, deltas, copies, new roots, what the end puts out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

import pytest
from scripted import play
from test_branches import LOG, diamond, logs, writes

from statecli import GraphBuilder, Run
from statecli.evofabric import safe_get_attr
from statecli.session.guards import decided_by


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

    def body(state: Any) -> dict[str, Any]:
        into[name] = dict(state) if isinstance(state, dict) else vars(state)
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


@dataclasses.dataclass
class AsDataclass:
    log: Annotated[list[str], "extend"]
    seen: dict[str, list[int]]


class AsKeys(TypedDict):
    log: Annotated[list[str], "extend"]
    seen: dict[str, list[int]]


@pytest.mark.parametrize("schema", [None, AsDataclass, AsKeys, "model"])
def test_002_nodes_are_given_a_deep_copy(schema: Any) -> None:
    """What a body does to what it was given shows up nowhere, however deep it is."""

    def body(state: Any) -> dict[str, Any]:
        log, seen = safe_get_attr(state, "log"), safe_get_attr(state, "seen")
        log.append("mine")
        seen["deep"].append(9)
        seen["more"] = [9]
        return {"log": ["a"]}

    given: dict[str, Any] = {}
    if schema == "model":
        pydantic = pytest.importorskip("pydantic")
        log = Annotated[list[str], "extend"]
        schema = pydantic.create_model("Model", log=(log, ...), seen=(Any, ...))
    builder = GraphBuilder().with_states(a=body, b=kept("b", given, {}))
    builder = builder.with_schema(schema) if schema else builder.with_fields(seen={}, **LOG)
    run = Run(builder.with_transitions(("a", "b")).build(), data={"log": [], "seen": {"deep": [1]}})
    run.run()
    assert dict(run.data) == {"log": ["a"], "seen": {"deep": [1]}}
    assert given == {"b": dict(run.data)}
    assert dict(run.history().at(run.history().root.number)) == {"log": [], "seen": {"deep": [1]}}


def test_002_a_condition_is_given_what_it_cannot_change() -> None:
    """ "Modifications to the input state by nodes and edges will not affect the state tree"."""
    given: dict[str, Any] = {}

    def guard(data: Any) -> bool:
        data["log"].append("guard")
        return True

    graph = (
        GraphBuilder()
        .with_states(a=logs("a"), b=kept("b", given, {"log": ["b"]}))
        .with_transitions(("a", "b", decided_by(guard)))
        .with_fields(**LOG)
        .build()
    )
    run = Run(graph)
    run.run()
    assert given == {"b": {"log": ["a"]}}
    assert dict(run.data) == {"log": ["a", "b"]}


def test_002_a_filter_is_given_a_copy() -> None:
    """What it does to it reaches neither the other branch nor the state before."""
    given: dict[str, Any] = {}

    def keeps(data: dict[str, Any]) -> dict[str, Any]:
        data["log"].append("filter")
        return {"log": ["new"]}

    graph = (
        GraphBuilder()
        .with_states(s=logs("s"), x=kept("x", given, {}), y=kept("y", given, {}))
        .with_transitions(("s", "x", {"state_filter": keeps}), ("s", "y"))
        .with_fields(**LOG)
        .with_fanout("s")
        .build()
    )
    Run(graph).run()
    assert given == {"x": {"log": ["new"]}, "y": {"log": ["s"]}}


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
