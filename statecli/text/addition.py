"""Puts one more entry at the end of a mapping, written the way the mapping is."""

from __future__ import annotations

import re

from statecli.text.nodes import Node
from statecli.text.removal import Cut, NotPossible, Parent, comma_after, extent, rest_is_blank


def addition(text: str, language: str, parent: Parent, node: Node, entry: str) -> list[Cut]:
    """The insertions that make `entry` (on one line) the last one; a mapping that is only
    mentioned here and written elsewhere is left alone."""
    if node.kind != "mapping" or not parent.node.start <= node.start < node.end <= parent.node.end:
        raise NotPossible
    if not node.pairs:
        return [(node.start + 1, node.start + 1, entry)]
    key, value = node.pairs[-1]
    begin = text.rfind("\n", 0, key.start) + 1
    before = text[begin : key.start]
    _, end = extent(text, Parent(node, len(node.pairs) - 1, None))
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end - (text[line_end - 1] == "\r")
    fresh = "\n" + re.sub(r"\S", " ", before)
    if node.style != "flow":
        first_line = text[value.start : text.find("\n", value.start)]
        if not rest_is_blank(text, end) or (value.style in ("|", ">") and "+" in first_line):
            raise NotPossible  # the empty lines behind such a text are part of it
        return [(line_end, line_end, fresh + entry)]
    comma = comma_after(text, end, comments=language == "yaml")
    after = end if comma is None else comma + 1
    sign = "," if comma is None else ""
    if before.strip() or not begin:
        return [(after, after, f"{sign} {entry}")]
    if not rest_is_blank(text, after, language == "yaml"):
        return [(after, after, f"{sign}{fresh}{entry}")]
    if after == line_end or not sign:
        return [(line_end, line_end, sign + fresh + entry)]
    return [(after, after, sign), (line_end, line_end, fresh + entry)]
