"""A transition leads to a state that does not exist.

Why: at run time the transition is skipped and the next one is tried, so the conversation silently
takes another way, or stops.

Bad:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [agnt]}
      agent:
        type: agent
        transition: {next: [ask]}

Good:
    initial: ask
    states:
      ask:
        type: user
        transition: {next: [agent]}
      agent:
        type: agent
        transition: {next: [ask]}

Fix: name a state of the graph, or add the missing one. The unsafe fix takes the nearest name.
"""

from __future__ import annotations

from collections.abc import Iterator

from statecli.lint.facts import Facts
from statecli.model.diagnostic import Edit, Finding, Fix
from statecli.model.graph import END
from statecli.model.nearest import nearest
from statecli.model.span import Place

FAMILY = "references"
SEVERITY = "error"
FIX = "unsafe"
#: So many comparisons of an unknown name with that of a state are worth the wait.
MOST_COMPARISONS = 1_000_000


def check(facts: Facts) -> Iterator[Finding]:
    """Every written target, `on_error`, `on_invalid` and entry that names no state."""
    if facts.graph is None:
        return
    known = facts.index
    # What stands beside `states` is one mistake, and unknown-key names it.
    unknown = (
        facts.targets
        - known.keys()
        - facts.stray
        - facts.nameless
        - ({END} if facts.is_plan else set())
    )
    if not unknown or not known:
        return
    guesses: dict[str, str | None] = {}
    for name, target, at in _references(facts):
        if target not in unknown:
            continue
        if target not in guesses:
            worth = len(guesses) * len(known) < MOST_COMPARISONS
            guesses[target] = _guess(facts, target) if worth else None
        guess = guesses[target]
        fix = Fix(f"write '{guess}'", (Edit(at, guess, "text"),)) if guess is not None else None
        yield Finding(
            message=f"no state is named '{target}'",
            at=at,
            states=(name,) if name else (),
            hint=_hint(target, guess),
            fix=fix,
        )


def _guess(facts: Facts, target: str) -> str | None:
    if facts.is_plan and target.strip("_").casefold() == END.strip("_"):
        return END
    return nearest(target, facts.index)


def _hint(target: str, guess: str | None) -> str:
    if guess is not None:
        return f"did you mean '{guess}'?"
    if target.strip("_").casefold() == END.strip("_"):
        return "lead it to a state of type 'terminal'"
    return f"name a state of the graph, or add '{target}'" if target else "name a state"


def _references(facts: Facts) -> Iterator[tuple[str, str, Place]]:
    assert facts.graph is not None
    for name, path in facts.graph.entries:
        yield "", name, Place(path)
    for state in facts.states:
        for way in state.transitions:
            yield state.name, way.target, Place(way.at)
        for key, target in state.jumps:
            yield state.name, target, Place((*state.path, key))
