"""Plays a conversation against its graph and compares every turn with what it expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from statecli.engine.advance import Custom
from statecli.kernel.reducers import Misfit
from statecli.kernel.values import Unfit, fits
from statecli.llm.script import OffScript, ScriptProvider
from statecli.model.event import Body, Event, Failed, Limited
from statecli.model.graph import Graph, State
from statecli.model.nearest import did_you_mean
from statecli.model.ports import EndOfInput, Provider, Question, Unanswered
from statecli.model.snapshot import Snapshot
from statecli.model.span import Path
from statecli.scenario.compare import Difference, differences
from statecli.scenario.expect import Expected, Mistake, expectations
from statecli.scenario.happened import Seen
from statecli.scenario.toolnames import ToolNames
from statecli.session.drive import finished
from statecli.session.session import Session, digest
from statecli.session.tries import target_words, ways_tried
from statecli.session.world import SessionWorld
from statecli.store.memory import MemoryStore
from statecli.text.conversation import Conversation, Turn

#: Statuses with which a turn has gone wrong, unless it is expected.
BAD = ("failed", "stuck", "limited")
#: What is expected of where the run goes: a difference there is explained by the guards.
_ABOUT_WAYS = frozenset({"state", "entered", "left", "takes", "guards", "ended", "status", "never"})
#: What is expected of the whole and can be told also where not all of it was played.
_FOR_GOOD = frozenset({"never", "turns_at_most"})
#: Replies that are not a model's: what tools give back, what the person answers.
NOT_OF_THE_MODEL = ("result", "answer", "tools")
#: Of the evaluations of one turn so many are shown.
_MOST_TRIED = 4


class Case(NamedTuple):
    """A conversation that can be played: its graph, and what each turn and the whole expects."""

    conversation: Conversation
    graph: Graph
    turns: tuple[tuple[Expected, ...], ...]
    whole: tuple[Expected, ...]
    changed: bool = False

    @property
    def expects(self) -> bool:
        return bool(self.whole) or any(self.turns)


class Problem(NamedTuple):
    """What went wrong, at a place of the file. `turn` counts from 1 (0: the whole conversation);
    `details` explain it; `difference` is what `--update` would write."""

    path: Path
    turn: int
    message: str
    details: tuple[str, ...] = ()
    difference: Difference | None = None
    part: str = "value"


class Played(NamedTuple):
    """A conversation that was played. `seen` has each turn, `whole` all of it."""

    case: Case
    problems: tuple[Problem, ...]
    seen: tuple[Seen, ...]
    whole: Seen

    @property
    def passed(self) -> bool:
        return not self.problems


def prepared(conversation: Conversation, graph: Graph, text: str = "") -> Case | list[Mistake]:
    """A conversation for a graph (`text`: what the graph's file says), or what cannot be right."""
    mistakes: list[Mistake] = []
    turns: list[tuple[Expected, ...]] = []
    tools = ToolNames(graph, conversation)
    for turn in conversation.turns:
        here = (*turn.path, "expect")
        found, wrong = expectations(graph, dict(turn.expect), here, tools=tools)
        turns.append(tuple(found))
        mistakes += wrong
    whole, wrong = expectations(
        graph, dict(conversation.expect), ("expect",), whole=True, tools=tools
    )
    mistakes += wrong + _given(conversation, graph)
    if mistakes:
        return mistakes
    changed = bool(conversation.digest and text) and conversation.digest != digest(text)
    return Case(conversation, graph, tuple(turns), tuple(whole), changed)


def _given(conversation: Conversation, graph: Graph) -> list[Mistake]:
    """Values from the start that the graph has no field for."""
    found: list[Mistake] = []
    for name in conversation.data:
        if name not in graph.fields and (graph.declares_fields or graph.is_plan):
            hint = did_you_mean(name, graph.fields)
            message = f"the graph has no field '{name}'" + (f"; {hint}" if hint else "")
            found.append(Mistake(("data", name), message, "key"))
    return found


def play(
    case: Case,
    *,
    script: ScriptProvider | None = None,
    custom: Custom | None = None,
    waits: bool = False,
) -> Played:
    """Play it to its end, or to where it cannot go on. `waits`: something in it may wait (a model,
    a custom kind), so that an event loop is needed."""
    script = script or ScriptProvider(case.conversation)
    return finished(played(case, script, custom), waits=waits or bool(custom and custom.bodies))


async def played(case: Case, script: ScriptProvider, custom: Custom | None = None) -> Played:
    """The same where an event loop runs already."""
    return await _Play(case, script, custom).run()


def only_played(graph: Graph, script: ScriptProvider) -> Played:
    """A conversation played for what happens in it; what it expects is not compared."""
    turns = script.conversation.turns
    return play(Case(script.conversation, graph, ((),) * len(turns), ()), script=script)


class _Nobody:
    """Nobody is there to ask: the file has the answers."""

    patient = False

    async def __call__(self, question: Question) -> str:
        raise EndOfInput


class _Play:
    """One conversation at work."""

    def __init__(self, case: Case, script: ScriptProvider, custom: Custom | None) -> None:
        self.case = case
        self.script = script
        self.custom = custom
        self.problems: list[Problem] = []
        self.seen: list[Seen] = []
        self.bodies: list[Body] = []
        self.session: Session | None = None
        #: Something went so wrong that the rest of the file was not played.
        self.stopped = False

    async def run(self) -> Played:
        case, graph = self.case, self.case.graph
        try:
            session = Session.start(
                graph,
                MemoryStore(),
                data=case.conversation.data,
                custom=self.custom,
                first_line=True,
            )
        except Misfit as error:
            self.problems.append(Problem(self._misfit(), 0, str(error)))
            return self._played(Snapshot())
        self.session = session
        world = SessionWorld(graph, self.script, _Nobody())
        world.here = lambda: _only_place(session)
        begun = [event.body for event in session.store.events(session.run)]
        before, new = Snapshot(), begun
        for number, turn in enumerate(case.conversation.turns, 1):
            if session.snapshot.status == "ended":
                told = "the run has ended before this turn"
                self.problems.append(Problem(turn.path, number, told))
                break
            self.script.begin(turn)
            stopped: Problem | None = None
            try:
                async for item in session.send(world, turn.say):
                    if isinstance(item, Event):
                        new.append(item.body)
            except OffScript as error:
                stopped = self._off_script(error, turn, number)
            except Unanswered as error:
                stopped = Problem(turn.path, number, str(error))
            self.bodies += new
            seen = Seen(graph, before, new, session.snapshot)
            self.seen.append(seen)
            if stopped is not None:
                self.problems.append(stopped)
                self.stopped = True
                break
            if not self._judge(number, seen):
                self.stopped = True
                break
            before, new = session.snapshot, []
        return self._played(session.snapshot)

    def _misfit(self) -> Path:
        """The first value from the start that its field cannot hold."""
        given = self.case.conversation.data
        for key, value in given.items():
            field = self.case.graph.fields.get(key)
            if field is not None and isinstance(fits(field, value), Unfit):
                return ("data", key)
        return ("data",)

    def _played(self, after: Snapshot) -> Played:
        whole = Seen(self.case.graph, Snapshot(), self.bodies, after)
        over = len(self.seen) == len(self.case.turns) and not self.stopped
        self._compare(0, whole, [e for e in self.case.whole if over or e.key in _FOR_GOOD])
        return Played(self.case, tuple(self.problems), tuple(self.seen), whole)

    def _off_script(self, error: OffScript, turn: Turn, number: int) -> Problem:
        """A model that plays another file tells of that one."""
        if error.conversation is not self.case.conversation:
            return Problem(turn.path, number, str(error))
        return Problem(error.path, number, error.said, part=error.part)

    def _judge(self, number: int, seen: Seen) -> bool:
        """Compare one turn; False where the conversation cannot go on."""
        turn = self.case.conversation.turns[number - 1]
        expected = self.case.turns[number - 1]
        status = seen.after.status
        foreseen = self.script.broke or any(one.key == "status" for one in expected)
        if status in BAD and not foreseen:
            self.problems.append(_gone_wrong(turn.path, number, seen))
        self._compare(number, seen, expected)
        left = self.script.left_over()
        if left is not None:
            self.problems.append(Problem(left[0], number, left[1]))
        return left is None and (status not in BAD or foreseen)

    def _compare(self, number: int, seen: Seen, expected: Sequence[Expected]) -> None:
        explained = False
        for found in differences(seen, expected) if expected else ():
            details: tuple[str, ...] = ()
            if found.expected.key in _ABOUT_WAYS and not explained and number:
                details, explained = tuple(_explained(seen)), True
            one = found.expected
            self.problems.append(Problem(one.path, number, found.message, details, found))


def _only_place(session: Session) -> State | None:
    """The state that runs; None where there are several."""
    tokens = session.snapshot.tokens
    return session.graph.states.get(tokens[0].state) if len(tokens) == 1 else None


def _gone_wrong(path: Path, number: int, seen: Seen) -> Problem:
    """A run that failed, got stuck or was stopped by a limit."""
    status, state = seen.after.status, seen.after.state
    why = next((b for b in reversed(seen.bodies) if isinstance(b, Failed | Limited)), None)
    told = "" if why is None else why.message if isinstance(why, Limited) else why.error
    details = tuple(_explained(seen)) if status == "stuck" else ()
    stands = {"failed": "failed", "stuck": "is stuck", "limited": "was stopped by a limit"}[status]
    return Problem(path, number, f"the run {stands} in '{state}': {told}", details)


def _explained(seen: Seen) -> list[str]:
    """The last evaluations of a turn, each guard with its value."""
    blocks: list[list[str]] = []
    for tried in seen.tried:
        lines: list[str] = []
        options = frozenset[str]()
        if tried.by in ("model", "entry", "on_invalid", "fallback"):
            options = frozenset(
                body.target
                for body in seen.graph.states[tried.state].transitions
                if body.guard is None
            )
        went = f"went to '{target_words(tried.target)}'" if tried.target else "stayed"
        lines.append(f"in '{tried.state}' it {went}:")
        found = ways_tried(seen.graph, tried.state, tried.trials, options, tried.snapshot)
        lines += [f"  {line}" for line in found]
        if not blocks or blocks[-1] != lines:  # each change in a plan asks its ways again
            blocks.append(lines)
    return [line for lines in blocks[-_MOST_TRIED:] for line in lines]


class Rehearsal(ScriptProvider):
    """A real model in a conversation from a file: it answers itself; what the person says, what
    tools give back and answers in the middle of a step come from the file."""

    def __init__(self, conversation: Conversation, model: Provider) -> None:
        super().__init__(conversation)
        self.model = model
        self.label = model.label
        self.spent: list[Mapping[str, Any]] = []

    def begin(self, turn: Turn) -> None:
        """Take up a turn; what the file's own model says in it is passed over."""
        super().begin(turn)
        self._queue = [reply for reply in self._queue if reply.fits(*NOT_OF_THE_MODEL)]

    async def complete(self, request: Any, ask: Any) -> Any:
        """What the model says."""
        async for chunk in self.model.complete(request, ask):
            if chunk.usage is not None:
                self.spent.append(chunk.usage)
            yield chunk

    def _take(self, asked: str, keys: tuple[str, ...], *, keep: bool = False) -> Any:
        """The next result or answer of the turn."""
        if not any(reply.fits(*keys) for reply in self._queue):
            said = f"{asked}, and the file has no {' or '.join(keys)} for it"
            raise OffScript(self.conversation, self._at(), said)
        while not self._queue[0].fits(*keys):
            self._queue.pop(0)
        return super()._take(asked, keys, keep=keep)

    def left_over(self) -> None:
        """A model needs what it needs: nothing in the file is too much."""
        return
