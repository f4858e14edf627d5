"""Graphs that take several ways at once: all places of all branches, explicitly (model.md 7).

A configuration is the set of tokens; each has values of its own since the split. Where branches
split, every value that matters is told apart, because the branches share it. Joins fold what the
branches wrote, the last in the order of the transitions wins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from statecli.model.code import STRATEGY
from statecli.verify.explore import Budget, Sites
from statecli.verify.site import NO_COUNTERS, THE_END, Effect, Site

#: More configurations than this are not looked at.
MOST_CONFIGURATIONS = 300_000
#: A loop that splits and never joins has ever more branches; nobody draws so many by hand.
MOST_TOKENS = 256
#: A split tells at most so many combinations of values apart.
MOST_VALUES = 4096


class Token(NamedTuple):
    """One branch: where it is, from which state and by which group it came, its values, the axes
    that were written since the split, and its place in the order of the branches."""

    site: int
    source: int
    group: str
    box: int
    written: int = 0
    order: tuple[int, ...] = ()


Configuration = tuple[Token, ...]


class Trace(NamedTuple):
    """A configuration in which something is wrong: the states where the branches are."""

    state: int
    places: tuple[int, ...]
    lacking: tuple[int, ...] = ()


class Branches:
    """One environment of a graph with branches. The sets are those of `Explorer`."""

    def __init__(self, sites: Sites, budget: Budget, *, coop: bool) -> None:
        self.sites = sites
        self.layout = sites.layout
        self.frame = sites.frame
        self.budget = budget
        self.coop = coop
        self.entered: set[int] = set()
        self.first: dict[int, set[int]] = {}
        self.stuck: set[int] = set()
        self.unset: set[tuple[int, str]] = set()
        self.was_set: set[tuple[int, str]] = set()
        self.lacking: set[tuple[int, str]] = set()
        self.waiting: dict[int, Trace] = {}
        self.open_ends: dict[int, Trace] = {}
        self.twice: dict[int, Trace] = {}
        self.seen = 0
        self.complete = True
        self._joins = self._sources()

    def _sources(self) -> dict[int, dict[str, set[int]]]:
        """For each state that waits for all: by group the states from which a branch comes."""
        found: dict[int, dict[str, set[int]]] = {}
        for number, state in enumerate(self.layout.states):
            for way in state.transitions:
                target = self.layout.index.get(way.target)
                if target is not None:
                    if self.layout.states[target].settings.get("join") == "all":
                        found.setdefault(target, {}).setdefault(way.group, set()).add(number)
        return found

    def run(self) -> None:
        known: set[Configuration] = set()
        queue: deque[Configuration] = deque()
        for name in self.layout.graph.roots():
            number = self.layout.index[name]
            token = Token(number, -1, "", self.layout.start(number, coop=self.coop))
            queue.append((token,))
        known.update(queue)
        while queue and self.complete:
            now = queue.popleft()
            self._judge(now)
            for found in self._after(now):
                if not self._afford(found) or len(known) >= MOST_CONFIGURATIONS:
                    self.complete = False
                    break
                if found not in known:
                    known.add(found)
                    queue.append(found)
        self.seen = len(known)

    def _afford(self, found: Configuration) -> bool:
        """Pay for one that was made, known or not: a split makes many of one, and each costs by its
        tokens."""
        for _ in range(1 + len(found) // 4):
            self.budget.spend()
        return self.budget.left and len(found) <= MOST_TOKENS

    # --- one configuration ----------------------------------------------------------------------

    def _rests(self, token: Token) -> bool:
        """Whether a token goes no further by itself: at an end, or waiting to be joined."""
        return self._ended(token) or token.site in self._joins

    def _ended(self, token: Token) -> bool:
        """Whether a branch is over. In a terminal state that waits for all it still waits."""
        if token.site == THE_END:
            return True
        return self.layout.states[token.site].ends and token.site not in self._joins

    def _judge(self, now: Configuration) -> None:
        self.entered.update(token.site for token in now if token.site >= 0)
        places = tuple(token.site for token in now)
        open_ = [token for token in now if not self._ended(token)]
        ended = [token for token in now if self._ended(token)]
        if ended and open_ and ended[0].site >= 0:
            for token in ended:
                self.open_ends.setdefault(token.site, Trace(open_[0].site, places))
        counts: dict[int, int] = {}
        for token in open_:
            if "join" not in self.layout.states[token.site].settings:
                counts[token.site] = counts.get(token.site, 0) + 1
        for site, count in counts.items():
            if count > 1:
                self.twice.setdefault(site, Trace(site, places))
        stays = open_ and not ended and all(self._rests(token) for token in now)
        if stays and not list(self._joined(now)):
            for token in open_:
                here = {other.source for other in now if other.site == token.site}
                wanted = self._joins[token.site].get(token.group, set())
                lacking = tuple(sorted(wanted - here))
                self.waiting.setdefault(token.site, Trace(token.site, places, lacking))

    def _after(self, now: Configuration) -> Iterator[Configuration]:
        yield from self._joined(now)
        for at, token in enumerate(now):
            if not self._rests(token):
                others = now[:at] + now[at + 1 :]
                for found in self._moved(token):
                    yield _sorted((*others, *found))

    def _joined(self, now: Configuration) -> Iterator[Configuration]:
        """Every join that has what it waits for, made one branch that goes on."""
        for site, groups in self._joins.items():
            here = [token for token in now if token.site == site]
            for group, wanted in groups.items():
                parts = []
                for source in sorted(wanted):
                    came = [t for t in here if t.source == source and t.group == group]
                    if came:
                        parts.append(came[0])
                if parts and len(parts) == len(wanted):
                    left = list(now)
                    for part in parts:
                        left.remove(part)
                    if self.layout.states[site].ends:
                        yield _sorted((*left, Token(THE_END, site, "", 0)))
                        continue
                    for going in self._moved(self._folded(parts)):
                        yield _sorted((*left, *going))

    def _folded(self, parts: list[Token]) -> Token:
        ordered = sorted(parts, key=lambda token: token.order)
        box, written = ordered[0].box, 0
        for axis in self.layout.axes[ordered[0].site]:
            writers = [token for token in ordered if token.written >> axis.number & 1]
            if writers:
                group = writers[-1].box & axis.group
                plain = axis.field is None or axis.field.reducer in ("", "overwrite")
                if len(writers) > 1 and not plain:
                    group = axis.present << axis.at
                box = box & ~axis.group | group
        for token in ordered:
            written |= token.written
        if self.layout.states[ordered[0].site].settings.get(STRATEGY) is not None:
            for axis in self.layout.domain.keys.values():
                box |= axis.all << axis.at  # what its function makes is not known
        return ordered[0]._replace(box=box, written=written, source=-1)

    # --- one token ------------------------------------------------------------------------------

    def _moved(self, token: Token) -> Iterator[Configuration]:
        """What a token becomes by one step: one token, or several where branches split."""
        site = self.sites[token.site]
        self._look_at_reads(site, token.box)
        box, written = token.box, token.written
        for effect in self._body(site):
            box = effect.of(box)
            written |= 1 << effect.axis.number
        for key in site.state.writes:
            axis = self.layout.domain.keys.get(key)
            if axis is not None:
                written |= 1 << axis.number
        self._look(site, box)
        if not self.coop:
            for key, name in site.state.jumps:
                target = self.layout.index.get(name)
                if target is not None and key == "on_error":
                    yield from self._to(token, target, "", token.box, token.written)
        if site.state.fans_out:
            yield from self._split(site, token, box, written)
            return
        outcome = site.evaluate(NO_COUNTERS, True, box)
        for hit in outcome.hits:
            self.first.setdefault(site.number, set()).add(hit.route)
            target = site.targets[hit.route]
            if target is not None:
                yield from self._to(token, target, site.routes[hit.route].group, hit.box, written)
        if outcome.rest and not site.open:
            self.stuck.add(site.number)

    def _body(self, site: Site) -> list[Effect]:
        if not site.state.is_plan:
            return list(site.body(coop=self.coop))
        found: list[Effect] = []
        for call in site.calls(coop=self.coop, counters=NO_COUNTERS):
            found += list(call.effects)
        return found

    def _to(
        self, token: Token, target: int, group: str, box: int, written: int
    ) -> Iterator[Configuration]:
        if target == THE_END:
            yield (Token(THE_END, token.site, group, 0, 0, token.order),)
            return
        for arrived in self.sites.arrive(token.site, target, box):
            yield (Token(target, token.site, group, arrived, written, token.order),)

    def _split(self, site: Site, token: Token, box: int, written: int) -> Iterator[Configuration]:
        """Every transition that holds is taken, for each combination of values."""
        for value in self._values(site, box):
            for mode in site.modes(NO_COUNTERS):
                taken: list[Token] = []
                for at, route in enumerate(site.routes):
                    target = site.targets[at]
                    if target is None:
                        continue
                    truth = site.truth(at, mode)
                    if not any(value & yes == value for yes in truth.yes):
                        continue
                    self.first.setdefault(site.number, set()).add(at)
                    branch = token._replace(order=(*token.order, at))
                    for found in self._to(branch, target, route.group, value, 0):
                        taken += found
                if taken:
                    yield tuple(taken)
                elif not site.open:
                    self.stuck.add(site.number)

    def _values(self, site: Site, box: int) -> Iterator[int]:
        """The single valuations of a box, as far as they matter here."""
        choices: list[list[int]] = []
        total = 1
        rest = box
        for axis in self.layout.axes[site.number]:
            group = box & axis.group
            rest &= ~axis.group
            bits = []
            while group:
                low = group & -group
                bits.append(low)
                group ^= low
            choices.append(bits)
            total *= len(bits)
        if total > MOST_VALUES:
            self.complete = False
            yield box
            return
        for picked in product(*choices):
            yield rest | sum(picked)

    # --- what is looked at ----------------------------------------------------------------------

    def _look(self, site: Site, box: int) -> None:
        if self.coop:
            for key in site.asked(NO_COUNTERS, False, box, set_=False):
                self.unset.add((site.number, key))
        else:
            for key in site.asked(NO_COUNTERS, False, box, set_=True):
                self.was_set.add((site.number, key))

    def _look_at_reads(self, site: Site, box: int) -> None:
        for key in site.state.reads if self.coop else ():
            axis = self.layout.domain.keys.get(key)
            if axis is not None and key not in site.own and box & (axis.absent << axis.at):
                self.lacking.add((site.number, key))


def _sorted(tokens: tuple[Token, ...]) -> Configuration:
    """Equal configurations look equal. What remains of the way of a branch is its rank among the
    others: else every round of a loop with a split in it would be new."""
    ways = sorted({token.order for token in tokens})
    if ways != [(rank,) for rank in range(len(ways))]:
        ranks = {way: (rank,) for rank, way in enumerate(ways)}
        tokens = tuple([token._replace(order=ranks[token.order]) for token in tokens])
    return tuple(sorted(tokens))
