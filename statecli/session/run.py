"""Running a graph from Python (documents 001 and 003): step, iterate, run, stream.

The engine is async; bodies that never really wait are driven here without an event loop, so that
a step costs microseconds. With an async body or a provider a loop runs each step.
"""

from __future__ import annotations

import asyncio
import inspect
import time
import uuid
from collections.abc import AsyncIterator, Coroutine, Generator, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from statecli.engine.advance import Custom, Engine, first_state
from statecli.engine.move import move
from statecli.kernel.apply import apply, fold
from statecli.kernel.settle import Recorder
from statecli.kinds.step import Delta
from statecli.model.event import Body, Ended, Event, Failed, Jumped, Started
from statecli.model.graph import Graph, State
from statecli.model.ports import (
    Chunk,
    ModelError,
    Provider,
    Question,
    Request,
    Store,
    Stored,
    ToolResult,
    ToolSpec,
)
from statecli.model.snapshot import Snapshot
from statecli.session.builder import FUNCTION
from statecli.session.function import FunctionBody
from statecli.session.session import digest, effective

ResultT = TypeVar("ResultT")


class Step(NamedTuple):
    """One step: the state that ran, what its body gave back, the data after it."""

    state: str
    result: Any
    data: Mapping[str, Any]


class RunError(Exception):
    """A body raised, or nothing held after it; the run stands where it was."""


class _World:
    """The world of a run without a person: a provider may answer, nobody can be asked."""

    patient = False

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
        return tuple(ToolSpec(name, "") for name in names or ())

    async def call(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> ToolResult:
        raise ModelError(f"{tool.name} is not connected ({len(arguments)} arguments)")

    async def keep_skill(self, name: str, text: str) -> str:
        raise ModelError(f"there is no folder for the skill '{name}' ({len(text)} characters)")

    def now(self) -> float:
        return time.time()

    def new_id(self) -> str:
        return uuid.uuid4().hex[:12]


class Run:
    """One walk of a graph. `events` is its trace; with a store it is kept there too."""

    def __init__(
        self,
        graph: Graph,
        *,
        provider: Provider | None = None,
        store: Store | None = None,
        data: Mapping[str, Any] | None = None,
        task_id: str | None = None,
        trace_transitions: bool = False,
    ) -> None:
        self.graph = graph
        self.task_id = task_id
        self.trace_transitions = trace_transitions
        self.events: list[Body] = []
        self.run_id = task_id or uuid.uuid4().hex[:12]
        self._store = store
        self._world = _World(provider)
        self._body = FunctionBody(self, graph.settings.get("data_type"))
        self._stored = 0
        self._snapshot = Snapshot()
        self._loop = provider is not None or any(map(_is_async, graph.states.values()))
        if store is not None:
            now = time.time()
            store.create(Stored(self.run_id, "", digest(""), "", now, now, "running",
                                graph.initial, 0))  # fmt: skip
        state, speaks = first_state(graph)
        values = {f.name: f.default for f in graph.fields.values() if f.has_default}
        self._record([Started(state, {**values, **(data or {})}, speaks)])

    @property
    def data(self) -> Mapping[str, Any]:
        """The data now; it cannot be changed from outside."""
        return MappingProxyType(dict(self._snapshot.data))

    @property
    def state(self) -> str:
        """Where the run is: the state whose body comes next."""
        return self._snapshot.state

    @property
    def status(self) -> str:
        return self._snapshot.status

    # --- going on -------------------------------------------------------------------------------

    def step(self, inputs: Mapping[str, Any] | None = None) -> Step | None:
        """Run one body; None where there is nothing to run. `inputs` reach this step only; a
        missing required one raises before it."""
        if inputs is None and self._snapshot.status == "running":
            state = self.graph.states[self._snapshot.state]
            if state.transitions and state.settings.get("plain") is True:
                return self._plain(state)
        self._prepare(inputs)
        for _ in self._one():
            pass
        return self._last

    def _plain(self, state: State) -> Step:
        """A step of a state that is a plain function of the data: nothing in it can wait."""
        to = Recorder(self.graph, self._snapshot)
        try:
            result = self._body.plain(to, state)
        except Exception as error:
            to.emit(Failed(self._snapshot.token.id, state.name, str(error)))
            self._snapshot = to.snapshot
            self._keep(to.bodies)
            raise RunError(f"{state.name}: {error}") from error
        options = move(to, self._snapshot.token.id, state, by="order")
        if options is not None:
            names = ", ".join(route.target for route in options)
            raise RunError(f"{state.name}: nobody is there to choose among {names}")
        self._snapshot = to.snapshot
        self._keep(to.bodies)
        last = to.bodies[-1]
        if isinstance(last, Failed):
            raise RunError(f"{state.name}: {last.error}")
        return Step(state.name, result, self._snapshot.data)

    def iterate(
        self,
        halt_after: Sequence[str] = (),
        halt_before: Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> Generator[Step, None, Step]:
        """Steps until a halt, the end or a wait. At least one is taken; its state, result and data
        (for `halt_before`: the state that comes next and None) are the generator's value."""
        while True:
            found = self.step(inputs)
            inputs = None
            if found is None:
                return Step(self.state, None, self.data)
            yield found
            if self.status != "ended" and self._named(self.state, halt_before):
                return Step(self.state, None, self.data)
            if self.status == "ended" or self._named(found.state, halt_after):
                return found

    def run(
        self,
        halt_after: Sequence[str] = (),
        halt_before: Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> Step:
        """Iterate to the halt and give its step. `halt_before` wins."""
        steps = self.iterate(halt_after, halt_before, inputs)
        while True:
            try:
                next(steps)
            except StopIteration as stop:
                found: Step = stop.value
                return found

    def stream_result(
        self, halt_after: Sequence[str] = (), inputs: Mapping[str, Any] | None = None
    ) -> Iterator[str]:
        """The pieces of text that bodies stream, up to and including the halting state."""
        while True:
            self._prepare(inputs)
            inputs = None
            for item in self._one():
                if isinstance(item, Delta):
                    yield item.text
            if self._last is None or self.status != "running":
                return
            if self._named(self._last.state, halt_after):
                return

    def set_task_id(self, task_id: str) -> None:
        """What correlates this run with a task known later."""
        self.task_id = task_id

    def transition(self, state: str) -> None:
        """A transition from outside (a signal). KeyError for a state that is not there."""
        if state not in self.graph.states:
            raise KeyError(state)
        self._record([Jumped(self._snapshot.token.id, state)])

    # --- keeping --------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """The run as a dictionary, with the keys of document 003 and our own events."""
        from statecli.store.rows import line

        rows = [line(Event(self.run_id, n, 0.0, b)) for n, b in enumerate(self.events, 1)]
        return {
            "task_id": self.task_id,
            "current_state": self.state,
            "initial_state": self.graph.initial,
            "state_machine_data": dict(self._snapshot.data),
            "trace_transitions": self.trace_transitions,
            "statecli": {"version": 1, "events": rows},
        }

    @classmethod
    def load(cls, saved: Mapping[str, Any], graph: Graph, **more: Any) -> Run:
        """A run where `dump` left it."""
        import json

        from statecli.store.rows import body_of

        run = cls(
            graph,
            data=saved["state_machine_data"],
            task_id=saved["task_id"],
            trace_transitions=saved["trace_transitions"],
            **more,
        )
        rows = [json.loads(row) for row in (saved.get("statecli") or {}).get("events", ())]
        if rows:
            run.events = [body_of(row) for row in rows]
            events = [Event(run.run_id, n, 0.0, b) for n, b in enumerate(run.events, 1)]
            run._snapshot = fold(graph, (event.body for event in effective(events)))
        elif saved["current_state"] != run.state:
            run.transition(saved["current_state"])
        return run

    # --- inside ---------------------------------------------------------------------------------

    def _prepare(self, inputs: Mapping[str, Any] | None) -> None:
        self._body.inputs = inputs or {}
        self._last: Step | None = None
        state = self.graph.states[self.state]
        if state.kind == FUNCTION:
            self._body.check(state.name, state.settings["body"])

    def _one(self) -> Iterator[Body | Delta]:
        """One step of the engine; what it emits, once recorded."""
        if self.status == "ended":
            return
        before = self.state
        if not self.graph.states[before].transitions and self._is_over(before):
            return
        engine = Engine(
            self.graph,
            self._snapshot,
            self._world,
            custom=Custom({FUNCTION: self._body}),
            after=_always,
        )
        stream = engine.advance()
        failed: Failed | None = None
        bodies: list[Body] = []
        while True:
            item = self._drive(stream)
            if item is None:
                break
            if isinstance(item, Delta):
                yield item
                continue
            bodies.append(item)
            if isinstance(item, Failed):
                failed = item
        self._snapshot = engine.snapshot
        self._keep(bodies)
        if failed is not None and not self._ends_here(failed):
            raise RunError(f"{failed.state}: {failed.error}")
        self._last = Step(before, self._body.result, self._snapshot.data)
        yield from bodies

    def _is_over(self, name: str) -> bool:
        """A function state without a way out has run: the run is at its end."""
        return any(isinstance(b, Ended) and b.state == name for b in self.events[-2:])

    def _ends_here(self, failed: Failed) -> bool:
        """A function state without transitions is where a run built in Python ends."""
        state = self.graph.states[failed.state]
        if not failed.stuck or state.kind != FUNCTION or state.transitions:
            return False
        self._record([Ended(self._snapshot.token.id, state.name)])
        return True

    def _drive(self, stream: AsyncIterator[Body | Delta]) -> Body | Delta | None:
        """The next item, None at the end; without an event loop where no body needs one."""
        try:
            if self._loop:
                return _in_loop(_next(stream))
            return _now(stream)
        except StopAsyncIteration:
            return None

    def _record(self, bodies: Sequence[Body]) -> None:
        for body in bodies:
            self._snapshot = apply(self.graph, self._snapshot, body)
        self._keep(bodies)

    def _keep(self, bodies: Sequence[Body]) -> None:
        self.events.extend(bodies)
        if self._store is not None and bodies:
            now = time.time()
            first = self._stored + 1
            events = [Event(self.run_id, n, now, b) for n, b in enumerate(bodies, first)]
            self._stored += len(bodies)
            self._store.append(self.run_id, events, self.status, self.state)

    def _named(self, state: str, halts: Sequence[str]) -> bool:
        if state in halts:
            return True
        tags = self.graph.states[state].settings.get("tags") if halts else None
        return isinstance(tags, list | tuple) and any(f"@tag:{tag}" in halts for tag in tags)


def _always(_: Snapshot) -> bool:
    return True


def _is_async(state: Any) -> bool:
    body = state.settings.get("body")
    function = getattr(body, "execute", body)
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _now(stream: AsyncIterator[ResultT]) -> ResultT:
    """The next item of an async generator that never really waits."""
    waiting = stream.__anext__().__await__()
    try:
        waiting.send(None)
    except StopIteration as stop:
        found: ResultT = stop.value
        return found
    raise RuntimeError("a body waits for something; make it async so that a loop runs it")


async def _next(stream: AsyncIterator[ResultT]) -> ResultT:
    return await stream.__anext__()


def _in_loop(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run one await in a loop of our own (kept, so that async generators stay in it)."""
    global _LOOP  # noqa: PLW0603 - one loop for all synchronous runs
    if _LOOP is None or _LOOP.is_closed():
        _LOOP = asyncio.new_event_loop()
    return _LOOP.run_until_complete(coroutine)


_LOOP: asyncio.AbstractEventLoop | None = None
