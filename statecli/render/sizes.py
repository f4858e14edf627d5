"""The lines of text in a box and beside an arrow, and the room they take, in points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from statecli.render.drawing import BAR, END_MARK, GROUP, START, Arrow, Box
from statecli.render.kinds import appearance
from statecli.render.metric import balanced, clipped, width, wrapped
from statecli.text.excerpt import harmless

NAME_SIZE, TAG_SIZE, TEXT_SIZE, LABEL_SIZE = 12.0, 8.5, 9.5, 9.5
#: From one line to the next, by the size of its font.
LEADING = 1.28
#: The widest a text in a box, a text beside an arrow may get before it breaks.
_WIDE, _NAME_WIDE, _LABEL_WIDE = 190.0, 210.0, 150.0
_ABOUT_LINES, _LABEL_LINES = 2, 7
ICON = 12.0
TASK_INDENT = 11.0
#: A comparison stays on one line where it can: its spaces are hard ones until the lines are made.
_HARD = "\xa0"
_COMPARISON = re.compile(r"\S+ [=≠<>≤≥] \S+( [<≤] \S+)?|[0-9]+ turns?|^[0-9]+\. \S+")
_PAD = 9.0
#: What an outline needs at the left and right besides; a factor for slanted sides.
_INSETS = {"hexagon": 13.0, "arrow": 12.0, "sides": 9.0, "octagon": 6.0, "pill": 4.0, "bars": 7.0,
           "double": 4.0, "note": 4.0, "ticket": 5.0}  # fmt: skip
#: The room around a box in which no line of another arrow may run.
GAP = 5.0
MARKER = {START: (12.0, 12.0), END_MARK: (20.0, 20.0), BAR: (90.0, 6.0)}


class Line(NamedTuple):
    """`role`: tag, name, about, task, more (of a task), note. The lines of a name are the name."""

    text: str
    role: str
    size: float


class Contents(NamedTuple):
    """The lines of a box from above, and its size."""

    lines: tuple[Line, ...]
    width: float
    height: float


@lru_cache(2**15)
def contents(box: Box, rankdir: str = "TB") -> Contents:
    """What stands in a box."""
    if box.role in MARKER:
        wide, high = MARKER[box.role]
        if box.role == BAR and rankdir == "LR":
            wide, high = high, wide
        return Contents((), wide, high)
    lines = tuple(_lines(box))
    outline = "group" if box.role == GROUP else appearance(box.kind).outline
    wide = max(width(line.text, line.size, bold=line.role == "name") for line in lines)
    tag = width(lines[0].text, TAG_SIZE) + ICON + 6 + (16 if box.waits else 0)
    high = sum(line.size * LEADING for line in lines)
    inset = _INSETS.get(outline, 0.0)
    extra = 8.0 if outline == "folder" else 4.0 if outline in ("double", "group") else 0.0
    return Contents(
        lines, round(max(wide, tag, 64) + 2 * (_PAD + inset), 1), round(high + 12 + extra, 1)
    )


def _lines(box: Box) -> list[Line]:
    if box.role == GROUP:
        named = [Line(f"{len(box.members)} states", "tag", TAG_SIZE)]
    else:
        named = [Line(_tag(box), "tag", TAG_SIZE)]
    name = _shown(box.name) or "(no name)"
    named += [Line(t, "name", NAME_SIZE) for t in wrapped(name, NAME_SIZE, _NAME_WIDE, bold=True)]
    about = (
        clipped(balanced(_shown(box.about), TEXT_SIZE, _WIDE), _ABOUT_LINES) if box.about else []
    )
    named += [Line(text, "about", TEXT_SIZE) for text in about]
    for task in box.tasks:
        first, *rest = clipped(wrapped(_shown(task), TEXT_SIZE, _WIDE), 3)
        named.append(Line(f"▫ {first}", "task", TEXT_SIZE))
        named += [Line(text, "more", TEXT_SIZE) for text in rest]
    notes = []
    if box.hidden:
        notes.append(f"+{box.hidden} way{'' if box.hidden == 1 else 's'} not shown")
    if box.mark.times:
        notes.append(f"×{box.mark.times}")
    return named + [Line(text, "note", TAG_SIZE) for text in notes]


def _shown(text: str) -> str:
    """What is drawn of a text: what it holds besides characters to read is shown as pictures."""
    return "\n".join(map(harmless, text.split("\n")))


def _tag(box: Box) -> str:
    if box.missing:
        return "there is no such state"
    return box.kind or "no type"


def label_text(arrow: Arrow) -> str:
    """The text beside an arrow, with the number of the order before it."""
    text = f"{arrow.order}. {arrow.label}" if arrow.order else arrow.label
    if arrow.ways > 1:
        text = f"{arrow.ways} ways"
    if arrow.mark.times:
        text = f"{text} ×{arrow.mark.times}"
    return text


@lru_cache(2**15)
def label_lines(arrow: Arrow) -> tuple[str, ...]:
    """The text beside an arrow, in lines."""
    text = harmless(label_text(arrow))
    if not text.strip():
        return ()
    kept = _COMPARISON.sub(lambda match: match.group().replace(" ", _HARD), text)
    lines = clipped(balanced(kept, LABEL_SIZE, _LABEL_WIDE), _LABEL_LINES)
    return tuple(line.rstrip().replace(_HARD, " ") for line in lines)


def label_size(lines: Sequence[str]) -> tuple[float, float]:
    """The room of a label, with a little air around it."""
    wide = max(width(line, LABEL_SIZE) for line in lines)
    return round(wide + 8, 1), round(len(lines) * LABEL_SIZE * LEADING + 3, 1)
