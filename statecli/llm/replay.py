"""`replay`: a recorded conversation answers, as long as it is asked the same."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator

from statecli.llm.asked import Asked, Reader
from statecli.llm.script import OffScript, ScriptProvider
from statecli.model.data import is_map
from statecli.model.ports import Ask, Chunk, Request
from statecli.text.conversation import Conversation, Reply, Turn

#: So many lines of a difference are shown.
MAX_LINES = 16


class ReplayProvider(ScriptProvider):
    """Plays a file that `--record` wrote. A request that differs from the recorded one is an error
    that shows the difference; answers without their request are taken as a script's are."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(conversation)
        self.label = f"replay {conversation.document.path}"
        self._recorded = Reader()

    def begin(self, turn: Turn) -> None:
        """Take up a turn. Whatever became of one when it was recorded, the next one followed."""
        super().begin(turn)
        self.broke = True

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The recorded answer. Raises OffScript."""
        reply = self.next_reply()
        told = reply.items.get("asked") if reply is not None else None
        if reply is not None and is_map(told):
            self._compare(reply, self._recorded.read(told), Asked.of(request))
        async for chunk in super().complete(request, ask):
            yield chunk

    def _compare(self, reply: Reply, before: Asked, now: Asked) -> None:
        if before == now:
            return
        said = f"'{now.state}' asks otherwise than it was recorded"
        rows = difflib.unified_diff(
            before.lines(), now.lines(), "recorded", "now", n=1, lineterm=""
        )
        shown = list(rows)
        more = [f"... {len(shown) - MAX_LINES} lines more"] if len(shown) > MAX_LINES else []
        told = "\n".join([f"{said}:", *shown[:MAX_LINES], *more])
        raise OffScript(self.conversation, reply.path, told)
