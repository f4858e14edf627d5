"""A scripted world and a way to play a graph in it: what a model says is a list, in order."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from statecli.engine.advance import Custom
from statecli.load.loader import load
from statecli.model.event import Answered, Approved, Body, Entered, Event
from statecli.model.graph import Graph
from statecli.model.ports import Call, Chunk, Question, Request, Store, ToolResult, ToolSpec
from statecli.model.snapshot import Snapshot
from statecli.session.session import Session
from statecli.store.memory import MemoryStore


def graph_of(text: str, path: str = "g.yaml") -> Graph:
    """The graph of a text; it may have diagnostics."""
    graph = load(path, text).graph
    assert graph is not None
    return graph


def call(name: str, **arguments: Any) -> Chunk:
    """A model calls a tool (or one of the calls of a plan state)."""
    return Chunk(call=Call("c", name, arguments))


class World:
    """Answers from a list: a text, a value (dict), chunks, or an error to raise. What was asked is
    in `requests`."""

    user_id: str | None = "ann"

    def __init__(
        self,
        answers: Sequence[Any] = (),
        *,
        tools: Sequence[ToolSpec] = (),
        results: Sequence[ToolResult] = (),
        replies: Sequence[str] = (),
    ) -> None:
        self.answers = list(answers)
        self.specs = tuple(tools)
        self.results = list(results)
        self.replies = list(replies)
        self.requests: list[Request] = []
        self.denied: dict[str, str] = {}
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self.questions: list[str] = []
        self.skills: dict[str, str] = {}
        self.time = 0.0
        self._ids = itertools.count(1)

    async def complete(self, request: Request) -> AsyncIterator[Chunk]:
        self.requests.append(request)
        assert self.answers, f"'{request.state.name}' asks for a {request.what}: nothing is left"
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        for part in answer if isinstance(answer, list) else [answer]:
            if callable(part):
                part()
            elif isinstance(part, str):
                yield Chunk(text=part)
            elif isinstance(part, Chunk):
                yield part
            else:
                yield Chunk(value=part)

    async def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return self.known_tools(names)

    def known_tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return tuple(s for s in self.specs if names is None or s.name in names or s.server in names)

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        return self.denied.get(tool.name, "")

    def heard(self) -> Sequence[Approved | str]:
        return ()

    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, Any], user: str = ""
    ) -> ToolResult:
        self.sent.append((tool.name, arguments))
        return self.results.pop(0)

    async def ask(self, question: Question) -> str:
        self.questions.append(question.text)
        return self.replies.pop(0)

    async def keep_skill(self, name: str, text: str) -> str:
        self.skills[name] = text
        return f"skills/{name}.md"

    def known_skills(self) -> Sequence[str]:
        return [f"{name}: {text}" for name, text in self.skills.items()]

    def now(self) -> float:
        return self.time

    def new_id(self) -> str:
        return f"m{next(self._ids)}"


class Played:
    """A conversation that was played: its session, its world, and what happened."""

    def __init__(self, session: Session, world: World, store: Store) -> None:
        self.session = session
        self.world = world
        self.store = store
        self.turn: list[Body] = []

    @property
    def snapshot(self) -> Snapshot:
        return self.session.snapshot

    @property
    def bodies(self) -> list[Body]:
        return [event.body for event in self.store.events(self.session.run)]

    def of(self, kind: type[Any]) -> list[Any]:
        """All events of one kind."""
        return [body for body in self.bodies if isinstance(body, kind)]

    @property
    def path(self) -> list[str]:
        """The states that were entered."""
        return [body.state for body in self.of(Entered)]

    @property
    def said(self) -> list[str]:
        """What was said to the person."""
        return [body.text for body in self.of(Answered) if body.text]

    def say(self, line: str | None, **stops: Callable[[Snapshot], bool]) -> Played:
        """One line (None: go on), to the next wait. `turn` is what happened in it."""
        self.turn = []

        async def send() -> None:
            async for item in self.session.send(self.world, line, **stops):
                if isinstance(item, Event):
                    self.turn.append(item.body)

        asyncio.run(send())
        return self


def play(
    graph: Graph | str,
    *lines: str | None,
    answers: Sequence[Any] = (),
    world: World | None = None,
    data: Mapping[str, Any] | None = None,
    custom: Custom | None = None,
    first_line: bool = False,
    store: Store | None = None,
) -> Played:
    """Play a graph: it goes on by itself where it can, then takes the lines."""
    found = graph_of(graph) if isinstance(graph, str) else graph
    kept = store or MemoryStore()
    session = Session.start(found, kept, data=data, custom=custom, first_line=first_line)
    played = Played(session, world or World(answers), kept)
    if session.snapshot.status == "running":
        played.say(None)
    for line in lines:
        played.say(line)
    return played
