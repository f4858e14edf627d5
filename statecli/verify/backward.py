"""Backward over boxes: from which values a run of FULL can still end.

Work goes from the ends inwards. Values that FULL never has in a state are of no interest, and a
state all of whose values are known to be good needs no further look.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from statecli.verify.box import BoxSet
from statecli.verify.calls import Call
from statecli.verify.counters import NO_COUNTERS, NO_PASS, Counters, Pass
from statecli.verify.explore import MOST_BOXES, NET, Explorer, Key
from statecli.verify.site import THE_END, Hit, Site

#: A context of an evaluation: the counters in it, and whether it is that of a turn's end.
Context = tuple[Counters, bool]


class Backward:
    """What can end. `full` must have run."""

    def __init__(self, full: Explorer) -> None:
        self.full = full
        self.sites = full.sites
        self.layout = full.layout
        self.frame = full.frame
        self.budget = full.budget
        #: Entries from which everything that FULL brings can end, and what is known of others.
        self.whole: set[Key] = set()
        self.good: dict[Key, BoxSet] = {}
        self.rests: dict[int, dict[Counters, BoxSet]] = {}
        self.wide = False
        #: States in which nothing at all is doomed.
        self.sure: set[int] = set()
        self._keys: dict[int, list[Key]] = {}
        for key in full.entries:
            self._keys.setdefault(key[0], []).append(key)
        self._before: dict[int, set[int]] = {}
        for source, key in full.moves:
            self._before.setdefault(key[0], set()).add(source)
        self._rank = {number: -at for at, number in enumerate(self.layout.order)}

    def run(self) -> None:
        """Until nothing new is found."""
        queue = [(self._rank.get(number, 0), number) for number in self._keys]
        heapq.heapify(queue)
        queued = set(self._keys)
        while queue:
            _, number = heapq.heappop(queue)
            queued.discard(number)
            if number in self.sure:
                continue
            if not self.budget.left:
                self.wide = True
                self.whole.update(self._keys[number])
                self.sure.add(number)
                changed = True
            else:
                changed = self._state(self.sites[number])
            if changed:
                for source in self._before.get(number, ()):
                    if source not in queued:
                        queued.add(source)
                        heapq.heappush(queue, (self._rank.get(source, 0), source))

    def doomed(self, entries: dict[Key, BoxSet]) -> dict[Key, list[int]]:
        """The boxes of some entries from which no run ends."""
        found: dict[Key, list[int]] = {}
        for key, boxes in entries.items():
            if key in self.whole:
                continue
            good = self.good.get(key)
            left = self.frame.outside(boxes, good if good is not None else ())
            if left:
                found[key] = left
        return found

    def doomed_starts(self, begun: dict[int, int]) -> dict[int, list[int]]:
        """The same for the states that begin a run, which are not evaluated on entry."""
        found: dict[int, list[int]] = {}
        for number, box in begun.items():
            if number in self.sure:
                continue
            good = self.rests.get(number, {}).get(Counters(open=True))
            left = self.frame.outside([box], good if good is not None else ())
            if left:
                found[number] = left
        return found

    # --- one state ------------------------------------------------------------------------------

    def _state(self, site: Site) -> bool:
        """Find out more about one state; whether anything came of it."""
        self.budget.spend()
        keys = self._keys[site.number]
        if site.state.ends or site.custom:
            self.whole.update(keys)
            self.sure.add(site.number)
            return True
        lone = (site.number, NO_PASS)
        if not site.state.is_plan and lone not in self.full.entries:
            # Only passes that `max_hops` cut lead here: not decided, so nothing is claimed of it.
            self.whole.update((*keys, lone))
            self.sure.add(site.number)
            self.wide = True
            return True
        before = len(self.whole), sum(len(self.good[k].boxes) for k in keys if k in self.good)
        marks = [self.good[k].boxes for k in keys if k in self.good]
        if site.state.is_plan:
            self._plan(site)
        else:
            self._other(site)
        after = len(self.whole), sum(len(self.good[k].boxes) for k in keys if k in self.good)
        return before != after or marks != [self.good[k].boxes for k in keys if k in self.good]

    def _boxes(self) -> BoxSet:
        return BoxSet(self.frame, MOST_BOXES, self.budget)

    def _add(self, boxes: BoxSet, box: int) -> int:
        self.budget.spend()
        found = boxes.add(box)
        self.wide |= boxes.wide
        return found

    def _into(self, source: int, key: Key, box: int, way: int = NET) -> Iterator[int]:
        """The part of a box that leaves `source` for an entry and can end from there."""
        if key in self.whole:
            yield box
            return
        good = self.good.get(key)
        for target in good if good is not None else ():
            for part in self.sites.before(source, key[0], target):
                both = self.sites[source].unfiltered(way, part) & box
                if self.frame.some(both):
                    yield both

    def _key(self, site: Site, target: int, visited: Pass | None, *, at_end: bool) -> Key:
        if not site.state.is_plan:
            return target, NO_PASS
        return target, self.sites.onward(site, visited, target, at_end=at_end)

    def _jumps(self, site: Site, box: int) -> Iterator[int]:
        for name, state in site.state.jumps:
            target = self.layout.index.get(state)
            if target is not None and name == "on_error":
                yield from self._into(site.number, (target, NO_PASS), box)

    def _cover(self, key: Key, good: Iterable[int]) -> None:
        known = self.good.get(key)
        if known is None:
            known = self.good[key] = self._boxes()
        for box in good:
            self._add(known, box)
        if not self.frame.outside(self.full.entries[key], known):
            self.whole.add(key)

    def _other(self, site: Site) -> None:
        key = (site.number, NO_PASS)
        hull = self.full.entries[key].hull()
        effects = site.body(coop=False)
        written = hull
        for effect in effects:
            written = effect.of(written)
        outcome = site.evaluate(NO_COUNTERS, False, written)
        good = list(self._jumps(site, hull))
        found: list[int] = []
        for hit in outcome.hits:
            target = site.targets[hit.route]
            if target == THE_END:
                found.append(hit.box)
            elif target is not None:
                found += self._into(site.number, (target, NO_PASS), hit.box, hit.route)
        for target, box in site.strays(outcome.hits):
            found += self._into(site.number, (target, NO_PASS), box)
        for rest in outcome.rest if site.state.kind == "user" else ():
            found += self._jumps(site, rest)
        for part in found:
            before = part
            for effect in effects:
                before = effect.before(before)
            if before:
                good.append(before)
        self._cover(key, good)

    # --- states of a plan -----------------------------------------------------------------------

    def _plan(self, site: Site) -> None:
        full = self.full
        hull = 0
        for key in self._keys[site.number]:
            hull |= full.entries[key].hull()
        rests = full.rests.get(site.number, {})
        for boxes in rests.values():
            hull |= boxes.hull()
        if self._quick(site, hull, rests):
            self.whole.update(self._keys[site.number])
            self.sure.add(site.number)
            return
        work = _PlanWork(self, site, hull, rests)
        work.run()
        for key in self._keys[site.number]:
            if key not in self.whole:
                context = (site.entry(key[1].mid_turn), False)
                self._cover(key, work.evaluated(context, key[1]))

    def _quick(self, site: Site, hull: int, rests: dict[Counters, BoxSet]) -> bool:
        """Whether one call always gets a run on to where everything can end: most states."""
        for key in self._keys[site.number]:
            boxes = self.full.entries[key]
            if boxes:
                counters = site.entry(key[1].mid_turn)
                hits = site.evaluate(counters, False, boxes.hull()).hits
                if not self._all_whole(site, hits, key[1], at_end=False):
                    return False
        for counters in rests:
            if not any(
                call.region is None and self._leads_on(site, counters, call, hull)
                for call in site.calls(coop=False, counters=counters)
            ):
                return False
        return True

    def _leads_on(self, site: Site, counters: Counters, call: Call, hull: int) -> bool:
        after = site.called(counters, call)
        for effect in call.effects:
            if not all(effect.outcomes):
                return False
        for box in call.of(hull, self.frame):
            outcome = site.evaluate(after, False, box)
            if outcome.rest:
                return False
            if not self._all_whole(site, outcome.hits, None, at_end=False):
                return False
        return True

    def _all_whole(
        self, site: Site, hits: Iterable[Hit], visited: Pass | None, *, at_end: bool
    ) -> bool:
        for hit in hits:
            target = site.targets[hit.route]
            if target is None or target == THE_END or self.sites.stops(visited, target):
                continue
            if self._key(site, target, visited, at_end=at_end) not in self.whole:
                return False
        return True


class _PlanWork:
    """What of one plan state can end: of its values at rest, by counters."""

    def __init__(
        self, back: Backward, site: Site, hull: int, rests: dict[Counters, BoxSet]
    ) -> None:
        self.back = back
        self.site = site
        self.frame = back.frame
        self.counters = list(rests)
        for counters in self.counters:
            for call in site.calls(coop=False, counters=counters):
                for box in call.of(hull, self.frame):
                    hull |= box
        self.hull = hull
        self.good = back.rests.setdefault(site.number, {})
        #: For each context what leads into it: the counters at rest, and the call (None: a turn's
        #: end).
        self.ways: dict[Context, list[tuple[Counters, Call | None]]] = {}
        for counters in self.counters:
            over = site.turn_over(counters)
            self.ways.setdefault((over, True), []).append((counters, None))
            for call in site.calls(coop=False, counters=counters):
                after = site.called(counters, call)
                self.ways.setdefault((after, False), []).append((counters, call))
        self.work: list[tuple[Counters, int]] = []

    def run(self) -> None:
        for context in list(self.ways):
            for box in self._seeds(context, None):
                self._lead(context, box)
        for counters in self.counters:
            for box in self.back._jumps(self.site, self.hull):
                self._take(counters, box)
        for counters, boxes in self.good.items():
            self.work += [(counters, box) for box in boxes]
        while self.work:
            counters, box = self.work.pop()
            if box not in self.good[counters].boxes or not self.back.budget.left:
                continue
            for context, rest in self._resting(counters):
                for left in rest:
                    both = left & box
                    if self.frame.some(both):
                        self._lead(context, both)

    def evaluated(self, context: Context, visited: Pass | None) -> Iterator[int]:
        """What can end of an evaluation."""
        yield from self._seeds(context, visited)
        counters = context[0]
        outcome = self.site.evaluate(*context, self.hull)
        for left in outcome.rest:
            yield from self._meeting(counters, left)
        for hit in outcome.hits:
            target = self.site.targets[hit.route]
            assert target is not None
            if visited is not None and self.back.sites.stops(visited, target):
                yield from self._meeting(self.site.cut(visited, target), hit.box)

    def _meeting(self, counters: Counters, box: int) -> Iterator[int]:
        known = self.good.get(counters)
        for good in known if known is not None else ():
            both = good & box
            if self.frame.some(both):
                yield both

    def _seeds(self, context: Context, visited: Pass | None) -> Iterator[int]:
        """What leaves the state in this evaluation (or the net behind it) for where it can end."""
        site = self.site
        if context[1]:
            yield from self._net(context[0])
        for hit in site.evaluate(*context, self.hull).hits:
            target = site.targets[hit.route]
            assert target is not None
            if self.back.sites.stops(visited, target):
                continue
            if target == THE_END:
                yield hit.box
            else:
                key = self.back._key(site, target, visited, at_end=context[1])
                yield from self.back._into(site.number, key, hit.box, hit.route)

    def _resting(self, counters: Counters) -> Iterator[tuple[Context, tuple[int, ...]]]:
        """The evaluations that leave a run at rest with these counters."""
        for context in self.ways:
            if context[0] == counters:
                if not (context[1] and self.site.forced_on(counters)):
                    yield context, self.site.evaluate(*context, self.hull).rest

    def _lead(self, context: Context, box: int) -> None:
        """An evaluation of this box can end: so can what may lead to it."""
        for counters, call in self.ways[context]:
            for found in (box,) if call is None else call.before(box, self.frame):
                self._take(counters, found)

    def _take(self, counters: Counters, box: int) -> None:
        box &= self.hull
        known = self.good.get(counters)
        if known is None:
            known = self.good[counters] = self.back._boxes()
        if self.frame.some(box):
            grown = self.back._add(known, box)
            if grown:
                self.work.append((counters, grown))

    def _net(self, counters: Counters) -> Iterator[int]:
        """What the idle net gets on."""
        site = self.site
        if site.state.kind == "goal" or counters.open or not site.settled(counters):
            return
        if site.net == -2:
            return
        for rest in site.evaluate(counters, True, self.hull).rest:
            for done in site.compiler.complete().yes:
                both = rest & done
                if self.frame.some(both):
                    if site.net == THE_END:
                        yield both
                    else:
                        yield from self.back._into(site.number, (site.net, NO_PASS), both)
