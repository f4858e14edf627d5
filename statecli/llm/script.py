"""`script`: a conversation file answers. A call nobody scripted and a reply nobody asked for are
errors, with their place in the file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from statecli.model.ports import Ask, Call, Chunk, ModelError, Request, ToolResult, ToolSpec
from statecli.text.conversation import Conversation, Reply, calls_of

#: What a witness says where text is asked for.
SILENCE = "..."
#: The key of a reply that answers each kind of request.
KEYS: dict[str, tuple[str, ...]] = {
    "reply": ("reply",),
    "delta": ("writes",),
    "turn": ("calls", "reply"),
    "choice": ("choice",),
    "tool": ("tool", "calls"),
    "arguments": ("calls",),
    "plan": ("plan",),
    "step": ("reply", "result"),
    "verdict": ("verdict",),
    "check": ("check",),
    "skill": ("skill",),
    "structured": ("value",),
}


class ScriptProvider:
    """Answers from a file, in order. `begin` a turn before its line is sent, `finish` it after."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.label = f"script {conversation.document.path}"
        self._queue: list[Reply] = []
        self._calls = 0

    def lines(self) -> Iterator[str | None]:
        """The person's lines, turn by turn; asking for the next one begins its turn."""
        for number in range(len(self.conversation.turns)):
            yield self.begin(number)

    def begin(self, number: int) -> str | None:
        """Take up a turn; the line that the person says in it."""
        turn = self.conversation.turns[number]
        self._queue = list(turn.replies)
        return turn.say

    def unused(self) -> str:
        """The reply of the turn that nobody asked for, with its place; empty if all were used."""
        if not self._queue:
            return ""
        reply = self._queue[0]
        keys = ", ".join(reply.items)
        return f"{self.conversation.where(reply.path)}: nobody asked for this reply ({keys})"

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The next reply; ModelError where the file has none of the kind that is asked for."""
        keys = KEYS[request.what]
        if self.conversation.is_witness and (not self._queue or not self._queue[0].fits(*keys)):
            if request.what in ("reply", "turn", "step"):
                yield Chunk(text=SILENCE)
                return
        reply = self._take(request, keys)
        for chunk in self._chunks(request, reply):
            yield chunk

    def _take(self, request: Request, keys: tuple[str, ...]) -> Reply:
        wanted = f"'{request.state.name}' asks the model for a {request.what}"
        if not self._queue:
            path = self.conversation.document.path
            raise ModelError(f"{path}: {wanted}, but this turn has no reply left")
        reply = self._queue[0]
        if not reply.fits(*keys):
            has = ", ".join(reply.items)
            where = self.conversation.where(reply.path)
            raise ModelError(f"{where}: {wanted} ({' or '.join(keys)}), but the reply has {has}")
        keep = request.what == "tool" and "calls" in reply.items
        if not keep:
            self._queue.pop(0)
        return reply

    def _chunks(self, request: Request, reply: Reply) -> Iterator[Chunk]:
        items: Any = reply.items
        what = request.what
        if what == "delta":
            if "reply" in items:
                yield Chunk(text=str(items["reply"]))
            yield Chunk(value={"reply": items.get("reply", ""), **items["writes"]})
        elif what == "turn":
            for name, arguments in calls_of(reply):
                self._calls += 1
                yield Chunk(call=Call(f"call-{self._calls}", name, arguments))
            if "reply" in items:
                yield Chunk(text=str(items["reply"]))
        elif what == "tool":
            calls = calls_of(reply)
            yield Chunk(value={"tool": calls[0][0] if calls else items["tool"]})
        elif what == "arguments":
            calls = calls_of(reply)
            yield Chunk(value=calls[0][1] if calls else {})
        elif what in ("reply", "step"):
            yield Chunk(text=str(items.get("reply", items.get("result", ""))))
        elif what == "choice":
            chosen = items["choice"]
            yield Chunk(value={"next_state": chosen} if isinstance(chosen, str) else chosen)
        else:
            yield Chunk(value=items[KEYS[what][0]])

    def result(self, tool: ToolSpec) -> ToolResult:
        """What the file says that a tool gave back."""
        if not self._queue or "result" not in self._queue[0].items:
            path = self.conversation.document.path
            raise ModelError(f"{path}: '{tool.name}' is called, but no 'result' comes next")
        value = self._queue.pop(0).items["result"]
        structured = value if isinstance(value, dict) else None
        failed = structured is not None and set(structured) == {"error"}
        return ToolResult(not failed, str(value["error"] if failed else value), structured)
