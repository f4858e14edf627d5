"""Places in a document, and the text ranges they resolve to."""

from __future__ import annotations

from typing import NamedTuple

#: Keys (text) and list indexes (int) from the root of a document to one of its values.
Path = tuple[str | int, ...]


class Position(NamedTuple):
    """A character in a text: line and column from 1, columns in code points."""

    line: int
    column: int


class Span(NamedTuple):
    """A range of text; the end is exclusive."""

    start: Position
    end: Position


class Place(NamedTuple):
    """Something in a document that a message can point at, resolved to a span only when shown.

    `part` is "value", "key" (the key in front of the value) or "entry" (key and value). `within`
    narrows a text value to the characters from `within[0]` up to `within[1]` of its content.
    """

    path: Path
    part: str = "value"
    within: tuple[int, int] | None = None


def dotted(path: Path) -> str:
    """A path as people write it: ``states.ask.transition.next[0]``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
