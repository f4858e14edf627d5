"""Forward over boxes: what runs can reach, in one of the two environments."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from statecli.verify.asking import asked, tied
from statecli.verify.box import BoxSet
from statecli.verify.counters import NO_COUNTERS, NO_PASS, Counters, Pass
from statecli.verify.layout import components
from statecli.verify.site import THE_END, Hit, Site
from statecli.verify.sites import Budget, Sites

#: A state with more boxes than this keeps one hull.
MOST_BOXES = 2000
#: So many pieces of one evaluation (two to the power of this) cost an expansion more.
FREE_PIECES = 4
#: So many boxes of those in which a route is the first to hold are kept to show some.
MOST_SHOWN = 64

#: Where an entry arrives.
Key = tuple[int, Pass]


class Move(NamedTuple):
    """Something that takes a run from a box of one state to another state. `way`: the place of the
    route in the order of the state; NET, JUMP otherwise."""

    target: int
    visited: Pass
    way: int


NET, JUMP = -1, -2


class Explorer:
    """One environment. `entries` are the boxes with which each state is entered."""

    def __init__(self, sites: Sites, budget: Budget, *, coop: bool) -> None:
        self.sites = sites
        self.layout = sites.layout
        self.frame = sites.frame
        self.budget = budget
        self.coop = coop
        self.entries: dict[Key, BoxSet] = {}
        self.rests: dict[int, dict[Counters, BoxSet]] = {}
        #: By state the routes that were the first to hold, each with (some of) the boxes of where.
        self.first: dict[int, dict[int, list[int]]] = {}
        #: The moves that are not made since the pass was there, or (`too_long`) is too long.
        self.cuts: set[tuple[int, int]] = set()
        self.too_long: set[tuple[int, int]] = set()
        #: The moves that are made on entry.
        self.passes: dict[int, set[int]] = {}
        self.rescued: dict[int, list[int]] = {}
        self.stuck: dict[int, list[int]] = {}
        self.ties: set[tuple[int, int, int]] = set()
        self.unset: set[tuple[int, str]] = set()
        self.was_set: set[tuple[int, str]] = set()
        self.lacking: set[tuple[int, str]] = set()
        self.moves: set[tuple[int, Key]] = set()
        #: For each state the hull of what is evaluated there.
        self.looked: dict[int, int] = {}
        #: The plan states that begin a run, at rest: nothing is evaluated at the start.
        self.begun: dict[int, int] = {}
        self._begin: dict[int, list[int]] = {}
        self.ended = False
        self.wide: set[int] = set()
        self._rank = {number: at for at, number in enumerate(self.layout.order)}
        self._queue: list[tuple[int, int]] = []
        self._queued: set[int] = set()
        self._pending: dict[int, dict[Pass, BoxSet]] = {}
        self._out: dict[Move, BoxSet] = {}

    # --- running --------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin where a run may begin. A plan state that begins one is not evaluated yet."""
        for name in self.layout.graph.roots():
            number = self.layout.index[name]
            box = self.sites.start(number, coop=self.coop)
            if self.layout.states[number].is_plan:
                self.begun[number] = box
                self.begin(number, [box])
            else:
                self.enter(number, NO_PASS, box)

    def begin(self, number: int, boxes: list[int]) -> None:
        """A run begins in a plan state, at rest."""
        self._begin[number] = boxes
        self.entries.setdefault((number, NO_PASS), self._boxes())
        self._push(number)

    def enter(self, target: int, visited: Pass, box: int) -> None:
        """A run comes into a state with one of these valuations."""
        known = self.entries.get((target, visited))
        if known is not None and known.covers(box):
            return
        pending = self._pending.setdefault(target, {})
        boxes = pending.get(visited)
        if boxes is None:
            boxes = pending[visited] = self._boxes()
        boxes.add(box)
        self._push(target)

    def _boxes(self) -> BoxSet:
        boxes = BoxSet(self.frame, MOST_BOXES, self.budget)
        boxes.wide = not self.budget.left
        return boxes

    def _set(self, sets: dict[Counters, BoxSet], counters: Counters) -> BoxSet:
        found = sets.get(counters)
        if found is None:
            found = sets[counters] = self._boxes()
        return found

    def _push(self, number: int) -> None:
        if number not in self._queued:
            self._queued.add(number)
            heapq.heappush(self._queue, (self._rank.get(number, 0), number))

    def run(self) -> None:
        """Until nothing new is found."""
        while self._queue:
            _, number = heapq.heappop(self._queue)
            self._queued.discard(number)
            self._visit(self.sites[number])

    def _visit(self, site: Site) -> None:
        number = site.number
        self._out = {}
        fresh: list[tuple[Pass, int]] = []
        for visited, boxes in self._pending.pop(number, {}).items():
            known = self.entries.get((number, visited))
            if known is None:
                known = self.entries[number, visited] = self._boxes()
            for box in boxes:
                grown = self._add(known, box, number)
                if grown:
                    fresh.append((visited, grown if known.wide else box))
        if site.state.is_plan:
            self._plan(site, fresh)
        elif site.state.ends:
            self.ended |= bool(fresh)
        else:
            for _, box in fresh:
                self._other(site, box)
        self._leave(site)

    def _add(self, boxes: BoxSet, box: int, number: int) -> int:
        hull = 0
        if not self.budget.left and not boxes.wide:
            hull = boxes.widen()
        grown = boxes.add(box) or hull  # nobody looked at the hull: what it took in may still wait
        if boxes.wide:
            self.wide.add(number)
        return grown

    def _leave(self, site: Site) -> None:
        """Hand on what leaves the state; parts that leave the same way are put together first."""
        for move, boxes in self._out.items():
            self.moves.add((site.number, (move.target, move.visited)))
            for box in boxes:
                for arrived in self.sites.arrive(site.number, move.target, box):
                    self.enter(move.target, move.visited, arrived)
        self._out = {}

    def _exit(self, target: int, visited: Pass, way: int, box: int) -> None:
        move = Move(target, visited, way)
        boxes = self._out.get(move)
        if boxes is None:
            boxes = self._out[move] = self._boxes()
        boxes.add(box)

    # --- states of a plan -----------------------------------------------------------------------

    def _plan(self, site: Site, fresh: list[tuple[Pass, int]]) -> None:
        rests = self.rests.setdefault(site.number, {})
        work: list[tuple[Counters, int]] = []
        for box in self._begin.pop(site.number, ()):
            self._stays(site, Counters(open=True), box, work)
        for visited, box in fresh:
            self.budget.spend()
            self._evaluate(site, site.entry(visited.mid_turn), False, box, visited, work)
        while work:
            counters, box = work.pop()
            if box in rests[counters].boxes:
                self.budget.spend()
                self._rest(site, counters, box, work)

    def _evaluate(
        self,
        site: Site,
        counters: Counters,
        at_end: bool,
        box: int,
        visited: Pass | None,
        work: list[tuple[Counters, int]],
    ) -> None:
        """One evaluation. `visited`: the states of the pass that enters; None for one that begins
        here."""
        self._look(site, counters, at_end, box)
        outcome = site.evaluate(counters, at_end, box)
        self.budget.used += (len(outcome.hits) + len(outcome.rest)) >> FREE_PIECES
        for hit in outcome.hits:
            self._took(site, hit, visited, at_end, work)
        for rest in outcome.rest:
            if at_end:
                self._at_turn_end(site, counters, rest)
                if site.forced_on(counters):
                    continue
            self._stays(site, counters, rest, work)

    def _took(
        self,
        site: Site,
        hit: Hit,
        visited: Pass | None,
        at_end: bool,
        work: list[tuple[Counters, int]],
    ) -> None:
        self._was_first(site, hit.route, hit.box)
        target = site.targets[hit.route]
        assert target is not None
        if self.sites.stops(visited, target):
            assert visited is not None
            self.cuts.add((site.number, target))
            if target not in visited.visited:
                self.too_long.add((site.number, target))
            self._stays(site, site.cut(visited, target), hit.box, work)
            return
        if visited is not None:
            self.passes.setdefault(site.number, set()).add(target)
        if target == THE_END:
            self.ended = True
        else:
            passed = self.sites.onward(site, visited, target, at_end=at_end)
            self._exit(target, passed, hit.route, site.filtered(hit.route, hit.box))

    def _was_first(self, site: Site, at: int, box: int) -> None:
        boxes = self.first.setdefault(site.number, {}).setdefault(at, [])
        if len(boxes) < MOST_SHOWN:
            boxes.append(box)

    def _stays(
        self, site: Site, counters: Counters, box: int, work: list[tuple[Counters, int]]
    ) -> None:
        grown = self._add(self._set(self.rests[site.number], counters), box, site.number)
        if grown:
            work.append((counters, grown))

    def _rest(
        self, site: Site, counters: Counters, box: int, work: list[tuple[Counters, int]]
    ) -> None:
        """Everything that may happen to a box at rest."""
        boxes = self.rests[site.number][counters]
        if not self.coop:
            self._jumps(site, box)
        if not site.timed and not counters.open:
            self._at_turn_end(site, counters, box)
        over = site.turn_over(counters)
        if site.timed or counters.open or site.ends_late:
            if over != counters or site.ends_late:
                self._evaluate(site, over, True, box, None, work)
            else:
                self._at_turn_end(site, over, box)
        for call in site.calls(coop=self.coop, counters=counters):
            after = site.called(counters, call)
            for changed in call.of(box, self.frame):
                self._evaluate(site, after, False, changed, None, work)
            if box not in boxes.boxes:
                return  # it became part of a larger one, which comes next

    def _at_turn_end(self, site: Site, counters: Counters, box: int) -> None:
        """Where nothing is left to ask and nothing holds, only the idle net gets a run on."""
        if site.state.kind == "goal" or counters.open or not site.settled(counters):
            return
        full = site.compiler.complete().yes
        for done in full:
            here = box & done
            if not self.frame.some(here):
                continue
            for rest in site.evaluate(counters, True, here).rest:
                kind = self.stuck if site.net == -2 else self.rescued
                kind.setdefault(site.number, []).append(rest)
                if site.net == THE_END:
                    self.ended = True
                elif site.net >= 0:
                    self._exit(site.net, NO_PASS, NET, rest)

    def _jumps(self, site: Site, box: int) -> None:
        for key, name in site.state.jumps:
            target = self.layout.index.get(name)
            if target is not None and key == "on_error":
                self._exit(target, NO_PASS, JUMP, box)

    # --- states of other kinds ------------------------------------------------------------------

    def _other(self, site: Site, box: int) -> None:
        self.budget.spend()
        if not self.coop:
            self._jumps(site, box)
        self._needs(site, box)
        written = box
        for effect in site.body(coop=self.coop):
            written = effect.of(written)
        self._look(site, NO_COUNTERS, False, written)
        outcome = site.evaluate(NO_COUNTERS, False, written)
        self.budget.used += (len(outcome.hits) + len(outcome.rest)) >> FREE_PIECES
        for hit in outcome.hits:
            self._was_first(site, hit.route, hit.box)
            target = site.targets[hit.route]
            if target == THE_END:
                self.ended = True
            elif target is not None:
                self._exit(target, NO_PASS, hit.route, site.filtered(hit.route, hit.box))
        if site.custom:
            self._custom(site, written)
        elif not self.coop:
            for target, stray in site.strays(outcome.hits):
                self._exit(target, NO_PASS, JUMP, stray)
        if site.state.kind == "user" and not self.coop:
            for rest in outcome.rest:  # what was typed stays, though it leads nowhere
                self._jumps(site, rest)
        self._nothing(site, box, outcome.hits, outcome.rest)

    def _custom(self, site: Site, box: int) -> None:
        """A kind that nobody knows may go to any of its targets, or end the run."""
        self.ended = True
        for at, target in enumerate(site.targets):
            self._was_first(site, at, box)
            if target is not None and target >= 0:
                self._exit(target, NO_PASS, at, site.filtered(at, box))

    def _nothing(self, site: Site, box: int, hits: Iterable[Hit], rest: Iterable[int]) -> None:
        """Where nothing holds after a body; a `user` state only where no line would help."""
        if site.custom or site.open:
            return
        left = list(rest)
        if site.state.kind == "user" and left:
            effects = site.body(coop=self.coop)
            leaves = []
            for hit in hits:
                back = hit.box
                for effect in effects:
                    back = effect.before(back)
                if back and self.frame.some(back & box):
                    leaves.append(back & box)
            left = self.frame.outside([box], leaves)
        if left:
            self.stuck.setdefault(site.number, []).extend(left)

    # --- what is looked at ----------------------------------------------------------------------

    def _look(self, site: Site, counters: Counters, at_end: bool, box: int) -> None:
        self.looked[site.number] = self.looked.get(site.number, 0) | box
        if site.foreign:
            if self.coop:
                for key in asked(site, counters, at_end, box, set_=False):
                    self.unset.add((site.number, key))
            else:
                for key in asked(site, counters, at_end, box, set_=True):
                    self.was_set.add((site.number, key))
        if self.coop and site.ties:
            for one, other in tied(site, counters, at_end, box):
                numbers = sorted((site.routes[one].number, site.routes[other].number))
                self.ties.add((site.number, numbers[0], numbers[1]))

    def _needs(self, site: Site, box: int) -> None:
        """What a body reads (`reads`) and is not there."""
        if not self.coop:
            return
        for key in site.state.reads:
            if site.lacks(key, box):
                self.lacking.add((site.number, key))

    # --- what came of it ------------------------------------------------------------------------

    def longest_pass(self) -> int:
        """No pass makes more moves than this: the longest chain of moves that are made on entry,
        and the one before them. Where they go round each state counts once."""
        edges = [
            [target for target in self.passes.get(number, ()) if target >= 0]
            for number in range(len(self.layout.states))
        ]
        owner = components(edges)
        sizes = Counter(owner)
        longest: dict[int, int] = {}
        members = sorted(range(len(edges)), key=lambda number: owner[number])
        for number in members:  # components are numbered from the ends inwards
            ahead = [longest[owner[t]] for t in edges[number] if owner[t] != owner[number]]
            own = sizes[owner[number]] + max(ahead, default=0)
            longest[owner[number]] = max(own, longest.get(owner[number], 0))
        return max((longest[owner[n]] for n in self.passes), default=0)

    @property
    def entered(self) -> set[int]:
        return {number for number, _ in self.entries}
