"""Runs kept in memory only: for tests, for `Run` without a store, and for `--store memory`."""

from __future__ import annotations

from collections.abc import Sequence

from statecli.model.event import Event
from statecli.model.ports import Stored


class MemoryStore:
    """A store that is gone with its process."""

    def __init__(self) -> None:
        self._runs: dict[str, Stored] = {}
        self._events: dict[str, list[Event]] = {}
        self._now: dict[str, tuple[str, str]] = {}

    def create(self, stored: Stored) -> None:
        if stored.run in self._runs:
            raise ValueError(f"there is already a run '{stored.run}'")
        self._runs[stored.run] = stored
        self._events[stored.run] = []
        self._now[stored.run] = (stored.status, stored.state)

    def append(self, run: str, events: Sequence[Event], status: str, state: str) -> None:
        self._events[run].extend(events)
        self._now[run] = (status, state)

    def events(self, run: str) -> list[Event]:
        return list(self._events[run])

    def runs(self) -> list[Stored]:
        found = [self._summed_up(stored) for stored in self._runs.values()]
        return sorted(found, key=lambda stored: stored.updated, reverse=True)

    def get(self, run: str) -> Stored | None:
        stored = self._runs.get(run)
        return self._summed_up(stored) if stored is not None else None

    def _summed_up(self, stored: Stored) -> Stored:
        events = self._events[stored.run]
        status, state = self._now[stored.run]
        updated = events[-1].time if events else stored.updated
        return stored._replace(status=status, state=state, updated=updated, events=len(events))

    def remove(self, run: str) -> None:
        for kept in (self._runs, self._events, self._now):
            kept.pop(run, None)

    def close(self) -> None:
        return None
