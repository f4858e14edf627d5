"""One walk of a graph from Python (documents 001 and 003): what `Run` and its async twin share."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from statecli.engine.advance import Custom, Stop
from statecli.kernel.given import fields_of
from statecli.kernel.move import move
from statecli.kernel.recorder import Recorder
from statecli.kinds.step import Delta, closing
from statecli.model.event import Answered, Approved, Event, Failed, Limited
from statecli.model.graph import FUNCTION, WAITING_KINDS, Graph, State
from statecli.model.ports import (
    Chunk,
    ModelError,
    Provider,
    Question,
    Request,
    Store,
    ToolResult,
    ToolSpec,
)
from statecli.model.snapshot import Messages, Snapshot
from statecli.session.function import FunctionBody, is_async, new_id
from statecli.session.session import Session
from statecli.store.memory import MemoryStore
from statecli.store.rows import NotPlain, line

if TYPE_CHECKING:
    from statecli.session.history import History

#: Builds the result of every step: three times as fast as calling its class.
_new: Any = tuple.__new__


class Step(NamedTuple):
    """One step: the state that ran, what its body gave back (the text it said, where it is no
    function), the data after it."""

    state: str
    result: Any
    data: Mapping[str, Any]


class RunError(Exception):
    """A body raised, nothing held after it, or a limit stopped it; the run stands where it was."""


class _World:
    """The world of a run without a person: a provider may answer, nobody can be asked."""

    patient = False
    user_id = None

    def __init__(self, provider: Provider | None) -> None:
        self.provider = provider

    def complete(self, request: Request) -> AsyncIterator[Chunk]:
        if self.provider is None:
            raise ModelError(f"'{request.state.name}' asks a model; give Run a provider")
        return self.provider.complete(request, self)

    async def __call__(self, question: Question) -> str:
        raise ModelError(f"nobody is there to answer: {question.text}")

    async def ask(self, question: Question) -> str:
        return await self(question)

    async def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return self.known_tools(names)

    def known_tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name, "") for name in names or ())

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        return ""

    def heard(self) -> Sequence[Approved | str]:
        return ()

    async def call(
        self,
        tool: ToolSpec,
        arguments: Mapping[str, Any],
        user: str = "",
    ) -> ToolResult:
        raise ModelError(f"{tool.name} is not connected ({len(arguments)} arguments)")

    async def keep_skill(self, name: str, text: str) -> str:
        raise ModelError(f"there is no folder for the skill '{name}' ({len(text)} characters)")

    def known_skills(self) -> Sequence[str]:
        return ()

    def now(self) -> float:
        return time.time()

    def new_id(self) -> str:
        return new_id()


class Walk:
    """A run of a graph. Its events are in `store` (in memory if none is given).

    `data` may be a mapping, or an instance of the type that bodies get. ValueError for data that
    the fields of the graph cannot hold. Where the run has split a step is a round: the body of
    every branch that can go on, side by side; their steps come one after the other.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        provider: Provider | None = None,
        store: Store | None = None,
        data: Any = None,
        task_id: str | None = None,
        trace_transitions: bool = False,
    ) -> None:
        self._set_up(graph, provider, task_id, trace_transitions)
        values = fields_of(data) if data is not None else {}
        if data is not None and not isinstance(data, Mapping):
            self._body.data_type = self._body.data_type or type(data)
        self._session = Session.start(
            graph,
            store if store is not None else MemoryStore(),
            data=values,
            run=task_id or "",
            custom=self._custom,
        )

    def _set_up(
        self, graph: Graph, provider: Provider | None, task_id: str | None, traces: bool
    ) -> None:
        self.graph = graph
        self.task_id = task_id
        self.trace_transitions = traces
        self._waits = provider is not None or any(map(_is_async, graph.states.values()))
        self._world = _World(provider)
        self._body = FunctionBody(self, graph, waits=self._waits)
        self._custom = Custom({FUNCTION: self._body})
        self._to = Recorder(graph, Snapshot())
        self._begun: dict[int, str] = {}
        self._after: dict[int, Mapping[str, Any]] = {}
        self._last: Step | None = None
        self._rest: deque[Step] = deque()
        self._stop: Failed | Limited | None = None
        self._busy = False

    @property
    def data(self) -> Mapping[str, Any]:
        """The data now; it cannot be changed from outside."""
        return MappingProxyType(self._session.snapshot.data)

    @property
    def state(self) -> str:
        """Where the run is: the state whose body comes next."""
        return self._session.snapshot.state

    @property
    def status(self) -> str:
        return self._session.snapshot.status

    @property
    def events(self) -> list[Event]:
        """The trace so far."""
        return self._session.store.events(self._session.run)

    def history(self) -> History:
        """The history of the data so far, as a tree: any point can be rebuilt and compared."""
        from statecli.session.history import History

        return History(self.graph, self.events)

    def fork(self, number: int | None = None) -> Self:
        """A run that goes its own way after event `number` (None: the last); this one stays as it
        is. ValueError where there is no such event."""
        other = type(self).__new__(type(self))
        other._set_up(self.graph, self._world.provider, None, self.trace_transitions)
        other._body.data_type = self._body.data_type
        other._session = self._session.fork(number)
        other._session.custom = other._custom
        if number is not None:
            other._session.recover()
        return other

    def set_task_id(self, task_id: str) -> None:
        """What correlates this run with a task known later."""
        self.task_id = task_id

    def transition(self, state: str) -> None:
        """A transition from outside (a signal). KeyError for a state that is not there."""
        if self._busy:
            raise RuntimeError("a body names its next state by its answer, not by a transition")
        self._session.goto(state)

    # --- keeping --------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """The run as a dictionary, with the keys of document 003 and our own events."""
        data = self._session.snapshot.data
        return {
            "task_id": self.task_id,
            "current_state": self.state,
            "initial_state": self.graph.initial,
            "state_machine_data": {
                key: list(value) if isinstance(value, Messages) else value
                for key, value in data.items()
            },
            "trace_transitions": self.trace_transitions,
            "statecli": {"version": 1, "events": [json.loads(line(e)) for e in self.events]},
        }

    @classmethod
    def load(
        cls,
        saved: Mapping[str, Any],
        graph: Graph,
        *,
        provider: Provider | None = None,
        store: Store | None = None,
    ) -> Self:
        """A run where `dump` left it (ours, or one of Agentex)."""
        task, traces = saved.get("task_id"), bool(saved.get("trace_transitions"))
        rows = (saved.get("statecli") or {}).get("events")
        kept = store if store is not None else MemoryStore()
        if not rows:
            data = saved.get("state_machine_data")
            run = cls(graph, provider=provider, store=kept, data=data, task_id=task,
                      trace_transitions=traces)  # fmt: skip
            if saved["current_state"] != run.state:
                run.transition(saved["current_state"])
            return run
        run = cls.__new__(cls)
        run._set_up(graph, provider, task, traces)
        run._session = Session.restored(graph, kept, rows, custom=run._custom)
        return run

    # --- inside ---------------------------------------------------------------------------------

    def _plain(self) -> Step | None:
        """A step of a state that is a plain function of the data: nothing in it can wait. None
        where the next state is something else."""
        session = self._session
        snapshot = session.snapshot
        if snapshot.status != "running" or snapshot.branches or self._rest:
            return None
        token = snapshot.tokens[0]
        state = self.graph.states[token.state]
        if state.settings.get("plain") is not True:
            return None
        to = self._to
        to.snapshot, to.bodies = snapshot, []
        self._busy = True
        try:
            result = self._body.plain(to, state)
            options = move(to, token.id, state, by="order")
            if options is not None:
                names = ", ".join(route.target for route in options.routes)
                raise ModelError(f"nobody is there to choose among {names}")
            session.keep(to.bodies, to.snapshot)
        except Exception as error:
            raise self._refused(state.name, error) from error
        finally:
            self._busy = False
        last = to.bodies[-1]
        if type(last) is Failed:
            raise RunError(f"{state.name}: {last.error}")
        step: Step = _new(Step, (state.name, result, MappingProxyType(to.snapshot.data)))
        return step

    def _refused(self, name: str, error: Exception) -> RunError:
        """Record that a body failed: the data is as it was before."""
        token = self._session.snapshot.token.id
        self._session.record([Failed(token, name, f"{type(error).__name__}: {error}")])
        return RunError(f"{name}: {error}")

    async def _step(self, inputs: Mapping[str, Any] | None) -> Step | None:
        """Run one body; None where there is nothing to run."""
        async with closing(self._pieces(inputs)) as pieces:
            async for _ in pieces:
                pass
        return self._last

    async def _pieces(self, inputs: Mapping[str, Any] | None) -> AsyncIterator[str]:
        """One step (or a round of them): the text that its body streams. `_last` is what came of
        it, `_rest` what came of the other branches."""
        self._last = self._rest.popleft() if self._rest else None
        if self._last is not None or self.status == "ended":
            return
        self._begun, self._after = {}, {}
        if self.status != "running" or not self._session.snapshot.branches:
            self._stop = None
        state = self.graph.states[self.state]
        said_line = _line(state, inputs)
        self._body.inputs, self._body.results, self._body.error = inputs or {}, {}, None
        if state.kind == FUNCTION:
            self._body.check(state)
        if said_line is None and self.status == "waiting":
            return
        said: dict[int, str] = {}
        self._busy = True
        try:
            stops: dict[str, Stop] = {"before": self._begins, "after": self._ends}
            stream = self._session.send(self._world, said_line, **stops)
            async with closing(stream) as items:
                async for item in items:
                    if isinstance(item, Delta):
                        yield item.text
                    elif isinstance(item.body, Answered):
                        said[item.body.token] = item.body.text or said.get(item.body.token, "")
                    elif isinstance(item.body, Failed | Limited):
                        self._stop = item.body
        except NotPlain as error:
            raise self._refused(state.name, error) from error
        finally:
            self._busy = False
        stop = self._stop
        if stop is not None and self.status != "running":
            text = stop.error if isinstance(stop, Failed) else stop.message
            raise RunError(f"{stop.state}: {text}") from self._body.error
        for number, name in self._begun.items():
            function = self.graph.states[name].kind == FUNCTION
            result = self._body.results.get(number) if function else said.get(number) or None
            data = MappingProxyType(self._after.get(number, self._session.snapshot.data))
            self._rest.append(Step(name, result, data))
        self._last = self._rest.popleft() if self._rest else None

    def _begins(self, snapshot: Snapshot) -> bool:
        self._begun[snapshot.token.id] = snapshot.state
        return False

    def _ends(self, snapshot: Snapshot) -> bool:
        """The data after each body, as its branch sees it. After one body (of each) it stops."""
        if self._session.snapshot.branches:
            self._after[snapshot.token.id] = snapshot.data
        return True

    def _halt(self, found: Step | None, after: Sequence[str], before: Sequence[str]) -> Step | None:
        """What a walk ends with after a step: at a halt, the end or a wait; None: it goes on."""
        if found is not None and self._rest:
            return found if self._named(found.state, after) else None
        if found is None or self.status == "waiting":
            return found or Step(self.state, None, self.data)
        coming = () if self.status == "ended" or not before else self._coming()
        for name in coming:
            if self._named(name, before):
                return Step(name, None, self.data)
        return found if self.status == "ended" or self._named(found.state, after) else None

    def _coming(self) -> tuple[str, ...]:
        """The states whose bodies come next."""
        branches = self._session.snapshot.branches.values()
        found = tuple(b.token.state for b in branches if b.status == "running")
        return found or (self.state,)

    def _named(self, name: str, halts: Sequence[str]) -> bool:
        if name in halts:
            return True
        state = self.graph.states.get(name) if halts else None
        tags = state.settings.get("tags") if state is not None else None
        return isinstance(tags, list | tuple) and any(f"@tag:{tag}" in halts for tag in tags)


def _line(state: State, inputs: Mapping[str, Any] | None) -> str | None:
    """What the person says to a state that waits: the one input, whatever it is called."""
    if state.kind not in WAITING_KINDS or not inputs:
        return None
    if len(inputs) != 1:
        raise ValueError(f"'{state.name}' takes one input, the person's line")
    return str(next(iter(inputs.values())))


def _is_async(state: State) -> bool:
    return state.kind == FUNCTION and is_async(state.settings.get("body"))
