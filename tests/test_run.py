"""`Run` from Python, beyond the sentences of the documents: data that stays as it is, many runs at
once, results that are no delta, streams that are no text, halts that must be there."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from statecli import GraphBuilder, Hooks, Item, Outcome, Run, aio, when
from statecli.model.event import Edited, Failed, Filtered
from statecli.model.graph import Graph
from statecli.session.data import Data
from statecli.session.function import MissingInput
from statecli.session.run import RunError, Stuck
from statecli.store.sqlite import SqliteStore

# --- data -------------------------------------------------------------------------------


def nothing(data: dict[str, Any]) -> dict[str, Any]:
    return {"seen": True}


def loop(body: Any = nothing) -> Graph:
    return GraphBuilder().with_states(a=body).with_transitions(("a", "a")).build()


@pytest.mark.parametrize("body", [nothing, lambda data, more=1: {"seen": True}])
def test_nothing_outside_a_step_changes_the_data(body: Any) -> None:
    """What goes in, what comes out, what a hook sees: each is a copy of what could be changed."""

    class Spoils(Hooks):
        def before_step(self, *, data: Any, **more: Any) -> None:
            data["list"].append("before")

        def after_step(self, *, data: Any, **more: Any) -> None:
            data["list"].append("after")
            data["messages"][0]["content"] = "other"

    given: dict[str, Any] = {
        "list": [1], "deep": {"x": [{"y": 1}]}, "set": {1},
        "messages": [{"role": "user", "content": "hi", "id": "1"}],
    }  # fmt: skip
    want = {**copy.deepcopy(given), "seen": True}
    run = Run(loop(body), data=given, hooks=[Spoils()])
    given["list"].append(2)
    given["deep"]["x"][0]["y"] = 2
    step = run.step()
    assert step is not None
    seen: list[Any] = [run.data, step.data]
    for data in seen:
        data["list"].append(3)
        data["deep"]["x"][0]["y"] = 3
        data["set"].add(3)
        data["messages"][0]["content"] = "bye"
        next(iter(data["messages"]))["content"] = "bye"
        data.get("deep")["x"].clear()
        dict(data)["list"].append(4)
        for value in data.values():
            getattr(value, "clear", list)()
        with pytest.raises(TypeError):
            data["list"] = []
        assert data == want
    assert run.history().at(len(run.events)) == want


def test_data_is_a_mapping() -> None:
    data = Data({"a": 1, "l": [1]})
    assert ("a" in data, len(data), list(data), data.get("b", 2)) == (True, 2, ["a", "l"], 2)
    assert data == {"a": 1, "l": [1]}
    assert data == Data({"a": 1, "l": [1]})
    assert data != {"a": 1}
    assert (repr(data), {**data}) == ("{'a': 1, 'l': [1]}", {"a": 1, "l": [1]})
    assert copy.deepcopy(data) == data == pickle.loads(pickle.dumps(data))
    with pytest.raises(TypeError):
        hash(data)


def test_a_long_conversation_is_not_copied_for_a_look_at_its_end() -> None:
    run = Run(loop(lambda data: {"messages": [{"role": "user", "content": n} for n in range(50)]}))
    run.step()
    messages = run.data["messages"]
    assert (messages[-1]["content"], len(messages)) == (49, 50)
    assert [m["content"] for m in messages[1:3]] == [1, 2]
    assert messages[0] is not messages[0]
    assert isinstance(copy.deepcopy(messages), list)


def test_data_is_set_from_outside_between_steps() -> None:
    heard: list[str] = []

    class Heard(Hooks):
        def on_event(self, *, event: Any, **more: Any) -> None:
            heard.append(event.name)

    run = Run(loop(), data={"a": 1, "b": 2}, hooks=[Heard()])
    kept = [1]
    run.edit({"a": 5, "l": kept}, forgets=["b"])
    kept.append(2)
    assert dict(run.data) == {"a": 5, "l": [1]}
    assert heard == ["started", "edited", "edited", "filtered"]
    bodies = [type(event.body) for event in run.events[1:]]
    assert bodies == [Edited, Edited, Filtered]
    assert dict(Run.load(json.loads(json.dumps(run.dump())), loop()).data) == {"a": 5, "l": [1]}

    class Sly:
        def execute(self, machine: Any, data: Any) -> None:
            machine.edit({"a": 1})

    with pytest.raises(RunError, match="a body changes the data by what it gives back"):
        Run(GraphBuilder().with_states(a=Sly()).build()).step()


# --- many runs of one graph -------------------------------------------------------------


def counting(waits: bool) -> Graph:
    def add(data: dict[str, Any], by: int = 1) -> dict[str, Any]:
        return {"n": data["n"] + by, "seen": [*data["seen"], data["me"]]}

    async def slowly(data: dict[str, Any], by: int = 1) -> dict[str, Any]:
        await asyncio.sleep(0)
        return add(data, by)

    def streams(data: dict[str, Any]) -> Iterator[Any]:
        yield f"{data['me']}{data['n']} "
        yield {"seen": [*data["seen"], data["me"]]}

    return (
        GraphBuilder()
        .with_states(add=slowly if waits else add, tell=streams, end=lambda data: {})
        .with_transitions(("add", "tell"), ("tell", "end", when(n__gte=20)), ("tell", "add"))
        .with_initial("add")
        .build()
    )


def first(me: int) -> dict[str, Any]:
    return {"me": me, "n": 0, "seen": []}


def check(run: Any, me: int, text: str) -> None:
    assert run.status == "ended"
    assert (run.data["n"], set(run.data["seen"]), len(run.data["seen"])) == (20, {me}, 40)
    assert text == "".join(f"{me}{n} " for n in range(1, 21))


@pytest.mark.parametrize("waits", [False, True])
def test_many_runs_of_one_graph_in_threads(waits: bool) -> None:
    """ "create a graph once, application many times": they share nothing."""
    graph = counting(waits)
    runs = [Run(graph, data=first(me)) for me in range(8)]
    texts: dict[int, str] = {}
    barrier = threading.Barrier(len(runs))

    def walk(me: int) -> None:
        barrier.wait(10)
        texts[me] = "".join(runs[me].stream_result())

    threads = [threading.Thread(target=walk, args=(me,)) for me in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for me, run in enumerate(runs):
        check(run, me, texts[me])


@pytest.mark.parametrize("waits", [False, True])
def test_many_runs_of_one_graph_in_one_loop(waits: bool) -> None:
    graph = counting(waits)

    async def walk(me: int) -> None:
        run = aio.Run(graph, data=first(me))
        text = ""
        async for piece in run.stream_result():
            text += piece
            await asyncio.sleep(0)
        check(run, me, text)

    async def main() -> None:
        await asyncio.gather(*(walk(me) for me in range(20)))

    asyncio.run(main())


def test_one_run_may_be_walked_both_ways() -> None:
    """The names to be awaited are those of `Run` too; one after the other they go on."""
    run = Run(counting(waits=True), data=first(1))
    text = "".join(run.stream_result(halt_after=["tell"]))

    async def main() -> str:
        step = await run.astep(inputs={"by": 3})
        assert step is not None
        assert step.state == "add"
        steps = [step.state async for step in run.aiterate(halt_after=["tell"])]
        assert steps == ["tell"]
        assert (await run.arun(halt_before=["tell"])).result is None
        return "".join([piece async for piece in run.astream_result(halt_after=["tell"])])

    assert (text, asyncio.run(main())) == ("11 ", "15 ")
    assert run.run().state == "end"


# --- results, streams, ends -------------------------------------------------------------


def test_a_result_may_be_something_else_than_the_delta() -> None:
    def plain(data: dict[str, Any]) -> Outcome:
        return Outcome({"said": 1}, {"n": data["n"] + 1}, forgets=("old", "never"))

    async def slow(data: dict[str, Any]) -> Outcome:
        await asyncio.sleep(0)
        return plain(data)

    def streams(data: dict[str, Any]) -> Iterator[Any]:
        yield "text"
        yield plain(data)

    for body in (plain, slow, streams):
        run = Run(loop(body), data={"n": 1, "old": [1]})
        step = run.step()
        assert step is not None
        assert (step.result, dict(step.data)) == ({"said": 1}, {"n": 2})
        assert dict(run.data) == {"n": 2}
        again = Run.load(json.loads(json.dumps(run.dump())), loop(body))
        assert dict(again.data) == {"n": 2}
    assert Run(loop(lambda data: Outcome(7))).run(halt_after=["a"]).result == 7


def test_a_branch_forgets_for_itself_only() -> None:
    built = (
        GraphBuilder()
        .with_states(
            start=lambda data: {}, left=lambda data: Outcome("l", {"l": 1}, ("x",)),
            right=lambda data: {"saw": data["x"]}, end=lambda data: {},
        )
        .with_transitions(("start", "left"), ("start", "right"), (["left", "right"], "end"))
        .with_fanout("start")
        .with_join("end")
        .build()
    )  # fmt: skip
    run = Run(built, data={"x": 1})
    run.run()
    assert (run.data["l"], run.data["saw"], run.status) == (1, 1, "ended")


def test_a_stream_may_be_anything() -> None:
    heard: list[Any] = []

    class Heard(Hooks):
        def on_item(self, *, text: Any, **more: Any) -> None:
            heard.append(text)

    def items(data: dict[str, Any]) -> Iterator[Any]:
        yield "a"
        yield Item({"b": 1})
        yield Item(None)
        yield 7
        yield {"done": True}

    async def slowly(data: dict[str, Any]) -> AsyncIterator[Any]:
        for item in items(data):
            yield item

    for body in (items, slowly):
        run = Run(GraphBuilder().with_states(a=body).build(), hooks=[Heard()])
        assert list(run.stream_result()) == ["a", {"b": 1}, None, "7"]
        assert dict(run.data) == {"done": True}
    assert heard == ["a", {"b": 1}, None, "7"] * 2


def test_a_state_out_of_which_nothing_holds() -> None:
    """The step is there, and its delta; the run says what was tried."""

    async def slow(data: dict[str, Any]) -> dict[str, Any]:
        return {"n": 1}

    for body in (lambda data: {"n": 1}, slow):
        built = GraphBuilder().with_states(a=body, b=nothing)
        run = Run(built.with_transitions(("a", "b", when(n=5))).build())
        with pytest.raises(
            Stuck,
            match=r"^a: nothing holds in 'a':\n  -> b: n is 5  \[does not hold\]  \(n is 1\)$",
        ) as stuck:
            run.run()
        assert stuck.value.step[:2] == ("a", {"n": 1})
        assert (run.status, dict(run.data)) == ("stuck", {"n": 1})
        last = run.events[-1].body
        assert isinstance(last, Failed)
        assert last.stuck


@pytest.mark.parametrize("halt", ["halt_after", "halt_before"])
def test_halts_must_be_there(halt: str) -> None:
    """A halt that is misspelt would never come."""
    graph = GraphBuilder().with_states(asks=nothing, tell=nothing).with_tags(asks=["human"]).build()
    run = Run(graph)
    calls: list[Any] = [run.run, lambda **more: next(run.iterate(**more)),
                        lambda **more: next(iter(run.stream_result(**more)))]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match=r"'aks' \(did you mean 'asks'\?\)"):
            call(**{halt: ["aks"]})
        with pytest.raises(ValueError, match=r"'@tag:humans' \(did you mean '@tag:human'\?\)"):
            call(**{halt: ["@tag:humans"]})
        with pytest.raises(ValueError, match=r"'xyz' \(there are: asks, tell, @tag:human\)"):
            call(**{halt: ["xyz"]})

    async def main() -> None:
        with pytest.raises(ValueError, match="did you mean 'asks'"):
            await run.arun(**{halt: ["aks"]})  # type: ignore[arg-type]

    asyncio.run(main())
    assert len(run.events) == 1, "nothing was done"


def test_one_name_is_a_halt_too() -> None:
    run = Run(loop())
    assert run.run(halt_after="a").state == "a"
    assert run.run(["a"], None).state == "a"


def test_the_last_step() -> None:
    async def slow(data: dict[str, Any]) -> dict[str, Any]:
        return {"slow": True}

    run = Run(GraphBuilder().with_states(a=nothing, b=slow).with_transitions(("a", "b")).build())
    assert [run.last] == [None]
    first_one = run.step()
    assert run.last is first_one
    list(run.stream_result())
    assert run.last is not None
    assert run.last.result == {"slow": True}


def test_inputs_of_branches_are_checked() -> None:
    def right(data: dict[str, Any], word: str) -> dict[str, Any]:
        return {"word": word}

    builder = GraphBuilder().with_states(a=nothing, b=nothing, c=right).with_fanout("a")
    run = Run(builder.with_transitions(("a", "b"), ("a", "c")).build())
    with pytest.raises(RunError, match="'c' needs the input 'word'") as caught:
        run.run()
    assert isinstance(caught.value.__cause__, MissingInput)


def test_a_run_with_a_store_forgets_there_too(tmp_path: Any) -> None:
    store = SqliteStore(tmp_path / "s.db")
    graph = loop(lambda data: Outcome(1, {"n": 1}, ("old",)))
    run = Run(graph, data={"old": 1}, store=store, task_id="r")
    run.step()
    assert [event.name for event in store.events("r")] == [
        "started", "changed", "filtered", "chose", "entered"]  # fmt: skip
    assert dict(run.fork().data) == {"n": 1}
