"""What the slash commands show: where the run is, its data, tasks, routes and neighbourhood."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.kernel.choose import choose
from statecli.kernel.order import routes_of
from statecli.kernel.tasks import GOAL, offered, progress, task_status
from statecli.model.data import shown
from statecli.model.event import Chose, Event, Failed, Trial
from statecli.model.graph import WAITING_KINDS, Graph, Transition
from statecli.model.snapshot import Snapshot
from statecli.model.words import in_words


def state(graph: Graph, snapshot: Snapshot) -> Iterator[str]:
    """The state, its kind, and how the run stands."""
    here = graph.states[snapshot.state]
    yield f"{here.name} ({here.kind})" + (f": {here.description}" if here.description else "")
    token = snapshot.token
    yield f"status {snapshot.status}, turn {snapshot.turns}"
    if here.is_plan:
        yield f"this visit: {token.total} turns, {token.idle} without progress"
        yield f"progress {progress(graph, snapshot).percent} %"


def data(snapshot: Snapshot) -> Iterator[str]:
    """Every field that is set; values of strict states that wait for confirmation apart."""
    for key, value in snapshot.data.items():
        if key == "messages":
            yield f"messages: {len(value)}"
        else:
            yield f"{key}: {shown(value, 200)}"
    for key, value in snapshot.early.items():
        yield f"{key}: {shown(value, 200)} (to be confirmed)"
    for key, value in snapshot.insights:
        yield f"{key}: {shown(value, 200)} (insight)"


def tasks(graph: Graph, snapshot: Snapshot) -> Iterator[str]:
    """The tasks of the current plan state with their status, and the values they collect."""
    here = graph.states[snapshot.state]
    if not here.is_plan:
        yield f"'{here.name}' has no tasks"
        return
    if here.kind == "goal":
        yield f"goal: {here.goal.objective if here.goal else ''}"
        for item in here.deliverables():
            yield f"  {item.key}: {_value(snapshot, item.key)}"
        return
    now = offered(snapshot, here)
    for task in here.tasks:
        mark = ">" if task.id in now else " "
        yield f"{mark} {task.id}: {task_status(snapshot, here, task)}"
        for item in task.deliverables:
            optional = "" if item.required else " (optional)"
            yield f"    {item.key}{optional}: {_value(snapshot, item.key)}"


def _value(snapshot: Snapshot, key: str) -> str:
    if key in snapshot.data:
        return shown(snapshot.data[key])
    return f"{shown(snapshot.early[key])} (to be confirmed)" if key in snapshot.early else "open"


def routes(graph: Graph, snapshot: Snapshot) -> Iterator[str]:
    """The ways out in the order they are tried, with what each one's guard is now."""
    token = snapshot.token
    trials: list[Trial] = []
    choose(graph, snapshot, token, trials, at_turn_end=True)
    known = {trial.number: trial for trial in trials}
    for route in routes_of(graph, token.state):
        yield _route(route, known.get(route.number))


def _route(route: Transition, trial: Trial | None) -> str:
    guard = in_words(route.guard) if route.guard is not None else "no guard"
    origin = f" (implicit: {route.why})" if route.origin == "implicit" else ""
    return f"-> {route.target}: {guard}{origin}  [{_truth(route, trial)}]"


def _truth(route: Transition, trial: Trial | None) -> str:
    if trial is None:
        return "not reached"
    if trial.note:
        return trial.note
    if route.guard is None:
        return "open"
    return "holds" if trial.value else "does not hold"


def why(graph: Graph, events: list[Event]) -> Iterator[str]:
    """The routes of the last choice, with the value each guard had then."""
    for event in reversed(events):
        body = event.body
        if isinstance(body, Chose | Failed) and body.state in graph.states and body.trials:
            yield from _last(graph, body)
            return
    yield "nothing was chosen yet"


def _last(graph: Graph, body: Chose | Failed) -> Iterator[str]:
    by = {"order": "the order", "line": "the order", "settle": "the order"}
    if isinstance(body, Chose):
        yield f"in '{body.state}', {by.get(body.by, body.by)} chose '{body.target}':"
    else:
        yield f"in '{body.state}', nothing held:"
    trials = {trial.number: trial for trial in body.trials}
    for route in routes_of(graph, body.state):
        yield f"  {_route(route, trials.get(route.number))}"
    if isinstance(body, Chose) and body.options:
        yield f"  options: {', '.join(body.options)}"
    if isinstance(body, Chose) and body.answers:
        yield f"  answered: {'; '.join(body.answers)}"


def neighbourhood(graph: Graph, snapshot: Snapshot) -> Iterator[str]:
    """The current state between the states before and after it, as text."""
    name = snapshot.state
    before = [
        other.name
        for other in graph.states.values()
        if other.name != name and any(r.target == name for r in routes_of(graph, other.name))
    ]
    width = max((len(other) for other in before), default=0)
    for other in before:
        yield f"  {_mark(graph, other)}{other.ljust(width)} -+"
    here = f"{_mark(graph, name)}{name}"
    yield f"  {' ' * (width + 4) if before else ''}+-> [ {here} ]"
    indent = " " * (width + 12 if before else 8)
    for route in routes_of(graph, name):
        guard = f"  {in_words(route.guard)}" if route.guard is not None else ""
        line = ".." if route.origin == "implicit" else "--"
        target = route.target if route.target in graph.states else f"{route.target} (the end)"
        again = " (itself)" if route.target == name else ""
        yield f"  {indent}+{line}> {_mark(graph, route.target)}{target}{again}{guard}"


def _mark(graph: Graph, name: str) -> str:
    """``*`` waits for the person, ``#`` ends the run."""
    state_ = graph.states.get(name)
    if state_ is None or state_.kind == "terminal":
        return "# "
    return "* " if state_.kind in WAITING_KINDS else "  "


def done(graph: Graph, snapshot: Snapshot) -> str:
    """For the status line: tasks done of those the state has."""
    here = graph.states.get(snapshot.state)
    if here is None or not here.is_plan or here.kind == "goal" or not here.tasks:
        return ""
    left = [task for task in offered(snapshot, here) if task != GOAL]
    if here.kind == "strict":
        finished = sum(
            task_status(snapshot, here, t) in ("completed", "skipped") for t in here.tasks
        )
        return f"{finished}/{len(here.tasks)} tasks"
    return f"{len(here.tasks) - len(left)}/{len(here.tasks)} tasks"
