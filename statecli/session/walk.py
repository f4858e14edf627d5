"""One walk of a graph from Python (documents 001 and 003): what `Run` and its async twin share."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from statecli.engine.advance import Custom
from statecli.engine.move import move
from statecli.kernel.settle import Recorder
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
from statecli.session.function import FunctionBody, fields_of, is_async, new_id
from statecli.session.session import Session
from statecli.store.memory import MemoryStore
from statecli.store.rows import NotPlain, line

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

    `data` may be a mapping, or an instance of the type that bodies get. ValueError for a graph that
    takes several ways at once, and for data that its fields cannot hold.
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
        for state in graph.states.values():
            if state.fans_out:
                raise ValueError(f"'{state.name}' takes several ways at once: not run here yet")
        self.graph = graph
        self.task_id = task_id
        self.trace_transitions = traces
        self._waits = provider is not None or any(map(_is_async, graph.states.values()))
        self._world = _World(provider)
        self._body = FunctionBody(self, graph, waits=self._waits)
        self._custom = Custom({FUNCTION: self._body})
        self._to = Recorder(graph, Snapshot())
        self._ran = ""
        self._last: Step | None = None
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
        if snapshot.status != "running":
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
        """One step: the text that its body streams. `_last` is what came of it."""
        self._last, self._ran = None, ""
        if self.status == "ended":
            return
        state = self.graph.states[self.state]
        said_line = _line(state, inputs)
        self._body.inputs, self._body.result, self._body.error = inputs or {}, None, None
        if state.kind == FUNCTION:
            self._body.check(state)
        if said_line is None and self.status == "waiting":
            return
        said, stop = "", None
        self._busy = True
        try:
            stream = self._session.send(self._world, said_line, before=self._begins, after=_always)
            async with closing(stream) as items:
                async for item in items:
                    if isinstance(item, Delta):
                        yield item.text
                    elif isinstance(item.body, Answered):
                        said = item.body.text or said
                    elif isinstance(item.body, Failed | Limited):
                        stop = item.body
        except NotPlain as error:
            raise self._refused(state.name, error) from error
        finally:
            self._busy = False
        if stop is not None and self.status != "running":
            text = stop.error if isinstance(stop, Failed) else stop.message
            raise RunError(f"{stop.state}: {text}") from self._body.error
        if self._ran:
            result = self._body.result if state.kind == FUNCTION else said or None
            self._last = Step(self._ran, result, self.data)

    def _begins(self, snapshot: Snapshot) -> bool:
        self._ran = snapshot.state
        return False

    def _halt(self, found: Step | None, after: Sequence[str], before: Sequence[str]) -> Step | None:
        """What a walk ends with after a step: at a halt, the end or a wait; None: it goes on."""
        if found is None or self.status == "waiting":
            return found or Step(self.state, None, self.data)
        if self.status != "ended" and self._named(self.state, before):
            return Step(self.state, None, self.data)
        return found if self.status == "ended" or self._named(found.state, after) else None

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


def _always(_: Snapshot) -> bool:
    return True


def _is_async(state: State) -> bool:
    return state.kind == FUNCTION and is_async(state.settings.get("body"))
