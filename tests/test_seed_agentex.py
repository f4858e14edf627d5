"""Every block of document 003 (Agentex) does here what the document says it does."""

from __future__ import annotations

import abc
import asyncio
import dataclasses
import inspect
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from seed_documents import Shown, ran, shows

from statecli import agentex
from statecli.agentex import NoOpWorkflow, State, StateMachine, StateWorkflow

pydantic = pytest.importorskip("pydantic")

NAMES: dict[str, Any] = {
    "BaseModel": pydantic.BaseModel, "State": State, "StateMachine": StateMachine,
    "StateWorkflow": StateWorkflow, "NoOpWorkflow": NoOpWorkflow,
}  # fmt: skip
DATA = Shown("003", "class MyDataModel(BaseModel)")


def data_model() -> Any:
    return ran(DATA.text, **NAMES)["MyDataModel"]


def going(answer: str) -> Any:
    """A workflow class that names one next state."""

    class Going(StateWorkflow):
        async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
            return answer

    return Going


def the_states() -> dict[str, Any]:
    """What the block of the states leaves behind, with workflows that name the next one."""
    return ran(STATES.text, **NAMES, StartWorkflow=going("processing"),
               ProcessingWorkflow=going("complete"), ErrorWorkflow=going("complete"))  # fmt: skip


STATES = Shown("003", "class MyStates(str, Enum)")


def the_machine() -> dict[str, Any]:
    """What the block of the initialization leaves behind."""
    base = data_model()

    class Filled(base):  # type: ignore[misc, valid-type]
        """The document's model; it writes `MyDataModel()` though `input_data` has no default."""

        input_data: str = "hi"

    block = Shown("003", "# Initialize the state machine\n").text
    return ran(block, **the_states(), MyDataModel=Filled)


@dataclasses.dataclass
class Work:
    """Data with the methods that the document's decision asks."""

    more: bool
    errors: bool

    def needs_more_processing(self) -> bool:
        return self.more

    def has_errors(self) -> bool:
        return self.errors


def named(first: Any, *others: str, data: Any) -> Any:
    """A machine that begins with this workflow, beside other states that do nothing."""

    class Named(StateMachine[type(data)]):  # type: ignore[misc]
        async def terminal_condition(self) -> bool:
            return self.get_current_state() in others

    states = [State("first", first), *(State(name, NoOpWorkflow()) for name in others)]
    return Named("first", states, state_machine_data=data)


# --- classes -----------------------------------------------------------------------------------


@shows("003", "class StateMachine(ABC, Generic[T])")
def test_003_state_machine_signature(shown: Shown) -> None:
    """A signature without a body: no Python as published. Ours takes the same, by the same names,
    in the same order, with the same defaults."""
    with pytest.raises(SyntaxError):
        compile(shown.text, "block", "exec")
    text = shown.text.rstrip() + " ...\n"
    names = ran(text, ABC=abc.ABC, Generic=__import__("typing").Generic,
                T=__import__("typing").TypeVar("T"), State=State)  # fmt: skip

    def taken(kind: Any) -> list[tuple[str, Any]]:
        found = inspect.signature(kind.__init__).parameters.values()
        return [(p.name, p.default) for p in found]

    assert taken(StateMachine)[:6] == taken(names["StateMachine"])
    assert issubclass(StateMachine, abc.ABC)


@shows("003", "class State(BaseModel):\n    name: str")
def test_003_state_class(shown: Shown) -> None:
    """The document's class, where pydantic is told to take workflows, and ours hold the same; a
    machine takes the one for the other."""

    class Lenient(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)

    theirs = ran(shown.text, BaseModel=Lenient, StateWorkflow=StateWorkflow)["State"]
    for kind in (theirs, State):
        state = kind(name="complete", workflow=NoOpWorkflow())
        assert state.name == "complete"
        assert isinstance(state.workflow, NoOpWorkflow)
        machine = the_machine()["MyStateMachine"]("complete", [state], task_id="t")
        assert machine.get_current_state() == "complete"


@shows("003", "@abstractmethod")
def test_003_workflow_class(shown: Shown) -> None:
    """A class made from the document's own base works; neither base can be used as it is."""
    names = ran(shown.text, ABC=abc.ABC, abstractmethod=abc.abstractmethod,
                BaseModel=pydantic.BaseModel)  # fmt: skip
    for base in (names["StateWorkflow"], StateWorkflow):
        made: Any = base
        with pytest.raises(TypeError):
            made()

    class Mine(names["StateWorkflow"]):  # type: ignore[misc, valid-type]
        async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
            return "complete"

    states = [State(name="start", workflow=Mine()), State(name="complete", workflow=NoOpWorkflow())]
    machine = the_machine()["MyStateMachine"]("start", states, task_id="t")
    assert asyncio.run(machine.step()) == "complete"


@shows("003", "async def step(self) -> str:")
def test_003_step(shown: Shown) -> None:
    """The method as the document spells it out, and ours: the same state, the same answer."""
    theirs = ran(shown.text)["step"]
    given = the_machine()

    base: Any = given["MyStateMachine"]

    class Theirs(base):  # type: ignore[misc]
        step = theirs

    for kind in (Theirs, base):
        machine = kind("start", given["states"], task_id="t")
        assert asyncio.run(machine.step()) == "processing"
        assert machine.get_current_state() == "processing"


# --- workflows ---------------------------------------------------------------------------------


@shows("003", "class MyWorkflow(StateWorkflow)")
def test_003_my_workflow(shown: Shown) -> None:
    kind = ran(shown.text, **NAMES)["MyWorkflow"]

    async def process(data: Any) -> Any:
        return SimpleNamespace(is_success=lambda: data["kind"] == "good")

    kind.process_data = staticmethod(process)
    for data, answer in (("good", "next_state"), ("bad", "error_state")):
        machine = named(kind(), "next_state", "error_state", data={"kind": data})
        assert asyncio.run(machine.step()) == answer
        assert machine.get_current_state() == answer


@shows("003", "class ProcessingWorkflow(StateWorkflow)")
def test_003_processing_workflow(shown: Shown) -> None:
    """ "Workflows can access and modify the state machine data": the difference is kept."""
    kind = ran(shown.text, **NAMES, MyDataModel=data_model())["ProcessingWorkflow"]

    async def process(self: Any, text: str) -> str:
        return text.upper()

    kind.process = process
    given = the_machine()
    states = [State(name="start", workflow=kind()), State(name="complete", workflow=NoOpWorkflow())]
    machine = given["MyStateMachine"]("start", states, "t", data_model()(input_data="hi"))
    assert asyncio.run(machine.step()) == "complete"
    assert machine.state_machine_data.processed_results == ["HI"]
    assert asyncio.run(kind().execute(None, None)) == "error", "without data"


@shows("003", "class ErrorWorkflow(StateWorkflow)")
def test_003_error_workflow(shown: Shown) -> None:
    kind = ran(shown.text, **NAMES)["ErrorWorkflow"]
    given = the_machine()
    states = [State(name="error", workflow=kind()), State(name="complete", workflow=NoOpWorkflow())]
    machine = given["MyStateMachine"]("error", states, task_id="t")
    assert asyncio.run(machine.step()) == "complete"
    assert machine.get_current_state() == "complete"
    stays = ran(shown.text.replace('"complete"', '"error"'), **NAMES)["ErrorWorkflow"]
    machine = given["MyStateMachine"]("error", [State("error", stays())], task_id="t")
    assert [asyncio.run(machine.step()) for _ in range(2)] == ["error", "error"], "it may stay"


@shows("003", "class DecisionWorkflow(StateWorkflow)")
def test_003_decision_workflow(shown: Shown) -> None:
    """Each of the three ways is one that the machine goes; it decides by data it was given."""
    kind = ran(shown.text, **NAMES)["DecisionWorkflow"]
    cases = ((True, False, "processing"), (False, True, "error"), (False, False, "complete"))
    for more, errors, answer in cases:
        machine = named(kind(), "processing", "error", "complete", data=Work(more, errors))
        assert asyncio.run(machine.step()) == answer
        assert machine.get_current_state() == answer


# --- states, data and the machine --------------------------------------------------------------


@shows("003", "class MyStates(str, Enum)")
def test_003_states(shown: Shown) -> None:
    names = the_states()
    assert [state.name for state in names["states"]] == list(names["MyStates"])
    assert issubclass(names["MyStates"], Enum)
    for state in names["states"]:  # the Enum's member and its text name the same state
        for name in (names["MyStates"](state.name), str(state.name)):
            machine = the_machine()["MyStateMachine"](name, names["states"], task_id="t")
            assert machine.get_current_state() == name
            assert machine.get_current_workflow() is state.workflow
    assert shown.text == STATES.text


@shows("003", "# Initialize the state machine\n")
def test_003_initialization(shown: Shown) -> None:
    """`StateMachine[MyDataModel]` is a base, the machine begins where it should, and runs until
    its terminal condition holds."""
    given = {**the_states(), "MyDataModel": data_model()}
    with pytest.raises(pydantic.ValidationError):  # `MyDataModel()` has no `input_data`
        ran(shown.text, **given)
    machine = the_machine()["state_machine"]
    assert machine.get_current_state() == "start"
    machine.set_task_id("t")
    asyncio.run(machine.run())
    assert machine.get_current_state() == "complete"


@shows("003", "class MyDataModel(BaseModel)")
def test_003_data_model(shown: Shown) -> None:
    model = ran(shown.text, **NAMES)["MyDataModel"]
    machine = the_machine()["MyStateMachine"]("start", the_states()["states"],
                                              state_machine_data=model(input_data="x"))  # fmt: skip
    assert machine.state_machine_data == model(input_data="x", processed_results=[])


@shows("003", 'return current_state in ["complete", "error"]')
def test_003_terminal_condition(shown: Shown) -> None:
    """ "The state machine runs until terminal_condition() returns True"; it has to be written."""
    names = ran(shown.text, **NAMES, MyDataModel=data_model())
    states = [State(name="start", workflow=going("error")()),
              State(name="error", workflow=going("start")())]  # fmt: skip
    machine = names["MyStateMachine"]("start", states, task_id="t")
    asyncio.run(machine.run())
    assert machine.get_current_state() == "error"
    states = [State(name="start", workflow=going("complete")()),
              State(name="complete", workflow=going("start")())]  # fmt: skip
    machine = names["MyStateMachine"]("start", states, task_id="t")
    asyncio.run(machine.run())
    assert machine.get_current_state() == "complete"
    with pytest.raises(TypeError, match="terminal_condition"):
        StateMachine("start", states)  # type: ignore[abstract]


@shows("003", "workflow=NoOpWorkflow())\n")
def test_003_no_op(shown: Shown) -> None:
    text = 'complete_state = State(name="complete", workflow=NoOpWorkflow())\n'
    assert shown.text == text
    state = ran(shown.text, **NAMES)["complete_state"]
    data = data_model()(input_data="hi")
    before = data.model_copy(deep=True)
    states = [State("start", going("complete")()), state]
    machine = the_machine()["MyStateMachine"]("start", states, "t", data)
    asyncio.run(machine.run())
    assert machine.get_current_state() == "complete"
    assert asyncio.run(machine.step()) == "complete", "it stays where it is"
    assert machine.get_current_state() == "complete"
    assert machine.state_machine_data == before, "and changes nothing"


# --- saving and tracing ------------------------------------------------------------------------


def started() -> Any:
    machine = the_machine()["state_machine"]
    machine.set_task_id("task_123")
    asyncio.run(machine.step())
    return machine


@shows("003", "saved_state = state_machine.dump()")
def test_003_dump(shown: Shown) -> None:
    """The keys of its comment, in their order, with those values."""
    machine = started()
    saved = ran(shown.text, state_machine=machine)["saved_state"]
    told = {
        "task_id": "task_123", "current_state": "processing", "initial_state": "start",
        "trace_transitions": True,
    }  # fmt: skip
    assert {key: saved[key] for key in told} == told
    assert saved["state_machine_data"]["input_data"] == "hi"
    for key in (*told, "state_machine_data"):
        assert f'"{key}"' in shown.text
    machine.state_machine_data.input_data = "changed meanwhile"
    assert machine.dump()["state_machine_data"]["input_data"] == "changed meanwhile"


@shows("003", "await MyStateMachine.load(saved_state, states)")
def test_003_load(shown: Shown) -> None:
    given = the_machine()
    saved = started().dump()
    machine = ran(shown.text, **given, saved_state=saved)["restored_machine"]
    assert isinstance(machine, given["MyStateMachine"])
    assert machine.get_current_state() == "processing"
    assert isinstance(machine.state_machine_data, pydantic.BaseModel)
    assert machine.state_machine_data.input_data == "hi"
    assert machine.dump() == saved, "task, data, initial state and tracing too"
    asyncio.run(machine.run())
    assert machine.get_current_state() == "complete"


@shows("003", "# Initialize state machine without task_id")
def test_003_task_id(shown: Shown) -> None:
    """ "The task_id is required for tracing": without one the first transition is a ClientError."""
    given = the_machine()
    kind = type("Task", (), {"task_id": "task_7"})
    names = ran(shown.text, **{**given, "Task": kind, "TaskResult": object})
    machine = names["state_machine"]
    with pytest.raises(agentex.ClientError, match="task_id"):
        asyncio.run(machine.step())
    asyncio.run(names["handle_task"](kind()))
    assert machine.dump()["task_id"] == "task_7"
    assert asyncio.run(machine.step()) == "processing"
