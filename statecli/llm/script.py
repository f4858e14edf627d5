"""`script`: a conversation file answers. A call nobody scripted and a reply nobody asked for are
errors, with their place in the file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from statecli.llm.misspelt import asked_again, in_full, misfit, result_misfit
from statecli.model.data import is_map, shown
from statecli.model.graph import State
from statecli.model.ports import (
    Ask,
    Call,
    Chunk,
    EndOfInput,
    ModelError,
    Question,
    Request,
    Stopped,
    ToolResult,
    ToolSpec,
    Unanswered,
)
from statecli.model.span import Path
from statecli.model.wording import listed
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
#: Why a step was stopped, where it was not the person.
TIMEOUT, END = "timeout", "end of input"
#: What a model may do whatever it is asked.
_WHATEVER = ("failed", "raw")
#: Stands for the arguments of a call that cannot be read as such, with what is wrong with them.
UNREADABLE = "$unreadable"
#: What is told of an answer beside its usage.
_TOLD = ("latency", "attempts", "model")
#: What follows calls before the model is asked again.
_OF_CALLS = ("check", "result", "answer", "tools")
_MOVED = (
    "; the calls beside this text moved the run on, and the model is not asked there any more:"
    " leave it out, or say it in a reply of its own"
)
_NONE_LEFT = ", but this turn has no reply left"
#: How a request is named in a message.
_NAMES = {
    "turn": "a reply or calls", "delta": "its fields", "choice": "the next state",
    "tool": "a tool", "arguments": "the arguments of a call", "check": "the second check",
    "structured": "a value",
}  # fmt: skip


class OffScript(Unanswered):
    """The run asks for something that the file does not have; the text begins with the place.

    `path`, `part` and `said` are the place and the rest of the text.
    """

    def __init__(
        self, conversation: Conversation, path: Path, said: str, part: str = "value"
    ) -> None:
        super().__init__(f"{conversation.where(path, part)}: {said}")
        self.conversation = conversation
        self.path = path
        self.part = part
        self.said = said


class ScriptProvider:
    """Answers from a file, in order. `begin` a turn before its line is sent. `broke`: in this turn
    the file made the model break off, so a run that fails there goes as it is written."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.label = f"script {conversation.document.path}"
        self.broke = False
        self._turn: Turn | None = None
        self._queue: list[Reply] = []
        self._last: Reply | None = None
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
        self._last = None
        self.broke = False

    def place(self) -> str:
        """Where the turn stands that is played."""
        return self.conversation.where(self._at())

    def _at(self) -> Path:
        return self._turn.path if self._turn is not None else ("turns",)

    def next_reply(self) -> Reply | None:
        """The reply that comes next."""
        return self._queue[0] if self._queue else None

    def unused(self) -> str:
        """The reply of the turn that nobody asked for, with its place; empty if all were used."""
        left = self.left_over()
        return str(OffScript(self.conversation, *left)) if left is not None else ""

    def left_over(self) -> tuple[Path, str] | None:
        """The same, as the place and what to say of it."""
        if not self._queue:
            return None
        reply = self._queue[0]
        text = reply.items.get("reply")
        told = f": {shown(text)}" if isinstance(text, str) else ""
        why = _MOVED if reply.beside else ""
        return reply.path, f"nobody asked for this reply ({_has(reply)}){told}{why}"

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """The next reply. Raises OffScript where the file has none of the kind asked for."""
        if self._stops_at("model"):
            reply = self._queue.pop(0)
            yield Chunk(text=str(reply.items.get("reply", "")))
            self._stop(reply, limited=request.seconds is not None)
        keys = (*KEYS[request.what], *_WHATEVER)
        if request.tools and request.what in ("reply", "delta", "plan", "verdict", "choice"):
            keys = (*keys, "calls")
        self._bring_forward(keys, request)
        if self.conversation.witness and not (self._queue and self._queue[0].fits(*keys)):
            if request.what in ("reply", "turn", "step"):
                yield Chunk(text=SILENCE)
                return
            if request.what == "delta":
                yield Chunk(value={"reply": SILENCE})
                return
        again = asked_again(request)
        asked = f"'{request.state.name}' asks for {_wanted(request)}{again}"
        if again and not self._queue and self._last is not None:  # what was refused is at fault
            raise OffScript(self.conversation, self._last.path, asked + _NONE_LEFT)
        reply = self._last = self._take(asked, keys, keep=request.what == "tool")
        if not (reply.recorded or self.conversation.witness):
            misspelt = misfit(request, reply)
            if misspelt is not None:
                raise OffScript(self.conversation, *misspelt)
        for chunk in self._chunks(request, reply):
            yield chunk
        usage = reply.items.get("usage")
        if is_map(usage):
            notes = {key: reply.items[key] for key in _TOLD if key in reply.items}
            yield Chunk(usage={**usage, **notes})
        if "failed" in reply.items:
            self.broke = True
            raise ModelError(str(reply.items["failed"]))

    def _bring_forward(self, keys: tuple[str, ...], request: Request | None = None) -> None:
        """In a witness the first reply that can be meant comes first: of branches that run side by
        side it is not said whose body comes to an end before whose."""
        if self.conversation.witness:
            meant = (at for at, reply in enumerate(self._queue) if _suits(reply, keys, request))
            at = next(meant, 0)
            self._queue[:0] = [self._queue.pop(at)] if at else []

    def _take(self, asked: str, keys: tuple[str, ...], *, keep: bool = False) -> Reply:
        """The next reply, if it has one of the keys. Text beside calls is said with them where
        another answer follows, else once they are done: the model is asked again after calls.
        With `keep` the calls stay for the question that comes next."""
        if not self._queue:
            raise OffScript(self.conversation, self._at(), asked + _none_left(keys))
        reply = self._queue[0]
        if not reply.fits(*keys):
            said = f"{asked} ({_answered_by(keys)}), but the next reply has {_has(reply)}"
            said += _MOVED if reply.beside else ""
            raise OffScript(self.conversation, reply.path, said)
        if keep and "calls" in reply.items:
            return reply
        self._queue.pop(0)
        both = "calls" in keys and "calls" in reply.items and "reply" in reply.items
        if both and not reply.recorded:
            at = self._answered()
            # In a turn of a plan every other answer comes after the calls have moved the run on.
            turn = keys[: len(KEYS["turn"])] == KEYS["turn"]
            follows = at < len(self._queue) and (turn or self._queue[at].fits(*keys))
            if not follows:
                self._queue.insert(at, Reply({"reply": reply.items["reply"]}, reply.path, True))
                return Reply({"calls": reply.items["calls"]}, reply.path)
        return reply

    def _answered(self) -> int:
        """How many of the next replies answer calls: checks, results, what the person says."""
        for at, reply in enumerate(self._queue):
            if not reply.fits(*_OF_CALLS):
                return at
        return len(self._queue)

    def _stops_at(self, place: str) -> bool:
        return bool(self._queue) and self._queue[0].items.get("stopped") == place

    def _stop(self, reply: Reply, *, limited: bool = False) -> NoReturn:
        """Stop the step as it was stopped. `limited`: the run has a limit of time."""
        self.broke, why = True, reply.items.get("why")
        if why == END:
            raise EndOfInput
        if why == TIMEOUT and limited:
            raise TimeoutError
        if why == TIMEOUT:
            raise ModelError("there was no time left when this was recorded")
        raise Stopped

    def stop(self, place: str) -> None:
        """Stop the step where the file says that it was stopped there."""
        if self._stops_at(place):
            self._stop(self._queue.pop(0))

    def permit(self) -> str:
        """Why a call is not allowed; empty if it is."""
        self.stop("permission")
        if self._queue and "denied" in self._queue[0].items:
            return str(self._queue.pop(0).items["denied"])
        return ""

    def _chunks(self, request: Request, reply: Reply) -> Iterator[Chunk]:
        items: Mapping[str, Any] = reply.items
        what = request.what
        if "failed" in items:
            if "reply" in items and what in ("reply", "delta", "turn", "step"):
                yield Chunk(text=items["reply"])
            return
        if "raw" in items:
            yield Chunk(text=items["raw"])
            return
        calls = calls_of(reply)
        if calls and what not in ("tool", "arguments"):
            if "reply" in items:
                yield Chunk(text=items["reply"])
            for name, arguments in calls:
                self._calls += 1
                error = arguments.get(UNREADABLE)
                given = {} if error else arguments
                yield Chunk(call=Call(f"call-{self._calls}", name, given, str(error or "")))
        elif what == "delta":
            if "reply" in items:
                yield Chunk(text=items["reply"])
            yield Chunk(value={"reply": items.get("reply", ""), **items["writes"]})
        elif what in ("reply", "turn"):
            yield Chunk(text=items.get("reply", ""))
        elif what == "tool":
            tool = calls[0][0] if calls else items["tool"]
            written = isinstance(tool, str)
            yield Chunk(value={"tool": in_full(tool, request.tools)} if written else tool)
        elif what == "arguments":
            yield Chunk(value=calls[0][1] if calls else {})
        elif what == "step":
            yield Chunk(text=items.get("reply", ""), value={"ok": items.get("ok", True)})
        elif what == "choice":
            chosen = items["choice"]
            yield Chunk(value={"next_state": chosen} if isinstance(chosen, str) else chosen)
        else:
            yield Chunk(value=items[KEYS[what][0]])

    def result(self, tool: ToolSpec, state: State | None = None) -> ToolResult:
        """What the file says that a tool gave back, as data and as text; ``{error: why}`` is a
        failure. `state`: where it was called."""
        self.stop("call")
        self._bring_forward(("result",))
        reply = self._take(f"'{tool.name}' is called and gives a result", ("result",))
        value = reply.items["result"]
        misspelt = result_misfit(state, reply)
        if misspelt is not None:
            raise OffScript(self.conversation, *misspelt)
        structured = value if isinstance(value, dict) else None
        failed = structured is not None and set(structured) == {"error"}
        if failed:
            return ToolResult(False, as_text(value["error"]))
        return ToolResult(True, as_text(reply.items.get("text", value)), structured)

    def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...] | None:
        """What the file says that servers offer, until it says something else; None where it says
        nothing."""
        self.stop("tools")
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
        self.stop("question")
        first = question.text.partition("\n")[0]
        return str(self._take(f'the person is asked "{first}"', ("answer",)).items["answer"])


def _suits(reply: Reply, keys: tuple[str, ...], request: Request | None) -> bool:
    """Whether a reply has one of the keys, and says what this request may be answered with."""
    if not reply.fits(*keys):
        return False
    written: object = reply.items.get("writes")
    if request is None or not is_map(written):
        return True
    return set(written) <= set(request.state.writes)


def as_text(value: Any) -> str:
    """A result as a model reads it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _wanted(request: Request) -> str:
    """What is asked for, in words, with what it may be."""
    name = _NAMES.get(request.what, f"a {request.what}")
    names: Sequence[str] = ()
    if request.what == "choice":
        names = [option.name for option in request.options]
    elif request.what == "delta":
        names = request.state.writes
    return (
        f"{name}: {listed(names, 'or' if request.what == 'choice' else 'and')}" if names else name
    )


def _answered_by(keys: tuple[str, ...]) -> str:
    return " or ".join(f"'{key}'" for key in keys if key not in _WHATEVER)


def _none_left(keys: tuple[str, ...]) -> str:
    """That a turn has no reply left; with what has to be written where that is not a text."""
    hint = "" if "reply" in keys else f"; write one with {_answered_by(keys)}"
    return _NONE_LEFT + hint


def _has(reply: Reply) -> str:
    """The keys of a reply in words."""
    return ", ".join(f"'{key}'" for key in reply.items)
