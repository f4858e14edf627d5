"""The outline of each shape as a path of SVG, around a rectangle by its upper left corner."""

from __future__ import annotations

import math
from collections.abc import Callable


def num(value: float) -> str:
    """A coordinate, to a tenth of a point."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def _path(*parts: str | float) -> str:
    words: list[str] = []
    for part in parts:
        if isinstance(part, str):
            words.append(part)
        else:
            before = words[-1][-1:] if words else ""
            text = num(part)
            words.append(f" {text}" if before.isdigit() and text[:1] != "-" else text)
    return "".join(words)


def rounded(x: float, y: float, w: float, h: float, r: float) -> str:
    """A rectangle with round corners."""
    return _cornered(x, y, w, h, r, "0 0 1")


def _cornered(x: float, y: float, w: float, h: float, r: float, arc: str) -> str:
    """A rectangle whose corners are quarters of circles, bent outwards or inwards."""
    turn = ("a", r, r, f" {arc} ")
    return _path(
        "M", x + r, y, "h", w - 2 * r, *turn, r, r, "v", h - 2 * r, *turn, -r, r,
        "h", 2 * r - w, *turn, -r, -r, "v", 2 * r - h, *turn, r, -r, "z",
    )  # fmt: skip


def _square(x: float, y: float, w: float, h: float) -> str:
    return rounded(x, y, w, h, 2)


def _sides(x: float, y: float, w: float, h: float) -> str:
    return _square(x, y, w, h) + _path("M", x + 7, y, "v", h, "M", x + w - 7, y, "v", h)


def _bars(x: float, y: float, w: float, h: float) -> str:
    return _square(x, y, w, h) + _path("M", x + 4, y, "v", h)


def _hexagon(x: float, y: float, w: float, h: float) -> str:
    c = 12.0
    return _path("M", x, y + h / 2, "l", c, -h / 2, "h", w - 2 * c, "l", c, h / 2, "l", -c, h / 2,
                 "h", 2 * c - w, "z")  # fmt: skip


def _octagon(x: float, y: float, w: float, h: float) -> str:
    c = 8.0
    return _path("M", x + c, y, "h", w - 2 * c, "l", c, c, "v", h - 2 * c, "l", -c, c,
                 "h", 2 * c - w, "l", -c, -c, "v", 2 * c - h, "z")  # fmt: skip


def _note(x: float, y: float, w: float, h: float) -> str:
    c = 10.0
    return _path("M", x, y, "h", w - c, "l", c, c, "v", h - c, "h", -w, "z",
                 "M", x + w - c, y, "v", c, "h", c)  # fmt: skip


def _arrow(x: float, y: float, w: float, h: float) -> str:
    c = 11.0
    return _path("M", x, y, "h", w - c, "l", c, h / 2, "l", -c, h / 2, "h", c - w, "z")


def _folder(x: float, y: float, w: float, h: float) -> str:
    t = 6.0
    return _path("M", x, y, "h", 34.0, "l", 5.0, t, "h", w - 39, "v", h - t, "h", -w, "z")


def _ticket(x: float, y: float, w: float, h: float) -> str:
    return _cornered(x, y, w, h, 6, "0 0 0")


def _double(x: float, y: float, w: float, h: float) -> str:
    return rounded(x, y, w, h, 7) + rounded(x + 3, y + 3, w - 6, h - 6, 5)


_OUTLINES: dict[str, Callable[[float, float, float, float], str]] = {
    "pill": lambda x, y, w, h: rounded(x, y, w, h, min(h / 2, 18)),
    "square": _square,
    "rounded": lambda x, y, w, h: rounded(x, y, w, h, 9),
    "dashed": _square,
    "sides": _sides,
    "bars": _bars,
    "hexagon": _hexagon,
    "octagon": _octagon,
    "note": _note,
    "arrow": _arrow,
    "folder": _folder,
    "ticket": _ticket,
    "double": _double,
    "group": lambda x, y, w, h: (
        rounded(x + 4, y, w - 4, h - 4, 6) + rounded(x, y + 4, w - 4, h - 4, 6)
    ),
}


#: The radius of round corners, and the cut of slanted ones.
_ROUND = {"pill": 18.0, "rounded": 9.0, "double": 7.0, "group": 6.0, "ticket": 6.0}
_SLANTED = {"hexagon": ("left", "right"), "arrow": ("right",)}


def inset(shape: str, side: str, offset: float, width: float, height: float) -> float:
    """How far within the rectangle the outline lies, at a place of a side that is `offset` from
    the middle of that side."""
    half = (width if side in ("top", "bottom") else height) / 2
    corner = half - abs(offset)
    if side in _SLANTED.get(shape, ()):
        return (12.0 if shape == "hexagon" else 11.0) * min(1.0, abs(offset) / half)
    if shape == "octagon":
        return max(0.0, 8.0 - corner)
    if shape == "folder":
        return 6.0 if side == "top" and offset + half > 39 else 0.0
    radius = min(_ROUND.get(shape, 0.0), height / 2)
    if corner >= radius:
        return 0.0
    across = radius - max(0.0, corner)
    return radius - math.sqrt(max(0.0, radius * radius - across * across))


def outline(shape: str, x: float, y: float, w: float, h: float) -> str:
    """The path of a shape that fills the rectangle."""
    return _OUTLINES[shape](x, y, w, h)
