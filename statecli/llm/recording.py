"""Keeps what a provider answered, as the replies of a conversation file (model.md 10)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from statecli.llm.script import as_text
from statecli.model.ports import Ask, Chunk, Provider, Request, ToolResult, ToolSpec

#: The key of a structured answer in a conversation file, by what was asked.
_VALUES = {"choice": "choice", "check": "check", "plan": "plan", "verdict": "verdict",
           "skill": "skill", "tool": "tool", "structured": "value"}  # fmt: skip


class RecordingProvider:
    """Stands before another provider; `turns` grows as the conversation does.

    `gap` says why the conversation cannot be played from a file, once something happened that no
    file can say (a jump, a value set by hand); empty while it can.
    """

    def __init__(self, inner: Provider) -> None:
        self.inner = inner
        self.label = inner.label
        self.turns: list[dict[str, Any]] = []
        self.gap = ""
        self._tools: dict[tuple[str, ...] | None, tuple[ToolSpec, ...]] = {}

    def begin(self, say: str | None) -> None:
        """A new turn, with the person's line (None: the graph goes on by itself)."""
        turn: dict[str, Any] = {} if say is None else {"say": say}
        self.turns.append(turn)

    def undo(self) -> None:
        """Forget the last line of the person and everything after it."""
        while self.turns and "say" not in self.turns.pop():
            pass
        self._tools.clear()

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """Pass every chunk on, and keep them as one reply."""
        chunks: list[Chunk] = []
        async for chunk in self.inner.complete(request, ask):
            chunks.append(chunk)
            yield chunk
        reply = as_reply(request, chunks)
        if reply:
            self._replies().append(reply)

    def tools(self, names: Sequence[str] | None, tools: tuple[ToolSpec, ...]) -> None:
        """What servers offer, where that is new."""
        key = None if names is None else tuple(names)
        if self._tools.get(key) != tools:
            self._tools[key] = tools
            kept = [
                {name: value for name, value in tool._asdict().items() if value} for tool in tools
            ]
            self._replies().append({"tools": kept})

    def result(self, result: ToolResult) -> None:
        """What a tool gave back."""
        value: Any = result.structured if result.structured is not None else result.text
        kept = {"result": value if result.ok else {"error": result.text}}
        if result.ok and result.text != as_text(value):
            kept["text"] = result.text
        self._replies().append(kept)

    def answer(self, text: str) -> None:
        """What the person answered to a question in the middle of a step."""
        self._replies().append({"answer": text})

    def _replies(self) -> list[Any]:
        if not self.turns:
            self.begin(None)
        replies: list[Any] = self.turns[-1].setdefault("replies", [])
        return replies


def as_reply(request: Request, chunks: list[Chunk]) -> dict[str, Any]:
    """One answer of a model as an item of `replies`."""
    text = "".join(chunk.text for chunk in chunks)
    value = next((chunk.value for chunk in reversed(chunks) if chunk.value is not None), None)
    calls = [{c.call.name: dict(c.call.arguments)} for c in chunks if c.call is not None]
    reply: dict[str, Any] = {}
    if calls:
        reply["calls"] = calls
    elif request.what == "arguments":
        reply["calls"] = [{request.tools[0].name: value or {}}]
    elif request.what == "delta" and isinstance(value, dict):
        writes = {key: item for key, item in value.items() if key != "reply" and item is not None}
        reply["writes"] = writes
    elif request.what == "step" and isinstance(value, dict) and value.get("ok") is False:
        reply["ok"] = False
    elif request.what in _VALUES and value is not None:
        key = _VALUES[request.what]
        inner = {"choice": "next_state", "tool": "tool"}.get(request.what)
        plain = isinstance(value, dict) and inner is not None and inner in value
        reply[key] = value[inner] if plain else value
    if text and request.what in ("reply", "delta", "turn", "step"):
        reply["reply"] = text
    return reply
