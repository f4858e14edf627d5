"""What may happen in a run: the lines a person may say, the answers a model or a tool may give. A
`Player` stands for all of them and is told which to take; it keeps them as replies of a file."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from statecli.kernel.tasks import addressed, current, record
from statecli.llm.recording import as_reply
from statecli.llm.rules import spoken
from statecli.model.data import is_map
from statecli.model.event import Approved
from statecli.model.graph import Graph, State, Task
from statecli.model.ports import (
    Call,
    Chunk,
    Question,
    Request,
    ToolResult,
    ToolSpec,
)
from statecli.model.snapshot import Snapshot
from statecli.scenario.values import Values

#: Which of so many is taken.
Pick = Callable[[int], int]
#: What a person says who says nothing in particular. Two words: it may be quoted.
NEUTRAL = "That is all."
#: Of the combinations of what a state writes so many are tried.
_MOST = 64


class Moves:
    """The moves of one graph. `skips`: tasks may also be skipped."""

    def __init__(self, graph: Graph, *, skips: bool = False) -> None:
        self.graph = graph
        self.values = Values(graph)
        self.skips = skips
        self._combined: dict[str, list[dict[str, Any]]] = {}

    def lines(self, snapshot: Snapshot) -> list[str]:
        """What the person may say where the run waits."""
        waiting = (b.token.state for b in snapshot.branches.values() if b.status == "waiting")
        # Of a run that has split the first branch that waits takes the line.
        state = self.graph.states.get(next(waiting, snapshot.state))
        if state is not None and state.kind == "user" and len(state.writes) == 1:
            name = state.writes[0]
            if name != "messages":
                return [typed(value) for value in self.values.of(name)] or [NEUTRAL]
        return [NEUTRAL]

    def written(self, state: State) -> list[dict[str, Any]]:
        """What a state may write: the plainest first, then every combination of what guards ask."""
        if state.name not in self._combined:
            self._combined[state.name] = list(self._written(state))
        return self._combined[state.name]

    def results(self, state: State) -> list[dict[str, Any]]:
        """What a tool may give back to a state; one field alone takes whatever it is."""
        found = self.written(state) if state.kind == "tool" else [{}]
        return [one for one in found if one] or [{}] if len(state.writes) == 1 else found

    def _written(self, state: State) -> Iterator[dict[str, Any]]:
        names = [name for name in state.writes if name != "messages"]
        asked = [name for name in names if self.values.reads(name)]
        rest = {name: self.values.of(name)[0] for name in names if name not in asked}
        yield dict(rest)
        count = 0
        for name in asked:
            for value in self.values.of(name):
                yield {**rest, name: value}
        for values in product(*([None, *self.values.of(name)] for name in asked)):
            found = {n: v for n, v in zip(asked, values, strict=True) if v is not None}
            if len(found) > 1:
                count += 1
                if count > _MOST:
                    return
                yield {**rest, **found}

    def calls(self, request: Request) -> list[tuple[str, dict[str, Any]]]:
        """The calls that a model may make in a plan state now."""
        state, snapshot = request.state, request.snapshot
        found: list[tuple[str, dict[str, Any]]] = []
        plain_done = False
        for item in self._open_items(state, snapshot):
            held = snapshot.data.get(item.key)
            if not self.values.reads(item.key):
                if plain_done or item.key in snapshot.data:
                    continue
                plain_done = True
            found += [
                ("set_deliverable", {"key": item.key, "value": value})
                for value in self.values.of(item.key, item)
                if item.key not in snapshot.data or held != value
            ]
        if state.kind == "goal":
            return found + self._closing(snapshot)
        task = _next_task(state, snapshot)
        if task is not None and not any(
            item.required and item.key not in snapshot.data for item in task.deliverables
        ):
            found.append(("complete_task", {"id": task.id}))
        if self.skips and state.kind == "loose":
            if task is not None:
                found.append(("skip_task", {"id": task.id}))
            found.append(("skip_state", {}))
        return found

    def _open_items(self, state: State, snapshot: Snapshot) -> list[Any]:
        """The values that a state takes now; in a strict one those of its current task."""
        if state.kind == "strict":
            task = current(snapshot, state)
            items = list(task.deliverables) if task is not None else []
            done = [t for t in state.tasks if task is None or t is not task]
            again = [i for t in done if addressed(snapshot, state, t) for i in t.deliverables]
            return items + [i for i in again if self.values.reads(i.key)]
        return state.deliverables()

    def _closing(self, snapshot: Snapshot) -> list[tuple[str, dict[str, Any]]]:
        """Closing a goal quotes what the person said in this visit."""
        visit = (snapshot.data.get("messages") or ())[snapshot.token.since :]
        said = [str(m.get("content")) for m in visit if m.get("role") == "user"]
        if not said:
            return []
        outcomes = ("achieved", "given_up")
        return [("close_goal", {"outcome": o, "quote": said[-1]}) for o in outcomes]


def _next_task(state: State, snapshot: Snapshot) -> Task | None:
    """The first task that still has to be marked as done by hand."""
    if state.kind == "strict":
        return current(snapshot, state)
    for task in state.tasks:
        marked = record(state, task) in snapshot.tasks
        if not addressed(snapshot, state, task) and not marked:
            if not any(
                item.required and item.key not in snapshot.data for item in task.deliverables
            ):
                return task
    return next((t for t in state.tasks if not addressed(snapshot, state, t)), None)


def typed(value: Any) -> str:
    """A value as a person types it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)


def answers(moves: Moves, request: Request, calling: int = 1) -> list[list[Chunk]]:
    """The answers that a model may give to a request; the plainest first."""
    what, state = request.what, request.state
    text = spoken(state) or "..."
    if what == "turn":
        answer = [Chunk(text=text)]
        if len(request.transcript) >= calling or request.snapshot.line is None:
            return [answer]  # what nobody said cannot be noted down
        calls = moves.calls(request)
        return [answer, *([Chunk(call=Call("c", n, a))] for n, a in calls)]
    if what == "delta":
        written = moves.written(state)
        return [[Chunk(text=text, value={"reply": text, **values})] for values in written]
    if what == "choice":
        return [[Chunk(value={"next_state": option.name})] for option in request.options]
    if what == "tool":
        return [[Chunk(value={"tool": tool.name})] for tool in request.tools]
    if what == "verdict":
        return [
            [Chunk(value={"done": True, "reason": text, "next": option.name})]
            for option in request.options
        ]
    return [[chunk] for chunk in _single(request, text)]


def _single(request: Request, text: str) -> list[Chunk]:
    what = request.what
    if what == "plan":
        return [
            Chunk(value={"steps": steps, "needs_permission": needs})
            for needs in (False, True)
            for steps in (["the first step"], ["the first step", "the second step"])
        ]
    if what == "step":
        return [Chunk(text=text, value={"ok": ok}) for ok in (True, False)]
    if what == "check":
        quote = request.note.partition(": ")[2]
        return [Chunk(value={"agree": True, "quote": quote})]
    if what == "skill":
        return [Chunk(value={"name": "a skill", "text": "What was learnt."})]
    if what in ("arguments", "structured"):
        tool = request.tools[0] if request.tools else None
        schema = request.schema or (tool.schema if tool is not None else None)
        return [Chunk(value=_fitting(schema))]
    return [Chunk(text=text)]


class Player:
    """Plays the model, the tools and the person's answers: the world of a run. `pick` is told how
    many moves there are and says which is taken; `replies` are those taken, as in a file.

    `calling` says how many calls a turn of a plan may have before it must answer, `stands` where
    the run is.
    """

    user_id = None
    #: Branches answer one after the other, so that the replies stand in the order of the file.
    parallel = False

    def __init__(self, moves: Moves, pick: Pick, calling: int = 1) -> None:
        self.moves = moves
        self.pick = pick
        self.calling = calling
        self.replies: list[dict[str, Any]] = []
        self.stands: Callable[[], Snapshot] = Snapshot
        self._ids = 0

    async def complete(self, request: Request) -> AsyncIterator[Chunk]:
        """One of the answers that fit."""
        options = answers(self.moves, request, self.calling)
        chunks = options[self.pick(len(options))]
        reply = as_reply(request, chunks)
        self.replies.append(reply or {"reply": "..."})
        for chunk in chunks:
            yield chunk

    async def tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        return self.known_tools(names)

    def known_tools(self, names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
        """The tools that the graph declares: none is started."""
        declared = self.moves.graph.settings.get("tools")
        entries = list(declared) if is_map(declared) else []
        return tuple(ToolSpec(name, "", None, name) for name in (names or entries))

    async def permit(self, tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
        """Every call may be made: none is."""
        return ""

    def heard(self) -> Sequence[Approved | str]:
        return ()

    async def call(
        self, tool: ToolSpec, arguments: Mapping[str, Any], user: str = ""
    ) -> ToolResult:
        """What the tool gives back: the fields of the state, or a failure that it provides for."""
        state = self._caller(tool)
        results: list[Any] = self.moves.results(state)
        if dict(state.jumps).get("on_error"):
            results.append({"error": "it cannot be reached"})
        result = results[self.pick(len(results))]
        self.replies.append({"result": result or "done"})
        if "error" in result and len(result) == 1:
            return ToolResult(False, str(result["error"]))
        return ToolResult(True, json.dumps(result, default=str), result or None)

    def _caller(self, tool: ToolSpec) -> State:
        """The state that calls a tool; of a run that has split one that may."""
        snapshot, states = self.stands(), self.moves.graph.states
        here = [states[branch.token.state] for branch in snapshot.branches.values()]
        for state in here:
            listed = state.settings.get("tools")
            names = [state.settings.get("tool"), *(listed if isinstance(listed, list) else ())]
            if state.kind == "tool" and (tool.name in names or tool.server in names):
                return state
        return states[snapshot.state]

    async def ask(self, question: Question) -> str:
        """What the person answers in the middle of a step."""
        answers = ("yes", "no") if question.kind == "yes_no" else (*question.choices, NEUTRAL)
        answer = answers[self.pick(len(answers))]
        self.replies.append({"answer": answer})
        return answer

    async def keep_skill(self, name: str, text: str) -> str:
        return f"{name}.md"

    def known_skills(self) -> Sequence[str]:
        return ()

    def now(self) -> float:
        return time.time()

    def new_id(self) -> str:
        self._ids += 1
        return f"m{id(self)}-{self._ids}"


def _fitting(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Arguments that fit a schema, as few as it wants."""
    properties = schema.get("properties") if schema is not None else None
    found: dict[str, Any] = {}
    for name in (schema or {}).get("required") or ():
        spec = properties.get(name) if isinstance(properties, Mapping) else None
        settings = spec if isinstance(spec, Mapping) else {}
        if settings.get("enum"):
            found[name] = settings["enum"][0]
        else:
            kinds = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
            found[name] = kinds.get(str(settings.get("type")), "something")
    return found
