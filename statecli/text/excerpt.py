"""Lines of a document as a terminal can show them, with marks below the characters that count.

A graph may come from a stranger: control characters are shown as pictures, and letters that turn
the direction of writing as their code, so that nothing in a file can move the cursor, hide text
or change colours.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from statecli.model.span import Span

TAB = 4
#: Control characters, and the invisible ones that reorder or hide text (Trojan Source).
_UNSAFE = (
    "[\0-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff"
    "\ud800-\udfff]"
)


def harmless(text: str) -> str:
    """A text on one line that cannot do anything to a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, _picture, text)


def plain(text: str) -> str:
    """A text of several lines that cannot do anything to a terminal; line ends and tabs stay."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(harmless, line.split("\t"))) for line in lines)


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\u{code:04x}"


class Marked(NamedTuple):
    """A line to print and the line of marks below it, in columns of a terminal."""

    text: str
    marks: str


def marked(line: str, span: Span, width: int, mark: str = "^") -> Marked:
    """The line on which a span starts, cut to about `width` columns around it, and its marks."""
    start = min(span.start.column - 1, len(line))
    end = span.end.column - 1 if span.end.line == span.start.line else len(line.rstrip())
    end = min(max(end, start + 1), max(len(line), start + 1))
    first, last = _window(line, start, end, width)
    before = ("…" if first else "") + _cells(line[first:start])
    inside = _cells(line[start : min(end, last)], tab="→")
    after = _cells(line[min(end, last) : last]) + ("…" if last < len(line) else "")
    return Marked(
        (before + inside + after).rstrip(), " " * columns(before) + mark * max(1, columns(inside))
    )


def _window(line: str, start: int, end: int, width: int) -> tuple[int, int]:
    """Which characters of a line to show. A long one loses its indentation last."""
    if len(line) <= width:
        return 0, len(line)
    room = max(10, width - min(end - start, width))
    first = max(0, min(start - room // 2, len(line) - width))
    return first, min(len(line), first + width)


def _cells(text: str, tab: str = " ") -> str:
    """The characters as they are printed."""
    return harmless(text.replace("\t", tab + " " * (TAB - 1)))


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    width: int = wcswidth(text)
    return width if width >= 0 else len(text)
