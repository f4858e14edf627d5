"""Which keys the states read and set, and where that stands in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from statecli.lint.guardplaces import setting
from statecli.model.data import is_list
from statecli.model.diagnostic import Edit, Fix
from statecli.model.graph import State
from statecli.model.guard import Atom, Closed, Complete, Expr, Turns, walk
from statecli.model.guard import reads as guard_reads
from statecli.model.nearest import nearest
from statecli.model.span import Path, Place

if TYPE_CHECKING:
    from statecli.lint.facts import Facts

#: So many different keys are compared with the declared ones.
MOST_GUESSES = 50
#: So many setters of a key are looked through one by one.
_FEW = 8
#: What can stand inside any text without quotes or backslashes.
_NAME = re.compile(r"[\w-]+")
#: Guards that read no field.
_NO_FIELD = (Complete, Closed, Turns)


class Read(NamedTuple):
    """One place where a state reads a key. `asks`: only whether it is set. For renaming it:
    `tail` is what stands behind the name, and `word` says that the name must be one word."""

    place: Place
    asks: bool
    tail: str = ""
    word: bool = False


def foreign(facts: Facts) -> list[tuple[int, str]]:
    """(state, key) for each key that a state reads and neither sets itself nor finds set before
    the first step, in the order of the file. Only states that can be reached and are built in."""
    texts: dict[int, list[str]] = {}
    for variable in facts.templates:
        if is_known(facts, variable.name):  # else unknown-template-variable has it
            texts.setdefault(variable.state, []).append(variable.name)
    reading = {number for number in texts if number >= 0}
    reading.update(facts.guarded)
    if "reads" in facts.document.survey.names:
        reading.update(number for number, state in enumerate(facts.states) if state.reads)
    live = facts.reachable if facts.roots and reading else None
    found: list[tuple[int, str]] = []
    for number in sorted(reading):
        state = facts.states[number]
        if not state.routed or (live is not None and not live[number]):
            continue
        keys = dict.fromkeys(state.reads)
        for way in facts.routes[number] if not state.ends else ():
            guard = way.guard
            if type(guard) is Atom:
                keys[guard.key] = None
            elif guard is not None and type(guard) not in _NO_FIELD:
                keys.update(dict.fromkeys(guard_reads(guard)))
        if number in texts:
            keys.update(dict.fromkeys(texts[number]))
        keys = {key: None for key in keys if not facts.is_given(key)}
        found += [(number, key) for key in keys if not _sets(facts, number, key)]
    return found


def _sets(facts: Facts, number: int, key: str) -> bool:
    """Whether a state itself sets a key."""
    setters = facts.writers.get(key, ())
    if len(setters) <= _FEW:
        return number in setters
    state = facts.states[number]
    return key in state.writes or any(item.key == key for item in state.deliverables())


def is_known(facts: Facts, name: str) -> bool:
    """Whether a name is a field of the data, whoever sets it."""
    fields = facts.graph.fields if facts.graph is not None else {}
    return name in fields or name in facts.writers or name in facts.given


def places(facts: Facts, number: int, key: str) -> list[Read]:
    """Every place where a state reads a key, in the order of the text."""
    state = facts.states[number]
    found = [*_listed(state, key), *_guards(facts, number, key)]
    for variable in facts.templates:
        if variable.state == number and variable.name == key:
            place = Place(variable.path, "value", (variable.start, variable.end))
            found.append(Read(place, asks=False))
    if len(found) > 1:
        found.sort(key=lambda read: facts.document.offsets(read.place))
    return found


def _listed(state: State, key: str) -> Iterator[Read]:
    listed = state.settings.get("reads")
    if isinstance(listed, str) and listed == key:
        yield Read(Place((*state.path, "reads")), asks=False)
    for at, name in enumerate(listed if is_list(listed) else ()):
        if name == key:
            yield Read(Place((*state.path, "reads", at)), asks=False)


def _guards(facts: Facts, number: int, key: str) -> Iterator[Read]:
    for way in facts.routes[number]:
        for part in walk(way.guard) if way.guard is not None else ():
            if isinstance(part, Atom) and part.key == key:
                asks = part.op in ("exists", "absent")
                path = setting(facts, part, "key")
                if path is not None:
                    yield Read(Place(path), asks)
                else:
                    tail = str(part.path[-1]).removeprefix(key)
                    yield Read(Place(part.path, "key"), asks, tail)
            elif isinstance(part, Expr) and key in part.names:
                from statecli.model.expression import places as named

                asks = key not in part.required
                for name, start, end in named(part.text, part.tree):
                    if name == key:
                        yield Read(Place(part.path, "value", (start, end)), asks, word=True)


def rename(reads: Sequence[Read], name: str) -> Fix | None:
    """The fix that reads another key at all these places."""
    inside = any(read.place.within is not None for read in reads)
    word = name.isidentifier() if any(read.word for read in reads) else _NAME.fullmatch(name)
    if inside and not word:
        return None
    edits = tuple(
        Edit(read.place, name + read.tail, "text" if read.place.within is None else "replace")
        for read in reads
    )
    return Fix(f"write '{name}'", edits)


def setter(state: State, key: str) -> tuple[Path, str]:
    """Where a state sets a key, and the word for it: "collected" or "written"."""
    for item in state.deliverables():
        if item.key == key:
            return (*item.path, "key"), "collected"
    listed = state.settings.get("writes")
    if is_list(listed):
        return (*state.path, "writes", listed.index(key)), "written"
    return (*state.path, "writes"), "written"


def undeclared(facts: Facts) -> Iterator[tuple[int, int | None, str]]:
    """(state, index in `writes`, key) for each key that a state writes though `fields` does not
    declare it: the run drops it."""
    graph = facts.graph
    if graph is None or not graph.declares_fields:
        return
    for number, state in enumerate(facts.states):
        for key in state.writes:
            if key not in graph.fields and key not in facts.given and state.routed:
                listed = state.settings.get("writes")
                yield number, listed.index(key) if is_list(listed) else None, key


def misspelt_writes(facts: Facts) -> dict[str, str]:
    """Keys that are written but not declared, each with the declared one that was probably
    meant."""
    found: dict[str, str] = {}
    for _, _, key in undeclared(facts):
        if len(found) < MOST_GUESSES and key not in found and facts.graph is not None:
            guess = nearest(key, facts.graph.fields)
            if guess is not None:
                found[key] = guess
    return found
