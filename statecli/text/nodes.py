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
