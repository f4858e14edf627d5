"""Where runs were: of a session, of a trace, of a conversation that is played, of tests."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from statecli.cli.one_graph import Examined, content
from statecli.cli.output import tell
from statecli.kernel.order import routes_of
from statecli.model.data import is_list, is_map
from statecli.model.event import (
    Chose,
    Ended,
    Entered,
    Event,
    Joined,
    Jumped,
    Split,
    Started,
)
from statecli.model.graph import END, Graph
from statecli.model.unable import Unable
from statecli.text.document import MAX_BYTES

Route = tuple[str, int]


class Walk(NamedTuple):
    """Visits by state and by route (state and number of the route). `steps` are the routes in the
    order they were taken, where that is wanted; `at` is where a run is now."""

    states: Mapping[str, int]
    routes: Mapping[Route, int]
    counts: str
    at: str = ""
    steps: tuple[Route, ...] = ()


def walked(graph: Graph, events: Iterable[Event], counts: str, *, steps: bool = False) -> Walk:
    """The walk of the runs that these events tell. A route counts where it still leads to where
    the run went: the graph may have changed since."""
    states: Counter[str] = Counter()
    taken: list[Route] = []
    lost = 0
    at: dict[tuple[str, int], str] = {}
    here: dict[str, str] = {}
    for event in events:
        body, run = event.body, event.run
        if isinstance(body, Started):
            here[run] = at[run, 0] = body.state
            states[body.state] += 1
        elif isinstance(body, Entered | Jumped):
            token = (run, body.token)
            before = at.get(token, here.get(run, ""))
            here[run] = at[token] = body.state
            states[body.state] += 1
            if isinstance(body, Entered) and body.number is not None and body.number >= 0:
                route = _route(graph, before, body.number, body.state)
                taken += [route] if route is not None else []
                lost += route is None
        elif isinstance(body, Chose) and body.target == END and body.number >= 0:
            states[END] += 1
            route = _route(graph, body.state, body.number, END)
            taken += [route] if route is not None else []
        elif isinstance(body, Split):
            at.update(((run, token), body.state) for token in body.tokens)
        elif isinstance(body, Joined):
            at[run, body.token] = body.state
        elif isinstance(body, Ended):
            here[run] = body.state
    current = list(here.values())[-1] if here else ""
    if lost:
        tell(f"{counts}: {lost} of its moves are no routes of this graph (was it changed since?)")
    return Walk(states, Counter(taken), counts, current, tuple(taken) if steps else ())


def _route(graph: Graph, source: str, number: int, target: str) -> Route | None:
    """The route that was taken: the one with this number if it leads there, else another one."""
    if source not in graph.states:
        return None
    ways = [way.number for way in routes_of(graph, source) if way.target == target]
    if number in ways:
        return source, number
    return (source, ways[0]) if len(ways) == 1 else None


def of_session(args: argparse.Namespace, found: Examined) -> Walk:
    """A stored session, without what was undone."""
    from statecli.cli.opening import find
    from statecli.cli.running import near, open_store
    from statecli.session.open_step import effective

    store = open_store(args)
    try:
        stored = find(store, args.session)
        if os.path.realpath(stored.path) != os.path.realpath(found.path):
            tell(f"session {stored.run} is of {near(stored.path)}")
        events = effective(store.events(stored.run))
        return walked(found.graph, events, f"session {stored.run}")
    finally:
        store.close()


def of_trace(args: argparse.Namespace, found: Examined) -> Walk:
    """A file with one event a line (`chat --trace`, `sessions export`)."""
    from statecli.session.open_step import effective
    from statecli.store.rows import body_of

    runs: dict[str, list[Event]] = {}
    for number, line in enumerate(_text(args.trace).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            event = Event(str(row["run"]), int(row["number"]), float(row["time"]), body_of(row))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise Unable(f"{args.trace}:{number}: this is no event: {error}") from None
        runs.setdefault(event.run, []).append(event)
    if not runs:
        raise Unable(f"{args.trace}: no event is in it")
    events = [event for run in runs.values() for event in effective(run)]
    return walked(found.graph, events, f"trace {os.path.basename(args.trace)}")


def of_witness(args: argparse.Namespace, found: Examined) -> Walk:
    """A conversation file, played through the graph."""
    from statecli.cli.models import named
    from statecli.llm.script import ScriptProvider
    from statecli.scenario.runner import only_played

    script = named(f"script:{args.witness}", "from --witness")
    assert isinstance(script, ScriptProvider)
    script.conversation = script.conversation.as_witness()
    played = only_played(found.graph, script)
    if played.problems:
        first = played.problems[0]
        where = script.conversation.where(first.path)
        tell(f"{args.witness}: stopped early: {where}: {first.message}")
    events = [Event("", number, 0.0, body) for number, body in enumerate(played.whole.bodies, 1)]
    return walked(found.graph, events, f"witness {os.path.basename(args.witness)}", steps=True)


def covered(
    file: str, found: Examined
) -> tuple[dict[str, int], dict[Route, int], dict[tuple[str, str], int]]:
    """What the tests have seen of a graph (states, routes, ways after an error): the file that
    `statecli test --coverage-file` writes."""
    try:
        report = json.loads(_text(file))
    except (ValueError, RecursionError) as error:
        raise Unable(f"{file}: this is no coverage file: {error}") from None
    graphs = report.get("graphs") if is_map(report) and report.get("kind") == "coverage" else None
    if not is_list(graphs):
        raise Unable(
            f"{file}: this is no coverage file", "statecli test --coverage-file writes one"
        )
    own: Any = next(
        (g for g in graphs if is_map(g) and _same(str(g.get("path")), found.path)), None
    )
    if own is None:
        raise Unable(f"{file}: the tests did not run {found.path}")
    from statecli.session.session import digest

    if own.get("digest") not in (None, digest(found.facts.document.text)):
        tell(f"{file}: the graph was changed since these tests ran; counts may be at other ways")
    try:
        states = {str(item["state"]): int(item["visits"]) for item in own["states"]}
        routes = {
            (str(item["source"]), int(item["number"])): int(item["taken"])
            for item in own["transitions"]
            if item["number"] >= 0
        }
        jumps = {
            (str(item["source"]), str(item["origin"])): int(item["taken"])
            for item in own["transitions"]
            if item.get("origin") in ("on_error", "on_invalid")
        }
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        raise Unable(f"{file}: this is no coverage file: {error!r}") from None
    return states, routes, jumps


def _same(one: str, other: str) -> bool:
    return "\0" not in one and os.path.realpath(one) == os.path.realpath(other)


def _text(file: str) -> str:
    if os.path.isdir(file):
        raise Unable(f"{file}: this is a folder")
    data = content(file)
    if len(data) > MAX_BYTES:
        raise Unable(f"{file}: larger than {MAX_BYTES // 1_000_000} MB, more than is read")
    return data.decode("utf-8", "replace")
