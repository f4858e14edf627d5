"""A layered layout in plain Python, for when there is no layout engine or none was fast enough.

The steps are those of Sugiyama's method: routes that lead back are turned round for the time being
(`layer_ranks`), every box gets a row, a route that passes rows gets a point in each of them, the
points of each row are put in an order with few crossings (`layer_order`), then side by side so that
long routes are straight (`layer_places`, Brandes and Köpf), and curves are drawn through the points
(`layer_courses`). It is linear but for sorting, without recursion, and the same everywhere: what is
given up for large drawings goes by their size, never by the clock.
"""

from __future__ import annotations

from statecli.render.drawing import Arrow, Drawing, Look
from statecli.render.geometry import Course, Layout, Point, Spot
from statecli.render.layer_courses import courses
from statecli.render.layer_order import ordered
from statecli.render.layer_places import places
from statecli.render.layer_ranks import Size, components, rows
from statecli.render.sizes import contents, label_lines, label_size

#: Between the parts of a drawing that no arrow joins.
_APART = 40.0


def layered(drawing: Drawing, look: Look) -> Layout:
    """Where everything stands. Boxes do not overlap; nor do a box and a label."""
    turned = look.rankdir == "LR"
    sizes: dict[str, Size] = {}
    for box in drawing.boxes:
        inside = contents(box, look.rankdir)
        sizes[box.id] = _size(inside.width, inside.height, turned)
    labels: dict[str, Size] = {}
    for arrow in drawing.arrows:
        lines = label_lines(arrow)
        if lines:
            labels[arrow.id] = _size(*label_size(lines), turned)
    parts = [
        _part(ids, arrows, sizes, labels)
        for ids, arrows in components(drawing.boxes, drawing.arrows)
    ]
    layout = _packed(parts)
    return _turned(layout) if turned else layout


def _size(width: float, height: float, turned: bool) -> Size:
    return (height, width) if turned else (width, height)


def _part(
    ids: list[str], arrows: list[Arrow], sizes: dict[str, Size], labels: dict[str, Size]
) -> Layout:
    """One part that hangs together, from its own upper left corner."""
    graph = rows(ids, arrows, sizes, labels)
    layers = ordered(graph)
    x = places(graph, layers)
    return courses(graph, layers, x, arrows)


def _packed(parts: list[Layout]) -> Layout:
    """The parts beside and below each other: the first (where a run begins) upper left."""
    if len(parts) == 1:
        return parts[0]
    area = sum((part.width + _APART) * (part.height + _APART) for part in parts)
    most = max(max((part.width for part in parts), default=0.0), (area * 1.6) ** 0.5)
    boxes: dict[str, Spot] = {}
    arrows: dict[str, Course] = {}
    x = y = shelf = width = 0.0
    for part in parts:
        if x and x + part.width > most:
            x, y, shelf = 0.0, y + shelf + _APART, 0.0
        for key, spot in part.boxes.items():
            boxes[key] = spot._replace(x=spot.x + x, y=spot.y + y)
        for key, course in part.arrows.items():
            arrows[key] = _moved(course, x, y)
        width = max(width, x + part.width)
        shelf = max(shelf, part.height)
        x += part.width + _APART
    return Layout(width, y + shelf, boxes, arrows)


def _moved(course: Course, x: float, y: float) -> Course:
    def to(point: Point) -> Point:
        return point[0] + x, point[1] + y

    label = to(course.label) if course.label is not None else None
    return Course(tuple(map(to, course.points)), to(course.tip), label)


def _turned(layout: Layout) -> Layout:
    """Rows become columns: left to right instead of top down."""

    def to(point: Point) -> Point:
        return point[1], point[0]

    return Layout(
        layout.height,
        layout.width,
        {key: Spot(at.y, at.x, at.height, at.width) for key, at in layout.boxes.items()},
        {
            key: Course(
                tuple(map(to, way.points)), to(way.tip), to(way.label) if way.label else None
            )
            for key, way in layout.arrows.items()
        },
    )
