"""Plays a witness through the real engine: a session, with a world that says what the witness says.

And without one of its answers: then the finding must not show any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from verify_oracle.reader import Book, book
from verify_oracle.search import Node, Search, TooLarge, World

from statecli.kernel.apply import apply
from statecli.kernel.choose import Ask, Stay, choose, view_of
from statecli.kernel.order import routes_of
from statecli.kernel.tasks import complete
from statecli.model.event import (
    Body,
    Chose,
    Ended,
    Entered,
    Event,
    Failed,
    Guard_Missing_Field,
    Interrupted,
    Limited,
    Skipped,
    Started,
    Warned,
)
from statecli.model.graph import Graph
from statecli.model.guard import evaluate
from statecli.model.ports import Call, Chunk, EndOfInput, Request, ToolResult, ToolSpec
from statecli.model.snapshot import Snapshot
from statecli.session.session import Session
from statecli.store.memory import MemoryStore
from statecli.verify import Finding, Visit

LINE = "yes, that is all done"
#: So many lines at most: nine or ten of them wait for the net to move on, once or more.
MOST_LINES = 200


class Off(EndOfInput):
    """The run is not where the witness says: it cannot be played further."""


class Script:
    """A world that says what the visits of a witness say, and no more."""

    user_id = None

    def __init__(self, graph: Graph, visits: Sequence[Visit]) -> None:
        self.graph = graph
        self.visits = visits
        self.at = 0
        self.done = 0
        self.begun = False
        self.chosen = False
        self.result: Mapping[str, Any] = {}
        self._ids = 0

    @property
    def left(self) -> bool:
        """Whether something of the witness was not played yet."""
        if self.at < len(self.visits) - 1:
            return True
        visit = self.visits[self.at]
        plan = self.graph.states[visit.state].is_plan
        return self.done < len(visit.turns) if plan else not self.begun

    def _next(self) -> None:
        self.at, self.done, self.begun, self.chosen = self.at + 1, 0, False, False
        if self.at >= len(self.visits):
            raise EndOfInput

    def turn(self, state: str) -> Mapping[str, Any]:
        """The next call in a plan state."""
        while True:
            visit = self.visits[self.at]
            plan = self.graph.states[visit.state].is_plan
            if plan and self.done < len(visit.turns):
                if visit.state != state:
                    raise Off
                self.done += 1
                return visit.turns[self.done - 1]
            self._next()

    def body(self, state: str) -> Mapping[str, Any]:
        """What a body writes that runs now."""
        while True:
            visit = self.visits[self.at]
            plan = self.graph.states[visit.state].is_plan
            if not plan and not self.begun and visit.state == state:
                self.begun = True
                return {key: value for turn in visit.turns for key, value in turn.items()}
            if (plan and self.done < len(visit.turns)) or (not plan and not self.begun and
                                                          visit.turns):  # fmt: skip
                raise Off
            self._next()

    def line(self, state: str) -> str:
        """What the person says in a waiting state."""
        if self.graph.states[state].is_plan:
            return LINE
        value = next(iter(self.body(state).values()), LINE)
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value)

    def target(self) -> str:
        """Where the model sends the run."""
        visit = self.visits[self.at]
        if visit.takes is None or not visit.takes.startswith("transitions["):
            raise EndOfInput
        self.chosen = True
        number = int(visit.takes[len("transitions[") : -1])
        return self.graph.states[visit.state].transitions[number].target

    async def complete(self, request: Request) -> AsyncIterator[Chunk]:
        name, what = request.state.name, request.what
        if what == "turn":
            yield self._call(request, name)
        elif what == "delta":
            yield Chunk(text="said", value=dict(self.body(name)))
        elif what == "reply":
            self.body(name)
            yield Chunk(text="said")
        elif what == "arguments":
            self.result = self.body(name)
            yield Chunk(value={})
        elif what == "choice":
            if not self.begun or self.chosen or self.visits[self.at].state != name:
                self.body(name)  # a decision asks for nothing but this
            yield Chunk(value={"next_state": self.target()})
        else:
            assert what == "check", what
            yield Chunk(value={"agree": True, "quote": LINE})

    def _call(self, request: Request, name: str) -> Chunk:
        if request.snapshot.line is None:
            return Chunk(text="an opening turn")
        turn = self.turn(name)
        if not turn:
            return Chunk(text="said")
        ((key, value),) = turn.items()
        state = self.graph.states[name]
        if key == "close" and state.kind == "goal":
            return _call("close_goal", outcome=value, quote=LINE)
        if key != "done" or any(item.key == "done" for item in state.deliverables()):
            return _call("set_deliverable", key=key, value=value)
        task = next(task for task in state.tasks if task.id == value)
        lacking = any(i.required and i.key not in request.snapshot.data for i in task.deliverables)
        return _call("skip_task" if lacking else "complete_task", id=value)

    async def tools(self, names: object) -> tuple[ToolSpec, ...]:
        return self.known_tools(names)

    def known_tools(self, names: object) -> tuple[ToolSpec, ...]:
        return (ToolSpec("tool", "", {"type": "object"}),)

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        return ""

    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, Any], user: str = ""
    ) -> ToolResult:
        return ToolResult(True, "", dict(self.result))

    def heard(self) -> tuple[()]:
        return ()

    async def ask(self, question: object) -> str:
        return "yes"

    async def keep_skill(self, name: str, text: str) -> str:
        return name

    def known_skills(self) -> tuple[str, ...]:
        return ()

    def now(self) -> float:
        return 0.0

    def new_id(self) -> str:
        self._ids += 1
        return f"w{self._ids}"


def _call(name: str, **arguments: Any) -> Chunk:
    return Chunk(call=Call("c", name, arguments))


class Played:
    """A witness as it was played: what happened, and the snapshot before each of it.

    Only until silence alone gets the run on, past something that was still to do: what comes then
    happens to nobody who does what he is asked for, and no witness is about it (verify.md 1)."""

    def __init__(self, graph: Graph, visits: Sequence[Visit], given: Mapping[str, Any]) -> None:
        wide = graph.with_limits(max_calls=1000, max_steps=1000)
        self.graph = graph
        store = MemoryStore()
        self.session = Session.start(wide, store, data=given)
        self.script = Script(graph, visits)
        asyncio.run(self._play())
        self.bodies: list[Body] = [event.body for event in store.events(self.session.run)]
        self.before: list[Snapshot] = []
        snapshot = Snapshot()
        silent = [at for at, b in enumerate(self.bodies)
                  if isinstance(b, Skipped) and (b.tasks or b.goal)]  # fmt: skip
        del self.bodies[min(silent, default=len(self.bodies)) :]
        for body in self.bodies:
            self.before.append(snapshot)
            snapshot = apply(graph, snapshot, body)
        self.after = snapshot

    async def _play(self) -> None:
        try:
            if self.session.snapshot.status == "running":
                await self._send(None)
            for _ in range(MOST_LINES):
                stopped = self.session.snapshot.status in ("waiting", "limited")
                if not stopped or not self.script.left:
                    break
                await self._send(self.script.line(self.session.snapshot.state))
        except EndOfInput:
            pass

    async def _send(self, line: str | None) -> None:
        async for item in self.session.send(self.script, line):
            assert isinstance(item, Event) or item is not None

    # --- what it shows --------------------------------------------------------------------------

    def shows(self, finding: Finding, found: Book) -> bool:
        name, values = finding.state, finding.values
        if finding.rule == "stuck-state":
            return self._stays(name)
        if finding.rule == "rescued-by-safety-net":
            return any(isinstance(b, Skipped) and b.state == name and not b.tasks and not b.goal
                       for b in self.bodies)  # fmt: skip
        if finding.rule == "priority-tie-overlap":
            return self._ties(name, finding.transition, values["other"])
        if finding.rule == "read-before-write" and values["guard"]:
            return Guard_Missing_Field(0, name, str(values["key"])) in self.bodies
        if finding.rule == "read-before-write":
            return any(isinstance(b, Entered | Started) and b.state == name
                       and values["key"] not in s.data
                       for b, s in zip(self.bodies, self.before, strict=True))  # fmt: skip
        assert finding.rule == "no-way-out", finding.rule
        return self._doomed(name, found)

    def _stays(self, name: str) -> bool:
        last = self.after
        if any(isinstance(b, Failed) and b.stuck and b.state == name for b in self.bodies):
            return True
        if last.state != name or last.status == "ended":
            return False
        state = self.graph.states[name]
        stays = isinstance(choose(self.graph, last, last.token, at_turn_end=True), Stay)
        return stays and complete(last, state) and (state.is_plan or self.script.begun)

    def _ties(self, name: str, one: int, other: object) -> bool:
        """Two routes held when the routes of the state were tried."""
        routes = {route.number: route for route in routes_of(self.graph, name)}
        ways = [routes[one], routes[int(str(other))]]
        for body, snapshot in zip(self.bodies, self.before, strict=True):
            asked = isinstance(body, Interrupted) and self.script.begun  # for a choice of the model
            tried = asked or isinstance(body, Chose | Limited | Warned)
            if not tried or snapshot.state != name:
                continue
            view = view_of(self.graph, snapshot, snapshot.token, None)
            held = [way.guard is not None and evaluate(way.guard, view) is True for way in ways]
            first = choose(self.graph, snapshot, snapshot.token)
            taken = getattr(first, "transition", None)
            taken = first.options[0] if isinstance(first, Ask) else taken
            if all(held) and taken is not None and taken.priority >= ways[0].priority:
                return True
        return False

    def _doomed(self, name: str, found: Book) -> bool:
        """The run came into the state, and the oracle finds no end from where that pass rests."""
        after = [*self.before[1:], self.after]
        for at, body in enumerate(self.bodies):
            if isinstance(body, Entered | Started) and body.state == name:
                rest = at
                while rest + 1 < len(self.bodies) and _goes_on(self.bodies[rest + 1]):
                    rest += 1
                if after[rest].status != "ended" and not ends(found, after[rest]):
                    return True
        return False


def _goes_on(body: Body) -> bool:
    """Whether the pass that came into a state goes on with this."""
    settled = isinstance(body, Chose) and body.by == "settle"
    return settled or isinstance(body, Ended | Entered | Guard_Missing_Field | Limited | Warned)


def ends(found: Book, snapshot: Snapshot) -> bool:
    """Whether some run from here is known to end, by the oracle."""
    data = {key: value for key, value in snapshot.data.items() if key != "messages"}
    world = World(found._replace(data=data, roots=(snapshot.state,), given={}))
    token = snapshot.token
    done = sum(
        bit for (name, n), bit in world.bit.items()
        if f"{name}/{found.places[name].jobs[n].name}" in snapshot.tasks
    )  # fmt: skip
    been = sum(world.reset_bit[name] for name in snapshot.work.visited)
    values = tuple(1 if key in data else 0 for key in world.keys)
    timed = bool(world.timed[snapshot.state])
    node = Node(
        snapshot.state, values, done, been, bool(token.closed),
        token.total if timed else 0, token.idle if timed else 0,
        not (timed and token.fresh), timed and token.progressed,
    )  # fmt: skip
    try:
        full = Search(world, coop=False, most=100_000, start=node)
    except TooLarge:
        return False  # too much to look at: it is not known to end
    return any(move.to is None for moves in full.moves.values() for move in moves)


def replays(graph: Graph, value: dict[str, Any], finding: Finding) -> list[str]:
    """What is wrong with a witness: it does not show the finding, or something in it is not
    needed."""
    found = book(value)
    assert finding.witness is not None
    given, visits = finding.witness.given, list(finding.witness.visits)
    if not Played(graph, visits, given).shows(finding, found):
        return [f"{finding} does not show"]
    bad = []
    for at, visit in enumerate(visits):
        for number, turn in enumerate(visit.turns):
            if not turn or not graph.states[visit.state].is_plan:
                continue  # an idle turn, or what a body writes: all that it is asked for
            turns = (*visit.turns[:number], *visit.turns[number + 1 :])
            shorter = [*visits[:at], visit._replace(turns=turns), *visits[at + 1 :]]
            if Played(graph, shorter, given).shows(finding, found):
                bad.append(f"{finding} does not need {turn} in '{visit.state}'")
    return bad
