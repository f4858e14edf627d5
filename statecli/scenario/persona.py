"""A model as the person: it is told who it is, hears what is said, and answers in character until
it is done, the run ends, or a bound is reached."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple

from statecli.engine.advance import Custom
from statecli.kinds.step import closing
from statecli.llm.recording import RecordingProvider
from statecli.model.event import Body, Event, Failed, Limited
from statecli.model.graph import Graph, State
from statecli.model.ports import (
    Ask,
    Chunk,
    EndOfInput,
    ModelError,
    Provider,
    Question,
    Request,
    ToolResult,
    ToolSpec,
    Unanswered,
)
from statecli.model.snapshot import Snapshot
from statecli.scenario.happened import Seen
from statecli.scenario.moves import Moves
from statecli.session.session import Session
from statecli.session.world import SessionWorld
from statecli.store.memory import MemoryStore

#: With this word the person has nothing left to say.
DONE = "[done]"
_PROMPT = """\
You play a person who talks to an assistant. Stay in character and never say that you are a model.
Who you are: {persona}
Answer with what this person would say next, in one or two sentences and nothing else. When you
have what you wanted, or would leave, answer with {done} alone."""
_BEGIN = "(The conversation begins. Say your first line.)"


class Talked(NamedTuple):
    """A conversation between two models. `stopped`: why it ended before the run did."""

    turns: tuple[dict[str, Any], ...]
    seen: tuple[Seen, ...]
    whole: Seen
    stopped: str
    why: str
    tokens: int
    cost: float

    @property
    def status(self) -> str:
        return self.whole.after.status


class _Metered:
    """A provider whose use is counted. Raises ModelError once the budget is used up."""

    def __init__(self, inner: Provider, budget: float | None) -> None:
        self.inner = inner
        self.label = inner.label
        self.budget = budget
        self.tokens = 0
        self.cost = 0.0

    @property
    def spent(self) -> bool:
        return self.budget is not None and self.cost >= self.budget

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        if self.spent:
            raise ModelError(f"the budget of {self.budget:g} is used up")
        async for chunk in self.inner.complete(request, ask):
            if chunk.usage is not None:
                self._count(chunk.usage)
            yield chunk

    def _count(self, usage: Mapping[str, Any]) -> None:
        self.tokens += sum(n for n in (usage.get("input"), usage.get("output")) if type(n) is int)
        cost = usage.get("cost")
        self.cost += float(cost) if isinstance(cost, int | float) else 0.0


class _Person:
    """The model that plays the person; also answers questions in the middle of a step."""

    patient = False

    def __init__(self, graph: Graph, persona: str, model: Provider) -> None:
        self.graph = graph
        self.model = model
        self.prompt = _PROMPT.format(persona=persona, done=DONE)
        self.state = State("person", "agent", ())
        self.snapshot = Snapshot()

    async def __call__(self, question: Question) -> str:
        return await self.line(self.snapshot, question.text)

    async def line(self, snapshot: Snapshot, more: str = "") -> str:
        """What the person says next."""
        self.snapshot = snapshot
        messages = [
            {"role": "user" if m.get("role") == "assistant" else "assistant",
             "content": str(m.get("content"))}
            for m in snapshot.data.get("messages") or ()
            if isinstance(m, Mapping) and m.get("role") in ("user", "assistant")
        ]  # fmt: skip
        if more or not messages:
            messages.append({"role": "user", "content": more or _BEGIN})
        flipped = Snapshot(tokens=snapshot.tokens, data={"messages": messages})
        request = Request("reply", self.graph, self.state, flipped, self.prompt)
        text = ""
        async with closing(self.model.complete(request, self)) as chunks:
            async for chunk in chunks:
                text += chunk.text
        return text.strip()


class _World(SessionWorld):
    """Tools give back plain values of the declared types: none is started."""

    def __init__(self, graph: Graph, provider: RecordingProvider, person: _Person) -> None:
        super().__init__(graph, provider, person)
        self.moves = Moves(graph)
        self.recording = provider

    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, Any], user: str = ""
    ) -> ToolResult:
        state = next((s for s in self.graph.states.values() if s.kind == "tool"
                      and tool.name in (s.settings.get("tool"), tool.server)
                      and s.writes), None)  # fmt: skip
        values = self.moves.written(state)[0] if state is not None else {}
        values = values or (self.moves.written(state)[-1] if state is not None else {})
        text = json.dumps(values) if values else "done"
        result = ToolResult(True, text, values or None)
        self.recording.result(result)
        return result


async def talk(
    graph: Graph,
    persona: str,
    model: Provider,
    *,
    most: int,
    budget: float | None,
    custom: Custom | None = None,
) -> Talked:
    """One conversation of at most `most` lines."""
    metered = _Metered(model, budget)
    recording = RecordingProvider(metered)
    person = _Person(graph, persona, metered)
    world = _World(graph, recording, person)
    session = Session.start(graph, MemoryStore(), first_line=True, custom=custom)
    first = [event.body for event in session.store.events(session.run)]
    everything, seen, stopped = list[Body](), list[Seen](), ""
    before, lines = Snapshot(), 0
    new = first
    while session.snapshot.status in ("running", "waiting") and not stopped:
        line: str | None = None
        if session.snapshot.status == "waiting":
            line, stopped = await _next(person, session.snapshot, lines, most)
            if stopped:
                break
            lines += 1
        recording.begin(line)
        try:
            async for item in session.send(world, line):
                if isinstance(item, Event):
                    new.append(item.body)
        except (Unanswered, EndOfInput) as error:
            stopped = str(error) or "nobody answers"
        everything += new
        seen.append(Seen(graph, before, new, session.snapshot))
        before, new = session.snapshot, []
        if metered.spent:
            stopped = f"the budget of {budget:g} is used up"
    whole = Seen(graph, Snapshot(), everything, session.snapshot)
    last = next((b for b in reversed(everything) if isinstance(b, Failed | Limited)), None)
    why = "" if last is None else last.message if isinstance(last, Limited) else last.error
    turns = tuple(recording.turns)
    return Talked(turns, tuple(seen), whole, stopped, why, metered.tokens, metered.cost)


async def _next(
    person: _Person, snapshot: Snapshot, lines: int, most: int
) -> tuple[str | None, str]:
    """The next line, or why there is none."""
    if lines >= most:
        return None, f"{most} turns were used up"
    try:
        line = await person.line(snapshot)
    except ModelError as error:
        return None, str(error)
    if DONE in line or not line:
        return None, "the person had nothing left to say"
    return line, ""
