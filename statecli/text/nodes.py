"""Nodes of a document with their characters; the same shape for YAML and JSON."""

from __future__ import annotations


class Node:
    """A scalar (its `text`), a sequence (`items`) or a mapping (`pairs`).

    `start` and `end` count characters of the document. `style` of a scalar: "" plain, ``'`` ``"``
    ``|`` ``>``; of a collection: "flow" in brackets, else "block".
    """

    __slots__ = ("_index", "end", "items", "kind", "pairs", "start", "style", "text")

    def __init__(self, kind: str, start: int, end: int, style: str = "", text: str = "") -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.style = style
        self.text = text
        self.items: list[Node] = []
        self.pairs: list[tuple[Node, Node]] = []
        self._index: dict[str, tuple[Node, Node]] | None = None

    def named(self, name: str) -> tuple[Node, Node] | None:
        """The pair with this key (the last of equal ones; what `<<` merges in counts last)."""
        if self._index is None:
            index: dict[str, tuple[Node, Node]] = {}
            merged: list[Node] = []
            for key, value in self.pairs:
                if key.kind != "scalar":
                    continue
                if key.text == "<<" and key.style == "":
                    merged.extend(value.items or [value])
                else:
                    index[key.text] = (key, value)
            for source in merged:
                for key, value in source.pairs if source is not self else ():
                    index.setdefault(key.text, (key, value))
            self._index = index
        return self._index.get(name)


def entry_of(node: Node, step: str | int) -> tuple[Node | None, Node] | None:
    """One step down: the key (None in a sequence) and the value behind it."""
    if isinstance(step, int):
        return (None, node.items[step]) if 0 <= step < len(node.items) else None
    return node.named(step)


def value_offsets(text: str, node: Node, start: int, end: int) -> tuple[int, int]:
    """Where the characters `start` up to `end` of a scalar's content stand in the text."""
    places = content_places(text, node)
    if not places:
        return node.start, node.end
    first = places[min(start, len(places) - 1)]
    last = places[min(max(end - 1, start), len(places) - 1)]
    return first, last + 1


_ESCAPES = {"x": 2, "u": 4, "U": 8}


def content_places(text: str, node: Node) -> list[int]:
    """For each character of a scalar's content its place in the text.

    Follows the text and the content side by side: an escape is one character, a folded line end
    with its indentation is the blank (or line end) that it became.
    """
    at, end = node.start, min(node.end, len(text))
    if node.style in ("'", '"'):
        at, end = at + 1, end - 1
    elif node.style in ("|", ">"):
        at = text.find("\n", at, end) + 1 or end
    places: list[int] = []
    for char in node.text:
        while at < end and text[at] != char and text[at] in " \t\r\n" and char not in " \n":
            at += 1
        places.append(min(at, max(end - 1, node.start)))
        if at >= end:
            continue
        if node.style == '"' and text[at] == "\\" and at + 1 < end:
            at += _escape_length(text, at)
        elif node.style == "'" and text.startswith("''", at):
            at += 2
        elif text[at] == char:
            at += 1
        elif text[at] in " \t\r\n":
            while at < end and text[at] in " \t\r\n":
                at += 1
    return places


def _escape_length(text: str, at: int) -> int:
    """How long the escape at `at` is; a pair of surrogates is one character."""
    follow = text[at + 1]
    if follow in "\r\n":
        return 2
    length = 2 + _ESCAPES.get(follow, 0)
    if follow == "u" and text[at + 2 : at + 3] in "dD" and text[at + 6 : at + 8] == "\\u":
        return 12
    return length
