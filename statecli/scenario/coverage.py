"""Coverage of a graph: which of its states, transitions and guards the conversations have seen, as
a table for people and as JSON for programs (`render --coverage` draws it)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from statecli import __version__
from statecli.config import Config
from statecli.kernel.order import routes_of
from statecli.lint.account import Accounts
from statecli.lint.linter import check, facts_of
from statecli.load.loader import Loaded
from statecli.model.graph import Graph, State, Transition
from statecli.model.span import Place, dotted
from statecli.model.words import in_words
from statecli.scenario.counts import Counts, Key, all_ways
from statecli.scenario.happened import place_of, route_of
from statecli.session.tries import target_words


class Share(NamedTuple):
    """How many were seen, of how many that can be."""

    seen: int
    of: int

    def __add__(self, other: object) -> Share:
        assert isinstance(other, Share)
        return Share(self.seen + other.seen, self.of + other.of)

    @property
    def percent(self) -> float:
        return 100.0 * self.seen / self.of if self.of else 100.0


class Summary(NamedTuple):
    """Guards count twice: once true, once false."""

    states: Share
    transitions: Share
    guards: Share

    @property
    def total(self) -> Share:
        return self.states + self.transitions + self.guards


class WaySeen(NamedTuple):
    """A way out with its numbers. `never`: why it cannot be taken."""

    key: Key
    route: Transition | None
    line: int | None
    where: str | None
    taken: int
    won: int
    true: int
    false: int
    never: tuple[str, ...]


class GraphCoverage:
    """Coverage of one graph. What can never be seen (a state that nothing leads to, a way that is
    never taken) counts for nothing."""

    def __init__(
        self,
        path: str,
        digest: str,
        loaded: Loaded,
        config: Config,
        counts: Counts,
        conversations: Sequence[str],
    ) -> None:
        assert loaded.graph is not None
        self.path = path
        self.digest = digest
        self.graph: Graph = loaded.graph
        self.document = loaded.document
        self.counts = counts
        self.conversations = conversations
        facts = facts_of(loaded, config)
        accounts = Accounts(facts, check(facts))
        self._never: dict[tuple[str, int], tuple[str, ...]] = {}
        self.reachable: dict[str, bool] = {}
        for number, state in enumerate(facts.states):
            self.reachable[state.name] = bool(facts.reachable[number])
            for route in accounts.of(number).routes:
                self._never[state.name, route.way.number] = route.never
        self.ways = [self._way(key) for key in self._keys()]

    def _keys(self) -> list[Key]:
        """All ways, and those that only showed when they were taken."""
        known = all_ways(self.graph)
        found: list[Key] = []
        for name in ("", *self.graph.states):
            found += [key for key in known if key[0] == name]
            found += [key for key in self.counts.taken if key[0] == name and key not in known]
        return found

    def _way(self, key: Key) -> WaySeen:
        source, origin, number, target = key
        route = route_of(self.graph, source, number)
        where = place_of(route) if route is not None else ""
        path: tuple[str | int, ...] = route.at if where and route is not None else ()
        if origin in ("on_error", "on_invalid"):
            path = (*self.graph.states[source].path, origin)
            where = dotted(path)
        elif origin == "entry":
            path = dict(self.graph.entries)[target]
            where = dotted(path)
        line = self.document.span(Place(path)).start.line if path else None
        never = self._never.get((source, number), ()) if route is not None else ()
        if source and not self.reachable.get(source, True):
            never = (*never, f"nothing leads to '{source}'")
        counts = self.counts
        return WaySeen(
            key, route, line, where or None, counts.taken.get(key, 0), counts.won.get(key, 0),
            counts.true.get((source, number), 0), counts.false.get((source, number), 0), never,
        )  # fmt: skip

    def line_of(self, state: State) -> int:
        place = Place(state.path) if self.graph.is_plan else Place(state.path, "key")
        return self.document.span(place).start.line

    def visits(self, state: str) -> int:
        return self.counts.visits.get(state, 0)

    @property
    def summary(self) -> Summary:
        visited = [name for name in self.graph.states if self.reachable[name] or self.visits(name)]
        counting = [way for way in self.ways if _counts(way)]
        guarded = [way for way in counting if way.route is not None and way.route.guard is not None]
        return Summary(
            Share(sum(self.visits(name) > 0 for name in visited), len(visited)),
            Share(sum(way.taken > 0 for way in counting), len(counting)),
            Share(
                sum((way.true > 0) + (way.false > 0) for way in guarded),
                2 * len(guarded),
            ),
        )

    def as_object(self) -> dict[str, Any]:
        """The graph's part of the JSON report."""
        return {
            "path": self.path,
            "digest": self.digest,
            "conversations": list(self.conversations),
            "runs": self.counts.runs,
            "turns": self.counts.turns,
            "states": [
                {
                    "state": state.name,
                    "where": dotted(state.path),
                    "line": self.line_of(state),
                    "visits": self.visits(state.name),
                    "reachable": self.reachable[state.name],
                }
                for state in self.graph.states.values()
            ],
            "transitions": [_way_object(way) for way in self.ways],
            "refusals": [
                {"state": state, "what": what, "count": count}
                for (state, what), count in sorted(self.counts.refused.items())
            ],
            "summary": summary_object(self.summary),
        }


def _counts(way: WaySeen) -> bool:
    """Whether a way counts: one that can be taken, or was; the net is an emergency."""
    return way.key[1] not in ("net", "body") and (not way.never or way.taken > 0)


def _way_object(way: WaySeen) -> dict[str, Any]:
    source, origin, number, target = way.key
    guard = None
    if way.route is not None and way.route.guard is not None:
        guard = {"text": in_words(way.route.guard), "true": way.true, "false": way.false}
    return {
        "source": source,
        "target": target,
        "where": way.where,
        "origin": origin,
        "number": number,
        "line": way.line,
        "taken": way.taken,
        "won": way.won,
        "guard": guard,
        "never": list(way.never),
    }


def summary_object(summary: Summary) -> dict[str, Any]:
    parts = summary._asdict().items()
    return {
        **{name: {"seen": share.seen, "of": share.of} for name, share in parts},
        "percent": round(summary.total.percent, 1),
    }


def total(graphs: Sequence[GraphCoverage]) -> Summary:
    """All graphs together."""
    nothing = Share(0, 0)
    found = Summary(nothing, nothing, nothing)
    for graph in graphs:
        each = zip(found, graph.summary, strict=True)
        found = Summary(*(one + other for one, other in each))
    return found


def report(graphs: Sequence[GraphCoverage]) -> Mapping[str, Any]:
    """The whole JSON report."""
    return {
        "version": 1,
        "statecli": __version__,
        "kind": "coverage",
        "graphs": [graph.as_object() for graph in graphs],
        "summary": summary_object(total(graphs)),
    }


# --- for people -----------------------------------------------------------------------------------


def table(graphs: Sequence[GraphCoverage]) -> Iterator[str]:
    """One line for each graph, then what was not seen, each with its line."""
    heads = ("graph", "states", "transitions", "guards", "total")
    rows = [_row(graph.path, graph.summary) for graph in graphs]
    if len(graphs) > 1:
        rows.append(_row("all", total(graphs)))
    widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    for row in [heads, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()
    for graph in graphs:
        missing = list(_missing(graph))
        if missing:
            yield ""
            yield f"not seen in {graph.path}:"
            yield from missing
    yield from _winners(graphs)


def _row(name: str, summary: Summary) -> tuple[str, ...]:
    shares = (f"{share.seen}/{share.of}" for share in summary)
    return (name, *shares, f"{_floor(summary.total.percent)} %")


def _floor(percent: float) -> str:
    """Rounded down: 100 % means all."""
    return f"{int(percent * 10) / 10:g}"


def _missing(graph: GraphCoverage) -> Iterator[str]:
    """What no conversation has seen, in the order of the file."""
    lines: list[tuple[int, int, str]] = []
    for number, state in enumerate(graph.graph.states.values()):
        at = graph.line_of(state)
        if not graph.visits(state.name) and graph.reachable[state.name]:
            lines.append((at, number, f"'{state.name}' is never entered"))
    for number, way in enumerate(graph.ways):
        if not _counts(way):
            continue
        source, origin, _, target = way.key
        state_line = graph.line_of(graph.graph.states[source]) if source else 1
        at = way.line or state_line
        name = f"'{source}' -> '{target_words(target)}'" if source else f"begin in '{target}'"
        if origin not in ("written", "entry"):
            name += f" ({origin})"
        if not way.taken:
            lines.append((at, number, f"{name} is never taken"))
        elif way.route is not None and way.route.guard is not None:
            truths = [word for word, n in (("true", way.true), ("false", way.false)) if not n]
            if truths:
                never = " nor ".join(truths)
                text = in_words(way.route.guard)
                lines.append((at, number, f"{name}: the guard is never {never}: {text}"))
    for line, _, text in sorted(lines):
        yield f"  {graph.path}:{line}: {text}"


def _winners(graphs: Sequence[GraphCoverage]) -> Iterator[str]:
    """What is told beside the shares: it cannot be said of how many that could be."""
    won = sum(way.won > 0 for graph in graphs for way in graph.ways)
    implicit = [w for g in graphs for w in g.ways if w.key[1] == "implicit" and not w.never]
    taken = sum(way.taken > 0 for way in implicit)
    refused = sum(count for graph in graphs for count in graph.counts.refused.values())
    states = len({(g.path, state) for g in graphs for state, _ in g.counts.refused})
    yield ""
    yield f"priority decided between ways that both held: {won} way{'' if won == 1 else 's'}"
    yield f"implicit transitions: {taken} of {len(implicit)} taken"
    yield f"refusals: {refused}, in {states} state{'' if states == 1 else 's'}"


def guarded(graph: Graph) -> list[Transition]:
    """Every way with a condition."""
    found = (route for name in graph.states for route in routes_of(graph, name))
    return [route for route in found if route.guard is not None]
