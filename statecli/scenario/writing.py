"""Changes of a conversation file that leave every other byte of it as it is: expectations that are
rewritten, turns that get replies or expectations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from statecli.model.data import is_list, is_map
from statecli.model.diagnostic import Edit, Fix
from statecli.model.span import Path, Place
from statecli.scenario.compare import NOTHING
from statecli.scenario.happened import Seen
from statecli.scenario.runner import Played
from statecli.session.session import digest
from statecli.text.conversation import block, in_block, one_line
from statecli.text.document import Document
from statecli.text.edits import apply, patch

#: A value that is longer is no expectation that anybody reads.
_LONGEST = 300


class Change(NamedTuple):
    """A value to write: `key` None replaces what stands at `path`, else it is one more entry of the
    mapping there."""

    path: Path
    value: Any
    key: str | None = None


def updates(played: Played, text: str) -> tuple[list[Change], list[str]]:
    """What makes a conversation say what it does now, and what has to be changed by hand. Where
    no turn expects anything yet each of them gets expectations; `text` is the graph's, for the
    digest."""
    changes: list[Change] = []
    left: list[str] = []
    conversation = played.case.conversation
    if played.case.changed:
        changes.append(Change(("digest",), digest(text)))
    if not any(played.case.turns) and played.passed:
        for turn, seen in zip(conversation.turns, played.seen, strict=False):
            found = expected_of(seen)
            if "expect" in _value(conversation.document, turn.path):
                changes.append(Change((*turn.path, "expect"), found))
            else:
                changes.append(Change(turn.path, found, "expect"))
        return changes, left
    for problem in played.problems:
        difference = problem.difference
        if difference is None:
            continue
        if difference.actual is NOTHING:
            where = conversation.where(problem.path)
            left.append(f"{where}: {difference.message}; change it by hand")
            continue
        path = difference.expected.path
        if difference.whole:
            path = path[: path.index(difference.expected.key) + 1]
        changes.append(Change(path, _plain(difference.actual)))
    return changes, left


def _value(document: Document, path: Path) -> Any:
    found: Any = document.value
    for step in path:
        found = found[step]
    return found


def expected_of(seen: Seen) -> dict[str, Any]:
    """What a turn brought, as its `expect`."""
    found: dict[str, Any] = {}
    targets = [way.target for way in seen.taken]
    if targets:
        found["takes"] = targets[0] if len(targets) == 1 else targets
    found["state"] = seen.after.state
    values = {key: _plain(value) for key, value in seen.changed.items()}
    values = {k: v for k, v in values.items() if _is_plain(v) and len(repr(v)) <= _LONGEST}
    if values:
        found["data"] = {k: {"equals": v} if is_map(v) else v for k, v in values.items()}
    tools = [call.tool for call in seen.called]
    if tools:
        found["called"] = tools[0] if len(tools) == 1 else tools
    if seen.after.status == "ended":
        found["ended"] = True
    elif seen.after.status != "waiting":
        found["status"] = seen.after.status
    return found


def _plain(value: Any) -> Any:
    """A value as a document can hold it."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, tuple):
        return list(value)
    return value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, str | int | float | bool)


def rewritten(document: Document, changes: Iterable[Change]) -> str | None:
    """The text with the changes made, all of them; None where one of them cannot be made there."""
    edits = tuple(_edits(document, changes))
    made = patch(document, Fix("", edits))
    return apply(document.text, made.changes) if made is not None else None


def _edits(document: Document, changes: Iterable[Change]) -> Iterator[Edit]:
    for path, value, key in changes:
        if key is None:
            text = _value_text(document, path, value)
            if document.is_plain(path) and not document.raw(path):
                text = f" {text}"  # nothing stands behind the colon
            yield Edit(Place(path), text)
        else:
            yield Edit(Place(path), _entry(document, path, key, value), "entry")


def _value_text(document: Document, path: Path, value: Any) -> str:
    """A value that takes the place of another one, as that is written."""
    node = document.node(path)
    if node is not None and node.style == "block" and is_list(value) and value:
        return block(value, document.position(node.start).column - 1)
    return one_line(value, document.language)


def _entry(document: Document, path: Path, key: str, value: Any) -> str:
    """One more entry as the mapping is written: over several lines, or on one."""
    node = document.node(path)
    if document.language == "json":
        return f"{one_line(key, 'json')}: {one_line(value, 'json')}"
    if node is None or node.style == "flow" or not node.pairs:
        return f"{key}: {one_line(value, 'yaml')}"
    column = document.position(node.pairs[0][0].start).column - 1
    return in_block(key, value, column)


def difference(path: str, before: str, after: str) -> Iterator[str]:
    """A unified diff, without line ends."""
    import difflib

    name = path.replace("\\", "/").lstrip("/")
    lines: Sequence[str] = list(
        difflib.unified_diff(
            before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
        )
    )
    yield from lines
