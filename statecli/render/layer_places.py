"""How far right each node stands: Brandes and Köpf, "Fast and Simple Horizontal Coordinate
Assignment" (2001), with the compaction over blocks that dagre uses in place of the recursion.

Four times, once for each corner, nodes are lined up with the middle of their neighbours and pushed
together; the middle of the four answers is balanced, and keeps every distance that they keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from statecli.render.layer_ranks import Rows

#: Room between two boxes, between two of which at least one is a point of a route.
_BOXES, _POINTS = 26.0, 10.0


def places(graph: Rows, layers: list[list[int]]) -> list[float]:
    """The axis of each node; in its row, nodes keep their order and their distance."""
    clashes = _clashes(graph, layers)
    found: list[list[float]] = []
    for near, rows in ((graph.up, layers), (graph.down, layers[::-1])):
        for mirrored in (False, True):
            turned = [row[::-1] for row in rows] if mirrored else rows
            roots = _lined_up(turned, near, clashes, len(graph.rank))
            x = _compacted(graph, turned, roots, mirrored=mirrored)
            found.append([-value for value in x] if mirrored else x)
    _to_narrowest(graph, found)
    return [(a[1] + a[2]) / 2 for a in map(sorted, zip(*found, strict=True))]


def _clashes(graph: Rows, layers: list[list[int]]) -> set[tuple[int, int]]:
    """Pieces of routes that cross a long route between two of its points: that one stays straight,
    these are not lined up."""
    real, place = graph.real, [0] * len(graph.rank)
    for layer in layers:
        for at, node in enumerate(layer):
            place[node] = at
    found: set[tuple[int, int]] = set()
    for above, layer in pairwise(layers):
        first, done = 0, 0
        for at, node in enumerate(layer):
            over = [upper for upper in graph.up[node] if node >= real and upper >= real]
            last = at == len(layer) - 1
            if not over and not last:
                continue
            bound = place[over[0]] if over else len(above) - 1
            for other in layer[done : at + 1]:
                for upper in graph.up[other]:
                    inner = other >= real and upper >= real
                    if not first <= place[upper] <= bound and not inner:
                        found.add((upper, other))
            done, first = at + 1, bound
    return found


def _lined_up(
    rows: list[list[int]], near: Sequence[Sequence[int]], clashes: set[tuple[int, int]], count: int
) -> list[int]:
    """For each node the first node of the block it is lined up with."""
    place = [0] * count
    for row in rows:
        for at, node in enumerate(row):
            place[node] = at
    root = list(range(count))
    taken = bytearray(count)
    for row in rows:
        last = -1
        for node in row:
            others = sorted(near[node], key=place.__getitem__)
            if not others:
                continue
            half = len(others) - 1
            for other in dict.fromkeys((others[half // 2], others[(half + 1) // 2])):
                clash = (other, node) in clashes or (node, other) in clashes
                if last < place[other] and not clash and not taken[other]:
                    taken[other] = 1
                    root[node] = root[other]
                    last = place[other]
                    break
    return root


def _compacted(
    graph: Rows, rows: list[list[int]], root: list[int], *, mirrored: bool
) -> list[float]:
    """Every block as far left as the blocks before it allow, then as far right as those after it
    do, so that none stands far off."""
    left, right = (graph.right, graph.left) if mirrored else (graph.left, graph.right)
    real = graph.real
    after: dict[int, dict[int, float]] = {}
    waiting: dict[int, int] = {}
    for row in rows:
        for node, other in pairwise(row):
            gap = _BOXES if node < real and other < real else _POINTS
            room = right[node] + left[other] + gap
            targets = after.setdefault(root[node], {})
            known = targets.get(root[other])
            if known is None:
                waiting[root[other]] = waiting.get(root[other], 0) + 1
            if known is None or room > known:
                targets[root[other]] = room
    blocks = list(dict.fromkeys(root))
    order = [block for block in blocks if not waiting.get(block)]
    x = dict.fromkeys(blocks, 0.0)
    for block in order:
        for other, room in after.get(block, {}).items():
            x[other] = max(x[other], x[block] + room)
            waiting[other] -= 1
            if not waiting[other]:
                order.append(other)
    for block in reversed(order):
        bounds = [x[other] - room for other, room in after.get(block, {}).items()]
        if bounds:
            x[block] = max(x[block], min(bounds))
    return [x[block] for block in root]


def _to_narrowest(graph: Rows, found: list[list[float]]) -> None:
    """Shift the answers so that their sides meet those of the narrowest: left ones on the left."""
    sides = [
        (
            min(value - room for value, room in zip(x, graph.left, strict=True)),
            max(value + room for value, room in zip(x, graph.right, strict=True)),
        )
        for x in found
    ]
    low, high = min(sides, key=lambda side: side[1] - side[0])
    for at, x in enumerate(found):
        shift = high - sides[at][1] if at % 2 else low - sides[at][0]
        x[:] = [value + shift for value in x]
