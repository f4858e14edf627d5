"""What a source of tools is: an MCP server, or Python functions. One file for each sort.

`list` and `call` reach outside and may start what they need. What a tool answers, also that it
failed, is data; what is raised says that it could not be reached, or that the person must first
connect a service.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from statecli.model.data import is_list, is_map
from statecli.model.ports import ModelError, ToolResult, ToolSpec

#: Seconds that a server may take to start, and a tool to answer, where `timeout` says nothing.
TIMEOUT = 60.0
#: So much of a result goes to the model, in characters.
MAX_RESULT = 50_000
#: Nothing longer is read from a server as one message, in bytes.
MAX_MESSAGE = 16 * 1024 * 1024
#: So much of what a server says of a tool is kept.
MAX_ABOUT = 2_000
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Unreachable(ModelError):
    """A tool's server cannot be started, connected to, or understood; the text says why."""


class Entry(NamedTuple):
    """One entry of `tools`: just one of `command`, `url` and `python` is set."""

    name: str
    description: str = ""
    command: tuple[str, ...] = ()
    url: str = ""
    python: str = ""
    env: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    cwd: str = ""
    timeout: float = TIMEOUT
    folder: str = ""

    @property
    def shown(self) -> str:
        """What it starts or connects to, as a person reads it."""
        if self.command:
            import shlex

            return shlex.join(self.command)
        return self.url or f"python {self.python}"

    @property
    def variables(self) -> list[str]:
        """The variables of the person's environment that it is given."""
        values = [*self.env.values(), *self.headers.values()]
        return list(dict.fromkeys(name for value in values for name in _VARIABLE.findall(value)))

    @property
    def identity(self) -> str:
        """All that matters about what it starts or connects to: what the person says yes to."""
        parts: dict[str, object] = {"command": self.command, "url": self.url, "env": self.env,
                                    "headers": self.headers}  # fmt: skip
        if self.command:
            parts["cwd"] = self.directory
        return json.dumps({key: value for key, value in parts.items() if value}, sort_keys=True)

    @property
    def directory(self) -> str:
        """Where a command runs: `cwd` is relative to the graph, without it where the person is."""
        return os.path.realpath(Path(self.folder, self.cwd)) if self.cwd else os.getcwd()

    def resolved(self, values: Mapping[str, str]) -> dict[str, str]:
        """Values with what ``${NAME}`` stands for in the environment. Raises Unreachable."""

        def value_of(match: re.Match[str]) -> str:
            found = os.environ.get(match[1])
            if found is None:
                raise Unreachable(f"{self.name} needs {match[1]} in the environment")
            return found

        return {key: _VARIABLE.sub(value_of, value) for key, value in values.items()}


class Elicited(NamedTuple):
    """A server asks the person for something while its tool is at work: to open `url`, or for
    values by `schema`."""

    server: str
    text: str
    url: str = ""
    schema: Mapping[str, Any] | None = None


#: Answers what a server asks for: the values (empty for a link), None for no. May raise.
Answer = Callable[[Elicited], Awaitable[Mapping[str, Any] | None]]


class Source(Protocol):
    """Where tools come from. `tail` is the end of what it printed for people."""

    entry: Entry

    @property
    def running(self) -> bool: ...
    @property
    def tail(self) -> str: ...
    async def list(self) -> tuple[ToolSpec, ...]: ...
    async def call(
        self, name: str, arguments: Mapping[str, Any], user: str, answer: Answer
    ) -> ToolResult: ...
    async def close(self) -> None: ...


def entries(declared: object, folder: str = "") -> dict[str, Entry]:
    """The entries of a graph's `tools` that say where their tools come from; `validate` tells of
    the others. `folder` is where the graph stands."""
    found: dict[str, Entry] = {}
    for name, written in declared.items() if is_map(declared) else ():
        settings = written if is_map(written) else {}
        command = settings.get("command")
        words = [command] if isinstance(command, str) else command if is_list(command) else []
        if isinstance(command, str):
            import shlex

            try:
                words = list(shlex.split(command))
            except ValueError:
                words = [command]
        seconds = settings.get("timeout")
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        entry = Entry(
            name,
            _text(settings, "description"),
            tuple(str(word) for word in words),
            _text(settings, "url"),
            _text(settings, "python"),
            _texts(settings.get("env")),
            _texts(settings.get("headers")),
            _text(settings, "cwd"),
            float(seconds) if number and 0 < seconds < 86_400 else TIMEOUT,  # type: ignore[arg-type,operator]  # a number
            folder,
        )
        if sum(map(bool, (entry.command, entry.url, entry.python))) == 1:
            found[name] = entry
    return found


def _text(settings: Mapping[str, object], key: str) -> str:
    value = settings.get(key)
    return value if isinstance(value, str) else ""


def _texts(value: object) -> dict[str, str]:
    items = value.items() if is_map(value) else ()
    return {key: str(item) for key, item in items if isinstance(item, str | int | float)}


def source_of(entry: Entry) -> Source:
    """What runs an entry; nothing is started yet."""
    if entry.python:
        from statecli.tools.python import Functions

        return Functions(entry)
    from statecli.tools.mcp import Server

    return Server(entry)


def cut(result: ToolResult) -> ToolResult:
    """A result that a conversation can hold: what is too long is cut, and says so."""
    ok, text, structured = result
    if structured is not None and len(json.dumps(structured, ensure_ascii=False)) > MAX_RESULT:
        structured = None
    if len(text) > MAX_RESULT:
        whole = len(text)
        text = f"{text[:MAX_RESULT]}\n[cut: the first {MAX_RESULT:,} of {whole:,} characters]"
    return ToolResult(ok, text, structured)
