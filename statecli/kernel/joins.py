"""Which states wait for several branches, for whom, and who is there (model.md 7)."""

from __future__ import annotations

from collections.abc import Mapping

from statecli.kernel.order import routes_of
from statecli.model.graph import Graph, State
from statecli.model.snapshot import Snapshot

#: The group of transitions that name none.
DEFAULT = "default"
#: For each group of a join the states from which one token each has to come.
Groups = Mapping[str, tuple[str, ...]]


def groups(graph: Graph) -> Mapping[str, Groups]:
    """The states with ``join: all``, and the groups that each waits for; remembered."""
    known: Mapping[str, Groups] | None = graph.memory.get("joins")
    if known is None:
        known = graph.memory["joins"] = _joins(graph)
    return known


def joining(graph: Graph) -> frozenset[str]:
    """The states that wait for several branches; remembered where every step looks."""
    if graph.joins is None:
        graph.joins = frozenset(groups(graph))
    return graph.joins


def groups_of(graph: Graph, name: str) -> Groups:
    """The groups that a state waits for; none where it runs for every token."""
    return groups(graph).get(name, {})


def _joins(graph: Graph) -> Mapping[str, Groups]:
    found: dict[str, dict[str, dict[str, None]]] = {
        name: {} for name, state in graph.states.items() if state.settings.get("join") == "all"
    }
    for state in graph.states.values() if found else ():
        for route in routes_of(graph, state.name):
            if route.target in found:
                groups = found[route.target]
                groups.setdefault(route.group or DEFAULT, {})[state.name] = None
    return {
        name: {group: tuple(sources) for group, sources in groups.items()}
        for name, groups in found.items()
    }


def group_of(graph: Graph, came: tuple[str, int] | None) -> str:
    """The group in which a token arrives that took this route."""
    source = graph.states.get(came[0]) if came is not None else None
    if source is None or came is None:
        return DEFAULT
    taken = (r.group for r in routes_of(graph, source.name) if r.number == came[1])
    return next(taken, "") or DEFAULT


def must_wait(graph: Graph, name: str, came: tuple[str, int] | None) -> bool:
    """Whether a token that comes into a state this way waits there for others. One that came by no
    route (a jump, an error) does not."""
    if came is None or name not in joining(graph):
        return False
    groups = groups_of(graph, name)
    return len(groups.get(group_of(graph, came), ())) > 1


def arrived(graph: Graph, snapshot: Snapshot, number: int) -> tuple[int, ...]:
    """The tokens that now make up the group for which this one waits, in routing order; none while
    one is missing."""
    branch = snapshot.branches[number]
    name, group = branch.token.state, group_of(graph, branch.came)
    first = _first_of_each(graph, snapshot, name, group)
    if len(first) < len(groups_of(graph, name)[group]):
        return ()
    chosen = set(first.values())
    return tuple(token for token in snapshot.branches if token in chosen)


def _first_of_each(graph: Graph, snapshot: Snapshot, name: str, group: str) -> dict[str, int]:
    """For each source the first token that came from it and waits."""
    first: dict[str, int] = {}
    for token, branch in snapshot.branches.items():
        if branch.status != "joining" or branch.token.state != name or branch.came is None:
            continue
        if group_of(graph, branch.came) == group:
            first.setdefault(branch.came[0], token)
    return first


def merge_of(state: State, group: str) -> str:
    """The name of the reducer with which a join merges a group; empty for none."""
    merge = state.settings.get("merge")
    found = merge.get(group) if isinstance(merge, Mapping) else None
    return found if isinstance(found, str) else ""


def unsatisfied(graph: Graph, snapshot: Snapshot) -> list[tuple[int, str]]:
    """The joins that wait for branches which never come: a token that waits there, and why.

    A branch may still come where some token that is not at an end or waiting in a join itself has
    a way to it.
    """
    found: list[tuple[int, str]] = []
    told: set[tuple[str, str]] = set()
    moving = [b.token.state for b in snapshot.branches.values() if b.status not in _RESTING]
    ahead = _reached(graph, moving)
    for number, branch in snapshot.branches.items():
        name = branch.token.state
        if branch.status != "joining" or (name, group_of(graph, branch.came)) in told:
            continue
        group = group_of(graph, branch.came)
        told.add((name, group))
        here = _first_of_each(graph, snapshot, name, group)
        known = {*here, *_unfolded(snapshot, name), *ahead}
        missing = [s for s in groups_of(graph, name)[group] if s not in known]
        if missing:
            found.append((number, _why(snapshot, name, group, missing, list(here))))
    return found


_RESTING = ("joining", "ended")


def _unfolded(snapshot: Snapshot, name: str) -> set[str]:
    """From where tokens came that are there and could not be made one: that is their error."""
    branches = (b for b in snapshot.branches.values() if b.token.state == name)
    return {b.came[0] for b in branches if b.came is not None and b.status == "failed"}


def _reached(graph: Graph, names: list[str]) -> set[str]:
    found = set(names)
    stack = list(found)
    while stack:
        state = graph.states.get(stack.pop())
        if state is None:
            continue
        targets = [route.target for route in routes_of(graph, state.name)]
        for target in (*targets, *(target for _, target in state.jumps)):
            if target not in found:
                found.add(target)
                stack.append(target)
    return found


def _why(snapshot: Snapshot, name: str, group: str, missing: list[str], here: list[str]) -> str:
    named = f" (group '{group}')" if group != DEFAULT else ""
    lacks = ", ".join(f"'{source}'" for source in missing)
    came = ", ".join(f"'{source}'" for source in here)
    ends = [b.token.state for b in snapshot.branches.values() if b.status == "ended"]
    ended = f"; a branch ended in {', '.join(repr(e) for e in dict.fromkeys(ends))}" if ends else ""
    way = "; routes that do not come together need a group of their own"
    return (
        f"'{name}' waits for a branch from each of its sources{named}: from {lacks} none comes "
        f"any more, one came from {came}{ended}{way}"
    )
