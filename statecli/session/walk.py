"""One walk of a graph from Python (documents 001 and 003): what `Run` and its async twin share."""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from statecli.engine.advance import Custom, Stop
from statecli.engine.move import move
from statecli.kernel.given import fields_of
from statecli.kernel.recorder import Recorder
from statecli.kernel.reducers import first_data
from statecli.kinds.step import Delta, closing
from statecli.model.event import Answered, Body, Event, Failed, Limited
from statecli.model.graph import FUNCTION, WAITING_KINDS, Graph, State
from statecli.model.ports import ModelError, Provider, Store
from statecli.model.snapshot import Messages, Snapshot
from statecli.session.alone import Alone
from statecli.session.function import FunctionBody, is_async
from statecli.session.hooks import Hooks, Listeners, wait
from statecli.session.saved import restored, rows_of
from statecli.session.session import Session
from statecli.session.spans import RESET, STEP, Span, Spans, task_of
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


class Walk:
    """A run of a graph. Its events are in `store` (in memory if none is given).

    `data` may be a mapping, or an instance of the type that bodies get. ValueError for data that
    the fields of the graph cannot hold. Where the run has split a step is a round: the body of
    every branch that can go on, side by side; their steps come one after the other. `hooks` are
    called on the way (`Hooks`).
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
        hooks: Sequence[Hooks] = (),
    ) -> None:
        self._set_up(graph, provider, task_id, trace_transitions, hooks)
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
        self._hear()

    def _set_up(
        self,
        graph: Graph,
        provider: Provider | None,
        task_id: str | None,
        traces: bool,
        hooks: Sequence[Hooks],
    ) -> None:
        self.graph = graph
        self.task_id = task_id
        self.trace_transitions = traces
        self._spans = Spans() if traces else None
        hooks = (self._spans, *hooks) if self._spans is not None else hooks
        self._listeners = Listeners(self, hooks) if hooks else None
        self._waits = (
            provider is not None or any(map(_is_async, graph.states.values())) or wait(hooks)
        )
        self._world = Alone(provider)
        self._body = FunctionBody(self, graph, waits=self._waits)
        self._custom = Custom({FUNCTION: self._body})
        self._to = Recorder(graph, Snapshot())
        self._begun: dict[int, str] = {}
        self._after: dict[int, Mapping[str, Any]] = {}
        self._last: Step | None = None
        self._rest: deque[Step] = deque()
        self._said: dict[int, str] = {}
        self._inputs: Mapping[str, Any] = {}
        self._stop: Failed | Limited | None = None
        self._stops: dict[int, Failed | Limited] = {}
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

    @property
    def spans(self) -> Sequence[Span]:
        """Each transition so far with its data and times, where ``trace_transitions`` is set."""
        return tuple(self._spans.spans) if self._spans is not None else ()

    def history(self) -> History:
        """The history of the data so far, as a tree: any point can be rebuilt and compared."""
        from statecli.session.history import History

        return History(self.graph, self.events)

    def fork(self, number: int | None = None) -> Self:
        """A run that goes its own way after event `number` (None: the last); this one stays as it
        is. ValueError where there is no such event."""
        other = type(self).__new__(type(self))
        heard = self._listeners.hooks if self._listeners is not None else ()
        hooks = [hook for hook in heard if hook is not self._spans]
        other._set_up(self.graph, self._world.provider, None, self.trace_transitions, hooks)
        other._body.data_type = self._body.data_type
        other._session = self._session.fork(number)
        other._session.custom = other._custom
        if other._listeners is not None:
            other._listeners.heard = other._session.number
        if number is not None:
            other._session.recover()
        other._hear()
        return other

    def set_task_id(self, task_id: str) -> None:
        """What correlates this run with a task known later."""
        self.task_id = task_id

    def get_current_state(self) -> str:
        """As `state`: the name that bodies with ``execute(machine, data)`` know it by."""
        return self.state

    def get_current_workflow(self) -> Any:
        """The body that comes next, of a graph built in Python; None for a state of a file."""
        return self.graph.states[self.state].settings.get("body")

    def transition(self, state: str) -> None:
        """A transition from outside (a signal). KeyError for a state that is not there, ClientError
        where transitions are traced and there is no task id."""
        self._go(state, STEP)

    def reset(self) -> None:
        """Back to the initial state; the data stays. What else there is: as `transition`."""
        self._go(self.graph.initial, RESET)

    def _go(self, state: str, name: str) -> None:
        if self._busy:
            raise RuntimeError("a body names its next state by its answer, not by a transition")
        if self._spans is not None:
            task_of(self)
        before = self.state
        self._told_of(self._session.goto(state))
        if self._spans is not None:
            self._spans.moved(self, before, self.state, name)

    def edit(self, key: str, value: Any) -> None:
        """Set a field from outside. ValueError for a value that it cannot hold."""
        if self._busy:
            raise RuntimeError("a body writes by its delta")
        found = copy.deepcopy(first_data(self.graph, {key: value})[key])
        self._told_of(self._session.edit(key, found))

    def _told_of(self, events: Sequence[Event]) -> None:
        if self._listeners is not None:
            self._listeners.between(events)

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
        hooks: Sequence[Hooks] = (),
    ) -> Self:
        """A run where `dump` left it (ours, or one of Agentex). ValueError for what is no saved run
        of this graph."""
        rows = rows_of(saved, graph)
        task, traces = saved.get("task_id"), bool(saved.get("trace_transitions"))
        kept = store if store is not None else MemoryStore()
        if not rows:
            data = saved.get("state_machine_data")
            run = cls(graph, provider=provider, store=kept, data=data, task_id=task,
                      trace_transitions=traces, hooks=hooks)  # fmt: skip
            if saved["current_state"] != run.state:
                run._told_of(run._session.goto(saved["current_state"]))
            return run
        run = cls.__new__(cls)
        run._set_up(graph, provider, task, traces, hooks)
        run._session = restored(graph, kept, rows, run._custom)
        if run._listeners is not None:
            run._listeners.heard = run._session.number
        if saved["current_state"] != run.state:  # somebody changed the key of the document
            run._told_of(run._session.goto(saved["current_state"]))
        return run

    # --- inside ---------------------------------------------------------------------------------

    def _plain(self) -> Step | None:
        """A step of a state that is a plain function of the data: nothing in it can wait. None
        where the next state is something else."""
        session = self._session
        snapshot = session.snapshot
        if snapshot.status != "running" or snapshot.branches or self._rest or self._listeners:
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
        said = self._ready(inputs)
        if said is None and self.status == "waiting":
            return
        self._busy = True
        try:
            async with closing(self._round(said)) as texts:
                async for text in texts:
                    yield text
        except BaseException as broken:
            await self._told(self._steps(), broken)
            raise
        finally:
            self._busy = False
        steps = self._steps()
        await self._told(steps)
        stop = self._stop
        if stop is not None and self.status != "running":
            error = self._body.errors.get(stop.token)
            raise RunError(f"{stop.state}: {_why(stop)}") from error
        self._rest.extend(steps.values())
        self._last = self._rest.popleft() if self._rest else None

    def _ready(self, inputs: Mapping[str, Any] | None) -> str | None:
        """Forget the last round; the line for a state that waits. MissingInput if a required input
        is not there."""
        self._begun, self._after, self._said, self._stops = {}, {}, {}, {}
        if self.status != "running" or not self._session.snapshot.branches:
            self._stop = None
        state = self.graph.states[self.state]
        said = _line(state, inputs)
        self._inputs = inputs or {}
        self._body.inputs, self._body.results, self._body.errors = self._inputs, {}, {}
        if state.kind == FUNCTION:
            self._body.check(state)
        return said

    async def _round(self, said: str | None) -> AsyncIterator[str]:
        """Send the line (None: go on) and note what happens; the text that is streamed."""
        hooks = self._listeners
        if hooks is not None:
            await hooks.catch_up(self._session.number, lambda: self.events)
        stops: dict[str, Stop] = {"before": self._begins, "after": self._ends}
        try:
            async with closing(self._session.send(self._world, said, **stops)) as items:
                async for item in items:
                    if isinstance(item, Delta):
                        if hooks is not None:
                            name = self._begun.get(item.token, self.state)
                            await hooks.item(name, item.text)
                        yield item.text
                        continue
                    self._note(item.body)
                    if hooks is not None:
                        await hooks.event(item)
        except NotPlain as error:
            failed = self._refused(self.state, error)
            if hooks is not None:
                await hooks.catch_up(self._session.number, lambda: self.events)
            raise failed from error

    def _note(self, body: Body) -> None:
        if isinstance(body, Answered):
            self._said[body.token] = body.text or self._said.get(body.token, "")
        elif isinstance(body, Failed | Limited):
            self._stop = self._stops[body.token] = body

    def _steps(self) -> dict[int, Step]:
        """What came of the bodies of a round, by token."""
        found: dict[int, Step] = {}
        for number, name in self._begun.items():
            function = self.graph.states[name].kind == FUNCTION
            result = self._body.results.get(number) if function else self._said.get(number) or None
            data = MappingProxyType(self._after.get(number, self._session.snapshot.data))
            found[number] = Step(name, result, data)
        return found

    async def _told(self, steps: Mapping[int, Step], broken: BaseException | None = None) -> None:
        """Tell the hooks what came of the bodies; `broken`: what broke the round off."""
        if self._listeners is None:
            return
        for number, (name, result, data) in steps.items():
            stop, error = self._stops.get(number), self._body.errors.get(number)
            if error is None and isinstance(broken, RunError):
                error = broken
            elif error is None and (stop is not None or broken is not None):
                error = RunError(f"{name}: {_why(stop) if stop is not None else 'broken off'}")
                error.__cause__ = broken
            await self._listeners.after_step(name, result if error is None else None, data, error)

    def _hear(self) -> None:
        """Tell the hooks what happened between steps."""
        hooks = self._listeners
        if hooks is not None and self._session.number > hooks.heard:
            hooks.between([event for event in self.events if event.number > hooks.heard])

    def _begins(self, snapshot: Snapshot) -> bool | Awaitable[bool]:
        self._begun[snapshot.token.id] = snapshot.state
        return False if self._listeners is None else self._announced(self._listeners, snapshot)

    async def _announced(self, hooks: Listeners, snapshot: Snapshot) -> bool:
        await hooks.before_step(snapshot.state, MappingProxyType(snapshot.data), self._inputs)
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


def _why(stop: Failed | Limited) -> str:
    return stop.error if isinstance(stop, Failed) else stop.message


def _is_async(state: State) -> bool:
    return state.kind == FUNCTION and is_async(state.settings.get("body"))
