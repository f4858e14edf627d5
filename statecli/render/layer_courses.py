"""From rows and places to a layout: how high rows are, and the curves that arrows take.

An arrow is upright where it passes a row and bends only between rows, where no box is."""

from __future__ import annotations

from collections.abc import Sequence

from statecli.render.drawing import Arrow
from statecli.render.geometry import Course, Layout, Point, Spot
from statecli.render.layer_ranks import Chain, Loop, Rows

#: Length of an arrow's head; the least room between rows; how much of a slant adds to it, at most.
_HEAD, _GAP, _SLANT, _MORE = 7.5, 19.0, 0.06, 70.0
#: Between the lanes of arrows that run beside all rows, and how many lanes there are.
_LANE, _LANES = 9.0, 40


def courses(
    graph: Rows, layers: list[list[int]], x: list[float], arrows: Sequence[Arrow]
) -> Layout:
    """The layout of one part, from its upper left corner."""
    x, lanes, width = _lanes(graph, x)
    bands = _bands(graph, layers, x)
    middle = [sum(bands[rank]) / 2 for rank in graph.rank]
    boxes = {id_: Spot(x[at], middle[at], *graph.size[at]) for at, id_ in enumerate(graph.ids)}
    ports = _ports(graph, x)
    found: dict[str, Course] = {}
    for chain in graph.chains:
        lane = lanes.get(chain.arrow)
        found[chain.arrow] = _course(graph, chain, x, middle, bands, ports, lane)
    for node, loops in graph.loops.items():
        for loop in loops:
            found[loop.arrow] = _loop(graph, node, loop, x[node], middle[node])
    return Layout(width, bands[-1][1], boxes, {arrow.id: found[arrow.id] for arrow in arrows})


def _lanes(graph: Rows, x: list[float]) -> tuple[list[float], dict[str, float], float]:
    """Everything moved to the right so that there is room for what runs beside all rows; the lane
    of each such arrow: arrows to one box share one, on the side where they begin; and the width."""
    west = min(at - room for at, room in zip(x, graph.left, strict=True))
    east = max(at + room for at, room in zip(x, graph.right, strict=True))
    half = (west + east) / 2
    sides: tuple[dict[int, int], dict[int, int]] = {}, {}
    asides: dict[str, tuple[int, int]] = {}
    for chain in graph.chains:
        if chain.aside:
            target = chain.nodes[0] if chain.back else chain.nodes[-1]
            source = chain.nodes[-1] if chain.back else chain.nodes[0]
            side = int(x[source] > half)
            place = sides[side].setdefault(target, len(sides[side]) % _LANES)
            asides[chain.arrow] = side, place + 1
    margin = [min(len(side), _LANES) * _LANE for side in sides]
    x = [at - west + margin[0] for at in x]
    left, right = margin[0], east - west + margin[0]
    lanes = {
        arrow: right + place * _LANE if side else left - place * _LANE
        for arrow, (side, place) in asides.items()
    }
    return x, lanes, right + margin[1]


def _bands(graph: Rows, layers: list[list[int]], x: list[float]) -> list[tuple[float, float]]:
    """Top and bottom of each row; there is more room where arrows lie flat."""
    bands: list[tuple[float, float]] = []
    top = 0.0
    for layer in layers:
        bottom = top + max((graph.high[node] for node in layer), default=0.0)
        bands.append((top, bottom))
        slant = max(
            (abs(x[node] - x[other]) for node in layer for other in graph.down[node]), default=0.0
        )
        top = bottom + _GAP + min(_MORE, slant * _SLANT)
    return bands


def _ports(graph: Rows, x: list[float]) -> dict[tuple[int, int], float]:
    """Where arrows meet the lower and upper sides of boxes, by (box, point): apart from each other,
    in the order of where they come from."""
    found: dict[tuple[int, int], float] = {}
    for node in range(graph.real):
        wide = graph.size[node][0]
        for near in (graph.up[node], graph.down[node]):
            others = sorted(near, key=x.__getitem__)
            step = min(14.0, wide * 0.6 / max(1, len(others) - 1))
            step = 0.0 if wide < 30 else step
            first = x[node] - step * (len(others) - 1) / 2
            for at, other in enumerate(others):
                found[node, other] = first + at * step
    return found


def _course(
    graph: Rows,
    chain: Chain,
    x: list[float],
    middle: list[float],
    bands: list[tuple[float, float]],
    ports: dict[tuple[int, int], float],
    aside: float | None,
) -> Course:
    """Through the gates of all points, upright in each."""
    upper, *between, lower = chain.nodes
    start = ports[upper, between[0]], middle[upper] + graph.size[upper][1] / 2
    stop = ports[lower, between[-1]], middle[lower] - graph.size[lower][1] / 2
    gates = [(start[0], start[1], bands[graph.rank[upper]][1])]
    gates += [(x[node], *bands[graph.rank[node]]) for node in between]
    if aside is not None:
        top, bottom = bands[graph.rank[between[0]] + 1][0], bands[graph.rank[between[-1]] - 1][1]
        gates.insert(2, (aside, top, bottom))
    gates.append((stop[0], bands[graph.rank[lower]][0], stop[1]))
    points = _through(gates, up=chain.back)
    tip = points[0] if chain.back else points[-1]
    if chain.back:
        points.reverse()
    points[-1] = (tip[0], tip[1] + (_HEAD if chain.back else -_HEAD))
    label = None
    if chain.labelled >= 0:
        node = chain.labelled
        label = x[node] + (graph.right[node] + 3.0) / 2, middle[node]
    return Course(tuple(points), tip, label)


def _through(gates: list[tuple[float, float, float]], *, up: bool) -> list[Point]:
    """A Bézier curve, downwards. The head of an arrow needs a straight end."""
    merged = [gates[0]]
    for gate in gates[1:]:
        if abs(gate[0] - merged[-1][0]) < 0.05:
            merged[-1] = (gate[0], merged[-1][1], gate[2])
        else:
            merged.append(gate)
    first = merged[0]
    points: list[Point] = [(first[0], first[1])]
    spare_top, spare_bottom = (_HEAD, 0.0) if up else (0.0, _HEAD)
    for at, (gx, top, bottom) in enumerate(merged):
        if at:
            px, py = points[-1]
            end = top - (spare_bottom if at == len(merged) - 1 and bottom - top < _HEAD else 0.0)
            half = (end - py) / 2
            points += [(px, py + half), (gx, end - half), (gx, end)]
        low = bottom
        if not at and up and len(merged) > 1 and bottom - top < spare_top:
            low = top + spare_top
        _, py = points[-1]
        if low - py > 0.01:
            third = (low - py) / 3
            points += [(gx, py + third), (gx, low - third), (gx, low)]
    return points


def _loop(graph: Rows, node: int, loop: Loop, x: float, y: float) -> Course:
    """Out of the right side of a box and in again below."""
    wide, high = graph.size[node]
    side, rise = x + wide / 2, min(high * 0.28, 14.0)
    far = side + loop.reach / 0.75  # a curve goes three quarters of the way to its handles
    points = (
        (side, y - rise), (far, y - rise * 1.6), (far, y + rise * 1.2), (side + _HEAD, y + rise),
    )  # fmt: skip
    label = (x + wide / 2 + loop.label, y) if loop.label is not None else None
    return Course(points, (side, y + rise), label)
