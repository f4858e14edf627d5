"""A witness through the real kernel: nothing is printed that did not happen there first.

The calls of a plan state go through `kernel/calls.py`, every move through `choose` and `settle`.
What a body would write is given; so is the model's choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from statecli.kernel.apply import apply
from statecli.kernel.calls import Plan
from statecli.kernel.change import change
from statecli.kernel.choose import Ask, Take, choose, view_of
from statecli.kernel.filters import filter_data
from statecli.kernel.order import routes_of
from statecli.kernel.recorder import Recorder
from statecli.kernel.reducers import Misfit, first_data
from statecli.kernel.settle import end_turn, enter, settle, tried
from statecli.kernel.tasks import complete
from statecli.model.event import (
    Body,
    Chose,
    Ended,
    Entered,
    Guard_Missing_Field,
    Limited,
    Said,
    Skipped,
    Started,
    Turned,
    Waiting,
    Warned,
)
from statecli.model.graph import END, Graph, State, Transition
from statecli.model.guard import GuardMissingField, evaluate
from statecli.model.snapshot import Snapshot
from statecli.verify.report import Visit

#: More turns than this are not waited for the idle net.
MOST_TURNS = 200


class Act(NamedTuple):
    """One thing that happens. `kind`: set, done, close, end (of a turn), net (idle turns
    until it fires), body (`value`: what it
    writes; `way`: the number of the route that the model chooses, -1 where it is not asked)."""

    kind: str
    what: str = ""
    value: Any = None
    way: int = -1


class Moment(NamedTuple):
    """Where a run was when its routes were tried, or when it had just come in (`entered`): then in
    a pass through the states `visited`, begun by a call or not (`mid_turn`), after `hops` moves."""

    snapshot: Snapshot
    entered: bool
    visited: tuple[str, ...] = ()
    mid_turn: bool = False
    hops: int = 0


class Watcher(Recorder):
    """A recorder that keeps the moments of evaluations and entries, until silence alone gets the
    run on: past something that was still to do. Nobody who does what he is asked for gets there."""

    __slots__ = ("hops", "mid_turn", "moments", "silent", "visited")

    def __init__(self, graph: Graph, snapshot: Snapshot) -> None:
        super().__init__(graph, snapshot)
        self.moments: list[Moment] = []
        self.silent = ""
        self.begin(mid_turn=False)

    def begin(self, *, mid_turn: bool) -> None:
        """A pass begins where the run is."""
        self.visited: tuple[str, ...] = (self.snapshot.state,)
        self.mid_turn = mid_turn
        self.hops = 0

    def emit(self, body: Body) -> None:
        if isinstance(body, Skipped) and (body.tasks or body.goal):
            self.silent = self.silent or body.state
        if self.silent:
            self.snapshot = apply(self.graph, self.snapshot, body)
            return
        if isinstance(body, Chose | Limited | Warned):
            self.moments.append(Moment(self.snapshot, False))
        super().emit(body)
        if isinstance(body, Turned):
            self.begin(mid_turn=False)
        elif isinstance(body, Chose):
            self.hops += 1
            if body.by != "settle":
                self.visited, self.mid_turn, self.hops = (), False, 0
        if isinstance(body, Entered | Started):
            self.moments.append(Moment(self.snapshot, True, self.visited, self.mid_turn, self.hops))
            self.visited = (*self.visited, self.snapshot.state)


class Replay:
    """One run from `given` values at `root`. `ok` turns False at the first thing that the kernel
    does not accept."""

    def __init__(self, graph: Graph, root: str, given: Mapping[str, Any]) -> None:
        self.graph = graph
        self.ok = True
        self.stuck = ""
        #: The model is asked, and what it says makes no difference any more.
        self.asked = False
        #: The state that the net got the run on from at the end of a turn just now.
        self.got_on = ""
        self.to = Watcher(graph, Snapshot())
        self.turns: list[Mapping[str, Any]] = []
        self.visits: list[Visit] = []
        self._seen = 0
        try:
            data = first_data(graph, given)
        except Misfit:
            self.ok, data = False, {}
        self.to.emit(Started(root, data))
        self._told()

    @property
    def snapshot(self) -> Snapshot:
        return self.to.snapshot

    @property
    def state(self) -> State | None:
        """Where the run is; None once it has ended."""
        if self.to.silent:
            return self.graph.states[self.to.silent]
        if self.snapshot.status == "ended":
            return None
        return self.graph.states.get(self.snapshot.state)

    def run(self, acts: Sequence[Act]) -> Replay:
        for act in acts:
            if self.ok:
                self.act(act)
        return self

    def act(self, act: Act) -> None:
        got_on, self.got_on = self.got_on, ""
        if act.kind == "net" and got_on == act.what:
            return  # the turn that ended was the last that the net waited for
        state = self.state
        if state is None or self.stuck or self.asked or self.to.silent:
            self.ok = False
            return
        self._speak()
        try:
            if act.kind == "body":
                self._body(state, act)
            elif not state.is_plan:
                self.ok = False
            elif act.kind == "end":
                if self._end():
                    self.got_on = state.name
            elif act.kind == "net":
                self._net(state, act)
            else:
                self._call(state, act)
        except (GuardMissingField, Misfit):
            self.ok = False
        self._told()

    def _speak(self) -> None:
        """A turn begins with a line of the person."""
        if self.snapshot.status != "running":
            self.to.emit(Said("...", f"line-{len(self.to.bodies)}"))

    def _call(self, state: State, act: Act) -> None:
        plan = Plan(self.to, 0)
        if act.kind == "set":
            outcome = plan.set_deliverable(act.what, act.value)
            self.turns.append({act.what: act.value})
        elif act.kind == "done":
            outcome = plan.complete_task(act.what)
            if not outcome.ok:
                outcome = plan.skip_task(act.what)
            self.turns.append({"done": act.what})
        else:
            if self.snapshot.token.fresh and not self._heard():
                self._end()
                self._told()
                if self.state is not state:
                    self.ok = False
                    return
            outcome = plan.close_goal("achieved")
            self.turns.append({"close": "achieved"})
        self.ok &= outcome.ok and not (act.kind == "set" and act.what in self.snapshot.early)
        if outcome.ok:
            self.to.begin(mid_turn=True)
            settle(self.to, 0)

    def _heard(self) -> bool:
        """Whether the person has said something in this visit, which began in the middle of a turn:
        after a limit that has stopped the run, they have."""
        messages = self.snapshot.data.get("messages") or ()
        return any(m["role"] == "user" for m in messages[self.snapshot.token.since :])

    def _end(self) -> bool:
        """The end of a turn; whether the net got the run on."""
        self._speak()
        self.turns.append({})
        before = len(self.to.bodies)
        end_turn(self.to, 0)
        state = self.state
        if state is not None and state.is_plan and not self.to.silent:
            self.to.emit(Waiting(0, state.name))
        return any(isinstance(body, Skipped) for body in self.to.bodies[before:])

    def _net(self, state: State, act: Act) -> None:
        """Idle turns until the net gets the run on."""
        self.ok &= state.name == act.what
        for _ in range(MOST_TURNS):
            if self.to.silent or self.state is not state:
                self.ok = False
            if not self.ok or self._end():
                return
            self._told()
        self.ok = False

    def _body(self, state: State, act: Act) -> None:
        if state.is_plan or state.ends:
            self.ok = False
            return
        if act.value:
            self.turns.append(dict(act.value))
            change(self.to, 0, act.value, lambda: "m")
        choice, trials = tried(self.to, 0)
        route: Transition | None = None
        if isinstance(choice, Take):
            route = choice.transition
        elif isinstance(choice, Ask):
            self.asked = act.way < 0
            if self.asked:  # the routes were tried, though nothing was taken yet
                self.to.moments.append(Moment(self.snapshot, False))
            route = next((r for r in choice.options if r.number == act.way), None)
            self.ok &= self.asked or route is not None
        else:
            self.stuck = state.name
        if route is not None:
            self.to.emit(Chose(0, state.name, route.target, route.number, trials, by="order"))
            if route.target == END and self.graph.is_plan:
                self.to.emit(Ended(0, END))
            else:
                filter_data(self.to, 0, route)
                enter(self.to, 0, route.target, route.number, "order")
                if self.graph.states[route.target].is_plan:
                    settle(self.to, 0)
        self._rested()

    def _rested(self) -> None:
        """What is entered by a body has its own turn next."""
        state = self.state
        if state is not None and state.is_plan:
            self.to.emit(Waiting(0, state.name))

    def _told(self) -> None:
        """Write down which states the run went through."""
        bodies = self.to.bodies
        for body in bodies[self._seen :]:
            if isinstance(body, Limited):
                self._leave(body.state, body.limit)
            elif isinstance(body, Chose):
                self._leave(body.state, _way(self.graph, body))
        self._seen = len(bodies)

    def _leave(self, state: str, takes: str) -> None:
        self.visits.append(Visit(state, tuple(self.turns), takes))
        self.turns = []

    def witness(self) -> tuple[Visit, ...]:
        """The run so far."""
        state = self.state
        if state is None:
            return tuple(self.visits)
        return (*self.visits, Visit(state.name, tuple(self.turns), None))

    # --- what it shows --------------------------------------------------------------------------

    def rescued(self, name: str) -> bool:
        """Whether the idle net got the run on from a state in which nothing was left to do."""
        for body in self.to.bodies:
            if isinstance(body, Skipped) and body.state == name and not body.tasks:
                return True
        return False

    def waits_for_the_net(self, name: str) -> bool:
        """Go on with idle turns until the net fires (or something else happens)."""
        for _ in range(MOST_TURNS):
            if self.state is None or self.state.name != name or not self.ok or self.rescued(name):
                break
            self.act(Act("end"))
        return self.rescued(name)

    def stays(self, name: str) -> bool:
        """Whether the run rests in a state with nothing left to do and nowhere to go."""
        if self.stuck == name:
            return True
        state = self.state
        if state is None or state.name != name or not state.is_plan or self.to.silent:
            return False
        found = choose(self.graph, self.snapshot, self.snapshot.token, at_turn_end=True)
        return type(found).__name__ == "Stay" and complete(self.snapshot, state)

    def ties(self, name: str, one: int, other: int) -> bool:
        """Whether two routes of one priority held together when they were reached."""
        for moment in self.to.moments:
            snapshot = moment.snapshot
            if moment.entered or snapshot.state != name or snapshot.status == "ended":
                continue  # nothing is tried at the start; elsewhere it is told when it is
            view = view_of(self.graph, snapshot, snapshot.token, None)
            routes = {route.number: route for route in routes_of(self.graph, name)}
            both = [routes[one], routes[other]]
            held = [r.guard is not None and evaluate(r.guard, view) is True for r in both]
            if all(held) and not any(
                route.priority < both[0].priority
                and (route.guard is None or evaluate(route.guard, view) is True)
                and not (self.graph.states[name].is_plan and route.target == name)
                and (route.target in self.graph.states or route.target == END)
                and not (route.origin == "implicit" and route.target == END)
                for route in routes.values()
            ):
                return True
        return False

    def asks_unset(self, name: str, key: str) -> bool:
        """Whether a guard of a state looked at a field that was not set."""
        return any(
            isinstance(body, Guard_Missing_Field) and body.state == name and body.key == key
            for body in self.to.bodies
        )

    def lacks(self, name: str, key: str) -> bool:
        """Whether a state was entered without a field."""
        return any(
            moment.entered and moment.snapshot.state == name and key not in moment.snapshot.data
            for moment in self.to.moments
        )


def _way(graph: Graph, body: Chose) -> str:
    """The route that was taken, as a witness names it."""
    if body.by == "net":
        return "net"
    state = graph.states[body.state]
    if body.number < len(state.transitions):
        return f"transitions[{body.number}]"
    return "implicit:next"
