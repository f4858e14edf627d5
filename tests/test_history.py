"""model.md 7: "The data's history is a tree: each step's delta points to its parent; any point can
be rebuilt, forked, compared.", and document 002, "State Tree Structure"."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import World, play
from test_branches import LOG, diamond, logs, writes

from statecli import GraphBuilder, Run
from statecli.session.history import History
from statecli.session.session import Session


def counting(steps: int) -> Run:
    from statecli import default, when

    def body(data: dict[str, Any]) -> dict[str, Any]:
        return {"n": data["n"] + 1}

    graph = (
        GraphBuilder()
        .with_states(count=body, end=writes())
        .with_transitions(("count", "count", when(n__lt=steps)), ("count", "end", default))
        .build()
    )
    run = Run(graph, data={"n": 0})
    run.run()
    return run


def test_002_the_root_is_the_input_and_each_point_has_its_parent_and_delta() -> None:
    history = counting(3).history()
    points = list(history.values())
    assert (points[0].what, points[0].before, points[0].delta) == ("started", (), {"n": 0})
    assert history.root == points[0]
    assert [p.delta for p in points[1:]] == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [p.before for p in points[1:]] == [(p.number,) for p in points[:-1]]
    assert [p.state for p in points[1:]] == ["count"] * 3


def test_any_point_can_be_rebuilt() -> None:
    run = counting(200)
    history = run.history()
    for point in history.values():
        assert history.at(point.number)["n"] == len(history.path(point.number)) - 1
    with pytest.raises(KeyError, match="events 1 to"):
        history.at(10_000)


def test_what_is_rebuilt_cannot_be_changed() -> None:
    history = counting(3).history()
    with pytest.raises(TypeError):
        history.at(1)["n"] = 5  # type: ignore[index]


def test_two_points_can_be_compared() -> None:
    graph = (
        GraphBuilder()
        .with_states(a=writes(k=1, same=0), b=writes(k=2, new=None))
        .with_transitions(("a", "b", {"state_filter": ["k", "same"]}))
        .build()
    )
    run = Run(graph, data={"old": 1})
    run.run()
    history = run.history()
    first, last = history.root.number, list(history)[-1]
    found = {item.key: item for item in history.compare(first, last)}
    assert set(found) == {"old", "k", "same", "new"}
    assert (found["old"].removed, found["old"].old) == (True, 1)
    assert (found["new"].added, found["new"].new) == (True, None)
    assert history.compare(last, last) == []


def test_any_point_can_be_forked() -> None:
    run = counting(5)
    history = run.history()
    third = next(p.number for p in history.values() if p.delta == {"n": 3})
    fork = run.fork(third)
    assert fork.data["n"] in (2, 3)  # in the middle of a step: the step begins anew
    fork.run()
    assert fork.data["n"] == run.data["n"] == 5
    with pytest.raises(ValueError, match="has events 1 to"):
        run.fork(10_000)


def test_a_fork_goes_its_own_way() -> None:
    run = Run(diamond().build())
    run.run(halt_after=["s"])
    fork = run.fork()
    fork.transition("z")
    fork.run(halt_after=["z"])
    assert fork.data["log"] == ["s", "z"]
    assert run.run().data["log"] == ["s", "x", "y", "z", "j"]


def test_a_split_has_several_children_and_a_join_several_parents() -> None:
    run = Run(diamond().build())
    run.run()
    history = run.history()
    by_state = {point.state: point for point in history.values() if point.what == "changed"}
    start = by_state["s"]
    assert [child.state for child in history.children(start.number)] == ["x", "y", "z"]
    join = next(point for point in history.values() if point.what == "joined")
    assert [history[n].state for n in join.before] == ["x", "y", "z"]
    assert history.at(by_state["x"].number) == {"log": ["s", "x"]}
    assert history.at(by_state["y"].number) == {"log": ["s", "y"]}
    assert history.at(join.number) == {"log": ["s", "x", "y", "z"]}
    path = history.path(by_state["y"].number)
    assert [p.state for p in path] == ["s", "s", "y"]


def test_002_the_end_collects_all_that_flows_in() -> None:
    graph = (
        GraphBuilder()
        .with_states(s=logs("s"), x=logs("x"), y=logs("y"))
        .with_transitions(("s", "x"), ("s", "y"))
        .with_fields(**LOG)
        .with_fanout("s")
        .build()
    )
    run = Run(graph)
    run.run()
    history = run.history()
    (end,) = history.tips()
    assert (end.what, history.at(end.number)) == ("ended", {"log": ["s", "x", "y"]})
    assert [history[n].state for n in end.before] == ["x", "y"]


def test_002_a_filter_and_a_merge_strategy_are_new_roots() -> None:
    graph = (
        diamond()
        .with_join("j", strategy=lambda states: {"log": ["new"]})
        .with_transitions(("j", "last", {"state_filter": lambda data: {"log": []}}))
        .with_states(last=logs("last"))
        .build()
    )
    run = Run(graph)
    run.run()
    roots = [point for point in run.history().values() if point.root]
    assert [(p.what, dict(p.delta)) for p in roots] == [
        ("started", {}), ("joined", {"log": ["new"]}), ("filtered", {"log": []}),
    ]  # fmt: skip
    assert run.data["log"] == ["last"]


def test_what_was_undone_is_another_branch_of_the_tree() -> None:
    played = play(
        """
initial: ask
states:
  ask: {type: user, writes: [k], transition: {next: [again]}}
  again: {type: user, transition: {next: [ask]}}
fields: {k: {type: str}}
""",
        "one",
        world=World(),
    )
    session: Session = played.session
    session.undo()
    played.say("two")
    history = History(session.graph, session.store.events(session.run))
    assert len(history.tips()) == 2
    assert len(history.children(history.root.number)) == 2
    old, new = history.tips()
    assert history.at(old.number)["k"] == "one"
    assert history.at(new.number)["k"] == "two"
    differ = {item.key for item in history.compare(old.number, new.number)}
    assert differ == {"k", "messages"}


def test_a_long_history_is_rebuilt_at_any_point() -> None:
    history = counting(3000).history()
    assert history.at(list(history)[1500])["n"] == 1500
