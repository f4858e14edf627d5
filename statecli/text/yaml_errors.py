"""What libyaml could not read, in words, at the place where a person would look."""

from __future__ import annotations

import re

import yaml

from statecli.model.wording import shortened
from statecli.text.document import Problem
from statecli.text.yaml_layout import (
    NO_SPACES,
    after_value,
    at_char,
    line_start,
    misplaced,
    rest_of_line,
    second_colon,
    tab_in_indentation,
)

_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONFLICT = re.compile(r"^(?:<<<<<<<|=======|>>>>>>>)(?: .*)?$", re.MULTILINE)
QUOTE = "quote the text"


def explain(error: yaml.YAMLError, text: str) -> Problem:
    """The problem behind an error of the parser."""
    bad = _UNREADABLE.search(text)
    if bad is not None:
        code = ord(bad.group())
        name = "a NUL character" if code == 0 else f"the control character U+{code:04X}"
        message = f"{name} cannot stand in YAML; is this a binary file?"
        return at_char(message, bad.start(), text)
    conflict = _CONFLICT.search(text)
    if conflict is not None and text.count("<<<<<<<"):
        return at_char("a merge conflict is not resolved here", conflict.start(), text)
    mark = getattr(error, "problem_mark", None)
    context = getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error)
    if mark is None:
        return at_char(f"not YAML: {problem}", 0, text)
    at = min(mark.index, len(text))
    begun = context.index if context is not None else at
    told = _told(problem, text, at, begun) or _in_brackets(problem, text, at, begun)
    if told is not None:
        return told
    return at_char(f"not YAML: {_PLAIN.get(problem, problem)}", at, text)


_PLAIN = {
    "could not find expected ':'": "a key needs ':' after it",
    "did not find expected key": "a key was expected here",
    "did not find expected '-' indicator": "a list item ('-') was expected here",
    "mapping values are not allowed in this context": "a second ':' in one line",
    "did not find expected node content": "a value was expected here",
    "did not find expected <document start>": "this does not belong to the document above it",
    "second occurrence": "an anchor of this name is already there",
    "found unknown escape character": "this backslash begins no escape that there is",
}
#: Errors at the beginning of a text that looks like something else to YAML.
_BEGINNING = (
    "found character that cannot start any token",
    "did not find expected alphabetic or numeric character",
    "did not find expected comment or line break",
    "mapping keys are not allowed in this context",
    "found unknown directive name",
    "could not find expected directive name",
)


def _told(problem: str, text: str, at: int, begun: int) -> Problem | None:
    """The errors that deserve more than the parser's words."""
    if problem == "expected a single document in the stream" or problem.startswith("but found"):
        message = "a second document starts here; one file holds one"
        return at_char(message, at, text, "put each document into a file of its own")
    if problem == "exceeded maximum nesting depth":
        return at_char("nested too deeply", at, text)
    if problem == "found undefined alias":
        name = re.match(r"\*[^\s,\]}]*", text[at:])
        message = f"the alias '{name.group() if name else '*'}' has no anchor"
        return at_char(message, at, text, f"{QUOTE}, if it is one")
    if problem == "found unknown escape character":
        hint = "write two backslashes, or put the text into single quotes"
        return at_char(f"not YAML: {_PLAIN[problem]}", at, text, hint)
    tab = tab_in_indentation(text, at)
    if tab is not None:
        message = "a tab (shown as →) is used for indentation; YAML indents with spaces"
        return at_char(message, tab, text, "replace the tab by spaces")
    if problem in _BEGINNING:
        return _special(text, begun)
    if problem == "block sequence entries are not allowed in this context":
        message = "a list item ('-') cannot stand on the line of its key"
        return at_char(message, at, text, "put it on a line of its own, or write [...]")
    if problem == "mapping values are not allowed in this context":
        return second_colon(text, at)
    if problem in ("found unexpected end of stream", "could not find expected ':'"):
        return _unfinished(problem, text, begun)
    if problem in ("did not find expected key", "did not find expected <document start>"):
        return after_value(text, at) or misplaced(text, at)
    return None


def _special(text: str, at: int) -> Problem:
    if text.startswith("```", at):
        return at_char("a Markdown fence is not YAML", at, text, "remove the ``` lines")
    return at_char(f"a plain text cannot begin with '{text[at : at + 1]}'", at, text, QUOTE)


def _in_brackets(problem: str, text: str, at: int, begun: int) -> Problem | None:
    """A bracket that is not closed, or text with brackets of its own."""
    wanted = re.fullmatch(r"did not find expected ',' or '([]}])'", problem)
    if wanted is None:
        return None
    here, opened = line_start(text, at), line_start(text, begun)
    found = text[at : at + 1]
    dedented = _indent(text, here) <= _indent(text, opened)
    if here > opened and dedented and found not in ("]", "}"):
        message = f"the '{text[begun : begun + 1]}' that opens here is never closed"
        return at_char(message, begun, text, f"add the '{wanted.group(1)}'")
    hint = QUOTE if found in ("{", "[") else ""
    return at_char(f"not YAML: ',' or '{wanted.group(1)}' is missing", at, text, hint)


def _indent(text: str, start: int) -> int:
    line = rest_of_line(text, start)
    return len(line) - len(line.lstrip(" "))


def _unfinished(problem: str, text: str, begun: int) -> Problem:
    """The parser notices late; the mistake is where the text or key began."""
    if problem == "found unexpected end of stream":
        quote = text[begun : begun + 1]
        what = "the file ends too early"
        if quote in ("'", '"'):
            what = f"the text that begins with {quote} is never closed"
        return at_char(what, min(begun, len(text) - 1), text)
    if begun >= len(text.rstrip()):
        return at_char("not YAML: the file ends too early", len(text.rstrip()) - 1, text)
    word = rest_of_line(text, begun).strip()
    message = (
        f"'{shortened(word, 40)}' is neither a key (no ':' after it) nor part of the text above it"
    )
    hint = ""
    if not text[line_start(text, begun) : begun].strip(" ") and any(c in NO_SPACES for c in word):
        hint = "a no-break space is not indentation: replace it by a plain space"
    return at_char(message, begun, text, hint)
