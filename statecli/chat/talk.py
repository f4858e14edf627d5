"""A conversation: lines go into the session, events come out on the screen, until it ends."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from statecli.chat.lines import Lines
from statecli.chat.screen import Screen
from statecli.kinds.step import Delta
from statecli.llm.recording import RecordingProvider
from statecli.llm.script import ScriptProvider
from statecli.model.event import Event
from statecli.model.ports import EndOfInput, Provider
from statecli.model.snapshot import Snapshot
from statecli.model.unable import Unable
from statecli.session.session import Session
from statecli.session.world import SessionWorld
from statecli.store.memory import MemoryStore
from statecli.store.rows import line as row

#: Statuses with which the end of input is a failure.
BAD = ("failed", "stuck", "limited")


@dataclass
class Stops:
    """Where a run is stopped on purpose. `once`: step mode lets one body pass at a time."""

    before: set[str] = field(default_factory=set)
    after: set[str] = field(default_factory=set)
    stepping: bool = False
    passing: bool = False

    def halts_before(self, snapshot: Snapshot) -> bool:
        """Asked before each body; the one that was stopped at passes the next time."""
        if self.passing:
            self.passing = False
            return False
        return self.stepping or snapshot.state in self.before


class Talk:
    """One chat. `run` gives the exit code: 0 ended or left in order, 1 failed, stuck or limited."""

    def __init__(
        self,
        session: Session,
        world: SessionWorld,
        screen: Screen,
        lines: Lines,
        *,
        stops: Stops | None = None,
        terminal: bool = False,
        models: Callable[[str], Provider] | None = None,
    ) -> None:
        self.session = session
        self.world = world
        self.screen = screen
        self.lines = lines
        self.stops = stops or Stops()
        self.terminal = terminal
        self.models = models
        self.recording = RecordingProvider(world.provider)
        if not isinstance(world.provider, ScriptProvider):
            world.provider = self.recording
        self.halted = False
        self.leaving = False
        self._trace: TextIO | None = None
        self._task: asyncio.Task[None] | None = None
        self._struck = 0.0

    @property
    def snapshot(self) -> Snapshot:
        return self.session.snapshot

    async def run(self) -> int:
        """Talk until the run ends, the person leaves or the input is dry."""
        self.lines.watch(lambda: self.snapshot)
        restore = self._catch_interrupts()
        try:
            if isinstance(self.world.provider, ScriptProvider):
                return await self._scripted(self.world.provider)
            if self.snapshot.status == "running":
                await self.go(None)
            while not self.leaving and self.snapshot.status != "ended":
                try:
                    line = await self.lines.read(self.prompt())
                except EndOfInput:
                    break
                await self.take(line)
        finally:
            restore()
        return self.exit_code()

    def change_session(self, session: Session) -> None:
        """Go on with another session (a fork of this one)."""
        self.session = session

    def change_model(self, name: str) -> str:
        """Another provider answers from now on; what to tell the person."""
        if self.models is None:
            return "the model cannot be changed here"
        try:
            provider = self.models(name)
        except Unable as error:
            return f"{error.message}; {error.hint}" if error.hint else error.message
        self.recording.inner = provider
        return f"now {provider.label}"

    async def rehearse(self, file: str) -> str:
        """Run a conversation file against the graph in a session of its own, kept nowhere."""
        if self.models is None:
            return "nothing can be tried here"
        try:
            script = self.models(f"script:{file}")
        except Unable as error:
            return error.message
        session = Session.start(
            self.session.graph, MemoryStore(), custom=self.session.custom, first_line=True
        )
        world = SessionWorld(self.session.graph, script, self.lines, self.world.skills)
        said: list[str] = []
        screen = Screen(said.append, said.append)
        code = await Talk(session, world, screen, self.lines)._scripted(script)
        ended = f"{session.snapshot.status} in '{session.snapshot.state}'"
        return f"{file}: {'passed' if code == 0 else 'failed: ' + said[-1]} ({ended})"

    def trace(self, path: Path) -> None:
        """Also write every event from now on to a file, one JSON object a line."""
        self._trace = path.open("a", encoding="utf-8")

    def exit_code(self) -> int:
        return 1 if self.snapshot.status in BAD else 0

    def prompt(self) -> str:
        return f"{self.snapshot.state}> "

    async def take(self, line: str) -> None:
        """One line: a command, or what the person says."""
        if self.terminal and line.startswith("/"):
            from statecli.chat.commands import run_command

            if await run_command(self, line):
                return
        if line.strip() or self.snapshot.status == "limited":
            await self.go(line)

    async def go(self, line: str | None) -> None:
        """Send a line (None: go on) and show everything until the next wait. Ctrl-C stops it."""
        self.halted = False
        self.recording.begin(line)
        self._task = asyncio.ensure_future(self._go(line))
        try:
            await self._task
        except asyncio.CancelledError:
            self.screen.close()
            self.screen.notes("stopped; what was said is kept")
        finally:
            self._task = None

    async def _go(self, line: str | None) -> None:
        stream = self.session.send(self.world, line, before=self._before, after=self._after)
        async for item in _closing(stream):
            if self._trace is not None and isinstance(item, Event):
                self._trace.write(row(item) + "\n")
                self._trace.flush()
            self.screen.show(item, self.snapshot)
        self.screen.close()

    def _before(self, snapshot: Snapshot) -> bool:
        if self.stops.halts_before(snapshot):
            self.halted = True
            self.screen.notes(f"stopped before '{snapshot.state}'; /continue goes on")
        return self.halted

    def _after(self, snapshot: Snapshot) -> bool:
        return self.halted

    async def resume_step(self) -> None:
        """Go on from where the run was halted."""
        self.stops.passing = True
        await self.go(None)

    async def _scripted(self, script: Provider) -> int:
        """The lines come from the file too; a reply that nobody asked for is an error."""
        assert isinstance(script, ScriptProvider)
        for say in script.lines():
            if self.snapshot.status == "ended":
                self.screen.notes(f"{script.conversation.document.path}: the run ended earlier")
                return 1
            if say is not None:
                self.screen.write(f"> {say}")
            await self.go(say)
            left = script.unused()
            if left:
                self.screen.notes(left)
                return 1
            if self.snapshot.status in BAD:
                return 1
        return self.exit_code()

    def _catch_interrupts(self) -> Callable[[], None]:
        """Ctrl-C once stops the step, twice within a second leaves."""
        try:
            loop = asyncio.get_running_loop()
            before = signal.getsignal(signal.SIGINT)

            def strike(*_: object) -> None:
                now = time.monotonic()
                if self._task is None or now - self._struck < 1.0:
                    raise KeyboardInterrupt
                self._struck = now
                loop.call_soon_threadsafe(self._task.cancel)

            signal.signal(signal.SIGINT, strike)
        except ValueError:  # not the main thread: whoever runs this handles signals
            return lambda: None
        return lambda: _restore(before)


def _restore(handler: Any) -> None:
    signal.signal(signal.SIGINT, handler)


async def _closing(stream: AsyncIterator[Event | Delta]) -> AsyncIterator[Event | Delta]:
    """Close the generator whatever happens, so that an interrupted step is recorded at once."""
    try:
        async for item in stream:
            yield item
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
