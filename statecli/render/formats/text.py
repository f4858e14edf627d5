"""Plain text for a terminal: every state with its ways out, in the order they are tried."""

from __future__ import annotations

from collections.abc import Iterator

from statecli.render.drawing import (
    BAR,
    CHOSEN,
    END_MARK,
    GROUP,
    IMPLICIT,
    JUMP,
    LINK,
    STATE,
    Arrow,
    Box,
    Drawing,
)
from statecli.render.kinds import appearance
from statecli.render.renderer import Request
from statecli.text.excerpt import harmless

SUFFIXES = (".txt",)
BINARY = False
_LINES = {CHOSEN: "╌╌▶", IMPLICIT: "┈┈▶", JUMP: "┈!▶"}


def render(request: Request) -> bytes:
    """The drawing as lines; needs no layout engine."""
    return ("\n".join(lines(request.drawing)) + "\n").encode("utf-8", "replace")


def lines(drawing: Drawing) -> Iterator[str]:
    """A block for each state: where it stands in the file, top down."""
    boxes = {box.id: box for box in drawing.boxes}
    ways: dict[str, list[Arrow]] = {}
    for arrow in drawing.arrows:
        ways.setdefault(arrow.source, []).append(arrow)
    bars = {box.id for box in drawing.boxes if box.role == BAR}
    parts = {arrow.source for arrow in drawing.arrows if arrow.target in bars} - bars
    joins = {arrow.target for arrow in drawing.arrows if arrow.source in bars}
    links = [arrow for arrow in drawing.arrows if arrow.style == LINK]
    parts &= {arrow.source for arrow in links}
    joins &= {arrow.target for arrow in links}
    rank = {box.id: at for at, box in enumerate(drawing.boxes)}
    starts = [boxes[arrow.target].name for arrow in ways.get("start", ())]
    yield harmless(f"{drawing.title}: begins in {' or '.join(starts)}" if starts else drawing.title)
    for box in drawing.boxes:
        if box.role not in (STATE, GROUP) or box.missing:
            continue
        yield ""
        branches = ["all at once"] * (box.id in parts) + ["waits for all"] * (box.id in joins)
        yield harmless(_head(box, branches))
        if box.about:
            yield harmless(f"│ {box.about}")
        for task in box.tasks:
            yield harmless(f"│ ▫ {task}")
        for message in box.mark.messages:
            yield harmless(f"│ {message}")
        out = list(_ways(ways.get(box.id, ()), boxes, ways))
        for at, (arrow, target) in enumerate(out):
            lead = "└" if at == len(out) - 1 else "├"
            back = rank[target.id] <= rank[box.id]
            yield harmless(_way(arrow, target, lead, back=back, itself=target is box))
            bar = " " if at == len(out) - 1 else "│"
            for message in arrow.mark.messages:
                yield harmless(f"{bar}     {message}")
    yield ""
    yield _legend(drawing)


def _head(box: Box, branches: list[str]) -> str:
    if box.role == GROUP:
        return f"▣ {box.name} ({len(box.members)} states)"
    kind = box.kind or "no type"
    special = [kind, "waits" * box.waits, "ends" * box.ends, *branches]
    text = f"{appearance(box.kind).glyph} {box.name} ({', '.join(filter(None, special))})"
    if box.hidden:
        text += f" +{box.hidden} not shown"
    if box.mark.times is not None:
        text += f" ×{box.mark.times}"
    if box.mark.current:
        text += " ◀ here"
    return text + "".join(f" [{step}]" for step in box.mark.steps)


def _ways(
    arrows: list[Arrow] | tuple[Arrow, ...], boxes: dict[str, Box], ways: dict[str, list[Arrow]]
) -> Iterator[tuple[Arrow, Box]]:
    """The arrows with the states they lead to: bars are passed through."""
    for arrow in arrows:
        target = boxes[arrow.target]
        if target.role != BAR:
            yield arrow, target
            continue
        for further, end in _ways(ways.get(target.id, ()), boxes, ways):
            yield (arrow if further.style == "link" else further), end


def _way(arrow: Arrow, target: Box, lead: str, *, back: bool, itself: bool) -> str:
    name = "itself" if itself else "the end" if target.role == END_MARK else target.name
    missing = " (no such state)" if target.missing else ""
    order = f"{arrow.order}. " if arrow.order else ""
    text = f"{lead}{_LINES.get(arrow.style, '──▶')} {order}{name}{missing}"
    if back and not itself:
        text += " ↑"
    label = f"{arrow.ways} ways" if arrow.ways > 1 else arrow.label
    if label:
        text += f"   {label}"
    if arrow.mark.times is not None:
        text += f" ×{arrow.mark.times}"
    return text + "".join(f" [{step}]" for step in arrow.mark.steps)


def _legend(drawing: Drawing) -> str:
    there = {arrow.style for arrow in drawing.arrows}
    words = ["──▶ by its condition"]
    words += ["╌╌▶ the model chooses"] * (CHOSEN in there)
    words += ["┈┈▶ implicit"] * (IMPLICIT in there)
    words += ["┈!▶ after an error"] * (JUMP in there)
    return f"({', '.join(words)}, ↑ back)"
