"""Random walks: a graph is run by chance, with what people may say, models may choose and tools may
give back. How do runs end, how long do they take, where do they get stuck?"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from statecli.engine.advance import Custom, Engine
from statecli.kinds.step import Delta
from statecli.model.event import Body, Failed, Limited, Waiting
from statecli.model.graph import Graph
from statecli.model.snapshot import Snapshot
from statecli.scenario.counts import Counts, added, counted
from statecli.scenario.happened import Seen
from statecli.scenario.moves import Moves, Player
from statecli.scenario.search import Step
from statecli.scenario.suggest import turns_of
from statecli.session.drive import finished
from statecli.session.session import Session
from statecli.store.memory import MemoryStore

#: A model that may call makes so many calls in a turn.
_CALLS = 3
#: Statuses that the author should know of.
WRONG = ("failed", "stuck", "limited")


class Walk(NamedTuple):
    """One walk. `status`: ended, failed, stuck, limited, or open (the turns were used up);
    `why` tells of what went wrong; `turns` are the lines that were said."""

    number: int
    status: str
    state: str
    why: str
    turns: int
    conversation: tuple[dict[str, Any], ...]
    counts: Counts


class Walks(NamedTuple):
    """All walks of one graph."""

    graph: Graph
    walks: tuple[Walk, ...]

    @property
    def counts(self) -> Counts:
        return added(walk.counts for walk in self.walks)

    def how_many(self, status: str) -> int:
        return sum(walk.status == status for walk in self.walks)

    def lengths(self) -> list[int]:
        """The turns of the walks that ended."""
        return sorted(walk.turns for walk in self.walks if walk.status == "ended")

    def wrong(self) -> list[tuple[Walk, int]]:
        """What went wrong, each kind once: the shortest walk that shows it, and how many did."""
        kinds: dict[tuple[str, str, str], list[Walk]] = {}
        for walk in self.walks:
            if walk.status in WRONG:
                kinds.setdefault((walk.status, walk.state, walk.why), []).append(walk)
        return [
            (min(walks, key=lambda walk: (walk.turns, walk.number)), len(walks))
            for walks in kinds.values()
        ]


def walks(graph: Graph, count: int, seed: int, most: int, custom: Custom | None = None) -> Walks:
    """`count` walks of at most `most` turns; the same seed walks the same ways."""
    moves, own = Moves(graph, skips=True), custom or Custom()
    found = (_walk(graph, moves, number, seed, most, own) for number in range(count))
    return Walks(graph, tuple(found))


def _walk(graph: Graph, moves: Moves, number: int, seed: int, most: int, custom: Custom) -> Walk:
    chance = random.Random(f"{seed}/{number}")  # noqa: S311 - not for secrets
    session = Session.start(graph, MemoryStore(), first_line=True, custom=custom)
    first = [event.body for event in session.store.events(session.run)]
    bodies: list[Body] = list(first)
    snapshot, steps, turns = session.snapshot, list[Step](), 0
    while snapshot.status in ("running", "waiting"):
        line: str | None = None
        if snapshot.status == "waiting":
            if turns >= most:
                break
            lines = moves.lines(snapshot)
            line, turns = lines[chance.randrange(len(lines))], turns + 1
        player = Player(moves, chance.randrange, calling=chance.randint(0, _CALLS))
        new, snapshot = _turn(graph, snapshot, player, line, custom)
        bodies += new
        if line is not None or any(not isinstance(body, Waiting) for body in new):
            steps.append(Step(line, tuple(player.replies)))
    status = snapshot.status if snapshot.status not in ("running", "waiting") else "open"
    why = next((b for b in reversed(bodies) if isinstance(b, Failed | Limited)), None)
    told = "" if why is None else why.message if isinstance(why, Limited) else why.error
    counts = counted(Seen(graph, Snapshot(), bodies, snapshot))
    parts = tuple(turns_of(steps))
    return Walk(number, status, snapshot.state, told if status in WRONG else "", turns, parts,
                counts)  # fmt: skip


def _turn(
    graph: Graph, snapshot: Snapshot, player: Player, line: str | None, custom: Custom
) -> tuple[list[Body], Snapshot]:
    """Everything until the run waits."""
    engine = Engine(graph, snapshot, player, custom=custom)
    player.stands = lambda: engine.snapshot

    async def collected() -> list[Body]:
        found: list[Body] = []
        async for item in engine.advance(line):
            if not isinstance(item, Delta):
                found.extend(item)
        return found

    bodies = finished(collected(), waits=bool(custom.bodies))
    return bodies, engine.snapshot


def told(found: Walks, path: str) -> Iterator[str]:
    """What there is to say of the walks."""
    count = len(found.walks)
    parts = [f"{found.how_many('ended')} ended"]
    parts += [f"{n} {word}" for word in WRONG if (n := found.how_many(word))]
    open_ = found.how_many("open")
    parts += [f"{open_} still went on"] if open_ else []
    yield f"{path}: {count} walk{'' if count == 1 else 's'} by chance: {', '.join(parts)}"
    lengths = found.lengths()
    if lengths:
        mean = sum(lengths) / len(lengths)
        middle = lengths[len(lengths) // 2]
        most = lengths[min(len(lengths) - 1, int(len(lengths) * 0.9))]
        yield (
            f"  turns to an end: {mean:.1f} on average, half within {middle}, nine of ten within"
            f" {most}, {lengths[0]} to {lengths[-1]}"
        )
    yield "  visits of each state, per walk:"
    visits = found.counts.visits
    width = max(map(len, found.graph.states), default=0)
    for name in found.graph.states:
        number = visits.get(name, 0)
        share = sum(bool(walk.counts.visits.get(name)) for walk in found.walks) / max(count, 1)
        never = "never" if not number else f"{number / max(count, 1):.2f}, in {share:.0%} of them"
        yield f"    {name.ljust(width)}  {never}"
