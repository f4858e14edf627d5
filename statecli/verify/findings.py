"""From what was explored to findings: each with a path through the real kernel, as short as it can
be made: answers that do not matter are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from statecli.verify.counters import NO_PASS
from statecli.verify.explore import Key
from statecli.verify.replay import Act, Replay
from statecli.verify.report import Finding, Witness
from statecli.verify.snapshot_box import box_of
from statecli.verify.witness import Goal, Path, Search

if TYPE_CHECKING:
    from statecli.verify.verifier import Verification

#: The rule of each kind of goal; the last three are of several branches.
RULES = {
    "stuck": "stuck-state", "rescued": "rescued-by-safety-net", "tie": "priority-tie-overlap",
    "unset": "read-before-write", "lacking": "read-before-write", "enter": "no-way-out",
    "waits": "join-never-satisfied", "open": "end-with-open-branches",
    "twice": "duplicate-branch",
}  # fmt: skip


class Finder:
    """Finds the witnesses of one verification."""

    def __init__(self, of: Verification) -> None:
        self.of = of
        self.graph = of.graph
        self.layout = of.layout
        self.doomed: dict[Any, Sequence[int]] = {**of.doomed, **of.doomed_starts}

    def all(self, *, witnesses: bool) -> Iterator[Finding]:
        """Every finding that a run shows; without `witnesses` they are possible."""
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
