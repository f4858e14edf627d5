"""ARKOS's `Agent`: the loop of document 000 over a stored run, and the facade its states use."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from statecli.arkos.handler import StateHandler
from statecli.engine.advance import Engine
from statecli.engine.move import move, take
from statecli.kernel.recorder import Recorder
from statecli.kinds.arkos_names import AIMessage, AuthRequiredError, Message, State, as_message
from statecli.kinds.choice import Choice
from statecli.kinds.custom import HERE
from statecli.kinds.facade import Facade, Here, Unchosen, as_documented, message_of
from statecli.kinds.step import OutOfTime, Step, closing
from statecli.model.event import (
    Body,
    Chose,
    Event,
    Failed,
    Interrupted,
    Limited,
    Said,
    Unauthorized,
)
from statecli.model.graph import WAITING_KINDS, Transition
from statecli.model.ports import Ask, AuthRequired, Chunk, ModelError, Provider, Request, Store
from statecli.model.snapshot import Snapshot
from statecli.session.allowance import Allowance
from statecli.session.alone import Alone
from statecli.session.data import Data
from statecli.session.session import Session
from statecli.session.stepping import RunError
from statecli.session.toolbox import Toolbox
from statecli.session.world import SessionWorld
from statecli.store.memory import MemoryStore

_STOPS = (Failed, Limited, Unauthorized, Interrupted)


class Agent(Facade):
    """One conversation over a `StateHandler`. `step` is the loop of the document, and may be
    written anew in a subclass: `current_state`, `get_context`, `add_context`, `choose_transition`,
    `flow.get_transitions` and the states' `run` are what it is made of. Whatever is asked, called
    and chosen is an event of one run (`events`), kept in `store` (in memory if none is given).

    `provider` answers for the model. `allow_tools` names the servers and tools of the graph that
    may be started and called (or says "all"); `skills` is the folder of skills. `max_iter` stands
    for `limits.max_steps`. With `run_id` a run of the store is taken up where it was left.
    """

    def __init__(
        self,
        flow: StateHandler,
        provider: Provider | None = None,
        *,
        data: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        store: Store | None = None,
        run_id: str = "",
        allow_tools: Sequence[str] | str = (),
        skills: str | Path | None = None,
        max_iter: int | None = None,
    ) -> None:
        super().__init__()
        self._graph = flow.graph if max_iter is None else flow.graph.with_limits(max_steps=max_iter)
        self._flow = flow.for_agent(self)
        kept = store if store is not None else MemoryStore()
        custom = self._flow.custom
        if run_id and kept.get(run_id) is not None:
            self._session = Session.open(self._graph, kept, run_id, custom=custom)
            self._session.recover()
        else:
            self._session = Session.start(
                self._graph, kept, data=data, run=run_id, custom=custom, first_line=True
            )
        names = [allow_tools] if isinstance(allow_tools, str) else list(allow_tools)
        alone = Alone(None)
        self._toolbox = Toolbox(
            self._graph, alone, Allowance(names, everything="all" in names),
            folder=str(flow.path.resolve().parent), plugins=flow.allow_plugins,
        )  # fmt: skip
        self._world = SessionWorld(
            self._graph, provider or _NoModel(), alone, Path(skills) if skills else None,
            user_id=user_id, toolbox=self._toolbox,
        )  # fmt: skip
        self._world.here = lambda: self._graph.states.get(self.snapshot.state)
        self._session.hold = self._hold
        self._held: Step | None = None
        self._asked: Choice | None = None
        self._outside: _Outside | None = None

    # --- what there is --------------------------------------------------------------------------

    @property
    def flow(self) -> StateHandler:
        """The states, as they stand in this agent's run."""
        return self._flow

    @flow.setter
    def flow(self, flow: StateHandler) -> None:
        if flow.graph is not self._flow.graph:
            raise ValueError("an agent keeps the graph that it began with")
        self._flow = flow.for_agent(self)
        self._session.custom = self._flow.custom

    @property
    def snapshot(self) -> Snapshot:
        """All that is so now: state, data, status, counters."""
        return self._session.snapshot

    @property
    def data(self) -> Mapping[str, Any]:
        """The data now, to be read."""
        return Data(self.snapshot.data)

    @property
    def status(self) -> str:
        """running, waiting, ended, failed, stuck, limited or interrupted."""
        return self.snapshot.status

    @property
    def events(self) -> list[Event]:
        """The trace so far."""
        return self._session.store.events(self._session.run)

    @property
    def run_id(self) -> str:
        """The id of the run in its store."""
        return self._session.run

    @property
    def current_user_id(self) -> str | None:
        """Who talks; every tool is told."""
        return self._world.user_id

    @current_user_id.setter
    def current_user_id(self, user_id: str | None) -> None:
        self._world.user_id = user_id

    @property
    def current_state(self) -> State:
        """Where the run is. Setting it moves the run there: by the transition that was offered or
        chosen, else from outside. ValueError for a state that is not there."""
        return self._flow.get_state(self.snapshot.state)

    @current_state.setter
    def current_state(self, state: State | str) -> None:
        name = state if isinstance(state, str) else state.name
        self._go(self._flow.get_state(name).name)

    # --- the loop -------------------------------------------------------------------------------

    async def step(
        self, messages: Sequence[Any] | str = (), user_id: str | None = None
    ) -> AIMessage | None:
        """Take the person's message, and run until the run waits for them or ends; the last thing
        that was said to them.

        `messages` is a text, new messages, or the whole conversation with new ones at its end.
        RunError where a state failed, nothing held after it, or a limit struck (`max_steps`: the
        MAX_ITER of the document): the run stands there, and the next call goes on.
        AuthRequiredError where a service has to be connected first.
        """
        if user_id is not None:
            self.current_user_id = user_id
        before = len(self.snapshot.data.get("messages") or ())
        self.add_context(self._new([messages] if isinstance(messages, str) else messages))
        while not self.current_state.is_terminal:
            update = await self.current_state.run(self.get_context(), self)
            if update:
                self.add_context([update])
            if self.current_state.check_transition_ready(messages):
                await self._on(messages)
        if self.status == "running":
            await self._send()  # it rests: that is recorded
        said = self.get_context()[before:]
        return next((m for m in reversed(said) if isinstance(m, AIMessage)), None)

    async def _on(self, messages: Any) -> None:
        """Go where the transitions lead."""
        found = self.flow.get_transitions(self.current_state, messages)
        names = found["tt"]
        if not names:
            self._nowhere()
        elif len(names) == 1:
            self.current_state = self.flow.get_state(names[0])
        else:
            try:
                name = await self.choose_transition(found, messages)
            except Unchosen as error:
                here = self.snapshot.token
                self._session.record([Limited(here.id, here.state, "choice", str(error))])
                raise RunError(f"{here.state}: {error}") from error
            except ModelError as error:
                self._failed(error)
            else:
                self.current_state = self.flow.get_state(name)

    # --- what states ask (Facade) ---------------------------------------------------------------

    @property
    def here(self) -> Here:
        """What a state's body that runs now may reach."""
        inside = HERE.get()
        if inside is not None and inside.owner is self:
            return inside
        if self._outside is None or self._outside.at is not self.snapshot:
            self._outside = _Outside(self._session, self._world, self._held)
        return self._outside

    def add_context(self, messages: Sequence[Any]) -> None:
        """Add messages to the conversation; one that is there already (by its id) is not added.
        What the person says is their line: a run that waits for it goes on."""
        inside = HERE.get()
        if inside is not None and inside.owner is self:
            super().add_context(messages)
            return
        for message in map(message_of, messages):
            known = self.snapshot.data.get("messages")
            if message.get("id") and known is not None and known.knows(message["id"]):
                continue
            if message["role"] == "user":
                identity = message.get("id") or self._world.new_id()
                self._session.record([Said(message["content"], identity, self._listener())])
            else:
                super().add_context([message])
                self._flush()

    async def call_llm(self, context: Any, json_schema: Any = None) -> AIMessage:
        """One model call; with a schema the content is JSON text. ModelError where it fails."""
        try:
            return await super().call_llm(context, json_schema)
        finally:
            self._flush()

    async def _choose(self, transitions: Mapping[str, Sequence[str]]) -> Choice:
        try:
            self._asked = await super()._choose(transitions)
        except OutOfTime as error:
            raise RunError(f"{self.snapshot.state}: {error}") from error
        finally:
            self._flush()
        return self._asked

    async def close(self) -> None:
        """End the servers of tools that were started."""
        await self._toolbox.close()

    # --- what bound states ask ------------------------------------------------------------------

    def rests_at(self, name: str) -> bool:
        """Whether there is nothing to do in a state: the run ended, or waits there for a line."""
        now, node = self.snapshot, self._graph.states[name]
        if now.status == "ended" or now.state != name:
            return now.status == "ended" or node.kind == "terminal"
        waits = node.kind in WAITING_KINDS or node.kind in self._flow.custom.waiting
        idle = waits and now.line is None and not (node.is_plan and now.awaits_reply)
        return now.status == "waiting" or (now.status == "running" and idle and not now.entries)

    def held_at(self, name: str) -> bool:
        """Whether a state's body is done and the run has not moved on."""
        return self._held is not None and self._held.state.name == name == self.snapshot.state

    def allowed(self, name: str) -> Sequence[str] | None:
        """The targets to which a body narrowed what may come next; None: all."""
        return self._held.options if self._held is not None and self.held_at(name) else None

    async def run_state(self, name: str) -> Message | None:
        """Run the body of the state where the run is, and stop before it moves; the message that
        came last."""
        if name != self.snapshot.state:
            raise ValueError(f"the run is at '{self.snapshot.state}': set current_state to be at "
                             f"'{name}'")  # fmt: skip
        before = len(self.snapshot.data.get("messages") or ())
        await self._send()
        added = list(self.snapshot.data.get("messages") or ())[before:]
        found = [m for m in added if isinstance(m, Mapping) and m.get("role") != "user"]
        return as_message(found[-1]) if found else None

    async def _send(self) -> None:
        """Let the engine run one body; what stopped it is raised."""
        self._flush()
        self._held = self._asked = None
        stop: Body | None = None
        async with closing(self._session.send(self._world)) as items:
            async for item in items:
                if isinstance(item, Event) and isinstance(item.body, _STOPS):
                    stop = item.body
        if stop is not None and self.status not in ("running", "waiting", "ended"):
            raise _error(stop)

    def _hold(self, step: Step) -> bool:
        self._held = step
        return True

    # --- moving ---------------------------------------------------------------------------------

    def _go(self, name: str) -> None:
        now, node = self.snapshot, self._graph.states[self.snapshot.state]
        if not self.held_at(node.name) or self._held is None:
            if name != node.name:
                self._session.goto(name)
            return
        to, number = Recorder(self._graph, now), now.token.id
        open_ = move(to, number, node, by=self._by(node.name), allowed=self._held.options)
        asked, taken = (
            self._asked,
            any(isinstance(b, Chose) and b.target == name for b in to.bodies),
        )
        route = next((r for r in open_.routes if r.target == name), None) if open_ else None
        if open_ is not None and route is not None:
            names = tuple(r.target for r in open_.routes)
            answers, by = (tuple(asked.answers), asked.by) if asked else ((), "body")
            take(to, number, node, route, open_.trials, names, answers, by=by)
        elif not taken:  # whoever wrote the loop knows better
            to = Recorder(self._graph, now)
            at = next((r.number for r in node.transitions if r.target == name), -1)
            take(to, number, node, Transition(node.name, name, None, 1, at, (), ()), by="body")
        self._held = self._asked = None
        self._session.record(to.bodies, to.snapshot)

    def _by(self, name: str) -> str:
        kind = self._graph.states[name].kind
        return "line" if kind in WAITING_KINDS or kind in self._flow.custom.waiting else "order"

    def _nowhere(self) -> None:
        """Nothing holds: the run waits where it may, else it is stuck."""
        now, name = self.snapshot, self.snapshot.state
        to, held = Recorder(self._graph, now), self._held
        options = held.options if held is not None else None
        move(to, now.token.id, self._graph.states[name], by=self._by(name), allowed=options)
        self._held = None
        self._session.record(to.bodies, to.snapshot)
        stop = to.bodies[-1]
        if isinstance(stop, Failed):
            raise _error(stop)

    def _failed(self, error: Exception) -> None:
        """What the engine makes of an error: `on_error`, or the run stands here."""
        engine = Engine(self._graph, self.snapshot, self._world, custom=self._flow.custom)
        engine.failed(self.snapshot.state, error)
        self._held = self._asked = None
        self._session.record(engine.to.bodies, engine.to.snapshot)
        if self.status == "failed":
            raise RunError(f"{self.snapshot.state}: {error}") from error

    # --- the conversation -----------------------------------------------------------------------

    def _new(self, messages: Sequence[Any]) -> list[dict[str, Any]]:
        """What of these messages is not in the conversation. Several that begin as it does are all
        of it (the replies may be left out): what comes after the last known one is new."""
        given = [message_of({"role": "user", "content": m} if isinstance(m, str) else m)
                 for m in messages]  # fmt: skip
        known = iter([_said(m) for m in self.snapshot.data.get("messages") or ()])
        if len(given) < 2 or next(known, None) != _said(given[0]):
            return given
        at = 1
        while at < len(given) and _said(given[at]) in known:
            at += 1
        return given[at:]

    def _listener(self) -> int:
        """Who takes the person's line, of a run that has split: the first that waits for one."""
        branches = self.snapshot.branches
        waiting = (number for number, branch in branches.items() if branch.status == "waiting")
        return next(waiting, self.snapshot.token.id) if branches else 0

    def _flush(self) -> None:
        if self._outside is not None:
            self._outside.flush()


class _Outside:
    """Where an agent is between two bodies: a step that records into its run."""

    def __init__(self, session: Session, world: SessionWorld, held: Step | None) -> None:
        self.session = session
        self.at = session.snapshot
        self.step = Step(
            Recorder(session.graph, self.at), world, self.at.token.id, session.custom.waiting,
            time.time() - session.worked,
        )  # fmt: skip
        if held is not None:
            self.step.answered = held.answered

    async def pause(self) -> None:
        self.flush()

    def flush(self) -> None:
        to = self.step.to
        bodies, to.bodies = to.bodies, []
        if bodies:
            self.session.record(bodies, to.snapshot)
            self.at = to.snapshot


class _NoModel:
    """Nobody answers for the model."""

    label = "no model"

    def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        raise ModelError(f"'{request.state.name}' asks a model; give Agent a provider")


def _said(message: Any) -> tuple[str, str]:
    found = message_of(message)
    return found["role"], found["content"]


def _error(stop: Any) -> Exception:
    """What stopped a run, as an exception."""
    if isinstance(stop, Unauthorized):
        found = as_documented(AuthRequired(stop.service, stop.url, stop.text))
        assert isinstance(found, AuthRequiredError)
        return found
    text = stop.error if isinstance(stop, Failed) else getattr(stop, "message", "") or stop.text
    return RunError(f"{stop.state}: {text}")
