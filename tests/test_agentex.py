"""Agentex's face (document 003): what its document shows, what its SDK does, and what may go wrong.

`Reference` is the loop that the document prints, over nothing; the machine has to do the same.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecli import GraphBuilder, Hooks
from statecli import Run as SyncRun
from statecli.agentex import ClientError, NoOpWorkflow, State, StateMachine, StateWorkflow
from statecli.aio import Run
from statecli.model.event import Chose, Edited, Jumped
from statecli.model.graph import Graph
from statecli.store.sqlite import SqliteStore

pydantic = pytest.importorskip("pydantic")
BaseModel: Any = pydantic.BaseModel
R = TypeVar("R")


def do(work: Coroutine[Any, Any, R]) -> R:
    return asyncio.run(work)


class MyStates(str, Enum):  # noqa: UP042 - as the document writes it
    START = "start"
    PROCESSING = "processing"
    COMPLETE = "complete"
    ERROR = "error"


class MyData(BaseModel):  # type: ignore[misc]  # pydantic may not be there
    input_data: str = "hi"
    processed_results: list[str] = []  # noqa: RUF012 - pydantic copies it
    error_message: str | None = None
    messages: list[str] = []  # noqa: RUF012 - likewise


class Start(StateWorkflow):
    async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
        return MyStates.PROCESSING


class Processing(StateWorkflow):
    """Works."""

    async def execute(self, machine: Any, data: Any) -> str:  # type: ignore[override]
        data.processed_results.append(data.input_data.upper())
        return "complete"


class Error(StateWorkflow):
    async def execute(self, a: Any, b: Any) -> str:  # type: ignore[override]
        return "complete"


class Machine(StateMachine[MyData]):
    async def terminal_condition(self) -> bool:
        return self.get_current_state() == MyStates.COMPLETE


def states(**workflows: Any) -> list[State]:
    found: dict[str, Any] = {
        "start": Start(), "processing": Processing(), "complete": NoOpWorkflow(),
        "error": Error(), **workflows,
    }  # fmt: skip
    return [State(name=name, workflow=workflow) for name, workflow in found.items()]


def machine(data: Any = None, *, task: str | None = None, trace: bool = False, **own: Any) -> Any:
    return Machine(
        initial_state=MyStates.START, states=states(**own), task_id=task,
        state_machine_data=data if data is not None else MyData(), trace_transitions=trace,
    )  # fmt: skip


def body(function: Callable[..., Any], **marks: Any) -> StateWorkflow:
    """A workflow whose `execute` is this function of the machine and the data."""

    class Made(StateWorkflow):
        async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
            found = function(state_machine, state_machine_data)
            return await found if asyncio.iscoroutine(found) else found  # type: ignore[no-any-return]

    made = Made()
    for name, value in marks.items():
        setattr(made, name, value)
    return made


# --- what the document shows ------------------------------------------------------------


def test_the_machine_of_the_document() -> None:
    found = machine()
    assert found.get_current_state() == "start"
    assert isinstance(found.get_current_workflow(), Start)
    assert do(found.step()) == "processing"
    do(found.run())
    assert found.get_current_state() == "complete"
    assert found.require_state_machine_data().processed_results == ["HI"]
    assert found.get_state_machine_data() is found.state_machine_data


def test_the_data_is_one_object_all_the_time() -> None:
    data = MyData()
    found = machine(data)
    do(found.run())
    assert found.state_machine_data is data
    assert data.processed_results == ["HI"]


def test_data_flows_from_state_to_state() -> None:
    """Each workflow finds what those before it wrote, and the machine has it at the end."""
    found: list[list[str]] = []

    def notes(name: str, answer: str) -> StateWorkflow:
        def execute(state_machine: Any, data: Any) -> str:
            found.append([*data.processed_results])
            data.processed_results.append(name)
            return answer

        return body(execute)

    own = machine(start=notes("s", "processing"), processing=notes("p", "error"),
                  error=notes("e", "complete"))  # fmt: skip
    do(own.run())
    assert found == [[], ["s"], ["s", "p"]]
    assert own.state_machine_data.processed_results == ["s", "p", "e"]
    assert own.dump()["state_machine_data"]["processed_results"] == ["s", "p", "e"]


def test_run_calls_step_until_its_condition_holds() -> None:
    """Also where `step` is one's own, and never where the condition holds at the beginning."""

    class Counted(Machine):
        steps = 0

        async def step(self) -> str:
            self.steps += 1
            return await super().step()

    own = Counted("start", states(), state_machine_data=MyData())
    do(own.run())
    assert (own.steps, own.get_current_state()) == (2, "complete")
    do(own.run())
    assert own.steps == 2


def test_no_op_stays_where_it_is() -> None:
    found = machine()
    do(found.transition("complete"))
    assert do(found.step()) == "complete"
    assert do(found.step()) == "complete"


def test_what_has_to_be_overridden() -> None:
    with pytest.raises(TypeError, match="terminal_condition"):
        StateMachine("a", [])  # type: ignore[abstract]
    with pytest.raises(TypeError, match="execute"):
        StateWorkflow()  # type: ignore[abstract]


def test_dump_has_the_keys_of_the_document() -> None:
    found = machine(task="task_123", trace=True)
    do(found.step())
    saved = found.dump()
    own = saved.pop("statecli")
    assert saved == {
        "task_id": "task_123",
        "current_state": "processing",
        "initial_state": "start",
        "state_machine_data": {
            "input_data": "hi", "processed_results": [], "error_message": None, "messages": []},
        "trace_transitions": True,
    }  # fmt: skip
    assert [event["event"] for event in own["events"]] == ["started", "chose", "entered"]
    assert json.loads(json.dumps(saved)) == saved


def test_load_goes_on_where_dump_left_it() -> None:
    found = machine(task="task_123")
    do(found.step())
    again = do(Machine.load(json.loads(json.dumps(found.dump())), states()))
    assert isinstance(again.state_machine_data, MyData)
    assert again.dump()["task_id"] == "task_123"
    do(again.run())
    assert again.state_machine_data.processed_results == ["HI"]
    assert found.state_machine_data.processed_results == []


def test_what_agentex_itself_dumped_is_read() -> None:
    saved = {
        "task_id": None, "current_state": "processing", "initial_state": "start",
        "state_machine_data": {"input_data": "x", "processed_results": []},
        "trace_transitions": True,
    }  # fmt: skip
    found = do(Machine.load(saved, states()))
    found.set_task_id("t")
    do(found.run())
    assert found.require_state_machine_data().processed_results == ["X"]


def test_the_keys_of_the_document_count_where_somebody_changed_them() -> None:
    saved = machine().dump()
    saved["current_state"] = "error"
    saved["state_machine_data"]["error_message"] = "by hand"
    found = do(Machine.load(saved, states()))
    assert found.get_current_state() == "error"
    assert found.require_state_machine_data().error_message == "by hand"
    kinds = [type(event.body) for event in found.get_events()]
    assert kinds[-2:] == [Jumped, Edited]


# --- data -------------------------------------------------------------------------------


def test_what_a_body_changes_is_its_delta() -> None:
    found = machine()
    do(found.run())
    changed = [e.body.data for e in found.get_events() if e.name == "changed"]
    assert changed == [{"processed_results": ["HI"]}]


def test_messages_are_data_like_any_other() -> None:
    """Not a conversation that only grows: a workflow may do with them what it likes."""

    def shuffle(state_machine: Any, data: Any) -> str:
        data.messages = list(reversed(data.messages))[:2]
        return "complete"

    found = machine(MyData(messages=["a", "b", "c"]), start=body(shuffle))
    do(found.run())
    assert found.dump()["state_machine_data"]["messages"] == ["c", "b"]


def test_changes_from_outside_are_recorded() -> None:
    found = machine()
    found.state_machine_data.input_data = "new"
    do(found.step())
    found.state_machine_data = MyData(input_data="whole", processed_results=["x"])
    do(found.run())
    assert found.state_machine_data.processed_results == ["x", "WHOLE"]
    edits = [e.body.key for e in found.get_events() if e.name == "edited"]
    assert edits == ["input_data", "input_data", "processed_results"]
    assert found.dump()["state_machine_data"]["processed_results"] == ["x", "WHOLE"]


def test_one_is_not_true() -> None:
    def swap(state_machine: Any, data: Any) -> str:
        data["n"] = True
        return "complete"

    found = machine({"n": 1}, start=body(swap))
    do(found.run())
    assert [e.body.data for e in found.get_events() if e.name == "changed"] == [{"n": True}]


@dataclasses.dataclass
class Plain:
    n: int = 0
    log: list[str] = dataclasses.field(default_factory=list)


@pytest.mark.parametrize("data", [{"n": 0, "log": []}, Plain()])
def test_other_data(data: Any) -> None:
    def add(state_machine: Any, state_machine_data: Any) -> str:
        if isinstance(state_machine_data, Plain):
            state_machine_data.n += 1
        else:
            state_machine_data["n"] += 1
        return "complete"

    class Own(StateMachine[type(data)]):  # type: ignore[misc]
        async def terminal_condition(self) -> bool:
            return str(self.get_current_state()) == "complete"

    own = states(start=body(add))
    found: Any = Own("start", own, state_machine_data=data)
    do(found.run())
    again: Any = do(Own.load(found.dump(), own))
    assert again.state_machine_data == data
    assert found.dump()["state_machine_data"] == {"n": 1, "log": []}


def test_without_data() -> None:
    found = Machine("start", states(start=body(lambda m, d: "complete" if d is None else "error")))
    assert found.get_state_machine_data() is None
    with pytest.raises(ValueError, match="no data"):
        found.require_state_machine_data()
    do(found.run())
    assert found.dump()["state_machine_data"] is None
    assert do(Machine.load(found.dump(), states())).state_machine_data is None


def test_what_is_taken_out_of_the_data_is_gone() -> None:
    def drop(state_machine: Any, data: Any) -> str:
        del data["n"]
        data["m"] = 2
        return "processing"

    found = machine({"n": 1, "x": 1}, start=body(drop), processing=body(lambda m, d: "complete"))
    do(found.step())
    assert found.dump()["state_machine_data"] == {"x": 1, "m": 2}
    del found.state_machine_data["x"]
    do(found.run())
    assert found.dump()["state_machine_data"] == {"m": 2}
    again = do(Machine.load({**found.dump(), "state_machine_data": None}, states()))
    assert again.state_machine_data is None


# --- what may go wrong ------------------------------------------------------------------


class Own(Exception):
    pass


def raises(state_machine: Any, data: Any) -> str:
    data.processed_results.append("half")
    data.input_data = "half"
    raise Own("no luck")


def test_a_body_that_raises_leaves_everything_as_it_was() -> None:
    data = MyData()
    found = machine(data, start=body(raises))
    with pytest.raises(Own, match="no luck"):
        do(found.step())
    assert (found.get_current_state(), found.state_machine_data is data) == ("start", True)
    assert data == MyData()
    assert [e.name for e in found.get_events()][-1] == "failed"
    do(found.transition("processing"))
    do(found.run())
    assert data.processed_results == ["HI"]


class Private(MyData):
    _seen: int = pydantic.PrivateAttr(default=0)


@dataclasses.dataclass(slots=True)
class Slots:
    n: int = 0


@dataclasses.dataclass
class Nested:
    inner: Slots = dataclasses.field(default_factory=Slots)
    log: list[str] = dataclasses.field(default_factory=list)


class Bare:
    def __init__(self) -> None:
        self.n = 0


def spoil(data: Any) -> None:
    """Change everything there is, deep down too."""
    if isinstance(data, dict):
        data["log"].append("half")
        data["new"] = 1
    elif isinstance(data, Private):
        data._seen, data.input_data = 9, "half"
        data.processed_results.append("half")
    elif isinstance(data, Nested):
        data.inner.n = 9
        data.log.append("half")
    else:
        data.n = 9


def looks(data: Any) -> Any:
    if isinstance(data, Private):
        return data.model_dump(), data._seen
    return vars(data) | {} if isinstance(data, Bare) else data


@pytest.mark.parametrize("make", [Private, Slots, Nested, Bare, lambda: {"log": []}, MyData])
def test_whatever_data_is_taken_back(make: Callable[[], Any]) -> None:
    def bad(state_machine: Any, data: Any) -> str:
        if isinstance(data, MyData) and not isinstance(data, Private):
            state_machine.state_machine_data = MyData(input_data="another object")
        else:
            spoil(data)
        raise Own("no luck")

    data = make()
    found = machine(data, start=body(bad))
    before = found.dump()["state_machine_data"]
    with pytest.raises(Own):
        do(found.step())
    assert found.state_machine_data is data
    assert looks(data) == looks(make())
    assert found.dump()["state_machine_data"] == before


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "'start' answered nothing: it names the next state"),
        ("procesing", "'start' answered 'procesing', not: .*did you mean 'processing'"),
        ("", "'start' answered '', not: start, processing"),
        (5, "5 is no name of a state"),
        (State, "is no name of a state"),
    ],
)
def test_wrong_answers(answer: Any, message: str) -> None:

    def wrong(state_machine: Any, data: Any) -> Any:
        data.input_data = "half"
        return answer

    found = machine(start=body(wrong))
    with pytest.raises((ValueError, TypeError), match=message):
        do(found.step())
    assert found.get_current_state() == "start"
    assert found.state_machine_data == MyData()
    assert [event.name for event in found.get_events()] == ["started", "failed"]


def test_declared_transitions_are_kept_to() -> None:
    wrong = body(lambda m, d: "error", transitions=["complete", MyStates.PROCESSING])
    found = machine(start=wrong)
    with pytest.raises(ValueError, match="answered 'error', not: complete, processing"):
        do(found.step())
    right = machine(start=body(lambda m, d: "processing", transitions=["processing"]))
    assert do(right.step()) == "processing"
    with pytest.raises(
        ValueError, match="'start' declares a transition: state 'complet' not found"
    ):
        machine(start=body(lambda m, d: "x", transitions=["complet"]))


def test_bodies_need_not_be_async() -> None:
    class Sync:
        def execute(self, state_machine: Any, data: Any) -> str:
            data.input_data = "sync"
            return "processing"

    found = machine(start=Sync())
    do(found.run())
    assert found.state_machine_data.processed_results == ["SYNC"]


@pytest.mark.parametrize("target", ["nowhere", "Complete", ""])
def test_transitions_to_what_is_not_there(target: str) -> None:
    found = machine()
    with pytest.raises(ValueError, match=r"State '.*' not found"):
        do(found.transition(target))
    assert found.get_current_state() == "start"


def test_machines_that_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="Initial state 'begin' not found"):
        Machine("begin", states())
    with pytest.raises(ValueError, match="two states are named 'start'"):
        Machine("start", [*states(), State("start", NoOpWorkflow())])
    with pytest.raises(TypeError, match="no name of a state"):
        State(name=3, workflow=NoOpWorkflow())  # type: ignore[arg-type]
    for workflow in (None, NoOpWorkflow, print):
        with pytest.raises(TypeError, match="object with 'execute'"):
            State(name="a", workflow=workflow)


@pytest.mark.parametrize(
    "saved",
    [
        None, [], {}, "text", {"current_state": "start"},
        {"current_state": "start", "initial_state": None, "state_machine_data": {}},
        {"current_state": "nowhere", "initial_state": "start", "state_machine_data": {}},
        {"current_state": "start", "initial_state": "nowhere", "state_machine_data": {}},
        {"current_state": "start", "initial_state": "start", "state_machine_data": [1]},
        {"current_state": "start", "initial_state": "start",
         "state_machine_data": {"processed_results": "no list"}},
    ],
)  # fmt: skip
def test_what_is_no_saved_machine(saved: Any) -> None:
    with pytest.raises(ValueError, match="Failed to restore state machine"):
        do(Machine.load(saved, states()))


DAMAGE: list[Callable[[Any], Any]] = [
    lambda own: own.update(version=2),
    lambda own: own.update(events="x"),
    lambda own: own.update(events=[1]),
    lambda own: own["events"].pop(0),
    lambda own: own["events"].insert(0, own["events"][0]),
    lambda own: own["events"][0].pop("event"),
    lambda own: own["events"][0].update(event="dreamt"),
    lambda own: own["events"][0].update(body=[]),
    lambda own: own["events"][1].update(time=None, number="1"),
    lambda own: own["events"][2]["body"].pop("state"),
    lambda own: own["events"][2]["body"].update(state="nowhere"),
    lambda own: own["events"][0].pop("run"),
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_events(damage: Callable[[Any], Any]) -> None:
    found = machine()
    do(found.step())
    saved = json.loads(json.dumps(found.dump()))
    damage(saved["statecli"])
    with pytest.raises(ValueError, match="Failed to restore state machine"):
        do(Machine.load(saved, states()))
    with pytest.raises(ValueError, match=r"saved|event"):
        Run.load(saved, found.get_graph())


def test_a_task_that_is_cancelled_in_the_middle() -> None:
    started = asyncio.Event()

    async def slow(state_machine: Any, data: Any) -> str:
        data.input_data = "half"
        started.set()
        await asyncio.sleep(60)
        return "complete"

    async def play() -> Any:
        found = machine(start=body(slow))
        task = asyncio.ensure_future(found.step())
        await started.wait()
        assert found.dump()["state_machine_data"]["input_data"] == "hi", "as before the step"
        with pytest.raises(RuntimeError, match="runs already"):
            await found.step()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return found

    found = do(play())
    assert (found.get_current_state(), found.state_machine_data) == ("start", MyData())
    again = do(Machine.load(found.dump(), states()))
    do(again.run())
    assert again.require_state_machine_data().processed_results == ["HI"]
    do(found.transition("processing"))
    do(found.run())
    assert found.state_machine_data.processed_results == ["HI"]


# --- transitions from outside -----------------------------------------------------------


def test_a_transition_from_outside_is_recorded() -> None:
    found = machine()
    do(found.transition(MyStates.ERROR))
    assert found.get_current_state() == "error"
    assert isinstance(found.get_events()[-1].body, Jumped)


def test_a_signal_while_a_body_waits() -> None:
    """As Agentex's own examples do it: the body of the waiting state waits until a signal has moved
    the machine, and answers where that is."""

    async def waits(state_machine: Any, data: Any) -> str:
        while state_machine.get_current_state() == "start":
            await asyncio.sleep(0)
        found: str = state_machine.get_current_state()
        return found

    async def play() -> Any:
        found = machine(start=body(waits, transitions=["complete"]))
        task = asyncio.ensure_future(found.run())
        await asyncio.sleep(0)
        found.get_state_machine_data().input_data = "signal"
        await found.transition("processing")
        await task
        return found

    found = do(play())
    assert found.get_current_state() == "complete"
    assert found.state_machine_data.processed_results == ["SIGNAL"]
    chosen = [e.body.target for e in found.get_events() if isinstance(e.body, Chose)]
    assert chosen == ["processing", "complete"]


@pytest.mark.parametrize(("raised", "state"), [(False, "complete"), (True, "error")])
def test_a_transition_inside_a_body(raised: bool, state: str) -> None:
    """The machine is said to be there; the answer decides, and only if there is none it counts."""

    async def moves(state_machine: Any, data: Any) -> str:
        await state_machine.transition("error")
        assert state_machine.get_current_state() == "error"
        if raised:
            raise Own("late")
        return "complete"

    found = machine(start=body(moves))
    if raised:
        with pytest.raises(Own):
            do(found.step())
    else:
        assert do(found.step()) == "complete"
    assert found.get_current_state() == state


def test_reset() -> None:
    found = machine(task="t", trace=True)
    do(found.run())
    do(found.reset())
    assert found.get_current_state() == "start"
    assert found.state_machine_data.processed_results == ["HI"], "the data stays"
    assert found.get_spans()[-1].name == "state_transition_reset"
    do(found.reset_to_initial_state())
    do(found.run())
    assert found.state_machine_data.processed_results == ["HI", "HI"]


def test_lifecycle_and_graph() -> None:
    marks = {"description": "Begins.", "waits_for_input": True, "accepts": ["text"]}
    begins = body(lambda m, d: "error", transitions=[MyStates.ERROR], **marks)
    found = machine(start=begins)
    told = found.get_lifecycle()
    assert told["initial_state"] == "start"
    assert told["states"][0] == {
        "name": "start", "description": "Begins.", "waits_for_input": True, "accepts": ["text"],
        "transitions": ["error"],
    }  # fmt: skip
    graph = found.get_graph()
    assert isinstance(graph, Graph)
    assert [way.target for way in graph.states["start"].transitions] == ["error"]
    assert graph.states["processing"].description == "Works."
    assert graph.enum()("processing").name == "PROCESSING"


# --- tracing ----------------------------------------------------------------------------


def test_tracing_without_a_task_id() -> None:
    ran: list[str] = []

    def runs(state_machine: Any, data: Any) -> str:
        ran.append("x")
        return "complete"

    found = machine(trace=True, start=body(runs))
    with pytest.raises(ClientError, match="needs a task id"):
        do(found.step())
    with pytest.raises(ClientError):
        do(found.transition("error"))
    with pytest.raises(ClientError):
        do(found.reset())
    assert (found.get_current_state(), ran) == ("start", [])
    assert [e.name for e in found.get_events()] == ["started"]
    found.set_task_id("task_123")
    do(found.run())
    assert [span.trace_id for span in found.get_spans()] == ["task_123"]


def test_spans(caplog: pytest.LogCaptureFixture) -> None:
    found = machine(task="t1", trace=True)
    with caplog.at_level(logging.INFO, "statecli.spans"):
        do(found.run())
        do(found.transition("error"))
    first, second, third = found.get_spans()
    assert first.data == {"input_state": "start", "output_state": "processing"}
    assert second.input["processed_results"] == []
    assert second.output["processed_results"] == ["HI"]
    assert third.data == {"input_state": "complete", "output_state": "error"}
    for span in found.get_spans():
        assert (span.task_id, span.error) == ("t1", "")
        assert span.end_time >= span.start_time
        assert span.start_time.tzinfo is not None
    assert "task t1: start -> processing" in caplog.text
    assert "HI" not in caplog.text, "data stays out of the text"
    assert caplog.records[0].span == first  # type: ignore[attr-defined]


def test_nothing_is_traced_unless_asked(caplog: pytest.LogCaptureFixture) -> None:
    found = machine(task="t1", trace=False)
    with caplog.at_level(logging.INFO, "statecli.spans"):
        do(found.run())
        do(found.transition("error"))
    assert (list(found.get_spans()), caplog.records) == ([], [])
    assert found.dump()["trace_transitions"] is False


def test_the_span_of_a_body_that_raises() -> None:
    found = machine(task="t", trace=True, start=body(raises))
    with pytest.raises(Own):
        do(found.step())
    (span,) = found.get_spans()
    assert span.data == {"input_state": "start", "output_state": "start"}
    assert span.input == span.output
    assert "no luck" in span.error


def test_spans_take_as_long_as_the_body() -> None:
    async def slow(state_machine: Any, data: Any) -> str:
        await asyncio.sleep(0.02)
        return "complete"

    found = machine(task="t", trace=True, start=body(slow))
    do(found.step())
    assert 0.015 < found.get_spans()[0].seconds < 5


def test_tracing_of_run_with_branches_and_forks() -> None:
    def go(data: dict[str, Any]) -> dict[str, Any]:
        return {"x": 1}

    graph = (
        GraphBuilder()
        .with_states(a=go, b=lambda data: {"b": 1}, c=lambda data: {"c": 1}, d=lambda data: None)
        .with_transitions(("a", "b"), ("a", "c"), (["b", "c"], "d"))
        .with_fanout("a")
        .with_join("d")
        .build()
    )
    run = SyncRun(graph, task_id="t", trace_transitions=True)
    run.run()
    went = [tuple(span.data.values()) for span in run.spans]
    assert went == [("a", "b, c"), ("b", "d"), ("c", "d"), ("d", "d")]
    other = run.fork(1)
    assert len(other.spans) == 0
    with pytest.raises(ClientError):
        other.step()
    other.set_task_id("u")
    other.run()
    assert [span.trace_id for span in other.spans] == ["u"] * 4
    assert len(run.spans) == 4
    with pytest.raises(ClientError):
        SyncRun(graph, trace_transitions=True).step()
    assert SyncRun(graph).spans == ()


# --- our own API ------------------------------------------------------------------------


def test_the_workflows_run_under_run_too() -> None:
    """The machine that `execute` gets is the run: it answers the same questions."""
    found = {"start": Start(), "processing": Processing(), "complete": NoOpWorkflow()}
    graph = GraphBuilder().with_states(**found).with_initial("start").build()
    run = SyncRun(graph, data=MyData())
    assert (run.get_current_state(), run.get_current_workflow()) == ("start", found["start"])
    run.step()
    run.step()
    assert run.state == "complete"
    run.step()
    assert run.state == "complete"
    run.reset()
    assert (run.state, run.data["processed_results"]) == ("start", ["HI"])
    run.edit({"input_data": "other"})
    run.step()
    run.step()
    assert run.data["processed_results"] == ["HI", "OTHER"]
    typed = GraphBuilder().with_states(**found).with_fields(n={"type": "int"}).build()
    with pytest.raises(ValueError, match=r"int|number"):
        SyncRun(typed).edit({"n": "many"})


def test_store_and_hooks(tmp_path: Any) -> None:
    store = SqliteStore(tmp_path / "s.db")
    seen: list[str] = []

    class Seen(Hooks):
        async def before_step(self, **given: Any) -> None:
            seen.append(given["state"])

    found = Machine("start", states(), "t", MyData(), store=store, hooks=[Seen()])
    do(found.run())
    assert seen == ["start", "processing"]
    assert store.events("t") == found.get_events()


# --- properties -------------------------------------------------------------------------

NAMES = ["a", "b", "c", "d"]


class Reference:
    """The loop that the document prints."""

    def __init__(self, initial: str, workflows: dict[str, Any], data: Any) -> None:
        self.current, self.workflows, self.state_machine_data = initial, workflows, data

    def get_current_state(self) -> str:
        return self.current

    async def transition(self, name: str) -> None:
        self.current = name

    async def step(self) -> str:
        name = await self.workflows[self.current].execute(self, self.state_machine_data)
        await self.transition(name)
        return str(name)


class Scripted(StateWorkflow):
    """Does what a table says for the number of steps so far: changes, signals, and an answer."""

    def __init__(self, table: list[tuple[str, str, int]]) -> None:
        self.table = table

    async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
        what, target, number = self.table[state_machine_data["n"] % len(self.table)]
        state_machine_data["n"] += 1
        if what == "append":
            state_machine_data["log"].append(number)
        elif what == "set":
            state_machine_data[f"x{number % 3}"] = [number, {"deep": number}]
        elif what == "drop":
            state_machine_data.pop(f"x{number % 3}", None)
        elif what == "deep" and state_machine_data["log"]:
            state_machine_data["log"] = state_machine_data["log"][::-1]
        elif what == "signal":
            await state_machine.transition(NAMES[number % 4])
        elif what == "stay":
            return str(state_machine.get_current_state())
        return str(target)


class Endless(StateMachine[dict[str, Any]]):
    async def terminal_condition(self) -> bool:
        return False


moves = st.tuples(
    st.sampled_from(["append", "set", "drop", "deep", "signal", "stay", "nothing"]),
    st.sampled_from(NAMES),
    st.integers(0, 9),
)
tables = st.fixed_dictionaries({name: st.lists(moves, min_size=1, max_size=4) for name in NAMES})
#: What happens from outside: a step, a signal, a change of the data, a way over the disk.
actions = st.lists(
    st.one_of(
        st.just(("step", 0)),
        st.tuples(st.sampled_from(["signal", "edit", "reload"]), st.integers(0, 3)),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(tables=tables, actions=actions)
def test_as_the_document_s_loop(tables: Any, actions: list[tuple[str, int]]) -> None:
    """The same states and data as the printed loop, whatever happens, and also when the machine is
    dumped and loaded at any point."""
    workflows = {name: Scripted(table) for name, table in tables.items()}
    own = [State(name, workflow) for name, workflow in workflows.items()]

    async def play() -> None:
        plain = Reference("a", workflows, {"n": 0, "log": []})
        found = Endless("a", own, state_machine_data={"n": 0, "log": []})
        for what, number in actions:
            if what == "step":
                assert await found.step() == await plain.step()
            elif what == "signal":
                await found.transition(NAMES[number])
                await plain.transition(NAMES[number])
            elif what == "edit":
                for machine in (found, plain):
                    machine.state_machine_data["log"] = [number]  # type: ignore[index]
            else:
                before = found.dump()
                found = await Endless.load(json.loads(json.dumps(before)), own)
                assert found.dump()["statecli"]["events"] == before["statecli"]["events"]
            assert found.get_current_state() == plain.current
            assert found.state_machine_data == plain.state_machine_data
        assert found.dump()["state_machine_data"] == plain.state_machine_data

    do(play())


class Street(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    number: int = pydantic.Field(0, alias="houseNumber")


class Home(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    """Other names for its fields, at the top and within."""

    streets: list[Street] = []  # noqa: RUF012 - the model copies it
    owner: str = pydantic.Field("", alias="ownerName")


@dataclasses.dataclass
class Room:
    size: int = 1


@dataclasses.dataclass
class House:
    rooms: list[Room] = dataclasses.field(default_factory=list)


@pytest.mark.parametrize(
    "data", [Home(streets=[Street(houseNumber=5)], ownerName="Ann"), House([Room(7)])]
)
def test_data_of_a_class_comes_back_from_a_dump_as_it_was(data: Any) -> None:
    class Typed(StateMachine[type(data)]):  # type: ignore[misc]
        async def terminal_condition(self) -> bool:
            return True

    states = [State(name="s", workflow=NoOpWorkflow())]
    saved = json.loads(json.dumps(Typed("s", states, state_machine_data=data).dump()))
    for dumped in (saved, {key: value for key, value in saved.items() if key != "statecli"}):
        assert do(Typed.load(dumped, states)).state_machine_data == data
