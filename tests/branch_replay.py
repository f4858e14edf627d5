"""Plays a witness of several branches through the real engine, and looks at what happened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from witness_replay import MOST_LINES, Script

from statecli.kernel.apply import apply
from statecli.model.event import (
    Body,
    Ended,
    Entered,
    Failed,
    Guard_Missing_Field,
    Joined,
    Split,
    Started,
    Waiting,
)
from statecli.model.graph import Graph
from statecli.model.ports import Chunk, EndOfInput, Request
from statecli.model.snapshot import Snapshot
from statecli.session.session import Session
from statecli.store.memory import MemoryStore
from statecli.verify import Finding, Visit

#: What happened, each with the run before it.
Told = Sequence[tuple[Body, Snapshot]]


class Beside(Script):
    """A world for several branches: each state does what the witness says that it does."""

    parallel = False

    def __init__(self, graph: Graph, visits: Sequence[Visit]) -> None:
        super().__init__(graph, visits)
        self.over: set[int] = set()
        self.branch = 0  # whose turn it is: two may be in one state
        self.current: dict[int, Visit] = {}

    @property
    def left(self) -> bool:
        return len(self.over) < len(self.visits)

    def body(self, state: str) -> Mapping[str, Any]:
        for number, visit in enumerate(self.visits):
            if visit.state == state and number not in self.over:
                assert number >= max(self.over, default=-1), "the bodies begin in another order"
                self.over.add(number)
                self.current[self.branch] = visit
                return {key: value for turn in visit.turns for key, value in turn.items()}
        raise EndOfInput

    async def complete(self, request: Request) -> AsyncIterator[Chunk]:
        name, self.branch = request.state.name, request.snapshot.token.id
        if request.what == "delta":
            yield Chunk(text="said", value=dict(self.body(name)))
        elif request.what == "reply":
            self.body(name)
            yield Chunk(text="said")
        else:
            assert request.what == "choice", request.what
            if request.state.kind == "decision":
                self.body(name)
            takes = self.current[self.branch].takes
            if takes is None:
                raise EndOfInput
            number = int(takes[len("transitions[") : -1])
            yield Chunk(value={"next_state": self.graph.states[name].transitions[number].target})


def shown_beside(graph: Graph, finding: Finding) -> bool:
    """Whether the real engine shows what a witness of branches claims."""
    assert finding.witness is not None
    store = MemoryStore()
    wide = graph.with_limits(max_calls=1000, max_steps=1000)  # a limit stops a run, and it goes on
    session = Session.start(wide, store, data=finding.witness.given)
    asyncio.run(_play(session, Beside(graph, finding.witness.visits)))
    told: list[tuple[Body, Snapshot]] = []
    snapshot = Snapshot()
    for event in store.events(session.run):
        told.append((event.body, snapshot))
        snapshot = apply(graph, snapshot, event.body)
    return SHOWN[finding.rule](told, finding)


async def _play(session: Session, script: Beside) -> None:
    for turn in range(MOST_LINES):
        status = session.snapshot.status
        if status not in ("running", "waiting") or not script.left:
            break
        script.branch = session.snapshot.token.id
        try:
            line = script.line(session.snapshot.state) if status == "waiting" else None
        except EndOfInput:
            break
        if line is None and turn:
            break  # it was stopped in the middle: the witness has no more to say
        async for _ in session.send(script, line):
            pass


def _waits(told: Told, finding: Finding) -> bool:
    """It waits, and for those that the finding names."""
    lacking = finding.values["lacking"]
    assert isinstance(lacking, tuple)
    lacks = ", ".join(f"'{name}'" for name in lacking)
    return any(isinstance(body, Failed) and body.state == finding.state and body.stuck
               and "waits for a branch" in body.error and f": from {lacks} none" in body.error
               for body, _ in told)  # fmt: skip


def _stuck(told: Told, finding: Finding) -> bool:
    """Nothing held; of a state that waits, it waits again after the line."""
    waits = 0
    for body, _ in told:
        if isinstance(body, Failed) and body.state == finding.state:
            return body.stuck and "nothing holds" in body.error
        waits += isinstance(body, Waiting) and body.state == finding.state
    return waits > 1


def _open(told: Told, finding: Finding) -> bool:
    return any(
        isinstance(body, Entered | Ended) and body.state == finding.state
        and any(number != body.token for number in snapshot.branches)
        for body, snapshot in told
    )  # fmt: skip


def _unset(told: Told, finding: Finding) -> bool:
    key = finding.values["key"]
    for body, snapshot in told:
        if getattr(body, "state", "") != finding.state:
            continue
        if finding.values["guard"]:
            if isinstance(body, Guard_Missing_Field) and body.key == key:
                return True
        elif isinstance(body, Entered):
            branch = snapshot.branches.get(body.token)
            if key not in (branch.data if branch is not None else snapshot.data):
                return True
        elif isinstance(body, Started) and key not in body.data:
            return True
    return False


def _twice(told: Told, finding: Finding) -> bool:
    """Two came into the state, and neither came from the other."""
    parents: dict[int, list[int]] = {}
    came: list[int] = []
    for body, _ in told:
        if isinstance(body, Split):
            parents.update({token: [body.token] for token in body.tokens})
        elif isinstance(body, Joined):
            parents[body.token] = list(body.tokens)
        elif isinstance(body, Entered) and body.state == finding.state:
            came.append(body.token)

    def before(token: int) -> set[int]:
        return {token}.union(*(before(one) for one in parents.get(token, ())))

    return any(one not in before(other) and other not in before(one)
               for at, one in enumerate(came) for other in came[at + 1 :])  # fmt: skip


SHOWN = {
    "join-never-satisfied": _waits, "stuck-state": _stuck, "end-with-open-branches": _open,
    "read-before-write": _unset, "duplicate-branch": _twice,
}  # fmt: skip
