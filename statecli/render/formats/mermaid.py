"""Mermaid's `stateDiagram-v2`: what GitHub, GitLab and many wikis draw by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from statecli.render.drawing import BAR, END_MARK, GROUP, START, Arrow, Box, Drawing, Look
from statecli.render.kinds import css_class
from statecli.render.renderer import Request
from statecli.render.sizes import label_text
from statecli.render.theme import colors
from statecli.text.excerpt import harmless

SUFFIXES = (".mmd", ".mermaid")
BINARY = False
#: What may not stand in a text of Mermaid's as it is, and is written by its number: its grammar
#: takes colons, hashes, semicolons, brackets and some words for its own. An underscore in a word is
#: harmless; at the edge of one it begins what Markdown stresses.
_PLAIN = re.compile(
    r"[^A-Za-z0-9_ .,()=/+À-ɏΑ-ωЀ-ӿ぀-ヿ一-鿿가-힯≤≥≠→×…·-]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
)
#: Signs that Markdown takes for its own: a backslash before one says that it is meant.
_MARKDOWN = re.compile(r"\\(?![A-Za-z0-9])|\*|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
#: After these an invisible sign (a word joiner) keeps a formula, an icon from beginning.
_FORMULA = re.compile(r"\$(?=\$)|fa[a-z]?:(?=fa-)")
#: Mermaid's `maxTextSize`, which GitHub and GitLab leave as it is.
_MOST = 50_000


def render(request: Request) -> bytes:
    """The drawing as a Mermaid document; needs no layout engine."""
    text = "\n".join(lines(request.drawing, request.look)) + "\n"
    if len(text) > _MOST:
        request.said(f"Mermaid draws at most {_MOST:,} characters unless told otherwise")
    return text.encode("utf-8", "replace")


def lines(drawing: Drawing, look: Look) -> Iterator[str]:
    """The document, line by line. States are named by ids; their names stand in their text."""
    yield "stateDiagram-v2"
    if look.rankdir == "LR":
        yield "  direction LR"
    roles = {box.id: box.role for box in drawing.boxes}
    parted = {arrow.target for arrow in drawing.arrows if arrow.style == "link"}
    for box in drawing.boxes:
        if box.role in (START, END_MARK):
            continue
        if box.role == BAR:
            yield f"  state {box.id} <<{'fork' if box.id in parted else 'join'}>>"
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
    special += [box.mark.severity, "here" * box.mark.current]
    told = [box.name or " ", f"({', '.join(filter(None, special))})", *box.tasks]
    return "<br>".join(unformatted(text) for text in told)


def _end(id_: str, roles: dict[str, str]) -> str:
    return "[*]" if roles[id_] in (START, END_MARK) else id_


def _label(arrow: Arrow) -> str:
    words = " ".join(label_text(arrow).split())
    marks = {"chosen": "(model) ", "implicit": "(implicit) "}.get(arrow.style, "")
    steps = f" [{', '.join(map(str, arrow.mark.steps))}]" if arrow.mark.steps else ""
    text = f"{marks}{words}{steps}".strip()
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


def unformatted(text: str) -> str:
    """A text in a box, where Mermaid reads Markdown, formulas and icons, so that it shows as it
    is. (Beside arrows Mermaid reads none of these.)"""
    text = _MARKDOWN.sub(r"\\\g<0>", _line(text))
    return _numbered(_FORMULA.sub("\\g<0>\u2060", text))


def escaped(text: str) -> str:
    """A text beside an arrow that Mermaid shows as it is."""
    return _numbered(_line(text))


def _line(text: str) -> str:
    return harmless(" ".join(text.splitlines()))


def _numbered(text: str) -> str:
    return _PLAIN.sub(lambda match: f"#{ord(match.group())};", text)
