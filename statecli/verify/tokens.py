"""The branches of a run that takes several ways at once, as boxes (model.md 7).

A branch has values of its own since the split. Where branches part, every value that matters is
told apart, because they share it; a join folds what its branches wrote since they parted, in
routing order: of a field that is simply overwritten the last value wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from statecli.kernel.joins import DEFAULT, groups, merge_of
from statecli.verify.site import THE_END
from statecli.verify.sites import Sites


class Token(NamedTuple):
    """One branch: where it is, from which state (-1: by no route) and in which group it came, and
    its values. `splits`: the splits under which it stands, outermost first, and for each the axes
    that were `written` since, and the states that were `seen` (kept only where asked for). `stuck`:
    nothing held after its body (kept only in COOP: a run that is told to goes on there)."""

    site: int
    source: int
    group: str
    box: int
    splits: tuple[int, ...] = ()
    written: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()
    stuck: bool = False


#: The branches in routing order.
Configuration = tuple[Token, ...]


class Joins:
    """Which states wait for several branches, and what becomes of those that came. `seen`: whether
    branches remember where they have been."""

    def __init__(self, sites: Sites, *, seen: bool) -> None:
        self.sites = sites
        self.layout = sites.layout
        self.seen = seen
        index = self.layout.index
        #: By state and group the states from which one branch each has to come.
        self.groups = {
            index[name]: {g: tuple(index[s] for s in sources) for g, sources in found.items()}
            for name, found in groups(self.layout.graph).items()
        }
        self.ahead = _reachable(self.layout.successors)

    def waits(self, token: Token) -> bool:
        """Whether a branch waits for others where it is."""
        if token.source < 0 or token.site not in self.groups:
            return False
        return len(self.groups[token.site].get(token.group, ())) > 1

    def ended(self, token: Token) -> bool:
        """Whether a branch is over. In a terminal state that waits for others it is not yet."""
        if token.site == THE_END:
            return True
        return self.layout.states[token.site].ends and not self.waits(token)

    def rests(self, token: Token) -> bool:
        return token.stuck or self.ended(token) or self.waits(token)

    def failed(self, now: Configuration) -> bool:
        """Whether a run stops with an error: once nothing goes on before a person says something,
        and a branch is stuck or waits in vain."""
        states = self.layout.states
        if not all(self.rests(token) or states[token.site].kind == "user" for token in now):
            return False
        return any(token.stuck for token in now) or bool(self.in_vain(now))

    def still_open(self, now: Configuration) -> Token | None:
        """The first branch that is not over, if possible one that waits for nobody."""
        left = [token for token in now if not self.ended(token)]
        return next((token for token in left if not self.waits(token)), left[0] if left else None)

    def in_vain(self, now: Configuration) -> dict[int, tuple[int, ...]]:
        """The states where branches wait in vain, and for which: none that still moves leads
        there."""
        here: dict[tuple[int, str], set[int]] = {}
        moving = 0
        for token in now:
            if self.waits(token):
                here.setdefault((token.site, token.group), set()).add(token.source)
            elif not self.ended(token):
                moving |= self.ahead[token.site]
        found: dict[int, tuple[int, ...]] = {}
        for (site, group), sources in here.items():
            wanted = self.groups[site][group]
            lacking = tuple(s for s in wanted if s not in sources and not moving >> s & 1)
            if lacking:
                found.setdefault(site, lacking)
        return found

    def following(self, vain: Mapping[int, tuple[int, ...]]) -> set[int]:
        """Of the states where branches wait in vain those that lack only others of them: they
        would go on if those did. None of a circle of them."""
        own = {site for site, lacking in vain.items() if not vain.keys() >= set(lacking)}
        due: set[int] = set()
        while more := {s for s in vain if s not in own | due and own | due >= set(vain[s])}:
            due |= more
        return due

    def arrived(self, now: Configuration) -> Configuration:
        """What becomes of branches: those that a join has waited for go on as one. Empty where
        that cannot be: what the branches know of one value does not fit together."""
        while True:
            parts = self.complete(now)
            if not parts:
                return tidied(now)
            joined = self.folded([now[at] for at in parts])
            if joined is None:
                return ()
            now = (*now[: parts[0]], joined, *now[parts[0] + 1 :])
            now = tuple(token for at, token in enumerate(now) if at not in parts[1:])

    def complete(self, now: Configuration) -> list[int]:
        """The places of the branches that make up a group, in routing order."""
        first: dict[tuple[int, str], dict[int, int]] = {}
        for at, token in enumerate(now):
            if self.waits(token):
                first.setdefault((token.site, token.group), {}).setdefault(token.source, at)
        for (site, group), found in first.items():
            if len(found) == len(self.groups[site][group]):
                return sorted(found.values())
        return []

    def folded(self, parts: list[Token]) -> Token | None:
        """The branch that goes on from a join; None where what they know does not fit together."""
        level = _common(parts)
        site = parts[0].site
        merge = merge_of(self.layout.states[site], parts[0].group)
        touched = [_union(part.written[level - 1 :]) for part in parts]
        box = parts[0].box
        for axis in self.layout.axes[site]:
            at = [n for n, written in enumerate(touched) if written >> axis.number & 1]
            field = axis.field
            plain = field is None or field.reducer in ("", "overwrite")
            group = axis.group
            if self.layout.domain.filters:
                group = _union(part.box & axis.group for part in parts)
            elif not at:  # all of them know the same value
                for part in parts:
                    group &= part.box
            elif (plain and merge not in ("", "overwrite")) or (not plain and len(at) > 1):
                group = axis.present << axis.at
            else:
                group &= parts[at[-1]].box
            if not group:
                return None
            box = box & ~axis.group | group
        seen = (_union(_union(p.seen[level - 1 :]) for p in parts),) if self.seen else ()
        return Token(
            site, -1, "", box, parts[0].splits[:level],
            (*parts[0].written[: level - 1], _union(touched)),
            (*parts[0].seen[: level - 1], *seen),
        )  # fmt: skip

    def entering(self, token: Token, target: int, group: str, box: int, *, jump: bool) -> Token:
        """A branch that comes into a state."""
        seen = token.seen
        if seen:
            seen = (*seen[:-1], seen[-1] | self._mark(target))
        source = -1 if jump else token.site
        return Token(target, source, group or DEFAULT, box, token.splits, token.written, seen)

    def _mark(self, site: int) -> int:
        """What a branch remembers of a state that it has come into: one that says how branches
        meet there may be seen by several."""
        if site == THE_END or "join" in self.layout.states[site].settings:
            return 0
        return 1 << site

    def parted(self, now: Configuration, at: int, children: Iterable[Token]) -> Configuration:
        """The branches once one of them has split."""
        used = {number for token in now for number in token.splits}
        new = next(number for number in range(len(used) + 1) if number not in used)
        made = tuple(
            child._replace(
                splits=(*child.splits, new),
                written=(*child.written, 0),
                seen=(*child.seen, self._mark(child.site)) if self.seen else (),
            )
            for child in children
        )
        return (*now[:at], *made, *now[at + 1 :])


def tidied(now: Configuration) -> Configuration:
    """The same without splits of which one branch alone is left."""
    counts: dict[int, int] = {}
    for token in now:
        for number in token.splits:
            counts[number] = counts.get(number, 0) + 1
    if all(count > 1 for count in counts.values()):
        return now
    return tuple(_lone(token, counts) for token in now)


def _lone(token: Token, counts: dict[int, int]) -> Token:
    kept = [at for at, number in enumerate(token.splits) if counts[number] > 1]
    if len(kept) == len(token.splits):
        return token

    def put_together(levels: tuple[int, ...]) -> tuple[int, ...]:
        """What came after a split that is gone came after the one before it, too."""
        ends = [*kept[1:], len(levels)]
        return tuple(_union(levels[at:end]) for at, end in zip(kept, ends, strict=True))

    return token._replace(
        splits=tuple(token.splits[at] for at in kept),
        written=put_together(token.written) if kept else (),
        seen=put_together(token.seen) if kept and token.seen else (),
    )


def together(one: Token, other: Token) -> int:
    """The states that two branches have both seen since they parted (only with `seen`)."""
    level = _common([one, other])
    return _union(one.seen[level - 1 :]) & _union(other.seen[level - 1 :])


def _common(parts: list[Token]) -> int:
    """Under how many of their splits some branches stand together."""
    level = 0
    for numbers in zip(*(part.splits for part in parts), strict=False):
        if len(set(numbers)) > 1:
            break
        level += 1
    return max(level, 1)


def _union(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _reachable(successors: list[list[int]]) -> list[int]:
    """For each state the mask of those that some path leads to, itself included."""
    found = [1 << number for number in range(len(successors))]
    changed = True
    while changed:
        changed = False
        for number, targets in enumerate(successors):
            mask = found[number]
            for target in targets:
                mask |= found[target]
            if mask != found[number]:
                found[number], changed = mask, True
    return found
