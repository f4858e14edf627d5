"""A witness of branches through the real kernel: nothing is printed that did not happen there.

Every move, split and join is the kernel's; what a body writes and what a model chooses is given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from statecli.kernel.branches import in_the_whole, view
from statecli.kernel.change import change
from statecli.kernel.joins import arrived, group_of, unsatisfied
from statecli.kernel.move import Options, move, take
from statecli.kernel.recorder import Recorder
from statecli.kernel.reducers import Misfit, first_data
from statecli.model.event import (
    Body,
    Chose,
    Ended,
    Entered,
    Failed,
    Guard_Missing_Field,
    Joined,
    Said,
    Split,
    Started,
    Waiting,
)
from statecli.model.graph import Graph
from statecli.model.guard import GuardMissingField
from statecli.model.snapshot import Snapshot
from statecli.verify.report import Visit


class Act(NamedTuple):
    """The body of one branch: in which state, what it writes, and the number of the route that the
    model chooses where it is asked (-1: it is not, or it makes no difference any more). `part`: the
    body only goes on, and comes to no end yet."""

    state: str
    writes: Mapping[str, Any]
    way: int = -1
    part: bool = False


class BranchReplay:
    """One run from `given` values at `root`. `ok` turns False at the first thing that the kernel
    does not accept."""

    def __init__(self, graph: Graph, root: str, given: Mapping[str, Any]) -> None:
        self.graph = graph
        self.ok = True
        self.to = Recorder(graph, Snapshot())
        #: What happened, with the run before it.
        self.told: list[tuple[Body, Snapshot]] = []
        #: The bodies in the order in which they began; None while one is at work.
        self.visits: list[Visit | None] = []
        self._begun: dict[int, int] = {}
        try:
            data = first_data(graph, given)
        except Misfit:
            self.ok, data = False, {}
        self._emit(Started(root, data))
        self._queue = deque([self.snapshot.token.id])

    @property
    def snapshot(self) -> Snapshot:
        return self.to.snapshot

    def run(self, acts: Sequence[Act]) -> BranchReplay:
        for act in acts:
            if self.ok:
                self._act(act)
        if self.ok:
            self._over()
        return self

    def witness(self) -> tuple[Visit, ...]:
        """The run so far: the bodies that came to an end, in the order in which they began."""
        return tuple(visit for visit in self.visits if visit is not None)

    def _emit(self, body: Body) -> None:
        self.told.append((body, self.snapshot))
        self.to.emit(body)

    # --- whose turn it is -----------------------------------------------------------------------

    def _places(self) -> dict[int, str]:
        """Where the branches are that can go on."""
        snapshot = self.snapshot
        if snapshot.status == "ended":
            return {}
        if not snapshot.branches:
            return {snapshot.token.id: snapshot.state}
        still = ("running", "waiting")
        return {n: b.token.state for n, b in snapshot.branches.items() if b.status in still}

    def _over(self) -> None:
        """End the branches that are at an end, and let those wait that ask."""
        while self._queue:
            number = self._queue[0]
            name = self._places().get(number)
            state = self.graph.states[name] if name is not None else None
            if state is not None and not state.ends and state.kind != "user":
                return
            self._queue.popleft()
            if state is not None:
                over = Ended(number, state.name) if state.ends else Waiting(number, state.name)
                self._emit(over)

    def _next(self) -> int:
        """The branch whose body comes next; -1 where none can go on."""
        self._over()
        if self._queue:
            return self._queue.popleft()
        for number in self._places():  # routing order; the others rest
            self._emit(Said("...", f"line-{len(self.told)}", number))
            return number
        return -1

    # --- one body -------------------------------------------------------------------------------

    def _act(self, act: Act) -> None:
        number = self._next()
        if self._places().get(number) != act.state:
            self.ok = False
            return
        if number not in self._begun:
            self._begun[number] = len(self.visits)
            self.visits.append(None)
        if act.part:
            self._queue.append(number)
            return
        state = self.graph.states[act.state]
        seen = view(self.snapshot, number) if self.snapshot.branches else self.snapshot
        own = Recorder(self.graph, seen)
        takes: str | None = None
        try:
            if act.writes:
                change(own, number, act.writes, lambda: "m")
            by = "line" if state.kind == "user" else "order"
            open_ = move(own, number, state, by=by)
            if open_ is not None and act.way >= 0:
                self._choose(own, number, act, open_, by)
            chosen = [body.number for body in own.bodies if isinstance(body, Chose)]
            takes = f"transitions[{chosen[0]}]" if len(chosen) == 1 else "all" if chosen else None
            self._record(number, own)
        except (GuardMissingField, Misfit):
            self.ok = False
        visit = Visit(act.state, (dict(act.writes),) if act.writes else (), takes)
        self.visits[self._begun.pop(number)] = visit

    def _choose(self, own: Recorder, number: int, act: Act, open_: Options, by: str) -> None:
        route = next((r for r in open_.routes if r.number == act.way), None)
        if route is None:
            self.ok = False
            return
        names = tuple(route.target for route in open_.routes)
        state = self.graph.states[act.state]
        take(own, number, state, route, open_.trials, names, by=by)

    def _record(self, number: int, own: Recorder) -> None:
        """Take what a branch did into the whole run; those that came together go on as one."""
        made = [number]
        for body in list(in_the_whole(self.snapshot, own.bodies)):
            if isinstance(body, Split):
                made = list(body.tokens)
            self._emit(body)
        for branch in made:
            found = self.snapshot.branches.get(branch)
            if found is not None and found.status == "joining":
                self._queue.extend(self._arrived(branch))
            elif found is None or found.status == "running":
                self._queue.append(branch)

    def _arrived(self, number: int) -> Iterator[int]:
        tokens = arrived(self.graph, self.snapshot, number)
        if tokens:
            branch = self.snapshot.branches[number]
            made = max(self.snapshot.branches) + 1
            group = group_of(self.graph, branch.came)
            self._emit(Joined(made, branch.token.state, tokens, group, None))
            yield made

    # --- what it shows --------------------------------------------------------------------------

    def shows(self, kind: str, name: str, key: object = None) -> bool:
        """Whether the run shows what is claimed of a state."""
        if kind == "waits":
            snapshot = self.snapshot
            numbers = [n for n, _ in unsatisfied(self.graph, snapshot)] if snapshot.branches else []
            return any(snapshot.branches[n].token.state == name for n in numbers)
        if kind == "twice":
            return name in met_twice([body for body, _ in self.told])
        if kind == "stuck":
            failed = any(isinstance(body, Failed) and body.state == name for body, _ in self.told)
            asked = [b for b, _ in self.told if isinstance(b, Waiting) and b.state == name]
            return failed or len(asked) > 1
        for body, snapshot in self.told:
            if getattr(body, "state", None) != name:
                continue
            if kind == "unset" and isinstance(body, Guard_Missing_Field) and body.key == key:
                return True
            if kind == "open" and isinstance(body, Entered) and self._beside(snapshot, body):
                return True
            if kind == "lacking" and isinstance(body, Entered | Started):
                data = snapshot.data
                if snapshot.branches and isinstance(body, Entered):
                    data = snapshot.branches[body.token].data
                if key not in data:
                    return True
        return False

    def _beside(self, snapshot: Snapshot, body: Entered) -> bool:
        """Whether there were other branches when this one came to its end."""
        return any(number != body.token for number in snapshot.branches)


def met_twice(bodies: Sequence[Body]) -> set[str]:
    """The states that two branches were in of which neither came from the other: nothing says
    which of them was there first."""
    before: dict[int, set[int]] = {}
    entered: dict[str, list[int]] = {}
    for body in bodies:
        if isinstance(body, Split):
            for token in body.tokens:
                before[token] = before.get(body.token, set()) | {body.token}
        elif isinstance(body, Joined):
            own = set(body.tokens)
            before[body.token] = own.union(*(before.get(token, set()) for token in own))
        elif isinstance(body, Entered):
            entered.setdefault(body.state, []).append(body.token)
    return {
        name for name, tokens in entered.items()
        for at, one in enumerate(tokens) for other in tokens[at + 1 :]
        if one != other
        and one not in before.get(other, set()) and other not in before.get(one, set())
    }  # fmt: skip
