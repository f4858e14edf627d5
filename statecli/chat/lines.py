"""Where the person's lines come from: piped standard input, or a terminal (`repl`)."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from typing import Protocol

from statecli.model.ports import EndOfInput, Question
from statecli.model.snapshot import Snapshot
from statecli.text.excerpt import plain


class Struck(Exception):
    """Ctrl-C at an empty prompt."""


class Host(Protocol):
    """The chat, as far as a source of lines may know it."""

    leaving: bool

    @property
    def snapshot(self) -> Snapshot: ...
    async def at_question(self, line: str) -> bool:
        """Run a command that is typed where a question waits; False if it is no command."""


class Lines(Protocol):
    """A source of lines; also the `Ask` of providers. Raises EndOfInput when it is dry.

    `blocking`: a read is under way that only a signal can end; `dry`: nothing more will come.
    """

    patient: bool
    blocking: bool
    dry: bool

    def watch(self, host: Host) -> None: ...
    def close(self) -> bool:
        """End a read that waits, as if the input had ended; False where none does."""

    def unread(self) -> bool:
        """Whether lines are there that nobody has read."""

    async def read(self, prompt: str) -> str: ...
    async def __call__(self, question: Question) -> str: ...


class PipedLines:
    """Each line of standard input is a turn, or the answer to a question. UTF-8 whatever the
    locale; bytes that are none become replacement characters."""

    patient = False

    def __init__(self, show: Callable[[str], None]) -> None:
        self.show = show
        self.blocking = False
        self.dry = False
        self._first = True

    def watch(self, host: Host) -> None:
        """There is no status line to keep, and no command to run."""

    def close(self) -> bool:
        """A blocking read is ended by raising out of the signal (`Talk`)."""
        return False

    def unread(self) -> bool:
        """Whether lines are there that nobody has read; waits for none."""
        source = sys.stdin.buffer if sys.stdin is not None else None
        try:
            ready = source is not None and bool(select.select([source], [], [], 0)[0])
        except (OSError, ValueError):  # no descriptor, or one of Windows
            return False
        return ready and bool(source and source.readline().strip())

    async def read(self, prompt: str) -> str:
        """The next line; the prompt is for terminals."""
        self.blocking = True
        try:
            line = sys.stdin.buffer.readline() if sys.stdin is not None else b""
        finally:
            self.blocking = False
        if not line:
            self.dry = True
            raise EndOfInput
        text = line.decode("utf-8-sig" if self._first else "utf-8", "replace")
        self._first = False
        return text.rstrip("\r\n")

    async def __call__(self, question: Question) -> str:
        self.show(plain(question.text))
        return await self.read("")
