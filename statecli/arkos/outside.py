"""Where an agent is while none of its bodies runs, and the world in which they run."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from statecli.kernel.recorder import Recorder
from statecli.kinds.step import Step
from statecli.model.ports import Ask, Chunk, ModelError, Request, ToolResult, ToolSpec
from statecli.session.session import Session
from statecli.session.world import SessionWorld


class Outside:
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


class AgentWorld(SessionWorld):
    """Nobody is there to play a tool that is not connected."""

    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, Any], user: str = ""
    ) -> ToolResult:
        box = self._box()
        if box is None or self.by_hand or not box.plays(tool):
            return await super().call(tool, arguments, user)
        entry = box.entries.get(tool.name.partition(".")[0])
        way = "the graph declares no such tool"
        if entry is not None:
            python = "allow_plugins=True runs it (StateHandler)"
            way = python if entry.python else "name it in allow_tools"
        raise ModelError(f"{tool.name} is not connected: {way}")


class NoModel:
    """Nobody answers for the model."""

    label = "no model"

    def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        raise ModelError(f"'{request.state.name}' asks a model; give Agent a provider")
