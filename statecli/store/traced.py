"""A store that also writes every event as one JSON line, once it is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from statecli.model.event import Event
from statecli.model.ports import Store, Stored
from statecli.store.rows import line


class TracedStore:
    """Passes everything on to `inner`; `write` gets the line of each event."""

    def __init__(self, inner: Store, write: Callable[[str], None]) -> None:
        self.inner = inner
        self.write = write

    def create(self, stored: Stored) -> None:
        self.inner.create(stored)

    def append(self, run: str, events: Sequence[Event], status: str, state: str) -> None:
        self.inner.append(run, events, status, state)
        for event in events:
            self.write(line(event))

    def events(self, run: str) -> list[Event]:
        return self.inner.events(run)

    def runs(self) -> list[Stored]:
        return self.inner.runs()

    def get(self, run: str) -> Stored | None:
        return self.inner.get(run)

    def remove(self, run: str) -> None:
        self.inner.remove(run)

    def close(self) -> None:
        self.inner.close()
