"""What the guards of a state look at: fields that are not there yet, and two that hold at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from statecli.model.guard import AllOf, AnyOf, Atom, Expr, Guard, Not, invalid, walk
from statecli.verify.counters import NO_COUNTERS, Counters
from statecli.verify.cubes import Mode, TooMany
from statecli.verify.domain import Axis

if TYPE_CHECKING:
    from statecli.verify.site import Site


def foreign(site: Site) -> dict[str, Axis]:
    """The keys whose value the guards look at, and that somebody else must have set."""
    found: dict[str, Axis] = {}
    for route in site.routes:
        for part in walk(route.guard) if route.guard is not None else ():
            for name in _looked_at(part):
                axis = site.domain.keys.get(name)
                if axis is not None and name not in site.own and not site.custom:
                    found[name] = axis
    return found


def _looked_at(part: Guard) -> Sequence[str]:
    """The keys whose value an atom or an expression looks at."""
    if isinstance(part, Atom) and part.op not in ("exists", "absent"):
        return (part.key,)
    return part.required if isinstance(part, Expr) else ()


def asked(site: Site, counters: Counters, at_end: bool, box: int, *, set_: bool) -> dict[str, int]:
    """The foreign keys that an evaluation of this box looks at while they are absent (or with
    `set_`: present), each with a box of where."""
    open_ = {
        key: axis
        for key, axis in site.foreign.items()
        if box >> axis.at & (axis.present if set_ else axis.absent)
    }
    found: dict[str, int] = {}
    for mode in site.modes(counters) if open_ and not site.too_many else ():
        for at, rest in site.trying(mode, at_end, box):
            guard = site.routes[at].guard
            if guard is not None and invalid(guard) is None:
                try:
                    _asked(site, guard, mode, rest, open_, set_, found)
                except TooMany:
                    site.too_many = True
    return found


def asked_by_all(site: Site, box: int, *, set_: bool) -> dict[str, int]:
    """The same where every route is tried, whatever comes before it."""
    mask = {key: axis.present if set_ else axis.absent for key, axis in site.foreign.items()}
    open_ = {k: axis for k, axis in site.foreign.items() if box >> axis.at & mask[k]}
    found: dict[str, int] = {}
    for mode in site.modes(NO_COUNTERS) if open_ and not site.too_many else ():
        for at, route in enumerate(site.routes):
            guard = route.guard
            if guard is not None and site.targets[at] is not None and invalid(guard) is None:
                try:
                    _asked(site, guard, mode, [box], open_, set_, found)
                except TooMany:
                    site.too_many = True
    return found


def _asked(
    site: Site,
    guard: Guard,
    mode: Mode,
    boxes: list[int],
    keys: dict[str, Axis],
    set_: bool,
    found: dict[str, int],
) -> None:
    compiler = site.compiler
    if isinstance(guard, AllOf | AnyOf):
        for child in guard.children:
            if not boxes:
                return
            _asked(site, child, mode, boxes, keys, set_, found)
            truth = compiler.part(child, mode)
            boxes = compiler.meet(boxes, truth.yes if isinstance(guard, AllOf) else truth.no)
    elif isinstance(guard, Not):
        _asked(site, guard.child, mode, boxes, keys, set_, found)
    else:
        for name in _looked_at(guard):
            axis = keys.get(name)
            if axis is not None and name not in found:
                mask = axis.present if set_ else axis.absent
                here = compiler.meet(boxes, compiler.cube(axis, mask))
                if here:
                    found[name] = here[0]


def possible_ties(site: Site) -> list[tuple[int, int]]:
    """Pairs of guarded, written routes of one priority with different targets."""
    if not site.graph.is_plan and not any(r.stated_priority for r in site.state.transitions):
        return []
    if site.custom or site.state.fans_out:
        return []
    return [
        (a, b)
        for a, left in enumerate(site.routes)
        for b, right in enumerate(site.routes)
        if a < b
        and left.priority == right.priority
        and left.guard is not None
        and right.guard is not None
        and site.targets[a] is not None
        and site.targets[b] is not None
        and left.target != right.target
        and left.origin == right.origin == "written"
    ]


def tied(site: Site, counters: Counters, at_end: bool, box: int) -> dict[tuple[int, int], int]:
    """The pairs of routes that both hold somewhere in a box when their priority is reached,
    each with a box of where."""
    found: dict[tuple[int, int], int] = {}
    for mode in site.modes(counters) if site.ties else ():
        pairs = _pairs(site, mode)
        if not pairs:
            continue
        left: dict[float, list[int]] = {}
        for at, rest in site.trying(mode, at_end, box):
            left.setdefault(site.routes[at].priority, rest)
        for pair, cubes in pairs:
            both = site.compiler.meet(left.get(site.routes[pair[0]].priority, []), cubes)
            if both:
                found.setdefault(pair, both[0])
    return found


def _pairs(site: Site, mode: Mode) -> list[tuple[tuple[int, int], list[int]]]:
    """The pairs of routes that can hold together at all, with where."""
    memory = site.__dict__.setdefault("_tying", {})
    known: list[tuple[tuple[int, int], list[int]]] | None = memory.get(mode)
    if known is None:
        known = []
        for a, b in site.ties:
            cubes = site.compiler.meet(site.truth(a, mode).yes, site.truth(b, mode).yes)
            if cubes:
                known.append(((a, b), cubes))
        memory[mode] = known
    return known
