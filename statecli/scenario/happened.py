"""What happened in a part of a run: the ways that were taken, the guards that were tried, what was
said, called and collected. Read from the events alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from statecli.kernel.apply import apply
from statecli.kernel.choose import Take, choose
from statecli.kernel.order import routes_of
from statecli.model.event import (
    Answered,
    Body,
    Called,
    Changed,
    Chose,
    Ended,
    Entered,
    Failed,
    Jumped,
    Refused,
    Returned,
    Said,
    Started,
    Trial,
    Turned,
    Waiting,
)
from statecli.model.graph import END, Graph, Transition
from statecli.model.snapshot import Snapshot
from statecli.model.span import dotted

#: Ways that are no transition of a state: why the run was there all the same.
JUMPS = ("on_error", "on_invalid")


class Taken(NamedTuple):
    """A way that was taken. `origin`: written, implicit, net (too many idle turns), on_error,
    on_invalid, entry (the model chose where to begin), body (the state itself named its next);
    `where` is its place in the graph, empty where it is not written there."""

    source: str
    target: str
    origin: str
    number: int
    by: str
    where: str


def taken(graph: Graph, bodies: Sequence[Body], state: str) -> Iterator[Taken]:
    """The ways taken, in order; `state` is where the run was before."""
    failed = ""
    for body in bodies:
        kind = type(body)
        if kind is Chose:
            yield _chosen(graph, body)  # type: ignore[arg-type]  # its type was just asked
        elif isinstance(body, Failed):
            failed = body.state
        elif isinstance(body, Entered):
            if body.why == "on_error" and body.number is None:
                where = dotted((*graph.states[failed or state].path, "on_error"))
                yield Taken(failed or state, body.state, "on_error", -1, body.by, where)
            state = body.state


def _chosen(graph: Graph, body: Chose) -> Taken:
    source, target, by = body.state, body.target, body.by
    if by == "entry":
        path = next((path for name, path in graph.entries if name == target), ())
        return Taken("", target, "entry", -1, by, dotted(path))
    route = route_of(graph, source, body.number)
    if route is None:
        return Taken(source, target, "net" if by == "net" else "body", -1, by, "")
    return Taken(source, target, route.origin, route.number, by, place_of(route))


def route_of(graph: Graph, state: str, number: int) -> Transition | None:
    """A way out by its number in the state."""
    if state not in graph.states or number < 0:
        return None
    return next((route for route in routes_of(graph, state) if route.number == number), None)


def place_of(route: Transition) -> str:
    """Where a way is written; empty for an implicit one."""
    return dotted(route.path) if route.origin == "written" else ""


class Tried(NamedTuple):
    """The ways out of a state that were looked at, and the target that was taken; empty where the
    run stayed. `snapshot` is how it stood."""

    state: str
    trials: tuple[Trial, ...]
    target: str
    by: str
    snapshot: Snapshot


def tried(graph: Graph, before: Snapshot, bodies: Sequence[Body]) -> Iterator[Tried]:
    """Every evaluation of guards. Where the run then stayed no event tells of it, so the kernel is
    asked once more: after each change, and at the end of each turn."""
    snapshot = before
    for body in bodies:
        if isinstance(body, Chose):
            yield Tried(body.state, body.trials, body.target, body.by, snapshot)
        elif isinstance(body, Failed) and body.trials:
            yield Tried(body.state, body.trials, "", "", snapshot)
        line = snapshot.line
        snapshot = apply(graph, snapshot, body)
        state = graph.states.get(snapshot.state)
        if state is None or snapshot.status == "ended":
            continue
        if isinstance(body, Changed | Turned | Entered | Jumped):
            asked = state.is_plan
        else:
            asked = isinstance(body, Waiting) and state.kind == "user" and line is not None
        if asked:
            found: list[Trial] = []
            ended = isinstance(body, Turned)
            choice = choose(graph, snapshot, snapshot.token, found, at_turn_end=ended)
            if found and not isinstance(choice, Take):
                yield Tried(state.name, tuple(found), "", "", snapshot)


class Call(NamedTuple):
    """A tool that was called, with what it was given and whether it worked."""

    tool: str
    arguments: Mapping[str, Any]
    ok: bool | None


class Seen:
    """What a turn, or a whole run, brought: from `before` by `bodies` to `after`."""

    def __init__(
        self, graph: Graph, before: Snapshot, bodies: Sequence[Body], after: Snapshot
    ) -> None:
        self.graph = graph
        self.before = before
        self.bodies = bodies
        self.after = after

    @cached_property
    def taken(self) -> list[Taken]:
        return list(taken(self.graph, self.bodies, self.before.state))

    @cached_property
    def tried(self) -> list[Tried]:
        return list(tried(self.graph, self.before, self.bodies))

    @cached_property
    def moves(self) -> list[tuple[str, str]]:
        """The states left and entered, in order; a run enters its first state from nowhere and
        leaves its last one at the end of a plan only."""
        at, found = self.before.state, list[tuple[str, str]]()
        for body in self.bodies:
            if isinstance(body, Started | Entered | Jumped):
                found.append((at, body.state))
                at = body.state
            elif isinstance(body, Ended) and body.state == END:
                found.append((at, END))
        return found

    @property
    def entered(self) -> list[str]:
        return [target for _, target in self.moves if target != END]

    @property
    def left(self) -> list[str]:
        return [source for source, _ in self.moves if source]

    @cached_property
    def said(self) -> str:
        """Everything that was said to the person."""
        return "\n".join(b.text for b in self.bodies if isinstance(b, Answered) and b.text)

    @cached_property
    def lines(self) -> int:
        """How many lines the person said."""
        return sum(isinstance(body, Said) for body in self.bodies)

    @cached_property
    def called(self) -> list[Call]:
        done = {body.call: body.ok for body in self.bodies if isinstance(body, Returned)}
        return [
            Call(body.tool, body.arguments, done.get(body.call))
            for body in self.bodies
            if isinstance(body, Called)
        ]

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The fields that got a value, with what they hold in the end."""
        keys = (key for body in self.bodies if isinstance(body, Changed) for key in body.data)
        data = self.after.data
        return {key: data[key] for key in dict.fromkeys(keys) if key in data and key != "messages"}

    @cached_property
    def refused(self) -> list[Refused]:
        return [body for body in self.bodies if isinstance(body, Refused)]
