"""Edits of a fix as changes of characters. Everything outside them stays, byte by byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from statecli.model.diagnostic import Edit, Fix
from statecli.text.addition import addition
from statecli.text.characters import value_offsets
from statecli.text.document import Document
from statecli.text.nodes import Node, entry_of
from statecli.text.removal import NotPossible, Parent, removal, rest_is_blank, value_end
from statecli.text.scalars import is_plain, written


class Change(NamedTuple):
    """The characters from `start` up to `end` become `text`."""

    start: int
    end: int
    text: str


class Patch(NamedTuple):
    """The changes of one fix, in order. `losing`: collections that lose an item (by id), each
    with how many they have, so that no two fixes together take the last one."""

    changes: tuple[Change, ...]
    losing: tuple[tuple[int, int], ...] = ()


def changes(document: Document, fix: Fix) -> tuple[Change, ...] | None:
    """The changes of a fix; None if it cannot be done in this text."""
    found = patch(document, fix)
    return found.changes if found is not None else None


def patch(document: Document, fix: Fix) -> Patch | None:
    """The changes of a fix, and what they take items from; None if it cannot be done."""
    found: list[Change] = []
    losing: list[tuple[int, int]] = []
    try:
        for edit in fix.edits:
            found += _resolve(document, edit, losing)
    except NotPossible:
        return None
    newline = document.newline
    # (text that was taken from the file has its line ends already)
    found = sorted(
        {Change(a, b, text.replace("\r\n", "\n").replace("\n", newline)) for a, b, text in found}
    )
    if overlapping(found) or emptying(losing):
        return None
    return Patch(tuple(found), tuple(losing))


def overlapping(ordered: Sequence[Change]) -> bool:
    """Whether two of the changes touch the same characters, or insert at the same place."""
    return any(
        one.end > two.start or (one.start == one.end == two.start == two.end)
        for one, two in pairwise(ordered)
    )


def emptying(losing: Iterable[tuple[int, int]]) -> bool:
    """Whether a collection of several items would lose all of them."""
    counts: dict[int, int] = {}
    for owner, size in losing:
        counts[owner] = counts.get(owner, 0) + 1
        if counts[owner] >= size > 1 or (size == 1 and counts[owner] > 1):
            return True
    return False


def apply(text: str, ordered: Iterable[Change]) -> str:
    """The text with the changes made; they are in order and do not overlap."""
    parts: list[str] = []
    at = 0
    for change in ordered:
        parts += (text[at : change.start], change.text)
        at = change.end
    return "".join((*parts, text[at:]))


def _resolve(document: Document, edit: Edit, losing: list[tuple[int, int]]) -> list[Change]:
    place, text = edit.at, edit.text
    if edit.where == "line":
        return [Change(*_line(document, *document.offsets(place)), text)]
    if place.part == "offsets" and place.within is not None:
        start, end = place.within
        return [_at(edit.where, start, end, text)]
    parent, key, node = _find(document, edit)
    if edit.where == "item":
        losing.append((id(parent.node), parent.size))
        return [Change(*change) for change in removal(document.text, document.language, parent)]
    if edit.where == "entry":
        added = addition(document.text, document.language, parent, node, text)
        return [Change(*change) for change in added]
    if edit.where == "text":
        scalar = key if place.part == "key" and key is not None else node
        return [_rewritten(document, scalar, text, place.within)]
    if place.within is not None and node.kind == "scalar":
        return [_at(edit.where, *document.offsets(place), text)]
    start, end = node.start, value_end(document.text, node)
    if key is not None and place.part != "value":
        start, end = key.start, key.end if place.part == "key" else max(key.end, end)
    if edit.where == "after" and text.startswith("\n") and rest_is_blank(document.text, end):
        line_end = document.text.find("\n", end)
        end = len(document.text) if line_end < 0 else line_end
        end -= document.text[end - 1 : end] == "\r"
    return [_at(edit.where, start, end, text)]


def _at(where: str, start: int, end: int, text: str) -> Change:
    if where == "before":
        return Change(start, start, text)
    if where == "after":
        return Change(end, end, text)
    return Change(start, end, text)


def _find(document: Document, edit: Edit) -> tuple[Parent, Node | None, Node]:
    """What an edit means: the parent, the key if there is one, the value."""
    node = document.tree
    if node is None:
        raise NotPossible
    key: Node | None = None
    parent = Parent(node, -1, None)
    for at, step in enumerate(edit.at.path):
        deeper = entry_of(node, step)
        if deeper is None:
            raise NotPossible
        last = at == len(edit.at.path) - 1 and edit.where == "item"
        parent = Parent(node, _number(node, step, deeper[0]) if last else -1, key)
        key, node = deeper
    return parent, key, node


def _number(node: Node, step: str | int, key: Node | None) -> int:
    """The number of an entry in its parent; -1 for one that `<<` merged in from elsewhere."""
    if isinstance(step, int):
        return step
    return next((at for at, pair in enumerate(node.pairs) if pair[0] is key), -1)


def _line(document: Document, start: int, end: int) -> tuple[int, int]:
    """The characters with their whole line if nothing else stands on it, else with the blanks
    in front of them."""
    text = document.text
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop + 1
    if not text[begin:start].strip() and not text[end:stop].strip():
        return begin, stop
    while start > begin and text[start - 1] in " \t":
        start -= 1
    while end > start and text[end - 1] in "\r\n":
        end -= 1
    return start, end


# --- a scalar with another text -------------------------------------------------------------------


def _rewritten(document: Document, node: Node, text: str, within: tuple[int, int] | None) -> Change:
    """A scalar (or a part of its content) replaced, in the quotes that it has."""
    if node.kind != "scalar":
        raise NotPossible
    content = text
    if within is not None:
        content = node.text[: within[0]] + text + node.text[within[1] :]
        if node.style in ("|", ">") or is_plain(text):
            return Change(*value_offsets(document.text, node, *within), text)
    end = value_end(document.text, node)
    return Change(node.start, end, written(content, document.language, node.style))
