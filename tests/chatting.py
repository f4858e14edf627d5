"""Chats of the tests: a graph, lines that are typed, and everything that is seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from statecli.chat.lines import Host
from statecli.chat.screen import Screen
from statecli.chat.talk import Stops, Talk
from statecli.cli.models import named
from statecli.engine.advance import Custom
from statecli.llm.rules import RulesProvider
from statecli.load.loader import load
from statecli.model.graph import Graph
from statecli.model.ports import Ask, EndOfInput, Provider, Question, Store
from statecli.session.session import Session
from statecli.session.toolbox import Toolbox
from statecli.session.world import SessionWorld
from statecli.store.memory import MemoryStore


class TypedLines:
    """Lines as if typed at a terminal: they stand in `seen` as they are read."""

    patient = True
    blocking = False

    def __init__(self, lines: Sequence[str], seen: list[str]) -> None:
        self.lines = list(lines)
        self.seen = seen
        self.places: list[int] = []
        self.dry = False
        self.host: Host | None = None

    def watch(self, host: Host) -> None:
        self.host = host

    def close(self) -> bool:
        return False

    def unread(self) -> bool:
        return False

    async def read(self, prompt: str) -> str:
        if not self.lines:
            self.dry = True
            raise EndOfInput
        line = self.lines.pop(0)
        self.places.append(len(self.seen))
        self.seen.append(f"{prompt}{line}")
        return line

    async def __call__(self, question: Question) -> str:
        self.seen.extend(question.text.split("\n"))
        while True:
            line = await self.read("? ")
            if not (self.host and line.startswith("/") and await self.host.at_question(line)):
                return line
            if self.host.leaving:
                raise EndOfInput


class Chat:
    """One chat on a terminal, played at once. `seen` are all lines; notes are in it too."""

    def __init__(
        self,
        graph: Graph | str,
        *lines: str,
        provider: Provider | None = None,
        store: Store | None = None,
        data: dict[str, Any] | None = None,
        stops: Stops | None = None,
        custom: Custom | None = None,
        skills: Path | None = None,
        user_id: str | None = None,
        seen: list[str] | None = None,
        toolbox: Callable[[Graph, Ask], Toolbox] | None = None,
    ) -> None:
        text = graph if isinstance(graph, str) else ""
        self.graph = graph if isinstance(graph, Graph) else graph_of(graph)
        self.seen: list[str] = [] if seen is None else seen
        self.store = store or MemoryStore()
        session = Session.start(
            self.graph, self.store, path="graph.yaml", text=text, data=data, first_line=True,
            custom=custom,
        )  # fmt: skip
        typed = self.typed = TypedLines(lines, self.seen)
        box = toolbox(self.graph, typed) if toolbox is not None else None
        self.world = SessionWorld(
            self.graph, provider or RulesProvider(), typed, skills, user_id=user_id, toolbox=box
        )
        screen = Screen(self.graph, self._add, self._add)
        if box is not None:
            box.tell = box.connecting = self._add
        self.changed: list[str] = []
        self.talk = Talk(
            session,
            self.world,
            screen,
            typed,
            stops=stops,
            terminal=True,
            models=named,
            changed=lambda session: self.changed.append(session.run),
        )
        self.code = asyncio.run(self._run(box))

    async def _run(self, box: Toolbox | None) -> int:
        try:
            return await self.talk.run()
        finally:
            await self.talk.close()
            if box is not None:
                await box.close()

    def _add(self, text: str) -> None:
        self.seen.extend(text.split("\n"))

    @property
    def data(self) -> dict[str, Any]:
        return dict(self.talk.snapshot.data)

    @property
    def state(self) -> str:
        return self.talk.snapshot.state

    def after(self, line: str) -> list[str]:
        """What was seen after a typed line, up to the next one."""
        places = [*self.typed.places, len(self.seen)]
        at = next(n for n, place in enumerate(places) if self._typed_at(place) == line)
        return self.seen[places[at] + 1 : places[at + 1]]

    def _typed_at(self, place: int) -> str:
        typed = self.seen[place]
        return typed[2:] if typed.startswith("? ") else typed.partition("> ")[2]


def graph_of(text: str) -> Graph:
    graph = load("graph.yaml", text).graph
    assert graph is not None
    return graph
