"""JSON text to a document; places by a scanner that runs only when one is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from json.decoder import JSONDecodeError
from typing import NoReturn

from statecli.text.document import Document, Problem, duplicate_key
from statecli.text.nodes import Node
from statecli.text.survey import MAX_DEPTH, survey


def read(path: str, text: str, newline: str = "\n") -> Document:
    """The document of a JSON text. What is wrong with it stands in `problems`."""

    def refuse(name: str) -> NoReturn:
        raise _NotJson(name)

    def document(value: object, problems: tuple[Problem, ...]) -> Document:
        return Document(path, text, "json", value, problems, newline, lambda: scan(text))

    if not text.strip(" \t\r\n"):
        return document(None, ())
    try:
        value = json.loads(text, parse_constant=refuse)
    except JSONDecodeError as error:
        from statecli.text.json_errors import explain

        return document(None, (explain(error, text),))
    except _NotJson as error:
        return document(None, (_constant(text, error.name),))
    except (RecursionError, ValueError):
        return document(None, (_too_deep(text) or _too_long(text),))
    found = survey(value)
    if found is None:
        problem = _too_deep(text)
        assert problem is not None
        return document(None, (problem,))
    half = _half_pair(text)
    if half is not None:
        return document(None, (half,))
    # Two quotes for each key and text that is left: so none was lost to an equal key.
    whole = _quotes(text) == 2 * (found.keys + found.values)
    problems = () if whole else tuple(_repeats(text))
    return Document(path, text, "json", value, problems, newline, lambda: scan(text), found)


def _quotes(text: str) -> int:
    """How many quotes begin or end a text; those behind a backslash are part of one."""
    if "\\" not in text:
        return text.count('"')
    return text.count('"') - text.replace("\\\\", "").count('\\"')


class _NotJson(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _at(message: str, start: int, length: int = 1, hint: str = "") -> Problem:
    return Problem("parse-error", message, start, start + length, hint)


def _constant(text: str, name: str) -> Problem:
    at = next(_outside_strings(text, re.compile(re.escape(name))), 0)
    return _at(f"{name} is no JSON value", at, len(name), "use a number, or leave the key out")


def _too_long(text: str) -> Problem:
    """Python refuses to read whole numbers of more than 4,300 digits."""
    at = next(_outside_strings(text, re.compile(r"-?[0-9]{4000,}")), 0)
    return _at("a number is too long", at, 1)


_ESCAPED_SURROGATE = re.compile(r"\\[uU][dD][89a-fA-F]")
_ESCAPE = re.compile(r"\\(?:u([dD][89abAB]..)\\u[dD][c-fC-F]..|u([dD][89a-fA-F]..)|.)", re.DOTALL)


def _half_pair(text: str) -> Problem | None:
    """Half of a surrogate pair: JSON allows it, but it is no character and cannot be printed."""
    if "\\" not in text or _ESCAPED_SURROGATE.search(text) is None:
        return None
    for match in _ESCAPE.finditer(text):
        if match.group(2):
            message = f"the escape \\u{match.group(2)} is only half of a character"
            return _at(message, match.start(), 6, "write the character itself, or both halves")
    return None


_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def _too_deep(text: str) -> Problem | None:
    """The first bracket that is nested deeper than any graph."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match.group()
        if token in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                return _at(f"nested more than {MAX_DEPTH} levels deep", match.start())
        elif token in ("]", "}"):
            depth -= 1
    return None


def _outside_strings(text: str, pattern: re.Pattern[str]) -> Iterator[int]:
    either = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<hit>' + pattern.pattern + ")", re.DOTALL)
    return iter([m.start() for m in either.finditer(text) if m.group("hit")])


def _repeats(text: str) -> list[Problem]:
    """Every key that stands twice in one object, with its first place."""
    problems: list[Problem] = []
    stack: list[tuple[Node, tuple[str | int, ...]]] = [(scan(text), ())]
    while stack:
        node, path = stack.pop()
        seen: dict[str, Node] = {}
        for key, value in node.pairs:
            if key.text in seen:
                first = seen[key.text]
                other = ("first here", first.start, first.end)
                where = (*path, key.text)
                problems.append(duplicate_key(key.text, where, (key.start, key.end), other))
            seen.setdefault(key.text, key)
            stack.append((value, (*path, key.text)))
        stack.extend((item, (*path, at)) for at, item in enumerate(node.items))
    return sorted(problems, key=lambda problem: problem.start)


def scan(text: str, at: int = 0) -> Node:
    """The node of the value that begins at `at` (or behind blanks) in a text known to be JSON.

    A value is passed over by the standard library's decoder, which is in C; only the collections
    on the way to what is asked for are taken apart.
    """
    start = _blank(text, at)
    if not at and text.startswith("{", start):  # the whole text: its end is known
        return _node(text, start, {}, len(text.rstrip(" \t\r\n")))
    return _node(text, start, *_pass_over(text, start))


def _node(text: str, start: int, value: object, end: int) -> Node:
    if isinstance(value, dict):
        return Node("mapping", start, end, "flow", fill=lambda node: _fill_mapping(text, node))
    if isinstance(value, list):
        return Node("sequence", start, end, "flow", fill=lambda node: _fill_sequence(text, node))
    if isinstance(value, str):
        return Node("scalar", start, end, '"', value)
    return Node("scalar", start, end, "", text[start:end])


def _fill_mapping(text: str, node: Node) -> None:
    at = _blank(text, node.start + 1)
    pairs: list[tuple[Node, Node]] = []
    while text[at] != "}":
        name, end = _pass_over(text, at)
        key = Node("scalar", at, end, '"', str(name))
        start = _blank(text, _blank(text, end) + 1)
        value, end = _pass_over(text, start)
        pairs.append((key, _node(text, start, value, end)))
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)
    node.pairs = pairs


def _fill_sequence(text: str, node: Node) -> None:
    at = _blank(text, node.start + 1)
    items: list[Node] = []
    while text[at] != "]":
        value, end = _pass_over(text, at)
        items.append(_node(text, at, value, end))
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)
    node.items = items


_pass_over: Callable[[str, int], tuple[object, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_BLANKS = re.compile(r"[ \t\r\n]*")


def _blank(text: str, at: int) -> int:
    """The first place from `at` on that is not blank."""
    found = _BLANKS.match(text, at)
    return found.end() if found is not None else at
