"""`script`: a conversation file answers. A call nobody scripted and a reply nobody asked for are
errors, with their place in the file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from statecli.model.data import is_map
from statecli.model.ports import (
    Ask,
    Call,
    Chunk,
    Question,
    Request,
    ToolResult,
    ToolSpec,
    Unanswered,
)
from statecli.text.conversation import Conversation, Reply, Turn, calls_of

#: What a witness says where text is asked for.
SILENCE = "..."
#: The keys of a reply that answer each kind of request.
KEYS: dict[str, tuple[str, ...]] = {
    "reply": ("reply",),
    "delta": ("writes",),
    "turn": ("calls", "reply"),
    "choice": ("choice",),
    "tool": ("tool", "calls"),
    "arguments": ("calls",),
    "plan": ("plan",),
    "step": ("reply", "ok", "calls"),
    "verdict": ("verdict",),
    "check": ("check",),
    "skill": ("skill",),
    "structured": ("value",),
}
#: How a request is named in a message.
_NAMES = {
    "turn": "a reply or calls", "delta": "its fields", "choice": "the next state",
    "tool": "a tool", "arguments": "the arguments of a call", "check": "the second check",
    "structured": "a value",
}  # fmt: skip


class OffScript(Unanswered):
    """The run asks for something that the file does not have; the text begins with the place."""


class ScriptProvider:
    """Answers from a file, in order. `begin` a turn before its line is sent."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.label = f"script {conversation.document.path}"
        self._turn: Turn | None = None
        self._queue: list[Reply] = []
        self._calls = 0
        self._tools: dict[tuple[str, ...] | None, tuple[ToolSpec, ...]] = {}

    def lines(self) -> Iterator[str | None]:
        """The person's lines, turn by turn; asking for the next one begins its turn."""
        for turn in self.conversation.turns:
            self.begin(turn)
            yield turn.say

    def begin(self, turn: Turn) -> None:
        """Take up a turn."""
        self._turn = turn
        self._queue = list(turn.replies)

    def place(self) -> str:
        """Where the turn stands that is played."""
        path = self._turn.path if self._turn is not None else ("turns",)
        return self.conversation.where(path)

    def unused(self) -> str:
        """The reply of the turn that nobody asked for, with its place; empty if all were used."""
        if not self._queue:
            return ""
        reply = self._queue[0]
        return f"{self.conversation.where(reply.path)}: nobody asked for this reply ({_has(reply)})"

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The next reply. Raises OffScript where the file has none of the kind asked for."""
        keys = KEYS[request.what]
        if request.tools and request.what in ("reply", "delta"):
            keys = (*keys, "calls")
        if self.conversation.is_witness and not (self._queue and self._queue[0].fits(*keys)):
            if request.what in ("reply", "turn", "step"):
                yield Chunk(text=SILENCE)
                return
            if request.what == "delta":
                yield Chunk(value={"reply": SILENCE})
                return
        asked = f"'{request.state.name}' asks for {_NAMES.get(request.what, f'a {request.what}')}"
        reply = self._take(asked, keys, keep=request.what == "tool")
        for chunk in self._chunks(request, reply):
            yield chunk
        usage = reply.items.get("usage")
        if is_map(usage):
            yield Chunk(usage=usage)

    def _take(self, asked: str, keys: tuple[str, ...], *, keep: bool = False) -> Reply:
        """The next reply, if it has one of the keys. Text beside calls is said with them where
        another answer follows, else once they are done: the model is asked again after calls.
        With `keep` the calls stay for the question that comes next."""
        if not self._queue:
            raise OffScript(f"{self.place()}: {asked}, but this turn has no reply left")
        reply = self._queue[0]
        if not reply.fits(*keys):
            where = self.conversation.where(reply.path)
            listed = " or ".join(f"'{key}'" for key in keys)
            raise OffScript(f"{where}: {asked} ({listed}), but the next reply has {_has(reply)}")
        if keep and "calls" in reply.items:
            return reply
        self._queue.pop(0)
        if "calls" in keys and "calls" in reply.items and "reply" in reply.items:
            if not (self._queue and self._queue[0].fits(*keys)):
                self._queue.insert(0, Reply({"reply": reply.items["reply"]}, reply.path))
                return Reply({"calls": reply.items["calls"]}, reply.path)
        return reply

    def _chunks(self, request: Request, reply: Reply) -> Iterator[Chunk]:
        items: Mapping[str, Any] = reply.items
        what = request.what
        calls = calls_of(reply)
        if what in ("turn", "step", "reply", "delta") and calls:
            if "reply" in items:
                yield Chunk(text=items["reply"])
            for name, arguments in calls:
                self._calls += 1
                yield Chunk(call=Call(f"call-{self._calls}", name, arguments))
        elif what == "delta":
            if "reply" in items:
                yield Chunk(text=items["reply"])
            yield Chunk(value={"reply": items.get("reply", ""), **items["writes"]})
        elif what in ("reply", "turn"):
            yield Chunk(text=items.get("reply", ""))
        elif what == "tool":
            yield Chunk(value={"tool": calls[0][0] if calls else items["tool"]})
        elif what == "arguments":
            yield Chunk(value=calls[0][1] if calls else {})
        elif what == "step":
            yield Chunk(text=items.get("reply", ""), value={"ok": items.get("ok", True)})
        elif what == "choice":
            chosen = items["choice"]
            yield Chunk(value={"next_state": chosen} if isinstance(chosen, str) else chosen)
        else:
            yield Chunk(value=items[KEYS[what][0]])

    def result(self, tool: ToolSpec) -> ToolResult:
        """What the file says that a tool gave back, as data and as text; ``{error: why}`` is a
        failure."""
        reply = self._take(f"'{tool.name}' is called and gives a result", ("result",))
        value = reply.items["result"]
        structured = value if isinstance(value, dict) else None
        failed = structured is not None and set(structured) == {"error"}
        text = as_text(value["error"] if failed else reply.items.get("text", value))
        return ToolResult(not failed, text, structured)

    def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...] | None:
        """What the file says that servers offer, until it says something else; None where it says
        nothing."""
        key = None if names is None else tuple(names)
        if self._queue and "tools" in self._queue[0].items:
            reply = self._queue.pop(0)
            self._tools[key] = tuple(
                ToolSpec(t["name"], t.get("description", ""), t.get("schema"), t.get("server", ""))
                for t in reply.items["tools"]
            )
        return self._tools.get(key)

    def answer(self, question: Question) -> str:
        """What the person answers to a question in the middle of a step."""
        first = question.text.partition("\n")[0]
        return str(self._take(f'the person is asked "{first}"', ("answer",)).items["answer"])


def as_text(value: Any) -> str:
    """A result as a model reads it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _has(reply: Reply) -> str:
    """The keys of a reply in words."""
    return ", ".join(f"'{key}'" for key in reply.items)
