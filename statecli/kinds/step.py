"""What a body gets: where the run is, the world, and how to say what happened."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar

from statecli.kernel.change import change
from statecli.kernel.limits import used_up
from statecli.kernel.settle import Recorder
from statecli.model.event import Answered, Asked, Body, Limited, Spent, Streamed
from statecli.model.graph import KINDS, WAITING_KINDS, Graph, State
from statecli.model.ports import Call, Request, World
from statecli.model.snapshot import Snapshot, Token

PieceT = TypeVar("PieceT")
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


class Step:
    """One body at work.

    `emit` records what happened at once; a `yield` of the body lets it be stored and shown before
    the body goes on. Afterwards the engine chooses the next state, unless the body says more:
    `options` narrows the targets that have no guard, `answered` is what the model said already
    about where to go, `jump` names any state, `again` waits for the person and runs the body again,
    `ended` ends the run. `waiting` are custom kinds that wait; `since` is when the run would have
    begun if it had never rested.
    """

    def __init__(
        self,
        to: Recorder,
        world: World,
        token: int,
        waiting: frozenset[str] = frozenset(),
        since: float | None = None,
    ) -> None:
        self.to = to
        self.world = world
        self.number = token
        self.waiting = waiting
        self.since = since
        self.options: Sequence[str] | None = None
        self.answered: object = None
        self.jump: str | None = None
        self.again = False
        self.ended = False
        self.answer = Answer("", None)

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

    def request(
        self, what: str, prompt: str = "", state: State | None = None, **more: Any
    ) -> Request:
        """A question to the model about this state (or another one)."""
        return Request(what, self.graph, state or self.state, self.snapshot, prompt, **more)

    def waits(self, name: str) -> bool:
        """Whether a state hands control back to the person."""
        state = self.graph.states.get(name)
        return state is not None and (state.kind in WAITING_KINDS or state.kind in self.waiting)

    def change(self, delta: Mapping[str, Any], *, null: bool = False) -> None:
        """Record values. Raises Misfit for what a field cannot hold."""
        change(self.to, self.number, delta, self.world.new_id, null=null)

    def over_budget(self) -> bool:
        """Whether a budget of the session is used up; the run is stopped then."""
        if not self.graph.limits:
            return False
        seconds = self.world.now() - self.since if self.since is not None else 0.0
        hit = used_up(self.graph, self.snapshot, seconds)
        if hit is not None:
            self.emit(Limited(self.number, self.token.state, hit.limit, hit.message))
        return hit is not None

    async def ask(self, request: Request, *, shown: bool = True) -> AsyncIterator[Delta | None]:
        """Ask the model; its text streams through, and `answer` holds the last chunks after.

        Text that is shown is stored at least every second; text for the run alone is neither.
        """
        self.emit(Asked(self.number, request.state.name, request.what))
        yield None
        text, value = "", None
        calls: list[Call] = []
        stored, last = 0, self.world.now()
        async with closing(self.world.complete(request)) as chunks:
            async for chunk in chunks:
                if chunk.text:
                    text += chunk.text
                    if shown:
                        yield Delta(chunk.text)
                        if self.world.now() - last >= STREAM_SECONDS:
                            self.emit(Streamed(self.number, request.state.name, text[stored:]))
                            stored, last = len(text), self.world.now()
                            yield None
                if chunk.call is not None:
                    calls.append(chunk.call)
                if chunk.value is not None:
                    value = chunk.value
                if chunk.usage is not None:
                    self._spent(request.state.name, chunk.usage)
        self.answer = Answer(text, value, tuple(calls))

    def _spent(self, name: str, usage: Mapping[str, Any]) -> None:
        """What a call cost: `input` and `output` tokens, `cost` in money."""
        tokens = sum(n for n in (usage.get("input"), usage.get("output")) if type(n) is int)
        cost = usage.get("cost")
        money = float(cost) if isinstance(cost, int | float) else 0.0
        self.emit(Spent(self.number, name, tokens, money))

    def say(self, text: str) -> None:
        """Something for the person to read, from the state itself or a model."""
        self.emit(Answered(self.number, self.token.state, text, self.world.new_id()))


@asynccontextmanager
async def closing(pieces: AsyncIterator[PieceT]) -> AsyncIterator[AsyncIterator[PieceT]]:
    """A stream that is closed at once when nobody listens any more: a model's answer, a body."""
    try:
        yield pieces
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


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
