"""What a person sees of a run: the events, in words."""

from __future__ import annotations

from collections.abc import Callable

from statecli.kinds.step import Delta
from statecli.model.event import (
    Answered,
    Called,
    Ended,
    Entered,
    Event,
    Failed,
    Interrupted,
    Limited,
    Refused,
    Returned,
    Warned,
)
from statecli.model.snapshot import Snapshot
from statecli.store.rows import line
from statecli.text.excerpt import plain

Write = Callable[[str], None]


class Screen:
    """Plain text: what is said, and what the author must know. `quiet` leaves out the moves."""

    def __init__(self, write: Write, notes: Write, *, moves: bool = True) -> None:
        self.write = write
        self.notes = notes
        self.moves = moves
        self._open = ""

    def show(self, item: Event | Delta, snapshot: Snapshot) -> None:
        """One item of the stream of a session."""
        if isinstance(item, Delta):
            self.stream(item.text)
            return
        self.close()
        self.event(item)

    def stream(self, text: str) -> None:
        """Text on its way is shown when it is stored: `Answered` brings it as a whole."""

    def close(self) -> None:
        """End a line that is still open."""

    def event(self, event: Event) -> None:
        body = event.body
        if isinstance(body, Answered):
            if body.text:
                self.write(plain(body.text))
        elif isinstance(body, Entered):
            if self.moves:
                self.notes(f"-> {plain(body.state)}{f' ({body.why})' if body.why else ''}")
        elif isinstance(body, Refused):
            if body.what == "line":
                self.write(f"{plain(body.reason)}.")
            else:
                self.notes(f"refused {plain(body.what)}: {plain(body.reason)}")
        elif isinstance(body, Called):
            shown = ", ".join(f"{key}={value!r}" for key, value in body.arguments.items())
            self.notes(f"calls {plain(f'{body.tool}({shown})')}")
        elif isinstance(body, Returned):
            self.notes(f"{'got' if body.ok else 'failed'}: {plain(str(body.result))[:400]}")
        elif isinstance(body, Limited):
            self.notes(f"stopped: {plain(body.message)}; the next line goes on")
        elif isinstance(body, Failed):
            self.notes(f"failed in '{plain(body.state)}': {plain(body.error)}")
        elif isinstance(body, Warned):
            self.notes(f"warning: {plain(body.message)}")
        elif isinstance(body, Interrupted):
            self.notes(f"interrupted{f': {plain(body.text)}' if body.text else ''}")
        elif isinstance(body, Ended):
            self.notes("the end")


class JsonScreen(Screen):
    """Every event as one JSON line, nothing else."""

    def event(self, event: Event) -> None:
        self.write(line(event))
