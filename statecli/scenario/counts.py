"""What conversations have seen of a graph, in numbers that can be added up across processes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from statecli.kernel.choose import view_of
from statecli.kernel.order import routes_of
from statecli.model.graph import Graph
from statecli.model.guard import evaluate
from statecli.scenario.happened import JUMPS, Seen, Tried

KeyT = TypeVar("KeyT")
#: A way out: the state, where it comes from (as in `Taken`), its number, its target.
Key = tuple[str, str, int, str]


class Counts(NamedTuple):
    """Plain dictionaries: visits of states, ways taken, `won` while a later one held too, guards
    (state, number) by their truth, refusals (state, what)."""

    visits: dict[str, int]
    taken: dict[Key, int]
    won: dict[Key, int]
    true: dict[tuple[str, int], int]
    false: dict[tuple[str, int], int]
    refused: dict[tuple[str, str], int]
    turns: int = 0
    runs: int = 0


def no_counts() -> Counts:
    return Counts({}, {}, {}, {}, {}, {})


def counted(seen: Seen) -> Counts:
    """What one run has seen."""
    found = no_counts()
    graph = seen.graph
    for _, target in seen.moves:
        if target in graph.states:
            _add(found.visits, target)
    for way in seen.taken:
        _add(found.taken, (way.source, way.origin, way.number, way.target))
        if way.by == "on_invalid":
            _add(found.taken, (way.source, "on_invalid", -1, way.target))
    for tried in seen.tried:
        for trial in tried.trials:
            if trial.value is not None:
                truths = found.true if trial.value else found.false
                _add(truths, (tried.state, trial.number))
        winner = _winner(graph, tried)
        if winner is not None:
            _add(found.won, winner)
    for body in seen.refused:
        _add(found.refused, (body.state, _what(body.what)))
    return found._replace(turns=seen.lines, runs=1)


def _what(what: str) -> str:
    """What was refused, without what it was given."""
    return what if what.startswith("arguments of") else what.partition(" ")[0]


def _winner(graph: Graph, tried: Tried) -> Key | None:
    """The way that was taken, where one with a higher priority number would have held too."""
    if not tried.target or not tried.trials:
        return None
    ways = routes_of(graph, tried.state)
    last = tried.trials[-1].number
    at = next((n for n, way in enumerate(ways) if way.number == last), None)
    if at is None or ways[at].target != tried.target:
        return None
    won = ways[at]
    later = [way for way in ways[at + 1 :] if way.priority > won.priority]
    if not later:
        return None
    view = view_of(graph, tried.snapshot, tried.snapshot.token, None)
    view.strict = False
    if any(way.guard is None or evaluate(way.guard, view) for way in later):
        return (tried.state, won.origin, won.number, won.target)
    return None


def added(parts: Iterable[Counts]) -> Counts:
    """The sum."""
    total = no_counts()
    turns = runs = 0
    for part in parts:
        for whole, some in zip(total[:6], part[:6], strict=True):
            for key, number in some.items():  # type: ignore[attr-defined]  # six dictionaries
                _add(whole, key, number)  # type: ignore[arg-type]
        turns, runs = turns + part.turns, runs + part.runs
    return total._replace(turns=turns, runs=runs)


def _add(where: dict[KeyT, int], key: KeyT, number: int = 1) -> None:
    where[key] = where.get(key, 0) + number


def all_ways(graph: Graph) -> list[Key]:
    """Every way that a run can take, state by state in the order in which they are tried; jumps
    and entries too."""
    found: list[Key] = []
    if len(graph.entries) > 1:
        found += [("", "entry", -1, name) for name in dict(graph.entries) if name in graph.states]
    for name, state in graph.states.items():
        found += [(name, way.origin, way.number, way.target) for way in routes_of(graph, name)]
        found += [(name, key, -1, target) for key, target in state.jumps if key in JUMPS]
    return found
