"""What a model would be asked next: the run goes on without anybody to talk to, up to there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from statecli.engine.advance import Engine
from statecli.model.event import Approved
from statecli.model.graph import KINDS, Graph
from statecli.model.ports import (
    Chunk,
    EndOfInput,
    Question,
    Request,
    ToolResult,
    ToolSpec,
    World,
)
from statecli.model.snapshot import Snapshot

#: Stands for a line that nobody has typed yet.
LINE = "(what you say next)"


async def next_request(graph: Graph, snapshot: Snapshot, world: World) -> Request | None:
    """The first request that would be made; None where what happens before it depends on the
    person, a tool or code of a plugin. Nothing is recorded, nothing is called."""
    if any(state.kind not in KINDS for state in graph.states.values()):
        return None
    peek = _Peek(world)
    line = LINE if snapshot.status == "waiting" else None
    async for _ in Engine(graph, snapshot, peek).advance(line):
        if peek.request is not None:
            break
    return peek.request


class _Peek:
    """A world in which everything ends before it begins."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.user_id = world.user_id
        self.request: Request | None = None

    async def complete(self, request: Request) -> AsyncIterator[Chunk]:
        self.request = request
        chunks: tuple[Chunk, ...] = ()
        for chunk in chunks:  # an answer that has no pieces
            yield chunk
        raise EndOfInput

    async def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return self.world.known_tools(names)

    def known_tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return self.world.known_tools(names)

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, object]) -> str:
        raise EndOfInput

    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, object], user: str = ""
    ) -> ToolResult:
        raise EndOfInput

    def heard(self) -> Sequence[Approved | str]:
        return self.world.heard()

    async def ask(self, question: Question) -> str:
        raise EndOfInput

    async def keep_skill(self, name: str, text: str) -> str:
        raise EndOfInput

    def known_skills(self) -> Sequence[str]:
        return self.world.known_skills()

    def now(self) -> float:
        return self.world.now()

    def new_id(self) -> str:
        return self.world.new_id()
