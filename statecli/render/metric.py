"""How wide a text is drawn, in points, and how it breaks into lines.

The widths are those of Helvetica (Adobe's AFM file, which Arial and Liberation Sans share), a
little wider, since whoever looks at the drawing may have another font.
"""

from __future__ import annotations

from statecli.text.excerpt import columns

#: Thousandths of the font size, for the characters from the space to the tilde.
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_WIDTH = {chr(32 + at): width for at, width in enumerate(_WIDTHS)}
_SPARE = 1.06


def width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text on one line, in points, for a font of this size."""
    known = _WIDTH
    total = 0
    for sign in text:
        found = known.get(sign)
        total += found if found is not None else 620 * columns(sign)
    return total * size / 1000 * _SPARE * (1.08 if bold else 1)


def wrapped(text: str, size: float, most: float, *, bold: bool = False) -> list[str]:
    """The text in lines of at most `most` points. Nothing is left out: joined, the lines are the
    text again. A line breaks after a space, after a sign like ``_-./``, else anywhere."""
    lines: list[str] = []
    for part in text.splitlines(keepends=True) or [""]:
        lines += _broken(part, size, most, bold) if width(part, size, bold=bold) > most else [part]
    return lines


def balanced(text: str, size: float, most: float) -> list[str]:
    """The text in as many lines as `wrapped` makes of it, but about equally long ones."""
    lines = wrapped(text, size, most)
    if len(lines) < 2:
        return lines
    least, enough = most / 2, most
    while enough - least > 4:
        middle = (least + enough) / 2
        tried = wrapped(text, size, middle)
        if len(tried) > len(lines):
            least = middle
        else:
            lines, enough = tried, middle
    return lines


def _broken(text: str, size: float, most: float, bold: bool) -> list[str]:
    lines: list[str] = []
    start = breakable = 0
    room = most
    for at, sign in enumerate(text):
        own = width(sign, size, bold=bold)
        if own > room and at > start:
            end = breakable if breakable > start else at
            lines.append(text[start:end])
            start = end
            room = most - width(text[start:at], size, bold=bold)
        room -= own
        if sign in " \t_-./:,;|" or columns(sign) > 1:
            breakable = at + 1
    lines.append(text[start:])
    return lines


def clipped(lines: list[str], most: int) -> list[str]:
    """At most so many lines; what is left out is said by an ellipsis."""
    return (
        lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1].rstrip(' .,;:')}…"]
    )
