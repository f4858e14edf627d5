"""Mermaid's `stateDiagram-v2`: what GitHub, GitLab and many wikis draw by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from statecli.render.drawing import BAR, END_MARK, GROUP, START, Arrow, Box, Drawing, Look
from statecli.render.kinds import css_class
from statecli.render.renderer import Request
from statecli.render.sizes import label_lines
from statecli.render.theme import colors
from statecli.text.excerpt import harmless

SUFFIXES = (".mmd", ".mermaid")
BINARY = False
#: What may stand in a text of Mermaid's as it is; everything else is written by its number, since
#: its grammar takes colons, hashes, semicolons, brackets and some words for its own.
_PLAIN = re.compile(r"[^A-Za-z0-9 _.,()=/+À-ɏΑ-ωЀ-ӿ぀-ヿ一-鿿가-힯≤≥≠→×…·-]")


def render(request: Request) -> bytes:
    """The drawing as a Mermaid document; needs no layout engine."""
    return ("\n".join(lines(request.drawing, request.look)) + "\n").encode("utf-8", "replace")


def lines(drawing: Drawing, look: Look) -> Iterator[str]:
    """The document, line by line. States are named by ids; their names stand in their text."""
    yield "stateDiagram-v2"
    if look.rankdir == "LR":
        yield "  direction LR"
    roles = {box.id: box.role for box in drawing.boxes}
    bars = {arrow.source: "fork" for arrow in drawing.arrows if arrow.ways}
    parted = {arrow.target for arrow in drawing.arrows if arrow.style == "link"}
    for box in drawing.boxes:
        if box.role in (START, END_MARK):
            continue
        if box.role == BAR:
            kind = bars.get(box.id, "fork") if box.id in parted else "join"
            yield f"  state {box.id} <<{kind}>>"
        else:
            yield f'  state "{_words(box)}" as {box.id}'
    for arrow in drawing.arrows:
        yield f"  {_end(arrow.source, roles)} --> {_end(arrow.target, roles)}{_label(arrow)}"
    for box in drawing.boxes:
        if box.ends and box.role != END_MARK:
            yield f"  {box.id} --> [*]"
    yield from _classes(drawing, look)


def _words(box: Box) -> str:
    """Name, then kind and what is special, on lines of their own."""
    kind = f"{len(box.members)} states" if box.role == GROUP else box.kind or "no type"
    special = [kind, "waits" * box.waits, "ends" * box.ends, "missing" * box.missing]
    if box.mark.times is not None:
        special.append(f"×{box.mark.times}")
    if box.mark.severity:
        special.append(box.mark.severity)
    told = [box.name or " ", f"({', '.join(filter(None, special))})"]
    return "<br>".join(escaped(text) for text in told)


def _end(id_: str, roles: dict[str, str]) -> str:
    return "[*]" if roles[id_] in (START, END_MARK) else id_


def _label(arrow: Arrow) -> str:
    words = " ".join(label_lines(arrow))
    marks = {"chosen": "(model) ", "implicit": "(implicit) "}.get(arrow.style, "")
    text = f"{marks}{words}".strip()
    return f" : {escaped(text)}" if text else ""


def _classes(drawing: Drawing, look: Look) -> Iterator[str]:
    """The colours of the kinds; an automatic theme leaves them to the page."""
    kinds: dict[str, list[str]] = {}
    for box in drawing.boxes:
        if box.role not in (START, END_MARK, BAR, GROUP) and not box.missing:
            kinds.setdefault(css_class(box.kind), []).append(box.id)
    if look.theme == "auto":
        return
    palette = colors(look.theme)
    for kind, ids in kinds.items():
        fill, stroke = palette.kind(kind)
        yield f"  classDef {kind} fill:{fill},stroke:{stroke},color:{palette.ink}"
        yield f"  class {','.join(ids)} {kind}"


def escaped(text: str) -> str:
    """Text that Mermaid shows as it is: what its grammar might take for its own becomes
    ``#number;``."""
    safe = harmless(" ".join(text.splitlines()))
    return _PLAIN.sub(lambda match: f"#{ord(match.group())};", safe)
