"""Completes a conversation that has only lines: a model is asked once for every reply that is not
there, and from then on it runs offline."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from statecli.llm.recording import as_reply
from statecli.llm.script import ScriptProvider
from statecli.model.graph import State
from statecli.model.ports import Ask, Chunk, Provider, Question, Request, ToolResult, ToolSpec
from statecli.scenario.job import Graph, Result, result_of
from statecli.scenario.runner import NOT_OF_THE_MODEL, Case, Rehearsal, play, prepared
from statecli.scenario.writing import Change, difference, expected_of, rewritten
from statecli.text.conversation import BadConversation, Conversation, Turn, read


class Completing(Rehearsal):
    """Turns that have replies are played from the file, the others by the model; `new` has their
    replies by the number of the turn. What tools give back comes from the file in both."""

    def __init__(self, conversation: Conversation, model: Provider) -> None:
        super().__init__(conversation, model)
        self.new: dict[int, list[dict[str, Any]]] = {}
        self._number = -1

    def begin(self, turn: Turn) -> None:
        """Take up a turn."""
        self._number += 1
        if self.lacks(turn):
            super().begin(turn)
            self.new[self._number] = []
        else:
            ScriptProvider.begin(self, turn)

    def lacks(self, turn: Turn) -> bool:
        """Whether nothing in a turn is a model's."""
        return all(reply.fits(*NOT_OF_THE_MODEL) for reply in turn.replies)

    @property
    def _asks(self) -> bool:
        return self._number in self.new

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """What the file or the model says."""
        if not self._asks:
            async for chunk in ScriptProvider.complete(self, request, ask):
                yield chunk
            return
        chunks: list[Chunk] = []
        async for chunk in super().complete(request, ask):
            chunks.append(chunk)
            yield chunk
        reply = as_reply(request, chunks)
        if reply:
            self.new[self._number].append(reply)

    def _take(self, asked: str, keys: tuple[str, ...], *, keep: bool = False) -> Any:
        if not self._asks:
            return ScriptProvider._take(self, asked, keys, keep=keep)
        return super()._take(asked, keys, keep=keep)

    def result(self, tool: ToolSpec, state: State | None = None) -> ToolResult:
        found = super().result(tool, state)
        if self._asks:
            value: Any = found.structured if found.structured is not None else found.text
            self.new[self._number].append({"result": value if found.ok else {"error": found.text}})
        return found

    def answer(self, question: Question) -> str:
        text = super().answer(question)
        if self._asks:
            self.new[self._number].append({"answer": text})
        return text


def complete(
    path: str,
    content: bytes,
    graph_of: Callable[[str, Conversation], Graph],
    model: Callable[[Graph], Provider],
) -> Result:
    """The file with the replies of a model (that of its graph), and with expectations if it had
    none. Raises BadConversation where it cannot be read."""
    conversation = read(path, content)
    graph = graph_of(path, conversation)
    assert graph.loaded.graph is not None
    case = prepared(conversation, graph.loaded.graph, graph.text)
    if not isinstance(case, Case):
        raise BadConversation(*(f"{conversation.where(m.path)}: {m.message}" for m in case))
    script = Completing(conversation, model(graph))
    head = Result(path, conversation.about, graph.path, "passed")
    if not any(script.lacks(turn) for turn in conversation.turns):
        return head._replace(notes=("every turn has its replies already",))
    played = play(case, script=script, custom=graph.custom, waits=True)
    result = result_of(head, played)
    if any(problem.difference is None for problem in played.problems):
        return result._replace(notes=("nothing was written",))
    changes = [
        Change((*turn.path, "replies"), script.new[at])
        if turn.replies
        else Change(turn.path, script.new[at], "replies")
        for at, turn in enumerate(conversation.turns)
        if script.new.get(at)
    ]
    text = rewritten(conversation.document, changes)
    if text is not None and not case.expects:
        again = read(path, text.encode())
        expects = [
            Change(turn.path, expected_of(seen), "expect")
            for turn, seen in zip(again.turns, played.seen, strict=False)
            if not turn.expect
        ]
        text = rewritten(again.document, expects)
    if text is None:
        note = "it cannot be completed as it is laid out: write each turn on lines of its own"
        return result._replace(status="error", notes=(note,))
    return result._replace(
        notes=(), text=text, diff=tuple(difference(path, conversation.document.text, text))
    )
