"""One walk of a graph from Python (documents 001 and 003): what `Run` and its async twin share."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from statecli.kernel.given import kept_values
from statecli.kernel.reducers import first_data
from statecli.kinds.step import closing
from statecli.model.event import Body, Edited, Event, Filtered
from statecli.model.graph import Graph
from statecli.model.nearest import did_you_mean
from statecli.model.ports import Provider, Store
from statecli.session.arguments import data_of, store_of
from statecli.session.halts import halts_of
from statecli.session.hooks import Hooks
from statecli.session.saved import OwnSession, opened, restored, rows_of
from statecli.session.session import Session
from statecli.session.spans import RESET, STEP, Span, task_of
from statecli.session.stepping import RunError, Step, Stepping, Stuck
from statecli.store.rows import from_json, in_json, line

if TYPE_CHECKING:
    from statecli.session.history import History

__all__ = ["RunError", "Step", "Stuck", "Walk"]


class Walk(Stepping):
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
        given = data_of(data)
        if data is not None and not isinstance(data, Mapping):
            self._body.data_type = self._body.data_type or type(data)
        kind = self._body.data_type
        values = kept_values(given, kind)
        self._session = OwnSession.start(
            graph,
            store_of(store),
            data=values,
            run=task_id or "",
            custom=self._custom,
        )
        self._hear()

    @property
    def spans(self) -> Sequence[Span]:
        """Each transition so far with its data and times, where ``trace_transitions`` is set."""
        return tuple(self._spans.spans) if self._spans is not None else ()

    @property
    def id(self) -> str:
        """The name of the run in its store: the task id it began with, else one of its own."""
        return self._session.run

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
        forked = self._session.fork(number)
        forked.custom = other._custom
        other._take_up(forked)
        if number is not None:
            other._session.recover()
        other._hear()
        return other

    def _take_up(self, session: Session) -> None:
        """Go on with a session that has events: the hooks are told of those that come."""
        self._session = session
        if self._listeners is not None:
            self._listeners.heard = session.number

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
        """A transition from outside (a signal); of the branch that stands at `state`, where the run
        has split. KeyError for a state that is not there, ClientError where transitions are traced
        and there is no task id."""
        self._go(state, STEP)

    def reset(self) -> None:
        """Back to the initial state; the data stays. RuntimeError where the run has split: the
        other branches would go on. What else there is: as `transition`."""
        if self._session.snapshot.branches:
            at = ", ".join(f"'{name}'" for name in self._coming())
            raise RuntimeError(f"the run has split (into {at}): undo(...) takes that back")
        self._go(self.graph.initial, RESET)

    def undo(self, to: int | None = None) -> bool:
        """Take back all that came after event `to`; the history keeps it. None: back to the wait
        before the person's last line (as ``/undo`` in a chat), or, where nobody said one, to before
        the last step. In the middle of a step: that step begins anew. False where there is nothing
        to take back; ValueError where the run has no event `to`, or took it back already."""
        if self._busy:
            raise RuntimeError("a body takes nothing back: undo between two steps")
        if not self._session.take_back(to):
            return False
        self._rest.clear()
        self._last, self._stop, self._stopped = None, None, {}
        self._hear()
        return True

    def _go(self, state: str, name: str) -> None:
        if self._busy:
            raise RuntimeError("a body names its next state by its answer, not by a transition")
        if state not in self.graph.states:
            hint = did_you_mean(state, self.graph.states)
            raise KeyError(f"no state is named '{state}'" + (f" ({hint})" if hint else ""))
        if self._spans is not None:
            task_of(self)
        before = self.state
        self._told_of(self._session.goto(state))
        if self._spans is not None:
            self._spans.moved(self, before, self.state, name)

    def _told_of(self, events: Sequence[Event]) -> None:
        if self._listeners is not None:
            self._listeners.between(events)

    def edit(self, values: Mapping[str, Any], forgets: Sequence[str] = ()) -> None:
        """Set fields from outside, between two steps, and forget others. The way that was chosen
        stays chosen. ValueError for a value that its field cannot hold: nothing is set then."""
        if self._busy:
            raise RuntimeError("a body changes the data by what it gives back")
        held = first_data(self.graph, values)
        token = self._session.snapshot.token
        told = kept_values({key: held[key] for key in values}, self._body.data_type)
        bodies: list[Body] = [Edited(key, value) for key, value in told.items()]
        if forgets:
            kept = [key for key in (*self.data, *values) if key not in forgets]
            bodies.append(Filtered(token.id, token.state, tuple(dict.fromkeys(kept))))
        self._told_of(self._session.record(bodies))

    # --- walking, where a program is async itself -----------------------------------------------

    async def astep(self, inputs: Mapping[str, Any] | None = None) -> Step | None:
        """Run one body, from a program that is async itself; see `Run.step`."""
        found = self._plain() if inputs is None else None
        return found if found is not None else await self._step(inputs, waits=True)

    async def aiterate(
        self,
        halt_after: Sequence[str] | None = None,
        halt_before: Sequence[str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[Step]:
        """As `Run.iterate`, but without a value at its end: no async generator has one."""
        halts = halts_of(self.graph, halt_after, halt_before)
        while True:
            found = await self.astep(inputs)
            inputs = None
            if found is not None:
                yield found
            if self._halt(found, halts) is not None:
                return

    async def arun(
        self,
        halt_after: Sequence[str] | None = None,
        halt_before: Sequence[str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> Step:
        """As `Run.run`."""
        halts = halts_of(self.graph, halt_after, halt_before)
        while True:
            found = await self.astep(inputs)
            inputs = None
            end = self._halt(found, halts)
            if end is not None:
                return end

    async def astream_result(
        self,
        halt_after: Sequence[str] | None = None,
        halt_before: Sequence[str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[Any]:
        """As `Run.stream_result`."""
        halts = halts_of(self.graph, halt_after, halt_before)
        while True:
            async with closing(self._pieces(inputs, waits=True)) as pieces:
                async for piece in pieces:
                    yield piece
            inputs = None
            if self._halt(self._last, halts) is not None:
                return

    # --- keeping --------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """The run as a dictionary, with the keys of document 003 and our own events."""
        data = self._session.snapshot.data
        return {
            "task_id": self.task_id,
            "current_state": self.state,
            "initial_state": self.graph.initial,
            "state_machine_data": {key: in_json(value, key) for key, value in data.items()},
            "trace_transitions": self.trace_transitions,
            "statecli": {"version": 1, "events": [json.loads(line(e)) for e in self.events]},
        }

    @classmethod
    def resume(
        cls,
        graph: Graph,
        store: Store,
        run: str,
        *,
        provider: Provider | None = None,
        trace_transitions: bool = False,
        hooks: Sequence[Hooks] = (),
    ) -> Self:
        """The run `run` (its `id`) of a store where it was left, also by a crash: a step that was
        cut off begins anew. KeyError where the store has no such run (`store.runs()` lists them),
        ValueError where it stands at no state of this graph."""
        found = cls.__new__(cls)
        found._set_up(graph, provider, run, trace_transitions, hooks)
        found._take_up(opened(graph, store, run, found._custom))
        found._session.recover()
        found._hear()
        return found

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
        kept = store_of(store)
        if not rows:
            data = from_json(saved.get("state_machine_data"))
            run = cls(graph, provider=provider, store=kept, data=data, task_id=task,
                      trace_transitions=traces, hooks=hooks)  # fmt: skip
            if saved["current_state"] != run.state:
                run._told_of(run._session.goto(saved["current_state"]))
            return run
        run = cls.__new__(cls)
        run._set_up(graph, provider, task, traces, hooks)
        run._take_up(restored(graph, kept, rows, run._custom))
        if saved["current_state"] != run.state:  # somebody changed the key of the document
            run._told_of(run._session.goto(saved["current_state"]))
        return run
