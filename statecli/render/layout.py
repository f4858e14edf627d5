"""Where everything stands: the engine's answer, in points from the upper left corner."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from statecli.model.unable import Unable
from statecli.render import dot
from statecli.render.drawing import Drawing, Look
from statecli.render.ends import fitted
from statecli.render.engine import INSTALL, Engine, TooSlow, run
from statecli.render.geometry import Course, Layout, Point, Spot
from statecli.render.layers import layered


class Attempt(NamedTuple):
    """One way to ask the engine. `said`: what is told where this one was needed."""

    layout: str
    extra: tuple[str, ...]
    said: str


_LIMITS = ("nslimit=0.5", "nslimit1=0.5", "mclimit=0.05", "splines=line")
#: In this order, each where the one before took too long. The size decides where to begin, so that
#: every machine draws the same.
ATTEMPTS = (
    Attempt("dot", (), ""),
    Attempt("dot", _LIMITS, "straight arrows and a rougher layout, since the graph is large"),
    Attempt(
        "sfdp", ("overlap=prism", "splines=line"), "a layout by forces, since the graph is large"
    ),
)
#: More arrows than this begin with the second attempt; so do fewer, where they stand dense.
_MANY, _SOME, _DENSE = 400, 150, 2.2


class Laid(NamedTuple):
    """The answer to a question in a format of the engine, and what had to be given up for it."""

    output: bytes
    said: str


def ask(engine: Engine, drawing: Drawing, look: Look, to: str) -> Laid:
    """The drawing in a format of the engine. Raises Unable when every attempt took too long."""
    for attempt in ATTEMPTS[_begin(drawing) :]:
        text = dot.text(drawing, look, attempt.extra)
        try:
            return Laid(run(engine, text, to, attempt.layout), attempt.said)
        except TooSlow:
            continue
    size = f"{len(drawing.boxes)} boxes and {len(drawing.arrows)} arrows"
    raise Unable(
        f"no layout of {size} was found in time",
        "--collapse auto or --focus STATE shows less; svg and html take no time",
    )


def _begin(drawing: Drawing) -> int:
    """The number of the first attempt that is worth its time."""
    boxes, arrows = len(drawing.boxes), len(drawing.arrows)
    return int(arrows > _MANY or (arrows > _SOME and arrows > _DENSE * boxes))


def large(drawing: Drawing) -> bool:
    """Whether an engine would have to give up something at once."""
    return _begin(drawing) > 0


def laid_out(engine: Callable[[], Engine], drawing: Drawing, look: Look) -> tuple[Layout, str]:
    """Where everything stands, and what had to be given up for it. A large drawing gets the layout
    of `layers`, which takes no time; so does one for which the engine takes too long. Raises
    Unable where there is no engine, or one that gives no layout."""
    if large(drawing):
        return layered(drawing, look), "a simpler layout, since the graph is large"
    found = engine()
    try:
        output = run(found, dot.text(drawing, look, bare=True), "json0")
        return fitted(drawing, _read(json.loads(output))), ""
    except TooSlow:
        return layered(drawing, look), "a simpler layout, since the engine took too long"
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise Unable(f"{found.command}: what it answers is no layout", INSTALL) from None


def _read(found: Mapping[str, Any]) -> Layout:
    left, bottom, right, top = map(float, found["bb"].split(","))
    boxes = {}
    for item in found.get("objects", ()):
        x, y = map(float, item["pos"].split(","))
        size = float(item["width"]) * 72, float(item["height"]) * 72
        boxes[item["name"]] = Spot(x - left, top - y, *size)
    arrows = {item["id"]: _course(item, left, top) for item in found.get("edges", ())}
    return Layout(right - left, top - bottom, boxes, arrows)


def _course(item: Mapping[str, Any], left: float, top: float) -> Course:
    """The course that an edge of the engine's answer takes: ``e,x,y x,y x,y ...``."""

    def point(words: str) -> Point:
        x, _, y = words.partition(",")
        return float(x) - left, top - float(y)

    tip: Point | None = None
    points: list[Point] = []
    for word in item["pos"].split():
        if word[:2] == "e,":
            tip = point(word[2:])
        elif word[:2] != "s,":
            points.append(point(word))
    label = point(item["lp"]) if "lp" in item else None
    return Course(tuple(points), tip or points[-1], label)
