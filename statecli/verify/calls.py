"""What may be called at rest in one state, and what each call makes of a box and of its past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from statecli.model.graph import Task
from statecli.model.guard import reads
from statecli.verify.box import Frame
from statecli.verify.counters import Counters
from statecli.verify.domain import Axis, Done

if TYPE_CHECKING:
    from statecli.verify.site import Site

#: So many tasks of a state that is skipped are told apart by whether their values are there.
MOST_APART = 4


class Effect:
    """What a call does to one axis: for each class those that it may become."""

    __slots__ = ("_known", "axis", "outcomes")

    def __init__(self, axis: Axis, outcomes: Sequence[int]) -> None:
        self.axis = axis
        self.outcomes = tuple(outcomes)
        self._known: dict[int, int] = {}

    def of(self, box: int) -> int:
        """The box after the call; 0 where it cannot be made."""
        axis = self.axis
        mask = box >> axis.at & axis.all
        found = self._known.get(mask)
        if found is None:
            found = 0
            for number, outcome in enumerate(self.outcomes):
                if mask >> number & 1:
                    found |= outcome
            self._known[mask] = found
        return box & ~axis.group | found << axis.at if found else 0

    def before(self, box: int) -> int:
        """The box of all from which the call may lead into this one; 0 if there is none."""
        axis = self.axis
        mask = box >> axis.at & axis.all
        found = 0
        for number, outcome in enumerate(self.outcomes):
            if outcome & mask:
                found |= 1 << number
        return box & ~axis.group | found << axis.at if found else 0


class Call(NamedTuple):
    """One thing that may happen at rest. `kind`: set, give (all values of a task), done, skip
    (the whole state), close, again (a value that is there already). `region`: where it may; None:
    everywhere."""

    kind: str
    what: str
    effects: tuple[Effect, ...]
    region: Sequence[int] | None = None
    progress: bool = True

    def of(self, box: int, frame: Frame) -> Iterator[int]:
        """The boxes after the call."""
        for part in (frame.full,) if self.region is None else self.region:
            found = box & part
            if not frame.some(found):
                continue
            for effect in self.effects:
                found = effect.of(found)
                if not found:
                    break
            if found:
                yield found

    def before(self, box: int, frame: Frame) -> Iterator[int]:
        """The boxes of all from which the call may lead into this one."""
        for effect in self.effects:
            box = effect.before(box)
            if not box:
                return
        for part in (frame.full,) if self.region is None else self.region:
            found = box & part
            if frame.some(found):
                yield found


class Calls:
    """The calls of one state."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.state = site.state
        self.frame = site.frame
        self.domain = site.domain
        self.compiler = site.compiler

    def all(self, coop: bool, counters: Counters) -> Iterator[Call]:
        """What may be called. COOP does what it is asked for, FULL all that is accepted."""
        state = self.state
        if not coop and counters.open:  # a call that changes nothing is accepted: evaluated again
            yield Call("again", "", (), None, progress=False)
        if state.kind == "goal":
            for item in state.deliverables():
                yield from self._set(item.key, None, counters)
            if not counters.closed and not (coop and counters.unheard):
                yield Call("close", "achieved", (), self._gate(counters) if coop else None)
            return
        offers = self._offers()
        for key in dict.fromkeys(item.key for item in state.deliverables()):
            yield from self._set(key, offers.get(key), counters)
        yield from self._tasks(coop)
        if not coop and state.kind == "loose" and state.tasks:
            yield from self._skipped()

    def _skipped(self) -> Iterator[Call]:
        """The whole state skipped: its open tasks. What is done by its values stays as it is."""
        compiler, tasks = self.compiler, self.state.tasks
        some = [self.domain.done[self.state.name, task.id] for task in tasks]
        by_values = [at for at, done in enumerate(some) if done.keys][:MOST_APART]
        whole: Sequence[int] | None = compiler.complete().no if self.site.timed else None
        for chosen in product((True, False), repeat=len(by_values)):
            given = {at for at, yes in zip(by_values, chosen, strict=True) if yes}
            region = whole
            for at in by_values:
                truth = compiler.addressed(tasks[at].id)
                part = truth.yes if at in given else truth.no
                region = compiler.meet(part, [self.frame.full] if region is None else region)
            effects = [self._passed(t.id, True) for at, t in enumerate(tasks) if at not in given]
            yield Call("skip", "", tuple(effects), region)

    def _set(self, key: str, region: Sequence[int] | None, counters: Counters) -> Iterator[Call]:
        axis = self.domain.keys.get(key)
        if axis is None or not self.site.live_now >> axis.number & 1:
            return
        if not self.site.timed or not axis.single:
            yield Call("set", key, (Effect(axis, [axis.present] * axis.size),), region)
            return
        ways = [axis.present & ~(axis.single & 1 << at) for at in range(axis.size)]
        yield Call("set", key, (Effect(axis, ways),), region)
        if counters.open:
            same = [axis.single & 1 << at for at in range(axis.size)]
            yield Call("again", key, (Effect(axis, same),), region, progress=False)

    def _offers(self) -> dict[str, Sequence[int] | None]:
        """Where a strict state takes a key: its task is the current or an addressed one."""
        found: dict[str, Sequence[int] | None] = {}
        if self.state.kind != "strict":
            return found
        compiler, before = self.compiler, [self.frame.full]
        for task in self.state.tasks:
            done = compiler.addressed(task.id).yes
            for item in task.deliverables:
                here = compiler.join(found.get(item.key) or [], done, before)
                found[item.key] = here
            before = compiler.meet(before, done)
        return found

    def _tasks(self, coop: bool) -> Iterator[Call]:
        compiler, strict = self.compiler, self.state.kind == "strict"
        before = [self.frame.full]
        for task in self.state.tasks:
            done = self.domain.done[self.state.name, task.id]
            needs = any(item.required for item in task.deliverables)
            truth = compiler.addressed(task.id)
            region = compiler.meet(before, truth.no) if strict else truth.no
            effect = (self._passed(task.id, False),)
            if done.gives:
                yield Call("give", task.id, effect, region)
            may = not needs if strict else not coop or not task.required or not needs
            if may and not (done.gives and coop):
                yield Call("done", task.id, effect, region)
            if done.axis.size == 3 and not done.fold and done.axis.absents == 0:
                yield from self._completed(task, truth.no, done, coop=coop, may=may)
            if strict:
                before = compiler.meet(before, truth.yes)

    def _completed(
        self, task: Task, open_: Sequence[int], done: Done, *, coop: bool, may: bool
    ) -> Iterator[Call]:
        """A task of a loose state completed: one that is open, or that was skipped before."""
        there: Sequence[int] = [self.frame.full]
        for item in task.deliverables:
            if item.required:
                axis = self.domain.keys[item.key]
                present = self.compiler.cube(axis, axis.present)
                there = self.compiler.meet(there, present)
        now = self.compiler.meet(there, open_)
        if may and now and not any(item.required for item in task.deliverables):
            yield Call("done", task.id, (Effect(done.axis, (4, 0, 0)),), now)
        if not coop and there:
            yield Call("done", task.id, (Effect(done.axis, (0, 4, 0)),), there)

    def _passed(self, task: str, also_done: bool) -> Effect:
        """A task becomes addressed without its values."""
        done = self.domain.done[self.state.name, task]
        axis, outcomes = done.axis, []
        for at in range(axis.size):
            if done.mask >> at & 1:
                outcomes.append(1 << at if also_done else 0)
            else:
                outcomes.append(1 << (at | done.fold) if done.fold else 2)
        if axis.size == 3 and not axis.absents:
            outcomes = [2, 2 if also_done else 0, 4 if also_done else 0]
        elif done.keys:
            outcomes = [2, 2 if also_done else 0]
        return Effect(axis, outcomes)

    def _gate(self, counters: Counters) -> list[int]:
        """Where a goal may be closed as achieved: its required keys are there, or a route that
        reads data would hold."""
        compiler, keys = self.compiler, self.domain.keys
        found: list[int] = [self.frame.full]
        for item in self.state.deliverables():
            if item.required:
                axis = keys[item.key]
                found = compiler.meet(found, compiler.cube(axis, axis.present))
        for mode in self.site.modes(counters._replace(closed=True)):
            for at, route in enumerate(self.site.routes):
                if route.guard is not None and reads(route.guard):
                    found = compiler.join(found, self.site.truth(at, mode).yes)
        return found
