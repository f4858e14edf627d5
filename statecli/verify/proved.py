"""Findings that need no run to show them: what happens in no run at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from statecli.model.guard import reads
from statecli.verify.counters import NO_COUNTERS
from statecli.verify.report import Finding
from statecli.verify.site import THE_END

if TYPE_CHECKING:
    from statecli.verify.verifier import Verification


def proved(of: Verification) -> Iterator[Finding]:
    """What no run does."""
    lists = of.lists
    for name in sorted(lists["unreachable"]):
        yield Finding("unreachable-under-guards", name)
    for name, number in sorted(lists["dead"]):
        only, held = _only(of, name, number), of.dead[name, number]
        yield Finding("dead-transition", name, number, values={"only": only, "held": held})
    index = of.layout.index
    for name, target in sorted(lists["settle_loops"]):
        long = (index[name], index.get(target, THE_END)) in of.full.too_long
        wide = of.layout.index[name] in of.full.wide
        verdict = "possible" if wide else "proved"
        values = {"target": target, "long": long}
        yield Finding("unbounded-hops", name, -1, verdict, None, values)

    for name in of.passed_through():
        yield Finding("pass-through-state", name)


def _only(of: Verification, name: str, number: int) -> dict[str, list[object]]:
    """What the fields that a dead guard looks at always are where it is tried; empty unless
    that alone keeps it from holding. None: not set."""
    site = of.sites[of.layout.index[name]]
    looked = of.full.looked.get(site.number, 0)
    at = next(at for at, route in enumerate(site.routes) if route.number == number)
    guard = site.routes[at].guard
    if guard is None or not looked:
        return {}
    for counters in of.full.rests.get(site.number, {NO_COUNTERS: None}):
        for mode in site.modes(counters):
            if site.compiler.meet([looked], site.truth(at, mode).yes):
                return {}
    found: dict[str, list[object]] = {}
    for key in reads(guard):
        axis = of.domain.keys.get(key)
        if axis is None:
            continue
        mask = looked >> axis.at & axis.all
        values: list[object] = [None] if mask & axis.absent else []
        values += [axis.sample(n) for n in range(axis.absents, axis.size) if mask >> n & 1]
        if (mask | axis.absent) != axis.all and len(values) <= 3:
            found[key] = values
    return found
