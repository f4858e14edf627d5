"""From what was explored to findings: each with a path through the real kernel, as short as it can
be made: answers that do not matter are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from statecli.model.guard import reads
from statecli.verify.branch_replay import BranchReplay
from statecli.verify.branch_witness import BranchSearch
from statecli.verify.branches import Branches
from statecli.verify.explore import Key
from statecli.verify.replay import Act, Replay
from statecli.verify.report import Finding, Witness
from statecli.verify.site import NO_COUNTERS, NO_PASS, THE_END
from statecli.verify.witness import Goal, Path, Search, box_of

if TYPE_CHECKING:
    from statecli.verify.verifier import Verification

#: The rule of each kind of goal.
RULES = {
    "stuck": "stuck-state", "rescued": "rescued-by-safety-net", "tie": "priority-tie-overlap",
    "unset": "read-before-write", "lacking": "read-before-write", "enter": "no-way-out",
}  # fmt: skip


class Finder:
    """Finds the witnesses of one verification."""

    def __init__(self, of: Verification) -> None:
        self.of = of
        self.graph = of.graph
        self.layout = of.layout
        self.doomed: dict[Any, Sequence[int]] = {**of.doomed, **of.doomed_starts}

    def all(self, *, witnesses: bool) -> Iterator[Finding]:
        """Every finding; without `witnesses` those that need one are possible."""
        yield from self._proved()
        goals = list(self._goals())
        groups = self.of.dooms()
        for members in groups:
            goals += [Goal("enter", number) for number in members]
        found: Mapping[Goal, Path] = {}
        if goals and witnesses:
            found = Search(self.of.sites, self.of.budget, goals, self.doomed).run()
        for goal in goals:
            if goal.kind != "enter":
                yield self._finding(goal, found.get(goal))
        for members in groups:
            yield self._trap(members, found)

    def _proved(self) -> Iterator[Finding]:
        lists = self.of.lists
        for name in sorted(lists["unreachable"]):
            yield Finding("unreachable-under-guards", name)
        for name, number in sorted(lists["dead"]):
            yield Finding(
                "dead-transition", name, number, values={"only": self._only(name, number)}
            )
        index = self.layout.index
        for name, target in sorted(lists["settle_loops"]):
            long = (index[name], index.get(target, THE_END)) in self.of.full.too_long
            wide = self.layout.index[name] in self.of.full.wide
            verdict = "possible" if wide else "proved"
            values = {"target": target, "long": long}
            yield Finding("unbounded-hops", name, -1, verdict, None, values)

        for name in self.of.passed_through():
            yield Finding("pass-through-state", name)

    def _only(self, name: str, number: int) -> dict[str, list[object]]:
        """What the fields that a dead guard looks at always are where it is tried; empty unless
        that alone keeps it from holding. None: not set."""
        site = self.of.sites[self.layout.index[name]]
        looked = self.of.full.looked.get(site.number, 0)
        at = next(at for at, route in enumerate(site.routes) if route.number == number)
        guard = site.routes[at].guard
        if guard is None or not looked:
            return {}
        for counters in self.of.full.rests.get(site.number, {NO_COUNTERS: None}):
            for mode in site.modes(counters):
                if site.compiler.meet([looked], site.truth(at, mode).yes):
                    return {}
        found: dict[str, list[object]] = {}
        for key in reads(guard):
            axis = self.of.domain.keys.get(key)
            if axis is None:
                continue
            mask = looked >> axis.at & axis.all
            values: list[object] = [None] if mask & axis.absent else []
            values += [axis.sample(n) for n in range(axis.absents, axis.size) if mask >> n & 1]
            if (mask | axis.absent) != axis.all and len(values) <= 3:
                found[key] = values
        return found

    def _goals(self) -> Iterator[Goal]:
        coop = self.of.coop
        for number in sorted(coop.stuck):
            yield Goal("stuck", number)
        for number in sorted(coop.rescued):
            yield Goal("rescued", number)
        for number, one, other in sorted(coop.ties):
            yield Goal("tie", number, one, other)
        for number, key in sorted(coop.unset):
            yield Goal("unset", number, key)
        for number, key in sorted(coop.lacking):
            yield Goal("lacking", number, key)

    def _values(self, goal: Goal) -> dict[str, object]:
        if goal.kind == "tie":
            return {"other": goal.other}
        return {"key": goal.one} if goal.one is not None else {}

    def _finding(self, goal: Goal, path: Path | None) -> Finding:
        name = self.layout.states[goal.site].name
        values = self._values(goal)
        number = goal.one if goal.kind == "tie" else -1
        if goal.kind in ("unset", "lacking"):
            values["always"] = (name, goal.one) in self.of.lists["never_set"]
            values["guard"] = goal.kind == "unset"
        finding = Finding(RULES[goal.kind], name, number, "possible", None, values)
        return self._shown(finding, path, self._shows(goal))

    def _trap(self, members: Sequence[int], found: Mapping[Goal, Path]) -> Finding:
        paths = [(found[goal], goal) for m in members if (goal := Goal("enter", m)) in found]
        names = [self.layout.states[number].name for number in members]
        if not paths:
            return Finding("no-way-out", names[0], -1, "possible", None, {"members": tuple(names)})
        path, goal = min(paths, key=lambda one: len(one[0].acts))
        name = self.layout.states[goal.site].name
        ordered = (name, *(other for other in names if other != name))
        finding = Finding("no-way-out", name, -1, "possible", None, {"members": ordered})
        return self._shown(finding, path, self._shows(goal))

    # --- what a run shows -----------------------------------------------------------------------

    def _shows(self, goal: Goal) -> Callable[[Replay], bool]:
        name = self.layout.states[goal.site].name
        if goal.kind == "stuck":
            return lambda run: run.stays(name)
        if goal.kind == "rescued":
            return lambda run: run.waits_for_the_net(name)
        if goal.kind == "tie":
            return lambda run: run.ties(name, goal.one, goal.other)
        if goal.kind == "unset":
            return lambda run: run.asks_unset(name, goal.one)
        if goal.kind == "lacking":
            return lambda run: run.lacks(name, goal.one)
        return lambda run: self._enters_doom(run, goal.site)

    def _enters_doom(self, run: Replay, site: int) -> bool:
        """Whether the run came into the state with values that were proved to lead nowhere, in a
        pass of which that was proved."""
        state, sites = self.layout.states[site], self.of.sites
        for number, moment in enumerate(run.to.moments):
            if moment.entered and moment.snapshot.state == state.name:
                key: Key | int = (site, NO_PASS)
                if state.is_plan and not number:
                    key = site  # the run begins there
                elif state.is_plan:
                    back = [self.layout.index[name] for name in moment.visited]
                    passed = sites.passed(back, site, mid_turn=moment.mid_turn, hops=moment.hops)
                    key = (site, passed)
                box = box_of(sites, site, moment.snapshot)
                if any(box & doomed == box for doomed in self.doomed.get(key, ())):
                    return True
        return False

    def _shown(
        self, finding: Finding, path: Path | None, shows: Callable[[Replay], bool]
    ) -> Finding:
        """The finding with its witness, if the real kernel shows it."""
        if path is None:
            return finding
        run = self._replayed(path)
        if not run.ok or not shows(run) or not run.ok:
            return finding
        best, run = self._shortest(path, shows, run)
        return finding._replace(
            verdict="witnessed",
            witness=Witness(run.witness(), best.given),
            values={**finding.values, "data": run.snapshot.data},
        )

    def _replayed(self, path: Path) -> Replay:
        return Replay(self.graph, path.root, path.given).run(path.acts)

    def _shortest(
        self, path: Path, shows: Callable[[Replay], bool], run: Replay
    ) -> tuple[Path, Replay]:
        """Leave out every answer without which the same is shown."""
        changed = True
        while changed:
            changed = False
            for shorter in _without_one(path):
                again = self._replayed(shorter)
                if again.ok and shows(again) and again.ok:
                    path, run, changed = shorter, again, True
                    break
        return path, run


def _without_one(path: Path) -> Iterator[Path]:
    """The path without one of its answers, or without one of the values given at the start."""
    for at in reversed(range(len(path.acts))):
        act: Act = path.acts[at]
        if act.kind != "body":
            yield path._replace(acts=(*path.acts[:at], *path.acts[at + 1 :]))


#: The kinds of what is looked for in branches, and their rules.
BRANCH_RULES = {
    "stuck": "stuck-state", "unset": "read-before-write", "lacking": "read-before-write",
    "waits": "join-never-satisfied", "open": "end-with-open-branches",
    "twice": "duplicate-branch",
}  # fmt: skip


def branch_findings(
    of: Verification, lists: Mapping[str, Any], coop: Branches, *, witnesses: bool
) -> Iterator[Finding]:
    """What is wrong with several branches at once, each with a run through the real kernel."""
    for name in sorted(lists["unreachable"]):
        yield Finding("unreachable-under-guards", name)
    for name, number in sorted(lists["dead"]):
        yield Finding("dead-transition", name, number)
    goals = dict(_branch_goals(of, lists, coop))
    runs = BranchSearch(of.sites, of.budget, list(goals)).run() if goals and witnesses else {}
    for goal, values in goals.items():
        name = of.layout.states[goal.site].name
        found = Finding(BRANCH_RULES[goal.kind], name, -1, "possible", None, values)
        if goal in runs:
            run = runs[goal]
            replay = BranchReplay(of.graph, run.root, run.given).run(run.acts)
            if replay.ok and replay.shows(goal.kind, name, goal.one):
                shown = Witness(replay.witness(), run.given)
                found = found._replace(verdict="witnessed", witness=shown)
        yield found


def _branch_goals(
    of: Verification, lists: Mapping[str, Any], coop: Branches
) -> Iterator[tuple[Goal, dict[str, object]]]:
    """What is looked for, with the values of the messages."""
    index, names = of.layout.index, [state.name for state in of.layout.states]
    for name in sorted(lists["stuck"]):
        yield Goal("stuck", index[name]), {}
    asked = {(index[name], key) for name, key in lists["unset"]}
    for kind, pairs in (("unset", asked), ("lacking", coop.steps.lacking - asked)):
        for number, key in sorted(pairs):
            always = (names[number], key) in lists["never_set"]
            guard = kind == "unset"
            yield Goal(kind, number, key), {"key": key, "always": always, "guard": guard}
    for kind, found in (("waits", coop.waiting), ("open", coop.open_ends), ("twice", coop.twice)):
        for number, trace in sorted(found.items()):
            places = tuple(names[n] for n in trace.places if n >= 0)
            lacking = tuple(names[n] for n in trace.lacking)
            other = names[trace.state]
            values: dict[str, object] = {"other": other, "places": places, "lacking": lacking}
            yield Goal(kind, number), values


__all__ = ["Finder", "Key"]
