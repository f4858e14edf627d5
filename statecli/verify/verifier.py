"""Runs a verification: explore, decide, find witnesses."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable

from statecli.model.graph import Graph
from statecli.verify.backward import Backward
from statecli.verify.domain import Domain
from statecli.verify.explore import Budget, Explorer, Sites
from statecli.verify.layout import Layout, components
from statecli.verify.report import LISTS, Report


def verify(
    graph: Graph,
    *,
    budget: int = 200_000,
    timeout: float | None = None,
    inputs: Iterable[str] = (),
    witnesses: bool = True,
) -> Report:
    """Decide what can happen in a graph. `inputs`: fields that are given before the start."""
    collecting = gc.isenabled()
    gc.disable()  # more than half of the time of a large graph, and nothing here is a cycle
    try:
        return Verification(graph, Budget(budget, timeout), inputs).report(witnesses)
    finally:
        if collecting:
            gc.enable()


class Verification:
    """One run over one graph."""

    def __init__(self, graph: Graph, budget: Budget, inputs: Iterable[str]) -> None:
        self.graph = graph
        self.budget = budget
        self.domain = Domain(graph, inputs)
        self.layout = Layout(graph, self.domain)
        self.sites = Sites(self.layout)
        self.full = Explorer(self.sites, budget, coop=False)
        self.coop = Explorer(self.sites, budget, coop=True)

    def report(self, witnesses: bool) -> Report:
        for explorer in (self.full, self.coop):
            explorer.start()
            explorer.run()
        self.back = Backward(self.full)
        self.back.run()
        self.doomed = self.back.doomed(self.coop.entries)
        self.doomed_starts = self.back.doomed_starts(self.coop.begun)
        lists: dict[str, frozenset[object]] = {name: frozenset() for name in LISTS}
        lists.update(self._lists())
        undecided = tuple(self.domain.undecided)
        return Report(not undecided, undecided, self.budget.used, lists, ())

    def _name(self, number: int) -> str:
        return self.layout.states[number].name

    def _lists(self) -> dict[str, frozenset[object]]:
        full, coop, name = self.full, self.coop, self._name
        entered = full.entered
        unset = {(name(n), key) for n, key in coop.unset}
        return {
            "unreachable": frozenset(map(name, self.layout.on_paper() - entered)),
            "dead": frozenset(self._dead()),
            "fallthrough": frozenset(self._fallthrough()),
            "stuck": frozenset(map(name, coop.stuck)),
            "rescued": frozenset(map(name, coop.rescued)),
            "tie": frozenset((name(n), a, b) for n, a, b in coop.ties),
            "unset": frozenset(unset),
            "never_set": frozenset(unset - {(name(n), key) for n, key in full.was_set}),
            "doomed": frozenset(map(name, self._doomed())),
            "loops": frozenset(self._loops()),
            "settle_loops": frozenset((name(n), name(t)) for n, t in full.cuts),
        }

    def _doomed(self) -> set[int]:
        return {key[0] for key in self.doomed} | self.doomed_starts.keys()

    def _loops(self) -> Iterable[tuple[str, ...]]:
        """The components of what COOP runs do once they are doomed."""
        if not self._doomed():
            return
        inside = Explorer(self.sites, self.budget, coop=True)
        for (number, visited), boxes in self.doomed.items():
            for box in boxes:
                inside.enter(number, visited, box)
        for number, boxes in self.doomed_starts.items():
            inside.begin(number, boxes)
        inside.run()
        edges: list[list[int]] = [[] for _ in self.layout.states]
        for source, key in inside.moves:
            edges[source].append(key[0])
        owner = components(edges)
        members: dict[int, list[int]] = {}
        for number in range(len(edges)):
            members.setdefault(owner[number], []).append(number)
        for group in members.values():
            if len(group) > 1 or group[0] in edges[group[0]]:
                yield tuple(sorted(self._name(number) for number in group))

    def _dead(self) -> Iterable[tuple[str, int]]:
        for number in self.full.entered:
            site = self.sites[number]
            first = self.full.first.get(number, set())
            for at, route in enumerate(site.routes):
                if route.origin == "written" and site.targets[at] is not None:
                    if at not in first:
                        yield site.state.name, route.number

    def _fallthrough(self) -> Iterable[str]:
        for number, first in self.full.first.items():
            site = self.sites[number]
            if site.state.kind == "goal":
                for at in first:
                    route = site.routes[at]
                    if route.origin == "implicit" and route.priority == math.inf:
                        yield site.state.name
