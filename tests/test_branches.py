"""Fan-out and fan-in: each sentence of model.md 7 about branches, and what follows from it for
sessions, limits (4.3) and errors (4.4)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from scripted import Played, World, graph_of, play

from statecli import GraphBuilder, Run, aio, register_reducer
from statecli.model.event import (
    Ended,
    Entered,
    Failed,
    Filtered,
    Interrupted,
    Joined,
    Limited,
    Split,
)
from statecli.model.graph import Graph
from statecli.session.run import RunError
from statecli.session.session import Session
from statecli.store.memory import MemoryStore
from statecli.store.sqlite import SqliteStore

Body = Callable[[dict[str, Any]], Any]


def writes(**delta: Any) -> Body:
    """A state that writes this."""
    return lambda data: dict(delta)


def logs(name: str, **more: Any) -> Body:
    """A state that notes that it ran."""
    return lambda data: {"log": [name], **more}


LOG = {"log": {"type": "list", "reducer": "extend"}}


def diamond(**states: Body) -> GraphBuilder:
    """s -> x, y, z -> j: the three join again. The states log their names unless given."""
    bodies = {name: states.get(name) or logs(name) for name in ("s", "x", "y", "z", "j")}
    return (
        GraphBuilder()
        .with_states(**bodies)
        .with_transitions(("s", "x"), ("s", "y"), ("s", "z"), (["x", "y", "z"], "j"))
        .with_fields(**LOG)
        .with_initial("s")
        .with_fanout("s")
        .with_join("j")
    )


def ran(graph: Graph, data: Mapping[str, Any] | None = None) -> Run:
    run = Run(graph, data=data)
    run.run()
    return run


def seen(name: str, into: dict[str, Any]) -> Body:
    """A state that keeps what it was given."""

    def body(data: dict[str, Any]) -> dict[str, Any]:
        into[name] = data
        return {"log": [name]}

    return body


# --- fan-out ----------------------------------------------------------------------------


def test_fan_out_takes_every_holding_transition_at_once() -> None:
    """`transition.fanout: all` takes every holding transition at once (4.1)."""
    from statecli import when

    graph = (
        GraphBuilder()
        .with_states(s=writes(n=1), a=logs("a"), b=logs("b"), c=logs("c"))
        .with_transitions(("s", "a", when(n=1)), ("s", "b", when(n=2)), ("s", "c"))
        .with_fields(n={"type": "int"}, **LOG)
        .with_fanout("s")
        .build()
    )
    run = ran(graph)
    assert run.data["log"] == ["a", "c"]
    assert [e.body.tokens for e in run.events if isinstance(e.body, Split)] == [(1, 2)]


def test_fan_out_with_one_holding_transition_does_not_split() -> None:
    from statecli import when

    graph = (
        GraphBuilder()
        .with_states(s=writes(n=1), a=logs("a"), b=logs("b"))
        .with_transitions(("s", "a", when(n=1)), ("s", "b", when(n=2)))
        .with_fanout("s")
        .build()
    )
    assert not [e for e in ran(graph).events if isinstance(e.body, Split)]


def test_fan_out_where_nothing_holds_is_stuck() -> None:
    from statecli import when

    graph = (
        GraphBuilder()
        .with_states(s=writes(n=1), a=logs("a"), b=logs("b"))
        .with_transitions(("s", "a", when(n=3)), ("s", "b", when(n=2)))
        .with_fanout("s")
        .build()
    )
    with pytest.raises(RunError, match=r"(?s)nothing holds in 's':.*-> a: n is 3 .*-> b: n is 2 "):
        ran(graph)


def test_branches_do_not_see_each_other() -> None:
    """Each branch sees the data at the split and what it did since."""
    given: dict[str, Any] = {}
    graph = diamond(x=seen("x", given), y=seen("y", given), j=seen("j", given)).build()
    ran(graph)
    assert given["x"] == {"log": ["s"]}
    assert given["y"] == {"log": ["s"]}
    assert given["j"] == {"log": ["s", "x", "y", "z"]}


def test_tokens_run_concurrently() -> None:
    """Three bodies that wait for one another can only end if they run at the same time."""
    met: list[str] = []

    def meets(name: str) -> Body:
        async def body(data: dict[str, Any]) -> dict[str, Any]:
            met.append(name)
            while len(met) < 3:
                await asyncio.sleep(0)
            return {"log": [name]}

        return body

    run = ran(diamond(x=meets("x"), y=meets("y"), z=meets("z")).build())
    assert run.data["log"] == ["s", "x", "y", "z", "j"]


def test_one_task_runs_a_body_of_a_branch_to_its_end() -> None:
    tasks: dict[str, set[int]] = {}

    def waits(name: str) -> Body:
        async def body(data: dict[str, Any]) -> Any:
            for _ in range(3):
                tasks.setdefault(name, set()).add(id(asyncio.current_task()))
                await asyncio.sleep(0)
                yield "text"
            yield {"log": [name]}

        return body

    ran(diamond(x=waits("x"), y=waits("y")).build())
    assert {len(found) for found in tasks.values()} == {1}
    assert tasks["x"] != tasks["y"]


@pytest.mark.parametrize("slow", ["x", "y", "z"])
def test_the_order_of_events_says_nothing_about_who_was_faster(slow: str) -> None:
    """Fan-in folds in transition order, ends in routing order, never by finishing time."""

    def waits(name: str) -> Body:
        async def body(data: dict[str, Any]) -> dict[str, Any]:
            for _ in range(20 if name == slow else 1):
                await asyncio.sleep(0)
            return {"log": [name]}

        return body

    run = ran(diamond(x=waits("x"), y=waits("y"), z=waits("z")).build())
    assert run.data["log"] == ["s", "x", "y", "z", "j"]
    path = [e.body.state for e in run.events if isinstance(e.body, Entered)]
    assert path == ["x", "y", "z", "j", "j", "j"]


# --- joins ------------------------------------------------------------------------------


def test_join_all_runs_once_and_join_any_once_per_token() -> None:
    """`join: all` waits until one token has come from every source; `any` runs once per token."""
    steps = [step.state for step in Run(diamond().build()).iterate()]
    assert steps == ["s", "x", "y", "z", "j"]
    builder = diamond()
    builder._settings["j"].pop("join")
    run = Run(builder.build())
    assert [step.state for step in run.iterate()] == ["s", "x", "y", "z", "j", "j", "j"]
    assert run.data["log"] == ["s", "x", "j", "y", "j", "z", "j"]


def test_groups_are_waited_for_apart() -> None:
    """A token waits for one from every source of its group (`group` on the transitions)."""
    graph = (
        GraphBuilder()
        .with_states(**{n: logs(n) for n in ("s", "a", "b", "c", "d", "j")})
        .with_transitions(("s", "a"), ("s", "b"), ("s", "c"), ("s", "d"))
        .with_transitions((["a", "c"], "j", {"group": "one"}), (["b", "d"], "j", {"group": "two"}))
        .with_fields(**LOG)
        .with_fanout("s")
        .with_join("j")
        .build()
    )
    run = Run(graph)
    assert [step.state for step in run.iterate()].count("j") == 2
    joins = [e.body for e in run.events if isinstance(e.body, Joined)]
    assert [(j.tokens, j.group) for j in joins] == [((1, 3), "one"), ((2, 4), "two")]
    assert run.data["log"] == ["s", "a", "c", "j", "b", "d", "j"]


def test_a_join_that_cannot_be_satisfied_names_the_missing_branch() -> None:
    """EvoFabric returns nothing there, measured; here it is an error."""
    graph = (
        GraphBuilder()
        .with_states(**{n: logs(n) for n in ("s", "x", "y", "other", "j")})
        .with_transitions(("s", "x"), ("s", "other"), ("x", "j", {"group": "g"}))
        .with_transitions(("y", "j", {"group": "g"}))
        .with_fanout("s")
        .with_join("j")
        .build()
    )
    run = Run(graph)
    with pytest.raises(RunError) as error:
        run.run()
    told = str(error.value)
    assert "'j' waits for a branch from each of its sources (group 'g')" in told
    assert "from 'y' none comes any more, one came from 'x'" in told
    assert "a branch ended in 'other'" in told
    assert run.status == "stuck"
    assert run.state == "j"


def test_a_run_that_never_split_cannot_satisfy_a_join() -> None:
    graph = (
        GraphBuilder()
        .with_states(a=logs("a"), b=logs("b"), j=logs("j"))
        .with_transitions(("a", "j"), ("b", "j"))
        .with_join("j")
        .build()
    )
    with pytest.raises(RunError, match="from 'b' none comes any more, one came from 'a'"):
        ran(graph)


def test_a_join_with_one_source_waits_for_nobody() -> None:
    graph = (
        GraphBuilder()
        .with_states(a=logs("a"), j=logs("j"))
        .with_transitions(("a", "j"))
        .with_join("j")
        .build()
    )
    assert ran(graph).status == "ended"


def test_a_loop_back_into_a_join_has_a_group_of_its_own() -> None:
    from statecli import when

    builder = diamond(j=writes(n=1), x=writes(n=0)).with_fields(
        n={"type": "int", "reducer": "increment"}, **LOG
    )
    graph = (
        builder.with_transitions(("j", "j", when(n__lt=3), {"group": "again"}), ("j", "end"))
        .with_states(end=writes())
        .build()
    )
    assert ran(graph).data["n"] == 3


def test_a_split_inside_a_branch_joins_with_the_outer_ones() -> None:
    """A delta that two tokens share (they split after it) is folded once."""
    graph = (
        GraphBuilder()
        .with_states(**{n: logs(n, n=1) for n in ("s", "a", "b", "c", "d", "j")})
        .with_transitions(("s", "a"), ("s", "b"), ("b", "c"), ("b", "d"))
        .with_transitions((["a", "c", "d"], "j"))
        .with_fields(n={"type": "int", "reducer": "increment"}, **LOG)
        .with_fanout("s", "b")
        .with_join("j")
        .build()
    )
    run = ran(graph)
    assert run.data["log"] == ["s", "a", "b", "c", "d", "j"]
    assert run.data["n"] == 6


def test_an_inner_join_brings_all_it_did_to_the_outer_one() -> None:
    graph = (
        GraphBuilder()
        .with_states(**{n: logs(n) for n in ("s", "a", "b", "c", "d", "in_", "out")})
        .with_transitions(("s", "a"), ("s", "b"), ("b", "c"), ("b", "d"), (["c", "d"], "in_"))
        .with_transitions((["a", "in_"], "out"))
        .with_fields(**LOG)
        .with_fanout("s", "b")
        .with_join("in_")
        .with_join("out")
        .build()
    )
    assert ran(graph).data["log"] == ["s", "a", "b", "c", "d", "in_", "out"]


# --- fan-in -----------------------------------------------------------------------------


def test_fan_in_folds_the_deltas_since_the_split_by_the_reducers() -> None:
    given: list[dict[str, Any]] = []

    def last(data: dict[str, Any]) -> None:
        given.append(data)

    fields = {
        "over": {"type": "int"},
        "sum": {"type": "int", "reducer": "increment"},
        "list": {"type": "list", "reducer": "append"},
        "map": {"type": "dict", "reducer": "merge"},
    }
    graph = (
        diamond(
            s=writes(over=0, sum=10, list="s", map={"s": 0}),
            x=writes(over=1, sum=1, list="x", map={"x": 1}),
            y=writes(sum=2, list="y", map={"y": 2, "s": 9}),
            z=writes(over=3, list="z"),
            j=last,
        )
        .with_fields(**fields)
        .build()
    )
    whole = {
        "over": 3,
        "sum": 13,
        "list": ["s", "x", "y", "z"],
        "map": {"s": 9, "x": 1, "y": 2},
    }
    assert dict(ran(graph).data) == whole
    assert given == [whole], "folded before the join, not at the end"


def test_a_custom_reducer_folds_branches_too() -> None:
    @register_reducer("keep_max")
    def _(old: Any, new: Any) -> Any:
        return new if not isinstance(old, int) else max(old, new)

    graph = (
        diamond(s=writes(best=2), x=writes(best=7), y=writes(best=5), z=writes(best=1), j=writes())
        .with_fields(best={"type": "int", "reducer": "keep_max"})
        .build()
    )
    assert ran(graph).data["best"] == 7


def test_merge_names_a_reducer_for_a_group() -> None:
    """by `merge`: what several branches overwrote is brought together by that reducer."""
    graph = (
        diamond(
            s=writes(found="old"), x=writes(found="x"), y=writes(), z=writes(found="z"), j=writes()
        )
        .with_fields(found={})
        .with_join("j", merge={"default": "append"})
        .build()
    )
    assert ran(graph).data["found"] == ["x", "z"]


def test_merge_in_a_file() -> None:
    played = play(
        """
initial: s
fields: {hits: {type: list}, n: {type: int, reducer: increment}}
states:
  s: {type: decision, transition: {fanout: all, next: [a, b]}}
  a: {type: agent, writes: [hits, n], transition: {next: [{to: j, group: g}]}}
  b: {type: agent, writes: [hits, n], transition: {next: [{to: j, group: g}]}}
  j: {type: terminal, join: all, merge: {g: extend}}
""",
        answers=[{"hits": ["a"], "n": 1}, {"hits": ["b"], "n": 2}],
    )
    assert played.snapshot.status == "ended"
    assert played.snapshot.data == {"hits": ["a", "b"], "n": 3}


def test_a_python_merge_strategy_makes_all_of_the_data() -> None:
    """A `multi_input_merge_strategy` starts a new root: what it drops is gone."""

    def best(states: list[dict[str, Any]]) -> dict[str, Any]:
        states[0]["log"].append("changed")  # a copy: it changes nothing
        return {"best": max(state["n"] for state in states)}

    graph = (
        diamond(x=writes(n=1), y=writes(n=3), z=writes(n=2), j=writes())
        .with_fields(n={}, best={})
        .with_join("j", strategy={"default": best})
        .build()
    )
    run = ran(graph)
    assert dict(run.data) == {"best": 3}
    (joined,) = [e.body for e in run.events if isinstance(e.body, Joined)]
    assert joined.data == {"best": 3}


def test_a_merge_strategy_that_fails_is_told_and_can_be_tried_again() -> None:
    fails = [True]

    def merge(states: list[dict[str, Any]]) -> dict[str, Any]:
        if fails.pop():
            raise ZeroDivisionError("no way")
        return {}

    graph = diamond().with_join("j", strategy=merge).build()
    run = Run(graph)
    with pytest.raises(RunError, match="do not fit together: ZeroDivisionError: no way"):
        run.run()
    fails.append(False)
    assert run.run().state == "j"
    assert run.status == "ended"


def test_each_result_is_checked_against_the_type_of_the_field() -> None:
    graph = (
        diamond(x=writes(found="x"), y=writes(found="y"), z=writes(), j=writes())
        .with_fields(found={"type": "str"})
        .with_join("j", merge={"default": "append"})
        .build()
    )
    with pytest.raises(RunError, match="'found' is a str, not"):
        ran(graph)


def test_a_state_filter_passes_on_only_the_fields_it_keeps() -> None:
    """What is dropped by every branch is gone."""
    graph = (
        GraphBuilder()
        .with_states(
            s=writes(a=1, b=2, log=["s"]), x=logs("x", a=10, c=3), y=logs("y"), j=logs("j")
        )
        .with_transitions(("s", "x"), ("s", "y"))
        .with_transitions(("x", "j", {"state_filter": ["a", "log"]}))
        .with_transitions(("y", "j", {"state_filter": "log"}))
        .with_fields(a={}, b={}, c={}, **LOG)
        .with_fanout("s")
        .with_join("j")
        .build()
    )
    run = ran(graph)
    assert dict(run.data) == {"a": 10, "log": ["s", "x", "y", "j"]}


def test_a_state_filter_of_one_branch_drops_what_that_branch_brings() -> None:
    graph = (
        GraphBuilder()
        .with_states(s=writes(a=1, b=2), x=writes(a=5, c=3), y=writes(d=4), j=writes())
        .with_transitions(("s", "x"), ("s", "y"))
        .with_transitions(("x", "j", {"state_filter": ["c"]}), ("y", "j"))
        .with_fanout("s")
        .with_join("j")
        .build()
    )
    assert dict(ran(graph).data) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_a_state_filter_without_branches() -> None:
    graph = (
        GraphBuilder()
        .with_states(s=writes(a=1, b=2), t=writes(c=3))
        .with_transitions(("s", "t", {"state_filter": ["a"]}))
        .build()
    )
    run = ran(graph)
    assert dict(run.data) == {"a": 1, "c": 3}
    assert [e.body for e in run.events if isinstance(e.body, Filtered)] == [
        Filtered(0, "t", ("a",))
    ]


def test_a_state_filter_in_a_file() -> None:
    played = play(
        """
initial: s
fields: {a: {type: str}, b: {type: str}}
states:
  s: {type: user, writes: [a], transition: {next: [{to: t, state_filter: [a]}]}}
  t: {type: terminal}
""",
        "hello",
        data={"b": "gone"},
    )
    assert played.snapshot.data == {"a": "hello"}


def test_a_state_filter_that_names_code_in_a_file_is_refused() -> None:
    """It would be a field that nobody has, and drop everything."""
    played = play(
        """
initial: s
states:
  s: {type: user, transition: {next: [{to: t, state_filter: "pkg.mod:keep"}]}}
  t: {type: terminal}
""",
        "hello",
    )
    (failed,) = played.of(Failed)
    assert "'pkg.mod:keep' names no field" in failed.error


def test_a_state_filter_in_python_is_a_new_root() -> None:
    def halves(data: dict[str, Any]) -> dict[str, Any]:
        return {"n": data["n"] // 2, "log": data["log"]}

    graph = (
        GraphBuilder()
        .with_states(s=logs("s", n=100), x=logs("x", n=1), y=logs("y", n=2), j=logs("j"))
        .with_transitions(("s", "x"), ("s", "y"))
        .with_transitions(("x", "j", {"state_filter": halves}), ("y", "j"))
        .with_fields(n={"type": "int", "reducer": "increment"}, **LOG)
        .with_fanout("s")
        .with_join("j")
        .build()
    )
    run = ran(graph)
    # x: 100 + 1 halved is 50, which is 50 less than at the split; y adds 2.
    assert run.data["n"] == 100 - 50 + 2
    assert run.data["log"] == ["s", "x", "y", "j"]


def test_a_state_filter_that_raises_leaves_the_run_where_it_was() -> None:
    def breaks(data: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("nothing")

    graph = (
        GraphBuilder()
        .with_states(s=logs("s"), x=logs("x"), y=logs("y"))
        .with_transitions(("s", "x"), ("s", "y", {"state_filter": breaks}))
        .with_fields(**LOG)
        .with_fanout("s")
        .build()
    )
    run = Run(graph)
    with pytest.raises(RunError, match="nothing"):
        run.run()
    assert run.state == "s"
    assert "log" not in run.data
    assert not [e for e in run.events if isinstance(e.body, Split)]


# --- ends -------------------------------------------------------------------------------


def test_ends_are_folded_in_routing_order() -> None:
    """At the end the tokens that reached a terminal are folded in routing order."""

    def waits(name: str, turns: int) -> Body:
        async def body(data: dict[str, Any]) -> dict[str, Any]:
            for _ in range(turns):
                await asyncio.sleep(0)
            return {"log": [name], "last": name}

        return body

    graph = (
        GraphBuilder()
        .with_states(s=logs("s"), x=waits("x", 30), y=waits("y", 1), deeper=logs("deeper"))
        .with_transitions(("s", "x"), ("s", "y"), ("x", "deeper"))
        .with_fields(last={}, **LOG)
        .with_fanout("s")
        .build()
    )
    run = ran(graph)
    assert run.data["log"] == ["s", "x", "deeper", "y"]
    assert run.data["last"] == "y"
    assert [e.body.state for e in run.events if isinstance(e.body, Ended)] == ["y", "deeper"]
    assert run.status == "ended"


def test_a_branch_that_ended_waits_for_the_others() -> None:
    run = Run(
        GraphBuilder()
        .with_states(s=logs("s"), x=logs("x"), y=logs("y"), z=logs("z"))
        .with_transitions(("s", "x"), ("s", "y"), ("y", "z"))
        .with_fields(**LOG)
        .with_fanout("s")
        .build()
    )
    states = []
    for step in run.iterate():
        states.append(step.state)
        if step.state == "y":
            assert run.status == "running"
    assert states == ["s", "x", "y", "z"]
    assert run.data["log"] == ["s", "x", "y", "z"]


def test_ends_that_do_not_fit_together_are_an_error() -> None:
    @register_reducer("once")
    def _(old: Any, new: Any) -> Any:
        if isinstance(old, str):
            raise ValueError("it is set already")
        return new

    graph = (
        GraphBuilder()
        .with_states(s=logs("s"), x=writes(k="x"), y=writes(k="y"))
        .with_transitions(("s", "x"), ("s", "y"))
        .with_fields(k={"type": "str", "reducer": "once"}, **LOG)
        .with_fanout("s")
        .build()
    )
    with pytest.raises(RunError, match="the ends of the branches do not fit: 'k' cannot be merged"):
        ran(graph)


# --- failures and limits ----------------------------------------------------------------


def fails_once(name: str) -> Body:
    tried: list[int] = []

    async def body(data: dict[str, Any]) -> dict[str, Any]:
        tried.append(1)
        if len(tried) == 1:
            raise RuntimeError(f"{name} broke")
        return {"log": [f"{name}{len(tried)}"]}

    return body


def test_where_one_branch_fails_the_others_go_on_until_they_rest() -> None:
    """Policy `wait`: what the others did is kept; the run then is failed, and can go on."""
    run = Run(diamond(x=fails_once("x")).build())
    with pytest.raises(RunError, match="x broke"):
        run.run()
    assert run.status == "failed"
    assert run.state == "x"
    assert run.run().state == "j"
    assert run.data["log"] == ["s", "x2", "y", "z", "j"]
    assert [e.body.state for e in run.events if isinstance(e.body, Entered)].count("y") == 1


def test_where_one_branch_fails_the_others_may_be_stopped() -> None:
    """Policy `cancel`: they begin anew when the run goes on."""
    begun: list[str] = []
    stopped: list[str] = []

    async def slow(data: dict[str, Any]) -> dict[str, Any]:
        begun.append("y")
        try:
            for _ in range(50 if len(begun) == 1 else 0):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            stopped.append("y")
            raise
        return {"log": ["y"]}

    graph = diamond(x=fails_once("x"), y=slow).with_fanout("s", on_failure="cancel").build()
    run = Run(graph)
    with pytest.raises(RunError, match="x broke"):
        run.run()
    assert run.status == "failed"
    assert stopped == ["y"]
    told = [e.body for e in run.events if isinstance(e.body, Interrupted)]
    assert [(body.state, body.text) for body in told] == [
        ("y", "'x' failed"), ("z", "'x' failed"),
    ]  # fmt: skip
    assert run.run().state == "j"
    assert run.data["log"] == ["s", "x2", "y", "z", "j"]


def test_on_error_of_a_branch() -> None:
    """`on_error` names a state to go to instead (4.4); a token that comes so waits for nobody."""
    played = play(
        """
initial: s
states:
  s: {type: decision, transition: {fanout: all, next: [a, b]}}
  a: {type: agent, on_error: excuse, transition: {next: [j]}}
  b: {type: agent, transition: {next: [j]}}
  excuse: {type: decision, transition: {next: [{to: j, group: late}]}}
  j: {type: terminal, message: done}
""",
        answers=[RuntimeError("no"), "b speaks"],
    )
    assert played.snapshot.status == "ended"
    assert "excuse" in played.path
    assert played.said == ["b speaks", "done", "done"]


def test_a_body_that_raises_in_a_branch_leaves_its_data() -> None:
    def breaks(data: dict[str, Any]) -> dict[str, Any]:
        data["log"].append("mine")
        raise RuntimeError("no")

    run = Run(diamond(y=breaks).build())
    with pytest.raises(RunError):
        run.run()
    assert run.data["log"] == ["s"]


def test_limits_count_over_all_tokens() -> None:
    """`max_steps` is exact: bodies that run side by side count (4.3)."""
    graph = diamond().build().with_limits(max_steps=3)
    run = Run(graph)
    with pytest.raises(RunError, match="max_steps: 3 steps"):
        run.run()
    assert run.status == "limited"
    limits = [e.body for e in run.events if isinstance(e.body, Limited)]
    assert len(limits) == 1
    assert limits[0].state == "z"
    assert run.run().state == "j"
    assert run.data["log"] == ["s", "x", "y", "z", "j"]


# --- the person -------------------------------------------------------------------------

TWO_QUESTIONS = """
initial: s
fields: {a: {type: str}, b: {type: int}}
states:
  s: {type: decision, transition: {fanout: all, next: [ask_a, ask_b]}}
  ask_a: {type: user, writes: [a], transition: {next: [j]}}
  ask_b: {type: user, writes: [b], transition: {next: [think]}}
  think: {type: agent, transition: {next: [j]}}
  j: {type: terminal, join: all, message: "{{a}} {{b}}"}
"""


def test_a_line_goes_to_the_first_branch_that_waits() -> None:
    played = play(TWO_QUESTIONS, "x", world=World(["hm"]))
    assert played.snapshot.status == "waiting"
    assert played.snapshot.state == "ask_b"
    assert [m["content"] for m in played.snapshot.data.get("messages", ())] == []
    played.say("5")
    assert played.snapshot.status == "ended"
    assert played.said[-1] == "x 5"
    told = [(m["role"], m["content"]) for m in played.snapshot.data["messages"]]
    assert told[:3] == [("user", "x"), ("user", "5"), ("assistant", "hm")]


def test_a_line_that_does_not_fit_is_asked_for_again_in_its_branch() -> None:
    played = play(TWO_QUESTIONS, "x", "many", world=World(["hm"]))
    assert (played.snapshot.status, played.snapshot.state) == ("waiting", "ask_b")
    played.say("5")
    assert played.snapshot.status == "ended"


def test_undo_takes_the_line_of_one_branch_back() -> None:
    played = play(TWO_QUESTIONS, "x", world=World(["hm"]))
    assert played.session.undo()
    assert (played.snapshot.status, played.snapshot.state) == ("waiting", "ask_a")
    played.say("y").say("6")
    assert played.said[-1] == "y 6"


def test_a_jump_moves_the_branch_the_person_talks_to() -> None:
    played = play(TWO_QUESTIONS, world=World(["hm", "hm"]))
    played.session.goto("think")
    played.say(None)
    assert "ask_b" in {t.state for t in played.snapshot.everywhere}
    played.say("7")
    assert played.snapshot.status == "stuck"  # nobody comes from ask_a any more


def test_a_value_set_by_hand_lasts_through_the_join() -> None:
    played = play(TWO_QUESTIONS, world=World(["hm"]))
    played.session.edit("c", 1)
    played.say("x").say("5")
    assert played.snapshot.data["c"] == 1


def test_a_fork_in_the_middle_of_branches() -> None:
    played = play(TWO_QUESTIONS, "x", world=World(["hm"]))
    forked = played.session.fork()
    other = Played(forked, World(["other"]), played.store)
    other.say("9")
    played.say("5")
    assert other.said[-1] == "x 9"
    assert played.said[-1] == "x 5"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_run_with_branches_is_resumed(kind: str, tmp_path: Any) -> None:
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "s.db")
    played = play(TWO_QUESTIONS, "x", world=World([]), store=store)
    again = Session.open(graph_of(TWO_QUESTIONS), store, played.session.run)
    assert again.snapshot == played.snapshot
    again.recover()
    other = Played(again, World(["hm"]), store).say("5")
    assert other.said[-1] == "x 5"
    store.close()


# --- python -----------------------------------------------------------------------------


def test_a_step_is_a_round_of_all_branches() -> None:
    run = Run(diamond().build())
    assert run.step().state == "s"  # type: ignore[union-attr]
    first = run.step()
    assert first is not None
    assert (first.state, first.result, dict(first.data)) == (
        "x", {"log": ["x"]}, {"log": ["s", "x"]},
    )  # fmt: skip
    assert run.step().state == "y"  # type: ignore[union-attr]
    assert run.step().state == "z"  # type: ignore[union-attr]
    last = run.step()
    assert last is not None
    assert (last.state, run.status, run.step()) == ("j", "ended", None)


def test_halts_between_branches() -> None:
    run = Run(diamond().build())
    assert run.run(halt_after=["y"]).state == "y"
    assert run.run(halt_before=["j"]) == ("j", None, {"log": ["s", "x", "y", "z"]})
    assert run.run().state == "j"


def test_the_async_twin_and_a_stream() -> None:
    def streams(name: str) -> Body:
        async def body(data: dict[str, Any]) -> Any:
            yield f"{name}1"
            await asyncio.sleep(0)
            yield f"{name}2"
            yield {"log": [name]}

        return body

    async def main() -> None:
        graph = diamond(x=streams("x"), y=streams("y")).build()
        run = aio.Run(graph)
        assert (await run.run()).state == "j"
        pieces = [piece async for piece in aio.Run(graph).stream_result()]
        assert pieces == ["x1", "x2", "y1", "y2"]

    asyncio.run(main())


def test_a_run_with_branches_is_dumped_and_loaded() -> None:
    graph = diamond().build()
    run = Run(graph)
    run.run(halt_after=["z"])
    again = Run.load(run.dump(), graph)
    assert again.run().state == "j"
    assert again.data["log"] == ["s", "x", "y", "z", "j"]


def test_a_thousand_branches() -> None:
    names = [f"b{n}" for n in range(1000)]
    graph = (
        GraphBuilder()
        .with_states(s=logs("s"), j=logs("j"), **{name: logs(name) for name in names})
        .with_transitions(*(("s", name) for name in names), (names, "j"))
        .with_fields(**LOG)
        .with_initial("s")
        .with_fanout("s")
        .with_join("j")
        .build()
    )
    assert ran(graph).data["log"] == ["s", *names, "j"]


# --- interrupted, crashed ---------------------------------------------------------------

THREE = """
initial: s
fields: {log: {type: list, reducer: append, default: []}}
states:
  s: {type: user, transition: {fanout: all, next: [a, b]}}
  a: {type: agent, writes: [log], transition: {next: [j]}}
  b: {type: agent, transition: {next: [b2]}}
  b2: {type: agent, writes: [log], transition: {next: [j]}}
  j: {type: terminal, join: all, message: "{{log}}"}
"""


def test_what_was_said_in_branches_is_kept_when_they_are_interrupted() -> None:
    class Slow(World):
        async def complete(self, request: Any) -> Any:
            async for chunk in super().complete(request):
                yield chunk
            if chunk.text == "half of b":
                await asyncio.sleep(60)

    graph = graph_of(THREE)
    world = Slow([{"log": "a"}, "half of b"])
    played = Played(Session.start(graph, MemoryStore()), world, MemoryStore())
    played.store = played.session.store

    async def main() -> None:
        played_ = asyncio.ensure_future(send("go"))
        for _ in range(40):
            await asyncio.sleep(0)
        played_.cancel()
        with pytest.raises(asyncio.CancelledError):
            await played_

    async def send(line: str | None) -> None:
        async for _ in played.session.send(world, line):
            pass

    asyncio.run(send(None))
    asyncio.run(main())
    assert played.snapshot.status == "interrupted"
    assert played.snapshot.state == "b"
    last = played.snapshot.data["messages"][-1]
    assert (last["content"], last.get("partial")) == ("half of b", True)
    world.answers = ["whole b", {"log": "b"}]
    played.say(None)
    assert played.snapshot.status == "ended"
    assert played.snapshot.data["log"] == ["a", "b"]


def test_resume_at_every_prefix_gives_the_same_end() -> None:
    """After a crash the open step of each branch restarts from its entry (9)."""
    answers = {"a": {"log": "a"}, "b": "b", "b2": {"log": "b2"}}

    class ByState(World):
        async def complete(self, request: Any) -> Any:
            self.answers = [answers[request.state.name]]
            async for chunk in super().complete(request):
                yield chunk

    whole = play(THREE, "go", world=ByState())
    events = whole.store.events(whole.session.run)
    assert whole.snapshot.status == "ended"
    graph = graph_of(THREE)
    for count in range(3, len(events)):
        store = MemoryStore()
        session = Session(graph, store, "r")
        from statecli.model.ports import Stored

        session._begin(
            Stored("r", "", "", "", 0, 0, "", "", 0), [e._replace(run="r") for e in events[:count]]
        )
        session.recover()
        world = ByState()
        world._ids = itertools.count(100)
        played = Played(session, world, store)
        if session.snapshot.status == "running":
            played.say(None)
        assert played.snapshot.status == "ended", count
        assert played.snapshot.data["log"] == ["a", "b2"], count
        told = [m["content"] for m in played.snapshot.data["messages"]]
        assert told == ["go", "b", '["a", "b2"]'], count


def test_an_open_call_of_a_branch_is_asked_about() -> None:
    from statecli.model.event import Called
    from statecli.model.ports import Stored

    graph = graph_of(
        """
initial: s
tools: {t: {command: [x]}}
states:
  s: {type: decision, transition: {fanout: all, next: [a, b]}}
  a: {type: tool, tool: t, arguments: {}, transition: {next: [j]}}
  b: {type: tool, tool: t, arguments: {}, transition: {next: [j]}}
  j: {type: terminal, join: all}
"""
    )
    from statecli.model.ports import ToolResult, ToolSpec

    world = World(tools=[ToolSpec("t", "")], results=[ToolResult(True, "r")] * 2)
    whole = play(graph, world=world)
    events = whole.store.events(whole.session.run)
    at = max(n for n, e in enumerate(events, 1) if isinstance(e.body, Called))
    session = Session(graph, MemoryStore(), "r")
    session._begin(
        Stored("r", "", "", "", 0, 0, "", "", 0), [e._replace(run="r") for e in events[:at]]
    )
    left = session.open_step()
    assert [call.state for call in left.calls] == ["a", "b"]
    assert len(left.branches) == 2


def test_replies_are_recorded_in_the_order_they_were_asked_for() -> None:
    from statecli.llm.recording import RecordingProvider
    from statecli.model.ports import Chunk
    from statecli.session.world import SessionWorld

    class Model:
        label = "m"
        parallel = True

        def __init__(self) -> None:
            self.open = self.most = 0

        async def complete(self, request: Any, ask: Any) -> Any:
            self.open += 1
            self.most = max(self.most, self.open)
            for _ in range(9 if request.state.name == "a" else 1):
                await asyncio.sleep(0)
            self.open -= 1
            name = request.state.name
            yield Chunk(text=f"said {name}", value={"log": name})

    model = Model()
    recording = RecordingProvider(model)
    graph = graph_of(THREE)
    session = Session.start(graph, MemoryStore())
    world = SessionWorld(graph, recording, None)  # type: ignore[arg-type]

    async def main() -> None:
        for line in (None, "go"):
            recording.begin(line)
            async for _ in session.send(world, line):
                pass

    asyncio.run(main())
    assert session.snapshot.status == "ended"
    assert model.most == 2
    assert [reply["reply"] for reply in recording.turns[-1]["replies"]] == [
        "said a", "said b", "said b2",
    ]  # fmt: skip


def test_what_was_shown_of_an_answer_that_broke_off_stays() -> None:
    from statecli.model.ports import ModelError

    def breaks() -> None:
        raise ModelError("the server is gone")

    graph = graph_of(THREE)
    played = play(graph, "go", world=World([{"log": "a"}, ["half", breaks]]))
    assert played.snapshot.status == "failed"
    told = [(m["content"], m.get("partial")) for m in played.snapshot.data["messages"]]
    assert told == [("go", None), ("half", True)]
    played.world.answers = ["whole", {"log": "b"}]
    played.say(None)
    texts = [m["content"] for m in played.snapshot.data["messages"]]
    assert texts == ["go", "half", "whole", '["a", "b"]']


def test_the_walk_of_a_run_that_split_names_its_routes() -> None:
    from statecli.cli.paths import walked

    played = play(THREE, "go", answers=[{"log": "a"}, "b", {"log": "b2"}])
    walk = walked(played.session.graph, played.store.events(played.session.run), "here")
    assert dict(walk.routes) == {
        ("s", 0): 1, ("s", 1): 1, ("a", 0): 1, ("b", 0): 1, ("b2", 0): 1,
    }  # fmt: skip


def test_a_plan_state_in_a_branch() -> None:
    from scripted import call

    played = play(
        """
initial: s
fields: {name: {type: str}, log: {type: list, reducer: append}}
states:
  s: {type: decision, transition: {fanout: all, next: [a, plan]}}
  a: {type: agent, writes: [log], transition: {next: [j]}}
  plan:
    type: loose
    title: Plan
    tasks: [{id: t, description: Name, deliverables: [{key: name}]}]
    transitions: [{target_state_id: j, condition_type: all_tasks_complete}]
  j: {type: terminal, join: all, message: "{{name}} {{log}}"}
""",
        answers=[{"log": "a"}, "What is your name?"],
    )
    assert (played.snapshot.status, played.snapshot.state) == ("waiting", "plan")
    played.world.answers = [call("set_deliverable", key="name", value="Ann"), "Thanks"]
    played.say("Ann")
    assert played.snapshot.status == "ended", played.bodies[-1]
    assert played.said[-1] == 'Ann ["a"]'
