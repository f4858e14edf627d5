"""Where the person's lines come from: piped standard input, or a terminal (`repl`)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

from statecli.model.ports import EndOfInput, Question
from statecli.model.snapshot import Snapshot
from statecli.text.excerpt import plain

#: A longer line is cut here, and that is said: nobody types a megabyte.
MAX_LINE = 200_000


class Lines(Protocol):
    """A source of lines; also the `Ask` of providers. Raises EndOfInput when it is dry."""

    patient: bool

    def watch(self, snapshot: Callable[[], Snapshot]) -> None: ...
    async def read(self, prompt: str) -> str: ...
    async def __call__(self, question: Question) -> str: ...


class PipedLines:
    """Each line of standard input is a turn, or the answer to a question."""

    patient = False

    def __init__(self, show: Callable[[str], None]) -> None:
        self.show = show

    def watch(self, snapshot: Callable[[], Snapshot]) -> None:
        """There is no status line to keep."""

    async def read(self, prompt: str) -> str:
        """The next line; the prompt is for terminals."""
        line = sys.stdin.readline()
        if not line:
            raise EndOfInput
        return line.rstrip("\r\n")

    async def __call__(self, question: Question) -> str:
        self.show(plain(question.text))
        return await self.read("")
