"""What may be called without asking: by `--allow-tools`, and as the person said in a session."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from statecli.model.event import Approved, Event
from statecli.model.ports import ToolSpec

#: Stands before the name of a tool in what the person allowed or denied.
_CALL = "call "


class Allowance:
    """`everything`: nothing is asked; `names` are servers and tools (``server.tool``) for which
    nothing is asked. What was said of a tool for the whole session is remembered."""

    def __init__(self, names: Collection[str] = (), *, everything: bool = False) -> None:
        self.everything = everything
        self.names = frozenset(names)
        self._said: dict[str, bool] = {}

    def starts(self, server: str) -> bool:
        """Whether a server may be started without asking: it, or one of its tools is named."""
        named = any(name == server or name.startswith(f"{server}.") for name in self.names)
        return self.everything or named

    def calls(self, tool: ToolSpec) -> bool | None:
        """Whether a tool may be called; None: it must be asked."""
        if self.everything or not self.names.isdisjoint((tool.server, tool.name)):
            return True
        return self._said.get(tool.name)

    def say(self, tool: ToolSpec, *, allowed: bool, always: bool) -> Approved:
        """What the person said about a call; `always`: also about every later one."""
        if always:
            self._said[tool.name] = allowed
        return Approved(f"{_CALL}{tool.name}", allowed, always)

    def recall(self, events: Iterable[Event]) -> None:
        """What was said for the whole session when it ran before."""
        for event in events:
            body = event.body
            if isinstance(body, Approved) and body.always and body.what.startswith(_CALL):
                self._said[body.what.removeprefix(_CALL)] = body.allowed

    def said(self) -> dict[str, bool]:
        """The tools of which something was said for the whole session."""
        return dict(self._said)
