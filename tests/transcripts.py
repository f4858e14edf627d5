"""Reads and replays the transcripts under tests/cli: what a person types, and what they see.

    # words about it
    --- graphs/a.yaml              the files of the folder, each up to the next mark
    initial: a
    $ statecli validate a.yaml     a command; also `< FILE`, `NAME=VALUE` in front, `cat FILE`
    nothing found                  what it prints; `! ` begins a line of standard error,
    [1]                            `[N]` is the exit code where it is not 0

`{SERVER}` is the address of a server with OpenAI's API that says what was said to it.
`[..]` stands for anything in a line, a line `...` for any lines. `$ TTY statecli ...` runs with
standard output as a terminal; escape codes are written `\\e[`. STATECLI_UPDATE=1 writes what is
printed now into the files: read the difference.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from statecli.cli.app import main

SERVER = "{SERVER}"
FOLDER = Path(__file__).parent / "cli"


@dataclass
class Step:
    """One command with the lines it should print."""

    command: str
    expected: list[str] = field(default_factory=list)


@dataclass
class Transcript:
    """One file: what stands before the first command, and the commands."""

    path: Path
    head: str
    files: dict[str, str]
    steps: list[Step]

    def words(self) -> set[str]:
        """Every word of every command, without values."""
        return {word.split("=", 1)[0] for step in self.steps for word in shlex.split(step.command)}


def transcripts() -> list[Transcript]:
    return [read(path) for path in sorted(FOLDER.glob("*.txt"))]


def read(path: Path) -> Transcript:
    text = path.read_text(encoding="utf-8")
    head, mark, rest = text.partition("\n$ ")
    files: dict[str, str] = {}
    for part in re.split(r"^--- ", f"{head}\n", flags=re.MULTILINE)[1:]:
        name, _, content = part.partition("\n")
        files[name] = content
    steps: list[Step] = []
    for line in (mark.lstrip("\n") + rest).splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:]))
        else:
            steps[-1].expected.append(line)
    return Transcript(path, head, files, steps)


class _Screen(io.TextIOWrapper):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def replay(transcript: Transcript, folder: Path) -> list[list[str]]:
    """Run every command in a folder with the files, and give the lines of each."""
    with _server(transcript) as url:
        for name, content in transcript.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.replace(SERVER, url), encoding="utf-8", newline="")
        found = [_run(step.command.replace(SERVER, url), folder) for step in transcript.steps]
    return [[line.replace(url, SERVER) for line in lines] for lines in found]


@contextmanager
def _server(transcript: Transcript) -> Iterator[str]:
    """The address of a server, if the transcript wants one."""
    if SERVER not in transcript.path.read_text(encoding="utf-8"):
        yield SERVER
        return
    from openai_server import Server, echo

    with Server(brain=echo) as server:
        yield server.url


def _run(command: str, folder: Path) -> list[str]:
    words = shlex.split(command)
    if words[0] == "cat":
        text = (folder / words[1]).read_text(encoding="utf-8")
        return text.splitlines()
    environment = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    screen = words[0] == "TTY"
    words = words[1 + screen :]
    stdin = b""
    if "<" in words:
        at = words.index("<")
        stdin = (folder / words[at + 1]).read_bytes()
        del words[at : at + 2]
    before = sys.stdin, sys.stdout, sys.stderr, os.environ.copy()
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    stdout = (_Screen if screen else io.TextIOWrapper)(out, encoding="utf-8", newline="")
    stderr = io.TextIOWrapper(err, encoding="utf-8", newline="")
    sys.stdout, sys.stderr = stdout, stderr
    os.environ.pop("NO_COLOR", None)
    os.environ.update({"TERM": "xterm", "COLUMNS": "100", **environment})
    try:
        try:
            code = main(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        stdout.flush()
        stderr.flush()
    finally:
        sys.stdin, sys.stdout, sys.stderr, environ = before
        os.environ.clear()
        os.environ.update(environ)
    lines = out.getvalue().decode().replace("\x1b", "\\e").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    lines += [f"! {line}" for line in err.getvalue().decode().splitlines()]
    return [*lines, f"[{code}]"] if code else lines


def fits(expected: list[str], printed: list[str]) -> bool:
    """Whether the lines are those that were expected, `[..]` and `...` allowed for."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(fits(expected[1:], printed[at:]) for at in range(len(printed) + 1))
    if not printed:
        return False
    pattern = ".*".join(re.escape(part) for part in expected[0].split("[..]"))
    return bool(re.fullmatch(pattern, printed[0])) and fits(expected[1:], printed[1:])


def update(transcript: Transcript, printed: list[list[str]]) -> None:
    """Write what was printed into the file, where it is not what was expected."""
    parts = [transcript.head]
    for step, lines in zip(transcript.steps, printed, strict=True):
        shown = step.expected if fits(without_end(step.expected), lines) else [*lines, ""]
        parts.append("\n".join([f"$ {step.command}", *shown]))
    transcript.path.write_text("\n".join(parts).rstrip("\n") + "\n", encoding="utf-8")


def without_end(lines: list[str]) -> list[str]:
    """The lines without the empty ones that only separate one command from the next."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines
