"""Random graphs of both forms, and a model that answers by chance but the same each time it is
asked the same: for property tests of whole conversations."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from hypothesis import strategies as st
from plans import KEYS, plans, tasks

from statecli.load.loader import load
from statecli.model.event import Approved, Event, Said
from statecli.model.graph import Graph
from statecli.model.ports import Call, Chunk, Request, ToolResult, ToolSpec
from statecli.model.snapshot import Snapshot
from statecli.session.session import Session

KINDS = ("user", "agent", "decision", "tool", "planner", "executor", "verifier", "terminal",
         "strict", "loose", "goal")  # fmt: skip
WHENS = (
    "k == 'x'",
    "n > 4",
    "b",
    "has(e) or n < 2",
    {"k": "x"},
    {"n__gte": 3},
    {"e__exists": False},
)


def built(value: dict[str, Any]) -> Graph:
    graph = load("g.json", json.dumps(value)).graph
    assert graph is not None
    return graph


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Two to six states of any kind, guarded and unguarded routes, small limits."""
    names = [f"s{n}" for n in range(draw(st.integers(2, 6)))]
    states: dict[str, Any] = {}
    for name in names:
        kind = draw(st.sampled_from(KINDS))
        state: dict[str, Any] = {"type": kind, "title": name}
        routes: list[Any] = []
        for _ in range(draw(st.integers(0, 3))):
            target = draw(st.sampled_from([*names, "nowhere"]))
            route: dict[str, Any] = {"to": target, "priority": draw(st.integers(1, 2))}
            if draw(st.booleans()):
                route["when"] = draw(st.sampled_from(WHENS))
            routes.append(route)
        if kind != "terminal":
            state["transition"] = {"next": routes}
        if kind in ("strict", "loose"):
            state["tasks"] = draw(tasks(name))
        if kind == "goal":
            state["goal"] = {"objective": "o", "deliverables": [{"key": "k"}]}
        if kind in ("user", "agent", "tool"):
            state["writes"] = draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True))
        if draw(st.integers(0, 3)) == 0:
            state["on_error"] = draw(st.sampled_from(names))
        if kind in ("strict", "loose", "goal") and draw(st.booleans()):
            state["on_reenter"] = "reset"
        states[name] = state
    limits = {
        "max_steps": draw(st.integers(1, 10)),
        "max_calls": draw(st.integers(1, 6)),
        "stuck_turns": draw(st.integers(0, 3)),
        "max_hops": draw(st.integers(1, 10)),
    }
    fields = {
        "k": {"type": "str"},
        "n": {"type": "float", "reducer": draw(st.sampled_from(["overwrite", "increment"]))},
        "e": {"type": "enum", "values": ["x", "Y"]},
        "b": {"type": "bool"},
    }
    entries = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    found: dict[str, Any] = {"limits": limits, "fields": fields, "states": states}
    return {**found, "entry_transitions": entries} if entries else {"initial": "s0", **found}


any_graph = st.one_of(graphs(), plans())
LINES = st.lists(
    st.sampled_from(["hello there", "x", "5", "yes", "no thanks", "Y", "what?", "🦊 7"]),
    max_size=5,
)


class Chance:
    """A world that answers the same whenever the run stands the same."""

    user_id = None

    def __init__(self, seed: int, name: str = "a") -> None:
        self.seed = seed
        self.name = name
        self.asked = 0
        self._ids = 0

    def number(self, snapshot: Snapshot, *more: object) -> int:
        """A number that depends on where the run is, and on nothing else."""
        data = {k: v for k, v in snapshot.data.items() if k != "messages"}
        said = [m.get("content") for m in snapshot.data.get("messages") or ()][-2:]
        stands = (self.seed, snapshot.state, sorted(map(repr, data.items())), said, snapshot.turns,
                  sorted(snapshot.tasks), snapshot.token.closed, more)  # fmt: skip
        return zlib.crc32(repr(stands).encode())

    async def complete(self, request: Request) -> AsyncIterator[Chunk]:
        self.asked += 1
        if self.asked % 3 == 0:
            await asyncio.sleep(0)
        for chunk in self.answer(request):
            yield chunk

    def answer(self, request: Request) -> list[Chunk]:
        n = self.number(request.snapshot, request.what)
        what = request.what
        if what in ("reply", "step"):
            return [Chunk(text=f"t{n % 5}")] if n % 11 else [Chunk()]
        if what == "delta":
            value = {key: self.value(key, n) for key in request.state.writes}
            return [Chunk(text=f"d{n % 5}", value=value)]
        if what == "turn":
            return self.turn(request, n)
        if what == "choice":
            names = [option.name for option in request.options]
            return [Chunk(value={"next_state": names[n % len(names)] if n % 5 else "nobody"})]
        if what == "check":
            said = [m["content"] for m in request.snapshot.data.get("messages") or ()
                    if m["role"] == "user"]  # fmt: skip
            return [Chunk(value={"agree": n % 3 > 0, "quote": said[-1] if said else ""})]
        if what == "plan":
            return [Chunk(value={"steps": ["a", "b"][: n % 3], "needs_permission": n % 4 == 0})]
        if what == "verdict":
            names = [option.name for option in request.options]
            return [Chunk(value={"done": True, "reason": "r", "next": names[n % len(names)]})]
        if what == "tool":
            return [Chunk(value={"tool": request.tools[n % len(request.tools)].name})]
        return [Chunk(value={"q": "x"} if n % 4 else {})]

    def value(self, key: str, n: int) -> Any:
        values: dict[str, list[Any]] = {
            "k": ["x", "y", None],
            "n": [1, 5, None],
            "e": ["x", "Y", "z"],
            "b": [True, False, None],
        }
        return values[key][n % 3]

    def turn(self, request: Request, n: int) -> list[Chunk]:
        """A call, or the answer that ends the turn."""
        key, task = KEYS[n % 4], f"s{n % 6}t{n % 3}"
        calls: list[tuple[str, dict[str, Any]]] = [
            ("set_deliverable", {"key": key, "value": self.value(key, n // 7)}),
            ("set_deliverable", {"key": "zz", "value": n}),
            ("complete_task", {"id": task}),
            ("skip_task", {"id": task}),
            ("skip_state", {}),
            ("close_goal", {"outcome": "achieved", "quote": "x"}),
            ("close_goal", {"outcome": "given_up", "quote": "x"}),
            ("dance", {}),
        ]
        if n % 5 < 2:
            return [Chunk(text=f"said {n % 7}")]
        name, arguments = calls[n // 5 % len(calls)]
        return [Chunk(call=Call("c", name, arguments))]

    async def tools(self, names: object) -> tuple[ToolSpec, ...]:
        return self.known_tools(names)

    def known_tools(self, names: object) -> tuple[ToolSpec, ...]:
        needs = {"type": "object", "properties": {}, "required": ["q"]}
        return (ToolSpec("one", "", needs), ToolSpec("two", "", None))

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        return ""

    def heard(self) -> tuple[Approved, ...]:
        return ()

    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, Any], user: str = ""
    ) -> ToolResult:
        return ToolResult(True, tool.name, {"k": "x", "n": 2, "e": "x", "b": True})

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
        return f"{self.name}{self._ids}"


def talked(session: Session, world: Chance, lines: list[str]) -> list[Event]:
    """Go on where the run can, then say the lines it has not heard yet."""
    events: list[Event] = []

    async def send(line: str | None) -> None:
        events.extend([item async for item in session.send(world, line) if isinstance(item, Event)])

    if session.snapshot.status == "running":
        asyncio.run(send(None))
    heard = sum(isinstance(e.body, Said) for e in session.store.events(session.run))
    for line in lines[heard:]:
        if session.snapshot.status != "ended":
            asyncio.run(send(line))
    return events


def plain(snapshot: Snapshot) -> Any:
    """A snapshot without the ids that differ from run to run."""
    data = dict(snapshot.data)
    data["messages"] = [(m["role"], m["content"]) for m in data.get("messages") or ()]
    return snapshot._replace(data=data)
