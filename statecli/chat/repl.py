"""The terminal: a prompt with history, search and completion, streamed text, a status line."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from statecli.chat import views
from statecli.chat.commands import COMMANDS
from statecli.chat.lines import MAX_LINE
from statecli.chat.screen import Screen
from statecli.kinds.step import Delta
from statecli.model.event import Answered, Asked, Event
from statecli.model.graph import Graph
from statecli.model.ports import EndOfInput, Question
from statecli.model.snapshot import Snapshot
from statecli.text.excerpt import plain

#: Commands whose argument is the name of a state.
_OF_STATES = frozenset({"goto", "break"})
_SPINNER = "|/-\\"


class Words(Completer):
    """Commands after ``/``, state names after the commands that take one."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if not text.startswith("/"):
            return
        word, space, rest = text[1:].partition(" ")
        if not space:
            for found in COMMANDS.values():
                if found.name.startswith(word):
                    yield Completion(found.name, -len(word), display_meta=found.about)
        elif word in _OF_STATES:
            for name in self.graph.states:
                if name.startswith(rest):
                    yield Completion(name, -len(rest))


def keys() -> KeyBindings:
    """Enter sends, Alt-Enter begins a new line."""
    bindings = KeyBindings()

    @bindings.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return bindings


class TerminalLines:
    """Lines typed at a terminal. The prompt is ASCII: widths of emoji differ between programs."""

    patient = True

    def __init__(
        self,
        graph: Graph,
        write: Callable[[str], None],
        *,
        history: Path | None = None,
        session: PromptSession[str] | None = None,
    ) -> None:
        self.graph = graph
        self.write = write
        self._snapshot: Callable[[], Snapshot] | None = None
        self._session: PromptSession[str] = session or PromptSession(
            history=_history(history),
            completer=Words(graph),
            key_bindings=keys(),
            multiline=True,
            enable_history_search=True,
            bottom_toolbar=self._status,
            complete_while_typing=True,
        )

    def watch(self, snapshot: Callable[[], Snapshot]) -> None:
        """Where the status line looks."""
        self._snapshot = snapshot

    async def read(self, prompt: str) -> str:
        """One line (or several, with Alt-Enter). Ctrl-D at an empty prompt is the end of input,
        Ctrl-C gives the line up and raises KeyboardInterrupt."""
        ascii_prompt = prompt.encode("ascii", "replace").decode()
        try:
            with patch_stdout(raw=True):
                line = await self._session.prompt_async(ascii_prompt)
        except EOFError:
            raise EndOfInput from None
        if len(line) > MAX_LINE:
            self.write(f"only the first {MAX_LINE:,} characters of the line are sent")
        return line[:MAX_LINE]

    async def __call__(self, question: Question) -> str:
        self.write(plain(question.text))
        return await self.read("? ")

    def _status(self) -> str:
        """state, turn, tasks done."""
        if self._snapshot is None:
            return ""
        now = self._snapshot()
        parts = [now.state.encode("ascii", "replace").decode(), f"turn {now.turns}"]
        done = views.done(self.graph, now)
        return "  ".join([*parts, done] if done else parts)


def _history(path: Path | None) -> History:
    if path is None:
        return InMemoryHistory()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        return FileHistory(str(path))
    return InMemoryHistory()


class TerminalScreen(Screen):
    """Streams text as it comes, and shows that something runs while nothing comes."""

    def __init__(self, write: Callable[[str], None], *, color: bool) -> None:
        dim = "\x1b[2m{}\x1b[0m" if color else "{}"
        super().__init__(write, lambda text: write(dim.format(text)), moves=True)
        self._streamed = ""
        self._spinner: asyncio.Task[None] | None = None

    def show(self, item: Event | Delta, snapshot: Snapshot) -> None:
        self._rest()
        if isinstance(item, Event) and isinstance(item.body, Answered) and self._streamed:
            self.close()
            return
        super().show(item, snapshot)
        if isinstance(item, Event) and isinstance(item.body, Asked):
            self._spin()

    def stream(self, text: str) -> None:
        self._streamed += text
        sys.stdout.write(plain(text))
        sys.stdout.flush()

    def close(self) -> None:
        self._rest()
        if self._streamed:
            sys.stdout.write("" if self._streamed.endswith("\n") else "\n")
            sys.stdout.flush()
            self._streamed = ""

    def _spin(self) -> None:
        """A turning bar, from half a second on; it leaves nothing behind."""
        with contextlib.suppress(RuntimeError):
            self._spinner = asyncio.get_running_loop().create_task(self._turn())

    async def _turn(self) -> None:
        await asyncio.sleep(0.5)
        for sign in itertools.cycle(_SPINNER):
            sys.stdout.write(f"\r{sign}")
            sys.stdout.flush()
            await asyncio.sleep(0.1)

    def _rest(self) -> None:
        if self._spinner is not None:
            if not self._spinner.done():
                self._spinner.cancel()
                sys.stdout.write("\r \r")
                sys.stdout.flush()
            self._spinner = None
