"""What a mistake that one rule names puts in doubt for the others.

A misspelt `transition` hides where a state may go. The rule that names the slip is enough: nobody
wants to read as well that the state has no way out and that its targets are unreachable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from statecli.lint.lost import repeated, texts_in
from statecli.model.data import is_map
from statecli.model.graph import KINDS
from statecli.model.keys import state_object
from statecli.model.shape import UnknownKey
from statecli.model.span import Path

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: Keys that say where a state goes; a mistake at one of them leaves its ways out unknown.
_WAYS = frozenset({"transition", "transitions", "next", "to", "target_state_id"})
_EXITS = _WAYS | {"type"}
#: The objects in which a key that nobody knows, but that names a state, is meant to lead there.
_LEADING = frozenset(
    {"state", "plan_state", "transition", "next", "plan_transition", *map(state_object, KINDS)}
)


class _Mistake(NamedTuple):
    """A mistake in what a state says (None: in what the graph says about its start), and the
    states that stand in the part that could not be read."""

    state: int | None
    meant: tuple[int, ...] = ()


def unclear(facts: Facts) -> set[int]:
    """States whose kind or ways out are not known."""
    found = {mistake.state for mistake in _mistakes(facts) if mistake.state is not None}
    found.update(number for number, state in enumerate(facts.states) if not state.kind)
    if facts.slips:
        kinds = [state.settings.get("type") for state in facts.states]
        found.update(
            n for n, kind in enumerate(kinds) if isinstance(kind, str) and kind in facts.slips
        )
    return found


def mended(facts: Facts) -> tuple[list[list[int]], list[int]]:
    """Edges and roots, with those added that stand in a part that could not be read."""
    edges, roots = list(facts.successors), list(facts.roots)
    for state, targets in (*_mistakes(facts), *_after_terminals(facts), *_unnamed(facts)):
        if state is None:
            roots.extend(targets)
        elif targets:
            edges[state] = [*edges[state], *targets]
    wild = {m.state for m in _strays(facts) if m.state is not None and not m.meant}
    if any(facts.reachable[state] for state in wild):
        roots.extend(range(len(facts.states)))  # it may have been meant to lead anywhere
    return edges, roots


def _mistakes(facts: Facts) -> Iterator[_Mistake]:
    yield from _targets(facts)
    owner = {state.path: number for number, state in enumerate(facts.states)}
    depth = len(facts.states[0].path) if facts.states else 0
    yield from _strays(facts)
    for rule in ("wrong-value-type", "missing-key", "duplicate-key"):
        for finding in facts.fired(rule):
            path = finding.at.path
            number = owner.get(path[:depth])
            rest = path[depth:]
            if number is None or not _about_exits(rest) or (rule == "missing-key" and not rest):
                continue
            lost = repeated(facts, path) if rule == "duplicate-key" else ()
            yield _Mistake(number, _named(facts, [facts.value(path), *lost]))
    yield from _twins(facts)
    for number, state in enumerate(facts.states) if facts.nameless else ():
        if any(way.target in facts.nameless for way in state.transitions):
            yield _Mistake(number)


def astray(facts: Facts) -> set[int]:
    """States some of whose ways out stand under a key that nobody knows."""
    return {mistake.state for mistake in _strays(facts) if mistake.state is not None}


def _strays(facts: Facts) -> Iterator[_Mistake]:
    issues = facts.issues(UnknownKey)
    if not issues or not facts.fired("unknown-key") or not facts.states:
        return
    owner = {state.path: number for number, state in enumerate(facts.states)}
    depth = len(facts.states[0].path)
    for issue in issues:
        number = owner.get(issue.path[:depth])
        if number is None:
            continue
        named = _named(facts, [facts.value(issue.path)])
        guess = facts.guesses.get(issue.path)
        if guess in _EXITS or issue.key in _WAYS or (named and issue.object in _LEADING):
            yield _Mistake(number, named)


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
    return _known(facts, texts_in(values))
