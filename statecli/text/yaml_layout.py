"""Mistakes of layout in YAML: indentation, tabs, colons and quotes that a parser only notices
further on."""

from __future__ import annotations

import re

from statecli.model.wording import shortened
from statecli.text.document import Problem

#: Characters that look like a space (or like nothing) and are none to YAML.
NO_SPACES = "\u00a0\u1680\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))
_COMMENT = re.compile(r"(?:\s+#.*)?\s*$")
_NO_SPACE_AFTER_COLON = re.compile(r" *(?:- +)*([^\W\d][\w.-]*:)(?!//)([^ \t\r\n].*)")
_WORD_ALONE = re.compile(r" *(?:- +)*[^\s:#\"'\[\]{}|>&*-][^:#]*$")


def second_colon(text: str, at: int) -> Problem:
    """A colon where no key can be: in a text without quotes, or after a line that lacks its own."""
    start = line_start(text, at)
    first = text[start:at].find(": ")
    if first < 0:
        return misplaced(text, _first_char(text, start))
    rest = rest_of_line(text, start + first + 2).strip()
    hint = f'quote the text: "{rest}"' if '"' not in rest and len(rest) <= 80 else "quote the text"
    return at_char(
        "a second ': ' in one line: the text after the first needs quotes", at, text, hint
    )


def _above(text: str, start: int) -> Problem | None:
    """The line above runs on into this one, because its colon is missing or has no space."""
    above = _line_before(text, start)
    if above is None:
        return None
    line = _COMMENT.sub("", rest_of_line(text, above))
    glued = _NO_SPACE_AFTER_COLON.fullmatch(line)
    if glued is not None:
        at = above + glued.start(2)
        if glued.group(2)[0] in NO_SPACES:
            message = "the space after this colon is a no-break space, which is none to YAML"
            return at_char(message, at, text, "replace it by a plain space")
        message = f"'{glued.group(1)}' needs a space after the colon"
        return at_char(
            message, at - 1, text, f"write {glued.group(1)} {shortened(glued.group(2), 40)}"
        )
    inner = _first_char(text, start) - start > _first_char(text, above) - above
    if inner and _WORD_ALONE.fullmatch(line):
        word = line.strip().removeprefix("- ")
        return at_char(
            f"'{shortened(word, 40)}' needs ':' after it", above + line.index(word), text
        )
    return None


def after_value(text: str, at: int) -> Problem | None:
    """Text that goes on behind a closing quote or bracket."""
    start = line_start(text, at)
    before = text[start:at].rstrip()
    if not before or before[-1] not in "'\"]}":
        return None
    value = re.search(r": +(?=['\"\[{])|^ *- +(?=['\"\[{])", before)
    whole = rest_of_line(text, start + value.end()).strip() if value is not None else ""
    if before[-1] == "'":
        hint = "inside single quotes write '' for one quote, or use double quotes"
    elif before[-1] == '"':
        hint = 'inside double quotes write \\" for one quote'
    elif '"' not in whole and 0 < len(whole) <= 80:
        hint = f'quote the text: "{whole}"'
    else:
        hint = "quote the text"
    return at_char(f"more text after the closing {before[-1]}", at, text, hint)


def misplaced(text: str, at: int) -> Problem:
    """A line that begins where it fits nothing: the line above runs on into it, or its indentation
    is none of those that are open above."""
    start = line_start(text, at)
    first = _first_char(text, start)
    indent = first - start
    told = _above(text, start) if at == first else None
    if told is not None:
        return told
    above = _open_indents(text[:start])
    if at == first and above and indent not in above:
        listed = " or ".join(str(number) for number in sorted(set(above)))
        message = (
            f"the indentation does not fit: this line is indented by {_spaces(indent)}, "
            f"the lines above it that it could belong to by {listed}"
        )
        return at_char(message, first, text, f"indent it like its neighbours ({listed})")
    hint = ""
    if any(char in NO_SPACES for char in rest_of_line(text, start)):
        hint = "the line has a no-break space: replace it by a plain space"
    return at_char("not YAML: a key was expected here", at, text, hint)


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


def tab_in_indentation(text: str, at: int) -> int | None:
    """A tab in the indentation of the line of `at`, or of the one before it."""
    start = line_start(text, at)
    before = text.rfind("\n", 0, max(start - 1, 0)) + 1
    for begin in (start, before):
        blank = re.match(r"[ \t]*", text[begin : begin + 1000])
        if blank is not None and "\t" in blank.group():
            return begin + blank.group().index("\t")
    return None


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def rest_of_line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[at : end if end >= 0 else len(text)]


def _line_before(text: str, start: int) -> int | None:
    """Where the last line above begins that holds more than a comment."""
    while start > 0:
        start = text.rfind("\n", 0, start - 1) + 1
        content = rest_of_line(text, start).strip()
        if content and not content.startswith("#"):
            return start
    return None


def _first_char(text: str, start: int) -> int:
    while start < len(text) and text[start] == " ":
        start += 1
    return start


def _spaces(count: int) -> str:
    return "1 space" if count == 1 else f"{count} spaces"


def at_char(message: str, at: int, text: str, hint: str = "") -> Problem:
    """One character wide, on a character that can be seen."""
    at = max(0, min(at, len(text) - 1))
    return Problem("parse-error", message, at, min(at + 1, max(len(text), 1)), hint)
