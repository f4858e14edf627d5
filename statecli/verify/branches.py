"""Graphs that take several ways at once: all places of all branches, explicitly (model.md 7).

Whatever branch moves next: nothing is assumed of how long a body takes. Where no other branch can
notice the step of one, its turn comes first and the others wait (partial order reduction, Peled's
ample sets): so many branches side by side cost as many places as they have, not their product.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from statecli.kernel.joins import merge_of
from statecli.model.code import STRATEGY
from statecli.verify.sites import Budget, Sites
from statecli.verify.steps import Step, Steps
from statecli.verify.tokens import Configuration, Joins, Token, tidied

#: More configurations than this are not looked at.
MOST_CONFIGURATIONS = 50_000
#: Nor more than this where there are more branches in each round: it is undecided anyway.
MOST_ROUNDS = 4_000


class Vain(NamedTuple):
    """For which branches a join waits in vain. `follows`: only since other joins do."""

    lacking: tuple[int, ...]
    follows: bool


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
        #: Where branches wait in vain, and for those of which states.
        self.waiting: dict[int, Vain] = {}
        #: Where a run ends, and a state in which another branch then is.
        self.open_ends: dict[int, int] = {}
        #: Where two branches meet that nothing joins.
        self.twice: set[int] = set()
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
        open_ = [token for token in now if not joins.ended(token)]
        other = joins.still_open(now)
        if other is not None:
            for token in now:
                if token.site >= 0 and joins.ended(token):
                    self.open_ends.setdefault(token.site, other.site)
        counts: dict[int, int] = {}
        for token in open_:
            if "join" not in self.layout.states[token.site].settings:
                counts[token.site] = counts.get(token.site, 0) + 1
        self.twice.update(site for site, count in counts.items() if count > 1)
        vain = joins.in_vain(now)
        due = joins.following(vain) if vain else set()
        for site, lacking in vain.items():
            if site not in self.waiting or (self.waiting[site].follows and site not in due):
                self.waiting[site] = Vain(lacking, site in due)

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
