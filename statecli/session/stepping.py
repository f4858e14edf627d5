"""The steps of one run: what `Walk` does inside, one body or one round of bodies at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, SupportsIndex

from statecli.engine.advance import Custom, Stop
from statecli.engine.reason import reason
from statecli.kernel.branches import view
from statecli.kernel.move import move
from statecli.kernel.recorder import Recorder
from statecli.kinds.step import Delta, closing
from statecli.model.event import Answered, Body, Event, Failed, Limited
from statecli.model.graph import FUNCTION, WAITING_KINDS, Graph, State
from statecli.model.ports import ModelError, Provider
from statecli.model.snapshot import Snapshot
from statecli.session.alone import Alone
from statecli.session.arguments import checked, inputs_of
from statecli.session.data import Data
from statecli.session.function import FunctionBody, is_async
from statecli.session.halts import Halts
from statecli.session.hooks import Hooks, Listeners, wait
from statecli.session.session import Session
from statecli.session.spans import Spans
from statecli.store.rows import NotPlain

#: Builds the result of every step: three times as fast as calling its class.
_new: Any = tuple.__new__
_BUSY = (
    "a step of this run is at work: one thread or task walks it at a time, and no body does; "
    "a stream that was left early has to be closed first (aclose)"
)


class Step(NamedTuple):
    """One step: the state that ran, what its body gave back (the text it said, where it is no
    function), the data after it."""

    state: str
    result: Any
    data: Mapping[str, Any]


class RunError(Exception):
    """A body raised, or a limit stopped it; the run stands where it was."""


class Stuck(RunError):
    """A body is done, and none of the ways out of its state holds. `step` is what came of it: its
    delta is in the data."""

    def __init__(self, text: str, step: Step) -> None:
        super().__init__(text)
        self.step = step


class Stepping:
    """A run that can take a step: what its faces share."""

    _session: Session

    def _set_up(
        self,
        graph: Graph,
        provider: Provider | None,
        task_id: str | None,
        traces: bool,
        hooks: Sequence[Hooks],
    ) -> None:
        checked(graph, provider, hooks)
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
        self._body = FunctionBody(self, graph)
        self._custom = Custom({FUNCTION: self._body}, failed=self._raised)
        self._to = Recorder(graph, Snapshot())
        self._begun: dict[int, str] = {}
        self._after: dict[int, Mapping[str, Any]] = {}
        self._last: Step | None = None
        self._rest: deque[Step] = deque()
        self._said: dict[int, str] = {}
        self._inputs: Mapping[str, Any] = {}
        self._stop: Failed | Limited | None = None
        self._stopped: dict[int, Step] = {}  # other branches may go on after it, for some rounds
        self._stops: dict[int, Failed | Limited] = {}
        self._busy = False

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Two objects would write into one run, or a half of it would be left."""
        raise TypeError("a run is neither copied nor pickled: fork() makes another one, and what "
                        "dump() gives, or a store, can be read anywhere")  # fmt: skip

    def _raised(self, token: int, error: Exception) -> None:
        self._body.errors[token] = error

    @property
    def data(self) -> Mapping[str, Any]:
        """The data now. It cannot be changed from outside, nor what is in it: lists and the like
        come as copies."""
        return Data(self._session.snapshot.data)

    @property
    def state(self) -> str:
        """Where the run is: the state whose body comes next."""
        return self._session.snapshot.state

    @property
    def last(self) -> Step | None:
        """What came of the last step; None before the first, and where there was none to take."""
        return self._last

    @property
    def status(self) -> str:
        """running, waiting, limited, stuck, failed, interrupted or ended."""
        return self._session.snapshot.status

    @property
    def events(self) -> list[Event]:
        """The trace so far."""
        return self._session.store.events(self._session.run)

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
        if self._busy:
            raise RuntimeError(_BUSY)
        to = self._to
        to.snapshot, to.bodies = snapshot, []
        self._busy = True
        try:
            result = self._ran(to, token.id, state)
            session.keep(to.bodies, to.snapshot)
        except NotPlain as error:
            raise self._refused(state.name, error) from error
        except Exception:  # of the body, as it is told; or the store's own, which is not its fault
            raise
        except BaseException:  # Ctrl-C and the like
            session.struck({})
            raise
        finally:
            self._busy = False
        step: Step = _new(Step, (state.name, result, Data(to.snapshot.data)))
        last = to.bodies[-1]
        if type(last) is Failed:
            raise Stuck(f"{state.name}: {self._why(last)}", step)
        self._last = step
        return step

    def _ran(self, to: Recorder, token: int, state: State) -> Any:
        """The result of a plain body; its delta and the way that it goes on are recorded."""
        try:
            result = self._body.plain(to, state)
            options = move(to, token, state, by="order")
            if options is not None:
                names = ", ".join(route.target for route in options.routes)
                raise ModelError(f"nobody is there to choose among {names}")
        except Exception as error:
            raise self._refused(state.name, error) from error
        return result

    def _refused(self, name: str, error: Exception) -> RunError:
        """Record that a body failed: the data is as it was before."""
        token = self._session.snapshot.token.id
        self._session.record([Failed(token, name, reason(error))])
        return RunError(f"{name}: {reason(error)}")

    async def _step(self, inputs: Mapping[str, Any] | None, *, waits: bool) -> Step | None:
        """Run one body; None where there is nothing to run. `waits`: there is an event loop."""
        async with closing(self._pieces(inputs, waits=waits)) as pieces:
            async for _ in pieces:
                pass
        return self._last

    async def _pieces(self, inputs: Mapping[str, Any] | None, *, waits: bool) -> AsyncIterator[Any]:
        """One step (or a round of them): what its body streams. `_last` is what came of it, `_rest`
        what came of the other branches. RuntimeError while another step runs."""
        if self._busy:
            raise RuntimeError(_BUSY)
        self._body.waits = waits
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
        self._stopped |= {number: steps[number] for number in self._stops if number in steps}
        if stop is not None and self.status != "running":
            text, step = f"{stop.state}: {self._why(stop)}", self._stopped.get(stop.token)
            if step is not None and isinstance(stop, Failed) and stop.stuck:
                raise Stuck(text, step)
            raise RunError(text) from self._body.errors.get(stop.token)
        self._rest.extend(steps.values())
        self._last = self._rest.popleft() if self._rest else None

    def _ready(self, inputs: Mapping[str, Any] | None) -> str | None:
        """Forget the last round; the line for a state that waits. MissingInput if a required input
        is not there."""
        self._begun, self._after, self._said, self._stops = {}, {}, {}, {}
        if self.status != "running" or not self._session.snapshot.branches:
            self._stop, self._stopped = None, {}
        state = self.graph.states[self.state]
        self._inputs = inputs_of(inputs)
        said = _line(state, inputs)
        self._body.inputs, self._body.results, self._body.errors = self._inputs, {}, {}
        if state.kind == FUNCTION:
            self._body.check(state, self._inputs)
        return said

    async def _round(self, said: str | None) -> AsyncIterator[Any]:
        """Send the line (None: go on) and note what happens; what is streamed."""
        hooks = self._listeners
        if hooks is not None:
            await hooks.catch_up(self._session.number, lambda: self.events)
        stops: dict[str, Stop] = {"before": self._begins, "after": self._ends}
        try:
            async with closing(self._session.send(self._world, said, **stops)) as items:
                async for item in items:
                    if isinstance(item, Delta):
                        piece = item.text if item.item is None else item.item.value
                        if hooks is not None:
                            name = self._begun.get(item.token, self.state)
                            await hooks.item(name, piece)
                        yield piece
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
            after = self._after.get(number)
            data = Data(after if after is not None else self._seen_by(number).data)
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
                error = RunError(f"{name}: {'broken off' if stop is None else self._why(stop)}")
                error.__cause__ = broken
            await self._listeners.after_step(name, result if error is None else None, data, error)

    def _why(self, stop: Failed | Limited) -> str:
        """What stopped a body, in words. Nothing has happened in its branch since."""
        if isinstance(stop, Limited):
            return stop.message
        if not stop.stuck:
            return stop.error
        from statecli.session.tries import nothing_held

        return nothing_held(self.graph, stop, self._seen_by(stop.token))

    def _seen_by(self, token: int) -> Snapshot:
        """The run as one of its branches sees it; the whole where it has not split."""
        now = self._session.snapshot
        return view(now, token) if token in now.branches else now

    def _hear(self) -> None:
        """Tell the hooks what happened between steps."""
        hooks = self._listeners
        if hooks is not None and self._session.number > hooks.heard:
            hooks.between([event for event in self.events if event.number > hooks.heard])

    def _begins(self, snapshot: Snapshot) -> bool | Awaitable[bool]:
        self._begun[snapshot.token.id] = snapshot.state
        return False if self._listeners is None else self._announced(self._listeners, snapshot)

    async def _announced(self, hooks: Listeners, snapshot: Snapshot) -> bool:
        await hooks.before_step(snapshot.state, Data(snapshot.data), self._inputs)
        return False

    def _ends(self, snapshot: Snapshot) -> bool:
        """The data after each body, as its branch sees it. After one body (of each) it stops."""
        if self._session.snapshot.branches:
            self._after[snapshot.token.id] = snapshot.data
        return True

    # --- where to stop --------------------------------------------------------------------------

    def _halt(self, found: Step | None, halts: Halts) -> Step | None:
        """What a walk ends with after a step: at a halt, the end or a wait; None: it goes on."""
        after, before = halts
        if found is not None and self._rest:
            return found if found.state in after else None
        if found is None or self.status == "waiting":
            return found or Step(self.state, None, self.data)
        coming = () if self.status == "ended" or not before else self._coming()
        for name in coming:
            if name in before:
                return Step(name, None, self.data)
        return found if self.status == "ended" or found.state in after else None

    def _coming(self) -> tuple[str, ...]:
        """The states whose bodies come next."""
        branches = self._session.snapshot.branches.values()
        found = tuple(b.token.state for b in branches if b.status == "running")
        return found or (self.state,)


def _line(state: State, inputs: Mapping[str, Any] | None) -> str | None:
    """What the person says to a state that waits: the one input, whatever it is called."""
    if state.kind not in WAITING_KINDS or not inputs:
        return None
    if len(inputs) != 1:
        raise ValueError(f"'{state.name}' takes one input, the person's line")
    return str(next(iter(inputs.values())))


def _is_async(state: State) -> bool:
    return state.kind == FUNCTION and is_async(state.settings.get("body"))
