"""What is not JSON, in words: the usual slips by name, at the place where they are."""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError

from statecli.text.document import Problem


def explain(error: JSONDecodeError, text: str) -> Problem:
    """The problem behind an error of the standard library's decoder."""
    at = min(error.pos, len(text))
    rest = text[at:].lstrip(" \t\r\n")
    start = len(text) - len(rest)
    before = text[:at].rstrip(" \t\r\n")
    comment = _comment(text, start)
    if comment is not None:
        length = 1 if text[comment] == "#" else 2
        return _problem("JSON has no comments", comment, length, "use YAML, or a key like 'x-note'")
    illegal = error.msg.startswith("Illegal trailing comma")
    if illegal or (before.endswith(",") and rest[:1] in ("}", "]")):
        where = error.pos if illegal else len(before) - 1
        return _problem(
            "a trailing comma: JSON allows none before a bracket", where, 1, "remove it"
        )
    if not rest:
        return _problem("not JSON: the file ends too early", max(len(text.rstrip()) - 1, 0), 1)
    if error.msg == "Extra data":
        message = "more text after the end of the JSON value; one file holds one graph"
        return _problem(message, start, 1)
    if rest[0] == "'":
        return _problem("JSON text stands in double quotes, not single ones", start, 1)
    word = re.match(r"[A-Za-z_$][\w$]*", rest)
    if word is not None:
        return _word(word.group(), start, error.msg)
    if error.msg.startswith("Unterminated string"):
        return _problem("the text that begins here is never closed", error.pos, 1)
    if error.msg.startswith("Invalid control character"):
        return _problem("a line end or tab inside a text; write \\n or \\t", error.pos, 1)
    if error.msg.startswith("Invalid \\"):
        return _problem("a backslash in a JSON text must be written twice", error.pos, 1)
    if error.msg.startswith("Expecting ',' delimiter"):
        return _problem("not JSON: a comma or closing bracket is missing before this", start, 1)
    if rest[0] == "\0":
        return _problem("a NUL character cannot stand in JSON; is this a binary file?", start, 1)
    message = error.msg[:1].lower() + error.msg[1:]
    return _problem(f"not JSON: {message}", start, 1)


def _word(word: str, start: int, message: str) -> Problem:
    if message.startswith("Expecting property name"):
        return _problem(f"the key {word} needs double quotes", start, len(word), f'"{word}"')
    known = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
    hint = f"write {known[word]}" if word in known else "put text into double quotes"
    return _problem(f"{word} is no JSON value", start, len(word), hint)


def _comment(text: str, start: int) -> int | None:
    return start if re.match(r"//|/\*|#", text[start : start + 2]) else None


def _problem(message: str, start: int, length: int, hint: str = "") -> Problem:
    return Problem("parse-error", message, start, start + length, hint)
