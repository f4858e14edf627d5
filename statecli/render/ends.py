"""Where arrows begin and end at a box: on its outline, and a little apart from each other.

The engine keeps lines `sizes.GAP` away from all boxes, those that an arrow joins too, and lets one
begin where another one ends, so that both look like one with two heads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from statecli.render.drawing import GROUP, STATE, Arrow, Box, Drawing
from statecli.render.geometry import Course, Layout, Point, Spot
from statecli.render.kinds import appearance
from statecli.render.outlines import inset
from statecli.render.sizes import GAP

#: Between two ends on one side; from an end to a corner; how far an end may be moved.
_APART, _CORNER, _FARTHEST = 9.0, 5.0, 26.0


class _End(NamedTuple):
    """One end of an arrow. `along` is its place on the side, `beyond` that of the point the curve
    goes on to, which tells how ends in one place should lie."""

    arrow: str
    tip: bool
    along: float
    beyond: float


def fitted(drawing: Drawing, layout: Layout) -> Layout:
    """The layout with boxes of their own size, and the ends of arrows on their outlines."""
    boxes = {box.id: box for box in drawing.boxes if box.role in (STATE, GROUP)}
    ends: dict[tuple[str, str], list[_End]] = {}
    for arrow in drawing.arrows:
        for box, end, side in _ends(arrow, layout, boxes):
            ends.setdefault((box, side), []).append(end)
    courses = dict(layout.arrows)
    layout = layout._replace(boxes={**layout.boxes, **_shrunk(layout, boxes)})
    for (id_, side), found in ends.items():
        spot = layout.boxes[id_]
        for end, along in zip(*_apart(found, side, spot), strict=True):
            moved = _on_outline(boxes[id_], spot, side, along)
            courses[end.arrow] = _moved(courses[end.arrow], end.tip, moved)
    return layout._replace(arrows=courses)


def _shrunk(layout: Layout, boxes: Iterable[str]) -> dict[str, Spot]:
    """The boxes without the room around them."""
    spots = ((id_, layout.boxes[id_]) for id_ in boxes)
    return {id_: Spot(s.x, s.y, s.width - 2 * GAP, s.height - 2 * GAP) for id_, s in spots}


def _ends(arrow: Arrow, layout: Layout, boxes: dict[str, Box]) -> Iterable[tuple[str, _End, str]]:
    """The ends of an arrow at boxes, with the side on which each lies."""
    course = layout.arrows[arrow.id]
    for id_, tip, at, beyond in (
        (arrow.source, False, course.points[0], course.points[1]),
        (arrow.target, True, course.tip, course.points[-2]),
    ):
        if id_ in boxes:
            side = _side(layout.boxes[id_], at)
            axis = 0 if side in ("top", "bottom") else 1
            yield id_, _End(arrow.id, tip, at[axis], beyond[axis]), side


def _side(spot: Spot, at: Point) -> str:
    """The side of a box that a point is nearest to."""
    x, y = at[0] - spot.x, at[1] - spot.y
    away = {
        "left": abs(x + spot.width / 2), "right": abs(x - spot.width / 2),
        "top": abs(y + spot.height / 2), "bottom": abs(y - spot.height / 2),
    }  # fmt: skip
    return min(away, key=lambda side: away[side])


def _apart(ends: list[_End], side: str, spot: Spot) -> tuple[list[_End], list[float]]:
    """The ends on one side in their order, and where each comes to lie."""
    middle, length = (spot.x, spot.width) if side in ("top", "bottom") else (spot.y, spot.height)
    low, high = middle - length / 2 + _CORNER, middle + length / 2 - _CORNER
    ordered = sorted(ends, key=lambda end: (round(end.along), end.beyond, end.arrow))
    room = min(_APART, (high - low) / max(1, len(ordered) - 1))
    found: list[float] = []
    for end in ordered:
        least = found[-1] + room if found else low
        found.append(max(least, min(high, end.along)))
    most = high
    for at in reversed(range(len(found))):
        found[at] = min(found[at], most)
        most = found[at] - room
    # What was pushed to one side only is moved back by half, so that pairs stay where they were.
    shift = sum(now - end.along for now, end in zip(found, ordered, strict=True)) / len(found)
    shift = max(low - found[0], min(high - found[-1], -shift))
    return ordered, [
        max(end.along - _FARTHEST, min(end.along + _FARTHEST, now + shift))
        for now, end in zip(found, ordered, strict=True)
    ]


def _on_outline(box: Box, spot: Spot, side: str, along: float) -> Point:
    """The point of the outline at a place of one side."""
    shape = "group" if box.role == GROUP else appearance(box.kind).outline
    flat = side in ("top", "bottom")
    offset = along - (spot.x if flat else spot.y)
    inside = inset(shape, side, offset, spot.width, spot.height)
    if flat:
        y = spot.y + (spot.height / 2 - inside) * (-1 if side == "top" else 1)
        return along, y
    x = spot.x + (spot.width / 2 - inside) * (-1 if side == "left" else 1)
    return x, along


def _moved(course: Course, tip: bool, to: Point) -> Course:
    """The course with one end elsewhere; the curve beside it moves along."""
    points = list(course.points)
    if not tip:
        dx, dy = to[0] - points[0][0], to[1] - points[0][1]
        points[0] = to
        points[1] = (points[1][0] + dx, points[1][1] + dy)
        return course._replace(points=tuple(points))
    dx, dy = to[0] - course.tip[0], to[1] - course.tip[1]
    for at in (-1, -2):
        points[at] = (points[at][0] + dx, points[at][1] + dy)
    return course._replace(points=tuple(points), tip=to)
