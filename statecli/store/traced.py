"""A store that also writes every event as one JSON line, once it is stored."""

from __future__ import annotations

from collections.abc import Callable

from statecli.model.event import Event
from statecli.model.ports import Batch, Store, Stored
from statecli.store.rows import events_of, line


class TracedStore:
    """Passes everything on to `inner`; `write` gets the line of each event, `done` is called when
    the store is closed."""

    def __init__(
        self,
        inner: Store,
        write: Callable[[str], None],
        done: Callable[[], None] | None = None,
    ) -> None:
        self.inner = inner
        self.write = write
        self.done = done

    def create(self, stored: Stored, batch: Batch) -> None:
        self.inner.create(stored, batch)
        self._write(stored.run, batch)

    def append(self, run: str, batch: Batch) -> None:
        self.inner.append(run, batch)
        self._write(run, batch)

    def _write(self, run: str, batch: Batch) -> None:
        for event in events_of(run, batch):
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
        if self.done is not None:
            self.done()
