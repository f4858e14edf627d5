"""The ways out of a state in words, each with what its guard was when it was tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from statecli.kernel.order import routes_of
from statecli.kernel.tasks import addressed, task_status
from statecli.model.data import shown
from statecli.model.event import Failed, Trial
from statecli.model.graph import END, Graph, Transition
from statecli.model.guard import Complete, Turns, reads, walk
from statecli.model.snapshot import Snapshot
from statecli.model.words import in_words, turns_words

#: How far a task is that is not done.
_STATUS = {"pending": "open", "in_progress": "begun"}


def ways_tried(
    graph: Graph,
    state: str,
    trials: Sequence[Trial],
    options: frozenset[str] = frozenset(),
    snapshot: Snapshot | None = None,
) -> Iterator[str]:
    """One line for each way out. `options` are the targets among which a model chose; with a
    `snapshot` the values that a guard read stand behind it."""
    known: Mapping[int, Trial] = {trial.number: trial for trial in trials}
    for route in routes_of(graph, state):
        trial = known.get(route.number)
        line = way_tried(route, trial, option=route.target in options)
        if snapshot is not None and route.guard is not None and trial is not None:
            values = ", ".join(_values(graph, route, snapshot))
            line += f"  ({values})" if values else ""
        yield line


def nothing_held(graph: Graph, stop: Failed, snapshot: Snapshot) -> str:
    """Why a run is stuck: each way out on a line, with its guard and the values it saw. `snapshot`:
    what the state's own branch sees."""
    ways = "".join(
        f"\n  {way}" for way in ways_tried(graph, stop.state, stop.trials, snapshot=snapshot)
    )
    told = any(trial.value is not False and not trial.note for trial in stop.trials)
    # Where a way held that may not be taken, only the event says why.
    head = stop.error if told or not ways else f"nothing holds in '{stop.state}'"
    return f"{head}:{ways}" if ways else head


def way_tried(route: Transition, trial: Trial | None, *, option: bool = False) -> str:
    """A way out: its target, what it needs, and what that was."""
    guard = in_words(route.guard) if route.guard is not None else "no condition"
    origin = f" (implicit: {route.why})" if route.origin == "implicit" else ""
    truth = "the model chooses" if option else _truth(route, trial)
    return f"-> {target_words(route.target)}: {guard}{origin}  [{truth}]"


def target_words(target: str) -> str:
    return "the end" if target == END else target


def _truth(route: Transition, trial: Trial | None) -> str:
    if trial is None:
        return "not reached"
    if trial.note:
        return trial.note
    if route.guard is None:
        return "holds"
    return "holds" if trial.value else "does not hold"


def _values(graph: Graph, route: Transition, snapshot: Snapshot) -> Iterator[str]:
    """What the guard read."""
    assert route.guard is not None
    for key in reads(route.guard):
        held = shown(snapshot.data[key]) if key in snapshot.data else "not set"
        waits = " (to be confirmed)" if key in snapshot.early else ""
        yield f"{key} is {held}{waits}"
    state = graph.states[route.source]
    if any(isinstance(part, Complete) for part in walk(route.guard)):
        for task in state.tasks:
            if not addressed(snapshot, state, task):
                lacking = [item.key for item in task.needed if item.key not in snapshot.data]
                more = f": {', '.join(lacking)} not set" if lacking else ""
                yield f"{task.id} is {_STATUS[task_status(snapshot, state, task)]}{more}"
    token = snapshot.token
    counters = {"without_progress": token.idle, "total": token.total, "session": snapshot.turns}
    scopes = {part.scope for part in walk(route.guard) if isinstance(part, Turns)}
    for scope in sorted(scopes):
        yield turns_words(counters[scope], scope)
