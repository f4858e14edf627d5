"""Rows for boxes: which routes lead back, who stands in which row, and where routes pass rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from statecli.model.graphs import breadth_first
from statecli.render.drawing import Arrow, Box

Size = tuple[float, float]
Pairs = list[tuple[int, int]]
#: So many points of long routes are put in rows, or so many in each row; the longest routes beyond
#: run beside all rows: else the points would need more room than the boxes.
_POINTS, _EACH, _MOST = 1500, 24, 12_000
#: Room beside a point of a route; between the line and its label; around a loop.
_BESIDE, _LABEL_GAP, LOOP = 5.0, 3.0, 18.0
#: A row of boxes is not much wider than this, or than the whole is high.
_WIDE = 2400.0


class Loop(NamedTuple):
    """A route from a box to itself: how far it reaches out, and the middle of its label."""

    arrow: str
    reach: float
    label: float | None


class Chain(NamedTuple):
    """The way of an arrow from its upper to its lower end: both boxes, and the points between.

    `back`: the arrow leads up. `aside`: it does not pass the rows between its first and its last
    point but runs beside them all. `labelled` is the point that carries the label, or -1."""

    arrow: str
    nodes: list[int]
    back: bool
    aside: bool
    labelled: int


class Rows:
    """Boxes (the first `real` nodes) and points in rows; rows of boxes are even, labels stand in
    odd ones. `left` and `right` are the room on both sides of a node's axis, `high` its height;
    `up` and `down` the neighbours in the rows above and below."""

    def __init__(self, ids: Sequence[str], sizes: dict[str, Size]) -> None:
        self.ids = ids
        self.real = len(ids)
        self.left = [sizes[id_][0] / 2 for id_ in ids]
        self.right = list(self.left)
        self.high = [sizes[id_][1] for id_ in ids]
        self.size = [sizes[id_] for id_ in ids]
        self.rank = [0] * self.real
        self.up: list[list[int]] = [[] for _ in ids]
        self.down: list[list[int]] = [[] for _ in ids]
        self.chains: list[Chain] = []
        self.loops: dict[int, list[Loop]] = {}

    def point(self, rank: int, label: Size | None) -> int:
        """A new point in a row, with room for a label on its right."""
        self.left.append(_BESIDE)
        self.right.append(_BESIDE if label is None else _LABEL_GAP + label[0])
        self.high.append(0.0 if label is None else label[1])
        self.rank.append(rank)
        self.up.append([])
        self.down.append([])
        return len(self.left) - 1

    def join(self, upper: int, lower: int) -> None:
        self.down[upper].append(lower)
        self.up[lower].append(upper)


def components(
    boxes: Iterable[Box], arrows: Iterable[Arrow]
) -> Iterator[tuple[list[str], list[Arrow]]]:
    """The boxes that arrows join, whatever their direction, with these arrows."""
    order = [box.id for box in boxes]
    beside: dict[str, list[str]] = {id_: [] for id_ in order}
    own: dict[str, list[Arrow]] = {id_: [] for id_ in order}
    for arrow in arrows:
        beside[arrow.source].append(arrow.target)
        beside[arrow.target].append(arrow.source)
        own[arrow.source].append(arrow)
    place = {id_: at for at, id_ in enumerate(order)}
    seen: set[str] = set()
    for first in order:
        if first in seen:
            continue
        seen.add(first)
        found = [first]
        for id_ in found:
            for other in beside[id_]:
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        found.sort(key=place.__getitem__)
        yield found, [arrow for id_ in found for arrow in own[id_]]


def rows(
    ids: Sequence[str], arrows: Sequence[Arrow], sizes: dict[str, Size], labels: dict[str, Size]
) -> Rows:
    """Everything in its row, not yet in order."""
    graph = Rows(ids, sizes)
    number = {id_: at for at, id_ in enumerate(ids)}
    ends = [(number[arrow.source], number[arrow.target]) for arrow in arrows]
    for arrow, (source, target) in zip(arrows, ends, strict=True):
        if source == target:
            _loop(graph, source, arrow.id, labels.get(arrow.id))
    out: list[list[int]] = [[] for _ in ids]
    for source, target in ends:
        if source != target:
            out[source].append(target)
    forward, graph.rank[:] = _downward(graph, out, ends)
    _chains(graph, arrows, ends, forward, labels)
    return graph


def _loop(graph: Rows, at: int, arrow: str, label: Size | None) -> None:
    """Room on the right of a box for a route to itself."""
    reach = graph.right[at] - graph.left[at] + LOOP
    wide, high = label or (0.0, 0.0)
    middle = reach + _LABEL_GAP + wide / 2 if label else None
    graph.loops.setdefault(at, []).append(Loop(arrow, reach, middle))
    graph.right[at] = graph.left[at] + reach + wide + 2 * _LABEL_GAP
    graph.high[at] = max(graph.high[at], high)


def _downward(graph: Rows, out: list[list[int]], ends: Pairs) -> tuple[Pairs, list[int]]:
    """The ends of each route with the upper first, and the row of each box.

    Following routes as far as they go shows the flow best; where that ends in a ribbon, rows go by
    how many routes lead to a box from where a run begins."""
    place = _places_downward(out)
    forward = _upper_first(ends, place)
    ranks = _ranks(graph, forward, place)
    rows = max(ranks) // 2
    if rows > 12 + 2 * graph.real**0.5:
        depth = breadth_first(out, _beginnings(out))[1]
        order = sorted(range(graph.real), key=lambda node: (depth[node], place[node]))
        for at, node in enumerate(order):
            place[node] = at
        flat = _upper_first(ends, place)
        fewer = _ranks(graph, flat, place)
        if max(fewer) // 2 < 0.7 * rows:
            return flat, fewer
    return forward, ranks


def _upper_first(ends: Pairs, place: list[int]) -> Pairs:
    return [(a, b) if place[a] <= place[b] else (b, a) for a, b in ends]


def _beginnings(out: list[list[int]]) -> list[int]:
    """The first node, and those that nothing leads to."""
    met = {target for targets in out for target in targets}
    return [node for node in range(len(out)) if not node or node not in met]


def _places_downward(out: Sequence[Sequence[int]]) -> list[int]:
    """For each node its place in an order in which few routes lead back: those that a search from
    the first node finds leading to a node it is still busy with."""
    finished: list[int] = []
    state = bytearray(len(out))
    for root in range(len(out)):
        if state[root]:
            continue
        state[root] = 1
        work = [(root, iter(out[root]))]
        while work:
            node, targets = work[-1]
            for target in targets:
                if not state[target]:
                    state[target] = 1
                    work.append((target, iter(out[target])))
                    break
            else:
                finished.append(node)
                work.pop()
    place = [0] * len(out)
    for at, node in enumerate(reversed(finished)):
        place[node] = at
    return place


def _ranks(graph: Rows, forward: Pairs, place: list[int]) -> list[int]:
    """The row of each box, counted by twos: as high as its routes allow, then as low as makes
    routes shorter. A row that is full passes boxes on to the next."""
    count = graph.real
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for upper, lower in forward:
        if upper != lower:
            above[lower].append(upper)
            below[upper].append(lower)
    total = sum(graph.left[at] + graph.right[at] + 30 for at in range(count))
    most = max(_WIDE, 12 * total**0.5)
    used: dict[int, float] = {}
    rank = [0] * count
    order = sorted(range(count), key=place.__getitem__)
    for node in order:
        wide = graph.left[node] + graph.right[node] + 30
        at = max((rank[upper] + 1 for upper in above[node]), default=0)
        while used.get(at, 0.0) and used[at] + wide > most:
            at += 1
        rank[node] = at
        used[at] = used.get(at, 0.0) + wide
    for node in reversed(order):
        if below[node] and len(below[node]) > len(above[node]):
            wide = graph.left[node] + graph.right[node] + 30
            at = min(rank[lower] for lower in below[node]) - 1
            if at > rank[node] and used.get(at, 0.0) + wide <= most:
                used[rank[node]] -= wide
                used[at] = used.get(at, 0.0) + wide
                rank[node] = at
    known = {at: number for number, at in enumerate(sorted(set(rank)))}
    return [2 * known[at] for at in rank]


def _chains(
    graph: Rows,
    arrows: Sequence[Arrow],
    ends: Pairs,
    forward: Pairs,
    labels: dict[str, Size],
) -> None:
    """The points that routes need in the rows that they pass."""
    rank = graph.rank
    spans = sorted((rank[lower] - rank[upper] for upper, lower in forward), reverse=True)
    points = min(_MOST, max(_POINTS, _EACH * max(rank, default=0)))
    room, longest = sum(spans) - points, spans[0] if spans else 0
    for span in spans:  # routes longer than `longest` run aside
        if room <= 0 or span <= 4:
            break
        room -= span - 3
        longest = span - 1
    for arrow, (source, _), (upper, lower) in zip(arrows, ends, forward, strict=True):
        if upper == lower:
            continue
        back = source != upper
        span = rank[lower] - rank[upper]
        aside = span > longest
        between = (
            [rank[upper] + 1, rank[lower] - 1] if aside else range(rank[upper] + 1, rank[lower])
        )
        # The label stands close to where the route begins: that is where one reads it.
        wanted = rank[lower] - 1 if back else rank[upper] + 1
        nodes, labelled = [upper], -1
        for row in between:
            label = labels.get(arrow.id) if row == wanted else None
            point = graph.point(row, label)
            if label is not None:
                labelled = point
            if not aside or len(nodes) == 1:
                graph.join(nodes[-1], point)
            nodes.append(point)
        graph.join(nodes[-1], lower)
        nodes.append(lower)
        graph.chains.append(Chain(arrow.id, nodes, back, aside, labelled))
