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
from statecli.model.data import is_list, is_map
from statecli.model.event import Ended, Entered, Event, Jumped, Started
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


def walked(events: Iterable[Event], counts: str, *, steps: bool = False) -> Walk:
    """The walk of the runs that these events tell."""
    states: Counter[str] = Counter()
    routes: Counter[Route] = Counter()
    taken: list[Route] = []
    at: dict[tuple[str, int], str] = {}
    here = ""
    for event in events:
        body = event.body
        if isinstance(body, Started):
            here = at[event.run, 0] = body.state
        elif isinstance(body, Entered | Jumped):
            token = (event.run, body.token)
            before = at.get(token, here)
            here = at[token] = body.state
            if isinstance(body, Entered) and body.number is not None and body.number >= 0:
                taken.append((before, body.number))
        elif isinstance(body, Ended):
            here = body.state
            continue
        else:
            continue
        states[body.state] += 1
    routes.update(taken)
    return Walk(states, routes, counts, here, tuple(taken) if steps else ())


def of_session(args: argparse.Namespace, _found: Examined) -> Walk:
    """A stored session, without what was undone."""
    from statecli.cli.opening import find
    from statecli.cli.running import open_store
    from statecli.session.session import effective

    store = open_store(args)
    try:
        stored = find(store, args.session)
        return walked(effective(store.events(stored.run)), f"session {stored.run}")
    finally:
        store.close()


def of_trace(args: argparse.Namespace, _found: Examined) -> Walk:
    """A file with one event a line (`chat --trace`, `sessions export`)."""
    from statecli.session.session import effective
    from statecli.store.rows import body_of

    runs: dict[str, list[Event]] = {}
    for number, line in enumerate(_text(args.trace).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            event = Event(str(row["run"]), int(row["number"]), float(row["time"]), body_of(row))
        except (ValueError, TypeError, KeyError) as error:
            raise Unable(f"{args.trace}:{number}: this is no event: {error}") from None
        runs.setdefault(event.run, []).append(event)
    events = [event for run in runs.values() for event in effective(run)]
    return walked(events, f"trace {os.path.basename(args.trace)}")


def of_witness(args: argparse.Namespace, found: Examined) -> Walk:
    """A conversation file, played through the graph."""
    from statecli.cli.models import named
    from statecli.llm.script import ScriptProvider
    from statecli.scenario.runner import only_played

    script = named(f"script:{args.witness}", "from --witness")
    assert isinstance(script, ScriptProvider)
    played = only_played(found.graph, script)
    if played.problems:
        first = played.problems[0]
        where = script.conversation.where(first.path)
        tell(f"{args.witness}: stopped early: {where}: {first.message}")
    events = [Event("", number, 0.0, body) for number, body in enumerate(played.whole.bodies, 1)]
    return walked(events, f"witness {os.path.basename(args.witness)}", steps=True)


def covered(file: str, path: str) -> tuple[dict[str, int], dict[Route, int]]:
    """What the tests have seen of a graph: the file that `statecli test --coverage-file` writes."""
    try:
        report = json.loads(_text(file))
    except ValueError as error:
        raise Unable(f"{file}: this is no coverage file: {error}") from None
    graphs = report.get("graphs") if is_map(report) and report.get("kind") == "coverage" else None
    if not is_list(graphs):
        raise Unable(
            f"{file}: this is no coverage file", "statecli test --coverage-file writes one"
        )
    wanted = os.path.realpath(path)
    own: Any = next(
        (g for g in graphs if is_map(g) and os.path.realpath(str(g.get("path"))) == wanted), None
    )
    if own is None:
        raise Unable(f"{file}: the tests did not run {path}")
    try:
        states = {str(item["state"]): int(item["visits"]) for item in own["states"]}
        routes = {
            (str(item["source"]), int(item["number"])): int(item["taken"])
            for item in own["transitions"]
            if item["number"] >= 0
        }
    except (TypeError, KeyError, ValueError) as error:
        raise Unable(f"{file}: this is no coverage file: {error!r}") from None
    return states, routes


def _text(file: str) -> str:
    data = content(file)
    if len(data) > MAX_BYTES:
        raise Unable(f"{file}: larger than {MAX_BYTES // 1_000_000} MB, more than is read")
    return data.decode("utf-8", "replace")
