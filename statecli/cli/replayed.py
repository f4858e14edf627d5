"""`explain GRAPH --with FILE`: a witness or conversation played again, with every guard's value."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence

from statecli.discover import reason_of
from statecli.kernel.choose import choose
from statecli.kernel.order import routes_of
from statecli.kinds.step import Delta
from statecli.llm.script import ScriptProvider
from statecli.model.data import shown
from statecli.model.event import (
    Body,
    Changed,
    Chose,
    Ended,
    Entered,
    Event,
    Failed,
    Limited,
    Refused,
    Trial,
    Warned,
)
from statecli.model.graph import Graph
from statecli.model.ports import Question, Unanswered
from statecli.model.unable import Unable
from statecli.model.words import in_words
from statecli.session.session import Session
from statecli.session.world import SessionWorld
from statecli.store.memory import MemoryStore
from statecli.text.conversation import BadConversation, read
from statecli.text.document import MAX_BYTES
from statecli.text.excerpt import harmless, plain

_VALUES = {True: "holds", False: "does not hold", None: ""}


def script(file: str) -> ScriptProvider:
    """The answers of a conversation file."""
    try:
        with open(file, "rb") as source:
            return ScriptProvider(read(file, source.read(MAX_BYTES + 1)).as_witness())
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error).lower()
        raise Unable(f"{file}: {reason}") from None
    except BadConversation as error:
        raise Unable(plain(str(error))) from None


class _Nobody:
    """Nobody can be asked here."""

    patient = False

    async def __call__(self, question: Question) -> str:
        raise Unanswered(f"nobody is asked here: {question.text}")


class Replayed:
    """The lines of a replay. `only`: the states that are told of; empty for all."""

    def __init__(self, graph: Graph, script: ScriptProvider, only: Collection[str]) -> None:
        self.graph = graph
        self.script = script
        self.only = only
        self.session = Session.start(
            graph, MemoryStore(), data=script.conversation.data, first_line=True
        )
        self.failed = ""

    def lines(self) -> list[str]:
        """All of it, as text."""
        return [harmless(line) + "\n" for line in asyncio.run(self._play())]

    async def _play(self) -> list[str]:
        found: list[str] = []
        for number, say in enumerate(self.script.lines(), 1):
            if self.session.snapshot.status == "ended":
                self.failed = f"{self.script.place()}: the run has ended before this turn"
                break
            found.append(f"turn {number}{f': {say}' if say else ''}")
            try:
                async for item in self._sent(say):
                    found += self._told(item.body)
            except Unanswered as error:
                self.failed = str(error)
                break
            if self.session.snapshot.status in ("failed", "stuck", "limited"):
                break
            found += self._rest()
            self.failed = self.script.unused()
            if self.failed:
                break
        return found

    async def _sent(self, say: str | None) -> AsyncIterator[Event]:
        world = SessionWorld(self.graph, self.script, _Nobody())
        async for item in self.session.send(world, say):
            if not isinstance(item, Delta):
                yield item

    def _told(self, body: Body) -> Iterator[str]:
        state = getattr(body, "state", "")
        if self.only and state not in self.only:
            return
        if isinstance(body, Chose):
            yield from self._trials(body.state, body.trials)
            how = " (the safety net)" if body.by == "net" else ""
            yield f"  {body.state} -> {body.target}{how}"
        elif isinstance(body, Changed):
            said = [f"{key} = {shown(value)}" for key, value in body.data.items()]
            said += [f"{task} is {status}" for task, status in body.tasks.items()]
            said += [f"the goal is {body.goal}"] if body.goal else []
            yield f"  {state}: {', '.join(said)}" if said else f"  {state}"
        elif isinstance(body, Failed):
            yield from self._trials(body.state, body.trials)
            yield f"  {state}: {body.error}"
        elif isinstance(body, Warned | Limited):
            yield f"  {state}: {body.message}"
        elif isinstance(body, Refused):
            yield f"  {state}: {body.what} is refused: {body.reason}"
        elif isinstance(body, Ended):
            yield "  the run ends"
        elif isinstance(body, Entered) and body.forgotten:
            yield f"  {state} forgets {', '.join(body.forgotten)}"

    def _trials(self, state: str, trials: Sequence[Trial]) -> Iterator[str]:
        """What was tried, in order, with the value of each guard."""
        guards = {way.number: way for way in routes_of(self.graph, state)}
        for trial in trials:
            way = guards.get(trial.number)
            needs = in_words(way.guard) if way is not None and way.guard is not None else "always"
            value = trial.note or _VALUES[trial.value]
            yield f"    {trial.target}: {needs}{f': {value}' if value else ''}"

    def _rest(self) -> Iterator[str]:
        """Where the run stands after a turn, and why it goes no further."""
        snapshot = self.session.snapshot
        if snapshot.status == "ended" or (self.only and snapshot.state not in self.only):
            return
        trials: list[Trial] = []
        choose(self.graph, snapshot, snapshot.token, trials, at_turn_end=True)
        yield f"  {snapshot.state} waits"
        if self.graph.states[snapshot.state].is_plan:
            yield from self._trials(snapshot.state, trials)
