"""ARKOS's `Agent`: the loop of document 000 over a stored run, and the facade its states use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from statecli.arkos.handler import StateHandler
from statecli.arkos.outside import AgentWorld, NoModel, Outside
from statecli.arkos.running import Running
from statecli.kinds.arkos_names import AIMessage, State
from statecli.kinds.choice import Choice
from statecli.kinds.custom import HERE
from statecli.kinds.facade import Facade, Here, Unchosen, message_of
from statecli.kinds.step import OutOfTime
from statecli.model.event import (
    Event,
    Limited,
    Said,
)
from statecli.model.ports import (
    ModelError,
    Provider,
    Store,
)
from statecli.session.allowance import Allowance
from statecli.session.alone import Alone
from statecli.session.data import Data
from statecli.session.session import Session
from statecli.session.stepping import RunError
from statecli.session.toolbox import Toolbox
from statecli.store.memory import MemoryStore


class Agent(Running, Facade):
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
        Facade.__init__(self)
        graph = flow.graph if max_iter is None else flow.graph.with_limits(max_steps=max_iter)
        own = flow.for_agent(self)
        kept = store if store is not None else MemoryStore()
        if run_id and kept.get(run_id) is not None:
            session = Session.open(graph, kept, run_id, custom=own.custom)
            session.recover()
        else:
            session = Session.start(
                graph, kept, data=data, run=run_id, custom=own.custom, first_line=True
            )
        names = [allow_tools] if isinstance(allow_tools, str) else list(allow_tools)
        alone = Alone(None)
        self._toolbox = Toolbox(
            graph, alone, Allowance(names, everything="all" in names),
            folder=str(flow.path.resolve().parent), plugins=flow.allow_plugins,
        )  # fmt: skip
        world = AgentWorld(
            graph, provider or NoModel(), alone, Path(skills) if skills else None,
            user_id=user_id, toolbox=self._toolbox,
        )  # fmt: skip
        world.here = lambda: graph.states.get(self.snapshot.state)
        Running.__init__(self, graph, own, session, world)

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
    def data(self) -> Mapping[str, Any]:
        """The data now, to be read."""
        return Data(self.snapshot.data)

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
            self._outside = Outside(self._session, self._world, self._held)
        return self._outside

    def add_context(self, messages: Sequence[Any]) -> None:
        """Add messages to the conversation; one that is there already (by its id) is not added.
        What the person says is their line: a run that waits for it goes on, one that has ended
        takes none."""
        inside = HERE.get()
        if inside is not None and inside.owner is self:
            super().add_context(messages)
            return
        for message in map(message_of, messages):
            known = self.snapshot.data.get("messages")
            if message.get("id") and known is not None and known.knows(message["id"]):
                continue
            if message["role"] == "user" and self.status == "ended":
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
        self._offer()
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


def _said(message: Any) -> tuple[str, str]:
    found = message_of(message)
    return found["role"], found["content"]
