"""How wide a text is drawn, in points, and how it breaks into lines.

The widths are those of Helvetica (Adobe's AFM file, which Arial and Liberation Sans share), a
little wider, since whoever looks at the drawing may have another font.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from statecli.text.excerpt import columns

#: Thousandths of the font size, for the characters from the space to the tilde.
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_SPARE = 1.06


class _Units(dict[str, int]):
    """The width of a character; one that Helvetica has no width for is asked for once."""

    def __missing__(self, sign: str) -> int:
        # Of these, `columns` knows nothing else, and needs a package that takes long to import.
        narrow = ("\xa0" <= sign < "\u0300" and sign != "\xad") or sign in "…–—‘’“”•≤≥≠→×·▫▣"
        found = self[sign] = 620 * (1 if narrow else columns(sign))
        return found


_UNITS = _Units((chr(32 + at), width) for at, width in enumerate(_WIDTHS))
_BREAK = frozenset(" \t_-./:,;|")


def width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text on one line, in points, for a font of this size."""
    return sum(map(_UNITS.__getitem__, text)) * size / 1000 * _SPARE * (1.08 if bold else 1)


class _Part(NamedTuple):
    """A text without line ends inside. `sums` are the units up to each place (one more than there
    are characters), `breaks` the places where a line may break best."""

    text: str
    sums: list[int]
    breaks: list[int]


def wrapped(text: str, size: float, most: float, *, bold: bool = False) -> list[str]:
    """The text in lines of at most `most` points. Nothing is left out: joined, the lines are the
    text again. A line breaks after a space, after a sign like ``_-./``, else anywhere."""
    if width(text, size, bold=bold) <= most and len(text.splitlines()) < 2:
        return [text]
    parts = _parts(text)
    return _lines(parts, _cuts(parts, _room(size, most, bold)))


def balanced(text: str, size: float, most: float) -> list[str]:
    """The text in as many lines as `wrapped` makes of it, but about equally long ones."""
    if width(text, size) <= most and len(text.splitlines()) < 2:
        return [text]
    parts = _parts(text)
    cuts = _cuts(parts, _room(size, most, bold=False))
    count = sum(map(len, cuts))
    if count < 2:
        return _lines(parts, cuts)
    least, enough = most / 2, most
    while enough - least > 4:
        middle = (least + enough) / 2
        tried = _cuts(parts, _room(size, middle, bold=False))
        if sum(map(len, tried)) > count:
            least = middle
        else:
            cuts, enough = tried, middle
    return _lines(parts, cuts)


def _room(size: float, most: float, bold: bool) -> float:
    """The units that fit into so many points."""
    return most * 1000 / (size * _SPARE * (1.08 if bold else 1))


def _parts(text: str) -> list[_Part]:
    return [
        _Part(
            part,
            [0, *accumulate(map(_UNITS.__getitem__, part))],
            [
                at
                for at, sign in enumerate(part, 1)
                if sign in _BREAK or (sign > "~" and _UNITS[sign] > 620)
            ],
        )
        for part in text.splitlines(keepends=True) or [""]
    ]


def _cuts(parts: Iterable[_Part], room: float) -> list[list[int]]:
    """Where the lines of each part end, if each has room for so many units."""
    return [_ends(part, room) if part.sums[-1] > room else [len(part.text)] for part in parts]


def _ends(part: _Part, room: float) -> list[int]:
    _, sums, breaks = part
    last = len(sums) - 1
    found: list[int] = []
    start = at = 0
    while True:
        # The first character that has no room; one stands on every line, whatever its width.
        at = bisect_right(sums, sums[start] + room, max(at, start + 1) + 1) - 1
        if at >= last:
            return [*found, last]
        best = bisect_right(breaks, at)
        start = breaks[best - 1] if best and breaks[best - 1] > start else at
        found.append(start)
        at += 1


def _lines(parts: Iterable[_Part], cuts: Iterable[Iterable[int]]) -> list[str]:
    found: list[str] = []
    for part, ends in zip(parts, cuts, strict=True):
        start = 0
        for end in ends:
            found.append(part.text[start:end])
            start = end
    return found


def clipped(lines: list[str], most: int) -> list[str]:
    """At most so many lines; what is left out is said by an ellipsis."""
    return (
        lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1].rstrip(' .,;:')}…"]
    )
