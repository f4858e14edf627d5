"""What the shapes and lines of a drawing mean, for those who ask (`--legend`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from statecli.render.drawing import (
    BAR,
    CHOSEN,
    END_MARK,
    GUARD,
    IMPLICIT,
    JUMP,
    Drawing,
)
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


def legend(drawing: Drawing) -> Iterator[Entry]:
    """The kinds and the arrows that the drawing has, in two columns."""
    samples = [*_kinds(drawing), *_arrows(drawing), *_signs(drawing)]
    rows = (len(samples) + 1) // 2
    for at, (words, sample) in enumerate(samples):
        yield Entry(words, sample, at // rows * _COLUMN, at % rows * _ROW)


_KINDS = {
    "user": "user: the person's line is read", "agent": "agent: a model answers",
    "tool": "tool: a tool is called", "decision": "decision: only routes",
    "planner": "planner: a model makes a plan", "executor": "executor: a step of the plan",
    "verifier": "verifier: a model checks what was done",
    "skill_builder": "skill_builder: a skill is written down", "terminal": "terminal: the run ends",
    "strict": "strict: tasks in their order", "loose": "loose: tasks in any order",
    "goal": "goal: until it is reached or given up", "custom": "custom: code of its own",
}  # fmt: skip


def _kinds(drawing: Drawing) -> Iterator[tuple[str, str]]:
    states = drawing.states()
    for name, kind in {css_class(box.kind): box.kind for box in states}.items():
        path = outline(appearance(kind).outline, 0, 0, 42, 19)
        icon = f'<path class="icon" transform="translate(15 3.5)" d="{appearance(kind).icon}"/>'
        yield _KINDS[name], f'<g class="{name}"><path class="shape" d="{path}"/>{icon}</g>'
    for kind in [box.kind for box in states if box.waits][:1]:
        bars = '<path class="wait" d="M19 5v9m5-9v9"/>'
        yield "waits for the person", f'<g class="{css_class(kind)}">{bars}</g>'


def _signs(drawing: Drawing) -> Iterator[tuple[str, str]]:
    """Numbers, marks and the end."""
    if any(arrow.order for arrow in drawing.arrows):
        yield (
            "the order in which ways out are tried",
            '<text class="label" x="21" y="14">1. 2.</text>',
        )
    if any(box.role == END_MARK for box in drawing.boxes):
        rings = '<circle class="shape" cx="21" cy="10" r="9"/><circle cx="21" cy="10" r="5.5"/>'
        yield "the plan ends", f'<g class="end">{rings}</g>'
    marks = [box.mark for box in drawing.boxes] + [arrow.mark for arrow in drawing.arrows]
    for severity in ("error", "warning"):
        if any(mark.severity == severity for mark in marks):
            shape = '<circle cx="21" cy="10" r="8"/>'
            if severity == "warning":
                shape = '<path d="M21 .5l9.5 17h-19z"/>'
            sign = f'{shape}<text x="21" y="14">!</text>'
            yield f"{severity} (validate)", f'<g class="sign {severity}">{sign}</g>'
    if any(box.missing for box in drawing.boxes):
        box = f'<path class="shape" d="{outline("dashed", 0, 0, 42, 19)}"/>'
        yield "there is no such state", f'<g class="missing">{box}</g>'


def _arrows(drawing: Drawing) -> Iterator[tuple[str, str]]:
    there = {arrow.style for arrow in drawing.arrows}
    head = '<path class="head" d="M42 10l-8-3v6z"/>'
    for style, words in _ARROWS.items():
        if style in there:
            yield words, f'<g class="edge {style}"><path d="M0 10h34"/>{head}</g>'
    if any(box.role == BAR for box in drawing.boxes):
        bar = '<rect x="0" y="8" width="42" height="5"/>'
        yield "branches part or meet", f'<g class="bar">{bar}</g>'
