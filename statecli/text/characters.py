"""Where each character of a scalar's content stands in the text: behind escapes, in folded lines.

The content is read once more as YAML reads it (JSON texts are a subset), this time with places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from statecli.text.nodes import Node

#: One character of the content, and its place.
_Placed = tuple[str, int]

_BREAK = re.compile(r"\r\n|\r|\n")
_BLANKS = re.compile(r"[ \t\r\n]+")
_DIGITS = {"x": 2, "u": 4, "U": 8}
_ESCAPED = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f",
    "r": "\r", "e": "\x1b", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def value_offsets(text: str, node: Node, start: int, end: int) -> tuple[int, int]:
    """Where the characters `start` up to `end` of a scalar's content stand in the text."""
    places = content_places(text, node)
    if not places:
        return node.start, node.end
    first = min(start, len(places) - 1)
    last = places[min(max(end - 1, first), len(places) - 1)]
    return places[first], last + _length(text, last, node.style)


def _length(text: str, place: int, style: str) -> int:
    """How many characters of the text one of the content takes."""
    if style == '"' and text[place] == "\\":
        return _escape(text, place)[1]
    return 2 if style == "'" and text.startswith("''", place) else 1


def content_places(text: str, node: Node) -> list[int]:
    """For each character of a scalar's content its place in the text: of an escape the backslash,
    of a folded line end the line end."""
    if node.style in ("|", ">"):
        placed = _block(text, node)
    else:
        quote = len(node.style)
        placed = list(_flow(text, node.start + quote, node.end - quote, node.style))
    if "".join(char for char, _ in placed) == node.text:
        return [place for _, place in placed]
    last = max(node.start, node.end - 1)
    return [min(node.start + number, last) for number in range(len(node.text))]


def _flow(text: str, at: int, end: int, style: str) -> Iterator[_Placed]:
    """Plain and quoted text: blanks around a line end go, the line end becomes a blank, and each
    further one a line end."""
    while at < end:
        char = text[at]
        if char in " \t\r\n":
            run = _BLANKS.match(text, at, end)
            assert run is not None
            yield from _blanks(text, at, run.end())
            at = run.end()
        elif char == "\\" and style == '"' and at + 1 < end:
            if text[at + 1] in "\r\n":
                run = _BLANKS.match(text, at + 1, end)
                assert run is not None
                breaks = [found.start() for found in _BREAK.finditer(text, at, run.end())]
                yield from (("\n", place) for place in breaks[1:])
                at = run.end()
            else:
                meant, length = _escape(text, at)
                yield meant, at
                at += length
        else:
            yield char, at
            at += _length(text, at, style)


def _blanks(text: str, start: int, end: int) -> Iterator[_Placed]:
    breaks = [found.start() for found in _BREAK.finditer(text, start, end)]
    if not breaks:
        yield from ((text[place], place) for place in range(start, end))
    elif len(breaks) == 1:
        yield " ", breaks[0]
    else:
        yield from (("\n", place) for place in breaks[1:])


def _escape(text: str, at: int) -> tuple[str, int]:
    """What the escape at `at` means, and its length; a pair of surrogates is one character."""
    follow = text[at + 1]
    digits = _DIGITS.get(follow)
    if digits is None:
        return _ESCAPED.get(follow, follow), 2
    code = _code(text, at + 2, digits)
    if 0xD800 <= code < 0xDC00 and text.startswith("\\u", at + 6):
        low = _code(text, at + 8, 4)
        if 0xDC00 <= low < 0xE000:
            return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), 12
    return (chr(code) if code <= 0x10FFFF else follow), 2 + digits


def _code(text: str, at: int, digits: int) -> int:
    try:
        return int(text[at : at + digits], 16)
    except ValueError:
        return 0


def _block(text: str, node: Node) -> list[_Placed]:
    """Literal and folded text: the lines below the header, without their indentation."""
    lines = _lines(text, node.start, node.end)[1:]
    if node.style == "|":
        return _literal(text, lines, node.text)
    first = next((text[start:end] for start, end in lines if text[start:end].strip()), "")
    found: list[_Placed] = []
    # The header may give an indentation that is smaller than that of the first line.
    for indent in range(len(first) - len(first.lstrip(" ")), -1, -1):
        found = list(_folded(text, lines, indent))[: len(node.text)]
        if "".join(char for char, _ in found) == node.text:
            break
    return found


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The lines of a range: where each begins, and where its line end stands."""
    found: list[tuple[int, int]] = []
    for match in _BREAK.finditer(text, start, end):
        found.append((start, match.start()))
        start = match.end()
    return [*found, (start, end)]


def _literal(text: str, lines: list[tuple[int, int]], content: str) -> list[_Placed]:
    """Each line of the content is the tail of its line in the text."""
    found: list[_Placed] = []
    for (_, end), part in zip(lines, content.split("\n"), strict=False):
        first = end - len(part)
        found.extend((text[place], place) for place in range(first, end))
        found.append(("\n", end))
    return found[: len(content)]


def _folded(text: str, lines: list[tuple[int, int]], indent: int) -> Iterator[_Placed]:
    """As libyaml folds: the line end between two lines that do not begin with a blank becomes a
    blank, or nothing where empty lines follow, which stay line ends."""
    pending: int | None = None
    empty: list[int] = []
    after_blank = False
    for start, end in lines:
        if end - start <= indent:
            empty.append(end)
            continue
        blank = text[start + indent] in " \t"
        if pending is not None:
            if after_blank or blank:
                yield "\n", pending
            elif not empty:
                yield " ", pending
        yield from (("\n", place) for place in empty)
        yield from ((text[place], place) for place in range(start + indent, end))
        pending, empty, after_blank = end, [], blank
    if pending is not None:
        yield "\n", pending
    yield from (("\n", place) for place in empty)
