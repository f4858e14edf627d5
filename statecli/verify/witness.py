"""The shortest run that shows something: breadth first over boxes, without merging.

A node is a box of values at rest or on entry, with what led to it from the node before. Walking
back gives for each node the values from which the rest of the path is possible; walking forward
picks one of each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from statecli.model.classes import ABSENT, candidates
from statecli.model.graph import Deliverable
from statecli.verify.asking import asked, tied
from statecli.verify.calls import Call
from statecli.verify.counters import NO_COUNTERS, NO_PASS, Counters, Pass
from statecli.verify.explore import NET
from statecli.verify.replay import Act
from statecli.verify.site import THE_END, Site
from statecli.verify.sites import Budget, Sites

END_OF_TURN = Call("end", "", ())
BODY = Call("body", "", ())


class Goal(NamedTuple):
    """What is looked for at a state. `kind`: stuck, rescued, tie, unset, lacking, enter (with
    values that are `doomed`), or take: the run takes the route at place `one` of the state."""

    kind: str
    site: int
    one: Any = None
    other: Any = None


class Node(NamedTuple):
    """A box, and how it was reached: from node `before` by `call` (None: by entering alone), which
    left `piece` (over the state of that node), and by the route at place `route` (-3: none)."""

    site: int
    box: int
    counters: Counters | None
    entry: Pass
    before: int
    call: Call | None
    piece: int
    route: int


class Path(NamedTuple):
    """A run in words of the kernel: where it begins, with which values, and what happens."""

    root: str
    given: Mapping[str, Any]
    acts: tuple[Act, ...]


STAYS = -3


class Search:
    """Looks for several goals at once; `found` has a path for each that was reached."""

    def __init__(
        self, sites: Sites, budget: Budget, goals: list[Goal], doomed: Mapping[Any, Any]
    ) -> None:
        self.sites = sites
        self.layout = sites.layout
        self.frame = sites.frame
        self.budget = budget
        self.nodes: list[Node] = []
        self.found: dict[Goal, Path] = {}
        self.left = dict.fromkeys(goals)
        self.doomed = doomed
        self._known: dict[tuple[int, Counters | None, Pass], list[int]] = {}
        self._queue: deque[int] = deque()
        self._on_the_way = self._ways_to({goal.site for goal in goals})
        self._at: dict[int, list[Goal]] = {}
        for goal in goals:
            self._at.setdefault(goal.site, []).append(goal)
        self._takes = {(goal.site, goal.one): goal for goal in goals if goal.kind == "take"}

    def _ways_to(self, targets: set[int]) -> set[int]:
        """The states from which some path leads to a goal."""
        before: dict[int, list[int]] = {}
        for source, found in enumerate(self.layout.successors):
            for target in found:
                before.setdefault(target, []).append(source)
        seen, todo = set(targets), list(targets)
        while todo:
            for source in before.get(todo.pop(), ()):
                if source not in seen:
                    seen.add(source)
                    todo.append(source)
        return seen

    def run(self) -> dict[Goal, Path]:
        for name in self.layout.graph.roots():
            number = self.layout.index[name]
            box = self.sites.start(number, coop=True)
            plan = self.layout.states[number].is_plan
            self._add(Node(number, box, Counters(open=True) if plan else None, NO_PASS, -1, None,
                           box, STAYS))  # fmt: skip
        while self._queue and self.left and self.budget.spend():
            at = self._queue.popleft()
            node = self.nodes[at]
            site = self.sites[node.site]
            if node.counters is not None:
                self._rest(at, node, site)
            elif site.state.is_plan:
                counters = site.entry(node.entry.mid_turn)
                self._evaluate(at, site, None, counters, False, node.box, node.entry)
            else:
                self._body(at, node, site)
        return self.found

    def _add(self, node: Node) -> None:
        if self._takes and node.before >= 0:
            self._took(node)
        if node.site not in self._on_the_way:
            return
        key = (node.site, node.counters, node.entry)
        known = self._known.setdefault(key, [])
        for box in known:
            if node.box & box == node.box:
                return
        known.append(node.box)
        self.nodes.append(node)
        self._queue.append(len(self.nodes) - 1)
        for goal in self._at.get(node.site, ()):
            if goal.kind == "enter" and goal in self.left:
                begins = node.before < 0 and node.counters is not None
                boxes = self.doomed.get(node.site if begins else (node.site, node.entry), ())
                if node.counters is None or begins:
                    for box in boxes:
                        if self.frame.some(both := box & node.box):
                            self._reach(goal, len(self.nodes) - 1, None, both)
                            break

    def _took(self, node: Node) -> None:
        """A route that led here may be looked for; also one from which no other goal is reached,
        so that the node is not kept."""
        goal = self._takes.get((self.nodes[node.before].site, node.route))
        if goal is not None:
            self.nodes.append(node)
            self._reach(goal, len(self.nodes) - 1, None, node.box)
            self.nodes.pop()

    def _reach(self, goal: Goal, at: int, call: Call | None, piece: int) -> None:
        if goal in self.left:
            del self.left[goal]
            self.found[goal] = self._path(at, call, piece)

    # --- what may happen ------------------------------------------------------------------------

    def _rest(self, at: int, node: Node, site: Site) -> None:
        counters = node.counters
        assert counters is not None
        self._nothing_left(at, site, None, counters, node.box)
        if not site.timed and not counters.open:
            self._net(at, site, None, counters, node.box)
        over = site.turn_over(counters)
        if over != counters or site.ends_late:
            self._evaluate(at, site, END_OF_TURN, over, True, node.box, None)
        for call in site.calls(coop=True, counters=counters):
            after = site.called(counters, call)
            for box in call.of(node.box, self.frame):
                self._evaluate(at, site, call, after, False, box, None)

    def _nothing_left(
        self, at: int, site: Site, call: Call | None, counters: Counters, box: int
    ) -> None:
        goals = [g for g in self._at.get(site.number, ()) if g.kind in ("stuck", "rescued")]
        if not goals or counters.open or site.state.kind == "goal" or not site.settled(counters):
            return
        for done in site.compiler.complete().yes:
            here = box & done
            if self.frame.some(here):
                for rest in site.evaluate(counters, True, here).rest:
                    for goal in goals:
                        self._reach(goal, at, call, rest)

    def _evaluate(
        self,
        at: int,
        site: Site,
        call: Call | None,
        counters: Counters,
        at_end: bool,
        box: int,
        entry: Pass | None,
    ) -> None:
        self._look(at, site, call, counters, at_end, box)
        outcome = site.evaluate(counters, at_end, box)
        for hit in outcome.hits:
            target = site.targets[hit.route]
            if target is None:
                continue
            if target == THE_END and (site.number, hit.route) in self._takes:
                self._reach(self._takes[site.number, hit.route], at, call, hit.box)
            if entry is not None and self.sites.stops(entry, target):
                cut = site.cut(entry, target)
                self._add(Node(site.number, hit.box, cut, NO_PASS, at, call, hit.box, STAYS))
                continue
            if target == THE_END:
                continue
            passed = self.sites.onward(site, entry, target, at_end=at_end)
            for arrived in self.sites.arrive(
                site.number, target, site.filtered(hit.route, hit.box)
            ):
                self._add(Node(target, arrived, None, passed, at, call, hit.box, hit.route))
        for rest in outcome.rest:
            if at_end:
                self._nothing_left(at, site, call, counters, rest)
                self._net(at, site, call, counters, rest)
                if site.forced_on(counters):
                    continue
            self._add(Node(site.number, rest, counters, NO_PASS, at, call, rest, STAYS))

    def _net(self, at: int, site: Site, call: Call | None, counters: Counters, box: int) -> None:
        """The idle net moves on where everything is done."""
        if site.net < 0 or site.state.kind == "goal" or not site.settled(counters):
            return
        for done in site.compiler.complete().yes:
            here = box & done
            if not self.frame.some(here):
                continue
            for rest in site.evaluate(counters, True, here).rest:
                for arrived in self.sites.arrive(site.number, site.net, rest):
                    self._add(Node(site.net, arrived, None, NO_PASS, at, call, rest, NET))

    def _body(self, at: int, node: Node, site: Site) -> None:
        if site.state.ends:
            return
        for goal in self._at.get(site.number, ()):
            if goal.kind == "lacking":
                axis = self.layout.domain.keys[goal.one]
                here = node.box & ~(axis.present << axis.at)
                if self.frame.some(here):
                    self._reach(goal, at, None, here)
        box = node.box
        effects = site.body(coop=True)
        for effect in effects:
            box = effect.of(box)
        call = BODY._replace(effects=effects)
        self._look(at, site, call, NO_COUNTERS, False, box)
        outcome = site.evaluate(NO_COUNTERS, False, box)
        for hit in outcome.hits:
            target = site.targets[hit.route]
            if target is not None and target >= 0:
                passed_on = site.filtered(hit.route, hit.box)
                for arrived in self.sites.arrive(site.number, target, passed_on):
                    self._add(Node(target, arrived, None, NO_PASS, at, call, hit.box, hit.route))
        for rest in outcome.rest:
            for goal in self._at.get(site.number, ()):
                if goal.kind == "stuck":
                    self._reach(goal, at, call, rest)

    def _look(
        self, at: int, site: Site, call: Call | None, counters: Counters, at_end: bool, box: int
    ) -> None:
        for goal in self._at.get(site.number, ()):
            if goal not in self.left:
                continue
            if goal.kind == "tie":
                for (a, b), where in tied(site, counters, at_end, box).items():
                    numbers = sorted((site.routes[a].number, site.routes[b].number))
                    if numbers == [goal.one, goal.other]:
                        self._reach(goal, at, call, where)
                        break
            elif goal.kind == "unset":
                found = asked(site, counters, at_end, box, set_=False)
                if goal.one in found:
                    self._reach(goal, at, call, found[goal.one])

    # --- from nodes to a path -------------------------------------------------------------------

    def _path(self, at: int, call: Call | None, piece: int) -> Path:
        """Back to the start with the boxes from which the end can be reached, then forward."""
        steps: list[tuple[Node, int, Call | None, int, int]] = []
        wanted = piece
        route = STAYS
        while at >= 0:
            node = self.nodes[at]
            here = self._before(node, call, wanted)
            steps.append((node, here, call, wanted, route))
            wanted, call, route = here, node.call, node.route
            if node.before >= 0 and (node.route != STAYS):
                source = self.nodes[node.before].site
                for box in self.sites.before(source, node.site, wanted):
                    both = self.sites[source].unfiltered(node.route, box) & node.piece
                    if self.frame.some(both):
                        wanted = both
                        break
            at = node.before
        steps.reverse()
        return self._forward(steps)

    def _before(self, node: Node, call: Call | None, wanted: int) -> int:
        """The part of a node's box from which a call leads into a box."""
        if call is None:
            return wanted & node.box
        for box in call.before(wanted, self.frame):
            both = box & node.box
            if self.frame.some(both):
                return both
        return wanted & node.box

    def _forward(self, steps: list[tuple[Node, int, Call | None, int, int]]) -> Path:
        first = steps[0][0]
        state = self.layout.states[first.site]
        values = _single(self.frame.groups, steps[0][1])
        given = given_at(self.sites, first.site, values)
        acts: list[Act] = []
        for at, (node, _, call, piece, route) in enumerate(steps):
            site = self.sites[node.site]
            if call is not None:
                values = self._called(site, call, values, piece, acts, route)
            if at + 1 < len(steps) and route != STAYS:
                if route == NET:
                    acts.append(Act("net", site.state.name))
                target = steps[at + 1][0].site
                for arrived in self.sites.arrive(node.site, target, site.filtered(route, values)):
                    values = _single(self.frame.groups, arrived)
        return Path(state.name, given, tuple(acts))

    def _called(
        self, site: Site, call: Call, values: int, piece: int, acts: list[Act], route: int
    ) -> int:
        """Do one call, with values that lead into `piece`."""
        writes: dict[str, Any] = {}
        for effect in call.effects:
            axis = effect.axis
            now = effect.of(values) & piece & axis.group
            if not now:
                now = effect.of(values) & axis.group
            low = now & -now
            values = values & ~axis.group | low
            number = (low >> axis.at).bit_length() - 1
            typed = site.state.kind == "user"
            value = axis.line(number) if typed else axis.sample(number)
            if call.kind == "set" and call.progress and site.timed:
                last = next((a.value for a in reversed(acts) if a[:2] == ("set", axis.name)), None)
                if last == value:  # the same again would be no progress
                    value = axis.other(number, value)
            writes[axis.name] = value
        if call.kind == "body":
            way = site.routes[route].number if route >= 0 else -1
            acts.append(Act("body", site.state.name, site.written(writes), way))
        elif call.kind in ("set", "again"):
            acts.append(Act("set", call.what, writes[call.what]))
        elif call.kind == "give":
            task = next(task for task in site.state.tasks if task.id == call.what)
            acts += [Act("set", item.key, self._value(item)) for item in task.needed]
        elif call.kind == "end":
            acts.append(Act("end"))
        else:
            acts.append(Act(call.kind, call.what))
        return values

    def _value(self, item: Deliverable) -> object:
        return candidates(self.layout.graph.fields.get(item.key), [])[0]


def given_at(sites: Sites, number: int, values: int) -> dict[str, Any]:
    """The fields that are set at the start, where that is not the same in all runs."""
    found: dict[str, Any] = {}
    layout = sites.layout
    domain, live = layout.domain, layout.live[number]
    for key, axis in domain.keys.items():
        field = layout.graph.fields.get(key)
        context = field is not None and field.origin == "context"
        if not (context or domain.open or key in domain.inputs):
            continue
        mask = axis.initial
        if live >> axis.number & 1:
            mask = values >> axis.at & axis.all
        sample = axis.sample((mask & -mask).bit_length() - 1)
        if sample is not ABSENT:
            found[key] = sample
    return found


def _single(groups: list[int], box: int) -> int:
    """One valuation of a box: the first class of each field (nothing set, then the author's own
    spelling)."""
    found = 0
    for group in groups:
        here = box & group
        found |= here & -here
    return found
