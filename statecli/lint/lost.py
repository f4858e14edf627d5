"""Texts that a mistake hides from the graph, so that what they would set only seems to be set
nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statecli.model.data import is_list, is_map
from statecli.model.span import Path

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: Keys under which a key of the data stands, or that decide whether it is read there.
_SETTING = frozenset(
    {"states", "tasks", "goal", "deliverables", "key", "writes", "fields", "default", "id",
     "session_context", "default_value", "type"}
)  # fmt: skip


def lost(facts: Facts) -> set[str]:
    """The texts in parts of the file that could not be read, because of a mistake that another
    rule names."""
    values: list[object] = []
    for path, guess in facts.guesses.items():
        if guess in _SETTING:
            values.extend((*path, facts.value(path)))
    for rule in ("wrong-value-type", "missing-key", "duplicate-key", "duplicate-id"):
        for finding in facts.fired(rule):
            path = finding.at.path
            values.extend((*path, facts.value(path)))
            if rule == "duplicate-key":
                values.extend(repeated(facts, path))
            if rule == "duplicate-id":
                values.append(facts.value(path[:2]))
    return set(texts_in(values))


def repeated(facts: Facts, path: Path) -> list[object]:
    """The texts in all values of a key that stands several times in one mapping."""
    parent = facts.document.node(path[:-1])
    pairs = parent.pairs if parent is not None else []
    stack = [value for key, value in pairs if key.text == path[-1]]
    texts: list[object] = []
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) not in seen:  # an alias is the node itself
            seen.add(id(node))
            texts.append(node.text)
            stack.extend(node.items)
            stack.extend(part for pair in node.pairs for part in pair)
    return texts


def texts_in(values: list[object]) -> dict[str, None]:
    """The texts and keys that stand anywhere inside these values, each once. Uses the list up."""
    found: dict[str, None] = {}
    seen: set[int] = set()
    while values:
        value = values.pop()
        if isinstance(value, str):
            found[value] = None
        elif (is_map(value) or is_list(value)) and id(value) not in seen:
            seen.add(id(value))
            if is_map(value):
                found.update(dict.fromkeys(value))
            values.extend(value.values() if is_map(value) else value)
    return found
