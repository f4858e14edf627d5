"""Takes one item out of a list or one entry out of a mapping, with its separator, so that what
is left reads as if it had never been there."""

from __future__ import annotations

import re
from typing import NamedTuple

from statecli.text.nodes import Node

Cut = tuple[int, int, str]
_DASH = re.compile(r"-[ \t]*(?:#.*)?$")
_COLON = re.compile(r"\s*:")
_ALIAS = re.compile(r"\s*:\s*\*[^\s,\[\]{}]+")


class NotPossible(Exception):
    """A text that cannot be edited that way: an alias, a key merged in, a complex key."""


class Parent(NamedTuple):
    """A collection, which of its items is meant, and the key in front of it."""

    node: Node
    at: int
    key: Node | None

    @property
    def size(self) -> int:
        return len(self.node.items) or len(self.node.pairs)


def removal(text: str, language: str, parent: Parent) -> list[Cut]:
    """The cuts that take the item out."""
    if parent.at < 0 or not parent.size:
        raise NotPossible
    start, end = extent(text, parent)
    if parent.node.style == "flow":
        return _from_flow(text, language, parent.node, parent.size, start, end)
    return _from_block(text, parent, start, end)


def extent(text: str, parent: Parent) -> tuple[int, int]:
    """The characters of the item: in a block list from its dash, in a mapping from its key."""
    node = parent.node
    if node.items:
        item = node.items[parent.at]
        if _is_alias(node, parent.at):
            raise NotPossible
        end = value_end(text, item)
        if node.style == "flow":
            return item.start, end
        dash = _dash(text, item.start)
        return dash, max(end, dash + 1)
    key, value = node.pairs[parent.at]
    if value.start < key.end or value.start > node.end:  # an alias stands where it was defined
        alias = _ALIAS.match(text, key.end)
        if alias is None:
            raise NotPossible
        return key.start, alias.end()
    end = value_end(text, value)
    if end <= value.start:  # nothing after the colon
        colon = _COLON.match(text, key.end)
        return key.start, colon.end() if colon else key.end
    return key.start, end


def _is_alias(node: Node, index: int) -> bool:
    """An aliased node has the place of its anchor: elsewhere, or inside an earlier item."""
    item = node.items[index]
    if not node.start <= item.start <= node.end:
        return True
    return any(
        other is item or other.start <= item.start < other.end for other in node.items[:index]
    )


def _dash(text: str, start: int) -> int:
    """The dash in front of a block item; only blanks and comments stand between."""
    stop = start
    while True:
        begin = text.rfind("\n", 0, stop) + 1
        line = text[begin:stop]
        found = _DASH.search(line.rstrip("\r"))
        if found:
            return begin + found.start()
        if not begin or (line.strip() and not line.lstrip().startswith("#")):
            raise NotPossible
        stop = begin - 1


# --- in brackets ----------------------------------------------------------------------------------


def _from_flow(text: str, language: str, node: Node, size: int, start: int, end: int) -> list[Cut]:
    comments = language == "yaml"
    comma = comma_after(text, end, comments)
    if size == 1:
        inside = text[node.start : node.end]
        opening = node.start + inside.index("[" if node.items else "{") + 1
        around = text[opening:start] + text[end : node.end]
        if comments and "#" in around:
            return [(start, end if comma is None else comma + 1, "")]
        return [(opening, node.end - 1, "")]
    if comma is not None:
        end = comma + 1
        if _alone(text, start, end, comments):
            return [(*_lines(text, start, end), "")]
        after = end
        while text[after] in " \t":
            after += 1
        if text[after] in "\r\n#":  # the line ends here: what was in front of the item goes
            while text[start - 1] in " \t":
                start -= 1
            return [(start, end, "")]
        return [(start, after, "")]
    before = _comma_before(text, node, start, comments)
    if _alone(text, start, end, comments):
        return [(before, before + 1, ""), (*_lines(text, start, end), "")]
    if "#" in text[before:start] and comments:
        return [(before, before + 1, ""), (start, end, "")]
    return [(before, end, "")]


def comma_after(text: str, at: int, comments: bool) -> int | None:
    """The comma behind an item, if there is one before the next item or the bracket."""
    at = _skip(text, at, comments)
    return at if text[at : at + 1] == "," else None


def _comma_before(text: str, node: Node, start: int, comments: bool) -> int:
    """The comma between the item before and this one."""
    head = text[:start].rstrip()
    if head.endswith(","):
        return len(head) - 1
    ends = [item.end for item in node.items] or [
        max(key.end, value.end) for key, value in node.pairs
    ]
    at = max((end for end in ends if node.start < end <= start), default=node.end)
    at = _skip(text, at, comments)
    if at >= start or text[at] != ",":
        raise NotPossible
    return at


def _skip(text: str, at: int, comments: bool) -> int:
    """Past blanks, line ends and comments."""
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif comments and text[at] == "#":
            line_end = text.find("\n", at)
            at = len(text) if line_end < 0 else line_end
        else:
            break
    return at


def _alone(text: str, start: int, end: int, comments: bool = True) -> bool:
    """Whether nothing but a comment stands on the lines of these characters."""
    begin = text.rfind("\n", 0, start) + 1
    return not text[begin:start].strip() and rest_is_blank(text, end, comments) and begin > 0


def rest_is_blank(text: str, at: int, comments: bool = True) -> bool:
    """Whether the line goes on with nothing but a comment."""
    line_end = text.find("\n", at)
    rest = text[at : len(text) if line_end < 0 else line_end]
    return not rest.strip() or (comments and rest[0] in " \t" and rest.lstrip().startswith("#"))


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Whole lines, with the last line's end."""
    line_end = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if line_end < 0 else line_end + 1


# --- by indentation -------------------------------------------------------------------------------


def _from_block(text: str, parent: Parent, start: int, end: int) -> list[Cut]:
    node = parent.node
    begin = text.rfind("\n", 0, start) + 1
    before = text[begin:start]
    if not rest_is_blank(text, end):
        raise NotPossible
    if before.strip() and not before.rstrip().endswith("-"):
        raise NotPossible  # `? key`
    empty = "[]" if node.items else "{}"
    if parent.size == 1:
        if parent.key is None or before.strip():
            return [(start, end, empty)]
        at = _end_of_key(text, parent.key)
        return [(at, at, f" {empty}"), (*_lines(text, start, end), "")]
    if not before.strip():
        return [(*_lines(text, start, end), "")]
    if parent.at + 1 >= parent.size:
        raise NotPossible
    follower = parent._replace(at=parent.at + 1)
    return [(start, extent(text, follower)[0], "")]


def _end_of_key(text: str, key: Node) -> int:
    """Behind the colon of a key, and an anchor or tag that follows it."""
    colon = _COLON.match(text, key.end)
    if colon is None:
        raise NotPossible
    line_end = text.find("\n", colon.end())
    rest = re.split(r"(?:^|\s)#", text[colon.end() : line_end])[0]
    return colon.end() + len(rest.rstrip())


def value_end(text: str, node: Node) -> int:
    """Where a value really ends: libyaml ends a block collection with the next token, behind the
    comments and empty lines between."""
    last = node
    while last.style == "block" and (last.items or last.pairs):
        child = last.items[-1] if last.items else last.pairs[-1][1]
        if last.pairs:
            key = last.pairs[-1][0]
            if child.start < key.end or child.end > last.end:
                alias = _ALIAS.match(text, key.end)
                if alias is None:
                    raise NotPossible
                return alias.end()
            if child.end <= child.start:
                colon = _COLON.match(text, key.end)
                return colon.end() if colon else key.end
        elif _is_alias(last, len(last.items) - 1):
            raise NotPossible
        last = child
    end = last.end
    while end > last.start and text[end - 1] in " \t\r\n":
        end -= 1
    return end
