"""A drawing as SVG: our own picture, with the places that the layout engine found.

Only the places are the engine's. Shapes, signs, themes, tooltips and marks are ours, so that the
same graph gives the same bytes, and every text is escaped in one place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from statecli.render.drawing import (
    BAR,
    END_MARK,
    GROUP,
    START,
    Arrow,
    Box,
    Drawing,
    Look,
    Mark,
)
from statecli.render.geometry import Course, Layout, Point, Spot
from statecli.render.kinds import appearance, css_class
from statecli.render.legend import legend
from statecli.render.metric import width
from statecli.render.outlines import num, outline
from statecli.render.sizes import (
    ICON,
    LABEL_SIZE,
    LEADING,
    TAG_SIZE,
    TASK_INDENT,
    contents,
    label_lines,
)
from statecli.render.style import style
from statecli.text.excerpt import harmless

MARGIN = 12.0
#: How far a sign stands out over the corner of its box.
_SIGN = 8.0


def picture(drawing: Drawing, layout: Layout, look: Look, *, sheet: bool = True) -> str:
    """The whole document. `sheet`: with its style sheet inside (a page has its own)."""
    return "\n".join(_lines(drawing, layout, look, sheet=sheet)) + "\n"


def _lines(drawing: Drawing, layout: Layout, look: Look, *, sheet: bool) -> Iterator[str]:
    below = list(legend(drawing)) if look.legend else []
    wide = max(layout.width, 560.0 if below else 0.0) + 2 * MARGIN
    high = layout.height + 2 * MARGIN + max((row.bottom + 12 for row in below), default=0.0)
    wide, high = math.ceil(wide), math.ceil(high)  # else a line of half a pixel shows at the edge
    size = f'width="{num(wide)}" height="{num(high)}" viewBox="0 0 {num(wide)} {num(high)}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" class="statecli">'
    yield f"<title>{escaped(drawing.title)}</title>"
    if sheet:
        yield f"<style>{style(drawing, look)}</style>"
    yield f'<rect class="paper" width="{num(wide)}" height="{num(high)}"/>'
    yield f'<g transform="translate({num(MARGIN)} {num(MARGIN)})">'
    names = {box.id: box.name or box.role for box in drawing.boxes}
    for arrow in drawing.arrows:
        yield from _arrow(arrow, layout.arrows[arrow.id], names)
    for box in drawing.boxes:
        yield from _box(box, layout.boxes[box.id], look)
    for arrow in drawing.arrows:
        yield from _steps(arrow, layout.arrows[arrow.id])
    for row in below:
        yield row.drawn(0.0, layout.height + 12)
    yield "</g>"
    yield "</svg>"


# --- boxes ----------------------------------------------------------------------------------------


def _box(box: Box, spot: Spot, look: Look) -> Iterator[str]:
    x, y = spot.x - spot.width / 2, spot.y - spot.height / 2
    yield f'<g class="{_classes(box)}" id="{box.id}">'
    if box.role == START:
        yield f'<circle cx="{num(spot.x)}" cy="{num(spot.y)}" r="{num(spot.width / 2)}"/></g>'
        return
    if box.role == END_MARK:
        outer, inner = num(spot.width / 2), num(spot.width / 2 - 4)
        yield f"<title>{_tip(box.name, box)}</title>"
        yield f'<circle class="shape" cx="{num(spot.x)}" cy="{num(spot.y)}" r="{outer}"/>'
        yield f'<circle cx="{num(spot.x)}" cy="{num(spot.y)}" r="{inner}"/></g>'
        return
    if box.role == BAR:
        size = f'width="{num(spot.width)}" height="{num(spot.height)}"'
        yield f'<rect x="{num(x)}" y="{num(y)}" {size}/></g>'
        return
    shape = "group" if box.role == GROUP else appearance(box.kind).outline
    yield f"<title>{_tip(box.name, box)}</title>"
    path = outline("dashed" if box.missing else shape, x, y, spot.width, spot.height)
    yield f'<path class="shape" d="{path}"/>'
    yield from _words(box, spot, look)
    yield from _signs(box, x, y, spot.width)
    yield "</g>"


def _classes(box: Box) -> str:
    words = [box.role]
    if box.role in ("state", "group"):
        words.append(css_class(box.kind) if box.role == "state" else "")
        words += ["waits" * box.waits, "ends" * box.ends, "missing" * box.missing]
    return " ".join(filter(None, [*words, *_marked(box.mark)]))


def _marked(mark: Mark) -> list[str]:
    words = [mark.severity, "here" * mark.current]
    if mark.times is not None:
        words.append("seen" if mark.times else "unseen")
    if mark.steps:
        words.append("seen")
    return list(dict.fromkeys(words))


def _words(box: Box, spot: Spot, look: Look) -> Iterator[str]:
    """The lines in a box. Those of the name are one text, which is the name exactly."""
    inside = contents(box, look.rankdir)
    high = sum(line.size * LEADING for line in inside.lines)
    shape = appearance(box.kind).outline if box.role != GROUP else "group"
    y = spot.y - high / 2 + {"folder": 3.0, "group": 2.0}.get(shape, 0.0)
    shift = {"arrow": -3.0, "bars": 2.0, "group": -2.0}.get(shape, 0.0)
    x = spot.x + shift
    named: list[tuple[str, float]] = []
    for line in inside.lines:
        y += line.size * LEADING
        base = y - line.size * 0.32
        if line.role == "name":
            named.append((line.text, base))
            continue
        if named:
            yield _name(box, named, x)
            named = []
        if line.role == "tag":
            yield from _tag(box, line.text, x, base)
        elif line.role in ("task", "more"):
            left = spot.x - spot.width / 2 + TASK_INDENT
            left += 9 if line.role == "more" else 0
            yield f'<text class="task" x="{num(left)}" y="{num(base)}">{escaped(line.text)}</text>'
        else:
            yield _text(line.role, line.text, x, base)
    if named:
        yield _name(box, named, x)


def _name(box: Box, lines: list[tuple[str, float]], x: float) -> str:
    if not box.name:
        return _text("name none", lines[0][0], x, lines[0][1])
    if len(lines) == 1:
        return _text("name", lines[0][0], x, lines[0][1])
    spans = "".join(
        f'<tspan x="{num(x)}" y="{num(y)}">{escaped(words)}</tspan>' for words, y in lines
    )
    return f'<text class="name">{spans}</text>'


def _text(role: str, words: str, x: float, y: float) -> str:
    return f'<text class="{role}" x="{num(x)}" y="{num(y)}">{escaped(words)}</text>'


def _tag(box: Box, words: str, x: float, base: float) -> Iterator[str]:
    """The sign of a kind and its name, beside each other in the middle."""
    wide = width(words, TAG_SIZE)
    left = x - (ICON + 4 + wide + (14 if box.waits else 0)) / 2
    if box.role != GROUP and not box.missing:
        icon = appearance(box.kind).icon
        at = f"translate({num(left)} {num(base - 9.5)})"
        yield f'<path class="icon" transform="{at}" d="{icon}"/>'
    middle = left + ICON + 4 + wide / 2
    yield _text("tag", words, middle, base)
    if box.waits:  # two upright bars: it waits
        bar = f"M{num(middle + wide / 2 + 6)} {num(base - 7)}v7m4-7v7"
        yield f'<path class="wait" d="{bar}"><title>waits for the person</title></path>'


def _signs(box: Box, x: float, y: float, wide: float) -> Iterator[str]:
    """A round sign over the corner of a box that has diagnostics."""
    mark = box.mark
    if mark.severity:
        yield _sign(mark, x + wide - 2, y + 2)
    for at, step in enumerate(_few(mark.steps)):
        yield _step(step, x + 2 + at * 2 * _SIGN, y + 2)


def _sign(mark: Mark, x: float, y: float) -> str:
    """A triangle or a disc with the number of diagnostics, or an exclamation mark."""
    number = str(len(mark.messages)) if len(mark.messages) > 1 else "!"
    shape = f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(_SIGN)}"/>'
    if mark.severity == "warning":
        shape = f'<path d="M{num(x)} {num(y - 9.5)}l9.5 17h-19z"/>'
    tip = escaped("\n".join(map(str, mark.messages)))
    text = f'<text x="{num(x)}" y="{num(y + 4)}">{number}</text>'
    return f'<g class="sign {mark.severity}"><title>{tip}</title>{shape}{text}</g>'


def _few(steps: Sequence[int]) -> list[str]:
    """The numbers that are drawn; all of them stand in the tooltip."""
    return [str(step) for step in steps] if len(steps) < 5 else [*map(str, steps[:3]), "…"]


def _step(step: str, x: float, y: float) -> str:
    return (
        f'<g class="step"><circle cx="{num(x)}" cy="{num(y)}" r="{num(_SIGN)}"/>'
        f'<text x="{num(x)}" y="{num(y + 3.4)}">{step}</text></g>'
    )


def _tip(title: str, box: Box) -> str:
    role = "the plan ends here" if box.role == END_MARK else box.kind
    words = [title, f"{role}{', waits for the person' if box.waits else ''}", box.about]
    members = ", ".join(box.members[:40]) + (" …" if len(box.members) > 40 else "")
    return escaped("\n".join(filter(None, [*words, members, *map(str, box.mark.messages)])))


# --- arrows ---------------------------------------------------------------------------------------


def _arrow(arrow: Arrow, course: Course, names: dict[str, str]) -> Iterator[str]:
    classes = ["edge", arrow.style, *_marked(arrow.mark)]
    yield f'<g class="{" ".join(filter(None, classes))}" id="{arrow.id}">'
    way = f"{names[arrow.source]} → {names[arrow.target]}"
    steps = ", ".join(map(str, arrow.mark.steps))
    told = [
        way,
        arrow.label,
        arrow.about,
        f"step {steps}" if steps else "",
        *map(str, arrow.mark.messages),
    ]
    yield f"<title>{escaped(chr(10).join(filter(None, dict.fromkeys(told))))}</title>"
    yield f'<path d="{_curve(course)}"/>'
    yield f'<path class="head" d="{_head(course)}"/>'
    lines = label_lines(arrow)
    if lines and course.label is not None:
        x, y = course.label
        first = y - (len(lines) - 1) / 2 * LABEL_SIZE * LEADING + LABEL_SIZE * 0.34
        if len(lines) == 1:
            yield _text("label", lines[0], x, first)
        else:
            spans = "".join(
                f'<tspan x="{num(x)}" y="{num(first + at * LABEL_SIZE * LEADING)}">'
                f"{escaped(line)}</tspan>"
                for at, line in enumerate(lines)
            )
            yield f'<text class="label">{spans}</text>'
    yield "</g>"


def _curve(course: Course) -> str:
    first, *rest = course.points
    pieces = [
        " ".join(f"{num(x)} {num(y)}" for x, y in rest[at : at + 3])
        for at in range(0, len(rest) - 2, 3)
    ]
    return f"M{num(first[0])} {num(first[1])}C{'C'.join(pieces)}"


def _head(course: Course) -> str:
    """A triangle from the end of the curve to its tip."""
    (x, y), (tx, ty) = course.points[-1], course.tip
    long = math.hypot(tx - x, ty - y) or 1.0
    ux, uy = (tx - x) / long, (ty - y) / long
    left = f"{num(x - uy * 3)} {num(y + ux * 3)}"
    right = f"{num(x + uy * 3)} {num(y - ux * 3)}"
    return f"M{num(tx)} {num(ty)}L{left}L{right}z"


def _steps(arrow: Arrow, course: Course) -> Iterator[str]:
    """The numbers of a path, a little after the middle of the arrow."""
    x, y = _along(course)
    if arrow.mark.severity:
        yield _sign(arrow.mark, x, y)
        x += 2 * _SIGN
    if arrow.mark.steps:
        for at, step in enumerate(_few(arrow.mark.steps)):
            yield _step(step, x + at * 2 * _SIGN, y)


def _along(course: Course) -> Point:
    """The middle of the middle piece of the curve."""
    points = course.points
    at = (len(points) - 1) // 3 // 2 * 3
    a, b, c, d = points[at : at + 4] if at + 4 <= len(points) else (points[-1],) * 4
    return (a[0] + 3 * b[0] + 3 * c[0] + d[0]) / 8, (a[1] + 3 * b[1] + 3 * c[1] + d[1]) / 8


_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_MARKUP = re.compile("[&<>\"']")


def escaped(words: str) -> str:
    """Text for XML and HTML: markup is text, control characters are shown as pictures. The end of
    a line stays."""
    if words.isalnum():
        return words
    lines = words.split("\n")
    safe = "\n".join(map(harmless, lines)) if len(lines) > 1 else harmless(words)
    return _MARKUP.sub(lambda match: _SPECIAL[match.group()], safe)
