"""Shortest runs from the verifier: for each way out that is wanted a run that takes it, looked for
over all values at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from statecli.kernel.order import routes_of
from statecli.llm.recording import as_reply
from statecli.llm.rules import spoken
from statecli.llm.script import SILENCE, ScriptProvider, as_text
from statecli.model.diagnostic import Witness
from statecli.model.graph import KINDS, WAITING_KINDS, Graph, State
from statecli.model.ports import Ask, Chunk, Question, Request, ToolResult, ToolSpec
from statecli.scenario.counts import Key
from statecli.scenario.moves import NEUTRAL, Moves, answers
from statecli.scenario.runner import only_played
from statecli.text.conversation import Conversation, Turn, read, write
from statecli.verify.domain import Domain
from statecli.verify.layout import Layout
from statecli.verify.replay import Replay
from statecli.verify.scripted import SILENT, turns
from statecli.verify.sites import Budget, Sites
from statecli.verify.witness import Goal, Path, Search

#: So many boxes are taken up for one graph, then the search over single runs has to do.
BUDGET = 20_000


class Run:
    """A run that takes a way: the turns of a file, and the values from the start."""

    def __init__(self, turns: list[dict[str, Any]], given: dict[str, Any]) -> None:
        self.turns = turns
        self.given = given


def runs(graph: Graph, wanted: Iterable[Key], budget: int = BUDGET) -> dict[Key, Run]:
    """A shortest run for each of the ways for which the verifier finds one."""
    if any(state.kind not in KINDS or state.fans_out for state in graph.states.values()):
        return {}
    layout = Layout(graph, Domain(graph, ()))
    sites = Sites(layout)
    keys = dict(_numbered(layout, sites, wanted))
    if not keys:
        return {}
    found: dict[Key, Run] = {}
    for goal, path in Search(sites, Budget(budget, None), sorted(keys), {}).run().items():
        run = _as_run(graph, path)
        if run is not None:
            found[keys[goal]] = run
    return found


def _numbered(layout: Layout, sites: Sites, wanted: Iterable[Key]) -> Iterator[tuple[Goal, Key]]:
    """What the verifier is asked to look for: the state's number, the place of the route there."""
    for key in wanted:
        name, origin, number, _ = key
        if name not in layout.index or origin not in ("written", "implicit"):
            continue
        site = sites[layout.index[name]]
        for at, route in enumerate(site.routes):
            if route.number == number and route.origin == origin:
                yield Goal("take", site.number, at), key


def _as_run(graph: Graph, path: Path) -> Run | None:
    """A path through the real kernel, then as a file in which everything that is asked for has its
    answer; None where that is not so."""
    run = Replay(graph, path.root, path.given).run(path.acts)
    if not run.ok:
        return None
    given = dict(path.given)
    parts = [_said(turn) for turn in turns(graph, Witness(run.witness(), path.given))]
    text = write(parts, graph="graph", digest="", data=given, witness=True)
    scribe = _Scribe(graph, read("run.yaml", text.encode()))
    played = only_played(graph, scribe)
    return Run(scribe.turns, given) if played.passed else None


def _said(turn: Any) -> Any:
    """A turn in which the person says something that can be quoted."""
    if isinstance(turn, dict):
        return {
            key: NEUTRAL if value == SILENT and key in ("say", "quote") else _said(value)
            for key, value in turn.items()
        }
    return [_said(item) for item in turn] if isinstance(turn, list) else turn


def _to_rest(graph: Graph) -> dict[str, int]:
    """How many moves it is at least from each state to one that waits or ends."""
    far = {
        name: 0 for name, state in graph.states.items()
        if state.kind in WAITING_KINDS or state.kind == "terminal"
    }  # fmt: skip
    before = -1
    while before != len(far):
        before = len(far)
        for name in graph.states:
            steps = [far[way.target] for way in routes_of(graph, name) if way.target in far]
            if name not in far and steps:
                far[name] = 1 + min(steps)
    return far


class _Scribe(ScriptProvider):
    """Plays a witness and writes down everything that it answers: what it is silent about, too.
    Where the witness is over in the middle of a turn, it goes the nearest way to its end."""

    def __init__(self, graph: Graph, conversation: Conversation) -> None:
        super().__init__(conversation)
        self.turns: list[dict[str, Any]] = []
        self._moves = Moves(graph)
        self._far = _to_rest(graph)

    @property
    def _over(self) -> bool:
        return not self._queue and len(self.turns) == len(self.conversation.turns)

    def begin(self, turn: Turn) -> None:
        """Take up a turn."""
        super().begin(turn)
        self.turns.append({} if turn.say is None else {"say": turn.say})

    def _wrote(self, reply: dict[str, Any]) -> None:
        self.turns[-1].setdefault("replies", []).append(reply)

    async def complete(self, request: Request, ask: Ask) -> AsyncIterator[Chunk]:
        """What the file answers, or silence."""
        chunks: list[Chunk] = []
        if self._over and request.what != "turn":
            chunks = self._nearest(request)
            for chunk in chunks:
                yield chunk
        else:
            async for chunk in super().complete(request, ask):
                chunks.append(chunk)
                yield chunk
        reply = as_reply(request, chunks)
        if reply.get("reply") in (SILENCE, None, "") and request.what in ("reply", "turn", "delta"):
            if request.what != "turn" or "calls" not in reply:
                reply["reply"] = spoken(request.state) or SILENCE
        self._wrote(reply or {"reply": SILENCE})

    def _nearest(self, request: Request) -> list[Chunk]:
        """The plainest answer; of several states the nearest to where the run waits or ends."""
        options = answers(self._moves, request)
        if request.what not in ("choice", "verdict"):
            return options[0]
        far = [self._far.get(option.name, len(self._far)) for option in request.options]
        return options[far.index(min(far))]

    def result(self, tool: ToolSpec, state: State | None = None) -> ToolResult:
        """What the file says that a tool gave back."""
        if self._over:
            values = self._moves.results(state)[0] if state is not None else {}
            self._wrote({"result": values or "done"})
            return ToolResult(True, as_text(values or "done"), values or None)
        found = super().result(tool, state)
        value: Any = found.structured if found.structured is not None else found.text
        self._wrote({"result": value if found.ok else {"error": found.text}})
        return found

    def answer(self, question: Question) -> str:
        """What the file says that the person answered."""
        text = "yes" if self._over else super().answer(question)
        self._wrote({"answer": text})
        return text
