"""Random runs of the real kernel, for holding the oracle to it: what a run does, the oracle must
have said is possible."""

from __future__ import annotations

import json
import random
from typing import Any

from verify_oracle.reader import Book
from verify_oracle.search import Search, World

from statecli.kernel.calls import Plan
from statecli.kernel.change import change
from statecli.kernel.move import Options, move, take
from statecli.kernel.recorder import Recorder
from statecli.kernel.reducers import first_data
from statecli.kernel.settle import end_turn, settle
from statecli.kernel.tasks import complete
from statecli.load.loader import load
from statecli.model.event import (
    Body,
    Chose,
    Entered,
    Guard_Missing_Field,
    Said,
    Started,
    Waiting,
    Warned,
)
from statecli.model.graph import Graph
from statecli.model.snapshot import Snapshot


def graph_of(value: dict[str, Any]) -> Graph:
    graph = load("g.json", json.dumps(value)).graph
    assert graph is not None
    return graph


class Seen:
    """What runs showed: states that were entered, ways that were first, keys that were asked for
    and not there, moves that a pass did not make."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.entered: set[str] = set()
        self.firsts: set[tuple[str, int | None]] = set()
        self.asked: set[tuple[str, str]] = set()
        self.cut: set[str] = set()

    def add(self, bodies: list[Body]) -> None:
        for body in bodies:
            if isinstance(body, Entered):
                self.entered.add(body.state)
            elif isinstance(body, Chose) and body.by in ("settle", "line", "order", "model"):
                written = [way.number for way in self.book.places[body.state].ways]
                self.firsts.add((body.state, body.number if body.number in written else None))
            elif isinstance(body, Guard_Missing_Field):
                if body.key not in self.book.places[body.state].keys:
                    self.asked.add((body.state, body.key))
            elif isinstance(body, Warned) and "would go round" in body.message:
                self.cut.add(body.state)

    def beyond(self, full: Search) -> list[str]:
        """What was seen that a search holds impossible."""
        cut = {name for name, _ in full.cut}
        return [
            *(f"'{name}' is entered" for name in self.entered - full.entered),
            *(f"{first} is the first" for first in self.firsts - full.firsts),
            *(f"{asked} is not there" for asked in self.asked - full.asked),
            *(f"a pass ends in '{name}'" for name in self.cut - cut),
        ]


class Walk:
    """One run, with calls by chance: all that FULL allows, and no person who is silent where
    something is left to do until the idle net moves on."""

    def __init__(self, graph: Graph, book: Book, world: World, rng: random.Random) -> None:
        self.graph = graph
        self.book = book
        self.world = world
        self.rng = rng
        name = graph.roots()[0]
        self.to = Recorder(graph, Snapshot())
        self.to.emit(Started(name, data=first_data(graph, {})))
        self.entered = name

    def run(self, seen: Seen, steps: int = 12) -> None:
        seen.entered.add(self.entered)
        for _ in range(steps):
            if self.to.snapshot.status not in ("running", "waiting"):
                break
            state = self.graph.states[self.to.snapshot.state]
            if state.kind == "terminal":
                break
            if not (self._turn() if state.is_plan else self._step()):
                break
        seen.add(self.to.bodies)

    def _turn(self) -> bool:
        """A turn of a plan state; False where the run leaves what is looked at."""
        self.to.emit(Said("hm", "m"))
        for _ in range(self.rng.choice((0, 0, 1, 1, 2, 3))):
            if self.to.snapshot.status != "running":
                return False
            plan = Plan(self.to, 0)
            self._call(plan)
        if self.to.snapshot.status != "running":
            return False
        before = len(self.to.bodies)
        finished = complete(self.to.snapshot, self.graph.states[self.to.snapshot.state])
        goal = self.graph.states[self.to.snapshot.state].kind == "goal"
        end_turn(self.to, 0)
        for at, body in enumerate(self.to.bodies[before:]):
            if isinstance(body, Chose) and body.by == "net" and (goal or not finished):
                del self.to.bodies[before + at :]
                return False
        if self.to.snapshot.status == "running":
            self.to.emit(Waiting(0, self.to.snapshot.state))
        return self.to.snapshot.status == "waiting"

    def _call(self, plan: Plan) -> None:
        place, rng = self.book.places[plan.state.name], self.rng
        word = rng.choice(("set", "set", "set", "done", "done", "skip", "close"))
        if word == "set" and place.keys:
            key = rng.choice(list(place.keys))
            numbers = self.world.allowed[place.name, key]
            outcome = plan.set_deliverable(key, self.world.values[key][rng.choice(numbers) - 1])
        elif word == "done" and place.jobs:
            job = rng.choice(place.jobs).name
            call = rng.choice((plan.complete_task, plan.skip_task))
            outcome = call(job)
        elif word == "skip" and place.kind != "goal":
            outcome = plan.skip_state()
        else:
            outcome = plan.close_goal(rng.choice(("achieved", "given_up")))
        if outcome.ok:
            settle(self.to, 0)

    def _step(self) -> bool:
        """A body that is not a plan state's: it writes what FULL lets it, then the run moves."""
        name, rng = self.to.snapshot.state, self.rng
        place, state = self.book.places[name], self.graph.states[self.to.snapshot.state]
        delta = {
            key: self.world.values[key][rng.choice(self.world.allowed[name, key]) - 1]
            for key in place.keys if rng.random() < 0.7
        }  # fmt: skip
        change(self.to, 0, delta, lambda: "m")
        by = "line" if state.kind == "user" else "order"
        if state.kind == "user":
            self.to.emit(Said("hm", "m"))
        found = move(self.to, 0, state, by=by)
        if isinstance(found, Options):
            route = rng.choice(found.routes)
            take(self.to, 0, state, route, found.trials, by="model")
        return self.to.snapshot.status in ("running", "waiting")
