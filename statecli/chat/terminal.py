"""The screen of a terminal: text streams in, and a bar turns while nothing comes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable

from statecli.chat.screen import Screen, cut
from statecli.kinds.step import Delta
from statecli.model.event import Answered, Asked, Event, Spent, Streamed
from statecli.model.graph import Graph
from statecli.text.excerpt import plain

_BAR = "|/-\\"
#: Events that come while a line is open, and show nothing.
_QUIET = (Streamed, Spent)
#: Nothing turns before this many seconds: most answers come at once.
PATIENCE = 0.5


class TerminalScreen(Screen):
    """`raw` writes text as it is, without a line end."""

    def __init__(self, graph: Graph, raw: Callable[[str], None], *, color: bool) -> None:
        dim = "\x1b[2m{}\x1b[0m\n" if color else "{}\n"
        super().__init__(graph, lambda text: raw(f"{text}\n"), lambda text: raw(dim.format(text)))
        self.raw = raw
        self._streamed = ""
        self._told = ""
        self._bar: asyncio.Task[None] | None = None
        self._shows_bar = False

    def show(self, item: Event | Delta) -> None:
        self._rest()
        body = item.body if isinstance(item, Event) else None
        if isinstance(body, Asked):
            self._told = ""
        if isinstance(body, Answered) and self._told and body.text.startswith(self._told):
            self._finish(body)
        elif not isinstance(body, _QUIET):
            super().show(item)
        self.busy()

    def stream(self, text: str) -> None:
        self._streamed += text
        self._told += text
        self.raw(plain(text))

    def _finish(self, body: Answered) -> None:
        """An answer that was read on its way, as far as that went."""
        rest, self._told = body.text[len(self._told) :] + cut(body), ""
        if self._streamed or not rest.strip():
            self.stream(rest)
            self.close()
        else:
            self.write(rest.strip())
        self._told = ""

    def close(self) -> None:
        self._rest()
        if self._streamed:
            if not self._streamed.endswith("\n"):
                self.raw("\n")
            self._streamed = ""

    def struck(self) -> None:
        """The terminal shows ``^C`` where the cursor is; what comes next begins a line."""
        if self._streamed:
            self.close()
        else:
            self._rest()
            self.raw("\r    \r")

    def busy(self) -> None:
        """A bar turns after a while, unless a line is open that it would overwrite."""
        self._rest()
        if self._streamed:
            return
        with contextlib.suppress(RuntimeError):  # no loop runs: nothing is waited for
            self._bar = asyncio.get_running_loop().create_task(self._turning())

    async def _turning(self) -> None:
        await asyncio.sleep(PATIENCE)
        self._shows_bar = True
        for sign in itertools.cycle(_BAR):
            self.raw(f"\r{sign}")
            await asyncio.sleep(0.1)

    def _rest(self) -> None:
        """Take the bar away; it leaves nothing behind."""
        if self._bar is not None:
            self._bar.cancel()
            self._bar = None
        if self._shows_bar:
            self._shows_bar = False
            self.raw("\r \r")
