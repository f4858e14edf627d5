"""Nodes of a document with their characters; the same shape for YAML and JSON."""

from __future__ import annotations

from collections.abc import Callable


class Node:
    """A scalar (its `text`), a sequence (`items`) or a mapping (`pairs`).

    `start` and `end` count characters of the document. `style` of a scalar: "" plain, ``'`` ``"``
    ``|`` ``>``; of a collection: "flow" in brackets, else "block". What a collection holds is
    looked up (by `fill`) when it is asked for: a message needs the way to one value only.
    """

    __slots__ = ("_fill", "_index", "_items", "_pairs", "end", "kind", "start", "style", "text")

    def __init__(
        self,
        kind: str,
        start: int,
        end: int,
        style: str = "",
        text: str = "",
        fill: Callable[[Node], None] | None = None,
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.style = style
        self.text = text
        self._fill = fill
        self._items: list[Node] = []
        self._pairs: list[tuple[Node, Node]] = []
        self._index: dict[str, tuple[Node, Node]] | None = None

    @property
    def items(self) -> list[Node]:
        """The values of a sequence."""
        self._filled()
        return self._items

    @items.setter
    def items(self, items: list[Node]) -> None:
        self._items = items

    @property
    def pairs(self) -> list[tuple[Node, Node]]:
        """The keys and values of a mapping, as written."""
        self._filled()
        return self._pairs

    @pairs.setter
    def pairs(self, pairs: list[tuple[Node, Node]]) -> None:
        self._pairs = pairs

    def _filled(self) -> None:
        if self._fill is not None:
            fill, self._fill = self._fill, None
            fill(self)

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
