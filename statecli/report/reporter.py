"""What a reporter gets and gives; the other modules of this folder are the reporters."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, Protocol, cast

from statecli.model.diagnostic import SEVERITIES, Diagnostic
from statecli.text.document import Document
from statecli.text.excerpt import harmless

#: Which severities make a call fail, by the threshold that was asked for.
FAILING = {
    "error": ("error",),
    "warning": ("error", "warning"),
    "info": ("error", "warning", "info"),
    "never": (),
}


class RuleText(Protocol):
    """What a report says about a rule."""

    @property
    def id(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def doc(self) -> str: ...


class Numbers(NamedTuple):
    """A graph in numbers; `form` None = there is no graph to count. `verified`: exact, partial or
    off; `undecided`: what the verifier does not know, and why."""

    form: str | None = None
    states: int = 0
    transitions: int = 0
    reachable: int = 0
    terminal: tuple[str, ...] = ()
    verified: str = "off"
    undecided: tuple[str, ...] = ()


class Skipped(NamedTuple):
    """A named file that does not look like a graph, and why not."""

    path: str
    reason: str


class Finished(NamedTuple):
    """A diagnostic, and whether it makes the call fail."""

    diagnostic: Diagnostic
    fails: bool


class Report:
    """Everything one call found. `graphs` are by path, in order; their numbers are there only
    for a reporter that COUNTS."""

    def __init__(
        self,
        graphs: Mapping[str, Numbers],
        skipped: tuple[Skipped, ...],
        found: tuple[Finished, ...],
        rules: Mapping[str, RuleText],
        version: str,
    ) -> None:
        self.graphs = graphs
        self.skipped = skipped
        self.found = found
        self.rules = rules
        self.version = version

    def number(self, severity: str) -> int:
        return sum(item.diagnostic.severity == severity for item in self.found)

    def ordered(self) -> list[Diagnostic]:
        """Every diagnostic: the most severe first, then as the files have them."""
        return [item.diagnostic for item in in_order(self.found, self.graphs)]


def in_order(found: Iterable[Finished], graphs: Iterable[str]) -> list[Finished]:
    """The most severe first, then by file and place. This resolves the places."""
    rank = {path: number for number, path in enumerate(graphs)}

    def key(item: Finished) -> tuple[object, ...]:
        it = item.diagnostic
        return SEVERITIES.index(it.severity), rank.get(it.path, 0), it.span, it.rule, it.message

    return sorted(found, key=key)


class Style(NamedTuple):
    """How a person wants to see it: colours, infos too, nothing grouped, the room there is."""

    color: bool = False
    verbose: bool = False
    all: bool = False
    width: int = 120


class Reporter(Protocol):
    """A module of this folder. `WHOLE`: its output is one document, nothing may stand beside it.
    `COUNTS`: it shows the numbers of graphs."""

    WHOLE: bool
    COUNTS: bool

    def pieces(self, report: Report, style: Style) -> Iterator[str]:
        """The report as text, in pieces."""
        ...


def names() -> list[str]:
    """The formats there are: the listing of this folder."""
    found = (entry for entry in os.listdir(os.path.dirname(__file__)) if entry.endswith(".py"))
    return sorted(entry[:-3] for entry in found if entry not in ("__init__.py", "reporter.py"))


def reporter(name: str) -> Reporter:
    return cast(Reporter, importlib.import_module(f"statecli.report.{name}"))


def document_of(diagnostic: Diagnostic) -> Document:
    assert isinstance(diagnostic.source, Document)
    return diagnostic.source


def counted(number: int, word: str) -> str:
    """ "1 error", "3 errors"."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


@cache
def _repository(folder: str) -> str:
    """The top of the repository around a folder; without one, that folder."""
    here = folder
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above
    return folder


def in_repository(path: str) -> str:
    """A path as services want it: from the top of the repository, with ``/``. A file outside
    keeps its absolute path, standard input its name."""
    if path.startswith("<"):
        return path
    top = _repository(os.path.realpath(os.curdir)).rstrip(os.sep) + os.sep
    return os.path.realpath(path).removeprefix(top).replace(os.sep, "/")


def shown_path(path: str) -> str:
    """A path as people read it, whatever the locale that it was given in."""
    if not path.isascii():
        path = os.fsencode(path).decode("utf-8", "replace")
    return harmless(path)
