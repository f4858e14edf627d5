"""A file's text as plain data, with the place of every key, value and list item.

YAML is read by libyaml with no tags resolved; the types are YAML 1.2 core, given here, so `on`,
`no`, `1_000` and `12:30` stay text. JSON is read by the standard library; its places are found by
a scanner only when something is reported, so a clean file never pays for them.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from statecli.model.span import Path, Place, Position, Span
from statecli.model.wording import shortened
from statecli.text.characters import value_offsets
from statecli.text.nodes import Node, entry_of
from statecli.text.survey import Survey, survey

#: The largest text that is read, in bytes; 100,000 states are about 10 MB.
MAX_BYTES = 64_000_000


class Problem(NamedTuple):
    """Something wrong with the text itself, at the characters `start` up to `end`.

    `rule` is `parse-error`, `duplicate-key` or `wrong-value-type`; `other` is a second place (the
    first of two equal keys) with its message.
    """

    rule: str
    message: str
    start: int
    end: int
    hint: str = ""
    other: tuple[str, int, int] | None = None
    where: Path = ()


def duplicate_key(
    name: str, where: Path, extent: tuple[int, int], other: tuple[str, int, int]
) -> Problem:
    """The problem of a key that stands twice in one mapping, in YAML and JSON alike."""
    shown = shortened(name, 60)
    message = f"the key '{shown}' is already there; most readers silently keep only the last one"
    return Problem("duplicate-key", message, *extent, other=other, where=where)


def _nothing() -> Node | None:
    return None


#: The language of a graph that Python code builds.
PYTHON = "python"


class Document:
    """The content of one file. `value` holds dict, list, str, int, float, bool and None only, and
    the keys of every dict are text. None when the text could not be read at all."""

    def __init__(
        self,
        path: str,
        text: str,
        language: str,
        value: object,
        problems: tuple[Problem, ...] = (),
        newline: str = "\n",
        scan: Callable[[], Node | None] = _nothing,
        survey: Survey | None = None,
    ) -> None:
        self.path = path
        self.text = text
        self.language = language
        self.value = value
        self.problems = problems
        self.newline = newline
        self.scan = scan
        self._survey = survey
        self._starts = [0]

    @cached_property
    def tree(self) -> Node | None:
        """The nodes behind the value, made when the first place is asked for."""
        return self.scan()

    @cached_property
    def survey(self) -> Survey:
        """All keys and long texts of the value."""
        found = self._survey or survey(self.value)
        return found if found is not None else Survey(0, 0, frozenset(), [])

    def position(self, offset: int) -> Position:
        starts = self._starts
        while starts[-1] <= offset and self._one_more_line():
            pass
        line = bisect.bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of a line (from 1), without its line end."""
        start = self.line_start(number)
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r\n")

    def line_start(self, number: int) -> int:
        """The offset of the first character of a line (from 1)."""
        while len(self._starts) < number and self._one_more_line():
            pass
        return self._starts[number - 1]

    def _one_more_line(self) -> bool:
        """Find where the line behind the last known one begins; False if there is none. Most
        messages are few, and not about the end of a large file."""
        after = self.text.find("\n", self._starts[-1]) + 1
        if after:
            self._starts.append(after)
        return bool(after)

    def span(self, place: Place) -> Span:
        start, end = self.offsets(place)
        return Span(self.position(start), self.position(end))

    def within(self, _place: Place) -> Document:
        """The file that a place is in: a graph built in Python may be in several."""
        return self

    def files(self) -> list[Document]:
        """The files that places are in, this one first."""
        return [self]

    def lines(self, place: Place) -> list[tuple[str, int]]:
        """The lines where a comment is about a place, each with its file; 0 for all of the file."""
        return [(self.path, 0), (self.path, self.span(place).start.line)]

    def offsets(self, place: Place) -> tuple[int, int]:
        """The characters a place covers; for one that is not there, the nearest object around."""
        if place.part == "offsets" and place.within:
            return place.within
        if not place.path or self.tree is None:
            return self._start_of_text()
        key, node = self._find(place.path)
        if key is not None and (place.part == "key" or node is None):
            return key.start, self._end(key)
        if node is None:
            return self._start_of_text()
        if place.part == "entry" and key is not None:
            return key.start, self._end(node)
        if place.within is not None and node.kind == "scalar":
            return value_offsets(self.text, node, *place.within)
        return node.start, self._end(node)

    def raw(self, path: Path) -> str:
        """The text of a scalar as it stands in the file (without quotes)."""
        _, node = self._find(path)
        return node.text if node is not None else ""

    def is_plain(self, path: Path, *, key: bool = False) -> bool:
        """Whether a scalar (or the key in front of it) stands in the file without quotes."""
        found, node = self._find(path)
        scalar = found if key else node
        return scalar is not None and scalar.style == "" and self.language == "yaml"

    def node(self, path: Path) -> Node | None:
        return self._find(path)[1]

    def key_node(self, path: Path) -> Node | None:
        return self._find(path)[0]

    def _find(self, path: Path) -> tuple[Node | None, Node | None]:
        key: Node | None = None
        node = self.tree
        for step in path:
            if node is None:
                break
            deeper = entry_of(node, step)
            if deeper is None:
                break
            key, node = deeper
        return key, node

    def _end(self, node: Node) -> int:
        """The end to show: a block collection ends with its first line, nothing ends in blanks."""
        end = node.end
        if node.style == "block":
            newline = self.text.find("\n", node.start, end)
            if newline >= 0:
                end = newline
        while end > node.start + 1 and self.text[end - 1] in " \t\r\n":
            end -= 1
        return max(end, min(node.start + 1, len(self.text)))

    def _start_of_text(self) -> tuple[int, int]:
        """The first character that is not blank or comment, or the first character."""
        at = 0
        for line in self.text.splitlines(keepends=True):
            content = line.strip()
            if content and not content.startswith("#") and content != "---":
                at += len(line) - len(line.lstrip())
                end = min(at + max(1, len(content)), len(self.text))
                colon = content.find(":")
                return at, at + colon if 0 < colon < end - at else end
            at += len(line)
        return 0, min(1, len(self.text))


def offsets(start: int, end: int, path: Path = ()) -> Place:
    """A place given by characters, for problems of the text itself."""
    return Place(path, "offsets", (start, end))
