"""The servers under tests/servers for the tests: how they are started, and that they are gone."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from statecli.tools.tool import Entry, entries

SERVERS = Path(__file__).parent / "servers"


def good(mark: str, **more: Any) -> dict[str, Any]:
    """The settings of a well-behaved server. `mark` is in its environment, and only there."""
    return {
        "command": [sys.executable, str(SERVERS / "good.py")], "env": {"MARK": mark}, **more
    }  # fmt: skip


def bad(fault: str, mark: str, argument: object = "", **more: Any) -> dict[str, Any]:
    """The settings of a server with this fault."""
    command = [sys.executable, str(SERVERS / "bad.py"), fault, str(argument)]
    return {"command": command, "env": {"MARK": mark}, **more}


def entry(name: str, settings: dict[str, Any]) -> Entry:
    return entries({name: settings})[name]


def left(mark: str) -> list[str]:
    """The processes that have the mark in their environment, except this one and its tools."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found.append(f"{folder.name} {words}")
        except OSError:
            continue
    return found


def gone(mark: str, seconds: float = 20.0) -> list[str]:
    """Those that are still there after a while; none, if all is well."""
    end = time.monotonic() + seconds
    while (found := left(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


class Web:
    """A server over HTTP: its address, and what it was sent."""

    def __init__(self, port: str) -> None:
        self.root = f"http://127.0.0.1:{port}"
        self.url = f"{self.root}/mcp"

    def seen(self) -> list[dict[str, Any]]:
        """Each message with its headers, in order."""
        with urllib.request.urlopen(f"{self.root}/seen") as answer:
            found: list[dict[str, Any]] = json.load(answer)
            return found

    def calls(self) -> list[dict[str, Any]]:
        """The calls of tools."""
        return [s["body"] for s in self.seen() if s["body"].get("method") == "tools/call"]


@contextmanager
def web(fault: str) -> Iterator[Web]:
    """A server over HTTP with this fault."""
    words = [sys.executable, str(SERVERS / "web.py"), fault]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Web(process.stdout.readline().strip())
        finally:
            process.kill()
