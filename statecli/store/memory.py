"""Runs kept in memory only: for tests, for `Run` without a store, and for `--store memory`."""

from __future__ import annotations

from statecli.model.event import Body, Event
from statecli.model.ports import Batch, Stored
from statecli.store.rows import there_already


class MemoryStore:
    """A store that is gone with its process."""

    def __init__(self) -> None:
        self._runs: dict[str, _Kept] = {}

    def create(self, stored: Stored, batch: Batch) -> None:
        if stored.run in self._runs:
            raise there_already(stored.run)
        self._runs[stored.run] = _Kept(stored)
        self.append(stored.run, batch)

    def append(self, run: str, batch: Batch) -> None:
        kept = self._runs[run]
        _, times, bodies, kept.status, kept.state = batch
        kept.times.extend(times)
        kept.bodies.extend(bodies)

    def events(self, run: str) -> list[Event]:
        kept = self._runs[run]
        rows = enumerate(zip(kept.times, kept.bodies, strict=True), 1)
        return [Event(run, number, time, body) for number, (time, body) in rows]

    def runs(self) -> list[Stored]:
        found = [kept.summed_up() for kept in self._runs.values()]
        return sorted(found, key=lambda stored: stored.updated, reverse=True)

    def get(self, run: str) -> Stored | None:
        kept = self._runs.get(run)
        return kept.summed_up() if kept is not None else None

    def remove(self, run: str) -> None:
        self._runs.pop(run, None)

    def close(self) -> None:
        return None


class _Kept:
    """One run. Its events are made when they are asked for: a long run keeps few objects."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self.times: list[float] = []
        self.bodies: list[Body] = []
        self.status, self.state = stored.status, stored.state

    def summed_up(self) -> Stored:
        updated = self.times[-1] if self.times else self.stored.updated
        return self.stored._replace(
            status=self.status, state=self.state, updated=updated, events=len(self.bodies)
        )
