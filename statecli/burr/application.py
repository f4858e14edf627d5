"""Burr's Application: a `Run` of ours under its names, and what it gives back."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from statecli.burr.action import Action
from statecli.burr.body import CONTEXT
from statecli.burr.graph import ApplicationGraph, Graph
from statecli.burr.lifecycle import Adapted
from statecli.burr.state import State
from statecli.burr.stream import AsyncStreamingResultContainer, StreamingResultContainer
from statecli.kinds.step import closing
from statecli.session.function import MissingInput
from statecli.session.halts import Halts, halts_of
from statecli.session.hooks import Hooks
from statecli.session.run import Run, RunError, Step, Stuck

if TYPE_CHECKING:
    from statecli.burr.builder import ApplicationBuilder

log = logging.getLogger("statecli.burr")
Names = Sequence[str] | None
Inputs = Mapping[str, Any] | None
#: The action, its result, the state after it. Before an action that was not run: no result.
Shown = tuple[Any, Any, State]


class ApplicationContext(NamedTuple):
    """What an action gets that takes ``__context``: where it runs."""

    app_id: str
    partition_key: str | None
    sequence_id: int
    action_name: str


class Application:
    """One run of a graph: made by `ApplicationBuilder`. What an action raises comes out as it is,
    and the application stays where it was."""

    def __init__(self, builder: ApplicationBuilder, graph: Graph, *, awaited: bool) -> None:
        entrypoint = graph.get_action(builder.start or "")
        self.graph = ApplicationGraph(graph.actions, graph.transitions, entrypoint=entrypoint)
        self.builder = builder
        self.uid, self.partition_key = builder.app_id, builder.partition_key
        self.sequence_id: int | None = builder.sequence_id
        self._awaited = awaited
        adapted = [hook if isinstance(hook, Hooks) else Adapted(hook, self)
                   for hook in builder.hooks]  # fmt: skip
        self._streamed_last: Step | None = None
        self._run = Run(graph.graph(entrypoint.name), data=builder.state, store=builder.store,
                        task_id=self.uid, hooks=adapted)  # fmt: skip
        for hook in adapted:
            if isinstance(hook, Adapted):
                hook.created()

    # --- looking --------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The state now. What is done to it, or to what is in it, does not show up here."""
        return State(self._run.data)

    @property
    def inner(self) -> Run:
        """The run of ours beneath it, with its events, its history and its graph."""
        return self._run

    def get_next_action(self) -> Action | None:
        """The action that comes next; None where there is no way on."""
        if self._run.status in ("ended", "stuck"):
            return None
        return self.graph.get_action(self._run.state)

    def has_next_action(self) -> bool:
        """Whether there is one."""
        return self.get_next_action() is not None

    def update_state(self, new_state: State) -> None:
        """Put another state in its place, from outside."""
        old = self._run.data
        self._run.edit({k: v for k, v in new_state.items() if k not in old or old[k] != v},
                       forgets=[key for key in old if key not in new_state])  # fmt: skip

    def reset_to_entrypoint(self) -> None:
        """The entrypoint comes next, with the state as it is."""
        self._run.transition(self.graph.entrypoint.name)

    def visualize(
        self,
        output_file_path: str | os.PathLike[str] | None = None,
        include_conditions: bool = False,
        **more: Any,
    ) -> str | None:
        """Draw the graph: see `Graph.visualize`."""
        return self.graph.visualize(output_file_path, include_conditions, **more)

    # --- running --------------------------------------------------------------------------------

    def step(self, inputs: Inputs = None) -> Shown | None:
        """Run the next action: (action, result, state), or None where there is none. `inputs` are
        keyword arguments of the action; those that it does not take are left out. ValueError for a
        required one that is missing."""
        self._synchronous()
        if not self.has_next_action():
            return None
        given = self._given(inputs)
        with self._begun() as came:
            came.step = self._run.step(given)
        return self._shown(came.step)

    async def astep(self, inputs: Inputs = None) -> Shown | None:
        """As `step`."""
        if not self.has_next_action():
            return None
        given = self._given(inputs)
        with self._begun() as came:
            came.step = await self._run.astep(given)
        return self._shown(came.step)

    def iterate(
        self, *, halt_before: Names = None, halt_after: Names = None, inputs: Inputs = None
    ) -> Generator[Shown, None, Shown]:
        """Steps in a row until before or after one of these actions (or ``@tag:name``); before
        wins, and at least one is taken. The generator's value is the action of the halt, its
        result (None before it) and the state. Without halts, or with empty lists, it runs until
        there is no way on; where that happens a warning is logged. `inputs` reach the first step
        only; but an action further on that *requires* one of them (which the document leaves
        undefined) gets it. ValueError for a halt that is not there."""
        self._synchronous()
        halts, found = self._halts(halt_before, halt_after), None
        while self.has_next_action():
            found = self.step(inputs if found is None else self._later(inputs))
            assert found is not None
            yield found
            if self._end(found, halts) is not None:
                break
        return self._value(found, halts)

    async def aiterate(
        self, *, halt_before: Names = None, halt_after: Names = None, inputs: Inputs = None
    ) -> AsyncIterator[Shown]:
        """As `iterate`; async generators have no value."""
        halts, found = self._halts(halt_before, halt_after), None
        while self.has_next_action():
            found = await self.astep(inputs if found is None else self._later(inputs))
            assert found is not None
            yield found
            if self._end(found, halts) is not None:
                break

    def run(
        self, *, halt_before: Names = None, halt_after: Names = None, inputs: Inputs = None
    ) -> Shown:
        """The value of `iterate`."""
        steps = self.iterate(halt_before=halt_before, halt_after=halt_after, inputs=inputs)
        while True:
            try:
                next(steps)
            except StopIteration as stop:
                found: Shown = stop.value
                return found

    async def arun(
        self, *, halt_before: Names = None, halt_after: Names = None, inputs: Inputs = None
    ) -> Shown:
        """As `run`."""
        found = None
        steps = self.aiterate(halt_before=halt_before, halt_after=halt_after, inputs=inputs)
        async for shown in steps:
            found = shown
        return self._value(found, halts_of(self._run.graph, halt_after, halt_before))

    # --- streaming ------------------------------------------------------------------------------

    def stream_result(
        self, halt_after: Names, halt_before: Names = None, inputs: Inputs = None
    ) -> tuple[Any, StreamingResultContainer]:
        """Run to one of `halt_after` and stream its results as they come: (action, container).
        Where it is no streaming action, or a halt of `halt_before` comes first (the result is None
        then), there are no items, and `get` has all of it. ValueError where there is no action
        left."""
        self._synchronous()
        halts, action = self._halts(halt_before, halt_after), self._coming()
        if action.name not in halts.after:
            shown = self.run(halt_before=[*halts.after, *halts.before], inputs=inputs)
            if not self._comes(halts):
                return shown[0], StreamingResultContainer(iter(()), lambda: shown[1:])
            action, inputs = shown[0], self._later(inputs)
        if not action.streaming:
            done = self.step(inputs)
            assert done is not None
            return action, StreamingResultContainer(iter(()), lambda: done[1:])
        pieces = self._streamed(action.name, self._given(inputs))
        return action, StreamingResultContainer(pieces, self._whole)

    async def astream_result(
        self, halt_after: Names, halt_before: Names = None, inputs: Inputs = None
    ) -> tuple[Any, AsyncStreamingResultContainer]:
        """As `stream_result`."""
        halts, action = self._halts(halt_before, halt_after), self._coming()
        if action.name not in halts.after:
            shown = await self.arun(halt_before=[*halts.after, *halts.before], inputs=inputs)
            if not self._comes(halts):
                return shown[0], AsyncStreamingResultContainer(None, lambda: shown[1:])
            action, inputs = shown[0], self._later(inputs)
        if not action.streaming:
            done = await self.astep(inputs)
            assert done is not None
            return action, AsyncStreamingResultContainer(None, lambda: done[1:])
        pieces = self._astreamed(action.name, self._given(inputs))
        return action, AsyncStreamingResultContainer(pieces, self._whole)

    def _streamed(self, name: str, inputs: Inputs) -> Iterator[Any]:
        with self._begun() as came:
            yield from self._run.stream_result([name], inputs=inputs)
            came.step = self._run.last
        self._streamed_last = came.step

    async def _astreamed(self, name: str, inputs: Inputs) -> AsyncIterator[Any]:
        with self._begun() as came:
            async with closing(self._run.astream_result([name], inputs=inputs)) as pieces:
                async for piece in pieces:
                    yield piece
            came.step = self._run.last
        self._streamed_last = came.step

    def _whole(self) -> tuple[Any, State]:
        """What came of the action that was streamed; no result where it was broken off."""
        step, self._streamed_last = self._streamed_last, None
        return (step.result, State(step.data)) if step is not None else (None, self.state)

    # --- inside ---------------------------------------------------------------------------------

    def _synchronous(self) -> None:
        if self._awaited:
            raise ValueError("built by abuild(): use astep, aiterate, arun, astream_result")

    def _halts(self, before: Names, after: Names) -> Halts:
        if before is None and after is None:
            log.warning("no halt is given: this runs until there is no way on")
        return halts_of(self._run.graph, after, before)

    def _coming(self) -> Action:
        action = self.get_next_action()
        if action is None:
            raise ValueError(f"there is no action left to stream, after '{self._run.state}'")
        return action

    def _comes(self, halts: Halts) -> bool:
        """Whether an action comes next after which it halts."""
        action = self.get_next_action()
        return action is not None and action.name in halts.after

    def _given(self, inputs: Inputs) -> Inputs:
        """The inputs of the next step. ValueError for names that the framework keeps to itself, and
        for a required one that is missing."""
        kept = [name for name in inputs or () if name.startswith("__")]
        if kept:
            raise ValueError(f"inputs that begin with two underscores are reserved: {kept[0]}")
        action = self.get_next_action()
        assert action is not None
        required, optional = action.optional_and_required_inputs
        if CONTEXT in required or CONTEXT in optional:
            context = ApplicationContext(self.uid, self.partition_key, self._coming_id, action.name)
            inputs = {**(inputs or {}), CONTEXT: context}
        missing = sorted(required - set(inputs or ()))
        if missing:
            raise MissingInput(f"'{action.name}' needs the input '{missing[0]}'")
        return inputs or None

    def _later(self, inputs: Inputs) -> Inputs:
        """What of a call's inputs an action after its first one gets: those that it requires."""
        action = self.get_next_action() if inputs else None
        if action is None or not inputs:
            return None
        required, _ = action.optional_and_required_inputs
        return {name: inputs[name] for name in required if name in inputs}

    @property
    def _coming_id(self) -> int:
        return 0 if self.sequence_id is None else self.sequence_id + 1

    def _begun(self) -> _Came:
        self.sequence_id = self._coming_id
        return _Came()

    def _shown(self, step: Step | None) -> Shown:
        assert step is not None
        return self.graph.get_action(step.state), step.result, State(step.data)

    def _end(self, found: Shown, halts: Halts) -> Shown | None:
        """What a walk ends with after a step, where it ends."""
        coming = self.get_next_action() if halts.before else None
        if coming is not None and coming.name in halts.before:
            return coming, None, self.state
        return found if found[0].name in halts.after else None

    def _value(self, found: Shown | None, halts: Halts) -> Shown:
        end = self._end(found, halts) if found is not None else None
        if end is not None:
            return end
        log.warning("no halt was reached: there is no way on from '%s'", self._run.state)
        return found or (None, None, self.state)


class _Came:
    """What came of a step. An action out of which no way holds has run all the same; what one
    raises comes out as it is."""

    __slots__ = ("step",)

    def __init__(self) -> None:
        self.step: Step | None = None

    def __enter__(self) -> _Came:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if isinstance(error, Stuck):
            self.step = error.step
            return True
        if isinstance(error, RunError) and isinstance(error.__cause__, Exception):
            raise error.__cause__
        return False
