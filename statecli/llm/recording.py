"""Keeps what a provider answered, as the replies of a conversation file (model.md 10)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from statecli.llm.asked import Asked, Writer
from statecli.llm.script import END, TIMEOUT, UNREADABLE, as_text
from statecli.llm.scrub import known_secrets, scrubbed
from statecli.model.event import Chose
from statecli.model.ports import (
    Ask,
    Call,
    Chunk,
    EndOfInput,
    ModelError,
    Provider,
    Request,
    ToolResult,
    ToolSpec,
)

#: The key of a structured answer in a conversation file, by what was asked.
_VALUES = {"choice": "choice", "check": "check", "plan": "plan", "verdict": "verdict",
           "skill": "skill", "tool": "tool", "structured": "value"}  # fmt: skip

#: What stops a step from outside.
_STOPS = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, TimeoutError, EndOfInput)
#: Parts of the usage that stand beside it.
_BESIDE = ("latency", "attempts", "model")


class RecordingProvider:
    """Stands before another provider; `turns` grows as the conversation does.

    `gap` says why the conversation cannot be played from a file, once something happened that no
    file can say (a jump, a value set by hand); empty while it can. `detailed`: also keep what was
    asked and who chose (`--record`).
    """

    def __init__(self, inner: Provider) -> None:
        self.inner = inner
        self.label = inner.label
        self.turns: list[dict[str, Any]] = []
        self.gap = ""
        self.detailed = False
        self._asked = Writer()
        self._tools: dict[tuple[str, ...] | None, tuple[ToolSpec, ...]] = {}

    def begin(self, say: str | None) -> None:
        """A new turn, with the person's line (None: the graph goes on by itself)."""
        turn: dict[str, Any] = {} if say is None else {"say": self.clean(say)}
        self.turns.append(turn)

    def undo(self) -> None:
        """Forget the last line of the person and everything after it."""
        while self.turns and "say" not in self.turns.pop():
            pass
        self._tools.clear()

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """Pass every chunk on, and keep them as one reply, also of an answer that breaks off."""
        chunks: list[Chunk] = []
        # Branches may ask at the same time: replies stand as they were asked for, not as they came.
        replies, reply = self._replies(), dict[str, Any]()
        replies.append(reply)
        stream = self.inner.complete(request, ask)
        try:
            async for chunk in stream:
                chunks.append(chunk)
                yield chunk
        except ModelError as error:
            reply.update(self._kept(request, chunks, {"failed": str(error)}))
            raise
        except _STOPS as error:
            reply.update(self._kept(request, chunks, _stopped("model", error)))
            raise
        else:
            reply.update(self._kept(request, chunks, {}))
        finally:
            if not reply:
                replies[:] = [other for other in replies if other is not reply]
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    def _kept(self, request: Request, chunks: list[Chunk], ended: dict[str, Any]) -> dict[str, Any]:
        """The reply that chunks are. `ended`: how the answer broke off, if it did."""
        reply = as_reply(request, chunks)
        if ended:
            text = "".join(chunk.text for chunk in chunks)
            reply = {**ended, **({"reply": text} if text else {})}
        usage = next((chunk.usage for chunk in reversed(chunks) if chunk.usage is not None), None)
        if usage is not None:
            reply["usage"] = {key: value for key, value in usage.items() if key not in _BESIDE}
            reply.update((key, usage[key]) for key in _BESIDE if key in usage)
        if self.detailed:
            reply["asked"] = self._asked.write(Asked.of(request))
        kept: dict[str, Any] = self.clean(reply)
        return kept

    def chose(self, body: Chose) -> None:
        """Which way a turn went, and who chose it."""
        if self.detailed and self.turns:
            told: dict[str, Any] = {"from": body.state, "to": body.target, "by": body.by}
            if body.answers:
                told["attempts"] = len(body.answers)
            self.turns[-1].setdefault("chose", []).append(told)

    def tools(self, names: Sequence[str] | None, tools: tuple[ToolSpec, ...]) -> None:
        """What servers offer, where that is new."""
        key = None if names is None else tuple(names)
        if self._tools.get(key) != tools:
            self._tools[key] = tools
            kept = [
                {name: value for name, value in tool._asdict().items() if value} for tool in tools
            ]
            self._replies().append(self.clean({"tools": kept}))

    def result(self, result: ToolResult) -> None:
        """What a tool gave back."""
        value: Any = result.structured if result.structured is not None else result.text
        kept = {"result": value if result.ok else {"error": result.text}}
        if result.ok and result.text != as_text(value):
            kept["text"] = result.text
        self._replies().append(self.clean(kept))

    def denied(self, reason: str) -> None:
        """That the person did not allow a call."""
        self._replies().append(self.clean({"denied": reason}))

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Something other than a model is at work: whether it is stopped there is kept."""
        try:
            yield
        except _STOPS as error:
            self._replies().append(_stopped(place, error))
            raise

    @property
    def stopped(self) -> bool:
        """Whether the last that is kept of the turn says that it was stopped."""
        replies: list[Any] = self.turns[-1].get("replies", []) if self.turns else []
        return bool(replies) and "stopped" in replies[-1]

    def answer(self, text: str) -> None:
        """What the person answered to a question in the middle of a step."""
        self._replies().append({"answer": self.clean(text)})

    def clean(self, value: Any) -> Any:
        """What is kept of a value: nothing secret."""
        return scrubbed(value, known_secrets())

    def _replies(self) -> list[Any]:
        if not self.turns:
            self.begin(None)
        replies: list[Any] = self.turns[-1].setdefault("replies", [])
        return replies


def _stopped(place: str, error: BaseException) -> dict[str, Any]:
    """That a step was stopped at a place, and by what if it was not the person."""
    why = END if isinstance(error, EndOfInput) else ""
    why = TIMEOUT if isinstance(error, TimeoutError) else why
    return {"stopped": place, **({"why": why} if why else {})}


def as_reply(request: Request, chunks: list[Chunk]) -> dict[str, Any]:
    """One answer of a model as an item of `replies`."""
    text = "".join(chunk.text for chunk in chunks)
    value = next((chunk.value for chunk in reversed(chunks) if chunk.value is not None), None)
    # Where no tools were offered nobody looks at calls.
    made = [chunk.call for chunk in chunks if chunk.call is not None] if request.tools else []
    calls = [{call.name: _arguments(call)} for call in made]
    reply: dict[str, Any] = {}
    if calls:
        reply["calls"] = calls
    elif value is None and request.what not in ("reply", "turn", "step"):
        return {"raw": text}
    elif request.what == "arguments":
        reply["calls"] = [{request.tools[0].name: value}]
    elif request.what == "delta" and isinstance(value, dict):
        nulls = request.state.settings.get("allow_writes_null") is True
        writes = {k: v for k, v in value.items() if k != "reply" and (nulls or v is not None)}
        reply["writes"] = writes
    elif request.what == "step" and isinstance(value, dict):
        reply["ok"] = value.get("ok") is not False
    elif request.what in _VALUES and value is not None:
        key = _VALUES[request.what]
        inner = {"choice": "next_state", "tool": "tool"}.get(request.what)
        # A choice that is more than a name stays as it was answered.
        plain = inner is not None and isinstance(value, dict) and value.keys() == {inner}
        plain = plain and isinstance(value[inner], str)
        reply[key] = value[inner] if plain else value
    if (text or not reply) and request.what in ("reply", "delta", "turn", "step"):
        reply["reply"] = text
    return reply


def _arguments(call: Call) -> dict[str, Any]:
    return {UNREADABLE: call.error} if call.error else dict(call.arguments)
