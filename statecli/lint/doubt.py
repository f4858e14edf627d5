"""What a mistake that one rule names puts in doubt for the others.

A misspelt `transition` hides where a state may go. The rule that names the slip is enough: nobody
wants to read as well that the state has no way out and that its targets are unreachable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from statecli.model.data import is_list, is_map
from statecli.model.span import Path

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: Keys that say where a state goes; a mistake at one of them leaves its ways out unknown.
_WAYS = frozenset({"transition", "transitions", "next", "to", "target_state_id"})
_EXITS = _WAYS | {"type"}


class _Mistake(NamedTuple):
    """A mistake in what a state says (None: in what the graph says about its start), and the
    states that stand in the part that could not be read."""

    state: int | None
    meant: tuple[int, ...] = ()


def unclear(facts: Facts) -> set[int]:
    """States whose kind or ways out are not known."""
    found = {mistake.state for mistake in _mistakes(facts) if mistake.state is not None}
    found.update(number for number, state in enumerate(facts.states) if not state.kind)
    return found


def mended(facts: Facts) -> tuple[list[list[int]], list[int]]:
    """Edges and roots, with those added that stand in a part that could not be read."""
    edges, roots = list(facts.successors), list(facts.roots)
    for state, targets in (*_mistakes(facts), *_after_terminals(facts), *_unnamed(facts)):
        if state is None:
            roots.extend(targets)
        elif targets:
            edges[state] = [*edges[state], *targets]
    if facts.graph is not None and facts.graph.entries and facts.graph.initial_path is not None:
        roots.extend(_known(facts, [facts.graph.initial]))
    return edges, roots


def _mistakes(facts: Facts) -> Iterator[_Mistake]:
    yield from _targets(facts)
    owner = {state.path: number for number, state in enumerate(facts.states)}
    depth = len(facts.states[0].path) if facts.states else 0
    for path, guess in facts.guesses.items() if facts.fired("unknown-key") else ():
        number = owner.get(path[:depth])
        if number is not None and guess in _EXITS:
            yield _Mistake(number, _named(facts, [facts.value(path)]))
    for rule in ("wrong-value-type", "missing-key", "duplicate-key"):
        for finding in facts.fired(rule):
            path = finding.at.path
            number = owner.get(path[:depth])
            rest = path[depth:]
            if number is None or not _about_exits(rest) or (rule == "missing-key" and not rest):
                continue
            lost = _repeated(facts, path) if rule == "duplicate-key" else ()
            yield _Mistake(number, _named(facts, [facts.value(path), *lost]))
    yield from _twins(facts)


def _targets(facts: Facts) -> Iterator[_Mistake]:
    """Targets that do not exist; the state that was probably meant stands in the fix."""
    for finding in facts.fired("undefined-target"):
        state = facts.index[finding.states[0]] if finding.states else None
        guesses = [edit.text for edit in finding.fix.edits] if finding.fix is not None else []
        yield _Mistake(state, _known(facts, guesses))


def _twins(facts: Facts) -> Iterator[_Mistake]:
    """Plan states that are left out because another one has their id: their routes are lost."""
    for finding in facts.fired("duplicate-id"):
        path = finding.at.path[:2]
        twin = facts.value(path)
        if len(finding.at.path) <= 3 and is_map(twin):
            for number in _known(facts, [str(twin.get("id"))]):
                yield _Mistake(number, _named(facts, [twin.get("transitions")]))


def _after_terminals(facts: Facts) -> Iterator[_Mistake]:
    """What a terminal state leads to, if it were none."""
    for finding in facts.fired("terminal-with-transition"):
        number = facts.index[finding.states[0]]
        ways = facts.states[number].transitions
        yield _Mistake(number, _known(facts, [way.target for way in ways]))


def _unnamed(facts: Facts) -> Iterator[_Mistake]:
    """Plan states without an id, which nothing can lead to."""
    if facts.is_plan and facts.fired("missing-key"):
        nameless = (n for n, state in enumerate(facts.states) if state.settings.get("id") is None)
        yield _Mistake(None, tuple(nameless))


def _about_exits(rest: Path) -> bool:
    """Whether a place inside a state (its path from there) is about its kind or ways out."""
    if not rest:
        return True
    if rest[0] == "type":
        return len(rest) == 1
    return rest[0] in _WAYS and (isinstance(rest[-1], int) or rest[-1] in _WAYS)


def _known(facts: Facts, names: Iterable[str]) -> tuple[int, ...]:
    index = facts.index
    return tuple(index[name] for name in names if name in index)


def _named(facts: Facts, values: list[object]) -> tuple[int, ...]:
    """The states whose names stand anywhere inside these values, as text or as key."""
    names: dict[str, None] = {}
    seen: set[int] = set()
    while values:
        value = values.pop()
        if isinstance(value, str):
            names[value] = None
        elif (is_map(value) or is_list(value)) and id(value) not in seen:
            seen.add(id(value))
            if is_map(value):
                names.update(dict.fromkeys(value))
            values.extend(value.values() if is_map(value) else value)
    return _known(facts, names)


def _repeated(facts: Facts, path: Path) -> list[object]:
    """The texts in all values of a key that stands several times in one mapping."""
    parent = facts.document.node(path[:-1])
    pairs = parent.pairs if parent is not None else []
    stack = [value for key, value in pairs if key.text == path[-1]]
    texts: list[object] = []
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            texts.append(node.text)
            stack.extend(node.items)
            stack.extend(part for pair in node.pairs for part in pair)
    return texts
