"""What a body gets: where the run is, the world, and how to say what happened."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

from statecli.kernel.settle import Recorder
from statecli.model.event import Answered, Asked, Body, Streamed
from statecli.model.graph import KINDS, Graph, State
from statecli.model.ports import Call, Request, World
from statecli.model.snapshot import Snapshot, Token

#: Text that was shown is stored at least this often, in seconds.
STREAM_SECONDS = 1.0


class Delta(NamedTuple):
    """A piece of text on its way to the person; shown, not stored."""

    text: str


class Answer(NamedTuple):
    """All of a model's answer: its text, structured value, calls and usage."""

    text: str
    value: Any
    calls: tuple[Call, ...] = ()
    usage: Mapping[str, Any] | None = None


class Step:
    """One body at work.

    `emit` records what happened at once; a `yield` of the body lets it be stored and shown before
    the body goes on. Afterwards the engine chooses the next state, unless the body says more:
    `options` narrows the targets, `target` names one of the options, `jump` any state, `again`
    waits for the person and runs the body again, `ended` ends the run.
    """

    def __init__(self, to: Recorder, world: World, token: int) -> None:
        self.to = to
        self.world = world
        self.number = token
        self.options: Sequence[str] | None = None
        self.target: str | None = None
        self.jump: str | None = None
        self.again = False
        self.ended = False
        self.answer = Answer("", None)
        self.note = ""

    @property
    def graph(self) -> Graph:
        return self.to.graph

    @property
    def snapshot(self) -> Snapshot:
        return self.to.snapshot

    @property
    def token(self) -> Token:
        return self.to.token(self.number)

    @property
    def state(self) -> State:
        return self.graph.states[self.token.state]

    def emit(self, body: Body) -> None:
        self.to.emit(body)

    def request(self, what: str, prompt: str = "", **more: Any) -> Request:
        """A question to the model about this state."""
        return Request(what, self.graph, self.state, self.snapshot, prompt, **more)

    async def ask(self, request: Request) -> AsyncIterator[Delta | None]:
        """Ask the model; its text streams through, and `answer` holds the last chunks after.

        The text that was shown is stored at least every second.
        """
        self.emit(Asked(self.number, self.state.name, request.what))
        yield None
        text, value, usage = "", None, None
        calls: list[Call] = []
        stored, last = "", self.world.now()
        async for chunk in self.world.complete(request):
            if chunk.text:
                text += chunk.text
                yield Delta(chunk.text)
                if self.world.now() - last >= STREAM_SECONDS:
                    self.emit(Streamed(self.number, self.state.name, text[len(stored) :]))
                    stored, last = text, self.world.now()
                    yield None
            if chunk.call is not None:
                calls.append(chunk.call)
            if chunk.value is not None:
                value = chunk.value
            usage = chunk.usage or usage
        self.answer = Answer(text, value, tuple(calls), usage)

    def say(self, text: str) -> None:
        """Something for the person to read, from the state itself or a model."""
        identity = self.world.new_id()
        self.emit(Answered(self.number, self.state.name, text, identity, usage=self.answer.usage))


class Kind(Protocol):
    """A module of `kinds/`: what the body of a state of this kind does."""

    def run(self, step: Step) -> AsyncIterator[Delta | None]: ...


#: The same as a function: custom kinds (plugins) and Python functions have no module here.
Run = Callable[[Step], AsyncIterator[Delta | None]]


@cache
def body_of(kind: str) -> Run | None:
    """The body of a built-in kind, None for a kind that nobody here knows."""
    if kind not in KINDS:
        return None
    found: Run = importlib.import_module(f"statecli.kinds.{kind}").run
    return found
