"""The order of the nodes in each row, so that few routes cross."""

from __future__ import annotations

from bisect import bisect_right, insort

from statecli.render.layer_ranks import Rows


def ordered(graph: Rows) -> list[list[int]]:
    """The rows from above, each from left to right."""
    layers = _first(graph)
    best, least = [list(layer) for layer in layers], _crossings(graph, layers)
    for turn in range(_turns(len(graph.rank))):
        if not least:
            break
        _sweep(graph, layers, downward=turn % 2 == 0)
        found = _crossings(graph, layers)
        if found < least:
            best, least = [list(layer) for layer in layers], found
    return best


def _turns(size: int) -> int:
    """How often the rows are gone through: less often where that takes long."""
    return 24 if size < 1500 else 12 if size < 5000 else 6


def _first(graph: Rows) -> list[list[int]]:
    """As one comes to the nodes when one always goes down and left first."""
    layers: list[list[int]] = [[] for _ in range(max(graph.rank, default=0) + 1)]
    seen = bytearray(len(graph.rank))
    tops = [node for node in range(graph.real) if not graph.up[node]]
    for top in [*tops, *range(len(graph.rank))]:
        stack = [top]
        while stack:
            node = stack.pop()
            if not seen[node]:
                seen[node] = 1
                layers[graph.rank[node]].append(node)
                stack.extend(reversed(graph.down[node]))
    return layers


def _sweep(graph: Rows, layers: list[list[int]], *, downward: bool) -> None:
    """Every row by the middle of its neighbours in the row before; who has none keeps its place."""
    beside = graph.up if downward else graph.down
    place = [0.0] * len(graph.rank)
    for layer in layers if downward else layers[::-1]:
        wanted: dict[int, float] = {}
        last = -1.0
        for node in layer:
            near = beside[node]
            if near:
                last = sum([place[other] for other in near]) / len(near)
            wanted[node] = last
        layer.sort(key=wanted.__getitem__)
        for at, node in enumerate(layer):
            place[node] = float(at)


def _crossings(graph: Rows, layers: list[list[int]]) -> int:
    """How many pairs of routes cross between rows."""
    place = [0] * len(graph.rank)
    for layer in layers:
        for at, node in enumerate(layer):
            place[node] = at
    found = 0
    for layer in layers:
        ends: list[int] = []
        for node in layer:
            targets = sorted([place[other] for other in graph.down[node]])
            for target in targets:
                found += len(ends) - bisect_right(ends, target)
            for target in targets:
                insort(ends, target)
    return found
