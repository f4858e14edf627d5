"""The compiled states of a graph and the ways between them; how much may be spent on looking."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator

from statecli.verify.counters import NO_PASS, Pass
from statecli.verify.layout import Layout, components
from statecli.verify.site import Site


class Budget:  # a `Meter`
    """Expansions that may still be made, shared by all parts of one verification."""

    def __init__(self, most: int, timeout: float | None) -> None:
        self.most = most
        self.used = 0
        self.timeout = timeout
        self.timed_out = False
        self._until = time.monotonic() + timeout if timeout is not None else None

    def spend(self) -> bool:
        """Count one expansion; whether there is still something left."""
        self.used += 1
        if self._until is not None and not self.timed_out and not self.used & 63:
            self.timed_out = time.monotonic() > self._until
        return self.left

    @property
    def left(self) -> bool:
        return self.used <= self.most and not self.timed_out


class Sites:
    """The compiled states of a graph, made when they are first needed."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.frame = layout.frame
        self._sites: dict[int, Site] = {}
        #: For each state the component of plan states that it is in.
        self._owner: list[int] = []
        #: The states to which nothing matters of the pass that leads there.
        self._single: list[bool] = []
        #: The components in which a pass into a goal may be cut, and those that lead there.
        self._cutting: set[int] = set()
        #: The moves that one pass may make, where some pass may be longer; else 0.
        self.most_hops = 0

    def __getitem__(self, number: int) -> Site:
        site = self._sites.get(number)
        if site is None:
            site = self._sites[number] = Site(self.layout, number)
        return site

    def made(self) -> Iterable[Site]:
        return self._sites.values()

    def onward(self, site: Site, entry: Pass | None, target: int, *, at_end: bool) -> Pass:
        """What a move out of a plan state brings to the next one. `entry`: of the pass that came
        into the state; None for one that begins there."""
        if self._never_back(target):
            return NO_PASS
        if entry is None:
            return self.passed((site.number,), target, mid_turn=not at_end, hops=1)
        known = (*entry.visited, site.number)
        return self.passed(known, target, mid_turn=entry.mid_turn, hops=entry.hops + 1)

    def stops(self, entry: Pass | None, target: int) -> bool:
        """Whether a pass does not make this move: it would go round, or is too long."""
        if entry is None:
            return False
        return target in entry.visited or 0 < self.most_hops <= entry.hops

    def passed(self, visited: Iterable[int], target: int, *, mid_turn: bool, hops: int) -> Pass:
        """What of a pass matters to `target`."""
        if self._never_back(target):
            return NO_PASS
        owner = self._owner
        back = frozenset(n for n in visited if owner[n] == owner[target] and n != target)
        cut = owner[target] in self._cutting
        late = mid_turn and (cut or bool(self.layout.domain.timed))
        return Pass(back, late, min(hops, self.most_hops))

    def _never_back(self, target: int) -> bool:
        """Whether nothing of a pass matters to a state: it comes back to none of them."""
        if not self._owner:
            self._look_for_circles()
        return self._single[target] and not self.most_hops

    def _look_for_circles(self) -> None:
        """Which plan states a pass may come back to."""
        states = self.layout.states
        edges = [
            [t for t in targets if states[t].is_plan] if states[n].is_plan else []
            for n, targets in enumerate(self.layout.successors)
        ]
        self._owner = components(edges)
        sizes = Counter(self._owner)
        cutting = {
            owner for state, owner in zip(states, self._owner, strict=True)
            if state.kind == "goal" and sizes[owner] > 1
        }  # fmt: skip
        for number in sorted(range(len(states)), key=lambda n: self._owner[n]):
            # Components are numbered from the ends inwards.
            if any(self._owner[target] in cutting for target in edges[number]):
                cutting.add(self._owner[number])
        self._cutting = cutting
        timed = bool(self.layout.domain.timed)
        self._single = [
            not state.is_plan or (sizes[owner] == 1 and not timed and owner not in cutting)
            for state, owner in zip(states, self._owner, strict=True)
        ]

    def start(self, number: int, *, coop: bool) -> int:
        """The box of all runs that begin in a state, which is visited with that."""
        box = self.layout.start(number, coop=coop)
        axis = self.layout.domain.visited.get(self.layout.states[number].name)
        return box if axis is None else box & ~axis.group | 2 << axis.at

    def arrive(self, source: int, target: int, box: int) -> Iterator[int]:
        """A box of `source` as boxes of `target`, which forgets its last visit if it says so."""
        keep, given = self.layout.edge(source, target)
        yield from self.entered(target, box & keep | given)

    def entered(self, target: int, box: int) -> Iterator[int]:
        """A box on entry: a state with `on_reenter: reset` that was visited before forgets."""
        domain = self.layout.domain
        state = self.layout.states[target]
        axis = domain.visited.get(state.name)
        if axis is None:
            yield box
            return
        mask = box >> axis.at & 3
        visited = box & ~axis.group | 2 << axis.at
        if mask & 1:
            yield visited
        if mask & 2:
            yield self.forgotten(target, visited)

    def forgotten(self, target: int, box: int) -> int:
        """The box without the values and tasks of a state."""
        domain, live = self.layout.domain, self.layout.live[target]
        state = self.layout.states[target]
        for item in state.deliverables():
            axis = domain.keys.get(item.key)
            if axis is not None and live >> axis.number & 1:
                # A task of the state that was passed over is open again.
                group = box & axis.group
                box = box & ~axis.group | (1 << axis.at if group else 0)
        for task in state.tasks if state.kind != "goal" else ():
            done = domain.done[state.name, task.id]
            if not done.fold:
                box = box & ~done.axis.group | 1 << done.axis.at
        return box

    def before(self, source: int, target: int, box: int) -> Iterator[int]:
        """The boxes of `source` from which a move leads into this box of `target`."""
        keep, given = self.layout.edge(source, target)
        frame = self.frame
        for entered in self._before_entered(target, box):
            if frame.some(entered & (given | keep)):
                yield entered & keep | frame.full & ~keep

    def _before_entered(self, target: int, box: int) -> Iterator[int]:
        domain, live = self.layout.domain, self.layout.live[target]
        state = self.layout.states[target]
        axis = domain.visited.get(state.name)
        if axis is None:
            yield box
            return
        if not box >> axis.at & 2:
            return
        yield box & ~axis.group | 1 << axis.at
        again = box & ~axis.group | 2 << axis.at
        forgotten = [domain.keys.get(item.key) for item in state.deliverables()]
        found = [key for key in forgotten if key is not None and live >> key.number & 1]
        for task in state.tasks if state.kind != "goal" else ():
            done = domain.done[state.name, task.id]
            if not done.fold:
                found.append(done.axis)
        for one in found:
            if not again >> one.at & 1:
                return
        for one in found:
            again |= one.group
        yield again
