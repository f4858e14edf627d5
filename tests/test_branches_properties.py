"""Random graphs that split and join, and bodies that take a random time: what comes out depends
on neither, and every way of getting there again gives the same."""

from __future__ import annotations

import asyncio
import itertools
import json
import zlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import graph_of
from walks import Chance

from statecli.kernel.apply import fold
from statecli.model.event import Event, Said
from statecli.model.graph import Graph
from statecli.model.ports import Chunk, Request, Stored
from statecli.model.snapshot import Snapshot
from statecli.session.open_step import effective
from statecli.session.session import Session
from statecli.store.memory import MemoryStore
from statecli.store.rows import body_of, line

KINDS = ("agent", "decision", "user", "agent")
FIELDS = {
    "n": {"type": "int", "reducer": "increment", "default": 0},
    "list": {"type": "list", "reducer": "append", "default": []},
    "over": {"type": "int"},
}


@st.composite
def split_graphs(draw: st.DrawFn) -> dict[str, Any]:
    """A split into two to four branches of one to three states (one may split again), which meet
    in a join, or end each for itself."""
    states: dict[str, Any] = {}
    width = draw(st.integers(2, 4))
    joins = draw(st.booleans())
    firsts: list[str] = []

    def chain(name: str, depth: int) -> str:
        length = draw(st.integers(1, 3))
        names = [f"{name}{n}" for n in range(length)]
        for at, own in enumerate(names):
            kind = draw(st.sampled_from(KINDS))
            state: dict[str, Any] = {"type": kind}
            if kind == "agent":
                state["writes"] = draw(st.lists(st.sampled_from(list(FIELDS)), unique=True))
            last = at == len(names) - 1
            if not last:
                targets: list[Any] = [names[at + 1]]
            elif depth and draw(st.booleans()):
                targets = [chain(f"{own}_", 0), chain(f"{own}-", 0)]
            else:
                route: dict[str, Any] = {"to": "meet" if joins else f"end_{name}"}
                if draw(st.integers(0, 3)) == 0:
                    kept = draw(st.lists(st.sampled_from([*FIELDS, "messages"]), unique=True))
                    route["state_filter"] = kept
                targets = [route]
                if not joins:
                    states[f"end_{name}"] = {"type": "terminal", "message": f"end of {name}"}
            state["transition"] = {"next": targets}
            if len(targets) > 1:
                state["transition"]["fanout"] = "all"
            states[own] = state
        return names[0]

    firsts = [chain("abcd"[n], 1) for n in range(width)]
    failure = draw(st.sampled_from(["wait", "cancel"]))
    states["split"] = {
        "type": draw(st.sampled_from(["decision", "user"])),
        "transition": {"fanout": "all", "on_failure": failure, "next": firsts},
    }
    if joins:
        merge = {"default": draw(st.sampled_from(["overwrite", "append"]))}
        states["meet"] = {"type": "decision", "join": "all", "transition": {"next": ["end"]}}
        if draw(st.booleans()):
            states["meet"]["merge"] = merge
        states["end"] = {"type": "terminal", "message": "{{n}} {{over}}"}
    fields = {**FIELDS, "over": {"type": "any"}}
    return {"initial": "split", "fields": fields, "limits": {"max_steps": 40}, "states": states}


WORLDS = itertools.count()


class Slow(Chance):
    """Answers by where the branch stands, after a time of its own."""

    parallel = True

    def __init__(self, seed: int, delays: Sequence[int], *, fails: bool = False) -> None:
        super().__init__(seed, f"w{next(WORLDS)}-")
        self.delays = delays
        self.fails = fails
        self.failed: set[str] = set()

    async def complete(self, request: Request) -> AsyncIterator[Chunk]:
        name = request.state.name
        place = zlib.crc32(name.encode())
        for _ in range(self.delays[place % len(self.delays)]):
            await asyncio.sleep(0)
        if self.fails and place % 5 == 0 and name not in self.failed:
            self.failed.add(name)
            raise RuntimeError(f"{name} is not there")
        number = place % 7
        if request.what == "delta":
            value = dict.fromkeys(request.state.writes, number)
            yield Chunk(text=f"said {name}", value=value)
        else:
            yield Chunk(text=f"said {name}")


def talk(session: Session, world: Slow, lines: int = 12) -> list[Event]:
    """Go on until the run ends; each line says which it is."""
    found: list[Event] = []

    async def send(line: str | None) -> None:
        found.extend([item async for item in session.send(world, line) if isinstance(item, Event)])

    for _ in range(lines * 2):
        status = session.snapshot.status
        if status == "ended":
            break
        heard = sum(isinstance(e.body, Said) for e in effective(session.store.events(session.run)))
        asyncio.run(send(f"line {heard}" if status == "waiting" else None))
    return found


def built(value: dict[str, Any]) -> Graph:
    return graph_of(json.dumps(value), "g.json")


def plain(snapshot: Snapshot) -> Any:
    """What does not differ from run to run: without the ids of messages."""
    data = dict(snapshot.data)
    data["messages"] = [(m["role"], m["content"]) for m in data.get("messages") or ()]
    return snapshot.status, snapshot.state, data


def told(events: Sequence[Event]) -> list[Any]:
    return [
        (e.name, *(getattr(e.body, key, None) for key in ("token", "state", "tokens", "text")))
        for e in events
    ]


DELAYS = st.lists(st.integers(0, 12), min_size=3, max_size=7)


@given(split_graphs(), DELAYS, DELAYS)
@settings(max_examples=120, deadline=None)
def test_fan_in_never_depends_on_who_is_faster(
    value: dict[str, Any], one: list[int], two: list[int]
) -> None:
    """Not the data, and not even the order of the events."""
    graph = built(value)
    first, second = (Session.start(graph, MemoryStore()) for _ in range(2))
    before, after = talk(first, Slow(1, one)), talk(second, Slow(1, two))
    assert plain(first.snapshot) == plain(second.snapshot)
    assert told(before) == told(after)
    assert first.snapshot.status == "ended"


@given(split_graphs(), DELAYS)
@settings(max_examples=80, deadline=None)
def test_one_after_the_other_is_the_same_as_side_by_side(
    value: dict[str, Any], delays: list[int]
) -> None:
    graph = built(value)
    first, second = (Session.start(graph, MemoryStore()) for _ in range(2))
    slow = Slow(1, delays)
    slow.parallel = False
    assert told(talk(first, slow)) == told(talk(second, Slow(1, delays)))


@given(split_graphs(), DELAYS, st.booleans())
@settings(max_examples=80, deadline=None)
def test_replay_of_the_events_gives_the_same_snapshot(
    value: dict[str, Any], delays: list[int], fails: bool
) -> None:
    """Also of the events as a store keeps them, at every point where the run rested."""
    graph = built(value)
    session = Session.start(graph, MemoryStore())
    talk(session, Slow(1, delays, fails=fails))
    events = session.store.events(session.run)
    assert fold(graph, (e.body for e in events)) == session.snapshot
    rows = [body_of(json.loads(line(event))) for event in events]
    assert fold(graph, rows) == session.snapshot


@given(split_graphs(), DELAYS, st.data())
@settings(max_examples=60, deadline=None)
def test_resume_at_every_prefix_gives_the_same_end(
    value: dict[str, Any], delays: list[int], data: st.DataObject
) -> None:
    graph = built(value)
    whole = Session.start(graph, MemoryStore())
    talk(whole, Slow(1, delays))
    events = whole.store.events(whole.run)
    cut = data.draw(st.integers(1, len(events) - 1))
    again = Session(graph, MemoryStore(), "again")
    kept = [event._replace(run="again") for event in events[:cut]]
    again._begin(Stored("again", "", "", "", 0, 0, "", "", 0), kept)
    again.recover()
    talk(again, Slow(1, delays))
    assert plain(again.snapshot) == plain(whole.snapshot)


@given(split_graphs(), DELAYS)
@settings(max_examples=60, deadline=None)
def test_after_failures_the_end_is_the_same(value: dict[str, Any], delays: list[int]) -> None:
    """Whether the others go on or are stopped: each step counts once."""
    graph = built(value)
    good, bad = (Session.start(graph, MemoryStore()) for _ in range(2))
    talk(good, Slow(1, delays))
    talk(bad, Slow(1, delays, fails=True), 30)
    assert plain(bad.snapshot) == plain(good.snapshot)


@given(split_graphs(), DELAYS)
@settings(max_examples=40, deadline=None)
def test_undo_and_fork_come_back_to_the_same(value: dict[str, Any], delays: list[int]) -> None:
    graph = built(value)
    session = Session.start(graph, MemoryStore())
    talk(session, Slow(1, delays))
    end = plain(session.snapshot)
    forked = session.fork()
    assert forked.snapshot == session.snapshot
    while session.undo():
        assert session.snapshot.status in ("waiting", "running")
    talk(session, Slow(1, delays))
    assert plain(session.snapshot) == end
