"""Makes the fixes of diagnostics until nothing is left to fix, and keeps only what helps."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence

from statecli.model.diagnostic import Diagnostic
from statecli.text.document import Document
from statecli.text.edits import Change, Patch, apply, patch

#: Fixes may make room for others; after so many rounds they go in circles.
MOST_ROUNDS = 10

Check = Callable[[str], tuple[Document, list[Diagnostic]]]
Ready = tuple[Diagnostic, Patch]


class Fixer:
    """Fixes one text. `check` reads and lints a text.

    A fix after which the text cannot be read, or has an error that was not there before, is left
    out. `made` counts what was done by rule, `left_out` says what was not, and why.
    """

    def __init__(self, check: Check, unsafe: bool = False) -> None:
        self.check = check
        self.unsafe = unsafe
        self.made: Counter[str] = Counter()
        self.left_out: list[str] = []
        self._refused: set[tuple[str, str]] = set()

    def fix(self, text: str) -> str:
        """The text with every fix made that can be made."""
        for _ in range(MOST_ROUNDS):
            document, found = self.check(text)
            ready = [(item, made) for item in found if (made := self._patch(item, document))]
            chosen = self._good(compatible(ready), document.text, _errors(found))
            if not chosen:
                break
            self.made.update(item.rule for item, _ in chosen)
            text = _applied(document.text, chosen)
        return text

    def _patch(self, item: Diagnostic, document: Document) -> Patch | None:
        cure = item.finding.fix
        if cure is None or not (cure.safe or self.unsafe) or _name(item) in self._refused:
            return None
        found = patch(document, cure)
        return found if found is not None and found.changes else None

    def _good(
        self, chosen: list[Ready], text: str, before: Counter[tuple[str, str]]
    ) -> list[Ready]:
        """Those of the fixes that bring no new error, tried together and else by halves."""
        worse = self._worse(_applied(text, chosen), before) if chosen else ""
        if not worse:
            return chosen
        if len(chosen) == 1:
            item = chosen[0][0]
            self._refused.add(_name(item))
            line = item.span.start.line
            self.left_out.append(f"line {line}: the fix of {item.rule} is left out: {worse}")
            return []
        half = len(chosen) // 2
        first = self._good(chosen[:half], text, before)
        second = self._good(chosen[half:], text, before)
        together = first + second
        if first and second and self._worse(_applied(text, together), before):
            return first
        return together

    def _worse(self, text: str, before: Counter[tuple[str, str]]) -> str:
        """What would be wrong with the text that was not wrong before; empty when all is well."""
        document, found = self.check(text)
        if document.value is None:
            return "the file could not be read any more"
        new = _errors(found) - before
        return f"it would bring the error: {next(iter(new))[1]}" if new else ""


def compatible(ready: Sequence[Ready]) -> list[Ready]:
    """The fixes, from the first on, that do not get in each other's way; the others can wait for
    the next round."""
    chosen: list[Ready] = []
    taken: list[Change] = []
    lost: Counter[int] = Counter()
    for item, made in sorted(ready, key=lambda pair: pair[1].changes[0].start):
        if any(_touches(taken, change) for change in made.changes):
            continue
        owners = Counter(owner for owner, _ in made.losing)
        if any(lost[owner] and lost[owner] + owners[owner] >= size for owner, size in made.losing):
            continue
        chosen.append((item, made))
        lost.update(owners)
        for change in made.changes:
            taken.insert(bisect(taken, change), change)
    return chosen


def _touches(taken: list[Change], change: Change) -> bool:
    """Whether a change overlaps one that is taken, or inserts where that one does."""
    at = bisect(taken, change)
    if at and taken[at - 1].end > change.start:
        return True
    if at and taken[at - 1][:2] == change[:2]:
        return True
    return at < len(taken) and (change.end > taken[at].start or taken[at][:2] == change[:2])


def _applied(text: str, chosen: Sequence[Ready]) -> str:
    return apply(text, sorted(change for _, made in chosen for change in made.changes))


def _name(item: Diagnostic) -> tuple[str, str]:
    return item.rule, item.finding.message


def _errors(found: Sequence[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter(_name(item) for item in found if item.severity == "error")
