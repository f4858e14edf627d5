"""The shape of a conversation file: what stands where. All that is wrong is told, not only the
first of it; what a name means to the graph is no question here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from statecli.model.data import described, is_list, is_map
from statecli.model.nearest import did_you_mean, nearest
from statecli.model.span import Path, Place
from statecli.text.document import Document
from statecli.text.turns import RECORDED, BadConversation, Conversation, Reply, Turn

#: What one item of `replies` may say; a text may come with calls or writes.
REPLY_KEYS = (
    "reply", "calls", "choice", "check", "writes", "result", "tool", "plan", "ok", "verdict",
    "skill", "value", "answer", "tools", "failed", "raw", "text", "usage", "latency", "attempts",
    "model", "asked", "stopped", "why", "denied",
)  # fmt: skip
#: Those that only tell about an answer.
_NOTES = ("text", "why", *RECORDED)
#: Where a step may be stopped.
STOPS = ("model", "tools", "permission", "call", "question")
TURN_KEYS = ("say", "replies", "chose", "expect")
HEAD_KEYS = ("graph", "digest", "about", "witness", "data", "turns", "expect")
#: How the `about` of a witness began when files had no mark yet: with the rule that found it.
_WITNESSED = (
    "stuck-state: ", "rescued-by-safety-net: ", "priority-tie-overlap: ", "read-before-write: ",
    "no-way-out: ",
)  # fmt: skip


#: What stands in an answer with several parts.
_PARTS: dict[str, tuple[str, ...]] = {
    "check": ("agree", "quote", "reason"),
    "verdict": ("done", "reason", "next"),
    "plan": ("steps", "needs_permission"),
    "skill": ("name", "text"),
}
_TRUTHS = ("agree", "done", "needs_permission")


class _Reader:
    """Reads what has its shape, and leaves out what has not; `mistakes` tells of that."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.mistakes: list[str] = []

    def wrong(self, path: Path, message: str, *, part: str = "value") -> None:
        start = self.document.span(Place(path, part)).start
        self.mistakes.append(f"{self.document.path}:{start.line}:{start.column}: {message}")

    def mapping(self, value: Any, path: Path, known: tuple[str, ...], what: str) -> dict[str, Any]:
        if not is_map(value):
            self.wrong(path, f"{what} is a mapping, not {described(value)}")
            return {}
        for key in value:
            if key not in known and not key.startswith("x-"):
                inner = known is TURN_KEYS and key in REPLY_KEYS
                hint = "it stands in 'replies'" if inner else did_you_mean(key, known)
                message = f"{what} has no '{key}'" + (f"; {hint}" if hint else "")
                self.wrong((*path, key), message, part="key")
        return value

    def items(self, value: Any, path: Path, what: str) -> list[Any]:
        if value is None:
            return []
        if not is_list(value):
            self.wrong(path, f"'{what}' is a list, not {described(value)}")
            return []
        return value

    def text(self, value: Any, path: Path, what: str) -> str:
        if not isinstance(value, str):
            self.wrong(path, f"'{what}' is text, not {described(value)}")
            return ""
        return value

    def truth(self, value: Any, path: Path, what: str) -> None:
        if not isinstance(value, bool):
            self.wrong(path, f"'{what}' is true or false, not {described(value)}")

    def map(self, value: Any, path: Path, what: str) -> dict[str, Any]:
        if value is None:
            return {}
        if not is_map(value):
            self.wrong(path, f"'{what}' is a mapping, not {described(value)}")
            return {}
        return value


def shaped(document: Document) -> Conversation:
    """The conversation of a document. Raises BadConversation with everything that is wrong."""
    reader = _Reader(document)
    found = _conversation(reader)
    if reader.mistakes:
        raise BadConversation(*reader.mistakes)
    return found


def _conversation(reader: _Reader) -> Conversation:
    document = reader.document
    top = reader.mapping(document.value, (), HEAD_KEYS, "a conversation")
    meant = any(nearest(key, HEAD_KEYS) == "turns" for key in top if key not in HEAD_KEYS)
    if "turns" not in top and is_map(document.value) and not meant:
        reader.wrong((), "a conversation needs 'turns', a list of what is said and answered")
    turns = [
        _turn(reader, item, ("turns", number))
        for number, item in enumerate(reader.items(top.get("turns"), ("turns",), "turns"))
    ]
    heads: dict[str, str] = {}
    for key in ("graph", "digest", "about"):
        if key in top:
            heads[key] = reader.text(top[key], (key,), key)
    witness = top.get("witness", _was_witness(heads, turns))
    if "witness" in top:
        reader.truth(witness, ("witness",), "witness")
    return Conversation(
        document,
        heads.get("graph", ""),
        heads.get("digest", ""),
        heads.get("about", ""),
        reader.map(top.get("data"), ("data",), "data"),
        tuple(turns),
        reader.map(top.get("expect"), ("expect",), "expect"),
        witness is True,
    )


def _was_witness(heads: Mapping[str, str], turns: Sequence[Turn]) -> bool:
    """Whether this is a witness from the time when none said so: a rule and a digest, no text."""
    marked = heads.get("about", "").startswith(_WITNESSED) and "digest" in heads
    return marked and not any(reply.fits("reply") for turn in turns for reply in turn.replies)


def _turn(reader: _Reader, value: Any, path: Path) -> Turn:
    turn = reader.mapping(value, path, TURN_KEYS, "a turn")
    say = turn.get("say")
    if type(say) in (int, float):  # what people say is text, however it looks
        say = reader.document.raw((*path, "say"))
    elif say is not None:
        say = reader.text(say, (*path, "say"), "say")
    replies: list[Reply] = []
    for number, item in enumerate(reader.items(turn.get("replies"), (*path, "replies"), "replies")):
        here = (*path, "replies", number)
        spelled = {"reply": item} if isinstance(item, str) else item
        replies.append(_reply(reader, spelled, here))
    expect = reader.map(turn.get("expect"), (*path, "expect"), "expect")
    return Turn(say, tuple(replies), expect, path)


def _reply(reader: _Reader, value: Any, path: Path) -> Reply:
    """A reply, each of its answers of the right shape."""
    before = len(reader.mistakes)
    items = reader.mapping(value, path, REPLY_KEYS, "a reply")
    says = any(key in items for key in REPLY_KEYS if key not in _NOTES)
    if not says and len(reader.mistakes) == before:
        reader.wrong(path, "a reply says nothing; it has 'reply', 'calls', 'choice' or alike")
    for key, item in items.items():
        _answer(reader, key, item, (*path, key))
    reply = Reply(items, path)
    for key in _PARTS if not reply.recorded else ():
        if is_map(items.get(key)):
            _parts(reader, items[key], (*path, key), key)
    answer = items.get("answer")
    if isinstance(answer, bool):
        return Reply({**items, "answer": "yes" if answer else "no"}, path)
    return reply


def _answer(reader: _Reader, key: str, item: Any, here: Path) -> None:
    """What stands under one key of a reply."""
    texts = ("reply", "text", "failed", "raw", "why", "denied")
    if key in texts or (key in ("choice", "tool") and not is_map(item)):
        reader.text(item, here, key)
    elif key == "stopped" and item not in STOPS:
        reader.wrong(here, f"'stopped' is one of {', '.join(STOPS)}")
    elif key in ("writes", "check", "plan", "verdict", "skill", "asked"):
        reader.map(item, here, key)
    elif key == "ok":
        reader.truth(item, here, key)
    elif key == "answer" and (is_map(item) or is_list(item) or item is None):
        reader.wrong(here, f"'answer' is text, not {described(item)}")
    elif key == "calls":
        _calls(reader, item, here)
    elif key == "tools":
        _tools(reader, item, here)


def _parts(reader: _Reader, value: Mapping[str, Any], path: Path, what: str) -> None:
    """The parts of an answer that has several."""
    known = _PARTS[what]
    for key, item in value.items():
        here = (*path, key)
        if key not in known:
            hint = did_you_mean(key, known) or f"it has: {', '.join(known)}"
            reader.wrong(here, f"'{what}' has no '{key}'; {hint}", part="key")
        elif key in _TRUTHS:
            reader.truth(item, here, key)
        elif key == "steps":
            reader.items(item, here, key)
        elif is_map(item) or is_list(item):
            reader.wrong(here, f"'{key}' is text, not {described(item)}")


def _calls(reader: _Reader, value: Any, path: Path) -> None:
    for number, call in enumerate(reader.items(value, path, "calls")):
        here = (*path, number)
        if isinstance(call, str):
            continue
        if not is_map(call) or len(call) != 1:
            reader.wrong(here, "a call is its name and its arguments, {name: {key: value}}")
            continue
        for name, arguments in call.items():
            reader.map(arguments, (*here, name), name)


def _tools(reader: _Reader, value: Any, path: Path) -> None:
    for number, tool in enumerate(reader.items(value, path, "tools")):
        here = (*path, number)
        found = reader.mapping(tool, here, ("name", "description", "schema", "server"), "a tool")
        for key, item in found.items():
            check = reader.map if key == "schema" else reader.text
            check(item, (*here, key), key)
        if is_map(tool) and "name" not in found:
            reader.wrong(here, "a tool needs a 'name'")
