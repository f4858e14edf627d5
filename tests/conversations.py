"""Reads and plays the conversations under tests/chat: what a person types, and what they see.

    # words about it
    $ statecli chat graphs/a.yaml     the command, with its options
    model: rules, ...                 what is printed; `! ` begins a line of standard error
    First name:
    > Ann                             a line that is typed, just when it is read
    [1]                               the exit code, where it is not 0

`[..]` stands for anything in a line, a line `...` for any lines. STATECLI_UPDATE=1 writes what is
printed now into the files: read the difference.
"""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO, cast

from statecli.cli.app import main

FOLDER = Path(__file__).parent / "chat"


class Conversation(NamedTuple):
    """One file: its comments, the command, the typed lines, everything that is seen."""

    path: Path
    head: list[str]
    command: str
    lines: list[str]
    seen: list[str]


def conversations() -> list[Conversation]:
    return [read(path) for path in sorted(FOLDER.glob("*.txt"))]


def read(path: Path) -> Conversation:
    text = path.read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(text) if line.startswith("$ "))
    seen = text[at + 1 :]
    typed = [line[2:] for line in seen if line.startswith("> ")]
    return Conversation(path, text[:at], text[at][2:], typed, seen)


class _Out(io.TextIOBase):
    """Standard output or error, each line with a mark, into one transcript."""

    encoding = "utf-8"

    def __init__(self, seen: list[str], mark: str) -> None:
        self.seen = seen
        self.mark = mark
        self.rest = ""

    def write(self, text: str) -> int:
        *lines, self.rest = (self.rest + text).split("\n")
        self.seen.extend(self.mark + line for line in lines)
        return len(text)


class Typed(io.RawIOBase):
    """Standard input: a line is typed when it is read, and stands in the transcript then."""

    def __init__(self, lines: list[str], seen: list[str]) -> None:
        self.lines = list(lines)
        self.seen = seen
        self.buffer = self

    def readline(self, size: int | None = -1, /) -> bytes:
        if not self.lines:
            return b""
        line = self.lines.pop(0)
        self.seen.append(f"> {line}")
        return f"{line}\n".encode()


def play(words: list[str], lines: list[str]) -> list[str]:
    """Everything that is seen when the lines are typed, and the exit code at the end."""
    seen: list[str] = []
    with _streams(seen, lines):
        code = main(words)
    assert not any("Traceback" in line or "fault of statecli" in line for line in seen), seen
    return [*seen, f"[{code}]"] if code else seen


@contextmanager
def _streams(seen: list[str], lines: list[str]) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = cast(TextIO, Typed(lines, seen))
    sys.stdout = cast(TextIO, _Out(seen, ""))
    sys.stderr = cast(TextIO, _Out(seen, "! "))
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def words_of(conversation: Conversation) -> list[str]:
    return shlex.split(conversation.command)[1:]


def update(conversation: Conversation, printed: list[str]) -> None:
    """Write what was printed into the file."""
    lines = [*conversation.head, f"$ {conversation.command}", *printed]
    conversation.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
