"""A part of a drawing: a state and what is a few steps around it."""

from __future__ import annotations

from statecli.render.drawing import BAR, LINK, Drawing


def focused(drawing: Drawing, name: str, depth: int) -> Drawing:
    """The state with this name and everything at most `depth` routes away from it, in and against
    the direction of the arrows. Routes that lead out of it are counted at the boxes they leave."""
    bars = {box.id for box in drawing.boxes if box.role == BAR}
    around: dict[str, list[str]] = {}
    for arrow in drawing.arrows:
        around.setdefault(arrow.source, []).append(arrow.target)
        around.setdefault(arrow.target, []).append(arrow.source)
    kept = {box.id for box in drawing.boxes if box.name == name}
    edge = list(kept)
    for _ in range(depth):
        edge = _next(edge, around, kept, bars)
        if not edge:
            break
    arrows = tuple(a for a in drawing.arrows if a.source in kept and a.target in kept)
    hidden: dict[str, int] = {}
    for arrow in drawing.arrows:
        if arrow.style != LINK and (arrow.source in kept) != (arrow.target in kept):
            inside = arrow.source if arrow.source in kept else arrow.target
            hidden[inside] = hidden.get(inside, 0) + 1
    boxes = tuple(
        box._replace(hidden=hidden.get(box.id, 0)) for box in drawing.boxes if box.id in kept
    )
    return drawing._replace(boxes=boxes, arrows=arrows)


def _next(
    edge: list[str], around: dict[str, list[str]], kept: set[str], bars: set[str]
) -> list[str]:
    """The boxes one route further; a bar is a part of the route."""
    found: list[str] = []
    work = list(edge)
    while work:
        for other in around.get(work.pop(), ()):
            if other not in kept:
                kept.add(other)
                (work if other in bars else found).append(other)
    return found
