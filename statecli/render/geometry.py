"""Places in a drawing, in points from the upper left corner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Point = tuple[float, float]


class Spot(NamedTuple):
    """A rectangle by its middle."""

    x: float
    y: float
    width: float
    height: float


class Course(NamedTuple):
    """The way of an arrow: the points of a Bézier curve (one, then three for each piece), its tip,
    and the middle of its label."""

    points: tuple[Point, ...]
    tip: Point
    label: Point | None


class Layout(NamedTuple):
    width: float
    height: float
    boxes: Mapping[str, Spot]
    arrows: Mapping[str, Course]
