"""A run that is kept: every event is stored before it is shown, and a crash loses no line.

Events are stored in transactions that end where something leaves the run (a question to a model,
a call, a wait): the changes of a step and the entry into the next state are one transaction.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from statecli.engine.advance import Custom, Engine, Hold, Stop, first_state
from statecli.kernel.apply import apply, fold
from statecli.kernel.recorder import Recorder
from statecli.kernel.reducers import first_data
from statecli.kernel.settle import jump
from statecli.kinds.step import Delta, closing
from statecli.llm.scrub import Veil, known_secrets
from statecli.model.event import (
    BARRIERS,
    Answered,
    Body,
    Chose,
    Edited,
    Ended,
    Event,
    Interrupted,
    Limited,
    Resumed,
    Said,
    Started,
    Streamed,
    Undone,
    Waiting,
)
from statecli.model.graph import END, FUNCTION, WAITING_KINDS, Graph
from statecli.model.ports import Batch, Stopped, Store, Stored, World
from statecli.model.snapshot import Snapshot
from statecli.session.open_step import (
    Open,
    before_last_step,
    effective,
    entry_of,
    half_split,
    open_branches,
    open_step,
)
from statecli.store.rows import body_of

#: Builds the rows of every step: three times as fast as calling their class.
_new: Any = tuple.__new__


def digest(text: str) -> str:
    """What identifies a graph's text: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Session:
    """One run of a graph in a store. `run` is its id; `snapshot` where it is, `number` that of its
    last event; `worked` is how many seconds it was at work since the limit `timeout` last hit.
    `hold` may keep it where it is after a body (see `Engine`). No secret of the environment
    (`secrets`) gets into an event, whoever says it."""

    secrets = staticmethod(known_secrets)

    def __init__(
        self,
        graph: Graph,
        store: Store,
        run: str,
        path: str = "",
        custom: Custom | None = None,
    ) -> None:
        self.graph = graph
        self.store = store
        self.run = run
        self.path = path
        self.custom = custom or Custom()
        self.snapshot = Snapshot()
        self.hold: Hold | None = None
        self.number = 0
        self.worked = 0.0
        self.veil = Veil(self.secrets())
        self._last = time.time()
        self._timed = bool(graph.limits.get("timeout"))

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
        line of the person (model.md 4.0), as ARKOS does. Raises Misfit for data that the graph's
        fields cannot hold."""
        values = first_data(graph, data or {})
        now = time.time()
        run = run or uuid.uuid4().hex[:12]
        title = graph.settings.get("title")
        state, speaks = first_state(graph)
        session = cls(graph, store, run, path, custom)
        entries = tuple(dict.fromkeys(name for name, _ in graph.entries if name in graph.states))
        told = entries if len(entries) > 1 else ()
        bodies: list[Body] = [session.veil.body(Started(state, values, speaks, told))]
        if first_line and session.begins_with_a_line():
            bodies.append(Waiting(0, state))
        session._begin(
            Stored(run, path, digest(text), session.veil.text(text), now, now, "running", state, 0,
                   title=title if isinstance(title, str) else ""),
            [Event(run, number, now, body) for number, body in enumerate(bodies, 1)],
        )  # fmt: skip
        return session

    def _begin(self, stored: Stored, events: Sequence[Event]) -> None:
        """Put the run and its first events into the store, as one transaction."""
        self._replay(events)
        now = self.snapshot
        times, bodies = [event.time for event in events], [event.body for event in events]
        self.store.create(stored, Batch(events[0].number, times, bodies, now.status, now.state))

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
        session = cls(graph, store, run, path or stored.path, custom)
        session._replay(store.events(run))
        return session

    @classmethod
    def restored(
        cls,
        graph: Graph,
        store: Store,
        rows: Sequence[Mapping[str, Any]],
        *,
        custom: Custom | None = None,
    ) -> Session:
        """A run from the lines of an export, put into a store; under a new id where the store has
        it already."""
        run = str(rows[0]["run"])
        run = run if store.get(run) is None else uuid.uuid4().hex[:12]
        events = [Event(run, row["number"], row["time"], body_of(row)) for row in rows]
        session = cls(graph, store, run, custom=custom)
        first, last = events[0].time, events[-1].time
        session._begin(Stored(run, "", digest(""), "", first, last, "", "", 0), events)
        return session

    def _replay(self, events: Sequence[Event]) -> None:
        """Fold the events that are stored."""
        self.number = events[-1].number if events else 0
        self._last = events[-1].time if events else time.time()
        snapshot, worked, before = Snapshot(), 0.0, self._last
        for event in effective(events):
            if snapshot.status == "running":
                worked += max(0.0, event.time - before)
            before = event.time
            snapshot = apply(self.graph, snapshot, event.body)
            if isinstance(event.body, Limited) and event.body.limit == "timeout":
                worked = 0.0
        self.snapshot, self.worked = snapshot, worked

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
        kept = [event._replace(run=run) for event in events if event.number <= at]
        forked = type(self)(self.graph, self.store, run, self.path, self.custom)
        forked._begin(
            parent._replace(run=run, created=time.time(), parent=self.run, fork_at=at), kept
        )
        return forked

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

        When the consumer is cancelled, what was said so far is kept, marked as cut off.
        """
        engine = Engine(
            self.graph,
            self.snapshot,
            world,
            custom=self.custom,
            before=before,
            after=after,
            since=time.time() - self.worked,
            hold=self.hold,
            clean=self.veil.body if self.veil else None,
        )
        buffer: list[Body] = []
        partial: dict[int, str] = {}
        self._last = time.time()
        try:
            async with closing(engine.advance(line)) as items:
                async for item in items:
                    if isinstance(item, Delta):
                        partial[item.token] = partial.get(item.token, "") + item.text
                        yield item
                        continue
                    buffer.extend(item)
                    if not self._in_plan() and not any(isinstance(b, BARRIERS) for b in item):
                        continue
                    for body in buffer:
                        if not isinstance(body, Streamed):
                            partial.pop(getattr(body, "token", 0), None)
                            partial.pop(0, None)
                    stored, buffer = buffer, []
                    # What the engine knows already is not folded once more: that would also copy
                    # the messages, which both have in common.
                    for event in self.record(stored, engine.told):
                        yield event
            for event in self.record(buffer, engine.told):
                yield event
        except Stopped:
            for event in self.struck(partial):
                yield event
        except (Exception, GeneratorExit):  # the consumer's own
            raise
        except BaseException:
            self.struck(partial)
            raise

    def struck(self, partial: Mapping[int, str]) -> list[Event]:
        """What is at work was stopped from outside (a signal, a cancelled task, the person); what
        was said so far (by token) is kept."""
        self._replay(self.store.events(self.run))  # it may have struck while something was kept
        if self.snapshot.branches:
            return self._interrupt_branches(partial)
        return self.interrupt(
            "".join(partial.values()) if self._speaks(self.snapshot.state) else ""
        )

    def _speaks(self, name: str) -> bool:
        """Whether what a state streams is an answer to the person: of a function it is not."""
        state = self.graph.states.get(name)
        return state is None or state.kind != FUNCTION

    def _interrupt_branches(self, texts: Mapping[int, str]) -> list[Event]:
        """Every open step was stopped; what each had said so far (by token) stays."""
        bodies: list[Body] = []
        for number, branch in self.snapshot.branches.items():
            if branch.status == "running":
                name, text = branch.token.state, texts.get(number, "")
                bodies.append(Interrupted(number, name))
                if text.strip() and self._speaks(name):
                    said = uuid.uuid4().hex[:12]
                    bodies.append(Answered(number, name, text, said, partial=True))
        return self.record(bodies)

    def interrupt(self, text: str = "") -> list[Event]:
        """The step that is open was stopped; what was said stays (`text`: what of it is not stored
        yet), the state begins anew."""
        token = self.snapshot.token
        bodies: list[Body] = [Interrupted(token.id, token.state)]
        if text.strip():
            said = Answered(token.id, token.state, text, uuid.uuid4().hex[:12], partial=True)
            bodies.insert(0, said)
        return self.record(bodies)

    def record(self, bodies: Sequence[Body], after: Snapshot | None = None) -> list[Event]:
        """Store events as one transaction and fold them in. `after`: the snapshot after them, where
        it is known already."""
        if after is None and self.veil:
            bodies = [self.veil.body(body) for body in bodies]
        first = self.number + 1
        now = self.keep(bodies, after or fold(self.graph, bodies, self.snapshot))
        return [Event(self.run, number, now, body) for number, body in enumerate(bodies, first)]

    def keep(self, bodies: Sequence[Body], after: Snapshot) -> float:
        """Store events as one transaction, and stand where they lead; when that was."""
        now = time.time()
        count = len(bodies)
        if not count:
            return now
        batch = (self.number + 1, [now] * count, bodies, after.status, after.tokens[0].state)
        self.store.append(self.run, _new(Batch, batch))
        if self._timed:
            self._time(now, bodies[-1])
        self.snapshot = after
        self.number += count
        return now

    def _time(self, now: float, last: Body) -> None:
        """Count the time at work."""
        if self.snapshot.status == "running":
            self.worked += now - self._last
        self._last = now
        if isinstance(last, Limited) and last.limit == "timeout":
            self.worked = 0.0

    # --- what a person may do by hand -----------------------------------------------------------

    def goto(self, state: str) -> list[Event]:
        """Move the token from outside. KeyError for a state that is not there."""
        if state not in self.graph.states:
            raise KeyError(state)
        number = self.snapshot.token.id
        to = Recorder(self.graph, self.snapshot).seen_by(number)
        jump(to, number, state)
        return self.record(to.bodies)

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

    def take_back(self, to: int | None) -> bool:
        """Back to event `to`; None: as `undo`, where nobody said a line to before the last step.
        False where there is nothing to take back, ValueError where there is no such event."""
        kept = effective(self.store.events(self.run))
        if to is None:
            if self.undo():
                return True
            to = before_last_step(kept)
        elif all(event.number != to for event in kept):
            known = f"it stands after event {kept[-1].number} of {self.number}"
            raise ValueError(f"session {self.run} cannot go back to event {to}: {known}")
        if to is None or to == kept[-1].number:
            return False
        self.undo_to(to)
        self._begin_anew()
        return True

    def undo_to(self, number: int) -> None:
        """Everything after event `number` does not count any more. It stays in the store."""
        events = self.store.events(self.run)
        kept = [event for event in effective(events) if event.number <= number]
        snapshot = fold(self.graph, (event.body for event in kept))
        self.record([Undone(number)], snapshot)

    # --- after a crash --------------------------------------------------------------------------

    def open_step(self) -> Open:
        """What a step that was cut off had said and called, if one was; of one that the person
        stopped, what it had called. Changes nothing."""
        kept = effective(self.store.events(self.run))
        if self.snapshot.branches:
            return open_branches(self.snapshot, kept, self.number)
        return open_step(self.snapshot, kept, self.number, in_plan=self._in_plan())

    def set_aside(self, note: str = "") -> None:
        """Leave a step that was cut off as it is, until the person says that it goes on: what it
        had called may not be called again unasked."""
        token = self.snapshot.token
        numbers = {n: b.token.state for n, b in self.snapshot.branches.items()
                   if b.status == "running"} or {token.id: token.state}  # fmt: skip
        self.record([Resumed(note), *(Interrupted(n, name) for n, name in numbers.items())])

    def recover(self, note: str = "") -> Open:
        """Make a run that was left in the middle of a step ready to go on: the step begins anew
        from its entry, and what it had said and called is returned."""
        stopped = self.snapshot.status == "interrupted"
        left = self._begin_anew()
        # A step whose calls the person wants once more runs at once.
        self.record([Resumed(note, runs=stopped and bool(left.calls))])
        return left

    def _begin_anew(self) -> Open:
        """Leave nothing of a step that was cut off; what it had said and called."""
        half = half_split(effective(self.store.events(self.run)))
        if half is not None:
            self.undo_to(half)
        left = self.open_step()
        if self.snapshot.branches:
            name = {n: branch.token.state for n, branch in self.snapshot.branches.items()}
            self.record([Interrupted(n, name[n], again=True) for n in left.branches])
        elif self.snapshot.status == "running":
            kept = effective(self.store.events(self.run))
            last = kept[-1].number if kept else 0
            chosen = next((e.body for e in reversed(kept) if isinstance(e.body, Chose)), None)
            if self._in_plan():
                if chosen is not None and chosen.target == END:
                    # It had only to be told that it was over.
                    self.record([Ended(self.snapshot.token.id, END)])
            elif last > entry_of(kept):
                self.undo_to(entry_of(kept))
        return left

    def _in_plan(self) -> bool:
        """Whether every event is stored at once: in a plan state each call is a step of its own."""
        if self.snapshot.branches:
            return True
        state = self.graph.states.get(self.snapshot.state)
        return state is not None and state.is_plan
