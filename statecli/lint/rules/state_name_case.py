"""A state's name is not in the case that the names of the graph have.

Why: names that differ only in case or separators are easily mistaken for each other, by people
and by models. The `states` form is written in snake_case, plans in kebab-case, unless the config
sets `name-case`.

Bad:
    initial: AskUser
    states:
      AskUser:
        type: user
        transition: {next: [AskUser]}

Good:
    initial: ask_user
    states:
      ask_user:
        type: user
        transition: {next: [状態]}
      状態:
        type: terminal

Fix: rename the state. The unsafe fix does so everywhere in the graph; conversation files, code and
canvas data that name it are not touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.span import Place

FAMILY = "style"
SEVERITY = "info"
FIX = "unsafe"
#: Names to which a case applies: ASCII letters and digits, with the usual separators.
_CASED = re.compile(r"(?!__)[A-Za-z0-9 _-]*[A-Za-z][A-Za-z0-9 _-]*")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")


def _camel(words: list[str]) -> str:
    return words[0] + "".join(word.capitalize() for word in words[1:])


#: For each case the characters that break it, and how words are joined in it.
_CASES: dict[str, tuple[str, Callable[[list[str]], str]]] = {
    "snake_case": (r"[A-Z -]", "_".join),
    "kebab-case": (r"[A-Z _]", "-".join),
    "camelCase": (r"^[A-Z]|[ _-]", _camel),
    "PascalCase": (r"^[a-z].*[A-Z]|[ _-]", lambda words: "".join(map(str.capitalize, words))),
}


def check(facts: Facts) -> Iterator[Finding]:
    """Every name that breaks the case; other scripts, emoji and `__x__` have none."""
    wanted = facts.config.name_case or ("kebab-case" if facts.is_plan else "snake_case")
    if facts.graph is None or wanted not in _CASES:
        return
    pattern, joined = _CASES[wanted]
    breaks = re.compile(pattern, re.MULTILINE)
    if breaks.search("\n".join(facts.index)) is None:
        return
    references = cache(lambda: _references(facts))
    taken = set(facts.index)
    for state in facts.states:
        name = state.name
        if not breaks.search(name) or not _CASED.fullmatch(name):
            continue
        if facts.is_plan and "id" not in state.settings:
            continue
        better = joined([word.casefold() for word in _WORD.findall(name)])
        if better == name:
            continue
        free = better not in taken
        edits = partial(_renamed, references, name, better)
        taken.add(better)
        yield Finding(
            message=f"'{name}' is not in {wanted}",
            at=facts.place(state),
            states=(name,),
            hint=f"rename it to '{better}'" if free else f"'{better}' is there too: rename one",
            fix=Fix(f"rename it to '{better}' everywhere", edits) if free else None,
        )


def _renamed(
    references: Callable[[], dict[str, list[Place]]], name: str, better: str
) -> tuple[Edit, ...]:
    return tuple(Edit(place, better, "text") for place in references()[name])


def _references(facts: Facts) -> dict[str, list[Place]]:
    """For each state the places that name it, its own first."""
    assert facts.graph is not None
    found = {state.name: [facts.place(state)] for state in facts.states}
    named = [(name, Place(path)) for name, path in facts.graph.entries]
    if facts.graph.initial_path is not None:
        named.append((facts.graph.initial, Place(facts.graph.initial_path)))
    for state in facts.states:
        named += [(way.target, Place(way.at)) for way in state.transitions]
        named += [(target, Place((*state.path, key))) for key, target in state.jumps]
    for name, place in named:
        if name in found:
            found[name].append(place)
    return found
