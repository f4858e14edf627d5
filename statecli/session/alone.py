"""The world of a run that a program walks by itself: a provider may answer, nobody can be asked."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from statecli.kinds.step import closing
from statecli.model.event import Approved
from statecli.model.ports import (
    Chunk,
    ModelError,
    Provider,
    Question,
    Request,
    ToolResult,
    ToolSpec,
)
from statecli.session.function import new_id


class Alone:
    """What the kinds of a graph may touch without a person (the protocol `World`)."""

    patient = False
    user_id = None

    def __init__(self, provider: Provider | None) -> None:
        self.provider = provider

    def complete(self, request: Request) -> AsyncIterator[Chunk]:
        if self.provider is None:
            raise ModelError(f"'{request.state.name}' asks a model; give Run a provider")
        return _chunks(self.provider.complete(request, self))

    async def __call__(self, question: Question) -> str:
        raise ModelError(f"nobody is there to answer: {question.text}")

    async def ask(self, question: Question) -> str:
        return await self(question)

    async def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return self.known_tools(names)

    def known_tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name, "") for name in names or ())

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        return ""

    def heard(self) -> Sequence[Approved | str]:
        return ()

    async def call(
        self,
        tool: ToolSpec,
        arguments: Mapping[str, Any],
        user: str = "",
    ) -> ToolResult:
        raise ModelError(f"{tool.name} is not connected ({len(arguments)} arguments)")

    async def keep_skill(self, name: str, text: str) -> str:
        raise ModelError(f"there is no folder for the skill '{name}' ({len(text)} characters)")

    def known_skills(self) -> Sequence[str]:
        return ()

    def now(self) -> float:
        return time.time()

    def new_id(self) -> str:
        return new_id()


async def _chunks(found: Any) -> AsyncIterator[Chunk]:
    """The pieces of an answer. TypeError where a provider gives something else."""
    cure = "'complete' of a provider is an async generator (async def, yield Chunk(text=...))"
    if not hasattr(found, "__aiter__"):
        if hasattr(found, "close"):
            found.close()  # nobody awaits a coroutine
        raise TypeError(f"{cure}, it gave a {type(found).__name__}")
    async with closing(found) as pieces:
        async for piece in pieces:
            if not isinstance(piece, Chunk):
                raise TypeError(f"{cure}, it gave a {type(piece).__name__}")
            yield piece
