"""Conversations of the tests: a graph and a file as texts, played as `statecli test` does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from statecli.config import Config
from statecli.engine.advance import Custom
from statecli.llm.script import ScriptProvider
from statecli.load.loader import load
from statecli.model.ports import Ask, Chunk, Provider, Request
from statecli.scenario.job import Graph, Order, Result, run
from statecli.text.conversation import Turn, read, write


def graph_of(text: str, path: str = "graph.yaml") -> Graph:
    loaded = load(path, text)
    assert loaded.graph is not None
    return Graph(path, loaded.document.text, loaded, Config(), Custom())


def played(
    graph: str,
    conversation: str,
    *,
    name: str = "x.yaml",
    coverage: bool = False,
    update: bool = False,
    model: Provider | None = None,
    everything: bool = False,
) -> Result:
    """What comes of a conversation."""
    opened = graph_of(graph)
    asked = None if model is None else (lambda _: model)
    order = Order(lambda _path, _conversation: opened, coverage, update, asked, everything)
    return run(name, conversation.encode(), order)


def told(result: Result) -> list[str]:
    """Its problems, each with its place."""
    return [f"{problem.where}: {problem.message}" for problem in result.problems]


class Script:
    """A model that says one thing after the other, whatever it is asked for."""

    label = "test"

    def __init__(self, *replies: str | dict[str, Any]) -> None:
        text = write([{"replies": list(replies)}], graph="g", digest="")
        conversation = read("model.yaml", text.encode())
        self.inner = ScriptProvider(conversation)
        self.inner.begin(Turn(None, conversation.turns[0].replies, {}, ()))
        self.requests: list[Request] = []

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        self.requests.append(request)
        async for chunk in self.inner.complete(request, ask):
            yield chunk
