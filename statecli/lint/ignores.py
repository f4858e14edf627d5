"""Suppressions in a graph: comments in YAML and Python, the key `x-statecli-ignore` in YAML and
JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from statecli.model.data import is_list, is_map
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.nearest import did_you_mean
from statecli.model.span import Path, Place
from statecli.text.document import PYTHON, Document, offsets

KEY = "x-statecli-ignore"
_COMMENT = re.compile(r"#\s*statecli:\s*(ignore(?:-file)?)\s*(?:\[([^\]\n]*)\]?)?")


class _Suppression:
    """One word of one suppression: the rule it names, and what it covers.

    `line` 0 = the whole file; `path` is set for the key in an object; `used`: it hid something.
    `whole` is what goes when the word is removed: where it is `alone` the comment, else a comma.
    """

    __slots__ = ("alone", "at", "file", "line", "path", "rule", "used", "whole")

    def __init__(
        self,
        rule: str,
        at: Place,
        whole: Place,
        line: int = 0,
        path: Path | None = None,
        alone: bool = True,
        file: str = "",
    ) -> None:
        self.file = file
        self.rule = rule
        self.at = at
        self.whole = whole
        self.line = line
        self.path = path
        self.alone = alone
        self.used = False


class Ignores:
    """The suppressions of one document, and which of them hid something."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.found: list[_Suppression] = []
        for file in document.files():
            if file.language != "json" and "statecli" in file.text:
                self.found.extend(_comments(file))
        if KEY in document.survey.names:
            self.found.extend(_keys(document))

    def hides(self, rule: str, finding: Finding) -> bool:
        """Whether a suppression covers the finding (and mark it as used)."""
        if not self.found:
            return False
        hidden = False
        places = (finding.at, *finding.anchors)
        lines: set[tuple[str, int]] | None = None
        for entry in self.found:
            if entry.rule != rule:
                continue
            if entry.path is not None:
                hit = any(place.path[: len(entry.path)] == entry.path for place in places)
            else:
                if lines is None:
                    lines = {line for place in places for line in self.document.lines(place)}
                hit = (entry.file, entry.line) in lines
            if hit:
                entry.used = hidden = True
        return hidden

    def unused(self, active: set[str], known: set[str]) -> Iterator[Finding]:
        """Suppressions that hide nothing, or name no rule. A rule that does not run says nothing
        about its suppressions."""
        for entry in self.found:
            if entry.used or (entry.rule in known and entry.rule not in active):
                continue
            if entry.rule in known:
                message = f"this suppression of '{entry.rule}' hides nothing"
                hint = "remove it"
            elif entry.rule:
                message = f"no rule is named '{entry.rule}'"
                hint = did_you_mean(entry.rule, known)
            else:
                message = "this suppression names no rule"
                hint = "write: # statecli: ignore[rule]"
            yield Finding(message=message, at=entry.at, hint=hint, fix=_removed(entry))


def _removed(entry: _Suppression) -> Fix | None:
    """The fix that takes a word away, with its comment if nothing is left of it."""
    if entry.path is not None:
        return None
    if entry.alone:
        return Fix("remove the suppression", (Edit(entry.whole, "", "line"),), safe=True)
    return Fix(f"remove '{entry.rule}'", (Edit(entry.whole, ""),), safe=True)


def _comments(document: Document) -> Iterator[_Suppression]:
    text, file = document.text, document.path
    for match in _suppressing(document):
        position = document.position(match.start())
        before = document.line(position.line)[: position.column - 1]
        line = position.line
        if match.group(1) == "ignore-file":
            line = 0
        elif not before.strip():
            line = _next_line(document, line)
        words = match.group(2) or ""
        names = list(re.finditer(r"[^,\s]+", words))
        end = text.find("\n", match.start())
        whole = offsets(match.start(), end if end >= 0 else len(text))
        if not names:
            at = offsets(match.start(), match.end())
            yield _Suppression("", at, whole, line, file=file)
        inside = match.start(2)
        for number, name in enumerate(names):
            start, stop = name.span()
            at = offsets(inside + start, inside + stop)
            if len(names) == 1:
                yield _Suppression(name.group(), at, whole, line, file=file)
                continue
            if number + 1 < len(names):
                stop = names[number + 1].start()
            else:
                start = names[number - 1].end()
            item = offsets(inside + start, inside + stop)
            yield _Suppression(name.group(), at, item, line, alone=False, file=file)


def _suppressing(document: Document) -> Iterator[re.Match[str]]:
    """The comments that suppress something."""
    if document.language == PYTHON:
        from statecli.text.python_text import PythonText  # tokenize is heavy

        assert isinstance(document, PythonText)
        for at, comment in document.comments():
            match = _COMMENT.match(document.text, at, at + len(comment))
            if match is not None:
                yield match
        return
    for match in _COMMENT.finditer(document.text):
        if _is_comment(document, match.start()):
            yield match


def _next_line(document: Document, line: int) -> int:
    """The next line that holds more than a comment."""
    last = document.text.count("\n") + 1
    while line < last:
        line += 1
        content = document.line(line).strip()
        if content and not content.startswith("#"):
            return line
    return line


def _is_comment(document: Document, at: int) -> bool:
    """A `#` begins a comment at the start of a line or after a blank, outside quoted text."""
    if at and document.text[at - 1] not in " \t\n":
        return False
    return not any(start < at < end for start, end in _texts(document))


def _texts(document: Document) -> list[tuple[int, int]]:
    """The ranges of scalars that may hold a `#`: quoted and block ones."""
    found: list[tuple[int, int]] = []
    stack = [document.tree] if document.tree is not None else []
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.kind == "scalar":
            if node.style and "#" in node.text:
                found.append((node.start, node.end))
        stack.extend(node.items)
        for key, value in node.pairs:
            stack.extend((key, value))
    return found


def _keys(document: Document) -> Iterator[_Suppression]:
    stack: list[tuple[object, Path]] = [(document.value, ())]
    seen: set[int] = set()
    while stack:
        value, path = stack.pop()
        if id(value) in seen:
            continue
        if is_map(value):
            seen.add(id(value))
            listed = value.get(KEY)
            for index, name in enumerate(listed if is_list(listed) else [listed]):
                if isinstance(name, str):
                    at = Place((*path, KEY, index) if is_list(listed) else (*path, KEY))
                    yield _Suppression(name, at, at, path=path)
            stack.extend((item, (*path, key)) for key, item in value.items())
        elif is_list(value):
            seen.add(id(value))
            stack.extend((item, (*path, index)) for index, item in enumerate(value))
