"""Makes the fixes of diagnostics until nothing is left to fix, and keeps only what helps."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence

from statecli.lint.rule import rules
from statecli.model.diagnostic import Diagnostic, Edit
from statecli.model.span import Path
from statecli.text.document import Document
from statecli.text.edits import Change, Patch, apply, patch

#: Fixes may make room for others; after so many rounds they go in circles.
MOST_ROUNDS = 100
#: The families whose errors a fix can bring. What others find was there before, and only held back
#: by the mistake that is fixed.
_CAUSED = ("syntax", "references")

Check = Callable[[str], tuple[Document, list[Diagnostic]]]
Ready = tuple[Diagnostic, Patch]


class Fixer:
    """Fixes one text. `check` reads and lints a text.

    A fix after which the text cannot be read, or has an error that the fix brought, is left out;
    one after which more of the file can be read, and is found wrong, is made. `made` counts what
    was done by rule, `left_out` says what was not, and why.
    """

    def __init__(self, check: Check, unsafe: bool = False) -> None:
        self.check = check
        self.unsafe = unsafe
        self.made: Counter[str] = Counter()
        self.left_out: list[str] = []
        self._refused: set[tuple[str, str]] = set()

    def fix(self, text: str) -> str:
        """The text with every fix made that can be made."""
        outdated = False
        for _ in range(MOST_ROUNDS):
            document, found = self.check(text)
            ready = [(item, made) for item in found if (made := self._patch(item, document))]
            chosen = self._good(compatible(ready), document.text, _errors(found))
            if not chosen:
                if not outdated:
                    break
                outdated = False  # what was refused in another text may do in this one
                self._refused.clear()
                self.left_out.clear()
                continue
            outdated = bool(self._refused)
            self.made.update(item.rule for item, _ in chosen)
            text = _applied(document.text, chosen)
        return text

    def _patch(self, item: Diagnostic, document: Document) -> Patch | None:
        cure = item.finding.fix
        if cure is None or not (cure.safe or self.unsafe) or _name(item) in self._refused:
            return None
        found = patch(document, cure)
        return found if found is not None and found.changes else None

    def _good(self, chosen: list[Ready], text: str, before: list[Diagnostic]) -> list[Ready]:
        """Those of the fixes that bring no new error, tried together and else by halves."""
        worse = self._worse(text, chosen, before) if chosen else ""
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
        if first and second and self._worse(text, together, before):
            return first
        return together

    def _worse(self, text: str, chosen: Sequence[Ready], before: list[Diagnostic]) -> str:
        """What would be wrong with the text because of the fixes; empty when all is well."""
        document, found = self.check(_applied(text, chosen))
        if document.value is None:
            return "the file could not be read any more"
        if any(_is_exclusive(item.rule) for item, _ in chosen):
            return ""  # nothing else was looked for before
        edits = [edit for item, _ in chosen if (fix := item.finding.fix) for edit in fix.edits]
        for item in _new(before, _errors(found)):
            if not any(_uncovers(edit, item.finding.at.path) for edit in edits):
                return f"it would bring the error: {item.message}"
        return ""


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


def _errors(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The errors that a fix could have brought."""
    return [item for item in found if item.severity == "error" and item.family in _CAUSED]


def _is_exclusive(rule: str) -> bool:
    known = rules().get(rule)
    return known is not None and known.exclusive


def _new(before: list[Diagnostic], after: list[Diagnostic]) -> list[Diagnostic]:
    """The errors that were not there before: neither at their place, whatever the words, nor in
    their words, at a place that may have moved."""
    places: dict[tuple[str, Path], list[Diagnostic]] = {}
    for item in before:
        places.setdefault((item.rule, item.finding.at.path), []).append(item)
    rest: list[Diagnostic] = []
    words = Counter(_name(item) for item in before)
    for item in after:
        same = places.get((item.rule, item.finding.at.path))
        if same:
            words[_name(same.pop())] -= 1
        else:
            rest.append(item)
    found: list[Diagnostic] = []
    for item in rest:
        words[_name(item)] -= 1
        if words[_name(item)] < 0:
            found.append(item)
    return found


def _uncovers(edit: Edit, path: Path) -> bool:
    """Whether an edit lets something be read that was not read before, and this place is in it:
    what stands under a key that gets its name, and what stands beside a value that says how it is
    to be read."""
    at, _, where = edit
    own = at.path
    if not own or where == "item":
        return False
    if at.part == "key" and where in ("text", "replace"):
        own = (*own[:-1], edit.text)
        return path[: len(own)] == own
    around = own[:-1]
    if len(around) < 2 or isinstance(own[-1], int) or path[: len(around)] != around:
        return False
    return at.part != "value" or path[: len(own)] != own
