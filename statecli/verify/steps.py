"""What one body of a branch may lead to, whatever the other branches do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import NamedTuple

from statecli.verify.asking import asked, asked_by_all
from statecli.verify.calls import Effect
from statecli.verify.counters import NO_COUNTERS
from statecli.verify.site import THE_END, Site
from statecli.verify.tokens import Joins, Token

#: A split tells at most so many combinations of values apart.
MOST_VALUES = 4096
#: A body that may write more fields than this is not told apart by which of them it writes.
MOST_WRITES = 6


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
            for target, box in site.strays(outcome.hits):
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
            if site.lacks(key, box):
                self.lacking.add((site.number, key))


def _written_only(effect: Effect) -> Effect:
    """The same where the value is surely written: none is kept (as it is of what is not there)."""
    axis = effect.axis
    return Effect(axis, [effect.outcomes[0] & axis.present] * axis.size)


def _noted(levels: tuple[int, ...], written: int) -> tuple[int, ...]:
    return (*levels[:-1], levels[-1] | written) if levels else levels
