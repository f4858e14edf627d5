"""What a body gets: where the run is, the world, and how to say what happened."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any, NamedTuple, Protocol, TypeVar

from statecli.kernel.change import change
from statecli.kernel.limits import out_of_time, time_left, used_up
from statecli.kernel.recorder import Recorder
from statecli.model.event import Answered, Asked, Body, Limited, Refused, Spent, Streamed, Warned
from statecli.model.graph import KINDS, WAITING_KINDS, Graph, State
from statecli.model.ports import Call, ModelError, Request, World
from statecli.model.snapshot import Snapshot, Token

PieceT = TypeVar("PieceT")
#: Text that was shown is stored at least this often, in seconds.
STREAM_SECONDS = 1.0


class Delta(NamedTuple):
    """A piece of text on its way to the person; shown, not stored. `token`: whose, of a run that
    has split. `item`: where a body in Python streams what is no text, the `Item` with it."""

    text: str
    token: int = 0
    item: Any = None


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
        hit = used_up(self.graph, self.snapshot, self._worked())
        if hit is not None:
            self.emit(Limited(self.number, self.token.state, hit.limit, hit.message))
        return hit is not None

    def _worked(self) -> float:
        """The seconds that the session was at work."""
        return self.world.now() - self.since if self.since is not None else 0.0

    async def ask(self, request: Request, *, shown: bool = True) -> AsyncIterator[Delta | None]:
        """Ask the model; its text streams through, and `answer` holds the last chunks after.

        Text that is shown is stored at least every second; text for the run alone is neither. Where
        the answer breaks off, what was shown of it stays, marked as partial.
        """
        name = request.state.name
        request = request._replace(seconds=self._left())
        self.emit(Asked(self.number, name, request.what))
        yield None
        text, value = "", None
        calls: list[Call] = []
        stored, last = 0, self.world.now()
        try:
            async with closing(self.world.complete(request)) as chunks:
                async for chunk in chunks:
                    if chunk.text:
                        text += chunk.text
                        if shown:
                            yield Delta(chunk.text)
                            if self.world.now() - last >= STREAM_SECONDS:
                                self.emit(Streamed(self.number, name, text[stored:]))
                                stored, last = len(text), self.world.now()
                                yield None
                    if chunk.call is not None:
                        calls.append(chunk.call)
                    if chunk.value is not None:
                        value = chunk.value
                    if chunk.usage is not None:
                        self.emit(spent(self.number, name, chunk.usage))
                    if chunk.note:
                        self.emit(Warned(self.number, name, chunk.note))
                        yield None
        except (ModelError, TimeoutError) as error:
            if shown and text.strip():
                said = Answered(self.number, name, text, self.world.new_id(), partial=True)
                self.emit(said)
            if isinstance(error, TimeoutError) and request.seconds is not None:
                raise self._out_of_time() from None
            raise
        self.answer = Answer(text, value, tuple(calls))

    def _left(self) -> float | None:
        """The seconds until the limit `timeout`; None where there is none."""
        return time_left(self.graph, self._worked()) if self.since is not None else None

    def _out_of_time(self) -> OutOfTime | ModelError:
        """Record that the limit `timeout` struck in the middle of a step."""
        hit = out_of_time(self.graph)
        if self.snapshot.status != "running":  # a plan that says its farewell
            return ModelError(hit.message)
        self.emit(Limited(self.number, self.token.state, hit.limit, hit.message))
        return OutOfTime(hit.message)

    def say(self, text: str) -> None:
        """Something for the person to read, from the state itself or a model."""
        self.emit(Answered(self.number, self.token.state, text, self.world.new_id()))


class OutOfTime(Exception):
    """The limit `timeout` struck while a model was at work; that is recorded already."""


#: Asks a model something, and goes on until it has answered.
Asks = Callable[[Request], AsyncIterator[Delta | None]]


async def asked_twice(
    step: Step, request: Request, misfit: Callable[[Any], str], ask: Asks | None = None
) -> AsyncIterator[Delta | None]:
    """Ask for a value, and once more where it does not fit (`misfit` says why). Raises ModelError
    where it still does not. Afterwards the run may be stopped, where `ask` may."""
    asks = ask or partial(step.ask, shown=False)
    async for piece in asks(request):
        yield piece
    reason = misfit(step.answer.value)
    if not reason or step.snapshot.status != "running":
        return
    step.emit(Refused(step.number, step.state.name, "answer", reason))
    async for piece in asks(request._replace(note=reason)):
        yield piece
    reason = misfit(step.answer.value) if step.snapshot.status == "running" else ""
    if reason:
        raise ModelError(reason)


def spent(number: int, name: str, usage: Mapping[str, Any]) -> Spent:
    """What one answer took, as an event (see `Chunk.usage`)."""
    tokens_in, tokens_out, attempts = (
        value if type(value) is int else 0
        for value in map(usage.get, ("input", "output", "attempts"))
    )
    cost, seconds = (
        float(value) if isinstance(value, int | float) else 0.0
        for value in map(usage.get, ("cost", "latency"))
    )
    model = usage.get("model")
    return Spent(
        number, name, tokens_in + tokens_out, cost, tokens_in, tokens_out, seconds,
        attempts or 1, model if isinstance(model, str) else "", usage.get("estimated") is True,
    )  # fmt: skip


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
