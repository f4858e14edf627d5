"""What libyaml could not read, in words, at the place where a person would look."""

from __future__ import annotations

import re

import yaml

from statecli.text.document import Problem

_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NBSP = "\u00a0\u2007\u202f\u3000\ufeff"


def explain(error: yaml.YAMLError, text: str) -> Problem:
    """The problem behind an error of the parser."""
    bad = _UNREADABLE.search(text)
    if bad is not None:
        code = ord(bad.group())
        name = "a NUL character" if code == 0 else f"the control character U+{code:04X}"
        message = f"{name} cannot stand in YAML; is this a binary file?"
        return _at(message, bad.start(), text)
    mark = getattr(error, "problem_mark", None)
    context = getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error)
    if mark is None:
        return _at(f"not YAML: {problem}", 0, text)
    at = min(mark.index, len(text))
    told = _told(problem, text, at, context.index if context is not None else at)
    if told is not None:
        return told
    return _at(f"not YAML: {_PLAIN.get(problem, problem)}", at, text, _hint(text, at))


_PLAIN = {
    "could not find expected ':'": "a key needs ':' after it",
    "did not find expected key": "a key was expected here",
    "did not find expected '-' indicator": "a list item ('-') was expected here",
    "did not find expected ',' or ']'": "',' or ']' is missing",
    "did not find expected ',' or '}'": "',' or '}' is missing",
    "found unexpected end of stream": "the file ends inside this text",
    "mapping values are not allowed in this context": "a second ':' in one line",
    "did not find expected node content": "a value was expected here",
    "did not find expected <document start>": "this does not belong to the document above it",
}


def _told(problem: str, text: str, at: int, context: int) -> Problem | None:
    """The errors that deserve more than the parser's words."""
    if problem == "expected a single document in the stream" or problem.startswith("but found"):
        message = "a second document starts here; one file holds one graph"
        return _at(message, at, text, "put each document into a file of its own")
    if problem == "exceeded maximum nesting depth":
        return _at("nested too deeply for a graph", at, text)
    if problem == "found undefined alias":
        name = re.match(r"\*[^\s,\]}]*", text[at:])
        return _at(f"the alias '{name.group() if name else '*'}' has no anchor", at, text)
    tab = _tab(text, at)
    if tab is not None:
        message = "a tab (shown as →) is used for indentation; YAML indents with spaces"
        return _at(message, tab, text, "replace the tab by spaces")
    if problem == "found character that cannot start any token":
        char = text[at : at + 1]
        message = f"a plain text cannot begin with '{char}'"
        return _at(message, at, text, "quote the text")
    if problem == "mapping values are not allowed in this context":
        return _second_colon(text, at)
    if problem in ("found unexpected end of stream", "could not find expected ':'"):
        return _unfinished(problem, text, at, context)
    if problem in ("did not find expected key", "did not find expected <document start>"):
        return _indentation(text, at)
    return None


def _unfinished(problem: str, text: str, at: int, context: int) -> Problem:
    """The parser notices late; the mistake is where the text or key began."""
    if problem == "found unexpected end of stream":
        quote = text[context : context + 1]
        what = (
            f"the text that begins with {quote} is never closed"
            if quote in "'\""
            else ("the file ends too early")
        )
        return _at(what, min(context, len(text) - 1), text)
    start = context
    line_start = text.rfind("\n", 0, start) + 1
    word = text[start:].split("\n", 1)[0].strip()
    if start >= len(text.rstrip()):
        return _at("not YAML: the file ends too early", max(len(text.rstrip()) - 1, 0), text)
    message = f"'{_short(word)}' is neither a key (no ':' after it) nor part of the text above it"
    hint = ""
    if text[line_start:start].strip(" ") == "" and any(char in _NBSP for char in word):
        hint = "a non-breaking space is not indentation: replace it by a plain space"
    return _at(message, start, text, hint)


def _second_colon(text: str, at: int) -> Problem:
    line_start = text.rfind("\n", 0, at) + 1
    before = text[line_start:at]
    first = before.find(": ")
    if first < 0:
        return _indentation(text, _first_char(text, line_start))
    value = line_start + first + 2
    end = text.find("\n", at)
    rest = text[value : end if end >= 0 else len(text)].strip()
    hint = f'quote the text: "{rest}"' if '"' not in rest and len(rest) <= 80 else "quote the text"
    return _at("a second ': ' in one line: the text after the first needs quotes", at, text, hint)


def _indentation(text: str, at: int) -> Problem:
    """Compare the indentation of the line with what is open above it."""
    line_start = text.rfind("\n", 0, at) + 1
    first = _first_char(text, line_start)
    indent = first - line_start
    above = _open_indents(text[:line_start])
    if indent not in above and above:
        listed = " or ".join(str(number) for number in sorted(set(above)))
        message = (
            f"the indentation does not fit: this line is indented by {_spaces(indent)}, "
            f"the lines above it that it could belong to by {listed}"
        )
        return _at(message, first, text, f"indent it like its neighbours ({listed})")
    line = text[first:].split("\n", 1)[0]
    hint = ""
    if any(char in _NBSP for char in line):
        hint = "the line has a non-breaking space: replace it by a plain space"
    return _at("not YAML: a key was expected here", at, text, hint)


def _open_indents(above: str) -> list[int]:
    """The indentations of the blocks that are open at the end of a text, innermost first."""
    found: list[int] = []
    for line in reversed(above.split("\n")):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if not found or indent < found[-1]:
            found.append(indent)
        if indent == 0 or len(found) > 50:
            break
    return found


def _spaces(count: int) -> str:
    return "1 space" if count == 1 else f"{count} spaces"


def _first_char(text: str, line_start: int) -> int:
    at = line_start
    while at < len(text) and text[at] == " ":
        at += 1
    return at


def _tab(text: str, at: int) -> int | None:
    """A tab in the indentation of the line of `at`, or of the one before it."""
    line_start = text.rfind("\n", 0, at) + 1
    before = text.rfind("\n", 0, max(line_start - 1, 0)) + 1
    for start in (line_start, before):
        blank = re.match(r"[ \t]*", text[start:])
        if blank is not None and "\t" in blank.group():
            return start + blank.group().index("\t")
    return None


def _hint(text: str, at: int) -> str:
    line_start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[line_start : end if end >= 0 else len(text)]
    value = line.partition(": ")[2]
    if re.match(r"[@`%&*!|>{\[]", value) and not re.match(r"[|>][-+0-9]*\s*$", value):
        return "a text that begins with a special character needs quotes"
    return ""


def _short(word: str) -> str:
    return word if len(word) <= 40 else word[:39] + "…"


def _at(message: str, at: int, text: str, hint: str = "") -> Problem:
    """One character wide, on a character that can be seen."""
    at = max(0, min(at, len(text) - 1))
    return Problem("parse-error", message, at, min(at + 1, max(len(text), 1)), hint)
