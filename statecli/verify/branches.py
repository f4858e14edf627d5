"""Graphs that take several ways at once: all places of all branches, explicitly (model.md 7).

Whatever branch moves next: nothing is assumed of how long a body takes. Where no other branch can
notice the step of one, its turn comes first and the others wait (partial order reduction, Peled's
ample sets): so many branches side by side cost as many places as they have, not their product.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import NamedTuple

from statecli.kernel.joins import merge_of
from statecli.model.code import STRATEGY
from statecli.verify.asking import asked, asked_by_all
from statecli.verify.calls import Effect
from statecli.verify.counters import NO_COUNTERS
from statecli.verify.explore import strays
from statecli.verify.site import THE_END, Site
from statecli.verify.sites import Budget, Sites
from statecli.verify.tokens import Configuration, Joins, Token, tidied

#: More configurations than this are not looked at.
MOST_CONFIGURATIONS = 50_000
#: Nor more than this where there are more branches in each round: it is undecided anyway.
MOST_ROUNDS = 4_000
#: A split tells at most so many combinations of values apart.
MOST_VALUES = 4096
#: A body that may write more fields than this is not told apart by which of them it writes.
MOST_WRITES = 6


class Trace(NamedTuple):
    """A configuration in which something is wrong: the states where the branches are."""

    state: int
    places: tuple[int, ...]
    lacking: tuple[int, ...] = ()


class Step(NamedTuple):
    """What one body of a branch may lead to: the branches in its place, none where it is stuck.
    `box`: its values after the body, of which these `effects` wrote some; `way`: the place of the
    route that was taken, -1 where all were that hold (they `split`) or none."""

    branches: tuple[Token, ...]
    box: int
    effects: tuple[Effect, ...]
    way: int = -1
    split: bool = False


class Steps:
    """The bodies of branches in one environment. `single`: values are told apart one by one."""

    def __init__(self, joins: Joins, *, coop: bool, single: bool = False) -> None:
        self.joins = joins
        self.sites = joins.sites
        self.layout = joins.layout
        self.coop = coop
        self.single = single
        self.first: dict[int, set[int]] = {}
        self.stuck: set[int] = set()
        self.unset: set[tuple[int, str]] = set()
        self.was_set: set[tuple[int, str]] = set()
        self.lacking: set[tuple[int, str]] = set()
        self.complete = True
        self._known: dict[Token, list[Step]] = {}

    def of(self, token: Token) -> list[Step]:
        """Everything that one body may lead to, whatever the other branches do."""
        known = self._known.get(token)
        if known is None:
            known = self._known[token] = list(dict.fromkeys(self._of(token)))
        return known

    def _of(self, token: Token) -> Iterator[Step]:
        site = self.sites[token.site]
        self._look_at_reads(site, token.box)
        if not self.coop:
            yield from self._jumps(site, token)
        left = [token.box] if site.state.kind == "user" else []
        for box, written, effects in self._bodies(site, token.box):
            self._look(site, box)
            now = token._replace(box=box, written=_noted(token.written, written))
            leads_on = self._split(site, now) if site.state.fans_out else self._moved(site, now)
            for step in leads_on:
                yield step._replace(box=step.box & box, effects=effects)
                if step.branches and left:
                    left = self._helped(left, step.box & box, effects)
        if left and self.coop:
            self.stuck.add(site.number)

    def _helped(self, left: list[int], box: int, effects: tuple[Effect, ...]) -> list[int]:
        """The values with which no line that was looked at gets a `user` state on."""
        for effect in effects:
            box = effect.before(box)
        return self.sites.frame.outside(left, [box]) if box else left

    # --- the body -------------------------------------------------------------------------------

    def _bodies(self, site: Site, box: int) -> Iterator[tuple[int, int, tuple[Effect, ...]]]:
        """The values after the body, the axes it wrote, and how: COOP writes all, FULL any."""
        if site.state.is_plan:
            self.complete = False  # not decided: what is asked for there is not looked at
        effects = () if site.state.is_plan else site.body(coop=self.coop)
        chosen: Iterator[tuple[Effect, ...]] = iter([effects])
        if not self.coop and not site.custom and len(effects) <= MOST_WRITES:
            sure = [_written_only(effect) for effect in effects]
            chosen = chain.from_iterable(combinations(sure, n) for n in range(len(sure) + 1))
        elif len(effects) > MOST_WRITES and not self.coop:
            self.complete = False
        for some in chosen:
            after, written = box, 0
            for effect in some:
                after = effect.of(after)
                written |= 1 << effect.axis.number
            for value in self.values(site, after) if self.single else (after,):
                yield value, written, some

    def _jumps(self, site: Site, token: Token) -> Iterator[Step]:
        for key, name in site.state.jumps:
            target = self.layout.index.get(name)
            if target is not None and key == "on_error":
                yield from self._to(token, target, "", token.box, -1)

    def _moved(self, site: Site, token: Token) -> Iterator[Step]:
        outcome = site.evaluate(NO_COUNTERS, site.state.is_plan, token.box)
        hits = [(hit.route, hit.box) for hit in outcome.hits]
        if site.custom:  # it may go anywhere, or end
            hits = [(at, token.box) for at in range(len(site.routes))]
            self.complete &= self.coop
        for at, box in hits:
            self.first.setdefault(site.number, set()).add(at)
            target = site.targets[at]
            if target is not None:
                passed = site.filtered(at, box)
                for step in self._to(token, target, site.routes[at].group, passed, at):
                    yield step._replace(box=box)
        if not self.coop:
            for target, box in strays(site, outcome.hits):
                yield from self._to(token, target, "", box, -1)
        if outcome.rest and not site.custom:
            for rest in outcome.rest:
                yield from self._nothing(site, token._replace(box=rest))

    def _nothing(self, site: Site, token: Token) -> Iterator[Step]:
        """Nothing holds after the body: a person may say something else, others are stuck."""
        if self.coop and site.state.kind != "user":
            self.stuck.add(site.number)
            yield Step((token._replace(stuck=True),), token.box, ())
            return
        if not self.coop and site.state.kind == "user":  # what was typed stays
            yield from self._jumps(site, token)
        yield Step((), token.box, ())

    def _to(self, token: Token, target: int, group: str, box: int, at: int) -> Iterator[Step]:
        if target == THE_END:
            yield Step((Token(THE_END, token.site, group, 0),), box, (), at)
            return
        for arrived in self.sites.arrive(token.site, target, box):
            entered = self.joins.entering(token, target, group, arrived, jump=at < 0)
            yield Step((entered,), box, (), at)

    def _split(self, site: Site, token: Token) -> Iterator[Step]:
        """Every transition that holds is taken, for each combination of values."""
        for value in self.values(site, token.box):
            for mode in site.modes(NO_COUNTERS):
                taken: list[Token] = []
                ways: list[int] = []
                for at, route in enumerate(site.routes):
                    target = site.targets[at]
                    holds = any(value & yes == value for yes in site.truth(at, mode).yes)
                    if target is None or not holds:
                        continue
                    self.first.setdefault(site.number, set()).add(at)
                    ways.append(at)
                    passed = site.filtered(at, value)
                    for step in self._to(token, target, route.group, passed, at):
                        taken += step.branches
                if not taken:
                    yield from self._nothing(site, token._replace(box=value))
                    continue
                way = ways[0] if len(ways) == 1 else -1
                yield Step(tuple(taken), value, (), way, len(taken) > 1)

    def values(self, site: Site, box: int) -> Iterator[int]:
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
        found = self.unset if self.coop else self.was_set
        found.update((site.number, key) for key in self.asked(site, box, set_=not self.coop))

    def asked(self, site: Site, box: int, *, set_: bool) -> set[str]:
        """The keys that guards look at while they are absent (or with `set_` present). A state that
        takes all its ways tries all of them."""
        if not site.state.fans_out:
            return set(asked(site, NO_COUNTERS, False, box, set_=set_))
        return set(asked_by_all(site, box, set_=set_))

    def _look_at_reads(self, site: Site, box: int) -> None:
        for key in site.state.reads if self.coop else ():
            if self.lacks(site, key, box):
                self.lacking.add((site.number, key))

    def lacks(self, site: Site, key: str, box: int) -> bool:
        """Whether a field that a body reads may not be there."""
        axis = self.layout.domain.keys.get(key)
        return axis is not None and key not in site.own and bool(box & (axis.absent << axis.at))


def _written_only(effect: Effect) -> Effect:
    """The same where the value is surely written: none is kept (as it is of what is not there)."""
    axis = effect.axis
    return Effect(axis, [effect.outcomes[0] & axis.present] * axis.size)


def _noted(levels: tuple[int, ...], written: int) -> tuple[int, ...]:
    return (*levels[:-1], levels[-1] | written) if levels else levels


class Branches:
    """One environment of a graph with branches. The sets are those of `Explorer`."""

    def __init__(self, sites: Sites, budget: Budget, *, coop: bool) -> None:
        self.sites = sites
        self.layout = sites.layout
        self.budget = budget
        self.joins = Joins(sites, seen=False)
        self.steps = Steps(self.joins, coop=coop)
        #: A run with more branches than this is not followed: they become more in each round.
        self.most = 2 + sum(len(s.transitions) for s in self.layout.states if s.fans_out)
        self.entered: set[int] = set()
        self.waiting: dict[int, Trace] = {}
        self.open_ends: dict[int, Trace] = {}
        self.twice: dict[int, Trace] = {}
        self.seen = 0
        self.complete = True
        self.more_and_more = False
        self._known: set[Configuration] = set()

    def run(self) -> None:
        queue: deque[Configuration] = deque(starts(self.joins, coop=self.steps.coop))
        known = self._known
        known.update(queue)
        while queue and self._affordable(1):
            now = queue.popleft()
            self._judge(now)
            for found in self._after(now):
                if not self._affordable(len(found) // 4):
                    break
                if found not in known:
                    known.add(found)
                    queue.append(found)
        self.complete &= self.steps.complete
        self.seen = len(known)

    def _affordable(self, cost: int) -> bool:
        """Pay for a configuration, by its branches; whether there is more to look at."""
        for _ in range(cost):
            self.budget.spend()
        most = MOST_ROUNDS if self.more_and_more else MOST_CONFIGURATIONS
        left = self.budget.left and len(self._known) <= most
        self.complete &= left
        return left

    def _judge(self, now: Configuration) -> None:
        joins = self.joins
        self.entered.update(token.site for token in now if token.site >= 0)
        places = tuple(token.site for token in now)
        ended = [token for token in now if joins.ended(token)]
        open_ = [token for token in now if not joins.ended(token)]
        for token in ended:
            if open_ and token.site >= 0:
                other = next((t for t in open_ if not joins.waits(t)), open_[0])
                self.open_ends.setdefault(token.site, Trace(other.site, places))
        counts: dict[int, int] = {}
        for token in open_:
            if "join" not in self.layout.states[token.site].settings:
                counts[token.site] = counts.get(token.site, 0) + 1
        for site, count in counts.items():
            if count > 1:
                self.twice.setdefault(site, Trace(site, places))
        for site, lacking in joins.in_vain(now).items():
            self.waiting.setdefault(site, Trace(site, places, lacking))

    def _after(self, now: Configuration) -> Iterator[Configuration]:
        if self.steps.coop and self.joins.failed(now):
            return
        movable = self._movable(now)
        alone = self._unnoticed(now, movable) if len(movable) > 1 else None
        if alone is not None:
            yield from alone
            return
        for at in movable:
            for step in self.steps.of(now[at]):
                if step.branches:
                    found = self.joins.arrived(placed(self.joins, now, at, step))
                    if sum(not self.joins.ended(one) for one in found) > self.most:
                        self.complete, self.more_and_more = False, True
                    elif found:
                        yield self._plain(found)

    def _unnoticed(self, now: Configuration, movable: list[int]) -> list[Configuration] | None:
        """What the steps of one branch lead to that none of the others can notice, whenever they
        are made; None where every branch may be noticed."""
        ahead = self._ahead_of_others(now)
        for at in movable:
            if ahead[at] >> now[at].site & 1:
                continue  # another one may come there meanwhile
            found = self._stepping_on(now, at)
            # Where all of it is known a loop might put the others off for ever.
            if any(one not in self._known for one in found):
                return found
        return None

    def _stepping_on(self, now: Configuration, at: int) -> list[Configuration]:
        """What the steps of one branch lead to; empty where it may split, end or complete a join:
        that is noticed."""
        found: list[Configuration] = []
        for step in self.steps.of(now[at]):
            if not step.branches:
                continue
            if len(step.branches) > 1 or self.joins.ended(step.branches[0]):
                return []
            after = placed(self.joins, now, at, step)
            if self.joins.complete(after):
                return []
            found.append(self._plain(after))
        return found

    def _ahead_of_others(self, now: Configuration) -> list[int]:
        """For each branch the states to which the other ones have a way."""
        own = [0 if self.joins.ended(t) else self.joins.ahead[t.site] for t in now]
        once = twice = 0
        for mask in own:
            twice |= once & mask
            once |= mask
        return [once & ~mask | twice for mask in own]

    def _movable(self, now: Configuration) -> list[int]:
        """The branches that may move next. In COOP a person is asked once nothing else goes on, and
        the first branch that waits takes the line."""
        states = self.layout.states
        free = [at for at, token in enumerate(now) if not self.joins.rests(token)]
        if not self.steps.coop:
            return free
        others = [at for at in free if states[now[at].site].kind != "user"]
        return others or free[:1]

    def _plain(self, now: Configuration) -> Configuration:
        """Of branches that are over it matters where they ended, and of equal ones how many (two
        are many)."""
        counts: dict[int, int] = {}
        kept: list[Token] = []
        over: list[Token] = []
        for token in now:
            if self.joins.ended(token):
                counts[token.site] = counts.get(token.site, 0) + 1
                if counts[token.site] <= 2:
                    over.append(Token(token.site, -1, "", 0))
            else:
                kept.append(token)
        return (*tidied(tuple(kept)), *sorted(over))


def starts(joins: Joins, *, coop: bool) -> Iterator[Configuration]:
    """Where a run may begin."""
    layout = joins.layout
    for name in layout.graph.roots():
        number = layout.index[name]
        yield (Token(number, -1, "", layout.start(number, coop=coop)),)


def placed(joins: Joins, now: Configuration, at: int, step: Step) -> Configuration:
    """The branches after a step of one of them, before any of them is joined."""
    if step.split:
        return joins.parted(now, at, step.branches)
    return (*now[:at], *step.branches, *now[at + 1 :])


def undecided(joins: Joins) -> Iterator[str]:
    """What is not known of joins: how they merge what guards read."""
    for site, found in joins.groups.items():
        state = joins.layout.states[site]
        if state.settings.get(STRATEGY) is not None:
            yield f"'{state.name}': how its branches are merged is not known"
        for group in found:
            merge = merge_of(state, group)
            if merge not in ("", "overwrite"):
                yield f"'{state.name}': what '{merge}' makes of values is not decided"
