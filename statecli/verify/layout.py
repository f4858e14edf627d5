"""Which axes matter in which state, and where their bits stand.

An axis matters in a state if something reachable from there reads it and it may have been written
before, or the state itself reads or writes it. Axes that never matter in one state share a slot, as
registers are shared: so a box is as wide as the widest state needs, not as the graph.
"""

from __future__ import annotations

from collections.abc import Sequence

from statecli.kernel.order import following, routes_of
from statecli.model.graph import Graph, State
from statecli.model.guard import reads as guard_reads
from statecli.verify.box import Frame
from statecli.verify.domain import Axis, Domain


class Layout:
    """The frame of all boxes, and for each state (by number) the axes that matter there."""

    def __init__(self, graph: Graph, domain: Domain) -> None:
        self.graph = graph
        self.domain = domain
        self.states: list[State] = list(graph.states.values())
        self.index = {state.name: number for number, state in enumerate(self.states)}
        self.next = [self._following(state) for state in self.states]
        self._ways = [self._routes_to(state) for state in self.states]
        self.successors = [
            [*ways, self.next[number]] if self.next[number] >= 0 else ways
            for number, ways in enumerate(self._ways)
        ]
        self.order = _reverse_postorder(self.successors, [self.index[n] for n in graph.roots()])
        self.reads = [self._reads(state) for state in self.states]
        self.writes = [self._writes(state) for state in self.states]
        self.live = self._live()
        self.axes = [self._members(live) for live in self.live]
        self.frame = Frame(self._slots())
        self.cover = [sum(axis.group for axis in axes) for axes in self.axes]
        self._edges: dict[tuple[int, int], tuple[int, int]] = {}

    def _following(self, state: State) -> int:
        """The state to which the idle net leads; -1 for the end, -2 where there is no net."""
        if not state.is_plan or not self.graph.is_plan:
            return -2
        name = following(self.graph, state.name)
        return -1 if name is None else self.index[name]

    def _routes_to(self, state: State) -> list[int]:
        if state.ends:
            return []
        found = [self.index.get(way.target, -1) for way in routes_of(self.graph, state.name)]
        found += [self.index.get(target, -1) for _, target in state.jumps]
        return [target for target in dict.fromkeys(found) if target >= 0]

    def on_paper(self) -> set[int]:
        """The states that some path of routes leads to, whatever their guards say."""
        seen = {self.index[name] for name in self.graph.roots()}
        todo = list(seen)
        while todo:
            for target in self._ways[todo.pop()]:
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
        return seen

    # --- which axes matter ----------------------------------------------------------------------

    def _reads(self, state: State) -> int:
        domain, found = self.domain, 0
        names = dict.fromkeys(state.reads)
        for way in routes_of(self.graph, state.name):
            if way.guard is not None:
                names.update(dict.fromkeys(guard_reads(way.guard)))
        # Where turns count a new value is progress, whoever reads it.
        for item in state.deliverables():
            if state.name in domain.timed or (state.kind == "goal" and item.required):
                names[item.key] = None
        for name in names:
            axis = domain.keys.get(name)
            found |= 1 << axis.number if axis is not None else 0
        return found | self._task_axes(state)

    def _task_axes(self, state: State) -> int:
        domain, found = self.domain, 0
        if state.is_plan and state.kind != "goal":
            for task in state.tasks:
                done = domain.done[state.name, task.id]
                for axis in (done.axis, *done.keys):
                    found |= 1 << axis.number
        if state.name in domain.visited:
            found |= 1 << domain.visited[state.name].number
        return found

    def _writes(self, state: State) -> int:
        domain = self.domain
        if not state.tells_writes:
            return (1 << len(domain.axes)) - 1 if domain.axes else 0
        found = self._task_axes(state)
        for key in (*state.writes, *(item.key for item in state.deliverables())):
            axis = domain.keys.get(key)
            found |= 1 << axis.number if axis is not None else 0
        return found | self._dropped(state)

    def _dropped(self, state: State) -> int:
        """The axes of fields that some route of the state does not pass on."""
        found = 0
        for way in state.transitions if self.domain.filters else ():
            kept = way.state_filter
            for key, axis in self.domain.keys.items() if kept is not None else ():
                if not isinstance(kept, tuple) or key not in kept:
                    found |= 1 << axis.number
        return found

    def _live(self) -> list[int]:
        """Two flows over bit sets: what is read later on, and what may have been touched before."""
        count, order = len(self.states), self.order
        loose = 0  # axes that are not the same in every run that begins: reading tells them apart
        for axis in self.domain.axes:
            if axis.initial & (axis.initial - 1):
                loose |= 1 << axis.number
        need = list(self.reads)
        changed = True
        while changed:
            changed = False
            for number in reversed(order):
                found = need[number]
                for target in self.successors[number]:
                    found |= need[target]
                if found != need[number]:
                    need[number], changed = found, True
        touched = [0] * count
        shared = any(state.fans_out for state in self.states)  # between branches
        for axis in self.domain.axes:  # they differ from the first state on
            if axis.initial != axis.usual or (shared and loose >> axis.number & 1):
                for name in self.graph.roots():
                    touched[self.index[name]] |= 1 << axis.number
        changed = True
        while changed:
            changed = False
            for number in order:
                passed = touched[number] | self.writes[number] | (self.reads[number] & loose)
                for target in self.successors[number]:
                    if passed & ~touched[target]:
                        touched[target] |= passed
                        changed = True
        return [need[n] & (touched[n] | self.reads[n] | self.writes[n]) for n in range(count)]

    def _members(self, live: int) -> list[Axis]:
        found = []
        while live:
            low = live & -live
            found.append(self.domain.axes[low.bit_length() - 1])
            live ^= low
        return found

    # --- where their bits stand -----------------------------------------------------------------

    def _slots(self) -> list[int]:
        """Give each axis a slot; the widths of all slots."""
        where: dict[int, bytearray] = {}
        size = (len(self.states) + 7) // 8
        for number in range(len(self.states)):
            for axis in self.axes[number]:
                held = where.get(axis.number)
                if held is None:
                    held = where[axis.number] = bytearray(size)
                held[number >> 3] |= 1 << (number & 7)
        widths: list[int] = [1]  # so that no box is 0
        taken: list[int] = [-1]
        by_width: dict[int, list[int]] = {}
        begins: list[tuple[Axis, int]] = []
        for axis in self.domain.axes:
            held = where.get(axis.number)
            if held is None:
                continue
            states = int.from_bytes(held, "little")
            for slot in by_width.setdefault(axis.size, []):
                if not taken[slot] & states:
                    taken[slot] |= states
                    break
            else:
                slot = len(widths)
                by_width[axis.size].append(slot)
                widths.append(axis.size)
                taken.append(states)
            begins.append((axis, slot))
        starts, at = [], 0
        for width in widths:
            starts.append(at)
            at += width + 1
        for axis, slot in begins:
            axis.at = starts[slot]
        return widths

    # --- along an edge --------------------------------------------------------------------------

    def start(self, number: int, *, coop: bool) -> int:
        """The box of all runs that begin in a state."""
        box = self.frame.full & ~self.cover[number]
        for axis in self.axes[number]:
            box |= (axis.usual if coop else axis.initial) << axis.at
        return box

    def edge(self, source: int, target: int) -> tuple[int, int]:
        """What of a box of `source` is kept in `target`, and what is set there beside it: slots of
        axes that stop to matter are full, axes that begin to matter are as at the start."""
        known = self._edges.get((source, target))
        if known is None:
            keep = given = 0
            here = self.live[source]
            for axis in self.axes[target]:
                if here >> axis.number & 1:
                    keep |= axis.group
                else:
                    given |= axis.initial << axis.at
            known = (keep, given | (self.frame.full & ~self.cover[target]))
            self._edges[source, target] = known
        return known


def _reverse_postorder(successors: Sequence[Sequence[int]], roots: Sequence[int]) -> list[int]:
    """The states that some path reaches, each before those that come after it (but for cycles)."""
    seen = bytearray(len(successors))
    found: list[int] = []
    for root in roots:
        if seen[root]:
            continue
        seen[root] = 1
        stack = [(root, iter(successors[root]))]
        while stack:
            number, left = stack[-1]
            for target in left:
                if not seen[target]:
                    seen[target] = 1
                    stack.append((target, iter(successors[target])))
                    break
            else:
                found.append(number)
                stack.pop()
    return found[::-1]


def components(successors: Sequence[Sequence[int]]) -> list[int]:
    """For each node the number of its strongly connected component."""
    count = len(successors)
    index, low, owner = [-1] * count, [0] * count, [-1] * count
    stack: list[int] = []
    clock = named = 0
    for root in range(count):
        if index[root] >= 0:
            continue
        todo: list[tuple[int, int]] = [(root, 0)]
        while todo:
            node, at = todo.pop()
            if at == 0:
                index[node] = low[node] = clock
                clock += 1
                stack.append(node)
            for position in range(at, len(successors[node])):
                target = successors[node][position]
                if index[target] < 0:
                    todo.append((node, position + 1))
                    todo.append((target, 0))
                    break
                if owner[target] < 0:
                    low[node] = min(low[node], low[target], index[target])
            else:
                if low[node] == index[node]:
                    while True:
                        member = stack.pop()
                        owner[member] = named
                        if member == node:
                            break
                    named += 1
                if todo:
                    parent = todo[-1][0]
                    low[parent] = min(low[parent], low[node])
    return owner
