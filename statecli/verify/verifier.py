"""Runs a verification: explore, decide, find witnesses."""

from __future__ import annotations

import gc
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from statecli.kernel.limits import limit
from statecli.model.graph import END, Graph
from statecli.model.wording import listed
from statecli.verify.backward import Backward
from statecli.verify.domain import Domain
from statecli.verify.explore import MOST_BOXES, Explorer
from statecli.verify.layout import Layout, components
from statecli.verify.proved import proved
from statecli.verify.report import DEFAULT_BUDGET, LISTS, Finding, Report
from statecli.verify.sites import Budget, Sites
from statecli.verify.ways import Ways


def verify(
    graph: Graph,
    *,
    budget: int = DEFAULT_BUDGET,
    timeout: float | None = None,
    inputs: Iterable[str] | None = (),
    witnesses: bool = True,
) -> Report:
    """Decide what can happen in a graph. `inputs`: fields that are given before the start;
    None: any may be."""
    collecting = gc.isenabled()
    gc.disable()  # more than half of the time of a large graph, and nothing here is a cycle
    try:
        found = Verification(graph, Budget(budget, timeout), inputs)
        if any(state.fans_out for state in graph.states.values()):
            return found.concurrent(witnesses)
        return found.report(witnesses)
    finally:
        if collecting:
            gc.enable()


class Verification:
    """One run over one graph."""

    def __init__(self, graph: Graph, budget: Budget, inputs: Iterable[str] | None) -> None:
        self.graph = graph
        self.budget = budget
        self.domain = Domain(graph, inputs)
        self.layout = Layout(graph, self.domain)
        self.sites = Sites(self.layout)

    def report(self, witnesses: bool) -> Report:
        self._explore()
        hops = limit(self.graph, "max_hops")
        if self.full.longest_pass() >= hops:  # then passes have to count their moves
            self.sites.most_hops = hops
            self._explore()
        dead = self._dead(self.full.entered, self.full.first)
        #: What no run takes, and whether its condition ever held where runs came by.
        self.dead = {one: self._has_held(*one, self.full.wide) for one in dead}
        self.back = Backward(self.full)
        self.back.run()
        self.doomed = self.back.doomed(self.coop.entries)
        self.doomed_starts = self.back.doomed_starts(self.coop.begun)
        self._go_round()
        self.lists: dict[str, frozenset[Any]] = {name: frozenset() for name in LISTS}
        self.lists.update(self._lists())
        findings = tuple(self._findings(witnesses))
        undecided = tuple(self._undecided())
        ways = None if undecided else Ways(self.sites, self.full.first)
        return Report(not undecided, undecided, self.budget.used, self.lists, findings, ways=ways)

    def _findings(self, witnesses: bool) -> Iterable[Finding]:
        yield from proved(self)
        coop = self.coop
        shown = (coop.stuck, coop.rescued, coop.ties, coop.unset, coop.lacking, self._doomed())
        if any(shown):
            from statecli.verify.findings import Finder  # only a graph with a mistake pays for it

            yield from Finder(self).all(witnesses=witnesses)

    def _explore(self) -> None:
        """What runs can reach, in both environments."""
        self.full = Explorer(self.sites, self.budget, coop=False)
        self.coop = Explorer(self.sites, self.budget, coop=True)
        for explorer in (self.full, self.coop):
            explorer.start()
            explorer.run()

    def concurrent(self, witnesses: bool) -> Report:
        """The report on a graph that takes several ways at once."""
        from statecli.verify.branches import Branches
        from statecli.verify.branches import undecided as unknown_merges

        full = Branches(self.sites, self.budget, coop=False)
        coop = Branches(self.sites, self.budget, coop=True)
        full.run()
        coop.run()
        name = self._name
        unset = {(name(n), key) for n, key in coop.steps.unset}
        lists: dict[str, frozenset[Any]] = {key: frozenset() for key in LISTS}
        if full.complete:
            lists["unreachable"] = frozenset(map(name, self.layout.on_paper() - full.entered))
            lists["dead"] = frozenset(self._dead(full.entered, full.steps.first))
        lists["stuck"] = frozenset(map(name, coop.steps.stuck))
        lists["unset"] = frozenset(unset)
        lists["never_set"] = frozenset(unset - {(name(n), key) for n, key in full.steps.was_set})
        undecided = [*self._unknown(), *unknown_merges(full.joins)]
        undecided += [
            f"'{state.name}': a plan state beside branches is not decided"
            for state in self.layout.states
            if state.is_plan
        ]
        if not full.complete or not coop.complete:
            why = f"after {full.seen + coop.seen:,} places of the branches"
            if full.more_and_more or coop.more_and_more:
                why = f"where there are more than {full.most} of them"
            undecided.append(f"what the branches can do together is not known {why}")
        found = [Finding("unreachable-under-guards", one) for one in sorted(lists["unreachable"])]
        for dead, number in sorted(lists["dead"]):
            held = {"held": self._has_held(dead, number, ())}
            found.append(Finding("dead-transition", dead, number, values=held))
        seen = (coop.steps.stuck, unset, coop.steps.lacking)
        if any(seen) or coop.waiting or coop.open_ends or coop.twice:
            from statecli.verify.branch_findings import branch_findings

            found += branch_findings(self, lists, coop, witnesses=witnesses)
        return Report(
            not undecided, tuple(undecided), self.budget.used, lists, tuple(found), concurrent=True
        )

    def _unknown(self) -> Iterable[str]:
        """What no budget helps with."""
        yield from self.domain.undecided
        for site in self.sites.made():
            if site.too_many:
                yield f"'{site.state.name}': a guard with too many cases is not decided"
            if site.fell_apart:
                yield f"'{site.state.name}': its ways have too many cases to tell all apart"
            if site.custom:
                yield f"'{site.state.name}': what its kind '{site.state.kind}' does is not known"

    def _undecided(self) -> Iterable[str]:
        """Where something is not known, and why."""
        yield from self._unknown()
        budget = self.budget
        wide = sorted(self.full.wide | self.coop.wide)
        why = f"the budget of {budget.most:,} expansions is used up"
        if budget.timed_out:
            why = f"the time of {budget.timeout:g} seconds is over"
        elif budget.left:
            why = f"there are more than {MOST_BOXES:,} situations to tell apart"
        if wide:
            names = listed([self._name(number) for number in wide], "and", 5)
            yield f"in {names} it is not known what cannot happen: {why}"
        elif self.back.wide or not budget.left:
            yield f"whether every run can end is not known: {why}"

    def _name(self, number: int) -> str:
        return self.layout.states[number].name

    def _lists(self) -> dict[str, frozenset[Any]]:
        full, coop, name = self.full, self.coop, self._name
        entered = full.entered
        unset = {(name(n), key) for n, key in coop.unset}
        return {
            "unreachable": frozenset(map(name, self.layout.on_paper() - entered)),
            "dead": frozenset(self.dead),
            "fallthrough": frozenset(self._fallthrough()),
            "stuck": frozenset(map(name, coop.stuck)),
            "rescued": frozenset(map(name, coop.rescued)),
            "tie": frozenset((name(n), a, b) for n, a, b in coop.ties),
            "unset": frozenset(unset),
            "never_set": frozenset(unset - {(name(n), key) for n, key in full.was_set}),
            "doomed": frozenset(map(name, self._doomed())),
            "loops": frozenset(self._loops()),
            "settle_loops": frozenset((name(n), name(t) if t >= 0 else END) for n, t in full.cuts),
        }

    def _doomed(self) -> set[int]:
        return {key[0] for key in self.doomed} | self.doomed_starts.keys()

    def _go_round(self) -> None:
        """What COOP runs do once they are doomed: the components of their moves."""
        self.rounds: list[list[int]] = []
        self.ways_on: dict[int, set[int]] = {}
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
            self.ways_on.setdefault(source, set()).add(key[0])
        owner = components(edges)
        members: dict[int, list[int]] = {}
        for number in range(len(edges)):
            members.setdefault(owner[number], []).append(number)
        self.rounds = [
            group for group in members.values() if len(group) > 1 or group[0] in edges[group[0]]
        ]

    def _loops(self) -> Iterable[tuple[str, ...]]:
        for group in self.rounds:
            yield tuple(sorted(self._name(number) for number in group))

    def dooms(self) -> list[list[int]]:
        """Where doomed runs end up: loops that they do not leave, or single states in which they
        stay, if that is not reported as stuck."""
        found = [
            group
            for group in self.rounds
            if all(target in group for n in group for target in self.ways_on.get(n, ()))
        ]
        found += [
            [number]
            for number in sorted(self._doomed())
            if not self.ways_on.get(number) and number not in self.coop.stuck
        ]
        return found

    def passed_through(self) -> Iterable[str]:
        """Plan states without tasks in which no run ever rests."""
        for number in sorted(self.full.entered):
            state = self.layout.states[number]
            if state.kind in ("strict", "loose") and not state.tasks:
                rests = self.full.rests.get(number, {})
                if not any(rests.values()) and number not in self.full.begun:
                    yield state.name

    def _dead(
        self, entered: Iterable[int], firsts: Mapping[int, Iterable[int]]
    ) -> Iterable[tuple[str, int]]:
        for number in entered:
            site = self.sites[number]
            first = firsts.get(number, ())
            for at, route in enumerate(site.routes):
                if route.origin == "written" and site.targets[at] is not None:
                    if at not in first:
                        yield site.state.name, route.number

    def _has_held(self, name: str, number: int, wide: Collection[int]) -> bool | None:
        """Whether the condition of a transition ever held; None where that is not known, or nothing
        was evaluated."""
        site = self.sites[self.layout.index[name]]
        at = next(at for at, route in enumerate(site.routes) if route.number == number)
        return None if site.number in wide else site.has_held(at)

    def _fallthrough(self) -> Iterable[str]:
        for number, first in self.full.first.items():
            site = self.sites[number]
            if site.state.kind == "goal":
                for at in first:
                    route = site.routes[at]
                    if route.origin == "implicit" and route.priority == math.inf:
                        yield site.state.name
