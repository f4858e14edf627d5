"""Runs bodies and moves the token until the run waits, ends or is stopped: the events of one turn.

An async generator of events (stored and shown) and `Delta`s (text on its way, only shown). The
engine does no I/O of its own: the world does, and whoever reads the stream stores it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import NamedTuple

from statecli.engine.move import move, take
from statecli.kernel.settle import Recorder, end_turn, enter, limit, settle
from statecli.kinds.choice import Choice
from statecli.kinds.step import Delta, Run, Step, body_of
from statecli.model.event import (
    Answered,
    Body,
    Chose,
    Ended,
    Failed,
    Interrupted,
    Limited,
    Said,
    Trial,
    Turned,
    Waiting,
)
from statecli.model.graph import WAITING_KINDS, Graph, State, Transition
from statecli.model.ports import EndOfInput, Unanswered, World
from statecli.model.snapshot import Snapshot

#: Asked with the snapshot; True stops the run there.
Stop = Callable[[Snapshot], bool]


class Custom(NamedTuple):
    """Bodies of kinds that are not built in, and which of those kinds wait for the person."""

    bodies: Mapping[str, Run] = {}
    waiting: frozenset[str] = frozenset()


class Engine:
    """One call of `advance`: a recorder, the world, and what may stop it early.

    `before` is asked before each body, `after` once a body is done and its route chosen; True
    stops there, resumable (breakpoints, step mode, `halt_before` and `halt_after`).
    """

    def __init__(
        self,
        graph: Graph,
        snapshot: Snapshot,
        world: World,
        *,
        custom: Custom | None = None,
        before: Stop | None = None,
        after: Stop | None = None,
    ) -> None:
        self.graph = graph
        self.world = world
        self.to = Recorder(graph, snapshot)
        self.custom = custom or Custom()
        self.before = before
        self.after = after
        self.number = snapshot.token.id
        self.stopped = False
        self._unanswered: Unanswered | None = None

    @property
    def snapshot(self) -> Snapshot:
        return self.to.snapshot

    async def advance(self, line: str | None = None) -> AsyncIterator[Body | Delta]:
        """The person's line (None: go on), then everything until the next wait."""
        if self.snapshot.status == "ended":
            return
        if line is not None:
            self.to.emit(Said(line, self.world.new_id()))
            for body in self._drain():
                yield body
        seen: list[str] = []
        while not self.stopped:
            async for item in self._step(seen):
                if item is not None:
                    yield item
                for body in self._drain():
                    yield body
            for body in self._drain():
                yield body
            if self._unanswered is not None:
                raise self._unanswered
            if self.snapshot.status != "running":
                return

    def _drain(self) -> list[Body]:
        bodies, self.to.bodies = self.to.bodies, []
        return bodies

    async def _step(self, seen: list[str]) -> AsyncIterator[Delta | None]:
        """One body and what follows from it."""
        state = self.graph.states[self.to.token(self.number).state]
        if self.snapshot.entries:
            async for item in self._entry():
                yield item
            return
        if not self._goes_on(state, seen):
            return
        if self.before is not None and self.before(self.snapshot):
            self.stopped = True
            return
        seen.append(state.name)
        step = Step(self.to, self.world, self.number)
        try:
            async for item in self._body_and_move(state, step):
                yield item
        except EndOfInput:
            self.to.emit(Interrupted(self.number, state.name, "end of input"))
            self.stopped = True
        except Unanswered as error:
            self.to.emit(Interrupted(self.number, state.name, "no answer fitted"))
            self.stopped, self._unanswered = True, error
        except Exception as error:
            self._failed(state.name, error)
        if self.snapshot.status == "ended" and self.graph.is_plan:
            async for item in self._farewell(step):
                yield item
        elif self.after is not None and self.after(self.snapshot):
            self.stopped = True

    async def _body_and_move(self, state: State, step: Step) -> AsyncIterator[Delta | None]:
        async for item in self._body(state)(step):
            yield item
        if state.is_plan:
            self._plan_turn_over(step)
        elif step.again:
            self.to.emit(Waiting(self.number, state.name))
        else:
            async for item in self._move(step):
                yield item

    def _body(self, state: State) -> Run:
        body = self.custom.bodies.get(state.kind) or body_of(state.kind)
        if body is None:
            raise LookupError(f"nothing here runs states of the kind '{state.kind}'")
        return body

    def _goes_on(self, state: State, seen: list[str]) -> bool:
        """Whether the state's body is to run now; else the run waits or a limit stops it."""
        if state.is_plan:
            rests = self.snapshot.line is None and not self.snapshot.awaits_reply
        else:
            rests = self._waits(state.kind) and self.snapshot.line is None
        if rests:
            self.to.emit(Waiting(self.number, state.name))
            return False
        if self._waits(state.kind):
            return True
        if self.snapshot.steps >= limit(self.graph, "max_steps"):
            self._limited(state.name, seen)
            return False
        return True

    async def _entry(self) -> AsyncIterator[Delta | None]:
        """The model chooses among the entry transitions before the first body."""
        token = self.to.token(self.number)
        routes = [
            Transition(token.state, name, None, 1, number, (), ())
            for number, name in enumerate(self.snapshot.entries)
        ]
        asked = Choice(Step(self.to, self.world, self.number), routes)
        async for item in asked.run():
            yield item
        route, names = asked.route or routes[0], tuple(route.target for route in routes)
        chose = Chose(self.number, token.state, route.target, route.number, (), names)
        self.to.emit(chose._replace(answers=tuple(asked.answers), by="entry"))
        enter(self.to, self.number, route.target, None, "entry")

    async def _farewell(self, step: Step) -> AsyncIterator[Delta | None]:
        """What a plan says at its end, and the summary that it may ask for."""
        metadata = self.graph.settings.get("metadata")
        for key in ("plan_builder", "canvas", "end_node_config"):
            metadata = metadata.get(key) if isinstance(metadata, dict) else None
        if not isinstance(metadata, dict):
            return
        message = metadata.get("farewell_message")
        if isinstance(message, str) and message.strip():
            step.say(message.strip())
            yield None
        summary = metadata.get("summary_behavior")
        if summary in ("brief", "full"):
            step = Step(self.to, self.world, self.number)
            async for item in step.ask(step.request("reply", f"Write a {summary} summary.")):
                yield item
            if step.answer.text:
                step.say(step.answer.text)

    def _waits(self, kind: str) -> bool:
        return kind in WAITING_KINDS or kind in self.custom.waiting

    def _plan_turn_over(self, step: Step) -> None:
        """The end of a plan state's turn. An opening turn, without a line, moves no counter."""
        if self.snapshot.status != "running":
            return
        token = self.to.token(self.number)
        opening = self.snapshot.line is None
        if not step.state.is_plan:
            if not opening:
                self.to.emit(Turned(self.number, token.state))
            return
        if self.snapshot.awaits_reply:
            # The turn ended without a word (refused twice): the person has the floor anyhow.
            self.to.emit(Answered(self.number, token.state, ""))
        if opening:
            self.to.emit(Waiting(self.number, token.state))
        else:
            end_turn(self.to, self.number)

    async def _move(self, step: Step) -> AsyncIterator[Delta | None]:
        """Go to the next state, by the routes or as the body said."""
        state = step.state
        if step.ended:
            self.to.emit(Ended(self.number, state.name))
            return
        if step.jump is not None:
            self._jump(state, step.jump)
            return
        by = "line" if self._waits(state.kind) else "order"
        options = move(self.to, self.number, state, by=by, allowed=step.options, target=step.target)
        if options is None:
            return
        asked = Choice(step, options)
        async for item in asked.run():
            yield item
        names = tuple(route.target for route in options)
        if asked.route is None:
            message = f"the model named none of {', '.join(names)}; asked twice"
            self.to.emit(Limited(self.number, state.name, "choice", message))
            return
        answers = tuple(asked.answers)
        trials = tuple(Trial(route.number, route.target, None) for route in options)
        take(self.to, self.number, state, asked.route, trials, names, answers, by=asked.by)

    def _jump(self, state: State, target: str) -> None:
        """A body that named its next state itself (Agentex)."""
        number = next((r.number for r in state.transitions if r.target == target), -1)
        route = Transition(state.name, target, None, 1, number, (), ())
        take(self.to, self.number, state, route, by="body")

    def _limited(self, name: str, seen: list[str]) -> None:
        most = limit(self.graph, "max_steps")
        path = " -> ".join(seen[-6:])
        message = f"{most} steps without the person (max_steps)"
        if path:
            message += f": ... {path} -> {name}" if len(seen) > 6 else f": {path} -> {name}"
        self.to.emit(Limited(self.number, name, "max_steps", message))

    def _failed(self, name: str, error: Exception) -> None:
        """The run resumes at the same state, or goes to `on_error`."""
        text = str(error) or type(error).__name__
        self.to.emit(Failed(self.number, name, text))
        target = dict(self.graph.states[name].jumps).get("on_error")
        if target is not None and target in self.graph.states:
            enter(self.to, self.number, target, None, why="on_error")
            if self.graph.states[target].is_plan:
                settle(self.to, self.number)


def first_state(graph: Graph) -> tuple[str, bool]:
    """Where a run begins, and whether that plan state speaks first (`agent_spawn_mode`)."""
    name = graph.roots()[0] if graph.roots() else graph.initial
    metadata = graph.settings.get("metadata")
    builder = metadata.get("plan_builder") if isinstance(metadata, dict) else None
    start = builder.get("start") if isinstance(builder, dict) else None
    mode = start.get("agent_spawn_mode") if isinstance(start, dict) else None
    state = graph.states.get(name)
    return name, state is not None and state.is_plan and mode != "on_demand"
