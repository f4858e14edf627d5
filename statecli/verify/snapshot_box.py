"""From a run of the kernel back to boxes: the one that holds its values and nothing else."""

from __future__ import annotations

from statecli.kernel.tasks import record
from statecli.model.snapshot import Snapshot
from statecli.verify.domain import Axis, Domain
from statecli.verify.site import Site
from statecli.verify.sites import Sites


def box_of(sites: Sites, number: int, snapshot: Snapshot) -> int:
    """The box of exactly the values that a run has in a state; 0 where they are of no class."""
    site = sites[number]
    domain, layout = site.domain, site.layout
    box = layout.frame.full & ~layout.cover[number]
    for axis in layout.axes[number]:
        mask = 1
        key = axis.name
        if key in domain.keys and domain.keys[key] is axis:
            mask = axis.class_of(snapshot.data[key]) if key in snapshot.data else 0
            if key not in snapshot.data:
                mask = 1 << _passed_over(domain, axis, snapshot)
        else:
            mask = _bit(site, axis, snapshot)
        if not mask:
            return 0
        box |= mask << axis.at
    return box


def _passed_over(domain: Domain, axis: Axis, snapshot: Snapshot) -> int:
    way = 0
    for (state, task), done in domain.done.items():
        if done.axis is axis and done.fold and f"{state}/{task}" in snapshot.tasks:
            way |= done.fold
    return way


def _bit(site: Site, axis: Axis, snapshot: Snapshot) -> int:
    """The class of a task's axis (or of that of a visit)."""
    domain = site.domain
    for (name, task), done in domain.done.items():
        if done.axis is axis:
            state = site.graph.states[name]
            found = next(one for one in state.tasks if one.id == task)
            status = snapshot.tasks.get(record(state, found))
            if status is not None:
                return 4 if axis.size == 3 and status == "completed" else 2
            given = done.gives and all(item.key in snapshot.data for item in found.needed)
            return 2 if given else 1
    visited = snapshot.work.visited
    return 2 if any(seen is axis and n in visited for n, seen in domain.visited.items()) else 1
