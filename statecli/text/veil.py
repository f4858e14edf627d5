"""Hides secrets of a document in everything that is printed about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecli.model.diagnostic import Diagnostic
from statecli.text.document import Document

#: What stands for each character of a secret.
STAR = "*"
#: Shorter texts are too common to be taken out of messages.
_SHORTEST = 6


class Veil:
    """The secrets of one document: the ranges that findings of `inline-secret` cover."""

    def __init__(self, document: Document, ranges: Sequence[tuple[int, int]]) -> None:
        self.document = document
        self.ranges = sorted(ranges)
        words = {document.text[start:end].strip("\"' \n") for start, end in ranges}
        words = {word for word in words if len(word) >= _SHORTEST}
        self._words = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
        self._any = bool(words)

    def line(self, number: int) -> str:
        """A line of the document (from 1) with its secrets hidden."""
        line = self.document.line(number)
        if not self.ranges:
            return line
        begin = self.document.line_start(number)
        for start, end in self.ranges:
            first, last = max(start - begin, 0), min(end - begin, len(line))
            if first < last:
                line = line[:first] + STAR * (last - first) + line[last:]
        return line

    def text(self, text: str) -> str:
        """A message without the secrets that it might quote."""
        return self._words.sub(lambda m: STAR * len(m.group()), text) if self._any else text


def veils(diagnostics: Sequence[Diagnostic]) -> dict[int, Veil]:
    """For each document (by its `id`) the veil over its secrets."""
    ranges: dict[int, list[tuple[int, int]]] = {}
    documents: dict[int, Document] = {}
    for item in diagnostics:
        assert isinstance(item.source, Document)
        documents[id(item.source)] = item.source
        found = ranges.setdefault(id(item.source), [])
        if item.finding.masked:
            found.append(item.source.offsets(item.finding.at))
    return {key: Veil(documents[key], found) for key, found in ranges.items()}
