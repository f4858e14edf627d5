"""The graphs that a command line means: found, read, and told from files that are none."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

from statecli.cli.settings import Settings
from statecli.config import Config
from statecli.discover import STDIN, Candidate, Search, reason_of
from statecli.load.likeness import may_be_graph, why_not
from statecli.load.loader import Loaded
from statecli.model.unable import Unable
from statecli.report.reporter import Skipped
from statecli.text import reading
from statecli.text.document import MAX_BYTES, Document


class Source(NamedTuple):
    """One graph: its bytes and what they say, its settings, the form that was asked for. `python`:
    it was built by code, and is there already."""

    path: str
    content: bytes
    document: Document
    config: Config
    form: str | None
    python: Loaded | None = None


class Sources:
    """Reads one file after the other. When it is through, `skipped` has the named files that are
    no graphs, and `trouble` what could not be read or found: each makes the exit code 2."""

    def __init__(self, args: argparse.Namespace, settings: Settings) -> None:
        self.args = args
        self.settings = settings
        self.skipped: list[Skipped] = []
        words = args.graphs or ["graphs" if os.path.isdir("graphs") else "."]
        self._search = Search(words, settings.excludes, python=True)
        self.trouble = list(self._search.trouble)

    def __iter__(self) -> Iterator[Source]:
        graphs: set[str] = set()
        for candidate in self._search.candidates:
            if candidate.python:
                yield from self._of_python(candidate.path)
                continue
            data = self._read(candidate)
            source = self._source(candidate, data) if data is not None else None
            if source is not None or data is None:
                graphs.add(candidate.path)
            if source is not None:
                yield source
        if not self.args.allow_empty:
            for word, paths in self._search.groups.items():
                if graphs.isdisjoint(paths):
                    folder = "no graph in this folder"
                    pattern = "no graph fits this pattern"
                    self.trouble.append(f"{word}: {folder if os.path.isdir(word) else pattern}")

    def _of_python(self, word: str) -> Iterator[Source]:
        """The graph that Python code builds; nothing where it cannot, which is told at the end."""
        from statecli.cli import targets

        try:
            targets.need(self.args.allow_plugins, word)
            found = targets.load(word)
        except Unable as error:
            if self.args.debug and error.__cause__ is not None:
                raise error.__cause__ from None
            hint = f" ({error.hint})" if error.hint else ""
            self.trouble.append(f"{error.message}{hint}")
            return
        document = found.loaded.document
        config = self.settings.of(document.path)
        config = config._replace(inputs=(*config.inputs, *found.given))
        yield Source(word, b"", document, config, None, found.loaded)

    def _read(self, candidate: Candidate) -> bytes | None:
        """What stands in a file; None if it cannot be read, which is told at the end."""
        if candidate.path == STDIN:
            if sys.stdin is None:
                raise Unable("standard input is closed")
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        path = candidate.path
        try:
            with open(path, "rb") as file:
                return file.read(MAX_BYTES + 1)
        except OSError as error:
            reason = reason_of(error)
            if os.path.islink(path) and not os.path.exists(path):
                reason = f"a link to '{os.readlink(path)}', which leads nowhere"
            shown = path or "''"
            self.trouble.append(f"{shown}: {reason}")
            return None

    def _source(self, candidate: Candidate, data: bytes) -> Source | None:
        """The graph in a file; None if it does not look like one."""
        path, named, _ = candidate
        if path == STDIN:
            path = self.args.stdin_filename or "<stdin>"
        elif named and self.settings.excludes(path):
            self.skipped.append(Skipped(path, f"excluded in {self.settings.of(path).file}"))
            return None
        path = path.removeprefix("./")
        if not named and not may_be_graph(path, data):
            return None
        config = self.settings.of(path)
        form = self.args.form or config.form(path)
        document = reading.document(path, data)
        if form is None and not (named and self.args.strict_input):
            broken = any(item.rule == "parse-error" for item in document.problems)
            reason = why_not(path, document.text, document.value, broken)
            if reason:
                if named:
                    self.skipped.append(Skipped(path, reason))
                return None
        return Source(path, data, document, config, form)
