r"""A drawing in the DOT language of Graphviz: what every layout engine reads.

The text is written here and not by the `graphviz` package: that does not escape everything
(``\``, ``<..>`` and ``:`` in names), and without that it would be three calls that join strings.
Boxes are named by their ids; what a name holds can do nothing outside its label.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from statecli.render.drawing import (
    BAR,
    CHOSEN,
    END_MARK,
    GROUP,
    IMPLICIT,
    JUMP,
    LINK,
    START,
    STATE,
    Arrow,
    Box,
    Drawing,
    Look,
)
from statecli.render.kinds import appearance
from statecli.render.sizes import GAP, LABEL_SIZE, MARKER, Line, contents, label_lines, label_size
from statecli.render.theme import Colors, colors
from statecli.text.excerpt import harmless

#: Shapes of Graphviz whose slants take room from the text.
_WIDER = {"hexagon": 1.45, "octagon": 1.25}
_STYLES = {CHOSEN: "dashed", IMPLICIT: "dotted", JUMP: "dotted"}


def lines(
    drawing: Drawing, look: Look, extra: Iterable[str] = (), *, bare: bool = False
) -> Iterator[str]:
    """The text, line by line. `extra` are attributes of the whole graph (``name=value``). `bare`:
    only what decides on places: boxes as rectangles with room around them, labels by their size."""
    palette = colors("light" if look.theme == "auto" else look.theme)
    yield f"digraph {_quoted(drawing.title)} {{"
    ranks = f"rankdir={look.rankdir} nodesep=0.4 ranksep=0.5 pad=0.2"
    yield f'  graph [{" ".join([ranks, *extra])} fontname="Helvetica" bgcolor="{palette.paper}"];'
    yield (
        '  node [shape=box style=filled fixedsize=true fontname="Helvetica" fontsize=12 '
        f'fontcolor="{palette.ink}" label=""];'
    )
    yield (
        f'  edge [fontname="Helvetica" fontsize={LABEL_SIZE:g} arrowsize=0.7 '
        f'fontcolor="{palette.ink}" color="{palette.line}"];'
    )
    for box in drawing.boxes:
        yield f"  {box.id} [{' '.join(_box(box, look, palette, bare))}];"
    places = _places(drawing)
    for arrow in drawing.arrows:
        ends = f"{arrow.source} -> {arrow.target}"
        yield f"  {ends} [{' '.join([*_arrow(arrow, palette, bare), *places[arrow.id]])}];"
    yield "}"


def text(drawing: Drawing, look: Look, extra: Iterable[str] = (), *, bare: bool = False) -> str:
    """The whole document."""
    return "\n".join(lines(drawing, look, extra, bare=bare)) + "\n"


def _places(drawing: Drawing) -> dict[str, list[str]]:
    """What the engine is told of the place of each arrow: the way on to the next box of the file
    is kept straight, and of two arrows between the same boxes one without words gets room too."""
    after = {
        box.id: following.id
        for box, following in zip(drawing.boxes, drawing.boxes[1:], strict=False)
    }
    between = Counter((arrow.source, arrow.target) for arrow in drawing.arrows)
    places: dict[str, list[str]] = {}
    for arrow in drawing.arrows:
        told = places[arrow.id] = []
        if after.get(arrow.source) == arrow.target:
            told.append("weight=5")
        if between[arrow.source, arrow.target] > 1 and not label_lines(arrow):
            told.append(f"label={_ROOM}")
    return places


_ROOM = (
    '<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="0"><TR>'
    '<TD FIXEDSIZE="TRUE" WIDTH="24" HEIGHT="8"></TD></TR></TABLE>>'
)


def _box(box: Box, look: Look, palette: Colors, bare: bool) -> Iterator[str]:
    inside = contents(box, look.rankdir)
    if bare and box.role not in MARKER:
        wide, high = inside.width + 2 * GAP, inside.height + 2 * GAP
        yield f"width={wide / 72:.3f} height={high / 72:.3f}"
        return
    looks = appearance(box.kind)
    wide = inside.width * (_WIDER.get(looks.dot, 1.0) if box.role == STATE else 1.0)
    yield f"width={wide / 72:.3f} height={inside.height / 72:.3f}"
    if box.role in (START, BAR):
        shape = "circle" if box.role == START else "box"
        yield f'shape={shape} fillcolor="{palette.ink}" color="{palette.ink}"'
        return
    if box.role == END_MARK:
        yield f'shape=doublecircle fillcolor="{palette.ink}" color="{palette.ink}"'
        yield f"tooltip={_quoted('the end')}"
        return
    fill, stroke = palette.group if box.role == GROUP else palette.kind(box.kind)
    styles = ["filled", *filter(None, [looks.style])]
    if box.role == GROUP:
        shape, styles = "box", ["filled", "rounded"]
    elif box.missing:
        shape, styles = "box", ["filled", "dashed"]
    else:
        shape = looks.dot
    yield f'shape={shape} style="{",".join(styles)}"'
    if box.ends or box.role == GROUP:
        yield "peripheries=2"
    yield f'fillcolor="{fill}" color="{_emphasis(box, palette) or stroke}"'
    if box.mark.severity or box.mark.current or box.waits:
        yield f"penwidth={3 if box.mark.severity or box.mark.current else 1.6}"
    tip = "\n".join(filter(None, [box.name, box.about, *map(str, box.mark.messages)]))
    yield f"tooltip={_quoted(tip)}"
    yield f"label={_table(inside.lines, box, looks.glyph, palette)}"


def _emphasis(box: Box, palette: Colors) -> str:
    """The colour of a box that a mark makes stand out."""
    if box.mark.severity or box.missing:
        return palette.severity(box.mark.severity or "error")
    return palette.here if box.mark.current else ""


def _table(rows: tuple[Line, ...], box: Box, glyph: str, palette: Colors) -> str:
    """The lines of a box as a label of Graphviz."""
    cells = []
    for row in rows:
        said = _markup(row.text)
        if row.role == "tag":
            lead = "▣" if box.role == GROUP else glyph
            marked = f" · {box.mark.severity}" if box.mark.severity else ""
            said = f"{lead} {said}{' · waits' if box.waits else ''}{marked}"
        elif row.role == "name":
            said = f"<B>{said}</B>"
        color = palette.ink if row.role == "name" else palette.dim
        side = "LEFT" if row.role in ("task", "more") else "CENTER"
        cells.append(
            f'<TR><TD ALIGN="{side}"><FONT POINT-SIZE="{row.size:g}" COLOR="{color}">'
            f"{said}</FONT></TD></TR>"
        )
    return f'<<TABLE BORDER="0" CELLPADDING="0" CELLSPACING="0">{"".join(cells)}</TABLE>>'


def _arrow(arrow: Arrow, palette: Colors, bare: bool) -> Iterator[str]:
    yield f'id="{arrow.id}"'
    if arrow.style in _STYLES:
        yield f"style={_STYLES[arrow.style]}"
    color = {JUMP: palette.jump, IMPLICIT: palette.dim, LINK: palette.ink}.get(arrow.style)
    if arrow.mark.severity:
        color = palette.severity(arrow.mark.severity)
    elif arrow.mark.steps or arrow.mark.times:
        color = palette.here
    if color:
        yield f'color="{color}"'
    if arrow.mark.severity or arrow.mark.steps or arrow.mark.times:
        yield "penwidth=2"
    found = label_lines(arrow)
    if found:
        wide, high = label_size(found)
        said = "" if bare else "<BR/>".join(map(_markup, found))
        yield (
            'label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="0"><TR>'
            f'<TD FIXEDSIZE="TRUE" WIDTH="{wide:.0f}" HEIGHT="{high:.0f}">{said}</TD></TR></TABLE>>'
        )
    if bare:
        return
    beside = [arrow.mark.severity, ", ".join(map(str, arrow.mark.steps))]
    if any(beside):
        yield f"headlabel={_quoted(' '.join(filter(None, beside)))} labeldistance=2.2"
    told = dict.fromkeys([arrow.label, arrow.about, *map(str, arrow.mark.messages)])
    tip = "\n".join(filter(None, told))
    if tip:
        yield f"tooltip={_quoted(tip)}"


def _quoted(words: str) -> str:
    """Text as a quoted string: a backslash, too, means only itself."""
    safe = "\n".join(map(harmless, words.split("\n")))
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_MARKUP = re.compile('[&<>"]')


def _markup(words: str) -> str:
    """Text inside a label that is written in Graphviz's HTML."""
    safe = harmless(words.rstrip("\n")) or " "
    return _MARKUP.sub(lambda match: _SPECIAL[match.group()], safe)
