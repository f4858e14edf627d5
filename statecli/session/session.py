"""A run that is kept: every event is stored before it is shown, and a crash loses no line.

Events are stored in transactions that end where something leaves the run (a question to a model,
a call, a wait): the changes of a step and the entry into the next state are one transaction.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from statecli.engine.advance import Custom, Engine, Stop, first_state
from statecli.kernel.apply import apply, fold
from statecli.kinds.step import Delta
from statecli.model.event import (
    Answered,
    Asked,
    Body,
    Called,
    Edited,
    Ended,
    Entered,
    Event,
    Failed,
    Interrupted,
    Jumped,
    Limited,
    Resumed,
    Returned,
    Said,
    Started,
    Streamed,
    Undone,
    Waiting,
)
from statecli.model.graph import WAITING_KINDS, Graph
from statecli.model.ports import Store, Stored, World
from statecli.model.snapshot import Snapshot

#: Events after which what happened so far must be stored: something is about to leave the run, or
#: a step is complete.
BARRIERS = (
    Started, Said, Asked, Streamed, Called, Returned, Entered, Waiting, Limited, Failed,
    Interrupted, Edited, Jumped, Undone, Resumed, Ended,
)  # fmt: skip


#: Events with which a step begins.
ENTRIES = (Started, Said, Entered, Jumped, Resumed, Waiting, Edited)


def digest(text: str) -> str:
    """What identifies a graph's text: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def effective(events: Sequence[Event]) -> list[Event]:
    """The events that count: `undone` takes back everything after the event it names."""
    kept: list[Event] = []
    for event in events:
        if isinstance(event.body, Undone):
            while kept and kept[-1].number > event.body.to:
                kept.pop()
        else:
            kept.append(event)
    return kept


@dataclass
class Session:
    """One run of a graph in a store. `run` is its id; `snapshot` where it is."""

    graph: Graph
    store: Store
    run: str
    path: str = ""
    custom: Custom = field(default_factory=Custom)
    snapshot: Snapshot = field(default_factory=Snapshot)
    number: int = 0

    # --- beginning, opening ---------------------------------------------------------------------

    @classmethod
    def start(
        cls,
        graph: Graph,
        store: Store,
        *,
        path: str = "",
        text: str = "",
        data: Mapping[str, Any] | None = None,
        run: str = "",
        custom: Custom | None = None,
        first_line: bool = False,
    ) -> Session:
        """A new run. With `first_line` a graph whose initial state does not wait begins with a
        line of the person (model.md 4.0), as ARKOS does."""
        now = time.time()
        run = run or uuid.uuid4().hex[:12]
        title = graph.settings.get("title")
        state, speaks = first_state(graph)
        store.create(
            Stored(run, path, digest(text), text, now, now, "running", state, 0,
                   title=title if isinstance(title, str) else "")
        )  # fmt: skip
        session = cls(graph, store, run, path, custom or Custom())
        values = {f.name: f.default for f in graph.fields.values() if f.has_default}
        values.update(data or {})
        entries = tuple(name for name, _ in graph.entries if name in graph.states)
        bodies: list[Body] = [Started(state, values, speaks, entries if len(entries) > 1 else ())]
        if first_line and session.begins_with_a_line():
            bodies.append(Waiting(0, state))
        session.record(bodies)
        return session

    def begins_with_a_line(self) -> bool:
        """Whether a chat reads a line first: the graph has a `user` state, and the initial state
        neither waits nor says `speaks_first`."""
        state = self.graph.states[first_state(self.graph)[0]]
        waits = state.kind in WAITING_KINDS or state.kind in self.custom.waiting
        users = any(s.kind == "user" for s in self.graph.states.values())
        return users and not waits and state.settings.get("speaks_first") is not True

    @classmethod
    def open(
        cls, graph: Graph, store: Store, run: str, *, custom: Custom | None = None, path: str = ""
    ) -> Session:
        """A stored run where it was left; KeyError if there is none."""
        stored = store.get(run)
        if stored is None:
            raise KeyError(run)
        session = cls(graph, store, run, path or stored.path, custom or Custom())
        events = store.events(run)
        session.number = events[-1].number if events else 0
        session.snapshot = fold(graph, (event.body for event in effective(events)))
        return session

    def fork(self, at: int | None = None) -> Session:
        """A new run that shares the events up to number `at` (all if None); the parent stays as
        it is. ValueError where `at` names no event of the parent."""
        events = self.store.events(self.run)
        last = events[-1].number if events else 0
        at = last if at is None else at
        if not 1 <= at <= last:
            raise ValueError(f"session {self.run} has events 1 to {last}, not {at}")
        parent = self.store.get(self.run)
        assert parent is not None
        run = uuid.uuid4().hex[:12]
        self.store.create(
            parent._replace(run=run, created=time.time(), parent=self.run, fork_at=at)
        )
        kept = [event._replace(run=run) for event in events if event.number <= at]
        snapshot = fold(self.graph, (event.body for event in effective(kept)))
        self.store.append(run, kept, snapshot.status, snapshot.state)
        return Session(self.graph, self.store, run, self.path, self.custom, snapshot, at)

    # --- going on -------------------------------------------------------------------------------

    async def send(
        self,
        world: World,
        line: str | None = None,
        *,
        before: Stop | None = None,
        after: Stop | None = None,
    ) -> AsyncIterator[Event | Delta]:
        """The person's line (None: go on). Every event is stored before it is yielded.

        When the consumer is cancelled, what was said so far is kept as `interrupted`.
        """
        engine = Engine(
            self.graph, self.snapshot, world, custom=self.custom, before=before, after=after
        )
        buffer: list[Body] = []
        partial = ""
        try:
            async for item in engine.advance(line):
                if isinstance(item, Delta):
                    partial += item.text
                    for event in self.record(buffer):
                        yield event
                    buffer = []
                    yield item
                    continue
                buffer.append(item)
                if isinstance(item, BARRIERS):
                    stored, buffer = buffer, []
                    if not isinstance(item, Streamed):
                        partial = ""
                    for event in self.record(stored):
                        yield event
            for event in self.record(buffer):
                yield event
        except (asyncio.CancelledError, KeyboardInterrupt):
            self.interrupt(partial)
            raise

    def interrupt(self, text: str = "") -> None:
        """The step that is open was stopped; what was said stays, the state begins anew."""
        token = self.snapshot.token
        self.record([Interrupted(token.id, token.state, text)])

    def record(self, bodies: Sequence[Body]) -> list[Event]:
        """Store events as one transaction and fold them in."""
        if not bodies:
            return []
        snapshot = self.snapshot
        events: list[Event] = []
        now = time.time()
        for number, body in enumerate(bodies, self.number + 1):
            snapshot = apply(self.graph, snapshot, body)
            events.append(Event(self.run, number, now, body))
        self.store.append(self.run, events, snapshot.status, snapshot.state)
        self.snapshot = snapshot
        self.number += len(events)
        return events

    # --- what a person may do by hand -----------------------------------------------------------

    def goto(self, state: str) -> list[Event]:
        """Move the token from outside. KeyError for a state that is not there."""
        if state not in self.graph.states:
            raise KeyError(state)
        return self.record([Jumped(self.snapshot.token.id, state)])

    def edit(self, key: str, value: Any) -> list[Event]:
        """Set a field by hand."""
        return self.record([Edited(key, value)])

    def undo(self) -> bool:
        """Back to the wait before the last line of the person; False where there is none."""
        kept = effective(self.store.events(self.run))
        said = [event.number for event in kept if isinstance(event.body, Said)]
        if not said:
            return False
        self.undo_to(said[-1] - 1)
        return True

    def undo_to(self, number: int) -> None:
        """Everything after event `number` does not count any more. It stays in the store."""
        events = self.store.events(self.run)
        kept = [event for event in effective(events) if event.number <= number]
        self.snapshot = fold(self.graph, (event.body for event in kept))
        self.record([Undone(number)])

    def recover(self, note: str = "") -> Open:
        """Make a run that was left in the middle of a step ready to go on: the step begins anew
        from its entry. What it had said and called is returned, to be shown and asked about."""
        kept = effective(self.store.events(self.run))
        entry = max((e.number for e in kept if isinstance(e.body, ENTRIES)), default=0)
        text, calls = "", []
        if self.snapshot.status == "running" and not self._in_plan():
            for event in kept:
                if event.number > entry and isinstance(event.body, Streamed | Answered):
                    text += event.body.text
                if event.number > entry and isinstance(event.body, Called):
                    calls.append(event.body)
            if kept and kept[-1].number > entry:
                self.undo_to(entry)
        elif self.snapshot.status == "running":
            for event in reversed(kept):
                if not isinstance(event.body, Streamed):
                    break
                text = event.body.text + text
        self.record([Resumed(note)])
        return Open(text, tuple(calls))

    def _in_plan(self) -> bool:
        """Each call in a plan state is a step of its own and stays done."""
        state = self.graph.states.get(self.snapshot.state)
        return state is not None and state.is_plan


class Open(NamedTuple):
    """What a step that was cut off had said, and the calls it had sent (done or not)."""

    text: str
    calls: tuple[Called, ...]
