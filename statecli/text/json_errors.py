"""What is not JSON, in words: the usual slips by name, at the place where they are."""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError

from statecli.text.document import Problem
from statecli.text.yaml_layout import NO_SPACES

_QUOTES = "“”„«»‘’`"


def explain(error: JSONDecodeError, text: str) -> Problem:
    """The problem behind an error of the standard library's decoder."""
    at = min(error.pos, len(text))
    rest = text[at:].lstrip(" \t\r\n")
    start = len(text) - len(rest)
    inside = _inside_text(error, text)
    if inside is not None:
        return inside
    comment = _comment(text, start)
    if comment is not None:
        length = 1 if text[comment] == "#" else 2
        return _problem("JSON has no comments", comment, length, "use YAML, or a key like 'x-note'")
    before = text[:at].rstrip(" \t\r\n")
    illegal = error.msg.startswith("Illegal trailing comma")
    if illegal or (before.endswith(",") and rest[:1] in ("}", "]")):
        where = error.pos if illegal else len(before) - 1
        return _problem(
            "a trailing comma: JSON allows none before a bracket", where, 1, "remove it"
        )
    if not rest:
        return _problem("not JSON: the file ends too early", max(len(text.rstrip()) - 1, 0), 1)
    return _next_token(error.msg, rest, start, before)


def _inside_text(error: JSONDecodeError, text: str) -> Problem | None:
    """What is wrong between two quotes; the rest of the text says nothing about it."""
    if error.msg.startswith("Unterminated string"):
        return _problem("the text that begins here is never closed", error.pos, 1)
    if error.msg.startswith("Invalid control character"):
        char = text[error.pos : error.pos + 1]
        if char == "\0":
            return _problem(_NUL, error.pos, 1)
        name, escape = _CONTROLS.get(char, ("a control character", f"\\u{ord(char):04x}"))
        return _problem(f"{name} inside a text", error.pos, 1, f"write {escape}")
    if error.msg.startswith("Invalid \\"):
        return _problem("a backslash in a JSON text must be written twice", error.pos, 1)
    return None


_NUL = "a NUL character cannot stand in JSON; is this a binary file?"
_CONTROLS = {
    "\n": ("a line end", "\\n"),
    "\r": ("a line end", "\\r\\n"),
    "\t": ("a tab", "\\t"),
}


def _next_token(message: str, rest: str, start: int, before: str) -> Problem:
    """What stands where something else was expected."""
    first = rest[0]
    if message == "Extra data":
        if first in "]}":
            return _problem(f"a closing '{first}' too many", start, 1, "remove it")
        said = "more text after the end of the JSON value"
        return _problem(said, start, 1)
    if not before and re.match(r"[\w-]+[ \t]*:|---|- ", rest):
        said = "this is not JSON but looks like YAML"
        return _problem(said, start, 1, "name the file .yaml instead of .json")
    if first == "'":
        return _problem("JSON text stands in double quotes, not single ones", start, 1, 'write "')
    if first in _QUOTES:
        return _problem(f"{first} is not a double quote to JSON", start, 1, 'write "')
    if first in NO_SPACES:
        said = f"the character U+{ord(first):04X} looks like a space but is none to JSON"
        return _problem(said, start, 1, "replace it by a plain space")
    if first == "\0":
        return _problem(_NUL, start, 1)
    if first == "," and not message.startswith("Expecting ','"):
        return _problem("a comma too many", start, 1, "remove it")
    if first in "+.0123456789" and (first in "+." or before.endswith(("0", "-0"))):
        said = "JSON numbers have a digit first, no '+', and no 0 in front of other digits"
        return _problem(said, start, 1)
    word = re.match(r"[A-Za-z_$][\w$]*", rest)
    if word is not None and not message.startswith("Expecting ',' delimiter"):
        return _word(word.group(), start, message)
    said = _EXPECTED.get(message, message[:1].lower() + message[1:])
    return _problem(f"not JSON: {said}", start, 1)


_EXPECTED = {
    "Expecting ',' delimiter": "a comma, quote or closing bracket is missing before this",
    "Expecting ':' delimiter": "a colon is missing before this",
    "Expecting value": "a value was expected here",
    "Expecting property name enclosed in double quotes": "a key in double quotes was expected here",
}


def _word(word: str, start: int, message: str) -> Problem:
    if message.startswith("Expecting property name"):
        return _problem(f"the key {word} needs double quotes", start, len(word), f'write "{word}"')
    known = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
    hint = f"write {known[word]}" if word in known else "put text into double quotes"
    return _problem(f"{word} is no JSON value", start, len(word), hint)


def _comment(text: str, start: int) -> int | None:
    return start if re.match(r"//|/\*|#", text[start : start + 2]) else None


def _problem(message: str, start: int, length: int, hint: str = "") -> Problem:
    return Problem("parse-error", message, start, start + length, hint)
