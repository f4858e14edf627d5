"""What the shapes and lines of a drawing mean, for those who ask (`--legend`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from statecli.render.drawing import BAR, CHOSEN, GUARD, IMPLICIT, JUMP, STATE, Drawing, Look
from statecli.render.kinds import appearance, css_class
from statecli.render.outlines import num, outline

_ARROWS = {
    GUARD: "taken by its condition, or the only way",
    CHOSEN: "the model chooses",
    IMPLICIT: "implicit: not written in the file",
    JUMP: "after an error, or no valid choice",
}
_COLUMN, _ROW = 270.0, 24.0


class Entry(NamedTuple):
    """One sample with its words; `bottom` is where the row below it begins."""

    words: str
    sample: str
    x: float
    y: float

    @property
    def bottom(self) -> float:
        return self.y + _ROW

    def drawn(self, x: float, y: float) -> str:
        at = f"translate({num(x + self.x)} {num(y + self.y)})"
        return (
            f'<g class="legend" transform="{at}">{self.sample}'
            f'<text class="task" x="48" y="13">{self.words}</text></g>'
        )


def legend(drawing: Drawing, _look: Look) -> Iterator[Entry]:
    """The kinds and the arrows that the drawing has, in two columns."""
    samples = [*_kinds(drawing), *_arrows(drawing)]
    rows = (len(samples) + 1) // 2
    for at, (words, sample) in enumerate(samples):
        yield Entry(words, sample, at // rows * _COLUMN, at % rows * _ROW)


def _kinds(drawing: Drawing) -> Iterator[tuple[str, str]]:
    seen = {css_class(box.kind): box for box in drawing.boxes if box.role == STATE}
    for name, box in seen.items():
        path = outline(appearance(box.kind).outline, 0, 0, 42, 19)
        icon = f'<path class="icon" transform="translate(15 3.5)" d="{appearance(box.kind).icon}"/>'
        waits = ", waits for the person" if box.waits else ", ends the run" if box.ends else ""
        yield f"{name}{waits}", f'<g class="{name}"><path class="shape" d="{path}"/>{icon}</g>'


def _arrows(drawing: Drawing) -> Iterator[tuple[str, str]]:
    there = {arrow.style for arrow in drawing.arrows}
    head = '<path class="head" d="M42 10l-8-3v6z"/>'
    for style, words in _ARROWS.items():
        if style in there:
            yield words, f'<g class="edge {style}"><path d="M0 10h34"/>{head}</g>'
    if any(box.role == BAR for box in drawing.boxes):
        bar = '<rect x="0" y="8" width="42" height="5"/>'
        yield "branches part or meet", f'<g class="bar">{bar}</g>'
