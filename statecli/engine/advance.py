"""Runs bodies and moves the token until the run waits, ends or is stopped: the events of one turn.

An async generator of events (stored and shown) and `Delta`s (text on its way, only shown). Events
come in batches: what happened at once is stored as one. The engine does no I/O of its own: the
world does, and whoever reads the stream stores it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import NamedTuple

from statecli.engine.branches import Branches
from statecli.engine.reason import reason
from statecli.kernel.limits import limit
from statecli.kernel.move import move, take
from statecli.kernel.recorder import Recorder
from statecli.kernel.settle import end_turn, enter, settle
from statecli.kernel.template import filled
from statecli.kinds.choice import Choice
from statecli.kinds.step import Delta, OutOfTime, Run, Step, body_of, closing
from statecli.llm.prompts import prompt
from statecli.model.event import (
    Answered,
    Body,
    Chose,
    Ended,
    Failed,
    Interrupted,
    Limited,
    Resumed,
    Said,
    Turned,
    Unauthorized,
    Waiting,
    Warned,
)
from statecli.model.graph import WAITING_KINDS, Graph, State, Transition
from statecli.model.ports import AuthRequired, EndOfInput, ModelError, Stopped, Unanswered, World
from statecli.model.snapshot import Snapshot

#: Asked with the snapshot; True stops the run there. One that waits for something is awaited.
Stop = Callable[[Snapshot], bool | Awaitable[bool]]
#: Asked with a step whose body is done; True stops the run there, before it moves.
Hold = Callable[[Step], bool]
_Pieces = AsyncIterator[Delta | None]


class Custom(NamedTuple):
    """Bodies of kinds that are not built in, and which of those kinds wait for the person.
    `failed` hears what was raised in the step of a token, which its event only says in words."""

    bodies: Mapping[str, Run] = {}
    waiting: frozenset[str] = frozenset()
    failed: Callable[[int, Exception], None] | None = None


class Engine:
    """One call of `advance`: a recorder, the world, and what may stop it early.

    `before` is asked before each body, `after` once a body is done and its route chosen; True
    stops there, resumable (breakpoints, step mode, `halt_before` and `halt_after`). `hold` may keep
    a run that has one token where it is after a body, for somebody else to move it. `since` is when
    the run would have begun if it had never rested, for the limit `timeout`. `clean` is what
    becomes of each event before it counts. `error` is what the last body raised; `alone`: nobody
    was there to answer it.
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
        since: float | None = None,
        hold: Hold | None = None,
        clean: Callable[[Body], Body] | None = None,
    ) -> None:
        self.graph = graph
        self.world = world
        self.to = Recorder(graph, snapshot, clean)
        self.custom = custom or Custom()
        self.before = before
        self.after = after
        self.since = since
        self.hold = hold
        self.number = snapshot.token.id
        self.stopped = self.alone = False
        self.error: Exception | None = None
        self._ran: list[str] = []
        self._at_work = 0
        self._end: list[Body] = []

    @property
    def snapshot(self) -> Snapshot:
        return self.to.snapshot

    @property
    def told(self) -> Snapshot | None:
        """Where the run is after what was yielded so far; None while its end is still held back."""
        return None if self._end else self.to.snapshot

    async def advance(self, line: str | None = None) -> AsyncIterator[list[Body] | Delta]:
        """The person's line (None: go on), then everything until the next wait. Raises Unanswered
        where lines off a terminal did not fit."""
        if self.snapshot.status == "ended":
            return
        if line is not None:
            self.to.emit(Said(line, self.world.new_id(), self._listener()))
        elif self.snapshot.status != "running":
            self.to.emit(Resumed(runs=True))
        if self.to.bodies:
            yield self._drain()
        while not self.stopped and self.snapshot.status == "running":
            if self.snapshot.branches:
                async with closing(Branches(self).run()) as items:
                    async for item in items:
                        yield item
                continue
            self.number = self.snapshot.token.id
            async with closing(self.one_step()) as pieces:
                async for piece in pieces:
                    if self.to.bodies:
                        yield self._drain()
                    if piece is not None:
                        yield piece
            last = self._drain() + self._end
            if last:
                yield last
        if isinstance(self.error, Unanswered):
            raise self.error

    def _listener(self) -> int:
        """Who takes the person's line, of a run that has split: the first that waits for one."""
        branches = self.snapshot.branches
        waiting = (number for number, branch in branches.items() if branch.status == "waiting")
        return next(waiting, self.number) if branches else 0

    def for_branch(self, snapshot: Snapshot, at_work: int) -> Engine:
        """An engine for one body of one branch, seen alone; `at_work` others run meanwhile."""
        found = Engine(
            self.graph, snapshot, self.world, custom=self.custom, before=self.before,
            after=self.after, since=self.since, clean=self.to.clean,
        )  # fmt: skip
        found._ran, found._at_work = self._ran, at_work
        return found

    def _drain(self) -> list[Body]:
        """What was emitted since the last time. The end of a plan is told last, after what is said
        at it."""
        bodies, self.to.bodies = self.to.bodies, []
        if self.snapshot.status != "ended" or not self.graph.is_plan:
            return bodies
        self._end += [body for body in bodies if isinstance(body, Ended)]
        return [body for body in bodies if not isinstance(body, Ended)]

    def _new_step(self) -> Step:
        return Step(self.to, self.world, self.number, self.custom.waiting, self.since)

    async def one_step(self) -> _Pieces:
        """One body and what follows from it."""
        name = self.to.token(self.number).state
        state = self.graph.states[name]
        step = self._new_step()
        work = self._entry(step) if self.snapshot.entries else None
        if work is None:
            if not self._goes_on(state, step):
                return
            if self.before is not None and await self._stops(self.before):
                self.stopped = True
                return
            self._ran.append(name)
            work = self._body_and_move(state, step)
        try:
            async with closing(work) as pieces:
                async for piece in pieces:
                    yield piece
        except EndOfInput:
            self._interrupted(name, "end of input")
        except Unanswered as error:
            self.error = error
            self._interrupted(name, "no answer fitted")
        except OutOfTime:
            pass  # recorded where it struck
        except Stopped:
            raise
        except AuthRequired as error:
            here = self.to.token(self.number).state
            told = Unauthorized(self.number, here, error.service, error.url, error.text)
            self.to.emit(told)
        except Exception as error:
            self.error = error
            self.failed(name, error)
        if self.snapshot.status == "ended" and self.graph.is_plan:
            async with closing(self._farewell(state)) as pieces:
                async for piece in pieces:
                    yield piece
        running = not self.stopped and self.snapshot.status == "running"
        if running and self.after is not None and await self._stops(self.after):
            self.stopped = True

    async def _stops(self, stop: Stop) -> bool:
        found = stop(self.snapshot)
        return found if isinstance(found, bool) else await found

    def _interrupted(self, name: str, why: str) -> None:
        """Nobody answers: the step begins anew when the run is taken up again."""
        self.to.emit(Interrupted(self.number, name, why, again=True))
        self.stopped = self.alone = True

    async def _body_and_move(self, state: State, step: Step) -> _Pieces:
        async with closing(self._body(state)(step)) as pieces:
            async for piece in pieces:
                yield piece
        if state.is_plan:
            self._plan_turn_over(step)
        elif self.snapshot.status != "running":
            return  # a budget was used up in the middle of it
        elif step.again:
            self.to.emit(Waiting(self.number, state.name))
        elif step.ended:
            self.to.emit(Ended(self.number, state.name))
        elif self.hold is not None and not state.fans_out and self.hold(step):
            self.stopped = True
        elif step.jump is not None:
            self._jump(state, step.jump)
        else:
            async with closing(self._move(step)) as pieces:
                async for piece in pieces:
                    yield piece

    def _body(self, state: State) -> Run:
        body = self.custom.bodies.get(state.kind) or body_of(state.kind)
        if body is None:
            raise ModelError(f"nothing here runs states of the kind '{state.kind}'")
        if state.fans_out and state.is_plan:
            raise ModelError(f"'{state.name}' is a plan state: it takes one way, not all at once")
        return body

    def _goes_on(self, state: State, step: Step) -> bool:
        """Whether the state's body is to run now; else the run waits or a limit stops it."""
        waits = step.waits(state.name)
        rests = waits and self.snapshot.line is None
        if rests and state.is_plan and self.snapshot.awaits_reply:
            rests = False  # an opening turn
        if rests:
            self.to.emit(Waiting(self.number, state.name))
            return False
        steps = self.snapshot.steps + self._at_work
        if not waits and steps >= limit(self.graph, "max_steps"):
            self._limited(state.name)
            return False
        return state.kind == "user" or not step.over_budget()

    async def _entry(self, step: Step) -> _Pieces:
        """The model chooses among the entry transitions before the first body."""
        origin = step.token.state
        routes = [
            Transition(origin, name, None, 1, number, (), ())
            for number, name in enumerate(self.snapshot.entries)
        ]
        asked = Choice(step, routes)
        async for piece in asked.run():
            yield piece
        if self.snapshot.status != "running":
            return
        names, answers = tuple(route.target for route in routes), tuple(asked.answers)
        if asked.route is None:
            self._unchosen(origin, names)
            return
        target, number = asked.route.target, asked.route.number
        chose = Chose(self.number, origin, target, number, (), names, answers, "entry")
        self.to.emit(chose)
        enter(self.to, self.number, target, None, "entry")

    async def _farewell(self, state: State) -> _Pieces:
        """What a plan says at its end, and the summary that it may ask for."""
        if state.settings.get("message") and state.kind == "terminal":
            return
        metadata = self.graph.settings.get("metadata")
        for key in ("plan_builder", "canvas", "end_node_config"):
            metadata = metadata.get(key) if isinstance(metadata, dict) else None
        if not isinstance(metadata, dict):
            return
        step = self._new_step()
        message = metadata.get("farewell_message")
        if isinstance(message, str) and message.strip():
            step.say(filled(message.strip(), self.snapshot.data))
            yield None
        summary = metadata.get("summary_behavior")
        if summary not in ("brief", "full"):
            return
        text = prompt(self.graph, "summary", self.snapshot.data, length=summary)
        request = step.request("reply", text, state)
        try:
            async for piece in step.ask(request):
                yield piece
        except (ModelError, EndOfInput, Unanswered) as error:
            why = str(error) or "nobody is there"
            self.to.emit(Warned(self.number, state.name, f"there is no summary: {why}"))
        else:
            if step.answer.text.strip():
                step.say(step.answer.text)

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

    async def _move(self, step: Step) -> _Pieces:
        """Go to the next state by the routes."""
        state = step.state
        by = "line" if step.waits(state.name) else "order"
        open_ = move(self.to, self.number, state, by=by, allowed=step.options)
        if open_ is None:
            return
        options = open_.routes
        asked = Choice(step, options, self._strays(state, options), step.answered)
        async for piece in asked.run():
            yield piece
        if self.snapshot.status != "running":
            return  # a budget was used up in the middle of it
        names = tuple(route.target for route in options)
        if asked.route is None:
            self._unchosen(state.name, names)
            return
        answers = tuple(asked.answers)
        take(self.to, self.number, state, asked.route, open_.trials, names, answers, by=asked.by)

    def _strays(self, state: State, options: tuple[Transition, ...]) -> list[Transition]:
        """The other targets of a state, where `on_invalid` may lead."""
        return [r for r in state.transitions if r not in options and r.target in self.graph.states]

    def _unchosen(self, name: str, names: tuple[str, ...]) -> None:
        message = f"the model named none of {', '.join(names)}, asked twice"
        self.to.emit(Limited(self.number, name, "choice", message))

    def _jump(self, state: State, target: str) -> None:
        """A body that named its next state itself (Agentex)."""
        number = next((r.number for r in state.transitions if r.target == target), -1)
        route = Transition(state.name, target, None, 1, number, (), ())
        take(self.to, self.number, state, route, by="body")

    def _limited(self, name: str) -> None:
        """Says which states repeated, those that ran most often first."""
        most = limit(self.graph, "max_steps")
        counts = Counter(self._ran).most_common()
        again = [f"'{state}' {count} times" for state, count in counts if count > 1]
        message = f"max_steps: {most} {'step' if most == 1 else 'steps'} without the person"
        if again:
            message += f" ({', '.join(again[:6])})"
        self.to.emit(Limited(self.number, name, "max_steps", message))

    def failed(self, name: str, error: Exception) -> None:
        """The run resumes at the same state, or goes to `on_error`."""
        here = self.to.token(self.number).state if self.snapshot.status != "ended" else name
        if self.custom.failed is not None:
            self.custom.failed(self.number, error)
        self.to.emit(Failed(self.number, here, reason(error)))
        target = dict(self.graph.states[here].jumps).get("on_error")
        if target is not None and target in self.graph.states:
            state = self.graph.states[here]
            waits = state.kind in WAITING_KINDS or state.kind in self.custom.waiting
            by = "line" if waits else "on_error"
            enter(self.to, self.number, target, None, by, "on_error")
            if self.graph.states[target].is_plan:
                settle(self.to, self.number)


def first_state(graph: Graph) -> tuple[str, bool]:
    """Where a run begins, and whether a plan state that begins it speaks first
    (`agent_spawn_mode`)."""
    name = graph.roots()[0] if graph.roots() else graph.initial
    metadata = graph.settings.get("metadata")
    builder = metadata.get("plan_builder") if isinstance(metadata, dict) else None
    start = builder.get("start") if isinstance(builder, dict) else None
    mode = start.get("agent_spawn_mode") if isinstance(start, dict) else None
    plans = any(graph.states[root].is_plan for root in graph.roots())
    return name, plans and mode != "on_demand"
