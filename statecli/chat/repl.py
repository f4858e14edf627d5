"""The prompt: history, search, completion, several lines, a status line."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application.current import get_app
from prompt_toolkit.completion import Completer
from prompt_toolkit.filters import is_searching
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth, Output

from statecli.chat import views
from statecli.chat.complete import Answers, CommandWords
from statecli.chat.lines import Host, Struck
from statecli.chat.screen import Screen
from statecli.llm.scrub import Veil, known_secrets
from statecli.model.graph import Graph
from statecli.model.ports import EndOfInput, Question
from statecli.text.excerpt import harmless

#: A longer line is cut here, and that is said: nobody types a megabyte.
MAX_LINE = 200_000


def keys() -> KeyBindings:
    """Enter sends, Alt-Enter begins a new line, Ctrl-C clears the line or strikes."""
    bindings = KeyBindings()

    @bindings.add("escape", "enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @bindings.add("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @bindings.add("c-c", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=Struck(), style="class:aborting")

    return bindings


class TerminalLines:
    """Lines typed at a terminal. The prompt is ASCII: widths of emoji differ between programs."""

    patient = True
    blocking = False

    def __init__(
        self,
        graph: Graph,
        screen: Screen,
        *,
        color: bool = True,
        history: Path | None = None,
        input_: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self.graph = graph
        self.screen = screen
        self.dry = False
        self._host: Host | None = None
        self._names = Answers()

        def session(kept: History, completer: Completer) -> PromptSession[str]:
            return PromptSession(
                history=kept,
                completer=completer,
                key_bindings=keys(),
                multiline=True,
                bottom_toolbar=self._status,
                complete_while_typing=True,
                reserve_space_for_menu=5,
                color_depth=None if color else ColorDepth.DEPTH_1_BIT,
                input=input_,
                output=output,
            )

        self._lines = session(_history(history), CommandWords(graph))
        self._answers = session(InMemoryHistory(), self._names)

    def watch(self, host: Host) -> None:
        """Where the status line looks, and who runs commands."""
        self._host = host

    def close(self) -> bool:
        """End the prompt that is open."""
        for session in (self._lines, self._answers):
            if session.app.is_running:
                session.app.exit(exception=EOFError())
                return True
        return False

    def unread(self) -> bool:
        """What is typed is read."""
        return False

    async def read(self, prompt: str) -> str:
        """One line (or several, with Alt-Enter). Raises EndOfInput on Ctrl-D at an empty prompt,
        Struck on Ctrl-C."""
        return await self._read(self._lines, prompt)

    async def __call__(self, question: Question) -> str:
        """The answer to a question; commands that change nothing may come first."""
        self.screen.close()
        self._names.names = question.choices
        while True:
            self.screen.write(question.text)
            try:
                line = await self._read(self._answers, "? ")
            except Struck:
                raise asyncio.CancelledError from None  # as Ctrl-C anywhere else in a step
            host = self._host
            if not (host and line.startswith("/") and await host.at_question(line)):
                self.screen.busy()
                return line
            if host.leaving:
                raise EndOfInput

    async def _read(self, session: PromptSession[str], prompt: str) -> str:
        try:
            line = await session.prompt_async(
                _ascii(prompt), handle_sigint=False, set_exception_handler=False
            )
        except EOFError:
            self.dry = True
            raise EndOfInput from None
        line = line.encode("utf-8", "replace").decode()
        if len(line) > MAX_LINE:
            self.screen.notes(f"only the first {MAX_LINE:,} characters of the line are taken")
        return line[:MAX_LINE]

    def _status(self) -> str:
        """state, turn, tasks done; nothing while the host is unknown."""
        if self._host is None:
            return ""
        now = self._host.snapshot
        parts = [_ascii(now.state), f"turn {views.turns(now)}", views.done(self.graph, now)]
        width = get_app().output.get_size().columns
        return "  ".join(filter(None, parts))[: max(width - 1, 1)]


class _Kept(FileHistory):
    """The file, without the secrets of the environment that were typed."""

    def store_string(self, string: str) -> None:
        super().store_string(Veil(known_secrets()).text(string))


def _ascii(text: str) -> str:
    return harmless(text).encode("ascii", "replace").decode()


def _history(path: Path | None) -> History:
    """What was typed before, kept for the person alone."""
    if path is not None:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            return _Kept(str(path))
    return InMemoryHistory()
