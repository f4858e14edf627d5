"""What a rule says about a graph: a message at a place, with the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from statecli.model.room import upstairs
from statecli.model.span import Place, Span

SEVERITIES = ("error", "warning", "info")


class Source(Protocol):
    """The text that places resolve against; `statecli.text.document.Document` is one."""

    @property
    def path(self) -> str: ...
    @property
    def text(self) -> str: ...
    def span(self, place: Place) -> Span: ...


class Related(NamedTuple):
    """Another place that belongs to the message: the first of two equal keys, the way in."""

    message: str
    at: Place


class Edit(NamedTuple):
    """Replace the text at `at` by `text`; an empty span inserts, an empty text deletes.

    `where` is "replace" (the place itself, quotes included), "text" (a scalar or key becomes this
    text: the quotes that stand there are kept, quotes are added where the language needs them),
    "before" or "after" it (an insertion), "entry" (one more entry, `key: value` on one line, at
    the end of the mapping), "item" (the list item or mapping entry with its separator, for
    removal) or "line" (with the whole line if nothing else stands on it).
    """

    at: Place
    text: str
    where: str = "replace"


class Fix(NamedTuple):
    """A change that cures the finding. A safe one never changes what the graph does.

    `change` is its edits, or makes them: many are found that nobody asks for.
    """

    title: str
    change: tuple[Edit, ...] | Callable[[], tuple[Edit, ...]]
    safe: bool = False

    @property
    def edits(self) -> tuple[Edit, ...]:
        return self.change() if callable(self.change) else self.change


class Visit(NamedTuple):
    """One element of a witness: a state, the calls made there, and what was taken then.

    A call is ``{key: value}``, ``{"done": task}`` or ``{"close": "achieved"}``; ``{}`` ends the
    turn. What a body writes is one call. `takes`: ``transitions[i]``, ``implicit:next``, ``net``,
    ``max_hops`` where that limit stops the run until the next line, or None where the run stays.
    """

    state: str
    turns: tuple[Mapping[str, object], ...]
    takes: str | None

    @property
    def taken(self) -> int | None:
        """The number of the written transition that was taken."""
        if self.takes is None or not self.takes.startswith("transitions["):
            return None
        return int(self.takes.removeprefix("transitions[").removesuffix("]"))


class Witness(NamedTuple):
    """A run that shows a finding, replayed by the kernel: the values given before the start, and
    the states that it goes through."""

    visits: tuple[Visit, ...]
    given: Mapping[str, object] = {}


class Finding(NamedTuple):
    """What a rule yields. The linter adds rule, severity and document and makes a Diagnostic.

    `states` are the names the finding is about, the first one foremost. `anchors` are further
    places whose suppression comment also hides it (the members of a loop). `severity` and
    `verdict` are set only where they differ from the rule's own. `masked`: the text at `at` is
    a secret, so it is shown as ``*`` in every excerpt of the file.
    """

    message: str
    at: Place
    states: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    hint: str = ""
    fix: Fix | None = None
    severity: str | None = None
    verdict: str = "proved"
    anchors: tuple[Place, ...] = ()
    masked: bool = False
    witness: Witness | None = None


class Diagnostic(NamedTuple):
    """A finding of one rule in one document, with its severity decided."""

    rule: str
    family: str
    severity: str
    finding: Finding
    source: Source

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def span(self) -> Span:
        return self.source.span(self.finding.at)

    @property
    def message(self) -> str:
        return self.finding.message


class Diagnostics(list[Diagnostic]):
    """What makes `statecli validate` fail, as a list; it prints as `validate` does.

    `milder` are the other diagnostics: warnings and infos, unless they count as well.
    """

    def __init__(self, found: Iterable[Diagnostic] = (), milder: Iterable[Diagnostic] = ()) -> None:
        super().__init__(found)
        self.milder = list(milder)

    def __str__(self) -> str:
        if not self:
            return "no problems"
        found: str = upstairs("statecli.lint.from_python:shown")(self)
        return found

    def __repr__(self) -> str:
        return f"{len(self)} of statecli's diagnostics:\n{self}\n" if self else "[]"
