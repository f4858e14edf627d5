"""Runs kept in memory only: for tests, for `Run` without a store, and for a store that fails."""

from __future__ import annotations

from collections.abc import Sequence

from statecli.model.event import Event
from statecli.model.ports import Stored


class MemoryStore:
    """A store that is gone with its process."""

    def __init__(self) -> None:
        self._runs: dict[str, Stored] = {}
        self._events: dict[str, list[Event]] = {}

    def create(self, stored: Stored) -> None:
        self._runs[stored.run] = stored
        self._events[stored.run] = []

    def append(self, run: str, events: Sequence[Event], status: str, state: str) -> None:
        self._events[run].extend(events)
        last = events[-1].time if events else self._runs[run].updated
        count = len(self._events[run])
        self._runs[run] = self._runs[run]._replace(
            status=status, state=state, updated=last, events=count
        )

    def events(self, run: str) -> list[Event]:
        return list(self._events[run])

    def runs(self) -> list[Stored]:
        return sorted(self._runs.values(), key=lambda stored: stored.updated, reverse=True)

    def get(self, run: str) -> Stored | None:
        return self._runs.get(run)

    def remove(self, run: str) -> None:
        self._runs.pop(run, None)
        self._events.pop(run, None)

    def close(self) -> None:
        return None
