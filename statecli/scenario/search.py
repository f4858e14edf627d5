"""Looks for the ways out that no conversation has taken: a search over the real kernel, the
shortest way to each first. What a person, a model or a tool may do is in `moves`."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from statecli.engine.advance import Engine
from statecli.kernel.limits import limit
from statecli.kinds.step import Delta
from statecli.model.event import Body
from statecli.model.graph import KINDS, Graph
from statecli.model.guard import SCOPES, Turns, walk
from statecli.model.snapshot import Branch, Snapshot
from statecli.scenario.counts import Key
from statecli.scenario.coverage import guarded
from statecli.scenario.happened import taken
from statecli.scenario.moves import Moves, Player
from statecli.session.drive import finished
from statecli.session.session import Session
from statecli.store.memory import MemoryStore

#: Steps that are run at most, for one graph.
BUDGET = 30_000
#: To the end of a turn so many places are looked at.
_TO_REST = 300
#: The person gives no more than so many lines.
_TURNS = 60


class Step(NamedTuple):
    """One step of a conversation: the person's line (None: it goes on), and what was answered."""

    line: str | None
    replies: tuple[dict[str, Any], ...]


class Path(NamedTuple):
    """How the run came to where it is."""

    before: Path | None
    step: Step | None

    def steps(self) -> list[Step]:
        found: list[Step] = []
        path: Path | None = self
        while path is not None:
            if path.step is not None:
                found.append(path.step)
            path = path.before
        return found[::-1]


class Search:
    """`found` has a conversation for each way that was reached; `complete`: everything that can
    happen was tried, as far as the moves go."""

    def __init__(self, graph: Graph, wanted: Iterable[Key], budget: int = BUDGET) -> None:
        self.graph = graph
        self.wanted = set(wanted)
        self.budget = budget
        self.found: dict[Key, list[Step]] = {}
        self.complete = True
        #: With branches that run side by side only whole turns are looked at.
        self.whole = any(state.fans_out for state in graph.states.values())
        self._most = {
            scope: max(
                (
                    part.turns
                    for route in guarded(graph)
                    if route.guard is not None
                    for part in walk(route.guard)
                    if isinstance(part, Turns) and part.scope == scope
                ),
                default=0,
            )
            for scope in SCOPES
        }

    def run(self) -> Search:
        """Look for all that is wanted: by what people do who do what they are asked, then also by
        skipping and waiting for the net."""
        if any(state.kind not in KINDS for state in self.graph.states.values()):
            self.complete = False
            return self
        self._look(Moves(self.graph))
        if self.wanted - self.found.keys() and self.graph.is_plan:
            self._most["without_progress"] = max(
                self._most["without_progress"], limit(self.graph, "stuck_turns")
            )
        if self.wanted - self.found.keys():
            self._look(Moves(self.graph, skips=True))
        return self

    def _look(self, moves: Moves) -> None:
        session = Session.start(self.graph, MemoryStore(), first_line=True)
        queue: list[tuple[int, int, int, Snapshot, Path]] = []
        heapq.heappush(queue, (0, 0, 0, session.snapshot, Path(None, None)))
        seen: set[Any] = set()
        serial = 0
        while queue and self.wanted - self.found.keys():
            turns, steps, _, snapshot, path = heapq.heappop(queue)
            mark = self._mark(snapshot)
            if mark in seen:
                continue
            seen.add(mark)
            if turns > _TURNS:
                self.complete = False
                continue
            for line, player, bodies, after in self._expanded(moves, snapshot):
                if self.budget <= 0:
                    self.complete = False
                    return
                self.budget -= 1
                further = Path(path, Step(line, tuple(player.replies)))
                self._note(moves, snapshot.state, bodies, after, further)
                if after.status in ("running", "waiting", "limited"):
                    serial += 1
                    more = turns + (line is not None)
                    heapq.heappush(queue, (more, steps + 1, serial, after, further))

    def _note(
        self, moves: Moves, state: str, bodies: list[Body], after: Snapshot, path: Path
    ) -> None:
        """Keep the way to what was wanted, with what still belongs to its last turn."""
        for way in taken(self.graph, bodies, state):
            keys: list[Key] = [(way.source, way.origin, way.number, way.target)]
            if way.by == "on_invalid":
                keys.append((way.source, "on_invalid", -1, way.target))
            new = [key for key in keys if key in self.wanted and key not in self.found]
            whole = self._to_rest(moves, after, path) if new else None
            if whole is not None:
                self.found.update(dict.fromkeys(new, whole.steps()))

    def _to_rest(self, moves: Moves, snapshot: Snapshot, path: Path) -> Path | None:
        """From the middle of a turn to where the run waits or ends, in the fewest steps; to where
        it goes wrong, if nothing else can come of it."""
        queue = [(snapshot, path)]
        seen: set[Any] = set()
        wrong: Path | None = None
        while queue and len(seen) < _TO_REST:
            snapshot, path = queue.pop(0)
            if snapshot.status in ("waiting", "ended"):
                return path
            if snapshot.status != "running":
                wrong = wrong or path
                continue
            mark = self._mark(snapshot)
            if mark in seen:
                continue
            seen.add(mark)
            for line, player, _, after in self._expanded(moves, snapshot):
                self.budget -= 1
                queue.append((after, Path(path, Step(line, tuple(player.replies)))))
        return wrong

    def _expanded(
        self, moves: Moves, snapshot: Snapshot
    ) -> Iterator[tuple[str | None, Player, list[Body], Snapshot]]:
        """Everything that one step may bring."""
        rests = snapshot.status in ("waiting", "limited")
        for line in moves.lines(snapshot) if rests else (None,):
            prefixes: list[list[int]] = [[]]
            while prefixes:
                prefix = prefixes.pop(0)
                asked: list[int] = []

                def pick(count: int, prefix: list[int] = prefix, asked: list[int] = asked) -> int:
                    asked.append(count)
                    at = len(asked) - 1
                    return prefix[at] if at < len(prefix) else 0

                player = Player(moves, pick)
                bodies, after = step(self.graph, snapshot, player, line, whole=self.whole)
                for at in range(len(prefix), len(asked)):
                    chosen = [*prefix, *([0] * (at - len(prefix)))]
                    prefixes += [[*chosen, other] for other in range(1, asked[at])]
                yield line, player, bodies, after

    def _mark(self, snapshot: Snapshot) -> Any:
        """The same for two runs that stand alike, as far as any guard can tell."""
        token, work = snapshot.token, snapshot.work
        data = tuple(
            sorted((key, repr(value)) for key, value in snapshot.data.items() if key != "messages")
        )
        return (
            token.state,
            min(token.idle, self._most["without_progress"]),
            min(token.total, self._most["total"]),
            min(snapshot.turns, self._most["session"]),
            token.closed, token.fresh, token.progressed, data, snapshot.status,
            snapshot.line is None, snapshot.entries, snapshot.awaits_reply,
            tuple(sorted(work.tasks.items())), tuple(sorted(work.early)), work.visited,
            tuple(map(_branch, snapshot.branches.items())),
        )  # fmt: skip


def _branch(item: tuple[int, Branch]) -> Any:
    """What tells a branch from another one."""
    number, branch = item
    data = sorted((key, repr(value)) for key, value in branch.data.items() if key != "messages")
    return number, branch.status, branch.token.state, branch.line is None, branch.came, tuple(data)


def step(
    graph: Graph, snapshot: Snapshot, player: Player, line: str | None, *, whole: bool = False
) -> tuple[list[Body], Snapshot]:
    """Run one body and what follows from it, or with `whole` everything until the run waits."""
    engine = Engine(graph, snapshot, player, after=None if whole else lambda _: True)
    player.stands = lambda: engine.snapshot

    async def collected() -> list[Body]:
        bodies: list[Body] = []
        async for item in engine.advance(line):
            if not isinstance(item, Delta):
                bodies.extend(item)
        return bodies

    bodies = finished(collected(), waits=False)
    return bodies, engine.snapshot
