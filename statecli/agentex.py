"""The names of Agentex's document ("State Machines in Agentex") over our own `statecli.aio.Run`.

```python
from statecli.agentex import NoOpWorkflow, State, StateMachine, StateWorkflow
machine = MyStateMachine(initial_state="start", states=states, state_machine_data=MyDataModel())
await machine.run()
```
What agentex-sdk 0.12 does and its document does not say is kept: `require_state_machine_data`,
`get_lifecycle`, `reset_to_initial_state`, what `NoOpWorkflow` answers, declared `transitions`.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Generic, Self, TypeVar, get_args, get_origin

from statecli.aio import Run, RunError
from statecli.kernel.difference import same
from statecli.model.event import Event
from statecli.model.graph import FUNCTION, Field, Graph, Transition
from statecli.model.graph import State as Node
from statecli.model.nearest import did_you_mean
from statecli.model.ports import Store
from statecli.session.function import Anywhere
from statecli.session.hooks import Hooks
from statecli.session.models import instance, plain, set_back
from statecli.session.spans import ClientError, Span

__all__ = ["ClientError", "NoOpWorkflow", "Span", "State", "StateMachine", "StateWorkflow"]

T = TypeVar("T")


class StateWorkflow(ABC):
    """What happens in a state. With `transitions` its answer must be one of them; without any, it
    may be every state of the machine. The rest tells `get_lifecycle`, and who draws the graph."""

    description: str = ""
    waits_for_input: bool = False
    accepts: Sequence[str] = ()
    transitions: Sequence[str] = ()

    @abstractmethod
    async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
        """The name of the next state. Both are given by position: name them as you like. The data
        may be changed; the difference is kept if this returns, and taken back if it raises."""


class NoOpWorkflow(StateWorkflow):
    """Does nothing and stays where it is: for states that `terminal_condition` ends at."""

    async def execute(self, state_machine: Any, state_machine_data: Any = None) -> str:
        """The state that the machine is in."""
        return str(state_machine.get_current_state())


@dataclasses.dataclass(frozen=True)
class State:
    """A state and its workflow. `name` is a text, or a member of an Enum of texts (then it is its
    value). TypeError for anything else, and for a workflow without ``execute``."""

    name: str
    workflow: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _name_of(self.name))
        if isinstance(self.workflow, type) or not callable(getattr(self.workflow, "execute", None)):
            raise TypeError(f"the workflow of '{self.name}' is an object with 'execute'")


class StateMachine(ABC, Generic[T]):
    """States whose workflows name the next one. Every step is a step of one `aio.Run`: stored,
    traced, dumped as its events.

    `state_machine_data` is a pydantic model, a dataclass, a dict or None. It is one object all the
    time: workflows get it, and whoever holds it may change it between steps (that is recorded with
    the next step, transition or dump). ValueError for an initial state that is not among the
    states, and for two states of one name. `store` and `hooks` are those of `Run`.
    """

    def __init__(
        self,
        initial_state: str,
        states: Sequence[State],
        task_id: str | None = None,
        state_machine_data: T | None = None,
        trace_transitions: bool = False,
        *,
        store: Store | None = None,
        hooks: Sequence[Hooks] = (),
    ) -> None:
        self.state_machine_data = state_machine_data
        self._states = _by_name(states)
        self._graph = _graph(self, self._known(initial_state, "initial state"))
        self._more: dict[str, Any] = {"store": store, "hooks": hooks}
        self._moved: str | None = None
        self._busy = False
        self._run = Run(
            self._graph, data=plain(state_machine_data), task_id=task_id,
            trace_transitions=trace_transitions, **self._more,
        )  # fmt: skip

    # --- where it is ----------------------------------------------------------------------------

    def get_current_state(self) -> str:
        """The name of the state. While a workflow runs and `transition` was called: its target."""
        return self._moved or self._run.state

    def get_current_workflow(self) -> Any:
        """The workflow of the current state."""
        return self._states[self.get_current_state()].workflow

    def get_state_machine_data(self) -> T | None:
        """The data, the same object all the time; None where there is none."""
        return self.state_machine_data

    def require_state_machine_data(self) -> T:
        """The data. ValueError where there is none."""
        if self.state_machine_data is None:
            raise ValueError("the machine has no data: give it state_machine_data")
        return self.state_machine_data

    def get_graph(self) -> Graph:
        """The states as a graph: to lint, to draw, ``graph.enum()``."""
        return self._graph

    def get_events(self) -> list[Event]:
        """The trace so far."""
        return self._run.events

    def get_spans(self) -> Sequence[Span]:
        """The traced transitions so far; none without `trace_transitions`."""
        return self._run.spans

    def set_task_id(self, task_id: str) -> None:
        """What correlates the spans, where it is known only later."""
        self._run.set_task_id(task_id)

    def get_lifecycle(self) -> dict[str, Any]:
        """The states with what their workflows say of themselves, and the initial one."""
        found = [{"name": name, **_told(state.workflow)} for name, state in self._states.items()]
        return {"states": found, "initial_state": self._graph.initial}

    # --- going on -------------------------------------------------------------------------------

    @abstractmethod
    async def terminal_condition(self) -> bool:
        """Whether `run` ends here."""

    async def run(self) -> None:
        """Step until `terminal_condition` holds."""
        while not await self.terminal_condition():
            await self.step()

    async def step(self) -> str:
        """Run the current state's workflow and go where it says; the name of that state.

        What the workflow raises comes out as it is; the machine and its data are as before then.
        ValueError for an answer that is no state it may go to. ClientError where transitions are
        traced and there is no task id. RuntimeError while another step runs.
        """
        if self._busy:
            raise RuntimeError("a step of this machine runs already")
        self._note()
        before, live = copy.deepcopy(self.state_machine_data), self.state_machine_data
        self._busy, done = True, False
        error: BaseException
        try:
            await self._run.step()
            done = True
        except RunError as failed:
            error = failed.__cause__ or failed
        finally:
            self._busy = False
            moved, self._moved = self._moved, None
            if not done:
                self.state_machine_data = set_back(live, before)
                if moved is not None:
                    self._run.transition(moved)
        if not done:
            raise error
        return self._run.state

    async def transition(self, target_state_name: str) -> None:
        """Go to a state from outside (a signal). ValueError where there is none of this name.

        While a workflow runs (it, or a signal that comes meanwhile, calls this) the machine is said
        to be there at once; then the workflow's answer decides, and only if it raises this counts.
        """
        name = self._known(target_state_name, "state")
        if self._busy:
            self._moved = name
            return
        self._note()
        self._run.transition(name)

    async def reset_to_initial_state(self) -> None:
        """Back to the initial state; the data stays as it is."""
        if self._busy:
            self._moved = self._graph.initial
            return
        self._note()
        self._run.reset()

    async def reset(self) -> None:
        """As `reset_to_initial_state`."""
        await self.reset_to_initial_state()

    # --- keeping --------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """The machine as plain data, with the keys of the document and, under "statecli", its
        events. While a workflow runs: as it was before that step."""
        if not self._busy:
            self._note()
        found = self._run.dump()
        if self.state_machine_data is None:
            found["state_machine_data"] = None
        return found

    @classmethod
    async def load(cls, saved: Mapping[str, Any], states: Sequence[State]) -> Self:
        """A machine where `dump` left it, ours or Agentex's own. ValueError for anything else.

        The keys of the document count: where somebody changed them, that is a transition from
        outside and an edit. The data is an instance of the `T` of ``StateMachine[T]``.
        """
        try:
            data = saved["state_machine_data"]
            machine = cls(
                initial_state=saved["initial_state"],
                states=states,
                task_id=saved.get("task_id"),
                state_machine_data=None if data is None else instance(_data_type(cls), data),
                trace_transitions=bool(saved.get("trace_transitions")),
            )
            run = Run.load(saved, machine._graph, **machine._more)
        except Exception as error:
            raise ValueError(f"Failed to restore state machine: {error}") from error
        machine._run = run
        machine._note()
        return machine

    # --- inside ---------------------------------------------------------------------------------

    def _known(self, name: Any, what: str) -> str:
        found = _name_of(name)
        if found in self._states:
            return found
        hint = did_you_mean(found, self._states) or f"there are: {', '.join(self._states)}"
        raise ValueError(f"{what.capitalize()} '{found}' not found ({hint})")

    def _note(self) -> None:
        """Record what was changed from outside in the data."""
        now, known = plain(self.state_machine_data), self._run.data
        new = {k: v for k, v in now.items() if k not in known or not same(known[k], v)}
        gone = [key for key in known if key not in now]
        if new or gone:
            self._run.edit(new, gone)

    async def _work(self, name: str, data: dict[str, Any]) -> str:
        """Run a workflow; `data` becomes what the machine's data is after it."""
        answer = self._states[name].workflow.execute(self, self.state_machine_data)
        if inspect.isawaitable(answer):
            answer = await answer
        data.clear()
        data.update(plain(self.state_machine_data))
        if answer is None:
            raise ValueError(f"'{name}' answered nothing: it names the next state")
        found = str(_name_of(answer))
        return Anywhere(found) if found == self._moved else found


class _Body:
    """A workflow as the body of a state of the graph: `Run` gives it the data as a dict."""

    def __init__(self, machine: StateMachine[Any], state: State) -> None:
        self._machine = machine
        self._name = state.name

    async def execute(self, run: Any, data: dict[str, Any]) -> str:
        return await self._machine._work(self._name, data)


def _graph(machine: StateMachine[Any], initial: str) -> Graph:
    """The states with the ways out that their workflows declare. `messages` is a field like others
    here: a workflow may do with it what it likes."""
    known = machine._states
    nodes: dict[str, Node] = {}
    for name, state in known.items():
        workflow = state.workflow
        targets = [machine._known(target, f"'{name}' declares a transition: state")
                   for target in getattr(workflow, "transitions", ())]  # fmt: skip
        ways = tuple(Transition(name, target, None, 1, number, (), ())
                     for number, target in enumerate(dict.fromkeys(targets)))  # fmt: skip
        text = getattr(workflow, "description", "") or type(workflow).__doc__ or ""
        nodes[name] = Node(name, FUNCTION, (), ways, description=inspect.cleandoc(text),
                           settings={"body": _Body(machine, state)})  # fmt: skip
    field = Field("messages", "any", (), "overwrite", False, None, "implicit", ())
    return Graph("states", initial, None, nodes, {"messages": field}, limits={"max_steps": 10**9})


def _by_name(states: Sequence[State]) -> dict[str, State]:
    found: dict[str, State] = {}
    for state in states:
        if state.name in found:
            raise ValueError(f"two states are named '{state.name}'")
        found[state.name] = state
    return found


def _name_of(value: Any) -> str:
    """A name as plain text. TypeError for what is none."""
    name = value.value if isinstance(value, Enum) else value
    if not isinstance(name, str):
        raise TypeError(f"{value!r} is no name of a state: a text, or a member of an Enum of texts")
    return str(name)


def _told(workflow: Any) -> dict[str, Any]:
    """What a workflow says of itself."""
    return {
        "description": getattr(workflow, "description", ""),
        "waits_for_input": getattr(workflow, "waits_for_input", False),
        "accepts": list(getattr(workflow, "accepts", ())),
        "transitions": [_name_of(target) for target in getattr(workflow, "transitions", ())],
    }


def _data_type(machine: type) -> Any:
    """The `T` of ``StateMachine[T]`` in a class or one of its bases; dict where none says."""
    for base in machine.__mro__:
        for generic in getattr(base, "__orig_bases__", ()):
            origin, args = get_origin(generic), get_args(generic)
            if isinstance(origin, type) and issubclass(origin, StateMachine) and args:
                if isinstance(args[0], type):
                    return args[0]
                if get_origin(args[0]) is not None:
                    return get_origin(args[0])
    return dict
