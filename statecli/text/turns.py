"""What a conversation file holds once it is read: turns, and what is answered in each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from statecli.model.data import is_list, is_map
from statecli.model.span import Path, Place
from statecli.text.document import Document

#: What only tells about an answer of a real model.
RECORDED = ("usage", "latency", "attempts", "model", "asked")


class Reply(NamedTuple):
    """One scripted answer: the keys it has, and its place in the file. `beside`: a text that stands
    beside calls, and is said once they are done."""

    items: Mapping[str, Any]
    path: Path
    beside: bool = False

    def fits(self, *keys: str) -> bool:
        return any(key in self.items for key in keys)

    @property
    def recorded(self) -> bool:
        """Whether a real model said it: nobody wrote it down, so nobody misspelt it."""
        return self.fits(*RECORDED)


class Turn(NamedTuple):
    """One line of the person (None: the graph goes on by itself) and what is answered to it."""

    say: str | None
    replies: tuple[Reply, ...]
    expect: Mapping[str, Any]
    path: Path


class Conversation(NamedTuple):
    """A whole file. `data` are values given before the start. `witness`: its model has nothing to
    say but what is written, and is silent where a text is asked for."""

    document: Document
    graph: str
    digest: str
    about: str
    data: Mapping[str, Any]
    turns: tuple[Turn, ...]
    expect: Mapping[str, Any]
    witness: bool = False

    def as_witness(self) -> Conversation:
        """The same, for where only its way is looked at: without any text it is a witness."""
        silent = not any(reply.fits("reply") for turn in self.turns for reply in turn.replies)
        return self._replace(witness=self.witness or silent)

    def where(self, path: Path, part: str = "value") -> str:
        """``file:line:column`` of something in the file, or of its key."""
        start = self.document.span(Place(path, part)).start
        return f"{self.document.path}:{start.line}:{start.column}"


class BadConversation(Exception):
    """The file is no conversation. Each message begins with its place; `every` has all of them."""

    def __init__(self, *every: str) -> None:
        super().__init__(every[0])
        self.every = every


def calls_of(reply: Reply) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a reply, each ``{name: arguments}``."""
    found: list[tuple[str, dict[str, Any]]] = []
    calls = reply.items.get("calls")
    for call in calls if is_list(calls) else []:
        if is_map(call):
            for name, arguments in call.items():
                found.append((name, arguments if is_map(arguments) else {}))
        elif isinstance(call, str):
            found.append((call, {}))
    return found
