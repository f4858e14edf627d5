"""A conversation: lines go into the session, events come out on the screen, until it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from statecli.chat.lines import Lines, Struck
from statecli.chat.record import Record
from statecli.chat.screen import Screen
from statecli.chat.signals import signals
from statecli.kinds.step import Delta
from statecli.llm.recording import RecordingProvider
from statecli.llm.script import ScriptProvider
from statecli.model.event import Chose, Entered, Event, Refused, Unauthorized
from statecli.model.graph import WAITING_KINDS
from statecli.model.ports import EndOfInput, Provider, Unanswered
from statecli.model.snapshot import Snapshot
from statecli.model.unable import Unable
from statecli.session.session import Session
from statecli.session.world import SessionWorld

#: Statuses with which the end of input is a failure.
BAD = ("failed", "stuck", "limited")


@dataclass
class Stops:
    """Where a run is stopped on purpose. `stepping`: before every body; `passing`: the body that
    was stopped at runs now."""

    before: set[str] = field(default_factory=set)
    after: set[str] = field(default_factory=set)
    stepping: bool = False
    passing: bool = False


class Talk:
    """One chat. `run` gives the exit code: 0 ended or left in order, 1 failed, stuck or limited.

    `terminal`: a person sits there, so commands are read and a stop is followed by a prompt; off a
    terminal a stop ends the chat. `models` finds another provider by name; `changed` is told when
    the chat goes on with another session; `record` is a file that keeps the conversation.
    """

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
        changed: Callable[[Session], None] | None = None,
        record: str = "",
    ) -> None:
        self.session = session
        self.world = world
        self.screen = screen
        self.lines = lines
        self.stops = stops or Stops()
        self.terminal = terminal
        self.models = models
        self.changed = changed
        self.recording = RecordingProvider(world.provider)
        self.script: ScriptProvider | None = None
        if isinstance(world.provider, ScriptProvider):
            self.script = world.provider
            screen.calls = True
        else:
            world.provider = self.recording
        self._done_with: list[Provider] = []
        world.here = lambda: self.session.graph.states.get(self.snapshot.state)
        self.record = Record(self, record) if record else None
        self.halted = ""
        self.leaving = False
        self._running: dict[int, str] = {}
        self._ran = ""
        self._misfits = 0
        self._task: asyncio.Task[None] | None = None
        self._struck = False
        self._told_to_leave = False
        self.unauthorized: Unauthorized | None = None

    @property
    def snapshot(self) -> Snapshot:
        return self.session.snapshot

    async def run(self) -> int:
        """Talk until the run ends, the person leaves or the input is dry."""
        self.lines.watch(self)
        loop, chat = asyncio.get_running_loop(), asyncio.current_task()
        assert chat is not None

        def end() -> None:
            if not self.lines.close():
                chat.cancel()

        def leave() -> None:
            self._told_to_leave = True
            if self.lines.blocking:
                self.lines.dry = True
                raise EndOfInput
            loop.call_soon_threadsafe(end)

        def strike() -> None:
            if self._task is None or not self.terminal or self.lines.blocking:
                leave()
            elif self._struck:
                raise KeyboardInterrupt  # also out of code that never waits
            else:
                self._struck = True
                loop.call_soon_threadsafe(self._task.cancel)

        with signals(strike, leave):
            if self.script is not None:
                if self.lines.unread():
                    told = "its lines come from there, not from standard input"
                    self.screen.notes(f"{self.script.label}: {told}")
                return await self.play(self.script)
            if self.snapshot.status == "running":
                await self.go(None)
            while not self.leaving and (self.terminal or not self.ended):
                await self._next()
            if self._told_to_leave:
                raise KeyboardInterrupt
        if self.unauthorized is not None and not self.terminal:
            service, url = self.unauthorized.service, self.unauthorized.url
            way = f"open {url}, then go on with the session" if url else ""
            raise Unable(f"{service} must be connected first", way)
        return self.exit_code()

    def exit_code(self) -> int:
        return 1 if self.snapshot.status in BAD else 0

    @property
    def ended(self) -> bool:
        return self.snapshot.status == "ended"

    def prompt(self) -> str:
        return "the end> " if self.ended else f"{self.snapshot.state}> "

    async def _next(self) -> None:
        """Read one line and take it."""
        opening = getattr(self.recording.inner, "opening", None)
        if opening is not None and self.snapshot.status == "waiting":
            question = opening(self.session.graph, self.snapshot)
            if question:
                self.screen.write(question)
        try:
            line = await self.lines.read(self.prompt())
        except EndOfInput:
            self.leaving = True
        except Struck:
            if self._struck:
                raise KeyboardInterrupt from None
            self._struck = True
            self.screen.notes("Ctrl-C again leaves, as does Ctrl-D or /quit; the session is kept")
        else:
            self._struck = False
            await self.take(line)

    async def take(self, line: str) -> None:
        """One line: a command, or what the person says."""
        if self.terminal and line.startswith("/"):
            from statecli.chat.commands import run_command

            if await run_command(self, line):
                return
        if self.ended:
            self.leaving = True
        elif line.strip() or self.snapshot.status == "limited":
            self.stops.passing = self.halted.startswith("before")
            await self.go(line)

    async def at_question(self, line: str) -> bool:
        """A command that is typed where a question waits; False if the line is an answer."""
        from statecli.chat.commands import run_command

        return await run_command(self, line, asked=True)

    async def go(self, line: str | None, *, more: bool = False) -> None:
        """Send a line (None: go on) and show everything until the next wait. Ctrl-C stops it.

        `more`: this goes on with what a stop cut short.
        """
        self.halted = ""
        if not more:
            self.recording.begin(line)
        misfits = self._misfits
        self.screen.busy()
        self._task = asyncio.ensure_future(self._go(line))
        try:
            await self._task
        except asyncio.CancelledError:
            self.screen.struck()
            self._stopped()
            chat = asyncio.current_task()
            if chat is None or chat.cancelling():  # not this step only: the chat itself
                raise
            self._struck = True
            self.screen.notes("stopped; what was said is kept (Ctrl-C again leaves)")
            called = ", ".join(dict.fromkeys(c.tool for c in self.session.open_step().calls))
            if called:
                self.screen.notes(
                    f"{called} was called and may have done its work; /continue or another line "
                    "begins the step anew"
                )
        except KeyboardInterrupt:
            self.screen.struck()
            self._stopped()
            raise
        finally:
            self._task = None
            self.stops.passing = False
        if self._misfits == misfits:
            self._misfits = 0
        elif self._misfits > 1 and not self.lines.patient and self.script is None:
            raise Unanswered(f"'{self.snapshot.state}' got no line that fits")
        if self.record is not None:
            self.record.write()
        if self.lines.dry or (self.halted and not self.terminal):
            self.leaving = True

    def _stopped(self) -> None:
        """Keep what there is of a step that was stopped, as far as a file can say where."""
        if self.snapshot.branches or not self.recording.stopped:
            self.recording.gap = "a step was stopped"
        if self.record is not None:
            self.record.write()

    async def _go(self, line: str | None) -> None:
        stream = self.session.send(self.world, line, before=self._before, after=self._after)
        async for item in _closing(stream):
            if isinstance(item, Event):
                self._heed(item)
            self.screen.show(item)
        self.screen.close()
        if self.ended:
            more = "; Enter leaves, /undo goes back, /save FILE keeps the conversation"
            self.screen.notes("the end" + (more if self.terminal else ""))
        elif self.snapshot.status == "interrupted" and self.unauthorized and self.terminal:
            self.screen.notes(f"'{self.snapshot.state}' waits; connect it, then /continue")
        elif self.halted:
            way = "; /continue goes on" if self.snapshot.status == "running" else ""
            self.screen.notes(f"stopped {self.halted}" + (way if self.terminal else ""))

    def _heed(self, event: Event) -> None:
        """Count lines that do not fit. A turn of plan states is one body: where one of them is
        entered to stop at, or left to stop after, the turn is finished first."""
        body = event.body
        if isinstance(body, Refused) and body.what == "line":
            self._misfits += 1
        if isinstance(body, Chose):
            self.recording.chose(body)
        if isinstance(body, Unauthorized):
            self.unauthorized = body
            self.leaving = self.leaving or not self.terminal
        if isinstance(body, Chose) and body.by == "settle" and body.state in self.stops.after:
            self.halted = f"after '{body.state}'"
        if isinstance(body, Entered) and body.by == "settle" and body.state in self.stops.before:
            self.halted = f"at '{body.state}'"

    def _waits(self, snapshot: Snapshot) -> bool:
        """Whether the state hands control back to the person."""
        kind = self.session.graph.states[snapshot.state].kind
        return kind in WAITING_KINDS or kind in self.session.custom.waiting

    def _before(self, snapshot: Snapshot) -> bool:
        """Whether to stop before a body. One that takes the line just typed is not stopped."""
        stops, state = self.stops, snapshot.state
        self._running[snapshot.token.id] = self._ran = state
        if stops.passing or (self._waits(snapshot) and snapshot.line is not None):
            stops.passing = False
        elif stops.stepping or state in stops.before:
            self.halted = f"before '{state}'"
        return bool(self.halted)

    def _after(self, snapshot: Snapshot) -> bool:
        """Whether to stop once a body is done; a state that only waits now needs no stop."""
        ran = self._running.get(snapshot.token.id, self._ran)  # it may have split just now
        if ran in self.stops.after and snapshot.state != ran:
            self.halted = f"after '{ran}'"
        resting = snapshot.line is None and not snapshot.awaits_reply and self._waits(snapshot)
        return bool(self.halted) and not resting

    async def resume_step(self) -> None:
        """Go on from where the run was stopped."""
        more = bool(self.halted)
        self.stops.passing = self.halted.startswith("before")
        await self.go(None, more=more)

    # --- what commands change -------------------------------------------------------------------

    def change_session(self, session: Session) -> None:
        """Go on with another session (a fork of this one)."""
        if self.changed is not None:
            self.changed(session)
        self.session = session

    def change_model(self, name: str) -> str:
        """Another provider answers from now on; what to tell the person."""
        if self.models is None:
            return "the model cannot be changed here"
        if name.startswith(("script:", "replay:")):
            return "a script brings its own lines: start it with --model, or play it with /test"
        try:
            provider = self.models(name)
        except Unable as error:
            return f"{error.message}; {error.hint}" if error.hint else error.message
        self._done_with.append(self.recording.inner)
        self.recording.inner = provider
        return f"{provider.label} plays the model now"

    async def close(self) -> None:
        """Let go of what the providers hold: connections."""
        for provider in (*self._done_with, self.recording.inner):
            close = getattr(provider, "aclose", None)
            if close is not None:
                await close()

    # --- conversation files ---------------------------------------------------------------------

    async def play(self, script: ScriptProvider) -> int:
        """The lines come from the file too; a reply that nobody asked for is an error."""
        for say in script.lines():
            if self.ended:
                self.screen.notes(f"{script.place()}: the run has ended before this turn")
                return 1
            if say is not None:
                self.screen.write(f"> {say}")
            try:
                await self.go(say)
            except Unanswered as error:
                self.screen.notes(str(error))
                return 1
            if self.halted:
                return self.exit_code()
            if self.snapshot.status in BAD and not script.broke:
                return 1
            left = script.unused()
            if left:
                self.screen.notes(left)
                return 1
        return self.exit_code()


async def _closing(stream: AsyncIterator[Event | Delta]) -> AsyncIterator[Event | Delta]:
    """Close the generator whatever happens, so that an interrupted step is recorded at once."""
    try:
        async for item in stream:
            yield item
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
