"""Which keys may have been set before a run comes to a state, over all ways that lead there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from statecli.kernel.limits import limit
from statecli.model import graphs

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: So many states before the reader are looked at one by one, before all are reckoned at once.
_NEAR = 50
#: So many keys are reckoned at once; it bounds the memory.
_BATCH = 4096


def after_opaque(facts: Facts) -> bytearray:
    """1 for each state before which code that nobody here reads may have written anything."""
    edges = ways_on(facts)
    opaque = [n for n, state in enumerate(facts.states) if not state.tells_writes]
    return graphs.reachable(edges, opaque)


def ways_on(facts: Facts) -> list[list[int]]:
    """Where a run may go from each state, taken widely: also as it was probably meant, and in a
    plan from a state with no progress to the next one."""
    edges = list(facts.mended[0])
    graph = facts.graph
    if graph is not None and graph.is_plan and limit(graph, "stuck_turns") != 0:
        for number, state in enumerate(facts.states[:-1]):
            if state.is_plan:
                edges[number] = [*edges[number], number + 1]
    return edges


def never_before(facts: Facts, reads: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Those (state, key) for which no state that sets the key can come before."""
    edges = ways_on(facts)
    before = graphs.reversed_edges(edges)
    setters = {key: set(numbers) for key, numbers in facts.writers.items()}
    far = [read for read in reads if not _is_near(before, read[0], setters[read[1]])]
    order: list[list[int]] | None = None
    for start in range(0, len(far), _BATCH):
        batch = far[start : start + _BATCH]
        order = order or graphs.components(edges)[::-1]
        bits = {key: 1 << at for at, key in enumerate(dict.fromkeys(key for _, key in batch))}
        born: dict[int, int] = {}
        for key, bit in bits.items():
            for number in setters[key]:
                born[number] = born.get(number, 0) | bit
        arrived = carried(edges, order, born)
        anywhere = 0
        for number in facts.unclear:
            anywhere |= arrived[number] | born.get(number, 0)
        for number, key in batch:
            if not (arrived[number] | anywhere) & bits[key]:
                yield number, key


def _is_near(before: graphs.Edges, reader: int, setters: set[int]) -> bool:
    """Whether one of the setters is among the nearest states before the reader."""
    seen = {reader}
    queue = [reader]
    for number in queue:
        for source in before[number]:
            if source in setters:
                return True
            if source not in seen and len(seen) < _NEAR:
                seen.add(source)
                queue.append(source)
    return False


def carried(
    edges: graphs.Edges, order: Sequence[Sequence[int]], born: Mapping[int, int]
) -> list[int]:
    """For each node the bits born in nodes from which it is reached; `order` has the components,
    sources first. In a loop every member comes before every other."""
    arrived = [0] * len(edges)
    for members in order:
        if len(members) > 1 or members[0] in edges[members[0]]:
            together = 0
            for member in members:
                together |= arrived[member] | born.get(member, 0)
            for member in members:
                arrived[member] = together
        for member in members:
            bits = arrived[member] | born.get(member, 0)
            if bits:
                for target in edges[member]:
                    arrived[target] |= bits
    return arrived
